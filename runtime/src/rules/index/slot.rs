//! What an index looks at: fields of the host and headers, each read at most once an evaluation.

use crate::arena::{Arena, EvalResult};
use crate::context::Host;
use crate::value::{Map, Value};
use celero_ir::ErrorKind;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The number of a slot in its index.
pub(super) type SlotId = u32;

/// Where a slot's value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// A field of the host.
    Field(u32),
    /// A header, by its name in lower case, in the header map that is this field.
    Header(u32, Arc<str>),
}

impl Source {
    /// A header, if a header can have that name.
    #[cfg(feature = "http")]
    pub(super) fn header(field: u32, name: &str) -> Option<Self> {
        let name = http::HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some(Self::Header(field, name.as_str().into()))
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn header(_: u32, _: &str) -> Option<Self> {
        None
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Text as its bytes; that of headers may not be UTF-8.
    Text,
    /// Text with the letters of ASCII in lower case.
    Lower,
    /// An `int` or `uint`.
    Number,
    /// A truth value.
    Truth,
    /// An IP address.
    Address,
    /// Only whether there is a value.
    Presence,
}

/// Something that an index looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) source: Source,
    pub(super) kind: Kind,
}

/// A slot's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loaded<'a> {
    /// There is none.
    Absent,
    Text(&'a [u8]),
    Number(i128),
    Truth(bool),
    Address(IpAddr),
    /// There is one.
    Present,
}

/// A value could not be read, or is of another type: what the rules make of that, each has to say for itself.
pub(super) struct Unreadable;

/// The slots of an index, numbered.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Ready>,
    numbers: HashMap<Slot, SlotId, FixedState>,
}

#[derive(Debug)]
struct Ready {
    slot: Slot,
    #[cfg(feature = "http")]
    name: Option<http::HeaderName>,
}

impl Slots {
    /// The number of a slot.
    pub(super) fn number(&mut self, slot: Slot) -> SlotId {
        let next = SlotId::try_from(self.slots.len()).unwrap_or(SlotId::MAX);
        *self.numbers.entry(slot).or_insert_with_key(|slot| {
            self.slots.push(Ready {
                slot: slot.clone(),
                #[cfg(feature = "http")]
                name: match &slot.source {
                    Source::Header(_, name) => http::HeaderName::from_bytes(name.as_bytes()).ok(),
                    Source::Field(_) => None,
                },
            });
            next
        })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, id: SlotId) -> Option<&Slot> {
        self.slots.get(id as usize).map(|ready| &ready.slot)
    }

    /// Forgets what only building needs.
    pub(super) fn finish(&mut self) {
        self.numbers = HashMap::default();
        self.slots.shrink_to_fit();
    }

    /// The value of a slot whose header is sent with these bytes.
    pub(super) fn sent<'a>(&self, id: SlotId, bytes: &'a [u8], arena: &'a Arena) -> Result<Loaded<'a>, Unreadable> {
        self.slots.get(id as usize).ok_or(Unreadable)?.sent(bytes, arena)
    }

    /// The header map that is a field.
    #[cfg(feature = "http")]
    pub(super) fn headers<'a>(
        host: &'a dyn Host,
        field: u32,
        arena: &'a Arena,
    ) -> EvalResult<Option<&'a http::HeaderMap>> {
        Ok(match host.field(field, arena)? {
            Some(Value::Map(Map::Host(map))) => map.headers(),
            _ => None,
        })
    }

    /// Reads a slot.
    pub(super) fn load<'a>(&self, id: SlotId, host: &'a dyn Host, arena: &'a Arena) -> Result<Loaded<'a>, Unreadable> {
        let ready = self.slots.get(id as usize).ok_or(Unreadable)?;
        let value = match &ready.slot.source {
            Source::Field(field) => host.field(*field, arena).map_err(|_: ErrorKind| Unreadable)?,
            Source::Header(field, _) => {
                let found = ready.header(host, *field, arena).map_err(|_: ErrorKind| Unreadable)?;
                return found.ok_or(Unreadable)?.map_or(Ok(Loaded::Absent), |bytes| ready.sent(bytes, arena));
            }
        };
        let Some(value) = value else { return Ok(Loaded::Absent) };
        Ok(match (ready.slot.kind, value) {
            (Kind::Presence, _) => Loaded::Present,
            (Kind::Text, Value::String(text)) => Loaded::Text(text.as_bytes()),
            (Kind::Lower, Value::String(text)) => Loaded::Text(lower(text.as_bytes(), arena)?),
            (Kind::Number, Value::Int(number)) => Loaded::Number(number.into()),
            (Kind::Number, Value::Uint(number)) => Loaded::Number(number.into()),
            (Kind::Truth, Value::Bool(truth)) => Loaded::Truth(truth),
            (Kind::Address, Value::Ip(address)) => Loaded::Address(address),
            (Kind::Address, Value::String(text)) => Loaded::Address(text.parse().map_err(|_| Unreadable)?),
            _ => return Err(Unreadable),
        })
    }
}

impl Ready {
    /// The value of a header that is sent.
    fn sent<'a>(&self, bytes: &'a [u8], arena: &'a Arena) -> Result<Loaded<'a>, Unreadable> {
        Ok(match self.slot.kind {
            Kind::Presence => Loaded::Present,
            Kind::Lower => Loaded::Text(lower(bytes, arena)?),
            _ => Loaded::Text(bytes),
        })
    }

    /// The bytes of a header, if the field is a header map.
    #[cfg(feature = "http")]
    fn header<'a>(&self, host: &'a dyn Host, field: u32, arena: &'a Arena) -> EvalResult<Option<Option<&'a [u8]>>> {
        let (Some(map), Some(name)) = (Slots::headers(host, field, arena)?, &self.name) else { return Ok(None) };
        crate::context::headers::joined(map, name, arena).map(Some)
    }

    #[cfg(not(feature = "http"))]
    fn header<'a>(&self, _: &'a dyn Host, _: u32, _: &'a Arena) -> EvalResult<Option<Option<&'a [u8]>>> {
        Ok(None)
    }
}

fn lower<'a>(text: &'a [u8], arena: &'a Arena) -> Result<&'a [u8], Unreadable> {
    if !text.iter().any(u8::is_ascii_uppercase) {
        return Ok(text);
    }
    let letter = |at: usize| text.get(at).map_or(0, u8::to_ascii_lowercase);
    arena.alloc_slice_with(text.len(), letter).map_err(|_| Unreadable)
}
