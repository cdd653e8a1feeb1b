//! Functions that return the address and the number of the elements of a list, for lists whose
//! layout std does not promise, and for options of lists.

use super::text::Words;
use celero_ir::layout::Place;

/// The function that [`slice_by_call`] describes.
///
/// # Safety
/// `address` is that of a `V` that is neither moved nor changed for as long as the returned words are used.
unsafe extern "C" fn slice_of<V: AsRef<[T]>, T>(address: *const u8) -> Words {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that
    // `Context::fields` describes, in a host that is borrowed for the whole evaluation.
    let slice = unsafe { &*address.cast::<V>() }.as_ref();
    Words { address: slice.as_ptr().cast(), length: slice.len() }
}

/// The function that [`optional_slice`] describes.
///
/// # Safety
/// That of [`slice_of`], for an `Option<V>`.
unsafe extern "C" fn slice_or_null_of<V: AsRef<[T]>, T>(address: *const u8) -> Words {
    // SAFETY: that of `slice_of`.
    match unsafe { &*address.cast::<Option<V>>() } {
        // The address of a slice is never null.
        Some(list) => Words { address: list.as_ref().as_ptr().cast(), length: list.as_ref().len() },
        None => Words { address: std::ptr::null(), length: 0 },
    }
}

/// Where the elements of a list are, for native code with its address. `V` is a type of the
/// standard library, which gives the same slice each time and does not panic.
pub(crate) fn slice_by_call<V: AsRef<[T]>, T>() -> Place {
    Place::Call(slice_of::<V, T> as *const () as usize)
}

/// Where the elements of a list in an option are, likewise.
pub(crate) fn optional_slice<V: AsRef<[T]>, T>() -> Place {
    Place::Call(slice_or_null_of::<V, T> as *const () as usize)
}
