//! The ready-made context for requests of the `http` crate.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::layout::{agree, show};
use crate::support::Random;
use celero::http::{Request, RequestContext, Source};
use celero::values::{Arena, HostMap, Map};
use celero::{Context, Engine, Env, ErrorKind, FieldType, Scratch, Tier, Value};
use http::{HeaderMap, HeaderName, HeaderValue, Version};

fn request(target: &str) -> http::Request<()> {
    http::Request::get(target).body(()).unwrap()
}

#[test]
fn fields_have_the_names_and_types_of_gateways() {
    let fields: Vec<_> = RequestContext::fields()
        .into_iter()
        .map(|f| format!("{}: {}{}", f.name, f.ty, if f.layout.optional { "?" } else { "" }))
        .collect();
    let expected = "request.method: string, request.uri: string, request.scheme: string?, request.path: string, \
                    request.pathAndQuery: string, request.query: string?, request.host: string?, \
                    request.headers: map(string, string), request.port: int?, request.rawPath: string, request.fullUri: string?, request.version: string, request.body: bytes?, source.address: string?, source.port: int?";
    assert_eq!(fields.join(", "), expected);
    assert!(Env::<RequestContext<'_>>::new().problems().is_empty());
}

#[test]
fn a_target_with_everything() {
    let mut request = request("https://user@example.com:8443/a/b?x=1&y");
    *request.version_mut() = Version::HTTP_2;
    request.headers_mut().insert("host", HeaderValue::from_static("other:1"));
    let context = RequestContext::new(&request).with_source("192.0.2.7:4711".parse().unwrap()).with_body(b"{}\xff");
    for (name, value) in [
        ("request.method", r#"String("GET")"#),
        ("request.uri", r#"String("/a/b?x=1&y")"#),
        ("request.fullUri", r#"String("https://example.com:8443/a/b?x=1&y")"#),
        ("request.scheme", r#"String("https")"#),
        ("request.path", r#"String("/a/b")"#),
        ("request.pathAndQuery", r#"String("/a/b?x=1&y")"#),
        ("request.query", r#"String("x=1&y")"#),
        ("request.host", r#"String("example.com")"#),
        ("request.port", "Int(8443)"),
        ("request.rawPath", r#"String("/a/b?x=1&y")"#),
        ("request.version", r#"String("HTTP/2.0")"#),
        ("request.body", "Bytes([123, 125, 255])"),
        ("source.address", r#"String("192.0.2.7")"#),
        ("source.port", "Int(4711)"),
    ] {
        assert_eq!(show(&context, name), value, "{name}");
    }
    let in_place = agree(&context);
    assert_eq!(
        in_place.join(" "),
        "request.method request.uri request.scheme request.path request.pathAndQuery request.query request.host request.rawPath request.version request.body source.address source.port"
    );
}

#[test]
fn what_a_request_has_not_is_absent() {
    let request = request("/");
    let (parts, ()) = request.into_parts();
    let context = RequestContext::from_parts(&parts);
    agree(&context);
    for name in [
        "request.scheme",
        "request.fullUri",
        "request.query",
        "request.host",
        "request.body",
        "source.address",
        "source.port",
    ] {
        assert_eq!(show(&context, name), "absent", "{name}");
    }
    let connect = http::Request::connect("example.com:443").body(()).unwrap();
    let context = RequestContext::new(&connect);
    agree(&context);
    assert_eq!(show(&context, "request.path"), r#"String("")"#);
    assert_eq!(show(&context, "request.pathAndQuery"), r#"String("")"#);
    assert_eq!(show(&context, "request.host"), r#"String("example.com")"#);
    assert_eq!(show(&context, "request.uri"), r#"String("example.com:443")"#);
    assert_eq!(show(&context, "request.fullUri"), r#"String("http://example.com:443")"#);
    let empty_query = http::Request::get("/a?").body(()).unwrap();
    assert_eq!(show(&RequestContext::new(&empty_query), "request.query"), r#"String("")"#);
}

#[test]
fn a_host_is_one_text_however_it_is_written() {
    let mut request = request("/");
    for (header, host, port) in [
        ("example.com", "example.com", None),
        ("Example.COM:8080", "example.com", Some(8080)),
        ("example.com.", "example.com", None),
        ("EXAMPLE.com.:80", "example.com", Some(80)),
        ("[2001:DB8::1]:443", "[2001:db8::1]", Some(443)),
    ] {
        request.headers_mut().insert("host", HeaderValue::from_static(header));
        let context = RequestContext::new(&request);
        assert_eq!(show(&context, "request.host"), format!("String({host:?})"), "{header}");
        assert_eq!(
            show(&context, "request.port"),
            port.map_or("absent".to_owned(), |port: u16| format!("Int({port})"))
        );
        agree(&context);
    }
    request.headers_mut().insert("host", HeaderValue::from_bytes(b"a\xffB").unwrap());
    assert_eq!(show(&RequestContext::new(&request), "request.host"), "String(\"a\u{fffd}b\")");
    *request.uri_mut() = "http://Target.Example.:81/".parse().unwrap();
    assert_eq!(show(&RequestContext::new(&request), "request.host"), "String(\"target.example\")");
}

#[test]
fn a_target_is_one_text_in_every_version() {
    for (target, host, scheme, uri, full) in [
        ("/a?b", Some("Shop.example.:81"), None, "/a?b", Some("http://shop.example:81/a?b")),
        ("http://shop.example:81/a?b", None, None, "/a?b", Some("http://shop.example:81/a?b")),
        ("https://shop.example", None, None, "/", Some("https://shop.example/")),
        ("http://shop.example/a", None, Some("https"), "/a", Some("https://shop.example/a")),
        ("*", Some("shop.example"), Some("http"), "*", Some("http://shop.example")),
        ("/a", None, Some("https"), "/a", None),
    ] {
        let mut request = request(target);
        if let Some(host) = host {
            request.headers_mut().insert("host", HeaderValue::from_static(host));
        }
        let (parts, ()) = request.into_parts();
        let head = celero::http::RequestHead::from_parts(&parts).with_scheme(scheme);
        assert_eq!(show(&head, "uri"), format!("String({uri:?})"), "{target}");
        assert_eq!(
            show(&head, "fullUri"),
            full.map_or("absent".to_owned(), |full| format!("String({full:?})")),
            "{target}"
        );
        if let Some(scheme) = scheme {
            assert_eq!(show(&head, "scheme"), format!("String({scheme:?})"), "{target}");
        }
        agree(&head);
    }
}

#[test]
fn a_target_as_received_stays_readable() {
    let (parts, ()) = request("/a").into_parts();
    let head = celero::http::RequestHead::from_parts(&parts).with_raw_path(Some(b"/x/../a\xff"));
    assert_eq!(show(&head, "rawPath"), "String(\"/x/../a\u{fffd}\")");
    assert_eq!(show(&head, "path"), "String(\"/a\")");
    agree(&head);
}

fn lookup(map: &HeaderMap, name: &str) -> Option<String> {
    let arena = Arena::new(1 << 20);
    match HostMap::get(map, &Value::String(name), &arena).unwrap() {
        Some(Value::String(text)) => Some(text.to_owned()),
        None => None,
        Some(other) => panic!("{other:?}"),
    }
}

#[test]
fn lines_of_cookies_are_joined_as_cookies_are() {
    let mut request = request("/");
    for (name, value) in [("cookie", "a=1"), ("x-a", "1"), ("cookie", "b=2; c=3"), ("x-a", "2")] {
        request.headers_mut().append(name, HeaderValue::from_static(value));
    }
    let context = RequestContext::new(&request);
    for (expression, value) in [
        ("request.headers.cookie", "String(\"a=1; b=2; c=3\")"),
        ("request.headers['x-a']", "String(\"1,2\")"),
        ("request.headers.exists(name, request.headers[name] == 'a=1; b=2; c=3')", "Bool(true)"),
        // Five names are looked up together.
        (
            "request.headers.cookie + string(has(request.headers.a) || has(request.headers.b)) + \
          (has(request.headers.c) ? request.headers.c : '') + (has(request.headers.d) ? request.headers.d : '') + \
          (has(request.headers.e) ? request.headers.e : '')",
            "String(\"a=1; b=2; c=3false\")",
        ),
    ] {
        let env = Env::<RequestContext<'_>>::new();
        for engine in [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build()) {
            let program = engine.compile(&env, expression).unwrap();
            let mut scratch = Scratch::new();
            assert_eq!(format!("{:?}", program.eval(&context, &mut scratch).unwrap()), value, "{expression}");
        }
    }
}

#[test]
fn headers_are_found_in_any_case_and_joined() {
    let mut map = HeaderMap::new();
    map.append("x-one", HeaderValue::from_static("1"));
    map.append("x-many", HeaderValue::from_static("a"));
    map.append("x-many", HeaderValue::from_static(""));
    map.append("x-many", HeaderValue::from_bytes(b"\xe6\xbc").unwrap());
    assert_eq!(lookup(&map, "x-one").as_deref(), Some("1"));
    assert_eq!(lookup(&map, "X-One").as_deref(), Some("1"));
    assert_eq!(lookup(&map, "x-many").as_deref(), Some("a,,\u{fffd}"));
    assert_eq!(lookup(&map, "x-two"), None);
    assert_eq!(lookup(&map, "no header name"), None);
    assert_eq!(lookup(&map, ""), None);
    let arena = Arena::new(1 << 12);
    assert!(HostMap::get(&map, &Value::Int(1), &arena).unwrap().is_none());
    assert_eq!(HostMap::len(&map), 2);
    let entries: Vec<_> = (0..3).map(|i| format!("{:?}", HostMap::entry(&map, i, &arena).unwrap())).collect();
    assert_eq!(entries[0], r#"Some((String("x-one"), String("1")))"#);
    assert_eq!(entries[1], "Some((String(\"x-many\"), String(\"a,,\u{fffd}\")))");
    assert_eq!(entries[2], "None");
    let all: Vec<_> = HostMap::entries(&map, &arena).unwrap().iter().map(|e| format!("Some({e:?})")).collect();
    assert_eq!(all, entries[..2]);
}

#[test]
fn one_valid_line_is_borrowed_and_a_full_arena_is_an_error() {
    let mut map = HeaderMap::new();
    map.append("one", HeaderValue::from_static("value"));
    map.append("two", HeaderValue::from_static("value"));
    map.append("two", HeaderValue::from_static("value"));
    map.append("bad", HeaderValue::from_bytes(b"\xff").unwrap());
    let nothing = Arena::new(0);
    match HostMap::get(&map, &Value::String("one"), &nothing).unwrap() {
        Some(Value::String(text)) => assert_eq!(text.as_ptr(), map["one"].as_bytes().as_ptr()),
        other => panic!("{other:?}"),
    }
    for name in ["two", "bad"] {
        let outcome = HostMap::get(&map, &Value::String(name), &nothing);
        assert!(matches!(outcome, Err(ErrorKind::OutOfBudget)), "{name}: {outcome:?}");
    }
}

#[test]
fn invalid_bytes_read_as_the_standard_library_reads_them() {
    let mut random = Random::new(7);
    let mut damaged = 0;
    for _ in 0..2000 {
        let mut lines = Vec::new();
        for _ in 0..=random.number() % 3 {
            let mut bytes: Vec<u8> = random.text().into_bytes();
            bytes.retain(|b| *b != 0);
            if let Some(place) = random.maybe(|r| r.number() as usize).and_then(|n| n.checked_rem(bytes.len())) {
                bytes[place] = 0x80 | (random.number() as u8 & 0x7e);
            }
            lines.push(bytes);
        }
        let mut map = HeaderMap::new();
        for line in &lines {
            map.append(HeaderName::from_static("k"), HeaderValue::from_bytes(line).unwrap());
        }
        let expected: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        damaged += usize::from(expected.iter().any(|text| text.contains('\u{fffd}')));
        assert_eq!(lookup(&map, "k").unwrap(), expected.join(","));
    }
    assert!(damaged > 100, "{damaged}");
}

#[derive(Context)]
struct Call<'a> {
    #[context(nested)]
    request: Request<'a>,
    method: &'a http::Method,
    version: Option<Version>,
    #[context(nested, name = "downstream")]
    source: Source,
    uris: Vec<http::Uri>,
}

#[test]
fn methods_read_alike_whatever_they_are() {
    let usual = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"];
    let others = ["G", "GE", "get", "GETT", "PROPFIND", "FIFTEEN-LETTERS", "MORE-THAN-SIXTEEN-LETTERS"];
    let env = Env::<RequestContext<'_>>::new();
    for text in usual.into_iter().chain(others) {
        let request = http::Request::builder().method(text).body(()).unwrap();
        let context = RequestContext::new(&request);
        agree(&context);
        for asked in usual.into_iter().chain(others) {
            let rule = format!("request.method == '{asked}' && request.method.size() == {}", asked.len());
            for tier in [Tier::Native, Tier::Interpret] {
                let program = Engine::builder().tier(tier).build().compile(&env, &rule).unwrap();
                assert_eq!(program.test(&context), Ok(text == asked), "{text}: {rule}");
            }
        }
    }
}

#[test]
fn parts_and_types_of_http_fit_into_contexts() {
    let request = request("/x");
    let call = Call {
        request: Request::new(&request),
        method: request.method(),
        version: Some(Version::HTTP_11),
        source: Source::default(),
        uris: vec![request.uri().clone()],
    };
    let in_place = agree(&call);
    assert!(in_place.iter().any(|name| name == "method") && in_place.iter().any(|name| name == "version"));
    assert_eq!(show(&call, "version"), r#"String("HTTP/1.1")"#);
    assert_eq!(show(&call, "downstream.port"), "absent");
    let arena = Arena::new(1 << 10);
    match call.uris.value(&arena).unwrap() {
        Some(Value::List(list)) => assert!(matches!(list.get(0, &arena), Ok(Some(Value::String("/x"))))),
        other => panic!("{other:?}"),
    }
    match request.headers().value(&arena).unwrap() {
        Some(Value::Map(Map::Host(map))) => assert_eq!(map.len(), 0),
        other => panic!("{other:?}"),
    }
}

/// What a rule answers, in both tiers.
fn answer(rule: &str, context: &RequestContext<'_>) -> String {
    let env = Env::<RequestContext<'_>>::new().pure_function("suffix", |text: &str, n: i64| -> Result<String, &str> {
        let from = usize::try_from(n).ok().and_then(|n| text.len().checked_sub(n)).ok_or("too long")?;
        text.get(from..).map(str::to_owned).ok_or("inside a character")
    });
    let run = |tier| {
        let engine = Engine::builder().tier(tier).build();
        let program = engine.compile(&env, rule).unwrap();
        let mut scratch = Scratch::new();
        match program.eval(context, &mut scratch) {
            Ok(value) => format!("{value:?}"),
            Err(error) => error.kind.name().to_owned(),
        }
    };
    let (native, interpreted) = (run(Tier::Native), run(Tier::Interpret));
    assert_eq!(native, interpreted, "{rule}");
    native
}

#[test]
fn rules_see_the_same_request_in_both_tiers() {
    let request = http::Request::get("/admin/x?debug=1")
        .header("host", "example.com")
        .header("x-team", "ops")
        .header("x-many", "a")
        .header("x-many", "b")
        .header("x-bad", HeaderValue::from_bytes(b"a\xffb").unwrap())
        .body(())
        .unwrap();
    let bare = RequestContext::new(&request);
    let full = bare.with_source("10.1.2.3:99".parse().unwrap()).with_body(b"{}");
    for (rule, with, without) in [
        ("request.method == 'GET' && request.path.startsWith('/admin')", "Bool(true)", "Bool(true)"),
        ("request.query", r#"String("debug=1")"#, r#"String("debug=1")"#),
        ("has(request.scheme)", "Bool(false)", "Bool(false)"),
        ("request.scheme", "no_such_key", "no_such_key"),
        ("request.headers['x-team'] == 'ops'", "Bool(true)", "Bool(true)"),
        ("request.headers['X-Team']", r#"String("ops")"#, r#"String("ops")"#),
        ("request.headers['x-many']", r#"String("a,b")"#, r#"String("a,b")"#),
        ("request.headers['x-bad'] == 'a\u{fffd}b'", "Bool(true)", "Bool(true)"),
        ("request.headers['x-none']", "no_such_key", "no_such_key"),
        ("'x-none' in request.headers || 'x-team' in request.headers", "Bool(true)", "Bool(true)"),
        ("request.headers.exists(name, name == 'x-many')", "Bool(true)", "Bool(true)"),
        ("size(request.headers)", "Int(4)", "Int(4)"),
        ("request.host + request.version", r#"String("example.comHTTP/1.1")"#, r#"String("example.comHTTP/1.1")"#),
        ("source.address", r#"String("10.1.2.3")"#, "no_such_key"),
        ("cidr('10.0.0.0/8').containsIP(source.address)", "Bool(true)", "no_such_key"),
        ("has(source.port) && source.port > 98", "Bool(true)", "Bool(false)"),
        ("request.body == b'{}'", "Bool(true)", "no_such_key"),
        ("suffix(request.path, 1)", r#"String("x")"#, r#"String("x")"#),
        ("suffix(request.path, 100)", "host", "host"),
    ] {
        assert_eq!(answer(rule, &full), with, "{rule}");
        assert_eq!(answer(rule, &bare), without, "{rule}");
    }
}
