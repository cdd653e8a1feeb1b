//! The format of results: JSON Lines, an object on each line. `benches/lab/schema.json` is the same
//! as a JSON schema; a test compares them.

use super::machine::{Build, Machine};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The name and version of the format. A member that is removed, renamed or changes its meaning is
/// a new version; new members are not.
pub const SCHEMA: &str = "celero-lab/1";

/// The run that a record is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The commit of the sources, with `-dirty` if they were changed.
    pub commit: String,
    /// When the run began, in seconds since 1970.
    pub time: u64,
    /// The machine.
    pub machine: Machine,
    /// How celero was built.
    pub build: Build,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// The run.
    pub run: RunInfo,
    /// What was found.
    #[serde(flatten)]
    pub content: Content,
}

/// The kinds of lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// Which rules of a partition were measured.
    Partition(Partition),
    /// A counter of a stage in a partition.
    Measurement(Measurement),
}

/// Which rules of a partition were measured, and which were left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Its name: language and feature.
    pub partition: String,
    /// Rules found.
    pub found: usize,
    /// Structures among those that compile.
    pub structures: usize,
    /// Rules left out because they do not compile, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Requests that every rule on requests was evaluated on, those left out as invalid, and those
    /// left out of the sample.
    pub requests: [usize; 3],
    /// The texts of the rules that were measured, by id.
    pub rules: BTreeMap<String, String>,
}

/// A counter of a stage in a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was counted: `instructions`, `wall_time`, ..
    pub counter: String,
    /// Its unit.
    pub unit: String,
    /// By what means: `callgrind`, `perf_event`, `clock`, `allocator`, `kernel`, `compiler`.
    pub source: String,
    /// The stage.
    pub stage: String,
    /// The partition.
    pub partition: String,
    /// Recordings of each rule or set.
    pub recordings: usize,
    /// Rounds before them that were not recorded.
    pub warm_ups: usize,
    /// The sum of `values`.
    pub total: f64,
    /// The median, over rules, of half the range of a rule's recordings, divided by their median.
    pub spread: f64,
    /// The median of the recordings of each rule, by its id. A set has the id of its first rule.
    pub values: BTreeMap<String, f64>,
}

/// The records of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The run.
    pub info: RunInfo,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// Its measurements.
    pub measurements: Vec<Measurement>,
}

impl Run {
    /// Writes a run, a record on each line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let partitions = self.partitions.iter().cloned().map(Content::Partition);
        for content in partitions.chain(self.measurements.iter().cloned().map(Content::Measurement)) {
            let record = Record { schema: SCHEMA.to_owned(), run: self.info.clone(), content };
            serde_json::to_writer(&mut *out, &record)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads the runs of a text, in the order in which they begin there.
    ///
    /// # Errors
    /// The number of the line that is no record of this version, and why.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let mut runs: Vec<Self> = Vec::new();
        for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let record: Record = serde_json::from_str(line).map_err(|error| format!("{number}: {error}"))?;
            if record.schema != SCHEMA {
                return Err(format!("{number}: a record of `{}`; expected `{SCHEMA}`", record.schema));
            }
            if !runs.iter().any(|run| run.info == record.run) {
                runs.push(Self { info: record.run.clone(), partitions: Vec::new(), measurements: Vec::new() });
            }
            let Some(run) = runs.iter_mut().find(|run| run.info == record.run) else { continue };
            match record.content {
                Content::Partition(partition) => run.partitions.push(partition),
                Content::Measurement(measurement) => run.measurements.push(measurement),
            }
        }
        Ok(runs)
    }

    /// Reads the runs of a file.
    ///
    /// # Errors
    /// The name of the file, and what is wrong with it.
    pub fn read_file(path: &Path) -> Result<Vec<Self>, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let runs = Self::read(&text).map_err(|why| format!("{}:{why}", path.display()))?;
        if runs.is_empty() { Err(format!("{}: the file has no record", path.display())) } else { Ok(runs) }
    }

    /// Returns the text of a measured rule.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&str> {
        self.partitions.iter().find_map(|partition| partition.rules.get(id)).map(|text| &**text)
    }
}

/// A run for tests: `value` for each of `rules` rules, in one stage.
#[cfg(test)]
pub(crate) fn example(commit: &str, stage: &str, values: &[f64]) -> Run {
    let info = RunInfo {
        commit: commit.to_owned(),
        time: 1_700_000_000,
        machine: Machine::default(),
        build: Build::default(),
    };
    let partition = "cel/contains".to_owned();
    let ids = || (0..values.len()).map(|n| format!("{n:016x}"));
    let rules = ids().map(|id| (id.clone(), format!("rule {id}"))).collect();
    let measurement = Measurement {
        counter: "instructions".to_owned(),
        unit: "instructions".to_owned(),
        source: "callgrind".to_owned(),
        stage: stage.to_owned(),
        partition: partition.clone(),
        recordings: 3,
        warm_ups: 1,
        total: values.iter().sum(),
        spread: 0.001,
        values: ids().zip(values.iter().copied()).collect(),
    };
    let partition =
        Partition { partition, found: values.len(), structures: values.len(), rules, ..Partition::default() };
    Run { info, partitions: vec![partition], measurements: vec![measurement] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_written_is_read() {
        let run = example("abc", "parse", &[1.0, 2.5]);
        let mut text = Vec::new();
        run.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(Run::read(&text).unwrap(), [run]);
        let other = text.replace(SCHEMA, "celero-lab/0");
        assert_eq!(Run::read(&other).unwrap_err(), "1: a record of `celero-lab/0`; expected `celero-lab/1`");
    }

    /// Whether a value is as a schema says, as far as `schema.json` uses JSON schemas.
    fn check(value: &Value, schema: &Value, place: &str) {
        if let Some(expected) = schema.get("const") {
            assert_eq!(value, expected, "{place}");
        }
        if let Some(ty) = schema.get("type").and_then(Value::as_str) {
            let fits = match ty {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_u64(),
                "number" => value.is_number(),
                other => panic!("{place}: the test does not know the type {other}"),
            };
            assert!(fits, "{place}: {value} is no {ty}");
        }
        let none = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        for (name, member) in value.as_object().unwrap_or(&none) {
            let inner = properties.get(name).or_else(|| schema.get("additionalProperties"));
            match inner {
                Some(inner) => check(member, inner, &format!("{place}.{name}")),
                None => assert!(properties.is_empty(), "{place}: `{name}` is not in the schema"),
            }
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(value.get(name.as_str().unwrap()).is_some(), "{place}: no {name}");
        }
        for (item, inner) in value.as_array().into_iter().flatten().zip(std::iter::repeat(&schema["items"])) {
            check(item, inner, &format!("{place}[]"));
        }
    }

    #[test]
    fn records_are_as_the_schema_says() {
        let schema: Value = serde_json::from_str(include_str!("../../schema.json")).unwrap();
        let mut text = Vec::new();
        example("abc", "parse", &[1.0, 2.5]).write(&mut text).unwrap();
        let mut seen = 0;
        for line in String::from_utf8(text).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let kind = record["kind"].as_str().unwrap().to_owned();
            check(&record, &schema["$defs"][&kind], &kind);
            // Each member is required, so that the schema has no member that records do not have.
            for name in schema["$defs"][&kind]["properties"].as_object().unwrap().keys() {
                assert!(record.get(name).is_some(), "{kind}.{name}");
            }
            seen += 1;
        }
        assert_eq!(seen, 2);
    }
}
