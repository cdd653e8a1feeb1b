//! The keys by which a rule can be found: tests of slots against constants of which one must hold where the rule is true.
//!
//! What is relied on is that `false && error` is false (CEL's language definition, "Logical Operators"): a rule with a
//! conjunct that is certainly false is false, whatever its other conjuncts do.

use super::keys::{Access, AccessId, Key, KeyId, Keys};
use super::slot::{Kind, Slot, Slots, Source};
use crate::maps::patterns::{Literals, Required, required};
use celero_ir::layout::{Access as FieldAccess, Field};
use celero_ir::{Catch, Cmp, Constant, Graph, Helper, NodeId, Op, Ty};
use std::sync::Arc;

/// Most keys of one access that are not members of a set.
const MOST_BRANCHES: usize = 16;
/// Most keys of one access.
const MOST_KEYS: usize = 1024;
/// Literals of which one is taken to be in more than that share of all texts are not looked for.
const OFTEN: f64 = 0.3;
/// How deep `&&` and `||` are followed.
const DEEPEST: u32 = 8;

/// Finds the accesses of a graph's nodes; a node that rules share is looked at once.
pub(super) struct Finder<'g> {
    graph: &'g Graph,
    fields: &'g [Field],
    pub(super) slots: Slots,
    pub(super) keys: Keys,
    /// By node, if it was looked at.
    found: Vec<Option<Option<AccessId>>>,
}

impl<'g> Finder<'g> {
    pub(super) fn new(graph: &'g Graph, fields: &'g [Field]) -> Self {
        let (slots, keys) = (Slots::default(), Keys::default());
        Self { graph, fields, slots, keys, found: vec![None; graph.len()] }
    }

