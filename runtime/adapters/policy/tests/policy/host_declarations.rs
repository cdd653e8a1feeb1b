//! What a host declares as a file, and values for its variables in cases.

use crate::support::{ask, exchange, head, status};
use celero_policy::{Loader, Outline, Phase, Policy};
use std::path::Path;
use std::time::SystemTime;

const DECLARED: &str = "
variables:
  tenant.name: string
  tenant.seats: {type: int}
  tenant.region: {type: string, optional: true}
  tenant.tags: list(string)
  tenant.since: timestamp
functions:
- 'plan(tenant: string) -> string'
- 'string.shout() -> string'
";

const POLICY: &str = r#"
request:
- {name: seats, when: tenant.seats > 5 && 'beta' in tenant.tags, deny: {status: 402, body: "${tenant.name}"}}
- {name: old, when: "tenant.since < timestamp('2020-01-01T00:00:00Z')", deny: 410}
- {name: plan, when: request.path == '/plan' && plan(tenant.name) == 'free', deny: 403}
- {name: region, when: has(tenant.region), setHeaders: {x-region: "${tenant.region}"}}
"#;

fn base() -> &'static Path {
    Path::new(".")
}

fn loader() -> Loader {
    Loader::of_declarations("host.yaml", DECLARED).unwrap()
}

fn wrong(text: &str) -> String {
    Loader::of_declarations("host.yaml", text).unwrap_err().to_string()
}

