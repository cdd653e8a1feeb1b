//! Which files changed, and whether they are complete.
//!
//! A part of a YAML file is often a valid file, without its last rules. So a file is not loaded
//! while it is being written.

use crate::error::Error;
use celero_lists::FilePattern;
use celero_policy::{LARGEST_FILE, read_regular};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the system says of files at one time, among them those that patterns stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStamps(Vec<(PathBuf, Watched)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Watched {
    File(Option<Stamp>),
    /// The files of a [`FilePattern`], in the order of their paths; `None` if its folder can't be read.
    Pattern(Option<Vec<(PathBuf, Option<Stamp>)>>),
}

/// What tells one content of a file from another. Of a pattern, which files it names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    modified: SystemTime,
    size: u64,
    /// If the path is that of a link: the path without links.
    target: Option<PathBuf>,
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let about = std::fs::metadata(file).ok()?;
        let is_link = std::fs::symlink_metadata(file).is_ok_and(|about| about.is_symlink());
        let target = if is_link { std::fs::canonicalize(file).ok() } else { None };
        Some(Self { inode: (about.dev(), about.ino()), modified: about.modified().ok()?, size: about.len(), target })
    }
}

impl Watched {
    fn of(path: &Path) -> Self {
        let Some(pattern) = FilePattern::of_path(path) else { return Self::File(Stamp::of(path)) };
        let look = |file: PathBuf| {
            let stamp = Stamp::of(&file);
            (file, stamp)
        };
        Self::Pattern(pattern.files().ok().map(|files| files.into_iter().map(look).collect()))
    }

    fn found(&self) -> &[(PathBuf, Option<Stamp>)] {
        if let Self::Pattern(Some(found)) = self { found } else { &[] }
    }

    /// The stamp of a file that a pattern stands for; `None` if it stands for no file of this path.
    fn get(&self, file: &Path) -> Option<Option<&Stamp>> {
        // The files of a pattern are in the order of their paths, and as many as 4,096.
        let found = self.found();
        let index = found.binary_search_by(|(known, _)| known.as_path().cmp(file)).ok()?;
        found.get(index).map(|(_, stamp)| stamp.as_ref())
    }
}

/// Most links that are followed on the way to a file; the system follows as many.
const MAX_LINKS: usize = 40;

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned())
}

/// Returns what the system says of the links on the way to a file: those that its path names, to
/// folders too, and those that these lead to.
fn links(file: &Path) -> Vec<Metadata> {
    let mut links = Vec::new();
    // Of `way` all links are followed. `left` has the parts after it, the next one last.
    let mut way = PathBuf::new();
    let mut left: Vec<OsString> = parts(file).collect();
    while let Some(part) = left.pop() {
        way.push(part);
        let Ok(about) = std::fs::symlink_metadata(&way) else { break };
        if !about.is_symlink() {
            continue;
        }
        let Ok(target) = std::fs::read_link(&way) else { break };
        links.push(about);
        if links.len() >= MAX_LINKS {
            break;
        }
        // A relative target starts from the folder of the link, and an absolute one replaces it.
        way.pop();
        left.extend(parts(&target));
    }
    links
}

