//! Live rules from the outside: whatever has happened to them, they answer what a fresh set of the same rules answers.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::{
    Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Limits, Live, Rule, RuleSet, Scratch, SourceLimits, Tier,
    Type, Value,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, Weak};
use std::thread::ThreadId;
use std::time::Duration;

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
    rules.all(call, &mut scratch).unwrap().iter().map(names).collect()
}

#[test]
fn no_rules_match_nothing() {
    for tier in TIERS {
        let live = live(tier);
        let (rules, scratch) = (live.load(), &mut Scratch::new());
        assert!(rules.is_empty());
        assert_eq!(rules.first(&call("/", 1), scratch), Ok(None));
        assert_eq!(rules.all(&call("/", 1), scratch).unwrap(), [0_usize; 0]);
    }
}

#[test]
fn a_replacement_answers_at_once_and_becomes_native_code() {
    for tier in TIERS {
        let live = live(tier);
        let rules = |n: u64| format!("size == {n} || path == '/{n}'");
        live.replace(|set| (0..100).fold(set, |set, n| set.rule(&format!("r{n}"), &rules(n), n))).unwrap();
        assert_eq!(matched(&live, &call("/7", 30)), ["r7", "r30"]);
        let before = live.load();
        assert!(live.settle(LONG));
        let status = live.status();
        assert_eq!(status.native_rules, if tier == Tier::Interpret { 0 } else { 100 }, "{status:?}");
        assert_eq!((status.rules, status.sets, status.is_working, status.failure), (100, 1, false, None));
        assert_eq!(matched(&live, &call("/7", 30)), ["r7", "r30"]);
        assert_eq!(before.count(&call("/7", 30), &mut Scratch::new()), Ok(2));
        if tier == Tier::Auto {
            assert!(live.load().generation() > before.generation());
        }
    }
}

/// Through insertions, merges and replacements.
#[test]
fn rules_keep_policies_of_their_own() {
    for tier in TIERS {
        let live = live(tier);
        let fails = "1 / size == 1";
        live.replace(|set| set.rule("a", fails, 0).with_rule(Rule::new("b", fails, 1).on_error(ErrorPolicy::Match)))
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
        assert!(live.settle(LONG));
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
        assert!(live.settle(LONG));
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
        assert!(live.settle(LONG));
        assert_eq!(matched(&live, &call("/", 1)), ["x", "y", "x"]);
        assert_eq!((live.disable("x"), live.load().len()), (2, 1));
        assert_eq!(live.load().first(&call("/", 1), &mut Scratch::new()).unwrap().map(|rule| *rule.action), Some(2));
        assert_eq!(live.load().get(0), None);
        live.insert(Rule::new("x", "true", 4)).unwrap();
        assert_eq!(matched(&live, &call("/", 1)), ["y"]);
        live.replace(|set| set.rule("y", "true", 1).rule("x", "true", 2).rule("z", "true", 3)).unwrap();
        assert_eq!(matched(&live, &call("/", 1)), ["y", "z"], "a replacement does not switch it on");
        assert!(live.settle(LONG));
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
        let env = Env::<Call<'_>>::new().impure_function("costly", move |_: i64| {
            counter.fetch_add(1, Ordering::Relaxed);
            true
        });
        let live = Live::new(engine(tier), env);
        live.replace(|set| set.rule("a", "size == 0", 1).rule("costly", "costly(size)", 2).rule("b", "true", 3))
            .unwrap();
        assert!(live.settle(LONG));
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

/// The rules as they should be.
#[derive(Default)]
struct Model {
    /// Priority, order of insertion, name, source.
    rules: Vec<(i32, u64, String, String)>,
    disabled: BTreeSet<String>,
    policy: ErrorPolicy,
    next: u64,
}

impl Model {
    fn insert(&mut self, priority: i32, name: &str, source: &str) -> u64 {
        self.next += 1;
        self.rules.push((priority, self.next, name.into(), source.into()));
        self.rules.sort();
        self.next
    }

    fn remove(&mut self, name: &str) -> usize {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.2 != name);
        before - self.rules.len()
    }

    fn fresh(&self, engine: &Engine, env: &Env<Call<'static>>) -> RuleSet<Call<'static>, u64> {
        let mut there: Vec<_> = self.rules.iter().filter(|rule| !self.disabled.contains(&rule.2)).collect();
        there.sort_by_key(|rule| rule.1);
        let rules = there.into_iter().fold(engine.rules(env).on_error(self.policy), |set, rule| {
            set.with_rule(tagged((Rule::new(&rule.2, &rule.3, rule.1).priority(rule.0), rule.1)))
        });
        rules.build().unwrap()
    }
}

