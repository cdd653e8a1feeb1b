//! A line on standard error that says what is going on and how long it will still take:
//! [`Progress`] on a terminal, for work that takes more than half a second; [`Steps`] for work of
//! equal steps, also where there is no terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nothing is shown before this time.
const QUIET: Duration = Duration::from_millis(500);
/// The time between two changes of the line.
const EVERY: Duration = Duration::from_millis(100);
/// The same, of steps, and where there is no terminal: each time is a line of its own there.
const STEPS_EVERY: [Duration; 2] = [QUIET, Duration::from_secs(10)];
/// Removes the line.
const CLEAR: &str = "\r\x1b[2K";
/// What [`Progress::done`] counts in.
const WHOLE: f64 = 1_000_000.0;

/// Shows the progress of some work until it is dropped, from a thread of its own. Shows nothing
/// where standard error is no terminal.
pub struct Progress {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    what: Mutex<String>,
    /// The share of the work that is done, in millionths.
    done: AtomicU32,
    over: AtomicBool,
    started: Instant,
    /// The expected time of the whole work, where the share is not known.
    expected: Option<Duration>,
}

impl Progress {
    /// Starts the line for work of which [`done`](Self::done) will tell the share.
    #[must_use]
    pub fn new(what: &str) -> Self {
        Self::start(what, None)
    }

    /// Starts the line for work that is expected to take this time.
    #[must_use]
    pub fn expecting(what: &str, time: Duration) -> Self {
        Self::start(what, Some(time))
    }

    fn start(what: &str, expected: Option<Duration>) -> Self {
        let (done, over) = (AtomicU32::new(0), AtomicBool::new(false));
        let shared =
            Arc::new(Shared { what: Mutex::new(what.to_owned()), done, over, started: Instant::now(), expected });
        let thread = io::stderr().is_terminal().then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.show())
        });
        Self { shared, thread }
    }

    /// Says what is being done, and which share of the work is done.
    pub fn done(&self, what: &str, share: f64) {
        what.clone_into(&mut self.shared.what.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.done.store((share.clamp(0.0, 1.0) * WHOLE) as u32, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn show(&self) {
        let mut shown = false;
        while !self.over.load(Ordering::Acquire) {
            let elapsed = self.started.elapsed();
            if elapsed > QUIET {
                let what = self.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let share = f64::from(self.done.load(Ordering::Relaxed)) / WHOLE;
                let _ = write!(io::stderr(), "{CLEAR}{}", line(&what, elapsed, share, self.expected));
                shown = true;
            }
            std::thread::park_timeout(EVERY);
        }
        if shown {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Shows the progress of work of equal steps until it is dropped. It has no thread, so that nothing
/// but a step disturbs what is measured.
pub struct Steps {
    what: &'static str,
    total: usize,
    done: usize,
    started: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl Steps {
    /// Starts the line for this number of steps.
    #[must_use]
    pub fn new(what: &'static str, total: usize) -> Self {
        Self { what, total, done: 0, started: Instant::now(), shown: None, terminal: io::stderr().is_terminal() }
    }

    /// A step is done. Shows the line at most twice a second on a terminal, else a line every ten seconds.
    pub fn step(&mut self) {
        self.done = self.done.saturating_add(1);
        let [terminal, other] = STEPS_EVERY;
        let pause = if self.terminal { terminal } else { other };
        if self.shown.unwrap_or(self.started).elapsed() >= pause {
            self.shown = Some(Instant::now());
            let share = self.done as f64 / self.total.max(1) as f64;
            let line = line(self.what, self.started.elapsed(), share, None);
            let (before, after) = if self.terminal { (CLEAR, "") } else { ("", "\n") };
            let _ = write!(io::stderr(), "{before}{line}{after}");
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if self.terminal && self.shown.is_some() {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Returns the line: what, time so far, time left if it is known.
fn line(what: &str, elapsed: Duration, share: f64, expected: Option<Duration>) -> String {
    let left = match expected {
        Some(expected) => expected.checked_sub(elapsed),
        None if share > 0.02 => Some(elapsed.mul_f64((1.0 - share).max(0.0) / share)),
        None => None,
    };
    let so_far = format!("{what}: {:.1} s", elapsed.as_secs_f64());
    left.map_or(so_far.clone(), |left| format!("{so_far}, about {:.0} s left", left.as_secs_f64().ceil()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_share() {
        let second = Duration::from_secs(1);
        assert_eq!(line("measuring", second, 0.25, None), "measuring: 1.0 s, about 3 s left");
        assert_eq!(line("measuring", second, 0.0, None), "measuring: 1.0 s");
        assert_eq!(line("measuring", second, 1.0, None), "measuring: 1.0 s, about 0 s left");
        assert_eq!(line("compiling", second, 0.0, Some(second * 5)), "compiling: 1.0 s, about 4 s left");
        assert_eq!(line("compiling", second * 6, 0.0, Some(second * 5)), "compiling: 6.0 s");
        // Without a terminal nothing runs.
        Progress::new("x").done("y", 0.5);
    }
}
