//! Attributes: what an index reads of the context. Each is a field or a header, read as one kind of value.

use crate::arena::{Arena, EvalResult};
use crate::context::Host;
use crate::function::contained;
use crate::native::{HostData, InPlace, Seen};
use crate::value::{Map, Value};
use celero_ir::ErrorKind;
use celero_ir::layout::Field;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Number of an attribute in its index.
pub(super) type AttributeId = u32;

/// Where an attribute's value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AttributeSource {
    /// A field of the host.
    Field(u32),
    /// A header: the field that holds the header map, and the name in lower case.
    Header(u32, Arc<str>),
}

impl AttributeSource {
    /// A header; `None` if no header can have this name.
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

/// As what an attribute is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AttributeKind {
    /// Text, as bytes: headers may not be UTF-8.
    Text,
    /// Text with ASCII letters in lower case.
    Lower,
    /// An `int` or `uint`.
    Number,
    /// A `bool`.
    Truth,
    /// An IP address.
    Address,
    /// Whether there is a value.
    Presence,
}

/// A field or a header, and as what it is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attribute {
    pub(super) source: AttributeSource,
    pub(super) kind: AttributeKind,
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum AttributeValue<'a> {
    /// There is no value.
    Absent,
    Text(&'a [u8]),
    Number(i128),
    Truth(bool),
    Address(IpAddr),
    /// There is a value, which was not read.
    Present,
}

impl<'a> AttributeValue<'a> {
    #[inline]
    pub(super) fn text(self) -> Option<&'a [u8]> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    #[inline]
    pub(super) fn number(self) -> Option<i128> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    #[inline]
    pub(super) fn truth(self) -> Option<bool> {
        if let Self::Truth(truth) = self { Some(truth) } else { None }
    }

    #[inline]
    pub(super) fn address(self) -> Option<IpAddr> {
        if let Self::Address(address) = self { Some(address) } else { None }
    }

    #[inline]
    pub(super) fn is_present(self) -> bool {
        !matches!(self, Self::Absent)
    }
}

/// A value could not be read, or has another type than declared. All indexed rules are then evaluated one by one.
pub(super) struct Unreadable;

/// The attributes of an index, numbered.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    attributes: Vec<NumberedAttribute>,
    numbers: HashMap<Attribute, AttributeId, RandomState>,
}

/// An attribute, and how it is read.
#[derive(Debug)]
pub(super) struct NumberedAttribute {
    attribute: Attribute,
    /// How its field is read without a call of the host; known when planning is done.
    in_place: Option<InPlace>,
    /// Whether several lookups read it, so that its value is kept.
    shared: bool,
    #[cfg(feature = "http")]
    name: Option<http::HeaderName>,
}

impl Attributes {
    /// Returns the number of an attribute. Adds it if it is new.
    pub(super) fn number(&mut self, attribute: Attribute) -> AttributeId {
        let next = AttributeId::try_from(self.attributes.len()).unwrap_or(AttributeId::MAX);
        *self.numbers.entry(attribute).or_insert_with_key(|attribute| {
            self.attributes.push(NumberedAttribute {
                attribute: attribute.clone(),
                in_place: None,
                shared: false,
                #[cfg(feature = "http")]
                name: match &attribute.source {
                    AttributeSource::Header(_, name) => http::HeaderName::from_bytes(name.as_bytes()).ok(),
                    AttributeSource::Field(_) => None,
                },
            });
            next
        })
    }

    pub(super) fn len(&self) -> usize {
        self.attributes.len()
    }

    pub(super) fn get(&self, id: AttributeId) -> Option<&Attribute> {
        self.attributes.get(id as usize).map(|ready| &ready.attribute)
    }

