//! A cache of compiled patterns for one compilation, with a shared memory budget.

use crate::MemoryBudget;
use crate::pattern::analysis::{Analysis, TextTest, analyze_parsed};
use crate::pattern::search::byte_matcher::ByteMatcher;
use crate::pattern::search::byte_regex::ByteRegex;
use crate::pattern::search::engine::{engine, engine_of};
use crate::pattern::search::matcher::{Engine, Matcher};
use crate::pattern::search::metered_regex::MeteredRegex;
use crate::pattern::syntax::dialect::{Dialect, Pattern};
use crate::pattern::syntax::limits::{
    MAX_BYTE_PROGRAM_BYTES, MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, PatternError, Syntax,
};
use crate::pattern::syntax::parse::parse;
use regex_syntax::hir::Hir;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Largest compiled program of a pattern of weight 1: compiling it takes some tens of microseconds.
const LIGHT_PROGRAM_BYTES: usize = 1 << 14;
/// The weight of every larger pattern: compiling it may take some milliseconds.
const HEAVY_WEIGHT: u32 = 64;
/// Most patterns whose analyses are kept, for the stages of a rule, which ask one after the other, on each thread.
const MAX_ANALYSES: usize = 128;

/// Compiles each distinct pattern once.
///
/// Use one while a set of rules is compiled: several stages, on several threads, ask for the same
/// patterns, and the matchers that are kept share one [`MemoryBudget`]. A thread that asks for a
/// pattern waits while another one compiles a pattern.
#[derive(Debug, Default)]
pub struct PatternCache {
    /// That of the patterns on text.
    dialect: Dialect,
    compiled: Mutex<HashMap<Box<str>, Compiled>>,
    /// Patterns on bytes.
    bytes: Mutex<HashMap<Box<str>, Result<ByteRegex, PatternError>>>,
    /// What is known of patterns without compiling them; `None` for one that is not valid, or too long.
    analyses: Mutex<HashMap<Box<str>, Option<Analyzed>>>,
    budget: MemoryBudget,
}

/// What is known of a valid pattern without compiling it.
#[derive(Debug, Clone)]
struct Analyzed {
    analysis: Analysis,
    /// The pattern as it was parsed, if its program is light, so that this is small too.
    hir: Option<Arc<Hir>>,
}

/// The outcome of compiling a pattern.
#[derive(Debug, Clone)]
struct Compiled {
    weight: u32,
    regex: Result<MeteredRegex, PatternError>,
}

/// How to decide a pattern, and what that costs to prepare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Relative cost of analysing and compiling the pattern: 1 for most, up to 64 for large ones.
    pub weight: u32,
    /// How to decide it. `None` if the pattern can't be compiled.
    pub strategy: Option<Strategy>,
}

/// How to decide a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// The pattern matches if and only if one of these tests holds.
    AnyOf(Vec<TextTest>),
    /// The pattern needs an engine: see [`PatternCache::matcher`].
    Search,
}

impl PatternCache {
    /// An empty cache, whose matchers may hold `bytes` bytes together.
    #[must_use]
    pub fn with_budget(bytes: usize) -> Self {
        Self { budget: MemoryBudget::new(bytes), ..Self::default() }
    }

