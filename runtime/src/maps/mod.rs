//! Many keys asked at once: which of them hold for a value.
//!
//! There is a structure for each kind of question. Each is built once from a list of keys, and says for a value the ids of
//! all keys that hold, an id being the key's position in that list. Asking takes about the time that the value and the
//! answer take, however many keys there are. Nothing here knows of rules.

pub(crate) mod exact;
pub(crate) mod literals;
pub(crate) mod networks;
pub(crate) mod patterns;
pub(crate) mod prefixes;
pub(crate) mod ranges;
mod rarity;

#[cfg(test)]
mod testing;
