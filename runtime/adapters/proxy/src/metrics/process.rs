//! Metrics of the process, by the names that Prometheus' own clients use. Where the system has no
//! `/proc`, there are none.

use crate::metrics::sink::MetricWriter;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};
use std::fs::{read_dir, read_to_string};

/// Writes the metrics.
pub(crate) fn write(page: &mut MetricWriter<'_>) {
    if let Some(process) = Process::read() {
        page.single_gauge("process_resident_memory_bytes", "Resident memory.", process.resident);
        page.single_gauge("process_virtual_memory_bytes", "Virtual memory.", process.virtual_size);
        page.single_counter("process_cpu_seconds_total", "Time on processors, user and system.", process.cpu);
        page.single_gauge("process_threads", "Threads.", process.threads);
        page.single_gauge("process_start_time_seconds", "When the process started, since 1970.", process.start);
    }
    if let Ok(files) = read_dir("/proc/self/fd") {
        // One of them is the folder itself.
        page.single_gauge("process_open_fds", "Open files and sockets.", files.count().saturating_sub(1));
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        page.single_gauge("process_max_fds", "Files and sockets that may be open.", most);
    }
}

struct Process {
    resident: u64,
    virtual_size: u64,
    cpu: f64,
    threads: u64,
    start: f64,
}

impl Process {
    /// Reads what the system says of this process: proc_pid_stat(5).
    fn read() -> Option<Self> {
        let text = read_to_string("/proc/self/stat").ok()?;
        // The name of the program is in parentheses and may have any character.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        // The third field of the file is the first here.
        let field = |number: usize| -> Option<u64> { fields.get(number.checked_sub(3)?)?.trim().parse().ok() };
        let seconds = |ticks: u64| ticks as f64 / clock_ticks_per_second() as f64;
        let boot = read_to_string("/proc/stat").ok()?;
        let boot: u64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        Some(Self {
            resident: field(24)?.saturating_mul(u64::try_from(page_size()).ok()?),
            virtual_size: field(23)?,
            cpu: seconds(field(14)?.saturating_add(field(15)?)),
            threads: field(20)?,
            start: boot as f64 + seconds(field(22)?),
        })
    }
}
