//! What is read of the host while rules are looked for: each slot at most once.

use super::slot::{Loaded, SlotId, Slots, Unreadable};
use crate::arena::{Arena, ArenaVec};
use crate::context::Host;
#[cfg(feature = "http")]
use crate::context::headers::joined;

/// Which slots were read last: memory that searches reuse.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By slot: the search that read it, and which of all that it read it is.
    marks: Vec<(u32, u32)>,
    search: u32,
}

impl Memory {
    /// Forgets what was read, for a search of so many slots.
    fn start(&mut self, slots: usize) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            // Old marks would look like new ones.
            self.marks.clear();
            self.search = 1;
        }
        if self.marks.len() < slots {
            self.marks.resize(slots, (0, 0));
        }
    }
}

/// Reads slots.
pub(super) struct Reader<'a, 'r> {
    slots: &'r Slots,
    host: &'a dyn Host,
    arena: &'a Arena,
    memory: &'r mut Memory,
    /// What was read. Of all slots few are.
    read: ArenaVec<'a, Loaded<'a>>,
}

impl<'a, 'r> Reader<'a, 'r> {
    pub(super) fn new(slots: &'r Slots, host: &'a dyn Host, arena: &'a Arena, memory: &'r mut Memory) -> Self {
        memory.start(slots.len());
        Self { slots, host, arena, memory, read: arena.vec() }
    }

    /// The value of a slot.
    #[inline]
    pub(super) fn read(&mut self, slot: SlotId) -> Result<Loaded<'a>, Unreadable> {
        match self.known(slot) {
            Some(value) => Ok(value),
            None => self.slots.load(slot, self.host, self.arena).and_then(|value| self.keep(slot, value)),
        }
    }

    /// The value of a slot whose header is sent with these bytes.
    pub(super) fn sent(&mut self, slot: SlotId, bytes: &'a [u8]) -> Result<Loaded<'a>, Unreadable> {
        match self.known(slot) {
            Some(value) => Ok(value),
            None => self.slots.sent(slot, bytes, self.arena).and_then(|value| self.keep(slot, value)),
        }
    }

    #[inline]
    fn known(&mut self, slot: SlotId) -> Option<Loaded<'a>> {
        let (search, place) = *self.memory.marks.get(slot as usize)?;
        if search != self.memory.search {
            return None;
        }
        self.read.as_mut_slice().get(place as usize).copied()
    }

    fn keep(&mut self, slot: SlotId, value: Loaded<'a>) -> Result<Loaded<'a>, Unreadable> {
        let place = u32::try_from(self.read.as_mut_slice().len()).map_err(|_| Unreadable)?;
        self.read.push(value).map_err(|_| Unreadable)?;
        if let Some(mark) = self.memory.marks.get_mut(slot as usize) {
            *mark = (self.memory.search, place);
        }
        Ok(value)
    }

    /// The names and values of all headers that are sent.
    #[cfg(feature = "http")]
    pub(super) fn headers(
        &mut self,
        field: u32,
        mut each: impl FnMut(&mut Self, &[u8], &'a [u8]) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let map = Slots::headers(self.host, field, self.arena).ok().flatten().ok_or(Unreadable)?;
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
