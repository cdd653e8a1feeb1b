//! However a set finds out which of its rules match, the answer is that of each rule alone: for
//! rules as gateways have them over few words, so that they hit, fail and overlap; in sets of 1 to
//! 1,000; in every tier, mode and policy for errors; in any order, repeated, split in two, and
//! among a thousand others.
//!
//! Each rule of a pool is evaluated alone once a request; sets are drawn from the pool. A variant of a set is right if
//! its answers are those of its rules alone, which is also what makes it agree with the set it is a variant of.
//!
//! What a set must report: under [`ErrorPolicy::Match`] and [`ErrorPolicy::Stop`] exactly the
//! errors of its rules up to where the evaluation ends; under [`ErrorPolicy::NoMatch`] no others
//! than these, because a set need not look for failures that can't change the answer. Rules may
//! have policies of their own.
//!
//! `CELERO_SEED` gives other rules, sets and requests.

#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "tests")]
#![expect(clippy::indexing_slicing, reason = "indices of this test's own making")]

use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Engine, Env, ErrorKind, ErrorPolicy, EvalError, Rule, RuleError, RuleSet, Scratch, Tier};
use celero_tests::generate::Rng;
use celero_tests::generate::gateway::{ATOMS, Sample, never, rule, sample};
use celero_tests::generate::gateway_lists::{change, lists, rule_with_lists};
use celero_tests::shared::say;
use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Instant;

type Answer = Result<bool, EvalError>;
type Set = RuleSet<RequestContext<'static>, usize>;

/// A way to build sets.
struct Arm {
    name: &'static str,
    tier: Tier,
    indexing: Indexing,
}

const ARMS: &[Arm] = &[
    Arm { name: "native", tier: Tier::Native, indexing: Indexing::Auto },
    Arm { name: "native without an index", tier: Tier::Native, indexing: Indexing::Off },
    Arm { name: "native with all there is of an index", tier: Tier::Native, indexing: Indexing::Always },
    Arm { name: "interpreted with all there is of an index", tier: Tier::Interpret, indexing: Indexing::Always },
];

/// The policy of all rules of a set, or none: each has its own.
type Policy = Option<ErrorPolicy>;

const POLICIES: [Policy; 4] = [Some(ErrorPolicy::NoMatch), Some(ErrorPolicy::Match), Some(ErrorPolicy::Stop), None];

/// The policy of a rule, by its place in the pool.
fn policy_of(policy: Policy, rule: usize) -> ErrorPolicy {
    let own = [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop];
    policy.unwrap_or(own[rule % own.len()])
}

/// Rules alone over all samples.
struct Pool {
    sources: Vec<String>,
    /// Which kind of condition each is, if it is a single one.
    kinds: Vec<&'static str>,
    /// For each rule its answer to each sample, in native code and interpreted.
    answers: Vec<Vec<[Answer; 2]>>,
    samples: Vec<Sample>,
    env: Env<RequestContext<'static>>,
}

/// An answer with the text of what failed instead of its place: which of equal parts of a rule it
/// was, native code does not tell. Quotes and the case of names don't matter to equality.
fn as_text(answer: Answer, source: &str) -> Result<bool, (ErrorKind, String)> {
    answer.map_err(|e| {
        let text = source.get(e.start as usize..e.end as usize).unwrap_or_default();
        (e.kind, text.replace('\'', "\"").to_lowercase())
    })
}

