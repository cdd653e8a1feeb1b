//! What sets and live rules count is exact, whoever counts: several threads at once, scratches that
//! come and go, rules that are indexed, straight code or interpreted, and that are merged, added
//! and removed meanwhile.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

use celero::sets::Indexing;
use celero::{Bindings, Engine, Env, ErrorPolicy, Live, Rule, RuleSet, Scratch, Tier, Type, Value};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);
const THREADS: i64 = 4;
const ASKED: i64 = 500;
const RULES: i64 = 150;

type Dynamic = Env<Bindings<'static>>;

fn env() -> Dynamic {
    Env::dynamic().variable("a", Type::Int).variable("s", Type::String)
}

/// A rule that an index finds, one that it doesn't, and one that fails where `a` is 0.
fn source(n: i64) -> String {
    match n % 3 {
        0 => format!("s == 'x{n}'"),
        1 => format!("a % 7 == {} && a * a >= 0", n % 7),
        _ => format!("{n} / a > 1"),
    }
}

fn set(engine: &Engine, env: &Dynamic, policy: ErrorPolicy) -> RuleSet<Bindings<'static>, i64> {
    let rules = engine.rules(env).on_error(policy).index(Indexing::Always).counters(true);
    (0..RULES).fold(rules, |rules, n| rules.rule(&format!("r{n}"), &source(n), n)).build().unwrap()
}

fn bind<'a>(env: &Dynamic, n: i64, texts: &'a [String]) -> Bindings<'a> {
    let mut call = Bindings::new(env);
    call.set("a", Value::Int(n % 11)).unwrap();
    call.set("s", Value::String(&texts[usize::try_from(n % 90).unwrap()])).unwrap();
    call
}

fn texts() -> Vec<String> {
    (0..90).map(|n| format!("x{n}")).collect()
}

/// What threads were answered: by rule, matches and errors.
#[derive(Default)]
struct Tally {
    asked: u64,
    rules: Vec<(u64, u64)>,
}

impl Tally {
    fn new(rules: i64) -> Self {
        Self { asked: 0, rules: vec![(0, 0); usize::try_from(rules).unwrap()] }
    }

    fn take(&mut self, matched: impl Iterator<Item = usize>, scratch: &Scratch) {
        self.asked += 1;
        matched.for_each(|rule| self.rules[rule].0 += 1);
        scratch.errors().iter().for_each(|error| self.rules[error.rule].1 += 1);
    }

    fn add(mut self, other: Self) -> Self {
        self.asked += other.asked;
        self.rules.iter_mut().zip(other.rules).for_each(|(a, b)| *a = (a.0 + b.0, a.1 + b.1));
        self
    }
}

#[test]
fn sets_count_what_they_answer() {
    let (env, texts) = (env(), texts());
    for (tier, policy) in [
        (Tier::Native, ErrorPolicy::NoMatch),
        (Tier::Native, ErrorPolicy::Match),
        (Tier::Native, ErrorPolicy::Stop),
        (Tier::Interpret, ErrorPolicy::Match),
    ] {
        let set = set(&Engine::builder().tier(tier).build(), &env, policy);
        assert!(set.indexed_rules() >= 50 && set.indexed_rules() < 150);
        let texts = &texts;
        let work = |thread: i64| {
            let (mut scratch, mut tally) = (Scratch::new(), Tally::new(RULES));
            for n in thread..thread + ASKED {
                if n % 50 == 0 {
                    scratch = Scratch::new();
                }
                let call = bind(&env, n, texts);
                match n % 4 {
                    0 => {
                        let found = set.first(&call, &mut scratch).ok().flatten().map(|found| found.index);
                        tally.take(found.into_iter(), &scratch);
                    }
                    // Where an error stops the evaluation, what matched before it is counted and not told.
                    _ if policy == ErrorPolicy::Stop => drop(set.indices(&call, &mut scratch)),
                    _ => {
                        let matched = set.indices(&call, &mut scratch).unwrap().to_vec();
                        tally.take(matched.into_iter(), &scratch);
                    }
                }
            }
            tally
        };
        let told = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).reduce(Tally::add).unwrap()
        });
        let counts = set.counts().unwrap();
        assert_eq!(counts.evaluations, u64::try_from(THREADS * ASKED).unwrap(), "{tier:?} {policy:?}");
        assert!(counts.mean_time.unwrap() > Duration::ZERO);
        let counted: Vec<(u64, u64)> = counts.rules.iter().map(|rule| (rule.matches, rule.errors)).collect();
        let named = counts.rules.iter().enumerate();
        assert!(named.clone().all(|(index, rule)| rule.index == index && rule.name == format!("r{index}")));
        if policy == ErrorPolicy::Stop {
            assert!(counted.iter().any(|(_, errors)| *errors > 0));
            assert!(counted.iter().zip(&told.rules).all(|(counted, told)| counted.0 >= told.0 && counted.1 >= told.1));
        } else {
            assert_eq!((counted, told.asked), (told.rules, counts.evaluations), "{tier:?} {policy:?}");
            assert!(counts.rules[1].matches > 0 && counts.rules[2].errors > 0 && counts.rules[3].matches > 0);
        }
    }
}

