//! Copies of documents with entries of lists, in a folder: a proxy that starts without network has the last entries.

use crate::config::Config;
use crate::hex::hex;
use celero_policy::{ListDocument, ListSource};
use ring::digest::{SHA256, digest};
use rustix::fs::OFlags;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The format of copies: a line of JSON about the document, and its bytes. The file was modified
/// when the server last said that it is the current one.
const FORMAT: u64 = 1;
/// The longest line about a document, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The age from which a file that is not finished is removed.
const UNFINISHED: Duration = Duration::from_secs(86_400);

/// The folder of copies.
pub(crate) struct ListCopies {
    folder: PathBuf,
}

impl ListCopies {
    /// Returns the folder of a configuration; `None` if it has none.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        config.list_copies.clone().map(|folder| Self { folder })
    }

    /// Removes the copies of all but these sources, and files that a process that was killed has
    /// not finished. Others' files stay: only names of exactly these forms are touched, and links
    /// are not followed. Blocks.
    pub(crate) fn clean_up<'s>(&self, sources: impl Iterator<Item = &'s ListSource>) {
        let Ok(found) = std::fs::read_dir(&self.folder) else { return };
        let wanted: BTreeSet<PathBuf> = sources.map(|source| self.file(source)).collect();
        for entry in found.flatten() {
            let path = entry.path();
            let gone = match kind_of(&entry.file_name()) {
                Some(Kind::Copy) => !wanted.contains(&path),
                Some(Kind::Temporary) => entry.metadata().and_then(|about| about.modified()).is_ok_and(is_old),
                None => false,
            };
            // This is about the entry itself, not about what a link leads to.
            if gone && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                match std::fs::remove_file(&path) {
                    Ok(()) => log::info!("{}, a copy that is not needed any more, was removed", path.display()),
                    Err(error) => log::warn!("{} can't be removed: {error}", path.display()),
                }
            }
        }
    }

    /// Reads the copy of a source's document. What can't be used is logged.
    pub(crate) fn read(&self, source: &ListSource) -> Option<ListDocument> {
        let file = self.file(source);
        let checked = read(&file, source).and_then(|document| match source.check(&document) {
            Ok(()) => Ok(document),
            Err(why) => Err(Error::other(why)),
        });
        match checked {
            Ok(document) => Some(document),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                log::warn!("list {}: {}, the copy of {}: {error}", source.list(), file.display(), source.shown_url());
                None
            }
        }
    }

    /// Writes a copy to the disk, in the place of the one before. After a crash at any moment one of them is there.
    pub(crate) fn keep(&self, source: &ListSource, document: &ListDocument) -> Result<()> {
        // Only its owner reads it: a URL may hold a secret.
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let file = self.file(source);
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut written = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(&temporary)?;
        let head = json!({
            "format": FORMAT,
            "list": source.list(),
            "url": source.url(),
            "etag": document.etag,
            "lastModified": document.last_modified,
            "sha256": hex_digest(&document.bytes),
        });
        written.write_all(format!("{head}\n").as_bytes())?;
        written.write_all(&document.bytes)?;
        written.set_modified(document.at)?;
        written.sync_all()?;
        std::fs::rename(&temporary, &file)?;
        // The rename itself is on the disk when the folder is.
        File::open(&self.folder)?.sync_all()
    }

    /// Notes that a document is still the current one. Writes its copy if there is none, or one of another document.
    pub(crate) fn is_current(&self, source: &ListSource, document: &ListDocument) -> Result<()> {
        let mut options = File::options();
        options.read(true).append(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        match options.open(self.file(source)) {
            Ok(file) if is_copy(&file, document) => file.set_modified(document.at),
            _ => self.keep(source, document),
        }
    }

    fn file(&self, source: &ListSource) -> PathBuf {
        let name = hex_digest(format!("{}\n{}", source.list(), source.url()).as_bytes());
        self.folder.join(format!("{name}.copy"))
    }
}

/// What a file in the folder is.
enum Kind {
    Copy,
    Temporary,
}

/// Returns what a file of this name is: `DIGEST.copy`, or `DIGEST.PROCESS.tmp`.
fn kind_of(name: &OsStr) -> Option<Kind> {
    let (digest, rest) = name.to_str()?.split_once('.')?;
    if digest.len() != 64 || !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    if rest == "copy" {
        return Some(Kind::Copy);
    }
    let process = rest.strip_suffix(".tmp")?;
    (!process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())).then_some(Kind::Temporary)
}

/// Whether a file was modified so long ago that no process writes it any more.
fn is_old(modified: SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age| age > UNFINISHED)
}

/// Whether this is a copy of the document for which a server knows these validators. Its bytes are
/// not read: the document may be large.
fn is_copy(file: &File, document: &ListDocument) -> bool {
    let mut line = Vec::new();
    let most = u64::try_from(MAX_HEAD).unwrap_or(u64::MAX);
    let read = BufReader::new(file).take(most).read_until(b'\n', &mut line);
    let length = file.metadata().ok().and_then(|about| usize::try_from(about.len()).ok());
    let head: Json = read.ok().and_then(|_| serde_json::from_slice(&line).ok()).unwrap_or_default();
    let text = |name: &str| head.get(name).and_then(Json::as_str);
    length == line.len().checked_add(document.bytes.len())
        && head.get("format").is_some_and(|format| *format == FORMAT)
        && (text("etag"), text("lastModified")) == (document.etag.as_deref(), document.last_modified.as_deref())
}

fn read(file: &Path, source: &ListSource) -> Result<ListDocument> {
    let mut options = File::options();
    let opened = options.read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(file)?;
    let about = opened.metadata()?;
    let largest = source.largest().saturating_add(MAX_HEAD);
    let mut all = Vec::new();
    opened.take(u64::try_from(largest).unwrap_or(u64::MAX)).read_to_end(&mut all)?;
    let damaged = |what: &str| Error::new(ErrorKind::InvalidData, what.to_owned());
    let end = all.iter().take(MAX_HEAD).position(|byte| *byte == b'\n').ok_or_else(|| damaged("it is damaged"))?;
    let (head, bytes) = all.split_at_checked(end.saturating_add(1)).ok_or_else(|| damaged("it is damaged"))?;
    let head: Json = serde_json::from_slice(head).map_err(|_| damaged("it is damaged"))?;
    let format = head.get("format").unwrap_or(&Json::Null);
    if *format != FORMAT {
        return Err(damaged(&format!("it is of format {format}; this version knows {FORMAT}")));
    }
    let text = |name: &str| head.get(name)?.as_str().map(str::to_owned);
    if bytes.len() > source.largest() || text("sha256") != Some(hex_digest(bytes)) {
        return Err(damaged("it is damaged, or larger than `largest`"));
    }
    let (etag, last_modified) = (text("etag"), text("lastModified"));
    Ok(ListDocument { bytes: bytes.into(), etag, last_modified, at: about.modified()? })
}

fn hex_digest(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}
