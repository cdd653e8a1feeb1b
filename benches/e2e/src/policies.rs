//! The jobs as celero policies.

use crate::Failure;
use crate::jobs::internal;
use celero::http::RequestContext;
use celero::{Engine, Env, Indexing, Scratch, Tier};
use celero_policy::Policy;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// The text of a job's policy.
pub(crate) fn text(job: &str, engine: &str) -> String {
    match (job, engine) {
        ("header", _) => "request:\n  - setHeaders: { x-gateway: celero }\n".into(),
        ("guids", _) => {
            let header = |n| format!("      x-guid-{n}: ${{uuid()}}\n");
            format!("response:\n  - setHeaders:\n{}", (0..10).map(header).collect::<String>())
        }
        ("jwt", _) => "jwt:\n  keys:\n    - { secret: secret, algorithm: HS256 }\nrequest:\n  - setHeaders:\n      \
             x-client-name: ${jwt.client_name}\n      x-client-version: ${jwt.client_version}\n"
            .into(),
        ("strip", _) => {
            format!("request:\n  - removeHeaders: [{}]\n", internal().join(", "))
        }
        ("many", _) => counting(&many(engine)),
        _ => counting(&celero_benches::Workload::new("W9").expect("a workload").sources()),
    }
}

/// Rules that count where they are true.
fn counting(rules: &[String]) -> String {
    let mut text = String::from("request:\n");
    for (n, rule) in rules.iter().enumerate() {
        let _ =
            writeln!(text, "  - name: rule-{n}\n    when: {}\n    count: matched", serde_json::Value::from(&**rule));
    }
    text
}

/// The mix of rules that sets are measured with.
fn many(engine: &str) -> Vec<String> {
    celero_benches::rulesets::sources(if engine == "policy_10000" { 10_000 } else { 20 })
}

/// How many of the mix are true of a request from this machine, by another tier and without an index.
pub(crate) fn matching(engine: &str, target: &str, headers: &[(String, String)]) -> Result<usize, Failure> {
    let (env, rules) = (Env::<RequestContext<'_>>::new(), many(engine));
    let interpreter = Engine::builder().tier(Tier::Interpret).build();
    let builder = interpreter.rules(&env).index(Indexing::Off);
    let set = rules.iter().fold(builder, |builder, rule| builder.rule("", rule, ())).build()?;
    let request = headers.iter().fold(http::Request::get(target), |request, (name, value)| request.header(name, value));
    let request = request.body(())?;
    let context = RequestContext::new(&request).with_source((Ipv4Addr::LOCALHOST, 0).into());
    Ok(set.count(&context, &mut Scratch::new())?)
}

/// A job's policy, compiled.
pub(crate) fn load(job: &str, engine: &str) -> Result<Policy, Failure> {
    let place = std::env::temp_dir().join(format!("celero-e2e-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join("secret"), crate::token::SECRET)?;
    let policy = Policy::parse("policy.yaml", &text(job, engine), &place);
    std::fs::remove_dir_all(&place)?;
    Ok(policy.map_err(|error| error.to_string())?)
}
