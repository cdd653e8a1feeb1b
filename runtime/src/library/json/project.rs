//! Parts of a document: the values that a rule reads of it, found in the pass that validates it, and nothing else built.
//!
//! What is given is the document's value with parts left out: an object has those of its members that are named, an array
//! its elements up to the last one that is named, with `null` in place of others. Reading a named part gives what it gives
//! on the whole value, errors included.

use super::find::{self, End, Way};
use super::scan::{Container, Sink, scan};
use super::token::{Scalar, Text};
use super::tree;
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_ir::{Projection, Step};
use smallvec::SmallVec;

/// Containers that are looked into at a time without memory of the heap: what [`Projection::MAX_DEPTH`] asks for.
const INLINE: usize = Projection::MAX_DEPTH;

/// The parts to find, prepared.
#[derive(Debug)]
pub(crate) struct Parts {
    /// Parents before children, a part's descendants in one row behind it.
    parts: Box<[Part]>,
    /// The way to the only part, where there is only one.
    way: Way,
}

#[derive(Debug)]
struct Part {
    whole: bool,
    /// Sorted.
    members: Box<[(Box<str>, usize)]>,
    /// Sorted.
    elements: Box<[(usize, usize)]>,
    /// The index after that of its last descendant.
    end: usize,
}

impl Parts {
    /// Prepares what is read of a document.
    pub(crate) fn new(projection: &Projection) -> Self {
        let mut parts = Vec::new();
        add(projection, &mut parts);
        Self { parts: parts.into(), way: Way::new(projection) }
    }

    fn at(&self, index: usize) -> Option<&Part> {
        self.parts.get(index)
    }
}

/// Recursive; a projection's depth is bounded.
fn add(projection: &Projection, parts: &mut Vec<Part>) -> usize {
    let index = parts.len();
    parts.push(Part { whole: projection.whole, members: Box::new([]), elements: Box::new([]), end: 0 });
    let (mut members, mut elements) = (Vec::new(), Vec::new());
    for (step, inner) in projection.parts.iter() {
        match step {
            Step::Key(key) => members.push((Box::from(&**key), add(inner, parts))),
            Step::Index(element) => elements.push((*element as usize, add(inner, parts))),
        }
    }
    let end = parts.len();
    if let Some(part) = parts.get_mut(index) {
        (part.members, part.elements, part.end) = (members.into(), elements.into(), end);
    }
    index
}

/// The value of a document, as far as the parts reach.
///
/// # Errors
/// Those of [`scan`]; `out_of_budget` when the evaluation's budget is spent.
pub(crate) fn project<'a>(cx: &Cx<'a>, json: &'a [u8], parts: &Parts) -> EvalResult<Value<'a>> {
    cx.charge_bytes(json.len())?;
    let mut found = cx.arena().vec();
    found.reserve(parts.parts.len())?;
    for _ in parts.parts.iter() {
        found.push(Found::Nothing)?;
    }
    let mut search = Search { parts, found, inside: SmallVec::new(), taking: None, named: None };
    scan(json, &mut search)?;
    Ok(search.value(cx, 0)?.unwrap_or(Value::Null))
}

/// The only part of a document, or how its selection fails.
///
/// # Errors
/// Those of [`project`].
pub(crate) fn find<'a>(cx: &Cx<'a>, json: &'a [u8], parts: &Parts) -> EvalResult<End<Value<'a>>> {
    find::find(cx, json, &parts.way)
}

