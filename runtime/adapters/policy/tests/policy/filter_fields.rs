//! Cloudflare's fields in the phases of a policy: which have a value, and the documented recipes with them.

use crate::support::{Folder, ask, ask_response, edits, exchange, head, policy, response, status, wrong};
use celero::filter::{HttpField, HttpFieldValue, http_fields};
use celero_policy::{Exchange, Phase, Policy};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A condition that reads a field.
fn condition(field: HttpField) -> String {
    let elements = "[*]".repeat(field.ty.matches('<').count());
    let test = match field.ty {
        ty if ty.contains("Bool") => String::new(),
        ty if ty.contains("Int") => " eq 1".to_owned(),
        ty if ty.contains("Ip") => " eq 192.0.2.1".to_owned(),
        _ => " eq \"a\"".to_owned(),
    };
    let compared = format!("{}{elements}{test}", field.name);
    if elements.is_empty() { compared } else { format!("any({compared})") }
}

/// The fields without a value in a phase, as the warnings about rules that read them say.
fn missing(phase: Phase) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let fields: Vec<HttpField> = http_fields().collect();
    // A file reports at most 100 warnings.
    for fields in fields.chunks(50) {
        let mut text = format!("defaults: {{language: filter}}\n{}:\n", phase.name());
        for field in fields {
            let _ = write!(text, "- when: {}\n  count: a\n", condition(*field));
        }
        let policy = Policy::check("policy.yaml", &text, Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
        for (_, warning) in policy.warnings().filter(|(_, warning)| warning.code == "filter-field-missing") {
            found.insert(warning.message.split('`').nth(1).unwrap().to_owned());
        }
    }
    found
}

#[test]
fn fields_have_a_value_in_the_phases_of_the_table() {
    for phase in [Phase::Request, Phase::RequestBody, Phase::Response, Phase::ResponseBody, Phase::Log] {
        let has_response = !matches!(phase, Phase::Request | Phase::RequestBody);
        let has_value = |field: &HttpField| match field.value {
            HttpFieldValue::Request(_) | HttpFieldValue::Tls(_) => true,
            HttpFieldValue::RequestBody(_) => phase == Phase::RequestBody,
            HttpFieldValue::Response(_) => has_response,
            HttpFieldValue::Host(_) => false,
        };
        let expected: BTreeSet<String> =
            http_fields().filter(|field| !has_value(field)).map(|field| field.name.to_owned()).collect();
        let found = missing(phase);
        let differ: Vec<&String> = found.symmetric_difference(&expected).collect();
        assert!(differ.is_empty(), "{}: {differ:?}", phase.name());
    }
}

/// The code is that of path and time with the key `mysecretkey`.
const SIGNED: &str = "GET /download/cat.jpg?verify=1484063787-JcOQEFurDwNF66OcDJLopQxjsg3cB1KVO5%2BBFS9zZZ0%3D";

#[test]
fn tokens_with_a_time_are_compared_with_the_time_of_the_request() {
    let policy = policy(
        r#"
defaults: {language: filter}
request:
- when: >-
    not is_timed_hmac_valid_v0("mysecretkey", http.request.uri, 100000, http.request.timestamp.sec, 8)
  deny: true
- when: http.request.timestamp.msec ne 250
  deny: 500
"#,
    );
    assert_eq!(policy.warnings().count(), 0, "{}", policy.render_warnings(false));
    for (line, seconds, expected) in [
        (SIGNED, 1_484_063_787, 0),
        (SIGNED, 1_484_063_787 + 99_999, 0),
        (SIGNED, 1_484_063_787 + 100_000, 403),
        (SIGNED, 1_484_063_786, 403),
        ("GET /download/cat.jpg?verify=1484063787-abc", 1_484_063_787, 403),
    ] {
        let mut exchange = exchange();
        exchange.set_start_time(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 250));
        assert_eq!(status(ask(&policy, &head(line, &[]), &mut exchange)), expected, "{line} at {seconds}");
    }
}

#[test]
fn a_case_says_when_its_request_arrives() {
    let text = "defaults: {language: filter}\nrequest:\n- {when: http.request.timestamp.sec ge 1484063787, deny: true}\n\
                log:\n- {logFields: {time: '${http.request.timestamp.sec}'}}\n";
    let cases = "- {name: then, request: {time: 1484063787}, expect: {status: 403, log: {time: 1484063787}}}\n\
                 - {name: default, expect: {status: 200, log: {time: 0}}}\n";
    let report = policy(text).test("cases.yaml", cases).unwrap();
    assert!(report.passed(), "{}", report.render(false));
}

