//! How a set is evaluated, rule by rule: by which keys the index finds a rule and what is left of it then, or why it is
//! evaluated every time.

use super::index::{LeftOut, Notes, Todo};
use super::prepare::{Prepared, Settings};
use super::{Indexing, Placed, Rule};
use crate::context::Context;
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::{Diagnostic, RuleSetError};
use celero_ir::{Graph, Op};
use std::fmt;

/// Most ways to a rule that are printed.
const MOST_WAYS: usize = 6;

/// How a set of rules is evaluated. Displays as text for people. Numbers of times are what is expected before any request
/// was seen.
#[derive(Clone, Debug)]
pub struct SetExplanation {
    rules: Vec<RuleExplanation>,
    /// By number, how many rules have that shape.
    shapes: Vec<usize>,
    slots: usize,
    lookups: (usize, usize),
    index_size: usize,
    code_size: usize,
    warnings: Vec<(usize, Diagnostic)>,
}

/// How a rule of a set is evaluated.
#[derive(Clone, Debug)]
pub struct RuleExplanation {
    name: Box<str>,
    found: Result<Vec<Way>, EveryTime>,
    interpreted: Option<Box<str>>,
}

/// Tests after which a rule is looked at: where none of a rule's ways is open, it is false without being looked at.
#[derive(Clone, Debug)]
pub struct Way {
    keys: Vec<String>,
    chance: f64,
    rest: Vec<String>,
    shape: Option<usize>,
}

/// Why a rule is evaluated every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EveryTime {
    /// The set has no index, as it was asked for.
    IndexOff,
    /// None of its conditions is a test that an index knows: they compare what is computed, or would fail.
    NoKey,
    /// What it could be found by holds too often.
    TooCommon,
    /// There are too few rules with tests like its own for a lookup to be faster than evaluating them.
    TooFew,
    /// It is too large for the graph that all rules share, so that the interpreter evaluates it.
    TooLarge,
}

impl fmt::Display for EveryTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IndexOff => "the set has no index",
            Self::NoKey => "none of its conditions is a test that an index knows",
            Self::TooCommon => "what it could be found by holds too often",
            Self::TooFew => "too few rules have tests like its own for a lookup to be worth while",
            Self::TooLarge => "it is too large to be one of the others",
        })
    }
}

impl SetExplanation {
    /// Of rules in their order.
    pub(super) fn new<C: Context, A>(
        engine: &Engine,
        env: &Env<C>,
        rules: &[&Rule<A>],
        settings: Settings<'_>,
    ) -> Result<Self, RuleSetError> {
        let Prepared { common, found, shapes, compiled, warnings, notes, .. } =
            Prepared::new(engine, env, rules, settings, Notes::taken())?;
        let unknown = match settings.indexing {
            Indexing::Off => EveryTime::IndexOff,
            _ => EveryTime::TooLarge,
        };
        let explained =
            |rule: &&Rule<A>| RuleExplanation { name: rule.name.clone(), found: Err(unknown), interpreted: None };
        let mut explained: Vec<RuleExplanation> = rules.iter().map(explained).collect();
        if engine.tier() != Tier::Interpret {
            for (rule, why) in compiled.refused {
                if let Some(rule) = explained.get_mut(rule as usize) {
                    rule.interpreted = Some(why.into());
                }
            }
        }
        for &(place, why) in &notes.left {
            let number = common.rules.get(place).map_or(u32::MAX, |rule| rule.number);
            if let Some(rule) = explained.get_mut(number as usize) {
                rule.found = Err(match why {
                    LeftOut::NoKey => EveryTime::NoKey,
                    LeftOut::TooCommon => EveryTime::TooCommon,
                    LeftOut::TooFew => EveryTime::TooFew,
                });
            }
        }
        let native = compiled.native.as_ref();
        let mut explanation = Self {
            rules: explained,
            shapes: Vec::new(),
            slots: notes.slots(),
            lookups: (0, 0),
            index_size: native.map_or(0, |native| native.shapes().bytes()),
            code_size: native.map_or(0, crate::native::Groups::size),
            warnings,
        };
        let Some(indexed) = found else { return Ok(explanation) };
        explanation.lookups = indexed.index.lookups();
        explanation.index_size = explanation.index_size.saturating_add(indexed.index.bytes());
        explanation.shapes = vec![0; shapes.shapes.len()];
        // By shape, the last rule that was counted.
        let mut counted = vec![usize::MAX; shapes.shapes.len()];
        let variables = env.declarations().variables();
        let name = |field: u32| variables.get(field as usize).map_or_else(String::new, |field| field.name.to_string());
        let mut ways: Vec<_> = notes.found(&indexed.index, &name).collect();
        ways.sort_by_key(|way| way.rule);
        for way in ways {
            let Some(placed) = common.rules.get(way.rule) else { continue };
            let number = placed.number as usize;
            let (Some(rule), Some(text)) = (explanation.rules.get_mut(number), rules.get(number)) else { continue };
            let shape = match way.todo {
                Todo::Rest(row) => shapes.rows.get(row as usize).map(|row| row.shape as usize),
                Todo::Matches | Todo::Whole => None,
            };
            if let Some((rules, last)) =
                shape.and_then(|shape| Some((explanation.shapes.get_mut(shape)?, counted.get_mut(shape)?)))
                && *last != number
            {
                *rules = rules.saturating_add(1);
                *last = number;
            }
            let rest = match way.todo {
                Todo::Matches => Vec::new(),
                Todo::Rest(_) | Todo::Whole => rest(&common.graph, placed, way.proven, text.text.source()),
            };
            let way = Way { keys: way.keys, chance: way.chance, rest, shape };
            match &mut rule.found {
                Ok(ways) => ways.push(way),
                Err(_) => rule.found = Ok(vec![way]),
            }
        }
        Ok(explanation)
    }

