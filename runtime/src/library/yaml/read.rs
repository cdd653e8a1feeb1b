//! Reads YAML 1.2: from the events of the parser to JSON text.
//!
//! Aliases are copies of what they stand for, made in the memory of the evaluation, so that its budget ends
//! a document that grows by them. Refused are several documents, keys that are lists, maps or empty, equal
//! keys of a map, and merge keys.
//!
//! Invariant: steps and memory are charged before they are used: the parser's by the length of the text, a copy's by
//! its length. Test: `runtime/src/library/yaml/tests.rs::hostile_documents_are_bounded`.

use super::scalar::{Resolved, resolve};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::library::encoders::{BASE64, base64_decode};
use crate::library::json::number_text;
use crate::library::standard::conversions::{charge_number, string_from_bytes, string_from_int, string_from_uint};
use celero_ir::ErrorKind::InvalidArgument;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

/// Longest text that is read, in bytes. The parser holds some sixty bytes for each outside of the evaluation's memory.
pub(super) const MAX_BYTES: usize = 256 << 10;

/// Steps of the parser for a byte.
const STEPS_PER_BYTE: usize = 2;

const KEY_OF_MERGES: &str = "<<";

/// # Errors
/// `invalid_argument` for more than [`MAX_BYTES`].
pub(super) fn check_size(text: &str) -> EvalResult<()> {
    if text.len() > MAX_BYTES { Err(InvalidArgument) } else { Ok(()) }
}

/// Returns the JSON text of a document.
///
/// # Errors
/// `invalid_argument` if it is not a document; `out_of_budget`.
pub(super) fn to_json<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<&'a str> {
    cx.charge(text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(1))?;
    let arena = cx.arena();
    let mut reader =
        Reader { cx, out: arena.vec(), open: arena.vec(), keys: arena.vec(), anchors: arena.vec(), documents: 0 };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, _) = event.map_err(|_| InvalidArgument)?;
        cx.charge(1)?;
        reader.take(event)?;
    }
    let json = reader.out.finish();
    if json.is_empty() { Err(InvalidArgument) } else { std::str::from_utf8(json).map_err(|_| InvalidArgument) }
}

/// A list or map that is not closed yet.
#[derive(Clone, Copy)]
struct Open {
    is_map: bool,
    /// The nodes in it: of a map keys and values.
    nodes: usize,
    /// Where its text begins.
    start: usize,
    /// The number of keys of the maps around.
    keys: usize,
    anchor: usize,
}

/// What an alias may stand for: a part of the text that is written.
#[derive(Clone, Copy)]
struct Anchor {
    id: usize,
    start: usize,
    end: usize,
}

struct Reader<'c, 'a> {
    cx: &'c Cx<'a>,
    /// The JSON text.
    out: ArenaVec<'a, u8>,
    open: ArenaVec<'a, Open>,
    /// The keys of the open maps, as JSON text.
    keys: ArenaVec<'a, &'a [u8]>,
    anchors: ArenaVec<'a, Anchor>,
    documents: usize,
}

