//! Counters for hosts that decide themselves what counts as a match of a rule.

pub use crate::counters::{CounterShards, Counters, Counting, Evaluations, SlotCounts};
