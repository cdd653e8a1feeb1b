//! The file in which changes of lists are kept: an embedded transactional store. What was kept is
//! there after a crash at any moment.

use celero_lists::{Entry, Kind, ListType, Mark, Record, Scalar};
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde_json::Value as Json;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The format that this version writes. A file without a number is of format 1: it has no [`VALUES`].
const FORMAT: u64 = 2;
/// The number of the format, under the key `format`.
const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("about");
/// Of lists without values, by list, kind and entry as text: what became of the entry, and when
/// that ends, in seconds since 1970.
const CHANGES: TableDefinition<'_, (&str, &str, &str), (u8, u64)> = TableDefinition::new("changes");
/// Of lists with values, by list, type and entry as text: the same, and the value as an array in
/// JSON with an element for each field.
const VALUES: TableDefinition<'_, (&str, &str, &str), (u8, u64, &str)> = TableDefinition::new("changes with values");

/// Most bytes of pages in memory. A change of a million entries is written to the file page by page
/// before it is committed.
const CACHE_BYTES: usize = 16 << 20;

const REMOVED: u8 = 0;
const INSERTED: u8 = 1;
const INSERTED_UNTIL: u8 = 2;

/// A file of changes.
pub(super) struct Store {
    file: PathBuf,
    /// `None` after a write that failed: redb refuses all further ones, until the file is opened again.
    database: Option<Database>,
    /// What the last write that failed was to keep. Perhaps it is on the disk.
    doubtful: Vec<Record>,
}

impl Store {
    /// Opens a file, or creates it in a folder that exists.
    ///
    /// # Errors
    /// A sentence: the file can't be opened, is another one, or another process has it open.
    pub(super) fn open(file: &Path) -> Result<Self, String> {
        let mut store = Self { file: file.to_owned(), database: None, doubtful: Vec::new() };
        // From now on the table exists.
        store.keep(std::iter::empty())?;
        Ok(store)
    }

    /// Returns everything that was kept.
    ///
    /// # Errors
    /// A sentence: the file can't be read, or holds what this version does not know.
    pub(super) fn records(&self) -> Result<Vec<Record>, String> {
        let Some(database) = &self.database else { return Err("the last write failed".to_owned()) };
        read(database).map_err(|error| error.to_string())?.into_iter().collect()
    }

    /// After a write that failed, opens the file again and writes what `mark` says of the entries
    /// of that write. Call it before [`keep`](Self::keep).
    ///
    /// # Errors
    /// A sentence: the disk still refuses.
    pub(super) fn mend(&mut self, mark: impl Fn(&Record) -> Option<Mark>) -> Result<(), String> {
        if self.database.is_some() {
            return Ok(());
        }
        let mut doubtful = std::mem::take(&mut self.doubtful);
        for record in &mut doubtful {
            record.mark = mark(record);
        }
        self.keep(doubtful.into_iter())
    }

    /// Writes records in one transaction, and waits until they are on the disk.
    ///
    /// # Errors
    /// A sentence: the disk refuses. Whether they were kept is known only after [`mend`](Self::mend).
    pub(super) fn keep(&mut self, records: impl Iterator<Item = Record> + Clone) -> Result<(), String> {
        let kept = self.try_keep(records.clone());
        if kept.is_err() {
            self.doubtful.extend(records);
        }
        kept
    }

    fn try_keep(&mut self, records: impl Iterator<Item = Record>) -> Result<(), String> {
        // An error drops it.
        let database = match self.database.take() {
            Some(database) => database,
            None => {
                known_format(&opened(&self.file)?)?;
                let backend = FileBackend::new(opened(&self.file)?);
                let database = backend
                    .and_then(|backend| Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend));
                database.map_err(|error| error.to_string())?
            }
        };
        write(&database, records).map_err(|error| error.to_string())??;
        self.database = Some(database);
        Ok(())
    }
}

/// Opens a file, or creates one that only its owner may read. A symbolic link is not followed:
/// whoever may write to the folder could let it lead to any file.
fn opened(file: &Path) -> Result<File, String> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(file).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        if is_link { "it is a symbolic link, or in a loop of these".to_owned() } else { error.to_string() }
    })
}

