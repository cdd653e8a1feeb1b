//! Which patterns a text may match, from one search for the literals that they require.
//!
//! Most patterns of real sets require literals. All of these are searched for at once ([`LiteralMap`]), once with regard to case and once
//! without. Each literal that occurs leads to its *owners*: patterns that match for certain where it is, or that have to be searched for,
//! in a *window* around it if their matches are short. A pattern without any of its literals costs nothing.

use super::required_literals::{Gated, Place, Then};
use crate::literals::LiteralMap;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Searches of windows and visits of owners that are allowed in a lookup, in bytes: as many for each byte of the text, and some more.
const WINDOWED: usize = 4;
const MIN_WINDOWED: usize = 4096;
/// What visiting an owner costs besides the bytes of its window.
const VISIT: usize = 8;
/// A window is worth its own search if the text is as many times longer.
const WINDOWS_IN_TEXT: usize = 2;
/// Pattern numbers that are marked without allocating.
const FEW: usize = 2048;

/// The literals, and the patterns that require them.
#[derive(Debug)]
pub(super) struct Gate {
    exact: Option<Keys<false>>,
    folded: Option<Keys<true>>,
    /// A bound of the ids.
    patterns: usize,
}

/// Literals in both cases or in one.
#[derive(Debug)]
struct Keys<const IGNORE_CASE: bool> {
    map: LiteralMap<IGNORE_CASE>,
    /// Indexed by literal: the first of its owners. One more marks the end of the last.
    starts: Box<[u32]>,
    owners: Box<[Owner]>,
}

/// A pattern that requires a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    /// The pattern.
    pub(super) id: u32,
    /// Length of the literal in bytes.
    length: u32,
    place: Place,
    pub(super) then: Then,
}

/// What to do with an owner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    Match,
    /// Search in these bytes of the text; if there is a match and `looks`, search the whole text.
    SearchIn {
        window: Range<usize>,
        looks: bool,
    },
    Search,
    Mark,
}

/// Numbers of patterns.
pub(super) struct Marks {
    few: [u64; FEW / 64],
    many: Vec<u64>,
}

impl Marks {
    fn new(bound: usize) -> Self {
        let many = if bound <= FEW { Vec::new() } else { vec![0; bound.div_ceil(64)] };
        Self { few: [0; FEW / 64], many }
    }

    pub(super) fn has(&self, number: u32) -> bool {
        let words = if self.many.is_empty() { self.few.as_slice() } else { &self.many };
        words.get(number.wrapping_shr(6) as usize).is_some_and(|word| *word & 1_u64.wrapping_shl(number) != 0)
    }

    pub(super) fn insert(&mut self, number: u32) {
        let words = if self.many.is_empty() { self.few.as_mut_slice() } else { &mut self.many };
        if let Some(word) = words.get_mut(number.wrapping_shr(6) as usize) {
            *word |= 1_u64.wrapping_shl(number);
        }
    }
}

impl Gate {
    /// The gate of these patterns, of a set of `patterns`. Returns `None` if there are none, or if their literals exceed 4 GiB.
    pub(super) fn new(gated: &[Gated], patterns: usize) -> Option<Self> {
        if gated.is_empty() {
            return None;
        }
        let of = |folded| gated.iter().filter(move |gated| gated.folded == folded);
        Some(Self { exact: Keys::new(of(false))?, folded: Keys::new(of(true))?, patterns })
    }

    /// An empty set of its patterns.
    pub(super) fn marks(&self) -> Marks {
        Marks::new(self.patterns)
    }

    /// Calls `visit` for patterns whose literals occur in a text, with what to do, until it returns that the pattern is decided, in which
    /// case it is in `decided`.
    pub(super) fn search(&self, text: &[u8], decided: &mut Marks, mut visit: impl FnMut(&Owner, Task, &mut Marks)) {
        let mut budget = text.len().saturating_mul(WINDOWED).saturating_add(MIN_WINDOWED);
        if let Some(keys) = &self.exact {
            keys.search(text, decided, &mut budget, &mut visit);
        }
        if let Some(keys) = &self.folded {
            keys.search(text, decided, &mut budget, &mut visit);
        }
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let exact = self.exact.as_ref().map_or(0, Keys::heap_bytes);
        exact.saturating_add(self.folded.as_ref().map_or(0, Keys::heap_bytes))
    }
}

