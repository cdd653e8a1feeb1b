//! Values of CEL as values of the filter language: fields, their parts, and calls of functions that
//! both languages have.

use super::Translation;
use super::literal::Constant;
use super::same::same;
use crate::fields::header_access;
use crate::filter::binding::Source;
use celero_frontend::filter::FilterType;
use celero_frontend::filter::quoted_bytes;
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Checked, Expr, FallbackKind, Literal, NodeId, Overload, Reference, Type};

/// Most nodes of a field's expression, with the definitions that it uses in their places, that
/// values are compared with.
const MAX_COMPARED_NODES: usize = 4096;

/// What CEL does where a value is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Absence {
    /// It never is.
    Never,
    /// It fails with "no such key", which `default` catches.
    NoSuchKey,
    /// It fails in any way.
    Fails,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) text: String,
    pub(super) ty: FilterType,
    /// Its type in CEL, where it is a list the type of the list.
    pub(super) cel: Type,
    pub(super) absence: Absence,
    /// The value instead of a missing one.
    pub(super) default: Option<Constant>,
    /// Whether it stands for each element of a list.
    pub(super) each: bool,
}

impl Operand {
    /// Whether CEL sees it as text.
    pub(super) fn is_text(&self) -> bool {
        self.ty == FilterType::Bytes && self.cel == Type::String
    }

    /// Each element of a list.
    pub(super) fn elements(&self) -> Option<Self> {
        let (FilterType::Array(ty), Type::List(cel)) = (&self.ty, &self.cel) else { return None };
        let (text, ty) = (format!("{}[*]", self.text), (**ty).clone());
        Some(Self { text, ty, cel: (**cel).clone(), absence: Absence::Never, default: None, each: true })
    }
}

