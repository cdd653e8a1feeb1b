//! The product of two automata: each of its states is a state of both.

use super::explore::{Columns, Explored, State};
use crate::pattern::is_left_out;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// A column of the first automaton and one of the second.
type Pair = (u8, u8);

impl Explored {
    /// The product of both automata; the patterns of `other` are numbered from `first` on. Returns
    /// `None` if it has more states than `most` returns for its number of columns, and stores that
    /// number in `exceeded`; it has more than the number that is there before.
    pub(super) fn and(
        &self,
        other: &Self,
        first: u32,
        most: impl FnOnce(usize) -> usize,
        exceeded: &mut usize,
    ) -> Option<Self> {
        let (columns, pairs) = self.columns_of_both(other)?;
        let most = most(pairs.len()).min(usize::from(u16::MAX));
        // Each state of both is part of at least one of the product.
        if self.states.len().max(other.states.len()) > most || *exceeded >= most {
            return None;
        }
        // By the numbers of both states, as one number.
        let mut numbers: HashMap<u32, u16, FixedState> = HashMap::default();
        numbers.insert(0, 0);
        let mut found = vec![(0_u16, 0_u16)];
        let (mut states, mut rows) = (Vec::new(), Vec::new());
        let mask = |one: u64, two: u64| one | two.checked_shl(first).unwrap_or(0);
        while let Some(&(one, two)) = found.get(states.len()) {
            let (row, other_row) = (self.row(one)?, other.row(two)?);
            // Most columns lead where the one before does.
            let (mut last, mut last_number) = (0, 0);
            rows.extend(pairs.iter().map(|(column, other_column)| {
                let of = |row: &[u16], column: &u8| row.get(usize::from(*column)).copied().unwrap_or(0);
                let to = (of(row, column), of(other_row, other_column));
                let both = u32::from(to.0) << 16 | u32::from(to.1);
                if both != last {
                    last = both;
                    last_number = *numbers.entry(both).or_insert_with(|| {
                        found.push(to);
                        // More than this many are too many.
                        u16::try_from(found.len().saturating_sub(1)).unwrap_or(u16::MAX)
                    });
                }
                last_number
            }));
            if found.len() > most {
                *exceeded = most;
                return None;
            }
            let (one, two) = (self.states.get(usize::from(one))?, other.states.get(usize::from(two))?);
            states.push(State {
                entered: mask(one.entered, two.entered),
                ended: mask(one.ended, two.ended),
                unknown: mask(one.unknown, two.unknown),
            });
        }
        Some(Self { columns, states, next: rows, width: pairs.len() })
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
