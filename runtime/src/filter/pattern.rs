//! Patterns that mean the same in CEL and in the filter language, seen at their text.
//! [`celero_matching::pattern::on_text`] finds more of them.

use celero_matching::pattern::is_same_in_dialects;
use std::borrow::Cow;

/// Why a pattern has no equal in the other language; `None` if it means the same in both.
pub(crate) fn difference(pattern: &str) -> Option<&'static str> {
    if !is_same_in_unicode(pattern) {
        return Some("a pattern that sees bytes in the filter language and characters in CEL");
    }
    if !is_same_in_dialects(pattern) {
        return Some(
            "a pattern that RE2, which reads those of CEL, refuses or reads otherwise than the regex crate does",
        );
    }
    None
}

/// Whether a pattern without Unicode finds in UTF-8 what it finds with Unicode. Cautious:
/// everything that stands for several characters may differ, and so may letters of any case.
fn is_same_in_unicode(pattern: &str) -> bool {
    let mut escaped = false;
    for letter in pattern.chars() {
        if escaped {
            escaped = false;
            if letter.is_ascii_alphanumeric() {
                return false;
            }
            continue;
        }
        match letter {
            '\\' => escaped = true,
            '.' | '[' => return false,
            _ if !letter.is_ascii() => return false,
            _ => {}
        }
    }
    !pattern.contains("(?")
}

/// A pattern that [is the same](difference) in both languages, with control characters as escapes:
/// a raw string would have them as they are, and where a rule is written on one line, a line break
/// would become a space.
pub(crate) fn visible(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(char::is_control) {
        return pattern.into();
    }
    let mut text = String::with_capacity(pattern.len());
    for letter in pattern.chars() {
        if letter.is_control() {
            text.push_str(&format!("\\x{{{:x}}}", u32::from(letter)));
        } else {
            text.push(letter);
        }
    }
    text.into()
}
