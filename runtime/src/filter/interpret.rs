//! The walk over the checked tree.

use super::compare::compare;
use super::data::Data;
use super::functions::{self, Arguments};
use super::prepared::Prepared;
use super::value::FilterValue;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::error::{ErrorKind, EvalError};
use celero_frontend::filter::{AccessStep, Comparison, Connective, FilterExpr, FilterLiteral, FilterTree, OrderOp};
use celero_frontend::{NodeId, with_stack};
use celero_matching::pattern::Meter;
use std::borrow::Cow;
use std::cell::Cell;

/// A value that the host or the tree owns, or that was computed.
type Held<'a> = Cow<'a, FilterValue>;

/// An evaluation that ended at this node: its budget is spent, or a value is not known yet.
struct Failure(NodeId, ErrorKind);

type Outcome<T> = Result<T, Failure>;

/// The steps of a walk, of which the searches at a node take theirs.
struct Steps<'w> {
    cx: &'w Cx<'w>,
    id: NodeId,
}

impl Meter for Steps<'_> {
    type Error = Failure;

    fn charge(&self, steps: usize) -> Outcome<()> {
        self.cx.charge(steps).map_err(|kind| Failure(self.id, kind))
    }

    fn left(&self) -> usize {
        Meter::left(self.cx)
    }
}

/// The result of a node, for a trace: a value, none where it is missing, or an error and the node that failed.
pub(super) type RecordedResult<'v> = Result<Option<&'v FilterValue>, (ErrorKind, NodeId)>;

/// Called with the result of each node.
pub(super) type Record<'r> = dyn Fn(NodeId, RecordedResult<'_>) + 'r;

/// The result of a condition.
enum Results {
    One(bool),
    Many(Vec<bool>),
}

pub(super) struct Walk<'a, 'w> {
    tree: &'a FilterTree,
    prepared: &'a Prepared,
    data: &'a dyn Data,
    cx: &'w Cx<'w>,
    /// Bytes that new values may still take.
    memory: Cell<usize>,
    /// `None` in evaluations.
    record: Option<&'w Record<'w>>,
}

impl<'a, 'w> Walk<'a, 'w> {
    pub(super) fn new(
        tree: &'a FilterTree,
        prepared: &'a Prepared,
        data: &'a dyn Data,
        cx: &'w Cx<'w>,
        memory: usize,
    ) -> Self {
        Self { tree, prepared, data, cx, memory: Cell::new(memory), record: None }
    }

    /// Sets the function that is called with the result of each node.
    pub(super) fn recording(self, record: Option<&'w Record<'w>>) -> Self {
        Self { record, ..self }
    }

    pub(super) fn run(&self) -> Result<Option<FilterValue>, EvalError> {
        with_stack(self.tree.depth(), || self.any_value(self.tree.root()))
            .map(|value| value.map(Cow::into_owned))
            .map_err(|Failure(id, kind)| {
                let span = self.tree.node(id).span;
                EvalError { kind, start: span.start, end: span.end }
            })
    }

    /// The result of an operation of this node.
    fn at<T>(id: NodeId, result: EvalResult<T>) -> Outcome<T> {
        result.map_err(|kind| Failure(id, kind))
    }

    /// Charges steps for a node that reads some bytes.
    fn charge(&self, id: NodeId, bytes: usize) -> Outcome<()> {
        Self::at(id, self.cx.charge(1).and_then(|()| self.cx.charge_bytes(bytes)))
    }

