//! Which patterns a text may match, from one search for the literals that they require.
//!
//! Most patterns of real sets require literals. All of these are searched for at once
//! ([`LiteralMap`]), those of one case and those of both. Each literal that occurs leads to its
//! *owners*: patterns that match for certain where it is, or that have to be searched for in the
//! part of the text where it is. A pattern without any of its literals costs nothing.

use super::required_literals::{Gated, Place, Then};
use crate::literals::LiteralMap;
use crate::pattern::Parts;
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, HashMap};

/// Steps that visits of owners may take in a lookup: as many for each byte of the text, and some
/// more. When they are spent, patterns are searched for in the whole text.
const STEPS_PER_BYTE: usize = 8;
const MIN_STEPS: usize = 4096;
/// Steps of visiting an owner that is not decided. For others it is one.
const VISIT: usize = 4;
/// Patterns for which there is room when the first literal is found.
const MIN_NEAR: usize = 28;
/// Shortest text that is searched in parts, in bytes.
const SHORTEST_WITH_PARTS: usize = 256;
/// Pattern numbers that are marked without allocating.
const FEW: usize = 2048;

/// The literals, and the patterns that require them.
#[derive(Debug)]
pub(super) struct Gate {
    literals: Map,
    /// Indexed by literal: the first of its owners. One more marks the end of the last.
    starts: Box<[u32]>,
    owners: Box<[Owner]>,
    /// A bound of the ids.
    patterns: usize,
}

/// Literals that are searched for together.
#[derive(Debug)]
enum Map {
    /// All in their own case.
    Exact(LiteralMap<false>),
    /// Some in either case.
    Folded(LiteralMap<true>),
}

/// A pattern that requires a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    /// The pattern.
    pub(super) id: u32,
    /// Length of the literal in bytes.
    length: u32,
    place: Place,
    then: Then,
    /// Whether to search only near its literals.
    near: bool,
}

/// What a literal at a place says about its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// It matches.
    Match,
    /// It has to be searched for in the whole text.
    Search,
}

/// What the gate knows of the patterns in a text.
pub(super) struct Found {
    /// Patterns of which nothing more can be learnt: the task is done, or they are to be searched for everywhere.
    decided: Marks,
    parts: Parts,
    /// Literals in as many parts let the whole text be searched.
    many_parts: u32,
    /// By pattern: in which parts of the text its literals are.
    near: HashMap<u32, u64, FixedState>,
}

impl Found {
    /// The parts of the text in which literals of a pattern are that does not match for certain;
    /// all bits for the whole text.
    pub(super) fn near(&self, id: u32) -> Option<u64> {
        if self.decided.has(id) { Some(u64::MAX) } else { self.near.get(&id).copied() }
    }

    /// The patterns whose literals are in some parts of the text, and these parts.
    pub(super) fn all_near(&self) -> impl Iterator<Item = (u32, u64)> {
        self.near.iter().map(|(id, bits)| (*id, *bits))
    }

    pub(super) fn parts(&self) -> Parts {
        self.parts
    }

    /// Adds a literal of a pattern; without `place`, it may be anywhere. Returns the task if the
    /// whole text has to be searched.
    fn add(&mut self, owner: &Owner, place: Option<usize>) -> Option<Task> {
        if self.many_parts > 1 && owner.near {
            if self.near.is_empty() {
                self.near.reserve(MIN_NEAR);
            }
            let bits = self.near.entry(owner.id).or_insert(0);
            *bits |= place.map_or(u64::MAX, |place| self.parts.bit(place));
            if bits.count_ones() < self.many_parts {
                return None;
            }
        }
        self.decide(owner.id);
        (owner.then != Then::Mark).then_some(Task::Search)
    }

    /// Of a pattern that is decided, or searched for everywhere, nothing more is of interest.
    fn decide(&mut self, id: u32) {
        self.decided.insert(id);
        if !self.near.is_empty() {
            self.near.remove(&id);
        }
    }
}

/// Numbers of patterns.
struct Marks {
    few: [u64; FEW / 64],
    many: Vec<u64>,
}

impl Marks {
    fn new(bound: usize) -> Self {
        let many = if bound <= FEW { Vec::new() } else { vec![0; bound.div_ceil(64)] };
        Self { few: [0; FEW / 64], many }
    }

    fn has(&self, number: u32) -> bool {
        let words = if self.many.is_empty() { self.few.as_slice() } else { &self.many };
        words.get(number.wrapping_shr(6) as usize).is_some_and(|word| *word & 1_u64.wrapping_shl(number) != 0)
    }

    fn insert(&mut self, number: u32) {
        let words = if self.many.is_empty() { self.few.as_mut_slice() } else { &mut self.many };
        if let Some(word) = words.get_mut(number.wrapping_shr(6) as usize) {
            *word |= 1_u64.wrapping_shl(number);
        }
    }
}

