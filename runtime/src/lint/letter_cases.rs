//! What the patterns of an expression take for letter cases, counted before any of them is parsed with these.

use super::TOO_MANY_CASES;
use super::literals::takes_pattern;
use celero_frontend::{Checked, Diagnostic, Expr, Literal, NodeId, Overload, Reference, Span, Stage};
use celero_matching::pattern::{Dialect, folding_steps, may_ignore_case};
use std::borrow::Cow;
use std::collections::HashSet;

/// Returns the sum of the [steps](folding_steps) of the patterns of a tree of CEL, each distinct one once.
///
/// # Errors
/// It is more than `limit`; at the pattern that exceeds it.
pub(crate) fn case_steps(tree: &Checked, limit: usize, dialect: Dialect) -> Result<usize, Diagnostic> {
    sum_of_case_steps(checked_patterns(tree), |pattern| folding_steps(dialect.pattern(pattern)), limit)
}

/// Returns the sum of the steps of patterns, each distinct one once.
///
/// # Errors
/// It is more than `limit`; at the pattern that exceeds it.
pub(crate) fn sum_of_case_steps<'t>(
    patterns: impl Iterator<Item = (Cow<'t, str>, Span)>,
    steps: impl Fn(&str) -> usize,
    limit: usize,
) -> Result<usize, Diagnostic> {
    let mut known = HashSet::new();
    let mut sum = 0_usize;
    for (pattern, span) in patterns.filter(|(pattern, _)| may_ignore_case(pattern)) {
        if known.contains(&pattern) {
            continue;
        }
        // Counting parses the pattern: once for all its occurrences.
        sum = sum.saturating_add(steps(&pattern));
        known.insert(pattern);
        if sum > limit {
            return Err(exceeded_case_steps(span, limit));
        }
    }
    Ok(sum)
}

/// The error about patterns whose [steps](folding_steps) exceed a limit.
pub(crate) fn exceeded_case_steps(span: Span, limit: usize) -> Diagnostic {
    let message = format!(
        "up to this pattern, the letter cases of large classes in patterns that ignore case take more than {limit} steps (`case_steps`)"
    );
    let mut error = Diagnostic::error(Stage::Limit, TOO_MANY_CASES, span, message);
    error.help.push("write `(?s:.)` for any character, and `(?-i:..)` around classes that have all cases".to_owned());
    error
}

/// The patterns of a tree of CEL: constant ones, and of computed ones the literals that they are
/// made of, which may be folded to a constant.
fn checked_patterns(tree: &Checked) -> impl Iterator<Item = (Cow<'_, str>, Span)> {
    let ast = tree.ast();
    let calls = (0_u32..).map(NodeId).zip(ast.nodes()).filter_map(|(id, node)| {
        let Expr::Call { target, args, .. } = &node.expr else { return None };
        let Reference::Call { overloads, receiver } = tree.reference(id) else { return None };
        let is_pattern =
            |overload: &Overload| matches!(overload, Overload::Builtin(builtin) if takes_pattern(*builtin));
        if !overloads.iter().any(is_pattern) {
            return None;
        }
        let receiver = target.iter().filter(|_| *receiver);
        receiver.chain(ast.children(*args)).nth(1).copied()
    });
    calls.filter_map(move |pattern| {
        if let Expr::Literal(Literal::String(text)) = ast.expr(pattern) {
            return Some((Cow::Borrowed(&**text), ast.span(pattern)));
        }
        let mut text = String::new();
        let mut nodes = vec![pattern];
        while let Some(id) = nodes.pop() {
            if let Expr::Literal(Literal::String(part)) = ast.expr(id) {
                text.push_str(part);
            }
            let first = nodes.len();
            ast.each_child(id, |child| nodes.push(child));
            nodes.get_mut(first..)?.reverse();
        }
        Some((Cow::Owned(text), ast.span(pattern)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_distinct_pattern_is_counted_once() {
        let counted = Cell::new(0);
        let steps = |_: &str| {
            counted.set(counted.get() + 1);
            5
        };
        let patterns =
            ["(?i)a", "b", "(?i)a", "(?s)c", "(?i)a", "b"].map(|text| (Cow::Borrowed(text), Span::new(0, 0)));
        assert_eq!(sum_of_case_steps(patterns.into_iter(), steps, 100).unwrap(), 10);
        assert_eq!(counted.get(), 2);
    }
}