    /// The same cache, for patterns on text in a dialect.
    #[must_use]
    pub fn of_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// The dialect of the patterns on text.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// A pattern on text of this cache.
    #[must_use]
    pub fn pattern<'p>(&self, text: &'p str) -> Pattern<'p> {
        self.dialect.pattern(text)
    }

    /// The memory budget of the matchers.
    #[must_use]
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Returns the compiled pattern.
    ///
    /// # Errors
    /// See [`compile`](crate::pattern::compile()).
    pub fn regex(&self, pattern: &str) -> Result<MeteredRegex, PatternError> {
        self.compiled(pattern).regex
    }

    /// Returns whether a pattern can be compiled, if possible without compiling it.
    ///
    /// # Errors
    /// See [`compile`](crate::pattern::compile()).
    pub fn check(&self, pattern: &str) -> Result<(), PatternError> {
        match self.analysis(pattern) {
            Some(known) if known.analysis.program_bytes <= MAX_PROGRAM_BYTES => Ok(()),
            _ => self.regex(pattern).map(drop),
        }
    }

    /// Returns whether a valid pattern matches every text, or none, if that is easily seen.
    #[must_use]
    pub fn constant(&self, pattern: &str) -> Option<bool> {
        self.analysis(pattern)?.analysis.constant
    }

    /// Returns how to decide a pattern, if possible without compiling it.
    #[must_use]
    pub fn plan(&self, pattern: &str) -> Plan {
        let Some(Analyzed { analysis: Analysis { tests, program_bytes, .. }, .. }) = self.analysis(pattern) else {
            return Plan { weight: 1, strategy: None };
        };
        let (weight, valid) = if program_bytes <= MAX_PROGRAM_BYTES {
            let is_light = program_bytes <= LIGHT_PROGRAM_BYTES || !tests.is_empty();
            (if is_light { 1 } else { HEAVY_WEIGHT }, true)
        } else {
            let Compiled { weight, regex } = self.compiled(pattern);
            (weight, regex.is_ok())
        };
        let strategy = || if tests.is_empty() { Strategy::Search } else { Strategy::AnyOf(tests) };
        Plan { weight, strategy: valid.then(strategy) }
    }

    /// Returns a matcher for a pattern: a [lazy](Matcher::lazy) one if the budget does not allow its engine.
    ///
    /// # Errors
    /// See [`compile`](crate::pattern::compile()).
    pub fn matcher(&self, pattern: &str) -> Result<Matcher, PatternError> {
        let known = self.analysis(pattern);
        let program_bytes = known.as_ref().map_or(0, |known| known.analysis.program_bytes).min(MAX_PROGRAM_BYTES);
        let matcher = match known.and_then(|known| known.hir) {
            Some(hir) => match Matcher::anchored(&hir) {
                Some(matcher) => matcher,
                None => Matcher(Engine::Search(self.regex(pattern)?)),
            },
            None => self.regex(pattern).map(Matcher::from_regex)?,
        };
        let bytes = matcher.heap_bytes(program_bytes);
        Ok(self.budget.keep(matcher, bytes).unwrap_or_else(|| Matcher::lazy(self.pattern(pattern), &self.budget)))
    }

    /// Returns the compiled pattern on bytes.
    ///
    /// # Errors
    /// Those of [`ByteRegex::new`].
    pub fn byte_regex(&self, pattern: &str) -> Result<ByteRegex, PatternError> {
        let mut known = locked(&self.bytes);
        if let Some(found) = known.get(pattern) {
            return found.clone();
        }
        let compiled = engine(pattern.into(), Syntax::Bytes, MAX_BYTE_PROGRAM_BYTES);
        let regex = compiled.map(|compiled| ByteRegex::from_compiled(pattern, compiled, &self.budget));
        known.insert(pattern.into(), regex.clone());
        regex
    }

    /// Returns a matcher for a pattern on bytes: a [lazy](ByteMatcher::lazy) one if the budget does
    /// not allow its engine.
    ///
    /// # Errors
    /// Those of [`ByteRegex::new`].
    pub fn byte_matcher(&self, pattern: &str) -> Result<ByteMatcher, PatternError> {
        let matcher = self.byte_regex(pattern).map(|regex| ByteMatcher::from_regex(pattern, regex))?;
        let bytes = matcher.heap_bytes();
        Ok(self.budget.keep(matcher, bytes).unwrap_or_else(|| ByteMatcher::lazy(pattern, &self.budget)))
    }

    /// What is known of a pattern without compiling it; `None` if it is not valid, or too long.
    fn analysis(&self, pattern: &str) -> Option<Analyzed> {
        if let Some(found) = locked(&self.analyses).get(pattern) {
            return found.clone();
        }
        // Without the lock: other threads analyse other patterns meanwhile.
        let parsed = if pattern.len() > MAX_PATTERN_BYTES { None } else { parse(self.pattern(pattern)) };
        let analysis = parsed.map(|hir| {
            let analysis = analyze_parsed(&hir);
            let is_light = analysis.program_bytes <= LIGHT_PROGRAM_BYTES;
            Analyzed { analysis, hir: is_light.then(|| Arc::new(hir)) }
        });
        let mut known = locked(&self.analyses);
        if known.len() >= MAX_ANALYSES {
            known.clear();
        }
        known.insert(pattern.into(), analysis.clone());
        analysis
    }

    fn compiled(&self, pattern: &str) -> Compiled {
        let mut known = locked(&self.compiled);
        if let Some(found) = known.get(pattern) {
            return found.clone();
        }
        let parsed = self.analysis(pattern).and_then(|known| known.hir);
        let light = match parsed {
            Some(hir) => engine_of(&hir, Syntax::Text, LIGHT_PROGRAM_BYTES),
            None => engine(self.pattern(pattern), Syntax::Text, LIGHT_PROGRAM_BYTES),
        };
        let (weight, regex) = match light {
            Ok(regex) => (1, Ok(regex)),
            Err(_) => (HEAVY_WEIGHT, engine(self.pattern(pattern), Syntax::Text, MAX_PROGRAM_BYTES)),
        };
        let regex = regex.map(|compiled| MeteredRegex::new(self.pattern(pattern), compiled, &self.budget));
        let compiled = Compiled { weight, regex };
        known.insert(pattern.into(), compiled.clone());
        compiled
    }
}

/// A map of compiled patterns. A panic while it was locked has left no pattern by half in it.
fn locked<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}
