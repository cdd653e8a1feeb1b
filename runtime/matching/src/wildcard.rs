//! Wildcard patterns: texts with stars between them, each of which stands for any bytes. They match whole values.
//!
//! A match takes time linear in the value, whatever the pattern: what stands before the first star
//! and after the last is compared where it must be, and every other piece is searched for once,
//! from where the piece before it ended. That finds a match if there is one, because the leftmost
//! place of a piece leaves most room for the others. Searches that ignore case are Knuth's,
//! Morris's and Pratt's, which skip to where a piece can begin. A pattern takes memory linear in
//! its length: its pieces, and for those in the middle four bytes for each byte.

use crate::pattern::{Meter, Unmetered};
use memchr::memmem::Finder;
use std::ops::Range;

/// Bytes that are compared or searched for each step charged, and that are searched one by one, ignoring case.
const BYTES_PER_STEP: usize = 64;
const SINGLE_BYTES_PER_STEP: usize = 8;

/// A wildcard pattern, prepared.
///
/// ```
/// use celero_matching::Wildcard;
///
/// // `*.example.*`
/// let hosts = Wildcard::new([&b""[..], b".example.", b""], false);
/// assert!(hosts.is_match(b"WWW.Example.com"));
/// assert!(!hosts.is_match(b"example.com"));
/// ```
#[derive(Debug)]
pub struct Wildcard {
    strict: bool,
    /// What stands before the first star.
    first: Box<[u8]>,
    middle: Box<[Piece]>,
    /// What stands after the last star; `None` without a star.
    last: Option<Box<[u8]>>,
    /// The length of the shortest value that matches.
    least: usize,
}

#[derive(Debug)]
enum Piece {
    Strict(Box<Finder<'static>>),
    Folded(FoldedFinder),
}

impl Wildcard {
    /// Prepares a pattern that consists of these texts, with a star between each two of them.
    /// Unless it is `strict`, ASCII letters match in either case.
    #[must_use]
    pub fn new<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, strict: bool) -> Self {
        let fold = |piece: &[u8]| if strict { piece.into() } else { piece.to_ascii_lowercase().into_boxed_slice() };
        let mut pieces: Vec<Box<[u8]>> = pieces.into_iter().map(fold).collect();
        let least = pieces.iter().map(|piece| piece.len()).fold(0, usize::saturating_add);
        let last = if pieces.len() > 1 { pieces.pop() } else { None };
        let mut pieces = pieces.into_iter();
        let first = pieces.next().unwrap_or_default();
        let prepared = |piece: Box<[u8]>| {
            if strict {
                Piece::Strict(Box::new(Finder::new(&piece).into_owned()))
            } else {
                Piece::Folded(FoldedFinder::new(piece))
            }
        };
        Self { strict, first, middle: pieces.map(prepared).collect(), last, least }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let ends = self.first.len().saturating_add(self.last.as_ref().map_or(0, |last| last.len()));
        let middle = self.middle.iter().map(Piece::heap_bytes).fold(size_of_val(&*self.middle), usize::saturating_add);
        ends.saturating_add(middle)
    }

    /// Returns whether the pattern matches the whole value.
    #[must_use]
    #[inline]
    pub fn is_match(&self, value: &[u8]) -> bool {
        let Ok(found) = self.matches(value, &Unmetered);
        found
    }

    /// As [`is_match`](Self::is_match), and takes the cost from `meter`: a step for each 64 bytes
    /// of the value, or for each 8 if something is searched for in it ignoring case, and one for
    /// each piece between two stars; nothing for a value that is too short.
    ///
    /// # Errors
    /// That of the meter, if the match costs more than is left.
    #[inline]
    pub fn matches<M: Meter>(&self, value: &[u8], meter: &M) -> Result<bool, M::Error> {
        if value.len() < self.least {
            return Ok(false);
        }
        self.charge(value, meter)?;
        Ok(self.walk(value, |_| {}))
    }

    /// Returns what each star stands for, if the pattern matches the whole value. Stars take as
    /// little as they can, from the first to the last. Takes the cost from `meter`: that of
    /// [`matches`](Self::matches).
    ///
    /// # Errors
    /// That of the meter, if the match costs more than is left.
    pub fn stars<M: Meter>(&self, value: &[u8], meter: &M) -> Result<Option<Vec<Range<usize>>>, M::Error> {
        self.charge(value, meter)?;
        let mut stars = Vec::new();
        Ok(self.walk(value, |star| stars.push(star)).then_some(stars))
    }

