//! Results of runs: their format, comparison, storage, and how they are shown.

pub mod bisect;
pub mod compare;
pub mod machine;
pub mod record;
pub mod report;
pub mod statistics;
pub mod store;
pub mod table;
