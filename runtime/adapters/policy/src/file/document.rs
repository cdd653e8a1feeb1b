//! The files of a policy: the main file, the files that it includes, and those of lower levels.

use crate::file::emptiness::{self, LevelPhases};
use crate::file::regular_file::{Unreadable, content, open_within, stays_below};
use crate::host::outcome::Phase;
use crate::keys::policy::{POLICY, RULE, SECTIONS};
use crate::problems::{FileSpan, Problems, similar};
use crate::yaml::reach::Use;
use crate::yaml::{MapEntry, Node, SourceText, read};
use std::collections::HashMap;
use std::fs::File;
use std::io::Error;
use std::path::{Component, Path, PathBuf};

/// The largest number of included files.
const MAX_FILES: usize = 100;

/// A policy as written. What differs from the tables of `keys/policy.rs` has been reported.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// Included files precede the file that includes them, and levels follow each other.
    files: Vec<PolicyFile>,
    /// The files that were included, and those of levels, with their levels. A file that is
    /// included twice is read once.
    included: Vec<(PathBuf, usize)>,
    /// The number of levels after the first.
    lower_levels: usize,
    /// The folder of the level that is being read, which its files may not leave; `None` in the first level.
    folder: Option<PathBuf>,
    /// How many bytes the files of this level have so far.
    level_bytes: u64,
}

#[derive(Debug)]
struct PolicyFile {
    root: Node,
    /// The folder that relative paths start from.
    base: PathBuf,
    level: usize,
    /// The folder that the files of a lower level may not leave.
    folder: Option<PathBuf>,
}

/// The sections that a file of a lower level may have beside rules.
const DEFINITIONS: [&str; 6] = ["include", "empty", "variables", "functions", "headerSets", "lists"];

/// A section of a file, and the folder that relative paths in it start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'d> {
    pub(crate) node: &'d Node,
    pub(crate) base: &'d Path,
    /// The folder that the section's files may not leave: that of a lower level.
    pub(crate) folder: Option<&'d Path>,
}

impl Document {
    /// Reads a text and the files that it includes.
    pub(crate) fn read(name: &str, text: &str, base: &Path, problems: &mut Problems) -> Self {
        let mut document = Self::default();
        let itself = Path::new(name).file_name().map(|file| identity(&base.join(file)));
        let mut within: Vec<PathBuf> = itself.into_iter().collect();
        document.add(name, text, base, None, problems, &mut within);
        let levels = document.files.last().map_or_else(Vec::new, |file| file.root.texts_of("levels"));
        for path in levels {
            document.lower_levels = document.lower_levels.saturating_add(1);
            (document.folder, document.level_bytes) = (None, 0);
            let file = base.join(&path.text);
            let (before, errors) = (document.files.len(), problems.count());
            document.include(&path, base, file.parent(), problems, &mut within);
            let added = document.files.get(before..).unwrap_or_default();
            let is_meant = added.iter().any(|file| emptiness::is_allowed(&file.root));
            if problems.count() == errors && !is_meant && !added.iter().any(PolicyFile::has_any_rules) {
                emptiness::report_level(&path.text, path.place, problems);
            }
        }
        document
    }

    fn add(
        &mut self,
        name: &str,
        text: &str,
        base: &Path,
        included: Option<FileSpan>,
        problems: &mut Problems,
        within: &mut Vec<PathBuf>,
    ) {
        let file = problems.file(name.to_owned(), text);
        let before = problems.count();
        let root = read(file, problems);
        if problems.count() == before {
            emptiness::check_file(file, root.as_ref(), included, problems);
        }
        let Some(root) = root.filter(|root| !root.is_nothing()) else { return };
        if let Some((place, message, help)) = other_format(&root, name) {
            problems.add("policy-key", place, message).help(help);
            return;
        }
        POLICY.check(&root, problems);
        if let [_, _, ..] = &**within
            && let Some(levels) = root.entries().iter().find(|entry| entry.key.text == "levels")
        {
            let message = "only the main file of a policy has `levels`".to_owned();
            problems.add("policy-level", levels.key.place, message);
        }
        if self.lower_levels > 0 {
            check_lower_level(&root, problems);
        }
        for path in root.texts_of("include") {
            self.include(&path, base, None, problems, within);
        }
        self.files.push(PolicyFile {
            root,
            base: base.to_owned(),
            level: self.lower_levels,
            folder: self.folder.clone(),
        });
    }

