//! Working memory of the index of a rule set.

/// Working memory of one search of an index, reused by the next one.
#[derive(Debug, Default)]
pub(crate) struct IndexSearch {
    /// Numbers of the candidates that were found.
    pub(crate) found: Vec<u32>,
    /// Nodes of the index that are still to be visited.
    pub(crate) pending: Vec<u32>,
    /// Where the values are of the attributes that the search has read, among all that it has read.
    pub(crate) reads: NumberMap,
    /// The keys that the current lookup has found.
    pub(crate) keys: NumberMap,
}

/// A map from numbers below a bound to numbers, which is emptied in constant time.
#[derive(Debug, Default)]
pub(crate) struct NumberMap {
    /// Indexed by key: the turn in which it was inserted last, and its value.
    entries: Vec<(u32, u32)>,
    /// Entries of other turns are not in the map.
    turn: u32,
}

impl NumberMap {
    /// Empties the map, for keys below `bound`.
    pub(crate) fn start(&mut self, bound: usize) {
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            // After an overflow, old entries would look like new ones.
            self.entries.clear();
            self.turn = 1;
        }
        if self.entries.len() < bound {
            self.entries.resize(bound, (0, 0));
        }
    }

    /// Returns the value of a key.
    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<u32> {
        let (turn, value) = *self.entries.get(key as usize)?;
        (turn == self.turn).then_some(value)
    }

    /// Sets the value of a key below the bound.
    #[inline]
    pub(crate) fn insert(&mut self, key: u32, value: u32) {
        if let Some(entry) = self.entries.get_mut(key as usize) {
            *entry = (self.turn, value);
        }
    }
}
