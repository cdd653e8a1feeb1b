//! The compiler of rule sets: linear blocks of up to 64 rules, and templates that rules share.

use super::HELPERS;
use super::entry_abi::allocates;
use super::function_entries::addresses;
use super::literal_batches::LiteralBatches;
use super::pool::Pool;
use super::set_code::{CompiledTemplates, LinearBlock, SetCode, TemplateCode};
use super::template::{ParameterRow, ParameterRows, Template};
use crate::arena::EvalResult;
use crate::compilation::cancellation::Cancellation;
use crate::error::ErrorKind;
use crate::function::contained;
use crate::lower::merge::{MergedGraph, MergedRule};
use celero_ir::layout::{Field, Network, group};
use celero_ir::{Constant, NodeId, Op, ParameterKind};
use celero_jit::{CompiledFunction, Compiler, ConstantAddress, GroupedRule, HeaderBatch, Settings, Unit};
use celero_matching::pattern::PatternCache;
use std::collections::BTreeMap;
use std::time::Duration;

/// Most rules of one function. A larger function would share more work between rules, but keep more
/// values alive at the same time.
const BLOCK_RULES: usize = group::MAX_RULES;

/// Most rules whose rows are filled between two checks whether the compilation is cancelled.
const ROWS: usize = 1_024;

/// Fewest headers for which one pass over all headers of the request replaces a lookup for each:
/// with fewer, lookups are faster.
pub(crate) const MIN_BATCHED_HEADERS: usize = 5;

/// The outcome of a [`SetCompiler`].
pub(crate) struct CompiledRules {
    pub(crate) code: SetCode,
    /// The blocks of the linear scan, in the order of its rules.
    pub(crate) blocks: Vec<LinearBlock>,
    /// Rules without native code: their numbers, and why.
    pub(crate) refused: Vec<(u32, String)>,
    /// Time that the code generator took.
    pub(crate) codegen_time: Duration,
}

/// Runs a part of the code generator. Whether the compilation is cancelled is asked between these
/// parts: a panic of the host's function goes on, and is not one of the code generator.
///
/// # Errors
/// The part panicked. What it has changed may be incomplete, so the compiler is dropped.
fn generated<T>(part: impl FnOnce() -> T) -> Result<T, String> {
    contained(part).map_err(|()| "internal error: the code generator panicked".to_owned())
}

const UNKNOWN_FUNCTION: &str = "internal error: the graph calls an unknown function";

/// Compiles the rules of a set to native code.
pub(crate) struct SetCompiler<'a> {
    compiler: Compiler,
    merged: &'a MergedGraph,
    fields: &'a [Field],
    patterns: &'a PatternCache,
    steps: i64,
    pool: Pool,
    /// The addresses of the graph's functions.
    addresses: Vec<usize>,
    /// Indexed by node id: the last traversal that visited the node.
    visited: Vec<u32>,
    /// Number of the current traversal.
    traversal: u32,
    functions: Vec<CompiledFunction>,
    templates: Vec<Result<TemplateCode, String>>,
    blocks: Vec<LinearBlock>,
    refused: Vec<(u32, String)>,
}

impl<'a> SetCompiler<'a> {
    /// Creates a compiler without functions. `steps` is the budget of each rule, `constant_bytes`
    /// bounds the constants of all rules together.
    ///
    /// # Errors
    /// No native code exists for this processor, or the graph is not well formed.
    pub(crate) fn new(
        merged: &'a MergedGraph,
        fields: &'a [Field],
        patterns: &'a PatternCache,
        steps: i64,
        constant_bytes: usize,
    ) -> Result<Self, String> {
        let compiler = generated(|| {
            celero_ir::verify(&merged.graph, fields).map_err(|violation| format!("internal error: {violation}"))?;
            Compiler::new(&Settings::default()).map_err(|error| error.to_string())
        })??;
        let callees = merged.calls.numbered(&merged.graph).ok_or(UNKNOWN_FUNCTION)?;
        Ok(Self {
            compiler,
            addresses: addresses(&merged.graph, &callees).ok_or(UNKNOWN_FUNCTION)?,
            merged,
            fields,
            patterns,
            steps,
            pool: Pool::empty(constant_bytes),
            visited: Vec::new(),
            traversal: 0,
            functions: Vec::new(),
            templates: Vec::new(),
            blocks: Vec::new(),
            refused: Vec::new(),
        })
    }

