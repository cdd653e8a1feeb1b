//! Memory: allocations of the thread, and the most memory that the process had resident.

use super::{Counter, Quantity};
use celero_benches::allocation_count;

/// Counts allocations and the peak of resident memory. The peak is reset through
/// `/proc/self/clear_refs` (Linux's proc(5)); where that is not possible it is 0.
#[derive(Debug, Default)]
pub struct Space {
    allocations: u64,
}

impl Counter for Space {
    fn quantities(&self) -> &'static [Quantity] {
        &[
            Quantity { name: "allocations", unit: "allocations", source: "allocator" },
            Quantity { name: "peak_resident", unit: "bytes", source: "kernel" },
        ]
    }

    fn begin(&mut self) {
        // 5 resets the peak.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        self.allocations = allocation_count();
    }

    fn end(&mut self, values: &mut Vec<f64>) {
        let allocations = allocation_count().saturating_sub(self.allocations);
        values.push(allocations as f64);
        values.push(std::fs::read_to_string("/proc/self/status").ok().and_then(|text| peak(&text)).unwrap_or(0.0));
    }
}

/// The peak, in bytes, from the text of `/proc/self/status`.
fn peak(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kibibytes| kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        assert_eq!(peak("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2_097_152.0));
        assert_eq!(peak("Name:\tx\n"), None);
    }
}