    /// The rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[RuleExplanation] {
        &self.rules
    }

    /// How many rules have what is left of them in common, but for the constants in it, by the number of the shape.
    #[must_use]
    pub fn shapes(&self) -> &[usize] {
        &self.shapes
    }

    /// How many fields and headers the index looks at, counting what is looked at in another form, such as lower case, as
    /// another one.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many lookups the index has.
    #[must_use]
    pub fn lookups(&self) -> usize {
        self.lookups.0
    }

    /// How many of the lookups are done in each evaluation; the others are done where a key of these holds.
    #[must_use]
    pub fn first_lookups(&self) -> usize {
        self.lookups.1
    }

    /// Bytes that the index holds, as [`RuleSet::index_size`](crate::RuleSet::index_size) tells of the set.
    #[must_use]
    pub fn index_size(&self) -> usize {
        self.index_size
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.code_size
    }

    /// How many rules an evaluation is expected to look at.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.rules.iter().map(RuleExplanation::chance).sum()
    }

    /// As [`RuleSet::warnings`](crate::RuleSet::warnings).
    #[must_use]
    pub fn warnings(&self) -> &[(usize, Diagnostic)] {
        &self.warnings
    }
}

/// The conjuncts of a rule that are not proven, as they are written.
fn rest(graph: &Graph, rule: &Placed, proven: u64, source: &str) -> Vec<String> {
    let alone = [rule.root];
    let conjuncts = match graph.op(rule.root) {
        Op::And => graph.args(rule.root),
        _ => &alone,
    };
    let is_proven = |number: usize| {
        u32::try_from(number).ok().and_then(|number| proven.checked_shr(number)).is_some_and(|bits| bits & 1 != 0)
    };
    let left = conjuncts.iter().enumerate().filter(|(number, _)| !is_proven(*number));
    let texts = left.map(|(_, &conjunct)| {
        let origin = rule.origin(graph, conjunct);
        source.get(origin.start as usize..origin.end as usize).unwrap_or_default().to_owned()
    });
    let mut texts: Vec<String> = texts.collect();
    texts.dedup();
    texts
}

impl RuleExplanation {
    /// The rule's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The ways on which the index finds it; none if it is evaluated every time.
    #[must_use]
    pub fn ways(&self) -> &[Way] {
        self.found.as_deref().unwrap_or_default()
    }

    /// Why it is evaluated every time; `None` if the index finds it.
    #[must_use]
    pub fn every_time(&self) -> Option<EveryTime> {
        self.found.as_ref().err().copied()
    }

