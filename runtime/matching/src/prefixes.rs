//! Finds all keys that a text starts with, or ends with.
//!
//! The keys form a radix tree: the path from the root to a node spells a prefix, and there is a
//! node where a key ends or where keys differ. The children of a node are stored side by side. A
//! lookup follows one path and reads no byte of the text twice.

use std::ops::Range;

/// Finds all keys that a text starts with. The empty key matches every text.
///
/// A lookup takes time linear in the longest matching key, independent of the number of keys.
/// Memory: at most about 40 bytes for each key, and the bytes that keys do not share.
///
/// With `REVERSED` it finds the keys that a text ends with: see [`SuffixMap`].
///
/// ```
/// use celero_matching::PrefixMap;
///
/// let routes = PrefixMap::<false>::new(&["/", "/api/", "/api/v1/users"]).ok_or("more than 4 GiB")?;
/// let mut found = Vec::new();
/// routes.for_each(b"/api/v2", |id| found.push(id));
/// assert_eq!(found, [0, 1]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrefixMap<const REVERSED: bool = false> {
    /// The root is the first.
    nodes: Box<[Node]>,
    /// Indexed by node: the byte that leads to it from its parent. Then [`WORD_CHILDREN`] zeros.
    steps: Box<[u8]>,
    /// The labels, one after the other, in the order of the text.
    labels: Box<[u8]>,
}

/// Finds all keys that a text ends with.
///
/// ```
/// use celero_matching::SuffixMap;
///
/// let domains = SuffixMap::new(&[".example.com", ".com"]).ok_or("more than 4 GiB")?;
/// let mut found = Vec::new();
/// domains.for_each(b"api.example.com", |id| found.push(id));
/// assert_eq!(found, [1, 0]); // the shortest first
/// # Ok::<(), &str>(())
/// ```
pub type SuffixMap = PrefixMap<true>;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Offset of the label: the bytes after the one that leads here, up to where a key ends or keys differ.
    label: u32,
    /// Index of the first child.
    child: u32,
    /// Id of the key that ends here, or [`NO_KEY`].
    id: u32,
    /// Length of the label, in bytes.
    length: u16,
    /// Number of children.
    children: u16,
}

/// A key, in the direction in which texts are read, and its id.
type KeyWithId<'a> = (&'a [u8], u32);

/// The id in a node where no key ends.
const NO_KEY: u32 = u32::MAX;
/// Most children of a node whose bytes are compared together, as one word.
const WORD_CHILDREN: usize = 8;

impl<const REVERSED: bool> PrefixMap<REVERSED> {
    /// Builds the map of `keys`, in time linear in their size apart from sorting. The id of a key
    /// is its index; of equal keys only one is found. Returns `None` if there are more nodes or
    /// bytes than a `u32` can count.
    #[must_use]
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        let reversed: Vec<u8>;
        let mut sorted: Vec<KeyWithId<'_>> = if REVERSED {
            reversed = keys.iter().flat_map(|key| key.as_ref().iter().rev()).copied().collect();
            let mut rest = &*reversed;
            let mut next = |key: &K| rest.split_off(..key.as_ref().len());
            keys.iter().map(|key| next(key).unwrap_or_default()).zip(0..).collect()
        } else {
            keys.iter().map(AsRef::as_ref).zip(0..).collect()
        };
        sorted.sort_unstable();
        Self::of_sorted(&sorted)
    }

    fn of_sorted(keys: &[KeyWithId<'_>]) -> Option<Self> {
        let mut nodes = vec![Node { label: 0, child: 0, id: NO_KEY, length: 0, children: 0 }];
        let mut steps = vec![0];
        let mut labels = Vec::new();
        // Nodes to build, with the keys below each and the length of its path. Depth first, so that
        // a subtree is stored together.
        let mut open: Vec<(usize, &[KeyWithId<'_>], usize)> = vec![(0, keys, 0)];
        while let Some((at, mut below, depth)) = open.pop() {
            let label = common(below, depth);
            let depth = depth.checked_add(label.len())?;
            let mut node = Node {
                label: u32::try_from(labels.len()).ok()?,
                child: u32::try_from(nodes.len()).ok()?,
                id: NO_KEY,
                length: u16::try_from(label.len()).ok()?,
                children: 0,
            };
            labels.extend_from_slice(label);
            if REVERSED {
                labels.get_mut(node.label as usize..)?.reverse();
            }
            while let Some(((key, id), others)) = below.split_first()
                && key.len() == depth
            {
                node.id = *id;
                below = others;
            }
            while let Some(step) = below.first().and_then(|(key, _)| key.get(depth)) {
                let same = below.partition_point(|(key, _)| key.get(depth) == Some(step));
                let (child, others) = below.split_at_checked(same)?;
                open.push((nodes.len(), child, depth.checked_add(1)?));
                nodes.push(Node { label: 0, child: 0, id: NO_KEY, length: 0, children: 0 });
                steps.push(*step);
                node.children = node.children.checked_add(1)?;
                below = others;
            }
            *nodes.get_mut(at)? = node;
        }
        steps.extend([0; WORD_CHILDREN]);
        Some(Self { nodes: nodes.into(), steps: steps.into(), labels: labels.into() })
    }

    /// Calls `hit` once with the id of each key that `text` starts with (ends with, if `REVERSED`),
    /// the shortest key first.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        let mut rest = text;
        let mut node = self.nodes.first();
        while let Some(&Node { label, child, id, length, children }) = node {
            // Nodes where keys differ often have no label.
            if length > 0 {
                let Some(label) = part(&self.labels, label, length) else { return };
                let after = if REVERSED { rest.strip_suffix(label) } else { rest.strip_prefix(label) };
                let Some(after) = after else { return };
                rest = after;
            }
            if id != NO_KEY {
                hit(id);
            }
            let Some((step, after)) = (if REVERSED { rest.split_last() } else { rest.split_first() }) else { return };
            rest = after;
            let Some(position) = self.position(*step, child, children) else { return };
            node = self.nodes.get(position.wrapping_add(child as usize));
        }
    }

    /// Index of the child that `step` leads to, among `children` children from `child` on.
    #[inline(always)]
    fn position(&self, step: u8, child: u32, children: u16) -> Option<usize> {
        let children = usize::from(children);
        if children > WORD_CHILDREN {
            return memchr::memchr(step, self.steps.get(child as usize..)?.get(..children)?);
        }
        // Sets the highest bit of each equal byte, and of no byte before the first equal one.
        let steps = u64::from_le_bytes(*self.steps.get(child as usize..)?.first_chunk()?);
        let other = steps ^ u64::from(step).wrapping_mul(0x0101_0101_0101_0101);
        let same = other.wrapping_sub(0x0101_0101_0101_0101) & !other & 0x8080_8080_8080_8080;
        let position = same.trailing_zeros() as usize / 8;
        (position < children).then_some(position)
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts = [size_of_val(&*self.nodes), size_of_val(&*self.steps), size_of_val(&*self.labels)];
        parts.into_iter().fold(0, usize::saturating_add)
    }
}

/// The common prefix of sorted keys from a depth on, cut to the greatest length of a label.
fn common<'a>(keys: &[KeyWithId<'a>], depth: usize) -> &'a [u8] {
    let (Some((first, _)), Some((last, _))) = (keys.first(), keys.last()) else { return &[] };
    let (first, last) = (first.get(depth..).unwrap_or_default(), last.get(depth..).unwrap_or_default());
    let length = first.iter().zip(last).take(usize::from(u16::MAX)).take_while(|(a, b)| a == b).count();
    first.get(..length).unwrap_or_default()
}

