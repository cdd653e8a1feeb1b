//! Warnings about a single rule: valid CEL that its author probably did not mean.
//!
//! Examples are a literal that no function accepts, a comparison that is never true, a constant
//! condition, and a name that no header has. All of these have a defined result
//! (`true || timestamp("soon") == t` is true), so none is an error. The only error is a field that a struct of the
//! host does not have, because only the layouts say which it has.
//!
//! # Where a warning goes
//!
//! | what it needs to know | place |
//! |---|---|
//! | the names and types of one rule, and the rule must be rejected | an error in the checker, `frontend/src/cel/check/`, with its code in `codes.rs` there |
//! | one checked rule, the layout of the host's fields, the library | here: a method of [`Lint`] in a file per subject, called from [`lint`] |
//! | what a host refuses on demand | `validators.rs` |
//! | what the rule is for: that it keeps requests back | `guards.rs`; only a host knows, so it calls `CheckedRule::guard_warnings` |
//! | a tree of its own, that is not CEL's | the folder `lint/` of that language, such as `filter/lint/` |
//! | all rules of a set, such as which rule comes first | `rules/warnings.rs`, which works on the merged graph |
//!
//! All codes of the last two are in [`codes`]. To add a warning: add a row there, write the check
//! in the place above, and a test in `runtime/tests/it/lint.rs`. `Program::warnings` and
//! `RuleSet::warnings` return what was found.

pub(crate) mod alternatives;
mod case;
mod codes;
mod conditions;
pub(crate) mod domain;
mod doubled;
pub(crate) mod excluded;
mod guards;
mod headers;
mod letter_cases;
mod literals;
mod locals;
pub(crate) mod networks;
mod place;
mod records;
pub(crate) mod stars;
mod validators;

pub(crate) use codes::*;
pub(crate) use doubled::doubled_backslash;
pub(crate) use guards::{SINGLE, guard_warnings};
pub(crate) use letter_cases::{case_steps, exceeded_case_steps, sum_of_case_steps};
pub(crate) use literals::malformed;
pub use validators::Validator;
pub(crate) use validators::validate;

use celero_frontend::stdlib::Builtin;
use celero_frontend::{Ast, Checked, Diagnostic, Expr, NodeId, Overload, Reference, Severity, Span, Stage};
use celero_ir::layout;
use celero_matching::pattern::PatternCache;
use locals::Origins;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Returns the warnings about a checked expression, and errors in the use of the host's structs, in the order of the
/// source. `fields` are the layouts of the variables.
pub(crate) fn lint(checked: &Checked, fields: &[layout::Field], patterns: &PatternCache) -> Vec<Diagnostic> {
    let (ast, origins, records) = (checked.ast(), locals::origins(checked), HashMap::new());
    let mut lint = Lint { checked, ast, fields, patterns, origins, records, found: Vec::new(), compiled: 0 };
    for (index, node) in checked.ast().nodes().iter().enumerate() {
        if matches!(node.expr, Expr::Literal(_)) {
            continue;
        }
        let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
        lint.literals(id);
        lint.headers(id);
        lint.other_case(id);
        lint.doubled_backslash(id);
        lint.domain(id);
        lint.empty_part(id);
        match &node.expr {
            Expr::Cond { .. } | Expr::Logic { .. } => lint.conditions(id),
            Expr::Binary { .. } => {
                lint.comparison(id);
                lint.network_as_text(id);
            }
            Expr::Call { .. } => lint.host_bits(id),
            Expr::Select { .. } => lint.unknown_field(id),
            _ => {}
        }
    }
    lint.found.sort_by_key(|d| (d.span.start, d.span.end));
    lint.found
}

struct Lint<'c> {
    checked: &'c Checked,
    ast: &'c Ast,
    fields: &'c [layout::Field],
    patterns: &'c PatternCache,
    /// What the variables of macros are, by the nodes that use them.
    origins: Origins,
    /// The fields of the structs in lists, by the variable that is the list.
    records: HashMap<u32, records::Fields>,
    found: Vec<Diagnostic>,
    /// Number of patterns compiled so far.
    compiled: u32,
}

impl<'c> Lint<'c> {
    fn warn(&mut self, code: &'static str, span: Span, message: String, help: &str) {
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        let (severity, stage) = (Severity::Warning, Stage::Check);
        self.found.push(Diagnostic { severity, stage, code, message, span, labels: Vec::new(), help });
    }

    /// Returns the source of a node.
    fn source(&self, id: NodeId) -> &'c str {
        let span = self.ast.span(id);
        self.ast.source().get(span.start as usize..span.end as usize).unwrap_or("the value")
    }

    /// Returns the library function that a node calls whatever its values are, with its operands, the receiver first.
    fn call(&self, id: NodeId) -> Option<(Builtin, SmallVec<[NodeId; 4]>)> {
        let Reference::Call { overloads, receiver } = self.checked.reference(id) else { return None };
        let [Overload::Builtin(builtin)] = **overloads else { return None };
        let operands = match self.ast.expr(id) {
            Expr::Unary { operand, .. } => smallvec![*operand],
            Expr::Binary { left, right, .. } => smallvec![*left, *right],
            Expr::Index { operand, index, .. } => smallvec![*operand, *index],
            Expr::Call { target, args, .. } => {
                let target = if *receiver { *target } else { None };
                target.iter().chain(self.ast.children(*args)).copied().collect()
            }
            _ => return None,
        };
        Some((builtin, operands))
    }
}
