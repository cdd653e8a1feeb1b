//! Comments are as wide as people read.

use super::{TABLES, sources};

/// The widest line of a comment, in characters.
const MAX_WIDTH: usize = 120;

/// The numbers of the lines of comments that are too wide: not of code and tables in comments, nor
/// of words that can't be broken.
fn wide_lines(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut wide = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_code = false;
            continue;
        };
        let prose = comment.trim_start_matches(['/', '!']).trim_start();
        is_code ^= prose.starts_with("```");
        if line.chars().count() > MAX_WIDTH && !is_code && !prose.starts_with('|') && prose.contains(' ') {
            wide.push(number + 1);
        }
    }
    wide
}

#[test]
fn comments_are_not_wide() {
    let files = sources().into_iter().filter(|(file, _)| !TABLES.contains(&file.as_str()));
    let wide = files.flat_map(|(file, text)| {
        wide_lines(&text).into_iter().map(move |line| format!("{file}:{line}")).collect::<Vec<_>>()
    });
    let wide: Vec<String> = wide.collect();
    assert!(wide.is_empty(), "comments wider than {MAX_WIDTH} characters; wrap them at 100:\n{}", wide.join("\n"));
}

#[test]
fn wide_lines_are_found() {
    let (words, word) = ("word ".repeat(30), "w".repeat(130));
    let text = format!(
        "/// {words}\nlet x = 1; // {words}\n    // {words}\n//! ```\n//! {words}\n//! ```\n/// | {words}\n/// {word}\n//! {words}"
    );
    assert_eq!(wide_lines(&text), [1, 3, 9]);
}
