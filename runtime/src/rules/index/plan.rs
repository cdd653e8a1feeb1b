//! Which keys each rule is found by: the choice, by what is expected of each, and the tree of lookups that follows from it.

use super::Wanted;
use super::access::Finder;
use super::keys::{Access, AccessId, GroupId, Key, KeyId, Keys};
use super::node::{Lookup, MapKind, Nodes, Target};
use super::notes::{LeftOut, Notes};
use super::residual::{Row, Shapes};
use super::slot::{SlotId, Slots, Source};
use crate::rules::common::{Common, Placed};
use celero_ir::layout::Field;
use celero_ir::{NodeId, Op, Ty};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// Cases of one key from which on it is worth while to look at a second one.
const CROWD: usize = 12;
/// How many keys lie behind one another at most.
const DEEPEST: usize = 3;
/// Conjuncts of a rule that are looked at.
const MOST_CONJUNCTS: usize = 64;
/// Nanoseconds, about, that it takes to find cases at all: with less to win, rules are evaluated one after the other.
const FINDING: f64 = 100.0;

/// How much likelier a key is made by each further one of an access, of its own chance.
const ALIKE: f64 = 0.1;
/// Keys that are taken to hold more often than that find nothing.
const COMMON: f64 = 0.9;
/// How likely it is taken to be that a test fails for want of a value.
const FAILING: f64 = 0.02;

/// What is to be done with a rule that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Todo {
    /// It is true.
    Matches,
    /// What is left of it has to be evaluated: its row, by number.
    Rest(u32),
    /// All of it has to be evaluated, by itself.
    Whole,
}

/// A rule that was found, in one of the ways in which that can happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) rule: u32,
    pub(super) todo: Todo,
}

/// The index of some rules, and which rules it leaves out.
pub(super) struct Plan {
    pub(super) slots: Slots,
    pub(super) nodes: Nodes,
    pub(super) root: u32,
    pub(super) cases: Vec<Case>,
    pub(super) shapes: Shapes,
    pub(super) rows: Vec<Row>,
    /// Rules that are evaluated in any case, by their place in the common graph.
    pub(super) straight: Vec<usize>,
}

/// A conjunct by which a rule can be found.
#[derive(Clone, Copy, Debug)]
struct Choice {
    conjunct: u32,
    access: AccessId,
    /// Whether the conjunct's failure has to be found too.
    may_fail: bool,
}

/// A rule on its way through the tree.
#[derive(Clone, Copy)]
struct Pending {
    /// Its place in the common graph.
    rule: u32,
    /// Its first choice, and how many it has.
    first: u32,
    count: u32,
    /// The choices that are not made yet, as bits.
    left: u64,
    /// The conjuncts that are known to be true, as bits.
    proven: u64,
    /// The number of the noted step behind which it is.
    step: u32,
}

struct Planner<'p> {
    common: &'p mut Common,
    slots: &'p Slots,
    keys: &'p Keys,
    choices: Vec<Choice>,
    /// Whether what lookups are worth does not matter.
    always: bool,
    /// Whether patterns may become tables.
    tables: bool,
    nodes: Nodes,
    cases: Vec<Case>,
    numbers: HashMap<(u32, u64), u32, FixedState>,
    shapes: Shapes,
    rows: Vec<Row>,
    notes: &'p mut Notes,
}

