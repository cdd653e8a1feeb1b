//! Passes: each takes a valid graph and gives a valid graph with the same roots, which have the same values or fail with the
//! same kind of error at the same place, [`OutOfBudget`](crate::ErrorKind::OutOfBudget) aside: a pass may save budget.
//!
//! A pass rebuilds the graph from its roots upwards, so nodes that nothing uses vanish and what becomes equal becomes one.
//! Levels of variables stay as they are.

mod canonical;
mod fold;
mod precompute;
mod project;
mod raw;
mod rebuild;
mod scalar;
mod sets;

use crate::constant::Constant;
use crate::error::ErrorKind;
use crate::graph::Graph;
use crate::helper::Helper;
use std::sync::Arc;

/// Which passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Evaluate what hangs on constants only.
    pub fold: bool,
    /// One form for what can be written in several.
    pub canonical: bool,
    /// Memberships and chains of comparisons as sets.
    pub sets: bool,
    /// Searchers and regular expressions, prepared at compile time.
    pub precompute: bool,
    /// Comparisons on the bytes of text from the host, without decoding it.
    pub raw: bool,
    /// Of JSON documents, only the parts that are read.
    pub project: bool,
}

impl Options {
    /// All passes.
    pub const ALL: Self = Self { fold: true, canonical: true, sets: true, precompute: true, raw: true, project: true };
    /// No pass.
    pub const NONE: Self =
        Self { fold: false, canonical: false, sets: false, precompute: false, raw: false, project: false };
}

impl Default for Options {
    fn default() -> Self {
        Self::ALL
    }
}

/// The runtime's library, for constants. `None` means that it is better left to the evaluation: not known, too dear, or
/// not the same at every time.
pub trait Evaluator {
    /// What a helper answers.
    fn call(&self, helper: Helper, args: &[Constant]) -> Option<Result<Constant, ErrorKind>>;
    /// What a pure function answers.
    fn dispatch(&self, function: &str, args: &[Constant]) -> Option<Result<Constant, ErrorKind>>;
    /// Whether a valid pattern matches somewhere in a text.
    fn matches(&self, pattern: &str, text: &str) -> Option<bool>;
    /// Whether a pure function of a list or map and a key gives what stands under that key, or something that hangs on
    /// nothing else in the list or map.
    fn is_selection(&self, function: &str) -> bool;
    /// How to decide whether a pattern matches somewhere in a text. `None` if it can't be compiled within the limits.
    fn pattern(&self, pattern: &str) -> Option<Pattern>;
}

/// How a pattern is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// By searching with it.
    Engine,
    /// It matches just when one of these holds.
    AnyOf(Vec<TextTest>),
}

/// A test of a text against one that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// The whole text.
    Is(Arc<str>),
    /// Its start.
    StartsWith(Arc<str>),
    /// Its end.
    EndsWith(Arc<str>),
    /// Any part of it.
    Contains(Arc<str>),
}

/// A pass: the new graph, or `None` if it is the old one.
type Pass<'p> = &'p dyn Fn(&Graph) -> Option<Graph>;

/// Rounds of all passes at most: each can make work for an earlier one, rarely twice.
const ROUNDS: usize = 3;

/// Runs the passes that are switched on. With none on, the graph is still freed of what no root uses.
#[must_use]
pub fn run(graph: &Graph, options: &Options, evaluator: &dyn Evaluator) -> Graph {
    let mut graph = rebuild::compact(graph).unwrap_or_else(|| graph.clone());
    for _ in 0..ROUNDS {
        let passes: [(bool, Pass<'_>); 6] = [
            (options.fold, &|graph| rebuild::rebuild(graph, |builder, draft| fold::node(builder, draft, evaluator))),
            (options.canonical, &|graph| rebuild::rebuild(graph, canonical::node)),
            (options.sets, &|graph| rebuild::rebuild(graph, sets::node)),
            (options.precompute, &|graph| {
                rebuild::rebuild(graph, |builder, draft| precompute::node(builder, draft, evaluator))
            }),
            (options.raw, &|graph| rebuild::rebuild(graph, raw::node)),
            (options.project, &|graph| project::graph(graph, evaluator)),
        ];
        let mut changed = false;
        for (on, pass) in passes {
            if on && let Some(next) = pass(&graph) {
                graph = next;
                changed = true;
            }
        }
        if !changed {
            break;
        }
        // What a pass left unused goes.
        graph = rebuild::compact(&graph).unwrap_or(graph);
    }
    graph
}