impl Pool {
    fn new(rng: &mut Rng, rules: usize, samples: usize) -> Self {
        let samples: Vec<Sample> = (0..samples).map(|_| sample(rng)).collect();
        let env = Env::<RequestContext<'_>>::new();
        let mut pool = Self { sources: Vec::new(), kinds: Vec::new(), answers: Vec::new(), samples, env };
        let mut known = HashSet::new();
        let engines = [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
        let mut add = |source: String, kind: &'static str| {
            if !known.insert(source.clone()) {
                return;
            }
            let compile =
                |engine: &Engine| engine.compile(&pool.env, &source).unwrap_or_else(|e| panic!("{source}\n{e}"));
            let programs = engines.each_ref().map(compile);
            let answers = pool.samples.iter().map(|sample| {
                let answers = programs.each_ref().map(|program| program.test(&sample.context()));
                let [native, interpreted] = answers.map(|answer| as_text(answer, &source));
                assert_eq!(native, interpreted, "{source}\n{sample:?}");
                answers
            });
            pool.answers.push(answers.collect());
            pool.sources.push(source);
            pool.kinds.push(kind);
        };
        for (kind, write) in ATOMS {
            (0..8).for_each(|_| add(write(rng), kind));
        }
        let from = rules.saturating_sub(ATOMS.len() * 8);
        (0..from).for_each(|_| add(rule(rng), "rule"));
        pool
    }

    /// Adds rules that are false for every request.
    fn add_never(&mut self, many: usize) -> Vec<usize> {
        let first = self.sources.len();
        self.sources.extend((0..many).map(never));
        self.answers.extend((0..many).map(|_| vec![[Ok(false); 2]; self.samples.len()]));
        (first..first + many).collect()
    }

    fn build(&self, engine: &Engine, arm: &Arm, policy: Policy, rules: &[usize]) -> Set {
        let builder = engine.rules(&self.env).index(arm.indexing).on_error(policy.unwrap_or(ErrorPolicy::Stop));
        let builder = rules.iter().fold(builder, |builder, &rule| {
            let added = Rule::new("r", &self.sources[rule], rule);
            builder.with_rule(if policy.is_none() { added.on_error(policy_of(policy, rule)) } else { added })
        });
        builder.build().unwrap()
    }

    fn alone(&self, tier: Tier, rules: &[usize], sample: usize) -> Vec<Answer> {
        let of_tier = usize::from(tier == Tier::Interpret);
        rules.iter().map(|&rule| self.answers[rule][sample][of_tier]).collect()
    }
}

/// What a set must answer, from what its rules answer alone: the matches, and the errors up to the
/// end of the evaluation.
fn expected(alone: &[Answer], policies: &[ErrorPolicy], once: bool) -> (Result<Vec<usize>, RuleError>, Vec<RuleError>) {
    let (mut matched, mut errors) = (Vec::new(), Vec::new());
    for (rule, (answer, &policy)) in alone.iter().zip(policies).enumerate() {
        let matches = answer.unwrap_or(policy == ErrorPolicy::Match);
        if let Err(error) = *answer {
            errors.push(RuleError::new(rule, error));
            if policy == ErrorPolicy::Stop {
                return (Err(RuleError::new(rule, error)), errors);
            }
        }
        if matches {
            matched.push(rule);
            if once {
                break;
            }
        }
    }
    (Ok(matched), errors)
}

fn same<T: PartialEq + Debug>(mode: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{mode} answers {got:?}, the rules alone {want:?}")) }
}

/// Whether the reported errors are what they must be.
fn reported(mode: &str, policies: &[ErrorPolicy], got: &[RuleError], real: &[RuleError]) -> Result<(), String> {
    let mut left = real.iter();
    let mut right = got.iter().all(|error| left.any(|real| real == error));
    let matters = |error: &&RuleError| policies[error.rule] != ErrorPolicy::NoMatch;
    right &= got.iter().filter(matters).eq(real.iter().filter(matters));
    if right { Ok(()) } else { Err(format!("{mode} reports the errors {got:?}, the rules alone give {real:?}")) }
}

/// Asks a set in every mode.
fn ask(
    set: &Set,
    alone: &[Answer],
    policies: &[ErrorPolicy],
    sample: &Sample,
    scratch: &mut Scratch,
) -> Result<(), String> {
    let context = sample.context();
    let (all, errors) = expected(alone, policies, false);
    same("all", set.indices(&context, scratch).map(<[usize]>::to_vec), all.clone())?;
    reported("all", policies, scratch.errors(), &errors)?;
    same("count", set.count(&context, scratch), all.map(|all| all.len()))?;
    reported("count", policies, scratch.errors(), &errors)?;
    let (once, errors) = expected(alone, policies, true);
    let first = set.first(&context, scratch).map(|found| found.map(|found| found.index));
    same("first", first, once.clone().map(|once| once.first().copied()))?;
    reported("first", policies, scratch.errors(), &errors)?;
    same("any", set.any(&context, scratch), once.map(|once| !once.is_empty()))?;
    reported("any", policies, scratch.errors(), &errors)
}

