//! What helpers return to native code: results in two words, and the status of a failure or a panic.

use super::frame::{BaseFrame, Pair};
use crate::arena::EvalResult;
use crate::function::contained;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::ErrorKind;

/// Runs the body of a helper. If it panics, marks the frame and returns `after_panic`.
#[inline(always)]
pub(super) fn guarded<T>(frame: &BaseFrame<'_>, body: impl FnOnce() -> T, after_panic: T) -> T {
    contained(body).unwrap_or_else(|()| {
        frame.panicked.set(true);
        after_panic
    })
}

/// Returns the words of a failed helper: the error as its status.
#[inline(always)]
pub(super) fn failure(kind: ErrorKind) -> Pair {
    Pair(kind as u64, 0)
}

/// A type that a helper returns in two words.
pub(super) trait ReturnWords<'a>: Sized {
    /// Whether the frame or the arena gets a part of the result.
    const NEEDS_FRAME: bool = false;

    /// Converts a result that needs no frame to words. Text is its address and length. Other types
    /// are 0 and their word.
    fn registers(self) -> Pair {
        failure(ErrorKind::Host)
    }

    /// Converts the result to words: those of [`registers`](Self::registers); a second word of
    /// another type than text is stored in the frame.
    ///
    /// # Errors
    /// `out_of_budget` if the result is stored in the arena and does not fit.
    #[inline(always)]
    fn words(self, _: &BaseFrame<'a>) -> EvalResult<Pair> {
        Ok(self.registers())
    }

    /// Returns the words of an error.
    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        failure(kind)
    }
}

impl<'a> ReturnWords<'a> for bool {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, u64::from(self))
    }
}

impl<'a> ReturnWords<'a> for i64 {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, self.cast_unsigned())
    }
}

impl<'a> ReturnWords<'a> for u64 {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, self)
    }
}

impl<'a> ReturnWords<'a> for f64 {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, self.to_bits())
    }
}

impl<'a> ReturnWords<'a> for &'a str {
    #[inline(always)]
    fn registers(self) -> Pair {
        self.as_bytes().registers()
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        <&[u8]>::failure(kind)
    }
}

impl<'a> ReturnWords<'a> for &'a [u8] {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(self.as_ptr() as u64, self.len() as u64)
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        Pair(0, kind as u64)
    }
}

impl<'a> ReturnWords<'a> for Duration {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, self.0.cast_unsigned())
    }
}

impl<'a> ReturnWords<'a> for Timestamp {
    const NEEDS_FRAME: bool = true;

    #[inline(always)]
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair> {
        frame.out.set(self.nanos.cast_unsigned());
        Ok(Pair(0, self.seconds.cast_unsigned()))
    }
}

impl<'a> ReturnWords<'a> for Value<'a> {
    const NEEDS_FRAME: bool = true;

    #[inline(always)]
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair> {
        frame.cx.arena().alloc(self).map(|value| Pair(0, std::ptr::from_ref(value) as u64))
    }
}

/// A value that is there is not copied.
impl<'a> ReturnWords<'a> for &'a Value<'a> {
    #[inline(always)]
    fn registers(self) -> Pair {
        Pair(0, std::ptr::from_ref(self) as u64)
    }
}

/// Converts a result that may be an error to words.
#[inline(always)]
pub(super) fn pack<'a, T: ReturnWords<'a>>(frame: &BaseFrame<'a>, result: EvalResult<T>) -> Pair {
    result.and_then(|value| value.words(frame)).unwrap_or_else(T::failure)
}

/// Runs the body of a helper that can fail, and returns its result in words.
#[inline(always)]
pub(super) fn attempt<'a, T: ReturnWords<'a>>(frame: &BaseFrame<'a>, body: impl FnOnce() -> EvalResult<T>) -> Pair {
    guarded(frame, || pack(frame, body()), T::failure(ErrorKind::Host))
}
