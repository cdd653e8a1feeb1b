//! Runs in a SQLite database, for queries by other tools. `docs/lab.md` has its tables and examples of queries.

use super::record::{Measurement, Partition, Run};
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;

/// The tables. The version is that of the records, in `PRAGMA user_version`.
const TABLES: &str = "
PRAGMA user_version = 1;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    commit_id TEXT NOT NULL,
    time INTEGER NOT NULL,
    cpu TEXT NOT NULL,
    toolchain TEXT NOT NULL,
    profile TEXT NOT NULL,
    info TEXT NOT NULL,
    UNIQUE (commit_id, time)
);
CREATE TABLE IF NOT EXISTS partitions (
    run INTEGER NOT NULL REFERENCES runs (id),
    partition TEXT NOT NULL,
    found INTEGER NOT NULL,
    structures INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, partition)
);
CREATE TABLE IF NOT EXISTS measurements (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    counter TEXT NOT NULL,
    unit TEXT NOT NULL,
    source TEXT NOT NULL,
    stage TEXT NOT NULL,
    partition TEXT NOT NULL,
    recordings INTEGER NOT NULL,
    warm_ups INTEGER NOT NULL,
    total REAL NOT NULL,
    spread REAL NOT NULL,
    UNIQUE (run, counter, stage, partition)
);
CREATE TABLE IF NOT EXISTS samples (
    measurement INTEGER NOT NULL REFERENCES measurements (id),
    rule TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (measurement, rule)
) WITHOUT ROWID;
";

/// A database of runs.
pub struct Store {
    connection: Connection,
    name: String,
}

impl Store {
    /// Opens a database that exists.
    ///
    /// # Errors
    /// It does not exist, or is no database of this version.
    pub fn open(path: &Path) -> Result<Self, String> {
        Self::with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Opens a database, or makes it.
    ///
    /// # Errors
    /// It can't be opened, or is no database of this version.
    pub fn open_or_create(path: &Path) -> Result<Self, String> {
        Self::with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    fn with(path: &Path, flags: OpenFlags) -> Result<Self, String> {
        let name = path.display().to_string();
        let failed = |error: rusqlite::Error| format!("{name}: {error}");
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        if version > 1 {
            return Err(format!("{name}: the database has version {version}; this program knows version 1"));
        }
        connection.execute_batch(TABLES).map_err(failed)?;
        Ok(Self { connection, name })
    }

    /// Adds a run. Returns false, and changes nothing, if a run of that commit and time is there.
    ///
    /// # Errors
    /// The database can't be written.
    pub fn add(&mut self, run: &Run) -> Result<bool, String> {
        let name = self.name.clone();
        self.try_add(run).map_err(|error| format!("{name}: {error}"))
    }

    fn try_add(&mut self, run: &Run) -> rusqlite::Result<bool> {
        let Run { info, partitions, measurements } = run;
        let transaction = self.connection.transaction()?;
        let added = transaction.execute(
            "INSERT OR IGNORE INTO runs (commit_id, time, cpu, toolchain, profile, info) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                info.commit,
                i64::try_from(info.time).unwrap_or(i64::MAX),
                info.machine.cpu,
                info.build.toolchain,
                info.build.profile,
                json(info)
            ],
        )?;
        if added == 0 {
            return Ok(false);
        }
        let run = transaction.last_insert_rowid();
        for partition in partitions {
            transaction.execute(
                "INSERT INTO partitions (run, partition, found, structures, content) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![run, partition.partition, partition.found as i64, partition.structures as i64, json(partition)],
            )?;
        }
        let mut samples = transaction.prepare("INSERT INTO samples (measurement, rule, value) VALUES (?1, ?2, ?3)")?;
        for m in measurements {
            transaction.execute(
                "INSERT INTO measurements (run, counter, unit, source, stage, partition, recordings, warm_ups, total, spread)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    run, m.counter, m.unit, m.source, m.stage, m.partition, m.recordings as i64, m.warm_ups as i64,
                    m.total, m.spread
                ],
            )?;
            let measurement = transaction.last_insert_rowid();
            for (rule, value) in &m.values {
                samples.execute(params![measurement, rule, value])?;
            }
        }
        drop(samples);
        transaction.commit()?;
        Ok(true)
    }

