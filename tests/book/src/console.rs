//! What a block of `console` shows: commands, and what they print.
//!
//! A line that starts with `$ ` is a command. The lines after it are what it prints. In these `...`
//! stands for any text within the line, or, alone in its line, for any number of lines.

/// Returns the commands of a block, each with the text that it shows, which may be empty.
#[must_use]
pub fn commands(body: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let mut at = 0_usize;
    let mut shown_from = 0;
    for line in body.split_inclusive('\n') {
        let end = at.saturating_add(line.len());
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.trim_end_matches('\n'), ""));
            shown_from = end;
        } else if let Some(last) = found.last_mut() {
            last.1 = body.get(shown_from..end).unwrap_or_default();
        }
        at = end;
    }
    found
}

/// Returns the lines of a text, without spaces at their ends.
#[must_use]
pub fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// Returns whether the lines that are shown, in which `...` stands for anything, are the actual ones.
#[must_use]
pub fn shows(shown: &[&str], actual: &[&str]) -> bool {
    match shown.split_first() {
        None => actual.is_empty(),
        Some((&"...", rest)) => (0..=actual.len()).any(|skip| shows(rest, actual.get(skip..).unwrap_or_default())),
        Some((line, rest)) => {
            actual.split_first().is_some_and(|(first, others)| shows_line(line, first) && shows(rest, others))
        }
    }
}

fn shows_line(shown: &str, actual: &str) -> bool {
    let Some((start, pieces)) = shown.split_once("...") else { return shown == actual };
    let Some(mut rest) = actual.strip_prefix(start) else { return false };
    let (middle, end) = pieces.rsplit_once("...").unwrap_or(("", pieces));
    for piece in middle.split("...") {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read() {
        assert_eq!(commands("$ a b\nc\nd\n$ e\n$ f"), [("a b", "c\nd\n"), ("e", ""), ("f", "")]);
        assert_eq!(lines("a \n\nb"), ["a", "", "b"]);
        let actual = lines("one 1\ntwo 2 b\nthree");
        for shown in [
            "...",
            "one 1\ntwo 2 b\nthree",
            "one 1\n...",
            "...\nthree",
            "one...\n... 2...b\nthree",
            "...\n...o 2 b\n...",
        ] {
            assert!(shows(&lines(shown), &actual), "{shown}");
        }
        for shown in ["", "one 1", "one 1\n...\nfour", "one...2\n...", "...\ntwo...b b\n...", "...\nthree\n...\nthree"]
        {
            assert!(!shows(&lines(shown), &actual), "{shown}");
        }
    }
}
