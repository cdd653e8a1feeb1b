//! [`SetExplanation`]: how a set is evaluated, rule by rule.

use super::index::{PlanTrace, Residual, Unindexed};
use super::prepare::{Prepared, RuleInput, Settings};
use super::{Indexing, RuleSetError};
use crate::context::Context;
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::lower::merge::{MergedGraph, MergedRule};
use celero_frontend::Diagnostic;
use celero_ir::Op;
use std::fmt;

/// Most entries of a rule that are printed.
const MAX_ENTRIES: usize = 6;

/// How a set of rules is evaluated: [`RuleSetBuilder::explain`](crate::sets::RuleSetBuilder::explain).
/// Displays as text for people. Probabilities are estimates from the rules, before any request was
/// seen.
#[derive(Clone, Debug)]
pub struct SetExplanation {
    rules: Vec<RuleExplanation>,
    /// Indexed by template: number of rules that use it.
    templates: Vec<usize>,
    attributes: usize,
    lookups: (usize, usize),
    index_size: usize,
    code_size: usize,
    warnings: Vec<(usize, Diagnostic)>,
}

/// How a rule of a set is evaluated.
#[derive(Clone, Debug)]
pub struct RuleExplanation {
    name: Box<str>,
    found: Result<Vec<IndexEntry>, Unindexed>,
    interpreted: Option<Box<str>>,
}

/// Keys by which the index finds a rule. A rule is evaluated if all keys of one of its entries
/// hold, and false otherwise.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    keys: Vec<String>,
    chance: f64,
    residual: Vec<String>,
    template: Option<usize>,
}

impl SetExplanation {
    /// Explains the set of these rules.
    pub(super) fn new<C: Context>(
        engine: &Engine,
        env: &Env<C>,
        rules: &[RuleInput<'_>],
        settings: Settings<'_>,
    ) -> Result<Self, RuleSetError> {
        let Prepared { merged, found, templates, compiled, warnings, trace, .. } =
            Prepared::new(engine, env, rules, settings, PlanTrace::taken(), &mut ())?;
        let unknown = match settings.indexing {
            Indexing::Off => Unindexed::IndexOff,
            _ => Unindexed::TooLarge,
        };
        let explained =
            |rule: &RuleInput<'_>| RuleExplanation { name: rule.name.into(), found: Err(unknown), interpreted: None };
        let mut explained: Vec<RuleExplanation> = rules.iter().map(explained).collect();
        if engine.tier() != Tier::Interpret {
            for (rule, why) in compiled.refused {
                if let Some(rule) = explained.get_mut(rule as usize) {
                    rule.interpreted = Some(why.into());
                }
            }
        }
        for &(place, why) in &trace.left {
            let number = merged.rules.get(place).map_or(u32::MAX, |rule| rule.number);
            if let Some(rule) = explained.get_mut(number as usize) {
                rule.found = Err(why);
            }
        }
        let native = compiled.native.as_ref();
        let mut explanation = Self {
            rules: explained,
            templates: Vec::new(),
            attributes: trace.attributes(),
            lookups: (0, 0),
            index_size: native.map_or(0, |native| native.templates().bytes()),
            code_size: native.map_or(0, crate::native::SetCode::size),
            warnings,
        };
        let Some(indexed) = found else { return Ok(explanation) };
        explanation.lookups = indexed.index.lookups();
        explanation.index_size = explanation.index_size.saturating_add(indexed.index.bytes());
        explanation.templates = vec![0; templates.len()];
        // Indexed by template: the last rule that was counted.
        let mut counted = vec![usize::MAX; templates.len()];
        let variables = env.declarations().variables();
        let name = |field: u32| variables.get(field as usize).map_or_else(String::new, |field| field.name.to_string());
        let mut entries: Vec<_> = trace.found(&indexed.index, &name).collect();
        entries.sort_by_key(|entry| entry.rule);
        for entry in entries {
            let Some(placed) = merged.rules.get(entry.rule) else { continue };
            let number = placed.number as usize;
            let (Some(rule), Some(text)) = (explanation.rules.get_mut(number), rules.get(number)) else { continue };
            let template = match entry.residual {
                Residual::Native(row) => templates.rows.get(row as usize).map(|row| row.template as usize),
                Residual::None | Residual::Interpreted => None,
            };
            if let Some((rules, last)) = template
                .and_then(|template| Some((explanation.templates.get_mut(template)?, counted.get_mut(template)?)))
                && *last != number
            {
                *rules = rules.saturating_add(1);
                *last = number;
            }
            let residual = match entry.residual {
                Residual::None => Vec::new(),
                Residual::Native(_) | Residual::Interpreted => {
                    residual(&merged, placed, entry.proven, text.condition.source())
                }
            };
            let entry = IndexEntry { keys: entry.keys, chance: entry.chance, residual, template };
            match &mut rule.found {
                Ok(entries) => entries.push(entry),
                Err(_) => rule.found = Ok(vec![entry]),
            }
        }
        Ok(explanation)
    }

    /// Returns the rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[RuleExplanation] {
        &self.rules
    }

