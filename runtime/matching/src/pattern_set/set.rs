//! Patterns that are input together: as a few tables of states, and nothing of what can't match for want of a byte.

use super::merge::{Automaton, MOST_WORK, merge};
use super::required_bytes::{ByteMask, required_bytes};
use super::table::{StateTable, TableMatches};
use crate::MemoryBudget;
use crate::pattern::{AsciiRegex, LazyMatcher, Reduced, parse, reduce};

/// Parts are merged as long as they take at most so many times as many bytes as all tables may.
const MOST_EXPLORED: usize = 2;
/// How many tables are gone through at a time.
const LANES: usize = 4;

/// What is known of a pattern that was not ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternMatch {
    /// It matches.
    Certain,
    /// It may match: its own engine is to be input. Said of texts that are not ASCII, and of patterns that are too large.
    Possible,
}

/// The patterns. Each is known by its number in the order given.
#[derive(Debug)]
pub struct PatternSet {
    groups: Vec<TableGroup>,
    members: Vec<Member>,
    /// Those that are in no table.
    unmerged: Vec<u32>,
    /// How much memory the tables take.
    bytes: usize,
}

/// Patterns of one table.
#[derive(Debug)]
struct TableGroup {
    table: StateTable,
    /// One of which is in each text in which one of the patterns matches.
    bytes: ByteMask,
    /// By number in the table, the pattern's own.
    numbers: Box<[u32]>,
    /// Those of which only texts of ASCII can be ruled out.
    ascii_only: u64,
}

/// A pattern.
#[derive(Debug)]
struct Member {
    /// One of which is in each text in which it matches.
    bytes: ByteMask,
    /// What decides for texts of ASCII where the table doesn't, if there are such.
    regex: Option<LazyMatcher<AsciiRegex>>,
}

/// What is input for.
#[derive(Clone, Copy)]
struct TextInput<'t> {
    text: &'t str,
    /// Those that it has.
    bytes: ByteMask,
}

impl PatternSet {
    /// The groups of valid patterns, with tables of at most `most` bytes together, and budget for what decides where they don't.
    pub fn new(patterns: &[&str], most: usize, budget: &MemoryBudget) -> Self {
        Self::within(patterns, most, MOST_WORK, budget)
    }

    /// As [`new`](Self::new), with no more than some work for automata: those of patterns for which none is left have no table.
    pub(super) fn within(patterns: &[&str], most: usize, mut work: u64, budget: &MemoryBudget) -> Self {
        let reduced: Vec<Option<Reduced>> = patterns.iter().map(|pattern| reduce(&parse(pattern)?)).collect();
        // The short ones first: most work goes into the long ones.
        let mut order: Vec<(u32, &Reduced)> =
            (0_u32..).zip(&reduced).filter_map(|(number, reduced)| Some((number, reduced.as_ref()?))).collect();
        order.sort_by_key(|(number, _)| patterns.get(*number as usize).map_or(0, |pattern| pattern.len()));
        let parts = order.into_iter().filter_map(|(number, reduced)| Automaton::new(number, reduced, &mut work));
        let mut parts: Vec<Automaton> = parts.collect();
        // Of what has no budget hardly anything would have some as a part of larger ones.
        parts.sort_by_key(|part| StateTable::bytes(&part.explored));
        let mut explored = 0_usize;
        parts.retain(|part| {
            explored = explored.saturating_add(StateTable::bytes(&part.explored));
            explored <= most.saturating_mul(MOST_EXPLORED)
        });
        merge(&mut parts, most);
        parts.sort_by_key(|part| StateTable::bytes(&part.explored));
        let (mut groups, mut left) = (Vec::new(), most);
        for part in parts {
            if let Some(rest) = left.checked_sub(StateTable::bytes(&part.explored))
                && let Some(table) = StateTable::new(&part.explored)
            {
                left = rest;
                let (numbers, ascii_only) = (part.numbers.into(), part.ascii_only);
                groups.push(TableGroup { table, bytes: part.bytes, numbers, ascii_only });
            }
        }
        groups.sort_by_key(|group| group.bytes);
        // By pattern, whether its table decides, if it has one.
        let mut decided: Vec<Option<bool>> = vec![None; patterns.len()];
        for group in &groups {
            for (&number, complete) in group.numbers.iter().zip(group.table.complete()) {
                if let Some(decided) = usize::try_from(number).ok().and_then(|number| decided.get_mut(number)) {
                    *decided = Some(complete);
                }
            }
        }
        let unmerged =
            (0_u32..).zip(&decided).filter(|(_, decided)| decided.is_none()).map(|(number, _)| number).collect();
        let member = |((reduced, decided), pattern): ((&Option<Reduced>, Option<bool>), &&str)| {
            let Some(Reduced { hir, .. }) = reduced else { return Member { bytes: ByteMask::ALL, regex: None } };
            let regex = (decided != Some(true)).then(|| LazyMatcher::new(pattern, budget));
            Member { bytes: required_bytes(hir).unwrap_or(ByteMask::ALL), regex }
        };
        let members = reduced.iter().zip(decided).zip(patterns).map(member).collect();
        Self { groups, members, unmerged, bytes: most.saturating_sub(left) }
    }

