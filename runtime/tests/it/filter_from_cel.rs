//! CEL rules in the filter language: both are true for the same contexts.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::values::List;
use celero::{Bindings, Engine, Env, Tier, Type, Value};

/// Rules about requests and their translations.
const RULES: &[(&str, &str)] = &[
    ("request.path == '/a'", r#"http.request.uri.path eq "/a""#),
    ("'/a' != request.path", r#"http.request.uri.path ne "/a""#),
    (
        "request.method in ['GET', 'PUT'] && !request.path.startsWith('/a')",
        r#"http.request.method in {"GET" "PUT"} and not starts_with(http.request.uri.path, "/a")"#,
    ),
    (
        "request.path.endsWith('.php') || request.path.contains('\"')",
        r#"ends_with(http.request.uri.path, ".php") or http.request.uri.path contains "\"""#,
    ),
    (
        "(request.method == 'GET' || request.path == '/a') && request.path != '/b'",
        r#"(http.request.method eq "GET" or http.request.uri.path eq "/a") and http.request.uri.path ne "/b""#,
    ),
    // Characters that can't be seen are escaped.
    ("request.path == '\\u202e'", r#"http.request.uri.path eq "\xE2\x80\xAE""#),
    ("cidr('10.1.2.3/8').containsIP(source.address)", "ip.src in {10.0.0.0/8}"),
    ("source.address == '192.0.2.7'", "ip.src eq 192.0.2.7"),
    ("ip(source.address) != ip('2001:DB8::1')", "ip.src ne 2001:db8::1"),
    ("math.bitAnd(source.port, 4) != 0", "tcp.srcport bitwise_and 4"),
    ("4711 <= source.port", "tcp.srcport ge 4711"),
    (
        "request.headers[?'user-agent'].orValue('').lowerAscii().contains('bot')",
        r#"lower(http.user_agent) contains "bot""#,
    ),
    ("default(request.headers['user-agent'], 'curl/8') != 'x'", r#"not http.user_agent eq "x""#),
    ("!('user-agent' in request.headers)", r#"not http.user_agent contains """#),
    ("'X-Team' in request.headers", r#"len(http.request.headers["x-team"]) gt 0"#),
    (
        "request.headers.raw()['x-team'].exists(v, v == 'a' || v.startsWith('b'))",
        r#"any((http.request.headers["x-team"][*] eq "a" or starts_with(http.request.headers["x-team"][*], "b")))"#,
    ),
    ("request.headers.raw()['x-team'][0] == 'a'", r#"http.request.headers["x-team"][0] eq "a""#),
    ("default(request.headers['user-agent'] == 'a', true)", r#"not http.user_agent ne "a""#),
    (
        "['/a', '/b'].exists(p, request.path.startsWith(p))",
        r#"starts_with(http.request.uri.path, "/a") or starts_with(http.request.uri.path, "/b")"#,
    ),
    (
        "request.method == 'GET' ? request.path == '/a' : request.path == '/b'",
        r#"http.request.method eq "GET" and http.request.uri.path eq "/a" or not http.request.method eq "GET" and http.request.uri.path eq "/b""#,
    ),
    (
        "(request.method == 'GET') != (request.path == '/a')",
        r#"http.request.method eq "GET" xor http.request.uri.path eq "/a""#,
    ),
    (
        "!(has(request.query) && request.query == 'a=1')",
        r#"not (request.query contains "" and request.query eq "a=1")"#,
    ),
    (
        "request.path.wildcard('/A*') || request.path.strictWildcard('/a\\\\**')",
        r#"http.request.uri.path wildcard "/A*" or http.request.uri.path strict wildcard "/a\\**""#,
    ),
    (r#"request.path.matches("^/(a|\"b\")")"#, r##"http.request.uri.path matches r#"^/(a|"b")"#"##),
    ("request.path in []", "http.request.uri.path in {}"),
    ("true || request.path == '/a'", "true"),
];

/// Rules that can fail, with what their failures are reported for.
const FAILING: &[(&str, &str, &[&str])] = &[
    ("request.headers['user-agent'] == 'curl/8'", r#"http.user_agent eq "curl/8""#, &["http.user_agent"]),
    ("!(request.headers['user-agent'] == 'curl/8')", r#"http.user_agent ne "curl/8""#, &["http.user_agent"]),
    (
        "!request.headers['user-agent'].contains('bot')",
        r#"http.user_agent contains "" and not http.user_agent contains "bot""#,
        &["http.user_agent"],
    ),
    ("!(source.port < 5000)", "tcp.srcport ge 5000", &["tcp.srcport"]),
    (
        "request.headers['user-agent'] == 'a' || request.headers['referer'] == 'b'",
        r#"http.user_agent eq "a" or http.referer eq "b""#,
        &["http.user_agent", "http.referer"],
    ),
    (
        "'user-agent' in request.headers && request.headers['user-agent'] == 'a' && request.headers['referer'] != 'b'",
        r#"http.user_agent contains "" and http.user_agent eq "a" and http.referer ne "b""#,
        &["http.referer"],
    ),
];

/// Method, target, headers and source of a request.
type Sample = (&'static str, &'static str, &'static [(&'static str, &'static [u8])], Option<&'static str>);

fn requests() -> Vec<(http::Request<()>, Option<&'static str>)> {
    let cases: &[Sample] = &[
        (
            "GET",
            "https://shop.example.com/a/x.php?a=1",
            &[("user-agent", b"curl/8"), ("x-team", b"a")],
            Some("192.0.2.7:4711"),
        ),
        ("POST", "/", &[("x-team", b"c"), ("x-team", b"bc")], Some("[2001:db8::1]:5500")),
        ("PUT", "/b", &[("user-agent", b"Bot \xff"), ("referer", b"b")], Some("10.200.0.1:7")),
        ("GET", "/a?", &[("user-agent", b"a"), ("user-agent", b"x"), ("x-team", b"")], None),
        ("GET", "/A*\"b\"", &[("user-agent", b"")], Some("10.0.0.1:4711")),
    ];
    let build = |(method, uri, headers, source): &Sample| {
        let mut request = http::Request::builder().method(*method).uri(uri.replace('"', "%22"));
        for (name, value) in *headers {
            request = request.header(*name, http::HeaderValue::from_bytes(value).unwrap());
        }
        (request.body(()).unwrap(), *source)
    };
    cases.iter().map(build).collect()
}

#[test]
fn translations_of_rules_about_requests_are_true_for_the_same_requests() {
    let cel = Env::<RequestContext<'_>>::new();
    for nil_not_equal in [false, true] {
        let filter = cel.clone().filter_language(FilterLanguage::http().nil_not_equal(nil_not_equal));
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            let rules = RULES.iter().map(|(rule, text)| (rule, text, &[][..]));
            for (rule, text, absent) in rules.chain(FAILING.iter().map(|(rule, text, absent)| (rule, text, *absent))) {
                let translated = engine.to_filter(&filter, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
                if !nil_not_equal {
                    let flat = translated.text().split_whitespace().collect::<Vec<_>>().join(" ");
                    assert_eq!(flat.replace("( ", "(").replace(" )", ")"), *text, "{rule}");
                }
                let messages: Vec<&str> = translated.warnings().iter().map(|warning| &*warning.message).collect();
                assert!(translated.warnings().iter().all(|warning| warning.code == "false-for-failure"), "{rule}");
                assert!(
                    absent.iter().all(|name| messages.iter().any(|message| message.contains(name))),
                    "{rule}: {messages:?}"
                );
                let before = engine.compile(&cel, rule).unwrap();
                let after =
                    engine.compile(&filter, translated.text()).unwrap_or_else(|error| panic!("{rule}: {error}"));
                for (request, source) in &requests() {
                    let mut context = RequestContext::new(request);
                    if let Some(source) = source {
                        context = context.with_source(source.parse().unwrap());
                    }
                    let expected = before.test(&context);
                    let what = format!("{rule}\n{}\n{request:?}", translated.text());
                    assert_eq!(after.test(&context), Ok(expected == Ok(true)), "{what}");
                    // Where no failure is reported there is none.
                    assert!(expected.is_ok() || !messages.is_empty(), "{what}");
                }
            }
        }
    }
}

#[test]
fn translations_of_rules_about_variables_are_true_for_the_same_values() {
    let cel = Env::dynamic()
        .variable("tags", Type::list(Type::String))
        .variable("labels", Type::map(Type::String, Type::String))
        .variable("data", Type::Bytes)
        .variable("count", Type::Int)
        .variable("flag", Type::Bool);
    let filter = cel.clone().filter_language(FilterLanguage::new().field("doubled", "count * 2"));
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let tags = [Value::String("a"), Value::String("b")];
    for count in 0..=tags.len() {
        let mut call = Bindings::new(&cel);
        if count < 2 {
            call.set("tags", Value::List(List::Slice(tags.get(..count).unwrap()))).unwrap();
            call.set("data", Value::Bytes(b"a\xff")).unwrap();
        }
        if count > 0 {
            call.set("count", Value::Int(1 << (count * 62 - 62))).unwrap();
            call.set("flag", Value::Bool(count == 1)).unwrap();
        }
        for rule in [
            "tags.exists(t, t == 'b')",
            "!tags.exists(t, t == 'b')",
            "tags.all(t, t != 'b')",
            "!tags.all(t, t.startsWith('a'))",
            "!tags.all(t, t.lowerAscii() == 'a')",
            "'a' in tags",
            "!('a' in tags)",
            "tags[1] == 'b'",
            "!(tags[1] == 'b')",
            "size(tags) > 0",
            "!(size(tags) > 0)",
            "has(labels.a)",
            "flag",
            "!flag",
            "flag == (count == 1)",
            "flag != (count == 1)",
            "flag ? count == 1 : count != 1",
            "default(flag, true)",
            "default(!flag, count == 1)",
            "coalesce(tags[0] == 'a', true)",
            "coalesce(!(tags[0] == 'a'), flag)",
            "default(count, 7) == 7",
            "default(count, 7) in [1, 7]",
            "data == b'a\\xff'",
            "!(data != b'a\\xff') && size(data) == 2",
            "count * 2 > 1",
            "!(count * 2 > 1)",
            "count >= -9223372036854775807 - 1 || true",
        ] {
            let translated = match engine.to_filter(&filter, rule) {
                Ok(translated) => translated,
                // Some parts of a variable that may be missing have no equal.
                Err(error) => {
                    assert!(error.diagnostics().iter().all(|note| note.code == "no-equal"), "{rule}: {error}");
                    assert!(rule.contains("labels") || rule.contains("- 1"), "{rule}: {error}");
                    continue;
                }
            };
            let before = engine.compile(&cel, rule).unwrap().test(&call);
            let after = engine.compile(&filter, translated.text()).unwrap().test(&call);
            assert_eq!(after, Ok(before == Ok(true)), "{rule}\n{}\n{count}", translated.text());
            assert!(before.is_ok() || !translated.warnings().is_empty(), "{rule}\n{}", translated.text());
        }
    }
}

#[test]
fn what_has_no_equal_is_marked() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let engine = Engine::new();
    for (rule, what, part) in [
        ("request.path == request.method", "a comparison of two values", "request.path == request.method"),
        ("request.path < 'é'", "an order of text that is not ASCII", "request.path < 'é'"),
        ("request.path == '\u{fffd}'", "U+FFFD", "request.path == '\u{fffd}'"),
        ("request.path.matches('a.c')", "a pattern that sees bytes", "'a.c'"),
        (r"request.path.matches(r'\<a')", "a pattern that RE2", r"r'\<a'"),
        ("request.path.matches('a{')", "a pattern that RE2", "'a{'"),
        ("size(request.path) > 3", "the number of characters", "size(request.path)"),
        ("request.headers['x-a'] == 'b'", "a header as one text", "request.headers['x-a']"),
        ("request.path.trim() == 'b'", "the function `trim`", "request.path.trim()"),
        ("source.address == '2001:DB8::1'", "another form than `2001:db8::1`", "source.address == '2001:DB8::1'"),
        ("source.address < '2'", "a text that is no address", "source.address < '2'"),
        ("source.address < '10.0.0.1'", "an order of addresses", "source.address < '10.0.0.1'"),
        ("source.address.startsWith('10.')", "a value that is no text here", "source.address"),
        ("1.0 < 2.0", "of type `double`", "1.0"),
        ("request.path", "a value that is no condition", "request.path"),
        (
            "default(request.headers['user-agent'].matches('a'), request.headers['x'] == 'a')",
            "a header as one text",
            "request.headers['x']",
        ),
    ] {
        let error = engine.to_filter(&env, rule).unwrap_err();
        let [note, ..] = error.diagnostics() else { panic!("{rule}") };
        assert_eq!(note.code, "no-equal", "{rule}");
        assert!(note.message.contains(what), "{rule}: {}", note.message);
        assert_eq!(rule.get(note.span.start as usize..note.span.end as usize), Some(part), "{rule}: {}", note.message);
    }
    let all = engine
        .to_filter(&env, "request.path.matches('.') && (request.path == request.method || size(request.path) > 3)");
    assert_eq!(all.unwrap_err().diagnostics().len(), 3);
    let never = engine.to_filter(&env, "request.path.matches('(')").unwrap_err();
    assert_eq!(never.diagnostics().first().unwrap().code, "literal-never-valid");
    let other = engine.to_filter(&Env::<RequestContext<'_>>::new(), "true").unwrap_err();
    assert!(other.to_string().contains("is not the filter language"), "{other}");
}

/// A choice in a choice has twice the text; a rule that would be too long is refused, and soon.
#[test]
fn long_translations_are_refused() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let mut rule = "request.path == '/a'".to_owned();
    for _ in 0..40 {
        rule = format!("({rule}) ? request.path == '/b' : request.path == '/c'");
    }
    let error = Engine::new().to_filter(&env, &rule).unwrap_err();
    assert!(error.to_string().contains("the limit of a rule"), "{error}");
}