    /// Reads a file that another one names. `level` is the folder of a file of a level.
    fn include(
        &mut self,
        path: &SourceText,
        base: &Path,
        level: Option<&Path>,
        problems: &mut Problems,
        within: &mut Vec<PathBuf>,
    ) {
        let file = base.join(&path.text);
        if self.folder.is_some() && !is_named_below(path, problems) {
            return;
        }
        let folder = level.or(self.folder.as_deref());
        if !problems.may_use(Use::Include, file.as_os_str(), folder, path) {
            return;
        }
        problems.watch(&file);
        let Some(opened) = open_unwatched(&file, folder, path, problems) else { return };
        let identity = identity(&file);
        let refusal = if within.contains(&identity) {
            Some(format!("`{}` includes itself", path.text))
        } else {
            (self.included.len() >= MAX_FILES).then(|| format!("a policy includes at most {MAX_FILES} files"))
        };
        if let Some(message) = refusal {
            problems.add("policy-include", path.place, message);
            return;
        }
        if let Some((_, level)) = self.included.iter().find(|(known, _)| *known == identity) {
            if *level != self.lower_levels {
                let message = format!("`{}` is in this policy already, and its rules are in one level only", path.text);
                problems.add("policy-level", path.place, message);
            }
            return;
        }
        self.included.push((identity.clone(), self.lower_levels));
        let Some(bytes) = bytes_of(opened, &file, LARGEST_FILE, path, problems) else { return };
        self.level_bytes = self.level_bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.lower_levels > 0 && self.level_bytes > LARGEST_LEVEL {
            let message = format!("the files of a lower level have at most {} MiB together", LARGEST_LEVEL >> 20);
            let problem = problems.add("policy-level", path.place, message);
            problem.help("many entries belong in `files` of `lists`");
            return;
        }
        let Ok(text) = String::from_utf8(bytes) else {
            problems.add("policy-file", path.place, format!("`{}` is not UTF-8", file.display()));
            return;
        };
        if let Some(why) = POLICY.why_foreign(&path.text, &text) {
            problems.add("policy-include", path.place, format!("this is no file of a policy: {why}"));
            return;
        }
        if let Some(folder) = level {
            self.folder = Some(folder.to_owned());
        }
        within.push(identity);
        let base = file.parent().unwrap_or(base);
        self.add(&file.display().to_string(), &text, base, Some(path.place), problems, within);
        within.pop();
    }

    /// Returns the roots of all files.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Node> {
        self.files.iter().map(|file| &file.root)
    }

    /// Returns the number of each file with its level.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (usize, usize)> {
        self.files.iter().map(|file| (file.root.place.file, file.level))
    }

    /// Returns the sections of a name in all files.
    pub(crate) fn all<'d>(&'d self, name: &'static str) -> impl Iterator<Item = Section<'d>> {
        self.files.iter().filter_map(move |file| file.section(name))
    }

    /// Returns the phases with rules of each level, the first level first.
    pub(crate) fn phases_of_levels(&self) -> Vec<LevelPhases> {
        let names = self.files.iter().filter(|file| file.level == 0).flat_map(|file| file.root.texts_of("levels"));
        let names =
            std::iter::once("the policy".to_owned()).chain(names.map(|name| format!("the level `{}`", name.text)));
        let level = |(level, name)| {
            let files = || self.files.iter().filter(move |file| file.level == level);
            let has_rules = |phase: &&'static str| files().any(|file| file.has_rules(phase));
            LevelPhases {
                name,
                phases: Phase::ALL.map(Phase::name).into_iter().filter(has_rules).collect(),
                may_be_empty: files().any(|file| emptiness::is_allowed(&file.root)),
            }
        };
        names.enumerate().map(level).collect()
    }

    /// Returns whether the policy has more than one level.
    pub(crate) fn has_levels(&self) -> bool {
        self.lower_levels > 0
    }

    /// Returns the entries of the sections of a name. Reports a key that an earlier file has already.
    pub(crate) fn entries<'d>(&'d self, name: &'static str, problems: &mut Problems) -> Vec<&'d MapEntry> {
        let (mut found, mut places) = (Vec::new(), HashMap::new());
        for entry in self.all(name).flat_map(|section| section.node.entries()) {
            let first = *places.entry(&*entry.key.text).or_insert_with(|| {
                found.push(entry);
                entry.key.place
            });
            if first.file != entry.key.place.file {
                twice(&entry.key.text, entry.key.place, first, problems);
            }
        }
        found
    }

    /// Returns the section of a name, which only one file may have.
    pub(crate) fn one<'d>(&'d self, name: &'static str, problems: &mut Problems) -> Option<Section<'d>> {
        let mut sections = self.all(name).filter(|section| !section.node.is_nothing());
        let first = sections.next()?;
        for other in sections {
            twice(name, other.node.place, first.node.place, problems);
        }
        Some(first)
    }

    /// Returns the value of a key in a section. Only one file may have it.
    pub(crate) fn setting<'d>(
        &'d self,
        section: &'static str,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<&'d Node> {
        let mut values = self.all(section).filter_map(|section| section.node.get(key));
        let first = values.next()?;
        for other in values {
            twice(key, other.place, first.place, problems);
        }
        Some(first)
    }

    /// Returns the number that a key in a section has.
    pub(crate) fn number(&self, section: &'static str, key: &'static str, problems: &mut Problems) -> Option<u64> {
        self.setting(section, key, problems).and_then(Node::scalar)?.parse().ok()
    }

    /// Returns the rules of a phase in all files.
    pub(crate) fn rules<'d>(&'d self, phase: &'static str) -> impl Iterator<Item = &'d Node> {
        self.rules_by_level(phase).map(|(_, rule)| rule)
    }

    /// Returns the rules of a phase in all files with their levels, the first level first. The first is 0.
    pub(crate) fn rules_by_level<'d>(&'d self, phase: &'static str) -> impl Iterator<Item = (usize, &'d Node)> {
        self.files.iter().flat_map(move |file| {
            let rules = file.rules(phase).iter();
            rules.filter(|rule| !rule.entries().is_empty()).map(move |rule| (file.level, rule))
        })
    }
}

