//! How far a run is and how long it will still take, on standard error.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Counts steps of equal kind.
pub(crate) struct Progress {
    label: &'static str,
    total: usize,
    done: usize,
    start: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(label: &'static str, total: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { label, total, done: 0, start: Instant::now(), shown: None, terminal }
    }

    /// A step is done. Shown at most twice a second on a terminal, else each ten seconds.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        let pause = if self.terminal { Duration::from_millis(500) } else { Duration::from_secs(10) };
        let last = self.shown.unwrap_or(self.start);
        if last.elapsed() >= pause {
            self.shown = Some(Instant::now());
            let line = line(self.label, self.done, self.total, self.start.elapsed());
            let (before, after) = if self.terminal { ("\r", "   ") } else { ("", "\n") };
            let _ = write!(std::io::stderr(), "{before}{line}{after}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal && self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r{:60}\r", "");
        }
    }
}

fn line(label: &str, done: usize, total: usize, elapsed: Duration) -> String {
    let share = done as f64 / total.max(1) as f64;
    let left = elapsed.as_secs_f64() * (1.0 - share) / share.max(f64::MIN_POSITIVE);
    let left = left.round() as u64;
    format!("{label}: {:.0} %, {}:{:02} left", share * 100.0, left / 60, left % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_steps_left() {
        assert_eq!(line("times", 1, 4, Duration::from_secs(30)), "times: 25 %, 1:30 left");
        assert_eq!(line("times", 4, 4, Duration::from_secs(30)), "times: 100 %, 0:00 left");
    }
}
