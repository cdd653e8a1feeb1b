//! Rules compiled together: one graph of all, functions of up to 64 rules, and the call of such a function.

use super::entry_abi::allocates;
use super::frame::{BaseFrame, Frame, GroupSlot, ResultSlot};
use super::pool::Pool;
use super::{HELPERS, HOST, failure};
use crate::arena::EvalResult;
use crate::context::Context;
use crate::error::{ErrorKind, EvalError};
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::Callee;
use crate::rules::{Common, Placed, Row, Shape};
use celero_ir::layout::{Field, Network, group};
use celero_ir::{Constant, NodeId, Op, ParameterKind};
use celero_jit::{Code, CompiledFunction, Compiler, ConstantAddress, GroupedRule, HeaderBatch, Settings, Unit};
use celero_matching::pattern::PatternCache;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

/// Rules of a function as a rule. More would share more, but keep more values alive at once.
const RULES: usize = group::MAX_RULES;

/// Fewest headers that a function looks up in one pass over the map: with fewer, asking for each is faster.
const TOGETHER: usize = 5;

/// So many rules, and the function that evaluates them, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) count: usize,
    pub(crate) function: Option<usize>,
}

/// What became of a draft.
pub(crate) struct Finished {
    pub(crate) groups: Groups,
    /// The rules that were to be straight code, in order.
    pub(crate) parts: Vec<Part>,
    /// Rules that have no native code, by their numbers, and why.
    pub(crate) refused: Vec<(u32, String)>,
}

/// Rules of a set on their way to native code.
pub(crate) struct Draft<'a> {
    compiler: Compiler,
    common: &'a Common,
    fields: &'a [Field],
    patterns: &'a PatternCache,
    steps: i64,
    pool: Pool,
    /// By node: the last round of looking at what rules use that came by.
    seen: Vec<u32>,
    round: u32,
    functions: Vec<CompiledFunction>,
    parts: Vec<Part>,
    refused: Vec<(u32, String)>,
}

impl<'a> Draft<'a> {
    /// An empty one: each rule gets so many steps, all constants together so many bytes.
    ///
    /// # Errors
    /// Where there is no native code for the machine, and for a graph that is not well formed.
    pub(crate) fn new(
        common: &'a Common,
        fields: &'a [Field],
        patterns: &'a PatternCache,
        steps: i64,
        constant_bytes: usize,
    ) -> Result<Self, String> {
        celero_ir::verify(&common.graph, fields).map_err(|violation| format!("internal error: {violation}"))?;
        Ok(Self {
            compiler: Compiler::new(&Settings::default()).map_err(|error| error.to_string())?,
            common,
            fields,
            patterns,
            steps,
            pool: Pool::empty(constant_bytes),
            seen: Vec::new(),
            round: 0,
            functions: Vec::new(),
            parts: Vec::new(),
            refused: Vec::new(),
        })
    }

    /// Compiles rules to functions, one after the other, unless the work is found to be `stale`.
    ///
    /// # Errors
    /// When the work is stale.
    pub(crate) fn straight(&mut self, rules: &[&Placed], stale: &dyn Fn() -> bool) -> Result<(), String> {
        for rules in rules.chunks(RULES) {
            if stale() {
                return Err("nobody waits for it any more".into());
            }
            self.compile(rules);
        }
        Ok(())
    }

    /// Compiles shapes, and fills the rows of rules that have them.
    pub(crate) fn shapes(&mut self, shapes: &[Shape], rows: &[Row]) -> Shapes {
        let shapes = shapes.iter().map(|shape| self.shape(shape)).collect();
        let mut all = Shapes { shapes, rows: Vec::with_capacity(rows.len()), words: Vec::new() };
        for row in rows {
            let first = u32::try_from(all.words.len()).unwrap_or(u32::MAX);
            all.rows.push(self.fill(row, &mut all.words).is_ok().then_some((row.shape, first)));
        }
        all.rows.shrink_to_fit();
        all.words.shrink_to_fit();
        all
    }

    fn shape(&mut self, shape: &Shape) -> Result<ShapeCode, String> {
        let graph = &shape.graph;
        celero_ir::verify(graph, self.fields).map_err(|violation| format!("internal error: {violation}"))?;
        let callees = self.common.calls.numbered(graph).ok_or("internal error: the graph calls an unknown function")?;
        let &root = graph.roots().first().ok_or("internal error: a shape without a root")?;
        let constants: EvalResult<Vec<_>> =
            graph.constants().iter().map(|constant| self.pool.lone(constant, self.patterns)).collect();
        let constants = constants.map_err(|_| "a constant cannot be prepared")?;
        let unit = Unit { graph, fields: self.fields, constants: &constants, helpers: &*HELPERS, steps: None };
        let function = self.compiler.template(&unit, root).map_err(|error| error.to_string())?;
        let number = self.functions.len();
        self.functions.push(function);
        Ok(ShapeCode { function: number, callees, words: shape.words, builds: allocates(graph, self.fields) })
    }

