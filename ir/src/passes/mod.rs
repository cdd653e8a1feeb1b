//! Optimisation passes. A pass rebuilds the graph, operands first, so unused nodes disappear and
//! equal nodes become one.
//!
//! **Contract.** A pass gets a valid graph and returns a valid graph with the same roots. Each root
//! has the same value, or fails with the same kind of error at the same place; only
//! [`OutOfBudget`](crate::ErrorKind::OutOfBudget) may disappear, because a pass may save budget. An
//! impure operation is evaluated exactly where it was. Levels of variables do not change.
//!
//! Invariant: no pass changes which error is the result of a root. `And`, `Or` and `Coalesce` hold whole chains, and
//! the order of their operands decides between errors. Test: `ir/tests/ir/passes.rs::values_and_errors_stay`.
//!
//! # How to add a pass
//!
//! 1. A file here with `fn node(builder, draft) -> NodeId`, which returns the replacement of one
//!    node: `builder.keep(draft)` if nothing changes, `builder.put(..)` otherwise (`raw.rs` is the
//!    smallest example), and `fn concerns(graph, node) -> bool`, which says fast whether that may
//!    happen. A pass that needs to see the whole graph first (`project.rs`) has
//!    `fn graph(..) -> Option<Graph>`.
//! 2. In this file: the module, a field of [`Options`], and a row of the array in [`run`]. Its
//!    position is the order of passes.
//! 3. If it needs the runtime's library (constant folding, patterns): a method of [`Evaluator`],
//!    implemented by `celero`.
//! 4. Tests: `ir/tests/ir/passes.rs` compares random graphs before and after each pass with an
//!    interpreter of graphs, and has examples; `tests/filetests/passes/` shows the effect on rules,
//!    down to CLIF.
//!
//! | pass | file | replaces |
//! |---|---|---|
//! | fold | `fold.rs`, `scalar.rs` | operations on constants, and what constants decide |
//! | canonical | `canonical.rs` | several forms of one expression by one form |
//! | sets | `sets.rs` | chains of comparisons and memberships by lookups in a set |
//! | precompute | `precompute.rs` | searches with constants by prepared searchers and regular expressions |
//! | raw | `raw.rs` | comparisons of decoded text by comparisons of its bytes |
//! | project | `project.rs` | parsed JSON documents by the parts that are read |
//! | messages | `messages.rs` | messages that several fields are read of by messages read in one pass |

mod canonical;
mod fold;
mod messages;
mod precompute;
mod project;
mod raw;
mod rebuild;
mod scalar;
mod sets;

use crate::constant::Constant;
use crate::error::ErrorKind;
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::wildcard::Wildcard;
pub use fold::is_small;
use rebuild::{Builder, Draft};
use std::borrow::Cow;
use std::sync::Arc;

/// Which passes run. All do by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Evaluate what depends on constants only.
    pub fold: bool,
    /// One form for expressions that can be written in several forms.
    pub canonical: bool,
    /// Memberships and chains of comparisons as lookups in sets.
    pub sets: bool,
    /// Searchers and regular expressions that are prepared at compile time.
    pub precompute: bool,
    /// Comparisons on the bytes of text from the host, without decoding.
    pub raw: bool,
    /// Only those parts of JSON documents that are read.
    pub project: bool,
    /// Several fields of a message in one pass.
    pub messages: bool,
}

impl Options {
    /// All passes.
    pub const ALL: Self = Self::each(true);
    /// No pass.
    pub const NONE: Self = Self::each(false);

    const fn each(on: bool) -> Self {
        Self { fold: on, canonical: on, sets: on, precompute: on, raw: on, project: on, messages: on }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::ALL
    }
}

/// The runtime's library, as passes need it for constants.
///
/// `None` leaves the operation to the evaluation: it is unknown, too expensive, or does not always
/// have the same result.
pub trait Evaluator {
    /// The result of a helper.
    fn call(&self, helper: Helper, args: &[Constant]) -> Option<Result<Constant, ErrorKind>>;
    /// The result of a pure function.
    fn dispatch(&self, function: &str, args: &[Constant]) -> Option<Result<Constant, ErrorKind>>;
    /// Whether a pattern, which is valid, matches somewhere in a text.
    fn matches(&self, pattern: &str, text: &str) -> Option<bool>;
    /// Whether a pattern on bytes matches somewhere in bytes.
    fn byte_matches(&self, pattern: &str, bytes: &[u8]) -> Option<bool>;
    /// Whether a wildcard pattern matches all of the bytes.
    fn wildcard_matches(&self, wildcard: &Wildcard, bytes: &[u8]) -> bool;
    /// Whether a pure function of a list or map and a key depends on nothing in the list or map but the key's value.
    fn is_selection(&self, function: &str) -> bool;
    /// How to test whether a pattern matches somewhere in a text. `None` if it cannot be compiled within the limits.
    fn pattern(&self, pattern: &str) -> Option<Pattern>;
}

