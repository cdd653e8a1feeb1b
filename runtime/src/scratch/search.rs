//! Working memory of the index of a rule set.

/// Working memory of one search of an index, reused by the next one.
#[derive(Debug, Default)]
pub(crate) struct IndexSearch {
    /// Numbers of the candidates that were found.
    pub(crate) found: Vec<u32>,
    /// Nodes of the index that are still to be visited.
    pub(crate) pending: Vec<u32>,
    pub(crate) reads: ReadLog,
}

/// Which attributes the current search has read, and where their values are.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    /// Indexed by attribute: the search that read it last, and the position of the value among all that this search read.
    reads: Vec<(u32, u32)>,
    /// Number of the current search.
    search: u32,
}

impl ReadLog {
    /// Forgets what was read, for a search over `attributes` attributes.
    pub(crate) fn start(&mut self, attributes: usize) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            // After an overflow, old entries would look like those of new searches.
            self.reads.clear();
            self.search = 1;
        }
        if self.reads.len() < attributes {
            self.reads.resize(attributes, (0, 0));
        }
    }

    /// The position of an attribute's value, if the current search has read it.
    #[inline]
    pub(crate) fn position(&self, attribute: u32) -> Option<u32> {
        let (search, position) = *self.reads.get(attribute as usize)?;
        (search == self.search).then_some(position)
    }

    /// Notes the position of an attribute's value.
    #[inline]
    pub(crate) fn note(&mut self, attribute: u32, position: u32) {
        if let Some(read) = self.reads.get_mut(attribute as usize) {
            *read = (self.search, position);
        }
    }
}