impl PolicyFile {
    fn section(&self, name: &str) -> Option<Section<'_>> {
        Some(Section { node: self.root.get(name)?, base: &self.base, folder: self.folder.as_deref() })
    }

    fn has_any_rules(&self) -> bool {
        Phase::ALL.iter().any(|phase| self.has_rules(phase.name()))
    }

    fn has_rules(&self, phase: &'static str) -> bool {
        self.rules(phase).iter().any(|rule| !rule.entries().is_empty())
    }

    fn rules(&self, phase: &'static str) -> &[Node] {
        let section = self.root.get(phase);
        section.map_or(&[][..], |section| section.get("rules").unwrap_or(section).elements())
    }
}

/// Returns whether the path that a file of a lower level names stays below its folder as it is
/// written. Reports that it does not. Where links lead is seen when the file is opened.
pub(crate) fn is_named_below(at: &SourceText, problems: &mut Problems) -> bool {
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let stays = Path::new(&at.text).components().all(is_below);
    if !stays {
        report_outside(at, problems);
    }
    stays
}

/// Returns whether a folder that a file of a lower level names is in the folder of the level. Reports that it is not.
pub(crate) fn is_folder_below(path: &Path, folder: &Path, at: &SourceText, problems: &mut Problems) -> bool {
    let stays = stays_below(path, folder);
    if !stays {
        report_outside(at, problems);
    }
    stays
}

fn report_outside(at: &SourceText, problems: &mut Problems) {
    let message = format!("`{}` is not below the folder of this level", at.text);
    let help = "the files of a lower level are in the folder of its first file and below, without `..` and without links to others";
    problems.add("policy-level", at.place, message).help(help);
}

/// Reports what a file of a lower level has beside rules and definitions.
fn check_lower_level(root: &Node, problems: &mut Problems) {
    for MapEntry { key, value } in root.entries() {
        let settings: Vec<&SourceText> = if Phase::ALL.iter().any(|phase| phase.name() == key.text) {
            value.entries().iter().map(|entry| &entry.key).filter(|key| key.text != "rules").collect()
        } else {
            Some(key).filter(|key| !DEFINITIONS.contains(&&*key.text)).into_iter().collect()
        };
        for key in settings {
            let message = format!("`{}` can't be in a file of a lower level", key.text);
            let problem = problems.add("policy-level", key.place, message);
            problem.help("such a file has rules and definitions; settings belong to the first level".to_owned());
        }
    }
}

