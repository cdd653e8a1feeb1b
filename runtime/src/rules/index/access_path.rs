//! Access paths: the keys by which a conjunct can be found, of which one must hold if the conjunct is true.
//!
//! This relies on `false && error` being false (CEL language definition, "Logical Operators"): a
//! rule with a conjunct that is false is false, whatever its other conjuncts do.

use super::attribute::{Attribute, AttributeKind, AttributeSource};
use super::estimate::are_rare;
use super::finder::Finder;
use super::keys::{AccessPath, AccessPathId, IndexKey, ListName};
use super::subject::Subject;
use celero_ir::{Catch, Cmp, Constant, Helper, NodeId, Op, Ty, Wildcard};
use celero_lists::{Kind, ListId};
use celero_matching::pattern::{Literals, Pattern, RequiredLiterals, required_literals};
use std::sync::Arc;

/// Most operands of an `||` that are followed.
const MAX_BRANCHES: usize = 16;
/// Most keys of one access path.
const MAX_KEYS: usize = 1024;
/// Depth to which `&&` and `||` are followed.
const DEEPEST: u32 = 8;

impl Finder<'_> {
    /// The attributes whose presence a conjunct tests: without a value the rule is false.
    pub(super) fn guards(&mut self, conjuncts: &[NodeId]) -> Vec<AttributeSource> {
        let presences = conjuncts.iter().filter_map(|&id| self.presence(id));
        presences.filter(|(_, present)| *present).map(|(source, _)| source).collect()
    }

    /// The access path of a node.
    pub(super) fn access(&mut self, id: NodeId) -> Option<AccessPathId> {
        self.below(id, 0)
    }

    /// The access path of a node; `None` for a pattern.
    pub(super) fn access_but_of_pattern(&mut self, id: NodeId) -> Option<AccessPathId> {
        if matches!(self.graph.op(id), Op::MatchesConst(_)) { None } else { self.access(id) }
    }

    fn below(&mut self, id: NodeId, depth: u32) -> Option<AccessPathId> {
        if let Some(Some(found)) = self.paths.found.get(id.0 as usize) {
            return *found;
        }
        if depth >= DEEPEST {
            return None;
        }
        let found = self.look(id, depth);
        if let Some(place) = self.paths.found.get_mut(id.0 as usize) {
            *place = Some(found);
        }
        found
    }

    fn look(&mut self, id: NodeId, depth: u32) -> Option<AccessPathId> {
        let (graph, args) = (self.graph, self.graph.args(id));
        let deeper = depth.saturating_add(1);
        match graph.op(id) {
            // The operand with the fewest keys. The others remain in the residual predicate.
            Op::And => {
                let mut best: Option<AccessPath> = None;
                for &arg in args {
                    if let Some(access) = self.below(arg, deeper).and_then(|access| self.paths.keys.get(access))
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
                    let one = self.below(arg, deeper).filter(|_| number < MAX_BRANCHES)?;
                    let one = self.paths.keys.get(one)?;
                    keys.extend_from_slice(self.paths.keys.list(one.keys));
                    proving.extend_from_slice(self.paths.keys.list(one.proving));
                    undecided.extend_from_slice(self.paths.keys.list(one.undecided));
                    exact &= one.exact;
                }
                if keys.len() > MAX_KEYS {
                    return None;
                }
                self.paths.keys.access(&keys, exact, &proving, &undecided)
            }
            // What fails is false, so nothing is undecided.
            Op::Coalesce(Catch::Any) => {
                let &[condition, otherwise] = args else { return None };
                let never = matches!(self.constant(otherwise), Some(Constant::Bool(false)));
                let one = self.below(condition, deeper).filter(|_| never)?;
                let AccessPath { keys, proving, exact, .. } = self.paths.keys.get(one)?;
                let (keys, proving) = (self.paths.keys.list(keys).to_vec(), self.paths.keys.list(proving).to_vec());
                self.paths.keys.access(&keys, exact, &proving, &[])
            }
            // `c ? a : false` is false where `c` is, and fails where `c` does.
            Op::Cond => {
                let &[condition, _, otherwise] = args else { return None };
                let never = matches!(self.constant(otherwise), Some(Constant::Bool(false)));
                let one = self.below(condition, deeper).filter(|_| never)?;
                self.part(self.paths.keys.get(one)?)
            }
            _ => self.atom(id),
        }
    }

    /// The access path of an expression that has the one found as a part, and is not proven by it.
    fn part(&mut self, AccessPath { keys, proving, undecided, .. }: AccessPath) -> Option<AccessPathId> {
        let keys = [self.paths.keys.list(keys), self.paths.keys.list(proving)].concat();
        let undecided = self.paths.keys.list(undecided).to_vec();
        self.paths.keys.access(&keys, false, &[], &undecided)
    }

    fn atom(&mut self, id: NodeId) -> Option<AccessPathId> {
        let graph = self.graph;
        if let Some((source, present)) = self.presence(id) {
            let attribute = self.paths.attributes.number(Attribute { source, kind: AttributeKind::Presence });
            let key = self.paths.keys.number(attribute, if present { IndexKey::Present } else { IndexKey::Absent });
            return self.paths.keys.access(&[key], true, &[], &[]);
        }
        let (op, args) = (graph.op(id), graph.args(id));
        if let (Op::Call(helper), &[list, value]) = (op, args)
            && helper.asks_lists()
        {
            return self.listed(helper, list, value);
        }
        if let Op::Not = op {
            let &[inner] = args else { return None };
            let subject = self.subject(inner).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(subject, [IndexKey::Truth(false)], true);
        }
        if matches!(op, Op::Field(_) | Op::Unbox(Ty::Bool)) {
            let subject = self.subject(id).filter(|subject| subject.ty == Ty::Bool)?;
            return self.keyed(subject, [IndexKey::Truth(true)], true);
        }
        let subject = self.subject(*args.first()?)?;
        let payload = op.constant().and_then(|id| graph.constant_at(id));
        let other = args.get(1).and_then(|&arg| self.constant(arg));
        let bytes = |text: &Arc<str>| Arc::<[u8]>::from(text.clone());
        let key = match (op, payload, other) {
            (Op::Cmp(Cmp::Eq), _, Some(Constant::Bytes(bytes))) => IndexKey::Is(bytes.clone()),
            (Op::Cmp(cmp), _, Some(constant)) => compared(cmp, constant)?,
            // A value of another type than the constant is unequal, which no key of the attribute's
            // finds out: the attribute is unreadable then.
            (Op::Call(Helper::value_equal), _, Some(constant)) => compared(Cmp::Eq, constant)?,
            (Op::StartsWith, _, Some(Constant::Str(text))) => IndexKey::Prefix(bytes(text)),
            (Op::StartsWith, _, Some(Constant::Bytes(prefix))) => IndexKey::Prefix(prefix.clone()),
            (Op::EndsWith, _, Some(Constant::Bytes(suffix))) => IndexKey::Suffix(suffix.clone()),
            (Op::EndsWith, _, Some(Constant::Str(text))) => IndexKey::Suffix(bytes(text)),
            (Op::ContainsConst(_), Some(Constant::Searcher(needle)), _) if !needle.is_empty() => {
                IndexKey::Contains(needle.clone())
            }
            (Op::MatchesConst(_), Some(Constant::Regex(pattern)), _) => {
                let (keys, lower) = matched(self.paths.dialect.pattern(pattern));
                // The keys are lower-case text, so the replacement text must be lower case, too.
                let default = subject.default.map(|text| if lower { text.to_ascii_lowercase().into() } else { text });
                let subject = Subject { lower: lower || subject.lower, default, ..subject };
                return self.keyed(subject, keys, false);
            }
            (Op::WildcardConst(_), Some(Constant::Wildcard(wildcard)), _) => {
                let (key, exact) = of_wildcard(wildcard)?;
                // As for a pattern. What occurs somewhere is looked up ignoring case, without a text in lower case.
                let lower = !wildcard.strict && !matches!(key, IndexKey::ContainsFolded(_));
                let default = subject.default.map(|text| if lower { text.to_ascii_lowercase().into() } else { text });
                let subject = Subject { lower: lower || subject.lower, default, ..subject };
                return self.keyed(subject, [key], exact);
            }
            // As with `value_equal`.
            (Op::Call(Helper::in_container), _, Some(Constant::List(members))) if !members.is_empty() => {
                let keys: Option<Vec<IndexKey>> = members.iter().map(|member| compared(Cmp::Eq, member)).collect();
                // A attribute is either text or a number.
                let keys = keys.filter(|keys| keys.chunk_by(|a, b| a.map() == b.map()).count() == 1)?;
                return self.keyed(subject, keys, true);
            }
            (Op::InStrSet(_), Some(Constant::StrSet(members)), _) => {
                return self.keyed(subject, members.iter().map(|member| IndexKey::Is(member.clone())), true);
            }
            (Op::InIntSet(_), Some(Constant::IntSet(members)), _) => {
                let keys = members.iter().map(|&member| IndexKey::Range(member.into(), member.into()));
                return self.keyed(subject, keys, true);
            }
            (Op::InCidr(_), Some(&Constant::Cidr(address, prefix)), _) => IndexKey::Network(address, prefix),
            _ => return None,
        };
        self.keyed(subject, [key], true)
    }

    /// The access path by the membership of a value in a named list. Whether a default is in the
    /// list is known only at evaluation, so that there is none for a subject with a default; nor for one in lower case.
    fn listed(&mut self, helper: Helper, list: NodeId, value: NodeId) -> Option<AccessPathId> {
        let Some(Constant::Int(number)) = self.constant(list) else { return None };
        let number = u32::try_from(*number).ok()?;
        let lists = self.lists?;
        let (name, kind) = (lists.name(number)?, lists.kind(number)?);
        let subject = self.subject(value).filter(|subject| subject.default.is_none() && !subject.lower)?;
        // Searching for patterns costs steps, which only an evaluation has.
        let is_of_text = matches!(kind, Kind::Texts | Kind::TextsIgnoringCase | Kind::Hosts);
        let exact = match (helper, subject.ty) {
            (Helper::list_has_address, Ty::Ip) if kind == Kind::Addresses => true,
            (Helper::list_has_integer, Ty::Int) if kind == Kind::Integers => true,
            (Helper::list_has_text, Ty::Str) if is_of_text => true,
            // The rule asks for bytes, the index for what they decode to: of a field's text the
            // same. Other bytes that are not UTF-8 are in no list of texts, but may be a host below
            // a name, and what they decode to may be too long for a host.
            (Helper::list_has_bytes, Ty::Bytes) if is_of_text && self.is_text_of_field(value, &subject) => true,
            (Helper::list_has_bytes, Ty::Bytes) if is_of_text && kind != Kind::Hosts => false,
            _ => return None,
        };
        let list = ListName { id: ListId::from_number(number), name: name.clone() };
        self.keyed(subject, [IndexKey::Listed(list)], exact)
    }

    /// Whether bytes are those of a field that is text.
    fn is_text_of_field(&self, bytes: NodeId, subject: &Subject) -> bool {
        let is_text = |inner: &NodeId| self.graph.ty(*inner) == Ty::Str;
        let of_text = self.graph.op(bytes) == Op::AsBytes && self.graph.args(bytes).iter().all(is_text);
        of_text && matches!(subject.source, AttributeSource::Field(_))
    }

    /// The access path by tests of a subject.
    fn keyed(
        &mut self,
        subject: Subject,
        keys: impl IntoIterator<Item = IndexKey, IntoIter: ExactSizeIterator>,
        exact: bool,
    ) -> Option<AccessPathId> {
        let mut tests = keys.into_iter().peekable();
        if tests.len() > MAX_KEYS {
            return None;
        }
        let kind = match subject.ty {
            Ty::Str | Ty::Raw | Ty::Bytes if subject.lower => AttributeKind::Lower,
            Ty::Str | Ty::Raw | Ty::Bytes => AttributeKind::Text,
            // Of the values of any type only text and numbers have keys.
            Ty::Value => match tests.peek() {
                Some(IndexKey::Is(_)) if subject.lower => AttributeKind::Lower,
                Some(IndexKey::Is(_)) => AttributeKind::Text,
                Some(IndexKey::Range(..)) if !subject.lower => AttributeKind::Number,
                _ => return None,
            },
            Ty::Int | Ty::Uint => AttributeKind::Number,
            Ty::Bool => AttributeKind::Truth,
            Ty::Ip => AttributeKind::Address,
            _ => return None,
        };
        // The replacement character stands for bytes that differ. Bytes that may not be UTF-8 are
        // looked up in what they decode to.
        let bytes = subject.ty == Ty::Bytes;
        let decoded = bytes || matches!(subject.source, AttributeSource::Header(..));
        let attribute = self.paths.attributes.number(Attribute { source: subject.source, kind });
        let (mut keys, mut proving) = (std::mem::take(&mut self.paths.numbers), Vec::new());
        keys.clear();
        let mut absent = false;
        for key in tests {
            if decoded && key.has_replacement() || bytes && std::str::from_utf8(key.text()).is_err() {
                return None;
            }
            absent |= subject.default.as_ref().is_some_and(|default| key.may_hold(default.as_bytes()));
            if let IndexKey::Pattern(pattern) = &key {
                proving.push(self.paths.keys.number(attribute, IndexKey::Matched(pattern.clone())));
            }
            keys.push(self.paths.keys.number(attribute, key));
        }
        // Without a value it is the default, of which the keys hold or not.
        if absent {
            keys.push(self.paths.keys.number(attribute, IndexKey::Absent));
        }
        let undecided = (subject.optional && subject.default.is_none())
            .then(|| self.paths.keys.number(attribute, IndexKey::Absent));
        keys.sort_unstable();
        keys.dedup();
        let access = self.paths.keys.access(&keys, exact, &proving, undecided.as_slice());
        self.paths.numbers = keys;
        access
    }
}

