//! Sequences, groups, flags and repetitions.

use super::class::Classes;
use super::cursor::{Cursor, shown};
use super::escape::escape;
use crate::pattern::SyntaxError;
use regex_syntax::hir::{Capture, Class, ClassUnicode, Dot, Hir, Look, Repetition};
use std::collections::HashSet;

/// Most copies of a part that repetitions may ask for, together with the repetitions around them.
const MAX_COPIES: u32 = 1000;
/// Digits of a number of copies that are read: more than enough for one that is too large.
const MAX_DIGITS: usize = 9;

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_matches_newline: bool,
    /// Whether repetitions prefer few copies.
    swap_greed: bool,
}

/// A part of a pattern.
struct Part {
    hir: Hir,
    /// How deep its parsed form nests.
    nesting: u32,
    /// Copies that its nested repetitions ask for.
    copies: u32,
}

impl Part {
    fn leaf(hir: Hir) -> Self {
        Self { hir, nesting: 0, copies: 1 }
    }

    /// Several parts as one.
    fn of(parts: Vec<Self>, join: fn(Vec<Hir>) -> Hir) -> Self {
        let deeper = u32::from(parts.len() > 1);
        let nesting = parts.iter().map(|part| part.nesting).max().unwrap_or(0).saturating_add(deeper);
        let copies = parts.iter().map(|part| part.copies).max().unwrap_or(1);
        Self { hir: join(parts.into_iter().map(|part| part.hir).collect()), nesting, copies }
    }
}

/// What a parenthesis opens.
enum Kind {
    Plain,
    Numbered { index: u32, name: Option<Box<str>> },
}

/// A group that is open, or the whole pattern.
struct Group {
    kind: Kind,
    /// Where it begins.
    at: usize,
    /// The flags to go back to.
    outside: Flags,
    alternatives: Vec<Part>,
    /// The parts of the last alternative.
    parts: Vec<Part>,
}

impl Group {
    fn new(kind: Kind, at: usize, outside: Flags) -> Self {
        Self { kind, at, outside, alternatives: Vec::new(), parts: Vec::new() }
    }

    fn end_alternative(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        self.alternatives.push(Part::of(parts, Hir::concat));
    }
}

pub(super) struct Parser<'p> {
    cursor: Cursor<'p>,
    most_nesting: u32,
    classes: Classes,
    flags: Flags,
    /// The innermost group that is open.
    group: Group,
    /// Those around it.
    groups: Vec<Group>,
    /// Number of groups with a number.
    numbered: u32,
    names: HashSet<&'p str>,
    /// Whether the cursor is right behind a repetition.
    repeated: bool,
}

impl<'p> Parser<'p> {
    /// A parser that looks up no letter cases if it `only_counts` what that takes.
    pub(super) fn new(pattern: &'p str, most_nesting: u32, only_counts: bool) -> Self {
        Self {
            cursor: Cursor::new(pattern),
            most_nesting,
            classes: Classes::new(only_counts),
            flags: Flags::default(),
            group: Group::new(Kind::Plain, 0, Flags::default()),
            groups: Vec::new(),
            numbered: 0,
            names: HashSet::new(),
            repeated: false,
        }
    }

    /// Returns the parsed pattern, and the steps for letter cases. The pattern is `None` if these
    /// are more than `most_steps`.
    pub(super) fn parse(mut self, most_steps: usize) -> Result<(Option<Hir>, usize), SyntaxError> {
        while let Some(next) = self.cursor.peek() {
            if self.classes.steps > most_steps {
                return Ok((None, self.classes.steps));
            }
            let repeated = std::mem::take(&mut self.repeated);
            self.next(next, repeated)?;
        }
        if !self.groups.is_empty() {
            let at = self.group.at;
            return Err(SyntaxError::new("unclosed group", at..at.saturating_add(1)));
        }
        self.group.end_alternative();
        let alternatives = std::mem::take(&mut self.group.alternatives);
        let whole = self.joined(0, alternatives)?;
        let steps = self.classes.steps;
        Ok((Some(whole.hir).filter(|_| steps <= most_steps), steps))
    }

