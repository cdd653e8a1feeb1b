//! What was found out about credentials, kept for a short time. Credentials are known by keyed
//! digests: the memory holds none of them, and nobody outside this process can compute where an
//! entry is.

use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A keyed digest of credentials.
pub(crate) type Digest = [u8; 32];

/// The number of parts with a lock each, so that threads rarely wait for each other.
const SHARDS: usize = 8;

/// A bounded memory of findings. Looking one up costs a digest and an uncontended lock.
#[derive(Debug)]
pub(crate) struct Memory<V> {
    /// SHA-256 after a block with a random key, so a digest costs nothing for the key.
    keyed: Sha256,
    shards: [Mutex<Shard<V>>; SHARDS],
    /// The largest weight of a generation of a shard.
    most: usize,
}

/// Two generations: when the young one is full, it replaces the old one. Entries that are used move to the young one.
#[derive(Debug)]
struct Shard<V> {
    young: HashMap<Digest, Entry<V>>,
    old: HashMap<Digest, Entry<V>>,
    weight: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    weight: usize,
    until: Instant,
}

impl<V: Clone> Memory<V> {
    /// Returns an empty memory for findings whose weights sum up to at most `most`.
    pub(crate) fn new(most: usize) -> Self {
        let shard = |_| Mutex::new(Shard { young: HashMap::new(), old: HashMap::new(), weight: 0 });
        Self {
            keyed: keyed(),
            shards: std::array::from_fn(shard),
            most: most.checked_div(SHARDS.saturating_mul(2)).unwrap_or(0),
        }
    }

    /// Returns the digest of credentials that consist of these parts.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut hash = self.keyed.clone();
        for part in parts {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// Returns what is remembered.
    pub(crate) fn get(&self, digest: &Digest) -> Option<V> {
        let mut shard = self.shard(digest);
        let now = Instant::now();
        if let Some(entry) = shard.young.get(digest) {
            return (now < entry.until).then(|| entry.value.clone());
        }
        let entry = shard.old.remove(digest).filter(|entry| now < entry.until)?;
        let value = entry.value.clone();
        shard.add(*digest, entry, self.most);
        Some(value)
    }

    /// Remembers a finding, and forgets old ones if there are too many.
    pub(crate) fn insert(&self, digest: Digest, value: V, weight: usize, lifetime: Duration) {
        let Some(until) = Instant::now().checked_add(lifetime) else { return };
        self.shard(&digest).add(digest, Entry { value, weight, until }, self.most);
    }

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, Shard<V>> {
        let [first, ..] = *digest;
        let [only, ..] = &self.shards;
        let shard = self.shards.get(usize::from(first) % SHARDS).unwrap_or(only);
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Shard<V> {
    fn add(&mut self, digest: Digest, entry: Entry<V>, most: usize) {
        if entry.weight > most {
            return;
        }
        self.weight = self.weight.saturating_add(entry.weight);
        if self.weight > most {
            self.old = std::mem::take(&mut self.young);
            self.weight = entry.weight;
        }
        self.young.insert(digest, entry);
    }
}

/// Returns the hash of a block of random bytes. The standard library takes the randomness from the operating system.
fn keyed() -> Sha256 {
    let mut hash = Sha256::new();
    for number in 0..8_u64 {
        let mut random = RandomState::new().build_hasher();
        random.write_u64(number);
        hash.update(random.finish().to_le_bytes());
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn the_memory_is_bounded_and_keeps_what_is_used() {
        let memory = Memory::new(160);
        let digest = |number: u32| memory.digest(&[&number.to_le_bytes()]);
        memory.insert(digest(0), 0, 1, LONG);
        for number in 1..10_000 {
            memory.insert(digest(number), number, 1, LONG);
            assert_eq!(memory.get(&digest(0)), Some(0), "used all the time");
        }
        let kept = (0..10_000).filter(|number| memory.get(&digest(*number)) == Some(*number)).count();
        assert!((8..=160).contains(&kept), "{kept}");
        memory.insert(digest(0), 1, 1_000, LONG);
        assert_eq!(memory.get(&digest(0)), Some(0), "too large to be kept");
    }

    #[test]
    fn entries_end_and_digests_have_a_key() {
        let memory = Memory::new(1_000);
        let digest = memory.digest(&[b"a", b"bc"]);
        memory.insert(digest, (), 1, Duration::ZERO);
        assert_eq!(memory.get(&digest), None);
        memory.insert(digest, (), 1, LONG);
        assert_eq!(memory.get(&digest), Some(()));
        assert_ne!(digest, memory.digest(&[b"ab", b"c"]));
        assert_ne!(digest, Memory::<()>::new(1).digest(&[b"a", b"bc"]));
    }
}