/// Checks that this version knows the format, before anything is written. A file that can only be
/// read when it was mended, as after a crash, or that is none, passes: what opens it for writing
/// checks it again.
fn known_format(file: &File) -> Result<(), String> {
    let format = || {
        let backend = FileBackend::new(file.try_clone().ok()?).ok()?;
        let database = Database::builder().set_cache_size(CACHE_BYTES).open_read_only_with_backend(backend).ok()?;
        let about = database.begin_read().ok()?.open_table(ABOUT).ok()?;
        let format = about.get("format").ok()??.value();
        Some(format)
    };
    let is_empty = file.metadata().is_ok_and(|about| about.len() == 0);
    if is_empty { Ok(()) } else { format().map_or(Ok(()), check_format) }
}

fn check_format(format: u64) -> Result<(), String> {
    if format > FORMAT {
        return Err(format!("it is of format {format}; this version knows those up to {FORMAT}"));
    }
    Ok(())
}

fn read(database: &Database) -> Result<Vec<Result<Record, String>>, redb::Error> {
    let transaction = database.begin_read()?;
    let format = transaction.open_table(ABOUT)?.get("format")?.map_or(FORMAT, |format| format.value());
    if let Err(why) = check_format(format) {
        return Ok(vec![Err(why)]);
    }
    let mut records = Vec::new();
    for row in transaction.open_table(CHANGES)?.iter()? {
        let (key, value) = row?;
        let (what, seconds) = value.value();
        records.extend(record(key.value(), (what, seconds, "[]")).transpose());
    }
    for row in transaction.open_table(VALUES)?.iter()? {
        let (key, value) = row?;
        records.extend(record(key.value(), value.value()).transpose());
    }
    Ok(records)
}

/// Writes records. The inner error: the file is of a later format, and nothing is written.
fn write(database: &Database, records: impl Iterator<Item = Record>) -> Result<Result<(), String>, redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut about = transaction.open_table(ABOUT)?;
        let format = about.get("format")?.map(|format| format.value());
        // A later version may write files that this one does not understand.
        if let Err(why) = format.map_or(Ok(()), check_format) {
            return Ok(Err(why));
        }
        if format.is_none_or(|format| format < FORMAT) {
            about.insert("format", FORMAT)?;
        }
        let (mut plain, mut with_values) = (transaction.open_table(CHANGES)?, transaction.open_table(VALUES)?);
        for Record { list, ty, entry, mark, .. } in records {
            let (ty, entry) = (ty.to_string(), entry.to_string());
            let key = (&*list, &*ty, &*entry);
            let written = mark.as_ref().map(written);
            match (has_values(&ty), written) {
                (false, Some((what, seconds, _))) => drop(plain.insert(key, (what, seconds))?),
                (false, None) => drop(plain.remove(key)?),
                (true, Some((what, seconds, value))) => drop(with_values.insert(key, (what, seconds, &*value))?),
                (true, None) => drop(with_values.remove(key)?),
            }
        }
    }
    transaction.commit()?;
    Ok(Ok(()))
}

/// Whether a type is written with that of values.
fn has_values(ty: &str) -> bool {
    ty.contains(':')
}

fn written(mark: &Mark) -> (u8, u64, String) {
    let Mark::Inserted { expires, value } = mark else { return (REMOVED, 0, "[]".to_owned()) };
    let cell = |cell: &Option<Scalar>| match cell {
        Some(Scalar::Text(text)) => Json::from(&**text),
        Some(Scalar::Int(number)) => Json::from(*number),
        Some(Scalar::Bool(truth)) => Json::from(*truth),
        _ => Json::Null,
    };
    let value = Json::from_iter(value.iter().map(cell)).to_string();
    match expires {
        Some(time) => {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            (INSERTED_UNTIL, since.as_secs(), value)
        }
        None => (INSERTED, 0, value),
    }
}

