//! What all expressions of a policy may take together, whatever their phases: the limits that the engine has for one set of rules.

use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::{CheckedRule, Limits};

/// What the expressions of a policy have taken so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpressionBudget {
    /// See [`Limits::case_steps`].
    case_steps: usize,
    /// See [`Limits::inlined_nodes`].
    inlined_nodes: usize,
}

impl ExpressionBudget {
    /// Counts an expression. Returns false, and reports the first expression that exceeds the budget, if the expressions up to it exceed it.
    pub(crate) fn take(
        &mut self,
        checked: &CheckedRule,
        limits: &Limits,
        text: &SourceText,
        problems: &mut Problems,
    ) -> bool {
        let was_within = self.is_within(limits);
        self.case_steps = self.case_steps.saturating_add(checked.case_steps());
        self.inlined_nodes = self.inlined_nodes.saturating_add(checked.inlined_nodes());
        if was_within && let Some((code, message, help)) = self.excess(limits) {
            problems.add(code, text.place, message).help(help);
        }
        self.is_within(limits)
    }

    pub(crate) fn is_within(&self, limits: &Limits) -> bool {
        self.case_steps <= limits.case_steps && self.inlined_nodes <= limits.inlined_nodes
    }

    /// The limit that is exceeded: a code, what is wrong, and what to do.
    fn excess(&self, limits: &Limits) -> Option<(&'static str, String, &'static str)> {
        let Limits { case_steps, inlined_nodes, .. } = *limits;
        if self.case_steps > case_steps {
            let message =
                format!("up to here, the patterns of the policy take more than {case_steps} steps for letter cases");
            let help = "write `(?s:.)` for any character, and `(?-i:..)` around classes that have all cases";
            return Some(("policy-patterns", message, help));
        }
        (self.inlined_nodes > inlined_nodes).then(|| {
            let message = format!(
                "up to here, the expressions that use definitions have more than {inlined_nodes} nodes, the bodies of the definitions included"
            );
            ("policy-definitions", message, "use large definitions in fewer places, or make them smaller")
        })
    }
}
