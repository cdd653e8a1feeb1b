//! Classes of characters: `[..]`, `\d`, `[:alpha:]`, `\p{..}`.
//!
//! Each part of a class has its letter cases, and is then negated where it says so. The class is
//! negated as a whole in the end.

use super::cursor::Cursor;
use super::escape::escape;
use super::unicode::{fold, named};
use crate::pattern::SyntaxError;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Characters of a class whose letter cases are looked up for one step.
const CHARACTERS_PER_STEP: usize = 3;
/// Most characters that have other letter cases, rounded up.
const CASED_CHARACTERS: usize = 3_000;
/// Ranges that a class may have before those that touch each other are joined.
const MAX_RANGES: usize = 1 << 12;

type Range = (char, char);

/// A group of characters of ASCII by its name.
struct Group {
    name: &'static str,
    ranges: &'static [Range],
}

const fn group(name: &'static str, ranges: &'static [Range]) -> Group {
    Group { name, ranges }
}

const DIGIT: &[Range] = &[('0', '9')];
const WORD: &[Range] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
/// Without the vertical tab, which `[[:space:]]` has.
const SPACE: &[Range] = &[('\t', '\n'), ('\x0C', '\r'), (' ', ' ')];

/// `[[:name:]]`.
const POSIX: &[Group] = &[
    group("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    group("alpha", &[('A', 'Z'), ('a', 'z')]),
    group("ascii", &[('\0', '\x7F')]),
    group("blank", &[('\t', '\t'), (' ', ' ')]),
    group("cntrl", &[('\0', '\x1F'), ('\x7F', '\x7F')]),
    group("digit", DIGIT),
    group("graph", &[('!', '~')]),
    group("lower", &[('a', 'z')]),
    group("print", &[(' ', '~')]),
    group("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    group("space", &[('\t', '\r'), (' ', ' ')]),
    group("upper", &[('A', 'Z')]),
    group("word", WORD),
    group("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

/// Makes classes.
pub(super) struct Classes {
    /// Whether letter cases are counted, and neither they nor properties of Unicode looked up.
    only_counts: bool,
    /// Steps for letter cases.
    pub(super) steps: usize,
    /// Whether the rest of the pattern has no `:]`, so that nobody looks for it again.
    no_posix: bool,
}

impl Classes {
    pub(super) fn new(only_counts: bool) -> Self {
        Self { only_counts, steps: 0, no_posix: false }
    }

    /// The class of all cases of a character.
    pub(super) fn character(&mut self, character: u32) -> ClassUnicode {
        self.part(class_of_numbers(character, character), true, false)
    }

    fn part(&mut self, mut class: ClassUnicode, ignore_case: bool, negated: bool) -> ClassUnicode {
        if ignore_case {
            let many = class.iter().fold(0_usize, |count, range| count.saturating_add(range.len()));
            self.steps = self.steps.saturating_add(many.min(CASED_CHARACTERS) / CHARACTERS_PER_STEP);
            if !self.only_counts {
                fold(&mut class, many);
            }
        }
        if negated {
            class.negate();
        }
        class
    }

    fn ascii(&mut self, ranges: &[Range], ignore_case: bool, negated: bool) -> ClassUnicode {
        let ranges = ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last));
        self.part(ClassUnicode::new(ranges), ignore_case, negated)
    }

    /// Reads `\d`, `\p{..}` and their like, if one comes next. The cursor is at what may be a backslash.
    pub(super) fn escaped(
        &mut self,
        cursor: &mut Cursor<'_>,
        ignore_case: bool,
    ) -> Result<Option<ClassUnicode>, SyntaxError> {
        let from = cursor.at();
        if !cursor.eat("\\") {
            return Ok(None);
        }
        let name = cursor.next();
        let negated = name.is_some_and(|name| name.is_ascii_uppercase());
        let ranges = match name {
            Some('d' | 'D') => DIGIT,
            Some('s' | 'S') => SPACE,
            Some('w' | 'W') => WORD,
            Some('p' | 'P') => return self.property(cursor, from, ignore_case, negated).map(Some),
            _ => {
                cursor.back_to(from);
                return Ok(None);
            }
        };
        Ok(Some(self.ascii(ranges, ignore_case, negated)))
    }

    /// Reads what follows `\p` or `\P`.
    fn property(
        &mut self,
        cursor: &mut Cursor<'_>,
        from: usize,
        ignore_case: bool,
        negated: bool,
    ) -> Result<ClassUnicode, SyntaxError> {
        let name = if cursor.eat("{") {
            cursor.before("}").ok_or_else(|| cursor.error(from, "`\\p{` without `}`"))?
        } else {
            let name = cursor.at();
            cursor.next();
            cursor.since(name)
        };
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, !negated),
            None => (name, negated),
        };
        if self.only_counts {
            // The largest have as many letters.
            let most = if ignore_case { CASED_CHARACTERS / CHARACTERS_PER_STEP } else { 0 };
            self.steps = self.steps.saturating_add(most);
            return Ok(ClassUnicode::empty());
        }
        let class = named(name).ok_or_else(|| {
            let reason = format!("`{}` is no category and no script of Unicode that RE2 knows", cursor.shown(from));
            cursor.error(from, reason)
        })?;
        Ok(self.part(class, ignore_case, negated))
    }

    /// Reads `[:name:]`, if it comes next.
    fn posix(&mut self, cursor: &mut Cursor<'_>, ignore_case: bool) -> Result<Option<ClassUnicode>, SyntaxError> {
        let from = cursor.at();
        if self.no_posix || !cursor.eat("[:") {
            return Ok(None);
        }
        let Some(name) = cursor.before(":]") else {
            self.no_posix = true;
            cursor.back_to(from);
            return Ok(None);
        };
        let (plain, negated) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        match POSIX.iter().find(|group| group.name == plain) {
            Some(group) => Ok(Some(self.ascii(group.ranges, ignore_case, negated))),
            None => Err(cursor.error(
                from,
                format!("`{}` is no class: there are `[:alpha:]`, `[:digit:]` and others", cursor.shown(from)),
            )),
        }
    }

    /// Reads `[..]`. The cursor is at the bracket.
    pub(super) fn bracketed(
        &mut self,
        cursor: &mut Cursor<'_>,
        ignore_case: bool,
    ) -> Result<ClassUnicode, SyntaxError> {
        let from = cursor.at();
        cursor.eat("[");
        let negated = cursor.eat("^");
        let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
        let mut most = MAX_RANGES;
        let mut is_first = true;
        // A bracket that comes first is a character.
        while is_first || !cursor.eat("]") {
            is_first = false;
            let part = match self.posix(cursor, ignore_case)? {
                Some(class) => class,
                None => match self.escaped(cursor, ignore_case)? {
                    Some(class) => class,
                    None => self.range(cursor, from, ignore_case)?,
                },
            };
            ranges.extend(part.ranges());
            if ranges.len() > most {
                ranges = ClassUnicode::new(ranges).ranges().to_vec();
                most = ranges.len().saturating_mul(2).max(MAX_RANGES);
            }
        }
        let mut class = ClassUnicode::new(ranges);
        if negated {
            class.negate();
        }
        Ok(class)
    }

    /// Reads a character, or two with a `-` between them.
    fn range(&mut self, cursor: &mut Cursor<'_>, class: usize, ignore_case: bool) -> Result<ClassUnicode, SyntaxError> {
        let from = cursor.at();
        let first = member(cursor, class)?;
        let mut last = first;
        let minus = cursor.at();
        // Before the end of the class it is a character.
        if cursor.eat("-") {
            match cursor.peek() {
                Some(']') | None => cursor.back_to(minus),
                Some(_) => last = member(cursor, class)?,
            }
        }
        if last < first {
            let reason = format!("`{}` is no range: the last character is before the first", cursor.shown(from));
            return Err(cursor.error(from, reason));
        }
        Ok(self.part(class_of_numbers(first, last), ignore_case, false))
    }
}

/// Reads a character of a class, which begins at `class`.
fn member(cursor: &mut Cursor<'_>, class: usize) -> Result<u32, SyntaxError> {
    if cursor.rest().starts_with('\\') {
        return escape(cursor);
    }
    cursor.next().map(u32::from).ok_or_else(|| cursor.error(class, "unclosed character class"))
}

/// The class of all characters of a range of numbers, among which may be surrogates.
fn class_of_numbers(first: u32, last: u32) -> ClassUnicode {
    let low = (char::from_u32(first), char::from_u32(last.min(0xD7FF)));
    let high = (char::from_u32(first.max(0xE000)), char::from_u32(last));
    let range = |ends| match ends {
        (Some(first), Some(last)) if first <= last => Some(ClassUnicodeRange::new(first, last)),
        _ => None,
    };
    ClassUnicode::new([low, high].into_iter().filter_map(range))
}