/// Makes a plan for these rules.
pub(super) fn plan(common: &mut Common, fields: &[Field], wanted: Wanted, notes: &mut Notes) -> Option<Plan> {
    let (mut pending, mut straight, mut choices) = (Vec::new(), Vec::new(), Vec::new());
    let mut finder = Finder::new(&common.graph, fields);
    for (place, rule) in (0_u32..).zip(&common.rules) {
        let first = choices.len();
        choose_from(&mut finder, rule.root, wanted.errors, &mut choices);
        let count = u32::try_from(choices.len().saturating_sub(first)).ok()?;
        if count == 0 {
            notes.left(place as usize, LeftOut::NoKey);
            straight.push(place as usize);
        } else {
            let left = u64::MAX.checked_shr(64_u32.saturating_sub(count)).unwrap_or(0);
            pending.push(Pending { rule: place, first: u32::try_from(first).ok()?, count, left, proven: 0, step: 0 });
        }
    }
    let Finder { mut slots, keys, .. } = finder;
    let mut planner = Planner {
        common,
        slots: &slots,
        keys: &keys,
        choices,
        always: wanted.always,
        tables: wanted.tables,
        nodes: Nodes::default(),
        cases: Vec::new(),
        numbers: HashMap::default(),
        shapes: Shapes::default(),
        rows: Vec::new(),
        notes,
    };
    let (root, left) = planner.node(pending, 0)?;
    straight.extend(left.iter().map(|pending| pending.rule as usize));
    straight.sort_unstable();
    let Planner { mut nodes, cases, shapes, rows, .. } = planner;
    // By rule; of the cases of a rule the one that says most is first.
    let mut order: Vec<(Case, u32)> = cases.into_iter().zip(0..).collect();
    order.sort_unstable_by_key(|(case, _)| (case.rule, case.todo != Todo::Matches));
    let mut numbers = vec![0; order.len()];
    for (new, (_, old)) in (0..).zip(&order) {
        *numbers.get_mut(*old as usize)? = new;
    }
    nodes.renumber(&numbers);
    let cases = order.into_iter().map(|(case, _)| case).collect();
    slots.finish();
    Some(Plan { slots, nodes, root, cases, shapes, rows, straight })
}

/// Adds the conjuncts by which a rule can be found.
fn choose_from(finder: &mut Finder<'_>, root: NodeId, errors: bool, choices: &mut Vec<Choice>) {
    let alone = [root];
    let conjuncts = match finder.conjuncts(root) {
        [] => &alone,
        conjuncts => conjuncts,
    };
    let guards: Vec<Source> = if errors { finder.guards(conjuncts) } else { Vec::new() };
    for (conjunct, &id) in (0..).zip(conjuncts).take(MOST_CONJUNCTS) {
        let Some(access) = finder.access(id) else { continue };
        let Some(Access { undecided, .. }) = finder.keys.get(access) else { continue };
        // Without a value that a conjunct asks for the rule is false.
        let guarded = |key: &KeyId| {
            let slot = finder.keys.key(*key).and_then(|(slot, _)| finder.slots.get(slot));
            slot.is_some_and(|slot| guards.contains(&slot.source))
        };
        let may_fail = errors && !undecided.iter().all(guarded);
        choices.push(Choice { conjunct, access, may_fail });
    }
}

