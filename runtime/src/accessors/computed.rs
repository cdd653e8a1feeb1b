//! Accessors for fields that a function of the host computes: `extern "C"` functions that call it.
//!
//! A function is known by its type, of which there is one value without bytes, so that an accessor
//! of that type knows which function to call.

use super::text::{Shown, Words, words_of};
use celero_ir::ErrorKind;
use celero_ir::layout::ScalarAccessor;
use std::ptr::NonNull;

/// What is done with the function `F` of a field of type `T`. [`words`](Self::words) and
/// [`show`](Self::show) never panic: they contain what the function does.
pub(crate) trait Computation<'s, T: 's, F> {
    /// The memory for texts that are made.
    type Memory: 'static;

    /// Returns the words of a scalar; the second one is of timestamps only.
    ///
    /// # Errors
    /// The code of the function's error; that of `no_such_key` if there is no value;
    /// [`ScalarAccessor::PANICKED`].
    fn words(function: F, source: &'s T) -> Result<[u64; 2], u64>;

    /// Returns the text if it is in memory.
    fn show(function: F, source: &'s T) -> Shown<'s>;

    /// Makes the text; called where [`show`](Self::show) returns [`Shown::ToBeMade`], or instead of it.
    ///
    /// # Errors
    /// Those of the function; there is not enough memory.
    fn make(function: F, source: &'s T, memory: &'s Self::Memory) -> Result<&'s str, ErrorKind>;
}

/// The value of a type of functions.
///
/// # Safety
/// `F` has no bytes, and there has been a value of it.
unsafe fn function<F: Copy>() -> F {
    // SAFETY: a value without bytes can be read at each address that is aligned and not null. It is
    // a copy of the one that there has been (the contract).
    unsafe { NonNull::<F>::dangling().read() }
}

/// The function that [`scalar`] describes. Returns 0, or what [`Computation::words`] fails with.
///
/// # Safety
/// `address` is the address of a `T` that lives for `'s` and is not changed; `words` can be written
/// to, and nothing else accesses it during the call. `F` as in [`function`].
unsafe extern "C" fn scalar_of<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(
    address: *const u8,
    words: *mut [u64; 2],
) -> u64 {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let (function, source) = unsafe { (function::<F>(), &*address.cast::<T>()) };
    match C::words(function, source) {
        Ok(value) => {
            // SAFETY: the contract of this function: native code passes a slot of its own stack frame.
            unsafe { words.write(value) };
            0
        }
        Err(status) => status,
    }
}

/// The function that [`text`] describes.
///
/// # Safety
/// That of [`scalar_of`].
unsafe extern "C" fn text_of<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(address: *const u8) -> Words {
    // SAFETY: as in `scalar_of`.
    let (function, source) = unsafe { (function::<F>(), &*address.cast::<T>()) };
    words_of(C::show(function, source))
}

/// An accessor of texts that are all made.
extern "C" fn to_be_made(_: *const u8) -> Words {
    words_of(Shown::ToBeMade)
}

/// Whether an accessor is that of texts that are all made.
pub(crate) fn is_always_made(accessor: usize) -> bool {
    accessor == to_be_made as *const () as usize
}

/// Makes the text of a value at an address, as [`MakeText`](super::text::MakeText) says.
///
/// # Safety
/// That of [`scalar_of`].
unsafe fn made_of<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(
    address: *const u8,
    memory: &'s C::Memory,
) -> Result<&'s str, ErrorKind> {
    // SAFETY: as in `scalar_of`. The reference lives as long as the memory is borrowed, within which
    // the text is used.
    let (function, source) = unsafe { (function::<F>(), &*address.cast::<T>()) };
    C::make(function, source, memory)
}

/// Returns how native code reads a scalar that a function computes; `None` for a function that its
/// type does not tell, such as a pointer to one.
pub(crate) fn scalar<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(_: F) -> Option<ScalarAccessor> {
    let address = scalar_of::<'s, T, F, C> as *const () as usize;
    (size_of::<F>() == 0).then_some(ScalarAccessor { address, fails: true, contains: true })
}

/// Returns the accessor of a text that a function computes, and the function that makes it, likewise.
pub(crate) fn text<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(_: F) -> Option<(usize, usize)> {
    let (show, make) = (text_of::<'s, T, F, C> as *const (), made_of::<'s, T, F, C> as *const ());
    (size_of::<F>() == 0).then_some((show as usize, make as usize))
}

/// The same of a text that is always copied.
pub(crate) fn text_copied<'s, T: 's, F: Copy, C: Computation<'s, T, F>>(_: F) -> Option<(usize, usize)> {
    let (show, make) = (to_be_made as *const (), made_of::<'s, T, F, C> as *const ());
    (size_of::<F>() == 0).then_some((show as usize, make as usize))
}
