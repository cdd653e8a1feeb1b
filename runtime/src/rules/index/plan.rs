//! Which keys each rule is found by: the choice, by what is expected of each, and the tree of lookups that follows from it.

use super::Wanted;
use super::access::Finder;
use super::estimate::{COMMON, Estimates, FAILING};
use super::keys::{Access, AccessId, GroupId, KeyId, Keys};
use super::node::{Lookup, MapKind, Nodes, Target};
use super::notes::{LeftOut, Notes};
use super::patterns::Others;
use super::residual::Shapes;
use super::slot::{Slots, Source};
use crate::rules::common::{Common, Placed};
use celero_ir::layout::Field;
use celero_ir::{NodeId, Op};
use celero_matching::MemoryBudget;

/// Cases of one key from which on it is worth while to look at a second one.
pub(super) const CROWD: usize = 12;
/// How many keys lie behind one another at most.
const DEEPEST: usize = 3;
/// Conjuncts of a rule that are looked at.
pub(super) const MOST_CONJUNCTS: usize = 64;
/// No number.
const NONE: u32 = u32::MAX;

/// What is to be done with a rule that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Todo {
    /// It is true.
    Matches,
    /// What is left of it has to be evaluated, by native code: its row, by number.
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
    common: &'p Common,
    keys: &'p Keys,
    slots: &'p Slots,
    choices: Vec<Choice>,
    estimates: Estimates<'p>,
    /// Whether what lookups are worth does not matter.
    always: bool,
    /// Whether patterns may become tables.
    tables: bool,
    /// Whether what is left of rules is wanted.
    rests: bool,
    /// For patterns that are compiled.
    room: &'p MemoryBudget,
    nodes: Nodes,
    cases: Cases,
    shapes: &'p mut Shapes,
    notes: &'p mut Notes,
    /// Working memory, by key: how many there are, or where they go. Zero between uses.
    counts: Vec<u32>,
    /// Working memory: numbers of cases.
    posted: Vec<u32>,
    /// Working memory: what is left of a rule.
    rest: Vec<NodeId>,
}

/// Makes a plan for these rules.
pub(super) fn plan(
    common: &Common,
    fields: &[Field],
    wanted: Wanted<'_>,
    shapes: &mut Shapes,
    notes: &mut Notes,
) -> Option<Plan> {
    let (mut pending, mut straight, mut choices) = (Vec::new(), Vec::new(), Vec::new());
    let mut finder = Finder::new(&common.graph, fields, common.rules.len());
    let others = (!wanted.always).then(|| Others::new(common, &mut finder));
    for (place, rule) in (0_u32..).zip(&common.rules) {
        let first = choices.len();
        let conjuncts = conjuncts(common, &rule.root);
        let patterns = others.as_ref().is_none_or(|others| !others.suffice(&mut finder, conjuncts));
        choose_from(&mut finder, conjuncts, (wanted.errors)(rule.number), patterns, &mut choices);
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
        keys: &keys,
        slots: &slots,
        choices,
        estimates: Estimates::new(&keys, &slots),
        always: wanted.always,
        tables: wanted.always || wanted.native,
        rests: wanted.native || notes.wanted(),
        room: wanted.room,
        nodes: Nodes::default(),
        cases: Cases::new(common.rules.len()),
        shapes,
        notes,
        counts: vec![0; keys.len()[0]],
        posted: Vec::new(),
        rest: Vec::new(),
    };
    let (root, left) = planner.node(&pending, 0)?;
    straight.extend(left.iter().map(|pending| pending.rule as usize));
    straight.sort_unstable();
    let Planner { mut nodes, cases, .. } = planner;
    let (cases, numbers) = cases.in_order();
    nodes.renumber(&numbers);
    slots.finish();
    Some(Plan { slots, nodes, root, cases, straight })
}

/// What must all be true for a rule to be.
pub(super) fn conjuncts<'c>(common: &'c Common, root: &'c NodeId) -> &'c [NodeId] {
    if common.graph.op(*root) == Op::And { common.graph.args(*root) } else { std::slice::from_ref(root) }
}

