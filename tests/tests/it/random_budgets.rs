//! What a small budget of steps means in a set: a rule gives what it gives with an unlimited
//! budget, or its budget is spent; and it is spent only if the rule alone spends it, in one tier at
//! least. For random rules, many of which search a long text, with and without an index.
//!
//! `CELERO_SEED` gives other rules and requests.

#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]
#![expect(clippy::indexing_slicing, reason = "indices of this test's own making")]

use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Engine, Env, ErrorKind, ErrorPolicy, Limits, Program, RuleSet, Scratch, Tier};
use celero_tests::generate::Rng;
use celero_tests::generate::gateway::{Sample, rule, sample};
use std::collections::HashMap;

/// What a rule gives: places apart, which the tiers tell differently.
type Outcome = Result<bool, ErrorKind>;
type Set = RuleSet<RequestContext<'static>, ()>;

const RULES: usize = 100;
const SAMPLES: usize = 20;
const BUDGETS: [u32; 5] = [0, 1, 8, 64, 1_000];
const TIERS: [Tier; 2] = [Tier::Native, Tier::Interpret];
const NEEDLES: usize = 12;

/// A condition on a long text.
fn long(rng: &mut Rng) -> String {
    let (text, n) = ("request.headers['x-long']", rng.below(NEEDLES));
    match rng.below(8) {
        0 | 1 => format!("{text}.contains('needle-{n};')"),
        2 => format!("{text}.matches('needle-{n};')"),
        3 => format!("{text}.matches('[0-9] needle-{n};.*x')"),
        4 => format!("{text}.matches('^[a-z0-9 ;-]*needle-{n};')"),
        5 => format!("{text}.lowerAscii().contains('needle-{n};')"),
        6 => format!("{text}.endsWith('needle-{n};')"),
        _ => format!("!{text}.contains('needle-{n};')"),
    }
}

fn long_rule(rng: &mut Rng) -> String {
    let condition = long(rng);
    match rng.below(6) {
        0 => format!("'x-long' in request.headers && {condition}"),
        1 => format!("{condition} && ({})", rule(rng)),
        2 => format!("({}) && {condition}", rule(rng)),
        3 => format!("{condition} || {}", long(rng)),
        4 => format!("request.method == 'GET' && {condition}"),
        _ => condition,
    }
}

/// A request, often with a long text.
fn long_sample(rng: &mut Rng) -> Sample {
    let mut sample = sample(rng);
    if rng.chance(80) {
        let mut text = "0 abc ".repeat(rng.below(1_000));
        for _ in 0..3 {
            text.insert_str(rng.below(text.len().saturating_add(1)), &format!("1 needle-{};", rng.below(NEEDLES)));
        }
        sample.request.headers_mut().insert("x-long", text.parse().unwrap());
    }
    sample
}

fn engine(tier: Tier, steps: Option<u32>) -> Engine {
    let default = Limits::default();
    Engine::builder().tier(tier).limits(Limits { steps: steps.unwrap_or(default.steps), ..default }).build()
}

fn outcome(program: &Program<RequestContext<'static>>, sample: &Sample) -> Outcome {
    program.test(&sample.context()).map_err(|error| error.kind)
}

/// Of a rule: what it gives without a limit, and alone with the budget in each tier.
#[derive(Clone, Copy, Debug)]
struct Alone {
    unlimited: Outcome,
    limited: [Outcome; 2],
}

impl Alone {
    fn is_spent(&self) -> bool {
        self.limited.contains(&Err(ErrorKind::OutOfBudget))
    }

    fn allows(&self, got: Outcome) -> bool {
        got == self.unlimited || got == Err(ErrorKind::OutOfBudget) && self.is_spent()
    }
}

/// How often rules were within their budgets, exceeded them in a set, and did not exceed them there
/// though they do alone.
#[derive(Debug, Default)]
struct Counts {
    within: usize,
    spent: usize,
    only_alone: usize,
}

