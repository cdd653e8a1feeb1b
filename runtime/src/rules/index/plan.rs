//! The plan of an index: by which keys each rule is found, chosen by estimates, and the tree of lookups that results.

use super::Wanted;
use super::attribute::{AttributeSource, Attributes};
use super::conjuncts::{MAX_CONJUNCTS, conjuncts};
use super::estimate::{COMMON, CROWD, Estimates, FAILING};
use super::finder::{AccessPaths, Finder};
use super::findings::Candidate;
use super::keys::{AccessPath, AccessPathId, KeyGroupId, KeyId, Keys, LookupKind};
use super::lookup::{KeyGroup, Lookup, Target, with_literals_together};
use super::node::Nodes;
use super::patterns::OtherKeys;
use super::plan_trace::PlanTrace;
use super::residual::{Residual, Templates};
use super::unindexed::Unindexed;
use crate::function::NamedLists;
use crate::lower::merge::{MergedGraph, MergedRule};
use celero_ir::NodeId;
use celero_ir::layout::Field;
use celero_matching::pattern::{Dialect, PatternCache};

/// Most lookups on the way to a rule.
const DEEPEST: usize = 3;
/// Stands for "no number".
const NONE: u32 = u32::MAX;

/// The parts of an index, and the rules that it leaves out.
pub(super) struct Plan {
    pub(super) attributes: Attributes,
    pub(super) nodes: Nodes,
    pub(super) root: u32,
    pub(super) candidates: Vec<Candidate>,
    /// The unindexed rules, by their positions in the merged graph.
    pub(super) linear: Vec<usize>,
}

/// A conjunct by which a rule can be found.
#[derive(Clone, Copy, Debug)]
struct Choice {
    conjunct: u32,
    access: AccessPathId,
    /// Whether evaluations in which the conjunct fails must find the rule too.
    may_fail: bool,
}

/// A rule at a node of the tree.
#[derive(Clone, Copy)]
struct Pending {
    /// Position in the merged graph.
    rule: u32,
    /// Its first choice, and their number.
    first: u32,
    count: u32,
    /// The choices that have not been used on the way here, as bits.
    left: u64,
    /// The conjuncts that are known to be true, as bits.
    proven: u64,
    /// Number of the last step in the trace.
    step: u32,
}

struct Planner<'p> {
    merged: &'p MergedGraph,
    keys: &'p Keys,
    attributes: &'p Attributes,
    choices: Vec<Choice>,
    estimates: Estimates<'p>,
    /// Whether rules are indexed even where that is slower.
    always: bool,
    /// Whether state tables of patterns may be built.
    tables: bool,
    /// Whether residual predicates are compiled.
    rests: bool,
    /// Says the dialect of patterns, and bounds the memory of compiled ones.
    patterns: &'p PatternCache,
    nodes: Nodes,
    candidates: Candidates,
    templates: &'p mut Templates,
    trace: &'p mut PlanTrace,
    /// Working memory of `by_key`, indexed by key. Zero between uses.
    counts: Vec<u32>,
    /// Working memory: numbers of candidates.
    posted: Vec<u32>,
    /// Working memory: the conjuncts of a residual predicate.
    rest: Vec<NodeId>,
}

/// The keys of rules. They are the same whenever they are found, so that those of the first rules
/// can be found while later rules are not merged yet.
pub(in crate::rules) struct RuleKeys {
    paths: AccessPaths,
    others: OtherKeys,
}

impl RuleKeys {
    /// Without keys, with capacity for about those of this number of rules, whose patterns in CEL are of this dialect.
    pub(in crate::rules) fn with_capacity(rules: usize, dialect: Dialect) -> Self {
        Self { paths: AccessPaths::with_capacity(rules, dialect), others: OtherKeys::default() }
    }

    /// Finds the keys, but those of conditions that are patterns, of the rules that were merged since the last call.
    pub(in crate::rules) fn find(&mut self, merged: &MergedGraph, fields: &[Field], lists: Option<&NamedLists>) {
        self.others.count(merged, &mut Finder::new(merged, fields, lists, &mut self.paths));
    }
}

