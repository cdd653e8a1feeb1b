//! Makes a failing rule small: replaces conditions and values by parts of themselves, as long as it still fails.

use celero::filter::FilterTree;

/// The smallest rule found for which `fails` still holds, in at most `tries` tries. `read` gives
/// the tree of a rule that is accepted.
pub fn minimise(
    source: &str,
    tries: usize,
    read: impl Fn(&str) -> Option<FilterTree>,
    mut fails: impl FnMut(&str) -> bool,
) -> String {
    let mut best = source.to_owned();
    let mut left = tries;
    'smaller: loop {
        let Some(tree) = read(&best) else { return best };
        for candidate in candidates(&tree, &best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if read(&candidate).is_some() && fails(&candidate) {
                best = candidate;
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Shorter texts, the shortest first: every expression replaced by one in it, by a short one, or
/// left out of its chain or set.
fn candidates(tree: &FilterTree, source: &str) -> Vec<String> {
    let span = |index: usize| tree.nodes().get(index).map(|node| (node.span.start as usize, node.span.end as usize));
    let spans: Vec<(usize, usize)> = (0..tree.nodes().len()).filter_map(span).collect();
    let mut candidates = Vec::new();
    let mut offer = |start: usize, end: usize, text: &str| {
        let (Some(before), Some(after)) = (source.get(..start), source.get(end..)) else { return };
        let candidate = format!("{before}{text}{after}");
        if candidate.len() < source.len() {
            candidates.push(candidate);
        }
    };
    for &(start, end) in &spans {
        for text in ["ssl", "flags", "port", "ab", "names", "\"\"", "1"] {
            offer(start, end, text);
        }
        for &(from, to) in spans.iter().filter(|(from, to)| *from >= start && *to <= end) {
            offer(start, end, source.get(from..to).unwrap_or_default());
        }
        // From one expression to the next, or from the end of one to the next: an operand or an argument less.
        for &(other, other_end) in spans.iter().filter(|(other, _)| *other > end) {
            offer(start, other, "");
            offer(end, other_end, "");
        }
    }
    for (at, _) in source.match_indices([' ', '\n', '(']) {
        for (behind, _) in source.match_indices([' ', '\n', ')', '}']).filter(|(behind, _)| *behind > at).take(3) {
            offer(at, behind, "");
            offer(at, behind + 1, "");
        }
    }
    candidates.sort_by_key(String::len);
    candidates.dedup();
    candidates
}