#[test]
fn a_stop_ends_what_is_counted() {
    let env = env();
    let texts = texts();
    let rules = Engine::new().rules(&env).on_error(ErrorPolicy::Stop).counters(true);
    let set =
        rules.rule("yes", "a == 0", 0).rule("fails", "1 / a > 0", 1).rule("too late", "a == 0", 2).build().unwrap();
    let live = Live::with_counters(Engine::new(), env.clone());
    live.replace(|rules| rules.rule("too late", "a == 0", 2).on_error(ErrorPolicy::Stop)).unwrap();
    live.edit(&[], [Rule::new("yes", "a == 0", 0), Rule::new("fails", "1 / a > 0", 1).priority(-1)]).unwrap();
    live.edit(&["yes"], [Rule::new("yes", "a == 0", 0).priority(-2)]).unwrap();
    let mut scratch = Scratch::new();
    assert!(set.indices(&bind(&env, 0, &texts), &mut scratch).is_err());
    assert_eq!(
        live.load().indices(&bind(&env, 0, &texts), &mut scratch).unwrap_err().error.kind,
        celero::ErrorKind::DivideByZero
    );
    let rules = live.load();
    for counts in [set.counts().unwrap(), rules.counts().unwrap()] {
        let counted: Vec<_> = counts.rules.iter().map(|rule| (rule.name, rule.matches, rule.errors)).collect();
        assert_eq!(counted, [("yes", 1, 0), ("fails", 0, 1), ("too late", 0, 0)]);
    }
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let env = env();
    assert_eq!(Engine::new().rules(&env).rule("r", "true", ()).build().unwrap().counts(), None);
    let live = Live::<_, ()>::new(Engine::new(), env);
    assert_eq!(live.load().counts(), None);
}

/// Readers in several threads, while rules come, go, are switched off, and are merged in the background.
#[test]
fn live_rules_count_through_all_changes() {
    let env = env();
    let live = Live::with_counters(Engine::new(), env.clone());
    let kept = 20;
    live.replace(|rules| {
        let rules = rules.on_error(ErrorPolicy::NoMatch);
        (0..kept).fold(rules, |rules, n| rules.rule(&format!("kept{n}"), &source(n), n))
    })
    .unwrap();
    let texts = &texts();
    let reads = |thread: i64| {
        let (reader, mut scratch, mut tally) = (live.reader(), Scratch::new(), Tally::new(kept));
        for n in thread..thread + ASKED {
            let rules = reader.load();
            let matched = rules.indices(&bind(&env, n, texts), &mut scratch).unwrap();
            tally.asked += 1;
            let action = |rule: usize| usize::try_from(*rules.get(rule).unwrap().action).ok();
            for rule in matched.iter().filter_map(|&rule| action(rule)) {
                tally.rules[rule].0 += 1;
            }
            for rule in scratch.errors().iter().filter_map(|error| action(error.rule)) {
                tally.rules[rule].1 += 1;
            }
        }
        tally
    };
    let told = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || reads(thread))).collect();
        for n in 0..60 {
            live.edit(&[&format!("other{}", n - 5)], [Rule::new(&format!("other{n}"), &source(n), -1)]).unwrap();
            if n % 10 == 0 {
                live.disable("kept1");
                live.enable("kept1");
            }
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).reduce(Tally::add).unwrap()
    });
    assert!(live.wait_idle(LONG));
    let rules = live.load();
    let counts = rules.counts().unwrap();
    assert_eq!((counts.evaluations, counts.rules.len()), (told.asked, rules.len()));
    for (rule, number) in counts.rules.iter().filter_map(|rule| Some((rule, rule.name.strip_prefix("kept")?))) {
        let number: usize = number.parse().unwrap();
        assert_eq!((rule.matches, rule.errors), told.rules[number], "{}", rule.name);
    }
    assert!(told.rules[1].0 > 0 && told.rules[2].1 > 0);

    // What takes the place of a rule starts at zero, also where its counters were used before.
    let before = rules.counts().unwrap().evaluations;
    drop(rules);
    live.replace(|rules| (0..100).fold(rules, |rules, n| rules.rule("new", &source(n), n))).unwrap();
    assert!(live.wait_idle(LONG));
    let rules = live.load();
    let counts = rules.counts().unwrap();
    assert!(counts.rules.iter().all(|rule| (rule.matches, rule.errors) == (0, 0)));
    assert_eq!(counts.evaluations, before);
}
