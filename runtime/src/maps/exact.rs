//! Which key a value is.

use crate::byte_set::{ByteSet, Ends};

/// Texts. If `FOLD`, the case of ASCII letters does not matter.
#[derive(Clone, Debug)]
pub(crate) struct ExactMap<const FOLD: bool> {
    keys: ByteSet<FOLD>,
    /// By the key's place in the set. Only a hit reads it.
    ids: Box<[u32]>,
}

impl<const FOLD: bool> ExactMap<FOLD> {
    /// The map of these keys, which are different and, if `FOLD`, in small letters.
    pub(crate) fn new<K: AsRef<[u8]>>(keys: &[K]) -> Self {
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
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        self.keys.find(Ends::of(text), text).and_then(|place| self.ids.get(place)).copied()
    }

    /// Bytes held on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.bytes().saturating_add(size_of_val(&*self.ids))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Rng, distinct};
    use super::*;

    fn check<const FOLD: bool>(keys: &[Vec<u8>], values: &[Vec<u8>]) {
        let map = ExactMap::<FOLD>::new(keys);
        for value in values {
            let same = |key: &Vec<u8>| if FOLD { key.eq_ignore_ascii_case(value) } else { key == value };
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
        assert!(map.bytes() < own + 24 * keys.len(), "{} for {own}", map.bytes());
    }
}
