//! Live rules from the outside: whatever has happened to them, they answer what a fresh set of the same rules answers.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::settings::SourceLimits;
use celero::{
    Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Limits, Live, Rule, RuleSet, Scratch, Tier, Type, Value,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, Weak};
use std::thread::ThreadId;
use std::time::Duration;

mod changes;
mod drops;
mod shadow;

#[derive(Context)]
struct Call<'a> {
    path: &'a str,
    size: i64,
    user: Option<String>,
}

fn call(path: &str, size: i64) -> Call<'_> {
    Call { path, size, user: (size % 2 == 0).then(|| "u".into()) }
}

type Rules = Live<Call<'static>, u64>;

const TIERS: [Tier; 3] = [Tier::Auto, Tier::Native, Tier::Interpret];
const POLICIES: [ErrorPolicy; 3] = [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop];
const LONG: Duration = Duration::from_secs(600);

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn live(tier: Tier) -> Rules {
    Live::new(engine(tier), Env::new())
}

fn matched(live: &Rules, call: &Call<'_>) -> Vec<String> {
    let (rules, mut scratch) = (live.load(), Scratch::new());
    let names = |rule: &usize| rules.get(*rule).unwrap().name.to_owned();
    rules.indices(call, &mut scratch).unwrap().iter().map(names).collect()
}

#[test]
fn no_rules_match_nothing() {
    for tier in TIERS {
        let live = live(tier);
        let (rules, scratch) = (live.load(), &mut Scratch::new());
        assert!(rules.is_empty());
        assert_eq!(rules.first(&call("/", 1), scratch), Ok(None));
        assert_eq!(rules.indices(&call("/", 1), scratch).unwrap(), [0_usize; 0]);
    }
}

#[test]
fn a_replacement_answers_at_once_and_becomes_native_code() {
    for tier in TIERS {
        let live = live(tier);
        let rules = |n: u64| format!("size == {n} || path == '/{n}'");
        let first = live.load().generation();
        live.replace(|set| (0..100).fold(set, |set, n| set.rule(&format!("r{n}"), &rules(n), n))).unwrap();
        assert_eq!(matched(&live, &call("/7", 30)), ["r7", "r30"]);
        let before = live.load();
        assert!(live.wait_idle(LONG));
        let status = live.status();
        assert_eq!(status.native_rules, if tier == Tier::Interpret { 0 } else { 100 }, "{status:?}");
        assert_eq!((status.rules, status.sets, status.is_working, status.failure), (100, 1, false, None));
        assert_eq!(matched(&live, &call("/7", 30)), ["r7", "r30"]);
        assert_eq!(before.count(&call("/7", 30), &mut Scratch::new()), Ok(2));
        if tier == Tier::Auto {
            // The replacement, and its native code, which may have been there before `before`.
            assert!(live.load().generation() > first + 1, "{} {first}", live.load().generation());
        }
    }
}

/// Through insertions, merges and replacements.
#[test]
fn rules_keep_policies_of_their_own() {
    for tier in TIERS {
        let live = live(tier);
        let fails = "1 / size == 1";
        live.replace(|set| {
            let set = set.on_error(ErrorPolicy::NoMatch).rule("a", fails, 0);
            set.with_rule(Rule::new("b", fails, 1).on_error(ErrorPolicy::Match))
        })
        .unwrap();
        for n in 0..40 {
            let own = [ErrorPolicy::NoMatch, ErrorPolicy::Match][n % 2];
            live.insert(Rule::new(&format!("r{n}"), fails, 2).on_error(own)).unwrap();
        }
        let right = |when| {
            let found = matched(&live, &call("/", 0));
            let mut expected = vec!["b".to_owned()];
            expected.extend((1..40).step_by(2).map(|n| format!("r{n}")));
            assert_eq!(found, expected, "{tier:?} {when}");
        };
        right("at once");
        assert!(live.wait_idle(LONG));
        right("afterwards");
        live.insert(Rule::new("stops", fails, 3).on_error(ErrorPolicy::Stop)).unwrap();
        let (rules, scratch) = (live.load(), &mut Scratch::new());
        assert_eq!(rules.count(&call("/", 0), scratch).map_err(|error| error.error.kind), Err(ErrorKind::DivideByZero));
        assert_eq!(rules.first(&call("/", 0), scratch).unwrap().map(|rule| rule.name), Some("b"));
    }
}

