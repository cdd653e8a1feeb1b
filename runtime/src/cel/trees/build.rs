//! Builds the expressions of a tree with expanded macros, each with its identifier, place, type and reference.

use super::message::{MessageId, Messages, Value};
use super::numbers::{ACCUMULATOR, comprehension, constant, expr};
use super::schema::Shape;
use super::types::primitive;
use celero_frontend::{Literal, Type};
use std::collections::HashMap;

/// An expression of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) id: i64,
    /// The expression, macros expanded.
    full: MessageId,
    /// As it stands in the call of a macro around it: without what macros in it expand to.
    short: MessageId,
}

/// A value of a field.
pub(super) enum Part {
    Value(Value),
    /// An expression, or an entry of a literal: with expanded macros, and as in the call of a macro.
    Both(MessageId, MessageId),
}

impl From<Made> for Part {
    fn from(made: Made) -> Self {
        Self::Both(made.full, made.short)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Value(Value::Text(text.into()))
    }
}

/// What is known of an expression by its identifier.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The offset of each expression in the source, in code points.
    pub(super) positions: Vec<(i64, u32)>,
    pub(super) macro_calls: Vec<(i64, MessageId)>,
    pub(super) types: Vec<(i64, Type)>,
    pub(super) references: Vec<(i64, MessageId)>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) messages: Messages,
    pub(super) notes: Notes,
    /// Whether types and references are kept.
    checked: bool,
    last_id: i64,
    /// Where expressions begin that are made next, in code points.
    pub(super) offset: u32,
    /// The messages of types.
    type_messages: HashMap<Type, MessageId>,
}

impl Builder {
    /// `checked` says whether types and references are kept.
    pub(super) fn new(checked: bool) -> Self {
        Self { checked, ..Self::default() }
    }

    /// The next identifier, for an expression at the current place.
    pub(super) fn new_id(&mut self) -> i64 {
        self.last_id = self.last_id.saturating_add(1);
        self.notes.positions.push((self.last_id, self.offset));
        self.last_id
    }

    pub(super) fn set_type(&mut self, id: i64, ty: &Type) {
        if self.checked {
            self.notes.types.push((id, ty.clone()));
        }
    }

    pub(super) fn refer_to_name(&mut self, id: i64, name: &str, constant: Option<i64>) {
        if self.checked {
            let mut fields = vec![(1, Value::Text(name.into()))];
            if let Some(number) = constant {
                let constant = self.messages.add(Shape::Constant, vec![(constant::INT, Value::Int(number))]);
                fields.push((4, Value::Message(constant)));
            }
            let reference = self.messages.add(Shape::Reference, fields);
            self.notes.references.push((id, reference));
        }
    }

    pub(super) fn refer_to_overloads(&mut self, id: i64, overloads: &[&str]) {
        if self.checked && !overloads.is_empty() {
            let fields = overloads.iter().map(|id| (3, Value::Text((*id).into()))).collect();
            let reference = self.messages.add(Shape::Reference, fields);
            self.notes.references.push((id, reference));
        }
    }

    /// A message and the same without what macros in it expand to.
    pub(super) fn both(&mut self, shape: Shape, fields: Vec<(u32, Part)>) -> (MessageId, MessageId) {
        let differs = fields.iter().any(|(_, part)| matches!(part, Part::Both(full, short) if full != short));
        let (mut full, mut short) = (Vec::with_capacity(fields.len()), Vec::new());
        for (number, part) in fields {
            match part {
                Part::Value(value) => {
                    if differs {
                        short.push((number, value.clone()));
                    }
                    full.push((number, value));
                }
                Part::Both(own, other) => {
                    full.push((number, Value::Message(own)));
                    short.push((number, Value::Message(other)));
                }
            }
        }
        let full = self.messages.add(shape, full);
        (full, if differs { self.messages.add(shape, short) } else { full })
    }

    /// An expression of the kind in the field `number` of `Expr`.
    pub(super) fn expr(&mut self, id: i64, number: u32, shape: Shape, fields: Vec<(u32, Part)>) -> Made {
        let (full, short) = self.both(shape, fields);
        let id_field = (expr::ID, Part::Value(Value::Int(id)));
        let (full, short) = self.both(Shape::Expr, vec![id_field, (number, Part::Both(full, short))]);
        Made { id, full, short }
    }

