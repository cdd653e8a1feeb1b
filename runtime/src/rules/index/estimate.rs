//! Estimates for planning: how often a key holds, and how much time a lookup saves. They are
//! guesses from the rules only. They decide how rules are found, never what a set answers.

use super::attribute::{AttributeId, AttributeSource, Attributes};
use super::keys::{AccessPath, AccessPathId, IndexKey, KeyGroupId, KeyId, Keys, LookupKind};
use crate::native::MIN_BATCHED_HEADERS;

/// Approximate fixed cost of a search, in nanoseconds. Without an index that saves more, rules are
/// evaluated by a linear scan.
const FINDING: f64 = 100.0;
/// Number of candidates behind one key above which a second key is looked up.
pub(super) const CROWD: usize = 12;
/// Keys that hold with a higher estimated probability are not used.
pub(super) const COMMON: f64 = 0.9;
/// Estimated probability that a test fails because a value is absent.
pub(super) const FAILING: f64 = 0.02;

/// By how much each further text of an access path raises its probability, relative to that of the first.
const ALIKE: f64 = 0.1;
/// Estimated probability, per byte, that a text starts or ends with a given one.
const AT_AN_END: f64 = 0.6;
/// Estimated probability, per byte, that a text contains a literal; its lower bound; and the factor
/// for the cost of searching everywhere in the text.
const ANYWHERE: f64 = 0.5;
const ANYWHERE_FOLDED: f64 = 0.55;
const RAREST: f64 = 0.002;
const SCANNED: f64 = 2.0;
/// Literals of which one is contained in a text with a higher probability are not searched for.
const OFTEN: f64 = 0.3;
/// Lowest estimated probability of a literal.
pub(super) const LEAST_OF_PARTS: f64 = RAREST * SCANNED;
/// Estimated probability that an address is in a network of a single address, and the lower bound for all networks.
const IN_HOST: f64 = 0.01;
const IN_NETWORK: f64 = 0.001;
/// Estimated probabilities of a comparison by order, a `bool`, the presence of a header, its
/// absence, and a match of a pattern.
const BY_SIZE: f64 = 0.5;
const TRUE: f64 = 0.5;
const PRESENT: f64 = 0.3;
const ABSENT: f64 = 0.7;
const MATCHING: f64 = 0.1;
/// Estimated probability that a value is in a named list. High, because each list is a lookup of
/// its own: conditions that are looked up together are preferred, unless they hold even more often.
const LISTED: f64 = 0.25;

/// Approximate additional time of a test that fails, as where a header is absent, in nanoseconds.
const FAILING_TIME: f64 = 4.0;
/// Approximate time of a test that its keys do not decide, usually a pattern, in nanoseconds.
const SEARCH_TIME: f64 = 30.0;
/// Approximate time that a further key saves for a rule, in nanoseconds.
const NARROWED_TIME: f64 = 15.0;

/// Approximate time of a test of this kind in native code, in nanoseconds.
const fn test_time(kind: LookupKind) -> f64 {
    match kind {
        LookupKind::Truth | LookupKind::Presence => 1.0,
        // Rules that are evaluated one by one share the lookups of lists as well.
        LookupKind::Is | LookupKind::Range | LookupKind::Network | LookupKind::Listed => 3.0,
        LookupKind::Prefix | LookupKind::Suffix => 4.0,
        LookupKind::Contains => 10.0,
        LookupKind::ContainsFolded => 25.0,
        LookupKind::Pattern => SEARCH_TIME,
    }
}

/// Approximate time of a lookup of this kind, whatever the number of keys, in nanoseconds. Includes
/// reading the attribute. Does not include asking named lists, each of which is asked with and
/// without an index.
const fn lookup_time(kind: LookupKind) -> f64 {
    match kind {
        LookupKind::Truth | LookupKind::Presence => 5.0,
        LookupKind::Is | LookupKind::Range | LookupKind::Listed => 15.0,
        LookupKind::Prefix | LookupKind::Suffix => 25.0,
        LookupKind::Network | LookupKind::Contains | LookupKind::ContainsFolded => 60.0,
        LookupKind::Pattern => 200.0,
    }
}

/// Estimated probability that a text contains a literal, given the probability per byte.
fn share_with(literal: &[u8], each: f64) -> f64 {
    each.powi(length(literal)).max(RAREST)
}