    /// The conjuncts of a rule, if it is a conjunction.
    pub(super) fn conjuncts(&self, root: NodeId) -> &'g [NodeId] {
        match self.graph.op(root) {
            Op::And => self.graph.args(root),
            _ => &[],
        }
    }

    /// What must have a value, or a conjunct is false.
    pub(super) fn guards(&self, conjuncts: &[NodeId]) -> Vec<Source> {
        let presences = conjuncts.iter().filter_map(|&id| self.presence(id));
        presences.filter(|(_, present)| *present).map(|(source, _)| source).collect()
    }

    /// The access to a node.
    pub(super) fn access(&mut self, id: NodeId) -> Option<AccessId> {
        self.below(id, 0)
    }

    fn below(&mut self, id: NodeId, depth: u32) -> Option<AccessId> {
        if let Some(Some(found)) = self.found.get(id.0 as usize) {
            return *found;
        }
        if depth >= DEEPEST {
            return None;
        }
        let found = self.look(id, depth);
        if let Some(place) = self.found.get_mut(id.0 as usize) {
            *place = Some(found);
        }
        found
    }

    fn look(&mut self, id: NodeId, depth: u32) -> Option<AccessId> {
        let (graph, args) = (self.graph, self.graph.args(id));
        let deeper = depth.saturating_add(1);
        match graph.op(id) {
            // Few keys are better than many; what is left is in the rest of the rule.
            Op::And => {
                let each: Vec<AccessId> = args.iter().filter_map(|&arg| self.below(arg, deeper)).collect();
                let best = each.into_iter().filter_map(|access| self.keys.get(access)).min_by_key(|a| a.keys.len())?;
                let best = best.clone();
                self.part(best)
            }
            Op::Or => {
                let (mut keys, mut proving, mut undecided, mut exact) = (Vec::new(), Vec::new(), Vec::new(), true);
                for (number, &arg) in args.iter().enumerate() {
                    let one = self.below(arg, deeper).filter(|_| number < MOST_BRANCHES)?;
                    let one = self.keys.get(one)?;
                    keys.extend_from_slice(&one.keys);
                    proving.extend_from_slice(&one.proving);
                    undecided.extend_from_slice(&one.undecided);
                    exact &= one.exact;
                }
                if keys.len() > MOST_KEYS {
                    return None;
                }
                self.keys.access(keys, exact, proving, undecided)
            }
            // `c ? a : false` is false where `c` is, and fails where `c` does.
            Op::Cond => {
                let &[condition, _, otherwise] = args else { return None };
                let never = matches!(self.constant(otherwise), Some(Constant::Bool(false)));
                let one = self.below(condition, deeper).filter(|_| never)?;
                let one = self.keys.get(one)?.clone();
                self.part(one)
            }
            _ => self.atom(id),
        }
    }

    /// The access to something of which what an access finds is a part: nothing proves it.
    fn part(&mut self, Access { mut keys, proving, undecided, .. }: Access) -> Option<AccessId> {
        keys.extend(proving);
        self.keys.access(keys, false, Vec::new(), undecided)
    }

    fn atom(&mut self, id: NodeId) -> Option<AccessId> {
        let graph = self.graph;
        if let Some((source, present)) = self.presence(id) {
            let slot = self.slots.number(Slot { source, kind: Kind::Presence });
            let key = self.keys.number(slot, if present { Key::Present } else { Key::Absent });
            return self.keys.access(vec![key], true, Vec::new(), Vec::new());
        }
        let (op, args) = (graph.op(id), graph.args(id));
        if let Op::Not = op {
            let &[inner] = args else { return None };
            let subject = self.subject(inner).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(&subject, vec![Key::Truth(false)], true);
        }
        if matches!(op, Op::Field(_) | Op::Unbox(Ty::Bool)) {
            let subject = self.subject(id).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(&subject, vec![Key::Truth(true)], true);
        }
        let subject = self.subject(*args.first()?)?;
        let payload = op.constant().and_then(|id| graph.constant_at(id));
        let other = args.get(1).and_then(|&arg| self.constant(arg));
        let (keys, exact) = match (op, payload, other) {
            (Op::Cmp(cmp), _, Some(constant)) => (vec![compared(cmp, constant)?], true),
            // A value of another type than the constant is unequal, which no key of the slot's finds out: the slot is
            // unreadable then.
            (Op::Call(Helper::value_equal), _, Some(constant @ Constant::Str(_))) => {
                (vec![compared(Cmp::Eq, constant)?], true)
            }
            (Op::StartsWith, _, Some(Constant::Str(text))) => (vec![Key::Prefix(text.as_bytes().into())], true),
            (Op::EndsWith, _, Some(Constant::Str(text))) => (vec![Key::Suffix(text.as_bytes().into())], true),
            (Op::ContainsConst(_), Some(Constant::Searcher(text)), _) if !text.is_empty() => {
                (vec![Key::Contains(text.as_bytes().into())], true)
            }
            (Op::MatchesConst(_), Some(Constant::Regex(pattern)), _) => {
                let (keys, lower) = matched(pattern);
                let subject = Subject { lower: lower || subject.lower, ..subject };
                return self.keyed(&subject, keys, false);
            }
            // As with `value_equal`.
            (Op::Call(Helper::in_container), _, Some(Constant::List(members))) if !members.is_empty() => {
                let keys = members.iter().map(|member| match member {
                    Constant::Str(_) => compared(Cmp::Eq, member),
                    _ => None,
                });
                (keys.collect::<Option<Vec<Key>>>()?, true)
            }
            (Op::InStrSet(_), Some(Constant::StrSet(members)), _) => {
                (members.iter().map(|member| Key::Is(member.as_bytes().into())).collect(), true)
            }
            (Op::InIntSet(_), Some(Constant::IntSet(members)), _) => {
                (members.iter().map(|&member| Key::Range(member.into(), member.into())).collect(), true)
            }
            (Op::InCidr(_), Some(&Constant::Cidr(address, prefix)), _) => (vec![Key::Network(address, prefix)], true),
            _ => return None,
        };
        self.keyed(&subject, keys, exact)
    }

    /// The access by keys of what a subject is.
    fn keyed(&mut self, subject: &Subject, mut keys: Vec<Key>, exact: bool) -> Option<AccessId> {
        if keys.len() > MOST_KEYS || !keys.iter().all(|key| key.fits(subject)) {
            return None;
        }
        let kind = match subject.ty {
            Ty::Str | Ty::Raw | Ty::Value if subject.lower => Kind::Lower,
            Ty::Str | Ty::Raw => Kind::Text,
            // Of the values of any type only text has keys.
            Ty::Value if matches!(keys.first(), Some(Key::Is(_))) => Kind::Text,
            Ty::Int | Ty::Uint => Kind::Number,
            Ty::Bool => Kind::Truth,
            Ty::Ip => Kind::Address,
            _ => return None,
        };
        let mut undecided = subject.optional;
        if let Some(default) = &subject.default {
            // Without a value it is the default, of which the keys hold or not.
            undecided = false;
            if keys.iter().any(|key| key.may_hold(default.as_bytes())) {
                keys.push(Key::Absent);
            }
        }
        let slot = self.slots.number(Slot { source: subject.source.clone(), kind });
        let undecided = if undecided { vec![self.keys.number(slot, Key::Absent)] } else { Vec::new() };
        let proving = keys.iter().filter_map(|key| match key {
            Key::Pattern(pattern) => Some(self.keys.number(slot, Key::Matched(pattern.clone()))),
            _ => None,
        });
        let proving = proving.collect();
        let mut keys: Vec<KeyId> = keys.into_iter().map(|key| self.keys.number(slot, key)).collect();
        keys.sort_unstable();
        keys.dedup();
        self.keys.access(keys, exact, proving, undecided)
    }

    /// What a test is of, if that is a slot.
    fn subject(&self, id: NodeId) -> Option<Subject> {
        let (graph, args) = (self.graph, self.graph.args(id));
        let of = |ty: Ty, inner: Subject| Some(Subject { ty, ..inner });
        match (graph.op(id), args) {
            (Op::Field(field), _) => {
                let layout = self.fields.get(field as usize)?;
                let optional = layout.optional || layout.access == FieldAccess::Get;
                Some(Subject { source: Source::Field(field), ty: graph.ty(id), lower: false, optional, default: None })
            }
            (Op::Header { field, name }, _) => {
                let Some(Constant::HeaderName(name)) = graph.constant_at(name) else { return None };
                let source = Source::header(field, name)?;
                Some(Subject { source, ty: Ty::Maybe, lower: false, optional: true, default: None })
            }
            (Op::Require, &[inner]) => of(Ty::Raw, self.subject(inner).filter(|inner| inner.ty == Ty::Maybe)?),
            (Op::Decode, &[inner]) => of(Ty::Str, self.subject(inner)?),
            // What is no text fails here, and makes the slot unreadable.
            (Op::Unbox(ty), &[inner]) => of(ty, self.subject(inner).filter(|inner| inner.ty == Ty::Value)?),
            (Op::Box, &[inner]) => {
                let inner = self.subject(inner).filter(|inner| matches!(inner.ty, Ty::Str | Ty::Raw))?;
                of(Ty::Value, inner)
            }
            (Op::Coalesce(Catch::Absence), &[inner, default]) => {
                let inner = self.subject(inner).filter(|inner| inner.default.is_none() && !inner.lower)?;
                let Some(Constant::Str(default)) = self.constant(default) else { return None };
                (inner.ty == Ty::Str).then(|| Subject { default: Some(default.clone()), ..inner })
            }
            // `map[?"name"].orValue("..")`
            (Op::Cond, &[_, some, none]) => {
                let &[optional, default] = self.dispatched(none, "OptionalOrValue")? else { return None };
                let &[map, name] = self.dispatched(optional, "OptionalIndexMap")? else { return None };
                let (Op::Field(field), Some(Constant::Str(name))) = (graph.op(map), self.constant(name)) else {
                    return None;
                };
                self.fields.get(field as usize)?.headers.as_ref()?;
                let Some(Constant::Str(default)) = self.constant(default) else { return None };
                let same = self.dispatched(some, "OptionalValue")? == [optional];
                let (source, default) = (Source::header(field, name)?, Some(default.clone()));
                same.then_some(Subject { source, ty: Ty::Value, lower: false, optional: true, default })
            }
            (Op::Dispatch { .. }, &[inner]) => {
                self.dispatched(id, "LowerAscii")?;
                let inner = self.subject(inner).filter(|inner| inner.default.is_none())?;
                Some(Subject { ty: Ty::Value, lower: true, ..inner })
            }
            _ => None,
        }
    }

    /// The operands of the call of a library function.
    fn dispatched(&self, id: NodeId, wanted: &str) -> Option<&'g [NodeId]> {
        let Op::Dispatch { function, pure: true } = self.graph.op(id) else { return None };
        let name = self.graph.functions().get(function as usize)?;
        (**name == *wanted).then(|| self.graph.args(id))
    }

    /// The source that a test asks for a value of, and whether it wants one.
    fn presence(&self, id: NodeId) -> Option<(Source, bool)> {
        let (graph, args) = (self.graph, self.graph.args(id));
        match (graph.op(id), args) {
            (Op::IsPresent, &[header]) => Some((self.subject(header)?.source, true)),
            (Op::HasField(field), _) => Some((Source::Field(field), true)),
            (Op::Not, &[inner]) => match self.presence(inner)? {
                (source, true) => Some((source, false)),
                _ => None,
            },
            _ => None,
        }
    }

    fn constant(&self, id: NodeId) -> Option<&'g Constant> {
        match self.graph.op(id) {
            Op::Const(constant) => self.graph.constant_at(constant),
            _ => None,
        }
    }
}

