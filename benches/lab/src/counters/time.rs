//! Wall time.

use super::{Counter, Quantity};
use std::time::Instant;

/// Counts nanoseconds.
#[derive(Debug)]
pub struct Time(Instant);

impl Default for Time {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Counter for Time {
    fn quantities(&self) -> &'static [Quantity] {
        &[Quantity { name: "wall_time", unit: "ns", source: "clock" }]
    }

    fn begin(&mut self) {
        self.0 = Instant::now();
    }

    fn end(&mut self, values: &mut Vec<f64>) {
        values.push(self.0.elapsed().as_secs_f64() * 1e9);
    }
}
