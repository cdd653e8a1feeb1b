//! A set of patterns: a gate of the literals that most of them require, a few tables of states for the others, and an
//! engine for each pattern that neither decides.

use super::described::Described;
use super::gate::{Found, Gate, Task};
use super::merge::{Automaton, MAX_WORK, merge};
use super::required_bytes::ByteMask;
use super::required_literals::Gated;
use super::table::{StateTable, TableMatches};
use crate::MemoryBudget;
use crate::pattern::{
    AsciiRegex, Interleaved, LazyMatcher, Meter, Near, PROGRAM_BYTES_PER_STEP, ParsedPattern, Parts, Pattern, Reach,
    parse,
};
use std::cell::Cell;

/// Bytes of automata that are considered for merging, for each byte of memory for tables.
const EXPLORED_PER_BYTE: usize = 2;
/// Fewest patterns of a table that runs over long texts although it leaves some of them undecided. For fewer patterns,
/// a search for each costs less than the pass of the table and the searches that it leaves.
const MIN_UNDECIDED: usize = 4;
/// Shortest long text, in bytes.
const LONG: usize = 1024;
/// Number of tables that run over a text at the same time.
const LANES: usize = 4;

/// Most steps that the search for one pattern may take in a lookup (see [`Meter`]), besides one for each byte of text.
/// A pattern that needs more is left open.
const MAX_SEARCH_STEPS: usize = 100_000;
/// Most steps that all searches of a lookup may take, besides one for each byte of text. Patterns that are searched
/// for later are left open.
const MAX_LOOKUP_STEPS: usize = 1_000_000;

/// Patterns that are in no table and are looked at for each step charged.
const VISITS_PER_STEP: usize = 8;

/// Takes steps from those that are left.
#[inline]
fn spend(left: &Cell<usize>, steps: usize) {
    left.set(left.get().saturating_sub(steps));
}

/// What is left of the steps for a search, and for all searches of the lookup.
struct Allowance<'l> {
    search: Cell<usize>,
    lookup: &'l Cell<usize>,
}

/// A search takes more steps than are left.
struct Exceeded;

impl Meter for Allowance<'_> {
    type Error = Exceeded;

    fn charge(&self, steps: usize) -> Result<(), Exceeded> {
        self.search.set(self.search.get().checked_sub(steps).ok_or(Exceeded)?);
        let left = self.lookup.get().checked_sub(steps);
        self.lookup.set(left.unwrap_or(0));
        left.map(drop).ok_or(Exceeded)
    }
}

/// What a [`PatternSet`] knows of a pattern that it did not rule out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternMatch {
    /// The pattern matches.
    Certain,
    /// The pattern may match: run its own [`Matcher`](crate::Matcher). Reported for texts that are not ASCII, for
    /// patterns that match parts of characters, where the memory budget is used up, and where searching is slow.
    Possible,
}

/// Finds all patterns of a set that match somewhere in a text.
///
/// Patterns that [require literals](crate::pattern::required_literals) are found by one search for all of these; those
/// that are nothing but literals need no more, and in texts of 256 bytes and more the others are searched for only
/// near their literals. The other patterns are merged into state tables of up to 64 patterns. A text that contains
/// none of the bytes that a table's patterns require skips the table; the others need one table lookup for each byte
/// of the text. In texts of 1 KiB and more, the patterns of a table that has few of them and does not always decide
/// are searched for by themselves. A [`regex::RegexSet`] is faster for few patterns without literals whose joint
/// automaton is small, and much slower once the states of that automaton exceed its cache.
///
/// A lookup takes time linear in the text, for the search for literals, for each table that runs, and for each pattern
/// that neither decides: a million steps for all of these together (see [`Meter`]). Those for which no steps are left
/// are reported as [`PatternMatch::Possible`]. In a set of more than 2,048 patterns a lookup allocates a bit for each,
/// and in a text of 256 bytes or more some bytes for each pattern that it has literals of.
///
/// ```
/// use celero_matching::{Matcher, MemoryBudget, PatternMatch, PatternSet};
///
/// let patterns = ["[0-9]{3}-[0-9]{4}", "^[a-z]+$", r"[<>'].*="];
/// let set = PatternSet::new(&patterns, 1 << 20, &MemoryBudget::default());
/// let matchers: Vec<Matcher> = patterns.iter().map(|pattern| Matcher::new(pattern)).collect::<Result<_, _>>()?;
///
/// let text = "call 555-1234";
/// let mut found = Vec::new();
/// set.for_each(text, |id, kind| {
///     if kind == PatternMatch::Certain || matchers[id as usize].is_match(text) == Ok(true) {
///         found.push(id);
///     }
/// });
/// assert_eq!(found, [0]);
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug)]
pub struct PatternSet {
    /// Finds the patterns that require literals.
    gate: Option<Gate>,
    tables: Vec<TableGroup>,
    /// Indexed by id.
    members: Vec<Member>,
    /// Ids of the patterns that are in no table and are not found by the gate.
    unmerged: Vec<u32>,
    /// Memory of the tables, in bytes.
    bytes: usize,
}

