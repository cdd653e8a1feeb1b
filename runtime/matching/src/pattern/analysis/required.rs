//! Finds literals that a pattern requires: every text in which it matches has one of them.

use crate::byte_frequency::rarity_bits;
use crate::pattern::analysis::reach::Reach;
use crate::pattern::analysis::small_alphabet::trim;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::parse::parse;
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look, Repetition};
use std::borrow::Cow;

/// Length of the shortest literal of [`RequiredLiterals::Substring`], in bytes.
pub const SHORTEST_SUBSTRING: usize = 2;
/// Largest number of alternative literals.
const MAX_LITERALS: usize = 256;
/// Largest sum of their lengths, in bytes.
const MAX_LITERAL_BYTES: usize = 4096;
/// Largest number of members of a character class that is expanded into alternatives.
const MAX_CLASS_MEMBERS: usize = 16;
/// The same where few literals are enough: a letter in both cases, or one of two characters.
const QUICK_CLASS_MEMBERS: usize = 2;

/// A condition that every text fulfils in which a pattern matches. A text may fulfil it without a match.
///
/// Search for the literals of many patterns with one map (such as
/// [`LiteralMap`](crate::LiteralMap)), and run only the patterns whose literals occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequiredLiterals {
    /// The text equals one of these.
    Whole(Literals),
    /// The text begins with one of these.
    Prefix(Literals),
    /// The text ends with one of these.
    Suffix(Literals),
    /// The text contains one of these. None is shorter than [`SHORTEST_SUBSTRING`].
    Substring(Literals),
}

/// Alternative literals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literals {
    /// In ascending order, each once.
    pub literals: Box<[Box<[u8]>]>,
    /// Whether the literals have to be looked for without regard to the case of ASCII letters. They
    /// are in lower case then.
    pub folded: bool,
}

/// Returns literals of which every text must have one in which `pattern` matches, chosen so that
/// few other texts have one.
///
/// Returns `None` if the pattern is not valid, or if no literals are required that are worth searching for.
///
/// ```
/// use celero_matching::pattern::{RequiredLiterals, required_literals};
///
/// let Some(RequiredLiterals::Substring(found)) = required_literals(r"\bunion\s+(all\s+)?select\b") else { panic!() };
/// assert_eq!(&*found.literals[0], b"select");
/// assert_eq!(required_literals("[0-9]+"), None);
/// ```
#[must_use]
pub fn required_literals<'p>(pattern: impl Into<Pattern<'p>>) -> Option<RequiredLiterals> {
    rated_literals(&parse(pattern)?).map(|rated| rated.required)
}

/// As [`required_literals`], without the products of classes such as `[0-9a-f]`, which take most of
/// the time. The literals that it finds are required, but better ones may be.
#[must_use]
pub fn quick_required_literals<'p>(pattern: impl Into<Pattern<'p>>) -> Option<RequiredLiterals> {
    rated(&parse(pattern)?, Runs::new(QUICK_CLASS_MEMBERS)).map(|rated| rated.required)
}

/// Literals that a pattern requires, and what they say about its matches.
pub(crate) struct RatedLiterals {
    pub(crate) required: RequiredLiterals,
    /// The estimated number of places in a text, for each of its bytes, where one of them is.
    pub(crate) chance: f64,
    /// What is before one of them in each match of the pattern without what is optional at its ends.
    pub(crate) reach: Reach,
}

/// As [`required_literals`], with what the literals say.
pub(crate) fn rated_literals(pattern: &Hir) -> Option<RatedLiterals> {
    rated(pattern, Runs::new(MAX_CLASS_MEMBERS))
}

