//! Measures what a set of rules costs for given requests: how many rules are evaluated, how many
//! match, the time, and the share of each rule in it.

use crate::envs::Envs;
use crate::output::Paint;
use crate::output::units::number;
use crate::rules::file::RulesFile;
use celero::{Context, Engine, RuleSet, Scratch};
use celero_tooling::measure::fastest;
use celero_tooling::progress::Progress;
use serde_json::{Value as Json, json};
use std::fmt::{self, Write};
use std::time::Duration;

/// The time for which the set is measured.
const SET_TIME: Duration = Duration::from_millis(300);
/// The time for which each rule is measured.
const RULE_TIME: Duration = Duration::from_millis(3);
/// The largest number of rules that are measured standalone: those that are evaluated most often.
const MAX_RULES: usize = 200;
/// The largest number of requests with which a rule is measured.
const MAX_REQUESTS: usize = 100;
/// The largest number of rules in the text output.
const MAX_SHOWN: usize = 20;

/// The cost of a set for requests.
pub(crate) struct Cost {
    requests: usize,
    /// Nanoseconds per request in the fastest round, for all matches.
    all: f64,
    /// Nanoseconds per request in the fastest round, for the first match.
    first: f64,
    looked_at: usize,
    matched: usize,
    failed: usize,
    /// The rules that were measured standalone, most expensive first.
    rules: Vec<RuleCost>,
}

/// The cost of a rule.
struct RuleCost {
    number: usize,
    name: String,
    counts: Counts,
    /// Whether the index finds it. If not, it is evaluated for each request.
    indexed: bool,
    /// Nanoseconds of a standalone evaluation, for requests for which the set evaluates the rule.
    each: f64,
    /// Its share of the time of all measured rules.
    share: f64,
}

/// The number of requests for which a rule was evaluated, matched and failed.
#[derive(Clone, Copy, Default)]
struct Counts {
    looked_at: usize,
    matched: usize,
    failed: usize,
}

impl Cost {
    /// Measures the set of a file.
    ///
    /// # Errors
    /// Returns an error if there are no requests.
    pub(crate) fn measure<E: Context, C: Context<Static = E::Static>>(
        engine: &Engine,
        envs: &Envs<E>,
        (file, set): (&RulesFile, &RuleSet<E::Static, ()>),
        contexts: &[C],
    ) -> Result<Self, String> {
        if contexts.is_empty() {
            return Err("there is no request to measure with".to_owned());
        }
        let _progress = Progress::expecting("measuring the rules", SET_TIME.saturating_mul(2));
        let mut scratch = Scratch::new();
        let mut indexed = vec![true; set.len()];
        let mut counts = vec![Counts::default(); set.len()];
        for rule in set.unindexed() {
            if let (Some(indexed), Some(counts)) = (indexed.get_mut(rule), counts.get_mut(rule)) {
                *indexed = false;
                counts.looked_at = contexts.len();
            }
        }
        let mut add = |rule: usize, which: fn(&mut Counts) -> &mut usize| {
            if let Some(count) = counts.get_mut(rule).map(which) {
                *count = count.saturating_add(1);
            }
        };
        for context in contexts {
            set.candidates(context, &mut scratch).iter().for_each(|rule| add(*rule, |counts| &mut counts.looked_at));
            if let Ok(matched) = set.indices(context, &mut scratch) {
                matched.iter().for_each(|rule| add(*rule, |counts| &mut counts.matched));
            }
            scratch.errors().iter().for_each(|error| add(error.rule, |counts| &mut counts.failed));
        }
        let total = |of: fn(&Counts) -> usize| counts.iter().map(of).fold(0, usize::saturating_add);
        let (looked_at, matched, failed) = (total(|c| c.looked_at), total(|c| c.matched), total(|c| c.failed));
        let all = fastest(contexts, SET_TIME, |context| set.indices(context, &mut scratch).map(<[_]>::len));
        let first =
            fastest(contexts, SET_TIME, |context| set.first(context, &mut scratch).map(|found| found.is_some()));
        let rules = most_expensive(engine, envs, (file, set), &counts, &indexed, contexts);
        Ok(Self { requests: contexts.len(), all, first, looked_at, matched, failed, rules })
    }

    /// Returns a count per request.
    fn per_request(&self, count: usize) -> f64 {
        number(count) / number(self.requests)
    }

