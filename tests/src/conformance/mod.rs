//! The official CEL conformance suite: read from its textproto files, run in both tiers, reported.

pub mod block;
pub mod case;
pub mod messages;
pub mod read_value;
pub mod report;
pub mod run;
pub mod suite;
pub mod textproto;
pub mod verdict;