    /// Appends the words of a row: its constants, then the places of its sites.
    fn fill(&mut self, row: &Row, words: &mut Vec<u64>) -> EvalResult<()> {
        for &(kind, id) in &row.constants {
            let graph = &self.common.graph;
            let constant = graph.constant_at(id).ok_or(ErrorKind::Host)?;
            match (kind, constant) {
                (ParameterKind::Int, Constant::Int(number)) => words.push(number.cast_unsigned()),
                (ParameterKind::Uint, Constant::Uint(number)) => words.push(*number),
                (ParameterKind::Double, Constant::Double(bits)) => words.push(*bits),
                (ParameterKind::Cidr, &Constant::Cidr(address, prefix)) => {
                    let Network { bits, mask, .. } = Network::new(address, prefix);
                    words.extend(bits.into_iter().chain(mask));
                }
                (ParameterKind::Regex, Constant::Regex(pattern)) => {
                    words.push(self.pool.later(id, pattern, self.patterns) as u64);
                }
                _ => {
                    let ConstantAddress { data, len, value } = self.pool.prepare(id, graph, self.patterns)?;
                    match kind {
                        ParameterKind::Str => words.extend([data as u64, len as u64]),
                        ParameterKind::Value => words.push(value as u64),
                        _ => words.push(data as u64),
                    }
                }
            }
        }
        words.extend(row.sites.iter().map(|site| u64::from(site.start) << 32 | u64::from(site.end)));
        Ok(())
    }

    /// Installs what was compiled.
    ///
    /// # Errors
    /// When code can't be installed.
    pub(crate) fn finish(mut self, shapes: Shapes) -> Result<Finished, String> {
        let graph = &self.common.graph;
        let callees = self.common.calls.numbered(graph).ok_or("internal error: the graph calls an unknown function")?;
        let code = self.compiler.install(self.functions).map_err(|error| error.to_string())?;
        self.pool.forget_addresses();
        let groups = Groups { code, _pool: self.pool, callees, shapes };
        Ok(Finished { groups, parts: self.parts, refused: self.refused })
    }

    /// One function for these rules, or, if that is too large, for each half of them.
    fn compile(&mut self, rules: &[&Placed]) {
        let Err(why) = self.function(rules) else { return };
        match rules {
            &[only] => {
                self.parts.push(Part { count: 1, function: None });
                self.refused.push((only.number, why));
            }
            _ => {
                let (left, right) = rules.split_at(rules.len() / 2);
                self.compile(left);
                self.compile(right);
            }
        }
    }

    fn function(&mut self, rules: &[&Placed]) -> Result<(), String> {
        let graph = &self.common.graph;
        let used = self.uses(rules);
        for constant in used.iter().filter_map(|&id| graph.op(id).constant()) {
            self.pool.prepare(constant, graph, self.patterns).map_err(|_| "a constant cannot be prepared")?;
        }
        let tables = self.tables(&used);
        let headers: Vec<HeaderBatch<'_>> =
            tables.iter().map(|(lookups, names)| HeaderBatch { lookups, names: *names }).collect();
        let unit =
            Unit { graph, fields: self.fields, constants: self.pool.addresses(), helpers: &*HELPERS, steps: None };
        let wanted: Vec<GroupedRule<'_>> =
            rules.iter().map(|rule| GroupedRule { root: rule.root, origins: &rule.origins }).collect();
        let function = self.compiler.group(&unit, &wanted, &headers, self.steps).map_err(|error| error.to_string())?;
        self.parts.push(Part { count: rules.len(), function: Some(self.functions.len()) });
        self.functions.push(function);
        Ok(())
    }

