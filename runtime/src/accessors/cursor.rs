//! Cursors over lists, maps and sets whose elements are not contiguous: functions that begin an
//! iteration and give the addresses of its next item, which native code reads where it is. The
//! iterator is their state.

use celero_ir::layout::{Cursor, Items, Path};

/// The addresses of an item, as the C ABI returns two words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ItemAddresses {
    first: *const u8,
    second: *const u8,
}

impl ItemAddresses {
    /// Those of an element.
    pub(crate) fn element<T>(element: &T) -> Self {
        Self { first: std::ptr::from_ref(element).cast(), second: std::ptr::null() }
    }

    /// Those of an entry.
    pub(crate) fn entry<K, T>((key, value): (&K, &T)) -> Self {
        Self { first: std::ptr::from_ref(key).cast(), second: std::ptr::from_ref(value).cast() }
    }
}

/// What a cursor goes over. Its iterator is one of the standard library or of `http`: it runs no
/// code of the host's, and gives as many items as it says.
pub(crate) trait Iterated {
    /// The iterator.
    type Iter<'a>: ExactSizeIterator
    where
        Self: 'a;

    /// Begins an iteration.
    fn begin(&self) -> Self::Iter<'_>;

    /// The next item.
    fn next<'a>(iter: &mut Self::Iter<'a>) -> Option<ItemAddresses>
    where
        Self: 'a;
}

/// The function that [`Cursor::begin`] describes.
///
/// # Safety
/// `range` is the address of a `V` that is neither moved nor changed for as long as the state is
/// used; `state` is that of as many bytes as an iterator has, aligned to 8.
unsafe extern "C" fn begin_of<V: Iterated>(range: *const u8, state: *mut u8) -> usize {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that
    // `Context::fields` describes, in a host that is borrowed for the whole evaluation.
    let iter = unsafe { &*range.cast::<V>() }.begin();
    let count = iter.len();
    // SAFETY: the contract of this function; `state_size` refuses other alignments.
    unsafe { state.cast::<V::Iter<'_>>().write(iter) };
    count
}

/// The same of an option.
///
/// # Safety
/// That of [`begin_of`], for an `Option<V>`.
unsafe extern "C" fn begin_of_option<V: Iterated>(range: *const u8, state: *mut u8) -> usize {
    // SAFETY: that of `begin_of`.
    match unsafe { &*range.cast::<Option<V>>() } {
        // SAFETY: that of `begin_of`.
        Some(range) => unsafe { begin_of::<V>(std::ptr::from_ref(range).cast(), state) },
        None => Cursor::ABSENT,
    }
}

/// The function that [`Cursor::next`] describes.
///
/// # Safety
/// `state` was filled by [`begin_of`], and this function was called with it less often than that said.
unsafe extern "C" fn next_of<V: Iterated>(state: *mut u8) -> ItemAddresses {
    // SAFETY: the contract of this function: the state is an iterator, and nothing else refers to
    // it.
    let next = V::next(unsafe { &mut *state.cast::<V::Iter<'_>>() });
    // An iterator gives as many items as it says.
    next.unwrap_or(ItemAddresses { first: std::ptr::null(), second: std::ptr::null() })
}

/// The bytes of an iterator, if native code has memory for it that need not be dropped.
fn state_size<'a, V: Iterated + 'a>() -> Option<u32> {
    let fits = align_of::<V::Iter<'a>>() <= 8 && !std::mem::needs_drop::<V::Iter<'a>>();
    u32::try_from(size_of::<V::Iter<'a>>()).ok().filter(|&size| fits && size <= MOST)
}

/// Most bytes of a state: that of a tree map has nine words.
const MOST: u32 = 128;

/// How native code goes over a `V`, or over an option of it, whose items it reads like this.
pub(crate) fn cursor<V: Iterated>(optional: bool, items: Items) -> Option<Cursor> {
    let begin = if optional { begin_of_option::<V> as *const () } else { begin_of::<V> as *const () };
    let (path, state) = (Path(vec![0]), state_size::<V>()?);
    Some(Cursor { path, begin: begin as usize, next: next_of::<V> as *const () as usize, state, items })
}
