//! Compilations that are cancelled: they end soon, wherever they are, and change nothing.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::sets::RuleSetBuilder;
use celero::{Bindings, Engine, Env, ErrorPolicy, Live, RuleSet, RuleSetError, Scratch, Type, Value};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const RULES: usize = 160;

type Host = Env<Bindings<'static>>;
type Builder<'e> = RuleSetBuilder<'e, Bindings<'static>, ()>;

/// Rules of each way to be evaluated: found by the index, with a template for what remains, and by
/// the linear scan, in several functions.
fn rules<'e>(engine: &Engine, env: &'e Host) -> Builder<'e> {
    let rule = |n: usize| match n % 4 {
        0 => format!("path == '/{n}' && size(path) > {n}"),
        1 => format!("n == {n}"),
        _ => format!("n * {n} > n + {n} && !path.endsWith('x{n}')"),
    };
    (0..RULES).fold(engine.rules(env), |rules, n| rules.rule(&format!("r{n}"), &rule(n), ())).standalone(true)
}

fn env() -> Host {
    Env::dynamic().variable("path", Type::String).variable("n", Type::Int)
}

/// A function that returns true once, when it is asked after this number of questions; and the number of questions.
fn once_after(asked: usize) -> (Arc<AtomicUsize>, impl Fn() -> bool + Send + Sync + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    (count, move || counted.fetch_add(1, Ordering::Relaxed) == asked)
}

fn check(result: &Result<RuleSet<Bindings<'static>, ()>, RuleSetError>, when: usize) {
    let error = result.as_ref().err();
    assert!(error.is_some_and(RuleSetError::is_cancelled), "it went on to the end after question {when}");
    let error = error.unwrap();
    assert_eq!((error.rules().len(), error.diagnostics().count()), (0, 0));
    assert_eq!(error.to_string(), "the compilation of the rules was cancelled\n");
}

#[test]
fn a_set_is_cancelled_wherever_its_compilation_is() {
    let (engine, env) = (Engine::new(), env());
    let (asked, never) = once_after(usize::MAX);
    let set = rules(&engine, &env).cancel_if(never).build().unwrap();
    assert!(set.indexed_rules() > 0 && set.indexed_rules() < RULES, "{set:?}");
    let questions = asked.load(Ordering::Relaxed);
    // One for each rule; before the index, before the code, for each function and template of it, and at the end.
    assert!(questions >= RULES + 3 + 2 + 2, "{questions} questions");
    for when in (0..RULES).step_by(23).chain(RULES - 1..questions) {
        let (asked, function) = once_after(when);
        check(&rules(&engine, &env).cancel_if(function).build(), when);
        assert_eq!(asked.load(Ordering::Relaxed), when + 1, "what is cancelled stays so");
        let (_, function) = once_after(when);
        let explained = rules(&engine, &env).standalone(false).cancel_if(function).explain();
        assert!(explained.is_err_and(|error| error.is_cancelled()) || when >= RULES + 3, "{when}");
    }
}

#[test]
fn a_panic_of_the_function_goes_on_wherever_the_compilation_is() {
    let (engine, env) = (Engine::new(), env());
    let (asked, never) = once_after(usize::MAX);
    rules(&engine, &env).cancel_if(never).build().unwrap();
    let questions = asked.load(Ordering::Relaxed);
    for when in (0..RULES).step_by(23).chain(RULES - 1..questions) {
        let (_, function) = once_after(when);
        let planted = move || {
            assert!(!function(), "planted");
            false
        };
        let built = catch_unwind(AssertUnwindSafe(|| rules(&engine, &env).cancel_if(planted).build()));
        let text = built.err().and_then(|panic| panic.downcast_ref::<&str>().copied());
        assert_eq!(text, Some("planted"), "question {when} of {questions}");
    }
}

#[test]
fn a_compilation_on_two_threads_is_cancelled_wherever_it_is() {
    const MANY: usize = 300;
    const TEMPLATES: usize = 20;
    let (engine, env) = (Engine::builder().threads(NonZeroUsize::new(2).unwrap()).build(), env());
    let rule = |n: usize| format!("n == {n} && {}n * n > {n}", "n + ".repeat(n % TEMPLATES));
    let rules = || (0..MANY).fold(engine.rules(&env), |rules, n| rules.rule("r", &rule(n), ()));
    let (asked, never) = once_after(usize::MAX);
    assert_eq!(rules().cancel_if(never).build().unwrap().indexed_rules(), MANY);
    // One for each rule, before and after the index, for each template, for the rows, and at the end.
    let questions = asked.load(Ordering::Relaxed);
    assert!(questions >= MANY + 2 + TEMPLATES + 2, "{questions} questions");
    for when in MANY - 1..questions {
        check(&rules().cancel_if(once_after(when).1).build(), when);
        let (_, function) = once_after(when);
        let planted = move || {
            assert!(!function(), "planted");
            false
        };
        let built = catch_unwind(AssertUnwindSafe(|| rules().cancel_if(planted).build()));
        let text = built.err().and_then(|panic| panic.downcast_ref::<&str>().copied());
        assert_eq!(text, Some("planted"), "question {when} of {questions}");
    }
}