fn rated(pattern: &Hir, mut runs: Runs) -> Option<RatedLiterals> {
    let hir = trim(pattern, true, true);
    let (mut start, mut end) = (false, false);
    let inner = anchored(&hir, &mut start, &mut end);
    runs.all(inner);
    let whole = runs.is_whole();
    let first = start.then(|| runs.first.clone()).flatten();
    let last = end.then(|| runs.run.clone()).filter(|_| !whole || !start);
    if start && end && whole {
        let (whole, _) = runs.run.literals(0, |text, literal| text == literal)?;
        return Some(RatedLiterals { required: RequiredLiterals::Whole(whole), chance: 0.0, reach: Reach::ALL });
    }
    let first = first.or_else(|| (start && whole).then(|| runs.run.clone()));
    runs.cut();
    let part = runs.best.map(|best| best.texts);
    let mut found: Option<RatedLiterals> = None;
    let mut offer = |texts: Option<TextSet>, share: f64, holds: Holds, kind: fn(Literals) -> RequiredLiterals| {
        let Some(texts) = texts else { return };
        let Some((literals, reach)) = texts.literals(if share < 1.0 { 1 } else { SHORTEST_SUBSTRING }, holds) else {
            return;
        };
        let chance = texts.cost() * share;
        if found.as_ref().is_none_or(|least| chance < least.chance) {
            found = Some(RatedLiterals { required: kind(literals), chance, reach });
        }
    };
    // A text has one start and one end, but as many other offsets as bytes.
    offer(first, 1.0 / 32.0, <[u8]>::starts_with, RequiredLiterals::Prefix);
    offer(last, 1.0 / 32.0, <[u8]>::ends_with, RequiredLiterals::Suffix);
    offer(
        part,
        1.0,
        |text, literal| text.windows(literal.len()).any(|part| part == literal),
        RequiredLiterals::Substring,
    );
    found
}

/// Returns the elements of a pattern without the anchors at its ends, and stores whether it has these.
fn anchored<'h>(hir: &'h Hir, start: &mut bool, end: &mut bool) -> &'h [Hir] {
    match hir.kind() {
        HirKind::Capture(group) => anchored(&group.sub, start, end),
        HirKind::Concat(parts) => {
            let mut parts = parts.as_slice();
            while let Some((first, rest)) = parts.split_first()
                && matches!(first.kind(), HirKind::Look(Look::Start))
            {
                (*start, parts) = (true, rest);
            }
            while let Some((last, rest)) = parts.split_last()
                && matches!(last.kind(), HirKind::Look(Look::End))
            {
                (*end, parts) = (true, rest);
            }
            parts
        }
        _ => std::slice::from_ref(hir),
    }
}

/// Estimated probability that a literal occurs at one offset of a text. It has a lower bound, since no literal is free.
fn chance(literal: &[u8], folded: bool) -> f64 {
    /// Largest rarity in bits: among literals rarer than this, only their number counts.
    const RAREST: i32 = 36;
    let met = |byte: u8| rarity_bits(if folded { byte.to_ascii_lowercase() } else { byte });
    let total = literal.iter().fold(0_i32, |total, &byte| total.saturating_add(met(byte)));
    f64::from(total.min(RAREST).saturating_neg()).exp2()
}

/// Whether a text has a literal: at its start, at its end, anywhere, or as a whole.
type Holds = fn(&[u8], &[u8]) -> bool;

/// A text, and whether it matches without regard to the case of ASCII letters.
type Text = (Vec<u8>, bool);

/// Texts that include everything that a part of a pattern matches.
#[derive(Debug, Clone)]
struct TextSet {
    texts: Vec<Text>,
    /// What is before the part.
    reach: Reach,
}

impl TextSet {
    fn new(texts: Vec<Text>) -> Self {
        Self { texts, reach: Reach::NONE }
    }

    /// An empty part after `reach`.
    fn empty(reach: Reach) -> Self {
        Self { texts: vec![(Vec::new(), false)], reach }
    }

    /// What is before the next part.
    fn end(&self) -> Reach {
        let mut end = self.reach;
        end.extend_with_texts(&self.texts);
        end
    }

    /// Whether so many texts of so many bytes together are not too many.
    fn fits(texts: usize, bytes: usize) -> bool {
        texts <= MAX_LITERALS && bytes <= MAX_LITERAL_BYTES
    }

    /// Each text of `self` followed by each of `next`, if they are not too many.
    fn then(&self, next: &Self) -> Option<Self> {
        let count = self.texts.len().saturating_mul(next.texts.len());
        if count > MAX_LITERALS {
            return None;
        }
        let mut all = Vec::with_capacity(count);
        for (head, head_folded) in &self.texts {
            for (tail, tail_folded) in &next.texts {
                all.push(([head.as_slice(), tail].concat(), *head_folded || *tail_folded));
            }
        }
        all.sort_unstable();
        all.dedup();
        let bytes = all.iter().map(|(text, _)| text.len()).sum();
        Self::fits(all.len(), bytes).then_some(Self { texts: all, reach: self.reach })
    }

