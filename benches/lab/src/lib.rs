//! The performance of celero, measured stage by stage, stored, compared and shown over time.
//! [`docs/lab.md`](../../../docs/lab.md) is its manual.
//!
//! | module | holds |
//! |---|---|
//! | `structure` | the structure of a rule with constants abstracted, and the language features that it uses |
//! | `read` | rules of files and corpora; recorded requests |
//! | `subjects` | what is measured, ready to be run: rules, sets, policies; which of them (`plan`) and what they read (`hosts`) |
//! | `counters` | what is counted, and by what means |
//! | `planted` | a slowdown on purpose, by which the lab is tested |
//! | `measure` | rounds of recordings of all units |
//! | `run` | a whole run: time and space in this process, instructions in a process under callgrind |
//! | `results` | runs as JSON Lines (`record`), compared (`compare`, `bisect`), stored (`store`), shown (`report`, `table`) |
#![expect(clippy::arithmetic_side_effects, reason = "small counts of this program's own making")]

pub mod counters;
pub mod measure;
pub mod planted;
pub mod read;
pub mod results;
pub mod run;
pub mod structure;
pub mod subjects;
