//! Patterns that are asked together: as a few tables of states, and nothing of what can't match for want of a byte.

use super::alphabet::{Reduced, reduce};
use super::ascii::AsciiRegex;
use super::bytes_needed::{Bytes, bytes_needed};
use super::part::{MOST_WORK, Part, merge};
use super::table::{Found, Table};
use crate::library::{Later, Room, syntax};

/// Parts are merged as long as they take at most so many times as many bytes as all tables may.
const MOST_EXPLORED: usize = 2;
/// How many tables are gone through at a time.
const LANES: usize = 4;

/// What is known of a pattern that was not ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It matches.
    Match,
    /// It may match: its own engine is to be asked. Said of texts that are not ASCII, and of patterns that are too large.
    Ask,
}

/// The patterns. Each is known by its number in the order given.
#[derive(Debug)]
pub(crate) struct PatternGroups {
    groups: Vec<Group>,
    members: Vec<Member>,
    /// Those that are in no table.
    alone: Vec<u32>,
    /// How much memory the tables take.
    bytes: usize,
}

/// Patterns of one table.
#[derive(Debug)]
struct Group {
    table: Table,
    /// One of which is in each text in which one of the patterns matches.
    bytes: Bytes,
    /// By number in the table, the pattern's own.
    numbers: Box<[u32]>,
    /// Those of which only texts of ASCII can be ruled out.
    ascii_only: u64,
}

/// A pattern.
#[derive(Debug)]
struct Member {
    /// One of which is in each text in which it matches.
    bytes: Bytes,
    /// What decides for texts of ASCII where the table doesn't, if there are such.
    regex: Option<Later<AsciiRegex>>,
}

/// What is asked for.
#[derive(Clone, Copy)]
struct Asked<'t> {
    text: &'t str,
    /// Those that it has.
    bytes: Bytes,
}

impl PatternGroups {
    /// The groups of valid patterns, with tables of at most `most` bytes together, and room for what decides where they don't.
    pub(crate) fn new(patterns: &[&str], most: usize, room: &Room) -> Self {
        Self::within(patterns, most, MOST_WORK, room)
    }

    /// As [`new`](Self::new), with no more than some work for automata: those of patterns for which none is left have no table.
    pub(super) fn within(patterns: &[&str], most: usize, mut work: u64, room: &Room) -> Self {
        let reduced: Vec<Option<Reduced>> = patterns.iter().map(|pattern| reduce(&syntax(pattern)?)).collect();
        // The short ones first: most work goes into the long ones.
        let mut order: Vec<(u32, &Reduced)> =
            (0_u32..).zip(&reduced).filter_map(|(number, reduced)| Some((number, reduced.as_ref()?))).collect();
        order.sort_by_key(|(number, _)| patterns.get(*number as usize).map_or(0, |pattern| pattern.len()));
        let parts = order.into_iter().filter_map(|(number, reduced)| Part::new(number, reduced, &mut work));
        let mut parts: Vec<Part> = parts.collect();
        // Of what has no room hardly anything would have some as a part of larger ones.
        parts.sort_by_key(|part| Table::bytes(&part.explored));
        let mut explored = 0_usize;
        parts.retain(|part| {
            explored = explored.saturating_add(Table::bytes(&part.explored));
            explored <= most.saturating_mul(MOST_EXPLORED)
        });
        merge(&mut parts, most);
        parts.sort_by_key(|part| Table::bytes(&part.explored));
        let (mut groups, mut left) = (Vec::new(), most);
        for part in parts {
            if let Some(rest) = left.checked_sub(Table::bytes(&part.explored))
                && let Some(table) = Table::new(&part.explored)
            {
                left = rest;
                let (numbers, ascii_only) = (part.numbers.into(), part.ascii_only);
                groups.push(Group { table, bytes: part.bytes, numbers, ascii_only });
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
        let alone =
            (0_u32..).zip(&decided).filter(|(_, decided)| decided.is_none()).map(|(number, _)| number).collect();
        let member = |((reduced, decided), pattern): ((&Option<Reduced>, Option<bool>), &&str)| {
            let Some(Reduced { hir, .. }) = reduced else { return Member { bytes: Bytes::ALL, regex: None } };
            let regex = (decided != Some(true)).then(|| Later::new(pattern, room));
            Member { bytes: bytes_needed(hir).unwrap_or(Bytes::ALL), regex }
        };
        let members = reduced.iter().zip(decided).zip(patterns).map(member).collect();
        Self { groups, members, alone, bytes: most.saturating_sub(left) }
    }

    /// How many patterns are in no table.
    #[cfg(test)]
    pub(crate) fn alone(&self) -> usize {
        self.alone.len()
    }

    /// How much memory the tables take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `found` once for each pattern that matches or may match in the text.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(u32, Answer)) {
        let asked = Asked { text, bytes: Bytes::of(text.as_bytes()) };
        if asked.bytes.is_ascii() {
            self.each_over::<false>(asked, &mut found);
        } else {
            self.each_over::<true>(asked, &mut found);
        }
    }

    fn each_over<const SYMBOLS: bool>(&self, asked: Asked<'_>, found: &mut impl FnMut(u32, Answer)) {
        let mut groups = self.groups.iter().filter(|group| group.bytes.meets(asked.bytes));
        loop {
            let lanes: [Option<&Group>; LANES] = std::array::from_fn(|_| groups.next());
            if let [Some(a), Some(b), Some(c), Some(d)] = lanes {
                let answers =
                    Table::find::<SYMBOLS, LANES>([&a.table, &b.table, &c.table, &d.table], asked.text.as_bytes());
                for (group, answer) in [a, b, c, d].into_iter().zip(answers) {
                    self.tell::<SYMBOLS>(group, answer, asked, found);
                }
                continue;
            }
            for group in lanes.into_iter().flatten() {
                let [answer] = Table::find::<SYMBOLS, 1>([&group.table], asked.text.as_bytes());
                self.tell::<SYMBOLS>(group, answer, asked, found);
            }
            break;
        }
        for &number in &self.alone {
            self.decide::<SYMBOLS>(number, asked, found);
        }
    }

    fn tell<const SYMBOLS: bool>(
        &self,
        group: &Group,
        answer: Found,
        asked: Asked<'_>,
        found: &mut impl FnMut(u32, Answer),
    ) {
        let (sure, maybe) =
            if SYMBOLS { (0, answer.sure | answer.unknown | group.ascii_only) } else { (answer.sure, answer.unknown) };
        group.numbers(sure).for_each(|number| found(number, Answer::Match));
        group.numbers(maybe).for_each(|number| self.decide::<SYMBOLS>(number, asked, found));
    }

    /// What no table decides.
    fn decide<const SYMBOLS: bool>(&self, number: u32, asked: Asked<'_>, found: &mut impl FnMut(u32, Answer)) {
        let member = usize::try_from(number).ok().and_then(|number| self.members.get(number));
        let Some(member) = member.filter(|member| member.bytes.meets(asked.bytes)) else { return };
        let regex = member.regex.as_ref().filter(|_| !SYMBOLS).and_then(|regex| regex.get(AsciiRegex::within));
        match regex {
            Some(regex) => {
                if regex.is_match(asked.text) {
                    found(number, Answer::Match);
                }
            }
            None => found(number, Answer::Ask),
        }
    }
}

impl Group {
    /// The patterns of a set of the table.
    fn numbers(&self, mut set: u64) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let number = self.numbers.get(usize::try_from(set.trailing_zeros()).ok()?).copied();
            set &= set.wrapping_sub(1);
            number
        })
    }
}
