//! Warnings about rules that their set makes pointless: those that are never true, that an earlier
//! rule repeats, or that are never the first to match.
//!
//! A rule is true where all its conjuncts are. Conjuncts are nodes of the merged graph, so equal
//! ones have equal numbers. If each conjunct of an earlier rule is one of this rule's conjuncts, or
//! follows from one (`implied`), the earlier rule is true wherever this rule is. Where this rule
//! fails, the earlier one fails or is true, so errors make no difference if both have the same
//! policy for them, or if this rule never fails. Warnings ignore that an evaluation may run out of budget.

use super::ErrorPolicy;
use super::implied::{Implied, Test};
use crate::lint::{self, DUPLICATE_RULE, NEVER_MATCHES, SHADOWED_RULE};
use crate::lower::merge::{MergedGraph, MergedRule};
use celero_frontend::{Diagnostic, Label, Severity, Span, Stage};
use celero_ir::layout::Field as Layout;
use celero_ir::{Constant, Graph, NodeId, Op};
use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Most warnings of a set, in addition to those about single rules.
const MAX: usize = 1000;
/// Most conjuncts of a rule that are compared with one another.
const MAX_CONJUNCTS: usize = 32;
/// Most earlier rules that one is compared with.
const MAX_COMPARED: usize = 64;
/// Most nodes of a conjunct that are looked at to know whether it can fail.
const MAX_VISITED: usize = 64;

/// Facts about a rule, in addition to the merged graph.
pub(super) struct Facts<'r> {
    pub(super) name: &'r str,
    /// Sorted.
    pub(super) tags: &'r [u32],
    pub(super) on_error: ErrorPolicy,
    /// The first rule that is asked even where this one matches.
    pub(super) shadows_until: usize,
    /// Its whole expression.
    pub(super) span: Span,
    /// Whether the warnings about this single rule say why it is constant.
    pub(super) explained: bool,
}

/// Whether the warnings about a single rule say why it is constant, if it is.
pub(super) fn explain(warnings: &[Diagnostic]) -> bool {
    let explains = [lint::CONSTANT_CONDITION, lint::NEVER_EQUAL, lint::NEVER_VALID];
    warnings.iter().any(|warning| explains.contains(&warning.code))
}

/// What the rules of a set make of one another.
#[derive(Default)]
pub(super) struct Found {
    /// By rule, in order.
    pub(super) warnings: Vec<(usize, Diagnostic)>,
    /// Rules that an earlier one makes pointless, with that one, in order.
    pub(super) shadowed: Vec<(u32, u32)>,
}

/// The warnings about a set for a host with these fields. The facts are of all rules; the work is
/// about linear in the graph.
pub(super) fn warnings(merged: &MergedGraph, facts: &[Facts<'_>], fields: &[Layout]) -> Found {
    let graph = &merged.graph;
    let mut counts = vec![0_u32; graph.len()];
    let mut rules = Vec::with_capacity(merged.rules.len());
    for rule in &merged.rules {
        let condition = Condition::of(graph, rule.root);
        if let Condition::Conjuncts(conjuncts) = &condition {
            for conjunct in conjuncts {
                if let Some(count) = counts.get_mut(conjunct.0 as usize) {
                    *count = count.saturating_add(1);
                }
            }
        }
        rules.push((rule, condition));
    }
    let (always, by_conjunct, implied) = (Vec::new(), HashMap::default(), Implied::default());
    let mut earlier = Earlier { graph, fields, counts, facts, always, by_conjunct, implied };
    let mut found = Vec::new();
    let mut shadowed = Vec::new();
    for (rule, condition) in &rules {
        let Some(of) = facts.get(rule.number as usize) else { continue };
        if found.len() >= MAX {
            break;
        }
        let warning = match condition {
            Condition::Conjuncts(conjuncts) => match exclusive(graph, conjuncts) {
                Some(_) if of.on_error == ErrorPolicy::Match && !never_fail(graph, fields, conjuncts) => None,
                Some(both) => Some(contradiction(merged, rule, both, of)),
                None => earlier.shadowing(rule.number, conjuncts, of).map(|(other, is_repeated)| {
                    shadowed.push((rule.number, other));
                    earlier.warning(other, is_repeated, of)
                }),
            },
            Condition::Fails if of.on_error == ErrorPolicy::Match => None,
            _ if of.explained => None,
            Condition::Fails => {
                Some(warning(of, NEVER_MATCHES, "this rule never matches: its condition always fails".into(), ""))
            }
            Condition::Never => {
                Some(warning(of, NEVER_MATCHES, "this rule never matches: its condition is always false".into(), ""))
            }
        };
        found.extend(warning.map(|warning| (rule.number as usize, warning)));
    }
    Found { warnings: found, shadowed }
}

fn warning(of: &Facts<'_>, code: &'static str, message: String, help: &str) -> Diagnostic {
    let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
    let (severity, stage) = (Severity::Warning, Stage::Check);
    Diagnostic { severity, stage, code, message, span: of.span, labels: Vec::new(), help }
}

/// Whether conjuncts have values for every host, unless that exceeds the budget. Errs on the side of no.
fn never_fail(graph: &Graph, fields: &[Layout], conjuncts: &[NodeId]) -> bool {
    let is_sure = |id: NodeId| match graph.op(id) {
        Op::Field(field) => fields.get(field as usize).is_some_and(Layout::is_sure),
        op => !op.fails_within_budget(graph.ty(id)),
    };
    let never_fails = |id: NodeId| {
        let mut pending = vec![id];
        for _ in 0..MAX_VISITED {
            let Some(id) = pending.pop() else { return true };
            if !is_sure(id) {
                return false;
            }
            pending.extend_from_slice(graph.args(id));
        }
        false
    };
    conjuncts.len() <= MAX_CONJUNCTS && conjuncts.iter().all(|id| never_fails(*id))
}

/// Two conjuncts that are never true at once.
fn exclusive(graph: &Graph, conjuncts: &[NodeId]) -> Option<[NodeId; 2]> {
    let tests = conjuncts.iter().take(MAX_CONJUNCTS).filter_map(|&id| Some((id, Test::of(graph, id)?)));
    let mut before: Vec<(NodeId, Test<'_>)> = Vec::new();
    for (id, test) in tests {
        if let Some((other, _)) = before.iter().find(|(_, other)| other.excludes(&test)) {
            return Some([*other, id]);
        }
        before.push((id, test));
    }
    None
}

fn contradiction(merged: &MergedGraph, rule: &MergedRule, both: [NodeId; 2], of: &Facts<'_>) -> Diagnostic {
    let message = "this rule never matches: two of its conditions exclude each other".to_owned();
    let label = |id: NodeId| {
        let origin = merged.origin(rule, id);
        Label { span: Span::new(origin.start, origin.end), text: "never true together with the other".to_owned() }
    };
    Diagnostic { labels: both.map(label).into(), ..warning(of, NEVER_MATCHES, message, "") }
}

/// When a rule is true.
enum Condition {
    /// Where all of these are; sorted, each once.
    Conjuncts(SmallVec<[NodeId; 4]>),
    Never,
    Fails,
}

impl Condition {
    fn of(graph: &Graph, root: NodeId) -> Self {
        match graph.op(root) {
            Op::Fail(_) => Self::Fails,
            Op::Const(constant) => match graph.constant_at(constant) {
                Some(Constant::Bool(true)) => Self::Conjuncts(SmallVec::new()),
                _ => Self::Never,
            },
            Op::And => {
                let mut conjuncts = SmallVec::from_slice(graph.args(root));
                conjuncts.sort_unstable();
                conjuncts.dedup();
                Self::Conjuncts(conjuncts)
            }
            _ => Self::Conjuncts(smallvec![root]),
        }
    }
}

/// Rules, with all their conjuncts.
type RulesOfConjunct<'c> = SmallVec<[(u32, &'c [NodeId]); 1]>;

