//! Reads regular files only, and never more than a bound. Opening a pipe waits until somebody writes to it, and a device may have no end: a reload that
//! reads one would never end.

use std::fs::File;
use std::io::{Error, Read as _, Result};
use std::path::{Path, PathBuf};

/// Opens a file for reading.
///
/// # Errors
/// It can't be opened, or is not a regular file, as a folder, a pipe or a device.
pub fn open_regular(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true);
    // Opening does not wait for a writer, and makes no difference to regular files.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    // Of the file that was opened: its path may lead to another one by now.
    if file.metadata()?.is_file() { Ok(file) } else { Err(Error::other("it is not a regular file")) }
}

/// Returns the content of a regular file of at most `largest` bytes.
///
/// # Errors
/// It can't be read, is not a regular file, or is larger.
pub fn read_regular(path: &Path, largest: u64) -> Result<Vec<u8>> {
    content(open_regular(path)?, largest)
}

/// The same of a file that must be in a folder, if there is one, however its path leads to it.
pub(crate) fn read_within(path: &Path, folder: Option<&Path>, largest: u64) -> Result<Vec<u8>> {
    let file = open_regular(path)?;
    if let Some(folder) = folder
        && !path_of(&file, path)?.starts_with(std::fs::canonicalize(folder)?)
    {
        return Err(Error::other("it is not below the folder of its level"));
    }
    content(file, largest)
}

fn content(file: File, largest: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > largest) {
        return Err(Error::other(format!("it is larger than {} MiB", largest >> 20)));
    }
    Ok(bytes)
}

/// Returns the path of an open file without links. On Linux it is that of this file, even if a link of the path that it was opened by leads to another one
/// by now.
fn path_of(file: &File, opened_by: &Path) -> Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        let _ = opened_by;
        std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        std::fs::canonicalize(opened_by)
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

    /// A link that is exchanged all the time leads into the folder when it is checked, and out of it when the file is opened.
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
            let found: Vec<_> = (0..2_000).filter_map(|_| read_within(&link, Some(&level), 100).ok()).collect();
            done.store(true, Ordering::Relaxed);
            found
        });
        assert!(!found.is_empty() && found.iter().all(|bytes| bytes == b"own"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