/// What a test is of.
#[derive(Clone)]
struct Subject {
    source: Source,
    ty: Ty,
    lower: bool,
    /// Whether there may be no value, and then the test fails.
    optional: bool,
    /// What is tested where there is no value.
    default: Option<Arc<str>>,
}

impl Key {
    /// Whether the bytes of a slot decide it as the subject would.
    fn fits(&self, subject: &Subject) -> bool {
        let text = match self {
            Self::Is(text) | Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text) => text,
            // Made from patterns, of text that stands as it is in whatever they match.
            Self::ContainsFolded(text) => text,
            _ => return true,
        };
        // The replacement character stands for bytes that differ.
        let exact = matches!(subject.source, Source::Field(_));
        exact || memchr::memmem::find(text, "\u{fffd}".as_bytes()).is_none()
    }

    /// False if it certainly does not hold of a text.
    fn may_hold(&self, text: &[u8]) -> bool {
        match self {
            Self::Is(key) => **key == *text,
            Self::Prefix(key) => text.starts_with(key),
            Self::Suffix(key) => text.ends_with(key),
            Self::Contains(key) => memchr::memmem::find(text, key).is_some(),
            _ => true,
        }
    }
}

/// The key of a comparison with a constant.
fn compared(cmp: Cmp, constant: &Constant) -> Option<Key> {
    let number: i128 = match (cmp, constant) {
        (Cmp::Eq, Constant::Str(text)) => return Some(Key::Is(text.as_bytes().into())),
        (_, Constant::Int(number)) => (*number).into(),
        (_, Constant::Uint(number)) => (*number).into(),
        _ => return None,
    };
    Some(match cmp {
        Cmp::Eq => Key::Range(number, number),
        Cmp::Lt => Key::Range(i128::MIN, number.saturating_sub(1)),
        Cmp::Le => Key::Range(i128::MIN, number),
        Cmp::Gt => Key::Range(number.saturating_add(1), i128::MAX),
        Cmp::Ge => Key::Range(number, i128::MAX),
        Cmp::Ne => return None,
    })
}

