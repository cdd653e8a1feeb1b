//! Rules compiled together: one graph of all, functions of up to 64 rules, and the call of such a function.

use super::frame::{Frame, Group, Outcome};
use super::pool::Pool;
use super::{HELPERS, failure};
use crate::context::Context;
use crate::error::{ErrorKind, EvalError};
use crate::function::Functions;
use crate::library::{Cx, Patterns};
use crate::lower::{Callee, Calls};
use celero_ir::layout::{Field, group};
use celero_ir::{ConstId, Constant, Graph, NodeId, Op, Origin, Ty, merge};
use celero_jit::{Code, Compiler, Error, Function, HeaderTable, Rule, Settings, Unit};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::mem::MaybeUninit;

/// Rules of a function as a rule. More would share more, but keep more values alive at once.
const RULES: usize = group::MOST;

/// Fewest headers that a function looks up in one pass over the map: with fewer, asking for each is faster.
const TOGETHER: usize = 5;

/// Rules one after the other, and the function that evaluates them, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) function: Option<usize>,
}

/// What became of a draft.
pub(crate) struct Finished {
    pub(crate) groups: Groups,
    /// All rules, in order.
    pub(crate) parts: Vec<Part>,
    /// Rules without a function, and why.
    pub(crate) refused: Vec<(usize, String)>,
}

/// A rule in the common graph.
struct Placed {
    /// Its number in the set.
    number: usize,
    root: NodeId,
    origins: Vec<(NodeId, Origin)>,
}

/// A group under construction: rules are added in the order of the set.
pub(crate) struct Draft<'a> {
    compiler: Compiler,
    fields: &'a [Field],
    patterns: &'a Patterns,
    steps: i64,
    graph: Graph,
    calls: Calls,
    pool: Pool,
    /// Constants that could not be prepared.
    unprepared: HashSet<ConstId>,
    rules: Vec<Placed>,
    /// By node: the last round of looking for headers that came by.
    seen: Vec<u32>,
    round: u32,
    functions: Vec<Function>,
    parts: Vec<Part>,
    refused: Vec<(usize, String)>,
}

impl<'a> Draft<'a> {
    /// An empty one: each rule gets so many steps, all constants together so many bytes.
    ///
    /// # Errors
    /// Where there is no native code for the machine.
    pub(crate) fn new(
        fields: &'a [Field],
        patterns: &'a Patterns,
        steps: i64,
        constant_bytes: usize,
    ) -> Result<Self, Error> {
        Ok(Self {
            compiler: Compiler::new(&Settings::default())?,
            fields,
            patterns,
            steps,
            graph: Graph::new(),
            calls: Calls::default(),
            pool: Pool::empty(constant_bytes),
            unprepared: HashSet::new(),
            rules: Vec::new(),
            seen: Vec::new(),
            round: 0,
            functions: Vec::new(),
            parts: Vec::new(),
            refused: Vec::new(),
        })
    }

    /// Adds a rule; `place` is where its whole source lies.
    ///
    /// # Errors
    /// Why it can't be native code.
    pub(crate) fn add(&mut self, number: usize, rule: &Graph, calls: Calls, place: Origin) -> Result<(), String> {
        let Some(&root) = rule.roots().first() else { return Err("internal error: a rule without a root".into()) };
        if matches!(rule.ty(root), Ty::Raw | Ty::Maybe | Ty::Seq) {
            return Err("internal error: a result that is no value".into());
        }
        self.calls.extend(calls);
        let known = self.graph.constants().len();
        let places = merge(&mut self.graph, rule);
        for (id, constant) in (0..).zip(self.graph.constants()).skip(known) {
            if self.pool.add(constant, self.patterns).is_err() {
                self.unprepared.insert(ConstId(id));
            }
        }
        let constants = places.iter().filter_map(|&place| self.graph.op(place).constant());
        if !self.unprepared.is_empty() && constants.into_iter().any(|id| self.unprepared.contains(&id)) {
            return Err("a constant cannot be prepared".into());
        }
        let mut root = places.get(root.0 as usize).copied().unwrap_or(root);
        let pairs = rule.ids().zip(&places).map(|(id, &place)| (place, rule.origin(id)));
        let mut origins: Vec<_> = pairs.filter(|(place, origin)| self.graph.origin(*place) != *origin).collect();
        // What is no truth value fails, after all errors on the way to it.
        let steps = match self.graph.ty(root) {
            Ty::Bool => &[][..],
            Ty::Value => &[(Op::Unbox(Ty::Bool), Ty::Bool)],
            _ => &[(Op::Box, Ty::Value), (Op::Unbox(Ty::Bool), Ty::Bool)],
        };
        for &(op, ty) in steps {
            root = self.graph.add(op, ty, &[root], place);
            origins.retain(|(node, _)| *node != root);
            origins.push((root, place));
        }
        origins.sort_unstable_by_key(|(node, _)| *node);
        self.rules.push(Placed { number, root, origins });
        Ok(())
    }

