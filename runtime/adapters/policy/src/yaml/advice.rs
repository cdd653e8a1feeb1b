//! What to do about text that is not YAML: the mistakes that expressions in YAML invite.

/// The characters with a meaning at the start of a YAML value.
const LEADING: &[char] = &['"', '\'', '!', '[', '{', '@', '`', '%', '*', '&', '>', '|'];

/// Returns how to correct an error at a byte of a text. `message` is the parser's.
pub(super) fn advice(message: &str, text: &str, at: usize) -> Option<String> {
    let (before, after) = text.split_at_checked(at)?;
    let indent_and_key = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.split('\n').next().unwrap_or_default();
    let value = value_of(&format!("{indent_and_key}{rest}")).map(str::to_owned);
    let leading = value.as_deref().and_then(|value| value.strip_prefix(LEADING).and(value.chars().next()));
    let advice = match leading {
        _ if message.contains("tab") => "indent with spaces: YAML does not allow tabs".to_owned(),
        _ if message.contains("invalid indentation in quoted") => "the closing quote is missing".to_owned(),
        _ if message.contains("flow") && after.trim().is_empty() => "a `{` or `[` is never closed".to_owned(),
        _ if message.contains("flow") => {
            "between `{` and `}`, text with `${..}`, `,` or `: ` needs quotes: `{name: \"${..}\"}`".to_owned()
        }
        _ if message.contains("mapping values") && value_of(indent_and_key).is_some() => {
            "text that contains `: ` needs quotes, or a block: `|` and indented lines; a mapping needs braces"
                .to_owned()
        }
        _ if message.contains("mapping values") => {
            "compare the indentation with the line above, which may also lack a `:`".to_owned()
        }
        Some(first) => {
            format!("text that starts with `{first}` needs quotes around all of it, or a block: `|` and indented lines")
        }
        None if message.contains("expected '-' indicator") || message.contains("expected key") => {
            "the keys of one entry start in one column, and each entry of a list starts with `- `".to_owned()
        }
        None => return None,
    };
    Some(advice)
}

/// Returns the value behind the key of a line.
fn value_of(line: &str) -> Option<&str> {
    let mut line = line.trim_start();
    while let Some(entry) = line.strip_prefix("- ") {
        line = entry.trim_start();
    }
    line.split_once(": ").map(|(_, value)| value.trim_start())
}
