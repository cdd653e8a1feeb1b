//! A JSON document of which a rule reads only parts, by keys and positions that are known, as those parts: one pass over its
//! text finds them all, and nothing else is built.
//!
//! The operations that read stay as they are, on a value that lacks what none of them looks at. So their errors, their
//! places and what absorbs them stay too. Where all there is to read is one part, selected key by key, each selection becomes
//! a step of the way there, which fails in its place.

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
    let documents: Vec<NodeId> = old.ids().filter(|&id| is_document(old.op(id))).collect();
    if documents.is_empty() {
        return None;
    }
    let reads = Reads::new(old, evaluator);
    // By the text that is parsed: a document is the only node of its kind on it.
    let mut parts: HashMap<NodeId, (Projection, bool)> = HashMap::new();
    // By the operand of a selection that becomes a step: its number, and whether it is the last.
    let mut steps: HashMap<NodeId, (u32, bool)> = HashMap::new();
    for document in documents {
        let need = reads.need(document, Projection::MAX_DEPTH);
        let projection = need.projection();
        if let (false, true, Some(&text)) = (projection.whole, projection.is_valid(), old.args(document).first()) {
            let way = reads.way(document, &projection);
            parts.insert(text, (projection, !way.is_empty()));
            let last = way.len().saturating_sub(1);
            for (step, from) in way.into_iter().enumerate() {
                steps.insert(from, (u32::try_from(step).unwrap_or(u32::MAX), step == last));
            }
        }
    }
    rebuild::rebuild(old, |builder, draft| {
        let Some(first) = draft.was.first() else { return builder.keep(draft) };
        if let Some(&(step, last)) = steps.get(first) {
            let ty = if last { Ty::Value } else { Ty::Found };
            return builder.add(Op::Reach(step), ty, &[draft.arg(0)], draft.origin);
        }
        match parts.get(first).filter(|_| is_document(draft.op)) {
            Some((projection, is_way)) => {
                let constant = builder.intern(Constant::Projection(projection.clone()));
                let (op, ty) =
                    if *is_way { (Op::Find(constant), Ty::Found) } else { (Op::Project(constant), Ty::Value) };
                builder.add(op, ty, draft.args, draft.origin)
            }
            None => builder.keep(draft),
        }
    })
}

fn is_document(op: Op) -> bool {
    op == Op::Call(Helper::json_parse)
}

/// What is needed of a value.
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

/// Who uses what in a graph.
struct Reads<'g> {
    graph: &'g Graph,
    evaluator: &'g dyn Evaluator,
    users: HashMap<NodeId, Vec<NodeId>>,
    locals: HashMap<u32, Vec<NodeId>>,
}

impl<'g> Reads<'g> {
    fn new(graph: &'g Graph, evaluator: &'g dyn Evaluator) -> Self {
        let mut reads = Self { graph, evaluator, users: HashMap::new(), locals: HashMap::new() };
        for id in graph.ids() {
            for &arg in graph.args(id) {
                reads.users.entry(arg).or_default().push(id);
            }
            if let Op::Local(level) = graph.op(id) {
                reads.locals.entry(level).or_default().push(id);
            }
        }
        reads
    }

    /// What the users of a node need of its value, looking so many steps into it. Recursive by as much, and by the `Let`s
    /// that it is bound by: those are steps too.
    fn need(&self, id: NodeId, steps: usize) -> Need {
        let mut need = Need { whole: steps == 0 || self.graph.roots().contains(&id), parts: BTreeMap::new() };
        for &user in self.users.get(&id).map_or(&[][..], |users| users) {
            if need.whole {
                return need;
            }
            need.add(self.need_of(user, id, steps.saturating_sub(1)));
        }
        need
    }

    /// The document and the selections from it that are the steps to the only part read, without the last. None if there
    /// is another reader on the way.
    fn way(&self, document: NodeId, projection: &Projection) -> Vec<NodeId> {
        let Some((keys, _)) = projection.key_path() else { return Vec::new() };
        let (mut way, mut id) = (Vec::new(), document);
        for key in keys {
            let Some(&[user]) = self.users.get(&id).map(Vec::as_slice) else { return Vec::new() };
            let selects = self.graph.op(user) == Op::Call(Helper::select);
            if !selects || self.graph.roots().contains(&id) || self.step(user) != Some(Step::Key(key.clone())) {
                return Vec::new();
            }
            way.push(id);
            id = user;
        }
        way
    }

    fn need_of(&self, user: NodeId, id: NodeId, steps: usize) -> Need {
        let whole = Need { whole: true, ..Need::default() };
        let &[first, ref rest @ ..] = self.graph.args(user) else { return whole };
        match self.graph.op(user) {
            // Only what it is matters, and what it holds if it is no list or map.
            Op::Unbox(_) => Need::default(),
            Op::Call(Helper::value_equal) if self.is_simple(first) || rest.iter().any(|&arg| self.is_simple(arg)) => {
                Need::default()
            }
            // The variables of a level are taken as one, whoever binds them: that is too much at most.
            Op::Let(level) if first == id && !rest.contains(&id) => {
                let mut need = Need::default();
                for &local in self.locals.get(&level).map_or(&[][..], |locals| locals) {
                    need.add(self.need(local, steps));
                }
                need
            }
            _ => match self.step(user) {
                Some(step) if first == id && !rest.contains(&id) => {
                    let test = self.graph.op(user) == Op::Call(Helper::has);
                    let part = if test { Need::default() } else { self.need(user, steps) };
                    Need { whole: false, parts: BTreeMap::from([(step, part)]) }
                }
                _ => whole,
            },
        }
    }

    /// The step that a node takes into its first operand, if it does no more than that.
    fn step(&self, id: NodeId) -> Option<Step> {
        let selects = match self.graph.op(id) {
            Op::Call(helper) => {
                matches!(helper, Helper::select | Helper::has | Helper::index_map | Helper::index_list)
            }
            Op::Dispatch { function, pure: true } => {
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

    /// Whether it is surely neither list nor map.
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
