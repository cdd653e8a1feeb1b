//! What a pattern says without being run: whether it is a plain text test, and how large its program is at most.

pub(in crate::pattern) mod reach;
pub(in crate::pattern) mod required;
pub(in crate::pattern) mod small_alphabet;

use crate::pattern::syntax::constant::constant;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::parse::parse;
use regex_syntax::hir::literal::{Extractor, Literal};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Most texts that a pattern may stand for as whole texts, which are looked up in a set.
const MAX_WHOLE_TEXTS: usize = 64;
/// Most texts that a pattern may stand for as prefixes or suffixes, which are tried one after the other.
const MAX_PARTIAL_TEXTS: usize = 4;
/// Longest of these texts, in bytes.
const MAX_TEXT_BYTES: usize = 1024;
/// Most members of a character class in such a pattern.
const MAX_CLASS_MEMBERS: usize = 10;
/// Most repetitions of a part of such a pattern.
const MAX_REPETITIONS: u32 = 10;
/// What every program has, in bytes.
pub(in crate::pattern) const MIN_PROGRAM_BYTES: usize = 2048;
/// A state, with its transitions, in bytes.
const STATE: usize = 128;

/// A plain test of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextTest {
    /// The text equals this one.
    Is(Box<str>),
    /// The text starts with this one.
    StartsWith(Box<str>),
    /// The text ends with this one.
    EndsWith(Box<str>),
    /// The text contains this one.
    Contains(Box<str>),
}

/// What is known of a valid pattern without compiling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// If not empty: the pattern matches if and only if one of these tests holds.
    pub tests: Vec<TextTest>,
    /// Upper bound of the size of its compiled program, in bytes.
    pub program_bytes: usize,
    /// Whether it matches every text (`a|`) or none (`$a`), if that is easily seen.
    pub constant: Option<bool>,
}

/// Returns what is known of a pattern without compiling it, or `None` if it is not valid.
///
/// ```
/// use celero_matching::pattern::{TextTest, analyze};
///
/// let tests = |pattern: &str| analyze(pattern).map(|analysis| analysis.tests);
/// assert_eq!(tests("^/admin"), Some(vec![TextTest::StartsWith("/admin".into())]));
/// assert_eq!(tests("a+b"), Some(vec![]));
/// assert_eq!(tests("("), None);
/// ```
#[must_use]
pub fn analyze<'p>(pattern: impl Into<Pattern<'p>>) -> Option<Analysis> {
    parse(pattern).map(|hir| analyze_parsed(&hir))
}

/// [`analyze`] for a pattern that was parsed.
pub(in crate::pattern) fn analyze_parsed(hir: &Hir) -> Analysis {
    Analysis { tests: plain_tests(hir).unwrap_or_default(), program_bytes: program_bound(hir), constant: constant(hir) }
}

/// Returns tests of which one holds if and only if the pattern matches, if there are few.
fn plain_tests(hir: &Hir) -> Option<Vec<TextTest>> {
    let mut rest = Vec::new();
    flatten(hir, &mut rest);
    let mut rest = rest.as_slice();
    let (mut start, mut end) = (false, false);
    while let Some((first, others)) = rest.split_first() {
        start |= is_look(first, Look::Start);
        // At an end without an anchor, what may be empty decides nothing.
        if !is_look(first, Look::Start) && (start || !may_be_empty(first)) {
            break;
        }
        rest = others;
    }
    while let Some((last, others)) = rest.split_last() {
        end |= is_look(last, Look::End);
        if !is_look(last, Look::End) && (end || !may_be_empty(last)) {
            break;
        }
        rest = others;
    }
    // Extracting texts takes much longer than this, and is in vain for most patterns.
    if !rest.iter().all(|part| part.properties().look_set().is_empty() && may_be_few_texts(part)) {
        return None;
    }
    let middle = Hir::concat(rest.iter().copied().cloned().collect());
    let (most, test): (usize, fn(_) -> _) = match (start, end) {
        (true, true) => (MAX_WHOLE_TEXTS, TextTest::Is),
        (true, false) => (MAX_PARTIAL_TEXTS, TextTest::StartsWith),
        (false, true) => (MAX_PARTIAL_TEXTS, TextTest::EndsWith),
        (false, false) => (1, TextTest::Contains),
    };
    let texts = Extractor::new()
        .limit_class(MAX_CLASS_MEMBERS)
        .limit_repeat(MAX_REPETITIONS as usize)
        .limit_literal_len(MAX_TEXT_BYTES)
        .limit_total(most)
        .extract(&middle);
    let texts = texts.literals().filter(|all| !all.is_empty() && all.len() <= most)?;
    let text =
        |text: &Literal| text.is_exact().then(|| std::str::from_utf8(text.as_bytes()).ok()).flatten().map(Into::into);
    texts.iter().map(|literal| text(literal).map(test)).collect()
}

