//! Finds the host patterns that a host name matches: exact names, domains with all names below them, and first labels.
//!
//! Names and domains are in one radix tree that is read from the end of the host; a byte that no
//! host has marks where a name begins, so that a name is not found within a longer one. First
//! labels are in a second tree that is read from the start.

use crate::prefixes::{PrefixMap, SuffixMap};
use std::fmt;

/// Finds the host patterns that a host name matches. Upper and lower case of ASCII letters are the same.
///
/// - `example.com` matches this name only.
/// - `*.example.com` matches all names below `example.com`, at any depth, but not `example.com`.
/// - `api.*` matches all names whose first labels are `api`, such as `api.example.com`, but not `api`.
///
/// One dot at the end of a pattern or of a host is ignored. A host that is longer than
/// [`Hosts::MAX_BYTES`], or that starts with a dot, matches nothing. Names are compared as they
/// are: convert international names to their ASCII form first.
///
/// A lookup takes time linear in the length of the host, independent of the number of patterns,
/// apart from the matches that it reports. Memory: at most about 50 bytes for each pattern, and the
/// bytes that patterns do not share.
///
/// ```
/// use celero_matching::Hosts;
///
/// let hosts = Hosts::new(&["example.com", "*.example.com", "*.shop.example.com", "api.*"])?;
/// let mut found = Vec::new();
/// hosts.for_each("API.shop.example.com", |id| found.push(id));
/// assert_eq!(found, [3, 1, 2]);
/// assert_eq!(hosts.longest("a.shop.example.com"), Some(2));
/// assert!(!hosts.any("example.org"));
/// # Ok::<(), celero_matching::HostsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hosts {
    /// Names after [`START`], domains after a dot.
    names: SuffixMap,
    /// First labels and a dot.
    labels: PrefixMap<false>,
    /// For each id of a tree, first those of `names`: the index in `ids` of its first pattern. Then the number of ids.
    groups: Box<[u32]>,
    /// The patterns, equal ones together.
    ids: Box<[u32]>,
    /// Number of keys in `names`.
    count: usize,
}

/// Why a list of host patterns was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostsError {
    /// Index of the pattern.
    pub index: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host pattern {}: {}", self.index, self.problem)
    }
}

impl std::error::Error for HostsError {}

/// Before the first byte of a host.
const START: u8 = 0;

/// A key of one of both trees, and the id of its pattern.
type Key = (Vec<u8>, u32);

impl Hosts {
    /// The longest host, in bytes: the limit of the domain name system ([RFC
    /// 1035](https://www.rfc-editor.org/rfc/rfc1035), 2.3.4).
    pub const MAX_BYTES: usize = 253;

    /// Builds the set of `patterns`, in O(n log n). The id of a pattern is its index. Of equal patterns all match.
    ///
    /// # Errors
    ///
    /// The first pattern that is empty, too long, has an empty label, a zero byte or a star that is
    /// not its first or last label.
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Self, HostsError> {
        let (mut names, mut labels): (Vec<Key>, Vec<Key>) = (Vec::new(), Vec::new());
        for (index, (pattern, id)) in patterns.iter().zip(0..u32::MAX).enumerate() {
            let error = |problem| HostsError { index, problem };
            let pattern = pattern.as_ref().to_ascii_lowercase();
            let pattern = pattern.strip_suffix('.').unwrap_or(&pattern);
            if pattern.len() > Self::MAX_BYTES {
                return Err(error("longer than 253 bytes"));
            }
            let (domain, first) = (pattern.strip_prefix("*."), pattern.strip_suffix(".*"));
            let plain = domain.or(first).unwrap_or(pattern);
            if plain.split('.').any(str::is_empty) {
                return Err(error("has no name, or an empty label"));
            }
            if plain.bytes().any(|byte| byte == b'*' || byte == START) {
                return Err(error("a star is allowed as the first label or as the last one, but not both"));
            }
            match (domain, first) {
                (Some(domain), _) => names.push(([b".", domain.as_bytes()].concat(), id)),
                (None, Some(first)) => labels.push(([first.as_bytes(), b"."].concat(), id)),
                (None, None) => names.push(([&[START], pattern.as_bytes()].concat(), id)),
            }
        }
        let many = || HostsError { index: patterns.len(), problem: "more than 4 GiB" };
        let (mut groups, mut ids) = (Vec::new(), Vec::new());
        let names = distinct(names, &mut groups, &mut ids);
        let labels = distinct(labels, &mut groups, &mut ids);
        groups.push(ids.len() as u32);
        Ok(Self {
            count: names.len(),
            names: SuffixMap::new(&names).ok_or_else(many)?,
            labels: PrefixMap::new(&labels).ok_or_else(many)?,
            groups: groups.into(),
            ids: ids.into(),
        })
    }

    /// Calls `hit` once with the id of each pattern that matches `host`: first labels, then
    /// domains, the shortest first, then names.
    pub fn for_each(&self, host: &str, mut hit: impl FnMut(u32)) {
        self.groups_of(host, |group| self.group(group).iter().for_each(|id| hit(*id)));
    }

    /// The id of the pattern that says most about `host`: a name, else the longest domain, else the
    /// longest first labels. Of equal patterns, the first one.
    #[must_use]
    pub fn longest(&self, host: &str) -> Option<u32> {
        let mut last = None;
        self.groups_of(host, |group| last = Some(group));
        self.group(last?).first().copied()
    }

