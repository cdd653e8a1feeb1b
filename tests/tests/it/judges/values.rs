//! Equality and order of values, as the language definition has them: numbers are on one line, other types are apart.

use celero_tests::generate::Owned::{self, *};
use std::cmp::Ordering;

/// Whether two values are equal.
pub(super) fn equal(a: &Owned, b: &Owned) -> bool {
    match (a, b) {
        (Null, Null) => true,
        (List(a), List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Map(a), Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| find(b, key).is_some_and(|other| equal(value, other)))
        }
        (Type(a), Type(b)) => a == b,
        (Optional(a), Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => equal(a, b),
            (a, b) => a.is_none() && b.is_none(),
        },
        // An IPv4-mapped address is the IPv4 address.
        (Ip(a), Ip(b)) => a.to_canonical() == b.to_canonical(),
        (Cidr(a, length), Cidr(b, other)) => (a, length) == (b, other),
        _ => order(a, b) == Some(Ordering::Equal),
    }
}

/// What a map has at a key.
pub(super) fn find<'m>(entries: &'m [(Owned, Owned)], key: &Owned) -> Option<&'m Owned> {
    entries.iter().find(|(other, _)| equal(other, key)).map(|(_, value)| value)
}

/// The order of two values of one type, or of two numbers; nothing for NaN.
pub(super) fn order(a: &Owned, b: &Owned) -> Option<Ordering> {
    match (a, b) {
        (Bool(a), Bool(b)) => Some(a.cmp(b)),
        (String(a), String(b)) => Some(a.chars().cmp(b.chars())),
        (Bytes(a), Bytes(b)) => Some(a.cmp(b)),
        (Duration(a), Duration(b)) => Some(a.cmp(b)),
        (Timestamp(a, c), Timestamp(b, d)) => Some((a, c).cmp(&(b, d))),
        (Double(a), Double(b)) => a.partial_cmp(b),
        (Double(a), b) => order_double(*a, whole(b)?),
        (a, Double(b)) => order_double(*b, whole(a)?).map(Ordering::reverse),
        _ => Some(whole(a)?.cmp(&whole(b)?)),
    }
}

fn whole(number: &Owned) -> Option<i128> {
    match number {
        Int(i) => Some((*i).into()),
        Uint(u) => Some((*u).into()),
        _ => None,
    }
}

/// The order of a double and a whole number: that of doubles, as the conformance suite has it (`lossy`).
fn order_double(a: f64, b: i128) -> Option<Ordering> {
    a.partial_cmp(&(b as f64))
}
