//! celero as an engine of the comparison. The context is built for each evaluation, as a proxy
//! would: `RequestContext` for rules about requests, a derived context for rules about the host's
//! own data.

use crate::workload::Extras;
use crate::{Runner, Workload};
use celero::http::RequestContext;
use celero::{Context, Engine, Env, ErrorPolicy, Program, Scratch, Tier, Type, Value};
use std::cell::RefCell;

fn programs<S: Context<Static = S> + 'static>(workload: &Workload, tier: Tier) -> Vec<Program<S>> {
    let engine = Engine::builder().tier(tier).build();
    let env = Env::<S>::new();
    workload.sources().iter().map(|s| engine.compile(&env, s).expect("a rule that compiles")).collect()
}

/// A runner that evaluates programs on the context that `$context` builds from the input.
macro_rules! runner_on {
    ($programs:expr, $input:ident => $context:expr) => {{
        let programs = $programs;
        let truth = programs.iter().all(|p| *p.result_type() == Type::Bool);
        match <[_; 1]>::try_from(programs) {
            Ok([program]) if truth => Box::new(move |$input| program.test(&$context).map_or(u64::MAX, u64::from)),
            Ok([program]) => Box::new(move |$input| {
                thread_local!(static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new()));
                SCRATCH.with_borrow_mut(|scratch| match program.eval(&$context, scratch) {
                    Ok(Value::String(text)) => text.len() as u64,
                    _ => u64::MAX,
                })
            }),
            Err(programs) => Box::new(move |$input| {
                let context = $context;
                programs.iter().map(|p| p.test(&context).map_or(u64::MAX, u64::from)).sum()
            }),
        }
    }};
}

/// The workload's rules compiled for a tier: programs that run one after the other, or one set.
pub(crate) fn runner(workload: &Workload, tier: Tier) -> Runner {
    if workload.is_group() {
        return group(workload, tier);
    }
    match workload.name {
        _ if workload.reads_extras() => {
            runner_on!(programs::<Extras<'static>>(workload, tier), input => Extras::new(input))
        }
        "W12" => runner_on!(
            programs::<RequestContext<'static>>(workload, tier),
            input => RequestContext::new(&input.request).with_source(input.peer).with_body(&input.body)
        ),
        _ => runner_on!(
            programs::<RequestContext<'static>>(workload, tier),
            input => RequestContext::new(&input.request).with_source(input.peer)
        ),
    }
}

fn group(workload: &Workload, tier: Tier) -> Runner {
    let engine = Engine::builder().tier(tier).build();
    let env = Env::<RequestContext<'static>>::new();
    let rules = workload.sources().iter().fold(engine.rules(&env), |rules, s| rules.rule(s, s, ()));
    let set = rules.on_error(ErrorPolicy::Stop).build().expect("rules that compile");
    Box::new(move |input| {
        thread_local!(static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new()));
        let context = RequestContext::new(&input.request).with_source(input.peer);
        let count = SCRATCH.with_borrow_mut(|scratch| set.count(&context, scratch));
        count.map_or(u64::MAX, |count| count as u64)
    })
}
