//! Finds the characters of a scalar in its file, whatever the scalar's style.

use saphyr_parser::ScalarStyle;
use std::ops::Range;
use std::sync::OnceLock;

/// Where each byte of a scalar's text is written in its file. It is found for all bytes by the first question.
#[derive(Clone, Debug, Default)]
pub(super) struct Offsets(OnceLock<Option<Box<[usize]>>>);

impl Offsets {
    /// Returns the offset in `file` of the byte `at` of a scalar's text, which is written in
    /// `range`. All calls must be about the same scalar.
    pub(super) fn get(&self, file: &str, range: Range<usize>, text: &str, style: ScalarStyle, at: usize) -> usize {
        let differs = || file.get(range.clone()) != Some(text);
        let offsets = || differs().then(|| offsets_in_file(file, range.clone(), text, style).into());
        match self.0.get_or_init(offsets) {
            Some(offsets) => offsets.get(at).or(offsets.last()).copied().unwrap_or(range.end),
            None => range.start.saturating_add(at).min(range.end),
        }
    }
}

/// Returns the offset in `file` of each byte of a scalar's text, and of its end. The text is written in `range`.
///
/// Walks text and file in parallel, and skips in the file what YAML folds, escapes or indents.
/// Where they differ, the result is the last offset at which they agreed. A byte inside of a
/// character has the offset of the next character.
fn offsets_in_file(file: &str, range: Range<usize>, text: &str, style: ScalarStyle) -> Vec<usize> {
    let raw = file.get(range.clone()).unwrap_or("");
    let before = file.get(..range.start).unwrap_or("");
    let mut walk = Walk::start(raw, before, style);
    let mut offsets = Vec::with_capacity(text.len().saturating_add(1));
    let mut characters = text.chars().peekable();
    walk.skip_joints();
    let here = |walk: &Walk<'_>| range.start.saturating_add(walk.at.min(raw.len()));
    while let Some(character) = characters.next() {
        offsets.push(here(&walk));
        walk.step(character, characters.peek().copied());
        walk.skip_joints();
        offsets.extend((1..character.len_utf8()).map(|_| here(&walk)));
    }
    offsets.push(here(&walk));
    offsets
}

struct Walk<'r> {
    raw: &'r str,
    style: ScalarStyle,
    at: usize,
    /// The number of columns that indent each line of a block.
    indent: usize,
    /// Where blanks end that were read ahead.
    blanks_end: usize,
}

impl<'r> Walk<'r> {
    /// Returns a walk at the start of a scalar. `before` is the text of the file before it.
    fn start(raw: &'r str, before: &str, style: ScalarStyle) -> Self {
        let mut walk = Self { raw, style, at: 0, indent: 0, blanks_end: 0 };
        match style {
            ScalarStyle::Plain => {}
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => walk.at = 1,
            ScalarStyle::Literal | ScalarStyle::Folded => {
                // A block is indented like its first line.
                let first = raw.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
                let blanks = first.len().saturating_sub(first.trim_start_matches(' ').len());
                let column = before.rsplit('\n').next().map_or(0, str::len);
                walk.indent = if raw.starts_with(first) { column.saturating_add(blanks) } else { blanks };
            }
        }
        walk
    }