impl<'a> Reader<'_, 'a> {
    fn take(&mut self, event: Event<'_>) -> EvalResult<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 { Err(InvalidArgument) } else { Ok(()) }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                if is_plain && tag.is_none() && matches!(&*text, "" | KEY_OF_MERGES) && self.is_key() {
                    return Err(InvalidArgument);
                }
                self.separate()?;
                let start = self.written();
                self.scalar(&text, is_plain, tag.as_deref())?;
                self.remember(anchor, start)?;
                self.added(start)
            }
            Event::SequenceStart(anchor, _) => self.start(false, anchor),
            Event::MappingStart(anchor, _) => self.start(true, anchor),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => self.alias(id),
        }
    }

    fn written(&mut self) -> usize {
        self.out.as_mut_slice().len()
    }

    /// Whether the next node is a key.
    fn is_key(&mut self) -> bool {
        self.open.as_mut_slice().last().is_some_and(|open| open.is_map && open.nodes.is_multiple_of(2))
    }

    /// Writes what stands before the next node.
    fn separate(&mut self) -> EvalResult<()> {
        match self.open.as_mut_slice().last() {
            Some(open) if open.is_map && !open.nodes.is_multiple_of(2) => self.out.push(b':'),
            Some(open) if open.nodes > 0 => self.out.push(b','),
            _ => Ok(()),
        }
    }

    /// A node is written, from here on.
    fn added(&mut self, start: usize) -> EvalResult<()> {
        if self.is_key() {
            let text = self.out.as_mut_slice().get(start..).unwrap_or_default();
            let key = match text.first() {
                Some(b'"') => self.cx.arena().alloc_slice(text)?,
                Some(b'[' | b'{') | None => return Err(InvalidArgument),
                // A number, a bool or null is written as a text.
                Some(_) => {
                    let mut quoted = self.cx.arena().vec();
                    quoted.push(b'"')?;
                    quoted.extend(text)?;
                    quoted.push(b'"')?;
                    let quoted = quoted.finish();
                    self.out.truncate(start);
                    self.out.extend(quoted)?;
                    quoted
                }
            };
            self.cx.charge_bytes(key.len())?;
            self.keys.push(key)?;
        }
        if let Some(open) = self.open.as_mut_slice().last_mut() {
            open.nodes = open.nodes.saturating_add(1);
        }
        Ok(())
    }

    fn remember(&mut self, id: usize, start: usize) -> EvalResult<()> {
        let end = self.written();
        if id == 0 { Ok(()) } else { self.anchors.push(Anchor { id, start, end }) }
    }

    fn start(&mut self, is_map: bool, anchor: usize) -> EvalResult<()> {
        if self.is_key() {
            return Err(InvalidArgument);
        }
        self.separate()?;
        let (start, keys) = (self.written(), self.keys.as_mut_slice().len());
        self.open.push(Open { is_map, nodes: 0, start, keys, anchor })?;
        self.out.push(if is_map { b'{' } else { b'[' })
    }

    fn end(&mut self) -> EvalResult<()> {
        let Some(open) = self.open.pop() else { return Err(InvalidArgument) };
        self.out.push(if open.is_map { b'}' } else { b']' })?;
        let keys = self.keys.as_mut_slice().get_mut(open.keys..).unwrap_or_default();
        let bytes = keys.iter().fold(0_usize, |sum, key| sum.saturating_add(key.len()));
        let comparisons = keys.len().checked_ilog2().unwrap_or(0) as usize;
        self.cx.charge(keys.len())?;
        self.cx.charge_bytes(bytes.saturating_mul(comparisons.saturating_add(1)))?;
        keys.sort_unstable();
        if keys.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
            return Err(InvalidArgument);
        }
        self.keys.truncate(open.keys);
        self.remember(open.anchor, open.start)?;
        self.added(open.start)
    }

    /// Writes again what was written at the anchor. One that is still open, or of another document, is none.
    fn alias(&mut self, id: usize) -> EvalResult<()> {
        let found = self.anchors.as_mut_slice().binary_search_by_key(&id, |anchor| anchor.id);
        let anchors = self.anchors.as_mut_slice();
        let anchor = match found {
            Ok(at) => anchors.get(at),
            // Those of lists and maps are remembered at their ends.
            Err(_) => {
                self.cx.charge_each_byte(anchors.len())?;
                anchors.iter().find(|anchor| anchor.id == id)
            }
        };
        let Anchor { start, end, .. } = *anchor.ok_or(InvalidArgument)?;
        let text = self.out.as_mut_slice().get(start..end).unwrap_or_default();
        self.cx.charge_bytes(text.len())?;
        let text = self.cx.arena().alloc_slice(text)?;
        self.separate()?;
        let start = self.written();
        self.out.extend(text)?;
        self.added(start)
    }

    /// Writes a scalar.
    fn scalar(&mut self, text: &str, is_plain: bool, tag: Option<&Tag>) -> EvalResult<()> {
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        let is_resolved = match (tag, core) {
            // `!` says that it is what it seems.
            (Some(tag), None) => is_plain && tag.handle.is_empty() && tag.suffix == "!",
            (None, _) => is_plain,
            (Some(_), Some(core)) => !matches!(core, "str" | "binary"),
        };
        if core == Some("binary") {
            let bytes = base64_decode(self.cx, &BASE64, text)?;
            return self.text(string_from_bytes(self.cx, bytes)?);
        }
        if !is_resolved {
            return self.text(text);
        }
        let resolved = resolve(text);
        let is_of_tag = match core {
            None => true,
            Some("null") => matches!(resolved, Resolved::Null),
            Some("bool") => matches!(resolved, Resolved::Bool(_)),
            Some("int") => matches!(resolved, Resolved::Int(_) | Resolved::Uint(_)),
            Some("float") => matches!(resolved, Resolved::Int(_) | Resolved::Uint(_) | Resolved::Double(_)),
            Some("timestamp") => matches!(resolved, Resolved::Time(_)),
            Some(_) => false,
        };
        if !is_of_tag {
            return Err(InvalidArgument);
        }
        let cx = self.cx;
        match resolved {
            Resolved::Null => self.out.extend(b"null"),
            Resolved::Bool(value) => self.out.extend(if value { b"true" } else { b"false" }),
            Resolved::Int(value) => self.out.extend(string_from_int(cx, value)?.as_bytes()),
            Resolved::Uint(value) => self.out.extend(string_from_uint(cx, value)?.as_bytes()),
            Resolved::Double(value) if value.is_finite() => {
                charge_number(cx, text.len())?;
                self.out.extend(number_text(cx, value)?.as_bytes())
            }
            // JSON has no such number.
            Resolved::Double(_) => Err(InvalidArgument),
            Resolved::Time(time) => self.text(&time),
            Resolved::Text => self.text(text),
        }
    }

    /// Writes a text.
    fn text(&mut self, text: &str) -> EvalResult<()> {
        self.out.push(b'"')?;
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => self.out.extend(&[b'\\', byte])?,
                0..=0x1f => {
                    self.out.extend(self.cx.arena().format(format_args!("\\u{byte:04x}"))?.as_bytes())?;
                }
                byte => self.out.push(byte)?,
            }
        }
        self.out.push(b'"')
    }
}
