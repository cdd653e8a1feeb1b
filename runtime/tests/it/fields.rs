//! What programs can read of their context.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::host::Fields;
use celero::http::RequestContext;
use celero::{Engine, Env, Tier, Type};

fn fields(source: &str) -> Fields {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    engine.compile(&Env::<RequestContext<'_>>::new(), source).unwrap().fields().clone()
}

const HEADERS: &str = "request.headers";

#[test]
fn fields_are_found_wherever_they_stand() {
    for (source, names) in [
        ("1 == 1", ""),
        ("request.path", "request.path"),
        ("has(request.query)", "request.query"),
        ("request.path == request.path && source.port > 0", "request.path source.port"),
        ("[1].all(x, request.method == 'a' || x > 1)", "request.method"),
        ("{request.path: request.host}[request.method] == ''", "request.host request.method request.path"),
        ("cel.bind(m, request.method, m == 'GET' ? size(request.body) : 0)", "request.body request.method"),
        ("optional.of(1).optMap(x, request.uri)", "request.uri"),
        ("request.method.with(m, m == request.path)", "request.method request.path"),
        ("default(request.query, request.path)", "request.path request.query"),
        ("coalesce(request.query, 'x', request.host)", "request.host request.query"),
        ("{request.host: 1}.mapValues(v, request.path)", "request.host request.path"),
        ("{'a': request.host}.filterKeys(k, k == request.path)", "request.host request.path"),
        ("request.path.startsWith(request.version)", "request.path request.version"),
        ("true || request.body == b''", "request.body"),
        ("[1].map(request, request)", ""),
    ] {
        let found = fields(source);
        assert_eq!(found.names().collect::<Vec<_>>().join(" "), names, "{source}");
        for name in names.split_whitespace() {
            assert!(found.reads(name), "{source}");
        }
        assert!(!found.reads("request") && !found.reads(""));
    }
}

#[test]
fn headers_are_found_by_name() {
    for (source, names, any) in [
        ("request.headers['X-A'] == 'x'", "x-a", false),
        ("request.headers.host == 'x' && has(request.headers.cookie)", "cookie host", false),
        ("'x-b' in request.headers && request.headers[?'x-c'].orValue('') == ''", "x-b x-c", false),
        ("request.headers.?host.hasValue()", "host", false),
        (
            "'a' in request.headers.split()['x-a'] && request.headers.raw().redacted()[?'X-B'].hasValue()",
            "x-a x-b",
            false,
        ),
        ("'x-a' in request.headers.join() && request.headers.split().exists(k, k == 'x-b')", "x-a", true),
        ("request.headers[request.path] == ''", "", true),
        ("request.headers['x-a'] + request.headers['x' + '-b'] == ''", "x-a", true),
        ("request.headers.exists(k, k == 'x')", "", true),
        ("size(request.headers) > 1", "", true),
        ("cel.bind(h, request.headers, h['x-a']) == ''", "", true),
        ("request.headers == {}", "", true),
        ("request.path in request.headers", "", true),
        ("has(request.headers)", "", false),
    ] {
        let found = fields(source);
        assert_eq!(found.headers(HEADERS).collect::<Vec<_>>().join(" "), names, "{source}");
        assert_eq!(found.reads_any_header(HEADERS), any, "{source}");
        assert_eq!(found.reads_header(HEADERS, "other"), any, "{source}");
        assert!(found.reads(HEADERS), "{source}");
        for name in names.split_whitespace() {
            assert!(found.reads_header(HEADERS, &name.to_uppercase()), "{source}");
        }
    }
    let none = fields("request.path == ''");
    assert!(
        !none.reads_any_header(HEADERS) && !none.reads_header(HEADERS, "x-a") && none.headers(HEADERS).next().is_none()
    );
}

#[test]
fn maps_of_bindings_are_fields_like_any_other() {
    let env = Env::dynamic().variable("a.h", Type::map(Type::String, Type::String)).variable("b", Type::Dyn);
    let program = Engine::new().compile(&env, "a.h['x'] == b.c.d").unwrap();
    assert!(program.fields().names().eq(["a.h", "b"]));
    assert!(program.fields().headers("a.h").next().is_none());
}
