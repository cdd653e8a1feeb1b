//! The performance of celero, measured stage by stage, stored, compared and shown over time.
//! [`docs/lab.md`](../../../docs/lab.md) is its manual.
//!
//! | module | holds |
//! |---|---|
//! | `hosts` | what rules read |
//! | `fingerprint` | the id of what is measured |
//! | `read` | rules of files and corpora; recorded requests |
//! | `structure` | the structure of a rule with constants abstracted, and the language features that it uses |
//! | `sizes` | sets of many generated rules |
//! | `policies` | policies and their cases, and their stages |
//! | `plan`, `language_name` | which rules are measured: deduplicated, partitioned, sampled; languages in a plan's JSON |
//! | `subject` | rules and sets made ready to be measured, and their stages |
//! | `counters` | what is counted, and by what means |
//! | `measure` | rounds of recordings of all units |
//! | `run` | a whole run: time and space in this process, instructions in a process under callgrind |
//! | `record` | the format of results, JSON Lines |
//! | `machine` | machine, commit and build of a run |
//! | `statistics`, `compare` | whether two runs differ, and by how much |
//! | `bisect` | the commit from which on a stage is slower |
//! | `planted` | a slowdown on purpose, by which the lab is tested |
//! | `store` | runs in a SQLite database |
//! | `report` | runs as a page with charts |
//! | `searchers`, `table` | tables of improvements between two ways to evaluate the same rules |
#![expect(clippy::arithmetic_side_effects, reason = "small counts of this program's own making")]

pub mod bisect;
pub mod compare;
pub mod counters;
mod fingerprint;
mod hosts;
mod language_name;
pub mod machine;
pub mod measure;
pub mod plan;
pub mod planted;
pub mod policies;
pub mod read;
pub mod record;
pub mod report;
pub mod run;
pub mod searchers;
mod sizes;
pub mod statistics;
pub mod store;
pub mod structure;
mod subject;
pub mod table;
