//! Entries from databases in the MaxMind DB format: networks with records, of which the values of a list take fields.

mod work;

use crate::entry::{Entry, Key, Network};
use crate::kind::Kind;
use crate::list::Entries;
use crate::value::{Cells, Field, ListType, Scalar, ScalarType, ValueType, article, complete};
use maxminddb::{LookupResult, PathElement, Reader, WithinOptions};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use work::Work;

/// Largest database, in bytes.
pub const MAX_MMDB_BYTES: u64 = 1 << 30;
/// Most names and numbers of a path.
const MAX_DEPTH: usize = 16;

/// Where the fields of a list's values are found in the records of a database: paths of names, and
/// numbers of elements from 0, with dots between them, as `country.iso_code` or
/// `subdivisions.0.iso_code`. A field without a path is found under its own name.
///
/// ```
/// use celero_lists::{ListType, RecordPaths};
///
/// let ty: ListType = "addresses:{country: string, asn: int}".parse()?;
/// RecordPaths::new(&ty, [("country", "country.iso_code"), ("asn", "autonomous_system_number")])?;
/// assert!(RecordPaths::new(&ty, [("city", "city.names.en")]).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPaths {
    values: ValueType,
    /// Indexed by field.
    paths: Vec<String>,
}

impl RecordPaths {
    /// Returns the paths of the fields of a list of addresses.
    ///
    /// # Errors
    /// Why a database can't fill such a list, or a path is none.
    pub fn new<'p>(ty: &ListType, paths: impl IntoIterator<Item = (&'p str, &'p str)>) -> Result<Self, String> {
        let values = match (ty.kind(), ty.values()) {
            (Kind::Addresses, Some(values)) => values.clone(),
            (Kind::Addresses, None) => return Err("the list has no `values`: a MaxMind database has them".to_owned()),
            (kind, _) => return Err(format!("a MaxMind database has addresses, not {kind}")),
        };
        let mut own: Vec<String> = values.fields().iter().map(|field| field.name().to_string()).collect();
        for (name, path) in paths {
            let found = values.field(name).and_then(|(number, _)| own.get_mut(number as usize));
            let Some(place) = found else {
                return Err(format!("there is no field `{name}`; there are {}", values.field_names()));
            };
            if path.split('.').any(str::is_empty) || path.split('.').count() > MAX_DEPTH {
                return Err(format!("{path:?} is no path of 1 to {MAX_DEPTH} names or numbers with dots between them"));
            }
            path.clone_into(place);
        }
        Ok(Self { values, paths: own })
    }
}

impl Entries {
    /// Reads the networks of a database, with at most `most` entries. A network whose record has
    /// none of the fields is left out. Neighbours with equal values are one network, so there may
    /// be fewer than in the database.
    ///
    /// # Errors
    /// The bytes are no database or a damaged one, its records lead through far more values than
    /// one of its size has, a field is of another type than the list declares, no record has any of
    /// the fields, or there are more entries.
    pub fn parse_mmdb(ty: &ListType, paths: &RecordPaths, bytes: &[u8], most: usize) -> Result<Self, String> {
        if ty.values() != Some(&paths.values) {
            return Err(format!("the paths are not those of a list of {ty}"));
        }
        let reader = Reader::from_source(bytes).map_err(|error| error.to_string())?;
        check_tree(&reader, bytes)?;
        let fields: Vec<(&Field, Vec<PathElement<'_>>)> = paths
            .values
            .fields()
            .iter()
            .zip(&paths.paths)
            .map(|(field, path)| (field, path.split('.').map(element).collect()))
            .collect();
        let mut work = Work::new(&reader, bytes, fields.len());
        let mut entries = Self::new(ty);
        // By the offset of a record: the number of its value. Networks share records.
        let mut rows: HashMap<usize, Option<u32>> = HashMap::new();
        for found in reader.networks(WithinOptions::default()).map_err(|error| error.to_string())? {
            let found = found.map_err(|error| error.to_string())?;
            let Some(offset) = found.offset() else { continue };
            let network = found.network().map_err(|error| error.to_string())?;
            let row = match rows.get(&offset) {
                Some(row) => *row,
                None => {
                    for (_, path) in &fields {
                        work.charge(offset, path).map_err(|reason| format!("{network}: {reason}"))?;
                    }
                    let cells = cells(&found, &fields).map_err(|reason| format!("{network}: {reason}"))?;
                    let row = match cells.iter().any(Option::is_some) {
                        true => Some(entries.add_row(&complete(&paths.values, cells).map_err(|wrong| wrong.reason)?)?),
                        false => None,
                    };
                    rows.insert(offset, row);
                    row
                }
            };
            if let Some(row) = row {
                entries.push_row(Entry(Key::Network(Network::new(network.ip(), network.prefix()))), row);
                while entries.join_last(joined) {}
                if entries.len() > most {
                    return Err(format!("more than {most} entries"));
                }
            }
        }
        // Most likely a path is wrong: the list would have no entry, and nobody would notice.
        if entries.is_empty() && !rows.is_empty() {
            let paths: Vec<_> = paths.paths.iter().map(|path| format!("`{path}`")).collect();
            return Err(format!("no record has a value at {}", paths.join(" or ")));
        }
        Ok(entries)
    }
}

/// A part of a path.
fn element(part: &str) -> PathElement<'_> {
    part.parse().map_or(PathElement::Key(part), PathElement::Index)
}