impl Gate {
    /// The gate of these patterns, of a set of `patterns`. Returns `None` if there are none, or if
    /// their literals exceed 4 GiB.
    pub(super) fn new(gated: &[Gated], patterns: usize) -> Option<Self> {
        if gated.is_empty() {
            return None;
        }
        let mut literals = Literals::default();
        literals.add(gated.iter().filter(|gated| !gated.folded))?;
        let exact = literals.texts.len();
        literals.add(gated.iter().filter(|gated| gated.folded))?;
        let map = match literals.texts.split_at_checked(exact)? {
            (texts, []) => Map::Exact(LiteralMap::new(texts)?),
            (exact, others) => Map::Folded(LiteralMap::with_exact(exact, others)?),
        };
        let mut starts = vec![0_u32];
        for owners in &literals.owners {
            starts.push(starts.last()?.checked_add(u32::try_from(owners.len()).ok()?)?);
        }
        let owners = literals.owners.into_iter().flatten().collect();
        Some(Self { literals: map, starts: starts.into(), owners, patterns })
    }

    /// What is known of a text of this length before it is read.
    pub(super) fn nothing_found(&self, length: usize) -> Found {
        let parts = Parts::of(length);
        let count = parts.count(length) as u32;
        let many_parts = if length < SHORTEST_WITH_PARTS { 1 } else { count.saturating_sub(count / 4) };
        Found { decided: Marks::new(self.patterns), parts, many_parts, near: HashMap::default() }
    }

    /// Calls `visit` with the number of each pattern whose literals say that it matches, or that
    /// the whole text has to be searched for it. Adds to `found` where the literals of others are.
    pub(super) fn search(&self, text: &[u8], found: &mut Found, mut visit: impl FnMut(u32, Task)) {
        let mut steps = text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(MIN_STEPS);
        // Literals all of whose owners are decided.
        let mut done: Option<Marks> = None;
        let occurs = |literal: u32, start| {
            let range = self.starts.get(literal as usize..).and_then(<[u32]>::first_chunk);
            let Some([from, to]) = range else { return };
            if done.as_ref().is_some_and(|done| done.has(literal)) {
                return;
            }
            let mut open = false;
            for owner in self.owners.get(*from as usize..*to as usize).unwrap_or_default() {
                if found.decided.has(owner.id) {
                    // Going past many such owners at each occurrence is work too.
                    steps = steps.saturating_sub(1);
                    continue;
                }
                if let Some(task) = owner.visit(start, text.len(), &mut steps, found) {
                    visit(owner.id, task);
                } else {
                    open |= !found.decided.has(owner.id);
                }
            }
            // One owner is visited as fast as the literal is looked up.
            if !open && to.wrapping_sub(*from) > 1 {
                done.get_or_insert_with(|| Marks::new(self.starts.len())).insert(literal);
            }
        };
        match &self.literals {
            Map::Exact(map) => map.for_each_place(text, occurs),
            Map::Folded(map) => map.for_each_place(text, occurs),
        }
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let lists = size_of_val(&*self.starts).saturating_add(size_of_val(&*self.owners));
        let literals = match &self.literals {
            Map::Exact(map) => map.heap_bytes(),
            Map::Folded(map) => map.heap_bytes(),
        };
        literals.saturating_add(lists)
    }
}

/// Different literals, and the owners of each.
#[derive(Default)]
struct Literals<'g> {
    texts: Vec<&'g [u8]>,
    owners: Vec<Vec<Owner>>,
}

impl<'g> Literals<'g> {
    /// Adds the literals of patterns, which are those of one case.
    fn add(&mut self, gated: impl Iterator<Item = &'g Gated>) -> Option<()> {
        let mut numbers: BTreeMap<&[u8], usize> = BTreeMap::new();
        for gated in gated {
            for (text, then) in &gated.literals {
                let number = *numbers.entry(text).or_insert_with(|| {
                    self.texts.push(text);
                    self.owners.push(Vec::new());
                    self.owners.len().saturating_sub(1)
                });
                let (length, place) = (text.len() as u32, gated.place);
                let owner = Owner { id: gated.id, length, place, then: *then, near: gated.near };
                self.owners.get_mut(number)?.push(owner);
            }
        }
        Some(())
    }
}

impl Owner {
    /// What the literal says at `start` of a text of `length` bytes; without `start`, if it is
    /// somewhere. Where it says nothing yet, it is added to `found`, while there are `steps`.
    fn visit(&self, start: Option<usize>, length: usize, steps: &mut usize, found: &mut Found) -> Option<Task> {
        let left = steps.checked_sub(VISIT);
        let place = start.filter(|_| left.is_some());
        *steps = left.unwrap_or(0);
        if let Some(start) = place {
            let end = start.saturating_add(self.length as usize);
            let there = match self.place {
                Place::Anywhere => true,
                Place::Start => start == 0,
                Place::End => end == length,
                Place::Whole => start == 0 && end == length,
            };
            if !there {
                return None;
            }
        }
        if self.then == Then::Matches && (place.is_some() || self.place == Place::Anywhere) {
            found.decide(self.id);
            return Some(Task::Match);
        }
        found.add(self, place)
    }
}
