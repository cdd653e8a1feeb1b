//! The index of a set: finds the rules that may be true without looking at the others.
//!
//! For each rule one conjunct is chosen whose tests (*keys*) must hold if the rule is true
//! (`access_path`, `plan`), so that few rules are found in vain (`estimate`). All keys of one kind
//! on one field or header (an *attribute*) are looked up at once (`lookup`, `node`). What remains
//! to be evaluated of a rule that was found, its *residual predicate*, is native code that similar
//! rules share (`residual`).
//!
//! Invariant: a rule that the index does not find is false or, under a policy where failures do not match, false or
//! failing. So a rule whose conjunct fails on an absent value is indexed under that absence too, unless an earlier
//! conjunct tests for presence. Test: `runtime/tests/it/index/failures.rs::failures_are_those_of_the_rules_alone`.

mod access_path;
mod attribute;
mod conjuncts;
mod estimate;
mod field_reader;
mod finder;
mod findings;
mod keys;
mod lookup;
mod node;
mod numbers;
mod patterns;
mod plan;
mod plan_trace;
mod residual;
mod subject;
mod unindexed;

pub(super) use findings::Mode;
pub(super) use plan::RuleKeys;
pub(super) use plan_trace::PlanTrace;
pub(super) use residual::{Residual, Templates};
pub use unindexed::Unindexed;

use crate::arena::Arena;
use crate::function::NamedLists;
use crate::lower::merge::MergedGraph;
use crate::native::HostData;
use crate::rules::excluded::Excluded;
use crate::scratch::IndexSearch;
use attribute::Attributes;
use celero_ir::layout::Field;
use celero_lists::View as ListsView;
use celero_matching::pattern::PatternCache;
use field_reader::FieldReader;
use findings::{Candidate, Findings};
use node::{Memory, Nodes};

/// The index of a rule set.
#[derive(Debug)]
pub(super) struct Index {
    attributes: Attributes,
    nodes: Nodes,
    root: u32,
    /// Sorted by rule.
    candidates: Box<[Candidate]>,
    /// Whether nothing remains to be evaluated of any rule that is found.
    proves: bool,
}

/// An index, and the rules that it leaves out.
pub(super) struct Indexed {
    pub(super) index: Index,
    /// The unindexed rules, by their positions in the merged graph.
    pub(super) linear: Vec<usize>,
}

/// How an index is built.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Whether the rule of a number must be found where it fails, as well as where it is true.
    pub(super) errors: &'w dyn Fn(u32) -> bool,
    /// Whether rules are indexed even where that is slower.
    pub(super) always: bool,
    /// Whether the set is compiled to native code. Residual predicates and state tables of patterns are made only then.
    pub(super) native: bool,
    /// Says the dialect of patterns, and bounds the memory of compiled ones.
    pub(super) patterns: &'w PatternCache,
}

/// Builds an index of the rules for which that is faster than evaluating them. Residual predicates
/// are added to `templates`. `None` if no rule is worth indexing. `lists` are those that rules may
/// ask, `keys` those that are known already.
pub(super) fn index(
    merged: &MergedGraph,
    fields: &[Field],
    lists: Option<&NamedLists>,
    wanted: Wanted<'_>,
    keys: RuleKeys,
    templates: &mut Templates,
    trace: &mut PlanTrace,
) -> Option<Indexed> {
    let plan =
        plan::plan(merged, fields, lists, wanted, keys, templates, trace).filter(|plan| !plan.candidates.is_empty())?;
    let index = Index {
        attributes: plan.attributes,
        nodes: plan.nodes,
        root: plan.root,
        proves: plan.candidates.iter().all(|candidate| candidate.residual == Residual::None),
        candidates: plan.candidates.into(),
    };
    Some(Indexed { index, linear: plan.linear })
}

impl Index {
    /// Number of indexed rules.
    pub(super) fn len(&self) -> usize {
        self.candidates.chunk_by(|a, b| a.rule == b.rule).count()
    }

