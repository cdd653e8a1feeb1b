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
        ("variables:\n  a: string\n  request.path: string\n", "host.yaml:3:3"),
        ("variables: {request.path: string}", "`request.path` collides with `request.path`, which policies have"),
        ("variables: {jwt.plan: string}", "give it another name, or a prefix"),
        ("variables:\n  a.b: string\n  a: string\n", "host.yaml:3:3"),
        ("variables: {a.b: string, a: string}", "`a` collides with its variable `a.b`"),
    ] {
        let error = wrong(text);
        assert!(error.contains(expected), "{text}\n{error}");
    }
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
        .function("f2", |_: celero::values::Duration, _: celero::values::Timestamp, _: std::net::IpAddr| {
            Vec::<u8>::new()
        })
        .method("m", |_: celero::values::List<'_>, _: celero::values::Map<'_>, _: celero::Value<'_>| true)
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

/// Such a guard fails and denies, so the case would pass for the wrong reason.
#[test]
fn a_case_that_calls_a_function_without_code_fails() {
    let shared =
        "- {name: other, when: request.path == '/other' && tenant.name.shout() == 'A', setHeaders: {x-a: b}}\n";
    let of = |rule: &str| format!("request:\n{shared}{rule}\n");
    let guard = of("- {name: guard, when: plan(tenant.name) == 'free', deny: 403}");
    let label = of("- {name: label, labels: {plan: '${plan(tenant.name)}'}}");
    let field = of("- {name: field, logFields: {plan: '${plan(tenant.name)}'}}");
    let behind = of("- {name: first, deny: 403}\n- {name: second, when: plan(tenant.name) == 'free', deny: 404}");
    for (text, case, calls) in [
        (&guard, "expect: {status: 403}", Some("`guard` calls `plan`")),
        (&guard, "expect: {}", Some("`guard` calls `plan`")),
        (&label, "expect: {rule: server}", Some("`label` calls `plan`")),
        (&field, "expect: {rule: server}", Some("`field` calls `plan`")),
        (&guard, "request: {uri: /other}, expect: {status: 403}", Some("`other` calls `shout`")),
        (&guard, "before: [{request: {uri: /x}}], expect: {status: 403}", Some("`guard` calls `plan`")),
        // A rule that is not reached decides nothing.
        (&behind, "expect: {rule: first}", None),
        (&of("- {name: pass, deny: 403}"), "expect: {rule: pass}", None),
    ] {
        let cases = format!("- {{name: a, variables: {{tenant.name: acme}}, {case}}}\n");
        for policy in [loader().parse("p.yaml", text, base()), loader().check("p.yaml", text, base())] {
            let report = policy.unwrap().test("cases.yaml", &cases).unwrap();
            let found = report.render(false);
            assert_eq!(report.passed(), calls.is_none(), "{text}{case}\n{found}");
            if let Some(calls) = calls {
                let expected = format!("a: {calls}, which is only declared and has no code");
                assert!(found.contains(&expected) && found.contains("Loader::for_cases"), "{text}{case}\n{found}");
            }
        }
    }
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
    let policy = Policy::parse("p.yaml", "request: [{deny: true}]", base()).unwrap();
    let error = policy.test("cases.yaml", cases).unwrap_err().to_string();
    assert!(error.contains("the policy has no variables of its host that a case could give values"), "{error}");
}

#[test]
fn elements_of_values_have_their_types() {
    let declared = "
variables:
  numbers: list(int)
  words: list(list(string))
  counts: map(string, int)
  names: map(int, string)
  anything: dyn
  mixed: list(dyn)
";
    let loader = Loader::of_declarations("host.yaml", declared).unwrap();
    let policy = loader.parse("p.yaml", "request: [{deny: true}]", base()).unwrap();
    let test = |given: &str| {
        policy.test("cases.yaml", &format!("- {{name: a, variables: {{{given}}}, expect: {{status: 403}}}}"))
    };
    for (given, expected) in [
        ("numbers: ['4']", "`numbers` is declared as `list(int)`: the element 0 is a `string`"),
        ("numbers: [4, null]", "the element 1 is a `null_type`"),
        ("numbers: {list: [4, 4.5]}", "the element 1 is a `double`"),
        ("words: [[a], [b, 7]]", "the element 1 of the element 1 is a `int`"),
        ("counts: {a: 1, b: x}", "the value of \"b\" is a `string`"),
        (
            "names: {a: b}",
            "the key \"a\" is a `string`; keys that are not text are written `{map: [[KEY, VALUE], ..]}`",
        ),
        ("names: {map: [[1, 2]]}", "the value of 1 is a `int`"),
    ] {
        let error = test(given).unwrap_err().to_string();
        assert!(error.contains("case-variables") && error.contains("cases.yaml:1:"), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    for given in [
        "numbers: [4, 5]",
        "words: [[a], []]",
        "counts: {a: 1}",
        "names: {map: [[1, a]]}",
        "anything: [1, a, {b: 2}]",
        "mixed: [1, a]",
    ] {
        assert!(test(given).unwrap().passed(), "{given}");
    }
}

/// Each rule would fail, and guards would deny.
#[test]
fn cases_need_a_policy_that_reads_variables_by_name() {
    let policy = host().parse("p.yaml", POLICY, base()).unwrap();
    for cases in ["- {name: a, variables: {a: 1}, expect: {}}", "- {name: a, expect: {status: 402}}"] {
        let error = policy.test("cases.yaml", cases).unwrap_err().to_string();
        assert!(error.contains("the policy was loaded for the variables of a type"), "{error}");
        assert!(error.contains("load the policy with `Loader::for_cases`"), "{error}");
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
