//! Which entries contain a value, and which are part of others: for tools, not for lookups.

use super::any_list::AnyList;
use super::entries::Entries;
use super::levels::Keyed;
use crate::clock::SystemClock;
use crate::entry::{Entry, Key, Network};
use crate::kind::Kind;
use crate::sets::{Unmetered, entry_matches};
use std::collections::HashMap;
use std::net::IpAddr;

/// An entry that another one makes superfluous: everything it contains, the other contains.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// The position of the entry, from 0.
    pub index: usize,
    /// The position of the other one. If the two are equal, it is the first of them.
    pub by: usize,
}

impl Entry {
    /// Returns whether a list of this kind that has only this entry contains a value. `None` if the
    /// value is none that such a list is asked for: an address or an integer that can't be read.
    ///
    /// Takes time linear in the value, and compiles a pattern or a wildcard. To look up many values, make a list.
    #[must_use]
    pub fn contains(&self, kind: Kind, value: &str) -> Option<bool> {
        Some(match &self.0 {
            Key::Network(network) => network.contains(value.trim().parse::<IpAddr>().ok()?),
            Key::Range((least, greatest)) => (*least..=*greatest).contains(&value.trim().parse().ok()?),
            Key::Text(text) if kind.is_compiled() => entry_matches(text, kind == Kind::Wildcards, value.as_bytes()),
            Key::Text(text) => {
                // Most entries are ruled out without making a list.
                let (text, value) = (text.trim_start_matches('*').as_bytes(), value.as_bytes());
                let occurs = text.is_empty() || value.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
                occurs
                    && AnyList::new(kind, Keyed { keys: vec![self.clone()], ..Keyed::new(None) })
                        .is_ok_and(|list| list.has_text(value, &Unmetered, &SystemClock) == Ok(Some(true)))
            }
        })
    }
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4() && Self::new(address, self.prefix) == self
    }
}

impl Entries {
    /// Returns the entries that others make superfluous, in their order: equal ones, networks and
    /// ranges inside others, hosts below `*.` of another entry. When entries expire is not
    /// considered. Takes time O(n log n).
    ///
    /// Of entries that carry values: equal ones but for the last, which counts; and those whose
    /// closest outer entry carries the same value. Ranges of integers can overlap, so of these only
    /// equal ones.
    #[must_use]
    pub fn covered(&self) -> Vec<Covered> {
        if self.list_type().values().is_some() {
            return self.covered_with_values();
        }
        let mut sorted: Vec<(&Key, usize)> = self.iter().map(|entry| &entry.0).zip(0..).collect();
        sorted.sort_by(|(a, i), (b, j)| order(a, b).then(i.cmp(j)));
        let mut found = Vec::new();
        // An outer entry comes before what it contains.
        match self.kind() {
            Kind::Addresses => {
                let mut outer: Option<(&Key, usize)> = None;
                for (key, index) in sorted {
                    match outer {
                        Some((network, by)) if within(key, network) => found.push(Covered { index, by }),
                        _ => outer = Some((key, index)),
                    }
                }
            }
            Kind::Integers => {
                let mut farthest: Option<(i64, usize)> = None;
                for (key, index) in sorted {
                    let Key::Range((_, greatest)) = key else { continue };
                    match farthest {
                        Some((end, by)) if *greatest <= end => found.push(Covered { index, by }),
                        _ => farthest = Some((*greatest, index)),
                    }
                }
            }
            _ => {
                let mut first: HashMap<&str, usize> = HashMap::with_capacity(sorted.len());
                for (key, index) in &sorted {
                    let Key::Text(text) = key else { continue };
                    first.entry(text).and_modify(|by| *by = (*by).min(*index)).or_insert(*index);
                }
                for (key, index) in &sorted {
                    let Key::Text(text) = key else { continue };
                    let equal = first.get(&**text).copied().filter(|by| by != index);
                    let outermost =
                        || if self.kind() == Kind::Hosts { above(text, &first).last().copied() } else { None };
                    if let Some(by) = outermost().or(equal) {
                        found.push(Covered { index: *index, by });
                    }
                }
            }
        }
        found.sort_by_key(|covered| covered.index);
        found
    }

    fn covered_with_values(&self) -> Vec<Covered> {
        let last: HashMap<&Key, usize> = self.iter().map(|entry| &entry.0).zip(0..).collect();
        let mut found: Vec<Covered> = Vec::new();
        for (entry, index) in self.iter().zip(0..) {
            if let Some(by) = last.get(&entry.0).copied().filter(|by| *by != index) {
                found.push(Covered { index, by });
            }
        }
        let same = |index: usize, by: usize| self.value_number(index) == self.value_number(by);
        match self.kind() {
            Kind::Addresses => {
                let mut sorted: Vec<(&Key, usize)> = last.into_iter().collect();
                sorted.sort_unstable();
                // The networks around the one before, the closest one at the end.
                let mut outer: Vec<(&Key, usize)> = Vec::new();
                for (key, index) in sorted {
                    while outer.last().is_some_and(|(network, _)| !within(key, network)) {
                        outer.pop();
                    }
                    if let Some(by) = outer.last().map(|(_, by)| *by).filter(|by| same(index, *by)) {
                        found.push(Covered { index, by });
                    }
                    outer.push((key, index));
                }
            }
            Kind::Hosts => {
                let mut hosts: HashMap<&str, usize> = HashMap::with_capacity(last.len());
                for (key, index) in &last {
                    let Key::Text(text) = key else { continue };
                    hosts.insert(text, *index);
                }
                for (host, index) in &hosts {
                    let closest = above(host, &hosts).first().copied();
                    if let Some(by) = closest.filter(|by| same(*index, *by)) {
                        found.push(Covered { index: *index, by });
                    }
                }
            }
            _ => {}
        }
        found.sort_by_key(|covered| covered.index);
        found
    }
}

/// The entries `*.x` that a host, or all hosts of another such entry, are below; the closest one first.
fn above(host: &str, entries: &HashMap<&str, usize>) -> Vec<usize> {
    let name = host.strip_prefix("*.").unwrap_or(host);
    // `*.a.b` is below `*.b`, not below itself.
    let parents = name.match_indices('.').filter_map(|(dot, _)| name.get(dot.saturating_add(1)..));
    parents.filter_map(|parent| entries.get(&*format!("*.{parent}")).copied()).collect()
}

/// Orders keys so that what contains others comes first.
fn order(a: &Key, b: &Key) -> std::cmp::Ordering {
    match (a, b) {
        (Key::Range((a, a_end)), Key::Range((b, b_end))) => a.cmp(b).then(b_end.cmp(a_end)),
        // The address of a network is its first; a shorter prefix contains a longer one.
        (a, b) => a.cmp(b),
    }
}

fn within(key: &Key, outer: &Key) -> bool {
    match (key, outer) {
        (Key::Network(key), Key::Network(outer)) => outer.prefix <= key.prefix && outer.contains(key.address),
        _ => false,
    }
}