    /// Why the interpreter evaluates it, or what is left of it; `None` if native code does, or the engine has none.
    #[must_use]
    pub fn interpreted(&self) -> Option<&str> {
        self.interpreted.as_deref()
    }

    /// The share of evaluations, from 0 to 1, in which it is expected to be looked at.
    #[must_use]
    pub fn chance(&self) -> f64 {
        match &self.found {
            Ok(ways) => ways.iter().map(Way::chance).sum::<f64>().min(1.0),
            Err(_) => 1.0,
        }
    }
}

impl Way {
    /// The tests, in words, such as `request.path starts with "/x"`, in the order in which they are looked up.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The share of evaluations, from 0 to 1, in which all of them are expected to hold.
    #[must_use]
    pub fn chance(&self) -> f64 {
        self.chance
    }

    /// The conditions that are left to be evaluated then, as the rule writes them; none if the rule is true.
    #[must_use]
    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// The number of the shape of what is left; `None` if nothing is, or if the interpreter evaluates it.
    #[must_use]
    pub fn shape(&self) -> Option<usize> {
        self.shape
    }
}

impl fmt::Display for SetExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every_time = self.rules.iter().filter(|rule| rule.found.is_err()).count();
        let indexed = self.rules.len().saturating_sub(every_time);
        writeln!(f, "rules    {}: {indexed} found by the index, {every_time} evaluated every time", self.rules.len())?;
        let (slots, (lookups, first)) = (self.slots, self.lookups);
        writeln!(
            f,
            "index    {}, {first} of them every time, of {}",
            counted(lookups, "lookup"),
            counted(slots, "slot")
        )?;
        let (index, code) = (self.index_size, self.code_size);
        writeln!(f, "memory   {index} bytes of index, {code} bytes of code, {}", counted(self.shapes.len(), "shape"))?;
        writeln!(f, "expected {:.2} rules looked at in each evaluation", self.expected())?;
        for (number, rule) in self.rules.iter().enumerate() {
            writeln!(f, "\nrule {number} `{}`, expected {}", rule.name, share(rule.chance()))?;
            rule.write(f, &self.shapes)?;
        }
        Ok(())
    }
}

impl RuleExplanation {
    fn write(&self, f: &mut fmt::Formatter<'_>, shapes: &[usize]) -> fmt::Result {
        match &self.found {
            Err(why) => writeln!(f, "  every time: {why}")?,
            Ok(ways) => {
                let shown = ways.get(..MOST_WAYS).unwrap_or(ways);
                for (number, way) in shown.iter().enumerate() {
                    let word = if number == 0 { "found if" } else { "or if" };
                    writeln!(f, "  {word:>8} {}", way.keys.join(", and "))?;
                    // What is left after several ways in a row is told once.
                    let next = shown.get(number.saturating_add(1));
                    if next.is_none_or(|next| (&next.rest, next.shape) != (&way.rest, way.shape)) {
                        way.write_rest(f, shapes)?;
                    }
                }
                if let Some(more) = ways.len().checked_sub(MOST_WAYS).filter(|more| *more > 0) {
                    writeln!(f, "  or in {more} more ways")?;
                }
            }
        }
        match &self.interpreted {
            Some(why) => writeln!(f, "  interpreted: {why}"),
            None => Ok(()),
        }
    }
}

impl Way {
    fn write_rest(&self, f: &mut fmt::Formatter<'_>, shapes: &[usize]) -> fmt::Result {
        if self.rest.is_empty() {
            return writeln!(f, "    left: nothing");
        }
        write!(f, "    left: {}", self.rest.join("\n          "))?;
        match self.shape.and_then(|shape| Some((shape, shapes.get(shape)?))) {
            Some((shape, rules)) => writeln!(f, "   (shape {shape}, of {})", counted(*rules, "rule")),
            None => writeln!(f),
        }
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A share of evaluations for people.
fn share(chance: f64) -> String {
    match chance * 100.0 {
        percent if percent >= 99.95 => "always".to_owned(),
        percent if percent >= 1.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.4} %"),
    }
}
