//! Host names, and all names below one.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::{Key, MAX_HOST_BYTES};
use celero_matching::{ExactMap, SuffixMap};

/// A set of host names. Keys that begin with a star come first: no other byte of a host name sorts before it.
pub(crate) struct Hosts {
    /// `.example.com` for `*.example.com`.
    below: SuffixMap,
    exact: ExactMap<true>,
    /// The number of the first name of `exact`.
    first_exact: u32,
    names: Strings,
}

impl EntrySet for Hosts {
    type Key = Box<str>;
    type Value<'a> = &'a [u8];

    fn build(keys: Vec<Box<str>>) -> Option<Self> {
        let names = Strings::new(&keys)?;
        let (below, exact) = keys.split_at(keys.partition_point(|key| key.starts_with('*')));
        let suffixes: Vec<&str> = below.iter().map(|key| key.strip_prefix('*').unwrap_or(key)).collect();
        let exact: Vec<&[u8]> = exact.iter().map(|key| key.as_bytes()).collect();
        let first_exact = u32::try_from(below.len()).ok()?;
        Some(Self { below: SuffixMap::new(&suffixes)?, exact: ExactMap::new(&exact), first_exact, names })
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn key(&self, id: u32) -> Option<Box<str>> {
        self.names.get(id).map(Box::from)
    }

    fn any(&self, host: &[u8], mut counts: impl FnMut(u32) -> bool) -> bool {
        let host = without_port(host);
        let host = host.strip_suffix(b".").unwrap_or(host);
        let mut lower = [0; MAX_HOST_BYTES];
        // A longer name is no host name.
        let Some(lower) = lower.get_mut(..host.len()) else { return false };
        if self.exact.get(host).is_some_and(|id| counts(self.first_exact.saturating_add(id))) {
            return true;
        }
        if self.first_exact == 0 {
            return false;
        }
        lower.copy_from_slice(host);
        lower.make_ascii_lowercase();
        let mut found = false;
        // The name itself is not below itself, nor is `.example.com`.
        self.below.for_each(lower, |id| {
            let longer = self.names.get(id).is_some_and(|key| key.len() <= host.len());
            found = found || longer && counts(id);
        });
        found
    }

    fn has(&self, key: &Box<str>) -> bool {
        self.names.has(key)
    }

    fn is_among(&self, id: u32, keys: &Keys<Box<str>>) -> bool {
        self.names.get(id).is_some_and(|name| keys.contains(name))
    }

    fn key_of(key: Key) -> Option<Box<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        let maps = self.below.heap_bytes().saturating_add(self.exact.heap_bytes());
        maps.saturating_add(self.names.heap_bytes())
    }
}

/// The host of an authority: `example.com` of `example.com:8080`.
fn without_port(host: &[u8]) -> &[u8] {
    let digits = host.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let Some((name, _)) = host.split_at_checked(host.len().saturating_sub(digits)) else { return host };
    name.strip_suffix(b":").unwrap_or(host)
}
