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
    group: events::Group,
}

impl Hardware {
    /// Opens the counters and counts a short loop to check that they work.
    ///
    /// # Errors
    /// Why there are none: the machine has none (many virtual machines), the process may not read them
    /// (`/proc/sys/kernel/perf_event_paranoid`), or it has fewer at once than are needed.
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
        let group = events::Group::open(events.map(perf_event::Builder::new)).map_err(failed)?;
        let mut hardware = Self { group };
        let mut values = Vec::new();
        hardware.begin();
        std::hint::black_box((0..10_000_u64).map(std::hint::black_box).sum::<u64>());
        hardware.end(&mut values);
        match values.first() {
            Some(instructions) if *instructions > 10_000.0 => Ok(hardware),
            _ => Err(format!("no hardware counters: the processor does not count these {} at once", QUANTITIES.len())),
        }
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
        self.group.begin();
    }

    fn end(&mut self, values: &mut Vec<f64>) {
        self.group.end(values);
    }
}

#[cfg(not(target_os = "linux"))]
impl Counter for Hardware {
    fn quantities(&self) -> &'static [Quantity] {
        QUANTITIES
    }

    fn begin(&mut self) {}

    fn end(&mut self, values: &mut Vec<f64>) {
        values.extend(QUANTITIES.iter().map(|_| f64::NAN));
    }
}

/// Events that are counted together.
#[cfg(target_os = "linux")]
mod events {
    use perf_event::{Builder, Counter, GroupData};
    use std::io;
    use std::time::Duration;

    pub(super) struct Group {
        group: perf_event::Group,
        counters: Vec<Counter>,
        /// For how long the events were to be counted, and were, when the stage began. The kernel
        /// never sets these back.
        before: [Duration; 2],
    }

    impl Group {
        pub(super) fn open(events: impl IntoIterator<Item = Builder<'static>>) -> io::Result<Self> {
            let mut group = perf_event::Group::new()?;
            let counters = events.into_iter().map(|event| group.add(&event)).collect::<io::Result<_>>()?;
            Ok(Self { group, counters, before: [Duration::ZERO; 2] })
        }

        pub(super) fn begin(&mut self) {
            let _ = self.group.reset();
            self.before = self.group.read().map_or([Duration::ZERO; 2], |counts| times(&counts));
            let _ = self.group.enable();
        }

        /// Appends the count of each event since `begin`; not a number for what was not counted.
        pub(super) fn end(&mut self, values: &mut Vec<f64>) {
            let _ = self.group.disable();
            let Ok(counts) = self.group.read() else {
                values.extend(self.counters.iter().map(|_| f64::NAN));
                return;
            };
            let [enabled, running] = times(&counts);
            let [enabled_before, running_before] = self.before;
            let (enabled, running) = (enabled.saturating_sub(enabled_before), running.saturating_sub(running_before));
            values.extend(
                self.counters.iter().map(|counter| {
                    counts.get(counter).map_or(f64::NAN, |count| scaled(count.value(), enabled, running))
                }),
            );
        }
    }

    fn times(counts: &GroupData) -> [Duration; 2] {
        [counts.time_enabled(), counts.time_running()].map(Option::unwrap_or_default)
    }

    /// Returns a count as if it had been counted all the time. Where several programs need the
    /// counters, the kernel multiplexes them. Not a number if it was never counted: a count of 0
    /// then says nothing.
    pub(super) fn scaled(count: u64, enabled: Duration, running: Duration) -> f64 {
        match running {
            Duration::ZERO => f64::NAN,
            _ => count as f64 * (enabled.as_secs_f64() / running.as_secs_f64()).max(1.0),
        }
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

    /// The kernel's own events go the same way as the processor's, on machines without counters too.
    #[cfg(target_os = "linux")]
    #[test]
    fn events_of_the_kernel_are_counted_from_begin_to_end() {
        use perf_event::events::Software;
        use std::io::Write;
        const PAGES: usize = 64;
        let events = [Software::TASK_CLOCK, Software::PAGE_FAULTS].map(perf_event::Builder::new);
        let mut group = match events::Group::open(events) {
            Ok(group) => group,
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "left out: counting by perf_event_open ({why})");
                return;
            }
        };
        let mut stage = |pages: usize| {
            let mut values = Vec::new();
            group.begin();
            let mut memory = Vec::<u8>::with_capacity(pages << 12);
            memory.resize(pages << 12, 1);
            std::hint::black_box(&memory);
            group.end(&mut values);
            values
        };
        let (large, nothing) = (stage(PAGES * 64), stage(0));
        assert!(large.len() == 2 && large[0] > 0.0, "the clock ran: {large:?}");
        // Larger pages may serve several faults at once; a new stage begins at nothing.
        assert!(large[1] >= 1.0 && nothing[1] < large[1].max(2.0), "faults: {large:?}, then {nothing:?}");
        assert!(nothing[0] < large[0], "{large:?}, then {nothing:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn multiplexed_counts_are_scaled() {
        use events::scaled;
        use std::time::Duration;
        let ms = Duration::from_millis;
        assert!((scaled(1000, ms(10), ms(10)) - 1000.0).abs() < 1e-9, "all the time");
        assert!((scaled(1000, ms(10), ms(4)) - 2500.0).abs() < 1e-9, "four tenths of it");
        assert!((scaled(1000, ms(3), ms(4)) - 1000.0).abs() < 1e-9, "clocks that are read one after the other");
        assert!(scaled(0, ms(10), ms(0)).is_nan(), "never");
        assert!((scaled(0, ms(10), ms(10))).abs() < 1e-9, "nothing happened");
    }
}
