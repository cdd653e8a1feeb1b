//! Sorted texts in one block of memory.

use std::ops::Range;
use std::sync::Arc;

/// Sorted texts, one after the other.
pub(crate) struct Strings {
    text: Box<str>,
    /// Indexed by number: where the text begins. One more where the last one ends.
    bounds: Box<[u32]>,
}

impl Strings {
    /// Stores texts; `None` if they exceed 4 GiB.
    pub(crate) fn new(texts: &[Arc<str>]) -> Option<Self> {
        let text: String = texts.iter().map(|text| &**text).collect();
        let mut bounds = Vec::with_capacity(texts.len().saturating_add(1));
        bounds.push(0);
        let mut end = 0_usize;
        for text in texts {
            end = end.saturating_add(text.len());
            bounds.push(u32::try_from(end).ok()?);
        }
        Some(Self { bounds: bounds.into(), text: text.into() })
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    pub(crate) fn get(&self, id: u32) -> Option<&str> {
        self.text.get(self.range(id)?)
    }

    /// The bytes of a text: for lookups, which need no other proof that it is UTF-8.
    #[inline(always)]
    pub(crate) fn bytes(&self, id: u32) -> Option<&[u8]> {
        self.text.as_bytes().get(self.range(id)?)
    }

    #[inline(always)]
    fn range(&self, id: u32) -> Option<Range<usize>> {
        let [start, end] = self.bounds.get(id as usize..).and_then(<[u32]>::first_chunk)?;
        Some(*start as usize..*end as usize)
    }

    /// The number of a text, if it is stored: a binary search.
    pub(crate) fn position(&self, text: &str) -> Option<u32> {
        let (mut from, mut to) = (0, u32::try_from(self.len()).unwrap_or(u32::MAX));
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
        self.text.len().saturating_add(size_of_val(&*self.bounds))
    }
}
