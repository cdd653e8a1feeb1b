//! Projection of JSON documents: if a rule reads only parts with constant keys and positions, one
//! pass over the text finds these parts, and nothing else is built.
//!
//! The operations that read the document do not change; their operand lacks only what none of them
//! reads. So errors, their places and what absorbs them do not change either. If the rule reads a
//! single part, selected key by key, each selection becomes a step on the path to it, which fails
//! at the selection's place.
//!
//! Invariant: a projection keeps everything that any of its readers reads, and fails where reading the whole document
//! fails. Only `reach` uses the result of `find`, and a `reach` that returns a value does not hide a failure of the
//! document. Test: `tests/tests/it/json.rs::parts_are_the_same_in_both_tiers`.

use super::Evaluator;
use super::rebuild;
use crate::constant::Constant;
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::op::Op;
use crate::projection::{Projection, Step};
use crate::ty::Ty;
use std::collections::{BTreeMap, HashMap};

/// The new graph, or `None` if it is the old one.
pub(super) fn graph(old: &Graph, evaluator: &dyn Evaluator) -> Option<Graph> {
    if !old.ids().any(|id| is_document(old.op(id))) {
        return None;
    }
    // A node that an earlier pass has left unused reads nothing.
    let compacted = rebuild::compact(old);
    projected(compacted.as_ref().unwrap_or(old), evaluator).or(compacted)
}

/// The new graph of one whose nodes are all used, or `None` if it is the same.
fn projected(old: &Graph, evaluator: &dyn Evaluator) -> Option<Graph> {
    let documents: Vec<NodeId> = old.ids().filter(|&id| is_document(old.op(id)) && old.class(id) == id).collect();
    let reads = Reads::new(old, evaluator);
    // Indexed by the class of the text: hash-consing leaves one class of documents for each text.
    let mut parts: HashMap<NodeId, (Projection, bool)> = HashMap::new();
    // Indexed by the class of the operand of a selection that becomes a step: the number of the
    // step, and whether it is the last.
    let mut steps: HashMap<NodeId, (u32, bool)> = HashMap::new();
    for document in documents {
        let need = reads.need(document, Projection::MAX_DEPTH);
        let projection = need.projection();
        if let (false, true, Some(&text)) = (projection.whole, projection.is_valid(), old.args(document).first()) {
            let path = reads.path(document, &projection);
            parts.insert(old.class(text), (projection, !path.is_empty()));
            let last = path.len().saturating_sub(1);
            for (step, from) in path.into_iter().enumerate() {
                steps.insert(from, (u32::try_from(step).unwrap_or(u32::MAX), step == last));
            }
        }
    }
    rebuild::rebuild(old, |builder, draft| {
        let Some(first) = draft.was.first().map(|&first| old.class(first)) else { return builder.keep(draft) };
        if let Some(&(step, last)) = steps.get(&first) {
            let ty = if last { Ty::Value } else { Ty::Found };
            return builder.add(Op::Reach(step), ty, &[draft.arg(0)], draft.origin);
        }
        match parts.get(&first).filter(|_| is_document(draft.op)) {
            Some((projection, is_path)) => {
                let constant = builder.intern(Constant::Projection(projection.clone()));
                let (op, ty) =
                    if *is_path { (Op::Find(constant), Ty::Found) } else { (Op::Project(constant), Ty::Value) };
                builder.add(op, ty, draft.args, draft.origin)
            }
            None => builder.keep(draft),
        }
    })
}

fn is_document(op: Op) -> bool {
    op == Op::Call(Helper::json_parse)
}

/// Which parts of a value are needed.
#[derive(Default)]
struct Need {
    whole: bool,
    parts: BTreeMap<Step, Need>,
}

impl Need {
    fn add(&mut self, other: Need) {
        self.whole |= other.whole;
        for (step, part) in other.parts {
            self.parts.entry(step).or_default().add(part);
        }
    }

    fn projection(&self) -> Projection {
        if self.whole {
            return Projection::all();
        }
        let parts = self.parts.iter().map(|(step, part)| (step.clone(), part.projection()));
        Projection { whole: false, parts: parts.collect() }
    }
}

/// The users of each class, and the classes of each variable. Nodes are classes here: what one of
/// its nodes reads, all must have.
struct Reads<'g> {
    graph: &'g Graph,
    evaluator: &'g dyn Evaluator,
    users: HashMap<NodeId, Vec<NodeId>>,
    locals: HashMap<u32, Vec<NodeId>>,
}

impl<'g> Reads<'g> {
    fn new(graph: &'g Graph, evaluator: &'g dyn Evaluator) -> Self {
        let mut reads = Self { graph, evaluator, users: HashMap::new(), locals: HashMap::new() };
        for id in graph.ids().filter(|&id| graph.class(id) == id) {
            for &arg in graph.args(id) {
                reads.users.entry(graph.class(arg)).or_default().push(id);
            }
            if let Op::Local(level) = graph.op(id) {
                reads.locals.entry(level).or_default().push(id);
            }
        }
        reads
    }