/// What was asked, and what the rules alone say to it.
#[derive(Default)]
struct Asked {
    pairs: usize,
    truths: usize,
    errors: usize,
}

/// Evaluates sets and shows what is wrong with one as small as it can be made.
struct Check<'p> {
    pool: &'p Pool,
    engines: Vec<Engine>,
    scratch: Scratch,
    asked: Asked,
}

impl<'p> Check<'p> {
    fn new(pool: &'p Pool) -> Self {
        let engines = ARMS.iter().map(|arm| Engine::builder().tier(arm.tier).build()).collect();
        Self { pool, engines, scratch: Scratch::new(), asked: Asked::default() }
    }

    /// Asks a set of these rules about all samples, in every tier and mode.
    fn set(&mut self, rules: &[usize], policies: &[Policy]) -> Result<(), String> {
        for (arm, engine) in ARMS.iter().zip(&self.engines) {
            for &policy in policies {
                let set = self.pool.build(engine, arm, policy, rules);
                let of_rules: Vec<ErrorPolicy> = rules.iter().map(|&rule| policy_of(policy, rule)).collect();
                for sample in 0..self.pool.samples.len() {
                    let alone = self.pool.alone(arm.tier, rules, sample);
                    if let Err(wrong) = ask(&set, &alone, &of_rules, &self.pool.samples[sample], &mut self.scratch) {
                        return Err(self.explained(arm, engine, policy, rules, sample, &wrong));
                    }
                    self.asked.pairs += alone.len();
                    self.asked.truths += alone.iter().filter(|answer| **answer == Ok(true)).count();
                    self.asked.errors += alone.iter().filter(|answer| answer.is_err()).count();
                }
            }
        }
        Ok(())
    }

    /// The failure with as few rules as show it.
    fn explained(
        &self,
        arm: &Arm,
        engine: &Engine,
        policy: Policy,
        rules: &[usize],
        sample: usize,
        wrong: &str,
    ) -> String {
        let wrong_with = |rules: &[usize]| {
            let set = self.pool.build(engine, arm, policy, rules);
            let of_rules: Vec<ErrorPolicy> = rules.iter().map(|&rule| policy_of(policy, rule)).collect();
            let alone = self.pool.alone(arm.tier, rules, sample);
            ask(&set, &alone, &of_rules, &self.pool.samples[sample], &mut Scratch::new()).err()
        };
        let (rules, wrong) = shrunk(rules.to_vec(), wrong.to_owned(), wrong_with);
        let alone = self.pool.alone(arm.tier, &rules, sample);
        let listed = rules.iter().zip(alone).enumerate();
        let listed =
            listed.map(|(n, (&rule, alone))| format!("  {n}: {}\n     alone: {alone:?}\n", self.pool.sources[rule]));
        let (name, listed, sample) = (arm.name, listed.collect::<String>(), &self.pool.samples[sample]);
        let policy = policy.map_or("policies of their own".into(), |policy| format!("{policy:?}"));
        format!("{wrong}\n{name}, {policy}, rules:\n{listed}request:\n{sample:?}")
    }
}

/// Drops rules, many at once first, as long as something is wrong with those that are left.
fn shrunk(
    mut rules: Vec<usize>,
    mut wrong: String,
    wrong_with: impl Fn(&[usize]) -> Option<String>,
) -> (Vec<usize>, String) {
    let mut chunk = rules.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < rules.len() {
            let end = rules.len().min(at + chunk);
            let fewer = [&rules[..at], &rules[end..]].concat();
            match wrong_with(&fewer) {
                Some(still) => (rules, wrong) = (fewer, still),
                None => at = end,
            }
        }
        chunk /= 2;
    }
    (rules, wrong)
}

