//! Realistic rules over real requests: both tiers give the same.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, Scratch, Tier};
use celero_tests::shared::{find, say};
use http::{HeaderName, HeaderValue, Request, Version};
use std::collections::BTreeMap;

const RULES: &[&str] = &[
    "request.method == 'GET'",
    "request.method in ['POST', 'PUT', 'PATCH', 'DELETE']",
    "!(request.method in ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'CONNECT'])",
    "request.path.startsWith('/admin') || request.path.startsWith('/get')",
    "request.path.endsWith('.php') || request.path.endsWith('.asp')",
    "request.path.matches('(?i)\\\\.(bak|old|sql|conf|ini|log)$')",
    "request.path.contains('..')",
    "request.path == '/'",
    "request.path.size() > 20",
    "request.query.contains('select') || request.query.contains('SELECT')",
    "request.query.matches('(?i)union.+select|or\\\\s+1=1|sleep\\\\(')",
    "has(request.query) && request.query.size() > 64",
    "has(request.query) ? request.query : 'none'",
    "request.uri.contains('%00')",
    "request.pathAndQuery.startsWith(request.path)",
    "request.host == 'localhost'",
    "request.version == 'HTTP/1.1'",
    "request.version in ['HTTP/1.0', 'HTTP/0.9']",
    "request.headers['user-agent'].contains('OWASP')",
    "request.headers['user-agent'].matches('(?i)(curl|wget|python|nikto|sqlmap)')",
    "request.headers['user-agent'] == 'OWASP CRS test agent'",
    "request.headers['user-agent'] in ['a', 'b', 'c', 'OWASP CRS test agent', 'd', 'e', 'f']",
    "request.headers['accept'].startsWith('text/xml')",
    "request.headers['cookie'].contains('session')",
    "!('content-type' in request.headers) && request.method == 'POST'",
    "'content-length' in request.headers && int(request.headers['content-length']) > 10",
    "int(request.headers['content-length'])",
    "request.headers[?'content-type'].orValue('none').startsWith('application/')",
    "request.headers[?'referer'].optMap(r, r.size()).orValue(0)",
    "request.headers['host'] != request.headers['x-forwarded-host']",
    "request.headers['x-forwarded-for'] == '127.0.0.1' || request.headers['host'] == 'localhost'",
    "request.headers.exists(k, k.startsWith('x-'))",
    "request.headers.all(k, v, v.size() < 200)",
    "request.headers.exists(k, v, v.contains('<script'))",
    "request.headers.map(k, k + ': ' + request.headers[k])",
    "size(request.headers) > 3",
    "request.headers.raw()['user-agent']",
    "request.headers.raw() == request.headers.split()",
    "request.headers.split()['accept'].size() > 2",
    "request.headers.join()['USER-AGENT'] == request.headers['user-agent']",
    "request.headers.redacted().transformMap(k, v, v == '<redacted>')",
    "request.headers.redacted().raw().map(k, k)",
    "request.headers.cookie('session')",
    "request.uri.query('a')",
    "request.headers.transformMap(k, v, v.size())",
    "request.headers.filter(k, k.endsWith('-encoding'))",
    "size(request.body) > 0",
    "string(request.body).contains('<?xml')",
    "string(request.body).matches('(?i)<script|javascript:|onerror=')",
    "bytes(request.path) == request.body",
    "request.body == b'' || request.body > b'a'",
    "cidr('10.0.0.0/8').containsIP(source.address) || cidr('192.0.2.0/24').containsIP(source.address)",
    "source.address == '192.0.2.7' && source.port == 4711",
    "request.headers['host'] + request.path",
    "cel.bind(ua, request.headers['user-agent'], ua.contains('Mozilla') && !ua.contains('bot') && ua.size() > 10)",
    "request.headers['range'].matches('^bytes=(\\\\d+-\\\\d*,?)+$')",
    "request.headers['content-type'] == 'application/json' && request.body.size() > 2 ? 'json' : 'other'",
    "request.method + ' ' + request.uri + ' ' + request.version",
];

type Case = (Request<()>, Vec<u8>);

/// A line of the corpus as a request; `None` for those that no HTTP library would let through.
fn read(line: &str) -> Option<Case> {
    let json: serde_json::Value = serde_json::from_str(line).unwrap();
    let text = |name: &str| json.get(name).and_then(|v| v.as_str()).unwrap_or_default();
    let version = match text("version") {
        "HTTP/1.0" => Version::HTTP_10,
        "HTTP/0.9" | "HTTP/0.8" => Version::HTTP_09,
        "HTTP/2" | "HTTP/2.0" => Version::HTTP_2,
        _ => Version::HTTP_11,
    };
    let builder = Request::builder().method(text("method")).uri(text("uri")).version(version);
    let mut request = builder.body(()).ok()?;
    for (name, value) in json.get("headers")?.as_object()? {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(value.as_str()?.as_bytes()).ok()?;
        request.headers_mut().append(name, value);
    }
    Some((request, text("body").as_bytes().to_vec()))
}

fn built_in() -> Vec<Case> {
    let lines = [
        r#"{"method": "GET", "uri": "/get?a=b", "headers": {"Host": "localhost", "User-Agent": "curl/8", "X-A": "1"}, "body": ""}"#,
        r#"{"method": "POST", "uri": "/post", "headers": {"Host": "example.com", "Content-Length": "5", "Content-Type": "application/json", "User-Agent": "Mozilla/5.0 (X11)"}, "body": "{\"a\"}"}"#,
        r#"{"method": "PROPFIND", "uri": "/a/../b.php", "headers": {}, "body": "<?xml", "version": "HTTP/1.0"}"#,
        r#"{"method": "GET", "uri": "http://h:80/?q=1%20union%20select", "headers": {"Cookie": "session=\u00e9"}, "body": ""}"#,
    ];
    let mut cases: Vec<Case> = lines.iter().map(|line| read(line).unwrap()).collect();
    let raw = HeaderValue::from_bytes(b"Mozilla \xff <script bot").unwrap();
    for (request, body) in &mut cases {
        request.headers_mut().append("user-agent", raw.clone());
        body.push(0xff);
    }
    cases
}

