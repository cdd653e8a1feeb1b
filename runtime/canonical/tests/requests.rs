//! Heads of requests and responses, and their canonical form.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_canonical::{
    GuardedNames, Options, Refusal, Underscores, canonical_changes, canonicalize, canonicalize_response, follow_host,
    origin_form,
};
use http::request::Parts;
use http::{HeaderMap, Response, Version};

/// `GET target`, then the fields as `name: value`.
fn head(line: &str, version: Version, fields: &[&str]) -> Parts {
    let (method, target) = line.split_once(' ').unwrap();
    let mut request = http::Request::builder().method(method).uri(target).version(version);
    for field in fields {
        let (name, value) = field.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    request.body(()).unwrap().into_parts().0
}

fn guarded() -> GuardedNames {
    let mut guarded = GuardedNames::default();
    guarded.add("x-user");
    guarded
}

/// The canonical form: target, then the fields, sorted.
fn canonical(line: &str, version: Version, fields: &[&str]) -> Result<(String, Vec<String>), Refusal> {
    let mut head = head(line, version, fields);
    canonicalize(&mut head, &Options::default(), &guarded())?;
    assert!(
        canonical_changes(&head, None, &Options::default(), &guarded()).unwrap().is_empty(),
        "the canonical form is its own: {line} {fields:?}"
    );
    Ok((head.uri.to_string(), texts(&head.headers)))
}

fn texts(headers: &HeaderMap) -> Vec<String> {
    let mut texts: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    texts.sort();
    texts
}

fn http1(line: &str, fields: &[&str]) -> Result<(String, Vec<String>), Refusal> {
    canonical(line, Version::HTTP_11, fields)
}

fn target(line: &str, fields: &[&str]) -> Result<String, Refusal> {
    http1(line, fields).map(|(target, _)| target)
}

fn fields(fields: &[&str]) -> Result<Vec<String>, Refusal> {
    let fields: Vec<&str> = [&["host: a"], fields].concat();
    http1("GET /", &fields).map(|(_, fields)| fields.into_iter().filter(|field| field != "host: a").collect())
}

#[test]
fn targets_become_origin_form() {
    for (line, expected) in [
        ("GET /a?b=//c&d=%2f%zz", "/a?b=//c&d=%2f%zz"),
        ("GET //a", "/a"),
        ("GET /x/../a?q", "/a?q"),
        ("GET http://h/a", "/a"),
        ("GET HTTP://h//a", "/a"),
        ("GET http://h", "/"),
        ("GET http://h?q", "/?q"),
        ("OPTIONS *", "*"),
        ("OPTIONS http://h/a", "/a"),
    ] {
        assert_eq!(target(line, &["host: h"]).as_deref(), Ok(expected), "{line}");
    }
    for (line, expected) in [
        ("GET admin", Refusal::TargetForm),
        ("GET *", Refusal::TargetForm),
        ("GET ftp://h/a", Refusal::Scheme),
        ("GET http://other/a", Refusal::HostMismatch),
        ("GET http://h:81/a", Refusal::HostMismatch),
        ("GET http://h:80/a", Refusal::HostMismatch),
        ("GET http://H/a", Refusal::HostMismatch),
        ("GET http://h./a", Refusal::HostMismatch),
        ("GET http://u@h/a", Refusal::HostInvalid),
        ("CONNECT h:80", Refusal::Connect),
        ("GET /a%2fb", Refusal::PathEncodedSlash),
    ] {
        assert_eq!(target(line, &["host: h"]), Err(expected), "{line}");
    }
}

#[test]
fn raw_targets_count_where_the_uri_has_less() {
    let head = head("GET /", Version::HTTP_11, &["host: h"]);
    let changed = |raw: &[u8]| {
        let changes = canonical_changes(&head, Some(raw), &Options::default(), &guarded())?;
        Ok(changes.uri().map(ToString::to_string))
    };
    assert_eq!(changed(b"/"), Ok(None));
    assert_eq!(changed(b"/a\xff?\xfe"), Ok(Some("/a%FF?%FE".to_owned())));
    assert_eq!(changed(b"http://h//a"), Ok(Some("/a".to_owned())));
    assert_eq!(changed(b"http://H//a"), Err(Refusal::HostMismatch));
    for wrong in [&b"admin"[..], b"x:admin", b"http:/h/a", b"http:h", b"", b"*", b"?a"] {
        assert_eq!(changed(wrong), Err(Refusal::TargetForm), "{}", wrong.escape_ascii());
    }
    let mut options = head.clone();
    options.method = http::Method::OPTIONS;
    let of_server = canonical_changes(&options, Some(b"http://h"), &Options::default(), &guarded()).unwrap();
    assert_eq!(of_server.uri().unwrap(), "*", "of a whole server");
    assert_eq!(changed(b"://h/"), Err(Refusal::Scheme));
    assert_eq!(changed(b"http:///a"), Err(Refusal::HostInvalid));
    assert_eq!(changed(b"http://h\\x/a"), Err(Refusal::TargetForm));
    assert_eq!(changed(b"/a b"), Err(Refusal::PathControl));
    assert_eq!(changed(b"/a?b\x01"), Err(Refusal::PathControl));
}

#[test]
fn the_path_of_a_target_is_found_in_each_form() {
    for (received, expected) in [
        ("/a?b", "/a?b"),
        ("http://h/a?b", "/a?b"),
        ("http://h", "/"),
        ("http://h?b", "/?b"),
        ("*", "*"),
        ("admin", ""),
    ] {
        let found = origin_form(received.as_bytes()).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&found), expected, "{received}");
    }
}