/// Without a time of the host, a request arrives when its first phase starts, and later phases read the same time.
#[test]
fn phases_of_a_request_read_one_time() {
    let text = "request:\n- {labels: {at: '${string(request.startTime)}', second: '${string(int(request.startTime))}'}}\n\
                response:\n- {when: labels.at != string(request.startTime), deny: 500}\n";
    let policy = policy(text);
    let (head, mut exchange) = (head("GET /", &[]), exchange());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let before = now();
    assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
    let second: u64 = exchange.label("second").unwrap().parse().unwrap();
    assert!((before..=now()).contains(&second), "{second}");
    std::thread::sleep(Duration::from_millis(2));
    let response = crate::support::response(200, &[]);
    assert_eq!(status(crate::support::ask_response(&policy, &head, &response, &mut exchange)), 0);
}

const FIELDS: &str = r#"
lists:
  geo:
    kind: addresses
    values: {country: string, asn: int}
    entries:
    - {entry: 192.0.2.0/24, country: DE, asn: 64500}
    - {entry: 198.51.100.0/24, asn: 64501}
variables:
  country: lists.geo[source.address].country
fields:
  ip.src.country: variables.country
  ip.geoip.asnum: lists.geo[source.address].asn
  cf.threat_score: "response.code == 404 ? 90 : 1"
defaults: {language: filter}
request:
- {name: country, when: 'ip.src.country in {"DE" "FR"}', deny: 451}
- {name: network, when: 'ip.geoip.asnum eq 64501 and not ip.src.country ne "DE"', deny: 403}
- {name: score, when: cf.threat_score gt 50, deny: 410}
response:
- {name: score, when: cf.threat_score gt 50, setHeaders: {x-score: high}}
"#;

/// The status of the answer to a client with this address; 0 for none.
fn status_of(policy: &Policy, client: &str) -> u16 {
    status(ask(policy, &head("GET /", &[]), &mut Exchange::new(Some(client.parse().unwrap()), None)))
}

#[test]
fn a_policy_gives_fields_of_the_host_values() {
    for read in [Policy::parse, Policy::check] {
        let policy = read("policy.yaml", FIELDS, Path::new(".")).unwrap();
        let all = ["192.0.2.7:1", "198.51.100.7:1", "203.0.113.7:1"].map(|client| status_of(&policy, client));
        assert_eq!(all, [451, 403, 0]);
        // A field is missing in phases that don't have what its expression reads.
        let warnings: Vec<String> =
            policy.warnings().map(|(place, warning)| format!("{place}: {}", warning.message)).collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].contains("`cf.threat_score` has no value here"), "{warnings:?}");
        assert!(warnings[1].contains("this rule never matches"), "{warnings:?}");
        let mut exchange = Exchange::new(Some("203.0.113.7:1".parse().unwrap()), None);
        let head = head("GET /", &[]);
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
        assert_eq!(status(ask_response(&policy, &head, &response(404, &[]), &mut exchange)), 0);
        assert_eq!(edits(&exchange), ["x-score = high"]);
    }
}

#[test]
fn every_error_of_a_field_is_at_its_place() {
    for (fields, expected) in [
        ("{ip.src.county: source.country}", &["policy.yaml:1:10", "no field `ip.src.county`", "`ip.src.country`?"][..]),
        ("{http.host: request.host}", &["policy.yaml:1:10", "the field `http.host` has a value already"]),
        ("{request.path: request.host}", &["policy.yaml:1:10", "no field `request.path`"]),
        ("{ip.src.country: source.adress}", &["policy.yaml:1:33", "`source.adress`"]),
        (
            "{ip.src.country: source.port}",
            &["policy.yaml:1:26", "is of the type `Bytes`, and this is `int`", "`string(..)`"],
        ),
        ("{cf.threat_score: request.path}", &["is of the type `Int`, and this is `string`", "`int(..)`"]),
        ("{ip.src.country: json(request.path)}", &["is of the type `Bytes`, and this is `dyn`"]),
        ("{cf.response.1xxx_code: '7'}", &["policy.yaml:1:10", "a part of it is no name"]),
        ("{ip.src.country: ip.src.country}", &["`ip.src.country` uses itself"]),
        ("{ip.src.city: \"request.headers['x y']\"}", &["policy.yaml:1:"]),
        ("{ip.src.country: [a]}", &["policy.yaml:1:26"]),
    ] {
        let text = format!("fields: {fields}\nrequest: [{{deny: 403}}]");
        let error = wrong(&text);
        assert!(expected.iter().all(|part| error.contains(part)), "{text}\n{error}");
        assert_eq!(error.matches("error[").count(), 1, "{error}");
    }
    // What all rules read is not for the owner of a lower level.
    let folder = Folder::new("filter-fields");
    folder.write("team.yaml", "fields: {ip.src.country: request.path}\nrequest: [{deny: 401}]");
    let main = folder.write("policy.yaml", "levels: [team.yaml]\nrequest: [{when: request.path == '/a', deny: 403}]");
    let error = Policy::load(main).unwrap_err().to_string();
    assert!(error.contains("team.yaml:1:1") && error.contains("fields"), "{error}");
}

