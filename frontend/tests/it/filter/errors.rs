//! Every error: its text, its code, the text that it marks; several errors at once; hints; warnings of strict mode.

use super::{check, scheme};
use celero_frontend::filter::{FILTER_CODES, FilterOptions, check_filter, wirefilter_error};
use celero_frontend::{Limits, Severity, Stage, Style, render};

/// Source, code, message, marked text, and a part of the help or of a label.
const ERRORS: &[(&str, &str, &str, &str, &str)] = &[
    ("port eq 0x", "filter-number", "expected digit", "", ""),
    ("port eq x", "filter-number", "expected digit", "x", ""),
    ("port eq 09", "filter-number", "invalid digit found in string while parsing with radix 8", "09", "write `9`"),
    ("port eq 10fe", "filter-number", "invalid digit found in string while parsing with radix 10", "10fe", ""),
    (
        "port eq 9223372036854775808",
        "filter-number",
        "number too large to fit in target type while parsing with radix 10",
        "9223372036854775808",
        "",
    ),
    (
        "port eq -9223372036854775809",
        "filter-number",
        "number too small to fit in target type while parsing with radix 10",
        "-9223372036854775809",
        "",
    ),
    ("port in {10..1}", "filter-range", "incompatible range bounds", "10..1", "1..10"),
    ("ip in {10.0.0.0..::1}", "filter-range", "incompatible range bounds", "10.0.0.0..::1", ""),
    ("ip eq 34", "filter-address", "couldn't parse address in network: invalid IP address syntax", "34", ""),
    (
        "ip eq 10.0.0.0/8",
        "filter-address",
        "couldn't parse address in network: invalid IP address syntax",
        "10.0.0.0/8",
        "in {10.0.0.0/8}",
    ),
    ("ip eq \"10.0.0.0\"", "filter-address", "expected IP address character", "\"", ""),
    (
        "ip in {10.0.0.0/100}",
        "filter-address",
        "invalid length for network: Network length 100 is too long for Ipv4 (maximum: 32)",
        "10.0.0.0/100",
        "",
    ),
    ("ip in {10.0.0.1/8}", "filter-address", "host part of address was not zero", "10.0.0.1", "10.0.0.0/8"),
    (
        "ip in {::/2000}",
        "filter-address",
        "couldn't parse length in network: number too large to fit in target type",
        "2000",
        "",
    ),
    (
        "ip in {10.0.0.0.0/10}",
        "filter-address",
        "couldn't parse address in network: invalid IP address syntax",
        "10.0.0.0.0",
        "",
    ),
    ("path eq \"abc", "filter-unterminated", "could not find an ending quote", "\"abc", ""),
    ("path eq r#\"abc\"", "filter-unterminated", "could not find an ending quote", "r#\"abc\"", ""),
    ("path matches \"[a\"", "filter-unterminated", "could not find an ending quote", "\"[a\"", "close the class"),
    ("path eq \"a\\n\"", "filter-escape", "expected \", xHH or OOO after \\", "n", "\\x0A"),
    ("path eq \"\\x4g\"", "filter-number", "invalid digit found in string while parsing with radix 16", "4g", ""),
    (
        "path eq \"\\400\"",
        "filter-number",
        "number too large to fit in target type while parsing with radix 8",
        "400",
        "",
    ),
    ("path eq 01", "filter-bytes", "expected byte separator", "", ""),
    ("path eq 01:", "filter-bytes", "expected 2 characters, but found 0", "", ""),
    (
        "path eq zz",
        "filter-number",
        "invalid digit found in string while parsing with radix 16",
        "zz",
        "in quotes: `\"zz\"`",
    ),
    ("path eq rx", "filter-bytes", "expected \" or #", "x", ""),
    ("path matches 01:02", "filter-bytes", "expected \" or r", "0", ""),
    ("path wildcard 01:02", "filter-bytes", "expected \" or r", "0", ""),
    ("path matches r\"a(\"", "filter-pattern", "invalid regular expression: unclosed group", "(", ""),
    ("path wildcard \"a**\"", "filter-wildcard", "wildcard contains a double star", "\"a**\"", "one star"),
    (
        "path wildcard r\"a\\b\"",
        "filter-wildcard",
        "invalid wildcard: expected `*` or `\\` after the `\\` at byte 1",
        "r\"a\\b\"",
        "",
    ),
    ("hots eq \"a\"", "filter-unknown-identifier", "unknown identifier", "hots", ""),
    ("http.hots eq \"a\"", "filter-unknown-identifier", "unknown identifier", "http.hots", "did you mean `http.host`?"),
    ("notes eq \"a\"", "filter-unknown-identifier", "unknown identifier", "es", "`notes` is read as `not es`"),
    ("any eq \"a\"", "filter-unknown-identifier", "unknown identifier", "any", "followed by a parenthesis"),
    ("lowr(path) eq \"a\"", "filter-unknown-identifier", "unknown identifier", "lowr", "did you mean `lower`?"),
    ("port", "filter-operator", "expected ComparisonOp", "", "takes `eq`"),
    ("port = 80", "filter-operator", "expected ComparisonOp", "=", "did you mean `eq`?"),
    ("path contians \"a\"", "filter-operator", "expected ComparisonOp", "contians", "did you mean `contains`?"),
    ("path EQ \"a\"", "filter-operator", "expected ComparisonOp", "EQ", "lower case: `eq`"),
    ("ip not in {::1}", "filter-operator", "expected ComparisonOp", "not", "`not x in {..}`"),
    ("port\teq 80", "filter-operator", "expected ComparisonOp", "\t", "a tab is no blank"),
    ("path strict  wildcard \"a\"", "filter-operator", "expected ComparisonOp", "strict", ""),
    ("", "filter-identifier", "expected identifier character", "", ""),
    ("# x", "filter-identifier", "expected identifier character", "#", "no comments"),
    ("http..host eq \"a\"", "filter-identifier", "expected identifier character", ".", ""),
    ("ssl and", "filter-identifier", "expected identifier character", "", ""),
    ("(ssl", "filter-expected", "expected literal \")\"", "", "opened here"),
    ("any(flags, flags)", "filter-expected", "expected literal \")\"", ",", ""),
    ("names[0 eq \"a\"", "filter-expected", "expected literal \"]\"", "e", ""),
    ("lower path eq \"a\"", "filter-expected", "expected literal \"(\"", "p", ""),
    ("starts_with(path \"a\")", "filter-expected", "expected literal \",\"", "\"", ""),
    ("port in {80, 443}", "filter-expected", "expected an item or literal \"}\"", ",", "not commas"),
    ("port in {80", "filter-expected", "expected literal \"}\"", "", "opened here"),
    ("port in 80", "filter-expected", "expected literal \"{\"", "8", "as `{1 2 3}`"),
    ("ssl == true", "filter-trailing", "unrecognised input", "==", "a Bool takes no operator"),
    ("ssl AND ssl", "filter-trailing", "unrecognised input", "AND", "did you mean `and`?"),
    ("ssl & ssl", "filter-trailing", "unrecognised input", "&", "takes no operator"),
    ("ssl ssl", "filter-trailing", "unrecognised input", "ssl", "joined by"),
    ("ssl)", "filter-trailing", "unrecognised input", ")", "not opened"),
    ("lower(@) eq \"a\"", "filter-trailing", "unrecognised input", "@", "an argument is"),
    ("ip in $Bad", "filter-list-name", "invalid list name \"Bad\"", "$Bad", ""),
    ("ip in $.bad", "filter-list-name", "invalid list name \".bad\"", "$.bad", ""),
    ("ip in $", "filter-list-name", "invalid list name \"\"", "$", ""),
    ("ip in $bda", "filter-unknown-list", "unknown list `$bda` of type Ip", "$bda", "did you mean `$bad`?"),
    (
        "port in $bad",
        "filter-operation",
        "cannot perform this operation on type Int: there are no lists of this type",
        "in $bad",
        "",
    ),
    ("names[-1] eq \"a\"", "filter-index", "expected positive integer as index", "-1", ""),
    ("names[4294967296] eq \"a\"", "filter-index", "expected positive integer as index", "4294967296", ""),
    ("headers[r\"a\"] eq \"a\"", "filter-index", "expected quoted utf8 string or positive integer", "r", "raw"),
    ("headers[\"\\xff\"][0] eq \"a\"", "filter-index", "expected utf8 string", "\"\\xff\"", ""),
    ("path[0] eq \"a\"", "filter-index-access", "cannot access index ArrayIndex(0) for type Bytes", "[0]", ""),
    (
        "headers[0] eq \"a\"",
        "filter-index-access",
        "cannot access index ArrayIndex(0) for type Map<Array<Bytes>>",
        "[0]",
        "[\"key\"]",
    ),
    (
        "names[\"a\"] eq \"a\"",
        "filter-index-access",
        "cannot access index MapKey(\"a\") for type Array<Bytes>",
        "[\"a\"]",
        "numbered",
    ),
    ("port[*] eq 1", "filter-index-access", "cannot access index MapEach for type Int", "[*]", ""),
    ("port contains \"a\"", "filter-operation", "cannot perform this operation on type Int", "contains", "takes `eq`"),
    ("path & 1", "filter-operation", "cannot perform this operation on type Bytes", "&", ""),
    ("names eq \"a\"", "filter-operation", "cannot perform this operation on type Array<Bytes>", "eq", "`[*]`"),
    (
        "any(masks[*])",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Array<Bool>, but got Array<Bool>",
        "masks[*]",
        "",
    ),
    ("any((masks[*]))", "filter-operation", "cannot perform this operation on type Array<Array<Bool>>", "masks[*]", ""),
    (
        "names[*] eq \"a\"",
        "filter-type",
        "expected value of type Bool, but got Array<Bool>",
        "names[*] eq \"a\"",
        "any(..)",
    ),
    ("flags", "filter-type", "expected value of type Bool, but got Array<Bool>", "flags", "any(..)"),
    ("ssl and flags", "filter-type", "expected value of type Bool, but got Array<Bool>", "flags", "this has type Bool"),
    ("any((flags or ssl))", "filter-type", "expected value of type Array<Bool>, but got Bool", "ssl", ""),
    (
        "starts_with(path, names[*])",
        "filter-map-each",
        "invalid use of map each access operator",
        "names[*]",
        "first argument only",
    ),
    ("lower() eq \"a\"", "filter-argument-count", "invalid number of arguments", ")", "`lower` takes one argument"),
    (
        "lower(path, path) eq \"a\"",
        "filter-argument-count",
        "invalid number of arguments",
        "p",
        "`lower(Bytes) -> Bytes`",
    ),
    ("concat(path) eq \"a\"", "filter-argument-count", "invalid number of arguments", ")", "at least 2"),
    (
        "lower(ip) eq \"a\"",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Bytes, but got Ip",
        "ip",
        "signature",
    ),
    (
        "concat(path, names) eq \"a\"",
        "filter-argument-type",
        "invalid type of argument #1: expected value of type Bytes, but got Array<Bytes>",
        "names",
        "",
    ),
    (
        "len(headers) eq 1",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Bytes or Array, but got Map<Array<Bytes>>",
        "headers",
        "",
    ),
    (
        "any(flags[*])",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Array<Bool>, but got Bool",
        "flags[*]",
        "leave out",
    ),
    (
        "any(names)",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Array<Bool>, but got Array<Bytes>",
        "names",
        "compare each",
    ),
    (
        "any(ssl)",
        "filter-argument-type",
        "invalid type of argument #0: expected value of type Array<Bool>, but got Bool",
        "ssl",
        "",
    ),
    (
        "any(\"a\")",
        "filter-argument-kind",
        "invalid kind of argument #0: expected argument of kind Field, but got Literal",
        "\"a\"",
        "",
    ),
    (
        "lower(\"a\") eq \"a\"",
        "filter-argument-kind",
        "invalid kind of argument #0: expected argument of kind Field, but got Literal",
        "\"a\"",
        "",
    ),
    (
        "split(path, path, 3)[0] eq \"a\"",
        "filter-argument-kind",
        "invalid kind of argument #1: expected argument of kind Literal, but got Field",
        "path",
        "",
    ),
    (
        "split(path, \"\", 3)[0] eq \"a\"",
        "filter-argument-value",
        "invalid value of argument #1: the string is empty",
        "\"\"",
        "",
    ),
    (
        "cidr(ip, 33, 1) eq ::1",
        "filter-argument-value",
        "invalid value of argument #1: 33 is not between 1 and 32",
        "33",
        "",
    ),
    (
        "url_decode(path, \"rr\") eq \"a\"",
        "filter-argument-value",
        "invalid value of argument #1: the flags are \"ru\", each at most once",
        "\"rr\"",
        "",
    ),
    (
        "regex_replace(path, \"(\", \"\") eq \"a\"",
        "filter-argument-value",
        "invalid value of argument #1: unclosed group",
        "\"(\"",
        "",
    ),
    (
        "wildcard_replace(path, \"**\", \"\") eq \"a\"",
        "filter-argument-value",
        "invalid value of argument #1: wildcard contains a double star",
        "\"**\"",
        "",
    ),
];

