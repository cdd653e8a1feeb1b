//! Builds the value of a whole document.

use super::scan::{Container, Sink, charge_scan, scan};
use super::token::{Numbers, Scalar, Text};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind::OutOfBudget;

/// Returns the value of a document.
///
/// # Errors
/// Those of [`scan`]; `out_of_budget` when the evaluation's budget is spent.
pub(super) fn parse<'a>(cx: &Cx<'a>, json: &'a [u8]) -> EvalResult<Value<'a>> {
    parse_with(cx, json, Numbers::Exact)
}

/// As [`parse`]; `numbers` says what a number is.
pub(super) fn parse_with<'a>(cx: &Cx<'a>, json: &'a [u8], numbers: Numbers) -> EvalResult<Value<'a>> {
    charge_scan(cx, json)?;
    let mut tree = Tree { cx, numbers, pending: cx.arena().vec(), open: cx.arena().vec(), in_budget: true };
    scan(json, &mut tree)?;
    Ok(tree.pending.finish().first().copied().unwrap_or(Value::Null))
}

/// Collects values until their container closes.
struct Tree<'c, 'a> {
    cx: &'c Cx<'a>,
    numbers: Numbers,
    /// The content of all open containers, keys of objects included, in document order.
    pending: ArenaVec<'a, Value<'a>>,
    /// For each open container, the index in `pending` at which its content starts.
    open: ArenaVec<'a, usize>,
    /// Whether the memory budget sufficed for all elements of `open`. [`Sink::open`] cannot fail,
    /// so `close` reports it.
    in_budget: bool,
}

/// A member of an object.
#[derive(Clone, Copy)]
struct Member<'a> {
    key: &'a str,
    /// Position among the object's members.
    position: usize,
    value: Value<'a>,
}

impl<'a> Sink<'a> for Tree<'_, 'a> {
    fn key(&mut self, key: Text<'a>) -> EvalResult<()> {
        self.pending.push(Value::String(key.read(self.cx)?))
    }

    fn scalar(&mut self, scalar: Scalar<'a>) -> EvalResult<()> {
        self.pending.push(scalar.value_with(self.cx, self.numbers)?)
    }

    fn open(&mut self, _: Container) -> bool {
        let start = self.pending.as_mut_slice().len();
        self.in_budget &= self.open.push(start).is_ok();
        true
    }

    fn skipped(&mut self, _: &'a [u8]) {}

    fn close(&mut self, container: Container) -> EvalResult<()> {
        if !self.in_budget {
            return Err(OutOfBudget);
        }
        let start = self.open.pop().unwrap_or(0);
        let content = self.pending.as_mut_slice().get(start..).unwrap_or(&[]);
        self.cx.charge(content.len())?;
        let value = match container {
            Container::Array => Value::List(List::Slice(self.cx.arena().alloc_slice(content)?)),
            Container::Object => Value::Map(Map::Sorted(object(self.cx, content)?)),
        };
        self.pending.truncate(start);
        self.pending.push(value)
    }
}

/// Returns the sorted entries of an object whose keys and values alternate in `content`. Of equal
/// keys, the last one counts.
fn object<'a>(cx: &Cx<'a>, content: &[Value<'a>]) -> EvalResult<&'a [(Value<'a>, Value<'a>)]> {
    let count = content.len() / 2;
    let mut members = cx.arena().vec();
    members.reserve(count)?;
    let mut key_bytes = 0_usize;
    for (position, pair) in content.chunks_exact(2).enumerate() {
        if let &[Value::String(key), value] = pair {
            key_bytes = key_bytes.saturating_add(key.len());
            members.push(Member { key, position, value })?;
        }
    }
    let comparisons = count.checked_ilog2().unwrap_or(0) as usize;
    cx.charge_bytes(key_bytes.saturating_mul(comparisons.saturating_add(1)))?;
    let members = members.as_mut_slice();
    members.sort_unstable_by(|a, b| (a.key, a.position).cmp(&(b.key, b.position)));
    let mut entries = cx.arena().vec();
    entries.reserve(count)?;
    let next = members.iter().skip(1).map(|member| Some(member.key)).chain([None]);
    for (member, next) in members.iter().zip(next) {
        if next != Some(member.key) {
            entries.push((Value::String(member.key), member.value))?;
        }
    }
    Ok(entries.finish())
}
