//! Warnings: what is warned of, where, and what is not.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]

use celero::diagnostics::{Severity, diagnostic_codes};
use celero::http::RequestContext;
use celero::{Bindings, Engine, Env, Scratch, Tier, Type};

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("s", Type::String).variable("n", Type::Int).variable("d", Type::Dyn);
    env.variable("t", Type::Timestamp)
        .variable("b", Type::Bool)
        .variable("request.headers", Type::map(Type::String, Type::String))
}

/// Each warning as its code, the text it points at, and the message.
pub(crate) fn warnings(source: &str) -> Vec<(&'static str, String, String)> {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let found = engine.check(&env(), source).unwrap();
    shown(source, found.warnings())
}

pub(crate) fn shown(source: &str, found: &[celero::Diagnostic]) -> Vec<(&'static str, String, String)> {
    found
        .iter()
        .map(|d| {
            assert_eq!(d.severity, Severity::Warning);
            assert!(diagnostic_codes().any(|info| info.code == d.code), "{}", d.code);
            (d.code, source[d.span.start as usize..d.span.end as usize].to_owned(), d.message.clone())
        })
        .collect()
}

#[test]
fn literals_that_are_never_valid() {
    for (source, place, message) in [
        ("s.matches('a(b')", "(", "regular expression: unclosed group"),
        ("s.matches(r'a\\d[b-a]')", "b-a", "regular expression: `b-a` is no range"),
        ("s.matches('a\\x28')", "'a\\x28'", "unclosed group"),
        ("s.matches('''x*{2}''')", "{2}", "repeats a repetition"),
        ("matches(s, '(?=a)')", "(?=", "look-around"),
        ("s.matches('((a{100}){100}){100}')", "{100}", "more than 1000 copies together"),
        (r"s.matches(r'\pL{1000}')", r"\pL{1000}", "size limit"),
        (r"s.matches(r'^\p{Emoji}')", r"\p{Emoji}", "no category"),
        (r"s.matches(r'a\Z')", r"\Z", "write `\\z`"),
        ("d.matches('(')", "(", "unclosed group"),
        ("regex.extract(s, 'a(b')", "(", "regular expression: unclosed group"),
        ("regex.extractAll(s, '[')", "[", "regular expression"),
        ("regex.replace(s, 'a(b', s)", "(", "regular expression: unclosed group"),
        ("regex.replace(s, 'a(b', s, n)", "(", "regular expression: unclosed group"),
        ("s.regexReplace('a(b', s)", "(", "regular expression: unclosed group"),
        ("'a'.regexReplace('(b', 'c')", "(", "regular expression: unclosed group"),
        ("regex.replace('a', 'a', '\\\\9')", "regex.replace('a', 'a', '\\\\9')", "this always fails: invalid argument"),
        ("'%s %q %d'.format([s, n])", "%q", "not a format: there is no verb `q`"),
        ("'100% of %s'.format([s])", "% ", "not a format: there is no verb ` `"),
        ("'100%'.format([s])", "%", "not a format: the verb is missing"),
        ("'%.f'.format(d)", "%.", "not a format: a number must follow the point"),
        ("'%.1001f'.format(d)", "%.1001", "1000 digits at most"),
        ("'\\x25q'.format(d)", "'\\x25q'", "there is no verb `q`"),
        ("r'%s %.2f %%, %d'.format([s, 1.5])", "%d", "there is no value for this: the format takes 3, the list has 2"),
        ("'%s%s'.format([])", "%s", "the format takes 2, the list has 0"),
        ("'%s%d'.format([?d])", "%d", "the format takes 2, the list has 1"),
        ("'%s%z'.format([])", "%z", "there is no verb `z`"),
        ("s.wildcard('a**b')", "'a**b'", "`a**b` is not a wildcard pattern"),
        ("s.strictWildcard(r'*\\d')", "r'*\\d'", "is not a wildcard pattern"),
        ("'a'.wildcard('**')", "'**'", "`**` is not a wildcard pattern"),
        ("timestamp('tomorrow') < t", "'tomorrow'", "`tomorrow` is not a timestamp"),
        ("timestamp('10000-01-01T00:00:00Z')", "'10000-01-01T00:00:00Z'", "is not a timestamp"),
        ("duration('1 hour')", "'1 hour'", "`1 hour` is not a duration"),
        ("duration('320000000000s')", "'320000000000s'", "`320000000000s` is out of the range of a duration"),
        ("int('9223372036854775808')", "'9223372036854775808'", "is out of the range of an `int`"),
        ("cidr('10.0.0.0/33')", "'10.0.0.0/33'", "is not a network"),
        ("ip('10.0.0')", "'10.0.0'", "is not an IP address"),
        ("cidr('10.0.0.0/8').containsIP('localhost')", "'localhost'", "is not an IP address"),
        ("t.getHours('Europe/Atlantis')", "'Europe/Atlantis'", "`Europe/Atlantis` is not a time zone"),
        ("t.getFullYear('+25:00')", "'+25:00'", "is not a time zone"),
        ("int('1.5')", "'1.5'", "`1.5` is not an `int`"),
        ("uint('-1')", "'-1'", "is not a `uint`"),
        ("bool('yes')", "'yes'", "is not a `bool`"),
        ("n + 1 / 0", "1 / 0", "this always fails: division by zero"),
        ("uint(-1)", "uint(-1)", "this always fails: value out of range"),
        ("9223372036854775807 + 1", "9223372036854775807 + 1", "value out of range"),
    ] {
        let found = warnings(source);
        let [(code, at, text)] = &*found else { panic!("{source}: {found:?}") };
        assert_eq!((*code, at.as_str()), ("literal-never-valid", place), "{source}");
        assert!(text.contains(message), "{source}: {text}");
    }
}