    pub(super) fn literal(&mut self, id: i64, literal: &Literal) -> Made {
        let (number, value) = match literal {
            Literal::Null => (constant::NULL, Value::Int(0)),
            Literal::Bool(value) => (constant::BOOL, Value::Bool(*value)),
            Literal::Int(value) => (constant::INT, Value::Int(*value)),
            Literal::Uint(value) => (constant::UINT, Value::Uint(*value)),
            Literal::Double(value) => (constant::DOUBLE, Value::Double(*value)),
            Literal::String(value) => (constant::STRING, Value::Text((&**value).into())),
            Literal::Bytes(value) => (constant::BYTES, Value::Bytes((&**value).into())),
        };
        self.set_type(id, &literal.ty());
        self.expr(id, expr::CONST, Shape::Constant, vec![(number, Part::Value(value))])
    }

    pub(super) fn ident(&mut self, id: i64, name: &str) -> Made {
        self.expr(id, expr::IDENT, Shape::Ident, vec![(1, name.into())])
    }

    pub(super) fn select(&mut self, id: i64, operand: Made, field: &str, test: bool) -> Made {
        let test = (3, Part::Value(Value::Bool(test)));
        self.expr(id, expr::SELECT, Shape::Select, vec![(1, operand.into()), (2, field.into()), test])
    }

    pub(super) fn call(&mut self, id: i64, target: Option<Made>, function: &str, args: &[Made]) -> Made {
        let mut fields = vec![(2, function.into())];
        fields.extend(target.map(|target| (1, target.into())));
        fields.extend(args.iter().map(|arg| (3, (*arg).into())));
        self.expr(id, expr::CALL, Shape::Call, fields)
    }

    pub(super) fn list(&mut self, id: i64, elements: &[Made], optional: &[bool]) -> Made {
        let mut fields: Vec<(u32, Part)> = elements.iter().map(|element| (1, (*element).into())).collect();
        let marked = optional.iter().zip(0..).filter(|(marked, _)| **marked);
        fields.extend(marked.map(|(_, at)| (2, Part::Value(Value::Int(at)))));
        self.expr(id, expr::LIST, Shape::CreateList, fields)
    }

    // What macros expand to: expressions of their own.

    pub(super) fn new_literal(&mut self, literal: &Literal) -> Made {
        let id = self.new_id();
        self.literal(id, literal)
    }

    /// A variable of a macro.
    pub(super) fn new_ident(&mut self, name: &str, ty: &Type) -> Made {
        let id = self.new_id();
        self.set_type(id, ty);
        self.refer_to_name(id, name, None);
        self.ident(id, name)
    }

    pub(super) fn new_list(&mut self, elements: &[Made], ty: &Type) -> Made {
        let id = self.new_id();
        self.set_type(id, ty);
        self.list(id, elements, &[])
    }

    pub(super) fn new_call(&mut self, function: &str, args: &[Made], overload: &str, ty: &Type) -> Made {
        self.new_call_on(None, function, args, overload, ty)
    }

    pub(super) fn new_call_on(
        &mut self,
        target: Option<Made>,
        function: &str,
        args: &[Made],
        overload: &str,
        ty: &Type,
    ) -> Made {
        let id = self.new_id();
        self.set_type(id, ty);
        self.refer_to_overloads(id, &[overload]);
        self.call(id, target, function, args)
    }

    pub(super) fn comprehension(&mut self, id: i64, loops: &Loop<'_>) -> Made {
        let Loop { variables, range, accumulator, init, condition, step, result } = loops;
        let mut fields = vec![
            (comprehension::ITER_VAR, variables.0.into()),
            (comprehension::ITER_RANGE, (*range).into()),
            (comprehension::ACCU_VAR, (*accumulator).into()),
            (comprehension::ACCU_INIT, (*init).into()),
            (comprehension::LOOP_CONDITION, (*condition).into()),
            (comprehension::LOOP_STEP, (*step).into()),
            (comprehension::RESULT, (*result).into()),
        ];
        fields.extend(variables.1.map(|second| (comprehension::ITER_VAR2, second.into())));
        self.expr(id, expr::COMPREHENSION, Shape::Comprehension, fields)
    }

