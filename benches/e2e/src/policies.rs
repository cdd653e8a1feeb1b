//! The jobs as celero policies: the text of each, and the policy compiled from it.

use crate::Failure;
use crate::jobs::{Job, MANY, internal_names};
use crate::requests;
use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Engine, Env, ErrorPolicy, Scratch, Tier};
use celero_policy::Policy;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// The text of a job's policy.
pub(crate) fn text(job: &str, engine: &str) -> Result<String, Failure> {
    Ok(match (job, engine) {
        ("header", _) => "request:\n  - setHeaders: { x-gateway: celero }\n".into(),
        ("guids", _) => {
            let header = |n| format!("      x-guid-{n}: ${{uuid()}}\n");
            format!("response:\n  - setHeaders:\n{}", (0..10).map(header).collect::<String>())
        }
        ("jwt", _) => "jwt:\n  keys:\n    - { secret: secret, algorithm: HS256 }\nrequest:\n  - setHeaders:\n      \
             x-client-name: ${jwt.client_name}\n      x-client-version: ${jwt.client_version}\n"
            .into(),
        ("strip", _) => {
            format!("request:\n  - removeHeaders: [{}]\n", internal_names().join(", "))
        }
        ("many", _) => counting(&many(engine)?),
        _ => counting(&celero_benches::Workload::new("W9").expect("a workload").sources()),
    })
}

/// A policy that counts each rule that is true.
fn counting(rules: &[String]) -> String {
    let mut text = String::from("request:\n");
    for (n, rule) in rules.iter().enumerate() {
        let _ =
            writeln!(text, "  - name: rule-{n}\n    when: {}\n    count: matched", serde_json::Value::from(&**rule));
    }
    text
}

/// The generated rules of the job "many": all of them, or twenty that include every rule that matches the request.
fn many(engine: &str) -> Result<Vec<String>, Failure> {
    let rules = celero_benches::rulesets::sources(MANY);
    if engine == "policy_10000" {
        return Ok(rules);
    }
    let matching = matching()?;
    let others = (0..rules.len()).filter(|rule| !matching.contains(rule));
    let mut few: Vec<usize> = matching.iter().copied().chain(others).take(20).collect();
    few.sort_unstable();
    Ok(few.into_iter().filter_map(|rule| rules.get(rule).cloned()).collect())
}

/// The rules of the large set that are true for the job's request from this machine, as the
/// interpreter finds them without an index: an independent check of what the proxy reports.
pub(crate) fn matching() -> Result<Vec<usize>, Failure> {
    let job = Job::named("many").ok_or("no such job")?;
    let env = Env::<RequestContext<'_>>::new();
    let interpreter = Engine::builder().tier(Tier::Interpret).build();
    let builder = interpreter.rules(&env).on_error(ErrorPolicy::NoMatch).index(Indexing::Off);
    let rules = celero_benches::rulesets::sources(MANY);
    let set = rules.iter().fold(builder, |builder, rule| builder.rule("", rule, ())).build()?;
    let request = http::Request::get(requests::TARGET);
    let request =
        requests::headers(job).iter().fold(request, |request, (name, value)| request.header(name, value)).body(())?;
    let context = RequestContext::new(&request).with_source((Ipv4Addr::LOCALHOST, 0).into());
    Ok(set.indices(&context, &mut Scratch::new())?.to_vec())
}

/// Compiles a job's policy.
pub(crate) fn load(job: &str, engine: &str) -> Result<Policy, Failure> {
    let place = std::env::temp_dir().join(format!("celero-e2e-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join("secret"), crate::token::SECRET)?;
    let policy = Policy::parse("policy.yaml", &text(job, engine)?, &place);
    std::fs::remove_dir_all(&place)?;
    Ok(policy.map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_few_match_of_many_and_of_twenty() {
        let (all, few) = (many("policy_10000").expect("rules"), many("policy_20").expect("rules"));
        assert_eq!((all.len(), few.len()), (10_000, 20));
        let matching = matching().expect("rules");
        assert!((5..=10).contains(&matching.len()), "{matching:?}");
        assert!(matching.iter().all(|&rule| few.contains(&all[rule])));
    }
}
