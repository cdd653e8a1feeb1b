//! The lookups, which a [`Snapshot`] and a [`View`] have alike: each at its own time.

use super::snapshot::{EntryId, ListId, Snapshot};
use super::view::View;
use crate::list::KeyType;
use crate::sets::{Meter, Unmetered};
use std::net::IpAddr;

/// The bits of an IPv6 address; those of an IPv4 address in its IPv4-mapped form.
#[inline(always)]
fn mapped(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => 0xffff << 32 | u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Writes the lookups of a type. Its method `asked` returns a list and the clock that says what has expired in it.
macro_rules! lookups {
    ($type:ty) => {
        impl $type {
            /// Returns whether an address is in a list: whether a network of the list contains it. False if
            /// the list is none of addresses.
            #[must_use]
            #[inline]
            pub fn contains_address(&self, list: ListId, address: IpAddr) -> bool {
                self.has_address(list, address) == Some(true)
            }

            /// Returns whether an address is in a list; `None` if the list was not declared or is none of addresses.
            #[must_use]
            // Always inlined: as an argument in memory, an `IpAddr` is written in parts and read as a
            // whole, which waits for all of them.
            #[inline(always)]
            pub fn has_address(&self, list: ListId, address: IpAddr) -> Option<bool> {
                self.has_mapped_address(list, mapped(address))
            }

            /// As [`has_address`](Self::has_address) of an address as the bits of an IPv6 address, an IPv4
            /// address in its IPv4-mapped form (`::ffff:192.0.2.7`).
            #[must_use]
            #[inline]
            pub fn has_mapped_address(&self, list: ListId, address: u128) -> Option<bool> {
                let (list, clock) = self.asked(list, KeyType::Address)?;
                list.has_address(address, clock)
            }

            /// Returns whether a text is in a list of texts, hosts, patterns or wildcards; false if the
            /// list is of another kind. Takes time linear in the text, by a factor that patterns decide:
            /// see [`has_text_metered`](Self::has_text_metered).
            #[must_use]
            #[inline]
            pub fn contains_text(&self, list: ListId, text: &[u8]) -> bool {
                self.has_text(list, text) == Some(true)
            }

            /// Returns whether a text is in a list; `None` if the list was not declared or is not asked for
            /// texts. Takes time linear in the text.
            #[must_use]
            #[inline]
            pub fn has_text(&self, list: ListId, text: &[u8]) -> Option<bool> {
                let Ok(has) = self.has_text_metered(list, text, &Unmetered);
                has
            }

            /// As [`has_text`](Self::has_text), and takes from `meter` what searching for patterns costs, a
            /// part of it afterwards: up to a million steps for each set that the lookup
            /// [searches](crate::ListInfo::levels). Lists of other kinds cost nothing. Use it for texts that
            /// somebody may have made to be slow.
            ///
            /// # Errors
            /// That of the meter, if the search costs more than is left.
            #[inline]
            pub fn has_text_metered<M: Meter>(
                &self,
                list: ListId,
                text: &[u8],
                meter: &M,
            ) -> Result<Option<bool>, M::Error> {
                let Some((list, clock)) = self.asked(list, KeyType::Text) else { return Ok(None) };
                list.has_text(text, meter, clock)
            }

            /// Returns whether an integer is in a list of integers; false if the list is of another kind.
            #[must_use]
            #[inline]
            pub fn contains_integer(&self, list: ListId, number: i64) -> bool {
                self.has_integer(list, number) == Some(true)
            }

            /// Returns whether an integer is in a list; `None` if the list was not declared or is none of integers.
            #[must_use]
            #[inline]
            pub fn has_integer(&self, list: ListId, number: i64) -> Option<bool> {
                let (list, clock) = self.asked(list, KeyType::Integer)?;
                list.has_integer(number, clock)
            }

            /// Returns the entry of an address: the smallest network that contains it. `None` if none does,
            /// or the list is none of addresses.
            #[must_use]
            // Always inlined, as `has_address` is.
            #[inline(always)]
            pub fn find_address(&self, list: ListId, address: IpAddr) -> Option<EntryId> {
                self.find_mapped_address(list, mapped(address))
            }

            /// As [`find_address`](Self::find_address) of an address as the bits of an IPv6 address, an
            /// IPv4 address in its IPv4-mapped form.
            #[must_use]
            #[inline]
            pub fn find_mapped_address(&self, list: ListId, address: u128) -> Option<EntryId> {
                let (list, clock) = self.asked(list, KeyType::Address)?;
                list.find_address(address, clock).map(EntryId)
            }

            /// Returns the entry of a text in a list of texts, hosts, patterns or wildcards: that text;
            /// that host, or else the longest name with a star that it is below; of the patterns or
            /// wildcards that match, the longest, and of equally long ones the one that sorts first. `None`
            /// if there is none, or the list is of another kind. Takes time linear in the text.
            #[must_use]
            #[inline]
            pub fn find_text(&self, list: ListId, text: &[u8]) -> Option<EntryId> {
                let Ok(found) = self.find_text_metered(list, text, &Unmetered);
                found
            }

            /// As [`find_text`](Self::find_text), and takes from `meter` what searching for patterns costs, as
            /// [`has_text_metered`](Self::has_text_metered) does.
            ///
            /// # Errors
            /// That of the meter, if the search costs more than is left.
            #[inline]
            pub fn find_text_metered<M: Meter>(
                &self,
                list: ListId,
                text: &[u8],
                meter: &M,
            ) -> Result<Option<EntryId>, M::Error> {
                let Some((list, clock)) = self.asked(list, KeyType::Text) else { return Ok(None) };
                Ok(list.find_text(text, meter, clock)?.map(EntryId))
            }

            /// Returns the entry of an integer: the narrowest range that contains it, and of equally wide
            /// ones the one that begins last. `None` if none does, or the list is of another kind. Takes
            /// time linear in the number of ranges that contain the integer.
            #[must_use]
            #[inline]
            pub fn find_integer(&self, list: ListId, number: i64) -> Option<EntryId> {
                let (list, clock) = self.asked(list, KeyType::Integer)?;
                list.find_integer(number, clock).map(EntryId)
            }
        }
    };
}

lookups!(Snapshot);
lookups!(View);
