//! The wrappers of library functions that native code calls, generated from the table `celero_ir::for_each_helper`.
//!
//! Each wrapper converts the words of its operands to Rust types, calls the library function with
//! the name of the row, and returns its result in words. Rows with an operand or a result of kind
//! `word` are written by hand in [`libcalls`].
//!
//! Invariant: a helper does not unwind into native code: a panic of the host ends the evaluation with an error. Test:
//! `runtime/tests/it/hostile_hosts.rs::panics_of_the_host_end_the_evaluation`.

use super::frame::{BaseFrame, Pair};
use super::helper_result::{ReturnWords, attempt, guarded};
use super::ip_of_words;
use super::libcalls;
use crate::library::helper_functions as library;
use crate::value::Value;
use celero_ir::Helper;

/// Expands to the address of one helper's wrapper. Each step of the recursion consumes one operand
/// type and adds its parameters; the names `p`, `n` and `v` may repeat, because each step has its
/// own hygiene.
macro_rules! wrapper {
    // Rows with a `word` are written by hand.
    (@types $name:ident $result:tt [word $($rest:ident)*] ($($params:tt)*) ($($args:tt)*)) => {
        libcalls::$name as *const () as usize
    };
    (@types $name:ident [$(frameless)? try word] $types:tt $params:tt $args:tt) => { libcalls::$name as *const () as usize };
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
            // SAFETY: native code passes the address of a value: a constant's, one in the arena, or
            // one in its own frame.
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
    (@types $name:ident [try $result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const BaseFrame<'a>, $($params)*) -> Pair {
            // SAFETY: native code passes on the frame that it was called with, which is one or begins with one.
            let frame = unsafe { &*frame };
            attempt(frame, || library::$name(&frame.cx, $($args)*))
        }
        $name as *const () as usize
    }};
    (@types $name:ident [frameless $result:ident] [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn $name<'a>(frame: *const BaseFrame<'a>, $($params)*) -> u64 {
            // SAFETY: as above, or 0.
            let cx = unsafe { frame.as_ref() }.map(|frame| &frame.cx);
            let Pair(_, word) = library::$name(cx, $($args)*).registers();
            word
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
