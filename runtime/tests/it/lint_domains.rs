//! Warnings about values that a field never has, and about what is found everywhere or nowhere.
#![cfg(feature = "http")]

use crate::lint::{shown, warnings};
use celero::http::RequestContext;
use celero::{Context, Engine, Env, FieldType, Tier};

/// An address of a page in place of one of its parts: each as it is warned of, with the help.
#[test]
fn parts_of_urls_are_told_apart() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<RequestContext<'_>>::new();
    let filter = env.clone().filter_language(celero::filter::FilterLanguage::http());
    let scheme = "the scheme is `request.scheme`";
    let path = "the path is `request.path`";
    let host = "the host is `request.host`";
    for (source, because, help) in [
        ("request.host == 'https://example.com'", "has no scheme", format!("write `example.com`; {scheme}")),
        ("request.host != 'https://example.com'", "has no scheme", format!("write `example.com`; {scheme}")),
        ("request.host == 'https://example.com:8443/a?b=c'", "has no scheme", format!("write `example.com`; {scheme}")),
        ("request.host == 'http://[::1]:80/'", "has no scheme", format!("write `[::1]`; {scheme}")),
        ("request.host == 'HTTPS://Example.com'", "has no scheme", format!("write `example.com`; {scheme}")),
        ("request.host in ['a.example', 'http://b.example/']", "has no scheme", format!("write `b.example`; {scheme}")),
        ("request.host.startsWith('https://www.')", "has no scheme", format!("write `www.`; {scheme}")),
        ("request.host.startsWith('https://')", "has no scheme", scheme.to_owned()),
        ("request.host.contains('://')", "has no scheme", scheme.to_owned()),
        ("request.host.matches('^https?://')", "has no scheme", scheme.to_owned()),
        ("request.host.strictWildcard('https://*.example.com')", "has no scheme", scheme.to_owned()),
        ("request.host == 'example.com/a'", "has no path", format!("write `example.com`; {path}")),
        ("request.host == 'example.com/'", "has no path", format!("write `example.com`; {path}")),
        ("request.host.endsWith('.example/')", "has no path", path.to_owned()),
        ("request.host == 'example.com:8080'", "has no port", "the port is `request.port`".to_owned()),
        ("request.path == 'https://example.com/a?b'", "has no scheme and no host", format!("write `/a`; {host}")),
        ("request.path == 'https://example.com'", "has no scheme and no host", format!("write `/`; {host}")),
        (
            "request.path.startsWith('http://example.com/a/')",
            "has no scheme and no host",
            format!("write `/a/`; {host}"),
        ),
        ("request.path.startsWith('https://example.com')", "has no scheme and no host", host.to_owned()),
        ("request.path == 'example.com/a'", "begins with `/`", "write `/example.com/a`".to_owned()),
        ("request.scheme == 'https://'", "has no `:`", "write `https`".to_owned()),
        ("request.scheme == 'https:'", "has no `:`", "write `https`".to_owned()),
    ] {
        let checked = engine.check(&env, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        assert!(warning.message.ends_with(&format!("` {because}")), "{source}: {}", warning.message);
        assert_eq!(warning.help, [help], "{source}");
    }
    for (source, because, help) in [
        (r#"http.host eq "https://example.com""#, "has no scheme", "write `example.com`"),
        (
            r#"http.host in {"example.com/a"}"#,
            "has no path",
            "write `example.com`; the path is `http.request.uri.path`",
        ),
        (
            r#"starts_with(http.request.uri.path, "https://example.com/a")"#,
            "has no scheme and no host",
            "write `/a`; the host is `http.host`",
        ),
    ] {
        let checked = engine.check(&filter, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        assert!(warning.message.ends_with(&format!("` {because}")), "{source}: {}", warning.message);
        assert_eq!(warning.help, [help], "{source}");
    }
    for source in ["request.path.contains('://')", "request.path == '/a://b'", "request.uri == 'https://a/b'"] {
        assert_eq!(engine.check(&env, source).unwrap().warnings(), [], "{source}");
    }
}

/// Which values a field has is declared with its type, and both languages warn of others.
#[test]
fn fields_never_have_some_values() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<RequestContext<'_>>::new();
    for (source, place, message) in [
        ("request.path == 'admin'", "request.path == 'admin'", "never true: `request.path` begins with `/`"),
        ("'admin' == request.path", "'admin' == request.path", "never true: `request.path` begins with `/`"),
        ("request.path != 'admin'", "request.path != 'admin'", "always true: `request.path` begins with `/`"),
        ("request.path.startsWith('admin')", "request.path.startsWith('admin')", "begins with `/`"),
        ("request.path.contains('?')", "request.path.contains('?')", "has no `?`"),
        ("request.path.endsWith('.php?')", "request.path.endsWith('.php?')", "has no `?`"),
        ("request.path in ['/a', 'b']", "'b'", "begins with `/`"),
        ("request.method == 'get'", "request.method == 'get'", "has no lower-case letter"),
        ("request.method in ['GET', 'post']", "'post'", "has no lower-case letter"),
        ("request.host == 'EX.com'", "request.host == 'EX.com'", "has no upper-case letter"),
        ("request.host == 'ex.com:8080'", "request.host == 'ex.com:8080'", "has no port"),
        ("request.host.endsWith(':8080')", "request.host.endsWith(':8080')", "has no port"),
        ("request.scheme == 'HTTPS'", "request.scheme == 'HTTPS'", "has no upper-case letter"),
        ("request.version == 'HTTP/2'", "request.version == 'HTTP/2'", "is one of `HTTP/1.0`, `HTTP/1.1`, `HTTP/2.0`"),
        ("request.version.startsWith('HTTP/4')", "request.version.startsWith('HTTP/4')", "is one of `HTTP/1.0`"),
        (
            "request.path.matches('^admin')",
            "request.path.matches('^admin')",
            "never true: `request.path` begins with `/`",
        ),
        ("request.path.matches('(?i)^(admin|user)/')", "request.path.matches('(?i)^(admin|user)/')", "begins with `/`"),
        ("request.path.matches('[.]php[?]a=')", "request.path.matches('[.]php[?]a=')", "has no `?`"),
        (
            "request.method.matches('^(get|post)$')",
            "request.method.matches('^(get|post)$')",
            "has no lower-case letter",
        ),
        ("request.host.matches('[.]Example[.]')", "request.host.matches('[.]Example[.]')", "has no upper-case letter"),
        ("request.version.matches('^HTTP/[45]')", "request.version.matches('^HTTP/[45]')", "is one of `HTTP/1.0`"),
        ("request.port == 70000", "request.port == 70000", "is a number from 0 to 65535"),
        ("source.port < 0", "source.port < 0", "is a number from 0 to 65535"),
        ("0 <= source.port", "0 <= source.port", "always true"),
        // Canonical paths have no dot segments, and one spelling for each character.
        ("request.path == '/a/../b'", "request.path == '/a/../b'", "has no segment `.` or `..`"),
        ("request.path.startsWith('/./')", "request.path.startsWith('/./')", "has no segment `.` or `..`"),
        ("request.path.endsWith('/..')", "request.path.endsWith('/..')", "has no segment `.` or `..`"),
        ("request.path == '/%41'", "request.path == '/%41'", "has no character in another encoding"),
        ("request.path in ['/a', '/b%3d']", "'/b%3d'", "has no character in another encoding"),
        (
            "request.path.contains('<script')",
            "request.path.contains('<script')",
            "has no character in another encoding",
        ),
        ("request.path == '/caf\u{e9}'", "request.path == '/caf\u{e9}'", "has no character in another encoding"),
        ("request.path.matches('%7[Ee]')", "request.path.matches('%7[Ee]')", "has no character in another encoding"),
        ("request.path.wildcard('admin/*')", "request.path.wildcard('admin/*')", "begins with `/`"),
        ("request.path.strictWildcard('*?')", "request.path.strictWildcard('*?')", "has no `?`"),
        ("request.host.strictWildcard('*.EX.com')", "request.host.strictWildcard('*.EX.com')", "has no upper-case"),
        ("request.headers.exists(k, k == 'Content-Type')", "k == 'Content-Type'", "`k` has no upper-case letter"),
        ("request.headers.all(k, v, !k.startsWith('X-'))", "k.startsWith('X-')", "`k` has no upper-case letter"),
        (
            "[1].exists(i, request.headers.split().exists(k, i == 1 && k in ['A', 'b']))",
            "'A'",
            "`k` has no upper-case letter",
        ),
        ("size(request.path) < 0", "size(request.path) < 0", "never true: `size(request.path)` is at least 0"),
        ("0 <= request.path.size()", "0 <= request.path.size()", "always true: `request.path.size()` is at least 0"),
        ("size(request.headers) == -1", "size(request.headers) == -1", "is at least 0"),
        ("request.path.indexOf('a') < -1", "request.path.indexOf('a') < -1", "is at least -1"),
    ] {
        let found = shown(source, engine.check(&env, source).unwrap().warnings());
        let [(code, at, text)] = &*found else { panic!("{source}: {found:?}") };
        assert_eq!((*code, at.as_str()), ("never-that-value", place), "{source}");
        assert!(text.contains(message), "{source}: {text}");
    }
    for source in [
        "request.path == '/admin'",
        "request.path == '*'",
        "request.path == ''",
        "request.path.startsWith('/')",
        "request.path.endsWith('admin')",
        "request.path.contains('A')",
        "request.path.matches('^/admin')",
        "request.path.matches('(?i)ADMIN')",
        "request.path.matches('^(/a|[*]$)')",
        "request.path.matches('admin|[?]')",
        "request.method.matches('(?i)^get$')",
        "request.host.matches('(?i)^EX')",
        "request.version.matches('(?i)^http/2')",
        "request.rawPath == 'admin'",
        "request.query.contains('?')",
        "request.method == 'PROPFIND'",
        "request.host == '[::1]'",
        "request.host.contains('::')",
        "request.host.endsWith('.example')",
        "request.version == 'HTTP/2.0'",
        "source.port == 65535",
        "has(request.path)",
        // A host may keep several slashes in a row.
        "request.path == '/a//b'",
        "request.path == '/..a/.b/...'",
        "request.path.contains('..')",
        "request.path.startsWith('/a/..')",
        "request.path.endsWith('..')",
        "request.path == '/a%3Bb%2F'",
        "request.path.contains('%4')",
        "request.path.matches('(?i)%3c')",
        "request.path.wildcard('/Admin/*')",
        "request.path.wildcard('*.PHP')",
        "request.path.wildcard('*')",
        "request.host.wildcard('*.EX.com')",
        "request.headers.exists(k, k == 'content-type')",
        "request.headers.exists(k, [k].exists(j, j == 'A'))",
        "['A'].exists(k, request.headers.exists(j, j == 'a') || k == 'A')",
        "request.headers.exists(k, ['A'].exists(k, k == 'A'))",
        "size(request.path) > 0",
        "size(request.path) == 0",
        "request.path.indexOf('a') == -1",
    ] {
        let found = shown(source, engine.check(&env, source).unwrap().warnings());
        assert!(found.is_empty(), "{source}: {found:?}");
    }
    for source in ["s.contains('')", "s.startsWith('')", "s.endsWith('')"] {
        let found = warnings(source);
        let [("constant-condition", at, text)] = &*found else { panic!("{source}: {found:?}") };
        assert!(at == source && text.contains("always true"), "{found:?}");
    }
}

#[test]
fn fields_of_the_filter_language_never_have_some_values() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<RequestContext<'_>>::new().filter_language(celero::filter::FilterLanguage::http());
    for (source, message) in [
        ("http.request.uri.path eq \"admin\"", "never true: `http.request.uri.path` begins with `/`"),
        ("http.request.uri.path ne \"admin\"", "always true"),
        ("http.request.uri.path contains \"?\"", "has no `?`"),
        ("starts_with(http.request.uri.path, \"admin\")", "begins with `/`"),
        ("http.request.uri.path matches \"^admin\"", "begins with `/`"),
        ("http.request.uri.path matches r\"\\.php\\?\"", "has no `?`"),
        ("http.request.method matches \"^get$\"", "has no lower-case letter"),
        ("http.request.uri.path.extension in {\"php\" \"PHP\"}", "has no upper-case letter"),
        ("http.request.uri.path.extension eq \".php\"", "has no `.`"),
        ("http.request.method eq \"get\"", "has no lower-case letter"),
        ("http.request.method in {\"GET\" \"post\"}", "has no lower-case letter"),
        ("http.host eq \"EX.com\"", "has no upper-case letter"),
        ("any(http.request.headers.names[*] == \"Content-Type\")", "has no upper-case letter"),
        ("tcp.srcport gt 70000", "is a number from 0 to 65535"),
        ("tcp.srcport in {80 70000..80000}", "is a number from 0 to 65535"),
        ("http.request.version eq \"HTTP/2.0\"", "is one of `HTTP/1.0`, `HTTP/1.1`, `HTTP/2`, `HTTP/3`"),
        ("http.request.version in {\"HTTP/3\" \"http/2\"}", "is one of `HTTP/1.0`, `HTTP/1.1`, `HTTP/2`, `HTTP/3`"),
        ("starts_with(http.request.version, \"HTTP/4\")", "is one of `HTTP/1.0`"),
        ("http.request.uri.path wildcard \"admin/*\"", "begins with `/`"),
        ("http.request.uri.path strict wildcard \"admin/*\"", "begins with `/`"),
        ("http.request.uri.path wildcard \"*?*\"", "has no `?`"),
        ("http.host strict wildcard \"*.EX.com\"", "has no upper-case letter"),
        ("http.request.uri.path eq \"/a/../b\"", "has no segment `.` or `..`"),
        ("http.request.uri.path contains \"/./\"", "has no segment `.` or `..`"),
        ("http.request.uri.path eq \"/%41\"", "has no character in another encoding"),
        ("http.request.uri.path contains \"<script\"", "has no character in another encoding"),
        ("len(http.request.uri.path) lt 0", "never true: `len(..)` is at least 0"),
        ("len(http.request.uri.args[\"a\"][0]) eq -1", "never true: `len(..)` is at least 0"),
    ] {
        let found = engine.check(&env, source).unwrap();
        let texts: Vec<_> = found.warnings().iter().map(|warning| (warning.code, &*warning.message)).collect();
        let [("never-that-value", text)] = &*texts else { panic!("{source}: {texts:?}") };
        assert!(text.contains(message), "{source}: {text}");
    }
    for source in [
        "http.request.uri.path eq \"/admin\"",
        "any(http.request.headers.names[*] == \"content-type\")",
        "http.request.version in {\"HTTP/1.0\" \"HTTP/1.1\" \"HTTP/2\" \"HTTP/3\"}",
        "http.request.uri.path matches \"(?i)^/ADMIN\"",
        "http.request.uri.path matches r\"^\\x2fadmin\"",
        "http.request.uri.path.extension in {\"php\" \"\"}",
        "http.request.version contains \"2\"",
        "tcp.srcport in {80 60000..80000}",
        "http.request.uri.path wildcard \"/Admin/*\"",
        "http.request.uri.path wildcard \"*.PHP\"",
        "http.host wildcard \"*.EX.com\"",
        "http.request.uri.path eq \"/a//b\"",
        "http.request.uri.path contains \"..\"",
        "http.request.uri.path contains \"%3C\"",
        "len(http.request.uri.path) gt 0",
        // True if the argument is there.
        "len(http.request.uri.args[\"a\"]) ge 0",
        "len(http.request.uri.path) eq 0",
    ] {
        assert!(engine.check(&env, source).unwrap().warnings().is_empty(), "{source}");
    }
}

