//! Several patterns as one table of states, through which one pass over a text leads: what matches is exact over the small
//! alphabet, but for patterns of which it says that it can't tell.

use super::explore::{Columns, Explored, State};
use crate::pattern::is_left_out;

/// Most patterns in one table: a set of patterns is a number, its lowest bit the first pattern.
pub(super) const MOST: usize = 64;

/// Rows begin at multiples of so many cells: a cell holds the number of a row's beginning in these.
const UNIT: usize = 1 << UNIT_BITS;
const UNIT_BITS: u32 = 3;

/// Which patterns match, and which others may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableMatches {
    pub(super) sure: u64,
    pub(super) unknown: u64,
}

/// The table. A state is where its row begins, in units. First come those in which something matches.
#[derive(Debug)]
pub(super) struct StateTable {
    /// By byte, the column.
    columns: Box<Columns>,
    /// By state and column, the next state.
    next: Box<[u16]>,
    /// The first state that is none of those in which something matches.
    plain: u16,
    /// Units of a row.
    row: u16,
    /// By number of the state, what matches once it is entered.
    entered: Box<[u64]>,
    /// By number of the state, what is known if the text ends there.
    ended: Box<[TableMatches]>,
    start: u16,
}

impl StateTable {
    /// How many states with so many columns fit into a table of `most` bytes.
    pub(super) fn states_in(most: usize, columns: usize) -> usize {
        most.checked_div(Self::state_bytes(columns)).unwrap_or(0)
    }

    /// How much memory a table of these states takes.
    pub(super) fn bytes(explored: &Explored) -> usize {
        Self::state_bytes(explored.columns_used())
            .saturating_mul(explored.states.len())
            .saturating_add(size_of::<Self>())
            .saturating_add(size_of::<Columns>())
    }

    fn state_bytes(columns: usize) -> usize {
        columns.next_multiple_of(UNIT).saturating_mul(size_of::<u16>()).saturating_add(size_of::<TableMatches>())
    }

    /// `None` if there are too many states.
    pub(super) fn new(explored: &Explored) -> Option<Self> {
        let width = explored.columns_used().next_multiple_of(UNIT);
        let row = u16::try_from(width >> UNIT_BITS).ok()?;
        let at = |number: usize| u16::try_from(number).ok()?.checked_mul(row);
        let mut order: Vec<(usize, &State)> = explored.states.iter().enumerate().collect();
        order.sort_by_key(|(_, state)| state.entered == 0);
        let mut place = vec![0_u16; order.len()];
        for (number, &(i, _)) in order.iter().enumerate() {
            *place.get_mut(i)? = at(number)?;
        }
        let mut next = Vec::new();
        for (_, state) in &order {
            let whole = next.len().saturating_add(width);
            for to in &state.next {
                next.push(*place.get(usize::from(*to))?);
            }
            next.resize(whole, 0);
        }
        let entered: Box<[u64]> =
            order.iter().map(|(_, state)| state.entered).filter(|&entered| entered != 0).collect();
        Some(Self {
            columns: explored.columns.clone(),
            next: next.into(),
            plain: at(entered.len())?,
            row,
            entered,
            ended: order.iter().map(|(_, state)| TableMatches { sure: state.ended, unknown: state.unknown }).collect(),
            start: *place.first()?,
        })
    }

    /// By pattern, whether no text leads to where the table can't tell.
    pub(super) fn complete(&self) -> impl Iterator<Item = bool> {
        let unknown = self.ended.iter().fold(0, |all, found| all | found.unknown);
        (0..u64::BITS).map(move |i| unknown.checked_shr(i).unwrap_or(0) & 1 == 0)
    }

    /// Which patterns of each table match in the text, which is ASCII unless `SYMBOLS`.
    #[inline]
    pub(super) fn find<const SYMBOLS: bool, const N: usize>(tables: [&Self; N], text: &[u8]) -> [TableMatches; N] {
        // A byte's steps through the tables do not wait for each other.
        let mut lanes = tables.map(|table| (table, table.start, 0_u64));
        for &byte in text {
            if SYMBOLS && is_left_out(byte) {
                continue;
            }
            for (table, state, sure) in &mut lanes {
                let column = table.columns.get(usize::from(byte)).copied().unwrap_or(0);
                let cell = (usize::from(*state) << UNIT_BITS).wrapping_add(usize::from(column));
                *state = table.next.get(cell).copied().unwrap_or(0);
                if *state < table.plain {
                    *sure |= table.of(*state, &table.entered).unwrap_or(0);
                }
            }
        }
        lanes.map(|(table, state, sure)| {
            let ended = table.of(state, &table.ended).unwrap_or(TableMatches { sure: 0, unknown: u64::MAX });
            let sure = sure | ended.sure;
            TableMatches { sure, unknown: ended.unknown & !sure }
        })
    }

    #[inline]
    fn of<T: Copy>(&self, state: u16, all: &[T]) -> Option<T> {
        all.get(usize::from(state.checked_div(self.row)?)).copied()
    }
}