#[test]
fn a_pattern_with_look_around_is_to_be_two_conditions() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let help = |source: &str| engine.check(&env(), source).unwrap().warnings()[0].help.clone();
    let without = "test the rest by a second condition: `&& !x.matches(..)`";
    let with = "test the rest by a second condition: `&& x.matches(..)`";
    for (source, wanted) in [
        ("s.matches('^/api/(?!internal)')", without),
        ("matches(s, '(?<!a)b')", without),
        ("s.matches('^(?=.*a)b')", with),
        ("d.matches('(?<=a)b')", with),
    ] {
        assert_eq!(help(source), [wanted], "{source}");
    }
    // A part of a text is not found by a condition.
    for source in ["regex.extract(s, 'a(?!b)')", "regex.replace(s, 'a(?=b)', s)", "s.matches('a(b')"] {
        assert!(help(source).is_empty(), "{source}");
    }
    // The pattern is known at evaluation only.
    let program = engine.compile(&env(), "'a'.matches(s + '(?!b)')").unwrap();
    let env = env();
    let mut bindings = Bindings::new(&env);
    bindings.set("s", celero::Value::String("a")).unwrap();
    let error = program.test(&bindings).unwrap_err();
    assert_eq!(program.describe(&error, &bindings).help(), Some(without));
}

#[test]
fn conditions_and_comparisons() {
    for (source, code, place, message) in [
        ("true ? n : 1", "constant-condition", "true", "always true"),
        ("b && false", "constant-condition", "false", "always false"),
        ("b || true", "constant-condition", "true", "always true"),
        ("true && b", "constant-condition", "true", "changes nothing"),
        ("n != 1 || n != 2", "constant-condition", "n != 1 || n != 2", "`n` is not both `1` and `2`"),
        ("b || n != 1 || 2 != n", "constant-condition", "b || n != 1 || 2 != n", "`n` is not both `1` and `2`"),
        ("[1].all(x, b || false)", "constant-condition", "false", "changes nothing"),
        ("type(s) == int", "never-equal", "==", "always false: the types are `string` and `int`"),
        ("type(s) != type(n)", "never-equal", "!=", "always true"),
    ] {
        let found = warnings(source);
        let [(found_code, at, text)] = &*found else { panic!("{source}: {found:?}") };
        assert_eq!((*found_code, at.as_str()), (code, place), "{source}");
        assert!(text.contains(message), "{source}: {text}");
    }
}

#[test]
fn names_of_headers() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<RequestContext<'_>>::new();
    for (source, expected) in [
        ("request.headers['X Y'] == ''", Some(("invalid-header-name", "'X Y'"))),
        ("'' in request.headers", Some(("invalid-header-name", "''"))),
        ("has(request.headers.`x/y`)", Some(("invalid-header-name", "`x/y`"))),
        ("request.headers[?'\u{fc}'].hasValue()", Some(("invalid-header-name", "'\u{fc}'"))),
        ("request.headers['X-Team'] == ''", Some(("header-name-case", "'X-Team'"))),
        ("'X-Team' in request.headers", Some(("header-name-case", "'X-Team'"))),
        ("request.headers['x-team'] == 'X Y'", None),
        ("request.headers.exists(k, k == 'X Y')", Some(("never-that-value", "k == 'X Y'"))),
        ("{'X Y': 1}['X Y'] == 1", None),
    ] {
        let found = shown(source, engine.check(&env, source).unwrap().warnings());
        let found: Vec<_> = found.iter().map(|(code, at, _)| (*code, at.as_str())).collect();
        assert_eq!(found, Vec::from_iter(expected), "{source}");
    }
}

