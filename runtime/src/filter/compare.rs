//! Comparisons of one value.

use super::value::FilterValue;
use celero_frontend::filter::{Comparison, FilterLiteral, OrderOp, SetItems};
use memchr::memmem;
use std::cmp::Ordering;
use std::net::IpAddr;

/// Returns whether a comparison that needs nothing prepared holds for a value. Lists are the host's.
pub(super) fn compare(comparison: &Comparison, value: &FilterValue) -> bool {
    match (comparison, value) {
        (Comparison::Order(op, literal), value) => ordered(*op, order(value, literal)),
        (Comparison::BitwiseAnd(bits), FilterValue::Int(value)) => value & bits != 0,
        (Comparison::Contains(needle), FilterValue::Bytes(value)) => memmem::find(value, &needle.value).is_some(),
        (Comparison::OneOf(items), value) => is_one_of(items, value),
        _ => false,
    }
}

/// How a value is ordered with a literal; `None` for addresses of two families.
fn order(value: &FilterValue, literal: &FilterLiteral) -> Option<Ordering> {
    match (value, literal) {
        (FilterValue::Int(a), FilterLiteral::Int(b)) => Some(a.cmp(b)),
        (FilterValue::Bytes(a), FilterLiteral::Bytes(b)) => Some(a.as_slice().cmp(&b.value)),
        (FilterValue::Ip(IpAddr::V4(a)), FilterLiteral::Ip(IpAddr::V4(b))) => Some(a.cmp(b)),
        (FilterValue::Ip(IpAddr::V6(a)), FilterLiteral::Ip(IpAddr::V6(b))) => Some(a.cmp(b)),
        _ => None,
    }
}

fn ordered(op: OrderOp, order: Option<Ordering>) -> bool {
    match op {
        OrderOp::NotEqual => order != Some(Ordering::Equal),
        OrderOp::Equal => order == Some(Ordering::Equal),
        OrderOp::Less => order == Some(Ordering::Less),
        OrderOp::Greater => order == Some(Ordering::Greater),
        OrderOp::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        OrderOp::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn is_one_of(items: &SetItems, value: &FilterValue) -> bool {
    match (items, value) {
        (SetItems::Ints(items), FilterValue::Int(value)) => {
            items.iter().any(|(first, last)| (first..=last).contains(&value))
        }
        (SetItems::Bytes(items), FilterValue::Bytes(value)) => items.iter().any(|item| *item.value == **value),
        (SetItems::Ips(items), FilterValue::Ip(value)) => items.iter().any(|item| {
            let (first, last) = item.bounds();
            first.is_ipv4() == value.is_ipv4() && first <= *value && *value <= last
        }),
        _ => false,
    }
}