/// Returns whether a file, or a link on the way to it, changed after `time`.
fn changed_after(file: &Path, time: SystemTime) -> bool {
    let time = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // A rename changes no time of modification, but that of the status.
    let is_after = |about: &Metadata| {
        let seconds = u64::try_from(about.ctime()).unwrap_or_default();
        (seconds, about.ctime_nsec()) > (time.as_secs(), i64::from(time.subsec_nanos()))
    };
    std::fs::metadata(file).is_ok_and(|about| is_after(&about)) || links(file).iter().any(is_after)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn forget_if_after(file: &Path, stamp: &mut Option<Stamp>, time: SystemTime) {
    if changed_after(file, time) {
        *stamp = None;
    }
}

impl FileStamps {
    /// Looks at files, and at those that patterns stand for.
    pub(crate) fn of(files: Vec<PathBuf>) -> Self {
        let look = |path: PathBuf| {
            let watched = Watched::of(&path);
            (path, watched)
        };
        Self(files.into_iter().map(look).collect())
    }

    /// Looks at the same files and patterns again.
    pub(crate) fn again(&self) -> Self {
        Self::of(self.files().map(Path::to_owned).collect())
    }

    /// Forgets what files are that changed after `time`, or to which other links lead since: they
    /// may have been read before the change. Missed are only a change within the tick of the
    /// system's clock in which `time` is, and a folder on the way that was renamed. Of a pattern,
    /// nothing is known any more if a file came to its folder or left it.
    pub(crate) fn forget_changed_after(&mut self, time: SystemTime) {
        for (path, watched) in &mut self.0 {
            match watched {
                Watched::File(stamp) => forget_if_after(path, stamp, time),
                // A file that was removed, maybe after it was read, is not among those that are found now.
                Watched::Pattern(found) if changed_after(folder_of(path), time) => *found = None,
                Watched::Pattern(found) => {
                    found.iter_mut().flatten().for_each(|(file, stamp)| forget_if_after(file, stamp, time));
                }
            }
        }
    }

    /// Returns the files and patterns that are looked at.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(file, _)| &**file)
    }

    fn get(&self, path: &Path) -> Option<&Watched> {
        self.0.iter().find(|(known, _)| known == path).map(|(_, watched)| watched)
    }

    /// The stamp of a file, however it was found.
    fn stamp(&self, file: &Path) -> Option<&Stamp> {
        match self.get(file) {
            Some(Watched::File(stamp)) => stamp.as_ref(),
            _ => self.0.iter().find_map(|(_, watched)| watched.get(file))?,
        }
    }

    /// Returns the files that are not as they were `before`; files that were not looked at then are
    /// not among them. Of a pattern, also those that it did not stand for before, or does not any
    /// more; the pattern itself if its folder can be read only at one of these times.
    pub(crate) fn changed<'s>(&'s self, before: &'s Self) -> Vec<&'s Path> {
        let mut changed: Vec<&Path> = Vec::new();
        let mut added: BTreeSet<&Path> = BTreeSet::new();
        // A file may be looked at for itself and by a pattern.
        let mut add = |file: &'s Path| {
            if added.insert(file) {
                changed.push(file);
            }
        };
        for (path, now) in &self.0 {
            let Some(then) = before.get(path).filter(|then| *then != now) else { continue };
            let (Watched::Pattern(Some(found)), Watched::Pattern(Some(known))) = (now, then) else {
                add(path);
                continue;
            };
            let differs = |(file, stamp): &&(PathBuf, Option<Stamp>)| then.get(file) != Some(stamp.as_ref());
            let is_gone = |(file, _): &&(PathBuf, Option<Stamp>)| now.get(file).is_none();
            let gone = known.iter().filter(is_gone);
            found.iter().filter(differs).chain(gone).for_each(|(file, _)| add(file));
        }
        changed
    }

    /// Returns whether another file took the place of this one, as by a rename: such a file was
    /// complete before. Where a link leads, in a folder that is not watched, it may be a new file
    /// that is still being written, unless the link leads elsewhere than before.
    pub(crate) fn was_replaced(&self, before: &Self, file: &Path) -> bool {
        match (self.stamp(file), before.stamp(file)) {
            (Some(now), Some(then)) => {
                let is_watched = now.target.is_none() || now.target != then.target;
                is_watched && now.inode != then.inode
            }
            _ => false,
        }
    }

    /// Takes over what `other` says of files and patterns that both know.
    pub(crate) fn take_over(&mut self, other: &Self) {
        for (path, watched) in &mut self.0 {
            if let Some(known) = other.get(path) {
                watched.clone_from(known);
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
        let text = read_regular(file, LARGEST_FILE)
            .map_err(|error| Error::new(format!("error: {} can't be read: {error}", file.display())))?;
        let text = String::from_utf8_lossy(&text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread::sleep;
    use std::time::Duration;

    /// An empty folder for a test.
    fn empty_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("celero-stamps-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A time between those of the files before and after: longer than a tick of the clock of files from both.
    fn time_between() -> SystemTime {
        sleep(Duration::from_millis(20));
        let time = SystemTime::now();
        sleep(Duration::from_millis(20));
        time
    }

    #[test]
    fn an_older_file_that_takes_the_place_of_another_is_noticed() {
        let folder = empty_folder("older");
        let [file, other] = ["policy.yaml", "other.yaml"].map(|name| folder.join(name));
        for name in ["policy.yaml", "other.yaml", "new"] {
            fs::write(folder.join(name), name).unwrap();
        }
        let hour_ago = SystemTime::now().checked_sub(Duration::from_secs(3600)).unwrap();
        fs::File::options().write(true).open(folder.join("new")).unwrap().set_modified(hour_ago).unwrap();
        let time = time_between();
        fs::rename(folder.join("new"), &file).unwrap();
        assert!(fs::metadata(&file).unwrap().modified().unwrap() < time);
        let mut stamps = FileStamps::of(vec![file.clone(), other]);
        stamps.forget_changed_after(time);
        assert_eq!(stamps.again().changed(&stamps), [&file]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn links_that_change_on_the_way_to_a_file_are_noticed() {
        let folder = empty_folder("links");
        for release in ["r1", "r2"] {
            fs::create_dir(folder.join(release)).unwrap();
            fs::write(folder.join(release).join("a.yaml"), release).unwrap();
        }
        for (link, target) in [
            ("current", "r1"),
            ("alias", "r2/../current"),
            ("a.yaml", "current/a.yaml"),
            ("b.yaml", "a.yaml"),
            ("same", "r1"),
            ("endless", "endless"),
        ] {
            symlink(target, folder.join(link)).unwrap();
        }
        symlink(folder.join("current"), folder.join("absolute")).unwrap();
        let moved = ["current/a.yaml", "alias/a.yaml", "absolute/a.yaml", "a.yaml", "b.yaml"];
        let moved = moved.map(|file| folder.join(file));
        let others = ["r1/a.yaml", "same/a.yaml", "endless", "missing/a.yaml"].map(|file| folder.join(file));
        let files: Vec<PathBuf> = moved.iter().chain(&others).cloned().collect();

        let time = time_between();
        let mut unchanged = FileStamps::of(files.clone());
        unchanged.forget_changed_after(time);
        assert!(unchanged.again().changed(&unchanged).is_empty());

        // A release that is older than `time`.
        symlink("r2", folder.join("new")).unwrap();
        fs::rename(folder.join("new"), folder.join("current")).unwrap();
        let mut stamps = FileStamps::of(files);
        stamps.forget_changed_after(time);
        let now = stamps.again();
        assert_eq!(now.changed(&stamps), moved.iter().collect::<Vec<_>>());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_of_a_pattern_that_are_removed_after_a_time_are_noticed() {
        let folder = empty_folder("removed");
        for name in ["a", "b", "same"] {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("1.txt"), "").unwrap();
            fs::write(folder.join(name).join("2.txt"), "").unwrap();
        }
        symlink("a", folder.join("link")).unwrap();
        let patterns = ["a/*.txt", "link/*.txt", "same/*.txt"].map(|pattern| folder.join(pattern));
        let time = time_between();
        let mut unchanged = FileStamps::of(patterns.to_vec());
        unchanged.forget_changed_after(time);
        assert!(unchanged.again().changed(&unchanged).is_empty());

        fs::remove_file(folder.join("a/1.txt")).unwrap();
        symlink("b", folder.join("new")).unwrap();
        fs::rename(folder.join("new"), folder.join("link")).unwrap();
        let mut stamps = FileStamps::of(patterns.to_vec());
        stamps.forget_changed_after(time);
        assert_eq!(stamps.again().changed(&stamps), [&patterns[0], &patterns[1]]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_of_a_pattern_are_added_changed_and_removed() {
        let folder = std::env::temp_dir().join(format!("celero-stamps-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [pattern, a, b, one] = ["*.txt", "a.txt", "b.txt", "one.csv"].map(|name| folder.join(name));
        fs::write(&a, "a").unwrap();
        let first = FileStamps::of(vec![pattern.clone(), one.clone()]);
        fs::write(folder.join(".b.txt"), "b").unwrap();
        fs::write(folder.join("note.md"), "b").unwrap();
        assert_eq!(first.again(), first);

        fs::rename(folder.join(".b.txt"), &b).unwrap();
        let second = first.again();
        assert_eq!(second.changed(&first), [&b]);
        assert!(!second.was_replaced(&first, &b));
        fs::write(folder.join("new"), "a").unwrap();
        fs::rename(folder.join("new"), &a).unwrap();
        fs::remove_file(&b).unwrap();
        fs::write(&one, "").unwrap();
        let third = second.again();
        assert_eq!(third.changed(&second), [&a, &b, &one]);
        assert!(third.was_replaced(&second, &a) && !third.was_replaced(&second, &b));

        // Behind a link that stays the same, another file may be incomplete.
        let (link, aim) = (folder.join("link.txt"), folder.join("aim"));
        for (name, text) in [("aim", "a"), ("other", "b")] {
            fs::write(folder.join(name), text).unwrap();
        }
        symlink(&aim, &link).unwrap();
        let linked = FileStamps::of(vec![link.clone()]);
        fs::rename(folder.join("other"), &aim).unwrap();
        let behind = linked.again();
        assert!(behind.changed(&linked) == [&link] && !behind.was_replaced(&linked, &link));
        symlink(&b, folder.join("new")).unwrap();
        fs::write(&b, "b").unwrap();
        fs::rename(folder.join("new"), &link).unwrap();
        assert!(linked.again().was_replaced(&behind, &link));
        fs::remove_file(&link).unwrap();
        fs::remove_file(&b).unwrap();

        // What was seen before it was looked at anew is not forgotten.
        let mut fresh = third.again();
        fresh.take_over(&second);
        assert_eq!(third.changed(&fresh), [&a, &b, &one]);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(third.again().changed(&third), [&pattern, &one]);
    }
}
