//! Reads attributes of the context during a search, each at most once.
//!
//! Invariant: if an attribute can not be read (a value of another type than declared, a host that fails), the index is
//! not used for that request, and all its rules are evaluated. Test:
//! `runtime/tests/it/index/unreadable_hosts.rs::hosts_that_cannot_be_read_are_asked_rule_by_rule`.

use super::attribute::{AttributeId, AttributeValue, Attributes, NumberedAttribute, Unreadable};
use crate::arena::{Arena, ArenaVec};
#[cfg(feature = "http")]
use crate::context::headers::joined;
use crate::function::contained;
use crate::native::HostData;
use crate::scratch::NumberMap;
use smallvec::SmallVec;
use std::net::IpAddr;

/// Number of values that are kept without the arena.
const KEPT: usize = 4;

/// Reads attributes. Keeps the values of those that several lookups read until the search ends.
pub(super) struct FieldReader<'a, 'r> {
    attributes: &'r Attributes,
    host: HostData<'a>,
    arena: &'a Arena,
    /// Where the values are that were kept. Has been started if there are any.
    reads: &'r mut NumberMap,
    /// The first values that were kept, in the order of reading.
    first: SmallVec<[AttributeValue<'a>; KEPT]>,
    /// The values after them.
    further: ArenaVec<'a, AttributeValue<'a>>,
}

macro_rules! reads {
    ($($name:ident: $ty:ty, $what:literal;)*) => {$(
        #[doc = concat!("Returns the value of an attribute ", $what)]
        ///
        /// # Errors
        /// It can't be read.
        #[inline(always)]
        pub(super) fn $name(&mut self, attribute: AttributeId) -> Result<$ty, Unreadable> {
            let numbered = self.attributes.numbered(attribute)?;
            if numbered.is_shared() {
                return self.shared(attribute, numbered).map(AttributeValue::$name);
            }
            numbered.$name(self.host, self.arena)
        }
    )*};
}

impl<'a, 'r> FieldReader<'a, 'r> {
    #[inline]
    pub(super) fn new(
        attributes: &'r Attributes,
        host: HostData<'a>,
        arena: &'a Arena,
        reads: &'r mut NumberMap,
    ) -> Self {
        Self { attributes, host, arena, reads, first: SmallVec::new(), further: arena.vec() }
    }

    reads! {
        text: Option<&'a [u8]>, "that is text.";
        number: Option<i128>, "that is a number.";
        truth: Option<bool>, "that is a `bool`.";
        address: Option<IpAddr>, "that is an address.";
        is_present: bool, "of which only the presence matters.";
    }

    /// The value of an attribute that several lookups read.
    #[inline(never)]
    fn shared(
        &mut self,
        attribute: AttributeId,
        numbered: &NumberedAttribute,
    ) -> Result<AttributeValue<'a>, Unreadable> {
        match self.known(attribute) {
            Some(value) => Ok(value),
            None => numbered.load(self.host, self.arena).and_then(|value| self.keep(attribute, value)),
        }
    }

    /// Returns the value of an attribute whose header is present with this value.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn present(
        &mut self,
        attribute: AttributeId,
        bytes: &'a [u8],
    ) -> Result<AttributeValue<'a>, Unreadable> {
        let numbered = self.attributes.numbered(attribute)?;
        if !numbered.is_shared() {
            return numbered.present(bytes, self.arena);
        }
        match self.known(attribute) {
            Some(value) => Ok(value),
            None => numbered.present(bytes, self.arena).and_then(|value| self.keep(attribute, value)),
        }
    }

    #[inline]
    fn known(&mut self, attribute: AttributeId) -> Option<AttributeValue<'a>> {
        if self.first.is_empty() {
            return None;
        }
        let position = self.reads.get(attribute)? as usize;
        match position.checked_sub(KEPT) {
            None => self.first.get(position).copied(),
            Some(position) => self.further.as_mut_slice().get(position).copied(),
        }
    }

    fn keep(&mut self, attribute: AttributeId, value: AttributeValue<'a>) -> Result<AttributeValue<'a>, Unreadable> {
        if self.first.is_empty() {
            self.reads.start(self.attributes.len());
        }
        let position = self.first.len().saturating_add(self.further.as_mut_slice().len());
        let position = u32::try_from(position).map_err(|_| Unreadable)?;
        if self.first.len() < KEPT {
            self.first.push(value);
        } else {
            self.further.push(value).map_err(|_| Unreadable)?;
        }
        self.reads.insert(attribute, position);
        Ok(value)
    }

    /// Calls `each` with the name and the value of all headers in a field.
    ///
    /// # Errors
    /// The field can't be read, or `each` fails.
    #[cfg(feature = "http")]
    pub(super) fn headers(
        &mut self,
        field: u32,
        mut each: impl FnMut(&mut Self, &[u8], &'a [u8]) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        // A panic of the host counts as a field that can't be read.
        let map = contained(|| Attributes::headers(self.host.host(), field, self.arena));
        let map = map.ok().and_then(Result::ok).flatten().ok_or(Unreadable)?;
        if map.len() == map.keys_len() {
            return map.iter().try_for_each(|(name, value)| each(self, name.as_str().as_bytes(), value.as_bytes()));
        }
        for name in map.keys() {
            if let Some(value) = joined(map, name, self.arena).map_err(|_| Unreadable)? {
                each(self, name.as_str().as_bytes(), value)?;
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn headers(
        &mut self,
        _: u32,
        _: impl FnMut(&mut Self, &[u8], &'a [u8]) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        Err(Unreadable)
    }
}
