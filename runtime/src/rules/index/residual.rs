//! Residual predicates: what remains to be evaluated of a rule that the index has found.
//!
//! Rules whose residual predicates differ in constants only share a *template*; each has a
//! *parameter row* of its constants. Native code reports a failure by the number of a site of the
//! template; the row has the place of each site in the rule's source.
//!
//! Invariant: a conjunct is left out of the residual predicate only if the key that found the rule proves it. Test:
//! `runtime/tests/it/index/kinds.rs::each_kind_of_key_finds_its_rule_alone`.

use crate::lower::merge::{MergedGraph, MergedRule};
use crate::native::template::{ParameterRow, ParameterRows, Template};
use celero_ir::layout::Network;
use celero_ir::{ConstId, Constant, Graph, Helper, NodeId, Op, Origin, Parameter, ParameterKind, Ty};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most words of constants in a row.
const MAX_WORDS: u16 = 1024;

/// A node of a template: its operation, with the constant if that stays and without it if that is a
/// parameter, its type, and how many operands it has.
type Step = (Op, Ty, u32);

/// What distinguishes templates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Signature {
    steps: Vec<Step>,
    operands: Vec<u32>,
    parameters: Vec<Parameter>,
    sites: Vec<u32>,
}

impl Signature {
    fn clear(&mut self) {
        self.steps.clear();
        self.operands.clear();
        self.parameters.clear();
        self.sites.clear();
    }
}

/// What remains to be evaluated of a rule that the index has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Residual {
    /// Nothing: the rule is true.
    None,
    /// The conjuncts that the keys do not prove, by native code: the number of the parameter row.
    Native(u32),
    /// The whole rule, by the interpreter.
    Interpreted,
}

/// The templates and parameter rows of a set.
#[derive(Debug, Default)]
pub(in crate::rules) struct Templates {
    numbers: HashMap<Signature, u32, RandomState>,
    /// Gets the templates, in their order, if they are compiled.
    compiler: Option<Sender<Template>>,
    pub(in crate::rules) rows: ParameterRows,
    /// Working memory: the current signature.
    signature: Signature,
    /// Working memory: the constants and the sites of the current row.
    constants: Vec<(ParameterKind, ConstId)>,
    sites: Vec<Origin>,
    /// Working memory: the nodes of the current expression, in order.
    nodes: Vec<NodeId>,
    /// Working memory, parallel to `nodes`: whether the node keeps its constant.
    fixed: Vec<bool>,
    pending: Vec<NodeId>,
    /// Indexed by node: the last traversal that visited it.
    seen: Vec<u32>,
    round: u32,
}

impl Templates {
    /// Without templates. Each is sent to the receiver as soon as it is found, so that it can be compiled meanwhile.
    pub(in crate::rules) fn for_compiler() -> (Self, Receiver<Template>) {
        let (sender, receiver) = channel();
        (Self { compiler: Some(sender), ..Self::default() }, receiver)
    }

    /// Number of templates.
    pub(in crate::rules) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Ends the search for templates: the receiver gets no more.
    pub(in crate::rules) fn finish(&mut self) {
        self.compiler = None;
    }

    /// Adds a predicate, the conjunction of these nodes. Returns the number of its row; `None` if
    /// it has too many constants.
    pub(in crate::rules) fn add(
        &mut self,
        merged: &MergedGraph,
        rule: &MergedRule,
        conjuncts: &[NodeId],
    ) -> Option<u32> {
        let template = self.template(merged, rule, conjuncts)?;
        self.rows.push(ParameterRow { template, constants: &self.constants, sites: &self.sites })
    }

    /// The template of a predicate, which is added if it is new. Collects the constants and the sites of its row.
    fn template(&mut self, merged: &MergedGraph, rule: &MergedRule, conjuncts: &[NodeId]) -> Option<u32> {
        let graph = &merged.graph;
        self.collect(graph, conjuncts);
        self.fix(graph);
        let mut signature = std::mem::take(&mut self.signature);
        signature.clear();
        self.constants.clear();
        self.sites.clear();
        let mut words: u16 = 0;
        for place in 0..self.nodes.len() {
            let id = *self.nodes.get(place)?;
            let (mut op, ty) = (graph.op(id), graph.ty(id));
            let stays = matches!(op, Op::Const(_)) && self.fixed.get(place).copied().unwrap_or(true);
            if let Some(constant) = op.constant().filter(|_| !stays)
                && let Some((kind, plain)) =
                    graph.constant_at(constant).and_then(|constant| parameter(op, ty, constant))
            {
                self.constants.push((kind, constant));
                signature.parameters.push(Parameter { kind, plain, at: words });
                words = words.checked_add(kind.words()).filter(|words| *words <= MAX_WORDS)?;
                op = op.with_constant(ConstId(u32::MAX));
            }
            self.step(&mut signature, (op, ty), graph.args(id), merged.origin(rule, id))?;
        }
        if conjuncts.len() > 1 {
            self.step(&mut signature, (Op::And, Ty::Bool), conjuncts, merged.origin(rule, rule.root))?;
        }
        let number = match self.numbers.get(&signature) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.numbers.len()).ok()?;
                if let Some(compiler) = &self.compiler
                    && compiler.send(Template { graph: build(graph, &signature)?, words }).is_err()
                {
                    // The compiler has failed and receives no more.
                    self.compiler = None;
                }
                self.numbers.insert(signature.clone(), number);
                number
            }
        };
        self.signature = signature;
        Some(number)
    }

    /// Adds a node to a signature.
    fn step(&mut self, signature: &mut Signature, (op, ty): (Op, Ty), args: &[NodeId], origin: Origin) -> Option<()> {
        for arg in args {
            signature.operands.push(u32::try_from(self.nodes.binary_search(arg).ok()?).ok()?);
        }
        signature.steps.push((op, ty, u32::try_from(args.len()).ok()?));
        let sites = &mut self.sites;
        let site = sites.iter().position(|site| *site == origin).unwrap_or_else(|| {
            sites.push(origin);
            sites.len().saturating_sub(1)
        });
        signature.sites.push(u32::try_from(site).ok()?);
        Some(())
    }

    /// Collects the nodes below these roots.
    fn collect(&mut self, graph: &Graph, roots: &[NodeId]) {
        self.nodes.clear();
        self.pending.clear();
        self.pending.extend_from_slice(roots);
        self.seen.resize(graph.len(), 0);
        self.round = self.round.saturating_add(1);
        while let Some(id) = self.pending.pop() {
            match self.seen.get_mut(id.0 as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            self.nodes.push(id);
            self.pending.extend_from_slice(graph.args(id));
        }
        self.nodes.sort_unstable();
    }

    /// Finds the constants that stay in the template: operands of operations that need a known
    /// constant, or are faster with one.
    fn fix(&mut self, graph: &Graph) {
        self.fixed.clear();
        self.fixed.resize(self.nodes.len(), false);
        for &id in &self.nodes {
            let (op, args) = (graph.op(id), graph.args(id));
            let free = match op {
                Op::Cmp(_) | Op::StartsWith | Op::EndsWith | Op::Call(Helper::value_equal) => true,
                // The number of the list.
                Op::Call(helper) => helper.asks_lists(),
                _ => false,
            };
            for arg in args.iter().filter(|_| !free) {
                if let Ok(place) = self.nodes.binary_search(arg)
                    && let Some(fixed) = self.fixed.get_mut(place)
                {
                    *fixed = true;
                }
            }
        }
    }
}