/// The names of headers have no upper-case letter, and no other key is found.
#[test]
fn keys_of_headers_with_upper_case_letters_are_not_there() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<RequestContext<'_>>::new().filter_language(celero::filter::FilterLanguage::http());
    for (source, is_warned) in [
        ("http.request.headers[\"User-Agent\"][0] eq \"x\"", true),
        ("any(http.request.headers[\"Accept\"][*] contains \"x\")", true),
        ("has_key(http.request.headers, \"X-Api-Key\")", true),
        ("len(http.request.headers[\"Cookie\"]) > 1", true),
        ("http.request.headers[\"user-agent\"][0] eq \"X\"", false),
        ("has_key(http.request.headers, \"x-api-key\")", false),
        ("http.request.cookies[\"Session\"][0] eq \"x\"", false),
        ("has_key(http.request.uri.args, \"Q\")", false),
    ] {
        let found = engine.check(&env, source).unwrap();
        let codes: Vec<_> = found.warnings().iter().map(|warning| warning.code).collect();
        assert_eq!(codes, if is_warned { &["header-name-case"][..] } else { &[] }, "{source}");
        let help: String = found.warnings().iter().flat_map(|warning| warning.help.clone()).collect();
        assert_eq!(help.contains("write `"), is_warned, "{source}: {help}");
    }
}