    /// Returns the number of rules for each template: residual predicates that differ in constants
    /// only share one template.
    #[must_use]
    pub fn templates(&self) -> &[usize] {
        &self.templates
    }

    /// Returns the number of attributes that the index reads: fields and headers, counted once for
    /// each form in which they are read, such as lower case.
    #[must_use]
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// Returns the number of lookups in the index.
    #[must_use]
    pub fn lookups(&self) -> usize {
        self.lookups.0
    }

    /// Returns the number of lookups that each evaluation does; the others follow where their keys hold.
    #[must_use]
    pub fn first_lookups(&self) -> usize {
        self.lookups.1
    }

    /// Returns what [`RuleSet::index_size`](crate::RuleSet::index_size) of the set returns.
    #[must_use]
    pub fn index_size(&self) -> usize {
        self.index_size
    }

    /// Returns the bytes of machine code.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.code_size
    }

    /// Returns the expected number of rules that an evaluation looks at.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.rules.iter().map(RuleExplanation::chance).sum()
    }

    /// Returns what [`RuleSet::warnings`](crate::RuleSet::warnings) of the set returns.
    #[must_use]
    pub fn warnings(&self) -> &[(usize, Diagnostic)] {
        &self.warnings
    }
}

/// The sources of the conjuncts of a rule that are not proven.
fn residual(merged: &MergedGraph, rule: &MergedRule, proven: u64, source: &str) -> Vec<String> {
    let graph = &merged.graph;
    let standalone = [rule.placed];
    let conjuncts = match graph.op(rule.placed) {
        Op::And => graph.args(rule.placed),
        _ => &standalone,
    };
    let is_proven = |number: usize| {
        u32::try_from(number).ok().and_then(|number| proven.checked_shr(number)).is_some_and(|bits| bits & 1 != 0)
    };
    let left = conjuncts.iter().enumerate().filter(|(number, _)| !is_proven(*number));
    let texts = left.map(|(_, &conjunct)| {
        let origin = merged.origin(rule, conjunct);
        source.get(origin.start as usize..origin.end as usize).unwrap_or_default().to_owned()
    });
    let mut texts: Vec<String> = texts.collect();
    texts.dedup();
    texts
}

impl RuleExplanation {
    /// Returns the rule's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the entries by which the index finds the rule; empty if it is unindexed.
    #[must_use]
    pub fn entries(&self) -> &[IndexEntry] {
        self.found.as_deref().unwrap_or_default()
    }

    /// Returns why the index leaves the rule out, so that it is evaluated every time; `None` if the index finds it.
    #[must_use]
    pub fn unindexed(&self) -> Option<Unindexed> {
        self.found.as_ref().err().copied()
    }

    /// Returns why the interpreter evaluates the rule, or its residual predicate; `None` if native
    /// code does, or the engine only interprets.
    #[must_use]
    pub fn interpreted(&self) -> Option<&str> {
        self.interpreted.as_deref()
    }

    /// Returns the estimated probability, from 0 to 1, that an evaluation looks at the rule.
    #[must_use]
    pub fn chance(&self) -> f64 {
        match &self.found {
            Ok(entries) => entries.iter().map(IndexEntry::chance).sum::<f64>().min(1.0),
            Err(_) => 1.0,
        }
    }
}