    /// Whether some pattern matches `host`.
    #[must_use]
    pub fn any(&self, host: &str) -> bool {
        let mut any = false;
        self.groups_of(host, |_| any = true);
        any
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts =
            [size_of_val(&*self.groups), size_of_val(&*self.ids), self.names.heap_bytes(), self.labels.heap_bytes()];
        parts.into_iter().fold(0, usize::saturating_add)
    }

    /// The patterns of a group.
    fn group(&self, group: usize) -> &[u32] {
        let Some([from, to]) = self.groups.get(group..).and_then(<[u32]>::first_chunk) else { return &[] };
        self.ids.get(*from as usize..*to as usize).unwrap_or_default()
    }

    /// Calls `hit` with each group of equal patterns that match.
    fn groups_of(&self, host: &str, mut hit: impl FnMut(usize)) {
        let host = host.strip_suffix('.').unwrap_or(host).as_bytes();
        // The host in lower case, after the mark of its start.
        let mut buffer = [START; Self::MAX_BYTES + 1];
        let Some(text) = buffer.get_mut(..host.len().wrapping_add(1)) else { return };
        let Some((_, lower)) = text.split_first_mut() else { return };
        lower.copy_from_slice(host);
        lower.make_ascii_lowercase();
        // An empty first label is no name below a domain.
        if matches!(lower.first(), None | Some(b'.')) || lower.contains(&START) {
            return;
        }
        // A host that ends with the dot of its first labels has no name after them.
        let after = lower.strip_suffix(b".").unwrap_or(lower);
        self.labels.for_each(after, |key| hit(self.count.saturating_add(key as usize)));
        self.names.for_each(text, |key| hit(key as usize));
    }
}

/// The keys without repetitions. Adds for each where its ids begin, and all ids.
fn distinct(mut keys: Vec<Key>, groups: &mut Vec<u32>, ids: &mut Vec<u32>) -> Vec<Vec<u8>> {
    keys.sort_unstable();
    let mut distinct: Vec<Vec<u8>> = Vec::with_capacity(keys.len());
    for (key, id) in keys {
        if distinct.last() != Some(&key) {
            groups.push(ids.len() as u32);
            distinct.push(key);
        }
        ids.push(id);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    fn holds(pattern: &str, host: &str) -> bool {
        let lower = |text: &str| text.strip_suffix('.').unwrap_or(text).to_lowercase();
        let (pattern, host) = (lower(pattern), lower(host));
        if host.is_empty() || host.starts_with('.') {
            return false;
        }
        if let Some(domain) = pattern.strip_prefix('*') {
            return host.ends_with(domain);
        }
        match pattern.strip_suffix('*') {
            Some(first) => host.len() > first.len() && host.starts_with(first),
            None => pattern == host,
        }
    }

    #[test]
    fn agrees_with_a_list() {
        let mut rng = Rng::new(1);
        let labels = ["a", "b", "ab", "ba", "A", "com", "x-y"];
        for round in 0..200 {
            let mut name = || {
                let labels: Vec<_> = (0..1 + rng.below(4)).map(|_| labels[rng.below(labels.len())]).collect();
                labels.join(".") + if rng.below(5) == 0 { "." } else { "" }
            };
            let patterns: Vec<String> = (0..round % 30)
                .map(|n| match n % 3 {
                    0 => name(),
                    1 => format!("*.{}", name()),
                    _ => format!("{}.*", name().trim_end_matches('.')),
                })
                .collect();
            let hosts = Hosts::new(&patterns).unwrap();
            let texts: Vec<String> =
                (0..100).map(|_| name()).chain(patterns.iter().map(|p| p.replace('*', ""))).collect();
            for text in texts.iter().map(String::as_str).chain(["", ".", "..", "a..com", "\0a"]) {
                let mut found = Vec::new();
                hosts.for_each(text, |id| found.push(id));
                assert_eq!(hosts.any(text), !found.is_empty(), "{text}");
                assert!(found.is_empty() || found.contains(&hosts.longest(text).unwrap()));
                found.sort_unstable();
                let right: Vec<u32> =
                    (0..).zip(&patterns).filter(|(_, pattern)| holds(pattern, text)).map(|(id, _)| id).collect();
                assert_eq!(found, right, "{text} in {patterns:?}");
            }
        }
    }

    #[test]
    fn a_name_is_said_before_its_domains() {
        let hosts = Hosts::new(&["www.*", "*.com", "WWW.Example.com", "*.example.com", "www.example.com."]).unwrap();
        assert_eq!(hosts.longest("www.example.COM."), Some(2));
        assert_eq!(hosts.longest("ftp.example.com"), Some(3));
        assert_eq!(hosts.longest("www.example.org"), Some(0));
        assert_eq!(hosts.longest("com"), None);
    }

    #[test]
    fn wrong_patterns_are_named() {
        for wrong in ["", ".", "a..b", "*", "*.", "*.*", "a.*.b", "*a.b", "*.a.*", ".a", "a\0b", &"a".repeat(254)] {
            let error = Hosts::new(&["ok.example", wrong]).unwrap_err();
            assert_eq!(error.index, 1, "{wrong}: {error}");
        }
        assert!(!Hosts::new(&["a"]).unwrap().any(&"a".repeat(5000)));
    }
}
