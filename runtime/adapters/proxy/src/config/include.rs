//! The files of a configuration: the main file, and those that it includes.
//!
//! All files together are one document. Entries of `listeners`, `upstreams` and `routes` of all
//! files follow each other, those of included files first; any other key is in one file only. Nodes
//! keep their places, so a mistake is reported in the file where it is, and relative paths start
//! from the folder of the file that has them.

use super::environment::expand;
use super::keys::CONFIG;
use crate::error::Error;
use celero_lists::FilePattern;
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::read_regular;
use celero_policy::yaml::{self, MapEntry, Node, NodeValue, SourceText};
use std::path::{Path, PathBuf};

/// The largest number of included files.
const MAX_FILES: usize = 100;

/// The largest file, in bytes.
const LARGEST_FILE: u64 = 16 << 20;

/// The keys whose lists are put together.
const JOINED: [&str; 4] = ["include", "listeners", "upstreams", "routes"];

/// What was read.
pub(super) struct Files {
    /// The document of all files; `None`: there is none, or it is no YAML.
    pub(super) root: Option<Node>,
    /// The folder of each file, by its number in `Problems`.
    pub(super) folders: Vec<PathBuf>,
    /// The files that are included, and the patterns that name them.
    pub(super) included: Vec<PathBuf>,
}

/// Reads a configuration with the files that it includes, and replaces the variables of the environment in them.
///
/// # Errors
/// The main file can't be read. What is wrong with the others is in `problems`.
pub(super) fn read(file: &Path, problems: &mut Problems) -> Result<Files, Error> {
    let text = read_text(file).map_err(|why| Error::new(format!("error: {} can't be read: {why}", file.display())))?;
    let files = Files { root: None, folders: Vec::new(), included: Vec::new() };
    let mut reader = FileReader { problems, files, within: vec![identity(file)], known: Vec::new() };
    reader.add(file, &text);
    Ok(reader.files)
}

struct FileReader<'p> {
    problems: &'p mut Problems,
    files: Files,
    /// The files that are being read, the main file first.
    within: Vec<PathBuf>,
    /// The files that were included.
    known: Vec<PathBuf>,
}

impl FileReader<'_> {
    /// Adds the content of a file. Returns whether it has any.
    fn add(&mut self, file: &Path, text: &str) -> bool {
        let number = self.problems.file(file.display().to_string(), text);
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        // `Problems::file` numbers files consecutively, so a number is an index into `folders`.
        self.files.folders.resize(number.saturating_add(1), folder);
        let Some(mut root) = yaml::read(number, self.problems).filter(|root| !root.is_nothing()) else {
            return false;
        };
        let has_content = root.entries().iter().any(|entry| match &entry.value.value {
            NodeValue::Scalar(_) => !entry.value.is_nothing(),
            NodeValue::List(elements) => !elements.is_empty(),
            NodeValue::Map(entries) => !entries.is_empty(),
        });
        expand(&mut root, self.problems, &|name| std::env::var(name).ok());
        let included = root.get("include").map_or(&[][..], Node::elements);
        for path in included.iter().filter_map(Node::text).collect::<Vec<_>>() {
            self.include(&path, number);
        }
        match (&mut self.files.root, root) {
            (Some(Node { value: NodeValue::Map(all), place }), Node { value: NodeValue::Map(entries), place: own }) => {
                // What is missing is reported in the file that was read last: the main file.
                *place = own;
                entries.into_iter().for_each(|entry| join(all, entry, self.problems));
            }
            (whole, root) => *whole = Some(root),
        }
        has_content
    }

    /// Reads the files that a path or a pattern names.
    fn include(&mut self, path: &SourceText, from: usize) {
        let whole = self.files.folders.get(from).cloned().unwrap_or_default().join(&path.text);
        self.files.included.push(whole.clone());
        match named_by(&whole) {
            Ok(files) => files.iter().for_each(|file| self.include_file(file, path)),
            Err(why) => {
                self.problems.add("config-include", path.place, format!("`{}` can't be included: {why}", path.text));
            }
        }
    }

    fn include_file(&mut self, file: &Path, path: &SourceText) {
        let identity = identity(file);
        let refusal = if self.within.contains(&identity) {
            Some(format!("{} includes itself", file.display()))
        } else if self.known.contains(&identity) {
            Some(format!("{} is included twice", file.display()))
        } else if self.known.len() >= MAX_FILES {
            Some(format!("a configuration includes at most {MAX_FILES} files"))
        } else {
            None
        };
        if let Some(message) = refusal {
            self.problems.add("config-include", path.place, message);
            return;
        }
        self.known.push(identity.clone());
        if !self.files.included.iter().any(|known| known == file) {
            self.files.included.push(file.to_owned());
        }
        // Nothing of a file that is no configuration is quoted: it may hold secrets.
        let read = read_text(file).map_err(|why| format!("{} can't be read: {why}", file.display())).and_then(|text| {
            match CONFIG.why_foreign(&path.text, &text) {
                Some(why) => Err(format!("this is no file of a configuration: {why}")),
                None => Ok(text),
            }
        });
        match read {
            Ok(text) => {
                self.within.push(identity);
                let before = self.problems.count();
                let is_empty = !self.add(file, &text);
                self.within.pop();
                if is_empty && self.problems.count() == before {
                    let message =
                        format!("{} is empty: it has no listeners, upstreams, routes or settings", file.display());
                    let problem = self.problems.add("config-include", path.place, message);
                    problem
                        .help("it may have been cut to nothing; if this is meant, remove the file, or its name here");
                }
            }
            Err(why) => drop(self.problems.add("config-include", path.place, why)),
        }
    }
}

