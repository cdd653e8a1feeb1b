//! A run of all cases of a directory: which files are read, which cases run, and what is reported.

use super::case::{self, Case};
use super::report::{Report, read_list};
use super::run::Runner;
use super::verdict::{Status, judge_instead};
use celero::Tier;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The cases of a directory, and the files that could not be read.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The cases of all files, in order of the file names.
    pub cases: Vec<Case>,
    /// Name of each unreadable file without its extension, and what is wrong with it.
    pub unreadable: Vec<(String, String)>,
}

impl Suite {
    /// Reads all `*.textproto` files of `dir/testdata` or, if there is no such folder, of `dir`.
    ///
    /// # Errors
    /// The directory does not exist, can't be listed or holds no such file.
    pub fn read(dir: &Path) -> Result<Self, String> {
        if !dir.is_dir() {
            return Err(format!("{} is not a directory", dir.display()));
        }
        crate::messages::load(dir)?;
        let inner = dir.join("testdata");
        let folder = if inner.is_dir() { inner.as_path() } else { dir };
        let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|p| p.extension().is_some_and(|e| e == "textproto"));
        paths.sort();
        if paths.is_empty() {
            return Err(format!("{} holds no case files (*.textproto, directly or in testdata/)", dir.display()));
        }
        let mut suite = Self::default();
        for path in paths {
            let file = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let text = std::fs::read_to_string(&path).map_err(|e| e.to_string());
            match text.and_then(|text| case::read_file(&file, &text)) {
                Ok(cases) => suite.cases.extend(cases),
                Err(error) => suite.unreadable.push((file, error)),
            }
        }
        Ok(suite)
    }

    /// Runs all cases in both tiers.
    #[must_use]
    pub fn run(&self, lists: &Lists) -> Report {
        let mut report = Report::default();
        for (name, tier) in [("native", Tier::Native), ("interpret", Tier::Interpret)] {
            let runner = Runner::new(tier);
            for (file, error) in &self.unreadable {
                report.add_unreadable(file, name, error);
            }
            for case in &self.cases {
                let verdict = match case.skip.as_ref().or_else(|| lists.skipped_files.get(&case.file)) {
                    Some(reason) => (Status::Skipped, reason.clone()),
                    None => {
                        let instead = lists.other_errors.get(&case.path()).map(String::as_str);
                        judge_instead(case, &runner.run(case), instead)
                    }
                };
                report.add(case, name, verdict);
            }
        }
        report
    }

    /// Entries of the lists that name nothing in this directory, a line each.
    #[must_use]
    pub fn unused(&self, lists: &Lists) -> Vec<String> {
        let has_case = |path: &str| self.cases.iter().any(|case| case.path() == path);
        let has_file = |file: &str| self.cases.iter().any(|case| case.file == file);
        let named = lists.known_failures.keys().chain(lists.other_errors.keys());
        let cases =
            named.filter(|path| !has_case(path)).map(|path| format!("listed, but not in this directory: {path}"));
        let files = lists.skipped_files.keys().filter(|file| !has_file(file));
        cases.chain(files.map(|file| format!("listed, but not in this directory: file {file}"))).collect()
    }
}

/// What is known of the official suite. An entry that names a case or a file that a directory lacks
/// has no effect there.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// By case (`file/section/name`): why it fails.
    pub known_failures: BTreeMap<String, String>,
    /// By file: why it is not run.
    pub skipped_files: BTreeMap<String, String>,
    /// By case: the kind of error that is right where the suite's message is beside the point, and the reason.
    pub other_errors: BTreeMap<String, String>,
}

impl Lists {
    /// The lists of this repository.
    ///
    /// # Errors
    /// A line without a reason, or one that is there twice.
    pub fn load() -> Result<Self, String> {
        Ok(Self {
            known_failures: read_list(include_str!("../../conformance-known-failures.txt"))?,
            skipped_files: read_list(include_str!("../../conformance-skipped-files.txt"))?,
            other_errors: read_list(include_str!("../../conformance-other-errors.txt"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "section { name: 's'
        test { name: 'right' expr: '1 + 1' value { int64_value: 2 } }
        test { name: 'wrong' expr: '1 + 1' value { int64_value: 3 } } }";

    /// A directory of its own for one test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let path = std::env::temp_dir().join(format!("celero-suite-{name}-{}", std::process::id()));
            std::fs::create_dir_all(path.join("testdata")).unwrap();
            for (file, text) in files {
                std::fs::write(path.join(file), text).unwrap();
            }
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn list(text: &str) -> BTreeMap<String, String> {
        read_list(text).unwrap()
    }

    #[test]
    fn a_directory_without_cases_is_refused() {
        let folder = Folder::new("empty", &[]);
        let empty = Suite::read(&folder.0).unwrap_err();
        assert!(empty.ends_with("holds no case files (*.textproto, directly or in testdata/)"), "{empty}");
        let missing = Suite::read(&folder.0.join("missing")).unwrap_err();
        assert!(missing.ends_with("missing is not a directory"), "{missing}");
    }

    #[test]
    fn files_stand_in_testdata_or_in_the_directory() {
        let inner = Folder::new("inner", &[("testdata/a.textproto", FILE)]);
        assert_eq!(Suite::read(&inner.0).unwrap().cases.len(), 2);
        assert_eq!(Suite::read(&inner.0.join("testdata")).unwrap().cases.len(), 2);
    }

    #[test]
    fn wrong_cases_and_unreadable_files_are_reported() {
        let folder = Folder::new("wrong", &[("testdata/a.textproto", FILE), ("testdata/b.textproto", "section {")]);
        let suite = Suite::read(&folder.0).unwrap();
        let report = suite.run(&Lists::default());
        assert_eq!(report.cases.len(), 6, "three lines for each tier");
        let surprises = report.surprises(&BTreeMap::new());
        assert_eq!(surprises.len(), 4, "{surprises:?}");
        assert!(surprises[0].starts_with("failed: b [native]: "), "{surprises:?}");
        assert!(surprises[1].starts_with("failed: a/s/wrong [native]: expected 3, got 2"), "{surprises:?}");
        let known = Lists { known_failures: list("a/s/wrong: why"), skipped_files: list("b: why"), ..Lists::default() };
        assert_eq!(suite.run(&known).surprises(&known.known_failures).len(), 2, "b can't be read in either tier");
    }

    #[test]
    fn entries_that_name_nothing_have_no_effect() {
        let folder = Folder::new("partial", &[("testdata/a.textproto", FILE)]);
        let suite = Suite::read(&folder.0).unwrap();
        let lists = Lists {
            known_failures: list("a/s/wrong: why\nz/s/gone: why"),
            skipped_files: list("proto: why"),
            other_errors: list("z/s/other: overflow, why"),
        };
        assert!(suite.run(&lists).surprises(&lists.known_failures).is_empty());
        let expected =
            ["z/s/gone", "z/s/other", "file proto"].map(|name| format!("listed, but not in this directory: {name}"));
        assert_eq!(suite.unused(&lists), expected);
    }

    #[test]
    fn the_lists_of_the_repository_are_well_formed() {
        Lists::load().unwrap();
    }
}
