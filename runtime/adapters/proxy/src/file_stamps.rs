//! Which files changed, and whether they are complete.
//!
//! A part of a YAML file is often a valid file, without its last rules. So a file is not loaded while it is being written.

use crate::config::pattern_files;
use crate::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the system says of files at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStamps(Vec<(PathBuf, Option<Stamp>)>);

/// What tells one content of a file from another. Of a pattern, which files it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    modified: SystemTime,
    size: u64,
}

impl FileStamps {
    /// Looks at files.
    pub(crate) fn of(files: Vec<PathBuf>) -> Self {
        let look = |file: PathBuf| {
            if let Some(names) = pattern_files(&file) {
                let mut hasher = DefaultHasher::new();
                names.hash(&mut hasher);
                let stamp = Stamp { inode: (0, hasher.finish()), modified: SystemTime::UNIX_EPOCH, size: 0 };
                return (file, Some(stamp));
            }
            let about = std::fs::metadata(&file).ok();
            let stamp = about.and_then(|about| {
                let inode = (about.dev(), about.ino());
                Some(Stamp { inode, modified: about.modified().ok()?, size: about.len() })
            });
            (file, stamp)
        };
        Self(files.into_iter().map(look).collect())
    }

    /// Looks at the same files again.
    pub(crate) fn again(&self) -> Self {
        Self::of(self.files().map(Path::to_owned).collect())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(file, _)| &**file)
    }

    fn get(&self, file: &Path) -> Option<&Option<Stamp>> {
        self.0.iter().find(|(known, _)| known == file).map(|(_, stamp)| stamp)
    }

    /// Returns the files that are not as they were `before`; files that were not looked at then are not among them.
    pub(crate) fn changed(&self, before: &Self) -> Vec<&Path> {
        let differs = |(file, stamp): &&(PathBuf, Option<Stamp>)| before.get(file).is_some_and(|known| known != stamp);
        self.0.iter().filter(differs).map(|(file, _)| &**file).collect()
    }

    /// Returns whether another file took the place of this one, as by a rename: such a file was complete before.
    pub(crate) fn was_replaced(&self, before: &Self, file: &Path) -> bool {
        match (self.get(file), before.get(file)) {
            (Some(Some(now)), Some(Some(then))) => now.inode != then.inode,
            _ => false,
        }
    }

    /// Takes over what `other` says of files that both know.
    pub(crate) fn take_over(&mut self, other: &Self) {
        for (file, stamp) in &mut self.0 {
            if let Some(known) = other.get(file) {
                *stamp = *known;
            }
        }
    }
}

/// Checks that YAML files end with the line `...`, the end of a YAML document.
///
/// # Errors
/// Returns an error that names the first file without it.
pub(crate) fn check_end_markers<'f>(files: impl IntoIterator<Item = &'f Path>) -> Result<(), Error> {
    for file in files {
        let yaml = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if !yaml {
            continue;
        }
        let text = std::fs::read_to_string(file)?;
        if text.trim_end().lines().next_back() != Some("...") {
            return Err(Error::new(format!(
                "error: {} does not end with the line `...`\n  = help: `reload.endMarker` requires it, because a file without it may \
                 be written only in part",
                file.display()
            )));
        }
    }
    Ok(())
}
