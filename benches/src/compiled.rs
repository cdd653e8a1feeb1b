//! celero itself. The context is built for each evaluation, as a proxy would.

use crate::workload::Call;
use crate::{Runner, Workload};
use celero::{Engine, Env, Program, Scratch, Tier, Type, Value};
use std::cell::RefCell;

/// The workload's rules compiled for a tier, one program after the other.
pub(crate) fn runner(workload: &Workload, tier: Tier) -> Runner {
    let engine = Engine::builder().tier(tier).build();
    let env = Env::<Call<'static>>::new();
    let programs: Vec<Program<Call<'static>>> =
        workload.sources().iter().map(|s| engine.compile(&env, s).expect("a rule that compiles")).collect();
    let truth = programs.iter().all(|p| *p.result_type() == Type::Bool);
    match <[_; 1]>::try_from(programs) {
        Ok([program]) if truth => Box::new(move |input| program.test(&Call::new(input)).map_or(u64::MAX, u64::from)),
        Ok([program]) => Box::new(move |input| {
            thread_local!(static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new()));
            SCRATCH.with_borrow_mut(|scratch| match program.eval(&Call::new(input), scratch) {
                Ok(Value::String(text)) => text.len() as u64,
                _ => u64::MAX,
            })
        }),
        Err(programs) => Box::new(move |input| {
            let call = Call::new(input);
            programs.iter().map(|p| p.test(&call).map_or(u64::MAX, u64::from)).sum()
        }),
    }
}
