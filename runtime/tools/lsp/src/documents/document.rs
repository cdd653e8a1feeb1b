//! Open documents: their text, and what kind of file each one is.

use crate::documents::edited_text::EditedText;
use crate::documents::line_index::LineIndex;
use crate::documents::uri;
use celero_policy::schema::ValueSpec;
use celero_policy::{Loader, Policy};
use celero_tooling::language::Language;
use celero_tooling::rules::source::{Format, RuleText, Unreadable};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::path::{Path, PathBuf};

/// The largest document that is checked and completed, in bytes. A larger one has one diagnostic, which says so.
pub const MAX_CHECKED: usize = 256 << 10;

/// The largest document that is kept, in bytes. The text of a larger one is dropped until the
/// client sends all of it again.
pub const MAX_KEPT: usize = 32 << 20;

/// An open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) version: i32,
    pub(crate) text: String,
    pub(crate) lines: LineIndex,
    language_id: String,
    /// What policies may use of their host.
    pub(crate) policies: Loader,
    /// Whether the text was dropped because it was too large.
    dropped: bool,
}

/// What a document is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Rules or a policy. `start` is the byte offset of its text in the document: behind a byte order mark.
    Rules { text: RuleText, start: usize },
    /// Its format or language is not known.
    Unreadable(Unreadable),
    /// More than [`MAX_CHECKED`].
    TooLarge,
    /// No file of celero: any other YAML.
    Other,
}

impl Document {
    /// Makes a document of what a client opened.
    pub(crate) fn new(uri: &Uri, language_id: String, version: i32, text: String) -> Self {
        let mut document = Self {
            path: uri::path(uri),
            version,
            text: String::new(),
            lines: LineIndex::new(""),
            language_id,
            policies: Loader::default(),
            dropped: false,
        };
        document.set(text);
        document
    }

    /// Checks policies that may use functions and variables of their host.
    pub(crate) fn with_policies_of(self, loader: Loader) -> Self {
        Self { policies: loader, ..self }
    }

    fn set(&mut self, text: String) {
        self.dropped = text.len() > MAX_KEPT;
        self.text = if self.dropped { String::new() } else { text };
        self.lines = LineIndex::new(&self.text);
    }

    /// Applies changes in their order.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        let mut edited: Option<EditedText> = None;
        for TextDocumentContentChangeEvent { range, text, .. } in changes {
            let Some(range) = range else {
                edited = None;
                self.set(text);
                continue;
            };
            if self.dropped {
                continue;
            }
            let now = edited.get_or_insert_with(|| EditedText::at(&self.text, &self.lines, range.start));
            now.replace(range, &text);
            if now.len() > MAX_KEPT
                && let Some(large) = edited.take()
            {
                self.set(large.into_text());
            }
        }
        if let Some(edited) = edited {
            self.set(edited.into_text());
        }
    }

    /// Returns what the document is, by its name, the client's language and its content.
    pub(crate) fn kind(&self) -> Kind {
        if self.dropped || self.text.len() > MAX_CHECKED {
            return Kind::TooLarge;
        }
        let (text, start) = match self.text.strip_prefix('\u{feff}') {
            Some(text) => (text, '\u{feff}'.len_utf8()),
            None => (&*self.text, 0),
        };
        let extension = self.path.extension().and_then(|extension| extension.to_str());
        let is_yaml = matches!(extension, Some("yaml" | "yml")) || self.language_id == "yaml";
        let (format, language) = match &*self.language_id {
            "celero-policy" => (Some(Format::Policy), None),
            "celero-rules" => (Some(Format::Rules), None),
            _ if is_yaml && !looks_like_policy(text) => return Kind::Other,
            id if extension.is_none() => (None, id.strip_prefix("celero-").and_then(|name| Language::named(name).ok())),
            _ => (None, None),
        };
        match RuleText::of(&self.path, text.to_owned(), format, language) {
            Ok(text) => Kind::Rules { text, start },
            Err(why) => Kind::Unreadable(why),
        }
    }

    /// Returns the name that messages call the document, which is also the name of a policy's file.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the folder in which paths of a policy start.
    pub(crate) fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Returns whether most keys at the root of a YAML text are those of a policy. Many files in YAML are not celero's.
fn looks_like_policy(text: &str) -> bool {
    let ValueSpec::Mapping(sections) = &Policy::keys().root else { return false };
    let keys = text.lines().filter_map(|line| {
        let (key, _) = line.split_once(':')?;
        key.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(key.trim_end())
    });
    let (mut known, mut strange) = (0_usize, 0_usize);
    for key in keys {
        let count = if sections.key(key).is_some() { &mut known } else { &mut strange };
        *count = count.saturating_add(1);
    }
    known > strange
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    #[test]
    fn policies_are_told_from_other_yaml() {
        for (text, is_policy) in [
            ("request:\n- deny: true\n", true),
            ("# p\nvariables: {a: '1'}\nrequest: []\nrequst: []\n", true),
            ("services:\n  web:\n    image: x\n", false),
            ("- request: {}\n  expect: {}\n", false),
            ("listeners: []\nupstreams: []\npolicy: a\nlog: b\n", false),
            ("", false),
        ] {
            assert_eq!(looks_like_policy(text), is_policy, "{text}");
        }
    }

    #[test]
    fn changes_are_applied_in_utf16() {
        let uri = "file:///a.cel".parse().unwrap();
        let mut document = Document::new(&uri, "cel".to_owned(), 1, "'\u{1f600}' == x\nb".to_owned());
        let mut change = |from: (u32, u32), to: (u32, u32), text: &str| {
            let range = Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1));
            let change =
                TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() };
            document.change(vec![change]);
            document.text.clone()
        };
        assert_eq!(change((0, 8), (0, 9), "yz"), "'\u{1f600}' == yz\nb");
        assert_eq!(change((0, 1), (0, 3), ""), "'' == yz\nb");
        // A range that ends before it begins, or behind the text, changes nothing outside.
        assert_eq!(change((1, 1), (0, 0), "!"), "'' == yz\nb!");
        assert_eq!(change((7, 7), (9, 9), "?"), "'' == yz\nb!?");
    }
}
