//! Errors: several at once, how they are shown, bounds. `tests/filetests/filter/errors/` has every error and warning.

use super::{check, scheme};
use celero_frontend::filter::{FilterOptions, check_filter, http_scheme, wirefilter_error};
use celero_frontend::{Limits, Stage, Style, render};

fn messages(source: &str) -> Vec<String> {
    check(source, &FilterOptions::default()).unwrap_err().into_iter().map(|error| error.message).collect()
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(
        messages("hst eq \"x\" and port eq 09 or (ip in {1: 2.2.2.2 /} xor path contains \"\\n\") and ssl"),
        [
            "unknown identifier",
            "invalid digit found in string while parsing with radix 8",
            "couldn't parse address in network: invalid IP address syntax",
            "couldn't parse address in network: invalid IP address syntax",
            "expected \", xHH or OOO after \\",
        ]
    );
    assert_eq!(
        messages("concat(nme, pth, \"a\", 5) eq \"a and b\" and lower(port) eq \"c\" && prt eq 1"),
        [
            "unknown identifier",
            "unknown identifier",
            "invalid type of argument #0: expected value of type Bytes, but got Int",
            "unknown identifier",
        ]
    );
    // A string that is not closed ends everything.
    assert_eq!(
        messages("prt eq 1 and path eq \"abc and prt eq 1"),
        ["unknown identifier", "could not find an ending quote"]
    );
    let many = vec!["prt eq 1"; 50].join(" and ");
    assert_eq!(messages(&many).len(), 16);
}

#[test]
fn errors_are_shown_with_carets() {
    let source = "ssl and\n  http.hots eq \"a\"";
    let errors = check(source, &FilterOptions::default()).unwrap_err();
    let text = render(source, "rule", &errors, Style::Plain);
    assert_eq!(
        text,
        "error[filter-unknown-identifier]: unknown identifier\n --> rule:2:3\n  |\n2 |   http.hots eq \"a\"\n  |   ^^^^^^^^^\n  \
         = help: did you mean `http.host`?\n"
    );
    assert_eq!(
        wirefilter_error(source, &errors[0]),
        "Filter parsing error (2:3):\n  http.hots eq \"a\"\n  ^^^^^^^^^ unknown identifier\n"
    );
}

#[test]
fn bounds_are_reported() {
    let limits = Limits { max_source_bytes: 10, ..Limits::default() };
    let errors = check("ssl and ssl", &FilterOptions { limits, ..FilterOptions::default() }).unwrap_err();
    assert_eq!(errors[0].code, "filter-source-too-long");
    let limits = Limits { max_nodes: 6, ..Limits::default() };
    let options = FilterOptions { limits, ..FilterOptions::default() };
    for source in
        ["ssl and ssl and ssl and ssl", "port in {1 2 3 4 5 6}", "concat(path, \"a\", \"b\", \"c\", \"d\") eq \"\""]
    {
        assert_eq!(check(source, &options).unwrap_err()[0].code, "filter-too-many-nodes", "{source}");
    }
    let stars = FilterOptions { max_wildcard_stars: Some(3), ..FilterOptions::default() };
    assert!(check("path wildcard \"*_*_*\"", &stars).is_ok());
    assert_eq!(
        check("path wildcard \"*_*_*_*\"", &stars).unwrap_err()[0].message,
        "wildcard has 4 star metacharacters, but the limit is 3"
    );
    let twice = "regex_replace(path, \"a\", \"\") eq \"\" or regex_replace(path, \"b\", \"\") eq \"\"";
    assert!(check(twice, &FilterOptions::default()).is_ok());
    let bound = FilterOptions { bound_calls: true, ..FilterOptions::default() };
    let errors = check(twice, &bound).unwrap_err();
    assert_eq!((errors.len(), errors[0].code), (1, "filter-once"));
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| open.repeat(n) + inner + &close.repeat(n);
    for (open, inner, close) in [("(", "ssl", ")"), ("not ", "ssl", ""), ("!(", "ssl", ")"), ("lower(", "path", ")")] {
        let levels = if open == "!(" { 64 } else { 128 };
        let tail = if open == "lower(" { " eq \"a\"" } else { "" };
        assert!(check(&(deep(open, inner, close, levels) + tail), &FilterOptions::default()).is_ok(), "{open}");
        let errors = check(&(deep(open, inner, close, levels + 1) + tail), &FilterOptions::default()).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, "maximum nesting depth exceeded (limit: 128)");
        assert_eq!(errors[0].stage, Stage::Limit);
    }
    let options = FilterOptions { max_nesting: 2, ..FilterOptions::default() };
    let errors = check_filter("lower ( lower ( lower ( path ) ) ) eq \"a\"", &scheme(), &options).unwrap_err();
    assert_eq!(errors[0].span.start, 22);
}