#[test]
fn what_may_be_meant_is_left_alone() {
    for source in [
        "s.matches('^a(b|c)$') && s.matches(s)",
        "n != 1 || size(s) != 2",
        "n != 1 || n == 2 || n != 1",
        "s.regexReplace('^a(b|c)$', '$9') == '' && regex.extract(s, 'a(b)').hasValue() && s.regexReplace(s, '(') == ''",
        "'%s %d %%'.format([s, n, n]) == '%s %d'.format([?d, n])",
        "'%s %s'.format(d) == s.format([]) && '%.2f%.0e%b%o%x%X'.format([1, 1, 1, 1, 1, 1]) == '%d'.format(['a'])",
        "fail('a') == 1 && fail('b') == uuid()",
        "timestamp('2024-02-29T13:00:00Z') < t && duration('1h30m') > duration('1.5s')",
        "cidr('10.0.0.0/8').containsIP('10.0.0.1') && cidr('::/0').containsIP(ip('::1'))",
        "t.getHours('Europe/Berlin') == 1 && t.getHours('+05:30') == 1 && t.getHours(s) == 1",
        "type(d) == int && type(n) == int && type(dyn(n)) == string",
        "b ? true : false",
        "[1, 2][0] == 1 && {'a': 1}['a'] == 1 && size('a') == 1 && 1 + 1 == 2",
        "request.headers['X Y'] == ''",
        "1 == 1 && 'a' in ['b']",
        "default(n, 1) == 1 && coalesce(b, true) && n.with(x, x > 1)",
        "int('42') == n && double('1e3') > 1.0 && double('no') == double(s)",
    ] {
        let found = warnings(source);
        let rest: Vec<_> = found.iter().filter(|(_, at, _)| at != "'no'").collect();
        assert!(rest.is_empty(), "{source}: {rest:?}");
    }
}

#[test]
fn text_of_the_other_case() {
    for (source, letter) in [
        ("s.lowerAscii() == 'aBc'", "B"),
        ("'ABC' != s.lowerAscii()", "A"),
        ("s.upperAscii().contains('AbC')", "b"),
        ("s.lowerAscii().startsWith('/Api')", "A"),
        ("s.upperAscii().endsWith('.Php')", "h"),
        ("s.lowerAscii() in ['a', 'B']", "B"),
        ("s.lowerAscii().strictWildcard('*.Example')", "E"),
    ] {
        let found = warnings(source);
        let [(code, place, message)] = &found[..] else { panic!("{source}: {found:?}") };
        assert_eq!((*code, &**place), ("never-that-case", source));
        assert!(message.contains(&format!("no letter `{letter}`")), "{source}: {message}");
    }
    for source in [
        "s.lowerAscii() == 'abc-1 É'",
        "s.upperAscii() in ['A', s]",
        "s == 'ABC' && s.lowerAscii() == s",
        "s.lowerAscii().wildcard('ABC')",
        "s.lowerAscii().matches('[A-Z]')",
        "'ABC'.contains(s.lowerAscii())",
    ] {
        assert_eq!(warnings(source), [], "{source}");
    }
}

#[test]
fn warnings_are_ordered_bounded_and_harmless() {
    let found = warnings("timestamp('a') == t || s.matches('(') || b || true");
    let places: Vec<&str> = found.iter().map(|(_, at, _)| at.as_str()).collect();
    assert_eq!(places, ["'a'", "(", "true"]);
    assert_eq!(warnings(&["int('x') == 1"; 100].join(" || ")).len(), 16);
    for tier in [Tier::Interpret, Tier::Native] {
        let program = Engine::builder().tier(tier).build().compile(&env(), "true || timestamp('a') == t").unwrap();
        assert_eq!(program.warnings().len(), 2);
        let value = program.eval(&Bindings::new(&env()), &mut Scratch::new()).map(|v| format!("{v:?}"));
        assert_eq!(value.unwrap(), "Bool(true)");
    }
}