    /// Compiles what was added to functions, in a set of so many rules.
    ///
    /// # Errors
    /// When nothing could be compiled, or code can't be installed.
    pub(crate) fn finish(mut self, total: usize) -> Result<Finished, String> {
        for root in self.rules.iter().map(|rule| rule.root).collect::<Vec<_>>() {
            self.graph.add_root(root);
        }
        celero_ir::verify(&self.graph, self.fields).map_err(|violation| format!("internal error: {violation}"))?;
        let rules = std::mem::take(&mut self.rules);
        for rules in rules.chunk_by(|a, b| a.number.saturating_add(1) == b.number) {
            for rules in rules.chunks(RULES) {
                self.compile(rules);
            }
        }
        let callees = self.calls.numbered(&self.graph).ok_or("internal error: the graph calls an unknown function")?;
        let code = self.compiler.install(self.functions).map_err(|error| error.to_string())?;
        self.pool.forget_addresses();
        let parts = with_gaps(self.parts, total);
        let groups = Groups { code, _pool: self.pool, callees };
        Ok(Finished { groups, parts, refused: self.refused })
    }

    /// One function for these rules, or, if that is too large, for each half of them.
    fn compile(&mut self, rules: &[Placed]) {
        let Some(first) = rules.first() else { return };
        let tables = self.tables(rules);
        let headers: Vec<HeaderTable<'_>> =
            tables.iter().map(|(lookups, names)| HeaderTable { lookups, names: *names }).collect();
        let unit = Unit {
            graph: &self.graph,
            fields: self.fields,
            constants: self.pool.addresses(),
            helpers: &*HELPERS,
            steps: None,
        };
        let wanted: Vec<Rule<'_>> = rules.iter().map(|rule| Rule { root: rule.root, origins: &rule.origins }).collect();
        match self.compiler.group(&unit, &wanted, &headers, self.steps) {
            Ok(function) => {
                let number = self.functions.len();
                self.functions.push(function);
                self.parts.push(Part { first: first.number, count: rules.len(), function: Some(number) });
            }
            Err(_) if rules.len() > 1 => {
                let (left, right) = rules.split_at(rules.len() / 2);
                self.compile(left);
                self.compile(right);
            }
            Err(error) => self.refused.push((first.number, error.to_string())),
        }
    }

    /// The headers that are looked up together: by field, if there are enough.
    fn tables(&mut self, rules: &[Placed]) -> Vec<(Vec<NodeId>, usize)> {
        let mut by_field: BTreeMap<u32, BTreeMap<&str, NodeId>> = BTreeMap::new();
        let mut pending: Vec<NodeId> = rules.iter().map(|rule| rule.root).collect();
        self.seen.resize(self.graph.len(), 0);
        self.round = self.round.saturating_add(1);
        while let Some(id) = pending.pop() {
            match self.seen.get_mut(id.0 as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            pending.extend_from_slice(self.graph.args(id));
            if let Op::Header { field, name } = self.graph.op(id)
                && let Some(Constant::HeaderName(name)) = self.graph.constant_at(name)
            {
                by_field.entry(field).or_default().insert(name, id);
            }
        }
        let mut tables = Vec::new();
        for lookups in by_field.into_values().filter(|lookups| lookups.len() >= TOGETHER) {
            let names: Vec<&str> = lookups.keys().copied().collect();
            let Some((address, order)) = self.pool.add_table(&names) else { continue };
            let ids: Vec<NodeId> = order.iter().filter_map(|name| lookups.get(&**name).copied()).collect();
            if ids.len() == order.len() {
                tables.push((ids, address));
            }
        }
        tables
    }
}

/// The parts, with those between them that have no function.
fn with_gaps(parts: Vec<Part>, total: usize) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::with_capacity(parts.len());
    let mut next = 0;
    let end = Part { first: total, count: 0, function: None };
    for part in parts.into_iter().chain([end]) {
        let count = part.first.saturating_sub(next);
        if count > 0 {
            all.push(Part { first: next, count, function: None });
        }
        next = part.first.saturating_add(part.count);
        if part.count > 0 {
            all.push(part);
        }
    }
    all
}

