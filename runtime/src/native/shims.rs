//! The helpers that native code calls, made from the table in `celero_ir`: each unpacks its operands' words, calls the
//! function of the library with the row's name, and packs the answer. Rows with a `word` are written out in
//! [`manual`](super::manual).
//!
//! No helper unwinds: a panic below it, which would be a defect, is caught here and ends the evaluation with an error.

use super::frame::{Base, Pair};
use super::ip_of_words;
use super::manual;
use crate::arena::EvalResult;
use crate::function::contained;
use crate::library::helpers as library;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::{ErrorKind, Helper};

/// Runs a helper's body; after a panic the frame is marked and the answer is `after_panic`.
#[inline(always)]
pub(super) fn guarded<T>(frame: &Base<'_>, body: impl FnOnce() -> T, after_panic: T) -> T {
    contained(body).unwrap_or_else(|()| {
        frame.panicked.set(true);
        after_panic
    })
}

/// The status of a failed helper.
#[inline(always)]
pub(super) fn failure(kind: ErrorKind) -> Pair {
    Pair(kind as u64, 0)
}

/// A result in words.
pub(super) trait Answer<'a>: Sized {
    /// The words that are returned: for text both of its own, else 0 and the first; a second one is left in the frame.
    fn words(self, frame: &Base<'a>) -> EvalResult<Pair>;

    /// The words of a failure.
    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        failure(kind)
    }
}

impl<'a> Answer<'a> for bool {
    #[inline(always)]
    fn words(self, _: &Base<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, u64::from(self)))
    }
}

impl<'a> Answer<'a> for i64 {
    #[inline(always)]
    fn words(self, _: &Base<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, self.cast_unsigned()))
    }
}

impl<'a> Answer<'a> for &'a str {
    #[inline(always)]
    fn words(self, frame: &Base<'a>) -> EvalResult<Pair> {
        self.as_bytes().words(frame)
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        <&[u8]>::failure(kind)
    }
}

impl<'a> Answer<'a> for &'a [u8] {
    #[inline(always)]
    fn words(self, _: &Base<'a>) -> EvalResult<Pair> {
        Ok(Pair(self.as_ptr() as u64, self.len() as u64))
    }

    #[inline(always)]
    fn failure(kind: ErrorKind) -> Pair {
        Pair(0, kind as u64)
    }
}

impl<'a> Answer<'a> for Duration {
    #[inline(always)]
    fn words(self, _: &Base<'a>) -> EvalResult<Pair> {
        Ok(Pair(0, self.0.cast_unsigned()))
    }
}

impl<'a> Answer<'a> for Timestamp {
    #[inline(always)]
    fn words(self, frame: &Base<'a>) -> EvalResult<Pair> {
        frame.out.set(self.nanos.cast_unsigned());
        Ok(Pair(0, self.seconds.cast_unsigned()))
    }
}

impl<'a> Answer<'a> for Value<'a> {
    #[inline(always)]
    fn words(self, frame: &Base<'a>) -> EvalResult<Pair> {
        frame.cx.arena().alloc_value(self).map(|value| Pair(0, std::ptr::from_ref(value) as u64))
    }
}

/// Packs a fallible answer.
#[inline(always)]
pub(super) fn pack<'a, T: Answer<'a>>(frame: &Base<'a>, result: EvalResult<T>) -> Pair {
    result.and_then(|value| value.words(frame)).unwrap_or_else(T::failure)
}

/// Runs the body of a helper that can fail.
#[inline(always)]
pub(super) fn attempt<'a, T: Answer<'a>>(frame: &Base<'a>, body: impl FnOnce() -> EvalResult<T>) -> Pair {
    guarded(frame, || pack(frame, body()), T::failure(ErrorKind::Host))
}

/// Makes the address of one helper. Works through the operands' types one by one; each step's names are its own, because
/// macros are hygienic.
macro_rules! shim {
    // A row with a word is written by hand.
    (@types $name:ident $result:tt [word $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        manual::$name as *const () as usize
    };
    (@types $name:ident [try word] $types:tt $params:tt $args:tt) => { manual::$name as *const () as usize };
    (@types $name:ident $result:tt [str $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* {
            // SAFETY: native code passes the two words of a `str` node: valid UTF-8 that outlives the evaluation.
            unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(p, n)) }
        },))
    };
    (@types $name:ident $result:tt [bytes $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* {
            // SAFETY: native code passes the two words of a node that is bytes: readable, and outliving the evaluation.
            unsafe { std::slice::from_raw_parts(p, n) }
        },))
    };
    (@types $name:ident $result:tt [raw $($rest:ident)*] $params:tt $args:tt) => {
        shim!(@types $name $result [bytes $($rest)*] $params $args)
    };
    (@types $name:ident $result:tt [value $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* v: *const Value<'_>,) ($($args)* {
            // SAFETY: native code passes the address of a value: a constant's, one in the arena, or one in its own frame.
            unsafe { *v }
        },))
    };
    (@types $name:ident $result:tt [ip $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* high: u64, low: u64,) ($($args)* {
            ip_of_words([high, low])
        },))
    };
    (@types $name:ident $result:tt [int $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* v: i64,) ($($args)* { v },))
    };
    (@types $name:ident $result:tt [duration $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* v: i64,) ($($args)* { Duration(v) },))
    };
    (@types $name:ident $result:tt [timestamp $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        shim!(@types $name $result [$($rest)*] ($($params)* seconds: i64, nanos: i64,) ($($args)* {
            Timestamp { seconds, nanos }
        },))
    };
    (@types $name:ident [try $result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const Base<'a>, $($params)*) -> Pair {
            // SAFETY: native code passes on the frame that it was called with, which is one or begins with one.
            let frame = unsafe { &*frame };
            attempt(frame, || library::$name(&frame.cx, $($args)*))
        }
        $name as *const () as usize
    }};
    (@types $name:ident [$result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const Base<'a>, $($params)*) -> u64 {
            // SAFETY: as above.
            let frame = unsafe { &*frame };
            guarded(frame, || library::$name(&frame.cx, $($args)*).words(frame).map_or(0, |Pair(_, word)| word), 0)
        }
        $name as *const () as usize
    }};
}

/// The helpers of which there is a better form for this processor, and its address.
fn for_this_processor() -> Vec<(Helper, usize)> {
    #[cfg(target_arch = "x86_64")]
    if celero_matching::search::has_avx2() {
        return vec![(Helper::searcher_find, manual::searcher_find_wide as *const () as usize)];
    }
    Vec::new()
}

macro_rules! addresses {
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+;)*) => {
        /// The addresses of all helpers, in the order of the table.
        pub(super) fn addresses() -> [usize; Helper::COUNT] {
            let mut all = [$(shim!(@types $name [$($result)+] [$($ty)*] () ())),*];
            for (helper, better) in for_this_processor() {
                if let Some(address) = all.get_mut(helper as usize) {
                    *address = better;
                }
            }
            all
        }
    };
}

celero_ir::for_each_helper!(addresses);