/// In both languages: patterns and texts that are found everywhere or nowhere.
#[test]
fn patterns_and_texts_that_are_found_everywhere_or_nowhere() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let cel = Env::<RequestContext<'_>>::new();
    let filter = cel.clone().filter_language(celero::filter::FilterLanguage::http());
    let warned = |env: &Env<RequestContext<'_>>, rule: &str| {
        let found = engine.check(env, rule).unwrap();
        found.warnings().iter().map(|warning| (warning.code, warning.message.clone())).collect::<Vec<_>>()
    };
    for (pattern, in_cel, in_filter) in [
        ("", Some("every"), Some("every")),
        ("a|b|", Some("every"), Some("every")),
        ("(?:a|)b*", Some("every"), Some("every")),
        (".*", Some("every"), Some("every")),
        ("$a", Some("no"), Some("no")),
        ("a^b", Some("no"), Some("no")),
        // RE2 reads three members of a class.
        ("[a&&b]", None, Some("no")),
        ("^a|b$", None, None),
        ("^(a|b|)$", None, None),
        ("(?m)$.^", None, None),
    ] {
        for (env, rule, expected) in [
            (&cel, format!("request.path.matches(r'{pattern}')"), in_cel),
            (&filter, format!("http.request.uri.path matches \"{pattern}\""), in_filter),
        ] {
            let expected: Vec<_> = expected
                .map(|what| ("constant-condition", format!("this pattern matches {what} text")))
                .into_iter()
                .collect();
            assert_eq!(warned(env, &rule), expected, "{rule}");
        }
    }
    // What is replaced or extracted may be empty.
    assert_eq!(warned(&cel, "regex.extract(request.path, 'a*') == optional.of('')"), []);
    for rule in [
        "http.request.uri.path contains \"\"",
        "starts_with(http.request.uri.path, \"\")",
        "ends_with(http.request.uri.path, \"\")",
    ] {
        assert_eq!(
            warned(&filter, rule),
            [("constant-condition", "the empty text is a part of every text".to_owned())]
        );
    }
}