    /// Compiles the rules of the linear scan, block by block.
    ///
    /// # Errors
    /// The compilation is cancelled, or the code generator panicked.
    pub(crate) fn linear(&mut self, rules: &[&MergedRule], cancellation: &Cancellation) -> Result<(), String> {
        for rules in rules.chunks(BLOCK_RULES) {
            cancellation.check()?;
            generated(|| self.compile(rules))?;
        }
        Ok(())
    }

    /// Compiles templates, in their order.
    ///
    /// # Errors
    /// The compilation is cancelled, or the code generator panicked.
    pub(crate) fn templates(
        &mut self,
        templates: impl Iterator<Item = Template>,
        cancellation: &Cancellation,
    ) -> Result<(), String> {
        for template in templates {
            cancellation.check()?;
            let compiled = generated(|| self.template(&template))?;
            self.templates.push(compiled);
        }
        Ok(())
    }

    /// Fills the rows of the rules that use the templates, all of which are compiled.
    ///
    /// # Errors
    /// The compilation is cancelled, or a constant made the library panic.
    pub(crate) fn rows(
        &mut self,
        rows: &ParameterRows,
        cancellation: &Cancellation,
    ) -> Result<CompiledTemplates, String> {
        let templates = std::mem::take(&mut self.templates);
        let mut all = CompiledTemplates { templates, rows: Vec::with_capacity(rows.len()), words: Vec::new() };
        for first in (0..rows.len()).step_by(ROWS) {
            cancellation.check()?;
            generated(|| {
                for row in (first..rows.len()).take(ROWS).filter_map(|number| rows.get(number)) {
                    let first = u32::try_from(all.words.len()).unwrap_or(u32::MAX);
                    all.rows.push(self.fill(row, &mut all.words).is_ok().then_some((row.template, first)));
                }
            })?;
        }
        all.rows.shrink_to_fit();
        all.words.shrink_to_fit();
        Ok(all)
    }

    fn template(&mut self, template: &Template) -> Result<TemplateCode, String> {
        let graph = &template.graph;
        celero_ir::verify(graph, self.fields).map_err(|violation| format!("internal error: {violation}"))?;
        let callees = self.merged.calls.numbered(graph).ok_or(UNKNOWN_FUNCTION)?;
        let &root = graph.roots().first().ok_or("internal error: a template without a root")?;
        let constants: EvalResult<Vec<_>> =
            graph.constants().iter().map(|constant| self.pool.lone(constant, self.patterns)).collect();
        let constants = constants.map_err(|_| "a constant cannot be prepared")?;
        let (fields, constants) = (self.fields, constants.as_slice());
        let functions = addresses(graph, &callees).ok_or(UNKNOWN_FUNCTION)?;
        let unit =
            Unit { graph, fields, constants, helpers: &*HELPERS, functions: &functions, steps: None, literals: &[] };
        let function = self.compiler.template(&unit, root).map_err(|error| error.to_string())?;
        let number = self.functions.len();
        self.functions.push(function);
        Ok(TemplateCode { function: number, callees, words: template.words, builds: allocates(graph, self.fields) })
    }