/// Adds an entry of a file to those of the files before.
fn join(all: &mut Vec<MapEntry>, entry: MapEntry, problems: &mut Problems) {
    let Some(known) = all.iter_mut().find(|known| known.key.text == entry.key.text) else {
        all.push(entry);
        return;
    };
    if !JOINED.contains(&&*entry.key.text) {
        let message = format!("`{}` is in two files", entry.key.text);
        duplicate(problems, entry.key.place, known.key.place, message);
        return;
    }
    match (&mut known.value.value, entry.value.value) {
        (NodeValue::List(elements), NodeValue::List(more)) => elements.extend(more),
        // What is no list is reported as that.
        (_, value) => all.push(MapEntry { key: entry.key, value: Node { place: entry.value.place, value } }),
    }
}

/// Reports what is there twice, with the place of the first.
pub(super) fn duplicate(problems: &mut Problems, place: FileSpan, first: FileSpan, message: String) {
    let at = problems.position(first);
    let problem = problems.add("config-duplicate", place, message);
    if first.file == place.file {
        problem.also(first, "the first is here");
    } else {
        problem.help(format!("the first is at {at}"));
    }
}

/// Returns the files that a path names: itself, or those that a pattern stands for.
fn named_by(path: &Path) -> Result<Vec<PathBuf>, String> {
    match FilePattern::of_path(path) {
        Some(pattern) => pattern.files().map_err(|error| error.to_string()),
        None if path.to_str().is_some_and(|path| path.contains('*')) => {
            Err("a pattern is `*.` and an extension, as the name of the file: `sites/*.yaml`".to_owned())
        }
        None => Ok(vec![path.to_owned()]),
    }
}

/// Returns a path that is the same for all paths to a file, which need not exist.
pub(super) fn identity(file: &Path) -> PathBuf {
    let of_folder = || {
        let folder = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        Some(std::fs::canonicalize(folder?).ok()?.join(file.file_name()?))
    };
    std::fs::canonicalize(file).ok().or_else(of_folder).unwrap_or_else(|| file.to_owned())
}

fn read_text(file: &Path) -> Result<String, String> {
    let bytes = read_regular(file, LARGEST_FILE).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
