//! The processor's counters, through `perf_event_open`, in this process and on this thread.

use super::{Counter, Quantity};

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "instructions", unit: "instructions", source: "perf_event" },
    Quantity { name: "cycles", unit: "cycles", source: "perf_event" },
    Quantity { name: "branches", unit: "branches", source: "perf_event" },
    Quantity { name: "branch_misses", unit: "misses", source: "perf_event" },
    Quantity { name: "cache_misses", unit: "misses", source: "perf_event" },
];

/// Counts instructions, cycles, branches, mispredicted branches and cache misses of user code.
pub struct Hardware {
    #[cfg(target_os = "linux")]
    group: perf_event::Group,
    #[cfg(target_os = "linux")]
    counters: Vec<perf_event::Counter>,
}

impl Hardware {
    /// Opens the counters.
    ///
    /// # Errors
    /// Why there are none: the machine has none (many virtual machines), or the process may not read them
    /// (`/proc/sys/kernel/perf_event_paranoid`).
    #[cfg(target_os = "linux")]
    pub fn new() -> Result<Self, String> {
        use perf_event::events::Hardware as Event;
        let events = [
            Event::INSTRUCTIONS,
            Event::CPU_CYCLES,
            Event::BRANCH_INSTRUCTIONS,
            Event::BRANCH_MISSES,
            Event::CACHE_MISSES,
        ];
        let failed = |error: std::io::Error| format!("no hardware counters: {error}");
        let mut group = perf_event::Group::new().map_err(failed)?;
        let mut counters = Vec::new();
        for event in events {
            counters.push(group.add(&perf_event::Builder::new(event)).map_err(failed)?);
        }
        Ok(Self { group, counters })
    }

    /// There are no counters on this system.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> Result<Self, String> {
        Err("no hardware counters: perf_event_open is Linux's".to_owned())
    }
}

#[cfg(target_os = "linux")]
impl Counter for Hardware {
    fn quantities(&self) -> &'static [Quantity] {
        QUANTITIES
    }

    fn begin(&mut self) {
        let _ = self.group.reset();
        let _ = self.group.enable();
    }

    fn end(&mut self, values: &mut Vec<f64>) {
        let _ = self.group.disable();
        match self.group.read() {
            Ok(counts) => {
                values
                    .extend(self.counters.iter().map(|counter| counts.get(counter).map_or(0.0, |n| n.value() as f64)));
            }
            Err(_) => values.extend(self.counters.iter().map(|_| 0.0)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Counter for Hardware {
    fn quantities(&self) -> &'static [Quantity] {
        QUANTITIES
    }

    fn begin(&mut self) {}

    fn end(&mut self, values: &mut Vec<f64>) {
        values.extend(QUANTITIES.iter().map(|_| 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On machines with counters they count; elsewhere the reason is said.
    #[test]
    fn counters_count_or_say_why_not() {
        match Hardware::new() {
            Ok(mut counter) => {
                let mut values = Vec::new();
                counter.begin();
                std::hint::black_box((0..10_000_u64).map(std::hint::black_box).sum::<u64>());
                counter.end(&mut values);
                assert!(values.len() == QUANTITIES.len() && values[0] > 10_000.0, "{values:?}");
            }
            Err(why) => assert!(why.starts_with("no hardware counters: "), "{why}"),
        }
    }
}
