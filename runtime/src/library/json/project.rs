//! Builds only those parts of a document that a rule reads, in the pass that validates the document.
//!
//! The result is the document's value without the other parts. An object has only the members that
//! the rule reads. An array ends at the last element that the rule reads, and has `null` in place
//! of other elements. Reading a part of this value gives the same result as reading it from the
//! value of the whole document, errors included.

use super::find::{self, KeyPath, Selected};
use super::scan::{Container, Sink, charge_scan, scan};
use super::token::{Scalar, Text};
use super::tree;
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_ir::{Projection, Step};
use smallvec::SmallVec;

/// Open containers that are tracked without heap memory: enough for every projection.
const INLINE_DEPTH: usize = Projection::MAX_DEPTH;

/// What to build of a document: a [`Projection`] in the form that the scan uses.
#[derive(Debug)]
pub(crate) struct ProjectionPlan {
    /// In pre-order: each part is followed by its descendants.
    parts: Box<[PartPlan]>,
    /// The path to the only part, for [`find`]; empty if the projection is not a single path of keys.
    path: KeyPath,
}

#[derive(Debug)]
struct PartPlan {
    /// Whether all of the value is read.
    whole: bool,
    /// Members of an object to build, by key: the index of each one's part. Sorted.
    members: Box<[(Box<str>, usize)]>,
    /// Elements of an array to build, by position: the index of each one's part. Sorted.
    elements: Box<[(usize, usize)]>,
    /// The index after this part's last descendant.
    end: usize,
}

impl ProjectionPlan {
    /// Prepares a projection.
    pub(crate) fn new(projection: &Projection) -> Self {
        let mut parts = Vec::new();
        add(projection, &mut parts);
        Self { parts: parts.into(), path: KeyPath::new(projection) }
    }

    fn at(&self, index: usize) -> Option<&PartPlan> {
        self.parts.get(index)
    }
}

