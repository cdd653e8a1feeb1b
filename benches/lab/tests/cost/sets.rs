//! Sets of rules and live rules: building, warnings, the index, changes.

use crate::SizedRule;
use crate::measure::growth;
use crate::{exclusive, report};
use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Engine, Env, ErrorPolicy, Live, Rule, Scratch};
use std::hint::black_box;

/// Rules made from a number.
const RULES: &[SizedRule] = &[
    ("equal", |_| "request.host == 'a'".to_owned()),
    ("hosts", |k| format!("request.host == 'h{k}'")),
    ("prefixes", |k| format!("request.path.startsWith('/{k}/')")),
    ("parts", |k| format!("request.path.contains('x{k}')")),
    ("headers", |k| format!("request.headers['x-{k}'] == '{k}'")),
    ("numbers", |k| format!("source.port > {k}")),
    ("networks", |k| format!("cidr('10.{}.{}.0/24').containsIP(source.address)", k / 256 % 256, k % 256)),
    ("patterns", |k| format!("request.path.matches('^/{k}/[a-z]+$')")),
    ("negations", |k| format!("!(request.host in ['a{k}', 'b{k}'])")),
    ("pairs", |k| format!("request.host == 'h{}' && request.method == 'M{}'", k % 7, k / 7)),
    ("alternatives", |k| format!("request.host == 'h{k}' || request.path == '/{k}'")),
    ("query", |k| format!("request.uri.query('k{k}').size() > {k}")),
    ("JSON", |k| format!("json(request.headers['x']).a{k} == {k}")),
    ("constants", |k| format!("{k} == {k}")),
    ("warnings", |k| format!("request.path.startsWith('/{k}') && request.path == '/{k}'")),
];

#[test]
fn sets_cost_what_their_rules_say() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let env = Env::<RequestContext<'_>>::new();
    let request = http::Request::get("/abc").header("host", "a").body(()).unwrap();
    let context = RequestContext::new(&request);
    for (name, make) in RULES {
        let work = |n: usize| {
            let sources: Vec<String> = (0..n).map(make).collect();
            let (env, context) = (&env, &context);
            move || {
                let engine = Engine::new();
                let rules = engine.rules(env).index(Indexing::Always).on_error(ErrorPolicy::NoMatch);
                let built = sources.iter().fold(rules, |rules, source| rules.rule("r", source, ())).build();
                let Ok(set) = built else { return };
                black_box((set.warnings().len(), set.count(context, &mut Scratch::new()).is_ok()));
            }
        };
        problems.extend(growth(&format!("set of {name}"), 1 << 12, work));
    }
    report(&problems);
}

#[test]
fn live_rules_cost_what_their_changes_say() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (name, make) in RULES {
        let work = |n: usize| {
            let sources: Vec<(String, String)> = (0..n).map(|k| (format!("r{k}"), make(k))).collect();
            move || {
                let live: Live<RequestContext<'static>, ()> = Live::new(Engine::new(), Env::new());
                for (name, source) in &sources {
                    drop(live.insert(Rule::new(name, source, ())));
                }
                live.wait_idle(std::time::Duration::from_secs(60));
                black_box(live.load().len());
            }
        };
        problems.extend(growth(&format!("live {name}"), 1 << 10, work));
    }
    report(&problems);
}