/// Plans the index of these rules, of which some may have `keys`. `None` if there are more than numbers allow.
pub(super) fn plan(
    merged: &MergedGraph,
    fields: &[Field],
    lists: Option<&NamedLists>,
    wanted: Wanted<'_>,
    mut keys: RuleKeys,
    templates: &mut Templates,
    trace: &mut PlanTrace,
) -> Option<Plan> {
    let (mut pending, mut linear, mut choices) = (Vec::new(), Vec::new(), Vec::new());
    if !wanted.always {
        keys.find(merged, fields, lists);
    }
    let RuleKeys { mut paths, others } = keys;
    let mut finder = Finder::new(merged, fields, lists, &mut paths);
    for (place, rule) in (0_u32..).zip(&merged.rules) {
        let first = choices.len();
        let conjuncts = conjuncts(merged, &rule.root);
        let patterns = wanted.always || !others.suffice(&mut finder, conjuncts);
        choose_from(&mut finder, conjuncts, (wanted.errors)(rule.number), patterns, &mut choices);
        let count = u32::try_from(choices.len().saturating_sub(first)).ok()?;
        if count == 0 {
            trace.left(place as usize, Unindexed::NoKey);
            linear.push(place as usize);
        } else {
            let left = u64::MAX.checked_shr(64_u32.saturating_sub(count)).unwrap_or(0);
            pending.push(Pending { rule: place, first: u32::try_from(first).ok()?, count, left, proven: 0, step: 0 });
        }
    }
    let AccessPaths { mut attributes, keys, .. } = paths;
    let mut planner = Planner {
        merged,
        keys: &keys,
        attributes: &attributes,
        choices,
        estimates: Estimates::new(&keys, &attributes),
        always: wanted.always,
        tables: wanted.always || wanted.native,
        rests: wanted.native || trace.wanted(),
        patterns: wanted.patterns,
        nodes: Nodes::default(),
        candidates: Candidates::new(merged.rules.len()),
        templates,
        trace,
        counts: vec![0; keys.len()[0]],
        posted: Vec::new(),
        rest: Vec::new(),
    };
    let (root, left) = planner.node(&pending, 0)?;
    linear.extend(left.iter().map(|pending| pending.rule as usize));
    linear.sort_unstable();
    let Planner { mut nodes, candidates, .. } = planner;
    let (candidates, numbers) = candidates.in_order();
    nodes.renumber(&numbers);
    attributes.finish(fields, nodes.attributes());
    Some(Plan { attributes, nodes, root, candidates, linear })
}

/// Adds the conjuncts by which a rule can be found. `patterns` says whether patterns count.
fn choose_from(finder: &mut Finder<'_>, conjuncts: &[NodeId], errors: bool, patterns: bool, choices: &mut Vec<Choice>) {
    let guards: Vec<AttributeSource> = if errors { finder.guards(conjuncts) } else { Vec::new() };
    for (conjunct, &id) in (0..).zip(conjuncts).take(MAX_CONJUNCTS) {
        let access = if patterns { finder.access(id) } else { finder.access_but_of_pattern(id) };
        let Some(access) = access else { continue };
        let Some(AccessPath { undecided, .. }) = finder.paths.keys.get(access) else { continue };
        // The rule is false if a value is absent whose presence another conjunct tests.
        let guarded = |key: &KeyId| {
            let attribute =
                finder.paths.keys.key(*key).and_then(|(attribute, _)| finder.paths.attributes.get(attribute));
            attribute.is_some_and(|attribute| guards.contains(&attribute.source))
        };
        let may_fail = errors && !finder.paths.keys.list(undecided).iter().all(guarded);
        choices.push(Choice { conjunct, access, may_fail });
    }
}

/// The choices of a rule that have not been used yet, each with its number.
fn left(choices: &[Choice], pending: &Pending) -> impl Iterator<Item = (u32, Choice)> + Clone {
    let all = choices.get(pending.first as usize..).unwrap_or_default();
    let left = pending.left;
    (0..pending.count).zip(all.iter().copied()).filter(move |(number, _)| left.wrapping_shr(*number) & 1 != 0)
}

