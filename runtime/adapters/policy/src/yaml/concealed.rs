//! Values that no message quotes: those of environment variables in a configuration, which may be
//! secrets. Errors go to logs.
//!
//! Invariant: no message shows the value of an environment variable of a configuration. Test:
//! `runtime/adapters/policy/src/yaml/concealed.rs::values_are_named_not_quoted`.

use super::file_span::FileSpan;

/// The shortest part of a value that is looked for in messages. Shorter ones are hidden only where
/// they are quoted alone.
const SHORTEST: usize = 4;

/// A scalar whose text is partly the values of variables.
#[derive(Clone, Debug)]
pub(super) struct Concealed {
    place: FileSpan,
    /// The text with the names of the variables.
    written: String,
    /// The text with their values, in lower case; then each value, and its parts between signs.
    hidden: Vec<String>,
}

impl Concealed {
    /// `written` is the text as the file has it, `text` that with the values of its variables.
    pub(super) fn new(place: FileSpan, written: String, text: &str, values: &[String]) -> Self {
        let mut hidden = vec![text.to_ascii_lowercase()];
        for value in values.iter().map(|value| value.to_ascii_lowercase()) {
            let parts = value.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() >= SHORTEST);
            let parts: Vec<String> = parts.map(str::to_owned).collect();
            hidden.push(value);
            hidden.extend(parts);
        }
        hidden.retain(|text| !text.is_empty());
        Self { place, written, hidden }
    }

    /// Returns whether a message at this place may quote the text.
    pub(super) fn concerns(&self, place: FileSpan) -> bool {
        place.file == self.place.file && place.start <= self.place.end && self.place.start <= place.end
    }

    /// Returns a message at another place with the names of the variables where it quotes the whole
    /// text, as in a list of known names.
    pub(super) fn conceal_whole(&self, message: &str) -> String {
        let whole = self.hidden.first().filter(|text| text.len() >= SHORTEST);
        whole.map_or_else(
            || message.to_owned(),
            |whole| replace_ignoring_case(message, &format!("`{whole}`"), &format!("`{}`", self.written)),
        )
    }

    /// Returns a message with the names of the variables where it has their values: quoted text
    /// with a part of a value is what the file has instead.
    pub(super) fn conceal(&self, message: &str) -> String {
        let whole = self.hidden.iter().filter(|text| text.len() >= SHORTEST);
        let message =
            whole.fold(message.to_owned(), |message, text| replace_ignoring_case(&message, text, &self.written));
        let quoted = |(number, part): (usize, &str)| {
            let is_value = number % 2 == 1 && self.hidden.iter().any(|text| part.eq_ignore_ascii_case(text));
            if is_value { self.written.clone() } else { part.to_owned() }
        };
        message.split('`').enumerate().map(quoted).collect::<Vec<_>>().join("`")
    }
}

/// `text` is in lower case.
fn replace_ignoring_case(message: &str, text: &str, by: &str) -> String {
    let (mut replaced, mut rest) = (String::new(), message);
    // Letters in lower case have the same length.
    while let Some((before, found)) = rest.to_ascii_lowercase().find(text).and_then(|at| rest.split_at_checked(at)) {
        replaced.push_str(before);
        replaced.push_str(by);
        rest = found.get(text.len()..).unwrap_or_default();
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_not_quoted() {
        let conceal = |written: &str, text: &str, values: &[&str], message: &str| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            Concealed::new(FileSpan::new(0, 5, 9), written.to_owned(), text, &values).conceal(message)
        };
        for (written, text, value, message, expected) in [
            ("${A}", "hunter2", "hunter2", "`threads` is a number, not `hunter2`", "`threads` is a number, not `${A}`"),
            (
                "http://${A}:1",
                "http://Hunter2:1",
                "Hunter2",
                "`hunter2` in `http://Hunter2:1`",
                "`http://${A}:1` in `http://${A}:1`",
            ),
            ("${A}", "6", "6", "up to 64, as in `6h`, not `6`", "up to 64, as in `6h`, not `${A}`"),
            ("${A}", "a`hunter`", "a`hunter`", "not `a`hunter``; `unter`", "not `${A}`; `unter`"),
            ("/${A}", "/a b/hunter%41", "a b/hunter%41", "write `/a b/hunterA`", "write `/a b//${A}A`"),
        ] {
            assert_eq!(conceal(written, text, &[value], message), expected);
        }
        let concealed = Concealed::new(FileSpan::new(0, 5, 9), "a${A}".to_owned(), "aHunter2", &["Hunter2".to_owned()]);
        assert_eq!(concealed.conceal_whole("they are `x`, `ahunter2`, `hunter2`"), "they are `x`, `a${A}`, `hunter2`");
        assert!(concealed.concerns(FileSpan::new(0, 6, 7)) && concealed.concerns(FileSpan::new(0, 0, 20)));
        assert!(!concealed.concerns(FileSpan::new(1, 6, 7)) && !concealed.concerns(FileSpan::new(0, 10, 20)));
    }
}