/// Adds the conjuncts by which a rule can be found, with or without `patterns`.
fn choose_from(finder: &mut Finder<'_>, conjuncts: &[NodeId], errors: bool, patterns: bool, choices: &mut Vec<Choice>) {
    let guards: Vec<Source> = if errors { finder.guards(conjuncts) } else { Vec::new() };
    for (conjunct, &id) in (0..).zip(conjuncts).take(MOST_CONJUNCTS) {
        let access = if patterns { finder.access(id) } else { finder.access_but_of_pattern(id) };
        let Some(access) = access else { continue };
        let Some(Access { undecided, .. }) = finder.keys.get(access) else { continue };
        // Without a value that a conjunct asks for the rule is false.
        let guarded = |key: &KeyId| {
            let slot = finder.keys.key(*key).and_then(|(slot, _)| finder.slots.get(slot));
            slot.is_some_and(|slot| guards.contains(&slot.source))
        };
        let may_fail = errors && !finder.keys.list(undecided).iter().all(guarded);
        choices.push(Choice { conjunct, access, may_fail });
    }
}

/// The choices of a rule that are not made yet, each with its number.
fn left(choices: &[Choice], pending: &Pending) -> impl Iterator<Item = (u32, Choice)> + Clone {
    let all = choices.get(pending.first as usize..).unwrap_or_default();
    let left = pending.left;
    (0..pending.count).zip(all.iter().copied()).filter(move |(number, _)| left.wrapping_shr(*number) & 1 != 0)
}

impl<'p> Planner<'p> {
    /// A node that finds rules, and the rules that it leaves out.
    fn node(&mut self, pending: &[Pending], depth: usize) -> Option<(u32, Vec<Pending>)> {
        let choices = &self.choices;
        let accesses = pending.iter().flat_map(|pending| left(choices, pending)).map(|(_, choice)| choice.access);
        self.estimates.start(accesses);
        let mut chosen: Vec<(u32, Pending)> = Vec::with_capacity(pending.len());
        let mut left_out = Vec::new();
        for pending in pending {
            match self.best(pending, |access| self.allowed(access, depth)) {
                Some(choice) => chosen.push((choice, *pending)),
                None => left_out.push(*pending),
            }
        }
        let too_common = left_out.len();
        // Keys of which there are few are not worth their lookup. Their rules may be found by others.
        for _ in 0..if self.always { 0 } else { 2 } {
            self.weigh(&chosen, depth);
            let mut again = Vec::with_capacity(chosen.len());
            for (_, pending) in chosen {
                match self.best(&pending, |access| self.allowed(access, depth) && self.estimates.covers(access)) {
                    Some(choice) => again.push((choice, pending)),
                    None => left_out.push(pending),
                }
            }
            chosen = again;
        }
        if depth == 0 && !self.always {
            self.weigh(&chosen, depth);
            if !self.estimates.is_worth_finding() {
                left_out.extend(chosen.drain(..).map(|(_, pending)| pending));
            }
        }
        for (number, pending) in left_out.iter().enumerate().filter(|_| depth == 0) {
            let why = if number < too_common { LeftOut::TooCommon } else { LeftOut::TooFew };
            self.notes.left(pending.rule as usize, why);
        }
        let mut found = Vec::with_capacity(chosen.len());
        for (number, pending) in chosen {
            self.lead(number, pending, &mut found)?;
        }
        let ByKey { keys, pending: by_key } = self.by_key(&found)?;
        let mut rest = by_key.as_slice();
        let mut lookups = Vec::new();
        for of_group in keys.chunk_by(|a, b| a.group == b.group) {
            let (slot, kind) = self.keys.group(of_group.first()?.group)?;
            let mut targets = Vec::with_capacity(of_group.len());
            for of_key in of_group {
                let (pending, others) = rest.split_at_checked(of_key.count as usize)?;
                rest = others;
                targets.push(self.target(pending, depth)?);
            }
            let tests: Option<Vec<_>> = of_group.iter().map(|of| self.keys.key(of.key).map(|(_, key)| key)).collect();
            lookups.push((slot, Lookup::new(slot, kind, &tests?, targets, self.room)?));
        }
        lookups.sort_by_key(|(slot, _)| *slot);
        let lookups = lookups.into_iter().map(|(_, lookup)| lookup).collect();
        Some((self.nodes.add(lookups, self.slots)?, left_out))
    }

    fn weigh(&mut self, chosen: &[(u32, Pending)], depth: usize) {
        let choice =
            |(number, pending): &(u32, Pending)| self.choices.get(pending.first.saturating_add(*number) as usize);
        self.estimates.weigh(chosen.iter().filter_map(choice).map(|choice| choice.access), depth == 0);
    }