#[test]
fn a_moment_stays_what_it_was() {
    let live = live(Tier::Auto);
    live.replace(|set| set.rule("a", "true", 1)).unwrap();
    let reader = live.reader();
    let (old, scratch) = (reader.load(), &mut Scratch::new());
    live.insert(Rule::new("b", "true", 2)).unwrap();
    live.disable("a");
    live.replace(|set| set.rule("c", "size == 3", 3)).unwrap();
    assert_eq!(old.first(&call("/", 3), scratch).unwrap().map(|rule| (rule.name, *rule.action)), Some(("a", 1)));
    assert_eq!(old.iter().map(|rule| rule.name).collect::<Vec<_>>(), ["a"]);
    assert_eq!((old.source(0), old.len()), (Some("true"), 1));
    assert_eq!(matched(&live, &call("/", 3)), ["c"]);
    drop(live);
    assert_eq!(reader.load().count(&call("/", 3), scratch), Ok(1), "a reader outlives the rules' owner");
}

#[test]
fn a_rejected_change_changes_nothing() {
    let limits =
        Limits { source: SourceLimits { max_source_bytes: 40, ..SourceLimits::default() }, ..Limits::default() };
    for tier in TIERS {
        let live = Live::new(Engine::builder().tier(tier).limits(limits).build(), Env::<Call<'_>>::new());
        live.replace(|set| set.rule("a", "size > 1", 1).on_error(ErrorPolicy::Stop)).unwrap();
        live.shadow(1.0, |set| set.rule("a", "size > 1", 1), |_| ()).unwrap();
        assert!(live.wait_idle(LONG));
        let before = live.status();
        let long = format!("path == '{}'", "x".repeat(40));
        let errors = [
            live.replace(|set| set.rule("good", "true", 1).rule("bad", "size ==\n size +", 2)).unwrap_err(),
            live.insert(Rule::new("bad", "sizes > 1", 2)).unwrap_err(),
            live.edit(&["a"], [Rule::new("good", "true", 2), Rule::new("bad", "size", 3)]).unwrap_err(),
            live.insert(Rule::new("bad", &long, 2)).unwrap_err(),
            live.shadow(1.0, |set| set.rule("bad", "path", 2), |_| ()).unwrap_err(),
        ];
        for error in &errors {
            assert_eq!(error.rules().map(|(name, _)| name).collect::<Vec<_>>(), ["bad"]);
        }
        let [place, _, _, limit, _] = errors.map(|error| error.to_string());
        assert!(place.contains("bad:2:"), "{place}");
        assert!(limit.contains("40"), "{limit}");
        assert_eq!(live.status(), before, "{tier:?}");
        assert_eq!(live.load().on_error(), ErrorPolicy::Stop);
        assert_eq!(matched(&live, &call("/", 2)), ["a"]);
    }
}

#[test]
fn what_is_disabled_stays_so_until_it_is_enabled() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| set.rule("x", "size == 1", 1).rule("y", "size == 1", 2).rule("x", "path == '/'", 3))
            .unwrap();
        assert!(live.wait_idle(LONG));
        assert_eq!(matched(&live, &call("/", 1)), ["x", "y", "x"]);
        assert_eq!((live.disable("x"), live.load().len()), (2, 1));
        assert_eq!(live.load().first(&call("/", 1), &mut Scratch::new()).unwrap().map(|rule| *rule.action), Some(2));
        assert_eq!(live.load().get(0), None);
        live.insert(Rule::new("x", "true", 4)).unwrap();
        assert_eq!(matched(&live, &call("/", 1)), ["y"]);
        live.replace(|set| set.rule("y", "true", 1).rule("x", "true", 2).rule("z", "true", 3)).unwrap();
        assert_eq!(matched(&live, &call("/", 1)), ["y", "z"], "a replacement does not switch it on");
        assert!(live.wait_idle(LONG));
        assert_eq!(matched(&live, &call("/", 1)), ["y", "z"], "nor does native code");
        assert_eq!(live.disabled(), ["x"]);
        assert_eq!(live.enable("x"), 1);
        assert_eq!(matched(&live, &call("/", 1)), ["y", "x", "z"]);
        assert_eq!((live.disable("nobody"), live.enable("nobody"), live.disabled().len()), (0, 0, 0));
    }
}