/// Recognises a file of another format that was given as a policy: returns the place, the message
/// and what to do with it.
fn other_format(root: &Node, name: &str) -> Option<(FileSpan, String, String)> {
    let is_key = |key: &str| SECTIONS.key(key).is_some();
    if root.elements().iter().any(|element| element.get("expect").is_some()) {
        let help = format!("`celero test POLICY.yaml {name}` runs it");
        return Some((root.place, "this is a file of cases, not a policy".to_owned(), help));
    }
    if root.elements().iter().flat_map(Node::entries).any(|entry| RULE.key(&entry.key.text).is_some()) {
        let help = "write `request:` or another phase above the rules".to_owned();
        return Some((root.place, "the rules of a policy belong to a phase".to_owned(), help));
    }
    let first = root.entries().first()?;
    if root.get("listeners").is_some() && root.get("upstreams").is_some() {
        let help = format!("`celero-proxy --check --config {name}` checks it; its key `policy` names the policy");
        return Some((first.key.place, "this is a configuration of celero-proxy, not a policy".to_owned(), help));
    }
    let known: Vec<&str> = SECTIONS.keys.iter().map(|key| key.name).collect();
    let is_rule = |entry: &MapEntry| {
        let text = entry.value.text();
        !is_key(&entry.key.text)
            && similar(&entry.key.text, &known).is_none()
            && text.is_some_and(|text| !text.text.is_empty())
    };
    root.entries().iter().all(is_rule).then(|| {
        let message = format!("a policy has no key `{}`", first.key.text);
        let help = "the name of a file of rules `name: expression` ends in `.rules`; the keys of a policy are";
        (first.key.place, message, format!("{help} `{}`", known.join("`, `")))
    })
}

/// Returns a path that is the same for all paths to a file.
fn identity(file: &Path) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

fn twice(what: &str, place: FileSpan, first: FileSpan, problems: &mut Problems) {
    let name = problems.name(first.file).to_owned();
    let problem = problems.add("policy-duplicate", place, format!("`{what}` is in two files"));
    problem.help(format!("the first is in {name}"));
}

/// Returns the content of a file with credentials that a policy names, and adds the file to those
/// that hosts watch. Reports at `at` that it can't be read.
pub(crate) fn read_credentials(file: &Path, at: &SourceText, problems: &mut Problems) -> Option<Vec<u8>> {
    if !problems.may_use(Use::Credentials, file.as_os_str(), None, at) {
        return None;
    }
    problems.watch(file);
    read_unwatched(file, None, LARGEST_FILE, at, problems)
}

/// Returns the content of a file with descriptors of messages. Reports at `at` that it can't be read.
pub(crate) fn read_descriptors(file: &Path, at: &SourceText, problems: &mut Problems) -> Option<Vec<u8>> {
    if !problems.may_use(Use::Descriptors, file.as_os_str(), None, at) {
        return None;
    }
    problems.watch(file);
    read_unwatched(file, None, LARGEST_DESCRIPTORS, at, problems)
}

/// Returns the content of a file of at most `largest` bytes, which must be in `folder`, if there is
/// one. Reports at `at` that it can't be read.
pub(crate) fn read_unwatched(
    file: &Path,
    folder: Option<&Path>,
    largest: u64,
    at: &SourceText,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    bytes_of(open_unwatched(file, folder, at, problems)?, file, largest, at, problems)
}

fn open_unwatched(file: &Path, folder: Option<&Path>, at: &SourceText, problems: &mut Problems) -> Option<File> {
    match open_within(file, folder) {
        Ok(opened) => return Some(opened),
        Err(Unreadable::Outside) => report_outside(at, problems),
        Err(Unreadable::Error(error)) => report_unreadable(file, &error, at, problems),
    }
    None
}

fn bytes_of(opened: File, file: &Path, largest: u64, at: &SourceText, problems: &mut Problems) -> Option<Vec<u8>> {
    content(opened, largest).map_err(|error| report_unreadable(file, &error, at, problems)).ok()
}

fn report_unreadable(file: &Path, error: &Error, at: &SourceText, problems: &mut Problems) {
    problems.add("policy-file", at.place, format!("{} can't be read: {error}", file.display()));
}

/// The largest file that a policy may name, in bytes.
pub const LARGEST_FILE: u64 = 64 << 20;

/// The largest file with descriptors of messages, in bytes.
const LARGEST_DESCRIPTORS: u64 = 16 << 20;

/// The largest sum of the files of a lower level, in bytes, without those of lists. Its owner may
/// not use up the memory of the process, or the time of its reloads.
const LARGEST_LEVEL: u64 = 1 << 20;