/// Walks reserve stack by the depth: a short rule must not make them ask for a new stack.
#[test]
fn the_depth_of_a_tree_is_about_its_nesting() {
    let depth = |source: &str| super::tree(source).depth();
    assert!(depth("ssl") < 16 && depth("not (ssl or lower(path) eq \"a\") and any(flags)") < 48);
    assert!(depth(&("(".repeat(128) + "ssl" + &")".repeat(128))) >= 128);
}

#[test]
fn an_operator_that_is_called_is_explained() {
    let errors = check("contains(http.host, \"a\")", &FilterOptions::default()).unwrap_err();
    assert_eq!(errors[0].help, ["`contains` is an operator, not a function: `VALUE contains ..`"]);
}

/// What is reported of a rule over the documented fields of requests: each message and its helps.
fn reported(source: &str) -> Vec<(String, Vec<String>)> {
    let found = check_filter(source, &http_scheme().into(), &FilterOptions::default());
    let found = found.map_or_else(|errors| errors, |(_, warnings)| warnings);
    found.into_iter().map(|found| (found.message, found.help)).collect()
}

#[test]
fn a_range_with_a_hyphen_is_warned_of() {
    for (items, written, range) in [
        ("500-599", "500-599` is read as `500` and `-599", "500..599"),
        ("404 500-599 1", "500-599` is read as `500` and `-599", "500..599"),
        ("1..9 80-80", "80-80` is read as `80` and `-80", "80..80"),
        ("0-1023", "0-1023` is read as `0` and `-1023", "0..1023"),
        ("0x10-20", "0x10-20` is read as `16` and `-20", "16..20"),
    ] {
        assert_eq!(
            reported(&format!("http.response.code in {{{items}}}")),
            [(format!("`{written}`"), vec![format!("a range is `{range}`")])],
            "{items}"
        );
    }
    for items in ["500 -599", "500\n-599", "599-500", "-5-9", "1..2-3", "-5", "500..599", "1-2..3"] {
        let source = format!("http.response.code in {{{items}}}");
        let found = reported(&source);
        assert!(found.iter().all(|(message, _)| !message.contains("is read as")), "{source}: {found:?}");
    }
    for (items, range) in [
        ("10.0.0.1-10.0.0.9", Some("10.0.0.1..10.0.0.9")),
        ("192.0.2.1 2001:db8::1-2001:db8::9 ::1", Some("2001:db8::1..2001:db8::9")),
        ("10.0.0.0/8-11.0.0.0/8", None),
        ("10.0.0.1 -10.0.0.9", None),
        ("10.0.0.1-x", None),
    ] {
        let help = range.map(|range| vec![format!("a range is `{range}`")]).unwrap_or_default();
        let found = reported(&format!("ip.src in {{{items}}}"));
        assert_eq!((found.len(), &found[0].1), (1, &help), "{items}: {found:?}");
    }
    let most = "http.response.code in {1-9223372036854775808 1-99999999999999999999}";
    assert!(reported(most).iter().all(|(message, _)| !message.contains("is read as")));
}

