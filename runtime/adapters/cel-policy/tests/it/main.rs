//! Policies, their environments and their tests.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, clippy::string_slice, reason = "tests")]

mod environments;
mod errors;
mod limits;
mod results;
mod tests_files;

use celero::settings::Tier;
use celero::{Bindings, Engine, Env, Program, Scratch, Type};
use celero_cel_policy::CelPolicy;

/// An environment with integers `a`, `b` and a value `d` of any type.
pub(crate) fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("a", Type::Int).variable("b", Type::Int).variable("d", Type::Dyn)
}

/// Compiles a policy in a tier.
pub(crate) fn compile(policy: &str, tier: Tier) -> Program<Bindings<'static>> {
    let engine = Engine::builder().tier(tier).build();
    CelPolicy::compile(&engine, &env(), policy).unwrap_or_else(|error| panic!("{policy}\n{}", error.render("p", false)))
}

/// The result of a policy as text, or the error and the text at its place; equal in both tiers.
pub(crate) fn result(policy: &str, a: i64, b: i64) -> String {
    let [native, interpreted] = [Tier::Native, Tier::Interpret].map(|tier| {
        let program = compile(policy, tier);
        let env = env();
        let mut bindings = Bindings::new(&env);
        bindings.set("a", a).unwrap();
        bindings.set("b", b).unwrap();
        bindings.set("d", "text").unwrap();
        let mut scratch = Scratch::new();
        match program.eval(&bindings, &mut scratch) {
            Ok(value) => value.to_string(),
            Err(error) => {
                let span = error.span();
                format!("{} at {:?}", error.kind, &policy[span.start as usize..span.end as usize])
            }
        }
    });
    assert_eq!(native, interpreted, "{policy}");
    native
}

/// The errors of a policy.
pub(crate) fn errors(policy: &str) -> String {
    let refused = CelPolicy::compile(&Engine::new(), &env(), policy);
    refused.err().unwrap_or_else(|| panic!("this compiles:\n{policy}")).render("policy.yaml", false)
}