    /// Puts a rule behind the keys of a choice.
    fn lead(&mut self, number: u32, pending: Pending, found: &mut Vec<(KeyId, Pending)>) -> Option<()> {
        let keys = self.keys;
        let Choice { conjunct, access, may_fail } = *self.choices.get(pending.first.saturating_add(number) as usize)?;
        let access = keys.get(access)?;
        let left_then = pending.left & !1_u64.wrapping_shl(number);
        let proved = pending.proven | 1_u64.wrapping_shl(conjunct);
        let proven = if access.exact { proved } else { pending.proven };
        let proving = keys.list(access.proving).iter().map(|key| (key, proved));
        for (&key, proven) in keys.list(access.keys).iter().map(|key| (key, proven)).chain(proving) {
            let (slot, test) = keys.key(key)?;
            let step = self.notes.step(pending.step, slot, test, || self.estimates.of(key));
            found.push((key, Pending { left: left_then, proven, step, ..pending }));
        }
        for &absent in keys.list(access.undecided).iter().filter(|_| may_fail) {
            // What fails for the same reason finds nothing else.
            let fails = |choice: &Choice| {
                keys.get(choice.access).is_some_and(|access| keys.list(access.undecided).contains(&absent))
            };
            let others = left(&self.choices, &pending).filter(|(_, choice)| fails(choice));
            let left = others.fold(left_then, |left, (number, _)| left & !1_u64.wrapping_shl(number));
            let (slot, test) = keys.key(absent)?;
            let step = self.notes.step(pending.step, slot, test, || FAILING);
            found.push((absent, Pending { left, step, ..pending }));
        }
        Some(())
    }

    /// Sorts by group, then by key, and leaves those of a key in order; in linear time.
    fn by_key(&mut self, found: &[(KeyId, Pending)]) -> Option<ByKey> {
        let mut keys: Vec<OfKey> = Vec::new();
        for &(key, _) in found {
            let count = self.counts.get_mut(key as usize)?;
            if *count == 0 {
                keys.push(OfKey { group: self.keys.group_of(key)?, key, count: 0 });
            }
            *count = count.saturating_add(1);
        }
        // Of few groups, which is fast.
        keys.sort_by_key(|of| of.group);
        let mut first = 0_u32;
        for of in &mut keys {
            of.count = std::mem::replace(self.counts.get_mut(of.key as usize)?, first);
            first = first.saturating_add(of.count);
        }
        let mut pending: Vec<Pending> = found.iter().map(|(_, pending)| *pending).collect();
        for (key, of_key) in found {
            let place = self.counts.get_mut(*key as usize)?;
            *pending.get_mut(*place as usize)? = *of_key;
            *place = place.saturating_add(1);
        }
        for of in &keys {
            *self.counts.get_mut(of.key as usize)? = 0;
        }
        Some(ByKey { keys, pending })
    }

    /// What a key leads to.
    fn target(&mut self, pending: &[Pending], depth: usize) -> Option<Target> {
        let (mut node, mut here, own) = (None, pending, &mut Vec::new());
        let deeper = depth.saturating_add(1);
        let crowd = if self.always { 1 } else { CROWD };
        if pending.len() > crowd && deeper < DEEPEST {
            let (more, done): (Vec<_>, Vec<_>) = pending.iter().partition(|pending| pending.left != 0);
            *own = done;
            if more.len() > crowd {
                let (number, left) = self.node(&more, deeper)?;
                node = Some(number);
                own.extend(left);
            } else {
                own.extend(more);
            }
            here = own;
        }
        let mut cases = std::mem::take(&mut self.posted);
        cases.clear();
        for pending in here {
            let (case, todo) = self.case(pending)?;
            self.notes.end(pending.rule as usize, pending.step, pending.proven, todo);
            cases.push(case);
        }
        let target = self.nodes.target(&cases, node);
        self.posted = cases;
        target
    }

    /// The number of the case of a rule of which so much is proven.
    fn case(&mut self, pending: &Pending) -> Option<(u32, Todo)> {
        if let Some(known) = self.cases.known(pending) {
            return Some(known);
        }
        let rule = self.common.rules.get(pending.rule as usize)?;
        self.rest(rule, pending.proven);
        let todo = match self.rest.is_empty() {
            true => Todo::Matches,
            false if self.rests => {
                self.shapes.add(&self.common.graph, rule, &self.rest).map_or(Todo::Whole, Todo::Rest)
            }
            false => Todo::Whole,
        };
        Some((self.cases.add(pending, Case { rule: rule.number, todo })?, todo))
    }

