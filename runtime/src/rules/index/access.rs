//! The keys by which a rule can be found: tests of slots against constants of which one must hold where the rule is true.
//!
//! What is relied on is that `false && error` is false (CEL's language definition, "Logical Operators"): a rule with a
//! conjunct that is certainly false is false, whatever its other conjuncts do.

use super::estimate::are_rare;
use super::keys::{Access, AccessId, Key, KeyId, Keys};
use super::slot::{Kind, Slot, Slots, Source};
use celero_ir::layout::{Access as FieldAccess, Field};
use celero_ir::{Catch, Cmp, Constant, Graph, Helper, NodeId, Op, Ty};
use celero_matching::pattern::{Literals, RequiredLiterals, required_literals};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::Arc;

/// Most keys of one access that are not members of a set.
const MOST_BRANCHES: usize = 16;
/// Most keys of one access.
const MOST_KEYS: usize = 1024;
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
    /// Working memory: numbers of keys.
    numbers: Vec<KeyId>,
    /// By header node, the header: rules share the node, and asking for the name takes time.
    headers: HashMap<NodeId, Option<Source>, FixedState>,
}

impl<'g> Finder<'g> {
    /// For so many rules.
    pub(super) fn new(graph: &'g Graph, fields: &'g [Field], rules: usize) -> Self {
        let (slots, keys) = (Slots::default(), Keys::of_about(rules));
        Self {
            graph,
            fields,
            slots,
            keys,
            found: vec![None; graph.len()],
            numbers: Vec::new(),
            headers: HashMap::default(),
        }
    }

    /// What must have a value, or a conjunct is false.
    pub(super) fn guards(&mut self, conjuncts: &[NodeId]) -> Vec<Source> {
        let presences = conjuncts.iter().filter_map(|&id| self.presence(id));
        presences.filter(|(_, present)| *present).map(|(source, _)| source).collect()
    }

    /// The access to a node.
    pub(super) fn access(&mut self, id: NodeId) -> Option<AccessId> {
        self.below(id, 0)
    }

