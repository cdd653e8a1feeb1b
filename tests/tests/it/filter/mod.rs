//! The filter language: random rules and collected ones in two ways, judged by the published
//! Wirefilter, and hostile texts.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "tests")]

mod corpus;
mod differential;
mod faults;
mod fields;
mod hostile;
mod published;
mod translation;
