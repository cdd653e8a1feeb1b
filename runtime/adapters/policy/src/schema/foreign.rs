//! Why a file that another file includes is none of its format, in words that quote nothing of it.
//! It may be a file of secrets that was named by mistake, or by somebody who may not read it, and
//! errors go to logs.
//!
//! Invariant: nothing of an included file is quoted unless its keys are those of the format. Test:
//! `runtime/adapters/policy/src/schema/foreign.rs::nothing_of_a_file_of_another_format_is_quoted`.

use super::{DocumentSpec, MappingSpec, ValueSpec};
use crate::problems::{Problems, similar};
use crate::yaml::{Node, NodeValue, read};

impl DocumentSpec {
    /// Returns why the text of a file is none of this format, with the place but without quoting
    /// it; `None` if the keys of the root, and of its sections with known keys, are those of the
    /// format and have values of the right kind, or if there is no document.
    #[must_use]
    pub fn why_foreign(&self, name: &str, text: &str) -> Option<String> {
        let mut own = Problems::default();
        let file = own.file(name.to_owned(), text);
        let Some(root) = read(file, &mut own) else {
            let (message, place) = own.first_error()?;
            return Some(format!("{}: {message}", own.position(place)));
        };
        if root.is_nothing() {
            return None;
        }
        let ValueSpec::Mapping(sections) = &self.root else { return None };
        if !matches!(root.value, NodeValue::Map(_)) {
            return Some(format!("{}: it is no mapping with keys", own.position(root.place)));
        }
        wrong_entry(&root, sections, true, &own)
    }
}

fn wrong_entry(node: &Node, spec: &MappingSpec, is_root: bool, files: &Problems) -> Option<String> {
    node.entries().iter().find_map(|entry| {
        let place = files.position(entry.key.place);
        let Some(known) = spec.key(&entry.key.text) else {
            let names: Vec<&str> = spec.keys.iter().map(|key| key.name).collect();
            let help =
                similar(&entry.key.text, &names).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
            return Some(format!("{place}: this is no key of such a file{help}"));
        };
        let value = &entry.value;
        match &known.value {
            _ if value.is_nothing() => None,
            ValueSpec::Mapping(section) if is_root && !value.entries().is_empty() => {
                wrong_entry(value, section, false, files)
            }
            spec if spec.fits(value) => None,
            // A variable of the environment, whose value is checked later.
            _ if value.text().is_some_and(|text| text.text.contains("${")) => None,
            spec => {
                let place = files.position(value.place);
                Some(format!("{place}: `{}` is {}, not {}", known.name, spec.expected(), value.kind()))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DiagnosticCodes, KeySpec};

    static JWT: MappingSpec = MappingSpec::new("`jwt`", &[KeySpec::optional("header", ValueSpec::Text, "")]);
    static KEYS: MappingSpec = MappingSpec::new(
        "a policy",
        &[
            KeySpec::optional("request", ValueSpec::List(&ValueSpec::Any), ""),
            KeySpec::optional("jwt", ValueSpec::Mapping(&JWT), ""),
            KeySpec::optional("threads", ValueSpec::Integer { least: 1, most: 9 }, ""),
        ],
    );
    static FORMAT: DocumentSpec = DocumentSpec::new(
        "a policy",
        ValueSpec::Mapping(&KEYS),
        DiagnosticCodes { unknown_key: "", missing_key: "", value: "" },
    );

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
            "request: hunter2",
            "jwt: hunter2",
            "jwt: [hunter2]",
            "jwt: {token: hunter2}",
            "jwt: {header: [hunter2]}",
            "threads: hunter2",
            "jwt:\nthreads: {a: hunter2}",
        ] {
            let why = FORMAT.why_foreign("a.yaml", text).unwrap_or_else(|| panic!("{text} is accepted"));
            assert!(!why.contains(secret), "{text}: {why}");
        }
        assert_eq!(FORMAT.why_foreign("a.yaml", "request: [hunter2]\njwt: {header: a}\nthreads: ${A}"), None);
        let typo = FORMAT.why_foreign("a.yaml", "jwt: {}\nrequst: 1");
        assert_eq!(typo.as_deref(), Some("a.yaml:2:1: this is no key of such a file; did you mean `request`?"));
    }
}