/// Reads a row. `None` inside if it is left out, which the log says: a pattern or a wildcard that
/// exceeds a limit of this version.
fn record(
    (list, ty, entry): (&str, &str, &str),
    (what, seconds, value): (u8, u64, &str),
) -> Result<Option<Record>, String> {
    let known = || {
        let parsed: ListType = ty.parse().ok()?;
        let is_compiled = matches!(parsed.kind(), Kind::Patterns | Kind::Wildcards);
        let entry = match Entry::parse(parsed.kind(), entry) {
            Ok(entry) => entry,
            Err(why) if is_compiled => {
                log::error!("a change of the list `{list}`, made at run time, does not count: {entry:?}: {why}");
                return Some(None);
            }
            Err(_) => return None,
        };
        let cells: Vec<Json> = serde_json::from_str(value).ok()?;
        let value = cells.into_iter().map(cell).collect::<Option<_>>()?;
        let expires = match what {
            REMOVED | INSERTED => None,
            INSERTED_UNTIL => Some(SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?),
            _ => return None,
        };
        let mark = if what == REMOVED { Mark::Removed } else { Mark::Inserted { expires, value } };
        Some(Some(Record { list: list.into(), ty: parsed, entry, mark: Some(mark) }))
    };
    known().ok_or_else(|| format!("it holds a change that this version does not know, of the list `{list}` of {ty}"))
}

