//! Substring search with vector instructions, for the short texts that requests consist of.
//!
//! The search compares two bytes of the needle that are rare in such texts, at as many offsets at
//! once as a vector has bytes. Where both bytes match, it compares the whole needle. If that fails
//! too often, it leaves the rest of the text to `memchr`, so that the time is always linear in the
//! text. It never reads outside the text: what is shorter than a vector is read in two pieces that
//! overlap.
//!
//! Invariant: a search takes time linear in the length of the text, for every text and every needle. Test:
//! `runtime/matching/src/search/tests.rs::time_is_linear_in_hostile_texts`.

mod rare_pair;
mod scan;
mod vector;

use vector::Level;

/// Searches texts for one needle.
///
/// Use it for one needle in many short texts. On texts of up to some hundred bytes it is faster
/// than [`memchr::memmem`], whose setup costs more; on long texts the two are about equal.
///
/// ```
/// use celero_matching::Searcher;
///
/// let traversal = Searcher::new("../");
/// assert!(traversal.is_in(b"/static/../../etc/passwd"));
/// assert!(!traversal.is_in(b"/static/app.js"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Searcher<N> {
    needle: N,
    pair: Pair,
    /// At most what the processor has: only [`Level::detect`] creates one.
    level: Level,
}

/// Two bytes of the needle and their offsets: `first <= second`, both inside the needle. Not used
/// for needles shorter than two bytes.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: u8,
    second: u8,
    rare: u8,
    also: u8,
}

impl Pair {
    fn of(needle: &[u8], (first, second): (u8, u8)) -> Self {
        let byte = |at: u8| needle.get(usize::from(at)).copied().unwrap_or(0);
        Self { first, second, rare: byte(first), also: byte(second) }
    }
}

impl<N: AsRef<[u8]>> Searcher<N> {
    /// Prepares a needle, in time linear in its length.
    #[must_use]
    pub fn new(needle: N) -> Self {
        let pair = Pair::of(needle.as_ref(), rare_pair::rarest(needle.as_ref()));
        Self { needle, pair, level: Level::detect() }
    }

    /// Returns whether the needle occurs in `text`, in time linear in the text.
    #[must_use]
    #[inline(always)]
    pub fn is_in(&self, text: &[u8]) -> bool {
        let needle = self.needle.as_ref();
        if needle.len() < 2 || text.len() < needle.len() {
            return match needle {
                [] => true,
                [byte] => scan::contains_byte(self.level, text, *byte),
                _ => false,
            };
        }
        scan::contains(self.level, text, needle, &self.pair)
    }

    /// The needle.
    pub(crate) fn needle(&self) -> &N {
        &self.needle
    }

    /// [`is_in`](Self::is_in) for functions that are compiled with AVX2, BMI1 and BMI2, into which it can be inlined.
    ///
    /// # Safety
    /// The processor must have these: [`has_avx2`] must have returned true.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub unsafe fn is_in_avx2(&self, text: &[u8]) -> bool {
        let needle = self.needle.as_ref();
        if needle.len() < 2 || text.len() < needle.len() {
            return self.is_in(text);
        }
        // SAFETY: the processor has the instructions, the needle has two bytes or more and is not
        // longer than the text, and the pair was made from it.
        unsafe { scan::contains_avx2(text, needle, &self.pair) }
    }
}

/// Returns whether the processor has AVX2, BMI1 and BMI2. The result is cached by the standard library.
#[must_use]
#[cfg(target_arch = "x86_64")]
pub fn has_avx2() -> bool {
    Level::detect() == Level::Avx2
}

/// A [`Searcher`] that selects the code for this processor once, when it is created, and calls it through a pointer.
///
/// Use it where the call can't be inlined anyway, such as from generated code.
#[derive(Debug)]
pub struct DispatchedSearcher<N> {
    searcher: Searcher<N>,
    /// Compiled for instructions that this processor has.
    search: unsafe fn(&Searcher<N>, &[u8]) -> bool,
}

impl<N: AsRef<[u8]>> DispatchedSearcher<N> {
    /// Prepares a needle, in time linear in its length.
    #[must_use]
    pub fn new(needle: N) -> Self {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            return Self { searcher: Searcher::new(needle), search: search_avx2 };
        }
        Self { searcher: Searcher::new(needle), search: Searcher::is_in }
    }

    /// Returns whether the needle occurs in `text`, in time linear in the text.
    #[must_use]
    #[inline]
    pub fn is_in(&self, text: &[u8]) -> bool {
        // SAFETY: the function was chosen by what the processor has.
        unsafe { (self.search)(&self.searcher, text) }
    }
}

/// # Safety
/// That of [`Searcher::is_in_avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn search_avx2<N: AsRef<[u8]>>(searcher: &Searcher<N>, text: &[u8]) -> bool {
    // SAFETY: the contract is the same.
    unsafe { searcher.is_in_avx2(text) }
}

#[cfg(test)]
mod tests;
