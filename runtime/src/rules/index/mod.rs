//! The index of a set: finds the rules that may be true without looking at the others.
//!
//! Each rule is found by one test that must hold where it is true (`access`), chosen so that few rules are found in vain
//! (`plan`, `estimate`). Tests of one kind on one field or header (`slot`) are asked together (`node`). What is left of a rule
//! that was found is evaluated by code that rules of the same shape share (`residual`).

mod access;
mod estimate;
mod keys;
mod node;
mod notes;
mod patterns;
mod plan;
mod reader;
mod residual;
mod slot;

pub(super) use notes::{LeftOut, Notes};
pub(super) use plan::Todo;
pub(super) use residual::Shapes;
pub(crate) use residual::{Row, Shape};

use super::common::Common;
use crate::arena::Arena;
use crate::context::Host;
use celero_ir::layout::Field;
use celero_matching::MemoryBudget;
use node::Nodes;
use plan::Case;
use reader::{Memory, Reader};
use slot::Slots;

/// Finds rules.
#[derive(Debug)]
pub(super) struct Index {
    slots: Slots,
    nodes: Nodes,
    root: u32,
    /// In the order of the rules.
    cases: Box<[Case]>,
}

/// An index of some rules.
pub(super) struct Indexed {
    pub(super) index: Index,
    /// The rules that it leaves out, by their places in the common graph.
    pub(super) straight: Vec<usize>,
}

/// What an index is for.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Whether a rule, by its number, is found where it fails as well as where it is true.
    pub(super) errors: &'w dyn Fn(u32) -> bool,
    /// Whether rules are found by it even if that is slower.
    pub(super) always: bool,
    /// Whether there will be native code: for what is left of rules, and worth milliseconds for a table of a pattern's states.
    pub(super) native: bool,
    /// For patterns that are compiled.
    pub(super) room: &'w MemoryBudget,
}

/// The index of the rules for which one is worth while; what is left of them is added to `shapes`.
pub(super) fn index(
    common: &Common,
    fields: &[Field],
    wanted: Wanted<'_>,
    shapes: &mut Shapes,
    notes: &mut Notes,
) -> Option<Indexed> {
    let plan = plan::plan(common, fields, wanted, shapes, notes).filter(|plan| !plan.cases.is_empty())?;
    let index = Index { slots: plan.slots, nodes: plan.nodes, root: plan.root, cases: plan.cases.into() };
    Some(Indexed { index, straight: plan.straight })
}

/// Working memory of a search.
#[derive(Debug, Default)]
pub(crate) struct Search {
    found: Vec<u32>,
    pending: Vec<u32>,
    memory: Memory,
}

impl Index {
    /// How many rules it has.
    pub(super) fn len(&self) -> usize {
        self.cases.chunk_by(|a, b| a.rule == b.rule).count()
    }

    /// How many rules it has whose rows are all of a kind.
    pub(super) fn len_with(&self, row: impl Fn(u32) -> bool) -> usize {
        let fits = |case: &Case| match case.todo {
            Todo::Matches => true,
            Todo::Rest(number) => row(number),
            Todo::Whole => false,
        };
        self.cases.chunk_by(|a, b| a.rule == b.rule).filter(|cases| cases.iter().all(fits)).count()
    }

    /// How many lookups it has, and how many of them are done whatever the others find.
    pub(super) fn lookups(&self) -> (usize, usize) {
        (self.nodes.lookups(), self.nodes.lookups_of(self.root))
    }

    /// All rules that it has, in order.
    pub(super) fn rules(&self) -> impl Iterator<Item = u32> {
        self.cases.chunk_by(|a, b| a.rule == b.rule).filter_map(|cases| cases.first()).map(|case| case.rule)
    }

    /// The rows, with the rules that they are of.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, u32)> {
        self.cases.iter().filter_map(|case| match case.todo {
            Todo::Rest(row) => Some((case.rule, row)),
            _ => None,
        })
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.bytes().saturating_add(size_of_val(&*self.cases))
    }

    /// The rules that may be true, in order, each once, with what is to be done; `None` if something that must be known can't
    /// be read. All others are false, or fail where such rules are not asked for.
    pub(super) fn find<'s>(
        &'s self,
        host: &dyn Host,
        arena: &Arena,
        search: &'s mut Search,
    ) -> Option<impl Iterator<Item = (u32, Todo)> + 's> {
        let Search { found, pending, memory } = search;
        found.clear();
        let mut reader = Reader::new(&self.slots, host, arena, memory);
        self.nodes.gather(self.root, &mut reader, found, pending).ok()?;
        found.sort_unstable();
        let mut last = None;
        let cases = found.iter().filter_map(|&case| self.cases.get(case as usize));
        Some(cases.filter_map(move |case| {
            if last.replace(case.rule) == Some(case.rule) { None } else { Some((case.rule, case.todo)) }
        }))
    }
}
