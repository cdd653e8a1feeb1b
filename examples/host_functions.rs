//! Functions of the host in rules: `cargo run -p celero-examples --bin host_functions`.

use celero::{Bindings, Engine, Env, ErrorKind, Type, Value};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

fn main() -> Result<(), Box<dyn Error>> {
    let plans = Arc::new(HashMap::from([("acme", "gold"), ("globex", "free")]));
    let counter = Arc::new(AtomicI64::new(0));
    let env = Env::dynamic()
        .variable("tenant", Type::String)
        .variable("amount", Type::Int)
        // Types follow from the closure's. An `Err` is an error of the rule. It is called at each evaluation.
        .function("plan", move |tenant: &str| {
            plans.get(tenant).map(|plan| plan.to_string()).ok_or_else(|| format!("no tenant `{tenant}`"))
        })
        // Called on a value: `amount.percent(20)`. Equal calls give equal results, so a call with
        // constants is made when the rule is compiled.
        .pure_method("percent", |amount: i64, of: i64| amount.saturating_mul(of) / 100)
        // Each call gives another value: two calls in a rule are two tickets.
        .function("ticket", move || counter.fetch_add(1, Ordering::Relaxed))
        // A function in CEL, for an expression that several rules share. It costs what its body costs.
        .define("isGold(tenant: string) -> bool", r#"plan(tenant) == "gold""#);
    assert!(env.problems().is_empty(), "{:?}", env.problems());

    let engine = Engine::new();
    let discount = engine.compile(&env, "isGold(tenant) && amount.percent(20) >= 50")?;
    let mut order = Bindings::new(&env);
    order.set("amount", Value::Int(250))?;
    for (tenant, expected) in [("acme", true), ("globex", false)] {
        order.set("tenant", Value::String(tenant))?;
        println!("{tenant}: {}", discount.test(&order)?);
        assert_eq!(discount.test(&order)?, expected);
    }

    // The error of a function is the error of the rule.
    order.set("tenant", Value::String("nobody"))?;
    let error = discount.test(&order).expect_err("there is no such tenant");
    println!("nobody: {error}");
    assert_eq!(error.kind, ErrorKind::Host);

    let ticket = engine.compile(&env, "ticket() != ticket()")?;
    assert!(ticket.test(&order)?);
    Ok(())
}
