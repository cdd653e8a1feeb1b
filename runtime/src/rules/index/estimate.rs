//! What is expected of keys: how often each holds, and what looking it up is worth. These are guesses, made from the rules
//! alone: by which keys rules are found depends on them, and no answer does.

use super::keys::{Access, AccessId, GroupId, Key, KeyId, Keys};
use super::node::{MapKind, TOGETHER};
use super::slot::{SlotId, Slots, Source};

/// Nanoseconds, about, that it takes to find cases at all: with less to win, rules are evaluated one after the other.
const FINDING: f64 = 100.0;
/// Keys that are taken to hold more often than that find nothing.
pub(super) const COMMON: f64 = 0.9;
/// How likely it is taken to be that a test fails for want of a value.
pub(super) const FAILING: f64 = 0.02;

/// How much likelier a key is made by each further one of an access, of its own chance.
const ALIKE: f64 = 0.1;
/// How much likelier than its turn among the beginnings that are known one of them is, each byte of it.
const AT_AN_END: f64 = 0.6;
/// How likely each byte of a literal makes it to be somewhere in a text: the least for all, as texts hold what rules look for,
/// and twice that for what it costs to look everywhere.
const ANYWHERE: f64 = 0.5;
const ANYWHERE_FOLDED: f64 = 0.55;
const RAREST: f64 = 0.002;
const SCANNED: f64 = 2.0;
/// Literals of which one is taken to be in more than that share of all texts are not looked for.
const OFTEN: f64 = 0.3;
/// No part of a text is taken to be rarer.
pub(super) const LEAST_OF_PARTS: f64 = RAREST * SCANNED;
/// How likely an address is to lie in a network of one address, and the least for all.
const IN_HOST: f64 = 0.01;
const IN_NETWORK: f64 = 0.001;
/// How likely a comparison by size, a truth value, a value, its absence, and a pattern are.
const BY_SIZE: f64 = 0.5;
const TRUE: f64 = 0.5;
const PRESENT: f64 = 0.3;
const ABSENT: f64 = 0.7;
const MATCHING: f64 = 0.1;

/// Nanoseconds, about, that a test takes more if it fails, as it does where a header is not sent.
const FAILING_TIME: f64 = 4.0;
/// Nanoseconds, about, that a test takes that its keys do not decide: mostly a pattern.
const SEARCH_TIME: f64 = 30.0;
/// Nanoseconds, about, that a further key saves for a rule that one key has found.
const NARROWED_TIME: f64 = 15.0;

/// Nanoseconds, about, that one such test takes in native code.
const fn test_time(kind: MapKind) -> f64 {
    match kind {
        MapKind::Truth | MapKind::Presence => 1.0,
        MapKind::Is | MapKind::Range | MapKind::Network => 3.0,
        MapKind::Prefix | MapKind::Suffix => 4.0,
        MapKind::Contains => 10.0,
        MapKind::ContainsFolded => 25.0,
        MapKind::Pattern => SEARCH_TIME,
    }
}

/// Nanoseconds, about, that one lookup takes, however many keys there are, with reading what is looked at.
const fn lookup_time(kind: MapKind) -> f64 {
    match kind {
        MapKind::Truth | MapKind::Presence => 5.0,
        MapKind::Is | MapKind::Range => 15.0,
        MapKind::Prefix | MapKind::Suffix => 25.0,
        MapKind::Network | MapKind::Contains | MapKind::ContainsFolded => 60.0,
        MapKind::Pattern => 200.0,
    }
}

/// The share of texts that are taken to hold a literal, each byte of which makes it so likely.
fn share_with(literal: &[u8], each: f64) -> f64 {
    each.powi(length(literal)).max(RAREST)
}

fn length(text: &[u8]) -> i32 {
    i32::try_from(text.len().min(64)).unwrap_or(64)
}

/// Whether few texts are taken to hold one of these.
pub(super) fn are_rare(literals: &[Box<[u8]>]) -> bool {
    literals.iter().map(|literal| share_with(literal, ANYWHERE)).sum::<f64>() < OFTEN
}

/// How likely one of so many values is taken to be there: each as likely as any other, and as none of them.
pub(super) fn chance_of_turn(distinct: u32) -> f64 {
    1.0 / (f64::from(distinct) + 1.0)
}

/// What is known of the keys by which the rules of one node can be found. The tables are of all keys, and what is in them of
/// nodes before is old: a node costs what it looks at.
pub(super) struct Estimates<'k> {
    keys: &'k Keys,
    slots: &'k Slots,
    /// The number of the node.
    node: u32,
    /// By key, the last node that has it.
    met: Vec<u32>,
    groups: Vec<Group>,
    /// By access, the last node that has it, and how likely it is there.
    chances: Vec<(u32, f64)>,
    /// The number of the weighing.
    weighing: u32,
    /// The groups that are weighed.
    weighed: Vec<GroupId>,
    /// How many of them are of values of headers.
    headers: usize,
}

/// What keys of one kind on one slot have in common.
#[derive(Clone, Copy, Default)]
struct Group {
    node: u32,
    /// How many different ones the node has.
    distinct: u32,
    weighing: u32,
    /// What looking them up is worth, in nanoseconds, about.
    gain: f64,
    /// What more it is worth where headers are asked for together: those that are not sent cost nothing then.
    together: f64,
}