    fn rest(&self) -> &'r str {
        self.raw.get(self.at..).unwrap_or("")
    }

    fn is_block(&self) -> bool {
        matches!(self.style, ScalarStyle::Literal | ScalarStyle::Folded)
    }

    fn forward(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn skip_indent(&mut self) {
        let spaces = self.rest().bytes().take_while(|byte| *byte == b' ').count();
        self.forward(spaces.min(self.indent));
    }

    /// Skips what has no character in the text: a line break after a backslash in double quotes.
    fn skip_joints(&mut self) {
        while self.style == ScalarStyle::DoubleQuoted
            && let Some(after) = self.rest().strip_prefix("\\\n").or_else(|| self.rest().strip_prefix("\\\r\n"))
        {
            self.at = self.raw.len().saturating_sub(after.trim_start_matches([' ', '\t']).len());
        }
    }

    /// Moves past what is written for one character of the text.
    fn step(&mut self, character: char, next: Option<char>) {
        self.skip_joints();
        let rest = self.rest();
        if self.style == ScalarStyle::DoubleQuoted && rest.starts_with('\\') {
            let length = match rest.as_bytes().get(1) {
                Some(b'x') => 4,
                // A surrogate pair is two escapes.
                Some(b'u') if u32::from(character) > 0xffff => 12,
                Some(b'u') => 6,
                Some(b'U') => 10,
                _ => rest.chars().take(2).map(char::len_utf8).sum(),
            };
            return self.forward(length);
        }
        if self.style == ScalarStyle::SingleQuoted && character == '\'' && rest.starts_with("''") {
            return self.forward(2);
        }
        // Each run of blanks is read once, not once for each of its characters.
        if self.blanks_end <= self.at {
            self.blanks_end = self.raw.len().saturating_sub(rest.trim_start_matches([' ', '\t']).len());
        }
        let blanks = self.blanks_end.saturating_sub(self.at);
        let after = rest.get(blanks..).unwrap_or("");
        let ends_line = after.starts_with('\n') || after.starts_with("\r\n");
        if matches!(character, ' ' | '\n') && ends_line && (!self.is_block() || blanks == 0) {
            return self.line_end(blanks, next);
        }
        if rest.starts_with(character) {
            self.forward(character.len_utf8());
        }
    }

    /// Moves past a line break and the indentation of the next line.
    fn line_end(&mut self, blanks: usize, next: Option<char>) {
        self.forward(blanks);
        let end = if self.rest().starts_with('\r') { 2 } else { 1 };
        self.forward(end);
        if self.style == ScalarStyle::Literal {
            return self.skip_indent();
        }
        // Folded line breaks: a single one is a space; of several, the first has no character.
        loop {
            let blanks = self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let after = self.rest().get(blanks..).unwrap_or("");
            let end = if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with('\n')) };
            if end == 0 || next == Some('\n') {
                if self.is_block() {
                    self.skip_indent()
                } else {
                    self.forward(blanks)
                }
                return;
            }
            self.forward(blanks.saturating_add(end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saphyr_parser::{Event, Parser};

    /// Tests that each `@` of a document is found where it is written.
    fn check(document: &str) {
        let mut found = Vec::new();
        for event in Parser::new_from_str(document) {
            let (Event::Scalar(text, style, ..), span) = event.unwrap() else { continue };
            let range = span.start.index()..span.end.index();
            for (at, _) in text.match_indices('@') {
                let place = offsets_in_file(document, range.clone(), &text, style)[at];
                let raw = document.get(range.clone());
                assert_eq!(document.get(place..=place), Some("@"), "{style:?} {raw:?} {text:?} {at} {place}");
                found.push(place);
            }
        }
        assert_eq!(found.len(), document.matches('@').count(), "{document}");
    }

    #[test]
    fn characters_are_found_in_every_style() {
        check("a: x @ y\nb: @\n".replace("b: @", "b: x@").as_str());
        check("a: 'it''s @ and '' @'\n");
        check("a: \"\\t@ \\x41 \\u00e4@ \\\" @\"\n");
        // The parser of this test reads no surrogates, so the text has what they stand for.
        let pair = "a: \"\\ud83d\\ude00@\"";
        assert_eq!(offsets_in_file(pair, 3..17, "\u{1f600}@", ScalarStyle::DoubleQuoted).get(4), Some(&16));
        check("a: \"x \\\n    y@\n    z @\"\n");
        check("a: one\n   two@\n   three @\n\n   four@\n");
        check("a: 'one\n\n\n   two@\n   three @'\n");
        check("a: |\n  x\n    y@\n\n  z @\nb: |-\n   @ @\n");
        check("a: >\n  x\n  y@\n\n  z @\n\n\n  w@\n    v@\n  u@\n");
        check("a: |\r\n  x@\r\n  y@\r\n");
        check("a: 'x   @ \t @é  @'\n");
        check("a: 'x   @   \n   y  @'\nb: |\n \n  x   @  \n  @\n");
    }
}
