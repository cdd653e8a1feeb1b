//! The rules that a command is given: files and texts. `-` is standard input.
//!
//! Invariant: for every command, an argument is a file and `-e` is a text; nothing is guessed. Test:
//! `runtime/tools/cli/tests/it/newcomer.rs::an_argument_is_a_file_and_e_is_a_text`.

use crate::language::{self, Language};
use crate::output::hints;
pub(crate) use celero_tooling::rules::source::Format;
use celero_tooling::rules::source::{RuleText, Unreadable};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The arguments that name rules.
#[derive(clap::Args)]
pub(crate) struct SourceArgs {
    /// Files: an expression (`.cel`, `.filter`), rules (`.rules`) or a policy (`.yaml`). `-` is
    /// standard input. For a text use -e.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// An expression as text. May be repeated.
    #[arg(short = 'e', long = "expr", value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) texts: Vec<String>,
    /// The format of the files. Without it the name decides or, for other names and standard input, the content.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// The language of the rules. Without it, that of the first line of a file
    /// (`# language: filter`), of its name (`.filter`), or CEL.
    #[arg(long, value_parser = language::parser(), value_name = "LANGUAGE")]
    pub(crate) language: Option<Language>,
}

/// Rules as they were given.
pub(crate) struct Source {
    /// What messages call them: the path, `<stdin>` or `-e`.
    pub(crate) name: String,
    /// The file; `None` for standard input and texts.
    pub(crate) path: Option<PathBuf>,
    /// The text, without a byte order mark.
    pub(crate) text: String,
    pub(crate) format: Format,
    /// The language of the rules; of a file of rules, of those that name no other.
    pub(crate) language: Language,
    /// The comments before an expression whose language has none. In `text` they are blank.
    pub(crate) comments: String,
    /// Whether it was given with `-e`.
    is_argument: bool,
}

impl SourceArgs {
    /// Reads all files and texts, in order. `command` is the name of the command, for hints.
    ///
    /// # Errors
    /// The file that can't be read, and why; or that nothing is given.
    pub(crate) fn read(&self, command: &str) -> Result<Vec<Source>, String> {
        self.read_as(command, self.format)
    }

    fn read_as(&self, command: &str, format: Option<Format>) -> Result<Vec<Source>, String> {
        if self.files.is_empty() && self.texts.is_empty() {
            return Err(format!(
                "no rules are given: name a file, or give a text with -e: celero {command} -e '1 + 1'"
            ));
        }
        let mut sources = Vec::new();
        for path in &self.files {
            sources.push(Source::read(path, format, self.language, command)?);
        }
        for (number, text) in self.texts.iter().enumerate() {
            let name = if self.texts.len() > 1 { format!("-e #{}", number.saturating_add(1)) } else { "-e".to_owned() };
            let text = text.trim_end().to_owned();
            let (format, language, comments) = (Format::Cel, self.language.unwrap_or_default(), String::new());
            sources.push(Source { name, path: None, text, format, language, comments, is_argument: true });
        }
        Ok(sources)
    }

    /// Reads the only file or text.
    ///
    /// # Errors
    /// As [`read`](Self::read); also if there are several.
    pub(crate) fn only(&self, command: &str) -> Result<Source, String> {
        self.only_as(command, self.format)
    }

    /// Reads the only file or text, in a format that its name does not tell.
    ///
    /// # Errors
    /// As [`only`](Self::only).
    pub(crate) fn only_as(&self, command: &str, format: Option<Format>) -> Result<Source, String> {
        let mut sources = self.read_as(command, format)?;
        match (sources.pop(), sources.is_empty()) {
            (Some(source), true) => Ok(source),
            _ => Err(format!("`celero {command}` takes one file or one text, not {}", self.count())),
        }
    }

    fn count(&self) -> usize {
        self.files.len().saturating_add(self.texts.len())
    }
}

impl Source {
    fn read(path: &Path, format: Option<Format>, language: Option<Language>, command: &str) -> Result<Self, String> {
        if let Some(hint) = hints::not_rules(path, command).filter(|_| format.is_none()) {
            return Err(hint);
        }
        if path != Path::new("-") && !path.exists() {
            return Err(hints::missing_rules(path, command));
        }
        let text = read_text(path)?;
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let RuleText { text, format, language, comments } =
            RuleText::of(path, text, format, language).map_err(|why| match why {
                Unreadable::Language(why) => format!("{name}:1: {why}"),
                Unreadable::OtherFormat => hints::other_format(path, "a policy", ".yaml", "policy"),
            })?;
        let path = (!is_stdin).then(|| path.to_owned());
        Ok(Self { name, path, text, format, language, comments, is_argument: false })
    }

    /// Returns the text if it was given with `-e`.
    pub(crate) fn argument(&self) -> Option<&str> {
        self.is_argument.then_some(&*self.text)
    }

    /// Returns whether there may be rules in another language than CEL, which need types of variables.
    pub(crate) fn may_need_types(&self) -> bool {
        let names = |language: &Language| self.text.contains(&format!("language {}", language.name()));
        let in_brackets = || Language::all().iter().any(|language| !language.is_default() && names(language));
        !self.language.is_default() || self.format == Format::Rules && in_brackets()
    }

    /// Returns a hint about a text that is not valid in its language, but in another one. `is_variable`
    /// says which names are variables in its own.
    pub(crate) fn language_hint(&self, is_variable: impl Fn(&str) -> bool) -> Option<String> {
        if self.language.is_default() { language::suggestion(&self.text, is_variable) } else { None }
    }

    /// Returns the folder in which paths of a policy start.
    pub(crate) fn base(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new("."))
    }
}

/// Returns the text of a file, or of standard input for `-`, without a byte order mark.
///
/// # Errors
/// A file that can't be read or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        hints::not_utf8(path, error.as_bytes(), valid)
    })
}

/// Returns the bytes of a file, or of standard input for `-`, without a byte order mark.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    result.map_err(|error| hints::unreadable(path, &error))?;
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..'\u{feff}'.len_utf8());
    }
    Ok(bytes)
}