    /// Number of indexed rules whose parameter rows all satisfy `row`.
    pub(super) fn len_with(&self, row: impl Fn(u32) -> bool) -> usize {
        let fits = |candidate: &Candidate| match candidate.residual {
            Residual::None => true,
            Residual::Native(number) => row(number),
            Residual::Interpreted => false,
        };
        self.candidates.chunk_by(|a, b| a.rule == b.rule).filter(|candidates| candidates.iter().all(fits)).count()
    }

    /// Whether each rule that is found is true.
    pub(super) fn proves(&self) -> bool {
        self.proves
    }

    /// Number of lookups, and of those that each evaluation does.
    pub(super) fn lookups(&self) -> (usize, usize) {
        (self.nodes.lookups(), self.nodes.lookups_of(self.root))
    }

    /// The indexed rules, in order.
    pub(super) fn rules(&self) -> impl Iterator<Item = u32> {
        self.candidates
            .chunk_by(|a, b| a.rule == b.rule)
            .filter_map(|candidates| candidates.first())
            .map(|candidate| candidate.rule)
    }

    /// The parameter rows of residual predicates: pairs of rule and row.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, u32)> {
        self.candidates.iter().filter_map(|candidate| match candidate.residual {
            Residual::Native(row) => Some((candidate.rule, row)),
            _ => None,
        })
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.bytes().saturating_add(size_of_val(&*self.candidates))
    }

    /// Finds the rules that may be true. All other indexed rules are false, or fail without
    /// changing the answer. Rules that can't matter for what is `asked` may be missing. `lists` are
    /// the named lists of the evaluation.
    #[inline(never)]
    pub(super) fn search(
        &self,
        host: HostData<'_>,
        arena: &mut Arena,
        search: &mut IndexSearch,
        mode: Mode,
        excluded: Option<&Excluded>,
        lists: Option<&ListsView>,
    ) -> Found {
        arena.recycle(usize::MAX);
        let IndexSearch { found, pending, reads, keys } = search;
        let mut findings = Findings::new(found, &self.candidates, mode, excluded);
        let mut reader = FieldReader::new(&self.attributes, host, arena, reads);
        match self.nodes.gather(self.root, &mut reader, &mut findings, Memory { pending, keys, lists }) {
            Err(_) => Found::All,
            Ok(()) if found.is_empty() => Found::Nothing,
            Ok(()) => Found::Some,
        }
    }

    /// The rules that the last search found, in order, each once, with what remains to be evaluated.
    #[inline]
    pub(super) fn found<'s>(&'s self, search: &'s mut IndexSearch) -> impl Iterator<Item = (u32, Residual)> + 's {
        search.found.sort_unstable();
        let mut last = None;
        let candidates = search.found.iter().filter_map(|&candidate| self.candidates.get(candidate as usize));
        candidates.filter_map(move |candidate| {
            let is_new = last.replace(candidate.rule) != Some(candidate.rule);
            is_new.then_some((candidate.rule, candidate.residual))
        })
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No rule.
    Nothing,
    /// The rules of [`Index::found`].
    Some,
    /// An attribute can't be read, so each indexed rule may be true.
    All,
}

#[cfg(test)]
mod tests {
    use crate::sets::Indexing;
    use crate::{Bindings, Engine, Env, Scratch, Type, Value};

    #[test]
    fn a_text_that_repeats_keys_finds_each_candidate_once() {
        let env = Env::<Bindings<'static>>::dynamic().variable("path", Type::String).variable("n", Type::Int);
        let rules = (0..64).fold(Engine::new().rules(&env), |rules, n| {
            let key = ["qzjx", "wkvy"][n % 2];
            rules.rule("", &format!("path.contains('{key}') && n % 64 == {n}"), ())
        });
        let set = rules.index(Indexing::Always).build().unwrap();
        let text = "qzjxwkvy".repeat(1000);
        let mut call = Bindings::new(&env);
        call.set("path", Value::String(&text)).unwrap();
        call.set("n", Value::Int(5)).unwrap();
        let mut scratch = Scratch::new();
        assert_eq!(set.count(&call, &mut scratch).unwrap(), 1);
        assert_eq!(scratch.search.found.len(), 64);
    }
}