#[test]
fn a_large_set_of_rules_that_share_code_is_cancelled_soon() {
    const MANY: usize = 8_000;
    let (engine, env) = (Engine::new(), env());
    let (asked, never) = once_after(usize::MAX);
    let rule = |n: usize| format!("n == {n} && size(path) > {n}");
    let rules = (0..MANY).fold(engine.rules(&env), |rules, n| rules.rule("r", &rule(n), ()));
    rules.standalone(true).cancel_if(never).build().unwrap();
    // One for each rule; before the index, before and after the code, for each 1,024 rows.
    let questions = asked.load(Ordering::Relaxed);
    assert!(questions >= MANY + 3 + MANY / 1_024, "{questions} questions");
}

#[test]
fn little_is_done_after_a_set_is_cancelled() {
    // Counts the rules that were lowered and optimised: its calls are evaluated then.
    let folded = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&folded);
    let same = move |n: i64| {
        count.fetch_add(1, Ordering::Relaxed);
        n
    };
    let env = env().pure_function("same", same);
    for (threads, many) in [(1, 300), (3, 12_000)] {
        for when in [0, 1, 100, 290] {
            folded.store(0, Ordering::Relaxed);
            let engine = Engine::builder().threads(NonZeroUsize::new(threads).unwrap()).build();
            let (_, function) = once_after(when);
            let rules = (0..many).fold(engine.rules(&env), |set, n| set.rule("r", &format!("n == same({n})"), ()));
            check(&rules.cancel_if(function).build(), when);
            let folded = folded.load(Ordering::Relaxed);
            // The other threads may each be at a rule.
            assert!((when..when + threads).contains(&folded), "{folded} of {many} rules after question {when}");
        }
    }
}

#[test]
fn a_cancelled_set_reports_no_rules() {
    let (engine, env) = (Engine::new(), env());
    let wrong = |when| rules(&engine, &env).rule("wrong", "nothing == 1", ()).cancel_if(once_after(when).1).build();
    check(&wrong(RULES), RULES);
    check(&wrong(RULES + 1), RULES + 1);
    let error = wrong(usize::MAX).unwrap_err();
    assert!(!error.is_cancelled() && error.rules().map(|(name, _)| name).eq(["wrong"]), "{error}");
}

fn two_rules(set: Builder<'_>, when: usize) -> Builder<'_> {
    set.rule("new", "n == 3", ()).rule("newer", "n == 4", ()).cancel_if(once_after(when).1)
}

#[test]
fn a_cancelled_change_of_live_rules_changes_nothing() {
    let live = Live::new(Engine::new(), env());
    live.replace(|rules| rules.rule("old", "n == 1", ()).on_error(ErrorPolicy::NoMatch)).unwrap();
    live.shadow(1.0, |rules| rules.rule("candidate", "n == 2", ()), |_| ()).unwrap();
    assert!(live.wait_idle(Duration::from_secs(600)));
    let before = live.status();
    for when in [0, 1, 2] {
        let replaced = live.replace(|set| two_rules(set, when));
        assert!(replaced.is_err_and(|error| error.is_cancelled()), "{when}");
        let shadowed = live.shadow(1.0, |set| two_rules(set, when), |_| ());
        assert!(shadowed.is_err_and(|error| error.is_cancelled()), "{when}");
    }
    let after = live.status();
    assert_eq!((after.generation, after.rules, after.is_working), (before.generation, 1, false));
    assert_eq!((after.failure, after.shadow.map(|shadow| shadow.rules)), (None, Some(1)));
    let env = env();
    let mut call = Bindings::new(&env);
    call.set("n", Value::Int(1)).unwrap();
    assert!(live.load().any(&call, &mut Scratch::new()).unwrap());
    // Not asked any more once the change is made, while the background thread compiles.
    let (asked, function) = once_after(usize::MAX);
    live.replace(|set| set.rule("new", "n == 3", ()).cancel_if(function)).unwrap();
    let questions = asked.load(Ordering::Relaxed);
    assert!(live.wait_idle(Duration::from_secs(600)));
    assert_eq!((asked.load(Ordering::Relaxed), live.status().native_rules), (questions, 1));
}
