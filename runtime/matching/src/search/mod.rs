//! Whether a needle occurs in a text: vector code for the short texts that requests are made of.
//!
//! Two bytes of the needle that are rare in such texts are looked for at once, in as many places as a vector has bytes;
//! where both stand, the whole needle is compared. A text in which this goes wrong too often is left to `memchr`, so that
//! the time is linear in the text, whatever the text. Nothing outside the text is ever read: what is shorter than a vector
//! is read in two pieces that overlap.

mod rare_pair;
mod scan;
mod vector;

use vector::Level;

/// A needle made ready: which of its bytes to look for, and with which instructions.
#[derive(Clone, Copy, Debug)]
pub struct Searcher<N> {
    needle: N,
    pair: Pair,
    /// Never more than the processor has: only [`Level::detect`] makes one.
    level: Level,
}

/// Two bytes to look for, and where they stand in the needle: `first <= second`, both inside it, but for needles shorter
/// than two bytes, which are searched for without.
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
    pub fn new(needle: N) -> Self {
        let pair = Pair::of(needle.as_ref(), rare_pair::rarest(needle.as_ref()));
        Self { needle, pair, level: Level::detect() }
    }

    /// Whether the needle occurs in the text.
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

    /// [`is_in`](Self::is_in) for callers that are compiled with what [`has_avx2`] asks for.
    ///
    /// # Safety
    /// The processor has it.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub unsafe fn is_in_avx2(&self, text: &[u8]) -> bool {
        let needle = self.needle.as_ref();
        if needle.len() < 2 || text.len() < needle.len() {
            return self.is_in(text);
        }
        // SAFETY: the processor has the vectors, and the rest is what was just seen.
        unsafe { scan::contains_avx2(text, needle, &self.pair) }
    }
}

/// Whether the processor has AVX2, BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
pub fn has_avx2() -> bool {
    Level::detect() == Level::Avx2
}

/// A searcher as native code has it: called by the address of the form for this processor.
#[derive(Debug)]
pub struct DispatchedSearcher<N> {
    searcher: Searcher<N>,
    /// Needs what this processor has.
    form: unsafe fn(&Searcher<N>, &[u8]) -> bool,
}

impl<N: AsRef<[u8]>> DispatchedSearcher<N> {
    /// Prepares a needle, in time linear in its length.
    pub fn new(needle: N) -> Self {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            return Self { searcher: Searcher::new(needle), form: wide };
        }
        Self { searcher: Searcher::new(needle), form: Searcher::is_in }
    }

    /// Whether the needle occurs in the text.
    #[inline]
    pub fn is_in(&self, text: &[u8]) -> bool {
        // SAFETY: the form was chosen by what the processor has.
        unsafe { (self.form)(&self.searcher, text) }
    }
}

/// # Safety
/// That of [`Searcher::is_in_avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn wide<N: AsRef<[u8]>>(searcher: &Searcher<N>, text: &[u8]) -> bool {
    // SAFETY: the contract is the same.
    unsafe { searcher.is_in_avx2(text) }
}

#[cfg(test)]
mod tests;
