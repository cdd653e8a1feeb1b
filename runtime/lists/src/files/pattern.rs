//! [`FilePattern`]: all files of a folder with one extension.

use std::ffi::OsString;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// Most files that a [`FilePattern`] stands for.
pub const MAX_PATTERN_FILES: usize = 4_096;

/// All files of a folder with one extension: `blocked.d/*.txt`.
///
/// ```
/// use celero_lists::FilePattern;
/// use std::path::Path;
///
/// let pattern = FilePattern::of_path(Path::new("lists/blocked.d/*.txt")).ok_or("no pattern")?;
/// assert!(pattern.matches(Path::new("lists/blocked.d/scanners.txt")));
/// assert!(!pattern.matches(Path::new("lists/blocked.d/.scanners.txt")));
/// assert!(FilePattern::of_path(Path::new("lists/blocked.txt")).is_none());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    folder: PathBuf,
    extension: OsString,
}

impl FilePattern {
    /// Returns the pattern of a path whose last part is `*.` and an extension; `None` of every other path.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.file_name()?.to_str()?.strip_prefix("*.")?;
        let is_plain = !extension.is_empty() && !extension.contains(['*', '.']);
        is_plain
            .then(|| Self { folder: path.parent().unwrap_or(Path::new("")).to_owned(), extension: extension.into() })
    }

    /// Returns whether the pattern stands for a file of this path, if there is one. Names that
    /// begin with a dot are left out: so editors and copying programs name files that are not
    /// complete, and Kubernetes what its links lead to.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension() == Some(&self.extension) && path.parent() == Some(&*self.folder)
    }

    /// Returns the files that the folder has now, in the order of their names. Folders in it are left out.
    ///
    /// # Errors
    /// The folder can't be read, or there are more than [`MAX_PATTERN_FILES`].
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = self.folder.join(entry?.file_name());
            // What can't be looked at, as a link that leads nowhere, is an error when it is read.
            if !self.matches(&path) || fs::metadata(&path).is_ok_and(|about| about.is_dir()) {
                continue;
            }
            if files.len() >= MAX_PATTERN_FILES {
                let message = format!("more than {MAX_PATTERN_FILES} files with this extension");
                return Err(Error::other(message));
            }
            files.push(path);
        }
        files.sort_unstable();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_of_a_folder_are_found_in_order() {
        let folder = std::env::temp_dir().join(format!("celero-pattern-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("folder.txt")).unwrap();
        for name in ["b.txt", "a.txt", ".hidden.txt", "a.txt~", "c.csv", "txt", ".txt", "d.TXT"] {
            fs::write(folder.join(name), "").unwrap();
        }
        symlink(folder.join("c.csv"), folder.join("link.txt")).unwrap();
        symlink(folder.join("nowhere"), folder.join("nowhere.txt")).unwrap();
        let pattern = FilePattern::of_path(&folder.join("*.txt")).unwrap();
        let found = pattern.files().unwrap();
        assert_eq!(found, ["a.txt", "b.txt", "link.txt", "nowhere.txt"].map(|name| folder.join(name)));
        assert!(found.iter().all(|file| pattern.matches(file)));
        for number in 0..MAX_PATTERN_FILES {
            fs::write(folder.join(format!("{number}.jsonl")), "").unwrap();
        }
        let many = FilePattern::of_path(&folder.join("*.jsonl")).unwrap();
        assert_eq!(many.files().unwrap().len(), MAX_PATTERN_FILES);
        fs::write(folder.join("one.jsonl"), "").unwrap();
        assert!(many.files().unwrap_err().to_string().contains("more than 4096 files"));
        fs::remove_dir_all(&folder).unwrap();
        assert!(pattern.files().is_err());
    }

    #[test]
    fn only_the_last_part_is_a_pattern() {
        for path in ["a.txt", "*", "*.", "a*.txt", "*.tar.gz", "*.*", "*/a.txt", ""] {
            assert_eq!(FilePattern::of_path(Path::new(path)), None, "{path}");
        }
        let here = FilePattern::of_path(Path::new("*.txt")).unwrap();
        assert!(here.matches(Path::new("a.txt")) && !here.matches(Path::new("b/a.txt")) && here.files().is_ok());
    }
}