fn shuffled(rng: &mut Rng, rules: &[usize]) -> Vec<usize> {
    let mut rules = rules.to_vec();
    for i in (1..rules.len()).rev() {
        rules.swap(i, rng.below(i + 1));
    }
    rules
}

/// The set in another order, repeated, in two halves, and, if asked for, among rules that never
/// match. Of a large set only the halves, because of the time it takes to compile the others.
fn variants(rng: &mut Rng, rules: &[usize], never: &[usize]) -> Vec<Vec<usize>> {
    let (front, back) = rules.split_at(rules.len() / 2);
    let mut variants = vec![front.to_vec(), back.to_vec()];
    if rules.len() < 1_000 {
        variants.extend([shuffled(rng, rules), shuffled(rng, &[rules, rules].concat())]);
    }
    if !never.is_empty() {
        variants.push(shuffled(rng, &[rules, never].concat()));
    }
    variants
}

#[test]
fn sets_answer_as_their_rules_alone() {
    let start = Instant::now();
    let seed = std::env::var("CELERO_SEED").map_or(0x5e75, |seed| seed.parse().unwrap());
    let mut rng = Rng::new(seed);
    let mut pool = Pool::new(&mut rng, 2_300, 62);
    let real = pool.sources.len();
    let never = pool.add_never(1_000);
    say(&format!("rule sets: {real} rules alone over {} requests in {:.1?}", pool.samples.len(), start.elapsed()));
    let mut check = Check::new(&pool);
    let draw = |rng: &mut Rng, size: usize| -> Vec<usize> {
        let mut rules: Vec<usize> = (0..size).map(|_| rng.below(real)).collect();
        for at in 1..size {
            if rng.chance(10) {
                rules[at] = rules[rng.below(at)];
            }
        }
        rules
    };
    for (size, sets) in [(0, 1), (1, 60), (3, 40), (10, 16), (40, 5), (200, 1), (1000, 1)] {
        for nth in 0..sets {
            let rules = draw(&mut rng, size);
            check.set(&rules, &POLICIES).unwrap_or_else(|wrong| panic!("{wrong}"));
            if nth % 4 == 0 {
                let never = if size == 40 && nth == 0 { &never[..] } else { &[] };
                for (nth, variant) in variants(&mut rng, &rules, never).iter().enumerate() {
                    let policy = POLICIES[nth % POLICIES.len()];
                    check.set(variant, &[policy]).unwrap_or_else(|wrong| panic!("a variant: {wrong}"));
                }
            }
        }
    }
    let Asked { pairs, truths, errors } = check.asked;
    let falsities = pairs - truths - errors;
    say(&format!(
        "rule sets: {pairs} rules asked about requests: {truths} true, {falsities} false, {errors} errors in {:.1?}",
        start.elapsed()
    ));
    assert!(pairs >= 1_000_000, "{pairs}");
    for (what, count) in [("true", truths), ("false", falsities), ("errors", errors)] {
        assert!(count * 20 >= pairs, "{count} of {pairs} are {what}");
    }
}

#[test]
fn every_kind_of_condition_is_met_both_true_and_false() {
    let pool = Pool::new(&mut Rng::new(7), 0, 100);
    for (kind, _) in ATOMS {
        let answers = || {
            let of_kind = pool.kinds.iter().zip(&pool.answers).filter(|(of, _)| *of == kind);
            of_kind.flat_map(|(_, answers)| answers.iter().map(|[native, _]| *native))
        };
        let decides = *kind != "always fails";
        assert_eq!(answers().any(|a| a == Ok(true)), decides, "{kind}");
        assert_eq!(answers().any(|a| a == Ok(false)), decides, "{kind}");
    }
}

