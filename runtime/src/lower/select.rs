//! Fields, keys and indices: of the host, of header maps, of values.

use super::Lowering;
use celero_frontend::{Expr, ListAccess, Literal, NodeId as AstId, Overload, Reference, Type, stdlib::Builtin};
use celero_ir::{Constant, ErrorKind, Helper, NodeId, Op, Ty, layout};
use celero_lists::{Field as ListField, Kind, ScalarType};

impl<'c> Lowering<'c> {
    /// Lowers a declared variable, or the test whether it is present.
    pub(super) fn variable(&mut self, id: AstId, index: u32) -> NodeId {
        let Some(field) = self.field(index) else {
            return self.fail(ErrorKind::NoSuchKey, id);
        };
        let (ty, optional) = (field.ty, field.optional);
        if self.ast.expr(id).is_test() {
            return if optional {
                self.add(Op::HasField(index), Ty::Bool, &[], id)
            } else {
                self.constant(Constant::Bool(true), Ty::Bool, id)
            };
        }
        // A read that cannot fail is the same node at all places.
        let sure = field.is_sure();
        let node = match self.sure.get(index as usize).copied().flatten() {
            Some(node) => node,
            None => self.add(Op::Field(index), ty, &[], id),
        };
        if let (true, Some(known)) = (sure, self.sure.get_mut(index as usize)) {
            *known = Some(node);
        }
        // Rule authors see an address as text.
        if ty == Ty::Ip { self.add(Op::IpText, Ty::Str, &[node], id) } else { node }
    }

    pub(super) fn field(&self, index: u32) -> Option<&layout::Field> {
        self.fields.get(index as usize)
    }

    pub(super) fn select(&mut self, id: AstId, operand: AstId, field: &str, test: bool, optional: bool) -> NodeId {
        if !optional && let Some(header) = self.header(id, operand, field) {
            return self.read_header(id, header, test);
        }
        if let Some(node) = self.member(id) {
            return node;
        }
        // A set has no names to select.
        let has_names = |(_, entries): (u32, &layout::Entries)| entries.key == Ty::Str && entries.value.is_some();
        if !optional && self.host_entries(operand).is_some_and(has_names) {
            let name = self.text(field, id);
            if let Some(node) = self.entry(id, operand, name, test) {
                return node;
            }
        }
        let node = self.expr(operand);
        if optional {
            let name = self.text(field, id);
            return self.call(id, &[node, name]);
        }
        match self.message_field(operand, field) {
            Some(number) => self.select_field(id, node, field, number, test),
            None => self.select_from(id, node, field, test),
        }
    }

    /// The number of a field of the message that an operand is by its static type.
    fn message_field(&self, operand: AstId, field: &str) -> Option<i64> {
        let Type::Opaque(name, _) = self.checked.type_of(operand) else { return None };
        let field = self.functions.messages()?.message(name)?.field(field)?;
        Some(field.number().into())
    }

    /// Selects from a message. Values of other types are not excluded, because types are gradual.
    fn select_field(&mut self, id: AstId, value: NodeId, field: &str, number: i64, test: bool) -> NodeId {
        let (name, number) = (self.text(field, id), self.constant(Constant::Int(number), Ty::Int, id));
        let message = self.boxed(value, id);
        let (helper, ty) = match test {
            true => (Helper::message_has, Ty::Bool),
            false => (Helper::message_field, Ty::Value),
        };
        self.add(Op::Call(helper), ty, &[message, name, number], id)
    }

    /// Selects from a value, whatever it is.
    pub(super) fn select_from(&mut self, id: AstId, value: NodeId, field: &str, test: bool) -> NodeId {
        let name = self.text(field, id);
        let map = self.boxed(value, id);
        let (helper, ty) = if test { (Helper::has, Ty::Bool) } else { (Helper::select, Ty::Value) };
        self.add(Op::Call(helper), ty, &[map, name], id)
    }

