//! Rules in the filter language as CEL: both give the same answers.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::lists::{Kind, Limits, Lists};
use celero::values::List;
use celero::{Bindings, Engine, Env, Tier, Type, Value};

/// Rules about requests. Each has an equal in CEL.
const RULES: &[&str] = &[
    r#"http.host eq "shop.example.com" and not http.request.method in {"POST" "PUT"}"#,
    r#"http.host contains "example" xor http.request.uri.path contains "/admin" xor true"#,
    r#"http.user_agent eq "curl/8" or http.user_agent ne "x" or http.referer ne "y""#,
    r#"not http.user_agent contains "curl" and http.request.uri.query ne "a=1""#,
    r#"http.host wildcard "*.EXAMPLE.*" and not http.host strict wildcard "*.EXAMPLE.*""#,
    r#"http.request.uri.path strict wildcard "/a*.b?c*""#,
    r#"http.user_agent matches "^curl/(7|8)" or http.user_agent matches "bot""#,
    r#"http.user_agent matches "(?i)curl/[0-9]+" and http.user_agent matches "(?i)bok|CURL""#,
    r#"http.user_agent matches "^b.*[^a-z]+$" or http.request.uri.path matches r"^/[^/]+/\w""#,
    r#"len(http.host) gt 3 and len(http.request.uri.path) le 4 or http.host lt "é""#,
    "ip.src in {192.0.2.1..192.0.2.9 203.0.113.0..203.0.113.9 2001:db8::..2001:db8::ff}",
    r#"ip.src in {192.0.2.0/24 2001:db8::/32} or ip.src eq 198.51.100.7"#,
    "ip.src ne 192.0.2.7",
    "tcp.srcport in {4711 5000..6000} and tcp.srcport gt 10 and tcp.srcport & 1",
    r#"starts_with(http.request.uri.path, "/a") and ends_with(http.user_agent, "8") or ssl"#,
    r#"lower(http.user_agent) eq "curl/8" or upper(http.host) ne "SHOP.EXAMPLE.COM""#,
    r#"http.user_agent lt "d" and http.request.uri.path ge "/a""#,
    r#"http.host in {} or http.host in {"\"quoted\"" "a\\b"}"#,
    r#"any(http.request.headers["x-lines"][*] eq "two") and not any(http.request.headers["x-lines"][*] eq "One,two")"#,
    r#"all(http.request.headers["x-lines"][*] ne "One") or all(http.request.headers["x-absent"][*] eq "a")"#,
    r#"any(not lower(http.request.headers["x-lines"][*])[*] contains "n")"#,
    r#"any(lower(http.request.headers["x-lines"][*])[*] eq "one") and len(http.request.headers["x-lines"]) eq 2"#,
    r#"http.request.headers["x-lines"][1] eq "two" or http.request.headers["x-lines"][2] ne "a""#,
    r#"not http.request.headers["x-absent"][0] eq "a" and http.request.headers["x-absent"][0] ne "a""#,
    r#"http.request.version eq "HTTP/2" or http.request.version eq "HTTP/2.0""#,
    r#"not http.request.version in {"HTTP/2" "HTTP/3"} and starts_with(http.request.version, "HTTP/")"#,
    r#"http.request.version in {"HTTP/2.0" "HTTP/1.1"} xor http.request.version matches "2$""#,
    r#"any(http.request.uri.args["a"][*] eq "1") or any(raw.http.request.uri.args["a"][*] eq "%31")"#,
    r#"all(http.request.uri.args["a"][*] ne "1") and not all(http.request.uri.args["none"][*] eq "1")"#,
    r#"http.request.uri.args["a"][0] eq "1" xor http.request.uri.args["a"][1] ne "2""#,
    r#"len(http.request.uri.args["a"]) eq 2 or len(http.request.uri.args["none"]) eq 0"#,
    r#"any(http.request.uri.args["b"][*] eq "") or http.request.uri.args[""][0] eq "=x""#,
    r#"any(http.request.uri.args["é"][*] eq "1=2") xor http.request.uri.args["é"][0] wildcard "*""#,
    r#"any(http.request.uri.args.values[*] contains "=") or any(http.request.uri.args.values[*] eq "")"#,
    r#"any(lower(http.request.uri.args.values[*])[*] eq "x") and not all(http.request.uri.args.values[*] eq "")"#,
    r#"any(http.request.uri.args.names[*] eq "a") xor len(http.request.uri.args.names) gt 3"#,
    r#"http.request.uri.args.names[1] eq "b" or http.request.uri.args.values[0] eq "1" or any(http.request.uri.args.names[*] eq "")"#,
    r#"any(http.request.headers.names[*] eq "x-lines") and all(http.request.headers.names[*] ne "user-agent")"#,
    r#"any(upper(http.request.headers.names[*])[*] eq "HOST") xor any(http.request.headers.names[*] contains "age")"#,
];