#[test]
fn a_wrong_answer_is_found_and_shown_with_its_rule_alone() {
    let mut pool = Pool::new(&mut Rng::new(8), 0, 12);
    let rules: Vec<usize> = (0..60).collect();
    Check::new(&pool).set(&rules, &POLICIES).unwrap();
    let of_rule = &mut pool.answers[41];
    let planted = of_rule.iter().position(|[native, _]| native.is_ok()).unwrap();
    of_rule[planted][0] = Ok(of_rule[planted][0] != Ok(true));
    let wrong = Check::new(&pool).set(&rules, &POLICIES).unwrap_err();
    assert!(wrong.contains(&format!("native, NoMatch, rules:\n  0: {}\n", pool.sources[41])), "{wrong}");
    assert!(!wrong.contains("\n  1: ") && wrong.contains(&format!("{:?}", pool.samples[planted])), "{wrong}");
}

/// What stands in the place of a header is looked at as a header would be: without regard to case,
/// where the pattern has none.
#[test]
fn defaults_are_found_as_values_are() {
    let env = Env::<RequestContext<'_>>::new();
    let request = http::Request::get("/").body(()).unwrap();
    let mut scratch = Scratch::new();
    for (default, pattern, want) in
        [("A-Bot/1", "(?i)^a-bot/", 1), ("a-bot/1", "(?i)^A-BOT/", 1), ("x", "(?i)^a-bot/", 0)]
    {
        let source = format!("default(request.headers['user-agent'], '{default}').matches('{pattern}')");
        let rules = Engine::new().rules(&env).rule("r", &source, 0).index(Indexing::Always).build().unwrap();
        assert_eq!(
            (rules.indexed_rules(), rules.count(&RequestContext::new(&request), &mut scratch)),
            (1, Ok(want)),
            "{source}"
        );
    }
}

/// Entries are no part of an index: it answers as the rules alone whenever a list has changed.
#[test]
fn sets_that_ask_lists_answer_as_their_rules_alone_while_the_lists_change() {
    let seed = std::env::var("CELERO_SEED").map_or(0x1157, |seed| seed.parse().unwrap());
    let mut rng = Rng::new(seed);
    let (mut truths, mut by_list) = (0, 0);
    for size in [6, 40, 200] {
        let (lists, mut scratch) = (lists(), Scratch::new());
        let env = Env::<RequestContext<'_>>::new().lists(&lists);
        let sources: Vec<String> = (0..size).map(|_| rule_with_lists(&mut rng)).collect();
        let engines = [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
        let alone = engines.each_ref().map(|engine| {
            let programs = sources.iter().map(|source| engine.compile(&env, source).unwrap_or_else(|e| panic!("{e}")));
            programs.collect::<Vec<_>>()
        });
        let mut sets = Vec::new();
        for arm in ARMS {
            for policy in POLICIES {
                let engine = &engines[usize::from(arm.tier == Tier::Interpret)];
                let builder = engine.rules(&env).index(arm.indexing).on_error(policy.unwrap_or(ErrorPolicy::Stop));
                let builder = sources.iter().enumerate().fold(builder, |builder, (rule, source)| {
                    builder.with_rule(Rule::new("r", source, rule).on_error(policy_of(policy, rule)))
                });
                if arm.indexing == Indexing::Always {
                    by_list += builder.explain().unwrap().to_string().matches(" is in the list ").count();
                }
                sets.push((arm, policy, builder.build().unwrap()));
            }
        }
        for _ in 0..12 {
            change(&mut rng, &lists).unwrap();
            for sample in (0..12).map(|_| sample(&mut rng)).collect::<Vec<_>>() {
                let answers = alone.each_ref().map(|programs| {
                    programs.iter().map(|program| program.test(&sample.context())).collect::<Vec<Answer>>()
                });
                truths += answers[0].iter().filter(|answer| **answer == Ok(true)).count();
                for (arm, policy, set) in &sets {
                    let of_rules: Vec<ErrorPolicy> = (0..size).map(|rule| policy_of(*policy, rule)).collect();
                    let of_tier = &answers[usize::from(arm.tier == Tier::Interpret)];
                    if let Err(wrong) = ask(set, of_tier, &of_rules, &sample, &mut scratch) {
                        panic!("{}, {policy:?}: {wrong}\n{sources:#?}\n{sample:?}\n{lists:?}", arm.name);
                    }
                }
            }
        }
    }
    assert!(truths > 1_000 && by_list > 500, "{truths} rules matched, {by_list} keys were lists");
}
