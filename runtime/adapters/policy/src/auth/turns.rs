//! [`Turns`]: a queue that serves the clients in it in turn.
//!
//! Invariant: clients are served in turn: each entry of a client waits for at most one entry of every other client.
//! Test: `runtime/adapters/policy/src/auth/turns.rs::clients_take_turns`.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Entries that wait, with the client of each. Adding and taking one costs the same for every length.
#[derive(Debug)]
pub(super) struct Turns<K, T> {
    waiting: HashMap<K, VecDeque<T>>,
    /// The clients with entries, the one whose turn is next first.
    order: VecDeque<K>,
    length: usize,
}

impl<K, T> Default for Turns<K, T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), order: VecDeque::new(), length: 0 }
    }
}

impl<K: Copy + Eq + Hash, T> Turns<K, T> {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Returns how many entries a client has.
    pub(super) fn of_client(&self, client: &K) -> usize {
        self.waiting.get(client).map_or(0, VecDeque::len)
    }

    /// Adds an entry behind those of its client. A client that has none yet has its turn after all others.
    pub(super) fn push(&mut self, client: K, entry: T) {
        let of_client = self.waiting.entry(client).or_default();
        if of_client.is_empty() {
            self.order.push_back(client);
        }
        of_client.push_back(entry);
        self.length = self.length.saturating_add(1);
    }

    /// Takes the oldest entry of the client whose turn it is.
    pub(super) fn pop(&mut self) -> Option<T> {
        let client = self.order.pop_front()?;
        let of_client = self.waiting.get_mut(&client)?;
        let entry = of_client.pop_front()?;
        if of_client.is_empty() {
            self.waiting.remove(&client);
        } else {
            self.order.push_back(client);
        }
        self.length = self.length.saturating_sub(1);
        Some(entry)
    }

    /// Keeps the entries for which this holds.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let Self { waiting, order, length } = self;
        waiting.values_mut().for_each(|of_client| of_client.retain(&mut keep));
        waiting.retain(|_, of_client| !of_client.is_empty());
        order.retain(|client| waiting.contains_key(client));
        *length = waiting.values().map(VecDeque::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_turns() {
        let mut turns = Turns::default();
        for (client, entry) in [('a', 1), ('a', 2), ('a', 3), ('a', 4), ('b', 5), ('b', 6), ('c', 7)] {
            turns.push(client, entry);
        }
        assert_eq!((turns.len(), turns.of_client(&'a'), turns.of_client(&'d')), (7, 4, 0));
        assert_eq!([turns.pop(), turns.pop(), turns.pop(), turns.pop()], [Some(1), Some(5), Some(7), Some(2)]);
        // Whoever comes back has no turn before those who wait.
        turns.push('c', 8);
        turns.retain(|entry| *entry != 6);
        assert_eq!((turns.len(), turns.of_client(&'b')), (3, 0));
        assert_eq!([turns.pop(), turns.pop(), turns.pop(), turns.pop()], [Some(3), Some(8), Some(4), None]);
        assert_eq!(turns.len(), 0);
    }
}
