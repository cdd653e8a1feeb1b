//! Tests that look at the whole process: its allocator, its mappings, its threads and the files of
//! profilers. One at a time.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero_tests::heap::Heap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

mod allocations;
mod executable_pages;
mod live_load;
mod profiling;
mod reload;

#[global_allocator]
static HEAP: Heap = Heap;

/// The longest time that a test waits for work in the background.
const LONG: Duration = Duration::from_secs(600);

/// Waits until no other test of this binary runs and the background threads that it started have ended. Each test holds
/// the guard while it looks at the process.
fn exclusive() -> MutexGuard<'static, ()> {
    static EXCLUSIVE: Mutex<()> = Mutex::new(());
    let guard = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    wait_for(|| background_threads() == 0);
    guard
}

/// The number of threads that work on live rules.
fn background_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).filter(|name| name.trim() == "celero-live").count()
}

fn wait_for(done: impl Fn() -> bool) {
    let end = Instant::now() + LONG;
    while !done() {
        assert!(Instant::now() < end, "not done after {LONG:?}");
        std::thread::yield_now();
    }
}