impl Translation<'_> {
    /// A value that a condition tests.
    pub(super) fn value(&mut self, id: NodeId) -> Option<Operand> {
        if let Some(element) = self.element(id) {
            return Some(element);
        }
        if let Some(field) = self.field(id) {
            return Some(field);
        }
        if self.checked.list_access(id).is_some() {
            return self.none(id, "the value of a list");
        }
        let ast = self.checked.ast();
        match ast.expr(id) {
            Expr::Select { operand, field, test: false, optional: false } => {
                let name = ast.name(*field).to_owned();
                self.entry(id, *operand, &name)
            }
            Expr::Index { operand, index, optional: false } => match self.constant(*index) {
                Some(Constant::Text(key)) => self.entry(id, *operand, &key),
                Some(Constant::Int(index)) => self.index(id, *operand, index),
                _ => self.none(id, "an index that is no constant"),
            },
            Expr::Fallback { kind, operands } => match ast.children(*operands) {
                &[value, default] => self.or_default(id, value, default, *kind == FallbackKind::Coalesce),
                _ => self.none(id, "several values, of which the first is taken"),
            },
            Expr::Call { .. } => self.call(id),
            _ => self.none(id, &format!("this value, of type `{}`", self.checked.type_of(id))),
        }
    }

    /// The field whose value an expression gives. Fields that are documented come first in a scheme.
    fn field(&self, id: NodeId) -> Option<Operand> {
        let checked = self.checked;
        if matches!(checked.ast().expr(id), Expr::Literal(_)) {
            return None;
        }
        let reads = matches!(checked.ast().expr(id), Expr::Select { .. } | Expr::Index { .. } | Expr::Ident { .. })
            && !checked.ast().expr(id).is_test()
            && !matches!(
                checked.ast().expr(id),
                Expr::Select { optional: true, .. } | Expr::Index { optional: true, .. }
            );
        let variable = match *checked.reference(id) {
            Reference::Variable(variable) if reads => Some(variable),
            _ => None,
        };
        let header = if reads && variable.is_none() { header_access(checked, self.layouts, id) } else { None };
        let scheme = self.binding.scheme();
        (0..).zip(scheme.fields()).find_map(|(index, field)| {
            let absence = match self.binding.source(index) {
                Source::Variable(known, _) if Some(*known) == variable => self.absence_of(*known),
                Source::Header { map, name } => {
                    let header = header.as_ref()?;
                    if header.field != *map || !header.name.eq_ignore_ascii_case(name) {
                        return None;
                    }
                    Absence::NoSuchKey
                }
                // Only what is small is compared: a tree with each large definition in its place
                // would be made for that.
                Source::Expression(known) if known.counted_nodes() <= MAX_COMPARED_NODES => {
                    let known = known.checked();
                    let root = known.ast().root();
                    if !same((checked, id), (known, root)) {
                        return None;
                    }
                    self.absence(known, root)
                }
                _ => return None,
            };
            let (text, cel) = (field.name.to_string(), checked.type_of(id).clone());
            Some(Operand { text, ty: field.ty.clone(), cel, absence, default: None, each: false })
        })
    }

    /// The field that a variable is.
    pub(super) fn field_of(&self, variable: u32) -> Option<Operand> {
        let fields = (0..).zip(self.binding.scheme().fields());
        fields.into_iter().find_map(|(index, field)| match self.binding.source(index) {
            Source::Variable(known, cel) if *known == variable => Some(Operand {
                text: field.name.to_string(),
                ty: field.ty.clone(),
                cel: cel.clone(),
                absence: self.absence_of(variable),
                default: None,
                each: false,
            }),
            _ => None,
        })
    }

    pub(super) fn absence_of(&self, variable: u32) -> Absence {
        let optional = self.variables.get(variable as usize).is_none_or(|variable| variable.optional);
        if optional { Absence::NoSuchKey } else { Absence::Never }
    }

    /// How the expression behind a field can fail.
    fn absence(&self, known: &Checked, id: NodeId) -> Absence {
        let ast = known.ast();
        if let Reference::Variable(variable) = *known.reference(id) {
            return if ast.expr(id).is_test() { Absence::Never } else { self.absence_of(variable) };
        }
        match ast.expr(id) {
            Expr::Literal(_) => Absence::Never,
            // A last operand that never fails is the value where the others have none.
            Expr::Fallback { operands, kind } => match ast.children(*operands) {
                [operands @ .., last] => {
                    let others = operands.iter().map(|operand| self.absence(known, *operand)).max();
                    match (others, kind) {
                        (Some(Absence::Fails), FallbackKind::Default) => Absence::Fails,
                        _ => self.absence(known, *last),
                    }
                }
                [] => Absence::Fails,
            },
            Expr::Binary { left, right, .. } => {
                let total = match known.reference(id) {
                    Reference::Call { overloads, .. } => overloads.iter().all(|overload| {
                        matches!(overload, Overload::Builtin(Builtin::AddString | Builtin::Equal | Builtin::NotEqual))
                    }),
                    _ => false,
                };
                let operands = self.absence(known, *left).max(self.absence(known, *right));
                if total { operands } else { Absence::Fails }
            }
            _ => Absence::Fails,
        }
    }

    /// A value of a map by a constant key.
    fn entry(&mut self, id: NodeId, map: NodeId, key: &str) -> Option<Operand> {
        if let Some(lines) = self.lines(map) {
            return self.line(id, lines, key);
        }
        if self.is_headers(map) {
            let what =
                "a header as one text: CEL joins its lines, and here they are elements. `.raw()` gives them in CEL too";
            return self.none(id, what);
        }
        let map = self.value(map)?;
        let (FilterType::Map(ty), Type::Map(parts)) = (&map.ty, &map.cel) else {
            return self.none(id, "this part of a value");
        };
        let text = format!("{}[{}]", map.text, self.key(id, key)?);
        let absence = map.absence.max(Absence::NoSuchKey);
        Some(Operand { text, ty: (**ty).clone(), cel: parts.1.clone(), absence, default: None, each: map.each })
    }

    /// The lines of a header.
    fn line(&mut self, id: NodeId, map: Operand, key: &str) -> Option<Operand> {
        if key.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return self.none(id, "the name of a header that is not in lower case");
        }
        let text = format!("{}[{}]", map.text, self.key(id, key)?);
        let (ty, cel) = (FilterType::array(FilterType::Bytes), Type::list(Type::String));
        Some(Operand { text, ty, cel, absence: Absence::NoSuchKey, ..map })
    }

    fn key(&mut self, id: NodeId, key: &str) -> Option<String> {
        // A value that is no text has no keys with this character here.
        if key.contains('\u{fffd}') { self.none(id, "this key") } else { Some(quoted_bytes(key.as_bytes())) }
    }

    /// The header map behind `MAP.raw()`.
    fn lines(&self, id: NodeId) -> Option<Operand> {
        match (self.builtin(id), self.checked.ast().expr(id)) {
            (Some(Builtin::RawMap), Expr::Call { target: Some(map), .. }) if self.is_headers(*map) => self.field(*map),
            _ => None,
        }
    }

    /// Whether a node is a header map of the host.
    pub(super) fn is_headers(&self, id: NodeId) -> bool {
        match *self.checked.reference(id) {
            Reference::Variable(variable) => {
                self.layouts.get(variable as usize).is_some_and(|layout| layout.headers.is_some())
            }
            _ => false,
        }
    }

    /// An element of a list by a constant index.
    fn index(&mut self, id: NodeId, list: NodeId, index: i64) -> Option<Operand> {
        let list = self.value(list)?;
        let (FilterType::Array(ty), Type::List(cel), Ok(index)) = (&list.ty, &list.cel, u32::try_from(index)) else {
            return self.none(id, "this part of a value");
        };
        let (text, ty, cel) = (format!("{}[{index}]", list.text), (**ty).clone(), (**cel).clone());
        Some(Operand { text, ty, cel, absence: Absence::Fails, default: None, each: list.each })
    }

    /// A value, or a constant where there is none. `any`: whatever the reason.
    fn or_default(&mut self, id: NodeId, value: NodeId, default: NodeId, any: bool) -> Option<Operand> {
        let value = self.value(value);
        let Some(default) = self.constant(default) else { return self.none(id, "a default that is no constant") };
        let value = value?;
        if value.absence == Absence::Fails && !any {
            return self.none(id, "`default` of a value that can fail for other reasons than being missing");
        }
        if value.default.is_some() || value.absence == Absence::Never {
            return Some(value);
        }
        if !matches!(
            (&value.cel, &default),
            (Type::String, Constant::Text(_)) | (Type::Int, Constant::Int(_)) | (Type::Bytes, Constant::Bytes(_))
        ) {
            return self.none(id, "a default of another type");
        }
        Some(Operand { default: Some(default), ..value })
    }

    fn call(&mut self, id: NodeId) -> Option<Operand> {
        let operands = self.operands(id);
        match (self.builtin(id), &*operands) {
            (Some(Builtin::OptionalOrValue), &[optional, default]) => {
                let ast = self.checked.ast();
                let value = match ast.expr(optional) {
                    Expr::Index { operand, index, optional: true } if !self.is_optional(*operand) => {
                        match self.constant(*index) {
                            Some(Constant::Text(key)) => self.optional_entry(optional, *operand, &key),
                            Some(Constant::Int(index)) => {
                                let element = self.index(optional, *operand, index);
                                element.and_then(|element| self.part_of_present(optional, *operand, element))
                            }
                            _ => self.none(id, "an index that is no constant"),
                        }
                    }
                    Expr::Select { operand, field, optional: true, .. } if !self.is_optional(*operand) => {
                        let name = ast.name(*field).to_owned();
                        self.optional_entry(optional, *operand, &name)
                    }
                    _ => self.none(optional, "this optional value"),
                };
                let Some(default) = self.constant(default) else {
                    return self.none(id, "a default that is no constant");
                };
                let value = value?;
                match (&value.ty, &default) {
                    (FilterType::Bytes, Constant::Text(_)) if value.cel == Type::String => {}
                    (FilterType::Int, Constant::Int(_)) => {}
                    _ => return self.none(id, "a default of another type"),
                }
                Some(Operand { default: Some(default), ..value })
            }
            (Some(builtin @ (Builtin::LowerAscii | Builtin::UpperAscii)), &[value]) => {
                let mut value = self.value(value)?;
                if !value.is_text() {
                    return self.none(id, "text operations on a value that is no text here");
                }
                let lower = builtin == Builtin::LowerAscii;
                value.text = format!("{}({})", if lower { "lower" } else { "upper" }, value.text);
                // A function of many values gives an array.
                value.text.push_str(if value.each { "[*]" } else { "" });
                if let Some(Constant::Text(text)) = &mut value.default {
                    *text = if lower { text.to_ascii_lowercase() } else { text.to_ascii_uppercase() };
                }
                Some(value)
            }
            (Some(Builtin::SizeList | Builtin::SizeBytes), &[value]) => {
                let value = self.value(value)?;
                if value.each || value.default.is_some() {
                    return self.none(id, "the size of this value");
                }
                Some(Operand { text: format!("len({})", value.text), ty: FilterType::Int, cel: Type::Int, ..value })
            }
            (Some(Builtin::SizeString), _) => self.none(id, "the number of characters of a text: `len` counts bytes"),
            // An address that CEL sees as text is one here.
            (Some(Builtin::IpFromString), &[value]) => {
                let value = self.value(value)?;
                if value.ty != FilterType::Ip {
                    return self.none(id, "text that is read as an address");
                }
                Some(Operand { cel: self.checked.type_of(id).clone(), ..value })
            }
            _ => {
                let name = self.name(id);
                self.none(id, &format!("the function `{name}`"))
            }
        }
    }

    /// The value that an optional index takes, if there is one.
    fn optional_entry(&mut self, id: NodeId, map: NodeId, key: &str) -> Option<Operand> {
        if self.is_headers(map)
            && let Some(header) = self.named_header(map, key)
        {
            return Some(header);
        }
        let value = self.entry(id, map, key)?;
        self.part_of_present(id, map, value)
    }

    /// A part of a value that always is there: what it is a part of makes CEL fail where it is
    /// missing, and here only the part is.
    fn part_of_present(&mut self, id: NodeId, whole: NodeId, part: Operand) -> Option<Operand> {
        match self.checked.reference(whole) {
            Reference::Variable(variable) if self.absence_of(*variable) == Absence::Never => Some(part),
            _ => self.none(id, "an optional part of a value that may be missing"),
        }
    }

    /// The field that is a header of a map.
    pub(super) fn named_header(&self, map: NodeId, key: &str) -> Option<Operand> {
        let Reference::Variable(variable) = *self.checked.reference(map) else { return None };
        (0..).zip(self.binding.scheme().fields()).find_map(|(index, field)| match self.binding.source(index) {
            Source::Header { map, name } if *map == variable && name.eq_ignore_ascii_case(key) => Some(Operand {
                text: field.name.to_string(),
                ty: FilterType::Bytes,
                cel: Type::String,
                absence: Absence::NoSuchKey,
                default: None,
                each: false,
            }),
            _ => None,
        })
    }

    fn is_optional(&self, id: NodeId) -> bool {
        matches!(self.checked.type_of(id), Type::Optional(_) | Type::Dyn)
    }

    /// A constant: a literal, or the variable of a macro over a list of literals.
    pub(super) fn constant(&self, id: NodeId) -> Option<Constant> {
        match self.checked.ast().expr(id) {
            Expr::Literal(literal) => Constant::of(literal),
            _ => self.local_constant(id),
        }
    }

    pub(super) fn literal(&self, id: NodeId) -> Option<&Literal> {
        match self.checked.ast().expr(id) {
            Expr::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}