impl<const IGNORE_CASE: bool> Keys<IGNORE_CASE> {
    /// `None` inside if there are no patterns.
    fn new<'g>(gated: impl Iterator<Item = &'g Gated>) -> Option<Option<Self>> {
        let mut texts: Vec<&[u8]> = Vec::new();
        let mut owners: Vec<Vec<Owner>> = Vec::new();
        let mut numbers: BTreeMap<&[u8], usize> = BTreeMap::new();
        for gated in gated {
            for (text, then) in &gated.literals {
                let number = *numbers.entry(text).or_insert_with(|| {
                    texts.push(text);
                    owners.push(Vec::new());
                    owners.len().saturating_sub(1)
                });
                let owner = Owner { id: gated.id, length: text.len() as u32, place: gated.place, then: *then };
                owners.get_mut(number)?.push(owner);
            }
        }
        if texts.is_empty() {
            return Some(None);
        }
        let mut starts = vec![0_u32];
        for owners in &owners {
            starts.push(starts.last()?.checked_add(u32::try_from(owners.len()).ok()?)?);
        }
        let owners = owners.into_iter().flatten().collect();
        Some(Some(Self { map: LiteralMap::new(&texts)?, starts: starts.into(), owners }))
    }

    fn search(
        &self,
        text: &[u8],
        decided: &mut Marks,
        budget: &mut usize,
        visit: &mut impl FnMut(&Owner, Task, &mut Marks),
    ) {
        // Literals all of whose owners are decided.
        let mut done: Option<Marks> = None;
        let _ = self.map.try_for_each_place(text, |literal, start| {
            let range = self.starts.get(literal as usize..).and_then(<[u32]>::first_chunk);
            let Some([from, to]) = range else { return ControlFlow::Continue(()) };
            if done.as_ref().is_some_and(|done| done.has(literal)) {
                return ControlFlow::Continue(());
            }
            let mut open = false;
            for owner in self.owners.get(*from as usize..*to as usize).unwrap_or_default() {
                if decided.has(owner.id) {
                    // Going past many such owners at each occurrence is work too.
                    *budget = budget.saturating_sub(1);
                    continue;
                }
                if let Some(task) = owner.task(start, text.len(), budget) {
                    visit(owner, task, decided);
                }
                open |= !decided.has(owner.id);
            }
            // One owner is visited as fast as the literal is looked up.
            if !open && to.wrapping_sub(*from) > 1 {
                done.get_or_insert_with(|| Marks::new(self.starts.len())).insert(literal);
            }
            ControlFlow::Continue(())
        });
    }

    fn heap_bytes(&self) -> usize {
        let lists = size_of_val(&*self.starts).saturating_add(size_of_val(&*self.owners));
        self.map.heap_bytes().saturating_add(lists)
    }
}

impl Owner {
    /// What to do if the literal is at `start` of a text of `length` bytes; without `start`, if it is somewhere. `None`: nothing.
    ///
    /// `budget` bounds the number of windows: when it is spent, the whole text is searched, once for each pattern.
    fn task(&self, start: Option<usize>, length: usize, budget: &mut usize) -> Option<Task> {
        if self.then == Then::Mark {
            return Some(Task::Mark);
        }
        let left = budget.checked_sub(VISIT);
        let (Some(start), Some(left)) = (start, left) else {
            return Some(match (self.then, self.place) {
                (Then::Matches, Place::Anywhere) => Task::Match,
                _ => Task::Search,
            });
        };
        *budget = left;
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
        Some(match self.then {
            Then::Matches => Task::Match,
            Then::Search => Task::Search,
            Then::SearchNear { most, looks } => {
                // A byte more on both sides tells whether there is a boundary of a word.
                let most = most as usize;
                let from = end.saturating_sub(most).saturating_sub(1);
                let to = start.saturating_add(most).saturating_add(1).min(length);
                let window = to.saturating_sub(from);
                match budget.checked_sub(window) {
                    Some(left) if window.saturating_mul(WINDOWS_IN_TEXT) <= length => {
                        *budget = left;
                        Task::SearchIn { window: from..to, looks }
                    }
                    _ => Task::Search,
                }
            }
            Then::Mark => Task::Mark,
        })
    }
}