#[test]
fn what_is_disabled_is_not_evaluated() {
    for tier in TIERS {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let env = Env::<Call<'_>>::new().function("costly", move |_: i64| {
            counter.fetch_add(1, Ordering::Relaxed);
            true
        });
        let live = Live::new(engine(tier), env);
        live.replace(|set| set.rule("a", "size == 0", 1).rule("costly", "costly(size)", 2).rule("b", "true", 3))
            .unwrap();
        assert!(live.wait_idle(LONG));
        let scratch = &mut Scratch::new();
        assert_eq!(live.load().count(&call("/", 1), scratch), Ok(2));
        assert_eq!(calls.swap(0, Ordering::Relaxed), 1, "{tier:?}");
        live.disable("costly");
        assert_eq!(live.load().count(&call("/", 1), scratch), Ok(1));
        assert_eq!(live.load().any(&call("/", 1), scratch), Ok(true));
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{tier:?}");
    }
}

#[test]
fn rules_of_other_variables_fail_in_every_set() {
    let env = Env::dynamic().variable("x", Type::Int);
    let other = Env::dynamic().variable("y", Type::Int);
    let live = Live::new(engine(Tier::Interpret), env);
    live.replace(|set| set.rule("a", "x == 1", 1).rule("b", "x == 1", 2).on_error(ErrorPolicy::Match)).unwrap();
    live.insert(Rule::new("c", "x == 1", 3).priority(-1)).unwrap();
    live.disable("a");
    let (rules, scratch) = (live.load(), &mut Scratch::new());
    assert_eq!(rules.count(&Bindings::new(&other), scratch), Ok(2));
    assert!(scratch.errors().iter().all(|error| error.error.kind == ErrorKind::Host));
    assert_eq!(rules.first(&Bindings::new(&other), scratch).unwrap().map(|rule| *rule.action), Some(3));
    assert_eq!(scratch.errors().len(), 1);
}

#[test]
fn inserted_rules_are_merged() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| (0..50).fold(set, |set, n| set.rule("r", &format!("size == {n}"), n))).unwrap();
        for n in 50..150 {
            live.insert(Rule::new(&format!("r{n}"), &format!("size == {n}"), n)).unwrap();
        }
        assert!(live.wait_idle(LONG));
        let status = live.status();
        assert!(status.sets <= 5, "{status:?}");
        assert_eq!(status.native_rules, if tier == Tier::Interpret { 0 } else { 150 });
        for n in 50..149 {
            assert_eq!(live.remove(&format!("r{n}")), 1);
        }
        assert!(live.wait_idle(LONG));
        assert!(live.status().native_rules <= 51 * 4 / 3, "{:?}", live.status());
        assert_eq!((live.remove("r"), live.load().len()), (50, 1));
        assert!(live.wait_idle(LONG));
        assert_eq!((live.remove("r149"), live.remove("r149"), live.status().sets), (1, 0, 0));
    }
}

#[test]
fn several_threads_may_change_rules() {
    let live = live(Tier::Auto);
    live.replace(|set| set.rule("base", "true", 0)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let live = &live;
            scope.spawn(move || {
                for n in 0..40 {
                    let name = format!("{thread}-{n}");
                    live.insert(Rule::new(&name, &format!("size >= {n}"), n)).unwrap();
                    assert!(n % 3 != 0 || live.remove(&name) == 1);
                    assert!(n % 3 != 1 || live.disable(&name) == 1);
                }
            });
        }
    });
    for settled in [false, true] {
        assert!(!settled || live.wait_idle(LONG));
        let mut names = matched(&live, &call("/", 20));
        names.sort();
        let kept = (0..4).flat_map(|thread| (0..=20).filter(|n| n % 3 == 2).map(move |n| format!("{thread}-{n}")));
        let mut want: Vec<String> = kept.chain(["base".to_owned()]).collect();
        want.sort();
        assert_eq!(names, want);
    }
}

