//! How many requests of a key are open at once.
//!
//! A key is remembered while it has open requests, so the memory is bounded by the number of open
//! requests, and nothing is ever evicted.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of locks. Threads wait for each other only for keys of one of them.
const SHARDS: usize = 64;

/// Limits how many requests of each key are open at once.
#[derive(Debug)]
pub struct Concurrency {
    most: u32,
    shards: Box<[Shard]>,
    secret: RandomState,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Shard {
    open: Mutex<HashMap<u64, u32, BuildHasherDefault<AsIs>>>,
    admitted: AtomicU64,
    refused: AtomicU64,
}

/// An open request. Drop it when the request ends, also after an error.
#[derive(Debug)]
#[must_use = "the request is over when the permit is dropped"]
pub struct Permit {
    limit: Arc<Concurrency>,
    hash: u64,
    open: u32,
}

impl Concurrency {
    /// Returns a limit of this many open requests for each key; 0 admits none.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self { most, shards: (0..SHARDS).map(|_| Shard::default()).collect(), secret: RandomState::new() }
    }

    /// Returns how many requests of a key may be open at once.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Admits a request of a key, if fewer than the limit are open.
    #[must_use]
    pub fn enter(self: &Arc<Self>, key: &[u8]) -> Option<Permit> {
        let mut hasher = self.secret.build_hasher();
        hasher.write(key);
        let hash = hasher.finish();
        let shard = self.shard(hash)?;
        let open = {
            let mut keys = lock(shard);
            let open = keys.get(&hash).copied().unwrap_or(0);
            let next = open.checked_add(1).filter(|next| *next <= self.most);
            if let Some(next) = next {
                keys.insert(hash, next);
            }
            next
        };
        let counter = if open.is_some() { &shard.admitted } else { &shard.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        open.map(|open| Permit { limit: Arc::clone(self), hash, open })
    }

    /// Returns the number of keys with open requests.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.shards.iter().fold(0, |sum, shard| sum.saturating_add(lock(shard).len()))
    }

    /// Returns how many requests were admitted, and how many were not.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let sum = |counter: fn(&Shard) -> &AtomicU64| {
            self.shards.iter().fold(0_u64, |sum, shard| sum.saturating_add(counter(shard).load(Ordering::Relaxed)))
        };
        (sum(|shard| &shard.admitted), sum(|shard| &shard.refused))
    }

    fn shard(&self, hash: u64) -> Option<&Shard> {
        // The map uses the high and the low bits, so the shard is chosen by others.
        let shards = u64::try_from(self.shards.len()).unwrap_or(1);
        let index = (hash >> 24).checked_rem(shards)?;
        self.shards.get(usize::try_from(index).ok()?)
    }

    fn leave(&self, hash: u64) {
        let Some(shard) = self.shard(hash) else { return };
        let mut keys = lock(shard);
        match keys.get_mut(&hash) {
            Some(open) if *open > 1 => *open = open.saturating_sub(1),
            _ => drop(keys.remove(&hash)),
        }
    }
}

impl Permit {
    /// Returns how many requests of the key were open when this one was admitted, itself included.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.open
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limit.leave(self.hash);
    }
}

fn lock(shard: &Shard) -> MutexGuard<'_, HashMap<u64, u32, BuildHasherDefault<AsIs>>> {
    shard.open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hasher for values that are hashes.
#[derive(Debug, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
