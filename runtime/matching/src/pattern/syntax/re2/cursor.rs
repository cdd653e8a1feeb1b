//! A place in the text of a pattern.

use crate::pattern::SyntaxError;

/// Most characters of a pattern that an error shows.
const MAX_SHOWN: usize = 40;

pub(super) struct Cursor<'p> {
    text: &'p str,
    at: usize,
}

impl<'p> Cursor<'p> {
    pub(super) fn new(text: &'p str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes back to a place where the cursor was.
    pub(super) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn rest(&self) -> &'p str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at = self.at.saturating_add(next.len_utf8());
        Some(next)
    }

    /// Skips a text, if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at = self.at.saturating_add(text.len());
        }
        found
    }

    /// Returns what comes before `end`, and skips both.
    pub(super) fn before(&mut self, end: &str) -> Option<&'p str> {
        let (before, _) = self.rest().split_once(end)?;
        self.at = self.at.saturating_add(before.len()).saturating_add(end.len());
        Some(before)
    }

    /// Returns what comes before `end`, and skips both, or all that is left.
    pub(super) fn before_or_rest(&mut self, end: &str) -> &'p str {
        self.before(end).unwrap_or_else(|| {
            let rest = self.rest();
            self.at = self.text.len();
            rest
        })
    }

    /// What has been read since a place.
    pub(super) fn since(&self, from: usize) -> &'p str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// What has been read since a place, as an error shows it: on one line, and cut if it is long.
    pub(super) fn shown(&self, from: usize) -> String {
        shown(self.since(from))
    }

    /// An error in what has been read since a place.
    pub(super) fn error(&self, from: usize, reason: impl Into<String>) -> SyntaxError {
        SyntaxError::new(reason, from..self.at)
    }
}

/// A part of a pattern as an error shows it.
pub(super) fn shown(part: &str) -> String {
    let mut shown = String::new();
    for c in part.chars().take(MAX_SHOWN) {
        match c {
            '\\' | '"' | '\'' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    if part.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str("..");
    }
    shown
}
