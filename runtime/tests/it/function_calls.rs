//! How often functions of the host are called: at each evaluation, or when a rule is compiled.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{Bindings, Engine, Env, ErrorPolicy, Scratch, Tier, Type, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

#[test]
fn a_function_is_called_at_each_evaluation() {
    let load = Arc::new(AtomicI64::new(0));
    let now = Arc::clone(&load);
    let env = Env::dynamic().function("load", move |_: &str| now.load(Ordering::Relaxed));
    let context = Bindings::new(&env);
    for tier in TIERS {
        let engine = Engine::builder().tier(tier).build();
        let program = engine.compile(&env, "load('cpu') > 50").unwrap();
        let set = engine.rules(&env).rule("busy", "load('cpu') > 50", ()).build().unwrap();
        for (value, expected) in [(0, false), (90, true), (3, false)] {
            load.store(value, Ordering::Relaxed);
            assert_eq!(program.test(&context), Ok(expected), "{tier:?}, {value}");
            assert_eq!(set.any(&context, &mut Scratch::new()).unwrap(), expected, "{tier:?}, {value}");
        }
    }
}

/// An environment whose functions count their calls.
fn counting(calls: &Arc<AtomicUsize>, pure: bool) -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("yes", Type::Bool).variable("path", Type::String);
    let counted = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        move |n: i64| {
            calls.fetch_add(1, Ordering::Relaxed);
            n
        }
    };
    let (tick, tock) = (counted(calls), counted(calls));
    let env = if pure {
        env.pure_function("tick", tick).pure_method("tock", tock)
    } else {
        env.function("tick", tick).method("tock", tock)
    };
    env.define("twice(x: int) -> int", "tick(1) + tick(1) + x")
}

