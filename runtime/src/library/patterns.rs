//! The patterns of one rule, each compiled once: the lint, the passes and the native code ask for the same ones.

use super::matcher::Matcher;
use super::pattern::{Known, known};
use super::regex::{HEAVY_WEIGHT, LIGHT_PROGRAM, MAX_PATTERN, MAX_PROGRAM, within};
use super::room::Room;
use ::regex::Regex;
use celero_ir::passes::Pattern;
use std::cell::RefCell;
use std::collections::HashMap;

/// What became of a pattern.
#[derive(Debug, Clone)]
struct Compiled {
    weight: u32,
    regex: Result<Regex, String>,
}

/// What was compiled so far, and how much room all that is kept may take.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: RefCell<HashMap<Box<str>, Compiled>>,
    room: Room,
}

impl Patterns {
    /// Nothing yet, with so many bytes for what is kept.
    pub(crate) fn within(bytes: usize) -> Self {
        Self { compiled: RefCell::default(), room: Room::new(bytes) }
    }

    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// Compiles a pattern within the limits.
    ///
    /// # Errors
    /// Text for people: what is wrong with the pattern or which limit it exceeds.
    pub(crate) fn regex(&self, pattern: &str) -> Result<Regex, String> {
        self.compiled(pattern).regex
    }

    /// Whether a pattern can be compiled.
    ///
    /// # Errors
    /// As [`regex`](Self::regex).
    pub(crate) fn check(&self, pattern: &str) -> Result<(), String> {
        match known(pattern) {
            Some(Known { size, .. }) if size <= MAX_PROGRAM && pattern.len() <= MAX_PATTERN => Ok(()),
            _ => self.regex(pattern).map(drop),
        }
    }

    /// What finding out about a pattern, and compiling it, costs, 1 for most, and how to decide it: `None` if it can't be compiled.
    pub(crate) fn decide(&self, pattern: &str) -> (u32, Option<Pattern>) {
        let Some(Known { tests, size }) = known(pattern) else { return (1, None) };
        let (weight, valid) = if size <= MAX_PROGRAM && pattern.len() <= MAX_PATTERN {
            (if size <= LIGHT_PROGRAM || !tests.is_empty() { 1 } else { HEAVY_WEIGHT }, true)
        } else {
            let Compiled { weight, regex } = self.compiled(pattern);
            (weight, regex.is_ok())
        };
        let decided = || if tests.is_empty() { Pattern::Engine } else { Pattern::AnyOf(tests) };
        (weight, valid.then(decided))
    }

    /// The engine for a pattern, if there is room for it.
    ///
    /// # Errors
    /// As [`regex`](Self::regex).
    pub(crate) fn matcher(&self, pattern: &str) -> Result<Matcher, String> {
        let matcher = self.regex(pattern).map(|regex| Matcher::new(pattern, regex))?;
        let bytes = matcher.bytes(pattern);
        Ok(self.room.keep(matcher, bytes).unwrap_or_else(|| Matcher::later(pattern, &self.room)))
    }

    fn compiled(&self, pattern: &str) -> Compiled {
        if let Some(found) = self.compiled.borrow().get(pattern) {
            return found.clone();
        }
        let compiled = match within(pattern, LIGHT_PROGRAM) {
            Ok(regex) => Compiled { weight: 1, regex: Ok(regex) },
            Err(_) => Compiled { weight: HEAVY_WEIGHT, regex: within(pattern, MAX_PROGRAM) },
        };
        self.compiled.borrow_mut().insert(pattern.into(), compiled.clone());
        compiled
    }
}