impl Planner<'_> {
    /// The choices of a rule that are not made yet, each with its number.
    fn left(&self, pending: &Pending) -> impl Iterator<Item = (u32, Choice)> {
        let all = self.choices.get(pending.first as usize..).unwrap_or_default();
        let left = pending.left;
        (0..pending.count).zip(all.iter().copied()).filter(move |(number, _)| left.wrapping_shr(*number) & 1 != 0)
    }

    /// A node that finds rules, and the rules that it leaves out.
    fn node(&mut self, pending: Vec<Pending>, depth: usize) -> Option<(u32, Vec<Pending>)> {
        let chances = self.chances(&pending);
        let mut chosen: Vec<(u32, Pending)> = Vec::with_capacity(pending.len());
        let mut left = Vec::new();
        for pending in pending {
            match self.best(&pending, &chances, |access| self.allowed(access, depth)) {
                Some(choice) => chosen.push((choice, pending)),
                None => left.push(pending),
            }
        }
        let too_common = left.len();
        // Keys of which there are few are not worth their lookup. Their rules may be found by others.
        for _ in 0..if self.always { 0 } else { 2 } {
            let worth = self.worth(&chosen, depth);
            let mut again = Vec::with_capacity(chosen.len());
            for (_, pending) in chosen {
                match self.best(&pending, &chances, |access| self.allowed(access, depth) && worth.covers(access)) {
                    Some(choice) => again.push((choice, pending)),
                    None => left.push(pending),
                }
            }
            chosen = again;
        }
        if depth == 0 && !self.always && self.worth(&chosen, depth).total < FINDING {
            left.extend(chosen.drain(..).map(|(_, pending)| pending));
        }
        for (number, pending) in left.iter().enumerate().filter(|_| depth == 0) {
            let why = if number < too_common { LeftOut::TooCommon } else { LeftOut::TooFew };
            self.notes.left(pending.rule as usize, why);
        }
        let mut found = Vec::with_capacity(chosen.len());
        for (number, pending) in chosen {
            self.lead(number, pending, &chances, &mut found)?;
        }
        // Rules stay in order.
        found.sort_by_key(|(group, key, _)| (*group, *key));
        let mut lookups = Vec::new();
        for of_group in found.chunk_by(|(a, ..), (b, ..)| a == b) {
            let (slot, kind) = self.keys.group(of_group.first()?.0)?;
            let mut targets = Vec::new();
            for of_key in of_group.chunk_by(|(_, a, _), (_, b, _)| a == b) {
                let (_, key) = self.keys.key(of_key.first()?.1)?;
                let key = key.clone();
                targets.push((key, self.target(of_key.iter().map(|(.., pending)| *pending).collect(), depth)?));
            }
            lookups.push((slot, Lookup::new(slot, kind, targets)?));
        }
        lookups.sort_by_key(|(slot, _)| *slot);
        let lookups = lookups.into_iter().map(|(_, lookup)| lookup).collect();
        Some((self.nodes.add(lookups, self.slots)?, left))
    }

    /// Puts a rule behind the keys of a choice.
    fn lead(
        &mut self,
        number: u32,
        pending: Pending,
        chances: &Chances,
        found: &mut Vec<(GroupId, KeyId, Pending)>,
    ) -> Option<()> {
        let keys = self.keys;
        let Choice { conjunct, access, may_fail } = *self.choices.get(pending.first.saturating_add(number) as usize)?;
        let access = keys.get(access)?;
        let left = pending.left & !1_u64.wrapping_shl(number);
        let proven = if access.exact { pending.proven | 1_u64.wrapping_shl(conjunct) } else { pending.proven };
        let proving = access.proving.iter().map(|key| (key, pending.proven | 1_u64.wrapping_shl(conjunct)));
        for (&key, proven) in access.keys.iter().map(|key| (key, proven)).chain(proving) {
            let (slot, test) = keys.key(key)?;
            let step = self.notes.step(pending.step, slot, test, || chances.of(keys, key));
            found.push((keys.group_of(key)?, key, Pending { left, proven, step, ..pending }));
        }
        for &absent in access.undecided.iter().filter(|_| may_fail) {
            // What fails for the same reason finds nothing else.
            let fails =
                |choice: &Choice| keys.get(choice.access).is_some_and(|access| access.undecided.contains(&absent));
            let others = self.left(&pending).filter(|(_, choice)| fails(choice));
            let left = others.fold(left, |left, (number, _)| left & !1_u64.wrapping_shl(number));
            let (slot, test) = keys.key(absent)?;
            let step = self.notes.step(pending.step, slot, test, || FAILING);
            found.push((keys.group_of(absent)?, absent, Pending { left, step, ..pending }));
        }
        Some(())
    }

    /// What a key leads to.
    fn target(&mut self, mut pending: Vec<Pending>, depth: usize) -> Option<Target> {
        let mut node = None;
        let deeper = depth.saturating_add(1);
        let crowd = if self.always { 1 } else { CROWD };
        if pending.len() > crowd && deeper < DEEPEST {
            let (more, done): (Vec<_>, Vec<_>) = pending.into_iter().partition(|pending| pending.left != 0);
            pending = done;
            if more.len() > crowd {
                let (number, left) = self.node(more, deeper)?;
                node = Some(number);
                pending.extend(left);
            } else {
                pending.extend(more);
            }
        }
        let mut cases = Vec::with_capacity(pending.len());
        for pending in &pending {
            let case = self.case(pending)?;
            let todo = self.cases.get(case as usize)?.todo;
            self.notes.end(pending.rule as usize, pending.step, pending.proven, todo);
            cases.push(case);
        }
        self.nodes.target(cases.into_iter(), node)
    }

    /// The number of the case of a rule of which so much is proven.
    fn case(&mut self, pending: &Pending) -> Option<u32> {
        let key = (pending.rule, pending.proven);
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        let rule = self.common.rules.get(pending.rule as usize)?;
        let (number, root) = (rule.number, rule.root);
        let todo = match self.rest(root, pending.proven) {
            None => Todo::Matches,
            Some(rest) => self.row(pending.rule as usize, rest).map_or(Todo::Whole, Todo::Rest),
        };
        let case = u32::try_from(self.cases.len()).ok()?;
        self.cases.push(Case { rule: number, todo });
        self.numbers.insert(key, case);
        Some(case)
    }

    fn row(&mut self, rule: usize, rest: NodeId) -> Option<u32> {
        let rule: &Placed = self.common.rules.get(rule)?;
        let row = self.shapes.row(&self.common.graph, rule, rest)?;
        let number = u32::try_from(self.rows.len()).ok()?;
        self.rows.push(row);
        Some(number)
    }

    /// A rule without the conjuncts that are true; `None` if there are no others.
    fn rest(&mut self, root: NodeId, proven: u64) -> Option<NodeId> {
        let graph = &mut self.common.graph;
        if proven == 0 {
            return Some(root);
        }
        if graph.op(root) != Op::And {
            return None;
        }
        let is_left = |number: u32| proven.checked_shr(number).unwrap_or(0) & 1 == 0;
        let left: Vec<NodeId> =
            (0..).zip(graph.args(root)).filter(|(number, _)| is_left(*number)).map(|(_, &id)| id).collect();
        match left.as_slice() {
            [] => None,
            &[only] => Some(only),
            left => {
                let origin = graph.origin(root);
                Some(graph.add(Op::And, Ty::Bool, left, origin))
            }
        }
    }

    /// Whether rules may be found in that way: tables of patterns are large, and there is one for all rules.
    fn allowed(&self, access: &Access, depth: usize) -> bool {
        let is_pattern = |&group: &GroupId| self.keys.group(group).is_some_and(|(_, kind)| kind == MapKind::Pattern);
        depth == 0 && self.tables || !access.groups.iter().any(is_pattern)
    }

    /// What is known of the keys by which these rules can be found.
    fn chances(&self, pending: &[Pending]) -> Chances {
        let accesses = pending.iter().flat_map(|pending| self.left(pending));
        let accesses = accesses.filter_map(|(_, choice)| self.keys.get(choice.access));
        let mut all: Vec<(GroupId, KeyId)> =
            accesses.flat_map(|access| &access.keys).filter_map(|&key| Some((self.keys.group_of(key)?, key))).collect();
        all.sort_unstable();
        all.dedup();
        let of_group = |keys: &[(GroupId, KeyId)]| Some((keys.first()?.0, u32::try_from(keys.len()).ok()?));
        Chances { distinct: all.chunk_by(|(a, _), (b, _)| a == b).filter_map(of_group).collect() }
    }

    /// The best way to find a rule, of those that are allowed and better than none.
    fn best(&self, pending: &Pending, chances: &Chances, allowed: impl Fn(&Access) -> bool) -> Option<u32> {
        let mut best: Option<(u32, f64)> = None;
        for (number, choice) in self.left(pending) {
            let Some(access) = self.keys.get(choice.access).filter(|access| allowed(access)) else { continue };
            let mut chance = chances.of_any(self.keys, access);
            if choice.may_fail {
                // What fails without a value is found by its absence too.
                chance += FAILING;
            }
            let most = if self.always { f64::INFINITY } else { COMMON };
            if chance < best.map_or(most, |(_, least)| least) {
                best = Some((number, chance));
            }
        }
        best.map(|(number, _)| number)
    }

    /// What the lookups of these choices are worth.
    fn worth(&self, chosen: &[(u32, Pending)], depth: usize) -> Worth {
        let sent = |slot: SlotId| self.slots.get(slot).is_some_and(|slot| matches!(slot.source, Source::Header(..)));
        let mut gains: HashMap<GroupId, f64, FixedState> = HashMap::default();
        for (number, pending) in chosen {
            let choice = self.choices.get(pending.first.saturating_add(*number) as usize);
            let Some(access) = choice.and_then(|choice| self.keys.get(choice.access)) else { continue };
            for &group in &access.groups {
                let Some((slot, kind)) = self.keys.group(group) else { continue };
                let failing = if sent(slot) { FAILING_TIME } else { 0.0 };
                let test = if access.exact { test_time(kind) } else { SEARCH_TIME };
                let saved = if depth == 0 { test + failing } else { 15.0 };
                *gains.entry(group).or_insert_with(|| -lookup_time(kind)) += saved;
            }
        }
        let total = gains.values().filter(|gain| **gain > 0.0).sum();
        Worth { gains, total }
    }
}

