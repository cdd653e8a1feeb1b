//! Makes a failing expression small: replaces sub-expressions by parts of themselves or by short
//! literals, as long as it still fails.

use celero_frontend::{Limits, parse};

const LITERALS: &[&str] = &["0", "1", "true", "false", "''", "[]", "{}", "null", "0u", "0.0", "b''", "optional.none()"];

/// The smallest expression found for which `fails` still holds, in at most `tries` tries. Gives
/// `source` back when nothing smaller fails.
pub fn minimise(source: &str, tries: usize, mut fails: impl FnMut(&str) -> bool) -> String {
    let mut best = source.to_owned();
    let mut left = tries;
    'smaller: loop {
        for candidate in candidates(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                best = candidate;
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Shorter texts to try, the most promising first.
fn candidates(source: &str) -> Vec<String> {
    let Ok(ast) = parse(source, &Limits::default()) else { return Vec::new() };
    let mut spans: Vec<(usize, usize)> =
        ast.nodes().iter().map(|n| (n.span.start as usize, n.span.end as usize)).collect();
    spans.sort_by_key(|(start, end)| (std::cmp::Reverse(end.saturating_sub(*start)), *start));
    spans.dedup();
    let mut candidates: Vec<String> = Vec::new();
    let mut offer = |start: usize, end: usize, text: &str| {
        let (Some(before), Some(after)) = (source.get(..start), source.get(end..)) else { return };
        let candidate = format!("{before}{text}{after}");
        if candidate.len() < source.len() && !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    };
    for &(start, end) in &spans {
        for &(from, to) in
            spans.iter().filter(|(from, to)| *from >= start && *to <= end && (*from, *to) != (start, end))
        {
            if let Some(part) = source.get(from..to) {
                offer(start, end, part);
                offer(start, end, &format!("({part})"));
            }
        }
        for literal in LITERALS {
            offer(start, end, literal);
        }
    }
    // Without a list's element, an argument, an entry: from one separator to the next.
    for (open, _) in source.match_indices([',', '[', '{', '(']) {
        for close in source.match_indices([',', ']', '}', ')']).map(|(at, _)| at).filter(|at| *at > open + 1).take(3) {
            offer(open + 1, close, "");
            offer(open, close, "");
        }
    }
    // Without parentheses around a sub-expression.
    for &(start, end) in &spans {
        let around = start.checked_sub(1).and_then(|s| source.get(s..end + 1));
        if around.is_some_and(|t| t.starts_with('(') && t.ends_with(')'))
            && let Some(inner) = source.get(start..end)
        {
            offer(start - 1, end + 1, inner);
        }
    }
    for (at, operator) in [" && ", " || "].iter().flat_map(|o| source.match_indices(o)) {
        if let Some(rest) = source.get(at + operator.len()..) {
            let end = rest.find([')', ',', ']', '}', '&', '|']).map_or(source.len(), |e| at + operator.len() + e);
            offer(at, end, "");
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        let source = "([1, 2].map(x, (x + 3)) == [4, 5] ? size('abc' + string(a / 0)) : 7) > 2 && true";
        let small = minimise(source, 10_000, |s| s.contains("/ 0") && parse(s, &Limits::default()).is_ok());
        assert!(small == "a / 0" || small == "0 / 0", "{small}");
        assert_eq!(minimise("1", 100, |_| true), "1");
    }
}
