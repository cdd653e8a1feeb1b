//! Functions and variables of the host.

use crate::support::{Folder, answer, ask, ask_response, edits, exchange, head, log, response, status};
use celero_policy::{Exchange, LivePolicy, Loader, Policy};
use std::path::Path;
use std::sync::Arc;

#[derive(celero::Context)]
struct Tenant {
    name: String,
    seats: i64,
    region: Option<String>,
    tags: Vec<String>,
}

impl Tenant {
    fn new(name: &str, seats: i64) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), seats, region: None, tags: vec!["beta".to_owned()] })
    }
}

fn loader() -> Loader {
    Policy::loader()
        .function("plan", |tenant: &str| if tenant == "acme" { "pro" } else { "free" })
        .pure_method("shout", |text: &str| text.to_uppercase())
        .variables_under::<Tenant>("tenant")
}

/// The policy for both tiers.
fn policies(text: &str) -> [Policy; 2] {
    let (name, base) = ("policy.yaml", Path::new("."));
    [loader().parse(name, text, base), loader().check(name, text, base)].map(Result::unwrap)
}

fn wrong(loader: &Loader, text: &str) -> String {
    match loader.parse("policy.yaml", text, Path::new(".")) {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn of(tenant: Arc<Tenant>) -> Exchange {
    let mut exchange = exchange();
    exchange.set_variables(tenant);
    exchange
}

#[derive(celero::FieldType)]
enum Plan {
    Free,
    Pro,
}

#[derive(celero::Context)]
struct Customer {
    plan: Plan,
    other: Option<Plan>,
    level: u8,
}

/// A case with another value would show what never happens.
#[test]
fn a_case_gives_values_that_a_field_can_have() {
    let customer = |plan| Customer { plan, other: None, level: 0 };
    assert!(matches!([customer(Plan::Free).plan, customer(Plan::Pro).plan], [Plan::Free, Plan::Pro]));
    let text = "request: [{name: free, when: customer.plan == 'Free', deny: 402}]";
    let loader = Policy::loader().variables_under::<Customer>("customer").for_cases();
    let policy = loader.parse("p.yaml", text, Path::new(".")).unwrap();
    for given in ["{customer.plan: Free, customer.level: 255}", "{customer.plan: Free, customer.other: Pro}"] {
        let cases = format!("- {{name: a, variables: {given}, expect: {{rule: free}}}}");
        assert!(policy.test("cases.yaml", &cases).unwrap().passed());
    }
    for (given, expected) in [
        ("{customer.plan: free}", "cases.yaml:1:40"),
        ("{customer.plan: free}", "`customer.plan` is declared as `string`: it is one of `Free`, `Pro`"),
        ("{customer.other: x}", "`customer.other` is declared as `string`: it is one of"),
        ("{customer.level: 256}", "`customer.level` is declared as `uint`: it is a number from 0 to 255"),
        ("{customer: {plan: Free}}", "write the whole name: `customer.plan: ..`"),
    ] {
        let cases = format!("- {{name: a, variables: {given}, expect: {{}}}}");
        let error = policy.test("cases.yaml", &cases).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // The compiler knows the names in both.
    let text = "request: [{name: free, when: customer.plan == 'free', deny: 402}]";
    let warned = loader.check("p.yaml", text, Path::new(".")).unwrap();
    assert!(warned.render_warnings(false).contains("did you mean `Free`?"));
}

const ALL_PHASES: &str = r#"
functions:
  "isLarge(seats: int) -> bool": seats > 100 && plan(tenant.name) == 'pro'
variables:
  beta: "'beta' in tenant.tags"
request:
- {name: seats, when: tenant.seats < 1 && !has(tenant.region), deny: {status: 402, body: "${tenant.name.shout()}"}}
- {name: edit, when: variables.beta, setHeaders: {x-plan: "${plan(tenant.name)}"}, labels: {size: "${isLarge(tenant.seats)}"}}
requestBody:
  rules:
  - {name: body, when: string(request.body) == tenant.name, deny: 409}
response:
- {name: mark, setHeaders: {x-seats: "${tenant.seats}"}}
responseBody:
  rules:
  - {name: hide, when: "string(response.body).contains(tenant.name)", deny: 502}
log:
- logFields: {tenant: "${tenant.name}", size: "${labels.size}", region: "${default(tenant.region, 'none')}"}
"#;

#[test]
fn all_phases_of_a_request_read_them() {
    for policy in policies(ALL_PHASES) {
        let head = head("GET /", &[]);
        let mut exchange = of(Tenant::new("acme", 500));
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
        assert_eq!(edits(&exchange)[..1], ["x-plan = pro"]);
        assert_eq!(exchange.label("size"), Some("true"));
        assert_eq!(status(policy.request_body(&head, b"acme", &mut exchange)), 409);
        assert_eq!(status(policy.request_body(&head, b"x", &mut exchange)), 0);
        let answered = response(200, &[]);
        assert_eq!(status(ask_response(&policy, &head, &answered, &mut exchange)), 0);
        assert_eq!(edits(&exchange), ["x-seats = 500"]);
        assert_eq!(status(policy.response_body(&head, &answered, b"of acme", &mut exchange)), 502);
        assert_eq!(status(policy.response_body(&head, &answered, b"of all", &mut exchange)), 0);
        let fields = log(&policy, &head, Some(&answered), &mut exchange).to_string();
        assert!(fields.contains("acme") && fields.contains("none") && fields.contains("true"), "{fields}");

        let denied = answer(ask(&policy, &head, &mut of(Tenant::new("initech", 0))));
        assert_eq!((denied.status.as_u16(), &*denied.body), (402, &b"INITECH"[..]));
    }
}

#[test]
fn a_later_phase_may_have_other_values() {
    for policy in policies(ALL_PHASES_OF_SEATS) {
        let (head, answered) = (head("GET /", &[]), response(200, &[]));
        let mut exchange = of(Tenant::new("acme", 1));
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
        assert_eq!(edits(&exchange), ["x-seats = 1"]);
        exchange.set_variables(Tenant::new("acme", 2));
        assert_eq!(status(ask_response(&policy, &head, &answered, &mut exchange)), 0);
        assert_eq!(edits(&exchange), ["x-seats = 2"]);
        // The next request of the connection has none.
        assert!(policy.has_variables_of(&exchange));
        exchange.reset(None, None);
        assert!(!policy.has_variables_of(&exchange));
    }
}

const ALL_PHASES_OF_SEATS: &str = r#"
request: [{setHeaders: {x-seats: "${tenant.seats}"}}]
response: [{setHeaders: {x-seats: "${tenant.seats}"}}]
"#;

#[test]
fn no_rule_runs_without_the_values_that_it_was_compiled_for() {
    /// The same names and types, in another order.
    #[derive(celero::Context)]
    struct Imitation {
        tags: Vec<String>,
        seats: i64,
        region: Option<String>,
        name: String,
    }
    let text = r#"
request:
  onError: noMatch
  rules:
  - {name: guard, when: tenant.seats > 0, deny: 403}
  - {name: other, setHeaders: {x-a: b}}
"#;
    for policy in policies(text) {
        let imitation = Imitation { tags: Vec::new(), seats: 5, region: None, name: String::new() };
        let mut imitated = exchange();
        imitated.set_variables(Arc::new(imitation));
        for mut exchange in [exchange(), imitated] {
            assert!(!policy.has_variables_of(&exchange));
            let refused = answer(ask(&policy, &head("GET /", &[]), &mut exchange));
            assert_eq!((refused.status.as_u16(), &*refused.rule), (500, "host.variables"));
            assert!(refused.body.starts_with(b"the policy reads variables of its host"), "{:?}", refused.body);
            assert!(edits(&exchange).is_empty());
        }
        let counts: Vec<_> = policy.rules().map(|rule| (rule.matched, rule.failed)).collect();
        assert_eq!(counts, [(0, 0), (0, 0)]);
        assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut of(Tenant::new("acme", 1)))), 403);
    }
    // A policy of a host without variables ignores them.
    let plain = Policy::parse("policy.yaml", "request: [{name: a, deny: 403}]", Path::new(".")).unwrap();
    let mut exchange = of(Tenant::new("acme", 1));
    assert!(plain.has_variables_of(&exchange));
    assert_eq!(status(ask(&plain, &head("GET /", &[]), &mut exchange)), 403);
}

