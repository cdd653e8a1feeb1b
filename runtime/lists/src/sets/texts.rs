//! Texts, compared exactly or without regard to the case of ASCII letters.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::Key;
use crate::error::TooLarge;
use celero_matching::ExactMap;
use std::sync::Arc;

/// A set of texts; with `IGNORE_CASE`, in lower case.
pub(crate) struct Texts<const IGNORE_CASE: bool> {
    map: ExactMap<IGNORE_CASE>,
    texts: Strings,
}

impl From<Arc<str>> for Key {
    fn from(text: Arc<str>) -> Self {
        Self::Text(text)
    }
}

impl<const IGNORE_CASE: bool> EntrySet for Texts<IGNORE_CASE> {
    type Key = Arc<str>;
    type Value<'a> = &'a [u8];
    type Rank = ();

    fn build(keys: Vec<Arc<str>>) -> Result<Self, TooLarge> {
        let texts = Strings::new(&keys).ok_or(TooLarge::Numbers)?;
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
        Ok(Self { map: ExactMap::new(&keys), texts })
    }

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn key(&self, id: u32) -> Option<Arc<str>> {
        self.texts.get(id).map(Arc::from)
    }

    fn any(&self, text: &[u8], counts: impl FnMut(u32) -> bool) -> bool {
        self.map.get(text).is_some_and(counts)
    }

    fn most_specific(&self, text: &[u8], mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        self.map.get(text).filter(|id| counts(*id))
    }

    /// At most one entry is a text.
    fn rank(&self, _: u32) {}

    fn id_of(&self, key: &Arc<str>) -> Option<u32> {
        self.map.get(key.as_bytes())
    }

    fn is_among(&self, id: u32, keys: &Keys<Arc<str>>) -> bool {
        self.texts.get(id).is_some_and(|text| keys.contains(text))
    }

    fn key_of(key: Key) -> Option<Arc<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        self.map.heap_bytes().saturating_add(self.texts.heap_bytes())
    }
}
