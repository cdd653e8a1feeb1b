//! Texts, compared exactly or without regard to the case of ASCII letters.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::Key;
use crate::error::TooLarge;
use celero_matching::TextIndex;
use std::sync::Arc;

/// A set of texts; with `IGNORE_CASE`, in lower case.
pub(crate) struct Texts<const IGNORE_CASE: bool> {
    index: TextIndex<IGNORE_CASE>,
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
        Ok(Self { index: TextIndex::new(texts.len(), |id| texts.bytes(id)), texts })
    }

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn key(&self, id: u32) -> Option<Arc<str>> {
        self.texts.get(id).map(Arc::from)
    }

    #[inline(always)]
    fn any(&self, text: &[u8], counts: impl FnMut(u32) -> bool) -> bool {
        self.find(text).is_some_and(counts)
    }

    fn most_specific(&self, text: &[u8], mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        self.find(text).filter(|id| counts(*id))
    }

    /// At most one entry is a text.
    fn rank(&self, _: u32) {}

    fn id_of(&self, key: &Arc<str>) -> Option<u32> {
        self.find(key.as_bytes())
    }

    fn is_among(&self, id: u32, keys: &Keys<Arc<str>>) -> bool {
        self.texts.get(id).is_some_and(|text| keys.contains(text))
    }

    fn key_of(key: Key) -> Option<Arc<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        self.index.heap_bytes().saturating_add(self.texts.heap_bytes())
    }
}

impl<const IGNORE_CASE: bool> Texts<IGNORE_CASE> {
    #[inline(always)]
    fn find(&self, text: &[u8]) -> Option<u32> {
        self.index.find(text, |id| self.texts.bytes(id))
    }
}
