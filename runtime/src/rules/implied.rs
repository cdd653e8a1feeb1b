//! Implications between conjuncts about one value: which follow from a conjunct, and which it excludes.

use celero_ir::{Cmp, Constant, Graph, Helper, NodeId, Op};
use foldhash::fast::{FixedState, RandomState};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Most comparisons of the members of two sets.
const MAX_PAIRS: usize = 4096;
/// Most members of a set, or operands of a disjunction, by which it is found.
const MAX_MEMBERS: usize = 256;
/// Most sets and disjunctions that are found by one of these.
const MAX_FOUND: usize = 8;

/// What a node says of another one.
pub(super) struct Test<'g> {
    subject: NodeId,
    says: Says<'g>,
}

/// Texts of constants.
enum Texts<'g> {
    One(&'g [u8]),
    Of(&'g [Arc<[u8]>]),
    Several(Vec<&'g [u8]>),
}

impl<'g> Texts<'g> {
    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Of(texts) => texts.len(),
            Self::Several(texts) => texts.len(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'g [u8]> {
        let (one, of, several): (_, &[Arc<[u8]>], &[_]) = match self {
            Self::One(text) => (Some(*text), &[], &[]),
            Self::Of(texts) => (None, texts, &[]),
            Self::Several(texts) => (None, &[], texts),
        };
        one.into_iter().chain(of.iter().map(|text| &**text)).chain(several.iter().copied())
    }

    fn contains(&self, text: &[u8]) -> bool {
        self.iter().any(|other| other == text)
    }
}

enum Says<'g> {
    /// It is one of these texts.
    Is(Texts<'g>),
    /// It starts with this text.
    Prefix(&'g [u8]),
    /// It is a number from the first to the last.
    Range(i128, i128),
}

impl<'g> Test<'g> {
    pub(super) fn of(graph: &'g Graph, id: NodeId) -> Option<Self> {
        if graph.op(id) != Op::Or {
            return Self::single(graph, id);
        }
        // One of several texts, as in a set.
        let mut subject = None;
        let mut all = Vec::new();
        for &arg in graph.args(id) {
            let Test { subject: of, says: Says::Is(texts) } = Self::single(graph, arg)? else { return None };
            if *subject.get_or_insert(of) != of {
                return None;
            }
            all.extend(texts.iter());
        }
        Some(Self { subject: subject?, says: Says::Is(Texts::Several(all)) })
    }

    fn single(graph: &'g Graph, id: NodeId) -> Option<Self> {
        let (op, args) = (graph.op(id), graph.args(id));
        let subject = *args.first()?;
        let payload = op.constant().and_then(|constant| graph.constant_at(constant));
        let other = args.get(1).and_then(|&arg| match graph.op(arg) {
            Op::Const(constant) => graph.constant_at(constant),
            _ => None,
        });
        let says = match (op, payload, other) {
            (Op::Cmp(Cmp::Eq) | Op::Call(Helper::value_equal), _, Some(Constant::Str(text))) => {
                Says::Is(Texts::One(text.as_bytes()))
            }
            (Op::Cmp(Cmp::Eq), _, Some(Constant::Bytes(bytes))) => Says::Is(Texts::One(bytes)),
            (Op::Cmp(cmp), _, Some(&Constant::Int(number))) => {
                let number: i128 = number.into();
                match cmp {
                    Cmp::Eq => Says::Range(number, number),
                    Cmp::Lt => Says::Range(i128::MIN, number.saturating_sub(1)),
                    Cmp::Le => Says::Range(i128::MIN, number),
                    Cmp::Gt => Says::Range(number.saturating_add(1), i128::MAX),
                    Cmp::Ge => Says::Range(number, i128::MAX),
                    Cmp::Ne => return None,
                }
            }
            (Op::InStrSet(_), Some(Constant::StrSet(members)), _) => Says::Is(Texts::Of(members)),
            (Op::Call(Helper::in_container), _, Some(Constant::List(members))) => {
                let text =
                    |member: &'g Constant| if let Constant::Str(text) = member { Some(text.as_bytes()) } else { None };
                Says::Is(Texts::Several(members.iter().map(text).collect::<Option<_>>()?))
            }
            (Op::StartsWith, _, Some(Constant::Str(prefix))) => Says::Prefix(prefix.as_bytes()),
            (Op::StartsWith, _, Some(Constant::Bytes(prefix))) => Says::Prefix(prefix),
            _ => return None,
        };
        Some(Self { subject, says })
    }

    /// Whether no value satisfies both.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let none_starts = |texts: &Texts<'_>, prefix: &[u8]| texts.iter().all(|text| !text.starts_with(prefix));
        self.subject == other.subject
            && match (&self.says, &other.says) {
                (Says::Is(a), Says::Is(b)) => {
                    a.len().saturating_mul(b.len()) <= MAX_PAIRS && a.iter().all(|text| !b.contains(text))
                }
                (Says::Is(texts), Says::Prefix(prefix)) | (Says::Prefix(prefix), Says::Is(texts)) => {
                    none_starts(texts, prefix)
                }
                (Says::Prefix(a), Says::Prefix(b)) => !a.starts_with(b) && !b.starts_with(a),
                (Says::Range(from, to), Says::Range(other_from, other_to)) => to < other_from || other_to < from,
                _ => false,
            }
    }
}

/// Finds the conjuncts that follow from others. Incomplete but sound: it may miss an implication,
/// and reports no wrong one.
#[derive(Default)]
pub(super) struct Implied<'g> {
    known: HashSet<NodeId, FixedState>,
    /// Sets of texts, by subject and member. Authors of rules choose the texts, so their seed is random.
    sets: HashMap<NodeId, HashMap<&'g [u8], Vec<NodeId>, RandomState>, FixedState>,
    /// By subject.
    prefixes: HashMap<NodeId, Prefixes<'g>, FixedState>,
    /// Disjunctions, by operand.
    disjunctions: HashMap<NodeId, Vec<NodeId>, FixedState>,
}

#[derive(Default)]
struct Prefixes<'g> {
    lengths: BTreeSet<usize>,
    conjuncts: HashMap<&'g [u8], NodeId, RandomState>,
}