    #[inline]
    fn charge<M: Meter>(&self, value: &[u8], meter: &M) -> Result<(), M::Error> {
        let singly = !self.strict && !self.middle.is_empty();
        let steps = if singly { value.len() / SINGLE_BYTES_PER_STEP } else { value.len() / BYTES_PER_STEP };
        meter.charge(steps.saturating_add(self.middle.len()))
    }

    fn walk(&self, value: &[u8], mut star: impl FnMut(Range<usize>)) -> bool {
        let Some(last) = &self.last else { return self.same(value, &self.first) };
        let Some((start, rest)) = value.split_at_checked(self.first.len()) else { return false };
        let Some((rest, end)) = rest.len().checked_sub(last.len()).and_then(|at| rest.split_at_checked(at)) else {
            return false;
        };
        if !self.same(start, &self.first) || !self.same(end, last) {
            return false;
        }
        let mut at = 0_usize;
        for piece in &self.middle {
            let Some(found) = rest.get(at..).and_then(|rest| piece.find(rest)) else { return false };
            star(self.within(at, at.saturating_add(found)));
            at = at.saturating_add(found).saturating_add(piece.len());
        }
        star(self.within(at, rest.len()));
        true
    }

    /// A range of the value, from one of what follows the first piece.
    fn within(&self, from: usize, to: usize) -> Range<usize> {
        from.saturating_add(self.first.len())..to.saturating_add(self.first.len())
    }

    #[inline]
    fn same(&self, bytes: &[u8], piece: &[u8]) -> bool {
        if self.strict { bytes == piece } else { bytes.eq_ignore_ascii_case(piece) }
    }
}

impl Piece {
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Strict(finder) => finder.find(bytes),
            Self::Folded(finder) => finder.find(bytes),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Strict(finder) => size_of_val(&**finder).saturating_add(finder.needle().len()),
            Self::Folded(finder) => finder.needle.len().saturating_add(size_of_val(&*finder.borders)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Strict(finder) => finder.needle().len(),
            Self::Folded(finder) => finder.needle.len(),
        }
    }
}

/// Finds a text whose ASCII letters match in either case.
#[derive(Debug)]
struct FoldedFinder {
    /// In lower case.
    needle: Box<[u8]>,
    /// For each beginning of the needle: the length of the longest shorter beginning that it ends with.
    borders: Box<[u32]>,
}

impl FoldedFinder {
    fn new(needle: Box<[u8]>) -> Self {
        let mut borders: Vec<u32> = Vec::with_capacity(needle.len());
        let mut length = 0_u32;
        for &byte in &needle {
            if !borders.is_empty() {
                length = next(&needle, &borders, length, byte);
            }
            borders.push(length);
        }
        Self { needle, borders: borders.into() }
    }

    /// The first place of the needle.
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let Some(&first) = self.needle.first() else { return Some(0) };
        let mut length = 0_u32;
        let mut at = 0_usize;
        while at < bytes.len() {
            if length == 0 {
                at = at.saturating_add(memchr::memchr2(first, first.to_ascii_uppercase(), bytes.get(at..)?)?);
            }
            length = next(&self.needle, &self.borders, length, bytes.get(at)?.to_ascii_lowercase());
            at = at.saturating_add(1);
            if length as usize == self.needle.len() {
                return at.checked_sub(self.needle.len());
            }
        }
        None
    }
}

