//! Tests of graphs from outside the crate.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

#[cfg(test)]
mod common;
#[cfg(test)]
mod evaluate;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod long_lists;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod parameter;
#[cfg(test)]
mod passes;
#[cfg(test)]
mod text;
#[cfg(test)]
mod verify;
