//! The one value of a document that a rule reads, found in the pass that validates it: what the way of keys to it leads to, or
//! how selecting them one after the other from the whole value would fail.

use super::scan::{Container, Sink, scan};
use super::token::{Scalar, Text};
use super::tree;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_ir::{ErrorKind, Projection};

/// A way to a value, prepared.
#[derive(Debug, Default)]
pub(crate) struct Way {
    keys: Box<[Box<str>]>,
    /// Whether all of the value is read; else only what it is, and what it holds if it is neither list nor map.
    whole: bool,
}

impl Way {
    /// Prepares the way that a projection is; one without steps for others.
    pub(super) fn new(projection: &Projection) -> Self {
        let (keys, whole) = projection.key_path().unwrap_or_default();
        Self { keys: keys.into_iter().map(|key| Box::from(&**key)).collect(), whole }
    }
}

/// Where a way ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<T> {
    /// With what it leads to.
    At(T),
    /// With the failure of the step of this number.
    Failed(usize, ErrorKind),
}

/// Follows a way into a document.
///
/// # Errors
/// Those of [`scan`]; `out_of_budget` when the evaluation's budget is spent.
pub(super) fn find<'a>(cx: &Cx<'a>, json: &'a [u8], way: &Way) -> EvalResult<End<Value<'a>>> {
    cx.charge_bytes(json.len())?;
    let mut search =
        Search { way, end: End::Failed(0, ErrorKind::NoSuchField), inside: 0, wanted: None, due: true, taking: false };
    scan(json, &mut search)?;
    let found = match search.end {
        End::Failed(step, kind) => return Ok(End::Failed(step, kind)),
        End::At(found) => found,
    };
    Ok(End::At(match found {
        Found::Scalar(scalar) => scalar.value(cx.arena())?,
        Found::Whole(json) => tree::parse(cx, json)?,
        Found::Hollow(Container::Object) => Value::Map(Map::Sorted(&[])),
        Found::Hollow(Container::Array) => Value::List(List::Slice(&[])),
    }))
}

/// What a way leads to.
#[derive(Clone, Copy, Debug)]
enum Found<'j> {
    Scalar(Scalar<'j>),
    /// The text of an object or array of which all is read.
    Whole(&'j [u8]),
    /// One of which nothing is read.
    Hollow(Container),
}

struct Search<'w, 'j> {
    way: &'w Way,
    /// Where the way ends as far as the document is read. What an earlier value under the same key had in it is forgotten.
    end: End<Found<'j>>,
    /// How many objects on the way are open: as many steps led to the next value on it.
    inside: usize,
    /// The key of the step that leads on from there.
    wanted: Option<&'w str>,
    /// Whether the next value is on the way.
    due: bool,
    /// Whether the value that is passed over is the last one.
    taking: bool,
}

impl Search<'_, '_> {
    fn enter(&mut self, inside: usize) {
        self.inside = inside;
        self.wanted = inside.checked_sub(1).and_then(|step| self.way.keys.get(step)).map(|key| &**key);
    }

    fn is_last(&self) -> bool {
        self.inside >= self.way.keys.len()
    }
}

impl<'j> Sink<'j> for Search<'_, 'j> {
    #[inline(always)]
    fn key(&mut self, key: Text<'j>) -> EvalResult<()> {
        self.due = self.wanted.is_some_and(|wanted| key.is(wanted));
        Ok(())
    }

    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar<'j>) -> EvalResult<()> {
        if std::mem::take(&mut self.due) {
            self.end = if self.is_last() {
                End::At(Found::Scalar(scalar))
            } else {
                End::Failed(self.inside, ErrorKind::NoSuchField)
            };
        }
        Ok(())
    }

    fn open(&mut self, container: Container) -> bool {
        if !std::mem::take(&mut self.due) {
            return false;
        }
        if self.is_last() {
            self.end = End::At(Found::Hollow(container));
            self.taking = self.way.whole;
            return false;
        }
        let inside = container == Container::Object;
        let kind = if inside { ErrorKind::NoSuchKey } else { ErrorKind::NoSuchField };
        self.end = End::Failed(self.inside, kind);
        if inside {
            self.enter(self.inside.saturating_add(1));
        }
        inside
    }

    fn passed(&mut self, json: &'j [u8]) {
        if std::mem::take(&mut self.taking) {
            self.end = End::At(Found::Whole(json));
        }
    }

    fn close(&mut self, _: Container) -> EvalResult<()> {
        self.enter(self.inside.saturating_sub(1));
        Ok(())
    }
}