impl IndexKey {
    /// Whether its text has a replacement character.
    fn has_replacement(&self) -> bool {
        let text = self.text();
        !text.is_ascii() && text.windows(3).any(|part| part == "\u{fffd}".as_bytes())
    }

    /// Whether it may hold for a text; false if it certainly does not.
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
fn compared(cmp: Cmp, constant: &Constant) -> Option<IndexKey> {
    let number: i128 = match (cmp, constant) {
        (Cmp::Eq, Constant::Str(text)) => return Some(IndexKey::Is(text.clone().into())),
        (_, Constant::Int(number)) => (*number).into(),
        (_, Constant::Uint(number)) => (*number).into(),
        _ => return None,
    };
    Some(match cmp {
        Cmp::Eq => IndexKey::Range(number, number),
        Cmp::Lt => IndexKey::Range(i128::MIN, number.saturating_sub(1)),
        Cmp::Le => IndexKey::Range(i128::MIN, number),
        Cmp::Gt => IndexKey::Range(number.saturating_add(1), i128::MAX),
        Cmp::Ge => IndexKey::Range(number, i128::MAX),
        Cmp::Ne => return None,
    })
}

/// A key that holds for each text that a wildcard pattern matches, of the text in lower case unless
/// the pattern is strict; and whether it holds for no other.
fn of_wildcard(wildcard: &Wildcard) -> Option<(IndexKey, bool)> {
    if let Some((whole, None)) = wildcard.ends() {
        return Some((IndexKey::Is(whole.into()), true));
    }
    let (first, last) = (wildcard.pieces.first()?, wildcard.pieces.last()?);
    let alone = |other: &[u8]| wildcard.pieces.len() == 2 && other.is_empty();
    if !last.is_empty() && last.len() >= first.len() {
        return Some((IndexKey::Suffix(last.clone()), alone(first)));
    }
    if !first.is_empty() {
        return Some((IndexKey::Prefix(first.clone()), alone(last)));
    }
    let longest = wildcard.pieces.iter().max_by_key(|piece| piece.len()).filter(|piece| !piece.is_empty())?;
    let key = if wildcard.strict { IndexKey::Contains } else { IndexKey::ContainsFolded };
    Some((key(longest.clone()), wildcard.pieces.len() == 3))
}

/// Keys of which one holds for each text in which a pattern matches, and whether they are tests of
/// the text in lower case.
fn matched(pattern: Pattern<'_>) -> (Vec<IndexKey>, bool) {
    let keys = |literals: &Literals, key: fn(Arc<[u8]>) -> IndexKey| {
        literals.literals.iter().map(|literal| key((&**literal).into())).collect()
    };
    match required_literals(pattern) {
        Some(RequiredLiterals::Whole(literals)) => (keys(&literals, IndexKey::Is), literals.folded),
        Some(RequiredLiterals::Prefix(literals)) => (keys(&literals, IndexKey::Prefix), literals.folded),
        Some(RequiredLiterals::Suffix(literals)) => (keys(&literals, IndexKey::Suffix), literals.folded),
        // Short literals, and many, occur in too many texts.
        Some(RequiredLiterals::Substring(literals)) if !are_rare(&literals.literals) => {
            (vec![IndexKey::Pattern(pattern.text.into())], false)
        }
        Some(RequiredLiterals::Substring(literals)) if literals.folded => {
            (keys(&literals, IndexKey::ContainsFolded), false)
        }
        Some(RequiredLiterals::Substring(literals)) => (keys(&literals, IndexKey::Contains), false),
        None => (vec![IndexKey::Pattern(pattern.text.into())], false),
    }
}