/// Whether these are the same, in whatever order.
fn same<'t>(some: impl Iterator<Item = &'t str>, others: impl Iterator<Item = &'t str>) -> bool {
    let (mut some, mut others): (Vec<_>, Vec<_>) = (some.collect(), others.collect());
    some.sort_unstable();
    others.sort_unstable();
    some == others
}

/// A rule with tags that depend on its action.
fn tagged((rule, action): (Rule<u64>, u64)) -> Rule<u64> {
    let rule = if action.is_multiple_of(2) { rule.tag("even") } else { rule };
    if action.is_multiple_of(5) { rule } else { rule.tag(&format!("t{}", action % 3)) }
}

/// Compares every answer about some calls with those of a fresh set.
fn compare(live: &Rules, fresh: &RuleSet<Call<'static>, u64>, place: &str) {
    let rules = live.load();
    let order: Vec<u64> = rules.iter().map(|rule| *rule.action).collect();
    let want: Vec<u64> = (0..fresh.len()).map(|rule| *fresh.get(rule).unwrap().action).collect();
    assert_eq!((order, rules.len()), (want, fresh.len()), "{place}");
    let (mine, theirs) = (&mut Scratch::new(), &mut Scratch::new());
    let ours = |rule: usize| *rules.get(rule).unwrap().action;
    let other = |rule: usize| *fresh.get(rule).unwrap().action;
    for call in [call("/a", 0), call("/b", 1), call("/a/b", 2), call("/", 7)] {
        let errors = |mine: &Scratch, theirs: &Scratch| {
            let mine: Vec<_> = mine.errors().iter().map(|error| (ours(error.rule), error.error)).collect();
            let theirs: Vec<_> = theirs.errors().iter().map(|error| (other(error.rule), error.error)).collect();
            // A failure that changes nothing need not be found.
            if fresh.on_error() != ErrorPolicy::NoMatch {
                assert_eq!(mine, theirs, "{place}");
            }
        };
        let all = rules.all(&call, mine).map(|all| all.iter().map(|rule| ours(*rule)).collect::<Vec<_>>());
        let want = fresh.all(&call, theirs).map(|all| all.iter().map(|rule| other(*rule)).collect::<Vec<_>>());
        assert_eq!(all.map_err(|e| (ours(e.rule), e.error)), want.map_err(|e| (other(e.rule), e.error)), "{place}");
        errors(mine, theirs);
        let count = rules.count(&call, mine).map_err(|e| ours(e.rule));
        assert_eq!(count, fresh.count(&call, theirs).map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let first = rules.first(&call, mine).map(|found| found.map(|rule| (rule.name, *rule.action)));
        let want = fresh.first(&call, theirs).map(|found| found.map(|rule| (rule.name, *rule.action)));
        assert_eq!(first.map_err(|e| ours(e.rule)), want.map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let tags: Vec<Vec<&str>> = rules.iter().map(|rule| rules.tags(rule.index).collect()).collect();
        assert!((0..fresh.len()).zip(tags).all(|(rule, tags)| same(fresh.tags(rule), tags.into_iter())), "{place}");
        let first =
            rules.first_per_tag(&call, mine).map(|found| found.map(|(tag, m)| (tag, m.name, *m.action)).collect());
        let want = fresh
            .first_per_tag(&call, theirs)
            .map(|found| found.map(|(tag, m)| (tag, m.name, *m.action)).collect::<Vec<_>>());
        assert_eq!(first.map_err(|e| ours(e.rule)), want.map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let any = rules.any(&call, mine).map_err(|e| ours(e.rule));
        assert_eq!(any, fresh.any(&call, theirs).map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
    }
}

#[test]
fn changed_rules_answer_as_rebuilt_ones() {
    const SOURCES: [&str; 8] = [
        "path == '/a'",
        "size > 1",
        "path.startsWith('/a') && size < 2",
        "1 / size > 0",
        "user == 'u'",
        "10 / (size - 7) < 0 || path.contains('b')",
        "size % 2 == 0",
        "[1, 2, 3].exists(x, x == size)",
    ];
    for (tier, seed) in TIERS.into_iter().zip([3_u64, 5, 7]) {
        let (live, env, oracle) = (live(tier), Env::new(), engine(Tier::Interpret));
        let mut model = Model::default();
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for step in 0..250 {
            let name = format!("n{}", random(9));
            let source = SOURCES[random(8) as usize];
            let what = random(100);
            match what {
                0..3 => {
                    let count = random(90);
                    model.rules.clear();
                    model.policy = POLICIES[random(3) as usize];
                    let mut rules = Vec::new();
                    for _ in 0..count {
                        let (priority, name) = (random(3) as i32 - 1, format!("n{}", random(9)));
                        let source = SOURCES[random(8) as usize];
                        rules.push((model.insert(priority, &name, source), priority, name, source));
                    }
                    live.replace(|set| {
                        rules.iter().fold(set.on_error(model.policy), |set, (action, priority, name, source)| {
                            set.with_rule(tagged((Rule::new(name, source, *action).priority(*priority), *action)))
                        })
                    })
                    .unwrap();
                }
                3..55 => {
                    let priority = random(5) as i32 - 2;
                    let action = model.insert(priority, &name, source);
                    live.insert(tagged((Rule::new(&name, source, action).priority(priority), action))).unwrap();
                }
                55..70 => assert_eq!(live.remove(&name), model.remove(&name)),
                70..80 => {
                    let removed = model.remove(&name);
                    let (one, two) = (model.insert(0, &name, source), model.insert(1, "n0", source));
                    let added = [
                        tagged((Rule::new("n0", source, two).priority(1), two)),
                        tagged((Rule::new(&name, source, one), one)),
                    ];
                    let edit = live.edit(&[&name], added);
                    assert_eq!(edit.unwrap(), removed);
                }
                80..90 => {
                    let count = model.rules.iter().filter(|rule| rule.2 == name).count();
                    assert_eq!(live.disable(&name), count);
                    model.disabled.insert(name);
                }
                90..97 => {
                    let count = model.rules.iter().filter(|rule| rule.2 == name).count();
                    assert_eq!(live.enable(&name), count);
                    model.disabled.remove(&name);
                }
                _ => assert!(live.settle(LONG)),
            }
            compare(&live, &model.fresh(&oracle, &env), &format!("{tier:?}, step {step}: {what}"));
        }
        assert!(live.settle(LONG));
        compare(&live, &model.fresh(&oracle, &env), &format!("{tier:?}, settled"));
        assert_eq!(live.status().failure, None);
    }
}

#[test]
fn inserted_rules_are_merged() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| (0..50).fold(set, |set, n| set.rule("r", &format!("size == {n}"), n))).unwrap();
        for n in 50..150 {
            live.insert(Rule::new(&format!("r{n}"), &format!("size == {n}"), n)).unwrap();
        }
        assert!(live.settle(LONG));
        let status = live.status();
        assert!(status.sets <= 5, "{status:?}");
        assert_eq!(status.native_rules, if tier == Tier::Interpret { 0 } else { 150 });
        for n in 50..149 {
            assert_eq!(live.remove(&format!("r{n}")), 1);
        }
        assert!(live.settle(LONG));
        assert!(live.status().native_rules <= 51 * 4 / 3, "{:?}", live.status());
        assert_eq!((live.remove("r"), live.load().len()), (50, 1));
        assert!(live.settle(LONG));
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
        assert!(!settled || live.settle(LONG));
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
    // Called while the rule is compiled, because its argument is a constant: the rules are replaced in the middle of that.
    let (of_env, armed) = (Arc::clone(&known), Arc::clone(&is_armed));
    let env = Env::new().function("tick", move |_: i64| {
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
            assert!(live.settle(LONG));
            assert_eq!((live.remove("gone"), live.remove("fails"), live.settle(LONG)), (1, 1, true));
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
    assert!(live.settle(LONG));
    assert_eq!((live.status().native_rules, live.status().sets), (40, 1));
    assert_eq!(*live.load().get(0).unwrap().action, 29);
}

#[test]
fn a_candidate_is_asked_on_its_share() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| set.rule("a", "true", 1)).unwrap();
        for share in [0.0, 0.25, 0.001, 1.0, 7.0, f64::NAN] {
            live.shadow(share, |set| set.rule("a", "false", 1), |_| ()).unwrap();
            let scratch = &mut Scratch::new();
            for _ in 0..2000 {
                assert_eq!(live.load().any(&call("/", 1), scratch), Ok(true));
            }
            let want = if share.is_nan() { 0 } else { (share.clamp(0.0, 1.0) * 2000.0) as u64 };
            let shadow = live.status().shadow.unwrap();
            assert_eq!((shadow.rules, shadow.compared, shadow.different), (1, want, want), "a share of {share}");
        }
        assert!(live.end_shadow() && !live.end_shadow());
        assert_eq!(live.status().shadow, None);
    }
}

#[test]
fn differences_are_told_by_name() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| {
            set.rule("same", "size > 0", 1).rule("old", "path == '/'", 2).rule("fails", "1 / (size - 1) == 1", 3)
        })
        .unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let push = move |difference: &celero::Difference<'_>| log.lock().unwrap().push(difference.to_string());
        live.shadow(
            1.0,
            |set| {
                let set = set.rule("new", "path == '/'", 1).rule("fails", "size == 1", 2);
                set.rule("fails too", "1 % (size - 1) == 7", 3).rule("same", "0 < size", 4)
            },
            push,
        )
        .unwrap();
        for settled in [false, true] {
            assert!(!settled || live.settle(LONG));
            let (rules, scratch) = (live.load(), &mut Scratch::new());
            let told = || std::mem::take(&mut *seen.lock().unwrap());
            assert_eq!(rules.count(&call("/", 1), scratch), Ok(2));
            let [difference] = <[String; 1]>::try_from(told()).unwrap();
            let parts: Vec<&str> = difference.split(", ").collect();
            assert_eq!(parts[..3], ["gained `new`", "gained `fails`", "lost `old`"], "{difference}");
            assert!(
                parts[3].starts_with("failed `fails too`: ") && parts[4].starts_with("mended `fails`: "),
                "{difference}"
            );
            assert_eq!(scratch.errors().len(), 1, "the candidate's errors are its own");
            assert_eq!(rules.first(&call("/", 2), scratch).unwrap().map(|rule| rule.name), Some("same"));
            assert_eq!(told(), ["gained `new`, lost `same`"]);
            assert_eq!(rules.first(&call("/a", 2), scratch).unwrap().map(|rule| rule.name), Some("same"));
            assert_eq!(rules.any(&call("/a", 3), scratch), Ok(true));
            assert_eq!(rules.all(&call("/a", 3), scratch).unwrap(), [0]);
            assert!(told().is_empty());
            live.disable("new");
            live.disable("old");
            let rules = live.load();
            assert_eq!(rules.count(&call("/", 3), scratch), Ok(1));
            assert!(told().is_empty(), "what is disabled is so in both");
            live.enable("new");
            live.enable("old");
        }
        let native = live.status().shadow.unwrap().rules;
        assert!(live.promote() && !live.promote());
        assert_eq!((live.load().len(), native), (4, 4));
        assert_eq!(live.status().native_rules, if tier == Tier::Interpret { 0 } else { 4 }, "it is not compiled again");
        assert_eq!(matched(&live, &call("/", 2)), ["new", "same"]);
    }
}

