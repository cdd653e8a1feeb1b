//! Checks `value in lists.NAME`: whether a named list of the host contains a value; and
//! `lists.NAME[key]`: the value that it has for a key.

use super::select::Path;
use super::{Argument, Checker, codes};
use crate::ast::{Expr, Literal, Name, NodeId};
use crate::cel::named_lists;
use crate::checked::Reference;
use crate::declarations::{DeclaredList, LISTS, ListValues};
use crate::diagnostic::Diagnostic;
use crate::similar::listed;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Returns the path of a node that names a list; whether there is such a list is not said.
    pub(super) fn list_of(&self, id: NodeId) -> Option<Path> {
        if self.ast.expr(id).is_test() {
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
        let Some((index, list)) = self.list(&path, right) else { return Type::Error };
        if !self.check_list_key(list, left, &ty) {
            return Type::Error;
        }
        self.set_reference(id, Reference::InList(index));
        Type::Bool
    }

    /// Whether a path names a list whose values have fields.
    pub(super) fn list_has_fields(&self, path: &Path) -> bool {
        let found = self.list_named(&self.list_name(path));
        found.is_some_and(|(_, list)| matches!(list.values, Some(ListValues::Fields(_))))
    }

    /// Checks `lists.NAME[key]` where no field is selected.
    pub(super) fn check_list_value(&mut self, id: NodeId, operand: NodeId, path: &Path) -> Type {
        let name = self.list_name(path);
        let Some((index, list)) = self.check_list_entry(id, operand, path) else { return Type::Error };
        let (message, help) = match &list.values {
            Some(ListValues::Scalar(ty)) => {
                self.set_reference(id, Reference::ListValue { list: index, field: 0 });
                return if self.is_optional_index(id) { Type::optional(ty.clone()) } else { ty.clone() };
            }
            Some(ListValues::Fields(fields)) => {
                let names = listed(fields.iter().map(|(name, _)| name.to_string()).collect());
                (
                    format!("what `{LISTS}.{name}` has for a key is not a value itself"),
                    format!("select one of its fields: {names}"),
                )
            }
            None => (
                format!("the list `{name}` has no values"),
                format!("ask whether it contains the key: `key in {LISTS}.{name}`"),
            ),
        };
        self.error(codes::LIST_USE, self.ast.span(id), message).help.push(help);
        Type::Error
    }

    /// Checks a selection of `field` from `lists.NAME[key]`, where the values of the list have fields.
    pub(super) fn check_list_field(&mut self, id: NodeId, list: NodeId, path: &Path, field: Name) -> Type {
        let Expr::Select { operand: entry, test, optional, .. } = *self.ast.expr(id) else { return Type::Error };
        let Some((index, declared)) = self.check_list_entry(entry, list, path) else { return Type::Error };
        let Some(ListValues::Fields(fields)) = &declared.values else { return Type::Error };
        if optional && !self.has_optionals(id, "_?._", &[(entry, Type::Dyn), (id, Type::String)]) {
            return Type::Error;
        }
        let name = self.ast.name(field);
        let Some((number, (_, ty))) = (0..).zip(fields).find(|(_, (own, _))| **own == *name) else {
            let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
            let mut help = self.did_you_mean(name, &names);
            help.push(format!("there are the fields {}", listed(names.into_iter().map(str::to_owned).collect())));
            let message = format!("the values of `{LISTS}.{}` have no field `{name}`", declared.name);
            self.error(codes::NO_FIELDS, self.ast.node(id).focus, message).help = help;
            return Type::Error;
        };
        self.set_reference(id, Reference::ListValue { list: index, field: number });
        match (test, optional || self.is_optional_index(entry)) {
            (true, _) => Type::Bool,
            (false, true) => Type::optional(ty.clone()),
            (false, false) => ty.clone(),
        }
    }

    /// Checks the list and the key of `lists.NAME[key]`.
    fn check_list_entry(&mut self, id: NodeId, operand: NodeId, path: &Path) -> Option<(u32, &'a DeclaredList)> {
        let Expr::Index { index, optional, .. } = *self.ast.expr(id) else { return None };
        let ty = self.check(index);
        if optional && !self.has_optionals(id, "_[?_]", &[(operand, Type::Dyn), (index, ty.clone())]) {
            return None;
        }
        let found = self.list(path, operand)?;
        self.check_list_key(found.1, index, &ty).then_some(found)
    }

    /// Checks that a list can be asked for a value of this type.
    fn check_list_key(&mut self, list: &DeclaredList, key: NodeId, ty: &Type) -> bool {
        let shown = self.infer.resolve(ty, false);
        let fits = self.unchecked || list.key.accepts(&shown);
        if !fits {
            let message = format!("the list `{}` is asked for {}, this is `{shown}`", list.name, list.key.describe());
            self.error(codes::LIST_USE, self.ast.span(key), message);
        }
        fits
    }

    /// Whether the operators of optionals exist; if not, reports the one that is used.
    fn has_optionals(&mut self, id: NodeId, operator: &str, operands: &[Argument]) -> bool {
        let exist = !self.names.signatures(operator).is_empty();
        if !exist {
            self.check_operator(id, operator, operands);
        }
        exist
    }

    fn is_optional_index(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Index { optional: true, .. })
    }

    /// The list that a path names. Reports it at `node` if there is none.
    fn list(&mut self, path: &Path, node: NodeId) -> Option<(u32, &'a DeclaredList)> {
        let name = self.list_name(path);
        let found = self.list_named(&name);
        if found.is_none() {
            self.report_unknown_list(&name, node);
        }
        found
    }

    fn list_named(&self, name: &str) -> Option<(u32, &'a DeclaredList)> {
        (0..).zip(self.names.declarations.lists()).find(|(_, list)| *list.name == *name)
    }

    /// Reports a list that stands where a value is expected.
    pub(super) fn report_list_alone(&mut self, path: &Path) {
        let Some(&node) = path.nodes.last() else { return };
        let name = self.list_name(path);
        let Some((_, list)) = self.list(path, node) else { return };
        let message = format!("the list `{name}` is not a value");
        let error = self.error(codes::LIST_USE, self.ast.span(node), message);
        error.help.push(match &list.values {
            None => format!("ask whether it contains a value: `value in {LISTS}.{name}`"),
            Some(_) => format!(
                "ask whether it contains a key, `key in {LISTS}.{name}`, or for its value, `{LISTS}.{name}[key]`"
            ),
        });
    }

    /// The name of the list that a path names.
    fn list_name(&self, path: &Path) -> String {
        self.show_path(path.names.get(1..).unwrap_or_default())
    }

    fn report_unknown_list(&mut self, name: &str, at: NodeId) {
        let declarations = self.names.declarations;
        let meant = named_lists::meant(name, declarations).map(|list| format!("did you mean `{LISTS}.{list}`?"));
        let error = self.error(codes::UNKNOWN_LIST, self.ast.span(at), format!("there is no list `{name}`"));
        error.help.extend(meant);
        error.help.push(named_lists::known(declarations));
    }

    /// Explains the right side of an `in` that is not declared: a list without `lists.`.
    pub(super) fn explain_list(&mut self, left: NodeId, right: NodeId) {
        let Some(path) = self.path(right).filter(|_| !self.ast.expr(right).is_test()) else { return };
        let (name, declarations) = (self.show_path(&path.names), self.names.declarations);
        let is_declared = declarations.lists().iter().any(|list| *list.name == *name);
        let (span, is_word) = (self.ast.span(right), path.nodes.len() == 1);
        let Some(&first) = path.nodes.first() else { return };
        // Without lists, a word is a variable that is not declared, unless an address is looked for.
        let is_list = !declarations.lists().is_empty() || self.written(left).is_some_and(named_lists::is_address);
        if (is_declared || is_word && is_list)
            && let Some(error) = self.error_at(first, codes::UNDECLARED_NAME)
            && (is_declared || error.help.is_empty())
        {
            error.span = span;
            error.help = vec![named_lists::in_place(&name, declarations)];
        }
    }

    /// Explains a comparison with the name of a list.
    pub(super) fn explain_compared_list(&mut self, left: NodeId, right: NodeId, negated: bool) {
        let Some(path) = self.path(right).filter(|_| !self.ast.expr(right).is_test()) else { return };
        let name = self.show_path(&path.names);
        self.explain_question(left, right, &name, negated);
    }

    /// Explains `blocked.contains(value)` and `lists.blocked.contains(value)`.
    pub(super) fn explain_list_method(&mut self, target: NodeId, value: NodeId) {
        let Some(path) = self.path(target).filter(|_| !self.ast.expr(target).is_test()) else { return };
        let name = if self.names_list(&path) { self.list_name(&path) } else { self.show_path(&path.names) };
        self.explain_question(value, target, &name, false);
    }

    /// Replaces the help of the error about the name of a list at a node.
    fn explain_question(&mut self, value: NodeId, list: NodeId, name: &str, negated: bool) {
        let declarations = self.names.declarations;
        if !declarations.lists().iter().any(|list| *list.name == *name) || self.full() {
            return;
        }
        let Some(value) = self.receiver(value) else { return };
        let (span, focus) = (self.ast.span(list), self.ast.node(list).focus);
        let first = self.path(list).and_then(|path| path.nodes.first().map(|first| self.ast.node(*first).focus));
        let is_about = |error: &&mut Diagnostic| match error.code {
            codes::UNDECLARED_NAME => error.span == focus || Some(error.span) == first,
            code => code == codes::LIST_USE && error.span == span,
        };
        if let Some(error) = self.errors.iter_mut().rev().find(is_about) {
            error.help = vec![named_lists::question(&value, name, negated, declarations)];
        }
    }

    /// Returns the help for a call such as `inList("blocked", value)`.
    pub(super) fn list_call(&self, name: &str, args: &[NodeId]) -> Option<String> {
        let (&[first, second], "inList" | "in_list" | "isInList" | "is_in_list") = (args, name) else { return None };
        let list = |id: NodeId| match self.ast.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text.to_string()),
            _ => self.path(id).map(|path| self.show_path(&path.names)),
        };
        [(first, second), (second, first)].into_iter().find_map(|(asked, value)| {
            let declarations = self.names.declarations;
            let name = list(asked).filter(|name| declarations.lists().iter().any(|list| *list.name == **name))?;
            Some(named_lists::question(&self.receiver(value)?, &name, false, declarations))
        })
    }

    /// Reports `lists["blocked"]`. Returns whether it is that.
    pub(super) fn report_indexed_lists(&mut self, id: NodeId, operand: NodeId, index: NodeId) -> bool {
        let declarations = self.names.declarations;
        let Expr::Literal(Literal::String(name)) = self.ast.expr(index) else { return false };
        let Some(path) = self.path(operand) else { return false };
        let parts = self.path_parts(&path);
        if *parts != [LISTS] || self.local_of(&path).is_some() || self.names.resolve(&parts, path.rooted).is_some() {
            return false;
        }
        let help = if declarations.lists().is_empty() {
            named_lists::NONE.to_owned()
        } else {
            named_lists::in_place(name, declarations)
        };
        let span = self.ast.span(id);
        self.error(codes::UNDECLARED_NAME, span, format!("undeclared reference to `{LISTS}`")).help.push(help);
        true
    }
}