#[test]
fn a_request_names_one_host() {
    let host = |value: &str| http1("GET /", &[&format!("host: {value}")]).map(|(_, fields)| fields.join(" "));
    assert_eq!(host("A.Example.:80").as_deref(), Ok("host: a.example:80"));
    assert_eq!(host("[::1]").as_deref(), Ok("host: [::1]"));
    assert_eq!(host("a:b"), Err(Refusal::HostInvalid));
    assert_eq!(host("a,b"), Err(Refusal::HostInvalid));
    assert_eq!(http1("GET /", &["host: a", "host: a"]), Err(Refusal::HostDuplicate));
    assert_eq!(http1("GET /", &[]), Err(Refusal::HostMissing));
    assert_eq!(http1("GET http://h/", &[]), Err(Refusal::HostMissing));
    // The server gets HTTP/1.1, which has `Host`.
    for version in [Version::HTTP_09, Version::HTTP_10] {
        assert_eq!(canonical("GET /", version, &[]), Err(Refusal::HostMissing));
        assert_eq!(canonical("GET http://h/", version, &[]), Err(Refusal::HostMissing));
        assert_eq!(canonical("GET /", version, &["host: H"]).unwrap().1, ["host: h"]);
    }
}

#[test]
fn http2_has_its_host_in_target_and_field() {
    let http2 = |uri: &str, fields: &[&str]| canonical(&format!("GET {uri}"), Version::HTTP_2, fields);
    let found = |uri: &str, fields: &[&str]| {
        let (target, fields) = http2(uri, fields)?;
        Ok(format!("{target} {}", fields.join(" ")))
    };
    assert_eq!(found("https://h/a", &[]).as_deref(), Ok("https://h/a host: h"));
    assert_eq!(found("http://H.:80//a?q", &[]).as_deref(), Ok("http://h:80/a?q host: h:80"));
    assert_eq!(found("http://H:80/a", &["host: H:80"]).as_deref(), Ok("http://h:80/a host: h:80"));
    for other in ["other", "H", "h:80", "h."] {
        assert_eq!(found("http://h/a", &[&format!("host: {other}")]), Err(Refusal::HostMismatch), "{other}");
    }
    assert_eq!(found("/a", &["host: H"]).as_deref(), Ok("/a host: h"));
    assert_eq!(found("/a", &[]), Err(Refusal::HostMissing));
    for field in [
        "connection: x-user",
        "connection: close",
        "keep-alive: 1",
        "upgrade: websocket",
        "te: gzip",
        "transfer-encoding: chunked",
    ] {
        let refusal = http2("http://h/", &[field]).unwrap_err();
        assert!(matches!(refusal, Refusal::ConnectionField | Refusal::TransferEncoding), "{field}: {refusal}");
    }
    assert_eq!(found("http://h/", &["te: trailers"]).as_deref(), Ok("http://h/ host: h te: trailers"));
    assert_eq!(
        found("http://h/", &["cookie: a=1", "cookie: b=2"]).as_deref(),
        Ok("http://h/ cookie: a=1; b=2 host: h")
    );
}

