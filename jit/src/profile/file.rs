//! Files in a folder to which other users can write: only files that this user owns are written.
//!
//! Other users can guess a name in `/tmp`, and put a file or a link there first.
//!
//! Invariant: in a folder that other users can write to, a profiling file was created by this process or belonged to
//! its user before. Symbolic links are not followed. Test:
//! `jit/src/profile/file.rs::what_others_planted_is_left_alone`.

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, unlink};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// What to do with a file that exists and is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// Append to it.
    Append,
    /// Remove it and create a new one.
    Replace,
}

/// Opens a file that only this user can access, for reading (so that it can be mapped) and appending.
///
/// # Errors
/// Also for a link, a file of another user, and anything that is not a regular file.
pub(super) fn own(path: &str, existing: Existing) -> io::Result<File> {
    let new = || openat(CWD, path, FLAGS | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, Mode::RUSR | Mode::WUSR);
    let opened: OwnedFd = match new() {
        Err(Errno::EXIST) => {
            // Opening a pipe must not block.
            let there = openat(CWD, path, FLAGS | OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK, Mode::empty());
            let there = there.map_err(|error| named(path, &error.to_string()))?;
            let stat = fstat(&there)?;
            let ours = stat.st_uid == rustix::process::geteuid().as_raw();
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !ours || stat.st_nlink != 1 {
                return Err(named(path, "it is there already, and not a file of ours"));
            }
            match existing {
                Existing::Append => there,
                Existing::Replace => {
                    unlink(path)?;
                    new().map_err(|error| named(path, &error.to_string()))?
                }
            }
        }
        opened => opened.map_err(|error| named(path, &error.to_string()))?,
    };
    Ok(File::from(opened))
}

fn named(path: &str, why: &str) -> io::Error {
    io::Error::other(format!("{path}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::path::PathBuf;

    /// A folder of the test's own.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("celero-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn what_others_planted_is_left_alone() {
        let folder = folder("planted");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        std::fs::write(path("victim"), "precious").unwrap();
        std::os::unix::fs::symlink(path("victim"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
        std::fs::hard_link(path("victim"), path("hard")).unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        for name in ["link", "dangling", "hard", "folder"] {
            for old in [Existing::Append, Existing::Replace] {
                let error = own(&path(name), old).unwrap_err().to_string();
                assert!(error.contains(name), "{error}");
            }
        }
        assert_eq!(std::fs::read_to_string(path("victim")).unwrap(), "precious");
        assert!(!std::fs::exists(path("nowhere")).unwrap());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn own_files_are_continued_or_replaced() {
        let folder = folder("own");
        let path = folder.join("file").to_str().unwrap().to_owned();
        for (old, text) in [(Existing::Append, "a"), (Existing::Append, "b"), (Existing::Replace, "c")] {
            own(&path, old).unwrap().write_all(text.as_bytes()).unwrap();
            let mut found = String::new();
            File::open(&path).unwrap().read_to_string(&mut found).unwrap();
            assert_eq!(found, if text == "b" { "ab" } else { text });
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
