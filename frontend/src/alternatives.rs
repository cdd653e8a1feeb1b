//! Texts that were probably meant as several ones: `"GET,HEAD"` and `"GET|HEAD"`.

/// Most parts of such a text.
const MOST: usize = 32;

/// Returns the parts of a text that are separated by commas or by bars, which may be in parentheses; `None` if it has
/// fewer than two or more than 32, one is empty, or it has other signs of a pattern.
///
/// ```
/// assert_eq!(celero_frontend::alternatives("(GET|HEAD)"), Some(vec!["GET", "HEAD"]));
/// assert_eq!(celero_frontend::alternatives("/a, /b"), Some(vec!["/a", "/b"]));
/// assert_eq!(celero_frontend::alternatives("/a|/b.*"), None);
/// ```
#[must_use]
pub fn alternatives(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let separator = [',', '|'].into_iter().find(|separator| inner.contains(*separator))?;
    let parts: Vec<&str> = inner.split(separator).map(str::trim).take(MOST.saturating_add(1)).collect();
    let is_plain = |part: &&str| {
        let is_sign = |c: char| c.is_control() || c.is_whitespace() || "\"'`\\()[]{}^$*+?|,;".contains(c);
        !part.is_empty() && !part.contains(is_sign)
    };
    (parts.len() <= MOST && parts.iter().all(is_plain)).then_some(parts)
}
