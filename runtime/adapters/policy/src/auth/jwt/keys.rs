//! The keys that may sign tokens, found by id and by algorithm: any number of them.

use super::token::Token;
use jsonwebtoken::{Algorithm, DecodingKey};
use std::collections::HashMap;

/// The cost of signatures, in HMACs, that is checked at once; a token that needs more is verified
/// on the threads of the pool. With one key per id a token needs a single check.
const MAX_AT_ONCE: usize = 16;

/// A key with the algorithms that it may be used with.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) id: Option<String>,
    pub(super) key: DecodingKey,
    pub(super) algorithms: Vec<Algorithm>,
}

/// Keys with their index.
#[derive(Debug, Default)]
pub(super) struct KeySet {
    keys: Vec<Key>,
    by_id: HashMap<String, Vec<usize>>,
    without_id: Vec<usize>,
    by_algorithm: HashMap<Algorithm, Vec<usize>>,
}

impl KeySet {
    pub(super) fn new(keys: Vec<Key>) -> Self {
        let mut set = Self::default();
        for (index, key) in keys.iter().enumerate() {
            match &key.id {
                Some(id) => set.by_id.entry(id.clone()).or_default().push(index),
                None => set.without_id.push(index),
            }
            for algorithm in &key.algorithms {
                set.by_algorithm.entry(*algorithm).or_default().push(index);
            }
        }
        Self { keys, ..set }
    }

    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether a key has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns the keys that may have signed a token: those with its id and those without an id; if
    /// it names none, all. Their algorithms include that of the token.
    pub(super) fn candidates<'k>(&'k self, token: &Token<'_>) -> impl Iterator<Item = &'k DecodingKey> + 'k {
        let algorithm = token.algorithm;
        let (named, unnamed) = match &token.key_id {
            Some(id) => (self.by_id.get(id), Some(&self.without_id)),
            None => (self.by_algorithm.get(&algorithm), None),
        };
        let indices = named.into_iter().chain(unnamed).flatten();
        let keys = indices.filter_map(|index| self.keys.get(*index));
        keys.filter(move |key| key.algorithms.contains(&algorithm)).map(|key| &key.key)
    }
}

/// Returns whether checking this many signatures takes so long that it belongs to the pool.
pub(super) fn takes_long(algorithm: Algorithm, signatures: usize) -> bool {
    let cost = match algorithm {
        Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => 1,
        // About a tenth of a millisecond, where an HMAC takes a microsecond; but a usual token needs one.
        _ => 8,
    };
    signatures.saturating_mul(cost) > MAX_AT_ONCE
}