    pub(super) fn index(&mut self, id: AstId, operand: AstId, index: AstId) -> NodeId {
        if let Some(key) = self.literal_text(index)
            && self.is_builtin(id, &[Builtin::IndexMap])
            && let Some(header) = self.header(id, operand, key)
        {
            return self.read_header(id, header, false);
        }
        let index = self.expr(index);
        if let Some(node) = self.sequence_at(id, operand, index) {
            return node;
        }
        // The operand is evaluated before the index, and an absent map is its error.
        if self.is_builtin(id, &[Builtin::IndexMap])
            && (self.is_sure(index) || self.host_entries(operand).is_some_and(|(field, _)| !self.is_optional(field)))
            && let Some(node) = self.entry(id, operand, index, false)
        {
            return node;
        }
        let operand = self.expr(operand);
        self.call(id, &[operand, index])
    }

    /// `element in container`.
    pub(super) fn contains(&mut self, id: AstId, element: AstId, container: AstId) -> NodeId {
        if let Some(key) = self.literal_text(element)
            && let Some(header) = self.header(id, container, key)
        {
            return self.read_header(id, header, true);
        }
        let element = self.expr(element);
        if let Some(node) = self.sequence_has(id, element, container) {
            return node;
        }
        if let Some(node) = self.in_elements(id, element, container) {
            return node;
        }
        if self.is_builtin(id, &[Builtin::InList, Builtin::InMap])
            && let Some(node) = self.entry(id, container, element, true)
        {
            return node;
        }
        let container = self.expr(container);
        self.call(id, &[element, container])
    }

    /// The field that an expression is, if it is a map or a set of the host that native code asks itself.
    fn host_entries(&self, map: AstId) -> Option<(u32, &layout::Entries)> {
        let Reference::Variable(field) = *self.checked.reference(map) else { return None };
        if self.ast.expr(map).is_test() {
            return None;
        }
        Some((field, self.field(field)?.entries.as_ref()?))
    }

    /// The type of the keys of such a map.
    pub(super) fn key_type(&self, map: AstId) -> Option<Ty> {
        Some(self.host_entries(map)?.1.key)
    }

    fn is_optional(&self, field: u32) -> bool {
        self.field(field).is_some_and(|field| field.optional)
    }

    /// Whether a node is known to have a value.
    fn is_sure(&self, node: NodeId) -> bool {
        match self.graph.op(node) {
            Op::Const(_) => true,
            Op::Field(field) => self.field(field).is_some_and(layout::Field::is_in_place),
            _ => false,
        }
    }

    /// The value that such a map has for a key, or whether there is one.
    pub(super) fn entry(&mut self, id: AstId, map: AstId, key: NodeId, test: bool) -> Option<NodeId> {
        let (field, entries) = self.host_entries(map).filter(|(_, entries)| entries.key == self.graph.ty(key))?;
        let value = entries.value.as_ref();
        // A test reads the value too, which may fail where it has to be made.
        if test && value.is_some_and(|value| value.access == layout::Access::Get) {
            return None;
        }
        let value = value.map(|value| value.ty);
        let at = if self.is_optional(field) { map } else { id };
        let entry = self.add(Op::Entry(field), Ty::Entry, &[key], at);
        if test {
            return Some(self.add(Op::HasEntry, Ty::Bool, &[entry], id));
        }
        Some(self.add(Op::EntryValue(field), value?, &[entry], id))
    }

    /// Whether a call is known to be one of these functions.
    pub(super) fn is_builtin(&self, id: AstId, builtins: &[Builtin]) -> bool {
        matches!(self.checked.reference(id), Reference::Call { overloads, .. }
            if matches!(**overloads, [Overload::Builtin(builtin)] if builtins.contains(&builtin)))
    }

    /// `value in lists.NAME`.
    pub(super) fn in_list(&mut self, id: AstId, value: AstId, list: u32) -> NodeId {
        let value = self.list_key(id, value, list);
        let helper = match self.graph.ty(value) {
            Ty::Ip => Helper::list_has_address,
            Ty::Str => Helper::list_has_text,
            Ty::Int => Helper::list_has_integer,
            _ => Helper::list_has,
        };
        let list = self.constant(Constant::Int(list.into()), Ty::Int, id);
        self.add(Op::Call(helper), Ty::Bool, &[list, value], id)
    }

