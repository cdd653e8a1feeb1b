//! Comparisons with constants, and calls that test a value.

use super::literal::Constant;
use super::test::Test;
use super::value::{Absence, Operand};
use super::{Condition, Outcomes, Translation};
use crate::filter::binding::Spelling;
use crate::filter::pattern::difference;
use crate::library::cidr_from_string;
use celero_frontend::filter::{FilterType, OrderOp};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Expr, NodeId, Reference, Type};
use ipnet::IpNet;
use std::net::IpAddr;

impl Translation<'_> {
    /// `value == constant`, `constant < value`, `value in [constants]`.
    pub(super) fn comparison(&mut self, id: NodeId, left: NodeId, right: NodeId) -> Option<Outcomes> {
        let Expr::Binary { op, .. } = *self.checked.ast().expr(id) else { return self.none(id, "this") };
        if op == BinaryOp::In {
            return self.membership(id, left, right);
        }
        let Some(order) = order(op) else { return self.none(id, "this condition") };
        let turned = self.is_constant(left) && !self.is_constant(right);
        let (value, constant, order) = if turned { (right, left, reversed(order)) } else { (left, right, order) };
        if let Some(bits) = self.bits(id, value, constant, order) {
            return bits;
        }
        if !self.is_constant(constant) {
            // Both sides are looked at, so that all notes are collected.
            let _ = (self.value(value), self.value(constant));
            return self.none(id, "a comparison of two values: the right side is always a literal");
        }
        let field = self.in_words_of_field(value);
        let value = self.value(value)?;
        let constant = self.operand_constant(id, &value, constant)?;
        if let (Some((field, spelling)), OrderOp::Equal | OrderOp::NotEqual) = (&field, order)
            && let Some(word) = word_of_field(spelling, &constant)
        {
            return self.ordered(id, field, order, word);
        }
        self.ordered(id, &value, order, constant)
    }

    /// The field that has the values of a variable in other words.
    fn in_words_of_field(&self, value: NodeId) -> Option<(Operand, Spelling)> {
        let Reference::Variable(variable) = *self.checked.reference(value) else { return None };
        let spelling = self.binding.spelling_of_variable(variable)?;
        let field = self.binding.scheme().fields().get(spelling.field as usize)?;
        let (text, ty) = (field.name.to_string(), field.ty.clone());
        let (cel, absence) = (self.checked.type_of(value).clone(), self.absence_of(variable));
        Some((Operand { text, ty, cel, absence, default: None, each: false }, spelling.clone()))
    }

    fn ordered(&mut self, id: NodeId, value: &Operand, order: OrderOp, constant: Constant) -> Option<Outcomes> {
        let is_order = !matches!(order, OrderOp::Equal | OrderOp::NotEqual);
        match &constant {
            Constant::Address(_) if is_order => return self.none(id, "an order of addresses"),
            Constant::Text(text) if is_order && !text.is_ascii() => {
                return self.none(id, "an order of text that is not ASCII");
            }
            _ => {}
        }
        self.test(id, value, &Test::Order(order, constant))
    }

    fn is_constant(&self, id: NodeId) -> bool {
        let is_address = self.builtin(id) == Some(Builtin::IpFromString);
        let id = if is_address { self.operands(id).first().copied().unwrap_or(id) } else { id };
        self.constant(id).is_some() || matches!(self.checked.ast().expr(id), Expr::Literal(_))
    }

    /// A constant that a value is compared with, of the type of the value.
    fn operand_constant(&mut self, id: NodeId, value: &Operand, constant: NodeId) -> Option<Constant> {
        if self.builtin(constant) == Some(Builtin::IpFromString) {
            let text = self.operands(constant).first().and_then(|text| self.constant(*text));
            return match (text, &value.ty) {
                (Some(Constant::Text(text)), FilterType::Ip) => self.address(id, &text, false),
                _ => self.none(constant, "an address that is no constant"),
            };
        }
        let Some(constant) = self.constant(constant) else {
            return self.none(constant, &format!("a constant of type `{}`", self.checked.type_of(constant)));
        };
        match (&constant, &value.ty) {
            (Constant::Text(text), FilterType::Ip) if value.cel == Type::String => self.address(id, text, true),
            (Constant::Text(text), FilterType::Bytes) if value.is_text() => self.text(id, text),
            (Constant::Bytes(_), FilterType::Bytes) if value.cel == Type::Bytes => Some(constant),
            (Constant::Int(_), FilterType::Int) if value.cel == Type::Int => Some(constant),
            _ => self.none(id, &format!("a comparison with a constant of another type than `{}`", value.ty)),
        }
    }

    /// A text that both languages see alike.
    fn text(&mut self, id: NodeId, text: &str) -> Option<Constant> {
        if text.contains('\u{fffd}') {
            return self.none(id, "the character U+FFFD, as which CEL reads bytes that are not UTF-8");
        }
        Some(Constant::Text(text.to_owned()))
    }

    /// An address. `as_text`: CEL compares texts, so it must be written as CEL writes the value.
    fn address(&mut self, id: NodeId, text: &str, as_text: bool) -> Option<Constant> {
        match text.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => self.none(id, "an IPv4-mapped address"),
            Ok(address) if !as_text || address.to_string() == text => Some(Constant::Address(address)),
            Ok(address) => self.none(id, &format!("the text of an address in another form than `{address}`")),
            Err(_) => self.none(id, "a text that is no address"),
        }
    }

    /// `math.bitAnd(value, bits) != 0`
    fn bits(&mut self, id: NodeId, value: NodeId, zero: NodeId, order: OrderOp) -> Option<Option<Outcomes>> {
        if self.builtin(value) != Some(Builtin::BitAndInt) || self.constant(zero) != Some(Constant::Int(0)) {
            return None;
        }
        let &[one, other] = &*self.operands(value) else { return None };
        let (value, bits) = match (self.constant(one), self.constant(other)) {
            (_, Some(Constant::Int(bits))) => (one, bits),
            (Some(Constant::Int(bits)), _) => (other, bits),
            _ => return Some(self.none(id, "the common bits of two values")),
        };
        let found = self.value(value).and_then(|value| self.test(id, &value, &Test::Bits(bits)));
        match order {
            OrderOp::NotEqual => Some(found),
            OrderOp::Equal => Some(found.map(Outcomes::not)),
            _ => Some(self.none(id, "an order of common bits")),
        }
    }

    /// `value in [constants]`, `constant in list`, `key in map`.
    fn membership(&mut self, id: NodeId, value: NodeId, of: NodeId) -> Option<Outcomes> {
        if let Reference::InList(list) = *self.checked.reference(id) {
            return self.in_list(id, value, list);
        }
        let ast = self.checked.ast();
        match ast.expr(of) {
            Expr::List { elements, optional } if optional.is_empty() => {
                let of_value = value;
                let value = self.value(value);
                let mut constants = Vec::new();
                let mut complete = true;
                for &element in ast.children(*elements) {
                    match value.as_ref().and_then(|value| self.operand_constant(element, value, element)) {
                        Some(constant) => constants.push(constant),
                        None => complete = false,
                    }
                }
                let found = value?;
                complete.then_some(())?;
                if let Some((field, spelling)) = self.in_words_of_field(of_value)
                    && let Some(words) = constants.iter().map(|word| word_of_field(&spelling, word)).collect()
                {
                    return self.test(id, &field, &Test::OneOf(words));
                }
                self.test(id, &found, &Test::OneOf(constants))
            }
            _ => {
                let Some(constant) = self.constant(value) else {
                    return self.none(id, "a value looked up in another one");
                };
                if let (Constant::Text(key), Type::Map(_)) = (&constant, self.checked.type_of(of)) {
                    return self.presence(id, of, key);
                }
                let list = self.value(of)?;
                let Some(element) = list.elements() else { return self.none(id, "a value looked up in another one") };
                if list.default.is_some() || list.each {
                    return self.none(id, "a list in a list");
                }
                let constant = self.operand_constant(id, &element, value)?;
                let text = format!("any({} eq {})", element.text, constant.text());
                let as_test = Operand { ty: FilterType::Bool, text, ..list.clone() };
                let mut found = self.test(id, &as_test, &Test::IsTrue)?;
                if !found.never_fails() {
                    let present = self.test(id, &list, &Test::Present)?;
                    found.no = Condition::all(vec![present.yes, found.yes.clone().not()]);
                    found.missing = [(list.text.clone(), ast.span(of))].into();
                }
                Some(found)
            }
        }
    }

    /// `value in lists.NAME`.
    fn in_list(&mut self, id: NodeId, node: NodeId, list: u32) -> Option<Outcomes> {
        let value = self.value(node)?;
        // The list sees text there and bytes here, which differ where they are not UTF-8.
        if value.ty == FilterType::Bytes && !matches!(self.checked.reference(node), Reference::Variable(_)) {
            return self.none(id, "a list that is asked for text that may not be UTF-8");
        }
        match self.binding.list_name(list, &value.ty).map(str::to_owned) {
            Some(name) => self.test(id, &value, &Test::InList(name)),
            None if !self.binding.knows_list(list) => {
                self.none(id, "a list whose name has other letters than `a` to `z`, digits, `_` and dots")
            }
            None => self.none(id, "a list that is asked for a value of another type"),
        }
    }

    /// Whether something is there: `has(map.key)`, `key in map`, `has(variable)`.
    pub(super) fn presence(&mut self, id: NodeId, map: NodeId, key: &str) -> Option<Outcomes> {
        if self.is_headers(map) {
            if let Some(header) = self.named_header(map, key) {
                return self.test(id, &header, &Test::Present);
            }
            // A header has lines; each of them may be empty.
            let Some(lines) = self.value(map) else { return self.none(id, "this header map") };
            let name = Constant::Text(key.to_ascii_lowercase()).text();
            let text = format!("len({}[{name}]) gt 0", lines.text);
            return Some(Outcomes::of(Condition::single(text)));
        }
        let map = self.value(map)?;
        let FilterType::Map(ty) = &map.ty else { return self.none(id, "a question for this part") };
        let is_sure = map.absence == Absence::Never && !map.each;
        if !is_sure {
            return self.none(id, "a question for a part of a value that may be missing");
        }
        if key.contains('\u{fffd}') {
            return self.none(id, "this key");
        }
        let (text, ty) = (format!("{}[{}]", map.text, Constant::Text(key.to_owned()).text()), (**ty).clone());
        let part = Operand { text, ty, absence: Absence::NoSuchKey, ..map };
        self.test(id, &part, &Test::Present)
    }

    pub(super) fn variable_presence(&mut self, id: NodeId, variable: u32) -> Option<Outcomes> {
        match self.field_of(variable) {
            Some(value) => self.test(id, &value, &Test::Present),
            None => self.none(id, "this variable, which is no field"),
        }
    }

    /// A call that is a condition.
    pub(super) fn test_call(&mut self, id: NodeId) -> Option<Outcomes> {
        let operands = self.operands(id);
        let Some(builtin) = self.builtin(id) else { return self.none(id, "this call") };
        match (builtin, &*operands) {
            (Builtin::Contains | Builtin::StartsWith | Builtin::EndsWith, &[value, part]) => {
                let (value, part) = (self.text_value(value), self.text_part(part));
                let (value, part) = (value?, part?);
                let test = match builtin {
                    Builtin::Contains => Test::Contains(part),
                    Builtin::StartsWith => Test::StartsWith(part),
                    _ => Test::EndsWith(part),
                };
                self.test(id, &value, &test)
            }
            (Builtin::Wildcard | Builtin::StrictWildcard, &[value, pattern]) => {
                let (value, pattern) = (self.text_value(value), self.text_part(pattern));
                let strict = builtin == Builtin::StrictWildcard;
                let test = Test::Wildcard { strict, pattern: pattern? };
                self.test(id, &value?, &test)
            }
            (Builtin::Matches, &[value, pattern]) => {
                let (value, text) = (self.text_value(value), self.text_part(pattern));
                let Some(Constant::Text(text)) = text else { return None };
                if let Some(difference) = difference(&text) {
                    return self.none(pattern, difference);
                }
                self.test(id, &value?, &Test::Matches(text))
            }
            (Builtin::CidrContainsIp | Builtin::CidrContainsIpString, &[network, value]) => {
                let network = self.network(network);
                let value = self.value(value)?;
                if value.ty != FilterType::Ip {
                    return self.none(id, "text that is read as an address");
                }
                self.test(id, &value, &Test::Networks(vec![network?]))
            }
            (Builtin::OptionalHasValue, &[optional]) => match *self.checked.ast().expr(optional) {
                Expr::Index { operand, index, optional: true } => match self.constant(index) {
                    Some(Constant::Text(key)) => self.presence(optional, operand, &key),
                    _ => self.none(id, "this optional value"),
                },
                Expr::Select { operand, field, optional: true, .. } => {
                    let key = self.checked.ast().name(field).to_owned();
                    self.presence(optional, operand, &key)
                }
                _ => self.none(id, "this optional value"),
            },
            _ => {
                let name = self.name(id);
                for &operand in &operands {
                    if !self.is_constant(operand) {
                        let _ = self.value(operand);
                    }
                }
                self.none(id, &format!("the function `{name}`"))
            }
        }
    }

    /// A value that is text.
    fn text_value(&mut self, id: NodeId) -> Option<Operand> {
        let value = self.value(id)?;
        if value.is_text() { Some(value) } else { self.none(id, "text operations on a value that is no text here") }
    }

    /// A constant text.
    fn text_part(&mut self, id: NodeId) -> Option<Constant> {
        match self.constant(id) {
            Some(Constant::Text(text)) => self.text(id, &text),
            _ => self.none(id, "a text that is no constant"),
        }
    }

    /// A constant network, `cidr("10.0.0.0/8")`.
    fn network(&mut self, id: NodeId) -> Option<IpNet> {
        let text = match self.builtin(id) {
            Some(Builtin::CidrFromString) => self.operands(id).first().and_then(|text| self.constant(*text)),
            _ => None,
        };
        let Some(Constant::Text(text)) = text else { return self.none(id, "a network that is no constant") };
        match cidr_from_string(&text) {
            Ok((address, prefix)) => IpNet::new(address, prefix).ok(),
            Err(_) => self.none(id, "a text that is no network"),
        }
    }
}

/// A word of a variable as the word of the field.
fn word_of_field(spelling: &Spelling, word: &Constant) -> Option<Constant> {
    let Constant::Text(word) = word else { return None };
    spelling.of_field(word).map(|word| Constant::Text(word.into_owned()))
}

fn order(op: BinaryOp) -> Option<OrderOp> {
    Some(match op {
        BinaryOp::Eq => OrderOp::Equal,
        BinaryOp::Ne => OrderOp::NotEqual,
        BinaryOp::Lt => OrderOp::Less,
        BinaryOp::Le => OrderOp::LessEqual,
        BinaryOp::Gt => OrderOp::Greater,
        BinaryOp::Ge => OrderOp::GreaterEqual,
        _ => return None,
    })
}

/// The order of the operands the other way round.
fn reversed(order: OrderOp) -> OrderOp {
    match order {
        OrderOp::Less => OrderOp::Greater,
        OrderOp::LessEqual => OrderOp::GreaterEqual,
        OrderOp::Greater => OrderOp::Less,
        OrderOp::GreaterEqual => OrderOp::LessEqual,
        same => same,
    }
}
