//! The files that the command was given. They are read for each request, so that the page shows what an editor saved.

use crate::limits;
use celero_tooling::language::Language;
use celero_tooling::rules::file::{InvalidLine, Rule, RulesFile};
use celero_tooling::rules::source::{Format, RuleText, Unreadable};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files that are shown.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The rule with which the playground begins.
    pub rule: Option<FirstRule>,
    /// A policy.
    pub policy: Option<PathBuf>,
    /// Its cases.
    pub cases: Vec<PathBuf>,
    /// A rule set.
    pub rules: Option<RuleFiles>,
    /// Recorded requests, on which the policy or the rule set is tried.
    pub requests: Option<PathBuf>,
    /// What the host of the policy declares.
    pub host: celero_policy::Loader,
    /// A page that `celero lab report` wrote.
    pub lab: Option<PathBuf>,
}

/// A rule with which the playground begins.
#[derive(Clone, Debug)]
pub struct FirstRule {
    /// What it is called: the file, or `-e`.
    pub name: String,
    /// The text of the condition.
    pub text: String,
    /// Its language.
    pub language: Language,
}

/// The files of a rule set.
#[derive(Clone, Debug)]
pub struct RuleFiles {
    /// Files of rules, or with one rule each, in the order of the set.
    pub paths: Vec<PathBuf>,
    /// The format of all files. Without it, the name and the content of each decide.
    pub format: Option<Format>,
    /// The language of all files. Without it, the name and the first line of each decide, or it is CEL.
    pub language: Option<Language>,
}

impl RuleFiles {
    /// Reads the rules of all files, in the order of their set.
    ///
    /// # Errors
    /// A file that can't be read, is longer than [`limits::FILE_BYTES`] or not a regular file, or
    /// has a line that is not a rule.
    pub fn read(&self) -> Result<RulesFile, String> {
        let texts = self.texts()?;
        RuleTexts::new(&texts).map(|texts| texts.rules).map_err(|wrong| wrong.to_string())
    }

    /// Reads the texts of all files.
    ///
    /// # Errors
    /// A file that can't be read, or with a language or format that is not one of rules.
    pub(crate) fn texts(&self) -> Result<Vec<FileOfRules>, String> {
        let of = |path: &PathBuf| FileOfRules::new(path.display().to_string(), read(path)?, self.format, self.language);
        self.paths.iter().map(of).collect()
    }
}

/// The text of a file of rules, or with one rule.
#[derive(Clone, Debug)]
pub(crate) struct FileOfRules {
    pub(crate) name: String,
    /// As written.
    pub(crate) text: String,
    /// The same length, without comments that are no part of the language.
    checked: String,
    pub(crate) format: Format,
    pub(crate) language: Language,
}

impl FileOfRules {
    /// Finds out format and language of a text, if they are not given. The file need not exist.
    ///
    /// # Errors
    /// The first line names no language, or the text is a policy.
    pub(crate) fn new(
        name: String,
        text: String,
        format: Option<Format>,
        language: Option<Language>,
    ) -> Result<Self, String> {
        let read = RuleText::of(Path::new(&name), text.clone(), format, language);
        let RuleText { text: checked, format, language, .. } = read.map_err(|why| match why {
            Unreadable::Language(why) => format!("{name}:1: {why}"),
            Unreadable::OtherFormat => format!("{name}: this is a policy, by its content"),
        })?;
        Ok(Self { name, text, checked, format, language })
    }
}

/// The rules of several files as one set.
pub(crate) struct RuleTexts {
    pub(crate) rules: RulesFile,
    /// The file of each rule.
    pub(crate) file_of: Vec<usize>,
}

impl RuleTexts {
    /// Reads the rules of texts, in the order of their set.
    ///
    /// # Errors
    /// A line that is not a rule.
    pub(crate) fn new(files: &[FileOfRules]) -> Result<Self, InvalidLine> {
        let mut placed: Vec<(usize, Rule)> = Vec::new();
        for (number, FileOfRules { name, checked, format, language, .. }) in files.iter().enumerate() {
            if *format == Format::Rules {
                let rules = RulesFile::parse(name.clone(), checked.clone(), *language)?.rules;
                placed.extend(rules.into_iter().map(|rule| (number, rule)));
            } else {
                placed.push((number, only_rule(Path::new(name), checked.clone(), *language)));
            }
        }
        placed.sort_by_key(|(_, rule)| rule.priority);
        let (file_of, rules) = placed.into_iter().unzip();
        let path = files.iter().map(|file| &*file.name).collect::<Vec<_>>().join(", ");
        Ok(Self { rules: RulesFile { path, text: String::new(), language: Language::default(), rules }, file_of })
    }
}

/// Returns the rule of a file with one expression, named after the file.
fn only_rule(path: &Path, source: String, language: Language) -> Rule {
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let end = source.len();
    Rule { name, source, priority: 0, tags: Vec::new(), language, head: 0, start: 0, end, has_comments: false }
}

/// Checks that a file can be read for each request: a pipe has its text once, and a device may have no end.
///
/// # Errors
/// It does not exist, is not a regular file, or is longer than [`limits::FILE_BYTES`].
pub fn admit(path: &Path) -> Result<(), String> {
    let name = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| format!("{name}: {error}"))?;
    if !metadata.is_file() {
        return Err(format!("{name}: not a regular file; the page reads its files for each request"));
    }
    if metadata.len() > limits::FILE_BYTES { Err(too_long(path)) } else { Ok(()) }
}

/// Reads a file.
///
/// # Errors
/// As [`admit`]; also what can't be read or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    admit(path)?;
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut text = String::new();
    // It may have grown.
    let within = limits::FILE_BYTES.saturating_add(1);
    let length = file.take(within).read_to_string(&mut text).map_err(|error| format!("{name}: {error}"))?;
    if u64::try_from(length).is_ok_and(|length| length > limits::FILE_BYTES) {
        return Err(too_long(path));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn too_long(path: &Path) -> String {
    format!("{}: longer than {} bytes", path.display(), limits::FILE_BYTES)
}
