//! Accessors for numbers, truth values and times that are not in memory as the machine needs them: `extern "C"`
//! functions that write the words of the value.

use celero_ir::layout::{Access, Field, Path, ScalarAccessor};
use celero_ir::{ErrorKind, Ty};

/// A way to see a type as a scalar.
pub(crate) trait ScalarView {
    /// The type that is read.
    type Source;
    /// The type of the value: a truth value, a number, a duration or a timestamp.
    const TY: Ty;
    /// Whether [`words`](Self::words) can fail.
    const FAILS: bool;

    /// Returns the words of the value; the second one is of timestamps only.
    ///
    /// # Errors
    /// `overflow` if CEL cannot hold the value.
    fn words(source: &Self::Source) -> Result<[u64; 2], ErrorKind>;
}

/// The function that [`scalar`] describes. Returns 0, or the code of an error.
///
/// # Safety
/// `address` is the address of a `V::Source` that is neither moved nor changed during the call;
/// `words` can be written to, and nothing else accesses it during the call.
unsafe extern "C" fn scalar_of<V: ScalarView>(address: *const u8, words: *mut [u64; 2]) -> u64 {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let source = unsafe { &*address.cast::<V::Source>() };
    match V::words(source) {
        Ok(value) => {
            // SAFETY: the contract of this function: native code passes a slot of its own stack frame.
            unsafe { words.write(value) };
            0
        }
        Err(kind) => kind as u64,
    }
}

/// The function that [`optional_scalar`] describes: of an empty option it returns the code of `no_such_key`.
///
/// # Safety
/// That of [`scalar_of`], for an option.
unsafe extern "C" fn scalar_in<V: ScalarView>(address: *const u8, words: *mut [u64; 2]) -> u64 {
    // SAFETY: as in `scalar_of`.
    match unsafe { &*address.cast::<Option<V::Source>>() } {
        // SAFETY: the contract of this function; the source is in the option.
        Some(source) => unsafe { scalar_of::<V>(std::ptr::from_ref(source).cast(), words) },
        None => ErrorKind::NoSuchKey as u64,
    }
}

/// Returns how native code reads the scalar that a `V::Source` shows; the path starts at its address.
pub(crate) fn scalar<V: ScalarView>() -> Field {
    let accessor = ScalarAccessor { address: scalar_of::<V> as *const () as usize, fails: V::FAILS, contains: false };
    Field::new(V::TY, false, Access::Scalar(Path(vec![0]), accessor))
}

/// Returns how native code reads that of an `Option<V::Source>`.
pub(crate) fn optional_scalar<V: ScalarView>() -> Field {
    let accessor = ScalarAccessor { address: scalar_in::<V> as *const () as usize, fails: V::FAILS, contains: false };
    Field::new(V::TY, true, Access::Scalar(Path(vec![0]), accessor))
}
