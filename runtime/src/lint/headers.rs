//! Header names in literals that no header can have, or that are not in the lower case of HTTP/2.

use super::alternatives::{alternatives_meant, as_text};
use super::excluded::Place;
use super::locals::Origin;
use super::{ALTERNATIVES_AS_TEXT, HEADER_NAME_CASE, INVALID_HEADER_NAME, Lint};
use crate::fields::{behind_views, header_access};
use celero_frontend::{Expr, NodeId, Reference};
use celero_ir::HEADER_NAME;

impl Lint<'_> {
    /// Whether a node is the variable of a macro over a map of headers that is the name of a header.
    pub(super) fn is_header_name(&self, id: NodeId) -> bool {
        let Some(Origin::Item(range) | Origin::Key(range)) = self.origins.of(id) else { return false };
        match *self.checked.reference(behind_views(self.checked, range)) {
            Reference::Variable(index) => self.fields.get(index as usize).is_some_and(|field| field.headers.is_some()),
            _ => false,
        }
    }

    pub(super) fn headers(&mut self, id: NodeId) {
        let Some(access) = header_access(self.checked, self.fields, id) else { return };
        let span = match self.ast.expr(id) {
            Expr::Index { index, .. } => self.ast.span(*index),
            Expr::Binary { left, .. } => self.ast.span(*left),
            _ => self.ast.node(id).focus,
        };
        let name = access.name;
        let several = alternatives_meant(&HEADER_NAME, Place::Whole, name)
            .map(|parts| format!("ask for each by itself: `{}`", parts.join("`, `")));
        if !is_header_name(name) {
            let message = format!("no header can have the name `{}`", name.escape_debug());
            let help = several.as_deref().unwrap_or("a name is made of letters, digits and !#$%&'*+-.^_`|~");
            self.warn(INVALID_HEADER_NAME, span, message, help);
        } else if let Some(help) = several {
            self.warn(ALTERNATIVES_AS_TEXT, span, as_text(name), &help);
        } else if name.bytes().any(|b| b.is_ascii_uppercase()) {
            let help = format!("write `{}`", name.to_ascii_lowercase());
            let message = "header names are in lower case here; other implementations of CEL find no other".to_owned();
            self.warn(HEADER_NAME_CASE, span, message, &help);
        }
    }
}

/// Whether this is a token (RFC 9110, 5.6.2), which names of headers are.
fn is_header_name(name: &str) -> bool {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_token)
}