impl<'g> Implied<'g> {
    /// Adds a conjunct.
    pub(super) fn add(&mut self, graph: &'g Graph, conjunct: NodeId) {
        if !self.known.insert(conjunct) {
            return;
        }
        if graph.op(conjunct) == Op::Or {
            for &arg in graph.args(conjunct).iter().take(MAX_MEMBERS) {
                self.disjunctions.entry(arg).or_default().push(conjunct);
            }
        }
        match Test::of(graph, conjunct) {
            Some(Test { subject, says: Says::Is(texts) }) if texts.len() > 1 => {
                let sets = self.sets.entry(subject).or_default();
                for text in texts.iter().take(MAX_MEMBERS) {
                    sets.entry(text).or_default().push(conjunct);
                }
            }
            Some(Test { subject, says: Says::Prefix(prefix) }) => {
                let prefixes = self.prefixes.entry(subject).or_default();
                prefixes.lengths.insert(prefix.len());
                prefixes.conjuncts.insert(prefix, conjunct);
            }
            _ => {}
        }
    }

    /// Adds to these conjuncts those that are true wherever one of them is.
    pub(super) fn extend(&self, graph: &Graph, conjuncts: &mut Vec<NodeId>) {
        for at in 0..conjuncts.len() {
            let Some(&conjunct) = conjuncts.get(at) else { return };
            if let Some(disjunctions) = self.disjunctions.get(&conjunct) {
                conjuncts.extend(disjunctions.iter().take(MAX_FOUND));
            }
            let Some(Test { subject, says }) = Test::of(graph, conjunct) else { continue };
            let (texts, prefix) = match says {
                Says::Is(texts) => (texts, None),
                Says::Prefix(prefix) => (Texts::Of(&[]), Some(prefix)),
                Says::Range(..) => continue,
            };
            let first = texts.iter().next();
            let shortest = prefix.or(first).unwrap_or_default();
            if let Some(sets) = self.sets.get(&subject).and_then(|sets| sets.get(first?)) {
                let wider = |set: &&NodeId| match Test::of(graph, **set) {
                    Some(Test { says: Says::Is(others), .. }) => {
                        texts.len().saturating_mul(others.len()) <= MAX_PAIRS
                            && texts.iter().all(|text| others.contains(text))
                    }
                    _ => false,
                };
                conjuncts.extend(sets.iter().take(MAX_FOUND).filter(wider));
            }
            if let Some(Prefixes { lengths, conjuncts: ids }) = self.prefixes.get(&subject) {
                let each = lengths.iter().filter_map(|&length| shortest.get(..length));
                let wider = each.filter(|prefix| texts.iter().all(|text| text.starts_with(prefix)));
                conjuncts.extend(wider.filter_map(|prefix| ids.get(prefix)));
            }
        }
        conjuncts.sort_unstable();
        conjuncts.dedup();
    }
}