    /// Finds out what is left of a rule: the conjuncts that are not known to be true, or, if none is, all of it.
    fn rest(&mut self, rule: &Placed, proven: u64) {
        self.rest.clear();
        if proven == 0 {
            self.rest.push(rule.root);
            return;
        }
        let is_left = |number: u32| proven.checked_shr(number).unwrap_or(0) & 1 == 0;
        let numbered = (0..).zip(conjuncts(self.common, &rule.root));
        self.rest.extend(numbered.filter(|(number, _)| is_left(*number)).map(|(_, &id)| id));
    }

    /// Whether rules may be found in that way: tables of patterns are large, and there is one for all rules.
    fn allowed(&self, access: &Access, depth: usize) -> bool {
        let is_pattern = |&group: &GroupId| self.keys.group(group).is_some_and(|(_, kind)| kind == MapKind::Pattern);
        depth == 0 && self.tables || !self.keys.list(access.groups).iter().any(is_pattern)
    }

    /// The best way to find a rule, of those that are allowed and better than none.
    fn best(&self, pending: &Pending, allowed: impl Fn(&Access) -> bool) -> Option<u32> {
        let mut best: Option<(u32, f64)> = None;
        for (number, choice) in left(&self.choices, pending) {
            if !self.keys.get(choice.access).is_some_and(|access| allowed(&access)) {
                continue;
            }
            // What fails without a value is found by its absence too.
            let failing = if choice.may_fail { FAILING } else { 0.0 };
            let chance = self.estimates.chance(choice.access) + failing;
            let most = if self.always { f64::INFINITY } else { COMMON };
            if chance < best.map_or(most, |(_, least)| least) {
                best = Some((number, chance));
            }
        }
        best.map(|(number, _)| number)
    }
}

/// Rules by the keys that lead to them.
struct ByKey {
    keys: Vec<OfKey>,
    /// Those of the first key, then those of the second, and so on.
    pending: Vec<Pending>,
}

struct OfKey {
    group: GroupId,
    key: KeyId,
    count: u32,
}

/// The cases, and where those of a rule are.
struct Cases {
    cases: Vec<Case>,
    /// By case: what is proven, and the case of the same rule before it.
    before: Vec<(u64, u32)>,
    /// By place of a rule in the common graph, its last case.
    last: Vec<u32>,
}

impl Cases {
    fn new(rules: usize) -> Self {
        Self { cases: Vec::new(), before: Vec::new(), last: vec![NONE; rules] }
    }

    /// The cases of a rule, the last first, with what is proven in them.
    fn of(&self, rule: u32) -> impl Iterator<Item = (u32, u64)> {
        let mut next = self.last.get(rule as usize).copied();
        std::iter::from_fn(move || {
            let number = next.filter(|number| *number != NONE)?;
            let (proven, before) = *self.before.get(number as usize)?;
            next = Some(before);
            Some((number, proven))
        })
    }

    fn known(&self, pending: &Pending) -> Option<(u32, Todo)> {
        let (number, _) = self.of(pending.rule).find(|(_, proven)| *proven == pending.proven)?;
        self.cases.get(number as usize).map(|case| (number, case.todo))
    }

    fn add(&mut self, pending: &Pending, case: Case) -> Option<u32> {
        let number = u32::try_from(self.cases.len()).ok().filter(|number| *number != NONE)?;
        let last = self.last.get_mut(pending.rule as usize)?;
        self.before.push((pending.proven, std::mem::replace(last, number)));
        self.cases.push(case);
        Some(number)
    }

    /// The cases by rule, of those of a rule the one that says most first; and the new number of each.
    fn in_order(self) -> (Vec<Case>, Vec<u32>) {
        let mut cases = Vec::with_capacity(self.cases.len());
        let mut numbers = vec![0; self.cases.len()];
        for rule in (0..).take(self.last.len()) {
            for wanted in [true, false] {
                for (old, _) in self.of(rule) {
                    let Some(case) = self.cases.get(old as usize) else { continue };
                    if (case.todo == Todo::Matches) == wanted
                        && let (Some(number), Ok(new)) = (numbers.get_mut(old as usize), u32::try_from(cases.len()))
                    {
                        *number = new;
                        cases.push(*case);
                    }
                }
            }
        }
        (cases, numbers)
    }
}