/// The length of the longest beginning of the needle with which a text ends, when it has ended with
/// one of `length` and a byte follows.
#[inline]
fn next(needle: &[u8], borders: &[u32], mut length: u32, byte: u8) -> u32 {
    loop {
        if needle.get(length as usize) == Some(&byte) {
            return length.saturating_add(1);
        }
        let Some(shorter) = length.checked_sub(1).and_then(|at| borders.get(at as usize)) else { return 0 };
        length = *shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Whether pieces with stars between them match, by trying all places.
    fn matches(pieces: &[&[u8]], value: &[u8]) -> bool {
        match pieces {
            [] => value.is_empty(),
            [only] => value == *only,
            [first, rest @ ..] => value
                .strip_prefix(*first)
                .is_some_and(|after| (0..=after.len()).any(|skipped| matches(rest, &after[skipped..]))),
        }
    }

    #[test]
    fn agrees_with_trying_all_places() {
        let mut random = Rng::with_seed(4);
        let mut text = |most: usize, letters: &[u8]| -> Vec<u8> {
            (0..random.usize(..=most)).map(|_| letters[random.usize(..letters.len())]).collect()
        };
        let (mut hits, mut misses) = (0, 0);
        for round in 0..20_000 {
            let count = 1 + round % 5;
            let pieces: Vec<Vec<u8>> = (0..count).map(|_| text(3, b"aAb@`\xc3\xe3")).collect();
            let value = text(12, b"aAbB@`\xc3\xe3");
            let parts: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
            let lower: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_ascii_lowercase()).collect();
            let folded: Vec<&[u8]> = lower.iter().map(|piece| &**piece).collect();
            for (strict, wanted) in
                [(true, matches(&parts, &value)), (false, matches(&folded, &value.to_ascii_lowercase()))]
            {
                let wildcard = Wildcard::new(parts.iter().copied(), strict);
                assert_eq!(wildcard.is_match(&value), wanted, "{parts:?} strict {strict} on {value:?}");
                let Ok(stars) = wildcard.stars(&value, &Unmetered);
                assert_eq!(stars.is_some(), wanted);
                *if wanted { &mut hits } else { &mut misses } += 1;
                let Some(stars) = stars else { continue };
                // The stars and the pieces are the value.
                assert_eq!(stars.len(), count - 1);
                let mut at = 0;
                for (piece, star) in
                    parts.iter().zip(stars.iter().cloned().chain(std::iter::once(value.len()..value.len())))
                {
                    assert!(value[at..at + piece.len()].eq_ignore_ascii_case(piece));
                    assert_eq!(star.start, at + piece.len());
                    at = star.end;
                }
                assert_eq!(at, value.len());
            }
        }
        assert!(hits > 1_000 && misses > 10_000, "{hits} {misses}");
    }

    #[test]
    fn stars_take_as_little_as_they_can() {
        let wildcard = Wildcard::new([&b"/"[..], b"/", b".", b""], true);
        assert_eq!(wildcard.stars(b"/a/b/c.d.e", &Unmetered), Ok(Some(vec![1..2, 3..6, 7..10])));
        assert_eq!(Wildcard::new([&b""[..], b"b", b""], true).stars(b"abc", &Unmetered), Ok(Some(vec![0..1, 2..3])));
        assert_eq!(Wildcard::new([&b"abc"[..]], true).stars(b"abc", &Unmetered), Ok(Some(vec![])));
        assert_eq!(Wildcard::new([&b"a"[..], b"a"], true).stars(b"a", &Unmetered), Ok(None));
        assert!(Wildcard::new([], true).is_match(b"") && !Wildcard::new([], true).is_match(b"a"));
    }

    /// A searcher for each piece takes more than its text.
    #[test]
    fn each_piece_counts() {
        let bytes = |count: usize, strict| Wildcard::new(vec![&b"ab"[..]; count], strict).heap_bytes();
        assert_eq!([bytes(1, true), bytes(2, true), bytes(2, false)], [2, 4, 4]);
        for (strict, least) in [(true, size_of::<Finder<'_>>() + 2), (false, 10)] {
            let own = bytes(66, strict).saturating_sub(bytes(2, strict)) / 64;
            assert_eq!(own, least + size_of::<Piece>());
        }
    }

    /// Only letters fold: bytes that differ from others by the bit that tells the cases apart do not.
    #[test]
    fn only_ascii_letters_fold() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let same = a.eq_ignore_ascii_case(&b);
                assert_eq!(Wildcard::new([&[a][..]], false).is_match(&[b]), same);
                assert_eq!(Wildcard::new([&b""[..], &[a], b""], false).is_match(&[b'-', b, b'-']), same || a == b'-');
            }
        }
    }

    /// The texts that are worst for a search that begins anew at each place: a work that grows with
    /// the square would take minutes.
    #[test]
    fn every_search_is_linear() {
        let text = vec![b'A'; 1 << 20];
        let mut piece = vec![b'a'; 1 << 12];
        piece.push(b'b');
        for strict in [true, false] {
            let pieces = [&b""[..], &piece, &piece, b""];
            assert!(!Wildcard::new(pieces, strict).is_match(&text));
            let many = vec![&b"a"[..]; 1 << 12];
            assert_eq!(Wildcard::new(many.iter().copied(), strict).is_match(&text), !strict);
        }
    }
}
