//! Recognises the macros that comprehensions are the expansions of.

use super::error::TreeError;
use super::import::{Call, Import, Importer};
use super::message::{MessageId, Value};
use super::numbers::{
    ADD, AND, CONDITIONAL, EQUAL, HAS_VALUE, MAP_INSERT, NOT, NOT_STRICTLY_FALSE, OPTIONAL_NONE, OPTIONAL_OF, OR,
    SORT_BY_INPUT, SORT_BY_KEYS, TARGET, VALUE, comprehension, constant, expr,
};
use celero_frontend::{Expr, FoldKind, NodeId};

/// The variable of the parser that holds the list of a `sortBy`.
const RANGE: &str = "@range";

/// The parts of a comprehension.
#[derive(Clone, Copy)]
struct Loop<'l> {
    var: &'l str,
    var2: &'l str,
    range: MessageId,
    accumulator: &'l str,
    init: MessageId,
    condition: MessageId,
    step: MessageId,
    result: MessageId,
}

/// A macro that folds: the predicate and the transform that its expansion has.
struct Fold {
    kind: FoldKind,
    filter: Option<MessageId>,
    transform: Option<MessageId>,
}

impl<'i> Importer<'i> {
    fn is_ident(&self, message: MessageId, name: &str) -> bool {
        self.as_ident(message) == Some(name)
    }

    fn is_constant(&self, message: MessageId, number: u32, value: &Value) -> bool {
        let constant = self.kind(message, expr::CONST).and_then(|constant| self.messages.alternative(constant));
        constant == Some((number, value))
    }

    fn is_bool(&self, message: MessageId, value: bool) -> bool {
        self.is_constant(message, constant::BOOL, &Value::Bool(value))
    }

    fn is_int(&self, message: MessageId, value: i64) -> bool {
        self.is_constant(message, constant::INT, &Value::Int(value))
    }

    fn is_empty_literal(&self, message: MessageId, kind: u32) -> bool {
        let is_unset = |value: &Value| matches!(value, Value::Text(name) if name.is_empty());
        self.kind(message, kind).is_some_and(|literal| self.messages.fields(literal).iter().all(|(_, v)| is_unset(v)))
    }

    /// The arguments of a call of this function, which is not called on a value.
    fn arguments<const N: usize>(&self, message: MessageId, function: &str) -> Option<[MessageId; N]> {
        let call = self.as_call(message).filter(|call| call.target.is_none() && call.function == function)?;
        call.args.try_into().ok()
    }

    /// The only element of a list.
    fn single(&self, message: MessageId) -> Option<MessageId> {
        let list = self.kind(message, expr::LIST)?;
        let element = self.messages.part(list, 1)?;
        (self.messages.fields(list).len() == 1).then_some(element)
    }

