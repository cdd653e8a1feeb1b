//! Why a file that another file includes is none of its format, in words that quote nothing of it. It may be a file of secrets that was named by
//! mistake, or by somebody who may not read it, and errors go to logs.

use super::problems::{Problems, similar};
use super::{NodeValue, read};

/// Returns why the text of a file has no mapping with the keys of a format, with the place but without quoting it; `None` if it has, or has no
/// document.
#[must_use]
pub fn why_foreign(name: &str, text: &str, keys: &[&str]) -> Option<String> {
    let mut own = Problems::default();
    let file = own.file(name.to_owned(), text);
    let Some(root) = read(file, &mut own) else {
        let (message, place) = own.first_error()?;
        return Some(format!("{}: {message}", own.position(place)));
    };
    if root.is_nothing() {
        return None;
    }
    let NodeValue::Map(entries) = &root.value else {
        return Some(format!("{}: it is no mapping with keys", own.position(root.place)));
    };
    let entry = entries.iter().find(|entry| !keys.contains(&&*entry.key.text))?;
    let help = similar(&entry.key.text, keys).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    Some(format!("{}: this is no key of such a file{help}", own.position(entry.key.place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_file_of_another_format_is_quoted() {
        let secret = "hunter2";
        for text in [
            "hunter2",
            "'hunter2'",
            "# hunter2\nhunter2\n",
            "hunter2: 1",
            "request: []\nhunter2: 1",
            "- hunter2",
            "[hunter2",
            "{hunter2: ",
            "\"hunter2",
            "hunter2: a: b",
            "*hunter2",
            "!hunter2 a",
            "&hunter2 a",
            "@hunter2",
            "%hunter2",
            "\u{0}hunter2",
            "--- a\n--- hunter2",
            "|hunter2",
            "hunter2: 1\nhunter2: 2",
            "hunter2: [1\n",
            "? [hunter2]\n: 1",
        ] {
            let why = why_foreign("a.yaml", text, &["request"]).unwrap_or_else(|| panic!("{text} is accepted"));
            assert!(!why.contains(secret), "{text}: {why}");
        }
        assert_eq!(why_foreign("a.yaml", "request: [hunter2]", &["request"]), None);
        let typo = why_foreign("a.yaml", "a: 1\nrequst: 1", &["request", "a"]);
        assert_eq!(typo.as_deref(), Some("a.yaml:2:1: this is no key of such a file; did you mean `request`?"));
    }
}
