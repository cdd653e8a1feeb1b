//! What the expressions of a policy may take together, whatever their phases. The first level may
//! take as much as one set of rules, each lower level a share of its own: what one takes is no
//! other's loss.

use crate::file::document::Document;
use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::Limits;
use std::collections::HashMap;

/// The part of the limits of one set of rules that each lower level has.
const SHARE_OF_LOWER_LEVEL: usize = 8;

/// What the expressions of a policy have taken so far.
#[derive(Clone, Debug)]
pub(crate) struct ExpressionBudget {
    /// The level of each file, by the file's number.
    levels: HashMap<usize, usize>,
    /// By level.
    taken: Vec<Taken>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    /// See [`Limits::case_steps`].
    case_steps: usize,
    /// See [`Limits::inlined_nodes`].
    inlined_nodes: usize,
}

impl ExpressionBudget {
    pub(crate) fn new(document: &Document) -> Self {
        let levels: HashMap<usize, usize> = document.levels().collect();
        let count = levels.values().max().map_or(1, |last| last.saturating_add(1));
        Self { levels, taken: vec![Taken::default(); count] }
    }

    /// Counts an expression. Returns false, and reports the first expression that exceeds the
    /// budget, if the expressions of its level up to it exceed it.
    pub(crate) fn take(
        &mut self,
        case_steps: usize,
        inlined_nodes: usize,
        limits: &Limits,
        text: &SourceText,
        problems: &mut Problems,
    ) -> bool {
        let (level, share) = self.share_of(text, limits);
        let Some(taken) = self.taken.get_mut(level) else { return true };
        let was_within = taken.is_within(&share);
        taken.case_steps = taken.case_steps.saturating_add(case_steps);
        taken.inlined_nodes = taken.inlined_nodes.saturating_add(inlined_nodes);
        if was_within && let Some((code, message, help)) = taken.excess(&share, level) {
            problems.add(code, text.place, message).help(help);
        }
        taken.is_within(&share)
    }

    /// Returns whether the expressions of the level of a text are within its budget so far.
    pub(crate) fn is_within(&self, text: &SourceText, limits: &Limits) -> bool {
        let (level, share) = self.share_of(text, limits);
        self.taken.get(level).is_none_or(|taken| taken.is_within(&share))
    }

    /// The level of a text, and what its expressions may take.
    fn share_of(&self, text: &SourceText, limits: &Limits) -> (usize, Taken) {
        let level = self.levels.get(&text.place.file).copied().unwrap_or(0);
        let share = |limit: usize| if level == 0 { limit } else { limit / SHARE_OF_LOWER_LEVEL };
        (level, Taken { case_steps: share(limits.case_steps), inlined_nodes: share(limits.inlined_nodes) })
    }
}

impl Taken {
    fn is_within(&self, share: &Self) -> bool {
        self.case_steps <= share.case_steps && self.inlined_nodes <= share.inlined_nodes
    }

    /// The limit that is exceeded: a code, what is wrong, and what to do.
    fn excess(&self, share: &Self, level: usize) -> Option<(&'static str, String, &'static str)> {
        let Self { case_steps, inlined_nodes } = *share;
        // The file that a diagnostic is about has the name of the level's owner.
        let whole = match level {
            0 => "the policy".to_owned(),
            level => format!("level {}", level.saturating_add(1)),
        };
        if self.case_steps > case_steps {
            let message =
                format!("up to here, the patterns of {whole} take more than {case_steps} steps for letter cases");
            let help = "write `(?s:.)` for any character, and `(?-i:..)` around classes that have all cases";
            return Some(("policy-patterns", message, help));
        }
        (self.inlined_nodes > inlined_nodes).then(|| {
            let message = format!(
                "up to here, the expressions of {whole} that use definitions have more than {inlined_nodes} nodes, the bodies of the definitions included"
            );
            ("policy-definitions", message, "use large definitions in fewer places, or make them smaller")
        })
    }
}
