//! The actions `setPath`, `setQuery` and `removeQuery` of a rule.
//!
//! Invariant: a path that a rule sets is canonical, or the phase ends with an answer. Test:
//! `runtime/adapters/policy/tests/policy/rewrites.rs::a_path_is_made_canonical`.

use crate::host::target_edits::TargetEdits;
use crate::rules::action_failure::{ActionFailure, ActionPart};
use crate::rules::actions::{NamedList, TextTemplate};
use celero::{Context, Scratch};
use celero_canonical::{Options, canonical_path};
use std::borrow::Cow;
use std::sync::Arc;

/// How a rule changes the target of a request.
#[derive(Debug)]
pub(crate) struct TargetTemplate<S> {
    pub(crate) path: Option<PathTemplate<S>>,
    /// The parameters that are set, and those that are removed.
    pub(crate) parameters: NamedList<Option<TextTemplate<S>>>,
}

/// A path that is computed for each request.
#[derive(Debug)]
pub(crate) struct PathTemplate<S> {
    pub(crate) text: TextTemplate<S>,
    /// What a canonical path is, as the policy says under `normalize`.
    pub(crate) options: Options,
}

/// A request has no path to go to: the phase ends.
pub(crate) struct NoPath;

impl<S: Context + 'static> TargetTemplate<S> {
    /// Adds the changes for this request to `edits`. A parameter whose value fails is removed, so
    /// that a value from the client never passes for the policy's.
    ///
    /// # Errors
    /// Returns an error if the path fails: a request must not reach a place that nobody chose.
    pub(crate) fn collect<'r, C: Context<Static = S>>(
        &'r self,
        rule: &Arc<str>,
        context: &C,
        edits: &mut TargetEdits,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Result<(), NoPath> {
        edits.changed_by(rule);
        if let Some(PathTemplate { text, options }) = &self.path {
            let canonical = |path: &[u8]| canonical_path(path, options).ok().map(Cow::into_owned);
            match text.with_text(ActionPart::SetPath, context, scratch, canonical) {
                Ok(path) => edits.set_path(path),
                Err(failure) => {
                    failures.push(failure);
                    return Err(NoPath);
                }
            }
        }
        for (name, value) in &self.parameters {
            let value =
                value.as_ref().map(|value| value.text(ActionPart::SetQuery(name), context, scratch)).transpose();
            let value = value.unwrap_or_else(|failure| {
                failures.push(failure);
                None
            });
            edits.set_parameter(name, value.map(|value| value.to_vec()));
        }
        Ok(())
    }
}