    /// Reads what begins with the next character. `repeated`: a repetition is right before it.
    fn next(&mut self, next: char, repeated: bool) -> Result<(), SyntaxError> {
        let from = self.cursor.at();
        let flags = self.flags;
        match next {
            '(' => return self.open(),
            '\\' => return self.backslash(),
            '[' => {
                let class = self.classes.bracketed(&mut self.cursor, flags.ignore_case)?;
                self.class(class);
                return Ok(());
            }
            _ => {}
        }
        self.cursor.next();
        match next {
            ')' => self.close(from)?,
            '|' => self.group.end_alternative(),
            '^' => self.push(Hir::look(if flags.multi_line { Look::StartLF } else { Look::Start })),
            '$' => self.push(Hir::look(if flags.multi_line { Look::EndLF } else { Look::End })),
            '.' => self.push(Hir::dot(if flags.dot_matches_newline { Dot::AnyChar } else { Dot::AnyCharExceptLF })),
            '*' => self.repeat(from, 0, None, repeated)?,
            '+' => self.repeat(from, 1, None, repeated)?,
            '?' => self.repeat(from, 0, Some(1), repeated)?,
            '{' => match self.bounds() {
                Some((min, max)) => self.repeat(from, min, max, repeated)?,
                None => self.character('{'.into()),
            },
            other => self.character(other.into()),
        }
        Ok(())
    }

    fn push(&mut self, hir: Hir) {
        self.group.parts.push(Part::leaf(hir));
    }

    fn class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    fn character(&mut self, character: u32) {
        if self.flags.ignore_case {
            let class = self.classes.character(character);
            return self.class(class);
        }
        // A surrogate occurs in no text.
        self.push(char::from_u32(character).map_or_else(Hir::fail, |c| Hir::literal(c.to_string().into_bytes())));
    }

    fn backslash(&mut self) -> Result<(), SyntaxError> {
        for (escape, look) in
            [("\\A", Look::Start), ("\\z", Look::End), ("\\b", Look::WordAscii), ("\\B", Look::WordAsciiNegate)]
        {
            if self.cursor.eat(escape) {
                self.push(Hir::look(look));
                return Ok(());
            }
        }
        if self.cursor.eat("\\Q") {
            for quoted in self.cursor.before_or_rest("\\E").chars() {
                self.character(quoted.into());
            }
            return Ok(());
        }
        match self.classes.escaped(&mut self.cursor, self.flags.ignore_case)? {
            Some(class) => self.class(class),
            None => {
                let character = escape(&mut self.cursor)?;
                self.character(character);
            }
        }
        Ok(())
    }

    /// Reads what opens a group, or flags without one.
    fn open(&mut self) -> Result<(), SyntaxError> {
        let from = self.cursor.at();
        if self.cursor.eat("(?P<") || self.cursor.eat("(?<") {
            return self.open_named(from);
        }
        if self.cursor.eat("(?") {
            return self.flags(from);
        }
        self.cursor.eat("(");
        self.open_numbered(from, None);
        Ok(())
    }

    fn open_numbered(&mut self, at: usize, name: Option<Box<str>>) {
        self.numbered = self.numbered.saturating_add(1);
        self.open_group(Group::new(Kind::Numbered { index: self.numbered, name }, at, self.flags));
    }

    fn open_group(&mut self, group: Group) {
        let outer = std::mem::replace(&mut self.group, group);
        self.groups.push(outer);
    }