#[test]
fn a_comparison_of_many_values_is_written_out() {
    let header = r#"http.request.headers["x"]"#;
    for (source, help) in [
        (format!(r#"{header} contains "a""#), format!(r#"write `any({header}[*] contains "a")`"#)),
        (format!(r#"ssl and {header} in {{"a" "b"}}"#), format!(r#"write `any({header}[*] in {{"a" "b"}})`"#)),
        (format!(r#"{header} ne "a" or ssl"#), format!(r#"write `all({header}[*] ne "a")`"#)),
        (format!(r#"any({header} == "a")"#), format!(r#"write `{header}[*] == "a"`"#)),
        (format!("{header} contains x"), format!("write `any({header}[*] contains ..)`")),
        (
            r#"http.request.headers contains "a""#.to_owned(),
            r#"write `any(http.request.headers[*][*] contains "a")`"#.to_owned(),
        ),
        (
            r#"lower(http.host) eq "a" and http.request.headers.names eq "a""#.to_owned(),
            r#"write `any(http.request.headers.names[*] eq "a")`"#.to_owned(),
        ),
        (format!("{header} & 8"), "a value of type Array<Bytes> takes an index: `[*]` for each value".to_owned()),
    ] {
        let found = reported(&source);
        assert_eq!((found.len(), &*found[0].1), (1, &[help.clone()][..]), "{source}");
        let written = help.trim_start_matches("write `").trim_end_matches('`');
        if help.starts_with("write `any(") && !help.contains("..") {
            assert!(reported(written).is_empty(), "{written}");
        }
    }
    // What is tried to be read leaves nothing behind.
    let duplicate = format!("{header} in {{\"a\" 1: 2}} and tcp.dstport in {{500-599}}");
    assert_eq!(reported(&duplicate).len(), 2, "{:?}", reported(&duplicate));
}

#[test]
fn names_of_parts_are_completed_by_their_keys() {
    for (source, help) in [
        (r#"http.cookies["s"] eq "a""#, r#"did you mean `http.request.cookies["s"][0]`?"#),
        (r#"request.cookies["s"] eq "a""#, r#"did you mean `http.request.cookies["s"][0]`?"#),
        (r#"http.cookies["s"][0] eq "a""#, "did you mean `http.request.cookies`?"),
        (r#"any(http.cookies["s"][*] eq "a")"#, "did you mean `http.request.cookies`?"),
        (r#"http.headers["X-A"] eq "a""#, r#"did you mean `http.request.headers["x-a"][0]`?"#),
        (r#"http.request.args["page"] eq "1""#, r#"did you mean `http.request.uri.args["page"][0]`?"#),
        ("len(http.cookies) eq 1", "did you mean `http.request.cookies`?"),
        (r#"http.method eq "GET""#, "did you mean `http.request.method`?"),
    ] {
        let found = reported(source);
        let helps: Vec<_> = found.iter().flat_map(|(_, helps)| helps).collect();
        assert!(helps.iter().any(|given| *given == help), "{source}: {found:?}");
    }
}

#[test]
fn a_set_that_is_not_closed_is_one_error() {
    for source in [
        "ip.src in {10.0.0.0/8 and http.host eq \"a\"",
        "http.host in {\"a\" \"b\" or http.request.uri.path eq \"/a}\"",
        "(ip.src in {10.0.0.0/8) and ssl",
        "tcp.dstport in {80 443 && ssl",
        "tcp.dstport in {80 443 xor ip.src in {10.0.0.0/8}",
        "not (tcp.dstport in {80 or ssl) and http.host eq \"a\"",
        "any(http.request.headers.names[*] in {\"a\" \"b\") and ssl",
        "tcp.dstport in {80",
        "tcp.dstport in {80) and ssl",
        "http.host in {\"a\")",
        "tcp.dstport in {and ssl",
    ] {
        let found = reported(source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        assert!(found[0].0.starts_with("expected literal \"}\""), "{source}: {found:?}");
    }
    // Mistakes behind it are still found, and words in a set that is closed are items.
    assert_eq!(reported("tcp.dstport in {80 and hst eq \"a\" and ip.src in {10.0.0.0/8 x.y}").len(), 3);
    assert_eq!(
        reported("http.host in {salt and pepper}").iter().map(|(_, help)| &*help[0]).collect::<Vec<_>>(),
        [
            "a string is written in quotes: `\"salt\"`",
            "a string is written in quotes: `\"and\"`",
            "a string is written in quotes: `\"pepper\"`"
        ]
    );
}

#[test]
fn a_pattern_with_look_around_is_to_be_two_conditions() {
    for (pattern, second) in [
        (r#""^/api/(?!internal)""#, Some(r#"and not x matches "..""#)),
        (r##"r#"(?<!a)b"#"##, Some(r#"and not x matches "..""#)),
        (r#""^(?=.*a)b""#, Some(r#"and x matches "..""#)),
        (r#""a(b""#, None),
    ] {
        let found = reported(&format!("http.request.uri.path matches {pattern}"));
        let help: Vec<_> =
            second.iter().map(|second| format!("test the rest by a second condition: `{second}`")).collect();
        assert_eq!(found.iter().map(|(_, help)| help).collect::<Vec<_>>(), [&help], "{pattern}");
    }
}
