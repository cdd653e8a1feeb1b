//! Sorted texts in one block of memory.

use std::sync::Arc;

/// Sorted texts, one after the other.
pub(crate) struct Strings {
    text: Box<str>,
    /// Indexed by number: where the text ends.
    ends: Box<[u32]>,
}

impl Strings {
    /// Stores texts; `None` if they exceed 4 GiB.
    pub(crate) fn new(texts: &[Arc<str>]) -> Option<Self> {
        let text: String = texts.iter().map(|text| &**text).collect();
        let ends = texts.iter().scan(0_usize, |end, text| {
            *end = end.saturating_add(text.len());
            Some(u32::try_from(*end).ok())
        });
        Some(Self { ends: ends.collect::<Option<_>>()?, text: text.into() })
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, id: u32) -> Option<&str> {
        let index = id as usize;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(start as usize..end as usize)
    }

    /// The number of a text, if it is stored: a binary search.
    pub(crate) fn position(&self, text: &str) -> Option<u32> {
        let (mut from, mut to) = (0, u32::try_from(self.ends.len()).unwrap_or(u32::MAX));
        while from < to {
            let middle = from.midpoint(to);
            match self.get(middle).unwrap_or_default().cmp(text) {
                std::cmp::Ordering::Less => from = middle.saturating_add(1),
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.len().saturating_add(size_of_val(&*self.ends))
    }
}