/// A line that ends with a space would be read without it.
#[test]
fn lines_of_cookies_are_one_without_empty_ones() {
    for (lines, joined) in [
        (&["a=1", "b=2", "c"][..], "a=1; b=2; c"),
        (&["a=1", ""], "a=1"),
        (&["", "a=1"], "a=1"),
        (&["a=1", "", "b=2"], "a=1; b=2"),
        (&["", ""], ""),
        (&[""], ""),
    ] {
        let lines: Vec<String> = lines.iter().map(|line| format!("cookie: {line}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(fields(&lines).unwrap(), [format!("cookie: {joined}")], "{lines:?}");
    }
}

#[test]
fn what_connection_names_is_gone() {
    assert_eq!(
        fields(&["connection: close, X-A", "connection: te,,x-b", "x-a: 1", "x-b: 2", "te: trailers", "x-c: 3"])
            .unwrap(),
        ["x-c: 3"]
    );
    assert_eq!(
        fields(&["connection: keep-alive", "keep-alive: timeout=5", "proxy-connection: x", "trailer: x-a"]).unwrap(),
        [""; 0]
    );
    assert_eq!(fields(&["connection: cookie", "cookie: a=1", "cookie: b=2"]).unwrap(), [""; 0]);
    for name in [
        "host",
        "Content-Length",
        "transfer-encoding",
        "x-forwarded-for",
        "X-Request-Id",
        "x-real-ip",
        ":authority",
        "\"x-a\"",
        "x a",
    ] {
        assert_eq!(fields(&[&format!("connection: {name}")]), Err(Refusal::Nomination), "{name}");
    }
    assert_eq!(fields(&[&format!("connection: {}", ["x"; 65].join(","))]), Err(Refusal::Nomination));
}

#[test]
fn only_upgrades_to_websocket_stay() {
    let websocket = ["connection: upgrade", "upgrade: websocket"];
    assert_eq!(fields(&websocket).unwrap(), websocket);
    assert_eq!(fields(&["connection: keep-alive, Upgrade", "upgrade: WebSocket"]).unwrap(), websocket);
    for other in [
        &["upgrade: websocket"][..],
        &["connection: close", "upgrade: websocket"],
        &["connection: upgrade", "upgrade: h2c", "http2-settings: x"],
        &["connection: upgrade", "upgrade: websocket", "upgrade: h2c"],
        &["connection: upgrade", "upgrade: websocket, h2c"],
        &["connection: upgrade"],
    ] {
        assert_eq!(fields(other).unwrap(), [""; 0], "{other:?}");
    }
    let of_http_1_0 = canonical("GET /", Version::HTTP_10, &[&["host: a"], &websocket[..]].concat());
    assert_eq!(of_http_1_0.unwrap().1, ["host: a"]);
}

#[test]
fn a_request_with_a_body_asks_for_no_upgrade() {
    for upgrade in
        [&["connection: upgrade", "upgrade: websocket"][..], &["upgrade: websocket"], &["upgrade: x"], &["upgrade: "]]
    {
        for body in ["content-length: 1", "transfer-encoding: chunked"] {
            assert_eq!(fields(&[upgrade, &[body]].concat()), Err(Refusal::UpgradeBody), "{upgrade:?} {body}");
        }
        assert!(fields(&[upgrade, &["content-length: 0"]].concat()).is_ok(), "{upgrade:?}");
    }
}

#[test]
fn framing_has_one_meaning() {
    for fine in [
        "content-length: 0",
        "content-length: 18446744073709551615",
        "transfer-encoding: chunked",
        "transfer-encoding: Chunked",
    ] {
        assert!(fields(&[fine]).is_ok(), "{fine}");
    }
    for wrong in ["+5", "-5", "5,5", "5 5", "0x5", "", "18446744073709551616", "\u{663}"] {
        let mut head = head("GET /", Version::HTTP_11, &["host: a"]);
        head.headers.insert("content-length", http::HeaderValue::from_bytes(wrong.as_bytes()).unwrap());
        assert_eq!(canonicalize(&mut head, &Options::default(), &guarded()), Err(Refusal::ContentLength), "{wrong}");
    }
    assert_eq!(fields(&["content-length: 5", "content-length: 5"]), Err(Refusal::ContentLength));
    for wrong in ["gzip, chunked", "xchunked", "chunked, chunked", "identity", ",chunked", "chunked;q=1"] {
        assert_eq!(fields(&[&format!("transfer-encoding: {wrong}")]), Err(Refusal::TransferEncoding), "{wrong}");
    }
    assert_eq!(fields(&["transfer-encoding: chunked", "transfer-encoding: chunked"]), Err(Refusal::TransferEncoding));
    assert_eq!(fields(&["transfer-encoding: chunked", "content-length: 1"]), Err(Refusal::TransferEncoding));
    let of_http_1_0 = canonical("GET /", Version::HTTP_10, &["host: a", "transfer-encoding: chunked"]);
    assert_eq!(of_http_1_0, Err(Refusal::TransferEncoding));
}

#[test]
fn names_that_imitate_are_refused() {
    assert_eq!(fields(&["x_user: 1"]), Err(Refusal::FieldName));
    assert_eq!(fields(&["transfer_encoding: chunked"]), Err(Refusal::FieldName));
    assert_eq!(fields(&["my_field: 1"]).unwrap(), ["my_field: 1"]);
    let mut head = head("GET /", Version::HTTP_11, &["host: a", "x_user: 1"]);
    let keep = Options { underscores: Underscores::Keep, ..Options::default() };
    assert_eq!(canonicalize(&mut head, &keep, &guarded()), Ok(()));
}

/// Some servers (Django, Flask) read `delete` as `DELETE`.
#[test]
fn methods_have_one_case() {
    for method in ["get", "Delete", "pATCH", "connect", "x-a"] {
        assert_eq!(http1(&format!("{method} /a"), &["host: a"]), Err(Refusal::Method), "{method}");
    }
    for method in ["GET", "M-SEARCH", "X1_A"] {
        assert!(http1(&format!("{method} /a"), &["host: a"]).is_ok(), "{method}");
    }
}

/// A server of HTTP/1.1 takes space around a value for no part of it (RFC 9110, section 5.5), rules would not.
#[test]
fn values_have_no_space_around_them() {
    for value in [" admin", "admin ", "\tadmin", "admin\t", " ", "  a b"] {
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2, Version::HTTP_3] {
            let mut head = head("GET http://a/", version, &["host: a"]);
            head.headers.append("x-role", value.parse().unwrap());
            let refused = canonicalize(&mut head, &Options::default(), &guarded());
            assert_eq!(refused, Err(Refusal::FieldValue), "{value:?} {version:?}");
        }
    }
    assert_eq!(fields(&["x-a: ", "x-b: a b", "x-c: a\tb"]).unwrap(), ["x-a: ", "x-b: a b", "x-c: a\tb"]);
    let mut second = head("GET /", Version::HTTP_11, &["host: a", "x-a: b"]);
    second.headers.append("x-a", " c".parse().unwrap());
    assert_eq!(canonicalize(&mut second, &Options::default(), &guarded()), Err(Refusal::FieldValue));
}

/// Some servers take the first line of such a field, some the last one, and rules read both as one text.
#[test]
fn fields_with_one_value_have_one_line() {
    for name in ["authorization", "content-type", "origin", "referer", "user-agent"] {
        let lines = [format!("{name}: a"), format!("{name}: a")];
        assert_eq!(fields(&[&lines[0], "x-a: b", &lines[1]]), Err(Refusal::FieldRepeated), "{name}");
        assert!(fields(&[&lines[0], "x-a: b", "x-a: c"]).is_ok(), "{name}");
    }
}

#[test]
fn refused_heads_stay_as_they_are() {
    let mut refused =
        head("GET //a", Version::HTTP_11, &["host: A", "connection: x-a", "x-a: 1", "content-length: +1"]);
    let before = (refused.uri.clone(), texts(&refused.headers));
    canonicalize(&mut refused, &Options::default(), &guarded()).unwrap_err();
    assert_eq!((refused.uri.clone(), texts(&refused.headers)), before);
}

#[test]
fn tunnels_are_for_hosts_that_want_them() {
    let options = Options { connect: true, ..Options::default() };
    for (line, version, fields, expected) in [
        ("CONNECT H:443", Version::HTTP_11, &["host: H:443"][..], Ok(())),
        ("CONNECT h:443", Version::HTTP_11, &["host: other:443"], Err(Refusal::HostMismatch)),
        ("CONNECT h:443", Version::HTTP_2, &[], Ok(())),
        ("CONNECT https://h//a", Version::HTTP_2, &[], Ok(())),
    ] {
        let mut head = head(line, version, fields);
        assert_eq!(canonicalize(&mut head, &options, &guarded()), expected, "{line}");
    }
}

#[test]
fn a_new_host_is_the_authority_too() {
    let mut head = head("GET http://h/a", Version::HTTP_2, &["host: other:1"]);
    follow_host(&mut head);
    assert_eq!(head.uri, "http://other:1/a");
    let mut origin = self::head("GET /a", Version::HTTP_11, &["host: other"]);
    follow_host(&mut origin);
    assert_eq!(origin.uri, "/a");
}

#[test]
fn responses_lose_what_their_connection_names() {
    let response = |status: u16, fields: &[(&str, &str)]| {
        let builder = Response::builder().status(status);
        let builder = fields.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
        let (mut head, ()) = builder.body(()).unwrap().into_parts();
        canonicalize_response(&mut head);
        texts(&head.headers)
    };
    let found = response(
        200,
        &[
            ("connection", "close, x-a, content-length"),
            ("x-a", "1"),
            ("content-length", "3"),
            ("keep-alive", "x"),
            ("upgrade", "h2c"),
        ],
    );
    assert_eq!(found, ["content-length: 3"]);
    assert_eq!(response(200, &[("x-a", "1")]), ["x-a: 1"]);
    let switched = response(101, &[("connection", "Upgrade, x-a"), ("x-a", "1"), ("upgrade", "websocket")]);
    assert_eq!(switched, ["connection: upgrade", "upgrade: websocket"]);
}
