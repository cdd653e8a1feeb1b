//! Builds the states of a deterministic automaton from a program, each when it is asked for.
//!
//! A state stands for a subset of the program's states: those that searches are in that began at
//! any place so far. Searches that begin at this very place are in the same states everywhere, but
//! for what the program looks at before the place ([`Before`]): these are kept once, and a state
//! has only the *others*. These are few, and the bytes that they do not read lead where the
//! searches that begin here lead: most transitions of a state cost nothing.
//!
//! A match is told when the last byte of it was read, but where the program looks at the byte after
//! it: then when that byte was read.

use foldhash::fast::FixedState;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use std::collections::HashMap;
use std::rc::Rc;

/// Most members of all states together. Bounds the memory: each is a number.
const MAX_MEMBERS: usize = 1 << 23;

/// Number of columns that are compared with the next one: most of those that lead to the same
/// states of the program are beside each other.
const SIMILAR: usize = 4;

/// The number of a state. The start state has the first one.
pub(super) type Number = u32;

/// What is before a place in a text, as far as programs look at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Before {
    #[default]
    Start,
    Word,
    LineFeed,
    CarriageReturn,
    Other,
}

impl Before {
    const ALL: [Self; 5] = [Self::Start, Self::Word, Self::LineFeed, Self::CarriageReturn, Self::Other];

    pub(super) fn of(byte: u8) -> Self {
        match byte {
            b'\n' => Self::LineFeed,
            b'\r' => Self::CarriageReturn,
            b'_' => Self::Word,
            byte if byte.is_ascii_alphanumeric() => Self::Word,
            _ => Self::Other,
        }
    }

    /// A byte of this kind.
    fn byte(self) -> Option<u8> {
        match self {
            Self::Start => None,
            Self::Word => Some(b'w'),
            Self::LineFeed => Some(b'\n'),
            Self::CarriageReturn => Some(b'\r'),
            Self::Other => Some(b'.'),
        }
    }
}

/// What is after a place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// It is not read yet.
    Unknown,
    End,
    Byte(u8),
}

/// Whether an assertion depends on what is after its place.
fn looks_ahead(look: Look) -> bool {
    !matches!(look, Look::Start | Look::StartLF | Look::WordStartHalfAscii)
}

/// The searches that begin at a place.
#[derive(Debug, Default)]
struct Beginning {
    /// The states that they are in: those that read a byte, and assertions that look ahead.
    members: Rc<[u32]>,
    /// Indexed by state of the program: whether a search can pass it here.
    passed: Vec<bool>,
    /// Whether the empty text matches here.
    matches: bool,
    /// Whether it does at the end of the text.
    matches_at_end: bool,
    looks_ahead: bool,
    /// The first kind of [`Before`] after which all this is the same.
    like: Before,
    /// Indexed by column: the state in which only these searches are after it. `None` if that was not asked yet.
    steps: Vec<Option<Number>>,
}

/// A state.
#[derive(Debug, Clone)]
struct Subset {
    /// What distinguishes it: `before` and `entered` as one number, and then the others.
    key: Rc<[u32]>,
    before: Before,
    /// Whether one of the others looks ahead.
    looks_ahead: bool,
    entered: bool,
}

/// Where a state leads.
#[derive(Debug)]
pub(super) struct Transitions {
    /// Indexed by column.
    pub(super) next: Vec<Number>,
    /// Whether there is a match if the text ends.
    pub(super) ended: bool,
}

/// The states of an automaton that were found so far.
#[derive(Debug)]
pub(super) struct Subsets<'p> {
    program: &'p NFA,
    /// Indexed by byte.
    columns: &'p [u8; 256],
    /// Indexed by column: a byte of it.
    bytes: Vec<u8>,
    /// Indexed by [`Before`].
    beginnings: [Beginning; Before::ALL.len()],
    /// Indexed by number.
    states: Vec<Subset>,
    /// By key.
    numbers: HashMap<Rc<[u32]>, Number, FixedState>,
    members: usize,
    /// That of the state that is looked for.
    key: Vec<u32>,
    closure: Closure,
    /// Indexed by column: the states of the program that it leads to.
    targets: Vec<Vec<StateID>>,
}

/// The states of a program that can be reached without reading.
#[derive(Debug, Default)]
struct Closure {
    /// Those that read a byte, and assertions that look ahead if what is after the place is unknown.
    members: Vec<u32>,
    matches: bool,
    looks_ahead: bool,
    /// Indexed by state: the last round in which it was passed.
    seen: Vec<u32>,
    round: u32,
    stack: Vec<StateID>,
    /// Steps taken so far.
    steps: u64,
}

