//! The functions and operators of the language definition ("List of Standard Definitions").

pub(super) mod arithmetic;
pub(super) mod containers;
pub(super) mod conversions;
pub(super) mod matches;
pub(super) mod ordering;
pub(super) mod text;
pub(super) mod time;