impl IndexEntry {
    /// Returns the keys in words, such as `request.path starts with "/x"`, in the order in which they are looked up.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the estimated probability, from 0 to 1, that all keys hold.
    #[must_use]
    pub fn chance(&self) -> f64 {
        self.chance
    }

    /// Returns the conditions that remain to be evaluated if the keys hold, as the rule writes
    /// them; empty if the rule is true then.
    #[must_use]
    pub fn residual(&self) -> &[String] {
        &self.residual
    }

    /// Returns the number of the template of these conditions; `None` if none remain, or if the
    /// interpreter evaluates them.
    #[must_use]
    pub fn template(&self) -> Option<usize> {
        self.template
    }
}

impl SetExplanation {
    /// Returns what is known of the whole set as text: number of rules, lookups, memory, expected work. Four lines.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = self.write_summary(&mut text);
        text
    }

    /// Returns how a rule is evaluated as text; `None` if there is no rule of this number.
    #[must_use]
    pub fn rule_text(&self, number: usize) -> Option<String> {
        let mut text = String::new();
        let _ = self.rules.get(number)?.write(&mut text, number, &self.templates);
        Some(text)
    }

    fn write_summary(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let unindexed = self.rules.iter().filter(|rule| rule.found.is_err()).count();
        let indexed = self.rules.len().saturating_sub(unindexed);
        writeln!(f, "rules    {}: {indexed} found by the index, {unindexed} evaluated every time", self.rules.len())?;
        let (attributes, (lookups, first)) = (self.attributes, self.lookups);
        writeln!(
            f,
            "index    {}, {first} of them every time, of {}",
            counted(lookups, "lookup"),
            counted(attributes, "attribute")
        )?;
        let (index, code) = (self.index_size, self.code_size);
        writeln!(
            f,
            "memory   {index} bytes of index, {code} bytes of code, {}",
            counted(self.templates.len(), "template")
        )?;
        writeln!(f, "expected {:.2} rules looked at in each evaluation", self.expected())
    }
}

impl fmt::Display for SetExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_summary(f)?;
        for (number, rule) in self.rules.iter().enumerate() {
            writeln!(f)?;
            rule.write(f, number, &self.templates)?;
        }
        Ok(())
    }
}

impl RuleExplanation {
    fn write(&self, f: &mut impl fmt::Write, number: usize, templates: &[usize]) -> fmt::Result {
        writeln!(f, "rule {number} `{}`, expected {}", self.name, share(self.chance()))?;
        match &self.found {
            Err(why) => writeln!(f, "  every time: {why}")?,
            Ok(entries) => {
                let shown = entries.get(..MAX_ENTRIES).unwrap_or(entries);
                for (number, entry) in shown.iter().enumerate() {
                    let word = if number == 0 { "found if" } else { "or if" };
                    writeln!(f, "  {word:>8} {}", entry.keys.join(", and "))?;
                    // Print the residual predicate of several entries in a row once.
                    let next = shown.get(number.saturating_add(1));
                    if next.is_none_or(|next| (&next.residual, next.template) != (&entry.residual, entry.template)) {
                        entry.write_residual(f, templates)?;
                    }
                }
                if let Some(more) = entries.len().checked_sub(MAX_ENTRIES).filter(|more| *more > 0) {
                    writeln!(f, "  or by {more} more entries")?;
                }
            }
        }
        match &self.interpreted {
            Some(why) => writeln!(f, "  interpreted: {why}"),
            None => Ok(()),
        }
    }
}

impl IndexEntry {
    fn write_residual(&self, f: &mut impl fmt::Write, templates: &[usize]) -> fmt::Result {
        if self.residual.is_empty() {
            return writeln!(f, "    left: nothing");
        }
        write!(f, "    left: {}", self.residual.join("\n          "))?;
        match self.template.and_then(|template| Some((template, templates.get(template)?))) {
            Some((template, rules)) => writeln!(f, "   (template {template}, of {})", counted(*rules, "rule")),
            None => writeln!(f),
        }
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A probability as a percentage.
fn share(chance: f64) -> String {
    match chance * 100.0 {
        percent if percent >= 99.95 => "always".to_owned(),
        percent if percent >= 1.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.4} %"),
    }
}