impl Closure {
    fn begin(&mut self) {
        self.members.clear();
        (self.matches, self.looks_ahead) = (false, false);
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.seen.fill(0);
            self.round = 1;
        }
    }

    /// Whether the state is passed for the first time in this round.
    fn passes(&mut self, state: StateID) -> bool {
        let round = self.round;
        self.seen.get_mut(state.as_usize()).is_some_and(|seen| std::mem::replace(seen, round) != round)
    }

    /// Adds what can be reached from a state but not by passing one of `without`, which is indexed by state.
    fn add(&mut self, program: &NFA, from: StateID, before: Before, after: After, without: &[bool]) {
        self.stack.push(from);
        while let Some(state) = self.stack.pop() {
            self.steps = self.steps.saturating_add(1);
            if without.get(state.as_usize()) == Some(&true) || !self.passes(state) {
                continue;
            }
            match program.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => self.members.push(state.as_u32()),
                State::Look { look, .. } if after == After::Unknown && looks_ahead(*look) => {
                    self.members.push(state.as_u32());
                    self.looks_ahead = true;
                }
                State::Look { look, next } => {
                    if holds(program, *look, before, after) {
                        self.stack.push(*next);
                    }
                }
                State::Union { alternates } => self.stack.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => self.stack.extend([*alt1, *alt2]),
                State::Capture { next, .. } => self.stack.push(*next),
                State::Fail => {}
                State::Match { .. } => self.matches = true,
            }
        }
    }
}

/// Whether an assertion holds. `after` may be unknown if the assertion does not look ahead.
fn holds(program: &NFA, look: Look, before: Before, after: After) -> bool {
    let (mut text, mut end) = ([0; 2], 0_usize);
    let after = if let After::Byte(byte) = after { Some(byte) } else { None };
    for (place, byte) in text.iter_mut().zip(before.byte().into_iter().chain(after)) {
        *place = byte;
        end = end.saturating_add(1);
    }
    let at = usize::from(before.byte().is_some());
    program.look_matcher().matches(look, text.get(..end).unwrap_or_default(), at)
}

impl<'p> Subsets<'p> {
    /// The start state. `columns` says which bytes no state of the program distinguishes, and
    /// `bytes` has one of each column. `None` if the program looks at characters.
    pub(super) fn new(program: &'p NFA, columns: &'p [u8; 256], bytes: Vec<u8>) -> Option<Self> {
        if program.look_set_any().contains_word_unicode() {
            return None;
        }
        let closure = Closure { seen: vec![0; program.states().len()], ..Closure::default() };
        let mut this = Self {
            program,
            columns,
            targets: vec![Vec::new(); bytes.len()],
            bytes,
            beginnings: std::array::from_fn(|_| Beginning::default()),
            states: Vec::new(),
            numbers: HashMap::default(),
            members: 0,
            key: Vec::new(),
            closure,
        };
        for before in Before::ALL {
            let mut own = this.beginning_after(before);
            // An assertion that looks ahead may look at `before` then.
            let same =
                |other: &Beginning| !own.looks_ahead && (&other.members, other.matches) == (&own.members, own.matches);
            let known = Before::ALL.into_iter().take(before as usize).zip(&this.beginnings);
            own.like = known.into_iter().find(|(_, other)| same(other)).map_or(before, |(kind, _)| kind);
            *this.beginnings.get_mut(before as usize)? = own;
        }
        this.number(&[], Before::Start, false, false)?;
        Some(this)
    }

    /// Whether the empty text matches at the start of each text.
    pub(super) fn matches_all(&self) -> bool {
        self.beginnings.first().is_some_and(|beginning| beginning.matches)
    }

    /// Whether there is a match when a state is entered. Never for the start state: if the empty
    /// text matches there, [all texts do](Self::matches_all).
    pub(super) fn entered(&self, state: Number) -> bool {
        self.states.get(state as usize).is_some_and(|state| state.entered)
    }