#[test]
fn fields_and_variables_may_use_each_other_in_any_order() {
    let text = "
lists: {geo: {kind: addresses, values: {country: string}, entries: [{entry: 192.0.2.0/24, country: DE}]}}
variables: {inside: \"ip.geoip.country == 'DE'\"}
fields:
  ip.geoip.country: ip.src.country
  ip.src.country: lists.geo[source.address].country
  cf.threat_score: \"[1, 2].exists(ip, ip == 2) ? 90 : 1\"
request:
- {name: score, language: filter, when: cf.threat_score gt 95, deny: 410}
- {name: inside, when: variables.inside, deny: 403}
";
    for read in [Policy::parse, Policy::check] {
        let policy = read("policy.yaml", text, Path::new(".")).unwrap();
        assert_eq!(status_of(&policy, "192.0.2.7:1"), 403);
    }
}

#[derive(celero::Context)]
struct Place {
    country: String,
}

#[test]
fn a_field_is_given_once() {
    let loader = Policy::loader().variables_under::<Place>("ip.src");
    assert!(!Place { country: "DE".to_owned() }.country.is_empty());
    for name in ["ip.src.country", "ip.src.is_in_european_union"] {
        let text = format!("fields: {{{name}: request.path}}\nrequest: [{{deny: 403}}]");
        let error = loader.parse("policy.yaml", &text, Path::new(".")).map(drop).unwrap_err().to_string();
        let collides = name == "ip.src.country";
        assert_eq!(error.contains("it has a variable `ip.src.country`"), collides, "{error}");
        assert!(error.contains("policy.yaml:1:"), "{error}");
    }
}

/// What a rule reads through a field counts as if it were written in the rule.
#[test]
fn the_expression_of_a_field_counts_as_operations() {
    let text = |least: &str| {
        format!(
            "fields: {{cf.bot_management.verified_bot: \"{least}\"}}
request: [{{language: filter, when: cf.bot_management.verified_bot, deny: 403}}]"
        )
    };
    let loader = Policy::loader().max_operations(100);
    let dear = "request.headers.exists(a, request.headers.exists(b, a == b))";
    let refused = loader.parse("policy.yaml", &text(dear), Path::new(".")).unwrap_err().to_string();
    assert!(refused.contains("operations"), "{refused}");
    loader.parse("policy.yaml", &text("request.path == '/bot'"), Path::new(".")).unwrap();
}

#[test]
fn every_field_of_the_host_can_be_given() {
    let mut given = 0;
    for field in http_fields().filter(|field| matches!(field.value, HttpFieldValue::Host(_))) {
        let (value, condition) = match field.ty {
            "Bool" => ("true", field.name.to_owned()),
            "Int" => ("7", format!("{} eq 7", field.name)),
            "Bytes" => ("'a'", format!("{} eq \"a\"", field.name)),
            "Array<Int>" => ("[7]", format!("any({}[*] eq 7)", field.name)),
            "Array<Bytes>" => ("['a']", format!("any({}[*] eq \"a\")", field.name)),
            "Map<Array<Bytes>>" => ("{'k': ['a']}", format!("any({}[\"k\"][*] eq \"a\")", field.name)),
            "Map<Array<Int>>" => ("{'k': [7]}", format!("any({}[\"k\"][*] eq 7)", field.name)),
            "Map<Int>" => ("{'k': 7}", format!("{}[\"k\"] eq 7", field.name)),
            ty => panic!("a field of the type {ty}"),
        };
        let text = format!(
            "fields: {{{}: \"{value}\"}}\nrequest: [{{language: filter, when: '{condition}', deny: 403}}]",
            field.name
        );
        match Policy::parse("policy.yaml", &text, Path::new(".")) {
            Ok(policy) => assert_eq!(status_of(&policy, "192.0.2.7:1"), 403, "{text}"),
            // A name that no expression can have.
            Err(error) => assert_eq!(field.name, "cf.response.1xxx_code", "{error}"),
        }
        given += 1;
    }
    assert!(given > 100, "{given}");
}
