//! Values of entries, each distinct one stored once. [`RowsBuilder`] collects them, [`Rows`] are
//! read; a [`Row`] is one of them.
//!
//! A row has one cell of 64 bits for each field, and before them one whose bits say which fields it
//! has. The cell of a text is its place in a block of texts, which is shared by all rows.

use super::{Cells, Scalar, ScalarRef, ScalarType, ValueType};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Stored rows. Immutable.
#[derive(Debug)]
pub(crate) struct Rows {
    types: Arc<[ScalarType]>,
    cells: Box<[u64]>,
    text: Box<str>,
}

/// Rows that are being collected.
#[derive(Clone, Debug)]
pub(crate) struct RowsBuilder {
    types: Arc<[ScalarType]>,
    cells: Vec<u64>,
    text: String,
    /// The numbers of rows, by their cells.
    rows: HashTable<u32>,
    /// The places of texts, by text.
    texts: HashTable<u64>,
    hasher: RandomState,
    /// The row that is being added.
    new: Vec<u64>,
}

/// The number of the bit that says whether a row has a field.
fn bit(field: u32) -> u64 {
    1_u64.checked_shl(field).unwrap_or(0)
}

/// The text at a place.
#[inline]
fn text_at(text: &str, place: u64) -> Option<&str> {
    let start = (place >> 32) as usize;
    text.get(start..start.checked_add(place as u32 as usize)?)
}

/// The value of a field of a row.
#[inline]
fn value_at<'r>(types: &[ScalarType], cells: &[u64], text: &'r str, (row, field): (u32, u32)) -> Option<ScalarRef<'r>> {
    let ty = types.get(field as usize)?;
    let first = (row as usize).checked_mul(types.len().checked_add(1)?)?;
    if cells.get(first)? & bit(field) == 0 {
        return None;
    }
    let cell = *cells.get(first.checked_add(field as usize)?.checked_add(1)?)?;
    Some(match ty {
        ScalarType::Text => ScalarRef::Text(text_at(text, cell)?),
        ScalarType::Int => ScalarRef::Int(cell.cast_signed()),
        ScalarType::Bool => ScalarRef::Bool(cell != 0),
    })
}

impl Rows {
    /// The number of fields.
    pub(crate) fn fields(&self) -> usize {
        self.types.len()
    }

    /// The value of a field; `None` if the row leaves it out.
    #[inline]
    pub(crate) fn get(&self, row: u32, field: u32) -> Option<ScalarRef<'_>> {
        value_at(&self.types, &self.cells, &self.text, (row, field))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.cells).saturating_add(self.text.len())
    }

    /// A builder for rows of the same type.
    pub(crate) fn builder(&self) -> RowsBuilder {
        RowsBuilder::of_types(self.types.clone())
    }
}

impl RowsBuilder {
    pub(crate) fn new(ty: &ValueType) -> Self {
        Self::of_types(ty.fields().iter().map(|field| field.ty()).collect())
    }

    fn of_types(types: Arc<[ScalarType]>) -> Self {
        let (rows, texts) = (HashTable::new(), HashTable::new());
        let (cells, new, hasher) = (Vec::new(), Vec::new(), RandomState::default());
        Self { types, cells, text: String::new(), rows, texts, hasher, new }
    }

    /// Adds a row, if it is not there yet, and returns its number. Fields beyond those of the type
    /// are left out. `None` if the texts exceed 4 GiB, or the rows what 32 bits can count.
    pub(crate) fn add<'v>(&mut self, row: impl Iterator<Item = Option<ScalarRef<'v>>>) -> Option<u32> {
        self.new.clear();
        self.new.push(0);
        let mut has = 0;
        for (field, value) in (0..u32::try_from(self.types.len()).ok()?).zip(row.chain(std::iter::repeat(None))) {
            let cell = match value {
                None => 0,
                Some(ScalarRef::Text(text)) => self.place(text)?,
                Some(ScalarRef::Int(number)) => number.cast_unsigned(),
                Some(ScalarRef::Bool(truth)) => truth.into(),
            };
            if value.is_some() {
                has |= bit(field);
            }
            self.new.push(cell);
        }
        *self.new.first_mut()? = has;

        let (width, cells, hasher) = (self.new.len(), &self.cells, &self.hasher);
        let cells_of = |row: u32| {
            let first = (row as usize).saturating_mul(width);
            cells.get(first..first.saturating_add(width)).unwrap_or_default()
        };
        let hash = hasher.hash_one(&*self.new);
        if let Some(row) = self.rows.find(hash, |row| cells_of(*row) == &*self.new) {
            return Some(*row);
        }
        let row = u32::try_from(self.rows.len()).ok().filter(|row| *row < u32::MAX)?;
        self.rows.insert_unique(hash, row, |row| hasher.hash_one(cells_of(*row)));
        self.cells.extend_from_slice(&self.new);
        Some(row)
    }

    /// Adds the row of an entry.
    pub(crate) fn add_cells(&mut self, cells: &Cells) -> Option<u32> {
        self.add(cells.iter().map(|cell| cell.as_ref().map(Scalar::as_ref)))
    }

    /// Where a text is stored.
    fn place(&mut self, text: &str) -> Option<u64> {
        let (block, hasher) = (&self.text, &self.hasher);
        let text_of = |place: u64| text_at(block, place).unwrap_or_default();
        let hash = hasher.hash_one(text);
        if let Some(place) = self.texts.find(hash, |place| text_of(*place) == text) {
            return Some(*place);
        }
        let (start, length) = (u32::try_from(self.text.len()).ok()?, u32::try_from(text.len()).ok()?);
        let place = u64::from(start) << 32 | u64::from(length);
        self.texts.insert_unique(hash, place, |place| hasher.hash_one(text_of(*place)));
        self.text.push_str(text);
        Some(place)
    }

    /// The values of the rows, in the order of their numbers.
    pub(crate) fn values(&self) -> Vec<Cells> {
        let count = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let fields = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        let cell = |row, field| value_at(&self.types, &self.cells, &self.text, (row, field)).map(ScalarRef::to_owned);
        (0..count).map(|row| (0..fields).map(|field| cell(row, field)).collect()).collect()
    }

    pub(crate) fn finish(self) -> Rows {
        Rows { types: self.types, cells: self.cells.into(), text: self.text.into() }
    }
}

