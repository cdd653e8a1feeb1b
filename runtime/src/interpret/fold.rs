//! The comprehension macros.
//!
//! Each iteration is charged one step before it runs. If the elements must be collected first, each
//! is charged one step, too. A spent budget ends every fold.
//!
//! `all` and `exists` absorb errors that are not final: an iteration that decides the result wins
//! over errors of earlier ones. In the other folds the first error ends the fold.

use super::{Failure, Outcome, Walk};
use crate::arena::Arena;
use crate::error::ErrorKind;
use crate::library::{Cx, range_items};
use crate::value::{List, MapBuilder, Value};
use celero_frontend::{FoldKind, NodeId};

/// The parts of a fold except its kind and range.
pub(super) struct Fold {
    pub(super) id: NodeId,
    /// Whether there are two variables.
    pub(super) pairs: bool,
    pub(super) filter: Option<NodeId>,
    pub(super) transform: Option<NodeId>,
}

/// What a fold iterates over. The entries of a map are collected first, because a host's map may
/// count from the first entry to find each one. So are the elements of a list with two variables,
/// with their indices.
#[derive(Clone, Copy)]
enum Range<'a> {
    List(List<'a>),
    Pairs(&'a [(Value<'a>, Value<'a>)]),
}

impl<'a> Range<'a> {
    fn new(value: Value<'a>, pairs: bool, cx: &Cx<'a>) -> Result<Self, ErrorKind> {
        let arena = cx.arena();
        match value {
            Value::List(list) if pairs => {
                cx.charge(list.len())?;
                let mut all = arena.vec();
                for index in 0..list.len() {
                    let position = Value::Int(i64::try_from(index).unwrap_or(i64::MAX));
                    if let Some(element) = list.get(index, arena)? {
                        all.push((position, element))?;
                    }
                }
                Ok(Self::Pairs(all.finish()))
            }
            Value::List(list) => Ok(Self::List(list)),
            Value::Map(map) if pairs => {
                cx.charge(map.len())?;
                map.all(cx).map(Self::Pairs)
            }
            Value::Map(_) => match range_items(cx, value)? {
                Value::List(keys) => Ok(Self::List(keys)),
                _ => Err(ErrorKind::NoSuchOverload),
            },
            _ => Err(ErrorKind::NoSuchOverload),
        }
    }

    /// Returns the variables of an iteration. One variable: the element of a list, or the key of a
    /// map. Two: the index and element, or the key and value.
    fn variables(&self, index: usize, arena: &'a Arena) -> Result<(Value<'a>, Value<'a>), ErrorKind> {
        match self {
            Self::List(list) => Ok((list.get(index, arena)?.ok_or(ErrorKind::InvalidArgument)?, Value::Null)),
            Self::Pairs(pairs) => pairs.get(index).copied().ok_or(ErrorKind::InvalidArgument),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Pairs(pairs) => pairs.len(),
        }
    }
}

impl<'a> Walk<'a, '_> {
    pub(super) fn fold(&mut self, kind: FoldKind, range: NodeId, fold: &Fold) -> Outcome<'a> {
        let range = self.eval(range)?;
        let of_map = matches!(kind, FoldKind::MapValues | FoldKind::FilterKeys);
        if of_map && !matches!(range, Value::Map(_)) {
            return Err(self.unfit(fold.id, range, "a map"));
        }
        let range =
            Range::new(range, fold.pairs || of_map, self.cx).map_err(|kind| self.failed(fold.id, kind, &[range]))?;
        let level = self.locals.len();
        let result = match kind {
            FoldKind::All => self.quantify(range, fold, false),
            FoldKind::Exists => self.quantify(range, fold, true),
            FoldKind::ExistsOne => self.exists_one(range, fold),
            FoldKind::Filter | FoldKind::Map | FoldKind::TransformList => self.collect_list(range, fold),
            FoldKind::TransformMap | FoldKind::MapValues | FoldKind::FilterKeys => self.collect_map(range, fold, false),
            FoldKind::TransformMapEntry => self.collect_map(range, fold, true),
        };
        self.locals.truncate(level);
        result
    }

    /// Evaluates `exists` if `decides` is true, otherwise `all`.
    fn quantify(&mut self, range: Range<'a>, fold: &Fold, decides: bool) -> Outcome<'a> {
        let mut first = None;
        for index in 0..range.len() {
            self.start_iteration(range, index, fold).map_err(|error| error.after(first))?;
            match self.accepts(fold) {
                Ok(value) if value == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
                Err(error) if error.kind.is_final() => return Err(error.after(first)),
                Err(error) => error.add_to(&mut first),
            }
        }
        first.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn exists_one(&mut self, range: Range<'a>, fold: &Fold) -> Outcome<'a> {
        let mut found = 0_usize;
        for index in 0..range.len() {
            self.start_iteration(range, index, fold)?;
            if self.accepts(fold)? {
                found = found.saturating_add(1);
            }
        }
        Ok(Value::Bool(found == 1))
    }

    fn collect_list(&mut self, range: Range<'a>, fold: &Fold) -> Outcome<'a> {
        let mut values = self.cx.arena().vec();
        for index in 0..range.len() {
            let first = self.start_iteration(range, index, fold)?;
            if self.accepts(fold)? {
                let value = fold.transform.map_or(Ok(first), |t| self.eval(t))?;
                self.at(fold.id, values.push(value))?;
            }
        }
        Ok(Value::List(List::Slice(values.finish())))
    }

    /// Collects a map. The transform is the value for the key in the first variable; with
    /// `entries`, it is a map whose entries are added.
    fn collect_map(&mut self, range: Range<'a>, fold: &Fold, entries: bool) -> Outcome<'a> {
        let mut map = self.at(fold.id, MapBuilder::new(self.cx.arena(), 0))?;
        for index in 0..range.len() {
            let key = self.start_iteration(range, index, fold)?;
            if !self.accepts(fold)? {
                continue;
            }
            let value = fold.transform.map_or(Ok(key), |t| self.eval(t))?;
            let added = match value {
                value if !entries => map.insert(key, value),
                Value::Map(more) => map.merge(&more, self.cx),
                _ => Err(ErrorKind::NoSuchOverload),
            };
            added.map_err(|kind| self.failed(fold.id, kind, &[key, value]))?;
        }
        self.at(fold.id, map.finish(self.cx).map(Value::Map))
    }

    /// Charges an iteration and sets its variables. Returns the first one.
    fn start_iteration(&mut self, range: Range<'a>, index: usize, fold: &Fold) -> Result<Value<'a>, Failure> {
        self.at(fold.id, self.cx.charge(1))?;
        let (first, second) = self.at(fold.id, range.variables(index, self.cx.arena()))?;
        let previous = match (index, fold.pairs) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        };
        self.locals.truncate(self.locals.len().saturating_sub(previous));
        self.locals.push(Ok(first));
        if fold.pairs {
            self.locals.push(Ok(second));
        }
        Ok(first)
    }

    /// Returns whether the filter or predicate holds for the current iteration; true without one.
    fn accepts(&mut self, fold: &Fold) -> Result<bool, Failure> {
        fold.filter.map_or(Ok(true), |filter| self.boolean(filter))
    }
}