    /// Prepares reading, from the layouts of all fields. `lookups` are the attributes of all
    /// lookups. Frees the memory that only planning needs.
    pub(super) fn finish(&mut self, fields: &[Field], lookups: impl Iterator<Item = AttributeId>) {
        self.numbers = HashMap::default();
        for NumberedAttribute { attribute, in_place, .. } in &mut self.attributes {
            let layout = |field: u32| fields.get(field as usize);
            *in_place = match attribute.source {
                AttributeSource::Field(field) => layout(field).and_then(InPlace::new),
                AttributeSource::Header(field, _) => layout(field).and_then(InPlace::of_headers),
            };
        }
        let mut is_read = vec![false; self.attributes.len()];
        for id in lookups.map(|id| id as usize) {
            if let (Some(attribute), Some(is_read)) = (self.attributes.get_mut(id), is_read.get_mut(id)) {
                attribute.shared |= std::mem::replace(is_read, true);
            }
        }
        self.attributes.shrink_to_fit();
    }

    /// How an attribute is read.
    #[inline]
    pub(super) fn numbered(&self, id: AttributeId) -> Result<&NumberedAttribute, Unreadable> {
        self.attributes.get(id as usize).ok_or(Unreadable)
    }

    /// The header map in a field; `None` if the field is none.
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
}