/// The value of an entry of a snapshot.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub(crate) rows: Option<&'a Rows>,
    pub(crate) row: u32,
}

impl<'a> Row<'a> {
    /// Returns the value of a field by its number; `None` if the entry leaves it out, or the list
    /// has no such field. In constant time.
    #[must_use]
    #[inline]
    pub fn get(self, field: u32) -> Option<ScalarRef<'a>> {
        self.rows?.get(self.row, field)
    }

    /// Returns the values of all fields in their order. None in lists without values.
    pub fn iter(self) -> impl Iterator<Item = Option<ScalarRef<'a>>> {
        let fields = self.rows.map_or(0, Rows::fields);
        (0..u32::try_from(fields).unwrap_or(u32::MAX)).map(move |field| self.get(field))
    }
}

impl Row<'_> {
    /// Whether these are the same values.
    pub(crate) fn is(self, cells: &Cells) -> bool {
        self.iter().eq(cells.iter().map(|cell| cell.as_ref().map(Scalar::as_ref)))
    }
}

impl PartialEq for Row<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Row<'_> {}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The rows of the entries of a set, in the fewest bytes for each.
#[derive(Debug)]
pub(crate) enum RowNumbers {
    Few(Box<[u8]>),
    Some(Box<[u16]>),
    Many(Box<[u32]>),
}

impl RowNumbers {
    pub(crate) fn new(rows: &[u32]) -> Self {
        let most = rows.iter().copied().max().unwrap_or(0);
        // No number is cut off: none is larger than the largest.
        if u8::try_from(most).is_ok() {
            Self::Few(rows.iter().map(|row| *row as u8).collect())
        } else if u16::try_from(most).is_ok() {
            Self::Some(rows.iter().map(|row| *row as u16).collect())
        } else {
            Self::Many(rows.into())
        }
    }

    #[inline]
    pub(crate) fn get(&self, entry: u32) -> Option<u32> {
        let index = entry as usize;
        match self {
            Self::Few(rows) => rows.get(index).map(|row| u32::from(*row)),
            Self::Some(rows) => rows.get(index).map(|row| u32::from(*row)),
            Self::Many(rows) => rows.get(index).copied(),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Few(rows) => rows.len(),
            Self::Some(rows) => size_of_val(&**rows),
            Self::Many(rows) => size_of_val(&**rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_and_texts_are_stored_once() {
        let ty: ValueType = "{country: string, asn: int, eu: bool, city: string}".parse().unwrap();
        let mut builder = RowsBuilder::new(&ty);
        let rows = [
            vec![Some(ScalarRef::Text("DE")), Some(ScalarRef::Int(-1)), Some(ScalarRef::Bool(true))],
            vec![None, None, None, Some(ScalarRef::Text("DE"))],
            vec![],
            // Equal cells, but here it is there.
            vec![None, Some(ScalarRef::Int(0))],
        ];
        for _ in 0..3 {
            let numbers: Vec<_> = rows.iter().map(|row| builder.add(row.iter().copied())).collect();
            assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(3)]);
        }
        let stored = builder.finish();
        assert_eq!(&*stored.text, "DE");
        assert_eq!(stored.cells.len(), 4 * 5);
        for (number, row) in (0..).zip(&rows) {
            let own: Vec<_> = (0..4).map(|field| stored.get(number, field)).collect();
            let row: Vec<_> = row.iter().copied().chain([None; 4]).take(4).collect();
            assert_eq!(own, row);
        }
        assert_eq!((stored.get(4, 0), stored.get(0, 4), stored.get(u32::MAX, u32::MAX)), (None, None, None));
    }

    #[test]
    fn numbers_take_as_many_bytes_as_the_largest() {
        for (most, bytes) in [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (u32::MAX, 4)] {
            let numbers = [0, most, 7.min(most)];
            let stored = RowNumbers::new(&numbers);
            assert_eq!(stored.heap_bytes(), 3 * bytes);
            assert_eq!([0, 1, 2].map(|entry| stored.get(entry)), numbers.map(Some));
            assert_eq!(stored.get(3), None);
        }
    }
}
