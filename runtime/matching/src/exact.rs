//! Finds the key that equals a value.

use crate::byte_set::{ByteSet, Ends};

/// Finds the key that equals a text: a [`ByteSet`] that knows the index of each member. With
/// `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup takes a few nanoseconds, independent of the number of keys. Memory: about 37 bytes for
/// each key, and the bytes of keys longer than 16.
///
/// ```
/// use celero_matching::ExactMap;
///
/// let hosts = ExactMap::<true>::new(&["example.com", "api.example.com"]);
/// assert_eq!(hosts.get(b"API.example.com"), Some(1));
/// assert_eq!(hosts.get(b"www.example.com"), None);
/// ```
#[derive(Clone, Debug)]
pub struct ExactMap<const IGNORE_CASE: bool> {
    keys: ByteSet<IGNORE_CASE>,
    /// Indexed by the key's slot in the set. Read only on a hit.
    ids: Box<[u32]>,
}

impl<const IGNORE_CASE: bool> ExactMap<IGNORE_CASE> {
    /// Builds the map of `keys`, in time and memory about linear in their size. The id of a key is
    /// its index; of equal keys the last one counts.
    ///
    /// With `IGNORE_CASE`, give the keys in lower case: others are never found.
    #[must_use]
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Self {
        let set = ByteSet::new(keys);
        let mut ids = vec![u32::MAX; set.slots()];
        for (id, key) in (0_u32..).zip(keys) {
            let key = key.as_ref();
            if let Some(own) = set.find(Ends::of(key), key).and_then(|slot| ids.get_mut(slot)) {
                *own = id;
            }
        }
        Self { keys: set, ids: ids.into() }
    }

    /// Returns the id of the key that equals `text`.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, text: &[u8]) -> Option<u32> {
        self.keys.find(Ends::of(text), text).and_then(|slot| self.ids.get(slot)).copied()
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.keys.heap_bytes().saturating_add(size_of_val(&*self.ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, distinct};

    fn check<const IGNORE_CASE: bool>(keys: &[Vec<u8>], values: &[Vec<u8>]) {
        let map = ExactMap::<IGNORE_CASE>::new(keys);
        for value in values {
            let same = |key: &Vec<u8>| if IGNORE_CASE { key.eq_ignore_ascii_case(value) } else { key == value };
            assert_eq!(map.get(value), keys.iter().position(same).map(|id| id as u32), "{value:?} in {keys:?}");
        }
    }

    #[test]
    fn agrees_with_a_list() {
        let mut rng = Rng::new(1);
        for alphabet in [&b"a"[..], b"ab\xff", b"aA.-", b"etaoins/\0\x80"] {
            for longest in [2, 9, 40] {
                for _ in 0..40 {
                    let keys = distinct((0..rng.below(50)).map(|_| rng.text(longest, alphabet)));
                    let mut values: Vec<_> = (0..50).map(|_| rng.text(longest, alphabet)).collect();
                    values.extend(keys.iter().cloned());
                    values.push(Vec::new());
                    check::<false>(&keys, &values);
                    let small = distinct(keys.iter().map(|key| key.to_ascii_lowercase()));
                    check::<true>(&small, &values);
                }
            }
        }
    }

    #[test]
    fn many_keys_are_small() {
        let keys: Vec<_> = (0..100_000_u64).map(|n| format!("{:x}.example.com", n.wrapping_mul(0x9e37_79b9))).collect();
        let map = ExactMap::<false>::new(&keys);
        for (id, key) in keys.iter().enumerate() {
            assert_eq!(map.get(key.as_bytes()), Some(id as u32));
        }
        assert_eq!(map.get(b"example.com"), None);
        let own: usize = keys.iter().map(String::len).sum();
        assert!(map.heap_bytes() < own + 24 * keys.len(), "{} for {own}", map.heap_bytes());
    }
}