/// Appends a projection and its parts in pre-order, and returns its index. Recursive: a projection's depth is bounded.
fn add(projection: &Projection, parts: &mut Vec<PartPlan>) -> usize {
    let index = parts.len();
    parts.push(PartPlan { whole: projection.whole, members: Box::new([]), elements: Box::new([]), end: 0 });
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

/// Returns the value of a document with only the parts in `plan`.
///
/// # Errors
/// Those of [`scan`]; `out_of_budget` when the evaluation's budget is spent.
pub(crate) fn project<'a>(cx: &Cx<'a>, json: &'a [u8], plan: &ProjectionPlan) -> EvalResult<Value<'a>> {
    charge_scan(cx, json)?;
    let mut found = cx.arena().vec();
    found.reserve(plan.parts.len())?;
    for _ in plan.parts.iter() {
        found.push(FoundPart::Missing)?;
    }
    let mut finder = PartFinder { plan, found, open: SmallVec::new(), source_of: None, member: None };
    scan(json, &mut finder)?;
    Ok(finder.value(cx, 0)?.unwrap_or(Value::Null))
}

/// Returns the value of the only part in `plan`, or the error of the key whose selection fails.
///
/// # Errors
/// Those of [`project`].
pub(crate) fn find<'a>(cx: &Cx<'a>, json: &'a [u8], plan: &ProjectionPlan) -> EvalResult<Selected<Value<'a>>> {
    find::find(cx, json, &plan.path)
}

/// What the document has for a part.
#[derive(Clone, Copy, Debug)]
enum FoundPart<'j> {
    Missing,
    Scalar(Scalar<'j>),
    /// The source text of an object or array that is read in full.
    Source(&'j [u8]),
    Object,
    /// With the number of its elements.
    Array(usize),
}

/// An open container of which parts are read.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    part: usize,
    container: Container,
    /// Number of elements of an array so far.
    count: usize,
}

struct PartFinder<'p, 'a> {
    plan: &'p ProjectionPlan,
    /// Indexed by part.
    found: ArenaVec<'a, FoundPart<'a>>,
    /// Innermost last.
    open: SmallVec<[OpenContainer; INLINE_DEPTH]>,
    /// The part whose text is being skipped and then kept, because it is read in full.
    source_of: Option<usize>,
    /// In an object, the part that the next value is, if any.
    member: Option<usize>,
}

impl<'a> PartFinder<'_, 'a> {
    /// Returns the part that the next value is, if any, and counts the value.
    fn next_part(&mut self) -> Option<usize> {
        let Some(open) = self.open.last_mut() else { return Some(0) };
        if open.container == Container::Object {
            return self.member.take();
        }
        let index = open.count;
        open.count = index.saturating_add(1);
        let elements = &self.plan.at(open.part)?.elements;
        elements.iter().find(|(element, _)| *element == index).map(|(_, part)| *part)
    }

    /// Records what the document has for a part, and forgets its descendants: they were found in
    /// the value of an earlier occurrence of the same key.
    fn record(&mut self, part: usize, found: FoundPart<'a>) {
        let end = self.plan.at(part).map_or(part, |part| part.end);
        if let Some(descendants) = self.found.as_mut_slice().get_mut(part..end) {
            descendants.fill(FoundPart::Missing);
            if let Some(first) = descendants.first_mut() {
                *first = found;
            }
        }
    }

    /// Builds the value of a part; `None` if the document has none.
    fn value(&mut self, cx: &Cx<'a>, part: usize) -> EvalResult<Option<Value<'a>>> {
        let plan = self.plan;
        let Some(described) = plan.at(part) else { return Ok(None) };
        let found = self.found.as_mut_slice().get(part).copied().unwrap_or(FoundPart::Missing);
        Ok(Some(match found {
            FoundPart::Missing => return Ok(None),
            FoundPart::Scalar(scalar) => scalar.value(cx)?,
            FoundPart::Source(json) => tree::parse(cx, json)?,
            FoundPart::Object => {
                let mut entries = cx.arena().vec();
                for (key, inner) in &described.members {
                    if let Some(value) = self.value(cx, *inner)? {
                        entries.push((Value::String(cx.arena().alloc_str(key)?), value))?;
                    }
                }
                Value::Map(Map::Sorted(entries.finish()))
            }
            FoundPart::Array(count) => {
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

impl<'a> Sink<'a> for PartFinder<'_, 'a> {
    fn key(&mut self, key: Text<'a>) -> EvalResult<()> {
        let members = self.open.last().and_then(|open| self.plan.at(open.part)).map(|part| &part.members);
        let member = members.and_then(|members| members.iter().find(|(name, _)| key.is(name)));
        self.member = member.map(|(_, part)| *part);
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'a>) -> EvalResult<()> {
        if let Some(part) = self.next_part() {
            self.record(part, FoundPart::Scalar(scalar));
        }
        Ok(())
    }

    fn open(&mut self, container: Container) -> bool {
        let Some(part) = self.next_part() else { return false };
        let found = if container == Container::Object { FoundPart::Object } else { FoundPart::Array(0) };
        self.record(part, found);
        let Some(described) = self.plan.at(part) else { return false };
        if described.whole {
            self.source_of = Some(part);
        }
        let has_parts = described.end > part.wrapping_add(1);
        if has_parts {
            self.open.push(OpenContainer { part, container, count: 0 });
        }
        has_parts
    }

    fn skipped(&mut self, json: &'a [u8]) {
        if let Some(part) = self.source_of.take() {
            self.record(part, FoundPart::Source(json));
        }
    }

    fn close(&mut self, _: Container) -> EvalResult<()> {
        if let Some(OpenContainer { part, container: Container::Array, count }) = self.open.pop()
            && let Some(found) = self.found.as_mut_slice().get_mut(part)
        {
            *found = FoundPart::Array(count);
        }
        Ok(())
    }
}
