//! The product of two automata: each of its states is a state of both.

use super::explore::{Columns, Explored, State};
use crate::pattern::is_left_out;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// A column of the first automaton and one of the second.
type Pair = (u8, u8);

impl Explored {
    /// The product of both automata; the patterns of `other` are numbered from `first` on. Returns `None` if it has more states
    /// than `most` returns for its number of columns.
    pub(super) fn and(&self, other: &Self, first: u32, most: impl FnOnce(usize) -> usize) -> Option<Self> {
        let (columns, pairs) = self.columns_of_both(other)?;
        let most = most(pairs.len()).min(usize::from(u16::MAX));
        let mut numbers: HashMap<(u16, u16), u16, FixedState> = HashMap::default();
        numbers.insert((0, 0), 0);
        let mut found = vec![(0, 0)];
        let mut states = Vec::new();
        while let Some(&(one, two)) = found.get(states.len()) {
            let (one, two) = (self.states.get(usize::from(one))?, other.states.get(usize::from(two))?);
            let mut next = Vec::with_capacity(pairs.len());
            for &(column, other_column) in &pairs {
                let to = (*one.next.get(usize::from(column))?, *two.next.get(usize::from(other_column))?);
                let new = u16::try_from(found.len()).ok()?;
                next.push(*numbers.entry(to).or_insert_with(|| {
                    found.push(to);
                    new
                }));
            }
            if found.len() > most {
                return None;
            }
            let mask = |one: u64, two: u64| one | two.checked_shl(first).unwrap_or(0);
            states.push(State {
                next: next.into(),
                entered: mask(one.entered, two.entered),
                ended: mask(one.ended, two.ended),
                unknown: mask(one.unknown, two.unknown),
            });
        }
        Some(Self { columns, states })
    }

    /// The columns of the product, and the pair of columns for each.
    fn columns_of_both(&self, other: &Self) -> Option<(Box<Columns>, Vec<Pair>)> {
        let mut columns = Box::new([0; 256]);
        let mut pairs = Vec::new();
        let both = self.columns.iter().copied().zip(other.columns.iter().copied());
        for ((byte, column), pair) in (0..=u8::MAX).zip(columns.iter_mut()).zip(both) {
            if is_left_out(byte) {
                continue;
            }
            let known = pairs.iter().position(|known| *known == pair);
            *column = u8::try_from(known.unwrap_or(pairs.len())).ok()?;
            if known.is_none() {
                pairs.push(pair);
            }
        }
        Some((columns, pairs))
    }
}