#[test]
fn connections_have_none() {
    let message = wrong(&loader(), "connection: [{name: a, when: tenant.seats > 1, deny: true}]");
    assert!(
        message.contains("`tenant.seats` exists in the phases") && message.contains("not in `connection`"),
        "{message}"
    );
    // Functions are everywhere.
    loader()
        .parse("p.yaml", "connection: [{name: a, when: \"plan(source.via) == 'pro'\", deny: true}]", Path::new("."))
        .unwrap();
}

#[test]
fn names_that_collide_are_both_named() {
    #[derive(celero::Context)]
    struct Named {
        name: String,
    }
    #[derive(celero::Context)]
    struct Twice {
        a: String,
        #[context(name = "a.b")]
        b: String,
    }
    let text = "request: [{name: a, deny: true}]";
    for (prefix, other) in [
        ("labels", "labels"),
        ("jwt.claims", "jwt"),
        ("request.headers", "request.headers"),
        ("response.code", "response.code"),
        ("source.address", "source.address"),
        ("variables", "variables"),
        ("env", "env"),
        ("lists.geo", "lists"),
    ] {
        let message = wrong(&Policy::loader().variables_under::<Named>(prefix), text);
        let expected = format!("the host's variable `{prefix}.name` collides with `{other}`, which policies have");
        assert!(message.contains(&expected), "{message}");
        assert!(message.contains("give it another name, or a prefix"), "{message}");
    }
    #[derive(celero::Context)]
    struct Request {
        request: String,
    }
    let message = wrong(&Policy::loader().variables::<Request>(), text);
    assert!(message.contains("the host's variable `request` collides with `request."), "{message}");
    let message = wrong(&Policy::loader().variables::<Twice>(), text);
    assert!(message.contains("the host's variable `a.b` collides with its variable `a`"), "{message}");
    for fits in ["request.tenant", "requests", "tenant", "jwts"] {
        Policy::loader().variables_under::<Named>(fits).parse("p.yaml", text, Path::new(".")).unwrap();
    }
}