/// An element of a value; `None` if it is none.
fn cell(json: Json) -> Option<Option<Scalar>> {
    Some(match json {
        Json::Null => None,
        Json::String(text) => Some(text.into()),
        Json::Bool(truth) => Some(truth.into()),
        Json::Number(number) => Some(number.as_i64()?.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::StorageBackend;
    use std::os::unix::fs::{FileExt, PermissionsExt};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    #[test]
    fn what_is_kept_is_read_again() {
        let file = std::env::temp_dir().join(format!("celero-store-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let record = |ty: &str, entry: &str, mark| {
            let ty: ListType = ty.parse().unwrap();
            Record { list: "a.b".into(), entry: Entry::parse(ty.kind(), entry).unwrap(), ty, mark: Some(mark) }
        };
        let value = |expires, value: &[Option<Scalar>]| Mark::Inserted { expires, value: value.into() };
        let fields = [Some("a\n\"\0".into()), None, Some(i64::MIN.into()), Some(true.into())];
        let mut records = vec![
            record("addresses", "10.0.0.0/8", Mark::inserted(None)),
            record("addresses", "2001:db8::1", Mark::Removed),
            record("hosts", "*.example.com", Mark::inserted(Some(time))),
            record("integers", "-5..7", Mark::Removed),
            record("texts", " A # \n\0,\"", Mark::inserted(None)),
            record("hosts:string", "example.com", value(Some(time), &[Some("".into())])),
            record("hosts:string", "example.net", Mark::Removed),
            record("texts:{a: string, b: int, c: int, d: bool}", "x", value(None, &fields)),
        ];
        {
            let mut store = Store::open(&file).unwrap();
            store.keep(records.iter().cloned()).unwrap();
            assert!(Store::open(&file).is_err(), "two processes would overwrite each other");
        }
        let mut store = Store::open(&file).unwrap();
        assert_eq!(store.records().unwrap(), records);
        records[0].mark = None;
        records[7].mark = None;
        store.keep(records.iter().cloned()).unwrap();
        assert_eq!(store.records().unwrap(), records[1..7]);
        drop(store);
        std::fs::write(&file, "something else\n".repeat(1000)).unwrap();
        assert!(Store::open(&file).is_err());
        let _ = std::fs::remove_file(&file);
    }

    /// Files of versions without values are read, and those of later formats are not touched.
    #[test]
    fn a_file_of_another_format_is_recognised() {
        let file = std::env::temp_dir().join(format!("celero-store-{}-format.redb", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let with = |change: &dyn Fn(&redb::WriteTransaction)| {
            let database = Database::create(&file).unwrap();
            let transaction = database.begin_write().unwrap();
            change(&transaction);
            transaction.commit().unwrap();
        };
        with(&|transaction| {
            let mut table = transaction.open_table(CHANGES).unwrap();
            table.insert(("a", "hosts", "example.com"), (INSERTED, 0)).unwrap();
            // Another version may have had other limits.
            table.insert(("b", "wildcards", &*"*a".repeat(1_000)), (INSERTED, 0)).unwrap();
        });
        let records = Store::open(&file).unwrap().records().unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].mark, Some(Mark::inserted(None)));
        with(&|transaction| {
            let mut table = transaction.open_table(VALUES).unwrap();
            table.insert(("a", "hosts:int", "example.com"), (INSERTED, 0, "[1.5]")).unwrap();
        });
        let error = Store::open(&file).unwrap().records().unwrap_err();
        assert!(error.contains("does not know, of the list `a` of hosts:int"), "{error}");
        with(&|transaction| {
            transaction.open_table(ABOUT).unwrap().insert("format", 3).unwrap();
        });
        let before = std::fs::read(&file).unwrap();
        let error = Store::open(&file).err().unwrap();
        assert_eq!(error, "it is of format 3; this version knows those up to 2");
        assert!(std::fs::read(&file).unwrap() == before, "the file was changed");
        let _ = std::fs::remove_file(&file);
    }

    #[test]
    fn the_file_is_its_owners_and_no_link() {
        let file = std::env::temp_dir().join(format!("celero-store-{}-own.redb", std::process::id()));
        let link = file.with_extension("link");
        let _ = (std::fs::remove_file(&file), std::fs::remove_file(&link));
        drop(Store::open(&file).unwrap());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(Store::open(&link).is_err_and(|error| error.contains("symbolic link")));
        drop(Store::open(&file).unwrap());
        let _ = (std::fs::remove_file(&file), std::fs::remove_file(&link));
    }

    /// A disk that fails when it is told to: with each write, or only when what was written is to be made durable.
    #[derive(Debug)]
    struct Disk {
        file: File,
        fails: Arc<AtomicU8>,
    }

    const WRITING: u8 = 1;
    const SYNCING: u8 = 2;

    impl Disk {
        fn check(&self, what: u8) -> std::io::Result<()> {
            if self.fails.load(Ordering::Relaxed) == what {
                Err(std::io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> std::io::Result<u64> {
            Ok(self.file.metadata()?.len())
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
            self.file.read_exact_at(out, offset)
        }

        fn set_len(&self, len: u64) -> std::io::Result<()> {
            self.check(WRITING)?;
            self.file.set_len(len)
        }

        fn sync_data(&self) -> std::io::Result<()> {
            self.check(SYNCING)?;
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
            self.check(WRITING)?;
            self.file.write_all_at(data, offset)
        }
    }

    /// A refused change does not come back, and later ones are kept.
    #[test]
    fn after_a_write_that_failed_others_are_kept() {
        let record = |entry: &str, mark| Record {
            list: "a".into(),
            ty: Kind::Addresses.into(),
            entry: Entry::parse(Kind::Addresses, entry).unwrap(),
            mark,
        };
        let (inserted, removed) = (|| Some(Mark::inserted(None)), || Some(Mark::Removed));
        for what in [WRITING, SYNCING] {
            let file = std::env::temp_dir().join(format!("celero-store-{}-{what}.redb", std::process::id()));
            let _ = std::fs::remove_file(&file);
            let mut store = Store::open(&file).unwrap();
            store.keep([record("192.0.2.1", removed())].into_iter()).unwrap();
            drop(store.database.take());
            let fails = Arc::new(AtomicU8::new(0));
            let open = File::options().read(true).write(true).open(&file).unwrap();
            let disk = Disk { file: open, fails: Arc::clone(&fails) };
            store.database = Some(Database::builder().create_with_backend(disk).unwrap());
            store.keep([record("192.0.2.2", inserted())].into_iter()).unwrap();
            fails.store(what, Ordering::Relaxed);
            store.keep([record("192.0.2.1", inserted()), record("192.0.2.3", inserted())].into_iter()).unwrap_err();
            fails.store(0, Ordering::Relaxed);
            let first = Entry::parse(Kind::Addresses, "192.0.2.1").unwrap();
            store.mend(|record| (record.entry == first).then_some(Mark::Removed)).unwrap();
            store.keep([record("192.0.2.4", inserted())].into_iter()).unwrap();
            let expected = [("192.0.2.1", removed()), ("192.0.2.2", inserted()), ("192.0.2.4", inserted())]
                .map(|(e, m)| record(e, m));
            assert_eq!(store.records().unwrap(), expected);
            drop(store);
            assert_eq!(Store::open(&file).unwrap().records().unwrap(), expected);
            let _ = std::fs::remove_file(&file);
        }
    }
}