    /// `lists.NAME[key].field`. Fields of one entry share its lookup.
    pub(super) fn list_value(&mut self, id: AstId, access: ListAccess) -> NodeId {
        let ListAccess { list, field, key, test, optional_key, optional_field } = access;
        let values = self.functions.lists().and_then(|lists| lists.values(list));
        let Some(ty) = values.and_then(|values| values.fields().get(field as usize)).map(ListField::ty) else {
            return self.fail(ErrorKind::Host, id);
        };
        let key = self.list_key(id, key, list);
        let helper = match self.graph.ty(key) {
            Ty::Ip => Helper::list_find_address,
            Ty::Str => Helper::list_find_text,
            Ty::Int => Helper::list_find_integer,
            _ => Helper::list_find,
        };
        let list = self.constant(Constant::Int(list.into()), Ty::Int, id);
        let field = self.constant(Constant::Int(field.into()), Ty::Int, id);
        let mut entry = self.add(Op::Call(helper), Ty::Int, &[list, key], id);
        let is_optional = optional_key || optional_field;
        if !optional_key && (test || is_optional) {
            entry = self.add(Op::Call(Helper::list_entry), Ty::Int, &[entry], id);
        }
        let (helper, ty) = match ty {
            _ if test => (Helper::list_value_has, Ty::Bool),
            _ if is_optional => (Helper::list_value_optional, Ty::Value),
            ScalarType::Text => (Helper::list_value_text, Ty::Str),
            ScalarType::Int => (Helper::list_value_int, Ty::Int),
            ScalarType::Bool => (Helper::list_value_bool, Ty::Bool),
            // There is no other type of values.
            _ => return self.fail(ErrorKind::Host, id),
        };
        self.add(Op::Call(helper), ty, &[list, field, entry], id)
    }

    /// What a list is asked for. A list of addresses is asked for an address of the host as a
    /// number; for other lists it is text.
    fn list_key(&mut self, id: AstId, key: AstId, list: u32) -> NodeId {
        let key = self.expr(key);
        if self.functions.lists().and_then(|lists| lists.kind(list)) == Some(Kind::Addresses)
            && self.graph.op(key) == Op::IpText
            && let &[address] = self.graph.args(key)
        {
            return address;
        }
        if matches!(self.graph.ty(key), Ty::Ip | Ty::Str | Ty::Int) { key } else { self.boxed(key, id) }
    }

    pub(super) fn literal_text(&self, id: AstId) -> Option<&'c str> {
        match self.ast.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The lookup of a fixed name in a header map of the host; `Err` for a name that no header can have.
    pub(super) fn header(&mut self, id: AstId, map: AstId, name: &str) -> Option<Result<NodeId, ()>> {
        let Reference::Variable(field) = *self.checked.reference(map) else { return None };
        if self.ast.expr(map).is_test() {
            return None;
        }
        let layout = self.field(field)?;
        layout.headers.as_ref()?;
        let Some(name) = header_name(name) else { return Some(Err(())) };
        let name = self.graph.constant(Constant::HeaderName(name.into()));
        Some(Ok(self.add(Op::Header { field, name }, Ty::Maybe, &[], id)))
    }

    pub(super) fn read_header(&mut self, id: AstId, header: Result<NodeId, ()>, test: bool) -> NodeId {
        match header {
            Ok(header) if test => self.add(Op::IsPresent, Ty::Bool, &[header], id),
            Ok(header) => {
                let raw = self.add(Op::Require, Ty::Raw, &[header], id);
                self.add(Op::Decode, Ty::Str, &[raw], id)
            }
            Err(()) if test => self.constant(Constant::Bool(false), Ty::Bool, id),
            Err(()) => self.add(Op::Fail(ErrorKind::NoSuchKey), Ty::Str, &[], id),
        }
    }
}

/// Returns a header name as header maps store it; `None` if no header can have it.
#[cfg(feature = "http")]
pub(crate) fn header_name(name: &str) -> Option<String> {
    name.parse::<http::HeaderName>().ok().map(|name| name.as_str().to_owned())
}

/// Without the feature `http` no field is a header map, so this is never called.
#[cfg(not(feature = "http"))]
pub(crate) fn header_name(_: &str) -> Option<String> {
    None
}
