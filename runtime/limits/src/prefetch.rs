//! A hint to the processor, which changes nothing that a program sees.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "other code can only call the instruction so"))]

/// The bytes that a processor loads at once.
const LINE: usize = 64;

/// The most lines of one value that are loaded.
const MAX_LINES: usize = 5;

/// Asks the processor to load the first lines of a value, without waiting for them. Does nothing on
/// processors other than x86-64.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    for line in 0..size_of::<T>().div_ceil(LINE).min(MAX_LINES) {
        let address = std::ptr::from_ref(value).cast::<i8>().wrapping_add(line.saturating_mul(LINE));
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has SSE. The instruction reads no memory that the program
        // sees, and any address is valid for it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = address;
    }
}