#[test]
fn every_error_names_its_place_and_what_to_do() {
    for (source, code, message, marked, hint) in ERRORS {
        let errors = check(source, &FilterOptions::default()).unwrap_err();
        let error = &errors[0];
        assert_eq!((error.code, error.message.as_str()), (*code, *message), "{source}: {errors:#?}");
        let place = source.get(error.span.start as usize..error.span.end as usize).unwrap();
        assert_eq!(place, *marked, "{source}: {error:?}");
        let hints: Vec<&str> =
            error.help.iter().map(String::as_str).chain(error.labels.iter().map(|label| label.text.as_str())).collect();
        assert!(hint.is_empty() || hints.iter().any(|text| text.contains(hint)), "{source}: {hints:?}");
        assert_eq!(errors.len(), 1, "{source}: {errors:#?}");
    }
}

#[test]
fn every_code_is_shown() {
    let strict = ["duplicate", "empty-set", "glued", "ip-order", "lenient-address", "octal", "once"];
    for info in FILTER_CODES.iter().filter(|info| info.stage != Stage::Limit) {
        let shown = ERRORS.iter().any(|row| row.1 == info.code);
        let elsewhere = strict.iter().any(|name| info.code == format!("filter-{name}"));
        assert!(shown || elsewhere, "{}", info.code);
    }
}