    /// Records the call that an expression is the expansion of.
    pub(super) fn expanded(&mut self, from: Made, target: Option<Made>, function: &str, args: &[Made]) -> Made {
        let short = |made: &Made| Part::Both(made.short, made.short);
        let mut fields = vec![(2, function.into())];
        fields.extend(target.map(|target| (1, short(&target))));
        fields.extend(args.iter().map(|arg| (3, short(arg))));
        let (call, _) = self.both(Shape::Call, fields);
        let call = self.messages.add(Shape::Expr, vec![(expr::CALL, Value::Message(call))]);
        self.notes.macro_calls.push((from.id, call));
        let short = self.messages.add(Shape::Expr, vec![(expr::ID, Value::Int(from.id))]);
        Made { short, ..from }
    }

    /// The message of a type.
    pub(super) fn type_message(&mut self, ty: &Type, is_message: &dyn Fn(&str) -> bool) -> MessageId {
        if let Some(&known) = self.type_messages.get(ty) {
            return known;
        }
        let known = self.new_type(ty, is_message);
        self.type_messages.insert(ty.clone(), known);
        known
    }

    fn new_type(&mut self, ty: &Type, is_message: &dyn Fn(&str) -> bool) -> MessageId {
        let (number, value) = match ty {
            Type::Error => (12, Value::Message(self.messages.add(Shape::Empty, Vec::new()))),
            Type::Dyn | Type::Var(_) => (1, Value::Message(self.messages.add(Shape::Empty, Vec::new()))),
            Type::Null => (2, Value::Int(0)),
            Type::Duration => (5, Value::Int(3)),
            Type::Timestamp => (5, Value::Int(2)),
            Type::Param(name) => (10, Value::Text((&**name).into())),
            Type::Type(inner) => (11, Value::Message(self.type_message(inner, is_message))),
            Type::List(element) => {
                let element = self.type_message(element, is_message);
                (6, Value::Message(self.messages.add(Shape::ListType, vec![(1, Value::Message(element))])))
            }
            Type::Map(kv) => {
                let (key, value) = (self.type_message(&kv.0, is_message), self.type_message(&kv.1, is_message));
                let fields = vec![(1, Value::Message(key)), (2, Value::Message(value))];
                (7, Value::Message(self.messages.add(Shape::MapType, fields)))
            }
            Type::Optional(inner) => {
                (14, self.abstract_type("optional_type", std::slice::from_ref(&**inner), is_message))
            }
            Type::Opaque(name, params) if params.is_empty() && is_message(name) => (9, Value::Text((&**name).into())),
            Type::Opaque(name, params) => (14, self.abstract_type(name, params, is_message)),
            Type::Wrapper(inner) => match primitive(inner) {
                Some(number) => (4, Value::Int(number)),
                // A value of this type or null: the language has no name for it.
                None => return self.type_message(inner, is_message),
            },
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::String | Type::Bytes => {
                (3, Value::Int(primitive(ty).unwrap_or(0)))
            }
        };
        self.messages.add(Shape::Type, vec![(number, value)])
    }

    fn abstract_type(&mut self, name: &str, params: &[Type], is_message: &dyn Fn(&str) -> bool) -> Value {
        let mut fields = vec![(1, Value::Text(name.into()))];
        for param in params {
            fields.push((2, Value::Message(self.type_message(param, is_message))));
        }
        Value::Message(self.messages.add(Shape::AbstractType, fields))
    }

    /// The root of an expression.
    pub(super) fn message(made: Made) -> MessageId {
        made.full
    }
}

/// The parts of a comprehension.
pub(super) struct Loop<'l> {
    pub(super) variables: (&'l str, Option<&'l str>),
    pub(super) range: Made,
    pub(super) accumulator: &'l str,
    pub(super) init: Made,
    pub(super) condition: Made,
    pub(super) step: Made,
    pub(super) result: Made,
}

impl Builder {
    /// The accumulator of a comprehension.
    pub(super) fn accumulator(&mut self, ty: &Type) -> Made {
        self.new_ident(ACCUMULATOR, ty)
    }
}