#[test]
fn functions_that_collide_are_both_named() {
    let text = "functions: {plan(tenant): \"'pro'\"}\nrequest: [{name: a, when: plan('a') == 'pro', deny: true}]";
    let message = wrong(&loader(), text);
    assert!(message.contains("the environment already has `plan(string) -> string`"), "{message}");
    let message = wrong(&Policy::loader().function("size", |text: &str| text.len() as i64), "request: [{deny: true}]");
    assert!(message.contains("the host's declarations: function `size`"), "{message}");
}

#[test]
fn a_reload_keeps_what_the_host_declares() {
    let folder = Folder::new("host-data");
    let file = folder.write("policy.yaml", "request: [{name: a, when: tenant.seats > 1, deny: 403}]");
    let live = LivePolicy::load_with(&file, loader()).unwrap();
    let ask = |seats| status(ask(&live.current(), &head("GET /", &[]), &mut of(Tenant::new("acme", seats))));
    assert_eq!((ask(1), ask(2)), (0, 403));
    folder.write("policy.yaml", "request: [{name: a, when: plan(tenant.name) == 'pro', deny: 404}]");
    live.reload().unwrap();
    assert_eq!((ask(1), ask(2)), (404, 404));
    folder.write("policy.yaml", "request: [{name: a, when: tenant.places > 1, deny: 403}]");
    assert!(live.reload().unwrap_err().to_string().contains("tenant.places"));
    assert_eq!(ask(1), 404);
    assert!(
        LivePolicy::load(folder.write("p.yaml", "request: [{name: a, when: tenant.seats > 1, deny: 403}]")).is_err()
    );
}

#[test]
fn limits_count_by_them() {
    let text = "request: [{name: tenants, limit: {key: '${tenant.name}', rate: 1/h}}]";
    for policy in policies(text) {
        let ask = |tenant: &str| status(ask(&policy, &head("GET /", &[]), &mut of(Tenant::new(tenant, 1))));
        assert_eq!([ask("acme"), ask("initech"), ask("acme")], [0, 0, 429]);
    }
}