/// The kind of parameter that can replace a constant.
fn parameter(op: Op, ty: Ty, constant: &Constant) -> Option<(ParameterKind, bool)> {
    let kind = match (op, constant) {
        (Op::Const(_), Constant::Str(_)) if ty == Ty::Str => ParameterKind::Str,
        (Op::Const(_), Constant::Bytes(_)) if ty == Ty::Bytes => ParameterKind::Bytes,
        (Op::Const(_), Constant::Str(_) | Constant::Bytes(_) | Constant::Int(_)) if ty == Ty::Value => {
            ParameterKind::Value
        }
        (Op::Const(_), Constant::Int(_)) if ty == Ty::Int => ParameterKind::Int,
        (Op::Const(_), Constant::Uint(_)) if ty == Ty::Uint => ParameterKind::Uint,
        (Op::Const(_), Constant::Double(_)) if ty == Ty::Double => ParameterKind::Double,
        (_, Constant::Searcher(_)) => ParameterKind::Searcher,
        (_, Constant::Regex(_)) => ParameterKind::Regex,
        (_, Constant::ByteRegex(_)) => ParameterKind::ByteRegex,
        (_, Constant::Wildcard(_)) => ParameterKind::Wildcard,
        (_, Constant::StrSet(_)) => ParameterKind::StrSet,
        (_, Constant::IntSet(_)) => ParameterKind::IntSet,
        (_, &Constant::Cidr(address, prefix)) if !matches!(op, Op::Const(_)) => {
            if Network::new(address, prefix).around_ipv4 {
                return None;
            }
            ParameterKind::Cidr
        }
        _ => return None,
    };
    Some((kind, constant.is_raw_comparable()))
}

/// Builds the graph of a template.
fn build(merged: &Graph, signature: &Signature) -> Option<Graph> {
    let mut graph = Graph::new();
    let mut operands = signature.operands.iter();
    let mut parameters = signature.parameters.iter();
    let mut places: Vec<NodeId> = Vec::with_capacity(signature.steps.len());
    for (&(op, ty, arity), &site) in signature.steps.iter().zip(&signature.sites) {
        let mut op = op;
        if let Some(id) = op.constant() {
            let constant = match merged.constant_at(id) {
                Some(constant) => constant.clone(),
                None => Constant::Parameter(*parameters.next()?),
            };
            op = op.with_constant(graph.constant(constant));
        }
        if let Some(function) = op.function() {
            op = op.with_function(graph.function(merged.functions().get(function as usize)?));
        }
        let taken = operands.by_ref().take(arity as usize);
        let args: Option<Vec<NodeId>> = taken.map(|&operand| places.get(operand as usize).copied()).collect();
        places.push(graph.add(op, ty, &args?, Origin { start: site, end: 0 }));
    }
    graph.add_root(*places.last()?);
    Some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::Calls;

    #[test]
    fn a_compiler_that_failed_gets_no_more_templates() {
        let (mut rule, at) = (Graph::new(), Origin::default());
        let field = rule.add(Op::Field(0), Ty::Bool, &[], at);
        let not = rule.add(Op::Not, Ty::Bool, &[field], at);
        rule.add_root(not);
        let mut merged = MergedGraph::default();
        merged.add(0, &rule, &mut Calls::default(), at).unwrap();
        let rule = merged.rules.first().unwrap();
        let (mut templates, received) = Templates::for_compiler();
        assert_eq!(templates.add(&merged, rule, &[field]), Some(0));
        assert!(received.try_recv().is_ok());
        drop(received);
        assert_eq!(templates.add(&merged, rule, &[not]), Some(1), "the row does not depend on the compiler");
        assert!(templates.compiler.is_none());
        assert_eq!((templates.len(), templates.rows.len()), (2, 2));
    }
}