    /// How many patterns are in no table.
    #[cfg(test)]
    pub fn unmerged(&self) -> usize {
        self.unmerged.len()
    }

    /// How much memory the tables take, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `found` once for each pattern that matches or may match in the text.
    pub fn for_each(&self, text: &str, mut found: impl FnMut(u32, PatternMatch)) {
        let input = TextInput { text, bytes: ByteMask::of(text.as_bytes()) };
        if input.bytes.is_ascii() {
            self.each_over::<false>(input, &mut found);
        } else {
            self.each_over::<true>(input, &mut found);
        }
    }

    fn each_over<const SYMBOLS: bool>(&self, input: TextInput<'_>, found: &mut impl FnMut(u32, PatternMatch)) {
        let mut groups = self.groups.iter().filter(|group| group.bytes.meets(input.bytes));
        loop {
            let lanes: [Option<&TableGroup>; LANES] = std::array::from_fn(|_| groups.next());
            if let [Some(a), Some(b), Some(c), Some(d)] = lanes {
                let answers =
                    StateTable::find::<SYMBOLS, LANES>([&a.table, &b.table, &c.table, &d.table], input.text.as_bytes());
                for (group, answer) in [a, b, c, d].into_iter().zip(answers) {
                    self.tell::<SYMBOLS>(group, answer, input, found);
                }
                continue;
            }
            for group in lanes.into_iter().flatten() {
                let [answer] = StateTable::find::<SYMBOLS, 1>([&group.table], input.text.as_bytes());
                self.tell::<SYMBOLS>(group, answer, input, found);
            }
            break;
        }
        for &number in &self.unmerged {
            self.decide::<SYMBOLS>(number, input, found);
        }
    }

    fn tell<const SYMBOLS: bool>(
        &self,
        group: &TableGroup,
        answer: TableMatches,
        input: TextInput<'_>,
        found: &mut impl FnMut(u32, PatternMatch),
    ) {
        let (sure, maybe) =
            if SYMBOLS { (0, answer.sure | answer.unknown | group.ascii_only) } else { (answer.sure, answer.unknown) };
        group.numbers(sure).for_each(|number| found(number, PatternMatch::Certain));
        group.numbers(maybe).for_each(|number| self.decide::<SYMBOLS>(number, input, found));
    }

    /// What no table decides.
    fn decide<const SYMBOLS: bool>(
        &self,
        number: u32,
        input: TextInput<'_>,
        found: &mut impl FnMut(u32, PatternMatch),
    ) {
        let member = usize::try_from(number).ok().and_then(|number| self.members.get(number));
        let Some(member) = member.filter(|member| member.bytes.meets(input.bytes)) else { return };
        let regex = member.regex.as_ref().filter(|_| !SYMBOLS).and_then(|regex| regex.get(AsciiRegex::within));
        match regex {
            Some(regex) => {
                if regex.is_match(input.text) {
                    found(number, PatternMatch::Certain);
                }
            }
            None => found(number, PatternMatch::Possible),
        }
    }
}

impl TableGroup {
    /// The patterns of a set of the table.
    #[inline]
    fn numbers(&self, mut set: u64) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let number = self.numbers.get(usize::try_from(set.trailing_zeros()).ok()?).copied();
            set &= set.wrapping_sub(1);
            number
        })
    }
}