/// A table and its patterns.
#[derive(Debug)]
struct TableGroup {
    table: StateTable,
    /// Every text in which one of the patterns matches contains one of these bytes.
    bytes: ByteMask,
    /// Indexed by number in the table: the id of the pattern.
    ids: Box<[u32]>,
    /// Patterns that the table can rule out for ASCII texts only.
    ascii_only: u64,
    /// In long texts its patterns are searched for by themselves.
    for_short_texts: bool,
}

/// A pattern.
#[derive(Debug)]
struct Member {
    /// Every text in which the pattern matches contains one of these bytes.
    bytes: ByteMask,
    /// Whether the gate marks the pattern where it may match, before its table decides.
    marked: bool,
    /// How far before one of its literals a match may begin.
    reach: Reach,
    /// Decides for ASCII texts where the table does not. `None` if the table always does.
    regex: Option<LazyMatcher<AsciiRegex>>,
}

/// The text of a lookup.
#[derive(Clone, Copy)]
struct TextInput<'t> {
    text: &'t str,
    /// The bytes of the text; all if no pattern asks for them.
    bytes: ByteMask,
    /// Steps that are left for searches.
    steps: &'t Cell<usize>,
    /// Steps that are left for building engines.
    building: &'t Cell<usize>,
}

/// A lookup that is under way.
struct Lookup<'l, H> {
    input: TextInput<'l>,
    /// The whole text is searched for these patterns. `None` until there is one.
    searches: Option<Interleaved<'l, u32, Allowance<'l>>>,
    hit: H,
}

impl<'l, H: FnMut(u32, PatternMatch)> Lookup<'l, H> {
    #[inline]
    fn hit(&mut self, id: u32, kind: PatternMatch) {
        (self.hit)(id, kind);
    }

    /// Searches the text, which must be ASCII, for a pattern, only `near` its literals if that is given.
    #[inline(never)]
    fn search(&mut self, id: u32, regex: &'l AsciiRegex, near: Option<Near<'l>>) {
        let search = Cell::new(self.input.text.len().saturating_add(MAX_SEARCH_STEPS));
        let allowance = Allowance { search, lookup: self.input.steps };
        let searches = self.searches.get_or_insert_with(Interleaved::new);
        searches
            .add((id, regex), (self.input.text, near), allowance, &mut |id, found| report(&mut self.hit, id, found));
    }

    /// Ends all searches.
    #[inline]
    fn finish(&mut self) {
        if let Some(searches) = &mut self.searches {
            searches.finish(&mut |id, found| report(&mut self.hit, id, found));
        }
    }
}

/// Reports the result of a search.
fn report(hit: &mut impl FnMut(u32, PatternMatch), id: u32, found: Result<bool, Exceeded>) {
    match found {
        Ok(true) => hit(id, PatternMatch::Certain),
        Ok(false) => {}
        Err(Exceeded) => hit(id, PatternMatch::Possible),
    }
}

impl PatternSet {
    /// Builds the set of `patterns`, with tables of at most `table_bytes` bytes together. The id of a pattern is its
    /// index. The engines of patterns that no table decides are built on first use, with memory from `budget`.
    ///
    /// Building takes up to some seconds for hundreds of large patterns. A pattern that is not valid is always
    /// reported as [`PatternMatch::Possible`].
    #[must_use]
    pub fn new<'p, P>(patterns: &[P], table_bytes: usize, budget: &MemoryBudget) -> Self
    where
        P: Copy + Into<Pattern<'p>>,
    {
        Self::within(patterns, table_bytes, MAX_WORK, budget)
    }

