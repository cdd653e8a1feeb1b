//! Helpers that several files of tests use.
#![expect(clippy::unwrap_used, reason = "tests")]

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Processor time that this thread has used. Unlike the time of day it leaves out the tests that run beside it.
pub(crate) fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}