    /// Appends the words of a row: its constants, then the source places of its sites.
    fn fill(&mut self, row: ParameterRow<'_>, words: &mut Vec<u64>) -> EvalResult<()> {
        for &(kind, id) in row.constants {
            let graph = &self.merged.graph;
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
                (ParameterKind::ByteRegex, Constant::ByteRegex(pattern)) => {
                    words.push(self.pool.later_of_bytes(id, pattern, self.patterns) as u64);
                }
                _ => {
                    let ConstantAddress { data, len, value } = self.pool.prepare(id, graph, self.patterns)?;
                    match kind {
                        ParameterKind::Str | ParameterKind::Bytes => words.extend([data as u64, len as u64]),
                        ParameterKind::Value => words.push(value as u64),
                        _ => words.push(data as u64),
                    }
                }
            }
        }
        words.extend(row.sites.iter().map(|site| u64::from(site.start) << 32 | u64::from(site.end)));
        Ok(())
    }

    /// Makes what was compiled executable.
    ///
    /// # Errors
    /// The code can't be installed, or the code generator panicked.
    pub(crate) fn finish(self, templates: CompiledTemplates) -> Result<CompiledRules, String> {
        generated(|| self.installed(templates))?
    }

    fn installed(mut self, templates: CompiledTemplates) -> Result<CompiledRules, String> {
        let graph = &self.merged.graph;
        let callees = self.merged.calls.numbered(graph).ok_or(UNKNOWN_FUNCTION)?;
        let code = self.compiler.install(self.functions).map_err(|error| error.to_string())?;
        let codegen_time = self.compiler.codegen_time();
        self.pool.forget_addresses();
        let code = SetCode::new(code, self.pool, callees, templates);
        Ok(CompiledRules { code, blocks: self.blocks, refused: self.refused, codegen_time })
    }

    /// Compiles one function for these rules or, if it exceeds the code generator's limits, one for each half.
    fn compile(&mut self, rules: &[&MergedRule]) {
        let Err(why) = self.function(rules) else { return };
        match rules {
            &[only] => {
                self.blocks.push(LinearBlock { count: 1, function: None });
                self.refused.push((only.number, why));
            }
            _ => {
                let (left, right) = rules.split_at(rules.len() / 2);
                self.compile(left);
                self.compile(right);
            }
        }
    }

    fn function(&mut self, rules: &[&MergedRule]) -> Result<(), String> {
        let graph = &self.merged.graph;
        let used = self.uses(rules);
        for constant in used.iter().filter_map(|&id| graph.op(id).constant()) {
            self.pool.prepare(constant, graph, self.patterns).map_err(|_| "a constant cannot be prepared")?;
        }
        let tables = self.tables(&used);
        let headers: Vec<HeaderBatch<'_>> =
            tables.iter().map(|(lookups, names)| HeaderBatch { lookups, names: *names }).collect();
        let roots: Vec<NodeId> = rules.iter().map(|rule| rule.placed).collect();
        let kept = self.pool.prepared();
        let batches = LiteralBatches::new(graph, &roots, &used, &mut self.pool);
        let (fields, constants, literals) = (self.fields, self.pool.addresses(), batches.as_unit());
        let functions = self.addresses.as_slice();
        let unit = Unit { graph, fields, constants, helpers: &*HELPERS, functions, steps: None, literals: &literals };
        let wanted: Vec<GroupedRule<'_>> =
            rules.iter().map(|rule| GroupedRule { root: rule.placed, origins: self.merged.origins(rule) }).collect();
        let function = match self.compiler.group(&unit, &wanted, &headers, self.steps) {
            Ok(function) => function,
            Err(error) => {
                // Functions for fewer rules have batches of their own.
                self.pool.drop_after(kept);
                return Err(error.to_string());
            }
        };
        self.blocks.push(LinearBlock { count: rules.len(), function: Some(self.functions.len()) });
        self.functions.push(function);
        Ok(())
    }

    /// The nodes that rules use, in no order.
    fn uses(&mut self, rules: &[&MergedRule]) -> Vec<NodeId> {
        let graph = &self.merged.graph;
        let mut pending: Vec<NodeId> = rules.iter().map(|rule| rule.placed).collect();
        let mut used = Vec::new();
        self.visited.resize(graph.len(), 0);
        self.traversal = self.traversal.saturating_add(1);
        while let Some(id) = pending.pop() {
            match self.visited.get_mut(id.0 as usize) {
                Some(visited) if *visited != self.traversal => *visited = self.traversal,
                _ => continue,
            }
            used.push(id);
            pending.extend_from_slice(graph.args(id));
        }
        used
    }

    /// The headers that are looked up in one pass, per header map: the lookups, and the address of the table of names.
    fn tables(&mut self, used: &[NodeId]) -> Vec<(Vec<NodeId>, usize)> {
        let graph = &self.merged.graph;
        let mut by_field: BTreeMap<u32, BTreeMap<&str, NodeId>> = BTreeMap::new();
        for &id in used {
            if let Op::Header { field, name } = graph.op(id)
                && let Some(Constant::HeaderName(name)) = graph.constant_at(name)
            {
                by_field.entry(field).or_default().insert(name, id);
            }
        }
        let mut tables = Vec::new();
        for lookups in by_field.into_values().filter(|lookups| lookups.len() >= MIN_BATCHED_HEADERS) {
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