fn bindings(env: &Env<Bindings<'static>>) -> Bindings<'static> {
    let mut bindings = Bindings::new(env);
    bindings.set("yes", Value::Bool(true)).unwrap();
    bindings.set("path", Value::String("/")).unwrap();
    bindings
}

#[test]
fn calls_are_neither_folded_nor_shared_nor_repeated() {
    let calls = Arc::new(AtomicUsize::new(0));
    let env = counting(&calls, false);
    let context = bindings(&env);
    for (rule, expected) in [
        ("tick(1) == 1", 1),
        ("1.tock() == 1", 1),
        ("tick(1) == 1 && tick(1) == 1", 2),
        ("tick(1) == 2 || tick(1) == 1", 2),
        ("tick(1) == 1 || tick(1) == 1", 1),
        ("tick(1) == 1 || true", 1),
        ("!(false && tick(1) == 1)", 0),
        ("yes || tick(1) == 1", 0),
        ("yes ? tick(1) == 1 : tick(2) == 1", 1),
        ("[1, 2, 3].all(x, tick(7) == 7)", 3),
        ("[tick(1), tick(1), 1.tock()] == [1, 1, 1]", 3),
        ("twice(3) == 5", 2),
        ("twice(tick(1)) == 3", 3),
        // It needs memory.
        ("(string(tick(1)) + path + string(tick(1))).size() == 3", 2),
    ] {
        for tier in TIERS {
            let engine = Engine::builder().tier(tier).build();
            calls.store(0, Ordering::Relaxed);
            let program = engine.compile(&env, rule).unwrap();
            let explained = engine.explain(&env, rule).unwrap();
            assert!(explained.sections().all(|(title, _)| title != "folded calls"), "{rule} {tier:?}");
            assert_eq!(calls.load(Ordering::Relaxed), 0, "compiling {rule} {tier:?}");
            assert_eq!(program.test(&context), Ok(true), "{rule} {tier:?}");
            assert_eq!(calls.swap(0, Ordering::Relaxed), expected, "test of {rule} {tier:?}");
            assert_eq!(program.test_with(&context, &mut Scratch::new()), Ok(true), "{rule} {tier:?}");
            assert_eq!(calls.swap(0, Ordering::Relaxed), expected, "test_with of {rule} {tier:?}");
            assert!(program.eval(&context, &mut Scratch::new()).is_ok(), "{rule} {tier:?}");
            assert_eq!(calls.swap(0, Ordering::Relaxed), expected, "eval of {rule} {tier:?}");
            assert!(!program.is_pure() && program.calls_impure(), "{rule}");
        }
    }
}

/// Each rule of a set makes its own calls, and a rule that the index leaves out makes none.
#[test]
fn each_rule_of_a_set_makes_its_own_calls() {
    let calls = Arc::new(AtomicUsize::new(0));
    let env = counting(&calls, false);
    let context = bindings(&env);
    for tier in TIERS {
        for policy in [ErrorPolicy::Stop, ErrorPolicy::Match, ErrorPolicy::NoMatch] {
            let engine = Engine::builder().tier(tier).build();
            let rules = engine.rules(&env).on_error(policy);
            let rules = (0..4).fold(rules, |rules, n| rules.rule(&format!("same{n}"), "tick(1) == 1", ()));
            let elsewhere = |n: i32| format!("path == '/{n}' && tick(1) == 1");
            let rules = (0..100).fold(rules, |rules, n| rules.rule(&format!("path{n}"), &elsewhere(n), ()));
            let set = rules.build().unwrap();
            assert_eq!(calls.swap(0, Ordering::Relaxed), 0, "compiling, {tier:?}");
            assert_eq!(set.count(&context, &mut Scratch::new()).unwrap(), 4, "{tier:?} {policy:?}");
            assert_eq!(calls.swap(0, Ordering::Relaxed), 4, "{tier:?} {policy:?}");
        }
    }
}

#[test]
fn pure_calls_with_constants_are_made_at_compile_time() {
    let calls = Arc::new(AtomicUsize::new(0));
    let env = counting(&calls, true);
    let context = bindings(&env);
    for (rule, folded) in [
        ("tick(1) == 1 && tick(1) == 1", "tick(1) = 1\n"),
        ("yes && tick(4 - 2) == 2.tock()", "tick(2) = 2\ntock(2) = 2\n"),
        ("twice(0) == 2", "tick(1) = 1\n"),
    ] {
        let engine = Engine::builder().tier(Tier::Native).build();
        let program = engine.compile(&env, rule).unwrap();
        assert_ne!(calls.swap(0, Ordering::Relaxed), 0, "compiling {rule}");
        assert_eq!(program.test(&context), Ok(true), "{rule}");
        assert_eq!(calls.swap(0, Ordering::Relaxed), 0, "{rule}");
        assert!(program.is_pure(), "{rule}");
        let explained = engine.explain(&env, rule).unwrap();
        let section = explained.sections().find(|(title, _)| *title == "folded calls").unwrap();
        assert_eq!(section.1, folded, "{rule}");
    }
    let explained = Engine::new().explain(&env, "tick(path.size()) == 1").unwrap();
    assert!(explained.sections().all(|(title, _)| title != "folded calls"));
    let refusing = Env::dynamic().pure_function("refuse", |_: &str| Err::<i64, _>("never"));
    let explained = Engine::new().explain(&refusing, "refuse('x') == 1").unwrap();
    let section = explained.sections().find(|(title, _)| *title == "folded calls").unwrap();
    assert_eq!(section.1, "refuse(\"x\") = error host function failed\n");
}

/// As in version 4 of cel-go's optional types.
#[test]
fn the_target_of_opt_map_is_evaluated_once() {
    for tier in TIERS {
        let calls = Arc::new(AtomicUsize::new(0));
        let env = counting(&calls, false);
        let engine = Engine::builder().tier(tier).build();
        let source = "optional.of(tick(1)).optMap(n, n + n).value() == 2 && optional.of(tick(1)).optFlatMap(n, optional.of(n)).hasValue()";
        let program = engine.compile(&env, source).unwrap();
        assert_eq!(program.test(&Bindings::new(&env)), Ok(true));
        assert_eq!(calls.load(Ordering::Relaxed), 2, "{tier:?}");
    }
}