    /// Returns all runs, the oldest first.
    ///
    /// # Errors
    /// The database can't be read.
    pub fn runs(&self) -> Result<Vec<Run>, String> {
        self.select("").map_err(|error| format!("{}: {error}", self.name))
    }

    /// Returns the last run of the commits that begin like this.
    ///
    /// # Errors
    /// There is none, or the database can't be read.
    pub fn find(&self, commit: &str) -> Result<Run, String> {
        let found = self.select(commit).map_err(|error| format!("{}: {error}", self.name))?;
        found.into_iter().next_back().ok_or_else(|| format!("{}: there is no run of a commit `{commit}..`", self.name))
    }

    fn select(&self, commit: &str) -> rusqlite::Result<Vec<Run>> {
        let mut statement = self
            .connection
            .prepare("SELECT id, info FROM runs WHERE substr(commit_id, 1, length(?1)) = ?1 ORDER BY time, id")?;
        let rows = statement.query_map([commit], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        let mut runs = Vec::new();
        for row in rows {
            let (id, info) = row?;
            runs.push(Run {
                info: parsed(&info)?,
                partitions: self.partitions(id)?,
                measurements: self.measurements(id)?,
            });
        }
        Ok(runs)
    }

    fn partitions(&self, run: i64) -> rusqlite::Result<Vec<Partition>> {
        let mut statement =
            self.connection.prepare("SELECT content FROM partitions WHERE run = ?1 ORDER BY partition")?;
        let rows = statement.query_map([run], |row| row.get::<_, String>(0))?;
        rows.map(|content| parsed(&content?)).collect()
    }

    fn measurements(&self, run: i64) -> rusqlite::Result<Vec<Measurement>> {
        let mut statement = self.connection.prepare(
            "SELECT id, counter, unit, source, stage, partition, recordings, warm_ups, total, spread
             FROM measurements WHERE run = ?1 ORDER BY id",
        )?;
        let mut samples = self.connection.prepare("SELECT rule, value FROM samples WHERE measurement = ?1")?;
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        let rows = statement.query_map([run], |row| {
            let measurement = Measurement {
                counter: row.get(1)?,
                unit: row.get(2)?,
                source: row.get(3)?,
                stage: row.get(4)?,
                partition: row.get(5)?,
                recordings: count(row.get(6)?),
                warm_ups: count(row.get(7)?),
                total: row.get(8)?,
                spread: row.get(9)?,
                values: std::collections::BTreeMap::new(),
            };
            Ok((row.get::<_, i64>(0)?, measurement))
        })?;
        let mut found = Vec::new();
        for row in rows {
            let (id, mut measurement) = row?;
            let values = samples.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            measurement.values = values.collect::<rusqlite::Result<_>>()?;
            found.push(measurement);
        }
        Ok(found)
    }
}

/// A part of a record as JSON.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::example;

    #[test]
    fn what_is_stored_is_found_once() {
        let mut store = Store::with(Path::new(":memory:"), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let (one, mut two) = (example("abc1", "parse", &[1.0, 2.5]), example("abd2", "fold", &[3.0]));
        two.info.time += 1;
        assert_eq!((store.add(&two), store.add(&one), store.add(&one)), (Ok(true), Ok(true), Ok(false)));
        assert_eq!(store.runs().unwrap(), [one.clone(), two.clone()], "the oldest first");
        assert_eq!((store.find("abc").unwrap(), store.find("ab").unwrap()), (one, two));
        assert!(store.find("x").unwrap_err().contains("no run of a commit `x..`"));
    }

    #[test]
    fn a_missing_database_is_an_error() {
        assert!(Store::open(Path::new("/there/is/none.db")).is_err());
    }
}