#[test]
fn policies_are_checked_with_the_types_of_a_file() {
    let policy = loader().check("policy.yaml", POLICY, base()).unwrap();
    assert_eq!(policy.warnings().count(), 0, "{}", policy.render_warnings(false));
    for (text, expected) in [
        ("request: [{name: a, when: tenant.seats == 'x', deny: 403}]", "no overload of `==` fits `int == string`"),
        ("request: [{name: a, when: plan(1) == 'x', deny: 403}]", "plan"),
        ("request: [{name: a, when: tenant.nam == 'x', deny: 403}]", "did you mean `tenant.name`"),
        ("connection: [{name: a, when: tenant.name == 'x', deny: true}]", "not in `connection`"),
    ] {
        let error = loader().check("policy.yaml", text, base()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let outline = Outline::with_loader("policy.yaml", POLICY, base(), &loader()).unwrap();
    assert!(outline.declarations(Some(Phase::Log)).has_name("tenant.seats"));
    assert!(!outline.declarations(Some(Phase::Connection)).has_name("tenant.seats"));
}

#[test]
fn every_error_of_a_file_is_at_its_place() {
    for (text, expected) in [
        ("variables: {a: strin}", "host.yaml:1:16"),
        ("variables: {a: strin}", "the type of `a`: there is no type `strin`"),
        ("variables: {'a b': string}", "variable `a b`: `a b` is not an identifier"),
        ("variables: {a: {type: string, optinal: true}}", "did you mean `optional`?"),
        ("variables: {a: {optional: true}}", "`type`"),
        ("functions: ['plan(']", "host.yaml:1:13"),
        ("functions: ['size(x: string) -> int']", "the library"),
        ("functions: ['f(x: int) -> int', 'f(y: int) -> int']", "the environment already has `f(int) -> int`"),
        ("function: []", "did you mean `functions`?"),
        ("", "the file is empty"),
    ] {
        let error = wrong(text);
        assert!(error.contains(expected), "{text}\n{error}");
    }
    // Collisions are found when a policy is loaded.
    let loader = Loader::of_declarations("host.yaml", "variables: {request.path: string}").unwrap();
    let error = loader.check("policy.yaml", POLICY, base()).unwrap_err().to_string();
    assert!(error.contains("`request.path` collides with `request.path`"), "{error}");
}

#[derive(celero::Context)]
#[context(prefix = "tenant")]
struct Tenant {
    name: String,
    seats: i64,
    region: Option<String>,
    tags: Vec<String>,
    since: SystemTime,
}

fn host() -> Loader {
    let plan = |tenant: &str| if tenant == "acme" { "pro" } else { "free" };
    Policy::loader().function("plan", plan).method("shout", |text: &str| text.to_uppercase()).variables::<Tenant>()
}

#[test]
fn a_written_file_declares_the_same() {
    assert_eq!(host().declarations(), loader().declarations());
    // A function of each type, and one without anything.
    let written = host()
        .function("f0", || 1_i64)
        .function("f1", |_: u64, _: f64, _: bool, _: &[u8]| "".to_owned())
        .function("f2", |_: celero::Duration, _: celero::Timestamp, _: std::net::IpAddr| Vec::<u8>::new())
        .method("m", |_: celero::List<'_>, _: celero::Map<'_>, _: celero::Value<'_>| true)
        .declarations();
    let read = Loader::of_declarations("host.yaml", &written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(read.declarations(), written);
    assert_eq!(Policy::loader().declarations(), "");
    let schema = Loader::declarations_schema();
    assert!(schema.to_string().contains("optional"), "{schema}");
}

#[test]
fn cases_give_values_by_name() {
    let cases = r#"
- name: many seats
  variables: {tenant.name: 007, tenant.seats: 6, tenant.tags: [alpha, beta], tenant.since: "2024-01-01T00:00:00Z"}
  expect: {status: 402, body: "007"}
- name: few seats
  variables: {tenant.name: acme, tenant.seats: 5, tenant.tags: [], tenant.since: "2024-01-01T00:00:00Z"}
  expect: {rule: server, requestHeaders: {x-region: null}}
- name: a region
  variables: {tenant.seats: 1, tenant.tags: [], tenant.since: "2024-01-01T00:00:00Z", tenant.region: eu}
  expect: {rule: server, requestHeaders: {x-region: eu}}
- name: old
  variables: {tenant.seats: 1, tenant.tags: [], tenant.since: "2019-01-01T00:00:00Z"}
  expect: {status: 410}
- name: earlier requests have values of their own
  before: [{variables: {tenant.seats: 9}}]
  variables: {tenant.seats: 1, tenant.tags: [], tenant.since: "2024-01-01T00:00:00Z"}
  expect: {rule: server}
- name: a variable without a value is absent, so the guard that reads it fails and matches
  expect: {rule: seats}
"#;
    for loader in [loader(), host().for_cases()] {
        for policy in [loader.parse("p.yaml", POLICY, base()), loader.check("p.yaml", POLICY, base())] {
            let report = policy.unwrap().test("cases.yaml", cases).unwrap();
            assert!(report.passed(), "{}", report.render(false));
        }
    }
    // The host's functions run in its own tests. Those of a file have no code: the guard fails and matches.
    let plan = r#"
- name: plan
  request: {uri: /plan}
  variables: {tenant.name: acme, tenant.seats: 1, tenant.tags: [], tenant.since: "2024-01-01T00:00:00Z"}
  expect: {rule: server}
"#;
    let passes =
        |loader: &Loader| loader.parse("p.yaml", POLICY, base()).unwrap().test("cases.yaml", plan).unwrap().passed();
    assert!(passes(&host().for_cases()));
    assert!(!passes(&loader()));
}

#[test]
fn wrong_values_of_a_case_are_named() {
    let policy = loader().parse("p.yaml", POLICY, base()).unwrap();
    for (given, expected) in [
        ("{tenant.sets: 1}", "the host has no variable `tenant.sets`"),
        ("{tenant.sets: 1}", "did you mean `tenant.seats`?"),
        ("{tenant.seats: many}", "`tenant.seats` is declared as `int`: this is a `string`"),
        ("{tenant.since: yesterday}", "`yesterday` is no timestamp"),
    ] {
        let cases = format!("- {{name: a, variables: {given}, expect: {{}}}}");
        let error = policy.test("cases.yaml", &cases).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("cases.yaml:1:"), "{error}");
    }
    let cases = "- {name: a, variables: {a: 1}, expect: {}}";
    for policy in [Policy::parse("p.yaml", "request: [{deny: true}]", base()), host().parse("p.yaml", POLICY, base())] {
        let error = policy.unwrap().test("cases.yaml", cases).unwrap_err().to_string();
        assert!(error.contains("the policy has no variables of its host that a case could give values"), "{error}");
    }
}

/// A request has no values of declared variables: all are absent, in both tiers alike.
#[test]
fn declared_variables_without_values_are_absent() {
    let text = r#"
request:
- {name: present, when: has(tenant.name), deny: 403}
- {name: absent, when: "!has(tenant.name) && !has(tenant.seats)", deny: 404}
"#;
    // Only what runs may rely on it: a check is about the types that are declared.
    let policy = loader().parse("p.yaml", text, base()).unwrap();
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 404);
}
