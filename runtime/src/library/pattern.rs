//! What a pattern says without being run: that it is plain text at a certain place, or begins or ends with some.

use super::regex::MAX_NESTING;
use celero_ir::passes::TextTest;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Most texts that a pattern may stand for: as whole texts, which are a set, and as parts, tried one after the other.
const MOST_WHOLE: usize = 64;
const MOST_PARTS: usize = 4;

/// Longest of them in bytes.
const LONGEST: usize = 1024;

/// The pattern as a tree. `None` if it is not valid.
pub(crate) fn syntax(pattern: &str) -> Option<Hir> {
    ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(pattern).ok()
}

/// What can be said of a valid pattern without compiling it.
pub(crate) struct Known {
    /// It matches just when one of these holds. Without any it has to be run.
    pub(crate) tests: Vec<TextTest>,
    /// Its program has no more bytes than that.
    pub(crate) size: usize,
}

/// What can be said of a pattern without compiling it; `None` if it is not valid.
pub(crate) fn known(pattern: &str) -> Option<Known> {
    let hir = syntax(pattern)?;
    Some(Known { tests: plain_tests(&hir).unwrap_or_default(), size: size(&hir).saturating_add(SMALLEST) })
}

/// The tests on text of which one holds just when a pattern matches, if there are few.
fn plain_tests(hir: &Hir) -> Option<Vec<TextTest>> {
    let mut rest = Vec::new();
    pieces(hir, &mut rest);
    let mut rest = rest.as_slice();
    let (mut start, mut end) = (false, false);
    while let Some((first, others)) = rest.split_first() {
        start |= is_look(first, Look::Start);
        // What may be empty at an open end does not decide anything.
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
    let middle = Hir::concat(rest.iter().copied().cloned().collect());
    if !middle.properties().look_set().is_empty() {
        return None;
    }
    let (most, test): (usize, fn(_) -> _) = match (start, end) {
        (true, true) => (MOST_WHOLE, TextTest::Is),
        (true, false) => (MOST_PARTS, TextTest::StartsWith),
        (false, true) => (MOST_PARTS, TextTest::EndsWith),
        (false, false) => (1, TextTest::Contains),
    };
    let texts = Extractor::new().limit_literal_len(LONGEST).limit_total(most).extract(&middle);
    let texts = texts.literals().filter(|all| !all.is_empty() && all.len() <= most)?;
    let text = |text: &regex_syntax::hir::literal::Literal| {
        text.is_exact().then(|| std::str::from_utf8(text.as_bytes()).ok()).flatten().map(Into::into)
    };
    texts.iter().map(|literal| text(literal).map(test)).collect()
}

/// What every match has at its beginning, or with `backward` at its end, anchors aside.
pub(super) fn affix(hir: &Hir, backward: bool) -> Vec<u8> {
    let mut all = Vec::new();
    pieces(hir, &mut all);
    let anchor = if backward { Look::End } else { Look::Start };
    let mut inwards: Box<dyn Iterator<Item = &&Hir>> =
        if backward { Box::new(all.iter().rev()) } else { Box::new(all.iter()) };
    match inwards.find(|piece| !is_look(piece, anchor)).map(|piece| piece.kind()) {
        Some(HirKind::Literal(literal)) => literal.0.to_vec(),
        _ => Vec::new(),
    }
}

/// The parts of a sequence, groups opened.
fn pieces<'h>(hir: &'h Hir, found: &mut Vec<&'h Hir>) {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().for_each(|part| pieces(part, found)),
        HirKind::Capture(group) => pieces(&group.sub, found),
        _ => found.push(hir),
    }
}

fn is_look(hir: &Hir, look: Look) -> bool {
    matches!(hir.kind(), HirKind::Look(found) if *found == look)
}

fn may_be_empty(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Repetition(repetition) if repetition.min == 0)
}

/// What every program has, in bytes.
const SMALLEST: usize = 2048;

/// A bound on the bytes of a pattern's program, forwards and backwards, but for [`SMALLEST`].
fn size(hir: &Hir) -> usize {
    /// A state, with what leads to it.
    const STATE: usize = 128;
    /// A range of characters beyond ASCII, with the states of its bytes.
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
            own(size(&repetition.sub)).saturating_mul(copies.saturating_add(1))
        }
        HirKind::Capture(group) => own(own(size(&group.sub))),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(STATE, |sum, part| own(sum.saturating_add(size(part))))
        }
    }
}
