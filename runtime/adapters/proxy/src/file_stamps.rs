//! Which files changed, and whether they are complete.
//!
//! A part of a YAML file is often a valid file, without its last rules. So a file is not loaded while it is being written.

use crate::config::pattern_files;
use crate::error::Error;
use std::collections::BTreeSet;
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

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let about = std::fs::metadata(file).ok()?;
        Some(Self { inode: (about.dev(), about.ino()), modified: about.modified().ok()?, size: about.len() })
    }

    /// The stamp of a pattern tells which files it names. The inode stays: a new file may be written in place, so it has to settle.
    fn of_names(files: &[PathBuf]) -> Self {
        let mut hasher = DefaultHasher::new();
        files.hash(&mut hasher);
        Self { inode: (0, 0), modified: SystemTime::UNIX_EPOCH, size: hasher.finish() }
    }
}

impl FileStamps {
    /// Looks at files, and at those that patterns among them name.
    pub(crate) fn of(files: Vec<PathBuf>) -> Self {
        let (mut stamps, mut known): (Vec<(PathBuf, Option<Stamp>)>, BTreeSet<PathBuf>) = Default::default();
        for file in files {
            let named = pattern_files(&file);
            if let Some(named) = &named
                && known.insert(file.clone())
            {
                stamps.push((file.clone(), Some(Stamp::of_names(named))));
            }
            for file in named.unwrap_or_else(|| vec![file]) {
                if known.insert(file.clone()) {
                    let stamp = Stamp::of(&file);
                    stamps.push((file, stamp));
                }
            }
        }
        Self(stamps)
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
