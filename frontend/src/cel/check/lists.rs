//! Checks `value in lists.NAME`: whether a named list of the host contains a value.

use super::select::Path;
use super::{Checker, codes};
use crate::ast::{Expr, NodeId};
use crate::checked::Reference;
use crate::declarations::LISTS;
use crate::similar::listed;
use crate::types::Type;

impl Checker<'_> {
    /// Returns the path of a node that names a list; whether there is such a list is not said.
    pub(super) fn list_of(&self, id: NodeId) -> Option<Path> {
        if matches!(self.ast.expr(id), Expr::Select { test: true, .. }) {
            return None;
        }
        self.path(id).filter(|path| self.names_list(path))
    }

    /// Whether a path names a list, and neither a variable nor a definition.
    pub(super) fn names_list(&self, path: &Path) -> bool {
        let parts = self.path_parts(path);
        parts.len() > 1
            && parts.first() == Some(&LISTS)
            && !self.names.declarations.lists().is_empty()
            && self.local_of(path).is_none()
            && self.names.resolve(&parts, path.rooted).is_none()
    }

    /// Checks `left in lists.NAME`.
    pub(super) fn check_in_list(&mut self, id: NodeId, left: NodeId, right: NodeId, path: Path) -> Type {
        let ty = self.check(left);
        let name = self.list_name(&path);
        let mut lists = (0..).zip(self.names.declarations.lists());
        let Some((index, list)) = lists.find(|(_, list)| *list.name == *name) else {
            self.report_unknown_list(&name, right);
            return Type::Error;
        };
        let shown = self.infer.resolve(&ty, false);
        if !self.unchecked && !list.key.accepts(&shown) {
            let message = format!("the list `{name}` is asked for {}, this is `{shown}`", list.key.describe());
            self.error(codes::LIST_USE, self.ast.span(left), message);
            return Type::Error;
        }
        self.set_reference(id, Reference::InList(index));
        Type::Bool
    }

    /// Reports a list that stands where a value is expected.
    pub(super) fn report_list_alone(&mut self, path: &Path) {
        let Some(&node) = path.nodes.last() else { return };
        let name = self.list_name(path);
        if !self.names.declarations.lists().iter().any(|list| *list.name == *name) {
            self.report_unknown_list(&name, node);
            return;
        }
        let message = format!("the list `{name}` is not a value");
        let error = self.error(codes::LIST_USE, self.ast.span(node), message);
        error.help.push(format!("ask whether it contains a value: `value in {LISTS}.{name}`"));
    }

    /// The name of the list that a path names.
    fn list_name(&self, path: &Path) -> String {
        self.show_path(path.names.get(1..).unwrap_or_default())
    }

    fn report_unknown_list(&mut self, name: &str, at: NodeId) {
        let names: Vec<&str> = self.names.declarations.lists().iter().map(|list| &*list.name).collect();
        let mut help = self.did_you_mean(name, &names);
        help.push(format!("there are the lists {}", listed(names.into_iter().map(str::to_owned).collect())));
        let error = self.error(codes::UNKNOWN_LIST, self.ast.span(at), format!("there is no list `{name}`"));
        error.help = help;
    }
}