#[test]
fn all_rules_have_one_policy() {
    let replace = |live: &Rules, policy| live.replace(|set| set.rule("base", "true", 0).on_error(policy)).unwrap();
    let (known, is_armed) = (Arc::new(OnceLock::<Weak<Rules>>::new()), Arc::new(AtomicBool::new(false)));
    // Called while the rule is compiled, because its argument is a constant: the rules are replaced
    // in the middle of that.
    let (of_env, armed) = (Arc::clone(&known), Arc::clone(&is_armed));
    let env = Env::new().pure_function("tick", move |_: i64| {
        if armed.swap(false, Ordering::Relaxed) {
            replace(&of_env.get().unwrap().upgrade().unwrap(), ErrorPolicy::Match);
        }
        true
    });
    let live = Arc::new(Live::new(engine(Tier::Native), env));
    known.set(Arc::downgrade(&live)).unwrap();
    replace(&live, ErrorPolicy::NoMatch);
    is_armed.store(true, Ordering::Relaxed);
    live.insert(Rule::new("fails", "tick(1) && 1 / (size - 1) == 1", 1)).unwrap();
    assert!(!is_armed.load(Ordering::Relaxed), "nothing was replaced");
    assert_eq!(live.load().on_error(), ErrorPolicy::Match);
    assert_eq!(matched(&live, &call("/", 1)), ["base", "fails"]);
}

#[test]
fn a_rule_that_is_left_out_hides_no_other() {
    for tier in TIERS {
        for policy in POLICIES {
            let live = live(tier);
            live.replace(|set| {
                let set = set.on_error(policy).rule("gone", "size == 1", 0).rule("fails", "1 / (size - 1) == 1", 1);
                (2..40).fold(set, |set, n| set.rule("r", "size == 1", n))
            })
            .unwrap();
            assert!(live.wait_idle(LONG));
            assert_eq!((live.remove("gone"), live.remove("fails"), live.wait_idle(LONG)), (1, 1, true));
            assert_eq!((live.status().sets, live.load().get(0)), (1, None), "they are still in the set");
            let (rules, scratch) = (live.load(), &mut Scratch::new());
            assert_eq!(rules.first(&call("/", 1), scratch).unwrap().map(|rule| *rule.action), Some(2));
            assert_eq!(rules.any(&call("/", 1), scratch), Ok(true));
            assert_eq!(rules.count(&call("/", 1), scratch), Ok(38));
            assert!(scratch.errors().is_empty());
        }
    }
}

#[test]
fn newer_replacements_overtake_older_ones() {
    let live = live(Tier::Auto);
    for round in 0..30_u64 {
        let rules = |n: u64| format!("size == {round} && path.contains('{n}-{round}') || size == {n}");
        live.replace(|set| (0..40).fold(set, |set, n| set.rule("r", &rules(n), round))).unwrap();
        let rules = live.load();
        let first = rules.first(&call("/", 5), &mut Scratch::new()).unwrap().map(|rule| *rule.action);
        assert_eq!(first, Some(round));
    }
    assert!(live.wait_idle(LONG));
    assert_eq!((live.status().native_rules, live.status().sets), (40, 1));
    assert_eq!(*live.load().get(0).unwrap().action, 29);
}

#[test]
fn warnings_have_the_handle_of_their_rule() {
    let live = live(Tier::Interpret);
    live.replace(|set| set.rule("a", "size == 7", 1)).unwrap();
    live.insert(Rule::new("b", "path == '/' || true", 2)).unwrap();
    let rules = live.load();
    let named: Vec<_> = rules.warnings().map(|(rule, warning)| (rules.get(rule).unwrap().name, warning.code)).collect();
    assert_eq!(named, [("b", "constant-condition")]);
    live.remove("b");
    assert_eq!(live.load().warnings().count(), 0);
}

#[test]
fn bindings_can_be_asked_about() {
    let env = Env::dynamic().variable("x", Type::Int);
    let live = Live::new(engine(Tier::Auto), env.clone());
    live.insert(Rule::new("a", "x == 4", "yes")).unwrap();
    let mut bindings = Bindings::new(&env);
    bindings.set("x", Value::Int(4)).unwrap();
    assert!(live.wait_idle(LONG));
    assert_eq!(live.load().first(&bindings, &mut Scratch::new()).unwrap().map(|rule| *rule.action), Some("yes"));
}
