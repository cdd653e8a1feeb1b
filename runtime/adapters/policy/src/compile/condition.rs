//! Conditions of rules.
//!
//! A rule with `method` has one condition more, that the request is a call of the method. It is
//! part of the rule's condition in the set, so that the index, and what is known of rules that are
//! never reached, follow from it.

use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::Diagnostic;
use celero::diagnostics::Span;
use celero::settings::CheckedRule;
use std::sync::Arc;

/// A condition as it stands in the file, and checked.
pub(super) struct Condition {
    /// That of `when`, else that of `method`.
    pub(super) text: SourceText,
    /// `None` if there is no `when`, or if it has errors, which were reported.
    pub(super) checked: Option<CheckedRule>,
    /// The condition of a rule with `method`.
    pub(super) of_method: Option<OfMethod>,
}

/// The condition of a rule with `method`.
pub(super) struct OfMethod {
    pub(super) name: Arc<str>,
    /// That the method is called, and the condition of `when`; `None` if it has errors, which were reported.
    pub(super) checked: Option<CheckedRule>,
    /// Where `when` begins in it, in bytes.
    pub(super) start: u32,
    pub(super) has_when: bool,
}

/// A stream of messages that a rule is about, and what follows if it is buffered.
pub(crate) struct Stream {
    pub(super) method: SourceText,
    pub(super) waits: &'static str,
}

impl Condition {
    /// Returns the condition as it is evaluated; `None` if it has errors.
    pub(super) fn evaluated(&self) -> Option<&CheckedRule> {
        self.of_method.as_ref().map_or(self.checked.as_ref(), |method| method.checked.as_ref())
    }

    pub(super) fn is_pure(&self) -> bool {
        self.evaluated().is_some_and(CheckedRule::is_pure)
    }

    /// Returns where `when` begins in the condition as it is evaluated, in bytes.
    pub(super) fn start(&self) -> u32 {
        self.of_method.as_ref().map_or(0, |method| method.start)
    }

    /// Returns the condition for people.
    pub(super) fn shown(&self) -> String {
        let when = format!("when {}", self.text.text.trim());
        match &self.of_method {
            None => when,
            Some(OfMethod { name, has_when: true, .. }) => format!("method {name}, {when}"),
            Some(OfMethod { name, .. }) => format!("method {name}"),
        }
    }

    /// Reports what is wrong with the condition as it is evaluated.
    pub(super) fn report(&self, found: &Diagnostic, problems: &mut Problems) {
        let Some(OfMethod { start, has_when, .. }) = self.of_method else {
            problems.of_expression(&self.text, 0, found);
            return;
        };
        let moved = |span: Span| {
            let end = if has_when { u32::try_from(self.text.text.len()).unwrap_or(u32::MAX) } else { 0 };
            Span::new(span.start.saturating_sub(start).min(end), span.end.saturating_sub(start).min(end))
        };
        let mut found = found.clone();
        found.span = moved(found.span);
        found.labels.iter_mut().for_each(|label| label.span = moved(label.span));
        problems.of_expression(&self.text, 0, &found);
    }
}
