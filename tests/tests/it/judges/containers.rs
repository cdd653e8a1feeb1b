//! Lists, maps, sets and optionals, element by element.

use super::values::{equal, find, order};
use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use std::cmp::Ordering;

fn optional(found: Option<Owned>) -> Judged {
    value(Optional(found.map(Box::new)))
}

fn element<'l>(list: &'l [Owned], index: &Owned) -> Option<&'l Owned> {
    let Int(index) = index else { return None };
    usize::try_from(*index).ok().and_then(|index| list.get(index))
}

fn has(list: &[Owned], wanted: &Owned) -> bool {
    list.iter().any(|element| equal(element, wanted))
}

/// A stable sort by insertion; NaN has no place.
fn sort(elements: &[Owned], keys: &[Owned]) -> Judged {
    if keys.iter().any(|key| order(key, key).is_none()) {
        return Err(No::Unjudged);
    }
    let mut sorted: Vec<(&Owned, &Owned)> = Vec::new();
    for (element, key) in elements.iter().zip(keys) {
        let at = sorted.iter().position(|(_, other)| order(other, key) == Some(Ordering::Greater));
        sorted.insert(at.unwrap_or(sorted.len()), (element, key));
    }
    value(List(sorted.into_iter().map(|(element, _)| element.clone()).collect()))
}

fn flatten(list: &[Owned], depth: i64) -> Vec<Owned> {
    let mut flat = Vec::new();
    for element in list {
        match element {
            List(inner) if depth > 0 => flat.extend(flatten(inner, depth - 1)),
            other => flat.push(other.clone()),
        }
    }
    flat
}

/// Whether a value is the zero or the empty one of its type.
fn is_zero(value: &Owned) -> Result<bool, No> {
    Ok(match value {
        Null => true,
        Bool(b) => !b,
        Int(i) => *i == 0,
        Uint(u) => *u == 0,
        Double(d) => *d == 0.0,
        String(s) => s.is_empty(),
        Bytes(b) => b.is_empty(),
        Duration(d) => *d == 0,
        List(l) => l.is_empty(),
        Map(m) => m.is_empty(),
        _ => return Err(No::Unjudged),
    })
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let name = format!("{b:?}");
    let size = |size: usize| value(Int(size as i64));
    Some(match (b, args) {
        (AddList, [List(a), List(b)]) => value(List([&a[..], b].concat())),
        (IndexList, [List(l), index]) => element(l, index).cloned().ok_or(No::Fails),
        (IndexMap, [Map(m), key]) => find(m, key).cloned().ok_or(No::Fails),
        (InList, [wanted, List(l)]) => value(Bool(has(l, wanted))),
        (InMap, [key, Map(m)]) => value(Bool(find(m, key).is_some())),
        (SizeList, [List(l)]) => size(l.len()),
        (SizeMap, [Map(m)]) => size(m.len()),
        (Slice, [List(l), Int(from), Int(to)]) => {
            let part = usize::try_from(*from).ok().zip(usize::try_from(*to).ok()).and_then(|(a, b)| l.get(a..b));
            part.map(|part| List(part.to_vec())).ok_or(No::Fails)
        }
        (Flatten, [List(l)]) => value(List(flatten(l, 1))),
        (FlattenDepth, [List(_), Int(..0)]) => Err(No::Fails),
        (FlattenDepth, [List(l), Int(depth)]) => value(List(flatten(l, *depth))),
        (_, [List(indexes), List(keys)]) if name.starts_with("SortBy") => {
            let keys: Vec<Owned> = indexes.iter().map(|index| element(keys, index).unwrap().clone()).collect();
            sort(indexes, &keys)
        }
        (_, [List(l)]) if name.starts_with("Sort") => sort(l, l),
        (Distinct, [List(l)]) => {
            let mut kept: Vec<Owned> = Vec::new();
            for element in l {
                if !has(&kept, element) {
                    kept.push(element.clone());
                }
            }
            value(List(kept))
        }
        (Range, [Int(..0)]) => Err(No::Fails),
        (Range, [Int(n)]) => value(List((0..*n.min(&1_000_000)).map(Int).collect())),
        (ReverseList, [List(l)]) => value(List(l.iter().rev().cloned().collect())),
        (First, [List(l)]) => optional(l.first().cloned()),
        (Last, [List(l)]) => optional(l.last().cloned()),
        (SetsContains | HasAll, [List(a), List(b)]) => value(Bool(b.iter().all(|element| has(a, element)))),
        (HasOnly, [List(a), List(b)]) => value(Bool(a.iter().all(|element| has(b, element)))),
        (SetsEquivalent | HasExactly, [List(a), List(b)]) => {
            value(Bool(b.iter().all(|element| has(a, element)) && a.iter().all(|element| has(b, element))))
        }
        (SetsIntersects | HasAny, [List(a), List(b)]) => value(Bool(b.iter().any(|element| has(a, element)))),
        (Merge, [Map(a), Map(b)]) => {
            let mut all = b.clone();
            all.extend(a.iter().filter(|(key, _)| find(b, key).is_none()).cloned());
            value(Map(all))
        }
        (Fail, _) => Err(No::Fails),
        _ => return optionals(b, args),
    })
}

fn optionals(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    Some(match (b, args) {
        (OptionalOf, [a]) => optional(Some(a.clone())),
        (OptionalOfNonZero, [a]) => is_zero(a).and_then(|zero| optional((!zero).then(|| a.clone()))),
        (OptionalNone, []) => optional(None),
        (OptionalHasValue, [Optional(o)]) => value(Bool(o.is_some())),
        (OptionalHasEqual, [Optional(o), other]) => value(Bool(o.iter().any(|inner| equal(inner, other)))),
        (OptionalValue, [Optional(o)]) => o.as_deref().cloned().ok_or(No::Fails),
        (OptionalOr, [Optional(None), other]) | (OptionalOrValue, [Optional(None), other]) => value(other.clone()),
        (OptionalOr, [some, _]) => value(some.clone()),
        (OptionalOrValue, [Optional(Some(inner)), _]) => value((**inner).clone()),
        (OptionalUnwrap | OptionalUnwrapMember, [List(l)]) => value(List(
            l.iter()
                .filter_map(|o| if let Optional(Some(inner)) = o { Some((**inner).clone()) } else { None })
                .collect(),
        )),
        (
            OptionalSelectOptional
            | OptionalIndexOptionalList
            | OptionalIndexOptionalMap
            | IndexOptionalList
            | IndexOptionalMap,
            [Optional(None), _],
        ) => optional(None),
        (
            OptionalSelectOptional
            | OptionalIndexOptionalList
            | OptionalIndexOptionalMap
            | IndexOptionalList
            | IndexOptionalMap,
            [Optional(Some(inner)), index],
        ) => within(inner, index),
        (OptionalSelectMap | OptionalIndexList | OptionalIndexMap, [container, index]) => within(container, index),
        _ => return None,
    })
}

fn within(container: &Owned, index: &Owned) -> Judged {
    optional(match container {
        List(l) => element(l, index).cloned(),
        Map(m) => find(m, index).cloned(),
        _ => return Err(No::Fails),
    })
}