/// Runs with panics that say nothing. They are a matter of the whole process: one test at a time.
fn quietly(body: impl FnOnce()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    std::panic::set_hook(hook);
    drop(alone);
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_panic_of_the_callback_is_contained() {
    quietly(|| {
        let live = live(Tier::Auto);
        live.replace(|set| set.rule("a", "true", 1)).unwrap();
        live.shadow(1.0, |set| set.rule("b", "true", 1), |_| std::panic::panic_any("callback")).unwrap();
        for _ in 0..3 {
            assert_eq!(matched(&live, &call("/", 1)), ["a"]);
        }
        assert_eq!(live.status().shadow.unwrap().different, 3);
    });
}

#[test]
fn a_panic_of_an_action_that_is_dropped_is_contained() {
    struct Bomb(Arc<AtomicUsize>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            std::panic::panic_any("dropped");
        }
    }
    quietly(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let live = Live::new(engine(Tier::Auto), Env::<Call<'_>>::new());
        for round in 0..5 {
            live.replace(|set| set.rule("a", "size == 1", Bomb(Arc::clone(&dropped)))).unwrap();
            live.insert(Rule::new("b", "size == 1", Bomb(Arc::clone(&dropped)))).unwrap();
            assert_eq!(live.remove("b"), 1);
            assert!(live.settle(LONG), "round {round}");
            assert_eq!(live.load().count(&call("/", 1), &mut Scratch::new()), Ok(1));
        }
        while dropped.load(Ordering::SeqCst) < 9 {
            std::thread::yield_now();
        }
        let reader = live.reader();
        drop(live);
        assert_eq!(reader.load().count(&call("/", 1), &mut Scratch::new()), Ok(1));
        // The last action goes with the reader, in this thread.
        std::mem::forget(reader);
    });
}

#[test]
fn a_reader_does_not_drop_what_it_was_the_last_to_hold() {
    struct Traced(Arc<Mutex<Vec<ThreadId>>>);
    impl Drop for Traced {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(std::thread::current().id());
        }
    }
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let live = Live::new(engine(Tier::Interpret), Env::<Call<'_>>::new());
    for _ in 0..20 {
        live.replace(|set| set.rule("a", "true", Traced(Arc::clone(&dropped)))).unwrap();
        let (reader, (loaded, wait)) = (live.reader(), (Barrier::new(2), Barrier::new(2)));
        let id = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let rules = reader.load();
                loaded.wait();
                wait.wait();
                drop(rules);
                std::thread::current().id()
            });
            loaded.wait();
            live.remove("a");
            assert!(dropped.lock().unwrap().is_empty(), "it is held");
            wait.wait();
            thread.join().unwrap()
        });
        while dropped.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_ne!(std::mem::take(&mut *dropped.lock().unwrap()), [id]);
    }
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
    assert!(live.settle(LONG));
    assert_eq!(live.load().first(&bindings, &mut Scratch::new()).unwrap().map(|rule| *rule.action), Some("yes"));
}