    fn loop_of(&mut self, part: MessageId) -> Import<Loop<'i>> {
        let messages = self.messages;
        Ok(Loop {
            var: messages.text(part, comprehension::ITER_VAR),
            var2: messages.text(part, comprehension::ITER_VAR2),
            range: self.part(part, comprehension::ITER_RANGE, "the range of a comprehension")?,
            accumulator: messages.text(part, comprehension::ACCU_VAR),
            init: self.part(part, comprehension::ACCU_INIT, "the initial value of a comprehension")?,
            condition: self.part(part, comprehension::LOOP_CONDITION, "the condition of a comprehension")?,
            step: self.part(part, comprehension::LOOP_STEP, "the step of a comprehension")?,
            result: self.part(part, comprehension::RESULT, "the result of a comprehension")?,
        })
    }

    pub(super) fn comprehension(&mut self, id: i64, part: MessageId) -> Import {
        let parts = self.loop_of(part)?;
        if self.is_binding(&parts) {
            return match parts.accumulator {
                TARGET => self.optional_map_of_value(id, &parts),
                SORT_BY_INPUT => self.sort_by(id, &parts),
                _ => self.bind(id, &parts),
            };
        }
        let Loop { var, var2, accumulator, .. } = parts;
        let are_distinct = var != accumulator && var2 != accumulator && var != var2;
        let Some(Fold { mut kind, filter, mut transform }) = self.fold_of(&parts).filter(|_| are_distinct) else {
            return Err(TreeError::new(format!(
                "a comprehension over `{}` that accumulates `{}` is not the expansion of a macro of CEL, and others are \
                 not supported",
                var.escape_debug(),
                accumulator.escape_debug()
            )));
        };
        // `l.map(x, p, x)` is `l.filter(x, p)`.
        if kind == FoldKind::Filter && self.is_written(id, "map") {
            (kind, transform) = (FoldKind::Map, self.transform_of(&parts));
        }
        let range = self.expr(parts.range)?;
        let names: Vec<&str> = [var, var2].into_iter().filter(|name| !name.is_empty()).collect();
        let (filter, transform) = self.within(Some(accumulator), &names, |importer| {
            let mut part = |part: Option<MessageId>| part.map(|part| importer.expr(part)).transpose();
            Ok::<_, TreeError>((part(filter)?, part(transform)?))
        })?;
        let var = self.plain_name(var)?;
        let var2 = if var2.is_empty() { None } else { Some(self.plain_name(var2)?) };
        self.add(id, Expr::Fold { kind, range, var, var2, filter, transform })
    }

    /// Whether it is a comprehension over nothing: what a name is bound with.
    fn is_binding(&self, parts: &Loop<'_>) -> bool {
        parts.var2.is_empty()
            && parts.var != parts.accumulator
            && self.is_empty_literal(parts.range, expr::LIST)
            && self.is_bool(parts.condition, false)
            && self.is_ident(parts.step, parts.accumulator)
    }

    fn bind(&mut self, id: i64, parts: &Loop<'_>) -> Import {
        let init = self.expr(parts.init)?;
        let var = self.plain_name(parts.accumulator)?;
        let body = self.within(None, &[parts.accumulator], |importer| importer.expr(parts.result))?;
        self.add(id, Expr::Bind { var, init, body, with: false })
    }

    fn fold_of(&self, parts: &Loop<'_>) -> Option<Fold> {
        let Loop { var, var2, accumulator, init, condition, step, result, .. } = *parts;
        let two = !var2.is_empty();
        let accumulates = |message| self.is_ident(message, accumulator);
        let test = |kind, filter| Some(Fold { kind, filter: Some(filter), transform: None });
        if !self.is_bool(condition, true) {
            let undecided = self.as_call(condition).filter(|call| {
                call.target.is_none() && matches!(call.function, NOT_STRICTLY_FALSE | "__not_strictly_false__")
            })?;
            let &[undecided] = undecided.args.as_slice() else { return None };
            if !accumulates(result) {
                return None;
            }
            if self.is_bool(init, true) && accumulates(undecided) {
                let [accu, predicate] = self.arguments(step, AND)?;
                return accumulates(accu).then(|| test(FoldKind::All, predicate))?;
            }
            let [undecided] = self.arguments(undecided, NOT)?;
            let [accu, predicate] = self.arguments(step, OR)?;
            let is_exists = self.is_bool(init, false) && accumulates(undecided) && accumulates(accu);
            return is_exists.then(|| test(FoldKind::Exists, predicate))?;
        }
        // A step that is taken where a filter is true.
        let (filter, step) = match self.arguments(step, CONDITIONAL) {
            Some([filter, step, accu]) if accumulates(accu) => (Some(filter), step),
            _ => (None, step),
        };
        if self.is_int(init, 0) {
            let [accu, one] = self.arguments(step, ADD)?;
            let [total, only] = self.arguments(result, EQUAL)?;
            let counts = accumulates(accu) && self.is_int(one, 1) && accumulates(total) && self.is_int(only, 1);
            return filter.filter(|_| counts).and_then(|filter| test(FoldKind::ExistsOne, filter));
        }
        if !accumulates(result) {
            return None;
        }
        if self.is_empty_literal(init, expr::LIST) {
            let [accu, one] = self.arguments(step, ADD)?;
            let transform = self.single(one).filter(|_| accumulates(accu))?;
            return Some(match (two, filter) {
                (true, _) => Fold { kind: FoldKind::TransformList, filter, transform: Some(transform) },
                (false, Some(_)) if self.is_ident(transform, var) => {
                    Fold { kind: FoldKind::Filter, filter, transform: None }
                }
                (false, _) => Fold { kind: FoldKind::Map, filter, transform: Some(transform) },
            });
        }
        if !two || !self.is_empty_literal(init, expr::STRUCT) {
            return None;
        }
        if let Some([accu, key, transform]) = self.arguments(step, MAP_INSERT) {
            let inserts = accumulates(accu) && self.is_ident(key, var);
            return inserts.then_some(Fold { kind: FoldKind::TransformMap, filter, transform: Some(transform) });
        }
        let [accu, transform] = self.arguments(step, MAP_INSERT)?;
        let merges = accumulates(accu);
        merges.then_some(Fold { kind: FoldKind::TransformMapEntry, filter, transform: Some(transform) })
    }

    /// What a step with a filter adds to a list.
    fn transform_of(&self, parts: &Loop<'_>) -> Option<MessageId> {
        let [_, step, _] = self.arguments(parts.step, CONDITIONAL)?;
        let [_, one] = self.arguments(step, ADD)?;
        self.single(one)
    }

    /// The name that a method without arguments is called on.
    fn method_of_name(&self, message: MessageId, function: &str) -> Option<&'i str> {
        let call = self.as_call(message).filter(|call| call.function == function && call.args.is_empty())?;
        self.as_ident(call.target?)
    }

    /// The variable and the body of an `optMap` or `optFlatMap` of a value with a name, the name, and whether it is
    /// the second.
    fn mapped(&mut self, call: &Call<'_>) -> Option<(&'i str, &'i str, MessageId, bool)> {
        let &[condition, then, none] = call.args.as_slice() else { return None };
        let target = self.method_of_name(condition, HAS_VALUE)?;
        self.arguments::<0>(none, OPTIONAL_NONE)?;
        let (bound, flat) = match self.arguments(then, OPTIONAL_OF) {
            Some([bound]) => (bound, false),
            None => (then, true),
        };
        let parts = self.kind(bound, expr::COMPREHENSION)?;
        let parts = self.loop_of(parts).ok().filter(|parts| self.is_binding(parts))?;
        let is_value = self.method_of_name(parts.init, VALUE) == Some(target);
        is_value.then_some((target, parts.accumulator, parts.result, flat))
    }

    /// `x.optMap(v, body)` where `x` is a name.
    pub(super) fn optional_map_of_name(&mut self, id: i64, call: &Call<'_>) -> Import<Option<NodeId>> {
        let Some((target, var, body, flat)) = self.mapped(call) else { return Ok(None) };
        let Some(&condition) = call.args.first() else { return Ok(None) };
        let Some(Call { target: Some(name), .. }) = self.as_call(condition) else { return Ok(None) };
        if target == TARGET {
            return Ok(None);
        }
        let target = self.expr(name)?;
        self.optional_map(id, target, var, body, flat).map(Some)
    }

    /// `target.optMap(v, body)` where the target is bound to a name that no source can have.
    fn optional_map_of_value(&mut self, id: i64, parts: &Loop<'_>) -> Import {
        let call = self.as_call(parts.result).filter(|call| call.target.is_none() && call.function == CONDITIONAL);
        let mapped = call.and_then(|call| self.mapped(&call)).filter(|(target, ..)| *target == TARGET);
        let Some((_, var, body, flat)) = mapped else {
            return Err(TreeError::new("a comprehension that binds `@target` is not the expansion of `optMap`"));
        };
        let target = self.expr(parts.init)?;
        self.within(Some(TARGET), &[], |importer| importer.optional_map(id, target, var, body, flat))
    }

    fn optional_map(&mut self, id: i64, target: NodeId, name: &str, body: MessageId, flat: bool) -> Import {
        let var = self.plain_name(name)?;
        let body = self.within(None, &[name], |importer| importer.expr(body))?;
        self.add(id, Expr::OptMap { target, var, body, flat })
    }

    /// `range.sortBy(x, key)`
    fn sort_by(&mut self, id: i64, parts: &Loop<'_>) -> Import {
        let Some((accumulator, name, key)) = self.sorted(parts) else {
            return Err(TreeError::new(
                "a comprehension that binds `@__sortBy_input__` is not the expansion of `sortBy`",
            ));
        };
        let range = self.expr(parts.init)?;
        let var = self.plain_name(name)?;
        let key = self.within(Some(SORT_BY_INPUT), &[], |importer| {
            importer.within(Some(accumulator), &[name], |importer| importer.expr(key))
        })?;
        let (input, function) = (self.tree.name(RANGE), self.tree.name("@sortBy"));
        let source = self.add(id, Expr::Ident { name: input, rooted: false, test: false })?;
        let kind = FoldKind::Map;
        let keys = Expr::Fold { kind, range: source, var, var2: None, filter: None, transform: Some(key) };
        let keys = self.add(id, keys)?;
        let list = self.add(id, Expr::Ident { name: input, rooted: false, test: false })?;
        let args = self.tree.children(&[list, keys]);
        let body = self.add(id, Expr::Call { target: None, function, rooted: false, args })?;
        self.add(id, Expr::Bind { var: input, init: range, body, with: false })
    }

    /// The accumulator of the keys of a `sortBy`, its variable and its key.
    fn sorted(&mut self, parts: &Loop<'_>) -> Option<(&'i str, &'i str, MessageId)> {
        let call = self.as_call(parts.result).filter(|call| call.function == SORT_BY_KEYS)?;
        let &[keys] = call.args.as_slice() else { return None };
        let is_input = |message| self.is_ident(message, SORT_BY_INPUT);
        call.target.filter(|target| is_input(*target))?;
        let keys = self.kind(keys, expr::COMPREHENSION)?;
        let keys = self.loop_of(keys).ok()?;
        let fold = self.fold_of(&keys)?;
        let is_map = matches!(fold.kind, FoldKind::Map) && fold.filter.is_none() && keys.var != keys.accumulator;
        let key = fold.transform.filter(|_| is_map && self.is_ident(keys.range, SORT_BY_INPUT))?;
        Some((keys.accumulator, keys.var, key))
    }
}
