//! Reads regular files only, and never more than a bound. Opening a pipe waits until somebody
//! writes to it, and a device may have no end: a reload that reads one would never end.
//!
//! Invariant: a level reads no file outside of its folder, whatever links there are: the file that was opened is
//! checked, not only its path. Test:
//! `runtime/adapters/policy/src/file/regular_file.rs::no_exchange_of_links_leads_out_of_a_folder`.

use std::fs::{File, Metadata, canonicalize};
use std::io::{Error, Read as _, Result};
use std::path::{Path, PathBuf};

/// Opens a file for reading.
///
/// # Errors
/// It can't be opened, or is not a regular file, as a folder, a pipe or a device.
pub fn open_regular(path: &Path) -> Result<File> {
    // A device is not opened at all: opening arms a watchdog, and rewinds a tape.
    check_regular(&std::fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        // If the path leads to a pipe or a terminal by now: opening does not wait for a writer, and
        // the terminal does not become that of the process.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(Error::other("it is not a regular file")) }
}

/// Returns the content of a regular file of at most `largest` bytes.
///
/// # Errors
/// It can't be read, is not a regular file, or is larger.
pub fn read_regular(path: &Path, largest: u64) -> Result<Vec<u8>> {
    content(open_regular(path)?, largest)
}

/// Why a file that must be in a folder is not read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The path leads out of the folder. Whether there is a file, and of which kind, is not told.
    Outside,
    Error(Error),
}

/// Opens a regular file that must be in a folder, if there is one, however its path leads to it.
pub(crate) fn open_within(path: &Path, folder: Option<&Path>) -> std::result::Result<File, Unreadable> {
    let opened = open_regular(path);
    let Some(folder) = folder else { return opened.map_err(Unreadable::Error) };
    let is_inside = match &opened {
        Ok(file) => path_of(file, path).is_ok_and(|path| is_below(&path, folder)),
        Err(_) => stays_below(path, folder),
    };
    if is_inside { opened.map_err(Unreadable::Error) } else { Err(Unreadable::Outside) }
}

/// Returns whether a path leads to a place in a folder, where there may be nothing.
pub(crate) fn stays_below(path: &Path, folder: &Path) -> bool {
    // A link that leads to nothing is there. What it names is not told.
    let there = path.ancestors().map(or_current).find(|part| part.symlink_metadata().is_ok());
    there.and_then(|part| canonicalize(part).ok()).is_some_and(|part| is_below(&part, folder))
}

fn is_below(path: &Path, folder: &Path) -> bool {
    canonicalize(or_current(folder)).is_ok_and(|folder| path.starts_with(folder))
}

/// Returns the path of a folder that is not empty.
fn or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Returns what is left of a file to read, at most `largest` bytes.
pub(crate) fn content(file: File, largest: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > largest) {
        return Err(Error::other(format!("it is larger than {} MiB", largest >> 20)));
    }
    Ok(bytes)
}

/// Returns the path of an open file without links. On Linux it is that of this file, even if a link
/// of the path that it was opened by leads to another one by now.
fn path_of(file: &File, opened_by: &Path) -> Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        let _ = opened_by;
        std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        canonicalize(opened_by)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("celero-regular-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("level")).unwrap();
        folder
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = folder("kinds");
        let [pipe, file] = ["pipe", "file"].map(|name| folder.join(name));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        std::fs::write(&file, "12345").unwrap();
        let said = |path: &Path, largest| read_regular(path, largest).map_err(|error| error.to_string());
        for other in [&*pipe, &folder, Path::new("/dev/zero"), Path::new("/dev/null")] {
            assert_eq!(said(other, 100).unwrap_err(), "it is not a regular file", "{}", other.display());
        }
        assert_eq!(said(&file, 5).unwrap(), b"12345");
        assert_eq!(said(&file, 4).unwrap_err(), "it is larger than 0 MiB");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Whether a file exists elsewhere is not told: a link to nothing, to a folder and to what may
    /// not be read are all outside.
    #[test]
    fn what_is_outside_of_a_folder_is_all_the_same() {
        let folder = folder("outside");
        let level = folder.join("level");
        std::fs::write(folder.join("secret"), "secret").unwrap();
        std::fs::write(level.join("own"), "own").unwrap();
        let targets = ["../secret", "../none", "..", "/dev/null", "/proc/1/mem", "/proc/none/none", "/"];
        for (number, target) in targets.into_iter().enumerate() {
            let link = level.join(number.to_string());
            symlink(target, &link).unwrap();
            for path in [link.clone(), link.join("passwd"), level.join(target), level.join(target).join("none")] {
                let opened = open_within(&path, Some(&level));
                assert!(matches!(opened, Err(Unreadable::Outside)), "{}: {opened:?}", path.display());
                assert!(!stays_below(&path, &level));
            }
        }
        for (path, is_there) in [("own", true), ("none", false), ("none/none", false), (".", false), ("own/x", false)] {
            let opened = open_within(&level.join(path), Some(&level));
            assert_eq!(opened.is_ok(), is_there, "{path}");
            assert!(!matches!(opened, Err(Unreadable::Outside)) && stays_below(&level.join(path), &level), "{path}");
        }
        // The folder may be reached through a link, too.
        symlink("level", folder.join("current")).unwrap();
        assert!(open_within(&folder.join("current/own"), Some(&folder.join("current"))).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Opening some devices has an effect of its own. The kernel says whether a file was opened.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_no_regular_file_is_not_opened() {
        use rustix::fs::inotify;
        let folder = folder("opened");
        let [pipe, file] = ["pipe", "file"].map(|name| folder.join(name));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        std::fs::write(&file, "12345").unwrap();
        let was_opened = |path: &Path| {
            let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
            inotify::add_watch(&watch, path, inotify::WatchFlags::OPEN).unwrap();
            let _ = open_regular(path);
            rustix::io::read(&watch, &mut [0_u8; 256]).is_ok()
        };
        assert!(was_opened(&file));
        assert!(!was_opened(&pipe));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A link that is exchanged all the time leads into the folder when it is checked, and out of
    /// it when the file is opened.
    #[test]
    fn no_exchange_of_links_leads_out_of_a_folder() {
        let folder = folder("exchange");
        let level = folder.join("level");
        std::fs::write(folder.join("secret"), "secret").unwrap();
        std::fs::write(level.join("own"), "own").unwrap();
        let (link, new, done) = (level.join("link"), level.join("new"), AtomicBool::new(false));
        symlink("own", &link).unwrap();
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for target in ["../secret", "own"] {
                        symlink(target, &new).unwrap();
                        std::fs::rename(&new, &link).unwrap();
                    }
                }
            });
            let read = || Some(content(open_within(&link, Some(&level)).ok()?, 100).unwrap());
            // On a busy machine the thread that exchanges may stop for long while the link leads out.
            let first = std::iter::repeat_with(read).take(10_000_000).flatten().next();
            let found: Vec<_> = first.into_iter().chain((0..2_000).filter_map(|_| read())).collect();
            done.store(true, Ordering::Relaxed);
            found
        });
        assert!(!found.is_empty() && found.iter().all(|bytes| bytes == b"own"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
