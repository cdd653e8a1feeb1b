//! Host names, and all names below one.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::{Key, MAX_HOST_BYTES};
use crate::error::TooLarge;
use celero_matching::{ExactMap, SuffixMap};
use std::sync::Arc;

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
    type Key = Arc<str>;
    type Value<'a> = &'a [u8];
    /// The name itself, then the longer name below which it is.
    type Rank = (bool, usize);

    fn build(keys: Vec<Arc<str>>) -> Result<Self, TooLarge> {
        let names = Strings::new(&keys).ok_or(TooLarge::Numbers)?;
        let (below, exact) = keys.split_at(keys.partition_point(|key| key.starts_with('*')));
        let suffixes: Vec<&str> = below.iter().map(|key| key.strip_prefix('*').unwrap_or(key)).collect();
        let exact: Vec<&[u8]> = exact.iter().map(|key| key.as_bytes()).collect();
        let first_exact = u32::try_from(below.len()).map_err(|_| TooLarge::Numbers)?;
        Ok(Self {
            below: SuffixMap::new(&suffixes).ok_or(TooLarge::Numbers)?,
            exact: ExactMap::new(&exact),
            first_exact,
            names,
        })
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn key(&self, id: u32) -> Option<Arc<str>> {
        self.names.get(id).map(Arc::from)
    }

    fn any(&self, host: &[u8], mut counts: impl FnMut(u32) -> bool) -> bool {
        let mut found = false;
        self.for_each(host, |id| {
            found = found || counts(id);
            found
        });
        found
    }

    fn most_specific(&self, host: &[u8], mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut best = None;
        self.for_each(host, |id| {
            let is_name = id >= self.first_exact;
            // The longest name with a star comes last.
            if counts(id) {
                best = Some(id);
            }
            is_name && best.is_some()
        });
        best
    }

    fn rank(&self, id: u32) -> (bool, usize) {
        (id >= self.first_exact, self.names.get(id).map_or(0, str::len))
    }

    fn id_of(&self, key: &Arc<str>) -> Option<u32> {
        self.names.position(key)
    }

    fn is_among(&self, id: u32, keys: &Keys<Arc<str>>) -> bool {
        self.names.get(id).is_some_and(|name| keys.contains(name))
    }

    fn key_of(key: Key) -> Option<Arc<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        let maps = self.below.heap_bytes().saturating_add(self.exact.heap_bytes());
        maps.saturating_add(self.names.heap_bytes())
    }
}

impl Hosts {
    /// Calls `hit` with the entry that is the host, then with those below which it is, the shortest
    /// first; ends when the first one returns true.
    fn for_each(&self, host: &[u8], mut hit: impl FnMut(u32) -> bool) {
        let host = without_port(host);
        let host = host.strip_suffix(b".").unwrap_or(host);
        let mut lower = [0; MAX_HOST_BYTES];
        // A longer name is no host name.
        let Some(lower) = lower.get_mut(..host.len()) else { return };
        if self.exact.get(host).is_some_and(|id| hit(self.first_exact.saturating_add(id))) || self.first_exact == 0 {
            return;
        }
        lower.copy_from_slice(host);
        lower.make_ascii_lowercase();
        // The name itself is not below itself, nor is `.example.com`.
        self.below.for_each(lower, |id| {
            if self.names.get(id).is_some_and(|key| key.len() <= host.len()) {
                hit(id);
            }
        });
    }
}

/// The host of an authority: `example.com` of `example.com:8080`.
fn without_port(host: &[u8]) -> &[u8] {
    let digits = host.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let Some((name, _)) = host.split_at_checked(host.len().saturating_sub(digits)) else { return host };
    name.strip_suffix(b":").unwrap_or(host)
}
