//! The names under which profilers know the functions of rules.

/// Most characters of a rule's name or text in a function name.
const TEXT: usize = 60;

/// The name of the function of a rule: contains the name of the rule or, if that is empty, its text.
pub(crate) fn rule(name: &str, source: &str) -> String {
    format!("celero::rule::{}", short(name, source))
}

/// The name of a rule, or its text if it has none, shortened.
pub(crate) fn short(name: &str, source: &str) -> String {
    let text = if name.is_empty() { source } else { name };
    let mut short: String = text.chars().take(TEXT).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