impl<'k> Estimates<'k> {
    pub(super) fn new(keys: &'k Keys, slots: &'k Slots) -> Self {
        let [all, groups, accesses] = keys.len();
        Self {
            keys,
            slots,
            node: 0,
            met: vec![0; all],
            groups: vec![Group::default(); groups],
            chances: vec![(0, 0.0); accesses],
            weighing: 0,
            weighed: Vec::new(),
            headers: 0,
        }
    }

    /// Starts with a node whose rules can be found by these.
    pub(super) fn start(&mut self, accesses: impl Iterator<Item = AccessId> + Clone) {
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

    /// How likely it is taken to be that a key of an access of the node holds.
    pub(super) fn chance(&self, access: AccessId) -> f64 {
        self.chances.get(access as usize).map_or(1.0, |(_, chance)| *chance)
    }

    fn of_any(&self, access: &Access) -> f64 {
        let keys = self.keys.list(access.keys);
        if let [only] = keys {
            return self.of(*only);
        }
        let sum: f64 = keys.iter().map(|&key| self.of(key)).sum();
        let of_texts = |group: &GroupId| self.keys.group(*group).is_some_and(|(_, kind)| kind.is_of_text());
        if !matches!(self.keys.list(access.groups), [group] if of_texts(group)) {
            return sum;
        }
        // Texts of one pattern or list are mostly alike: one more of them makes the whole hardly likelier.
        let most = keys.iter().map(|&key| self.of(key)).fold(0.0, f64::max);
        let others = i32::try_from(keys.len()).unwrap_or(i32::MAX).saturating_sub(1);
        sum.min(most * (1.0 + ALIKE * f64::from(others)))
    }

    /// How likely a key is taken to hold.
    pub(super) fn of(&self, key: KeyId) -> f64 {
        let group = self.keys.group_of(key).and_then(|group| self.groups.get(group as usize));
        let distinct = group.filter(|group| group.node == self.node).map_or(0, |group| group.distinct);
        let other = chance_of_turn(distinct);
        let Some((_, key)) = self.keys.key(key) else { return 1.0 };
        match key {
            Key::Is(_) => other,
            Key::Prefix(text) | Key::Suffix(text) => AT_AN_END.powi(length(text)).max(other * 0.5),
            Key::Contains(text) => share_with(text, ANYWHERE) * SCANNED,
            Key::ContainsFolded(text) => share_with(text, ANYWHERE_FOLDED) * SCANNED,
            Key::Range(from, to) if from == to => other,
            Key::Range(..) => BY_SIZE,
            Key::Network(address, prefix) => {
                let bits = if address.is_ipv4() { 32.0 } else { 64.0 };
                IN_HOST.powf(f64::from(*prefix) / bits).max(IN_NETWORK)
            }
            // Keys of literals are better where there are some.
            Key::Pattern(_) | Key::Matched(_) => MATCHING,
            Key::Truth(_) => TRUE,
            Key::Present => PRESENT,
            Key::Absent => ABSENT,
        }
    }

    /// Weighs what the lookups of these accesses are worth, one for each rule; the first keys of all, or further ones.
    pub(super) fn weigh(&mut self, accesses: impl Iterator<Item = AccessId>, first: bool) {
        self.weighing = self.weighing.saturating_add(1);
        self.weighed.clear();
        self.headers = 0;
        let (keys, slots) = (self.keys, self.slots);
        let sent = |slot: SlotId| slots.get(slot).is_some_and(|slot| matches!(slot.source, Source::Header(..)));
        for access in accesses.filter_map(|access| keys.get(access)) {
            for &number in keys.list(access.groups) {
                let (Some((slot, kind)), Some(group)) = (keys.group(number), self.groups.get_mut(number as usize))
                else {
                    continue;
                };
                if group.weighing != self.weighing {
                    (group.weighing, group.gain, group.together) = (self.weighing, -lookup_time(kind), 0.0);
                    self.weighed.push(number);
                    if sent(slot) && kind != MapKind::Presence {
                        group.together = lookup_time(kind) * (1.0 - PRESENT);
                        self.headers = self.headers.saturating_add(1);
                    }
                }
                let failing = if sent(slot) { FAILING_TIME } else { 0.0 };
                let test = if access.exact { test_time(kind) } else { SEARCH_TIME };
                group.gain += if first { test + failing } else { NARROWED_TIME };
            }
        }
    }

    /// Whether all lookups of an access are worth while, of those weighed last.
    pub(super) fn covers(&self, access: &Access) -> bool {
        let together = if self.headers >= TOGETHER { 1.0 } else { 0.0 };
        let is_worth = |group: &Group| group.gain + together * group.together > 0.0;
        self.keys.list(access.groups).iter().all(|&group| self.weighed(group).is_some_and(is_worth))
    }

    /// Whether the lookups that were weighed last are worth it to find cases at all.
    pub(super) fn is_worth_finding(&self) -> bool {
        let gains = self.weighed.iter().filter_map(|&group| self.weighed(group)).map(|group| group.gain);
        gains.filter(|gain| *gain > 0.0).sum::<f64>() >= FINDING
    }

    fn weighed(&self, group: GroupId) -> Option<&Group> {
        self.groups.get(group as usize).filter(|group| group.weighing == self.weighing)
    }
}