/// How to test whether a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// With the engine for regular expressions.
    Engine,
    /// It matches if and only if one of these tests is true.
    AnyOf(Vec<TextTest>),
}

/// A test of a text against a known text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// The text is equal.
    Is(Arc<str>),
    /// The text starts with it.
    StartsWith(Arc<str>),
    /// The text ends with it.
    EndsWith(Arc<str>),
    /// The text contains it.
    Contains(Arc<str>),
}

/// Learns when the stages of a compilation begin and end, so that they can be measured one by one.
///
/// Each `begin` has an `end` with the same name after it, and stages do not overlap. A stage can
/// occur several times. `()` ignores them.
pub trait StageObserver {
    /// A stage begins.
    fn begin(&mut self, stage: &'static str);
    /// The stage ends.
    fn end(&mut self, stage: &'static str);
}

impl StageObserver for () {
    fn begin(&mut self, _: &'static str) {}

    fn end(&mut self, _: &'static str) {}
}

/// Runs a stage between its `begin` and its `end`.
pub fn observed<T>(observer: &mut dyn StageObserver, stage: &'static str, run: impl FnOnce() -> T) -> T {
    observer.begin(stage);
    let result = run();
    observer.end(stage);
    result
}

/// A pass: returns the new graph, or `None` if nothing changes.
type Pass<'p> = &'p dyn Fn(&Graph) -> Option<Graph>;

/// Rebuilds a graph if the pass concerns one of its nodes: most passes concern none, and looking at
/// each node is cheaper than rebuilding it.
fn rebuild_where(
    graph: &Graph,
    concerns: impl Fn(&Graph, NodeId) -> bool,
    node: impl FnMut(&mut Builder<'_>, Draft<'_>) -> NodeId,
) -> Option<Graph> {
    if graph.ids().any(|id| concerns(graph, id)) {
        return rebuild::rebuild(graph, node);
    }
    debug_assert!(
        rebuild::rebuild(graph, node).is_none_or(|rebuilt| rebuild::compact(graph) == Some(rebuilt)),
        "a pass replaces a node that does not concern it"
    );
    None
}

/// Maximum number of rounds of all passes. A pass can make work for an earlier one, rarely more than once.
const ROUNDS: usize = 3;

/// Runs the passes that `options` names until none changes the graph, at most three rounds. Nodes
/// that no root uses are removed even without passes.
#[must_use]
pub fn run(graph: &Graph, options: &Options, evaluator: &dyn Evaluator) -> Graph {
    run_observed(graph, options, evaluator, &mut ())
}

/// Runs the passes as [`run`] does. `observer` learns of each pass, by its name in [`Options`], and
/// of `compact`, the removal of unused nodes.
#[must_use]
pub fn run_observed(
    graph: &Graph,
    options: &Options,
    evaluator: &dyn Evaluator,
    observer: &mut dyn StageObserver,
) -> Graph {
    let compacted = observed(observer, "compact", || rebuild::compact(graph));
    let mut graph = compacted.map_or(Cow::Borrowed(graph), Cow::Owned);
    for _ in 0..ROUNDS {
        let passes: [(&'static str, bool, Pass<'_>); 7] = [
            ("fold", options.fold, &|graph| {
                rebuild_where(graph, fold::concerns, |builder, draft| fold::node(builder, draft, evaluator))
            }),
            ("canonical", options.canonical, &|graph| rebuild_where(graph, canonical::concerns, canonical::node)),
            ("sets", options.sets, &|graph| rebuild_where(graph, sets::concerns, sets::node)),
            ("precompute", options.precompute, &|graph| {
                rebuild_where(graph, precompute::concerns, |builder, draft| precompute::node(builder, draft, evaluator))
            }),
            ("raw", options.raw, &|graph| rebuild_where(graph, raw::concerns, raw::node)),
            ("project", options.project, &|graph| project::graph(graph, evaluator)),
            ("messages", options.messages, &messages::graph),
        ];
        let mut changed = false;
        for (name, on, pass) in passes {
            if on && let Some(next) = observed(observer, name, || pass(&graph)) {
                graph = Cow::Owned(next);
                changed = true;
            }
        }
        if !changed {
            break;
        }
        // Removes the nodes that a pass has left unused.
        if let Some(next) = observed(observer, "compact", || rebuild::compact(&graph)) {
            graph = Cow::Owned(next);
        }
    }
    graph.into_owned()
}