    /// The texts of all of these, if they are not too many.
    fn any_of<'s>(all: impl IntoIterator<Item = &'s Self>) -> Option<Self> {
        let (mut texts, mut reach): (Vec<&Text>, _) = (Vec::new(), Reach::NONE);
        for one in all {
            texts.extend(&one.texts);
            reach = reach.or(one.reach);
            if texts.len() > MAX_LITERALS.saturating_mul(2) {
                texts.sort_unstable();
                texts.dedup();
                if texts.len() > MAX_LITERALS {
                    return None;
                }
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let bytes = texts.iter().map(|(text, _)| text.len()).sum();
        Self::fits(texts.len(), bytes).then(|| Self { texts: texts.into_iter().cloned().collect(), reach })
    }

    /// Estimated cost of searching for these: mostly the share of texts that contain one without a match.
    fn cost(&self) -> f64 {
        let folded = self.texts.iter().any(|(_, folded)| *folded);
        self.texts.iter().map(|(text, _)| chance(text, folded)).sum()
    }

    /// These as literals, without those that are implied by a shorter one according to `holds`, and
    /// what is before them. `None` if a text is shorter than `shortest`.
    fn literals(&self, shortest: usize, holds: Holds) -> Option<(Literals, Reach)> {
        let folded = self.texts.iter().any(|(_, folded)| *folded);
        if self.texts.is_empty() || self.texts.iter().any(|(text, _)| text.len() < shortest) {
            return None;
        }
        let mut all: Vec<Box<[u8]>> = self
            .texts
            .iter()
            .map(|(text, _)| if folded { text.to_ascii_lowercase() } else { text.clone() }.into())
            .collect();
        all.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let (mut literals, mut reach): (Vec<Box<[u8]>>, _) = (Vec::new(), self.reach);
        for one in all {
            if literals.iter().any(|shorter| holds(&one, shorter)) {
                // The shorter one may begin anywhere in it.
                let mut inside = self.reach;
                inside.extend_with_texts(&[(one.into(), folded)]);
                reach = reach.or(inside);
            } else {
                literals.push(one);
            }
        }
        literals.sort_unstable();
        Some((Literals { literals: literals.into(), folded }, reach))
    }
}

/// The best texts found so far.
#[derive(Debug, Clone)]
struct Best {
    texts: TextSet,
    cost: f64,
}

/// Collects the texts of a sequence. Consecutive elements that stand for few texts form a run,
/// whose texts are the product of theirs. A run ends where the next element stands for too many
/// texts.
#[derive(Debug)]
struct Runs {
    /// The most members of a class whose texts are looked at.
    members: usize,
    run: TextSet,
    /// The first run, after it has ended.
    first: Option<TextSet>,
    best: Option<Best>,
}

impl Runs {
    fn new(members: usize) -> Self {
        Self { members, run: TextSet::empty(Reach::NONE), first: None, best: None }
    }

    /// Whether all elements so far form one run.
    fn is_whole(&self) -> bool {
        self.first.is_none()
    }

    fn all(&mut self, parts: &[Hir]) {
        for part in parts {
            self.next(part);
        }
    }

    fn next(&mut self, part: &Hir) {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.texts(&TextSet::new(vec![(literal.0.to_vec(), false)])),
            HirKind::Class(class) => match class_texts(class, self.members) {
                Some(texts) => self.texts(&texts),
                None => self.pass(part),
            },
            HirKind::Capture(group) => self.next(&group.sub),
            HirKind::Concat(parts) => self.all(parts),
            HirKind::Repetition(repetition) => self.repetition(part, repetition),
            HirKind::Alternation(alternatives) => self.alternation(part, alternatives),
        }
    }

    fn texts(&mut self, next: &TextSet) {
        match self.run.then(next) {
            Some(run) => self.run = run,
            None => {
                self.cut();
                self.run.texts.clone_from(&next.texts);
            }
        }
    }

    /// Appends an element that consists of several runs.
    fn runs(&mut self, next: Self) {
        let before = self.run.end();
        if let Some(first) = next.first {
            self.texts(&first);
            self.cut();
        }
        if let Some(Best { mut texts, .. }) = next.best {
            texts.reach = before.then(texts.reach);
            self.offer(&texts);
        }
        self.run = next.run;
        self.run.reach = before.then(self.run.reach);
    }

    /// Ends the run.
    fn cut(&mut self) {
        let next = TextSet::empty(self.run.end());
        let run = std::mem::replace(&mut self.run, next);
        self.offer(&run);
        self.first.get_or_insert(run);
    }

    /// Ends the run with a part that stands for too many texts.
    fn pass(&mut self, part: &Hir) {
        self.cut();
        self.run.reach.extend(part);
    }

    fn offer(&mut self, texts: &TextSet) {
        if texts.texts.iter().any(|(text, _)| text.len() < SHORTEST_SUBSTRING) {
            return;
        }
        let cost = texts.cost();
        if self.best.as_ref().is_none_or(|best| cost < best.cost) {
            self.best = Some(Best { texts: texts.clone(), cost });
        }
    }

    fn repetition(&mut self, part: &Hir, repetition: &Repetition) {
        let Repetition { min, max, ref sub, .. } = *repetition;
        // Those that are neither the first `min` nor the last.
        let others = |first: u32| max.map(|max| max.saturating_sub(first) as usize);
        let inner = self.of(sub);
        let exact = inner.is_whole().then_some(&inner.run);
        match (min, max, exact) {
            (_, Some(0), _) => {}
            (0, Some(1), Some(texts)) => match TextSet::any_of([texts, &TextSet::empty(Reach::NONE)]) {
                Some(texts) => self.texts(&texts),
                None => self.pass(part),
            },
            (0, ..) => self.pass(part),
            (_, _, Some(texts)) => {
                // A run that ends with the first repetitions, and one that starts with the last.
                const SEVERAL: u32 = 64;
                for _ in 0..min.min(SEVERAL) {
                    self.texts(texts);
                }
                if max != Some(min) || min > SEVERAL {
                    self.cut();
                    self.run.reach.extend_repeated(sub, others(min.min(SEVERAL).saturating_mul(2)));
                    for _ in 0..min.min(SEVERAL) {
                        self.texts(texts);
                    }
                }
            }
            (_, _, None) => {
                self.runs(inner);
                if max != Some(1) {
                    self.cut();
                    self.run.reach.extend_repeated(sub, others(1));
                }
            }
        }
    }

    fn alternation(&mut self, part: &Hir, alternatives: &[Hir]) {
        let inner: Vec<Self> = alternatives.iter().map(|one| self.of(one)).collect();
        if inner.iter().all(Self::is_whole)
            && let Some(all) = TextSet::any_of(inner.iter().map(|one| &one.run))
        {
            self.texts(&all);
            return;
        }
        self.cut();
        let best = inner.into_iter().map(|mut one| {
            one.cut();
            one.best.map(|best| best.texts)
        });
        if let Some(mut all) = best.collect::<Option<Vec<TextSet>>>().and_then(|all| TextSet::any_of(&all)) {
            all.reach = self.run.reach.then(all.reach);
            self.offer(&all);
        }
        self.run.reach.extend(part);
    }

    /// The runs of a part.
    fn of(&self, hir: &Hir) -> Self {
        let mut runs = Self::new(self.members);
        runs.next(hir);
        runs
    }
}

/// The members of a class, if they are few.
fn class_texts(class: &Class, most: usize) -> Option<TextSet> {
    let class = match class {
        Class::Unicode(class) => Cow::Borrowed(class),
        Class::Bytes(class) => Cow::Owned(class.to_unicode_class()?),
    };
    let count = class.iter().fold(0_usize, |count, range| count.saturating_add(range.len()));
    if count > most.saturating_mul(2) {
        return None;
    }
    let texts: Vec<Text> =
        class.iter().flat_map(|range| range.start()..=range.end()).filter_map(|c| text(c, &class)).collect();
    (!texts.is_empty() && texts.len() <= most).then(|| TextSet::new(texts))
}

/// The text of a member of a class, or `None` for an upper-case letter whose lower-case form is a
/// member and stands for both.
fn text(member: char, class: &ClassUnicode) -> Option<Text> {
    let has = |c: char| class.iter().any(|range| range.start() <= c && c <= range.end());
    if member.is_ascii_uppercase() && has(member.to_ascii_lowercase()) {
        return None;
    }
    let folded = member.is_ascii_lowercase() && has(member.to_ascii_uppercase());
    Some((member.encode_utf8(&mut [0; 4]).as_bytes().to_vec(), folded))
}