/// What is known of keys: how many different ones there are, by group.
struct Chances {
    distinct: HashMap<GroupId, u32, FixedState>,
}

impl Chances {
    /// How likely it is taken to be that a key of an access holds.
    fn of_any(&self, keys: &Keys, access: &Access) -> f64 {
        let sum: f64 = access.keys.iter().map(|&key| self.of(keys, key)).sum();
        let of_texts = |group: &GroupId| keys.group(*group).is_some_and(|(_, kind)| kind.is_of_text());
        if !matches!(access.groups.as_slice(), [group] if of_texts(group)) {
            return sum;
        }
        // Texts of one pattern or list are mostly alike: one more of them makes the whole hardly likelier.
        let most = access.keys.iter().map(|&key| self.of(keys, key)).fold(0.0, f64::max);
        let others = i32::try_from(access.keys.len()).unwrap_or(i32::MAX).saturating_sub(1);
        sum.min(most * (1.0 + ALIKE * f64::from(others)))
    }

    /// How likely a key is taken to hold.
    fn of(&self, keys: &Keys, key: KeyId) -> f64 {
        let distinct = keys.group_of(key).and_then(|group| self.distinct.get(&group)).copied().unwrap_or(0);
        let other = 1.0 / (f64::from(distinct) + 1.0);
        let length = |text: &[u8]| i32::try_from(text.len().min(64)).unwrap_or(64);
        let Some((_, key)) = keys.key(key) else { return 1.0 };
        match key {
            Key::Is(_) => other,
            Key::Prefix(text) | Key::Suffix(text) => 0.6_f64.powi(length(text)).max(other * 0.5),
            // A scan is dearer than a lookup.
            Key::Contains(text) => 0.5_f64.powi(length(text)).max(0.002) * 2.0,
            Key::ContainsFolded(text) => 0.55_f64.powi(length(text)).max(0.002) * 2.0,
            Key::Range(from, to) if from == to => other,
            Key::Range(..) => 0.5,
            Key::Network(address, prefix) => {
                let bits = if address.is_ipv4() { 32.0 } else { 64.0 };
                0.01_f64.powf(f64::from(*prefix) / bits).max(0.001)
            }
            // Keys of literals are better where there are some.
            Key::Pattern(_) | Key::Matched(_) => 0.1,
            Key::Truth(_) => 0.5,
            Key::Present => 0.3,
            Key::Absent => 0.7,
        }
    }
}

/// What looking keys up is worth, by group, in nanoseconds, about.
struct Worth {
    gains: HashMap<GroupId, f64, FixedState>,
    total: f64,
}

impl Worth {
    /// Whether all lookups of an access are worth while.
    fn covers(&self, access: &Access) -> bool {
        access.groups.iter().all(|group| self.gains.get(group).is_some_and(|gain| *gain > 0.0))
    }
}

/// Nanoseconds, about, that a test takes more if it fails, as it does where a header is not sent.
const FAILING_TIME: f64 = 4.0;

/// Nanoseconds, about, that a test takes that its keys do not decide: mostly a pattern.
const SEARCH_TIME: f64 = 30.0;

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