/// What a text has in which a pattern matches: keys, and whether they are of the text in lower case.
fn matched(pattern: &str) -> (Vec<Key>, bool) {
    let keys = |literals: &Literals, key: fn(Arc<[u8]>) -> Key| {
        literals.literals.iter().map(|literal| key((&**literal).into())).collect()
    };
    // Short ones, and many, are in too many texts.
    let is_rare = |literals: &Literals| {
        let share = |literal: &[u8]| 0.5_f64.powi(i32::try_from(literal.len()).unwrap_or(64)).max(0.002);
        literals.literals.iter().map(|literal| share(literal)).sum::<f64>() < OFTEN
    };
    match required(pattern) {
        Some(Required::Whole(literals)) => (keys(&literals, Key::Is), literals.folded),
        Some(Required::Prefix(literals)) => (keys(&literals, Key::Prefix), literals.folded),
        Some(Required::Suffix(literals)) => (keys(&literals, Key::Suffix), literals.folded),
        Some(Required::Part(literals)) if !is_rare(&literals) => (vec![Key::Pattern(pattern.into())], false),
        Some(Required::Part(literals)) if literals.folded => (keys(&literals, Key::ContainsFolded), false),
        Some(Required::Part(literals)) => (keys(&literals, Key::Contains), false),
        None => (vec![Key::Pattern(pattern.into())], false),
    }
}