impl NumberedAttribute {
    /// Whether several lookups read it.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The value as text: in place if possible, else by a call of the host.
    #[inline(always)]
    pub(super) fn text<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<Option<&'a [u8]>, Unreadable> {
        #[cfg(feature = "http")]
        if let Some(name) = &self.name
            && let Some(map) = self.in_place.as_ref().and_then(|field| host.headers(field))
        {
            let found = crate::context::headers::joined(map, name, arena).map_err(|_: ErrorKind| Unreadable)?;
            return found.map_or(Ok(None), |text| self.cased(text, arena).map(Some));
        }
        match self.in_place.as_ref().map_or(Seen::ToBeMade, |field| host.text(field)) {
            Seen::There(text) => self.cased(text, arena).map(Some),
            Seen::Absent => Ok(None),
            Seen::ToBeMade => self.read_contained(host, arena).map(AttributeValue::text),
        }
    }

    /// The value as a number.
    #[inline(always)]
    pub(super) fn number<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<Option<i128>, Unreadable> {
        match self.in_place.as_ref().map_or(Seen::ToBeMade, |field| host.number(field)) {
            Seen::There(number) => Ok(Some(number)),
            Seen::Absent => Ok(None),
            Seen::ToBeMade => self.read_contained(host, arena).map(AttributeValue::number),
        }
    }

    /// The value as truth.
    #[inline(always)]
    pub(super) fn truth<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<Option<bool>, Unreadable> {
        match self.in_place.as_ref().map_or(Seen::ToBeMade, |field| host.truth(field)) {
            Seen::There(truth) => Ok(Some(truth)),
            Seen::Absent => Ok(None),
            Seen::ToBeMade => self.read_contained(host, arena).map(AttributeValue::truth),
        }
    }

    /// The value as an address.
    #[inline(always)]
    pub(super) fn address<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<Option<IpAddr>, Unreadable> {
        match self.in_place.as_ref().map_or(Seen::ToBeMade, |field| host.address(field)) {
            Seen::There(address) => Ok(Some(address)),
            Seen::Absent => Ok(None),
            Seen::ToBeMade => self.read_contained(host, arena).map(AttributeValue::address),
        }
    }

    /// Whether there is a value.
    #[inline]
    pub(super) fn is_present<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<bool, Unreadable> {
        #[cfg(feature = "http")]
        if let Some(name) = &self.name
            && let Some(map) = self.in_place.as_ref().and_then(|field| host.headers(field))
        {
            return Ok(map.contains_key(name));
        }
        match self.in_place.as_ref().map_or(Seen::ToBeMade, |field| host.presence(field)) {
            Seen::There(()) => Ok(true),
            Seen::Absent => Ok(false),
            Seen::ToBeMade => self.read_contained(host, arena).map(AttributeValue::is_present),
        }
    }

    /// The value, to be kept.
    pub(super) fn load<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<AttributeValue<'a>, Unreadable> {
        let value = match self.attribute.kind {
            AttributeKind::Text | AttributeKind::Lower => self.text(host, arena)?.map(AttributeValue::Text),
            AttributeKind::Number => self.number(host, arena)?.map(AttributeValue::Number),
            AttributeKind::Truth => self.truth(host, arena)?.map(AttributeValue::Truth),
            AttributeKind::Address => self.address(host, arena)?.map(AttributeValue::Address),
            AttributeKind::Presence => self.is_present(host, arena)?.then_some(AttributeValue::Present),
        };
        Ok(value.unwrap_or(AttributeValue::Absent))
    }

    /// Text as the attribute has it: in lower case, if it asks for that.
    #[inline(always)]
    fn cased<'a>(&self, text: &'a [u8], arena: &'a Arena) -> Result<&'a [u8], Unreadable> {
        if self.attribute.kind == AttributeKind::Lower { lower(text, arena) } else { Ok(text) }
    }

    /// Asks the host for the attribute. A panic of the host counts as an attribute that can't be read.
    #[cold]
    fn read_contained<'a>(&self, host: HostData<'a>, arena: &'a Arena) -> Result<AttributeValue<'a>, Unreadable> {
        contained(|| self.read(host.host(), arena)).map_err(|()| Unreadable)?
    }

    fn read<'a>(&self, host: &'a dyn Host, arena: &'a Arena) -> Result<AttributeValue<'a>, Unreadable> {
        let value = match &self.attribute.source {
            AttributeSource::Field(field) => host.field(*field, arena).map_err(|_: ErrorKind| Unreadable)?,
            AttributeSource::Header(field, _) => {
                let found = self.header(host, *field, arena).map_err(|_: ErrorKind| Unreadable)?;
                return found.ok_or(Unreadable)?.map_or(Ok(AttributeValue::Absent), |bytes| self.present(bytes, arena));
            }
        };
        let Some(value) = value else { return Ok(AttributeValue::Absent) };
        Ok(match (self.attribute.kind, value) {
            (AttributeKind::Presence, _) => AttributeValue::Present,
            (AttributeKind::Text, Value::String(text)) => AttributeValue::Text(text.as_bytes()),
            (AttributeKind::Lower, Value::String(text)) => AttributeValue::Text(lower(text.as_bytes(), arena)?),
            (AttributeKind::Number, Value::Int(number)) => AttributeValue::Number(number.into()),
            (AttributeKind::Number, Value::Uint(number)) => AttributeValue::Number(number.into()),
            (AttributeKind::Truth, Value::Bool(truth)) => AttributeValue::Truth(truth),
            (AttributeKind::Address, Value::Ip(address)) => AttributeValue::Address(address.to_canonical()),
            (AttributeKind::Address, Value::String(text)) => AttributeValue::Address(address(text)?),
            _ => return Err(Unreadable),
        })
    }

    /// The value of a header that is present with these bytes.
    pub(super) fn present<'a>(&self, bytes: &'a [u8], arena: &'a Arena) -> Result<AttributeValue<'a>, Unreadable> {
        Ok(match self.attribute.kind {
            AttributeKind::Presence => AttributeValue::Present,
            AttributeKind::Lower => AttributeValue::Text(lower(bytes, arena)?),
            _ => AttributeValue::Text(bytes),
        })
    }

    /// The value of a header; `None` if the field is no header map.
    #[cfg(feature = "http")]
    fn header<'a>(&self, host: &'a dyn Host, field: u32, arena: &'a Arena) -> EvalResult<Option<Option<&'a [u8]>>> {
        let (Some(map), Some(name)) = (Attributes::headers(host, field, arena)?, &self.name) else { return Ok(None) };
        crate::context::headers::joined(map, name, arena).map(Some)
    }

    #[cfg(not(feature = "http"))]
    fn header<'a>(&self, _: &'a dyn Host, _: u32, _: &'a Arena) -> EvalResult<Option<Option<&'a [u8]>>> {
        Ok(None)
    }
}

/// The address that a text is.
fn address(text: &str) -> Result<IpAddr, Unreadable> {
    text.parse().map(|address: IpAddr| address.to_canonical()).map_err(|_| Unreadable)
}

fn lower<'a>(text: &'a [u8], arena: &'a Arena) -> Result<&'a [u8], Unreadable> {
    if !text.iter().any(u8::is_ascii_uppercase) {
        return Ok(text);
    }
    let letter = |at: usize| text.get(at).map_or(0, u8::to_ascii_lowercase);
    arena.alloc_slice_with(text.len(), letter).map_err(|_| Unreadable)
}
