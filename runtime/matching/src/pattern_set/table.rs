//! Several patterns as one table of states, read in one pass over a text. The result is exact over
//! the small alphabet, except for patterns that the table reports as unknown.

use super::explore::{Columns, Explored, State};
use crate::pattern::is_left_out;

/// Most patterns of one table: sets of patterns are bit masks of 64 bits.
pub(super) const MAX_TABLE_PATTERNS: usize = 64;

/// Number of cells in a unit. Rows start at multiples of a unit; a cell holds the start of a row in units.
const UNIT: usize = 1 << UNIT_BITS;
const UNIT_BITS: u32 = 3;

/// Patterns that match for certain, and others that may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableMatches {
    pub(super) certain: u64,
    pub(super) unknown: u64,
}

/// The table. A state is identified by the start of its row, in units. States in which a pattern matches come first.
#[derive(Debug)]
pub(super) struct StateTable {
    /// Indexed by byte: the column.
    columns: Box<Columns>,
    /// Indexed by state and column: the next state.
    next: Box<[u16]>,
    /// The first state in which no pattern matches when it is entered.
    plain: u16,
    /// Length of a row, in units.
    row: u16,
    /// Indexed by number of the state: patterns that match when it is entered.
    entered: Box<[u64]>,
    /// Indexed by number of the state: what is known if the text ends there.
    ended: Box<[TableMatches]>,
    start: u16,
}

impl StateTable {
    /// Number of states with `columns` columns that fit into a table of `most` bytes.
    pub(super) fn states_in(most: usize, columns: usize) -> usize {
        most.checked_div(Self::state_bytes(columns)).unwrap_or(0)
    }

    /// Memory of a table of these states, in bytes.
    pub(super) fn bytes(explored: &Explored) -> usize {
        Self::state_bytes(explored.width)
            .saturating_mul(explored.states.len())
            .saturating_add(size_of::<Self>())
            .saturating_add(size_of::<Columns>())
    }

    fn state_bytes(columns: usize) -> usize {
        columns.next_multiple_of(UNIT).saturating_mul(size_of::<u16>()).saturating_add(size_of::<TableMatches>())
    }

    /// Returns `None` if there are too many states.
    pub(super) fn new(explored: &Explored) -> Option<Self> {
        let width = explored.width.next_multiple_of(UNIT);
        let row = u16::try_from(width >> UNIT_BITS).ok()?;
        let at = |number: usize| u16::try_from(number).ok()?.checked_mul(row);
        let mut order: Vec<(usize, (&State, &[u16]))> =
            explored.states.iter().zip(explored.rows()).enumerate().collect();
        order.sort_by_key(|(_, (state, _))| state.entered == 0);
        let mut place = vec![0_u16; order.len()];
        for (number, &(i, _)) in order.iter().enumerate() {
            *place.get_mut(i)? = at(number)?;
        }
        let mut next = Vec::new();
        for (_, (_, row)) in &order {
            let whole = next.len().saturating_add(width);
            for to in *row {
                next.push(*place.get(usize::from(*to))?);
            }
            next.resize(whole, 0);
        }
        let entered: Box<[u64]> =
            order.iter().map(|(_, (state, _))| state.entered).filter(|&entered| entered != 0).collect();
        Some(Self {
            columns: explored.columns.clone(),
            next: next.into(),
            plain: at(entered.len())?,
            row,
            entered,
            ended: order
                .iter()
                .map(|(_, (state, _))| TableMatches { certain: state.ended, unknown: state.unknown })
                .collect(),
            start: *place.first()?,
        })
    }

    /// For each pattern, whether the table decides it for every text.
    pub(super) fn complete(&self) -> impl Iterator<Item = bool> {
        let unknown = self.ended.iter().fold(0, |all, found| all | found.unknown);
        (0..u64::BITS).map(move |i| unknown.checked_shr(i).unwrap_or(0) & 1 == 0)
    }

    /// Runs several tables over a text, which must be ASCII unless `SYMBOLS`.
    #[inline]
    pub(super) fn find<const SYMBOLS: bool, const N: usize>(tables: [&Self; N], text: &[u8]) -> [TableMatches; N] {
        // The steps of the tables for one byte are independent, so the processor overlaps them.
        let mut lanes = tables.map(|table| (table, table.start, 0_u64));
        for &byte in text {
            if SYMBOLS && is_left_out(byte) {
                continue;
            }
            for (table, state, certain) in &mut lanes {
                let column = table.columns.get(usize::from(byte)).copied().unwrap_or(0);
                let cell = (usize::from(*state) << UNIT_BITS).wrapping_add(usize::from(column));
                *state = table.next.get(cell).copied().unwrap_or(0);
                if *state < table.plain {
                    *certain |= table.of(*state, &table.entered).unwrap_or(0);
                }
            }
        }
        lanes.map(|(table, state, certain)| {
            let ended = table.of(state, &table.ended).unwrap_or(TableMatches { certain: 0, unknown: u64::MAX });
            let certain = certain | ended.certain;
            TableMatches { certain, unknown: ended.unknown & !certain }
        })
    }

    /// The entry of a state in a list that is indexed by number of the state.
    #[inline]
    fn of<T: Copy>(&self, state: u16, all: &[T]) -> Option<T> {
        all.get(usize::from(state.checked_div(self.row)?)).copied()
    }
}
