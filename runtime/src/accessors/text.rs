//! Accessors for text and bytes: `extern "C"` functions that return the address and the length of what a value shows.

use celero_ir::ErrorKind;
use celero_ir::layout::{Access, EnumTags, Path, TO_BE_MADE};
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

/// What a view shows of a value whose text may have to be made.
pub(crate) enum Shown<'s> {
    /// The text, which is in memory.
    Text(&'s str),
    /// No text.
    Absent,
    /// A text that [`MostlyTextView::make`] makes.
    ToBeMade,
}

/// A way to see a type as text that exists in memory for most values, and is made for the others.
pub(crate) trait MostlyTextView {
    /// The type that is read.
    type Source<'a>;
    /// The memory for texts that are made.
    type Memory;

    /// Returns the text if it is in memory.
    fn show<'s>(source: &'s Self::Source<'_>) -> Shown<'s>;

    /// Makes the text; called where [`show`](Self::show) returns [`Shown::ToBeMade`].
    ///
    /// # Errors
    /// There is not enough memory.
    fn make<'s>(source: &'s Self::Source<'_>, memory: &'s Self::Memory) -> Result<&'s str, ErrorKind>;
}

/// An address and a length, as the C ABI returns two words. A null address means absence.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Words {
    pub(crate) address: *const u8,
    pub(crate) length: usize,
}

/// The function that [`text_access`] describes.
///
/// # Safety
/// `address` is the address of a `V::Source` that is neither moved nor changed for as long as the
/// returned words are used.
unsafe extern "C" fn text_of<V: TextView>(address: *const u8) -> Words {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let source = unsafe { &*address.cast::<V::Source>() };
    match V::text(source) {
        Some(text) => Words { address: text.as_ptr(), length: text.len() },
        None => Words { address: std::ptr::null(), length: 0 },
    }
}

/// The first function that [`mostly_text_access`] describes.
///
/// # Safety
/// That of [`text_of`].
unsafe extern "C" fn shown_text_of<V: MostlyTextView>(address: *const u8) -> Words {
    // SAFETY: that of `text_of`.
    let source = unsafe { &*address.cast::<V::Source<'_>>() };
    words_of(V::show(source))
}

/// The words of what a view shows, as [`Access::MostlyText`] says.
pub(crate) fn words_of(shown: Shown<'_>) -> Words {
    match shown {
        // The address of an empty text may be any number but 0, so also that of a text to be made.
        // Statics are not at such addresses.
        Shown::Text("") => Words { address: EMPTY.as_ptr(), length: 0 },
        Shown::Text(text) => Words { address: text.as_ptr(), length: text.len() },
        Shown::Absent => Words { address: std::ptr::null(), length: 0 },
        Shown::ToBeMade => Words { address: std::ptr::without_provenance(TO_BE_MADE), length: 0 },
    }
}

/// Where empty texts are.
static EMPTY: [u8; 1] = [0];

/// Makes the text of a value at an address: the second function that [`mostly_text_access`] describes.
pub(crate) type MakeText<M> = for<'s> unsafe fn(*const u8, &'s M) -> Result<&'s str, ErrorKind>;

/// # Safety
/// `address` is the address of a `V::Source` that is neither moved nor changed for as long as the
/// returned text is used.
unsafe fn made_text_of<V: MostlyTextView + 'static>(address: *const u8, memory: &V::Memory) -> Result<&str, ErrorKind> {
    // SAFETY: the contract of this function. The reference lives as long as the memory is borrowed,
    // within which the text is used.
    V::make(unsafe { &*address.cast::<V::Source<'_>>() }, memory)
}

/// Returns how native code reads the text of a `V::Source`; the path starts at its address.
pub(crate) fn mostly_text_access<V: MostlyTextView + 'static>() -> Access {
    let make: MakeText<V::Memory> = made_text_of::<V>;
    Access::MostlyText(Path(vec![0]), shown_text_of::<V> as *const () as usize, make as *const () as usize)
}

/// Returns how native code reads the text of a `V::Source`; the path starts at its address.
pub(crate) fn text_access<V: TextView>() -> Access {
    Access::Text(Path(vec![0]), text_of::<V> as *const () as usize)
}

/// Returns how native code reads the text of a `V::Source` that is usually one of these names.
pub(crate) fn named_access<V: TextView>(names: EnumTags) -> Access {
    Access::Tagged(Path(vec![0]), names, text_of::<V> as *const () as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::NonNull;

    /// A text at an address, of this length.
    struct Given;

    impl MostlyTextView for Given {
        type Source<'a> = &'a str;
        type Memory = ();

        fn show<'s>(source: &'s Self::Source<'_>) -> Shown<'s> {
            Shown::Text(source)
        }

        fn make<'s>(_: &'s Self::Source<'_>, (): &'s ()) -> Result<&'s str, ErrorKind> {
            Err(ErrorKind::Host)
        }
    }

    #[test]
    fn an_empty_text_is_not_one_to_be_made() {
        // SAFETY: a slice of no bytes may be at any address that is not null.
        let bytes = unsafe { std::slice::from_raw_parts(NonNull::<u8>::dangling().as_ptr(), 0) };
        let empty = std::str::from_utf8(bytes).unwrap_or("not UTF-8");
        assert_eq!(empty.as_ptr().addr(), TO_BE_MADE);
        for text in [empty, "", "text"] {
            // SAFETY: the address of a source that outlives the words.
            let words = unsafe { shown_text_of::<Given>(std::ptr::from_ref(&text).cast()) };
            assert!(!words.address.is_null() && words.address.addr() != TO_BE_MADE, "{text:?}");
            assert_eq!(words.length, text.len());
        }
    }
}
