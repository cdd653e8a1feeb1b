//! The contents of long pages: a section with links to all headings, before the first other section.

use crate::markdown::{Heading, headings};
use std::fmt::Write as _;

/// Words from which on a page has contents.
const LONG: usize = 3_000;

/// The section's heading.
const TITLE: &str = "## Contents\n";

/// The widest line of prose, in characters.
pub const MAX_WIDTH: usize = 100;

/// Returns the page with its contents as its headings are now. A page that is short has none,
/// unless it has the section already.
#[must_use]
pub fn with_contents(page: &str) -> String {
    let without = without_contents(page);
    if without.len() == page.len() && page.split_whitespace().count() < LONG {
        return page.to_owned();
    }
    let headings = headings(&without);
    let Some(at) = headings.iter().find(|heading| heading.level == 2).map(|heading| heading.at) else {
        return page.to_owned();
    };
    let (head, sections) = without.split_at_checked(at).unwrap_or_default();
    format!("{head}{TITLE}\n{}\n{sections}", list(&headings))
}

/// Leaves the section out.
fn without_contents(page: &str) -> String {
    let headings = headings(page);
    let Some(at) = headings.iter().position(|heading| heading.level == 2 && heading.text == "Contents") else {
        return page.to_owned();
    };
    let start = headings.get(at).map_or(0, |heading| heading.at);
    let end = headings.iter().skip(at).find(|heading| heading.at > start).map_or(page.len(), |heading| heading.at);
    [page.get(..start), page.get(end..)].into_iter().flatten().collect()
}

/// An item for each section, with the headings below it.
fn list(headings: &[Heading<'_>]) -> String {
    let mut items: Vec<(String, Vec<String>)> = Vec::new();
    for heading in headings {
        let link = format!("[{}](#{})", heading.text, heading.anchor);
        match (heading.level, items.last_mut()) {
            (2, _) => items.push((link, Vec::new())),
            (3, Some((_, below))) => below.push(link),
            _ => {}
        }
    }
    let mut text = String::new();
    for (section, below) in items {
        if below.is_empty() {
            let _ = writeln!(text, "- {section}");
            continue;
        }
        let last = below.len().saturating_sub(1);
        let below = below.iter().enumerate().map(|(i, link)| if i == last { link.clone() } else { format!("{link},") });
        text += &wrapped(std::iter::once(format!("- {section}:")).chain(below), "  ");
    }
    text
}

/// Puts words into lines of [`MAX_WIDTH`]. All but the first are indented.
pub fn wrapped(words: impl IntoIterator<Item = impl AsRef<str>>, indent: &str) -> String {
    let mut text = String::new();
    let mut width = 0_usize;
    for word in words {
        let word = word.as_ref();
        let length = word.chars().count();
        let after = width.saturating_add(1).saturating_add(length);
        if text.is_empty() {
            width = length;
        } else if after > MAX_WIDTH {
            text.push('\n');
            text.push_str(indent);
            width = indent.len().saturating_add(length);
        } else {
            text.push(' ');
            width = after;
        }
        text.push_str(word);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pages_get_contents() {
        let short = "# Page\n\nText.\n\n## A `b`\n\n### C\n\n### D, e\n\n```sh\n## no\n```\n\n## F\n\nText.\n";
        assert_eq!(with_contents(short), short);
        let long = format!("{short}{}\n", "word ".repeat(LONG));
        let (head, rest) = long.split_once("## A").unwrap();
        let expected = format!("{head}## Contents\n\n- [A `b`](#a-b): [C](#c), [D, e](#d-e)\n- [F](#f)\n\n## A{rest}");
        assert_eq!(with_contents(&long), expected);
        assert_eq!(with_contents(&expected), expected);
        let changed = expected.replace("### C\n", "### G\n");
        assert_eq!(with_contents(&changed), expected.replace("[C](#c)", "[G](#g)").replace("### C\n", "### G\n"));
        // A page that has them keeps them.
        let kept = "# Page\n\n## Contents\n\n- [old](#old)\n\n## A\n";
        assert_eq!(with_contents(kept), "# Page\n\n## Contents\n\n- [A](#a)\n\n## A\n");
    }

    #[test]
    fn lines_are_filled() {
        let text = wrapped(["w"; 120], "  ");
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [99, 99, 43]);
        assert!(text.lines().skip(1).all(|line| line.starts_with("  w")));
        assert_eq!(wrapped(["w".repeat(99), "x".to_owned()], "").lines().count(), 2);
    }
}