    /// As [`new`](Self::new), for patterns that were parsed before, as for [`Matcher`](crate::Matcher::from_parsed).
    #[must_use]
    pub fn from_parsed(patterns: &[ParsedPattern<'_>], table_bytes: usize, budget: &MemoryBudget) -> Self {
        let described =
            (0..).zip(patterns).map(|(id, pattern)| Described::new(id, pattern.pattern(), Some(pattern.hir())));
        Self::of(described.collect(), table_bytes, MAX_WORK, budget)
    }

    /// As [`new`](Self::new), with a limit on the work for automata. Patterns for which no work is left get no table.
    pub(super) fn within<'p, P>(patterns: &[P], table_bytes: usize, work: u64, budget: &MemoryBudget) -> Self
    where
        P: Copy + Into<Pattern<'p>>,
    {
        let patterns = (0..).zip(patterns).map(|(id, pattern)| (id, (*pattern).into()));
        let described = patterns.map(|(id, pattern)| Described::new(id, pattern, parse(pattern).as_ref()));
        Self::of(described.collect(), table_bytes, work, budget)
    }

    /// The set of these patterns; the id of each is its index.
    fn of(mut patterns: Vec<Described<'_>>, table_bytes: usize, mut work: u64, budget: &MemoryBudget) -> Self {
        // Short patterns first: long ones take most of the work.
        let mut order: Vec<(u32, &Described<'_>)> =
            (0_u32..).zip(&patterns).filter(|(_, pattern)| !pattern.is_rare()).collect();
        order.sort_by_key(|(_, pattern)| pattern.pattern.text.len());
        let automata = order
            .into_iter()
            .filter_map(|(id, pattern)| Automaton::new(id, pattern.reduced.as_ref()?, pattern.bytes, &mut work));
        let mut automata: Vec<Automaton> = automata.collect();
        // An automaton that does not fit into the tables would hardly fit after merging.
        automata.sort_by_key(|automaton| StateTable::bytes(&automaton.explored));
        let mut explored = 0_usize;
        automata.retain(|automaton| {
            explored = explored.saturating_add(StateTable::bytes(&automaton.explored));
            explored <= table_bytes.saturating_mul(EXPLORED_PER_BYTE)
        });
        merge(&mut automata, table_bytes);
        automata.sort_by_key(|automaton| StateTable::bytes(&automaton.explored));
        let (mut tables, mut left) = (Vec::new(), table_bytes);
        for automaton in automata {
            if let Some(rest) = left.checked_sub(StateTable::bytes(&automaton.explored))
                && let Some(table) = StateTable::new(&automaton.explored)
            {
                left = rest;
                let (ids, ascii_only) = (automaton.ids.into_boxed_slice(), automaton.ascii_only);
                let for_short_texts = ids.len() < MIN_UNDECIDED && !automaton.explored.is_complete();
                tables.push(TableGroup { table, bytes: automaton.bytes, ids, ascii_only, for_short_texts });
            }
        }
        tables.sort_by_key(|group| group.bytes);
        // Indexed by id: whether the pattern's table runs over all texts and always decides; `None` without a table.
        let mut decided: Vec<Option<bool>> = vec![None; patterns.len()];
        for group in &tables {
            for (&id, complete) in group.ids.iter().zip(group.table.complete()) {
                if let Some(decided) = usize::try_from(id).ok().and_then(|id| decided.get_mut(id)) {
                    *decided = Some(complete && !group.for_short_texts);
                }
            }
        }
        // Where a table decides, literals don't help; where it does so most of the time, they spare searches.
        for (Described { gated, .. }, decided) in patterns.iter_mut().zip(&decided) {
            match decided {
                Some(true) => *gated = None,
                Some(false) => *gated = gated.take().map(Gated::marking),
                None => {}
            }
        }
        let all: Vec<Gated> = patterns.iter().filter_map(|pattern| pattern.gated.clone()).collect();
        let gate = Gate::new(&all, patterns.len());
        if gate.is_none() {
            patterns.iter_mut().for_each(|pattern| pattern.gated = None);
        }
        let mut members = Vec::with_capacity(patterns.len());
        let mut unmerged = Vec::new();
        for (id, (Described { pattern, reduced, bytes, gated }, decided)) in (0_u32..).zip(patterns.iter().zip(decided))
        {
            if decided.is_none() && gated.is_none() {
                unmerged.push(id);
            }
            let searched = decided != Some(true) && !gated.as_ref().is_some_and(Gated::decides);
            let reach = gated.as_ref().map_or(Reach::ALL, |gated| gated.reach);
            members.push(match reduced {
                Some(_) => Member {
                    bytes: *bytes,
                    marked: decided.is_some() && gated.is_some(),
                    reach,
                    regex: searched.then(|| LazyMatcher::new(*pattern, budget)),
                },
                None => Member { bytes: *bytes, marked: false, reach, regex: None },
            });
        }
        Self { gate, tables, members, unmerged, bytes: table_bytes.saturating_sub(left) }
    }

    /// Number of patterns that are in no table and not found by the gate.
    #[cfg(test)]
    pub(super) fn unmerged(&self) -> usize {
        self.unmerged.len()
    }

    /// Memory of the tables, in bytes.
    #[cfg(test)]
    pub(super) fn table_bytes(&self) -> usize {
        self.bytes
    }

    /// Memory of the tables, of the literals, and of the copies of patterns that may be searched for, in bytes. Not
    /// that of the engines that are built on first use.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let copies = self.members.iter().filter_map(|member| Some(member.regex.as_ref()?.pattern().text.len()));
        let members = copies.fold(size_of_val(&*self.members), usize::saturating_add);
        let members = members.saturating_add(size_of_val(&*self.unmerged));
        self.bytes.saturating_add(self.gate.as_ref().map_or(0, Gate::heap_bytes)).saturating_add(members)
    }

    /// Calls `hit` once with the id of each pattern that matches or may match somewhere in `text`, in no particular
    /// order.
    pub fn for_each(&self, text: &str, hit: impl FnMut(u32, PatternMatch)) {
        let steps = Cell::new(text.len().saturating_add(MAX_LOOKUP_STEPS));
        self.visit_all(text, (&steps, &Cell::new(usize::MAX)), hit);
    }

    /// As [`for_each`](Self::for_each), and takes what the lookup costs from `meter`: before it, one step for each
    /// eight bytes of text, and one more, and each table, and for the literals; after it, one for each pattern that is
    /// reported or decided, the steps of searches, and those of building the engines of patterns that were not
    /// searched for before. Of searches, and of building engines, it takes no more than are [left](Meter::left),
    /// besides those of the last engine and one for each pattern.
    ///
    /// # Errors
    /// That of the meter, if the lookup costs more than is left. Then `hit` may have been called already.
    pub fn for_each_metered<M: Meter>(
        &self,
        text: &str,
        meter: &M,
        hit: impl FnMut(u32, PatternMatch),
    ) -> Result<(), M::Error> {
        let passes = self.tables.len().saturating_add(1);
        let visits = self.unmerged.len() / VISITS_PER_STEP;
        meter.charge((text.len() / 8).saturating_add(1).saturating_mul(passes).saturating_add(visits))?;
        let all = meter.left();
        let most = text.len().saturating_add(MAX_LOOKUP_STEPS).min(all);
        let (steps, building) = (Cell::new(most), Cell::new(all));
        self.visit_all(text, (&steps, &building), hit);
        let (searched, built) = (most.saturating_sub(steps.get()), all.saturating_sub(building.get()));
        meter.charge(searched.saturating_add(built))
    }

    /// Calls `hit` with the patterns, within these steps for searches and for building engines.
    fn visit_all(
        &self,
        text: &str,
        (steps, building): (&Cell<usize>, &Cell<usize>),
        mut hit: impl FnMut(u32, PatternMatch),
    ) {
        let hit = |id, kind| {
            spend(steps, 1);
            hit(id, kind);
        };
        let bytes = if self.tables.is_empty() && self.unmerged.is_empty() {
            ByteMask::ALL
        } else {
            ByteMask::of(text.as_bytes())
        };
        let input = TextInput { text, bytes, steps, building };
        let mut lookup = Lookup { input, searches: None, hit };
        if text.is_ascii() {
            self.for_each_in::<false, _>(&mut lookup);
        } else {
            self.for_each_in::<true, _>(&mut lookup);
        }
        lookup.finish();
    }

    fn for_each_in<'l, const SYMBOLS: bool, H: FnMut(u32, PatternMatch)>(&'l self, lookup: &mut Lookup<'l, H>) {
        let input = lookup.input;
        let mut found = None;
        if let Some(gate) = &self.gate {
            let found = found.insert(gate.nothing_found(input.text.len()));
            gate.search(input.text.as_bytes(), found, |id, task| match task {
                Task::Match => lookup.hit(id, PatternMatch::Certain),
                Task::Search => self.decide::<SYMBOLS, _>(id, None, lookup),
            });
            let marked = |id: u32| self.member(id).is_some_and(|member| member.marked);
            for (id, bits) in found.all_near().filter(|(id, _)| !marked(*id)) {
                self.decide::<SYMBOLS, _>(id, Some((found.parts(), bits)), lookup);
            }
        }
        let long = input.text.len() >= LONG;
        let met = || self.tables.iter().filter(|group| group.bytes.meets(input.bytes));
        let mut groups = met().filter(|group| !(long && group.for_short_texts));
        loop {
            let lanes: [Option<&TableGroup>; LANES] = std::array::from_fn(|_| groups.next());
            if let [Some(a), Some(b), Some(c), Some(d)] = lanes {
                let all =
                    StateTable::find::<SYMBOLS, LANES>([&a.table, &b.table, &c.table, &d.table], input.text.as_bytes());
                for (group, matches) in [a, b, c, d].into_iter().zip(all) {
                    self.report::<SYMBOLS, _>(group, matches, found.as_ref(), lookup);
                }
                continue;
            }
            for group in lanes.into_iter().flatten() {
                let [matches] = StateTable::find::<SYMBOLS, 1>([&group.table], input.text.as_bytes());
                self.report::<SYMBOLS, _>(group, matches, found.as_ref(), lookup);
            }
            break;
        }
        for id in met().filter(|group| long && group.for_short_texts).flat_map(|group| &group.ids) {
            self.decide_near::<SYMBOLS, _>(*id, found.as_ref(), lookup);
        }
        for &id in &self.unmerged {
            self.decide::<SYMBOLS, _>(id, None, lookup);
        }
    }

