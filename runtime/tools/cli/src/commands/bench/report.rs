//! What `celero bench` prints.

use super::measure::Measured;
use super::subject::Subject;
use crate::evaluate::cost::Cost;
use crate::input::source::Source;
use crate::output::Paint;
use crate::output::units::{bytes, counted, grouped, rate};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::time::Duration;

/// The largest number of different answers that are shown.
const MAX_SHOWN: usize = 5;

/// What is known of a source before it is measured.
pub(crate) struct About {
    pub(crate) name: String,
    /// Of a file of rules: how many, how many are indexed, how many are native code.
    pub(crate) rules: Option<(usize, usize, usize)>,
    pub(crate) policy_rules: Option<usize>,
    pub(crate) build: Duration,
    /// Bytes of machine code.
    pub(crate) code: Option<usize>,
    /// Bytes of the index.
    pub(crate) index: Option<usize>,
}

impl About {
    pub(crate) fn new(source: &Source) -> Self {
        let name = source.argument().map_or_else(|| source.name.clone(), |text| format!("-e '{text}'"));
        Self { name, rules: None, policy_rules: None, build: Duration::ZERO, code: None, index: None }
    }

    fn summary(&self) -> String {
        let mut parts = Vec::new();
        if let Some((rules, indexed, native)) = self.rules {
            parts.push(format!("{}, {indexed} indexed, {native} native", counted(rules, "rule")));
        }
        if let Some(rules) = self.policy_rules {
            parts.push(counted(rules, "rule"));
        }
        parts.push(format!("built in {:.1} ms", self.build.as_secs_f64() * 1e3));
        parts.extend(self.code.map(|count| format!("{} of code", bytes(count))));
        parts.extend(self.index.map(|count| format!("{} of index", bytes(count))));
        parts.join(", ")
    }
}

/// All that was measured.
pub(crate) struct Report<'a> {
    pub(crate) about: Vec<About>,
    pub(crate) subjects: Vec<Subject<'a>>,
    /// By subject.
    pub(crate) measured: Vec<Measured>,
    /// The file of requests.
    pub(crate) requests: Option<String>,
    /// By request: what it is.
    pub(crate) labels: Vec<String>,
    /// By source.
    pub(crate) costs: Vec<Option<Cost>>,
    pub(crate) compare: bool,
}