/// Whether a part of a pattern may stand for a few texts, each of which [`Extractor`] finds as a
/// whole. False for a part that stands for arbitrarily long texts, or that has a large class or
/// many repetitions.
fn may_be_few_texts(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => true,
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().fold(0_usize, |count, range| count.saturating_add(range.len())) <= MAX_CLASS_MEMBERS
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().fold(0_usize, |count, range| count.saturating_add(range.len())) <= MAX_CLASS_MEMBERS
        }
        HirKind::Repetition(repetition) => {
            let is_exact = match (repetition.min, repetition.max) {
                (0, max) => max == Some(1),
                (min, max) => max == Some(min) && min <= MAX_REPETITIONS,
            };
            is_exact && may_be_few_texts(&repetition.sub)
        }
        HirKind::Capture(group) => may_be_few_texts(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(may_be_few_texts),
    }
}

/// Adds the elements of a sequence to `found`, those of groups and nested sequences too.
pub(in crate::pattern) fn flatten<'h>(hir: &'h Hir, found: &mut Vec<&'h Hir>) {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().for_each(|part| flatten(part, found)),
        HirKind::Capture(group) => flatten(&group.sub, found),
        _ => found.push(hir),
    }
}

pub(in crate::pattern) fn is_look(hir: &Hir, look: Look) -> bool {
    matches!(hir.kind(), HirKind::Look(found) if *found == look)
}

fn may_be_empty(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Repetition(repetition) if repetition.min == 0)
}

/// Upper bound of the states of a pattern's program.
pub(crate) fn program_states(hir: &Hir) -> usize {
    (program_bytes(hir) / STATE).max(1)
}

/// Upper bound of the bytes of a pattern's program, for both search directions.
pub(in crate::pattern) fn program_bound(hir: &Hir) -> usize {
    program_bytes(hir).saturating_add(MIN_PROGRAM_BYTES)
}

/// [`program_bound`] without [`MIN_PROGRAM_BYTES`].
fn program_bytes(hir: &Hir) -> usize {
    /// A range of characters that are not all ASCII, with the states of its bytes.
    const WIDE: usize = 1024;
    let own = |inner: usize| inner.saturating_add(STATE);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE,
        HirKind::Literal(text) => own(text.0.len().saturating_mul(STATE)),
        HirKind::Class(Class::Bytes(class)) => own(class.ranges().len().saturating_mul(STATE)),
        HirKind::Class(Class::Unicode(class)) => {
            let of = |wide: bool| if wide { WIDE } else { STATE };
            let ranges = class.ranges().iter().map(|range| of(!range.end().is_ascii()));
            own(ranges.fold(0, usize::saturating_add))
        }
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min).max(1) as usize;
            own(program_bytes(&repetition.sub)).saturating_mul(copies.saturating_add(1))
        }
        HirKind::Capture(group) => own(own(program_bytes(&group.sub))),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(STATE, |sum, part| own(sum.saturating_add(program_bytes(part))))
        }
    }
}