    fn member(&self, id: u32) -> Option<&Member> {
        self.members.get(usize::try_from(id).ok()?)
    }

    /// Reports what a table found.
    fn report<'l, const SYMBOLS: bool, H: FnMut(u32, PatternMatch)>(
        &'l self,
        group: &TableGroup,
        matches: TableMatches,
        found: Option<&Found>,
        lookup: &mut Lookup<'l, H>,
    ) {
        let (certain, possible) = if SYMBOLS {
            (0, matches.certain | matches.unknown | group.ascii_only)
        } else {
            (matches.certain, matches.unknown)
        };
        group.ids(certain).for_each(|id| lookup.hit(id, PatternMatch::Certain));
        group.ids(possible).for_each(|id| self.decide_near::<SYMBOLS, _>(id, found, lookup));
    }

    /// Decides a pattern of a table that does not, near its literals if the gate marks these.
    fn decide_near<'l, const SYMBOLS: bool, H: FnMut(u32, PatternMatch)>(
        &'l self,
        id: u32,
        found: Option<&Found>,
        lookup: &mut Lookup<'l, H>,
    ) {
        let marked = self.member(id).is_some_and(|member| member.marked);
        let near = found.filter(|_| marked).and_then(|found| Some((found.parts(), found.near(id)?)));
        if near.is_some() || !marked {
            self.decide::<SYMBOLS, _>(id, near, lookup);
        }
    }

    /// Decides a pattern that no table decides. Without `near`, the whole text is searched, otherwise these of the
    /// parts of the text, where the literals are that it requires.
    fn decide<'l, const SYMBOLS: bool, H: FnMut(u32, PatternMatch)>(
        &'l self,
        id: u32,
        near: Option<(Parts, u64)>,
        lookup: &mut Lookup<'l, H>,
    ) {
        let Some(member) = self.member(id).filter(|member| member.bytes.meets(lookup.input.bytes)) else { return };
        let TextInput { steps, building, .. } = lookup.input;
        let searchable = !SYMBOLS && steps.get() != 0 && building.get() != 0;
        spend(steps, 1);
        let build = |pattern: Pattern<'_>, budget: &MemoryBudget| {
            let regex = AsciiRegex::within(pattern, budget);
            let bytes = regex.as_ref().map_or(0, AsciiRegex::heap_bytes);
            spend(building, bytes / PROGRAM_BYTES_PER_STEP);
            regex
        };
        match member.regex.as_ref().filter(|_| searchable).and_then(|regex| regex.get(build)) {
            Some(regex) => {
                let near = near.filter(|(_, bits)| *bits != u64::MAX);
                lookup.search(id, regex, near.map(|(parts, bits)| Near { parts, bits, reach: &member.reach }));
            }
            None => lookup.hit(id, PatternMatch::Possible),
        }
    }
}

impl TableGroup {
    /// The ids of the patterns in a bit mask of the table.
    #[inline]
    fn ids(&self, mut set: u64) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let id = self.ids.get(usize::try_from(set.trailing_zeros()).ok()?).copied();
            set &= set.wrapping_sub(1);
            id
        })
    }
}
