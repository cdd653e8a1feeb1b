//! One list: its entries as they are read, and as they are searched.

mod any_list;
mod containment;
mod entries;
#[cfg(test)]
mod expiry_tests;
mod expiry_times;
mod levels;

pub(crate) use any_list::{AnyList, KeyType};
pub use containment::Covered;
pub use entries::Entries;
pub(crate) use levels::{Counts, Keyed, Position};