#[inline(always)]
fn part(of: &[u8], start: u32, length: u16) -> Option<&[u8]> {
    let start = start as usize;
    of.get(Range { start, end: start.wrapping_add(usize::from(length)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, distinct};

    fn found<const REVERSED: bool>(map: &PrefixMap<REVERSED>, text: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        map.for_each(text, |id| ids.push(id));
        ids
    }

    fn check(keys: &[Vec<u8>], texts: &[Vec<u8>]) {
        let (prefixes, suffixes) = (PrefixMap::<false>::new(keys).unwrap(), SuffixMap::new(keys).unwrap());
        let sorted = |holds: &dyn Fn(&[u8]) -> bool| {
            let mut ids: Vec<u32> = (0..).zip(keys).filter(|(_, key)| holds(key)).map(|(id, _)| id).collect();
            ids.sort_by_key(|id| keys[*id as usize].len());
            ids
        };
        for text in texts {
            assert_eq!(found(&prefixes, text), sorted(&|key| text.starts_with(key)), "{text:?} in {keys:?}");
            assert_eq!(found(&suffixes, text), sorted(&|key| text.ends_with(key)), "{text:?} in {keys:?}");
        }
    }

    #[test]
    fn agrees_with_a_list() {
        let mut rng = Rng::new(1);
        for alphabet in [&b"a"[..], b"ab", b"ab/\xff\0", b"abcdefghijklmnopqrstuvwxyz/0123456789"] {
            for longest in [2, 5, 20] {
                for _ in 0..40 {
                    let mut keys = distinct((0..rng.below(60)).map(|_| rng.text(longest, alphabet)));
                    let texts: Vec<_> = (0..50).map(|_| rng.text(25, alphabet)).chain(keys.iter().cloned()).collect();
                    check(&keys, &texts);
                    keys.retain(|key| !key.is_empty());
                    check(&keys, &texts);
                }
            }
        }
    }

    #[test]
    fn every_byte_can_lead_to_a_child() {
        let keys: Vec<Vec<u8>> = (0..=255).map(|byte| vec![b'x', byte, b'x']).collect();
        let texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![b'x', byte, b'x', byte]).collect();
        check(&keys, &texts);
        check(&keys, &keys);
    }

    #[test]
    fn labels_may_be_longer_than_a_node_can_say() {
        let keys = [vec![b'a'; 200_000], vec![b'a'; 65_535], vec![b'a'; 65_536], b"a".to_vec()];
        let mut other = vec![b'a'; 200_001];
        check(&keys, &[other.clone(), vec![b'a'; 199_999], vec![b'a'; 65_535]]);
        other[150_000] = b'b';
        check(&keys, &[other]);
    }

    #[test]
    fn many_keys_are_small() {
        let names = ["users", "orders", "static", "v1", "v2", "images", "admin", "search"];
        let mut rng = Rng::new(2);
        let key = |_| {
            let names: Vec<_> = (0..3).map(|_| names[rng.below(names.len())]).collect();
            format!("/{}/{}", names.join("/"), rng.below(1_000_000)).into_bytes()
        };
        let keys = distinct((0..100_000).map(key));
        let (prefixes, suffixes) = (PrefixMap::<false>::new(&keys).unwrap(), SuffixMap::new(&keys).unwrap());
        for (id, key) in (0..).zip(&keys) {
            assert_eq!(found(&prefixes, key).last(), Some(&id));
            assert_eq!(found(&suffixes, key).last(), Some(&id));
        }
        let own: usize = keys.iter().map(Vec::len).sum();
        for bytes in [prefixes.heap_bytes(), suffixes.heap_bytes()] {
            assert!(bytes < own + 40 * keys.len(), "{bytes} for {own}");
        }
    }
}
