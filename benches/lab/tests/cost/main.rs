//! Inputs that repeat one construct: twice the size costs at most 2.5 times the time and memory, or
//! is refused as cheaply. The inputs are made from tables, so that each function, key and shape
//! that is added is measured too.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::string_slice, reason = "tests")]
#![expect(dropping_copy_types, reason = "results are dropped alike, whatever they are")]

use celero_tests::heap::Heap;
use celero_tests::shared::say;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod bodies;
mod databases;
mod filter_functions;
mod functions;
mod lists;
mod measure;
mod requests;
mod rules;
mod schema;
mod sets;
mod tools;

/// A name, and a rule of a size or with a number.
type SizedRule = (&'static str, fn(usize) -> String);

#[global_allocator]
static HEAP: Heap = Heap;

/// Each test holds the guard: the measured time and memory are those of the process.
fn exclusive() -> MutexGuard<'static, ()> {
    static EXCLUSIVE: Mutex<()> = Mutex::new(());
    EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fails with all problems.
fn report(problems: &[String]) {
    assert!(problems.is_empty(), "cost grows faster than size:\n{}", problems.join("\n"));
}
