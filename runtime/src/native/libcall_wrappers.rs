//! The wrappers of library functions that native code calls, generated from the table `celero_ir::for_each_helper`.
//!
//! Each wrapper converts the words of its operands to Rust types, calls the library function with the name of the row, and
//! returns its result in words. Rows with an operand or a result of kind `word` are written by hand in [`libcalls`].
//!
//! No wrapper unwinds: a panic below it, which would be a defect, is caught here and ends the evaluation with an error.

use super::frame::{BaseFrame, Pair};
use super::ip_of_words;
use super::libcalls;
use crate::arena::EvalResult;
use crate::function::contained;
use crate::library::helper_functions as library;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::{ErrorKind, Helper};

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
    /// Converts the result to words. Text is its address and length. Other types are 0 and their first word; a second word is
    /// stored in the frame.
    ///
    /// # Errors
    /// `out_of_budget` if the result is stored in the arena and does not fit.
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair>;

    /// Returns the words of an error.
    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        failure(kind)
    }
}

impl<'a> ReturnWords<'a> for bool {
    #[inline(always)]
    fn words(self, _: &BaseFrame<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, u64::from(self)))
    }
}

impl<'a> ReturnWords<'a> for i64 {
    #[inline(always)]
    fn words(self, _: &BaseFrame<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, self.cast_unsigned()))
    }
}

impl<'a> ReturnWords<'a> for &'a str {
    #[inline(always)]
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair> {
        self.as_bytes().words(frame)
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        <&[u8]>::failure(kind)
    }
}

impl<'a> ReturnWords<'a> for &'a [u8] {
    #[inline(always)]
    fn words(self, _: &BaseFrame<'a>) -> EvalResult<Pair> {
        Ok(Pair(self.as_ptr() as u64, self.len() as u64))
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        Pair(0, kind as u64)
    }
}

impl<'a> ReturnWords<'a> for Duration {
    #[inline(always)]
    fn words(self, _: &BaseFrame<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, self.0.cast_unsigned()))
    }
}

impl<'a> ReturnWords<'a> for Timestamp {
    #[inline(always)]
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair> {
        frame.out.set(self.nanos.cast_unsigned());
        Ok(Pair(0, self.seconds.cast_unsigned()))
    }
}

impl<'a> ReturnWords<'a> for Value<'a> {
    #[inline(always)]
    fn words(self, frame: &BaseFrame<'a>) -> EvalResult<Pair> {
        frame.cx.arena().alloc(self).map(|value| Pair(0, std::ptr::from_ref(value) as u64))
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

/// Expands to the address of one helper's wrapper. Each step of the recursion consumes one operand type and adds its parameters;
/// the names `p`, `n` and `v` may repeat, because each step has its own hygiene.
macro_rules! wrapper {
    // Rows with a `word` are written by hand.
    (@types $name:ident $result:tt [word $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        libcalls::$name as *const () as usize
    };
    (@types $name:ident [try word] $types:tt $params:tt $args:tt) => { libcalls::$name as *const () as usize };
    (@types $name:ident $result:tt [str $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* {
            // SAFETY: native code passes the two words of a `str` node: valid UTF-8 that outlives the evaluation.
            unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(p, n)) }
        },))
    };
    (@types $name:ident $result:tt [bytes $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* {
            // SAFETY: native code passes the two words of a node that is bytes: readable, and outliving the evaluation.
            unsafe { std::slice::from_raw_parts(p, n) }
        },))
    };
    (@types $name:ident $result:tt [raw $($rest:ident)*] $params:tt $args:tt) => {
        wrapper!(@types $name $result [bytes $($rest)*] $params $args)
    };
    (@types $name:ident $result:tt [value $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* v: *const Value<'_>,) ($($args)* {
            // SAFETY: native code passes the address of a value: a constant's, one in the arena, or one in its own frame.
            unsafe { *v }
        },))
    };
    (@types $name:ident $result:tt [ip $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* high: u64, low: u64,) ($($args)* {
            ip_of_words([high, low])
        },))
    };
    (@types $name:ident $result:tt [int $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* v: i64,) ($($args)* { v },))
    };
    (@types $name:ident $result:tt [duration $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* v: i64,) ($($args)* { Duration(v) },))
    };
    (@types $name:ident $result:tt [timestamp $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        wrapper!(@types $name $result [$($rest)*] ($($params)* seconds: i64, nanos: i64,) ($($args)* {
            Timestamp { seconds, nanos }
        },))
    };
    (@types $name:ident [try $result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const BaseFrame<'a>, $($params)*) -> Pair {
            // SAFETY: native code passes on the frame that it was called with, which is one or begins with one.
            let frame = unsafe { &*frame };
            attempt(frame, || library::$name(&frame.cx, $($args)*))
        }
        $name as *const () as usize
    }};
    (@types $name:ident [$result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const BaseFrame<'a>, $($params)*) -> u64 {
            // SAFETY: as above.
            let frame = unsafe { &*frame };
            guarded(frame, || library::$name(&frame.cx, $($args)*).words(frame).map_or(0, |Pair(_, word)| word), 0)
        }
        $name as *const () as usize
    }};
}

/// Helpers that have a faster form for this processor, with the address of that form.
fn for_this_processor() -> Vec<(Helper, usize)> {
    #[cfg(target_arch = "x86_64")]
    if celero_matching::search::has_avx2() {
        return vec![(Helper::searcher_find, libcalls::searcher_find_wide as *const () as usize)];
    }
    Vec::new()
}

macro_rules! addresses {
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+;)*) => {
        /// Returns the addresses of all helpers, in the order of the table.
        pub(super) fn addresses() -> [usize; Helper::COUNT] {
            let mut all = [$(wrapper!(@types $name [$($result)+] [$($ty)*] () ())),*];
            for (helper, faster) in for_this_processor() {
                if let Some(address) = all.get_mut(helper as usize) {
                    *address = faster;
                }
            }
            all
        }
    };
}

celero_ir::for_each_helper!(addresses);