    /// The access to a node, unless that is a pattern.
    pub(super) fn access_but_of_pattern(&mut self, id: NodeId) -> Option<AccessId> {
        if matches!(self.graph.op(id), Op::MatchesConst(_)) { None } else { self.access(id) }
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
                let mut best: Option<Access> = None;
                for &arg in args {
                    if let Some(access) = self.below(arg, deeper).and_then(|access| self.keys.get(access))
                        && best.is_none_or(|best| access.keys.len() < best.keys.len())
                    {
                        best = Some(access);
                    }
                }
                self.part(best?)
            }
            Op::Or => {
                let (mut keys, mut proving, mut undecided, mut exact) = (Vec::new(), Vec::new(), Vec::new(), true);
                for (number, &arg) in args.iter().enumerate() {
                    let one = self.below(arg, deeper).filter(|_| number < MOST_BRANCHES)?;
                    let one = self.keys.get(one)?;
                    keys.extend_from_slice(self.keys.list(one.keys));
                    proving.extend_from_slice(self.keys.list(one.proving));
                    undecided.extend_from_slice(self.keys.list(one.undecided));
                    exact &= one.exact;
                }
                if keys.len() > MOST_KEYS {
                    return None;
                }
                self.keys.access(&keys, exact, &proving, &undecided)
            }
            // `c ? a : false` is false where `c` is, and fails where `c` does.
            Op::Cond => {
                let &[condition, _, otherwise] = args else { return None };
                let never = matches!(self.constant(otherwise), Some(Constant::Bool(false)));
                let one = self.below(condition, deeper).filter(|_| never)?;
                self.part(self.keys.get(one)?)
            }
            _ => self.atom(id),
        }
    }

    /// The access to something of which what an access finds is a part: nothing proves it.
    fn part(&mut self, Access { keys, proving, undecided, .. }: Access) -> Option<AccessId> {
        let keys = [self.keys.list(keys), self.keys.list(proving)].concat();
        let undecided = self.keys.list(undecided).to_vec();
        self.keys.access(&keys, false, &[], &undecided)
    }

    fn atom(&mut self, id: NodeId) -> Option<AccessId> {
        let graph = self.graph;
        if let Some((source, present)) = self.presence(id) {
            let slot = self.slots.number(Slot { source, kind: Kind::Presence });
            let key = self.keys.number(slot, if present { Key::Present } else { Key::Absent });
            return self.keys.access(&[key], true, &[], &[]);
        }
        let (op, args) = (graph.op(id), graph.args(id));
        if let Op::Not = op {
            let &[inner] = args else { return None };
            let subject = self.subject(inner).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(subject, [Key::Truth(false)], true);
        }
        if matches!(op, Op::Field(_) | Op::Unbox(Ty::Bool)) {
            let subject = self.subject(id).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(subject, [Key::Truth(true)], true);
        }
        let subject = self.subject(*args.first()?)?;
        let payload = op.constant().and_then(|id| graph.constant_at(id));
        let other = args.get(1).and_then(|&arg| self.constant(arg));
        let bytes = |text: &Arc<str>| Arc::<[u8]>::from(text.clone());
        let key = match (op, payload, other) {
            (Op::Cmp(cmp), _, Some(constant)) => compared(cmp, constant)?,
            // A value of another type than the constant is unequal, which no key of the slot's finds out: the slot is
            // unreadable then.
            (Op::Call(Helper::value_equal), _, Some(constant)) => compared(Cmp::Eq, constant)?,
            (Op::StartsWith, _, Some(Constant::Str(text))) => Key::Prefix(bytes(text)),
            (Op::EndsWith, _, Some(Constant::Str(text))) => Key::Suffix(bytes(text)),
            (Op::ContainsConst(_), Some(Constant::Searcher(text)), _) if !text.is_empty() => Key::Contains(bytes(text)),
            (Op::MatchesConst(_), Some(Constant::Regex(pattern)), _) => {
                let (keys, lower) = matched(pattern);
                // The keys are of the text in lower case: so must be what stands in its place.
                let default = subject.default.map(|text| if lower { text.to_ascii_lowercase().into() } else { text });
                let subject = Subject { lower: lower || subject.lower, default, ..subject };
                return self.keyed(subject, keys, false);
            }
            // As with `value_equal`.
            (Op::Call(Helper::in_container), _, Some(Constant::List(members))) if !members.is_empty() => {
                let keys: Option<Vec<Key>> = members.iter().map(|member| compared(Cmp::Eq, member)).collect();
                // A slot is either text or a number.
                let keys = keys.filter(|keys| keys.chunk_by(|a, b| a.map() == b.map()).count() == 1)?;
                return self.keyed(subject, keys, true);
            }
            (Op::InStrSet(_), Some(Constant::StrSet(members)), _) => {
                return self.keyed(subject, members.iter().map(|member| Key::Is(bytes(member))), true);
            }
            (Op::InIntSet(_), Some(Constant::IntSet(members)), _) => {
                let keys = members.iter().map(|&member| Key::Range(member.into(), member.into()));
                return self.keyed(subject, keys, true);
            }
            (Op::InCidr(_), Some(&Constant::Cidr(address, prefix)), _) => Key::Network(address, prefix),
            _ => return None,
        };
        self.keyed(subject, [key], true)
    }

    /// The access by keys of what a subject is.
    fn keyed(
        &mut self,
        subject: Subject,
        keys: impl IntoIterator<Item = Key, IntoIter: ExactSizeIterator>,
        exact: bool,
    ) -> Option<AccessId> {
        let mut tests = keys.into_iter().peekable();
        if tests.len() > MOST_KEYS {
            return None;
        }
        let kind = match subject.ty {
            Ty::Str | Ty::Raw if subject.lower => Kind::Lower,
            Ty::Str | Ty::Raw => Kind::Text,
            // Of the values of any type only text and numbers have keys.
            Ty::Value => match tests.peek() {
                Some(Key::Is(_)) if subject.lower => Kind::Lower,
                Some(Key::Is(_)) => Kind::Text,
                Some(Key::Range(..)) if !subject.lower => Kind::Number,
                _ => return None,
            },
            Ty::Int | Ty::Uint => Kind::Number,
            Ty::Bool => Kind::Truth,
            Ty::Ip => Kind::Address,
            _ => return None,
        };
        // The replacement character stands for bytes that differ.
        let decoded = matches!(subject.source, Source::Header(..));
        let slot = self.slots.number(Slot { source: subject.source, kind });
        let (mut keys, mut proving) = (std::mem::take(&mut self.numbers), Vec::new());
        keys.clear();
        let mut absent = false;
        for key in tests {
            if decoded && key.has_replacement() {
                return None;
            }
            absent |= subject.default.as_ref().is_some_and(|default| key.may_hold(default.as_bytes()));
            if let Key::Pattern(pattern) = &key {
                proving.push(self.keys.number(slot, Key::Matched(pattern.clone())));
            }
            keys.push(self.keys.number(slot, key));
        }
        // Without a value it is the default, of which the keys hold or not.
        if absent {
            keys.push(self.keys.number(slot, Key::Absent));
        }
        let undecided = (subject.optional && subject.default.is_none()).then(|| self.keys.number(slot, Key::Absent));
        keys.sort_unstable();
        keys.dedup();
        let access = self.keys.access(&keys, exact, &proving, undecided.as_slice());
        self.numbers = keys;
        access
    }

    /// What a test is of, if that is a slot.
    fn subject(&mut self, id: NodeId) -> Option<Subject> {
        let (graph, args) = (self.graph, self.graph.args(id));
        let of = |ty: Ty, inner: Subject| Some(Subject { ty, ..inner });
        match (graph.op(id), args) {
            (Op::Field(field), _) => {
                let layout = self.fields.get(field as usize)?;
                let optional = layout.optional || layout.access == FieldAccess::Get;
                Some(Subject { source: Source::Field(field), ty: graph.ty(id), lower: false, optional, default: None })
            }
            (Op::Header { field, name }, _) => {
                let source = self.headers.entry(id).or_insert_with(|| match graph.constant_at(name) {
                    Some(Constant::HeaderName(name)) => Source::header(field, name),
                    _ => None,
                });
                let source = source.clone()?;
                Some(Subject { source, ty: Ty::Maybe, lower: false, optional: true, default: None })
            }
            (Op::Require, &[inner]) => of(Ty::Raw, self.subject(inner).filter(|inner| inner.ty == Ty::Maybe)?),
            (Op::Decode, &[inner]) => of(Ty::Str, self.subject(inner)?),
            // What is no text fails here, and makes the slot unreadable.
            (Op::Unbox(ty), &[inner]) => of(ty, self.subject(inner).filter(|inner| inner.ty == Ty::Value)?),
            (Op::Box, &[inner]) => {
                let has_keys = |inner: &Subject| matches!(inner.ty, Ty::Str | Ty::Raw | Ty::Int | Ty::Uint);
                let inner = self.subject(inner).filter(has_keys)?;
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
    fn presence(&mut self, id: NodeId) -> Option<(Source, bool)> {
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
    /// Whether it is of text with a replacement character.
    fn has_replacement(&self) -> bool {
        self.text().windows(3).any(|part| part == "\u{fffd}".as_bytes())
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
        (Cmp::Eq, Constant::Str(text)) => return Some(Key::Is(text.clone().into())),
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
    match required_literals(pattern) {
        Some(RequiredLiterals::Whole(literals)) => (keys(&literals, Key::Is), literals.folded),
        Some(RequiredLiterals::Prefix(literals)) => (keys(&literals, Key::Prefix), literals.folded),
        Some(RequiredLiterals::Suffix(literals)) => (keys(&literals, Key::Suffix), literals.folded),
        // Short ones, and many, are in too many texts.
        Some(RequiredLiterals::Substring(literals)) if !are_rare(&literals.literals) => {
            (vec![Key::Pattern(pattern.into())], false)
        }
        Some(RequiredLiterals::Substring(literals)) if literals.folded => (keys(&literals, Key::ContainsFolded), false),
        Some(RequiredLiterals::Substring(literals)) => (keys(&literals, Key::Contains), false),
        None => (vec![Key::Pattern(pattern.into())], false),
    }
}