    /// Returns the cost as JSON.
    pub(crate) fn json(&self) -> Json {
        let rule = |rule: &RuleCost| {
            json!({
                "rule": rule.number,
                "name": rule.name,
                "indexed": rule.indexed,
                "looked_at": rule.counts.looked_at,
                "matched": rule.counts.matched,
                "failed": rule.counts.failed,
                "ns": rule.each,
                "share": rule.share,
            })
        };
        json!({
            "requests": self.requests,
            "ns_per_request": { "all": self.all, "first": self.first },
            "looked_at_per_request": self.per_request(self.looked_at),
            "matched_per_request": self.per_request(self.matched),
            "failed_per_request": self.per_request(self.failed),
            "hottest": self.rules.iter().map(rule).collect::<Vec<_>>(),
        })
    }
}

/// Measures the rules that are evaluated most often, each standalone with the requests for which the set evaluates it.
fn most_expensive<E: Context, C: Context<Static = E::Static>>(
    engine: &Engine,
    envs: &Envs<E>,
    (file, set): (&RulesFile, &RuleSet<E::Static, ()>),
    counts: &[Counts],
    indexed: &[bool],
    contexts: &[C],
) -> Vec<RuleCost> {
    let mut scratch = Scratch::new();
    let mut order: Vec<(usize, Counts)> = counts.iter().copied().enumerate().collect();
    order.retain(|(_, counts)| counts.looked_at > 0);
    order.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.looked_at));
    order.truncate(MAX_RULES);
    let mut positions = vec![None; counts.len()];
    for (position, (rule, _)) in order.iter().enumerate() {
        if let Some(slot) = positions.get_mut(*rule) {
            *slot = Some(position);
        }
    }
    let mut seen: Vec<Vec<&C>> = vec![Vec::new(); order.len()];
    for context in contexts {
        for &rule in set.candidates(context, &mut scratch) {
            let seen = positions.get(rule).copied().flatten().and_then(|position| seen.get_mut(position));
            if let Some(seen) = seen.filter(|seen| seen.len() < MAX_REQUESTS) {
                seen.push(context);
            }
        }
    }
    let mut rules = Vec::with_capacity(order.len());
    for ((rule, counts), mut seen) in order.into_iter().zip(seen) {
        let indexed = indexed.get(rule).copied().unwrap_or(false);
        if !indexed {
            seen = contexts.iter().take(MAX_REQUESTS).collect();
        }
        let Some(program) = file.rules.get(rule).and_then(|rule| {
            let env = envs.of(rule.language);
            engine.compile(env, &rule.source).ok()
        }) else {
            continue;
        };
        let each = fastest(&seen, RULE_TIME, |context| program.test(*context));
        let name = set.get(rule).map_or("", |rule| rule.name).to_owned();
        rules.push(RuleCost { number: rule, name, counts, indexed, each, share: 0.0 });
    }
    let time = |rule: &RuleCost| rule.each * number(rule.counts.looked_at);
    let total: f64 = rules.iter().map(time).sum();
    for rule in &mut rules {
        rule.share = time(rule) / total;
    }
    rules.sort_by(|a, b| b.share.total_cmp(&a.share));
    rules
}

impl Cost {
    /// Returns the cost as text: the time of a request, and the most expensive rules.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = self.write(&mut text, paint);
        text
    }

    fn write(&self, f: &mut String, paint: Paint) -> fmt::Result {
        writeln!(f, "{}  {}", paint.strong("requests"), self.requests)?;
        let (word, all, first) = (paint.strong("time"), self.all, self.first);
        writeln!(f, "{word}      {all:.0} ns per request for all matches, {first:.0} ns for the first match")?;
        let (looked_at, matched) = (self.per_request(self.looked_at), self.per_request(self.matched));
        let (word, failed) = (paint.strong("rules"), self.per_request(self.failed));
        writeln!(
            f,
            "{word}     {looked_at:.2} evaluated per request, of which {matched:.2} match and {failed:.2} fail"
        )?;
        let title = "most expensive rules, each measured standalone with the requests for which it is evaluated:";
        writeln!(f, "\n{}", paint.strong(title))?;
        writeln!(f, "{}", paint.faint("  share  evaluated  match  failed  ns each  rule"))?;
        for rule in self.rules.iter().take(MAX_SHOWN) {
            let Counts { looked_at, matched, failed } = rule.counts;
            let when = if rule.indexed { "" } else { "  (not indexed)" };
            let (share, each, number) = (rule.share * 100.0, rule.each, rule.number);
            let name = paint.name(&format!("`{}`", rule.name));
            let when = paint.faint(when);
            writeln!(f, "{share:>6.1}% {looked_at:>10} {matched:>6} {failed:>7} {each:>8.1}  {number} {name}{when}")?;
        }
        Ok(())
    }
}
