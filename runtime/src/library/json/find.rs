//! Finds the one value of a document that a rule reads, in the pass that validates the document.
//!
//! The value is at a path of object keys. The result is what selecting these keys from the whole
//! document's value would give, errors included, but only that value is built.

use super::scan::{Container, Sink, charge_scan, scan};
use super::token::{Numbers, Scalar, Text};
use super::tree;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_ir::{ErrorKind, Projection};

/// The path of object keys to a value.
#[derive(Debug, Default)]
pub(crate) struct KeyPath {
    keys: Box<[Box<str>]>,
    /// Whether the elements of a list or map are read. If not, an empty list or map is built in its place.
    whole: bool,
}

impl KeyPath {
    /// The path of a projection that is a single path of keys; an empty path for any other projection.
    pub(super) fn new(projection: &Projection) -> Self {
        let (keys, whole) = projection.key_path().unwrap_or_default();
        Self { keys: keys.into_iter().map(|key| Box::from(&**key)).collect(), whole }
    }

    /// The path to the whole value of one key.
    pub(super) fn of_key(key: &str) -> Self {
        Self { keys: Box::new([Box::from(key)]), whole: true }
    }
}

/// The result of selecting a path of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selected<T> {
    /// The value at the path.
    Value(T),
    /// The index of the key whose selection fails, and its error.
    Failed(usize, ErrorKind),
}

/// Returns the value at a path in a document.
///
/// # Errors
/// Those of [`scan`]; `out_of_budget` when the evaluation's budget is spent.
pub(super) fn find<'a>(cx: &Cx<'a>, json: &'a [u8], path: &KeyPath) -> EvalResult<Selected<Value<'a>>> {
    find_with(cx, json, path, Numbers::Exact)
}

/// As [`find`]; `numbers` says what a number is.
pub(super) fn find_with<'a>(
    cx: &Cx<'a>,
    json: &'a [u8],
    path: &KeyPath,
    numbers: Numbers,
) -> EvalResult<Selected<Value<'a>>> {
    charge_scan(cx, json)?;
    let mut finder = PathFinder {
        path,
        selected: Selected::Failed(0, ErrorKind::NoSuchField),
        depth: 0,
        next_key: None,
        on_path: true,
        keep_source: false,
    };
    scan(json, &mut finder)?;
    let found = match finder.selected {
        Selected::Failed(step, kind) => return Ok(Selected::Failed(step, kind)),
        Selected::Value(found) => found,
    };
    Ok(Selected::Value(match found {
        FoundValue::Scalar(scalar) => scalar.value_with(cx, numbers)?,
        FoundValue::Source(json) => tree::parse_with(cx, json, numbers)?,
        FoundValue::Unread(Container::Object) => Value::Map(Map::Sorted(&[])),
        FoundValue::Unread(Container::Array) => Value::List(List::Slice(&[])),
    }))
}

/// The value at the path, before it is built.
#[derive(Clone, Copy, Debug)]
enum FoundValue<'j> {
    Scalar(Scalar<'j>),
    /// The source text of an object or array whose elements are read.
    Source(&'j [u8]),
    /// An object or array whose elements are not read.
    Unread(Container),
}

struct PathFinder<'w, 'j> {
    path: &'w KeyPath,
    /// The result as of the text scanned so far. The value of a repeated key replaces that of its earlier occurrence.
    selected: Selected<FoundValue<'j>>,
    /// The number of open objects that are on the path.
    depth: usize,
    /// The key that the path selects from the innermost of them.
    next_key: Option<&'w str>,
    /// Whether the next value is on the path.
    on_path: bool,
    /// Whether the value that is being skipped is the one at the path, so that its source text is kept.
    keep_source: bool,
}

impl PathFinder<'_, '_> {
    fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
        self.next_key = depth.checked_sub(1).and_then(|step| self.path.keys.get(step)).map(|key| &**key);
    }

    fn is_last(&self) -> bool {
        self.depth >= self.path.keys.len()
    }
}

impl<'j> Sink<'j> for PathFinder<'_, 'j> {
    #[inline(always)]
    fn key(&mut self, key: Text<'j>) -> EvalResult<()> {
        self.on_path = self.next_key.is_some_and(|next| key.is(next));
        Ok(())
    }

    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar<'j>) -> EvalResult<()> {
        if std::mem::take(&mut self.on_path) {
            self.selected = if self.is_last() {
                Selected::Value(FoundValue::Scalar(scalar))
            } else {
                Selected::Failed(self.depth, ErrorKind::NoSuchField)
            };
        }
        Ok(())
    }

    fn open(&mut self, container: Container) -> bool {
        if !std::mem::take(&mut self.on_path) {
            return false;
        }
        if self.is_last() {
            self.selected = Selected::Value(FoundValue::Unread(container));
            self.keep_source = self.path.whole;
            return false;
        }
        let is_object = container == Container::Object;
        let kind = if is_object { ErrorKind::NoSuchKey } else { ErrorKind::NoSuchField };
        self.selected = Selected::Failed(self.depth, kind);
        if is_object {
            self.set_depth(self.depth.saturating_add(1));
        }
        is_object
    }

    fn skipped(&mut self, json: &'j [u8]) {
        if std::mem::take(&mut self.keep_source) {
            self.selected = Selected::Value(FoundValue::Source(json));
        }
    }

    fn close(&mut self, _: Container) -> EvalResult<()> {
        self.set_depth(self.depth.saturating_sub(1));
        Ok(())
    }
}