fn messages(source: &str) -> Vec<String> {
    check(source, &FilterOptions::default()).unwrap_err().into_iter().map(|error| error.message).collect()
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(
        messages("hst eq \"x\" and port eq 09 or (ip in {1 2.2.2.2 /} xor path contains \"\\n\") and ssl"),
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
fn strict_mode_warns_of_what_is_accepted_by_accident() {
    let cases = [
        ("notssl", "filter-glued", "`not` is directly followed by another word"),
        ("ssl orssl", "filter-glued", "`or` is directly followed by another word"),
        ("path eq\"a\"", "filter-glued", "`eq` is directly followed by another word"),
        ("ip in$bad", "filter-glued", "`in` is directly followed by another word"),
        ("port eq 017", "filter-octal", "`017` is octal: 15"),
        ("port in {}", "filter-empty-set", "this set is empty"),
        ("path in {\"a\" r\"a\"}", "filter-duplicate", "this item is in the set already"),
        ("ip in {1.1.1.1 1.1.1.1/32}", "filter-duplicate", "this item is in the set already"),
        ("ip in {1.1.1.01}", "filter-lenient-address", "leading zeros: this is `1.1.1.1`"),
        ("ip lt 1.1.1.1", "filter-ip-order", "addresses are ordered"),
    ];
    let strict = FilterOptions { strict: true, ..FilterOptions::default() };
    for (source, code, message) in cases {
        let (_, warnings) = check(source, &strict).unwrap();
        let found: Vec<_> = warnings.iter().map(|warning| (warning.code, warning.message.as_str())).collect();
        assert_eq!(found, [(code, message)], "{source}");
        assert_eq!(warnings[0].severity, Severity::Warning);
        assert_eq!(check(source, &FilterOptions::default()).unwrap().1, [], "{source}");
    }
    let clean = "not (ssl or port in {0 80}) and any(names[*] eq \"a\") and !ssl&&lower(path)~\"x\"";
    assert_eq!(check(clean, &strict).unwrap().1, []);
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
