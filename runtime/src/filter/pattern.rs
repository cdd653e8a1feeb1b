//! Patterns that mean the same in CEL and in the filter language.

/// Whether a pattern without Unicode finds in UTF-8 what it finds with Unicode. Cautious: everything that stands for several
/// characters may differ, and so may letters of any case.
pub(super) fn is_same_in_unicode(pattern: &str) -> bool {
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
