//! The static costs of the expressions of a policy: their bound, and for a check what each has.

use crate::expressions::purpose::Purpose;
use crate::file::document::Document;
use crate::host::environment::HostEnvironment;
use crate::host::outcome::Phase;
use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::diagnostics::Span;
use celero::settings::{CheckedRule, Limits, StaticCost};
use std::sync::Arc;

/// The static cost of an expression of a policy: of a condition, or of a part of a template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExpressionCost {
    /// The phase in which it is evaluated.
    pub phase: Phase,
    /// The rule, by its name; of `countWhen` the limit.
    pub rule: Arc<str>,
    pub(crate) file: usize,
    /// Its place in its file, in bytes.
    pub span: Span,
    /// Its cost, without the few operations that compare the `method` of a rule. Bodies of definitions count where they
    /// are used.
    pub cost: StaticCost,
    /// The place in the file of the innermost part that takes more than half of the operations, where lists and maps
    /// have [`elements`](Self::elements) elements.
    pub part: Span,
    /// The elements that lists and maps are taken to have.
    pub elements: u64,
}

/// Bounds the costs of expressions, and collects them.
#[derive(Clone, Debug)]
pub(crate) struct ExpressionCosts {
    /// The most operations of an expression.
    bound: Option<u64>,
    /// Whether the policy sets it, and not its host.
    is_own: bool,
    /// The rule whose expressions are compiled.
    pub(crate) rule: Arc<str>,
    /// `None`: they are not collected.
    collected: Option<Vec<ExpressionCost>>,
}

impl ExpressionCosts {
    /// The lower bound of a policy's own and that of its host counts.
    pub(crate) fn new(document: &Document, host: &HostEnvironment, purpose: Purpose, problems: &mut Problems) -> Self {
        let own = document.number("defaults", "maxOperations", problems);
        let hosts = host.max_operations();
        Self {
            bound: own.into_iter().chain(hosts).min(),
            is_own: own.is_some_and(|own| hosts.is_none_or(|hosts| own <= hosts)),
            rule: Arc::from(""),
            collected: (purpose == Purpose::Check).then(Vec::new),
        }
    }

    /// Takes an expression that starts at byte `start` of a text. Returns whether its cost is within the bound;
    /// reports the part to blame if not.
    pub(crate) fn take(
        &mut self,
        checked: &CheckedRule,
        phase: Phase,
        text: &SourceText,
        start: usize,
        limits: &Limits,
        problems: &mut Problems,
    ) -> bool {
        let elements = limits.elements;
        if let Some(mut error) = self.bound.and_then(|bound| checked.too_costly(bound, elements)) {
            let whose = if self.is_own { "`maxOperations` in `defaults`" } else { "the host of the policy" };
            error.help.push(format!("the limit is set by {whose}"));
            problems.of_expression(text, start, &error);
            return false;
        }
        if let Some(collected) = &mut self.collected {
            let whole = Span::new(0, u32::try_from(checked.source().len()).unwrap_or(u32::MAX));
            let part = checked.costliest_part(elements).map_or(whole, |part| part.span);
            let [span, part] = [whole, part].map(|span| problems.placed(text, start, span));
            let (rule, file, cost) = (Arc::clone(&self.rule), text.place.file, checked.static_cost());
            collected.push(ExpressionCost { phase, rule, file, span, cost, part, elements });
        }
        true
    }

    /// Returns what was collected.
    pub(crate) fn into_collected(self) -> Vec<ExpressionCost> {
        self.collected.unwrap_or_default()
    }
}
