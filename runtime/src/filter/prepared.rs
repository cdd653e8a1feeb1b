//! What is prepared of a rule before it is evaluated: its patterns and wildcards.

use super::functions::MAX_GROUPS;
use crate::filter::letter_cases::case_steps;
use crate::limits::Limits;
use celero_frontend::filter::{Comparison, FilterExpr, FilterTree, Wildcard as WildcardLiteral};
use celero_frontend::{Diagnostic, NodeId, Stage};
use celero_matching::Wildcard;
use celero_matching::pattern::{ByteRegex, PatternError};
use std::collections::HashMap;
use std::sync::Arc;

/// The prepared parts of a rule, by the node that they belong to: a comparison, or the literal argument of a call.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    patterns: HashMap<NodeId, ByteRegex>,
    wildcards: HashMap<NodeId, Arc<Wildcard>>,
}

impl Prepared {
    /// Prepares a rule.
    ///
    /// # Errors
    /// A diagnostic for each pattern whose program is too large, or one at the pattern up to which
    /// letter cases take too long.
    pub(super) fn of(tree: &FilterTree) -> Result<Self, Vec<Diagnostic>> {
        let (mut patterns, mut wildcards) = (HashMap::new(), HashMap::new());
        let mut errors = Vec::new();
        case_steps(tree, Limits::default().case_steps).map_err(|error| vec![error])?;
        for (index, node) in (0u32..).zip(tree.nodes()) {
            let id = NodeId(index);
            let pattern = match &node.expr {
                FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => {
                    Some((id, ByteRegex::new(&pattern.text)))
                }
                FilterExpr::Compare { comparison: Comparison::Wildcard(wildcard), .. } => {
                    wildcards.insert(id, Arc::new(prepared(wildcard, false)));
                    None
                }
                FilterExpr::Compare { comparison: Comparison::StrictWildcard(wildcard), .. } => {
                    wildcards.insert(id, Arc::new(prepared(wildcard, true)));
                    None
                }
                FilterExpr::Call { function, args } => tree
                    .pattern_argument(*function, tree.children(*args))
                    .map(|(id, text)| (id, ByteRegex::with_groups(text, MAX_GROUPS))),
                _ => None,
            };
            let Some((id, compiled)) = pattern else { continue };
            match compiled {
                Ok(regex) => drop(patterns.insert(id, regex)),
                Err(error) => {
                    let message = match error {
                        PatternError::TooLarge { limit } => {
                            format!("Compiled regex exceeds size limit of {limit} bytes.")
                        }
                        other => other.to_string(),
                    };
                    errors.push(Diagnostic::error(Stage::Limit, "filter-pattern", tree.node(id).span, message));
                }
            }
        }
        if errors.is_empty() { Ok(Self { patterns, wildcards }) } else { Err(errors) }
    }

    /// The compiled pattern of a node.
    pub(super) fn pattern(&self, id: NodeId) -> Option<&ByteRegex> {
        self.patterns.get(&id)
    }

    /// The prepared wildcard of a node.
    pub(super) fn wildcard(&self, id: NodeId) -> Option<&Arc<Wildcard>> {
        self.wildcards.get(&id)
    }
}

/// Prepares a wildcard pattern for matching.
fn prepared(wildcard: &WildcardLiteral, strict: bool) -> Wildcard {
    Wildcard::new(wildcard.pieces().iter().map(|piece| &**piece), strict)
}
