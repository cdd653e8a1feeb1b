//! Several headers looked up in one pass over a map, which from about five names on is faster than asking for each.

use crate::arena::Arena;
use crate::context::headers::joined;
use celero_matching::ExactMap;
use http::{HeaderMap, HeaderName};

/// Names of headers, prepared to be looked up together.
#[derive(Debug)]
pub(super) struct HeaderTable {
    /// Lower-case names, as all names of a map are; the id of a name is its index in `headers`.
    names: ExactMap<false>,
    headers: Box<[HeaderName]>,
}

impl HeaderTable {
    /// A table of these names, each given once. `None` if one of them is no name of a header.
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let headers: Box<[HeaderName]> = names.iter().map(|name| name.parse().ok()).collect::<Option<_>>()?;
        let names: Vec<&str> = headers.iter().map(HeaderName::as_str).collect();
        Some(Self { names: ExactMap::new(&names), headers })
    }

    /// The names, in the order of the answers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(HeaderName::as_str)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// The address and length of each header's value; two zeros for one that is not there, and for
    /// one whose lines do not fit the arena a zero and the error's code. The answers are zeros
    /// before.
    #[inline(always)]
    pub(super) fn look_up(&self, map: &HeaderMap, arena: &Arena, answers: &mut [[u64; 2]]) {
        if map.len() == map.keys_len() {
            let mut missing = self.headers.len();
            for (name, value) in map {
                let index = self.names.get(name.as_str().as_bytes());
                if let Some(answer) = index.and_then(|index| answers.get_mut(index as usize)) {
                    *answer = words(value.as_bytes());
                    missing = missing.wrapping_sub(1);
                    if missing == 0 {
                        return;
                    }
                }
            }
        } else {
            self.look_up_lines(map, arena, answers);
        }
    }

    /// As [`look_up`](Self::look_up), in a map that has several lines of a name.
    #[cold]
    fn look_up_lines(&self, map: &HeaderMap, arena: &Arena, answers: &mut [[u64; 2]]) {
        for (answer, name) in answers.iter_mut().zip(&self.headers) {
            *answer = match joined(map, name, arena) {
                Ok(value) => value.map_or([0, 0], words),
                Err(kind) => [0, kind as u64],
            };
        }
    }
}

#[inline(always)]
fn words(value: &[u8]) -> [u64; 2] {
    [value.as_ptr() as u64, value.len() as u64]
}
