//! Accessors for text and bytes: `extern "C"` functions that return the address and the length of what a value shows.

use celero_ir::layout::{Access, EnumTags, Path};
use std::marker::PhantomData;

/// A way to see a type as text or bytes without building anything.
pub(crate) trait TextView {
    /// The type that is read.
    type Source;

    /// Returns the bytes, or `None` if they are absent.
    fn text(source: &Self::Source) -> Option<&[u8]>;
}

/// The view of an option: absent, or what the view of the inner type shows.
#[derive(Debug)]
pub(crate) struct OrAbsent<V>(PhantomData<V>);

impl<V: TextView> TextView for OrAbsent<V> {
    type Source = Option<V::Source>;

    fn text(source: &Self::Source) -> Option<&[u8]> {
        source.as_ref().and_then(V::text)
    }
}

/// An address and a length, as the C ABI returns two words. A null address means absence.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Words {
    pub(super) address: *const u8,
    pub(super) length: usize,
}

/// The function that [`text_access`] describes.
///
/// # Safety
/// `address` is the address of a `V::Source` that is neither moved nor changed for as long as the returned words are used.
unsafe extern "C" fn text_of<V: TextView>(address: *const u8) -> Words {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let source = unsafe { &*address.cast::<V::Source>() };
    match V::text(source) {
        Some(text) => Words { address: text.as_ptr(), length: text.len() },
        None => Words { address: std::ptr::null(), length: 0 },
    }
}

/// Returns how native code reads the text of a `V::Source`; the path starts at its address.
pub(crate) fn text_access<V: TextView>() -> Access {
    Access::Text(Path(vec![0]), text_of::<V> as *const () as usize)
}

/// Returns how native code reads the text of a `V::Source` that is usually one of these names.
pub(crate) fn named_access<V: TextView>(names: EnumTags) -> Access {
    Access::Tagged(Path(vec![0]), names, text_of::<V> as *const () as usize)
}
