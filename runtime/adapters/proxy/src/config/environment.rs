//! Environment variables in the values of a configuration: `${NAME}`, and `${NAME:-default}` with a default.
//!
//! They are replaced in the document after it was parsed, so that a value can't add keys. No error
//! about the file quotes their values, which may be secrets.

use celero_policy::problems::Problems;
use celero_policy::yaml::{Node, NodeValue};

/// Replaces the variables in all values. `value_of` returns the value of one.
pub(super) fn expand(node: &mut Node, problems: &mut Problems, value_of: &impl Fn(&str) -> Option<String>) {
    if let Some(text) = node.text().filter(|text| text.text.contains("${")) {
        match expanded(&text.text, value_of) {
            Ok((expanded, values)) => {
                problems.conceal(node.place, text.text, &expanded, &values);
                node.set_text(expanded);
            }
            Err((message, help)) => {
                problems.add("config-variable", node.place, message).help(help);
            }
        }
    }
    match &mut node.value {
        NodeValue::List(elements) => elements.iter_mut().for_each(|node| expand(node, problems, value_of)),
        NodeValue::Map(entries) => entries.iter_mut().for_each(|entry| expand(&mut entry.value, problems, value_of)),
        NodeValue::Scalar(_) => {}
    }
}

/// Returns a text with the values of its variables, and these values; or a message and what helps.
fn expanded(
    text: &str,
    value_of: &impl Fn(&str) -> Option<String>,
) -> Result<(String, Vec<String>), (String, &'static str)> {
    let (mut found, mut values, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            found.push_str(before);
            found.push_str("${");
            rest = after;
            continue;
        }
        let help = "a variable is written `${NAME}` or `${NAME:-default}`; `$${` stands for the characters `${`";
        let Some((name, after)) = after.split_once('}') else {
            return Err(("`${` has no `}`".to_owned(), help));
        };
        let (name, default) = name.split_once(":-").map_or((name, None), |(name, default)| (name, Some(default)));
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        if !is_name {
            return Err((format!("`{name}` is no name of an environment variable"), help));
        }
        // As in a shell, the default stands for an empty value, too.
        let value = value_of(name).filter(|value| default.is_none() || !value.is_empty());
        values.extend(value.clone());
        let Some(value) = value.or_else(|| default.map(str::to_owned)) else {
            let help = "set it where the proxy is started, or write a default: `${NAME:-default}`";
            return Err((format!("the environment variable `{name}` is not set, or is not UTF-8"), help));
        };
        found.push_str(before);
        found.push_str(&value);
        rest = after;
    }
    found.push_str(rest);
    Ok((found, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_once() {
        let value = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "_b2" => Some("${A}".to_owned()),
            "E" => Some(String::new()),
            _ => None,
        };
        for (text, result) in [
            ("${A}", Ok("1")),
            ("x${A}y${A}z", Ok("x1y1z")),
            ("${_b2}", Ok("${A}")),
            ("$${A} $A $", Ok("${A} $A $")),
            ("${C}", Err("the environment variable `C` is not set, or is not UTF-8")),
            ("${A", Err("`${` has no `}`")),
            ("${}", Err("`` is no name of an environment variable")),
            ("${2}", Err("`2` is no name of an environment variable")),
            ("${A:-b}${E:-b}${C:-b}", Ok("1bb")),
            ("${C:-}${E}x${C:-:-$A}", Ok("x:-$A")),
            ("${A:b}", Err("`A:b` is no name of an environment variable")),
            ("${:-b}", Err("`` is no name of an environment variable")),
        ] {
            let found = expanded(text, &value).map(|(text, _)| text).map_err(|(message, _)| message);
            assert_eq!(found.as_deref().map_err(String::as_str), result, "{text}");
        }
    }
}