    /// Indexed by byte: its column.
    pub(super) fn columns(&self) -> &'p [u8; 256] {
        self.columns
    }

    /// Number of states found so far.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Steps taken so far. One is some nanoseconds.
    pub(super) fn steps(&self) -> u64 {
        self.closure.steps
    }

    fn beginning_after(&mut self, before: Before) -> Beginning {
        let start = self.program.start_anchored();
        self.closure.begin();
        self.closure.add(self.program, start, before, After::End, &[]);
        let matches_at_end = self.closure.matches;
        self.closure.begin();
        self.closure.add(self.program, start, before, After::Unknown, &[]);
        self.closure.members.sort_unstable();
        let round = self.closure.round;
        Beginning {
            members: self.closure.members.as_slice().into(),
            passed: self.closure.seen.iter().map(|seen| *seen == round).collect(),
            matches: self.closure.matches,
            matches_at_end,
            looks_ahead: self.closure.looks_ahead,
            like: before,
            steps: vec![None; self.bytes.len()],
        }
    }

    /// The number of a state, which is new if there is none like it. `None` if there are too many.
    fn number(&mut self, others: &[u32], before: Before, looks_ahead: bool, entered: bool) -> Option<Number> {
        let before = if looks_ahead { before } else { self.beginnings.get(before as usize)?.like };
        self.key.clear();
        self.key.push((before as u32) << 1 | u32::from(entered));
        self.key.extend_from_slice(others);
        if let Some(number) = self.numbers.get(self.key.as_slice()) {
            return Some(*number);
        }
        let key: Rc<[u32]> = self.key.as_slice().into();
        self.members = self.members.saturating_add(key.len());
        if self.members > MAX_MEMBERS {
            return None;
        }
        let number = Number::try_from(self.states.len()).ok()?;
        self.states.push(Subset { key: Rc::clone(&key), before, looks_ahead, entered });
        self.numbers.insert(key, number);
        Some(number)
    }

    /// Where a state leads. `None` if there are too many states.
    pub(super) fn transitions(&mut self, from: Number) -> Option<Transitions> {
        let Subset { key, before, looks_ahead, .. } = self.states.get(from as usize)?.clone();
        let others = key.get(1..)?;
        let mut targets = std::mem::take(&mut self.targets);
        self.read_any(others, &mut targets);
        let is_assertion =
            |member: &&u32| matches!(self.program.states().get(**member as usize), Some(State::Look { .. }));
        let assertions: Vec<u32> = others.iter().filter(is_assertion).copied().collect();
        // Indexed by column: whether a match ended before the byte.
        let mut ended_before = Vec::new();
        if looks_ahead {
            for (byte, targets) in self.bytes.clone().into_iter().zip(&mut targets) {
                ended_before.push(self.look_ahead(&assertions, before, After::Byte(byte)));
                let members = std::mem::take(&mut self.closure.members);
                self.read(&members, byte, targets);
                self.closure.members = members;
            }
        }
        let mut next: Vec<Number> = Vec::with_capacity(targets.len());
        // The last columns that the others read, and what distinguishes them besides their targets.
        let mut last = [None; SIMILAR];
        for (column, own) in targets.iter().enumerate() {
            let ended_before = ended_before.get(column).copied().unwrap_or(false);
            let begun = self.begun(before, column)?;
            if own.is_empty() && !ended_before {
                next.push(begun);
                continue;
            }
            let rest = (begun, Before::of(*self.bytes.get(column)?), ended_before);
            let same = |(other, known): &(usize, _)| *known == rest && targets.get(*other) == Some(own);
            let number = match last.iter().flatten().copied().find(same) {
                Some((other, _)) => *next.get(other)?,
                None => self.next(begun, column, own, ended_before)?,
            };
            last.rotate_right(1);
            last[0] = Some((column, rest));
            next.push(number);
        }
        targets.iter_mut().for_each(Vec::clear);
        self.targets = targets;
        let begins = self.beginnings.get(before as usize)?.matches_at_end;
        let ended = begins || (looks_ahead && self.look_ahead(&assertions, before, After::End));
        Some(Transitions { next, ended })
    }

    /// The state after a byte that the others don't read.
    fn begun(&mut self, before: Before, column: usize) -> Option<Number> {
        self.closure.steps = self.closure.steps.saturating_add(1);
        match self.beginnings.get(before as usize)?.steps.get(column)? {
            Some(number) => Some(*number),
            None => self.step(before, column),
        }
    }

    /// The state after a byte that leads the others to `targets`, and the searches that begin
    /// before it to the state `begun`.
    fn next(&mut self, begun: Number, column: usize, targets: &[StateID], ended_before: bool) -> Option<Number> {
        let begun = self.states.get(begun as usize)?.clone();
        let after = Before::of(*self.bytes.get(column)?);
        let beginning = self.beginnings.get(after as usize)?;
        self.closure.begin();
        for target in targets {
            self.closure.add(self.program, *target, after, After::Unknown, &beginning.passed);
        }
        for member in begun.key.get(1..)? {
            if self.closure.passes(StateID::new(*member as usize).ok()?) {
                self.closure.members.push(*member);
            }
        }
        let entered = begun.entered || self.closure.matches || ended_before;
        let looks_ahead = self.closure.looks_ahead || begun.looks_ahead;
        let mut members = std::mem::take(&mut self.closure.members);
        members.sort_unstable();
        let number = self.number(&members, after, looks_ahead, entered);
        self.closure.members = members;
        number
    }

    /// Finds out where the searches that begin at a place are after a byte.
    #[inline(never)]
    fn step(&mut self, before: Before, column: usize) -> Option<Number> {
        let byte = *self.bytes.get(column)?;
        let after = Before::of(byte);
        let Beginning { members, looks_ahead, .. } = self.beginnings.get(before as usize)?;
        let (members, looks_ahead, mut targets) = (Rc::clone(members), *looks_ahead, Vec::new());
        let ended_before = looks_ahead && self.look_ahead(&members, before, After::Byte(byte));
        self.read(&members, byte, &mut targets);
        if looks_ahead {
            let members = std::mem::take(&mut self.closure.members);
            self.read(&members, byte, &mut targets);
            self.closure.members = members;
        }
        let beginning = self.beginnings.get(after as usize)?;
        let matches = beginning.matches;
        self.closure.begin();
        for target in targets {
            self.closure.add(self.program, target, after, After::Unknown, &beginning.passed);
        }
        let mut others = std::mem::take(&mut self.closure.members);
        others.sort_unstable();
        let (entered, looks_ahead) = (matches || self.closure.matches || ended_before, self.closure.looks_ahead);
        let number = self.number(&others, after, looks_ahead, entered)?;
        self.closure.members = others;
        *self.beginnings.get_mut(before as usize)?.steps.get_mut(column)? = Some(number);
        Some(number)
    }

    /// Decides the assertions among the members, now that is known what is after the place. Leaves
    /// in the closure those that follow, and returns whether a match ends at the place.
    fn look_ahead(&mut self, members: &[u32], before: Before, after: After) -> bool {
        self.closure.begin();
        for member in members {
            if let Some(State::Look { look, next }) = self.program.states().get(*member as usize)
                && holds(self.program, *look, before, after)
            {
                self.closure.add(self.program, *next, before, after, &[]);
            }
        }
        self.closure.matches
    }

    /// Adds where the members are after a byte.
    fn read(&mut self, members: &[u32], byte: u8, targets: &mut Vec<StateID>) {
        self.closure.steps = self.closure.steps.saturating_add(members.len() as u64);
        for member in members {
            match self.program.states().get(*member as usize) {
                Some(State::ByteRange { trans }) if trans.matches_byte(byte) => targets.push(trans.next),
                Some(State::Sparse(sparse)) => {
                    self.closure.steps = self.closure.steps.saturating_add(sparse.transitions.len() as u64);
                    targets.extend(sparse.matches_byte(byte));
                }
                _ => {}
            }
        }
    }

    /// Adds where the members are after a byte, for each column. The ranges of a class lead to the
    /// same place, which each column has once.
    fn read_any(&mut self, members: &[u32], targets: &mut [Vec<StateID>]) {
        let mut steps = members.len();
        let mut add = |from: u8, to: u8, next: StateID| {
            let mut last = None;
            for byte in (from..=to).filter(|byte| !crate::pattern::is_left_out(*byte)) {
                let column = self.columns.get(usize::from(byte)).copied().map(usize::from);
                if column != last {
                    last = column;
                    if let Some(targets) = column.and_then(|column| targets.get_mut(column))
                        && targets.last() != Some(&next)
                    {
                        targets.push(next);
                    }
                }
                steps = steps.wrapping_add(1);
            }
        };
        for member in members {
            match self.program.states().get(*member as usize) {
                Some(State::ByteRange { trans }) => add(trans.start, trans.end, trans.next),
                Some(State::Sparse(sparse)) => {
                    sparse.transitions.iter().for_each(|trans| add(trans.start, trans.end, trans.next));
                }
                _ => {}
            }
        }
        self.closure.steps = self.closure.steps.saturating_add(steps as u64);
    }
}
