//! Names in messages: the similar one, to suggest it for an unknown name, and lists of names.

/// Longest name, in characters, for which similar ones are searched.
const LONGEST_COMPARED: usize = 64;

/// Most names that one message lists.
const MAX_LISTED: usize = 16;

/// Returns the candidate that is most similar to `name`, if it is similar enough to suggest; the first of several.
///
/// At most one character in four may differ, and at most three; for names of one or two characters
/// nothing is suggested. A candidate equal to `name` is skipped.
///
/// ```
/// assert_eq!(celero_frontend::similar("request.pth", ["request.path", "request.host"]), Some("request.path"));
/// assert_eq!(celero_frontend::similar("request.pth", ["response.status"]), None);
/// ```
#[must_use]
pub fn similar<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    if !(3..=LONGEST_COMPARED).contains(&length) {
        return None;
    }
    let allowed = length.div_ceil(4).min(3);
    candidates
        .into_iter()
        .filter_map(|candidate| edit_distance(name, candidate, allowed).filter(|d| *d > 0).map(|d| (d, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lists the first names in alphabetical order, and says how many more there are.
pub(crate) fn listed(mut names: Vec<String>) -> String {
    names.sort_unstable();
    let more = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    let shown = names.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Returns how many characters must be added, removed, replaced or swapped with their neighbour to
/// turn `a` into `b`, if at most `allowed`.
///
/// The time is proportional to the product of the lengths: bound them if they come from input.
#[must_use]
pub fn edit_distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    // A character has at most four bytes.
    if a.len().abs_diff(b.len()) > allowed.saturating_mul(4) {
        return None;
    }
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i.saturating_add(1)];
        let mut left = None;
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX);
            let mut cost = at(&row, j).saturating_add(usize::from(x != *y));
            cost = cost.min(at(&row, j.saturating_add(1)).saturating_add(1)).min(at(&next, j).saturating_add(1));
            if last == Some(*y) && left == Some(x) {
                cost = cost.min(at(&before, j.saturating_sub(1)).saturating_add(1));
            }
            next.push(cost);
            left = Some(*y);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(x);
    }
    row.last().copied().filter(|d| *d <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_up_to_the_bound() {
        for (a, b, edits) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("abc", "ab", 1),
            ("abc", "xbc", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b, 3), Some(edits), "{a} {b}");
            assert_eq!(edit_distance(b, a, 3), Some(edits), "{b} {a}");
        }
        assert_eq!(edit_distance("kitten", "sitting", 2), None);
        assert_eq!(edit_distance("a", "a much longer text", 3), None);
    }

    #[test]
    fn at_most_16_names_are_listed() {
        let names = |count: usize| -> Vec<String> { (10_u32..).take(count).map(|n| n.to_string()).collect() };
        assert_eq!(listed(names(0)), "");
        assert_eq!(listed(vec!["b".to_owned(), "a".to_owned()]), "a, b");
        let most = "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25";
        assert_eq!(listed(names(16)), most);
        assert_eq!(listed(names(18)), format!("{most} and 2 more"));
    }

    #[test]
    fn the_nearest_candidate_is_found() {
        assert_eq!(similar("listners", ["upstreams", "listener", "listeners"]), Some("listeners"));
        assert_eq!(similar("ab", ["abc"]), None);
        assert_eq!(similar("abc", ["abc"]), None);
        assert_eq!(similar("é".repeat(65).as_str(), ["é".repeat(64).as_str()]), None);
    }
}
