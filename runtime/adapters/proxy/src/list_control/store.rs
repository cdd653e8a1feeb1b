//! The file in which changes of lists are kept: an embedded transactional store. What was kept is there after a crash at any moment.

use celero_lists::{Entry, Kind, Mark, Record};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// By list, kind and entry as text: what became of the entry, and when that ends, in seconds since 1970.
const CHANGES: TableDefinition<'_, (&str, &str, &str), (u8, u64)> = TableDefinition::new("changes");

const REMOVED: u8 = 0;
const INSERTED: u8 = 1;
const INSERTED_UNTIL: u8 = 2;

/// A file of changes.
pub(super) struct Store(Database);

impl Store {
    /// Opens a file, or creates it in a folder that exists.
    ///
    /// # Errors
    /// A sentence: the file can't be opened, is another one, or another process has it open.
    pub(super) fn open(file: &Path) -> Result<Self, String> {
        let database = Database::create(file).map_err(|error| error.to_string())?;
        let store = Self(database);
        // From now on the table exists.
        store.keep(&[])?;
        Ok(store)
    }

    /// Returns everything that was kept.
    ///
    /// # Errors
    /// A sentence: the file can't be read, or holds what this version does not know.
    pub(super) fn records(&self) -> Result<Vec<Record>, String> {
        self.read().map_err(|error| error.to_string())?.into_iter().collect()
    }

    fn read(&self) -> Result<Vec<Result<Record, String>>, redb::Error> {
        let table = self.0.begin_read()?.open_table(CHANGES)?;
        let mut records = Vec::new();
        for row in table.iter()? {
            let (key, value) = row?;
            records.push(record(key.value(), value.value()));
        }
        Ok(records)
    }

    /// Writes records in one transaction, and waits until they are on the disk.
    ///
    /// # Errors
    /// A sentence: the disk refuses. Nothing was kept then.
    pub(super) fn keep(&self, records: &[Record]) -> Result<(), String> {
        self.write(records).map_err(|error| error.to_string())
    }

    fn write(&self, records: &[Record]) -> Result<(), redb::Error> {
        let transaction = self.0.begin_write()?;
        {
            let mut table = transaction.open_table(CHANGES)?;
            for Record { list, kind, entry, mark, .. } in records {
                let entry = entry.to_string();
                let key = (&**list, kind.name(), &*entry);
                match mark {
                    Some(mark) => drop(table.insert(key, value(*mark))?),
                    None => drop(table.remove(key)?),
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

fn value(mark: Mark) -> (u8, u64) {
    match mark {
        Mark::Inserted(Some(time)) => {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            (INSERTED_UNTIL, since.as_secs())
        }
        Mark::Inserted(None) => (INSERTED, 0),
        _ => (REMOVED, 0),
    }
}

fn record((list, kind, entry): (&str, &str, &str), (what, seconds): (u8, u64)) -> Result<Record, String> {
    let time = || SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    let mark = match what {
        REMOVED => Some(Mark::Removed),
        INSERTED => Some(Mark::Inserted(None)),
        INSERTED_UNTIL => time().map(|time| Mark::Inserted(Some(time))),
        _ => None,
    };
    let known = Kind::from_name(kind).and_then(|kind| Some((kind, Entry::parse(kind, entry).ok()?)));
    let (Some(mark), Some((kind, parsed))) = (mark, known) else {
        return Err(format!("it holds a change that this version does not know, of the list `{list}` of {kind}"));
    };
    Ok(Record { list: list.to_owned(), kind, entry: parsed, mark: Some(mark) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let file = std::env::temp_dir().join(format!("celero-store-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let record = |kind, entry: &str, mark| Record {
            list: "a.b".to_owned(),
            kind,
            entry: Entry::parse(kind, entry).unwrap(),
            mark: Some(mark),
        };
        let mut records = vec![
            record(Kind::Addresses, "10.0.0.0/8", Mark::Inserted(None)),
            record(Kind::Addresses, "2001:db8::1", Mark::Removed),
            record(Kind::Hosts, "*.example.com", Mark::Inserted(Some(time))),
            record(Kind::Integers, "-5..7", Mark::Removed),
            record(Kind::Texts, " A # \n\0,\"", Mark::Inserted(None)),
        ];
        {
            let store = Store::open(&file).unwrap();
            store.keep(&records).unwrap();
            assert!(Store::open(&file).is_err(), "two processes would overwrite each other");
        }
        let store = Store::open(&file).unwrap();
        assert_eq!(store.records().unwrap(), records);
        records[0].mark = None;
        store.keep(&records).unwrap();
        assert_eq!(store.records().unwrap(), records[1..]);
        drop(store);
        std::fs::write(&file, "something else\n".repeat(1000)).unwrap();
        assert!(Store::open(&file).is_err());
        let _ = std::fs::remove_file(&file);
    }
}
