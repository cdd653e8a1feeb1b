//! Lines of prose are as wide as people read.

use super::all_pages;
use celero_book::contents::MAX_WIDTH;

/// Whether a line that begins with this word could be read as the beginning of a list, a quote or a heading.
fn opens_block(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    word.starts_with(['-', '+', '*', '>', '#', '=', '|', '<', '~', ':'])
        || word.starts_with("```")
        || word.strip_suffix(['.', ')']).is_some_and(is_number)
}

/// Whether a line has a space within the width where it can be broken: not in code, in a link, or
/// before what begins a block.
fn can_be_broken(line: &str) -> bool {
    let marker = line.trim_start().split_once(' ').map_or("", |(first, _)| first);
    let text = line.len() - line.trim_start().len();
    let prose = if opens_block(marker) { text + marker.len() + 1 } else { text };
    let (mut in_code, mut brackets, mut in_target, mut before) = (false, 0_u32, false, ' ');
    for (width, (at, c)) in line.char_indices().enumerate() {
        if width > MAX_WIDTH {
            return false;
        }
        match c {
            '`' => in_code = !in_code,
            _ if in_code => {}
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            '(' if before == ']' => in_target = true,
            ')' => in_target = false,
            ' ' if at >= prose && brackets == 0 && !in_target => {
                let next = line.get(at + 1..).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
                if !opens_block(next) {
                    return true;
                }
            }
            _ => {}
        }
        before = c;
    }
    false
}

/// The numbers of the lines of prose that are too wide: not of code, tables, headings and definitions of links.
fn wide_lines(page: &str) -> Vec<usize> {
    let mut in_block = false;
    let mut wide = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let text = line.trim_start();
        in_block ^= text.starts_with("```");
        let is_definition = text.starts_with('[') && text.contains("]: ");
        let is_prose = !in_block && !text.starts_with(['|', '#', '<']) && !is_definition;
        if is_prose && line.chars().count() > MAX_WIDTH && can_be_broken(line) {
            wide.push(number + 1);
        }
    }
    wide
}

#[test]
fn prose_is_not_wide() {
    let pages = all_pages();
    let wide = pages.iter().flat_map(|page| {
        wide_lines(&page.text).into_iter().map(|line| format!("{}:{line}", page.name)).collect::<Vec<_>>()
    });
    let wide: Vec<String> = wide.collect();
    assert!(wide.is_empty(), "lines of prose wider than {MAX_WIDTH} characters:\n{}", wide.join("\n"));
}

#[test]
fn wide_lines_are_found() {
    let (words, word) = ("word ".repeat(30), "w".repeat(130));
    let page = format!(
        "# {words}\n{words}\n| {words}|\n```text\n{words}\n```\n- {words}\n  {words}\n- {word}\n[`{words}`](x) y\n\
         a [{word}](x)\n[x]: {words}\n{word} a\n**{word}** a\n{} - a\n",
        "w".repeat(95)
    );
    assert_eq!(wide_lines(&page), [2, 7, 8, 11]);
}