/// Rules that came before, without those that one before them makes pointless.
struct Earlier<'c, 'r> {
    graph: &'c Graph,
    fields: &'r [Layout],
    /// By node, of how many rules it is a conjunct.
    counts: Vec<u32>,
    facts: &'c [Facts<'r>],
    /// Rules that are always true.
    always: Vec<u32>,
    /// The others, by the conjunct that the fewest rules have.
    by_conjunct: HashMap<NodeId, RulesOfConjunct<'c>, FixedState>,
    /// Their conjuncts.
    implied: Implied<'c>,
}

impl<'c> Earlier<'c, '_> {
    /// The earlier rule that makes the next one pointless, and whether it is the same. If there is
    /// none, the next one is an earlier one from now on.
    fn shadowing(&mut self, number: u32, conjuncts: &'c [NodeId], of: &Facts<'_>) -> Option<(u32, bool)> {
        if let Some(found) = self.covering(number, conjuncts, of) {
            return Some(found);
        }
        if of.shadows_until <= number as usize {
            return None;
        }
        for &conjunct in conjuncts {
            self.implied.add(self.graph, conjunct);
        }
        let count = |conjunct: &&NodeId| self.counts.get(conjunct.0 as usize).copied().unwrap_or(0);
        match conjuncts.iter().min_by_key(count) {
            Some(rarest) => self.by_conjunct.entry(*rarest).or_default().push((number, conjuncts)),
            None => self.always.push(number),
        }
        None
    }

    /// The warning about a rule that another one makes pointless.
    fn warning(&self, other: u32, is_repeated: bool, of: &Facts<'_>) -> Diagnostic {
        let name = self.facts.get(other as usize).map_or("", |other| other.name);
        if is_repeated {
            let message = format!("this is the condition of rule {other} (`{name}`) again");
            return warning(of, DUPLICATE_RULE, message, "");
        }
        let message =
            format!("never the first match: rule {other} (`{name}`) comes before, and is true wherever this is");
        warning(of, SHADOWED_RULE, message, "give this rule a smaller priority, or the other a narrower condition")
    }

    /// An earlier rule that is true wherever this one is, and whether it is the same.
    fn covering(&self, number: u32, conjuncts: &[NodeId], of: &Facts<'_>) -> Option<(u32, bool)> {
        let no_match = of.on_error == ErrorPolicy::NoMatch || never_fail(self.graph, self.fields, conjuncts);
        // A rule that has a tag which the other has not can be the first of that tag, and one that
        // counts as another where it fails the first there.
        let concerned = |other: u32| {
            self.facts.get(other as usize).is_some_and(|other| {
                let fails_alike = no_match || of.on_error == other.on_error;
                let reaches = other.shadows_until > number as usize;
                reaches && fails_alike && of.tags.iter().all(|tag| other.tags.binary_search(tag).is_ok())
            })
        };
        if let Some(&other) = self.always.iter().take(MAX_COMPARED).find(|other| concerned(**other)) {
            return Some((other, conjuncts.is_empty()));
        }
        let mut all = conjuncts.to_vec();
        self.implied.extend(self.graph, &mut all);
        let near = all.iter().filter_map(|conjunct| self.by_conjunct.get(conjunct)).flatten();
        let has = |conjunct: &NodeId| all.binary_search(conjunct).is_ok();
        let mut covering = near.take(MAX_COMPARED).filter(|(_, fewer)| fewer.iter().all(has));
        let (other, fewer) = covering.find(|(other, _)| concerned(*other))?;
        Some((*other, *fewer == conjuncts))
    }
}