impl Report<'_> {
    /// Returns the subjects of a source with what was measured.
    pub(crate) fn of_source(&self, source: usize) -> impl Iterator<Item = (&Subject<'_>, &Measured)> {
        self.subjects.iter().zip(&self.measured).filter(move |(subject, _)| subject.source == source)
    }

    /// Returns the first subject of each source: the one that is compared.
    fn firsts(&self) -> Vec<&Measured> {
        (0..self.about.len()).filter_map(|source| Some(self.of_source(source).next()?.1)).collect()
    }

    /// Returns whether the tiers gave different answers.
    pub(crate) fn tiers_differ(&self) -> bool {
        (0..self.about.len()).any(|source| !self.differences_of_tiers(source).is_empty())
    }

    fn differences_of_tiers(&self, source: usize) -> Vec<usize> {
        let mut subjects = self.of_source(source).filter(|(subject, _)| subject.is_same).map(|(_, measured)| measured);
        let Some(first) = subjects.next() else { return Vec::new() };
        subjects.flat_map(|other| differences(first, other)).collect()
    }

    /// Returns whether sources gave different answers.
    pub(crate) fn sources_differ(&self) -> bool {
        let firsts = self.firsts();
        firsts
            .split_first()
            .is_some_and(|(first, others)| others.iter().any(|other| !differences(first, other).is_empty()))
    }

    /// Returns the report as text.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = self.write(&mut text, paint);
        text
    }

    fn write(&self, out: &mut String, paint: Paint) -> std::fmt::Result {
        let requests = self.labels.len();
        let from = self.requests.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
        let plural = if requests == 1 { "" } else { "s" };
        for (number, about) in self.about.iter().enumerate() {
            writeln!(out, "{}  {}", paint.strong(&about.name), paint.faint(&about.summary()))?;
            if let Some((_, measured)) = self.of_source(number).next() {
                self.write_first(out, measured, paint)?;
            }
            for (subject, measured) in self.of_source(number) {
                let (low, high) = (grouped(measured.quantile(0.05)), grouped(measured.quantile(0.95)));
                let time = paint.strong(&format!("{:>10} ns", grouped(measured.median())));
                writeln!(out, "  {:<16} {time}  {}", subject.name, paint.faint(&format!("{low} to {high}")))?;
            }
            let differ = self.differences_of_tiers(number);
            match differ.first() {
                None if self.of_source(number).nth(1).is_some() => {
                    writeln!(out, "  {}", paint.good("native code and interpreter give the same answers"))?;
                }
                None => {}
                Some(request) => {
                    let label = self.labels.get(*request).map_or("", String::as_str);
                    writeln!(out, "  {}: {label}", paint.bad("native code and interpreter give different answers"))?;
                }
            }
            if let Some(Some(cost)) = self.costs.get(number) {
                write!(out, "\n{}", cost.text(paint))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "{}",
            paint.faint(&format!(
                "times are medians per request, over {requests} request{plural}{from}; requests a second are medians too"
            ))
        )?;
        self.write_comparison(out, paint)
    }

    /// Writes the main number of a source, and what belongs to it.
    fn write_first(&self, out: &mut String, measured: &Measured, paint: Paint) -> std::fmt::Result {
        let (low, high) = (grouped(measured.quantile(0.05)), grouped(measured.quantile(0.95)));
        let median = paint.strong(&format!("{} ns", grouped(measured.median())));
        writeln!(out, "  {median} a request, {low} to {high} in nine of ten rounds")?;
        if let Some((least, dearest, most)) = measured.extremes().filter(|_| measured.requests.len() > 1) {
            let label = self.labels.get(dearest).map_or("", String::as_str);
            let (least, most) = (grouped(least), grouped(most));
            writeln!(out, "  {least} ns for the cheapest request, {most} ns for the most expensive: {label}")?;
        }
        let (allocations, allocated) = (measured.allocations, grouped(measured.bytes));
        match allocations {
            0.0 => writeln!(out, "  no allocations")?,
            _ => writeln!(out, "  {allocations:.2} allocations a request, {allocated} bytes")?,
        }
        let (one, all, cores) = (rate(measured.on_one), rate(measured.on_all), measured.cores);
        writeln!(out, "  {one} requests a second on one core, {all} on all {cores}")
    }

    fn write_comparison(&self, out: &mut String, paint: Paint) -> std::fmt::Result {
        let firsts = self.firsts();
        let Some((first, others)) = firsts.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Ok(());
        };
        let name = |number: usize| self.about.get(number).map_or("", |about| &about.name);
        for (number, other) in others.iter().enumerate() {
            let number = number.saturating_add(1);
            let ratio = other.median() / first.median();
            let (faster, ratio) = if ratio < 1.0 { ("less", 1.0 / ratio) } else { ("more", ratio) };
            let ratio = paint.strong(&format!("{ratio:.2} times"));
            writeln!(out, "{} takes {ratio} {faster} time than {}", name(number), name(0))?;
            let differ = differences(first, other);
            if differ.is_empty() {
                writeln!(out, "{}", paint.good("both give the same answers"))?;
                continue;
            }
            let count = differ.len();
            writeln!(
                out,
                "{}",
                paint.bad(&format!("the answers to {count} of {} requests differ:", self.labels.len()))
            )?;
            for request in differ.into_iter().take(MAX_SHOWN) {
                let label = self.labels.get(request).map_or("", String::as_str);
                let [one, two] = [first, other].map(|of| of.answers.get(request).map_or("", String::as_str));
                writeln!(out, "  {label}: {one}; now {two}")?;
            }
        }
        Ok(())
    }

    /// Returns the report as JSON.
    pub(crate) fn json(&self) -> Json {
        let source = |(number, about): (usize, &About)| {
            let subject = |(subject, measured): (&Subject<'_>, &Measured)| {
                json!({
                    "name": subject.name,
                    "ns": {
                        "median": measured.median(),
                        "p5": measured.quantile(0.05),
                        "p95": measured.quantile(0.95),
                    },
                    "ns_by_request": measured.requests,
                    "allocations": measured.allocations,
                    "allocated_bytes": measured.bytes,
                    "requests_per_second": { "one_core": measured.on_one, "all_cores": measured.on_all },
                    "cores": measured.cores,
                })
            };
            let (rules, indexed, native) =
                about.rules.map_or((about.policy_rules, None, None), |(rules, indexed, native)| {
                    (Some(rules), Some(indexed), Some(native))
                });
            json!({
                "name": about.name,
                "rules": rules,
                "indexed": indexed,
                "native": native,
                "build_ms": about.build.as_secs_f64() * 1e3,
                "code_bytes": about.code,
                "index_bytes": about.index,
                "measured": self.of_source(number).map(subject).collect::<Vec<_>>(),
                "cost": self.costs.get(number).and_then(Option::as_ref).map(Cost::json),
            })
        };
        json!({
            "requests": self.labels.len(),
            "sources": self.about.iter().enumerate().map(source).collect::<Vec<_>>(),
            "tiers_agree": !self.tiers_differ(),
            "answers_agree": !self.sources_differ(),
            "compared": self.compare,
        })
    }
}

/// Returns the requests whose answers differ.
fn differences(one: &Measured, other: &Measured) -> Vec<usize> {
    let pairs = one.answers.iter().zip(&other.answers).enumerate();
    let mut found: Vec<usize> = pairs.filter(|(_, (one, other))| one != other).map(|(request, _)| request).collect();
    let [fewer, more] = [one.answers.len().min(other.answers.len()), one.answers.len().max(other.answers.len())];
    found.extend(fewer..more);
    found
}
