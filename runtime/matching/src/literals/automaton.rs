//! The search whose time is linear in the text whatever the text and the keys: an automaton (Aho-Corasick).
//!
//! A literal map builds it when verifying candidates takes too many steps for the first time. That
//! needs keys that share most of their bytes, or very many short keys; so few maps ever have one,
//! and it is built for little memory rather than for speed.
//!
//! Its nodes are the prefixes of keys, numbered by length, so that the children of a node are next to each other.

use std::ops::ControlFlow;

/// No list of keys.
const NONE: u32 = u32::MAX;

/// Finds the keys that occur in a text, in time linear in the text.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// The byte that leads to each node.
    labels: Box<[u8]>,
    /// The first child of each node, which is where the children of the node before end; one more
    /// marks the end of the last node's.
    children: Box<[u32]>,
    /// For each node, that of the longest proper suffix which is a prefix of a key too.
    shorter: Box<[u32]>,
    /// For each node, the list of the longest key with which it ends.
    lists: Box<[u32]>,
    keys: Box<[KeyList]>,
    ids: Box<[u32]>,
}

/// The ids of one key (several if it was given several times).
#[derive(Clone, Copy, Debug)]
struct KeyList {
    /// The first and the end in [`Automaton::ids`].
    from: u32,
    to: u32,
    /// The list of the longest key that is a proper suffix of this one.
    next: u32,
}

/// A node to which children are still to be added: the keys that have it as a prefix, of those in
/// order, and its length.
struct Pending {
    from: usize,
    to: usize,
    depth: usize,
}

impl Automaton {
    /// Builds the automaton of keys, which are not empty, and their ids. Time and memory are linear
    /// in the bytes of the keys: at most 13 bytes for each, and 16 for each key.
    pub(super) fn new(mut keys: Vec<(&[u8], u32)>) -> Self {
        keys.sort_unstable();
        let mut own =
            Building { labels: vec![0], children: vec![1], shorter: vec![0], lists: vec![NONE], keys: Vec::new() };
        let mut pending = vec![Pending { from: 0, to: keys.len(), depth: 0 }];
        let mut node = 0_usize;
        while let Some(&Pending { from, to, depth }) = pending.get(node) {
            let mut at = own.lists.get(node).and_then(|list| own.keys.get(*list as usize)).map_or(from, |list| {
                // The node's own key comes first; a list of a shorter key is elsewhere.
                if (from..to).contains(&(list.from as usize)) { list.to as usize } else { from }
            });
            while let Some(&byte) = keys.get(at).filter(|_| at < to).and_then(|(key, _)| key.get(depth)) {
                let rest = keys.get(at..to).unwrap_or_default();
                let end = at.saturating_add(rest.partition_point(|(key, _)| key.get(depth) == Some(&byte)));
                let length = depth.saturating_add(1);
                let whole = keys.get(at..end).unwrap_or_default().partition_point(|(key, _)| key.len() == length);
                own.add(node, byte, at, at.saturating_add(whole));
                pending.push(Pending { from: at, to: end, depth: length });
                at = end;
            }
            own.children.push(own.labels.len() as u32);
            node = node.saturating_add(1);
        }
        Self {
            labels: own.labels.into(),
            children: own.children.into(),
            shorter: own.shorter.into(),
            lists: own.lists.into(),
            keys: own.keys.into(),
            ids: keys.into_iter().map(|(_, id)| id).collect(),
        }
    }

    /// Calls `hit` with the id of each key that occurs in a text, once for each, until it breaks.
    /// `fold` is applied to each byte of the text. Also returns the number of steps between nodes:
    /// at most two for each byte.
    pub(super) fn search(
        &self,
        text: &[u8],
        fold: impl Fn(u8) -> u8,
        mut hit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> (ControlFlow<()>, usize) {
        let mut reported = vec![0_u64; self.keys.len().div_ceil(64)];
        let (mut node, mut steps, mut left) = (0, 0_usize, self.keys.len());
        if left == 0 {
            return (ControlFlow::Continue(()), 0);
        }
        for byte in text {
            let (next, taken) = step(&self.labels, &self.children, &self.shorter, node, fold(*byte));
            node = next;
            steps = steps.saturating_add(taken);
            let mut list = self.lists.get(node as usize).copied().unwrap_or(NONE);
            // Where a list was reported, so were those of its suffixes.
            while let (Some(keys), Some(word)) =
                (self.keys.get(list as usize), reported.get_mut(list.wrapping_shr(6) as usize))
            {
                let bit = 1_u64.wrapping_shl(list);
                if *word & bit != 0 {
                    break;
                }
                *word |= bit;
                for id in self.ids.get(keys.from as usize..keys.to as usize).unwrap_or_default() {
                    if hit(*id).is_break() {
                        return (ControlFlow::Break(()), steps);
                    }
                }
                list = keys.next;
                left = left.saturating_sub(1);
            }
            if left == 0 {
                break;
            }
        }
        (ControlFlow::Continue(()), steps)
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let words = [&self.children, &self.shorter, &self.lists, &self.ids].map(|list| size_of_val(&**list));
        words.into_iter().fold(self.labels.len().saturating_add(size_of_val(&*self.keys)), usize::saturating_add)
    }
}

/// The node of the longest suffix of a node and a byte after it, and the number of steps to it.
fn step(labels: &[u8], children: &[u32], shorter: &[u32], node: u32, byte: u8) -> (u32, usize) {
    let (mut node, mut steps) = (node as usize, 1_usize);
    loop {
        let range = children.get(node..).and_then(<[u32]>::first_chunk);
        if let Some([first, end]) = range
            && let Some(labels) = labels.get(*first as usize..*end as usize)
            && let Ok(place) = labels.binary_search(&byte)
        {
            return (first.wrapping_add(place as u32), steps);
        }
        if node == 0 {
            return (0, steps);
        }
        node = shorter.get(node).copied().unwrap_or(0) as usize;
        steps = steps.saturating_add(1);
    }
}

struct Building {
    labels: Vec<u8>,
    children: Vec<u32>,
    shorter: Vec<u32>,
    lists: Vec<u32>,
    keys: Vec<KeyList>,
}

impl Building {
    /// Adds a child; `from..to` are the places of the keys that end there.
    fn add(&mut self, parent: usize, byte: u8, from: usize, to: usize) {
        let shorter = match parent {
            0 => 0,
            _ => {
                let start = self.shorter.get(parent).copied().unwrap_or(0);
                step(&self.labels, &self.children, &self.shorter, start, byte).0
            }
        };
        let mut list = self.lists.get(shorter as usize).copied().unwrap_or(NONE);
        if from < to {
            self.keys.push(KeyList { from: from as u32, to: to as u32, next: list });
            list = (self.keys.len() as u32).wrapping_sub(1);
        }
        self.labels.push(byte);
        self.shorter.push(shorter);
        self.lists.push(list);
    }
}
