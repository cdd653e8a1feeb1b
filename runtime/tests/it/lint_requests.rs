//! Lints that know what a request has, and the structs of a host: each as it warns, and silent on a near miss.
#![cfg(feature = "http")]

use crate::lint::shown;
use celero::http::RequestContext;
use celero::{Context, Engine, Env, FieldType, Tier};
use celero_frontend::Severity;

fn engine() -> Engine {
    Engine::builder().tier(Tier::Interpret).build()
}

/// Rules, the code of the only warning, where it points, and its help, which has a suggestion in backquotes.
const WARNED: &[(&str, &str, &str, &str)] = &[
    (
        r#"source.address in ["10.0.0.0/8"]"#,
        "never-that-value",
        r#""10.0.0.0/8""#,
        r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#,
    ),
    (
        r#"!(source.address in ["192.0.2.1", "2001:db8::/32"])"#,
        "never-that-value",
        r#""2001:db8::/32""#,
        r#"write `cidr("2001:db8::/32").containsIP(source.address)`"#,
    ),
    (
        r#"source.address == "10.0.0.0/8""#,
        "never-that-value",
        r#"source.address == "10.0.0.0/8""#,
        r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#,
    ),
    (
        r#"source.address == "127.0.0.1:80""#,
        "never-that-value",
        r#"source.address == "127.0.0.1:80""#,
        "write `127.0.0.1`: the port is no part of it",
    ),
    (
        r#"source.address.startsWith("10.")"#,
        "network-as-text",
        r#"source.address.startsWith("10.")"#,
        r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#,
    ),
    (
        r#"!source.address.startsWith("192.168.")"#,
        "network-as-text",
        r#"source.address.startsWith("192.168.")"#,
        r#"write `cidr("192.168.0.0/16").containsIP(source.address)`"#,
    ),
    (
        r#"source.address.startsWith("192.0.2.")"#,
        "network-as-text",
        r#"source.address.startsWith("192.0.2.")"#,
        r#"write `cidr("192.0.2.0/24").containsIP(source.address)`"#,
    ),
    (r#"source.address in ["2001:DB8::1"]"#, "never-that-value", r#""2001:DB8::1""#, "write `2001:db8::1`"),
    (
        r#"request.headers["x-real-ip"] in ["10.0.0.0/8"]"#,
        "network-as-text",
        r#""10.0.0.0/8""#,
        r#"write `cidr("10.0.0.0/8").containsIP(request.headers["x-real-ip"])`"#,
    ),
    (
        r#"request.headers["x-real-ip"] != "10.0.0.0/8""#,
        "network-as-text",
        r#""10.0.0.0/8""#,
        r#"write `cidr("10.0.0.0/8").containsIP(request.headers["x-real-ip"])`"#,
    ),
    (
        r#"cidr("10.0.0.1/8").containsIP(source.address)"#,
        "network-host-bits",
        r#""10.0.0.1/8""#,
        "write `10.0.0.0/8`, or `10.0.0.1` for that address alone",
    ),
    (
        r#"cidr("10.0.0.0/8").containsCIDR(cidr("10.1.0.1/16"))"#,
        "network-host-bits",
        r#""10.1.0.1/16""#,
        "write `10.1.0.0/16`, or `10.1.0.1` for that address alone",
    ),
    (
        r#"request.path == "/api/*""#,
        "wildcard-as-text",
        r#""/api/*""#,
        r#"write `request.path.strictWildcard("/api/*")`"#,
    ),
    (
        r#"request.path in ["/", "/api/*"]"#,
        "wildcard-as-text",
        r#""/api/*""#,
        r#"write `request.path.strictWildcard("/api/*")`"#,
    ),
    (
        r#"request.path.startsWith("/api/*/users")"#,
        "wildcard-as-text",
        r#""/api/*/users""#,
        r#"write `request.path.strictWildcard("/api/*/users*")`"#,
    ),
    (
        r#"request.path.endsWith("*.php")"#,
        "wildcard-as-text",
        r#""*.php""#,
        r#"write `request.path.strictWildcard("*.php")`"#,
    ),
    (
        r#"request.host == "*.example.com""#,
        "wildcard-as-text",
        r#""*.example.com""#,
        r#"write `request.host.strictWildcard("*.example.com")`"#,
    ),
    (
        r#"request.method == "GET,HEAD""#,
        "alternatives-as-text",
        r#""GET,HEAD""#,
        r#"write `request.method in ["GET", "HEAD"]`"#,
    ),
    (
        r#""(GET|HEAD)" != request.method"#,
        "alternatives-as-text",
        r#""(GET|HEAD)""#,
        r#"write `!(request.method in ["GET", "HEAD"])`"#,
    ),
    (r#"request.method in ["GET|HEAD"]"#, "alternatives-as-text", r#""GET|HEAD""#, r#"write `"GET", "HEAD"`"#),
    (r#"request.path == "/a|/b""#, "alternatives-as-text", r#""/a|/b""#, r#"write `request.path in ["/a", "/b"]`"#),
    (r#"request.path == "/a, /b""#, "alternatives-as-text", r#""/a, /b""#, r#"write `request.path in ["/a", "/b"]`"#),
    (
        r#"request.host == "a.example|b.example""#,
        "alternatives-as-text",
        r#""a.example|b.example""#,
        r#"write `request.host in ["a.example", "b.example"]`"#,
    ),
    (
        r#"request.scheme == "http,https""#,
        "alternatives-as-text",
        r#""http,https""#,
        r#"write `request.scheme in ["http", "https"]`"#,
    ),
    (
        r#"request.version == "HTTP/1.1,HTTP/2.0""#,
        "alternatives-as-text",
        r#""HTTP/1.1,HTTP/2.0""#,
        r#"write `request.version in ["HTTP/1.1", "HTTP/2.0"]`"#,
    ),
    (
        r#"source.address == "192.0.2.1,192.0.2.2""#,
        "alternatives-as-text",
        r#""192.0.2.1,192.0.2.2""#,
        r#"write `source.address in ["192.0.2.1", "192.0.2.2"]`"#,
    ),
    (
        r#"request.headers["x-a|x-b"] == "1""#,
        "alternatives-as-text",
        r#""x-a|x-b""#,
        "ask for each by itself: `x-a`, `x-b`",
    ),
    (
        r#"request.headers["x-a,x-b"] == "1""#,
        "invalid-header-name",
        r#""x-a,x-b""#,
        "ask for each by itself: `x-a`, `x-b`",
    ),
    (
        r#"request.headers.exists(name, name == "x-a,x-b")"#,
        "alternatives-as-text",
        r#""x-a,x-b""#,
        r#"write `name in ["x-a", "x-b"]`"#,
    ),
];

/// Near misses, which mean what they say.
const SILENT: &[&str] = &[
    r#"source.address in ["10.0.0.1", "2001:db8::1"]"#,
    r#"source.address.startsWith("10")"#,
    r#"source.address.startsWith("10.0.0.1.")"#,
    r#"source.address.startsWith("010.")"#,
    r#"source.address.startsWith("300.")"#,
    r#"source.address.startsWith("2001:")"#,
    r#"source.address.endsWith("10.")"#,
    r#"request.headers["x-version"].startsWith("10.")"#,
    r#"cidr("10.0.0.0/8").containsIP(source.address)"#,
    r#"request.headers["x-real-ip"] in ["10.0.0.1"]"#,
    r#"request.headers["x-version"] == "1/2""#,
    r#""10.0.0.0" in request.headers"#,
    r#"["10.0.0.0/8"].exists(n, cidr(n).containsIP(source.address))"#,
    r#"cidr("10.0.0.1/8").ip() == ip(source.address)"#,
    r#"cidr("10.0.0.1/8").masked().containsIP(source.address)"#,
    r#"cidr("10.0.0.1/32").containsIP(source.address)"#,
    r#"request.path == "*""#,
    r#"request.method == "OPTIONS" && request.path in ["*", "/"]"#,
    r#"request.path.strictWildcard("/api/*")"#,
    r#"request.path.matches("^/a*")"#,
    r#"request.headers["accept"] == "*/*""#,
    r#"request.query == "a=*""#,
    r#"request.uri == "*""#,
    r#"request.path == "/a,b""#,
    r#"request.path == "/maps/1,2""#,
    r#"request.path.contains("/a,/b")"#,
    r#"request.query == "a=1,2""#,
    r#"request.uri == "/a,/b""#,
    r#"request.headers["accept"] == "text/html,text/plain""#,
    r#"request.headers["vary"] in ["accept,cookie"]"#,
    r#"request.method.matches("^(GET|HEAD)$")"#,
    r#"request.host.matches("a[.]example|b[.]example")"#,
];

#[test]
fn comparisons_with_networks_and_patterns_are_warned_of() {
    let (engine, env) = (engine(), Env::<RequestContext<'_>>::new());
    for (source, code, place, help) in WARNED {
        let checked = engine.check(&env, source).unwrap();
        let found = shown(source, checked.warnings());
        let [(found, at, _)] = &*found else { panic!("{source}: {found:?}") };
        assert_eq!((found, at.as_str()), (code, *place), "{source}");
        assert_eq!(checked.warnings()[0].help, [*help], "{source}");
        let suggested = help.split('`').nth(1).unwrap();
        if suggested.contains(['(', '[']) && !suggested.starts_with("name ") {
            let suggested = engine.check(&env, suggested).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(suggested.warnings(), [], "{source}");
        }
    }
    for source in SILENT {
        let found = engine.check(&env, source).unwrap();
        assert_eq!(found.warnings(), [], "{source}");
    }
}

#[test]
fn patterns_of_the_filter_language_that_are_compared_as_text_are_warned_of() {
    let env = Env::<RequestContext<'_>>::new().filter_language(celero::filter::FilterLanguage::http());
    let engine = engine();
    for (source, help) in [
        (r#"http.request.uri.path eq "/api/*""#, r#"write `http.request.uri.path strict wildcard "/api/*"`"#),
        (r#"http.request.uri.path in {"/" "/api/*"}"#, r#"write `http.request.uri.path strict wildcard "/api/*"`"#),
        (r#"http.host ne "*.example.com""#, r#"write `http.host strict wildcard "*.example.com"`"#),
        (r#"http.request.uri.path contains "/*/b""#, r#"write `http.request.uri.path strict wildcard "*/*/b*"`"#),
        (
            r#"starts_with(http.request.uri.path, "/api/*")"#,
            r#"write `http.request.uri.path strict wildcard "/api/*"`"#,
        ),
    ] {
        let checked = engine.check(&env, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        assert_eq!((warning.code, &*warning.help), ("wildcard-as-text", &[help.to_owned()][..]), "{source}");
        let suggested = help.split('`').nth(1).unwrap();
        assert_eq!(engine.check(&env, suggested).unwrap().warnings(), [], "{source}");
    }
    for source in [
        r#"http.request.uri.path eq "*""#,
        r#"http.request.uri.path wildcard "/api/*""#,
        r#"http.request.uri.query eq "a=*""#,
        r#"http.user_agent eq "*""#,
    ] {
        assert_eq!(engine.check(&env, source).unwrap().warnings(), [], "{source}");
    }
}

#[test]
fn several_texts_in_one_are_warned_of_in_the_filter_language() {
    let env = Env::<RequestContext<'_>>::new().filter_language(celero::filter::FilterLanguage::http());
    let engine = engine();
    for (source, help) in [
        (r#"http.request.method eq "GET,HEAD""#, r#"write `http.request.method in {"GET" "HEAD"}`"#),
        (r#"http.request.method ne "GET|HEAD""#, r#"write `not http.request.method in {"GET" "HEAD"}`"#),
        (r#"http.request.method in {"PUT" "GET,HEAD"}"#, r#"write `"GET" "HEAD"` in place of `"GET,HEAD"`"#),
        (r#"http.host eq "a.example|b.example""#, r#"write `http.host in {"a.example" "b.example"}`"#),
        (r#"http.request.uri.path eq "/a,/b""#, r#"write `http.request.uri.path in {"/a" "/b"}`"#),
        (
            r#"http.request.uri.path.extension eq "php|asp""#,
            r#"write `http.request.uri.path.extension in {"php" "asp"}`"#,
        ),
    ] {
        let checked = engine.check(&env, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        assert_eq!((warning.code, &*warning.help), ("alternatives-as-text", &[help.to_owned()][..]), "{source}");
        let suggested = help.split('`').nth(1).unwrap();
        if suggested.contains('{') {
            assert_eq!(engine.check(&env, suggested).unwrap().warnings(), [], "{source}");
        }
    }
    for source in [
        r#"http.request.uri.path eq "/a,b""#,
        r#"http.request.uri.query eq "a=1,2""#,
        r#"http.request.method matches "^(GET|HEAD)$""#,
        r#"http.user_agent eq "a,b""#,
    ] {
        assert_eq!(engine.check(&env, source).unwrap().warnings(), [], "{source}");
    }
}

#[test]
fn headers_that_the_filter_language_compares_with_networks_are_warned_of() {
    let env = Env::<RequestContext<'_>>::new().filter_language(celero::filter::FilterLanguage::http());
    let engine = engine();
    for source in [
        r#"http.x_forwarded_for eq "10.0.0.0/8""#,
        r#"any(http.request.headers["x-real-ip"][*] in {"192.0.2.1" "10.0.0.0/8"})"#,
    ] {
        let checked = engine.check(&env, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        let help = "only a field of type Ip is compared with a network, as in `ip.src in {10.0.0.0/8}`";
        assert_eq!((warning.code, &*warning.help), ("network-as-text", &[help.to_owned()][..]), "{source}");
        assert!(engine.check(&env, help.split('`').nth(1).unwrap()).is_ok());
    }
    for source in [
        r#"http.x_forwarded_for eq "10.0.0.1""#,
        r#"http.request.uri.path eq "/10.0.0.0/8""#,
        r#"http.user_agent contains "10.0.0.0/8""#,
        "ip.src in {10.0.0.0/8}",
    ] {
        assert_eq!(engine.check(&env, source).unwrap().warnings(), [], "{source}");
    }
}

#[derive(FieldType)]
#[context(rename_all = "lowercase")]
enum Plan {
    Free,
    Pro,
    Enterprise,
}

#[derive(Context)]
struct Limit {
    rate: u32,
}

#[derive(Context)]
struct Upstream {
    name: String,
    healthy: bool,
    plan: Plan,
    zone: Option<String>,
    limit: Limit,
    #[context(name = "tls.version")]
    version: u16,
    labels: std::collections::HashMap<String, String>,
}

#[derive(Context)]
struct Pool<'a> {
    upstreams: &'a [Upstream],
    owned: Vec<Upstream>,
    plan: Plan,
    names: Vec<String>,
    labels: Vec<std::collections::HashMap<String, String>>,
}

/// Each rule that selects a field that the struct does not have, the part of it, and the help.
#[test]
fn fields_that_a_struct_in_a_list_does_not_have_are_errors() {
    let (engine, env) = (engine(), Env::<Pool<'_>>::new());
    for (source, place, help) in [
        ("size(upstreams.filter(u, u.heathy)) > 0", "heathy", "did you mean `healthy`?"),
        ("upstreams.exists(i, u, u.nme == 'a')", "nme", "did you mean `name`?"),
        ("upstreams[0].heathy", "heathy", "did you mean `healthy`?"),
        ("owned.all(u, has(u.zones))", "zones", "did you mean `zone`?"),
        ("upstreams.filter(u, u.healthy).exists(v, v.healty)", "healty", "did you mean `healthy`?"),
        ("cel.bind(list, owned, list.exists(u, u.heathy))", "heathy", "did you mean `healthy`?"),
        ("cel.bind(u, owned[0], u.heathy)", "heathy", "did you mean `healthy`?"),
        ("upstreams.exists(u, u.limit.rte == 1u)", "rte", "did you mean `rate`?"),
        ("upstreams.exists(u, u.tls.cipher == 1u)", "cipher", "the fields are `version`"),
        (
            "upstreams.exists(u, u.port == 80)",
            "port",
            "the fields are `name`, `healthy`, `plan`, `zone`, `limit`, `tls`, `labels`",
        ),
        (
            "owned.map(u, u.address)",
            "address",
            "the fields are `name`, `healthy`, `plan`, `zone`, `limit`, `tls`, `labels`",
        ),
    ] {
        let error = engine.check(&env, source).expect_err(source);
        let [found] = error.diagnostics() else { panic!("{source}: {error}") };
        let at = source.get(found.span.start as usize..found.span.end as usize);
        assert_eq!((found.severity, found.code, at), (Severity::Error, "unknown-field", Some(place)), "{source}");
        assert_eq!(found.help, [help], "{source}");
        assert!(engine.compile(&env, source).is_err(), "{source}");
        assert!(engine.check(&env.clone().unchecked(true), source).is_ok(), "{source}");
    }
    for source in [
        "size(upstreams.filter(u, u.healthy)) > 0",
        "owned.exists(u, has(u.zone) && u.zone == 'a' && has(u.limit) && u.tls.version == 12u)",
        "upstreams.exists(u, u.labels.any == 'a')",
        "upstreams.exists(u, u.?heathy.hasValue())",
        "upstreams.exists(u, 'heathy' in u)",
        "upstreams.exists(i, u, u.name == string(i))",
        "upstreams.map(u, {'heathy': u.healthy}).exists(u, u.heathy)",
        "labels.exists(l, l.heathy == 'a')",
        "names.exists(u, upstreams.exists(v, v.name == u))",
        "upstreams.map(u, u.labels).exists(u, u.heathy == 'a')",
        "[{'heathy': true}].exists(upstreams, upstreams.heathy)",
    ] {
        assert!(engine.check(&env, source).is_ok(), "{source}: {}", engine.check(&env, source).unwrap_err());
    }
}

#[test]
fn names_of_enums_that_are_nearly_right_are_suggested() {
    let (engine, env) = (engine(), Env::<Pool<'_>>::new());
    for (source, help) in [
        ("plan == 'entreprise'", "did you mean `enterprise`?"),
        ("plan == 'Pro'", "did you mean `pro`?"),
        ("plan in ['fre', 'pro']", "did you mean `free`?"),
        ("upstreams.exists(u, u.plan == 'entreprise')", "did you mean `enterprise`?"),
        ("upstreams[0].plan != 'PRO'", "did you mean `pro`?"),
    ] {
        let checked = engine.check(&env, source).unwrap();
        let [warning] = checked.warnings() else { panic!("{source}: {:?}", checked.warnings()) };
        assert_eq!((warning.code, &*warning.help), ("never-that-value", &[help.to_owned()][..]), "{source}");
    }
    for source in ["plan == 'enterprise'", "upstreams.exists(u, u.plan == 'pro' && u.limit.rate < 5u)"] {
        assert_eq!(engine.check(&env, source).unwrap().warnings(), [], "{source}");
    }
    let _ = |pool: &Pool<'_>| {
        let of = |u: &Upstream| (u.version, u.healthy, u.limit.rate, u.zone.is_some(), u.labels.len());
        let _ = (Plan::Free, Plan::Pro, Plan::Enterprise, pool.names.len(), pool.labels.len());
        pool.upstreams.iter().chain(&pool.owned).map(|u| (u.name.clone(), of(u))).collect::<Vec<_>>()
    };
}

/// Names of names, each with long selections: what is followed is bounded, so are the errors that are shown.
#[test]
fn fields_of_elements_are_looked_for_in_bounded_time() {
    let env = Env::<Pool<'_>>::new();
    let chain = ".labels".repeat(100);
    let binds: String = (1..60).map(|n| format!("cel.bind(a{n}, a{}{chain}, ", n - 1)).collect();
    let source = format!("cel.bind(a0, upstreams[0], {binds}true{}", ")".repeat(60));
    let check = move || engine().check(&Env::<Pool<'_>>::new(), &source).map(|_| ()).map_err(|error| error.to_string());
    let small = std::thread::Builder::new().stack_size(256 * 1024).spawn(check).unwrap();
    assert_eq!(small.join().unwrap(), Ok(()));

    let source = vec!["upstreams[0].heathy"; 1_000].join(" || ");
    let error = engine().check(&env, &source).expect_err("no such field");
    let starts: Vec<u32> = error.diagnostics().iter().map(|found| found.span.start).collect();
    assert_eq!(starts.len(), celero::settings::SourceLimits::default().max_diagnostics as usize);
    assert!(starts.is_sorted());
}