    fn open_named(&mut self, from: usize) -> Result<(), SyntaxError> {
        if self.cursor.since(from) == "(?<" && matches!(self.cursor.peek(), Some('=' | '!')) {
            self.cursor.next();
            return Err(self.look_around(from));
        }
        let Some(name) = self.cursor.before(">") else {
            return Err(self.cursor.error(from, "the name of a group without `>`"));
        };
        if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Err(self.cursor.error(from, "the name of a group has only ASCII letters, digits and `_`"));
        }
        // Of several groups with one name, the name is that of the first.
        let name = self.names.insert(name).then(|| name.into());
        self.open_numbered(from, name);
        Ok(())
    }

    fn look_around(&self, from: usize) -> SyntaxError {
        self.cursor.error(from, format!("`{}`: RE2 has no look-around", self.cursor.shown(from)))
    }

    /// Reads flags, and the colon or parenthesis behind them.
    fn flags(&mut self, from: usize) -> Result<(), SyntaxError> {
        let mut flags = self.flags;
        let (mut value, mut is_empty) = (true, true);
        loop {
            let flag = match self.cursor.next() {
                Some('i') => &mut flags.ignore_case,
                Some('m') => &mut flags.multi_line,
                Some('s') => &mut flags.dot_matches_newline,
                Some('U') => &mut flags.swap_greed,
                Some('-') if value => {
                    (value, is_empty) = (false, true);
                    continue;
                }
                Some(end @ (':' | ')')) if value || !is_empty => {
                    if end == ':' {
                        self.open_group(Group::new(Kind::Plain, from, self.flags));
                    }
                    self.flags = flags;
                    return Ok(());
                }
                Some('=' | '!') if is_empty && value => return Err(self.look_around(from)),
                Some(other) => {
                    let reason = format!(
                        "`{}` is no flag: flags are `i`, `m`, `s` and `U`, as in `(?i)` or `(?s:.)`",
                        shown(other.encode_utf8(&mut [0; 4]))
                    );
                    return Err(self.cursor.error(from, reason));
                }
                None => return Err(self.cursor.error(from, "unclosed group")),
            };
            *flag = value;
            is_empty = false;
        }
    }

    /// Ends the innermost group, at the parenthesis that was read.
    fn close(&mut self, parenthesis: usize) -> Result<(), SyntaxError> {
        let Some(outer) = self.groups.pop() else {
            return Err(self.cursor.error(parenthesis, "unopened group: write `\\)` for the character"));
        };
        let mut group = std::mem::replace(&mut self.group, outer);
        group.end_alternative();
        self.flags = group.outside;
        let mut part = self.joined(group.at, group.alternatives)?;
        if let Kind::Numbered { index, name } = group.kind {
            part.hir = Hir::capture(Capture { index, name, sub: Box::new(part.hir) });
            part.nesting = part.nesting.saturating_add(1);
        }
        self.group.parts.push(self.checked(group.at, part)?);
        Ok(())
    }

    /// A group of these alternatives.
    fn joined(&self, from: usize, alternatives: Vec<Part>) -> Result<Part, SyntaxError> {
        self.checked(from, Part::of(alternatives, Hir::alternation))
    }

    fn checked(&self, from: usize, part: Part) -> Result<Part, SyntaxError> {
        if part.nesting > self.most_nesting {
            let reason = format!("groups and repetitions nest more than {} deep", self.most_nesting);
            return Err(self.cursor.error(from, reason));
        }
        Ok(part)
    }

    /// Reads what follows the brace of `{2}`, `{2,}` or `{2,3}`. `None` for everything else, where
    /// the brace is a character.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let from = self.cursor.at();
        let bounds = self.closed_bounds();
        if bounds.is_none() {
            self.cursor.back_to(from);
        }
        bounds
    }

    fn closed_bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let min = self.number()?;
        let max = if !self.cursor.eat(",") {
            Some(min)
        } else if self.cursor.rest().starts_with('}') {
            None
        } else {
            Some(self.number()?)
        };
        self.cursor.eat("}").then_some((min, max))
    }

    /// A number without leading zeros. One of many digits is the largest.
    fn number(&mut self) -> Option<u32> {
        let from = self.cursor.at();
        while self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
            self.cursor.next();
        }
        let digits = self.cursor.since(from);
        match digits.len() {
            0 => None,
            1..=MAX_DIGITS if digits == "0" || !digits.starts_with('0') => digits.parse().ok(),
            1.. if digits.starts_with('0') => None,
            _ => Some(u32::MAX),
        }
    }

    /// Repeats the last part. `from` is where the operator begins, which was read.
    fn repeat(&mut self, from: usize, min: u32, max: Option<u32>, repeated: bool) -> Result<(), SyntaxError> {
        let operator = self.cursor.shown(from);
        let greedy = self.cursor.eat("?") == self.flags.swap_greed;
        let most = max.unwrap_or(min);
        if min > MAX_COPIES || most > MAX_COPIES {
            return Err(self.cursor.error(from, format!("`{operator}` asks for more than {MAX_COPIES} copies")));
        }
        if most < min {
            return Err(self.cursor.error(from, format!("`{operator}` asks for at most fewer copies than at least")));
        }
        if repeated {
            let reason = format!("`{operator}` repeats a repetition: put that into a group, as in `(?:a*)*`");
            return Err(self.cursor.error(from, reason));
        }
        let Some(part) = self.group.parts.pop() else {
            return Err(self
                .cursor
                .error(from, format!("`{operator}` has nothing to repeat: write `\\{operator}` for the text")));
        };
        self.repeated = true;
        let copies = if max == Some(0) { 1 } else { part.copies.saturating_mul(most.max(1)) };
        if copies > MAX_COPIES {
            let reason =
                format!("`{operator}` and the repetitions in it ask for more than {MAX_COPIES} copies together");
            return Err(self.cursor.error(from, reason));
        }
        let hir = match max {
            Some(0) => no_copies(part.hir),
            _ => Hir::repetition(Repetition { min, max, greedy, sub: Box::new(part.hir) }),
        };
        let part = Part { hir, nesting: part.nesting.saturating_add(1), copies };
        self.group.parts.push(self.checked(from, part)?);
        Ok(())
    }
}

/// A part that is repeated zero times. Its groups have numbers all the same.
fn no_copies(part: Hir) -> Hir {
    if part.properties().explicit_captures_len() == 0 {
        return Hir::empty();
    }
    Hir::alternation(vec![Hir::empty(), Hir::concat(vec![Hir::fail(), part])])
}