    fn steps_at(&self, id: NodeId) -> Steps<'_> {
        Steps { cx: self.cx, id }
    }

    /// Charges the memory of a new value.
    fn keep(&self, id: NodeId, value: FilterValue) -> Outcome<Held<'a>> {
        self.charge_memory(id, value.size())?;
        Ok(Cow::Owned(value))
    }

    fn charge_memory(&self, id: NodeId, bytes: usize) -> Outcome<()> {
        let left = self.memory.get().checked_sub(bytes).ok_or(Failure(id, ErrorKind::OutOfBudget))?;
        self.memory.set(left);
        self.charge(id, bytes)
    }

    /// Whether a node is a value and not a condition.
    fn is_value(&self, id: NodeId) -> bool {
        matches!(
            self.tree.expr(id),
            FilterExpr::Field(_) | FilterExpr::Literal(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. }
        )
    }

    /// Evaluates any node to a value: a condition to a `Bool` or an `Array<Bool>`.
    fn any_value(&self, id: NodeId) -> Outcome<Option<Held<'a>>> {
        if self.is_value(id) {
            return self.value(id);
        }
        match self.condition(id)? {
            Results::One(value) => Ok(Some(Cow::Owned(FilterValue::Bool(value)))),
            Results::Many(values) => Ok(Some(self.keep(id, values.into_iter().collect())?)),
        }
    }

    fn condition(&self, id: NodeId) -> Outcome<Results> {
        let results = self.condition_of(id);
        // A value that is a condition too is recorded as a value.
        if let Some(record) = self.record.filter(|_| !self.is_value(id)) {
            let value = match &results {
                Ok(Results::One(value)) => Ok(FilterValue::Bool(*value)),
                Ok(Results::Many(values)) => Ok(values.iter().copied().collect()),
                Err(Failure(failed, kind)) => Err((*kind, *failed)),
            };
            record(id, value.as_ref().map(Some).map_err(|failure| *failure));
        }
        results
    }

    fn condition_of(&self, id: NodeId) -> Outcome<Results> {
        self.charge(id, 0)?;
        match self.tree.expr(id) {
            FilterExpr::Test(value) => self.test(*value),
            FilterExpr::Compare { value, comparison } => self.comparison(id, *value, comparison),
            FilterExpr::Not(operand) => Ok(match self.condition(*operand)? {
                Results::One(value) => Results::One(!value),
                Results::Many(values) => Results::Many(values.into_iter().map(|value| !value).collect()),
            }),
            FilterExpr::Logic { op, operands } => self.logic(*op, self.tree.children(*operands)),
            FilterExpr::Quantifier { all, operand } => self.quantifier(*all, *operand),
            // The other nodes are values.
            _ => self.test(id),
        }
    }

    /// A `Bool` or an `Array<Bool>` as a condition.
    fn test(&self, value: NodeId) -> Outcome<Results> {
        let truth = |value: &FilterValue| *value == FilterValue::Bool(true);
        if self.tree.node(value).each {
            let values = self.values(value)?.unwrap_or_default();
            return Ok(Results::Many(values.iter().map(|value| truth(value)).collect()));
        }
        let many = self.tree.node(value).ty.is_bool_array();
        Ok(match self.value(value)?.as_deref() {
            Some(FilterValue::Array(values)) if many => Results::Many(values.iter().map(truth).collect()),
            _ if many => Results::Many(Vec::new()),
            Some(value) => Results::One(truth(value)),
            None => Results::One(false),
        })
    }

    fn comparison(&self, id: NodeId, value: NodeId, comparison: &Comparison) -> Outcome<Results> {
        let holds = |value: &FilterValue| -> Outcome<bool> {
            self.charge(id, value.size())?;
            if let Comparison::OneOf(items) = comparison {
                self.charge(id, items.len())?;
            }
            if let Comparison::InList(list) = comparison {
                return Self::at(id, self.data.list_contains(list, value));
            }
            match (value, self.prepared.pattern(id), self.prepared.wildcard(id)) {
                (FilterValue::Bytes(bytes), Some(pattern), _) => pattern.is_match(bytes, &self.steps_at(id)),
                (FilterValue::Bytes(bytes), _, Some(wildcard)) => wildcard.matches(bytes, &self.steps_at(id)),
                _ => Ok(compare(comparison, value)),
            }
        };
        if self.tree.node(value).each {
            let values = self.values(value)?.unwrap_or_default();
            return Ok(Results::Many(values.iter().map(|value| holds(value)).collect::<Outcome<_>>()?));
        }
        Ok(Results::One(match self.value(value)? {
            Some(value) => holds(&value)?,
            None => matches!(comparison, Comparison::Order(OrderOp::NotEqual, _)) && self.tree.scheme().nil_not_equal(),
        }))
    }

    /// An operand that decides wins, else what is not known yet; so no later operand is left out for
    /// one that is not known.
    fn logic(&self, op: Connective, operands: &[NodeId]) -> Outcome<Results> {
        let join = |a: bool, b: bool| match op {
            Connective::Or => a || b,
            Connective::Xor => a != b,
            Connective::And => a && b,
        };
        let (mut unknown, mut results) = (None, None);
        for &operand in operands {
            let next = match self.condition(operand) {
                Err(failure) if failure.1 == ErrorKind::Unknown => {
                    unknown = unknown.or(Some(failure));
                    continue;
                }
                Err(failure) => return Err(unknown.unwrap_or(failure)),
                Ok(next) => next,
            };
            let joined = match (results, next) {
                (None, next) => next,
                (Some(Results::One(a)), Results::One(b)) => Results::One(join(a, b)),
                (Some(Results::Many(a)), Results::Many(b)) => {
                    Results::Many(a.into_iter().zip(b).map(|(a, b)| join(a, b)).collect())
                }
                (Some(kept), _) => kept,
            };
            if matches!((op, &joined), (Connective::Or, Results::One(true)) | (Connective::And, Results::One(false))) {
                return Ok(joined);
            }
            results = Some(joined);
        }
        unknown.map_or(Ok(results.unwrap_or(Results::One(false))), Err)
    }

    fn quantifier(&self, all: bool, operand: NodeId) -> Outcome<Results> {
        let decide = |values: &[bool]| {
            if all { values.iter().all(|value| *value) } else { values.iter().any(|value| *value) }
        };
        let is_value = matches!(
            self.tree.expr(operand),
            FilterExpr::Field(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. }
        );
        if is_value && self.value(operand)?.is_none() {
            return Ok(Results::One(false));
        }
        Ok(Results::One(match self.condition(operand)? {
            Results::One(value) => value,
            Results::Many(values) => decide(&values),
        }))
    }

    /// Evaluates a value without `[*]`; `None` is nil.
    fn value(&self, id: NodeId) -> Outcome<Option<Held<'a>>> {
        let value = self.value_of(id);
        if let Some(record) = self.record {
            record(id, value.as_ref().map(Option::as_deref).map_err(|Failure(failed, kind)| (*kind, *failed)));
        }
        value
    }

    fn value_of(&self, id: NodeId) -> Outcome<Option<Held<'a>>> {
        self.charge(id, 0)?;
        match self.tree.expr(id) {
            FilterExpr::Field(index) => Self::at(id, self.field(*index)),
            FilterExpr::Literal(literal) => self.keep(id, literal_value(literal)).map(Some),
            FilterExpr::Call { function, args } => self.call(id, *function, self.tree.children(*args)),
            FilterExpr::Access { base, steps } => {
                let mut value = self.value(*base)?;
                for step in steps {
                    let Some(whole) = value else { return Ok(None) };
                    value = part(whole, step);
                }
                Ok(value)
            }
            _ => self.any_value(id),
        }
    }

    fn field(&self, index: u32) -> EvalResult<Option<Held<'a>>> {
        match self.tree.field(index) {
            Some(field) => match field.constant {
                Some(value) => Ok(Some(Cow::Owned(FilterValue::Bool(value)))),
                None => self.data.field(index, &field.ty),
            },
            None => Ok(None),
        }
    }

    /// Evaluates a value with `[*]`: the values, or `None` if they are nil
    /// ([`AccessStep::are_of_one_array`]). Values that lack a part which is taken behind a `[*]`
    /// are left out.
    fn values(&self, id: NodeId) -> Outcome<Option<Vec<Held<'a>>>> {
        let values = self.values_of(id);
        if let Some(record) = self.record {
            let all = |values: &Vec<Held<'a>>| FilterValue::Array(values.iter().map(|v| (**v).clone()).collect());
            match &values {
                Ok(values) => record(id, Ok(values.as_ref().map(all).as_ref())),
                Err(Failure(failed, kind)) => record(id, Err((*kind, *failed))),
            }
        }
        values
    }

    fn values_of(&self, id: NodeId) -> Outcome<Option<Vec<Held<'a>>>> {
        let FilterExpr::Access { base, steps } = self.tree.expr(id) else { return Ok(None) };
        let Some(base) = self.value(*base)? else { return Ok(None) };
        let mut values = vec![base];
        let mut many = false;
        for step in steps {
            if *step == AccessStep::Each {
                many = true;
                let mut inner = Vec::new();
                for value in values {
                    for element in elements(value) {
                        self.charge(id, 0)?;
                        if let Cow::Owned(owned) = &element {
                            self.charge_memory(id, owned.size())?;
                        }
                        inner.push(element);
                    }
                }
                values = inner;
            } else {
                values = values.into_iter().filter_map(|value| part(value, step)).collect();
                if !many && values.is_empty() {
                    return Ok((!AccessStep::are_of_one_array(steps)).then(Vec::new));
                }
            }
        }
        Ok(Some(values))
    }

    fn call(&self, id: NodeId, function: u32, args: &[NodeId]) -> Outcome<Option<Held<'a>>> {
        let first = args.first().copied();
        let Some(first) = first.filter(|&first| self.tree.node(first).each) else {
            let values = args.iter().map(|&arg| self.any_value(arg)).collect::<Outcome<Vec<_>>>()?;
            return self.apply(id, function, args, &values);
        };
        let Some(values) = self.values(first)? else { return Ok(None) };
        let rest = args.iter().skip(1).map(|&arg| self.any_value(arg)).collect::<Outcome<Vec<_>>>()?;
        let mut arguments = vec![None];
        arguments.extend(rest);
        let mut results = Vec::new();
        for value in values {
            if let Some(slot) = arguments.first_mut() {
                *slot = Some(value);
            }
            if let Some(result) = self.apply(id, function, args, &arguments)? {
                results.push(result.into_owned());
            }
        }
        self.keep(id, FilterValue::Array(results)).map(Some)
    }

    /// Calls a function once.
    fn apply(&self, id: NodeId, index: u32, args: &[NodeId], values: &[Option<Held<'a>>]) -> Outcome<Option<Held<'a>>> {
        let Some(function) = self.tree.function(index) else { return Ok(None) };
        let size = values.iter().flatten().map(|value| value.size()).fold(0, usize::saturating_add);
        self.charge(id, size)?;
        let plain: Vec<Option<&FilterValue>> = values.iter().map(|value| value.as_deref()).collect();
        let result = match function.standard {
            Some(standard) if !standard.is_of_host() => {
                let pattern = args.iter().find_map(|arg| self.prepared.pattern(*arg));
                let charge = |steps| self.cx.charge(steps).map_err(|_| functions::TooLarge);
                let arguments = Arguments { values: &plain, pattern, room: self.memory.get(), charge: &charge };
                functions::call(standard, &arguments)
                    .map_err(|functions::TooLarge| Failure(id, ErrorKind::OutOfBudget))?
            }
            _ => Self::at(id, self.data.call(index, &plain))?,
        };
        result.map(|value| self.keep(id, value)).transpose()
    }
}

/// The value of a literal argument.
fn literal_value(literal: &FilterLiteral) -> FilterValue {
    match literal {
        FilterLiteral::Int(value) => FilterValue::Int(*value),
        FilterLiteral::Ip(value) => FilterValue::Ip(*value),
        FilterLiteral::Bytes(bytes) => FilterValue::Bytes(bytes.value.to_vec()),
    }
}

/// An element of an array or a value of a map.
fn part<'a>(whole: Held<'a>, step: &AccessStep) -> Option<Held<'a>> {
    match (whole, step) {
        (Cow::Borrowed(FilterValue::Array(values)), AccessStep::Index(index)) => {
            values.get(*index as usize).map(Cow::Borrowed)
        }
        (Cow::Borrowed(FilterValue::Map(values)), AccessStep::Key(key)) => {
            values.get(key.as_bytes()).map(Cow::Borrowed)
        }
        (Cow::Owned(FilterValue::Array(values)), AccessStep::Index(index)) => {
            values.into_iter().nth(*index as usize).map(Cow::Owned)
        }
        (Cow::Owned(FilterValue::Map(mut values)), AccessStep::Key(key)) => {
            values.remove(key.as_bytes()).map(Cow::Owned)
        }
        _ => None,
    }
}

/// The elements of an array, or the values of a map in the order of the keys.
fn elements(whole: Held<'_>) -> Vec<Held<'_>> {
    match whole {
        Cow::Borrowed(FilterValue::Array(values)) => values.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(FilterValue::Map(values)) => values.values().map(Cow::Borrowed).collect(),
        Cow::Owned(FilterValue::Array(values)) => values.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(FilterValue::Map(values)) => values.into_values().map(Cow::Owned).collect(),
        _ => Vec::new(),
    }
}