/// What stands for a part in the document.
#[derive(Clone, Copy, Debug)]
enum Found<'j> {
    Nothing,
    Scalar(Scalar<'j>),
    /// The text of an object or array of which all is asked for.
    Whole(&'j [u8]),
    Object,
    /// With so many elements.
    Array(usize),
}

/// A container that is looked into.
#[derive(Clone, Copy, Debug)]
struct Inside {
    part: usize,
    container: Container,
    /// Elements so far.
    count: usize,
}

struct Search<'p, 'a> {
    parts: &'p Parts,
    /// By part.
    found: ArenaVec<'a, Found<'a>>,
    inside: SmallVec<[Inside; INLINE]>,
    /// The part that is passed over, because all of it is asked for.
    taking: Option<usize>,
    /// The part that the next value of an object is.
    named: Option<usize>,
}

impl<'a> Search<'_, 'a> {
    /// The part that the value at this place is.
    fn part(&mut self) -> Option<usize> {
        let Some(inside) = self.inside.last_mut() else { return Some(0) };
        if inside.container == Container::Object {
            return self.named.take();
        }
        let index = inside.count;
        inside.count = index.saturating_add(1);
        let elements = &self.parts.at(inside.part)?.elements;
        elements.iter().find(|(element, _)| *element == index).map(|(_, part)| *part)
    }

    /// Notes what a part is. What an earlier value under the same key had in it is forgotten.
    fn note(&mut self, part: usize, found: Found<'a>) {
        let end = self.parts.at(part).map_or(part, |part| part.end);
        if let Some(row) = self.found.as_mut_slice().get_mut(part..end) {
            row.fill(Found::Nothing);
            if let Some(first) = row.first_mut() {
                *first = found;
            }
        }
    }

    /// The value of a part, `None` if there is nothing in its place.
    fn value(&mut self, cx: &Cx<'a>, part: usize) -> EvalResult<Option<Value<'a>>> {
        let parts = self.parts;
        let Some(described) = parts.at(part) else { return Ok(None) };
        let found = self.found.as_mut_slice().get(part).copied().unwrap_or(Found::Nothing);
        Ok(Some(match found {
            Found::Nothing => return Ok(None),
            Found::Scalar(scalar) => scalar.value(cx.arena())?,
            Found::Whole(json) => tree::parse(cx, json)?,
            Found::Object => {
                let mut entries = cx.arena().vec();
                for (key, inner) in &described.members {
                    if let Some(value) = self.value(cx, *inner)? {
                        entries.push((Value::String(cx.arena().alloc_str(key)?), value))?;
                    }
                }
                Value::Map(Map::Sorted(entries.finish()))
            }
            Found::Array(count) => {
                let last = described.elements.last().map_or(0, |(last, _)| last.saturating_add(1));
                let mut elements = cx.arena().vec();
                for index in 0..count.min(last) {
                    let inner = described.elements.iter().find(|(element, _)| *element == index);
                    let value = inner.map_or(Ok(None), |(_, inner)| self.value(cx, *inner))?;
                    elements.push(value.unwrap_or(Value::Null))?;
                }
                Value::List(List::Slice(elements.finish()))
            }
        }))
    }
}

impl<'a> Sink<'a> for Search<'_, 'a> {
    fn key(&mut self, key: Text<'a>) -> EvalResult<()> {
        let members = self.inside.last().and_then(|inside| self.parts.at(inside.part)).map(|part| &part.members);
        let member = members.and_then(|members| members.iter().find(|(name, _)| key.is(name)));
        self.named = member.map(|(_, part)| *part);
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'a>) -> EvalResult<()> {
        if let Some(part) = self.part() {
            self.note(part, Found::Scalar(scalar));
        }
        Ok(())
    }

    fn open(&mut self, container: Container) -> bool {
        let Some(part) = self.part() else { return false };
        let found = if container == Container::Object { Found::Object } else { Found::Array(0) };
        self.note(part, found);
        let Some(described) = self.parts.at(part) else { return false };
        if described.whole {
            self.taking = Some(part);
        }
        let inside = described.end > part.wrapping_add(1);
        if inside {
            self.inside.push(Inside { part, container, count: 0 });
        }
        inside
    }

    fn passed(&mut self, json: &'a [u8]) {
        if let Some(part) = self.taking.take() {
            self.note(part, Found::Whole(json));
        }
    }

    fn close(&mut self, _: Container) -> EvalResult<()> {
        if let Some(Inside { part, container: Container::Array, count }) = self.inside.pop()
            && let Some(found) = self.found.as_mut_slice().get_mut(part)
        {
            *found = Found::Array(count);
        }
        Ok(())
    }
}
