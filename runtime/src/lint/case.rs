//! Text that was changed to one case, compared with text that has letters of the other case.

use super::{Lint, NEVER_THAT_CASE};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Expr, NodeId};
use std::sync::Arc;

impl Lint<'_> {
    /// Warns about `x.lowerAscii() == "ABC"` and its kin: at most one warning a comparison.
    pub(super) fn other_case(&mut self, id: NodeId) {
        use Builtin as B;
        let Some((builtin, operands)) = self.call(id) else { return };
        let &[left, right] = &*operands else { return };
        let (value, other) = match builtin {
            B::Equal | B::NotEqual if self.changed_case(right).is_some() => (right, left),
            B::Equal | B::NotEqual | B::Contains | B::StartsWith | B::EndsWith | B::StrictWildcard | B::InList => {
                (left, right)
            }
            _ => return,
        };
        let Some((name, lower)) = self.changed_case(value) else { return };
        let texts = if builtin == B::InList { self.members(other) } else { self.text(other).into_iter().collect() };
        let is_other = |letter: &char| if lower { letter.is_ascii_uppercase() } else { letter.is_ascii_lowercase() };
        if let Some(letter) = texts.iter().find_map(|text| text.chars().find(is_other)) {
            let other = if lower { "an upper-case" } else { "a lower-case" };
            let message = format!("this is never found: the result of `{name}` has no letter `{letter}`");
            let help = format!("write the text without {other} letter");
            self.warn(NEVER_THAT_CASE, self.ast.span(id), message, &help);
        }
    }

    /// The literals in a list that is written in the rule.
    fn members(&self, id: NodeId) -> Vec<Arc<str>> {
        match self.ast.expr(id) {
            Expr::List { elements, .. } => {
                self.ast.children(*elements).iter().filter_map(|id| self.text(*id)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The function that changed the letters of a text, and whether to lower case.
    fn changed_case(&self, id: NodeId) -> Option<(&'static str, bool)> {
        match self.call(id)?.0 {
            Builtin::LowerAscii => Some(("lowerAscii", true)),
            Builtin::UpperAscii => Some(("upperAscii", false)),
            _ => None,
        }
    }
}