    /// The nodes that rules use.
    fn uses(&mut self, rules: &[&Placed]) -> Vec<NodeId> {
        let graph = &self.common.graph;
        let mut pending: Vec<NodeId> = rules.iter().map(|rule| rule.root).collect();
        let mut used = Vec::new();
        self.seen.resize(graph.len(), 0);
        self.round = self.round.saturating_add(1);
        while let Some(id) = pending.pop() {
            match self.seen.get_mut(id.0 as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            used.push(id);
            pending.extend_from_slice(graph.args(id));
        }
        used
    }

    /// The headers that are looked up together: by field, if there are enough.
    fn tables(&mut self, used: &[NodeId]) -> Vec<(Vec<NodeId>, usize)> {
        let graph = &self.common.graph;
        let mut by_field: BTreeMap<u32, BTreeMap<&str, NodeId>> = BTreeMap::new();
        for &id in used {
            if let Op::Header { field, name } = graph.op(id)
                && let Some(Constant::HeaderName(name)) = graph.constant_at(name)
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

/// The code of shapes, and the rows of the rules that have them.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    shapes: Vec<Result<ShapeCode, String>>,
    /// By number of the row: its shape, and its first word. `None` where a constant cannot be prepared.
    rows: Vec<Option<(u32, u32)>>,
    words: Vec<u64>,
}

#[derive(Debug)]
struct ShapeCode {
    function: usize,
    callees: Box<[Callee]>,
    /// Words of a row that are constants.
    words: u16,
    /// Whether it builds something as a rule.
    builds: bool,
}

impl Shapes {
    /// Why a row has no native code.
    pub(crate) fn refusal(&self, row: u32) -> Option<&str> {
        match self.rows.get(row as usize) {
            Some(Some((shape, _))) => match self.shapes.get(*shape as usize) {
                Some(Ok(_)) => None,
                Some(Err(why)) => Some(why),
                None => Some("internal error: a row without a shape"),
            },
            _ => Some("a constant cannot be prepared"),
        }
    }

    /// Bytes that it holds beside code.
    pub(crate) fn bytes(&self) -> usize {
        let (rows, words) = (size_of_val(self.rows.as_slice()), size_of_val(self.words.as_slice()));
        rows.saturating_add(words).saturating_add(size_of_val(self.shapes.as_slice()))
    }
}

/// The functions of a set.
#[derive(Debug)]
pub(crate) struct Groups {
    code: Code,
    /// Holds what the code refers to by address.
    _pool: Pool,
    callees: Box<[Callee]>,
    shapes: Shapes,
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
    errors: [MaybeUninit<u64>; group::MAX_RULES],
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self { matched: 0, failed: 0, errors: [MaybeUninit::uninit(); group::MAX_RULES] }
    }

    /// The rules that are true or failed, as bits.
    #[inline]
    pub(crate) fn told(&self) -> u64 {
        self.matched | self.failed
    }

    /// Whether any of them failed.
    #[inline]
    pub(crate) fn has_failures(&self) -> bool {
        self.failed != 0
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

    /// The code.
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The number of the function that a row has.
    pub(crate) fn function_of(&self, row: u32) -> Option<usize> {
        let (shape, _) = (*self.shapes.rows.get(row as usize)?)?;
        self.shapes.shapes.get(shape as usize)?.as_ref().ok().map(|shape| shape.function)
    }

    /// The shapes and rows.
    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Whether the code of a row builds something as a rule, so that it needs an arena with room; `None` if it has no code.
    #[inline]
    pub(crate) fn builds(&self, row: u32) -> Option<bool> {
        let (shape, _) = (*self.shapes.rows.get(row as usize)?)?;
        self.shapes.shapes.get(shape as usize)?.as_ref().ok().map(|shape| shape.builds)
    }

    /// Runs the code of a row on a context.
    #[inline]
    pub(crate) fn test<'a, C: Context>(
        &'a self,
        row: u32,
        context: &'a C,
        functions: &'a Functions,
        cx: Cx<'a>,
    ) -> Result<bool, EvalError> {
        let (shape, first) = self.shapes.rows.get(row as usize).copied().flatten().ok_or(HOST)?;
        let shape = self.shapes.shapes.get(shape as usize).and_then(|shape| shape.as_ref().ok()).ok_or(HOST)?;
        let words = self.shapes.words.get(first as usize..).ok_or(HOST)?;
        let entry = self.code.entry(shape.function).ok_or(HOST)?;
        let result = ResultSlot { row: words.as_ptr() };
        let mut frame = Frame { base: BaseFrame::new(cx), result, host: context, functions, callees: &shape.callees };
        // SAFETY: the frame is laid out as the code expects (`layout`), and has the address of a row that `Draft::fill` made
        // for this shape; the context is of the type that the code was compiled for, as `RuleSet` knows; the pool that the
        // code and the row refer to is alive in `self`.
        let word = unsafe { entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast()) };
        if word <= 1 && !frame.panicked.get() {
            return Ok(word == 1);
        }
        if frame.panicked.get() {
            return Err(HOST);
        }
        // Where the place should be, it names a site.
        let error = failure(word);
        let place = words.get(usize::from(shape.words).saturating_add(error.start as usize)).ok_or(HOST)?;
        Err(EvalError { kind: error.kind, start: (place >> 32) as u32, end: *place as u32 })
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
        let group = GroupSlot {
            matched: 0,
            failed: 0,
            errors: answer.errors.as_mut_ptr().cast(),
            stop_on_match: u32::from(stops.on_match),
            stop_on_error: u32::from(stops.on_error),
        };
        let result = ResultSlot { group };
        let mut frame = Frame { base: BaseFrame::new(cx), result, host: context, functions, callees: &self.callees };
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
