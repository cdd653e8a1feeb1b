//! Which key a value is.

use crate::byte_set::{ByteSet, Ends};

/// Texts. If `IGNORE_CASE`, the case of ASCII letters does not matter.
#[derive(Clone, Debug)]
pub struct ExactMap<const IGNORE_CASE: bool> {
    keys: ByteSet<IGNORE_CASE>,
    /// By the key's place in the set. Only a hit reads it.
    ids: Box<[u32]>,
}

impl<const IGNORE_CASE: bool> ExactMap<IGNORE_CASE> {
    /// The map of these keys, which are different and, if `IGNORE_CASE`, in small letters.
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Self {
        let set = ByteSet::new(keys);
        let mut ids = vec![u32::MAX; set.places()];
        for (id, key) in (0_u32..).zip(keys) {
            let key = key.as_ref();
            if let Some(own) = set.find(Ends::of(key), key).and_then(|place| ids.get_mut(place)) {
                *own = id;
            }
        }
        Self { keys: set, ids: ids.into() }
    }

    /// The id of the key that is this text.
    #[inline(always)]
    pub fn get(&self, text: &[u8]) -> Option<u32> {
        self.keys.find(Ends::of(text), text).and_then(|place| self.ids.get(place)).copied()
    }

    /// Bytes held on the heap.
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
