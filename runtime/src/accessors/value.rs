//! Accessors for values of any type: `extern "C"` functions that write one to memory of native code.

use celero_ir::layout::{Access, Path};

/// A type that is shown as a value, without a copy of what is in it.
pub(crate) trait ValueView {
    /// The value, in the layout of [`celero_ir::layout::value`].
    type Value<'s>
    where
        Self: 's;

    /// Returns the value, or `None` if it is absent.
    fn show(&self) -> Option<Self::Value<'_>>;
}

/// The function that [`value_access`] describes. Returns 1 if there is a value, else 0.
///
/// # Safety
/// `address` is the address of a `T` that lives for `'s` and is not changed; `room` can be written
/// to, and nothing else accesses it during the call.
unsafe extern "C" fn value_of<'s, T: ValueView + 's>(address: *const u8, room: *mut T::Value<'s>) -> u64 {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let value = unsafe { &*address.cast::<T>() }.show();
    let present = u64::from(value.is_some());
    if let Some(value) = value {
        // SAFETY: the contract of this function: native code passes a slot of its own stack frame.
        unsafe { room.write(value) };
    }
    present
}

/// Returns how native code reads the value that a `T` shows; the path starts at its address.
pub(crate) fn value_access<T: ValueView>() -> Access {
    Access::Filled(Path(vec![0]), value_of::<T> as *const () as usize)
}