/// The functions of a set.
#[derive(Debug)]
pub(crate) struct Groups {
    code: Code,
    /// Holds what the code refers to by address.
    _pool: Pool,
    callees: Box<[Callee]>,
}

/// After which rules a function ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stops {
    pub(crate) on_match: bool,
    pub(crate) on_error: bool,
}

/// What a function answered.
pub(crate) struct Answer {
    matched: u64,
    failed: u64,
    /// A word for each rule, of which those of failed rules are written.
    errors: [MaybeUninit<u64>; group::MOST],
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self { matched: 0, failed: 0, errors: [MaybeUninit::uninit(); group::MOST] }
    }

    /// The rules that are true or failed, as bits.
    pub(crate) fn told(&self) -> u64 {
        self.matched | self.failed
    }

    /// The error of the rule of this number in the function.
    pub(crate) fn error(&self, rule: u32) -> Option<EvalError> {
        if self.failed.checked_shr(rule).unwrap_or(0) & 1 == 0 {
            return None;
        }
        let word = self.errors.get(rule as usize)?;
        // SAFETY: `failed` and `errors` are written by `Groups::call` alone, and the function that it calls writes the word
        // of each rule whose bit it sets.
        Some(failure(unsafe { word.assume_init() }))
    }

    /// Whether a rule ran out of budget. It shares memory with the other rules of the function, so that it need not alone.
    fn is_spent(&self) -> bool {
        let mut left = self.failed;
        while left != 0 {
            let rule = left.trailing_zeros();
            if self.error(rule).is_some_and(|error| error.kind == ErrorKind::OutOfBudget) {
                return true;
            }
            left &= left.wrapping_sub(1);
        }
        false
    }
}

impl Groups {
    /// Bytes of machine code.
    pub(crate) fn size(&self) -> usize {
        self.code.size()
    }

    /// Runs a function on a context. `false` when its answer must not be used: something ran out of budget, which each rule
    /// has for itself, or a helper panicked, which may be any rule's.
    pub(crate) fn call<'a, C: Context>(
        &'a self,
        function: usize,
        context: &'a C,
        functions: &'a Functions,
        cx: Cx<'a>,
        stops: Stops,
        answer: &mut Answer,
    ) -> bool {
        let Some(entry) = self.code.entry(function) else { return false };
        let group = Group {
            matched: 0,
            failed: 0,
            errors: answer.errors.as_mut_ptr().cast(),
            stop_on_match: u32::from(stops.on_match),
            stop_on_error: u32::from(stops.on_error),
        };
        let mut frame = Frame {
            cx,
            out: Cell::new(0),
            result: Outcome { group },
            host: context,
            functions,
            callees: &self.callees,
            panicked: Cell::new(false),
        };
        // SAFETY: the frame is laid out as the code expects (`layout`) and has a word for each rule a function can have; the
        // context is of the type that the code was compiled for, as `RuleSet` knows; the pool that the code refers to is
        // alive in `self`.
        let _ = unsafe { entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast()) };
        // SAFETY: the member that was written above; native code writes integers to its words.
        let group = unsafe { frame.result.group };
        (answer.matched, answer.failed) = (group.matched, group.failed);
        !frame.panicked.get() && !answer.is_spent()
    }
}
