//! Functions, variables and labels of the server in a policy.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use axum::routing::get;
use celero_policy::{LivePolicy, Loader, Policy};
use celero_tower::PolicyLayer;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tower::ServiceExt;
use tower_layer::Layer;

/// A policy in a file of its own.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let file = std::env::temp_dir().join(format!("celero-tower-{}-{name}.yaml", std::process::id()));
        std::fs::write(&file, text).unwrap();
        Self(file)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[derive(celero::Context)]
struct Tenant {
    name: String,
    seats: i64,
}

/// What a layer before this one has found out.
#[derive(Clone)]
struct Session(Arc<Tenant>);

const POLICY: &str = r#"
request:
- {name: seats, when: "tenant.seats > 5 && plan(tenant.name) == 'free'", deny: {status: 402, body: "${tenant.name}"}}
- {name: zone, when: labels.zone == 'closed', deny: 403}
- setHeaders: {x-tenant: "${tenant.name}"}
response:
- setHeaders: {x-seats: "${tenant.seats}"}
log:
- logFields: {tenant: "${tenant.name}", zone: "${labels.zone}"}
"#;

fn loader() -> Loader {
    Policy::loader()
        .function("plan", |tenant: &str| if tenant == "acme" { "pro" } else { "free" })
        .variables_under::<Tenant>("tenant")
}

/// The status, the header `x-seats`, and the body of the answer to a request of a tenant.
async fn ask(layer: &PolicyLayer, name: &str, seats: i64, zone: &str) -> (u16, String, String) {
    let tenant =
        |headers: HeaderMap| async move { format!("hello {}", headers.get("x-tenant").unwrap().to_str().unwrap()) };
    let app = Router::new().fallback_service(layer.layer(Router::new().route("/", get(tenant))));
    let mut request = Request::get("/").header("host", "a").header("x-zone", zone).body(Body::empty()).unwrap();
    request.extensions_mut().insert(Session(Arc::new(Tenant { name: name.to_owned(), seats })));
    let (head, body) = app.oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let seats = head.headers.get("x-seats").map_or("", |seats| seats.to_str().unwrap());
    (head.status.as_u16(), seats.to_owned(), String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn rules_read_what_the_server_knows_of_a_request() {
    let file = File::new("knows", POLICY);
    let policy = Arc::new(LivePolicy::load_with(&file.0, loader()).unwrap());
    let logged = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&logged);
    let layer = PolicyLayer::new(Arc::clone(&policy))
        .without_peer()
        .labels(|head| [("zone", head.headers["x-zone"].to_str().unwrap().to_owned())])
        .variables(|head| Some(Arc::clone(&head.extensions.get::<Session>()?.0)))
        .on_log(move |fields| sink.lock().unwrap().push(fields.to_string()));
    let text = |status: u16, seats: &str, body: &str| (status, seats.to_owned(), body.to_owned());
    // A reload keeps what the host declares.
    for _ in 0..2 {
        assert_eq!(ask(&layer, "acme", 9, "a").await, text(200, "9", "hello acme"));
        assert_eq!(ask(&layer, "initech", 5, "a").await, text(200, "5", "hello initech"));
        assert_eq!(ask(&layer, "initech", 6, "a").await, text(402, "", "initech"));
        assert_eq!(ask(&layer, "acme", 1, "closed").await, text(403, "", ""));
        policy.reload().unwrap();
    }
    let logged = logged.lock().unwrap();
    assert_eq!(logged.len(), 8);
    assert!(logged[0].contains("acme") && logged[3].contains("closed"), "{logged:?}");
}

#[tokio::test]
async fn a_layer_without_the_variables_of_the_policy_says_so() {
    let file = File::new("says", "request: {onError: noMatch, rules: [{name: guard, when: seats > 1, deny: 403}]}");
    let policy = Arc::new(LivePolicy::load_with(&file.0, Policy::loader().variables::<Tenant>()).unwrap());
    let none = PolicyLayer::new(Arc::clone(&policy)).without_peer();
    let unknown = PolicyLayer::new(Arc::clone(&policy)).without_peer().variables(|_| None::<Arc<Tenant>>);
    let other = PolicyLayer::new(policy).without_peer().variables(|_| Some(Arc::new(Other { seats: 2 })));
    let expected = "the policy reads variables of its host that this server does not give\n";
    for layer in [none, unknown, other] {
        assert_eq!(ask(&layer, "acme", 2, "a").await, (500, String::new(), expected.to_owned()));
    }
}

#[derive(celero::Context)]
struct Other {
    seats: i64,
}