fn length(text: &[u8]) -> i32 {
    i32::try_from(text.len().min(64)).unwrap_or(64)
}

/// Whether few texts are expected to contain one of these literals.
pub(super) fn are_rare(literals: &[Box<[u8]>]) -> bool {
    literals.iter().map(|literal| share_with(literal, ANYWHERE)).sum::<f64>() < OFTEN
}

/// Estimated probability of one of `distinct` values: each, and "none of them", is equally probable.
pub(super) fn chance_of_turn(distinct: u32) -> f64 {
    1.0 / (f64::from(distinct) + 1.0)
}

/// Estimates for the keys by which the rules of one node can be found. The tables are indexed by
/// all keys and shared by all nodes; each entry has the number of the node that wrote it, so that a
/// node costs only what it uses.
pub(super) struct Estimates<'k> {
    keys: &'k Keys,
    attributes: &'k Attributes,
    /// Number of the current node.
    node: u32,
    /// Indexed by key: the last node that has it.
    met: Vec<u32>,
    groups: Vec<GroupEstimate>,
    /// Indexed by access path: the last node that has it, and its estimated probability there.
    chances: Vec<(u32, f64)>,
    /// Number of the current weighing.
    weighing: u32,
    /// The groups of the current weighing.
    weighed: Vec<KeyGroupId>,
    /// Number of these groups that read header values.
    headers: usize,
}

/// Estimates for a group: all keys of one kind on one attribute.
#[derive(Clone, Copy, Default)]
struct GroupEstimate {
    node: u32,
    /// Number of its keys at the node.
    distinct: u32,
    weighing: u32,
    /// Approximate time that looking them up saves, in nanoseconds.
    gain: f64,
    /// Approximate additional time saved where all headers are looked up in one pass: absent ones cost nothing then.
    together: f64,
}

impl<'k> Estimates<'k> {
    pub(super) fn new(keys: &'k Keys, attributes: &'k Attributes) -> Self {
        let [all, groups, accesses] = keys.len();
        Self {
            keys,
            attributes,
            node: 0,
            met: vec![0; all],
            groups: vec![GroupEstimate::default(); groups],
            chances: vec![(0, 0.0); accesses],
            weighing: 0,
            weighed: Vec::new(),
            headers: 0,
        }
    }

    /// Starts a node whose rules can be found by these access paths.
    pub(super) fn start(&mut self, accesses: impl Iterator<Item = AccessPathId> + Clone) {
        self.node = self.node.saturating_add(1);
        let keys = self.keys;
        for access in accesses.clone().filter_map(|access| keys.get(access)) {
            for &key in keys.list(access.keys) {
                self.meet(key);
            }
        }
        for number in accesses {
            let is_known = self.chances.get(number as usize).is_none_or(|(node, _)| *node == self.node);
            if let Some(access) = keys.get(number).filter(|_| !is_known) {
                let chance = (self.node, self.of_any(&access));
                if let Some(place) = self.chances.get_mut(number as usize) {
                    *place = chance;
                }
            }
        }
    }

    fn meet(&mut self, key: KeyId) {
        let Some(met) = self.met.get_mut(key as usize).filter(|met| **met != self.node) else { return };
        *met = self.node;
        let group = self.keys.group_of(key).and_then(|group| self.groups.get_mut(group as usize));
        if let Some(group) = group {
            let before = if group.node == self.node { group.distinct } else { 0 };
            (group.node, group.distinct) = (self.node, before.saturating_add(1));
        }
    }

    /// Estimated probability that a key of an access path of the node holds.
    pub(super) fn chance(&self, access: AccessPathId) -> f64 {
        self.chances.get(access as usize).map_or(1.0, |(_, chance)| *chance)
    }

    fn of_any(&self, access: &AccessPath) -> f64 {
        let keys = self.keys.list(access.keys);
        if let [only] = keys {
            return self.of(*only);
        }
        let sum: f64 = keys.iter().map(|&key| self.of(key)).sum();
        let of_texts = |group: &KeyGroupId| self.keys.group(*group).is_some_and(|(_, kind)| kind.is_of_text());
        if !matches!(self.keys.list(access.groups), [group] if of_texts(group)) {
            return sum;
        }
        // The texts of one pattern or list are usually similar: one more hardly raises the probability.
        let most = keys.iter().map(|&key| self.of(key)).fold(0.0, f64::max);
        let others = i32::try_from(keys.len()).unwrap_or(i32::MAX).saturating_sub(1);
        sum.min(most * (1.0 + ALIKE * f64::from(others)))
    }