/// The warnings about a deny rule as code and the text that each points at.
fn as_guard(source: &str, fails_open: bool) -> Vec<(&'static str, String)> {
    let env = Env::<RequestContext<'_>>::new();
    let rule = Engine::builder().tier(Tier::Interpret).build().check(&env, source).unwrap();
    let found = rule.guard_warnings(&env, fails_open);
    shown(source, &found).into_iter().map(|(code, place, _)| (code, place)).collect()
}

#[test]
fn guards_that_leaving_something_out_passes() {
    let header = r#"request.headers["x-team"]"#;
    for (source, places) in [
        (r#"request.headers["x-team"] != "ops""#, &[header][..]),
        (r#"request.path.startsWith("/a") && request.headers["x-team"] != "ops""#, &[header]),
        (r#"request.headers["x-team"] != "ops" || request.headers["X-Team"] != "dev""#, &[header]),
        (
            r#"!(request.headers["x-team"].startsWith("a") || request.headers.b.endsWith("c"))"#,
            &[header, "request.headers.b"],
        ),
        (r#"source.address != "10.0.0.1""#, &["source.address"]),
        (r#"!cidr("10.0.0.0/8").containsIP(source.address)"#, &["source.address"]),
        (r#"request.host == "a" || request.query.contains("x")"#, &["request.host", "request.query"]),
        (r#"!("a" in request.headers.split()["x-team"])"#, &[r#"request.headers.split()["x-team"]"#]),
        (r#"request.headers.cookie("a") != "b""#, &[r#"request.headers.cookie("a")"#]),
        (r#"request.headers[?"x-team"].value() != "ops""#, &[r#"request.headers[?"x-team"]"#]),
        (r#"request.method == "GET" ? request.headers["x-team"] != "ops" : false"#, &[header]),
        (r#""x-other" in request.headers && request.headers["x-team"] != "ops""#, &[header]),
        (r#"default(request.headers["x-team"], request.headers["x-tea"]) != "ops""#, &[]),
        // Absence has a meaning.
        (r#"!("x-team" in request.headers) || request.headers["x-team"] != "ops""#, &[]),
        (r#"!("x-team" in request.headers && request.headers["x-team"] == "ops")"#, &[]),
        (r#"has(request.headers.team) && request.headers.team != "ops""#, &[]),
        (r#"has(request.headers.team) ? request.headers["team"] != "ops" : true"#, &[]),
        (r#"request.headers[?"x-team"].orValue("") != "ops""#, &[]),
        (r#"request.headers[?"x-team"].hasValue() && request.headers["x-team"] != "ops""#, &[]),
        (r#"default(request.headers["x-team"], "") != "ops""#, &[]),
        (r#"coalesce(request.headers["x-team"], request.path) != "ops""#, &[]),
        (r#"request.headers["x-team"] != "ops" || true"#, &[]),
        (r#"has(source.address) && source.address != "10.0.0.1""#, &[]),
        (r#"request.path == "/a" && request.method != "GET""#, &[]),
    ] {
        let found: Vec<_> =
            as_guard(source, true).into_iter().filter(|(code, _)| *code == "guard-passed-by-absence").collect();
        let places: Vec<_> = places.iter().map(|place| ("guard-passed-by-absence", (*place).to_owned())).collect();
        assert_eq!(found, places, "{source}");
        assert!(as_guard(source, false).iter().all(|(code, _)| *code != "guard-passed-by-absence"), "{source}");
    }
}

#[test]
fn guards_that_a_repeated_header_passes() {
    let header = r#"request.headers["x-role"]"#;
    for (source, places) in [
        (r#"request.headers["x-role"] == "admin""#, &[header][..]),
        (r#""admin" == request.headers["x-role"]"#, &[header]),
        (r#"request.headers["x-role"] in ["admin", "root"]"#, &[header]),
        (r#"!(request.headers["x-role"] != "admin")"#, &[header]),
        (r#"request.path == "/" && !(request.method == "GET" || request.headers["x-role"] != "admin")"#, &[header]),
        (r#"request.headers[?"x-role"].orValue("") == "admin""#, &[r#"request.headers[?"x-role"].orValue("")"#]),
        (
            r#"default(request.headers["x-role"], "").lowerAscii() == "admin""#,
            &[r#"default(request.headers["x-role"], "").lowerAscii()"#],
        ),
        (r#"["admin", "root"].exists(r, request.headers["x-role"] == r)"#, &[header]),
        (r#"cel.bind(a, "admin", request.headers["x-role"] == a)"#, &[header]),
        (r#"request.headers["x-role"] != "admin""#, &[]),
        (r#"!(request.headers["x-role"] == "admin")"#, &[]),
        (r#"!(request.headers["x-role"] in ["admin"])"#, &[]),
        (r#""admin" in request.headers.split()["x-role"]"#, &[]),
        (r#"request.headers.raw()["x-role"].exists(r, r == "admin")"#, &[]),
        (r#"request.headers["x-role"].contains("admin")"#, &[]),
        (r#"request.headers["host"] == "a""#, &[]),
        (r#"request.path == "/" && request.method in ["PUT"]"#, &[]),
    ] {
        for open in [false, true] {
            let found = as_guard(source, open).into_iter().filter(|(code, _)| *code == "guard-passed-by-repeating");
            let places: Vec<_> =
                places.iter().map(|place| ("guard-passed-by-repeating", (*place).to_owned())).collect();
            assert_eq!(found.collect::<Vec<_>>(), places, "{source}");
        }
    }
}

#[test]
fn filter_rules_are_warned_of() {
    use celero::filter::FilterLanguage;
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    for (rule, code, part, what) in [
        ("ssl and true", "constant-condition", "true", "changes nothing"),
        ("ssl or (true)", "constant-condition", "true", "`or` is always true"),
        ("ssl and not true", "constant-condition", "not true", "`and` is always false"),
        ("ssl xor true", "constant-condition", "true", "only negates"),
        ("ssl or http.host in {}", "constant-condition", "http.host in {}", "no value is in an empty set"),
        (
            r#"http.request.uri.path matches "(?i)\\.php$""#,
            "doubled-backslash",
            r#"http.request.uri.path matches "(?i)\\.php$""#,
            r"`\\.` in a pattern is a backslash before `.`",
        ),
        (
            r#"regex_replace(http.host, r"\\.x$", "") eq """#,
            "doubled-backslash",
            r#"r"\\.x$""#,
            r"`\\.` in a pattern is a backslash before `.`",
        ),
        ("lower(http.host) eq \"aB\"", "never-that-case", "lower(http.host) eq \"aB\"", "no letter `B`"),
        (
            "ssl or upper(http.host) in {\"A\" \"Ab\"}",
            "never-that-case",
            "upper(http.host) in {\"A\" \"Ab\"}",
            "no letter `b`",
        ),
        ("starts_with(lower(http.host), \"A\")", "never-that-case", "starts_with(lower(http.host), \"A\")", "`lower`"),
        (
            "any(lower(http.request.headers[\"a\"][*])[*] contains \"X\")",
            "never-that-case",
            "lower(http.request.headers[\"a\"][*])[*] contains \"X\"",
            "`X`",
        ),
        (
            "ip.src in {10.1.0.0/16 ::/8 10.0.0.0/8}",
            "covered-item",
            "ip.src in {10.1.0.0/16 ::/8 10.0.0.0/8}",
            "`10.1.0.0/16` changes nothing: it is in `10.0.0.0/8`",
        ),
        (
            "tcp.srcport in {80 1..1000}",
            "covered-item",
            "tcp.srcport in {80 1..1000}",
            "`80` changes nothing: it is in `1..1000`",
        ),
    ] {
        let checked = Engine::new().check(&env, rule).unwrap();
        let [warning] = checked.warnings() else { panic!("{rule}: {:?}", checked.warnings()) };
        assert_eq!(warning.code, code, "{rule}");
        assert_eq!(rule.get(warning.span.start as usize..warning.span.end as usize), Some(part), "{rule}");
        assert!(warning.message.contains(what), "{rule}: {}", warning.message);
    }
    for rule in [
        "ssl and not ssl",
        "lower(http.host) eq \"ab-1\"",
        "lower(http.host) wildcard \"AB\"",
        "raw.http.request.uri.path eq \"AB\"",
        "lower(http.host) matches \"A\"",
        "ip.src in {10.0.0.0/8 11.0.0.0/8 ::/1 10.0.0.0/8}",
        "tcp.srcport in {1..80 80..90}",
    ] {
        assert_eq!(Engine::new().check(&env, rule).unwrap().warnings(), [], "{rule}");
    }
}
