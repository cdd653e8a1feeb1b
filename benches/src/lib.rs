//! Workloads, the engines that run them, and how they are timed. `METHODOLOGY.md` says how to read the figures.
#![expect(clippy::expect_used, reason = "a benchmark whose preparation fails has nothing to measure")]

pub mod asking;
mod bars;
mod build_profile;
mod cel_crate;
mod compiled;
mod compiling;
pub mod everything;
pub mod filter;
mod filter_by_hand;
mod handwritten;
pub mod limits;
pub mod lists;
pub mod log_axis;
pub mod lookups;
mod matching;
mod measure;
pub mod messages;
mod rules;
pub mod rulesets;
mod table;
mod workload;

pub use bars::bars;
pub use build_profile::{build_line, build_record};
pub use cel_crate::HeadRules;
pub use compiling::{CompileCost, compile_cost};
pub use matching::compare_matching;
pub use measure::{CountingAllocator, Measurement, allocation_count, allocations, interleaved, scaling};
pub use table::markdown;
pub use workload::{Extras, Input, NAMES, Workload};

/// Evaluates a workload's rules on an input once and returns the sum of their results.
pub type Runner = Box<dyn Fn(&Input) -> u64 + Send + Sync>;

/// The engines, in the order of the table's columns. All others are compared with the first.
///
/// `cel` is the `cel` crate with the request's values added to a context, as its documentation
/// shows; `cel_lazy` is the same crate with lazy values that are resolved when they are read, the
/// fastest way that its API allows.
pub const ENGINES: &[&str] = &["handwritten", "inline", "native", "interpret", "cel", "cel_lazy"];

/// Prepares an engine for a workload. `None` for an unknown engine.
#[must_use]
pub fn runner(engine: &str, workload: &Workload) -> Option<Runner> {
    match engine {
        "handwritten" => Some(handwritten::behind_pointer(workload)),
        "inline" => Some(handwritten::inline(workload)),
        "native" => Some(compiled::runner(workload, celero::Tier::Native)),
        "interpret" => Some(compiled::runner(workload, celero::Tier::Interpret)),
        "cel" => Some(cel_crate::runner(workload, cel_crate::Mode::Added)),
        "cel_lazy" => Some(cel_crate::runner(workload, cel_crate::Mode::Lazy)),
        _ => None,
    }
}
