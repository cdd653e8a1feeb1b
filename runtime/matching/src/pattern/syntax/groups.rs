//! Patterns without the groups that nobody reads.

use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};

/// Returns an expression of the same matches that keeps the first `most` groups only. A search
/// reserves memory for each group in each state: for a pattern of thousands of groups gigabytes.
///
/// The result is compiled as it is. Its printed form is another expression: printing drops parentheses that matter.
pub(in crate::pattern) fn keep_groups(hir: Hir, most: u32) -> Hir {
    if hir.properties().explicit_captures_len() == 0 { hir } else { kept(hir, most) }
}

/// [`keep_groups`] of an expression with groups. The parser bounds the nesting.
fn kept(hir: Hir, most: u32) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(|part| kept(part, most)).collect();
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(kept(*sub, most)) })
        }
        HirKind::Capture(Capture { index, name, sub }) => {
            let sub = kept(*sub, most);
            if index > most { sub } else { Hir::capture(Capture { index, name, sub: Box::new(sub) }) }
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}