/// The values of the fields of a record.
fn cells(found: &LookupResult<'_, &[u8]>, fields: &[(&Field, Vec<PathElement<'_>>)]) -> Result<Cells, String> {
    let cell = |(field, path): &(&Field, Vec<PathElement<'_>>)| {
        let value: Option<Found<'_>> =
            found.decode_path(path).map_err(|error| format!("`{}`: {error}", field.name()))?;
        let scalar = match (value, field.ty()) {
            (None, _) => return Ok(None),
            (Some(Found::Text(text)), ScalarType::Text) => {
                Scalar::parse(ScalarType::Text, text).map_err(|reason| format!("`{}`: {reason}", field.name()))?
            }
            (Some(Found::Int(number)), ScalarType::Int) => Scalar::Int(number),
            (Some(Found::Bool(truth)), ScalarType::Bool) => Scalar::Bool(truth),
            (Some(_), ty) => return Err(format!("`{}`: not {}", field.name(), article(ty))),
        };
        Ok(Some(scalar))
    };
    fields.iter().map(cell).collect()
}

/// The network of which two are the halves, if they have the same value.
fn joined((left, left_row): (&Entry, u32), (right, right_row): (&Entry, u32)) -> Option<Entry> {
    let (Key::Network(left), Key::Network(right)) = (&left.0, &right.0) else { return None };
    let prefix = left.prefix.checked_sub(1)?;
    let parent = Network::new(left.address, prefix);
    let same_family = left.address.is_ipv4() == right.address.is_ipv4();
    let are_halves = left.prefix == right.prefix && parent == Network::new(right.address, prefix) && left != right;
    (left_row == right_row && same_family && are_halves).then_some(Entry(Key::Network(parent)))
}

/// Checks that each node of the search tree but the first of IPv4 addresses is a child of one node
/// only. In a damaged or hostile file, going through all networks would otherwise take time
/// exponential in the length of an address.
fn check_tree(reader: &Reader<&[u8]>, bytes: &[u8]) -> Result<(), String> {
    let metadata = reader.metadata();
    let (count, bits) = (u64::from(metadata.node_count), metadata.record_size);
    let node = |number: u64| -> Option<[u64; 2]> {
        let size = usize::from(bits / 4);
        let first = usize::try_from(number).ok()?.checked_mul(size)?;
        let bytes = bytes.get(first..first.checked_add(size)?)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Some(match (bits, bytes) {
            (28, [left @ .., middle, r0, r1, r2]) => {
                [u64::from(middle >> 4) << 24 | number(left), u64::from(middle & 15) << 24 | number(&[*r0, *r1, *r2])]
            }
            _ => bytes.split_at_checked(size / 2).map(|(left, right)| [number(left), number(right)])?,
        })
    };
    let damaged = || "the search tree is damaged: it is larger than the file".to_owned();
    let mut v4_start = 0;
    if metadata.ip_version == 6 {
        for _ in 0..96 {
            if v4_start < count {
                [v4_start, _] = node(v4_start).ok_or_else(damaged)?;
            }
        }
    }
    let mut seen = vec![false; usize::try_from(count).map_err(|_| damaged())?];
    for parent in 0..count {
        for child in node(parent).ok_or_else(damaged)? {
            let Some(seen) = usize::try_from(child).ok().and_then(|child| seen.get_mut(child)) else { continue };
            if child == 0 || (std::mem::replace(seen, true) && child != v4_start) {
                return Err(format!("the search tree is damaged: node {child} is the child of several nodes"));
            }
        }
    }
    Ok(())
}

/// A value of a record.
enum Found<'r> {
    Text(&'r str),
    Int(i64),
    Bool(bool),
    /// What no field holds: a number that is no integer of 64 bits, bytes, a map, an array.
    Other,
}

impl<'r> Deserialize<'r> for Found<'r> {
    fn deserialize<D: Deserializer<'r>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FoundVisitor)
    }
}

struct FoundVisitor;

impl<'r> Visitor<'r> for FoundVisitor {
    type Value = Found<'r>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'r str) -> Result<Found<'r>, E> {
        Ok(Found::Text(text))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Found<'r>, E> {
        Ok(Found::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Found<'r>, E> {
        Ok(Found::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found<'r>, E> {
        Ok(i64::try_from(number).map_or(Found::Other, Found::Int))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Found<'r>, E> {
        Ok(i64::try_from(number).map_or(Found::Other, Found::Int))
    }

    fn visit_f32<E>(self, _: f32) -> Result<Found<'r>, E> {
        Ok(Found::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found<'r>, E> {
        Ok(Found::Other)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Found<'r>, E> {
        Ok(Found::Other)
    }

    fn visit_map<A: MapAccess<'r>>(self, mut map: A) -> Result<Found<'r>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Other)
    }

    fn visit_seq<A: SeqAccess<'r>>(self, mut elements: A) -> Result<Found<'r>, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Other)
    }
}