/// What a set gives for each rule as far as it says so, and whether that is right.
fn check(
    set: &Set,
    alone: &[Alone],
    sample: &Sample,
    scratch: &mut Scratch,
    counts: &mut Counts,
) -> Result<(), String> {
    let policy = set.on_error();
    let context = sample.context();
    let result = set.indices(&context, scratch).map(<[usize]>::to_vec);
    let errors: HashMap<usize, ErrorKind> =
        scratch.errors().iter().map(|error| (error.rule, error.error.kind)).collect();
    let (matched, end) = match &result {
        Ok(matched) => (matched.as_slice(), alone.len()),
        Err(error) if policy == ErrorPolicy::Stop && errors.len() == 1 => (&[][..], error.rule),
        Err(error) => return Err(format!("the evaluation ends at {error:?}")),
    };
    for (rule, alone) in alone.iter().enumerate() {
        let got = match errors.get(&rule) {
            Some(kind) => Err(*kind),
            // What was before the end is not reported, but did not fail.
            None if rule >= end => continue,
            None if result.is_err() => match alone.unlimited {
                Ok(_) => continue,
                Err(_) => return Err(format!("rule {rule} did not fail: {alone:?}")),
            },
            None => Ok(matched.contains(&rule)),
        };
        // Failures that change nothing need not be reported.
        let silent = policy == ErrorPolicy::NoMatch && got == Ok(false);
        if !alone.allows(got) && !(silent && (alone.unlimited.is_err() || alone.is_spent())) {
            return Err(format!("rule {rule} gives {got:?}: {alone:?}"));
        }
        if got.is_err() && matched.contains(&rule) != (policy == ErrorPolicy::Match) {
            return Err(format!("rule {rule} fails, and counts as another result"));
        }
        if silent && alone.is_spent() {
            // Whether it failed is not told.
            continue;
        }
        match (got, alone.is_spent()) {
            (Err(ErrorKind::OutOfBudget), _) => counts.spent += 1,
            (_, true) => counts.only_alone += 1,
            (_, false) => counts.within += 1,
        }
    }
    // The other modes: a spent budget leaves two results.
    let fails = |alone: &Alone| alone.unlimited.is_err() || alone.is_spent();
    let may = |alone: &Alone| alone.unlimited == Ok(true) || policy == ErrorPolicy::Match && fails(alone);
    let must = |alone: &Alone| may(alone) && !alone.is_spent();
    let first = set.first(&context, scratch).map(|found| found.map(|found| found.index));
    let (right, end) = match &first {
        Ok(Some(rule)) => (may(&alone[*rule]), *rule),
        Ok(None) => (true, alone.len()),
        Err(error) => (policy == ErrorPolicy::Stop && fails(&alone[error.rule]), error.rule),
    };
    if !right || alone[..end].iter().any(must) {
        return Err(format!("the first rule is {first:?}"));
    }
    let of = |is: &dyn Fn(&Alone) -> bool| alone.iter().filter(|alone| is(alone)).count();
    let right = match set.count(&context, scratch) {
        Ok(count) => (of(&must)..=of(&may)).contains(&count),
        Err(error) => policy == ErrorPolicy::Stop && fails(&alone[error.rule]),
    };
    if !right {
        return Err("another number of rules matches".to_owned());
    }
    match set.any(&context, scratch) {
        Ok(true) if !alone.iter().any(may) => Err("any rule matches".to_owned()),
        Ok(false) if alone.iter().any(must) => Err("no rule matches".to_owned()),
        _ => Ok(()),
    }
}

#[test]
fn a_set_gives_what_rules_give_without_a_limit_or_spends_their_budgets_as_they_do() {
    let seed = std::env::var("CELERO_SEED").map_or(0xb0d9, |seed| seed.parse().unwrap());
    let rng = &mut Rng::new(seed);
    let env = Env::<RequestContext<'static>>::new();
    let sources: Vec<String> = (0..RULES).map(|n| if n % 3 == 0 { rule(rng) } else { long_rule(rng) }).collect();
    let samples: Vec<Sample> = (0..SAMPLES).map(|_| long_sample(rng)).collect();
    let compiled = |engine: Engine| -> Vec<Program<_>> {
        sources.iter().map(|source| engine.compile(&env, source).unwrap_or_else(|error| panic!("{error}"))).collect()
    };
    let unlimited = compiled(engine(Tier::Native, None));
    let (mut counts, mut scratch) = (Counts::default(), Scratch::new());
    for steps in BUDGETS {
        let limited = TIERS.map(|tier| compiled(engine(tier, Some(steps))));
        let of_sample = |sample: &Sample| -> Vec<Alone> {
            let rule = |(rule, unlimited): (usize, &Program<_>)| {
                let unlimited = outcome(unlimited, sample);
                let limited = limited.each_ref().map(|programs| outcome(&programs[rule], sample));
                for limited in limited {
                    let same = limited == unlimited || limited == Err(ErrorKind::OutOfBudget);
                    assert!(same, "{}: {limited:?} with {steps} steps, {unlimited:?}", sources[rule]);
                }
                Alone { unlimited, limited }
            };
            unlimited.iter().enumerate().map(rule).collect()
        };
        let alone: Vec<Vec<Alone>> = samples.iter().map(of_sample).collect();
        for tier in TIERS {
            let engine = engine(tier, Some(steps));
            for indexing in [Indexing::Auto, Indexing::Always, Indexing::Off] {
                for policy in ErrorPolicy::ALL {
                    let rules = engine.rules(&env).index(indexing).on_error(policy);
                    let set = sources.iter().fold(rules, |rules, source| rules.rule("r", source, ())).build().unwrap();
                    for (sample, alone) in samples.iter().zip(&alone) {
                        check(&set, alone, sample, &mut scratch, &mut counts).unwrap_or_else(|wrong| {
                            let listed: Vec<_> = sources.iter().enumerate().collect();
                            panic!(
                                "{tier:?}, {indexing:?}, {policy:?}, {steps} steps: {wrong}\n{listed:#?}\n{sample:?}"
                            )
                        });
                    }
                }
            }
        }
    }
    assert!(counts.within > 50_000 && counts.spent > 3_000 && counts.only_alone > 1_000, "{counts:?}");
}
