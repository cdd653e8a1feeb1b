//! Warnings about rules that are right by their types, but hardly what their author means: literals that no function takes,
//! comparisons that are never true, conditions that are constant, names that no header has.
//!
//! All of them are valid CEL with a defined result (`true || timestamp("soon") == t` is true), so none is an error.

mod conditions;
mod headers;
mod literals;
mod place;

use celero_frontend::stdlib::Builtin;
use celero_frontend::{Ast, Checked, CodeInfo, Diagnostic, Expr, NodeId, Overload, Reference, Severity, Span, Stage};
use celero_ir::layout;
use celero_matching::pattern::PatternCache;

macro_rules! codes {
    ($($name:ident $code:literal $stage:ident $summary:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*

        /// Every code that compiling adds to those of the frontend.
        pub(crate) const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*];
    };
}

codes! {
    ENVIRONMENT "environment" Check "a variable or function that the host declares can't be declared";
    NATIVE_CODE "native-code" Limit "the rule exceeds a bound of the compiler to native code, and the host asks for native code only";
    NO_TEXT "no-text" Check "a result that is to be a part of a text has none";
    NEVER_VALID "literal-never-valid" Check "a call on this literal fails whenever it is evaluated (a warning)";
    NEVER_EQUAL "never-equal" Check "the compared types are never the same (a warning)";
    CONSTANT_CONDITION "constant-condition" Check "a condition is `true` or `false` as written (a warning)";
    INVALID_HEADER_NAME "invalid-header-name" Check "no header can have this name (a warning)";
    HEADER_NAME_CASE "header-name-case" Check "the name of a header is not in lower case (a warning)";
    NEVER_MATCHES "never-matches" Check "a rule of a set is never true (a warning)";
    DUPLICATE_RULE "duplicate-rule" Check "a rule of a set has the condition of one before it (a warning)";
    SHADOWED_RULE "shadowed-rule" Check "a rule of a set is never the first match, because one before it is true wherever it is (a warning)";
}

/// Warnings about a checked expression over a host with these fields, in the order of the source.
pub(crate) fn lint(checked: &Checked, fields: &[layout::Field], patterns: &PatternCache) -> Vec<Diagnostic> {
    let mut lint = Lint { checked, ast: checked.ast(), fields, patterns, found: Vec::new(), compiled: 0 };
    for (index, node) in checked.ast().nodes().iter().enumerate() {
        let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
        lint.literals(id);
        lint.headers(id);
        match &node.expr {
            Expr::Cond { .. } | Expr::Logic { .. } => lint.conditions(id),
            Expr::Binary { .. } => lint.comparison(id),
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
    found: Vec<Diagnostic>,
    /// PatternCache compiled so far.
    compiled: u32,
}

impl<'c> Lint<'c> {
    fn warn(&mut self, code: &'static str, span: Span, message: String, help: &str) {
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        let (severity, stage) = (Severity::Warning, Stage::Check);
        self.found.push(Diagnostic { severity, stage, code, message, span, labels: Vec::new(), help });
    }

    /// The function of the library that a node certainly calls, with its operands, the receiver first.
    fn call(&self, id: NodeId) -> Option<(Builtin, Vec<NodeId>)> {
        let Reference::Call { overloads, receiver } = self.checked.reference(id) else { return None };
        let [Overload::Builtin(builtin)] = **overloads else { return None };
        let operands = match self.ast.expr(id) {
            Expr::Unary { operand, .. } => vec![*operand],
            Expr::Binary { left, right, .. } => vec![*left, *right],
            Expr::Index { operand, index, .. } => vec![*operand, *index],
            Expr::Call { target, args, .. } => {
                let target = if *receiver { *target } else { None };
                target.iter().chain(self.ast.children(*args)).copied().collect()
            }
            _ => return None,
        };
        Some((builtin, operands))
    }
}