impl<'p> Planner<'p> {
    /// Builds a node that finds rules. Returns its number and the rules that it leaves out.
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
        // A lookup with few keys costs more than it saves. Its rules may be found by other keys.
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
            let why = if number < too_common { Unindexed::TooCommon } else { Unindexed::TooFew };
            self.trace.left(pending.rule as usize, why);
        }
        let mut found = Vec::with_capacity(chosen.len());
        for (number, pending) in chosen {
            self.lead(number, pending, &mut found)?;
        }
        let ByKey { keys, pending: by_key } = self.by_key(&found)?;
        let mut rest = by_key.as_slice();
        let mut groups = Vec::new();
        for of_group in keys.chunk_by(|a, b| a.group == b.group) {
            let (attribute, kind) = self.keys.group(of_group.first()?.group)?;
            let mut targets = Vec::with_capacity(of_group.len());
            for of_key in of_group {
                let (pending, others) = rest.split_at_checked(of_key.count as usize)?;
                rest = others;
                targets.push(self.target(pending, depth)?);
            }
            let tests: Option<Vec<_>> = of_group.iter().map(|of| self.keys.key(of.key).map(|(_, key)| key)).collect();
            groups.push(KeyGroup { attribute, kind, tests: tests?, targets });
        }
        let mut lookups = Vec::with_capacity(groups.len());
        for KeyGroup { attribute, kind, tests, targets } in with_literals_together(groups) {
            let value = self.attributes.get(attribute)?.kind;
            lookups.push(Lookup::new((attribute, value), kind, &tests, targets, self.patterns)?);
        }
        Some((self.nodes.add(lookups, self.attributes)?, left_out))
    }

    fn weigh(&mut self, chosen: &[(u32, Pending)], depth: usize) {
        let choice =
            |(number, pending): &(u32, Pending)| self.choices.get(pending.first.saturating_add(*number) as usize);
        self.estimates.weigh(chosen.iter().filter_map(choice).map(|choice| choice.access), depth == 0);
    }

    /// Puts a rule behind all keys of a choice.
    fn lead(&mut self, number: u32, pending: Pending, found: &mut Vec<(KeyId, Pending)>) -> Option<()> {
        let keys = self.keys;
        let Choice { conjunct, access, may_fail } = *self.choices.get(pending.first.saturating_add(number) as usize)?;
        let access = keys.get(access)?;
        let left_then = pending.left & !1_u64.wrapping_shl(number);
        let proved = pending.proven | 1_u64.wrapping_shl(conjunct);
        let proven = if access.exact { proved } else { pending.proven };
        let proving = keys.list(access.proving).iter().map(|key| (key, proved));
        for (&key, proven) in keys.list(access.keys).iter().map(|key| (key, proven)).chain(proving) {
            let (attribute, test) = keys.key(key)?;
            let step = self.trace.step(pending.step, attribute, test, || self.estimates.of(key));
            found.push((key, Pending { left: left_then, proven, step, ..pending }));
        }
        for &absent in keys.list(access.undecided).iter().filter(|_| may_fail) {
            // Other conjuncts that fail without the same value can't find the rule there.
            let fails = |choice: &Choice| {
                keys.get(choice.access).is_some_and(|access| keys.list(access.undecided).contains(&absent))
            };
            let others = left(&self.choices, &pending).filter(|(_, choice)| fails(choice));
            let left = others.fold(left_then, |left, (number, _)| left & !1_u64.wrapping_shl(number));
            let (attribute, test) = keys.key(absent)?;
            let step = self.trace.step(pending.step, attribute, test, || FAILING);
            found.push((absent, Pending { left, step, ..pending }));
        }
        Some(())
    }

    /// Sorts by group, then by key. Stable, in linear time.
    fn by_key(&mut self, found: &[(KeyId, Pending)]) -> Option<ByKey> {
        let mut keys: Vec<OfKey> = Vec::new();
        for &(key, _) in found {
            let count = self.counts.get_mut(key as usize)?;
            if *count == 0 {
                keys.push(OfKey { group: self.keys.group_of(key)?, key, count: 0 });
            }
            *count = count.saturating_add(1);
        }
        // There are few groups: this is fast.
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

    /// Builds the target of a key.
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
        let mut candidates = std::mem::take(&mut self.posted);
        candidates.clear();
        for pending in here {
            let (candidate, residual) = self.candidate(pending)?;
            self.trace.end(pending.rule as usize, pending.step, pending.proven, residual);
            candidates.push(candidate);
        }
        let target = self.nodes.target(&candidates, node);
        self.posted = candidates;
        target
    }

    /// Returns the candidate of a rule for these proven conjuncts, and what remains to be evaluated.
    fn candidate(&mut self, pending: &Pending) -> Option<(u32, Residual)> {
        if let Some(known) = self.candidates.known(pending) {
            return Some(known);
        }
        let rule = self.merged.rules.get(pending.rule as usize)?;
        self.rest(rule, pending.proven);
        let residual = match self.rest.is_empty() {
            true => Residual::None,
            false if self.rests => {
                self.templates.add(self.merged, rule, &self.rest).map_or(Residual::Interpreted, Residual::Native)
            }
            false => Residual::Interpreted,
        };
        Some((self.candidates.add(pending, Candidate { rule: rule.number, residual })?, residual))
    }

    /// Collects the conjuncts that are not proven; the whole condition if none is.
    fn rest(&mut self, rule: &MergedRule, proven: u64) {
        self.rest.clear();
        if proven == 0 {
            self.rest.push(rule.placed);
            return;
        }
        let is_left = |number: u32| proven.checked_shr(number).unwrap_or(0) & 1 == 0;
        let numbered = (0..).zip(conjuncts(self.merged, &rule.placed));
        self.rest.extend(numbered.filter(|(number, _)| is_left(*number)).map(|(_, &id)| id));
    }

    /// Whether a node may use an access path. State tables of patterns are large, so that only the first node has them.
    fn allowed(&self, access: &AccessPath, depth: usize) -> bool {
        let is_pattern =
            |&group: &KeyGroupId| self.keys.group(group).is_some_and(|(_, kind)| kind == LookupKind::Pattern);
        depth == 0 && self.tables || !self.keys.list(access.groups).iter().any(is_pattern)
    }

    /// The number of the most selective choice of a rule among those that are allowed; `None` if no
    /// choice is worth a lookup.
    fn best(&self, pending: &Pending, allowed: impl Fn(&AccessPath) -> bool) -> Option<u32> {
        let mut best: Option<(u32, f64)> = None;
        for (number, choice) in left(&self.choices, pending) {
            if !self.keys.get(choice.access).is_some_and(|access| allowed(&access)) {
                continue;
            }
            // The rule is also found where the value is absent.
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
    /// The rules of the first key, then those of the second, and so on.
    pending: Vec<Pending>,
}

struct OfKey {
    group: KeyGroupId,
    key: KeyId,
    count: u32,
}

/// The candidates, linked by rule.
struct Candidates {
    candidates: Vec<Candidate>,
    /// Indexed by candidate: the conjuncts that are proven, and the previous candidate of the same rule.
    before: Vec<(u64, u32)>,
    /// Indexed by position in the merged graph: the last candidate of the rule.
    last: Vec<u32>,
}

impl Candidates {
    fn new(rules: usize) -> Self {
        Self { candidates: Vec::new(), before: Vec::new(), last: vec![NONE; rules] }
    }

    /// The candidates of a rule, the last first, with the conjuncts that are proven.
    fn of(&self, rule: u32) -> impl Iterator<Item = (u32, u64)> {
        let mut next = self.last.get(rule as usize).copied();
        std::iter::from_fn(move || {
            let number = next.filter(|number| *number != NONE)?;
            let (proven, before) = *self.before.get(number as usize)?;
            next = Some(before);
            Some((number, proven))
        })
    }

    fn known(&self, pending: &Pending) -> Option<(u32, Residual)> {
        let (number, _) = self.of(pending.rule).find(|(_, proven)| *proven == pending.proven)?;
        self.candidates.get(number as usize).map(|candidate| (number, candidate.residual))
    }

    fn add(&mut self, pending: &Pending, candidate: Candidate) -> Option<u32> {
        let number = u32::try_from(self.candidates.len()).ok().filter(|number| *number != NONE)?;
        let last = self.last.get_mut(pending.rule as usize)?;
        self.before.push((pending.proven, std::mem::replace(last, number)));
        self.candidates.push(candidate);
        Some(number)
    }

    /// Sorts the candidates by rule; of one rule, those without a residual predicate come first.
    /// Returns the new number of each.
    fn in_order(self) -> (Vec<Candidate>, Vec<u32>) {
        let mut candidates = Vec::with_capacity(self.candidates.len());
        let mut numbers = vec![0; self.candidates.len()];
        for rule in (0..).take(self.last.len()) {
            for wanted in [true, false] {
                for (old, _) in self.of(rule) {
                    let Some(candidate) = self.candidates.get(old as usize) else { continue };
                    if (candidate.residual == Residual::None) == wanted
                        && let (Some(number), Ok(new)) =
                            (numbers.get_mut(old as usize), u32::try_from(candidates.len()))
                    {
                        *number = new;
                        candidates.push(*candidate);
                    }
                }
            }
        }
        (candidates, numbers)
    }
}