    /// Which parts of a node's value its users need. Looks at most `steps` into the value and
    /// through bindings, which bounds the recursion.
    fn need(&self, id: NodeId, steps: usize) -> Need {
        let mut need = Need { whole: steps == 0 || self.is_root(id), parts: BTreeMap::new() };
        for &user in self.users.get(&id).map_or(&[][..], |users| users) {
            if need.whole {
                return need;
            }
            need.add(self.need_of(user, id, steps.saturating_sub(1)));
        }
        need
    }

    fn is_root(&self, id: NodeId) -> bool {
        self.graph.roots().iter().any(|&root| self.graph.class(root) == id)
    }

    /// Whether a node is of this class.
    fn is(&self, node: NodeId, class: NodeId) -> bool {
        self.graph.class(node) == class
    }

    /// The operands of the selections that lead from a document to the only part that is read.
    /// Empty if there is another reader on the path.
    fn path(&self, document: NodeId, projection: &Projection) -> Vec<NodeId> {
        let Some((keys, _)) = projection.key_path() else { return Vec::new() };
        let (mut path, mut id) = (Vec::new(), document);
        for key in keys {
            let Some(&[user]) = self.users.get(&id).map(Vec::as_slice) else { return Vec::new() };
            let selects = self.graph.op(user) == Op::Call(Helper::select);
            if !selects || self.is_root(id) || self.step(user) != Some(Step::Key(key.clone())) {
                return Vec::new();
            }
            path.push(id);
            id = user;
        }
        path
    }

    fn need_of(&self, user: NodeId, id: NodeId, steps: usize) -> Need {
        let whole = Need { whole: true, ..Need::default() };
        let &[first, ref rest @ ..] = self.graph.args(user) else { return whole };
        match self.graph.op(user) {
            // Only the type matters, and the content of a value that is neither list nor map.
            Op::Unbox(_) | Op::HasTypes(_) => Need::default(),
            // Lists and maps are in no order, whatever they hold.
            Op::Call(
                Helper::value_less | Helper::value_less_equal | Helper::value_greater | Helper::value_greater_equal,
            ) => Need::default(),
            Op::Call(Helper::value_equal) if self.is_simple(first) || rest.iter().any(|&arg| self.is_simple(arg)) => {
                Need::default()
            }
            // Variables of one level are not told apart by binder: that can only need more than necessary.
            Op::Let(level) if self.is(first, id) && !rest.iter().any(|&arg| self.is(arg, id)) => {
                let mut need = Need::default();
                for &local in self.locals.get(&level).map_or(&[][..], |locals| locals) {
                    need.add(self.need(local, steps));
                }
                need
            }
            _ => match self.step(user) {
                Some(step) if self.is(first, id) && !rest.iter().any(|&arg| self.is(arg, id)) => {
                    let test = self.graph.op(user) == Op::Call(Helper::has);
                    let part = if test { Need::default() } else { self.need(user, steps) };
                    Need { whole: false, parts: BTreeMap::from([(step, part)]) }
                }
                _ => whole,
            },
        }
    }

    /// The step into its first operand that a node is, if it is no more than that.
    fn step(&self, id: NodeId) -> Option<Step> {
        let selects = match self.graph.op(id) {
            Op::Call(helper) => {
                matches!(
                    helper,
                    Helper::select
                        | Helper::has
                        | Helper::index_map
                        | Helper::index_list
                        | Helper::index_value
                        | Helper::index_key
                )
            }
            Op::Dispatch { function, .. } | Op::Invoke { function, .. } if self.graph.op(id).is_pure() => {
                self.graph.functions().get(function as usize).is_some_and(|name| self.evaluator.is_selection(name))
            }
            _ => false,
        };
        let &[_, key] = self.graph.args(id) else { return None };
        match self.constant(key)? {
            _ if !selects => None,
            Constant::Str(key) => Some(Step::Key(key.clone())),
            Constant::Int(index) => {
                u32::try_from(*index).ok().filter(|index| *index <= Projection::MAX_INDEX).map(Step::Index)
            }
            _ => None,
        }
    }

    /// Whether it is certainly neither list nor map.
    fn is_simple(&self, id: NodeId) -> bool {
        let constant = self.constant(id);
        let simple = constant.is_some_and(|constant| !matches!(constant, Constant::List(_) | Constant::Map(_)));
        simple || self.graph.op(id) == Op::Box
    }

    fn constant(&self, id: NodeId) -> Option<&'g Constant> {
        match (self.graph.op(id), self.graph.args(id)) {
            (Op::Const(constant), _) => self.graph.constant_at(constant),
            (Op::Box, &[inner]) if self.graph.ty(inner) != Ty::Value => self.constant(inner),
            _ => None,
        }
    }
}
