//! Sees a value as another type with the same layout, so that a trait can be implemented for it without a copy.

/// A value of the host as a map of its fields.
#[repr(transparent)]
pub(crate) struct Record<T>(pub(crate) T);

impl<T> Record<T> {
    /// Returns the same value.
    pub(crate) fn of(value: &T) -> &Self {
        // SAFETY: a `Record<T>` has the layout of a `T` (`repr(transparent)`), and the reference lives as long.
        unsafe { &*std::ptr::from_ref(value).cast::<Self>() }
    }
}