/// The types of a host's fields say which values they have: integers, enums, and what refers to them.
#[test]
fn types_of_fields_say_their_values() {
    #[derive(FieldType)]
    #[context(rename_all = "kebab-case")]
    enum Plan {
        Free,
        TeamPro,
    }
    #[derive(FieldType)]
    enum Event {
        Open,
        #[expect(dead_code, reason = "only the names are read")]
        Data(u8),
    }
    #[derive(FieldType)]
    #[context(as = "int")]
    enum Level {
        Low = -3,
        High = 300,
    }
    #[derive(FieldType)]
    struct Weight(u16);

    #[derive(Context)]
    struct Account<'a> {
        plan: Plan,
        other: Option<&'a Plan>,
        event: Box<Event>,
        level: Level,
        weight: Option<Weight>,
        small: std::num::NonZero<u8>,
        signed: &'a i16,
        large: u64,
        name: &'a str,
    }
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<Account<'_>>::new();
    let warned = |rule: &str| {
        let found = engine.check(&env, rule).unwrap();
        let show =
            |warning: &celero::Diagnostic| format!("{} {}: {}", warning.code, warning.message, warning.help.join(" "));
        found.warnings().iter().map(show).collect::<Vec<_>>().join("; ")
    };
    for (rule, wanted) in [
        ("plan == 'Free'", "this is never true: `plan` is one of `free`, `team-pro`: did you mean `free`?"),
        ("plan.startsWith('team_')", "never true: `plan` is one of `free`, `team-pro`"),
        ("other != 'pro'", "always true: `other` is one of `free`, `team-pro`"),
        ("event == 'Closed'", "`event` is one of `Open`, `Data`"),
        ("level > 300", "never true: `level` is a number from -3 to 300"),
        ("weight == 70000u", "never true: `weight` is a number from 0 to 65535"),
        ("weight <= 65535u", "always true: `weight` is a number from 0 to 65535"),
        ("small == 0u", "`small` is a number from 1 to 255"),
        ("signed >= -32768", "always true: `signed` is a number from -32768 to 32767"),
        ("signed in [1, 40000]", "never true: `signed` is a number from -32768 to 32767"),
    ] {
        let found = warned(rule);
        assert!(found.starts_with("never-that-value") && found.contains(wanted), "{rule}: {found}");
    }
    for rule in [
        "plan == 'free'",
        "plan.startsWith('team')",
        "event in ['Open', 'Data']",
        "level < 300",
        "weight > 65534u",
        "large >= 0u",
        "large == 18446744073709551615u",
        "name == ''",
    ] {
        assert_eq!(warned(rule), "", "{rule}");
    }
    let _ = |account: &Account<'_>| {
        (Plan::TeamPro, Event::Open, Level::Low, Level::High, account.weight.as_ref().map(|w| w.0))
    };
}