#[test]
fn tiers_agree_on_requests() {
    let mut cases = built_in();
    let (mut left_out, own) = (0_usize, cases.len());
    if let Some(path) = find("corpora/http_requests.jsonl", "rules over real requests") {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            match read(line) {
                Some(case) => cases.push(case),
                None => left_out += 1,
            }
        }
        assert!(cases.len() > 20 * left_out, "{left_out} requests could not be read");
    }
    let env = Env::<RequestContext<'_>>::new();
    let engines = [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build());
    let mut seen: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut scratches = [Scratch::new(), Scratch::new()];
    for rule in RULES {
        let programs = engines.each_ref().map(|engine| engine.compile(&env, rule).unwrap());
        let [interpreted, native] = &programs;
        let [first, second] = &mut scratches;
        let counts = seen.entry(rule).or_default();
        for (request, body) in &cases {
            let context = RequestContext::new(request).with_body(body).with_source("192.0.2.7:4711".parse().unwrap());
            let (want, got) = (interpreted.eval(&context, first), native.eval(&context, second));
            assert_eq!(format!("{want:?}"), format!("{got:?}"), "{rule}\n{request:?}");
            assert_eq!(interpreted.test(&context), native.test(&context), "{rule}\n{request:?}");
            match want {
                Ok(celero::Value::Bool(false)) => counts.0 += 1,
                Ok(_) => counts.1 += 1,
                Err(_) => counts.2 += 1,
            }
        }
    }
    say(&format!(
        "requests: {} rules over {} requests ({own} built in, {left_out} not HTTP)",
        RULES.len(),
        cases.len()
    ));
    let total = seen.values().fold((0, 0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1, sum.2 + n.2));
    say(&format!("  {} false, {} true or a value, {} errors", total.0, total.1, total.2));
    assert!(total.0 > 0 && total.1 > 0 && total.2 > 0, "the rules see only one side");
}

/// Rules in the filter language that are always tried, over the requests of [`built_in`].
const FILTER_RULES: &[&str] = &[
    r#"http.request.method eq "GET" and http.request.uri.path contains "/get""#,
    r#"http.user_agent contains "\xff" and not http.cookie contains "admin""#,
    r#"any(http.request.headers["user-agent"][*] contains "curl") or http.host wildcard "*.COM""#,
    r#"lower(http.request.uri.path.extension) in {"php" "asp"} or http.request.uri.args["a"][0] eq "b""#,
    r#"http.request.body.raw matches "^.{5}\xff" and http.request.body.size gt 5"#,
    r#"ip.src in {192.0.2.0/24} and tcp.srcport eq 4711 and not ssl"#,
];

#[test]
fn tiers_agree_on_rules_in_the_filter_language() {
    let mut cases = built_in();
    let mut rules: Vec<String> = FILTER_RULES.iter().map(|rule| (*rule).to_owned()).collect();
    if let Some(path) = find("corpora/http_requests.jsonl", "rules in the filter language over real requests") {
        // Each tenth, because there are thousands.
        cases.extend(std::fs::read_to_string(path).unwrap().lines().step_by(10).filter_map(read));
    }
    if let Some(path) = find("corpora/filter_expressions.jsonl", "real rules in the filter language") {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            rules.push(json.get("expr").and_then(|rule| rule.as_str()).unwrap().to_owned());
        }
    }
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http().any_list(true));
    let engines = [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build());
    let (mut refused, mut results) = (Vec::new(), [0_usize; 2]);
    let mut sets = engines.each_ref().map(|engine| engine.rules(&env));
    let mut expected = vec![0_usize; cases.len()];
    for rule in &rules {
        let programs = engines.each_ref().map(|engine| engine.compile(&env, rule));
        let [Ok(interpreted), Ok(native)] = &programs else {
            refused.push(format!("{rule}: {programs:?}"));
            continue;
        };
        sets = sets.map(|set| set.rule("", rule, ()));
        for ((request, body), expected) in cases.iter().zip(&mut expected) {
            let context = RequestContext::new(request).with_body(body).with_source("192.0.2.7:4711".parse().unwrap());
            let want = interpreted.test(&context);
            assert_eq!(want, native.test(&context), "{rule}\n{request:?}");
            let want = want.unwrap();
            *expected += usize::from(want);
            results[usize::from(want)] += 1;
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let [interpreted, native] = sets.map(|set| set.build().unwrap());
    let mut scratch = Scratch::new();
    for ((request, body), expected) in cases.iter().zip(expected) {
        let context = RequestContext::new(request).with_body(body).with_source("192.0.2.7:4711".parse().unwrap());
        assert_eq!(native.count(&context, &mut scratch), Ok(expected), "{request:?}");
        assert_eq!(interpreted.count(&context, &mut scratch), Ok(expected), "{request:?}");
    }
    let [no, yes] = results;
    let scanned = native.unindexed().count();
    say(&format!("filter language: {} rules over {} requests, {no} false, {yes} true", rules.len(), cases.len()));
    say(&format!("  {scanned} rules are not indexed"));
    // A set as small as the rules above needs no index.
    assert!(no > 0 && yes > 0 && (rules.len() == FILTER_RULES.len() || scanned < rules.len()));
}