    /// Estimated probability that a key holds.
    pub(super) fn of(&self, key: KeyId) -> f64 {
        let group = self.keys.group_of(key).and_then(|group| self.groups.get(group as usize));
        let distinct = group.filter(|group| group.node == self.node).map_or(0, |group| group.distinct);
        let other = chance_of_turn(distinct);
        let Some((_, key)) = self.keys.key(key) else { return 1.0 };
        match key {
            IndexKey::Is(_) => other,
            IndexKey::Prefix(text) | IndexKey::Suffix(text) => AT_AN_END.powi(length(text)).max(other * 0.5),
            IndexKey::Contains(text) => share_with(text, ANYWHERE) * SCANNED,
            IndexKey::ContainsFolded(text) => share_with(text, ANYWHERE_FOLDED) * SCANNED,
            IndexKey::Range(from, to) if from == to => other,
            IndexKey::Range(..) => BY_SIZE,
            IndexKey::Network(address, prefix) => {
                let bits = if address.is_ipv4() { 32.0 } else { 64.0 };
                IN_HOST.powf(f64::from(*prefix) / bits).max(IN_NETWORK)
            }
            // Keys of literals are preferred where a pattern has some.
            IndexKey::Pattern(_) | IndexKey::Matched(_) => MATCHING,
            IndexKey::Truth(_) => TRUE,
            IndexKey::Listed(_) => LISTED,
            IndexKey::Present => PRESENT,
            IndexKey::Absent => ABSENT,
        }
    }

    /// Estimates what the lookups of these access paths, one per rule, save. `first` says whether
    /// they are the first keys of the rules.
    pub(super) fn weigh(&mut self, accesses: impl Iterator<Item = AccessPathId>, first: bool) {
        self.weighing = self.weighing.saturating_add(1);
        self.weighed.clear();
        self.headers = 0;
        let (keys, attributes) = (self.keys, self.attributes);
        let present = |attribute: AttributeId| {
            attributes.get(attribute).is_some_and(|attribute| matches!(attribute.source, AttributeSource::Header(..)))
        };
        for access in accesses.filter_map(|access| keys.get(access)) {
            for &number in keys.list(access.groups) {
                let (Some((attribute, kind)), Some(group)) = (keys.group(number), self.groups.get_mut(number as usize))
                else {
                    continue;
                };
                if group.weighing != self.weighing {
                    (group.weighing, group.gain, group.together) = (self.weighing, -lookup_time(kind), 0.0);
                    self.weighed.push(number);
                    if present(attribute) && kind != LookupKind::Presence {
                        group.together = lookup_time(kind) * (1.0 - PRESENT);
                        self.headers = self.headers.saturating_add(1);
                    }
                }
                let failing = if present(attribute) { FAILING_TIME } else { 0.0 };
                let test = if access.exact { test_time(kind) } else { SEARCH_TIME };
                group.gain += if first { test + failing } else { NARROWED_TIME };
            }
        }
    }

    /// Whether all lookups of an access path save time, according to the last weighing.
    pub(super) fn covers(&self, access: &AccessPath) -> bool {
        let together = if self.headers >= MIN_BATCHED_HEADERS { 1.0 } else { 0.0 };
        let is_worth = |group: &GroupEstimate| group.gain + together * group.together > 0.0;
        self.keys.list(access.groups).iter().all(|&group| self.weighed(group).is_some_and(is_worth))
    }

    /// Whether the lookups of the last weighing save more than a search costs.
    pub(super) fn is_worth_finding(&self) -> bool {
        let gains = self.weighed.iter().filter_map(|&group| self.weighed(group)).map(|group| group.gain);
        gains.filter(|gain| *gain > 0.0).sum::<f64>() >= FINDING
    }

    fn weighed(&self, group: KeyGroupId) -> Option<&GroupEstimate> {
        self.groups.get(group as usize).filter(|group| group.weighing == self.weighing)
    }
}
