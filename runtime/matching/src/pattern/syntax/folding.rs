//! What parsing a pattern costs beyond reading it: classes of characters whose other letter cases
//! are looked up one by one.

use crate::pattern::syntax::dialect::{Dialect, Pattern};
use crate::pattern::syntax::limits::{MAX_BYTE_NESTING, MAX_PATTERN_BYTES, PatternError, Syntax};
use crate::pattern::syntax::re2;
use regex_syntax::ast::{
    Ast, ClassPerl, ClassSetBinaryOp, ClassSetItem, ClassUnicode, Flag, Flags, Visitor, parse::ParserBuilder, visit,
};

/// Steps for a class of most characters: some seven milliseconds.
const WIDE_STEPS: usize = 75_000;
/// Steps for a class of some thousand characters.
const PROPERTY_STEPS: usize = 2_000;
/// A range of more characters than this is wide.
const MANY: u32 = 1 << 12;

/// Most steps for the letter cases of a pattern: some seventy milliseconds.
pub(in crate::pattern) const MAX_STEPS: usize = 10 * WIDE_STEPS;

/// Returns an error if parsing a pattern would take too long: if it ignores case in more than a few
/// classes of most characters.
///
/// Functions of this module that parse a pattern check the same before they look up letter cases.
/// Call it before parsing a pattern with other means.
///
/// # Errors
/// [`PatternError::TooManyCases`].
pub fn check_cases<'p>(pattern: impl Into<Pattern<'p>>) -> Result<(), PatternError> {
    if folding_steps(pattern) > MAX_STEPS { Err(PatternError::TooManyCases) } else { Ok(()) }
}

/// [`check_cases`] of a pattern that was parsed so far. In one on bytes, only with `(?u)` are there
/// classes of more than 256 characters.
pub(in crate::pattern) fn check_parsed_cases(ast: &Ast, syntax: Syntax) -> Result<(), PatternError> {
    let many =
        count_parsed(ast).is_some_and(|count| count.steps > MAX_STEPS && (syntax == Syntax::Text || count.unicode));
    if many { Err(PatternError::TooManyCases) } else { Ok(()) }
}

/// Returns an upper bound of the steps (see [`Meter`](crate::pattern::Meter)) that each parsing of
/// the pattern takes for letter cases: zero for a pattern that regards case, and for one that is
/// not valid.
///
/// Use it to bound what parsing many patterns takes together: [`check_cases`] bounds it for each of them.
#[must_use]
pub fn folding_steps<'p>(pattern: impl Into<Pattern<'p>>) -> usize {
    let Pattern { text, dialect } = pattern.into();
    match dialect {
        // A longer pattern is refused before it is parsed.
        Dialect::Re2 if text.len() <= MAX_PATTERN_BYTES && may_ignore_case(text) => re2::folding_steps(text),
        Dialect::Re2 => 0,
        Dialect::Regex => count(text).map_or(0, |count| count.steps),
    }
}

/// [`folding_steps`] of a pattern on bytes: only `(?u)` gives it classes of more than 256 characters.
#[must_use]
pub fn byte_folding_steps(pattern: &str) -> usize {
    count(pattern).filter(|count| count.unicode).map_or(0, |count| count.steps)
}

/// Counts the steps of a pattern that ignores case somewhere. `None` for other patterns, and for what is not valid.
fn count(pattern: &str) -> Option<Count> {
    if !may_ignore_case(pattern) {
        return None;
    }
    count_parsed(&ParserBuilder::new().nest_limit(MAX_BYTE_NESTING).build().parse(pattern).ok()?)
}

/// Returns whether a pattern may ignore case: only a flag makes it do so. Of other patterns [`folding_steps`] is zero.
#[must_use]
pub fn may_ignore_case(pattern: &str) -> bool {
    pattern.contains("(?")
}

fn count_parsed(ast: &Ast) -> Option<Count> {
    let Ok(count) = visit(ast, Count::default());
    count.ignores_case.then_some(count)
}

#[derive(Default)]
struct Count {
    /// Whether some part of the pattern ignores case.
    ignores_case: bool,
    /// Whether some part of it switches Unicode on.
    unicode: bool,
    steps: usize,
    /// Classes within the current one, each of which is looked up.
    inner: usize,
    /// Whether the current class has many characters.
    wide: bool,
}

impl Count {
    fn add(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps);
    }

    fn flags(&mut self, flags: &Flags) {
        let switches_on = |flag| flags.flag_state(flag) == Some(true);
        self.ignores_case |= switches_on(Flag::CaseInsensitive);
        self.unicode |= switches_on(Flag::Unicode);
    }

    fn unicode(&mut self, class: &ClassUnicode) {
        self.add(PROPERTY_STEPS);
        self.wide |= class.is_negated();
    }

    fn perl(&mut self, class: &ClassPerl) {
        self.add(PROPERTY_STEPS);
        self.wide |= class.negated;
    }

    fn class_begins(&mut self) {
        (self.inner, self.wide) = (1, false);
    }

    fn class_ends(&mut self) {
        if self.wide {
            self.add(WIDE_STEPS.saturating_mul(self.inner));
        }
    }

    fn inner(&mut self) {
        self.inner = self.inner.saturating_add(1);
    }
}

impl Visitor for Count {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                if let Some(flags) = group.flags() {
                    self.flags(flags);
                }
            }
            Ast::ClassUnicode(class) => {
                self.class_begins();
                self.unicode(class);
                self.class_ends();
            }
            Ast::ClassBracketed(_) => self.class_begins(),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::ClassBracketed(_) = ast {
            self.class_ends();
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Range(range) => {
                let count = u32::from(range.end.c).saturating_sub(range.start.c.into());
                self.wide |= count > MANY;
            }
            ClassSetItem::Unicode(class) => self.unicode(class),
            ClassSetItem::Perl(class) => self.perl(class),
            ClassSetItem::Ascii(class) => self.wide |= class.negated,
            ClassSetItem::Bracketed(class) => {
                self.inner();
                self.wide |= class.negated;
            }
            ClassSetItem::Empty(_) | ClassSetItem::Literal(_) | ClassSetItem::Union(_) => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), Self::Err> {
        // Both operands are looked up.
        self.inner();
        self.inner();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_classes_that_ignore_case_are_expensive() {
        for (pattern, least, most) in [
            (r"[\s\S]*x", 0, 0),
            (r"(?-i)[\s\S]*x", 0, 0),
            (r"(?m-i:[\s\S]*x)", 0, 0),
            ("(?i)select", 0, 0),
            ("(?i)[a-z]+[^>]", 0, 0),
            (r"(?i)\w+\S", 0, 0),
            (r"(?i)\pL[\w]", 4_000, 4_000),
            (r"(?i)[\s\S]*x", 75_000, 80_000),
            (r"(?i:a)|[[^a][b]]\PL", 300_000, 310_000),
            (r"(?i)[\x{0}-\x{10FFFF}]", 75_000, 75_000),
            ("(", 0, 0),
        ] {
            let steps = folding_steps(pattern);
            assert!((least..=most).contains(&steps), "{pattern}: {steps}");
        }
    }
}