#[test]
fn words_of_a_field_are_those_of_its_variable() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let engine = Engine::new();
    for (filter, cel) in [
        (r#"http.request.version eq "HTTP/2""#, r#"request.version == "HTTP/2.0""#),
        (r#"http.request.version ne "HTTP/1.1""#, r#"request.version != "HTTP/1.1""#),
        (r#"http.request.version in {"HTTP/1.0" "HTTP/3"}"#, r#"(request.version in ["HTTP/1.0", "HTTP/3.0"])"#),
    ] {
        let cel = engine.format(cel).unwrap();
        assert_eq!(engine.to_cel(&env, filter).unwrap(), cel);
        assert_eq!(engine.to_filter(&env, &cel).unwrap().text(), format!("{filter}\n"));
    }
    // No request has this version in CEL, and the variable has its own name here.
    let never = engine.to_filter(&env, r#"request.version == "HTTP/2""#).unwrap();
    assert_eq!(never.text(), "request.version eq \"HTTP/2\"\n");
}

#[test]
fn translations_of_rules_about_requests_are_equal() {
    for nil_not_equal in [false, true] {
        let cel = Env::<RequestContext<'_>>::new();
        let filter = cel.clone().filter_language(FilterLanguage::http().nil_not_equal(nil_not_equal));
        let requests: Vec<_> = [
            ("https://shop.example.com/a/x.b?cd?a=1", Some(&b"curl/8"[..]), "192.0.2.7:4711"),
            ("/", None, "[2001:db8::1]:5500"),
            ("/admin", Some(b"bot \xff"), "198.51.100.7:8"),
            ("/a?a=1", Some(b"CURL/8"), "203.0.113.9:9"),
            ("/b?a=1&b&a=2&&b=&=X", None, "203.0.113.9:9"),
            ("/b?b=X&%61=3&a=%31&==x&\u{e9}=1=2&ab=7", None, "203.0.113.9:9"),
            ("/b?", None, "203.0.113.9:9"),
            ("/b?&", None, "203.0.113.9:9"),
            ("/b?b=&c&\u{e9}", None, "203.0.113.9:9"),
        ]
        .into_iter()
        .map(|(uri, agent, source)| {
            let mut request = http::Request::get(uri).header("host", "shop.example.com");
            request = request.header("x-lines", "One").header("x-lines", "two");
            if let Some(agent) = agent {
                request = request.header("user-agent", http::HeaderValue::from_bytes(agent).unwrap());
            }
            let mut request = request.body(()).unwrap();
            if uri.starts_with("https") {
                *request.version_mut() = http::Version::HTTP_2;
            }
            (request, source)
        })
        .collect();
        let engine = Engine::builder().tier(Tier::Interpret).build();
        for rule in RULES {
            let text = engine.to_cel(&filter, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let before = engine.compile(&filter, rule).unwrap();
            let after = engine.compile(&cel, &text).unwrap_or_else(|error| panic!("{rule}: {error}"));
            for (request, source) in &requests {
                let context = RequestContext::new(request).with_source(source.parse().unwrap());
                assert_eq!(after.test(&context), before.test(&context), "{rule}\n{text}\n{}", request.uri());
            }
        }
    }
}

#[test]
fn translations_of_rules_about_variables_are_equal() {
    let cel = Env::dynamic()
        .variable("tags", Type::list(Type::String))
        .variable("none", Type::list(Type::String))
        .variable("labels", Type::map(Type::String, Type::String))
        .variable("flag", Type::Bool);
    for nil_not_equal in [false, true] {
        let language = FilterLanguage::new().nil_not_equal(nil_not_equal).field("size", "100 / size(tags)");
        let filter = cel.clone().filter_language(language);
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let tags = [Value::String("a"), Value::String("b")];
        for count in 0..=tags.len() {
            let mut call = Bindings::new(&cel);
            call.set("tags", Value::List(List::Slice(tags.get(..count).unwrap()))).unwrap();
            for rule in [
                r#"any(tags[*] eq "b") and not all(tags[*] eq "b")"#,
                r#"all(tags[*] ne "a") or any(not tags[*] eq "a")"#,
                r#"any((tags[*] eq "a" or tags[*] contains "b"))"#,
                r#"any(none[*] eq "a")"#,
                r#"all(none[*] eq "a")"#,
                r#"tags[1] eq "b""#,
                r#"tags[1] ne "b""#,
                r#"not tags[0] in {"a"}"#,
                r#"labels["a"] ne "b""#,
                "flag or len(tags) eq 2",
                "size gt 60 or size ne 50",
            ] {
                let text = engine.to_cel(&filter, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
                let before = engine.compile(&filter, rule).unwrap().test(&call);
                let after = engine.compile(&cel, &text).unwrap_or_else(|error| panic!("{rule}: {error}")).test(&call);
                assert_eq!(after, before, "{rule}\n{text}\n{count}");
            }
        }
    }
}

/// The lists that both languages ask.
fn lists() -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, kind) in [
        ("bad", Kind::Addresses),
        ("cf.open", Kind::Addresses),
        ("ports", Kind::Integers),
        ("tenants", Kind::Hosts),
        ("agents", Kind::Texts),
        ("17", Kind::Addresses),
        ("in", Kind::Addresses),
        ("Blocked", Kind::Addresses),
    ] {
        lists.declare(name, kind).unwrap();
    }
    lists
}

/// Lists are asked for the same in both languages, in both directions, whatever is in them.
#[test]
fn questions_to_lists_have_an_equal() {
    let lists = lists();
    let cel = Env::<RequestContext<'_>>::new().lists(&lists);
    let filter = cel.clone().filter_language(FilterLanguage::http());
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let rules = [
        ("ip.src in $bad", "source.address in lists.bad"),
        ("not ip.src in $cf.open", "!(source.address in lists.cf.open)"),
        ("http.host in $tenants", "request.host in lists.tenants"),
        ("http.request.uri.path in $agents", "request.path in lists.agents"),
        ("tcp.srcport in $ports", "source.port in lists.ports"),
    ];
    let requests =
        ["https://a.example/x", "https://b.example/", "/x"].map(|uri| http::Request::get(uri).body(()).unwrap());
    let sources = [None, Some("192.0.2.7:80"), Some("[2001:db8::1]:443")];
    let change = |list: &str, entry: &str| lists.change().insert(list, entry).commit().unwrap();
    let mut truths = 0;
    for (list, entry) in [
        ("bad", "192.0.2.0/24"),
        ("cf.open", "2001:db8::/32"),
        ("tenants", "a.example"),
        ("agents", "/x"),
        ("ports", "80"),
    ] {
        change(list, entry);
        for (rule, wanted) in rules {
            let text = engine.to_cel(&filter, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            assert!(text.contains(wanted.trim_start_matches("!(").trim_end_matches(')')), "{rule}: {text}");
            let back = engine.to_filter(&filter, wanted).unwrap_or_else(|error| panic!("{wanted}: {error}"));
            let programs = [
                engine.compile(&filter, rule).unwrap(),
                engine.compile(&cel, &text).unwrap(),
                engine.compile(&filter, back.text()).unwrap(),
            ];
            for (request, source) in requests.iter().flat_map(|request| sources.map(|source| (request, source))) {
                let context = RequestContext::new(request);
                let context =
                    source.map_or(context, |source| RequestContext::new(request).with_source(source.parse().unwrap()));
                let [right, translated, returned] = programs.each_ref().map(|program| program.test(&context));
                assert_eq!(translated, right, "{rule}\n{text}");
                // CEL fails where a value is missing; its translation is false then.
                let of_cel = engine.compile(&cel, wanted).unwrap().test(&context);
                assert_eq!(returned, Ok(of_cel == Ok(true)), "{wanted}\n{}", back.text());
                truths += usize::from(right == Ok(true));
            }
        }
    }
    assert!(truths > 40, "{truths}");
    for (rule, what) in [
        ("http.user_agent in $agents", "a list that is asked for bytes that may not be UTF-8"),
        ("any(http.request.headers[\"a\"][*] in $agents)", "a list that is asked for bytes that may not be UTF-8"),
        ("ip.src in $17", "the list `17`: `17` is not an identifier"),
        ("ip.src in $in", "the list `in`: `in` is a reserved word"),
    ] {
        let error = engine.to_cel(&filter, rule).unwrap_err().to_string();
        assert!(error.contains(what), "{rule}: {error}");
    }
    for (rule, what) in [
        ("request.headers['user-agent'] in lists.agents", "a list that is asked for text that may not be UTF-8"),
        ("source.address in lists.tenants", "a list that is asked for a value of another type"),
        ("source.address in lists.Blocked", "a list whose name has other letters than `a` to `z`"),
        ("'a' in lists.agents", "of type `string`"),
    ] {
        let error = engine.to_filter(&filter, rule).unwrap_err().to_string();
        assert!(error.contains(what), "{rule}: {error}");
    }
}

/// A list gets the same text of expressions, of functions and of elements in both languages.
#[test]
fn values_that_are_text_are_asked_for_exactly() {
    let lists = lists();
    lists.change().insert("agents", "/x").insert("agents", "1").insert("tenants", "a.example").commit().unwrap();
    let cel = Env::<RequestContext<'_>>::new().lists(&lists);
    let filter = cel.clone().filter_language(FilterLanguage::http().field("first", "request.headers['x-a'] + ''"));
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let uris = ["https://a.example/x?a=1", "https://b.example/X", "/x?b=1&a=2"];
    let requests = uris.map(|uri| http::Request::get(uri).header("x-a", "/x").body(()).unwrap());
    for (rule, truths) in [
        ("raw.http.request.uri.path in $agents", 2),
        ("lower(http.request.uri.path) in $agents", 3),
        ("first in $agents", 3),
        ("any(http.request.uri.args.values[*] in $agents)", 2),
        ("any(http.request.uri.args[\"a\"][*] in $agents) and not http.request.uri.args[\"b\"][0] in $agents", 1),
        ("any(lower(http.request.uri.args.names[*])[*] in $agents)", 0),
        ("lower(http.host) in $tenants", 1),
    ] {
        let text = engine.to_cel(&filter, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let programs = [engine.compile(&filter, rule).unwrap(), engine.compile(&cel, &text).unwrap()];
        let results = requests.each_ref().map(|request| {
            let context = RequestContext::new(request);
            let [right, translated] = programs.each_ref().map(|program| program.test(&context));
            assert_eq!(translated, right, "{rule}\n{text}");
            right.unwrap()
        });
        assert_eq!(results.into_iter().filter(|truth| *truth).count(), truths, "{rule}");
    }
    for rule in ["lower(http.user_agent) in $agents", "any(lower(http.request.headers[\"a\"][*])[*] in $agents)"] {
        let error = engine.to_cel(&filter, rule).unwrap_err().to_string();
        assert!(error.contains("bytes that may not be UTF-8"), "{rule}: {error}");
    }
}

#[test]
fn what_has_no_equal_is_marked() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http().any_list(true));
    let engine = Engine::new();
    for (rule, what) in [
        (r#"http.host eq "\xff""#, "bytes that are not UTF-8"),
        ("ip.src in $bad", "the list `bad`, which is not declared"),
        ("ip.src lt 10.0.0.1", "an order of addresses"),
        (r#"http.host matches "a.c""#, "a pattern that sees bytes"),
        (r#"http.host matches r"\<a""#, "a pattern that RE2"),
        (r#"http.host matches r"\>a""#, "a pattern that RE2"),
        (r#"any(http.request.headers[*][*] eq "b")"#, "several `[*]`"),
        (r#"any(http.request.headers["A"][*] eq "b")"#, "capital letters"),
        ("cf.threat_score gt 1", "has no value"),
        (r#"http.request.cookies["a"][0] eq "b""#, r#"the cookies by name from `request.headers["cookie"]`"#),
        (r#"http.request.uri.path.extension eq "b""#, "the extension from `request.path`"),
        (r#"http.request.headers.names[0] eq "b""#, "a name for each line from `request.headers`"),
        (r#"any(http.request.headers.values[*] eq "b")"#, "the lines of all headers as one list"),
        (r#"any(http.request.uri.args["a=b"][*] eq "b")"#, "an argument with `=`"),
        (r#"any(http.request.uri.args[*][*] eq "b")"#, "several `[*]`"),
        ("ip.src eq ::ffff:192.0.2.1", "an IPv4-mapped address"),
        (r#"sha256(http.host) eq "a""#, "the function `sha256`"),
        ("len(http.user_agent) gt 3", "the number of bytes"),
        (r#"http.user_agent lt "é""#, "not ASCII"),
        (r#"http.request.uri.path matches "^/.{3}$""#, "a pattern that sees bytes"),
    ] {
        let error = engine.to_cel(&env, rule).unwrap_err();
        let [note, ..] = error.diagnostics() else { panic!("{rule}") };
        assert_eq!(note.code, "no-equal", "{rule}");
        assert!(note.message.contains(what), "{rule}: {}", note.message);
    }
    let both = engine.to_cel(&env, r#"ip.src in $bad and http.host eq "\xff""#).unwrap_err();
    assert_eq!(both.diagnostics().len(), 2);
}

/// Forms that are shorter than the general one, because the type of a field is known.
#[test]
fn translations_are_short() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let dynamic = Env::dynamic()
        .variable("client", Type::Opaque("net.IP".into(), [].into()))
        .variable("name", Type::String)
        .filter_language(FilterLanguage::new());
    let engine = Engine::new();
    for (rule, cel) in [
        ("ip.src in {10.0.0.0/8}", r#"default(cidr("10.0.0.0/8").containsIP(source.address), false)"#),
        ("ip.src eq 2001:DB8::0", r#"default(source.address == "2001:db8::", false)"#),
        ("len(http.request.uri.path) gt 9", "bytes(request.path).size() > 9"),
        (r##"http.request.uri.path matches r"(?i)\.php$""##, r#"request.path.matches(r"(?i)\.php$")"#),
        (
            "ip.src in {10.0.0.1..10.0.0.2}",
            r#"default(cidr("10.0.0.1/32").containsIP(source.address) || cidr("10.0.0.2/32").containsIP(source.address), false)"#,
        ),
    ] {
        let text = engine.to_cel(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        assert_eq!(text, engine.format(cel).unwrap(), "{rule}");
    }
    let text = engine.to_cel(&dynamic, "client in {10.0.0.0/8} or len(name) gt 2").unwrap();
    assert!(text.contains("containsIP(client)") && text.contains("bytes(name).size() > 2"), "{text}");
}

#[test]
fn nearest_forms_say_what_differs() {
    let lists = lists();
    let env = Env::<RequestContext<'_>>::new().lists(&lists).filter_language(FilterLanguage::http());
    let engine = Engine::new();
    for (rule, cel, differs) in [
        (
            r#"http.request.uri.path matches "^/.{3}$""#,
            r#"request.path.matches("^/.{3}$")"#,
            "values that are not ASCII",
        ),
        (r#"http.host matches r"(?i)k.\s""#, r#"matches(r"[Kk].[\x{9}-\x{d} ]")"#, "values that are not ASCII"),
        (
            "len(http.user_agent) gt 3",
            r#"bytes(request.headers["user-agent"]).size() > 3"#,
            "values that are not UTF-8",
        ),
        (r#"http.user_agent lt "é""#, r#"request.headers["user-agent"] < "é""#, "values that are not UTF-8"),
        ("http.user_agent in $agents", r#"request.headers["user-agent"] in lists.agents"#, "values that are not UTF-8"),
    ] {
        assert!(engine.to_cel(&env, rule).is_err(), "{rule}");
        let near = engine.to_cel_near(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        assert!(near.text().contains(cel), "{rule}: {}", near.text());
        let [warning] = near.warnings() else { panic!("{rule}: {:?}", near.warnings()) };
        assert_eq!(warning.code, "other-meaning", "{rule}");
        assert!(warning.message.contains(differs), "{rule}: {}", warning.message);
    }
    // What is exact has no warning, and what has no near form stays an error.
    let exact = engine.to_cel_near(&env, r#"http.host eq "a""#).unwrap();
    assert!(exact.warnings().is_empty() && exact.text() == engine.to_cel(&env, r#"http.host eq "a""#).unwrap());
    for rule in [r#"http.host matches r"\<a""#, "cf.threat_score gt 1", "ip.src lt 10.0.0.1"] {
        assert!(engine.to_cel_near(&env, rule).is_err(), "{rule}");
    }
}
