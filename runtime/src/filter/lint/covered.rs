//! Items of a set that are in another item of it: networks in networks, numbers and addresses in ranges.

use crate::lint::COVERED_ITEM;
use celero_frontend::Diagnostic;
use celero_frontend::filter::{Comparison, FilterExpr, FilterNode, IpItem, SetItems};
use std::fmt::Display;

pub(super) fn covered_items(node: &FilterNode, found: &mut Vec<Diagnostic>) {
    let FilterExpr::Compare { comparison: Comparison::OneOf(items), .. } = &node.expr else { return };
    let covered = match items {
        SetItems::Ints(items) => {
            let show = |(first, last): (i64, i64)| range(first, last, first == last);
            covered(items.iter().map(|(first, last)| (*first, *last, show((*first, *last)))).collect())
        }
        SetItems::Ips(items) => {
            // Addresses of two families are ordered by family, so no range spans both.
            covered(items.iter().map(|item| (item.bounds().0, item.bounds().1, shown(item))).collect())
        }
        SetItems::Bytes(_) => None,
    };
    if let Some((inner, outer)) = covered {
        let message = format!("`{inner}` changes nothing: it is in `{outer}`");
        found.push(Diagnostic::warning(COVERED_ITEM, node.span, message));
    }
}

/// The first item that is in another one, which is no duplicate, and that one. Sorts the items.
fn covered<T: Ord + Copy>(mut items: Vec<(T, T, String)>) -> Option<(String, String)> {
    items.sort_by(|(first, last, _), (other, end, _)| first.cmp(other).then(end.cmp(last)));
    let mut widest: Option<(T, T, String)> = None;
    for (first, last, text) in items {
        match &widest {
            Some((start, end, outer)) if last <= *end => {
                if (first, last) != (*start, *end) {
                    return Some((text, outer.clone()));
                }
            }
            _ => widest = Some((first, last, text)),
        }
    }
    None
}

fn shown(item: &IpItem) -> String {
    match item {
        IpItem::Network(address, prefix) if u32::from(*prefix) == if address.is_ipv4() { 32 } else { 128 } => {
            address.to_string()
        }
        IpItem::Network(address, prefix) => format!("{address}/{prefix}"),
        IpItem::Range(first, last) => range(first, last, false),
    }
}

fn range<T: Display>(first: T, last: T, is_one: bool) -> String {
    if is_one { first.to_string() } else { format!("{first}..{last}") }
}
