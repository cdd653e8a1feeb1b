//! Where vectors, strings and slices store the address and the length of their content.
//!
//! Native code reads these two words without a call. The language does not define their order, so
//! it is found out here: for `Vec` and `String` from a value made for this, at run time; for `&str`
//! and `&[u8]` in a constant that fails to compile if the order is another than
//! [`Repr::Slice`](celero_ir::layout::Repr::Slice) expects.

use super::text::Words;

/// The offset in bytes of the word that holds the address, and the offset of the length from that word.
pub(crate) type WordOffsets = (u32, i32);

/// Finds the words of a vector-like value that hold `address` and `length`.
///
/// Returns `None` if `T` is not `N` words large, or if either number is in none or several of the
/// words. Fields of such a type are then read through an accessor.
///
/// # Safety
/// All bytes of `value` are initialised: `T` has no padding.
unsafe fn offsets_in<T, const N: usize>(value: &T, address: *const u8, length: usize) -> Option<WordOffsets> {
    if size_of::<T>() != size_of::<[usize; N]>() || align_of::<T>() != align_of::<usize>() {
        return None;
    }
    // SAFETY: size and alignment are those of `N` words (checked above), and all bytes are
    // initialised (the contract).
    let words = unsafe { std::ptr::from_ref(value).cast::<[usize; N]>().read() };
    let only = |wanted: usize| {
        let mut found = words.iter().zip([0_i32, 8, 16]).filter(|(word, _)| **word == wanted);
        found.next().filter(|_| found.next().is_none()).map(|(_, offset)| offset)
    };
    let (address, length) = (only(address.addr())?, only(length)?);
    Some((address.unsigned_abs(), length.checked_sub(address)?))
}

/// Largest element of which some are allocated to see where their address is.
const MAX_PROBED_BYTES: usize = 1 << 16;

fn has_probed_size<T>() -> bool {
    size_of::<T>() > 0 && size_of::<T>() <= MAX_PROBED_BYTES
}

/// Returns where a `Vec<T>` stores the address and the number of its elements, if that can be found out.
pub(crate) fn vec_offsets<T>() -> Option<WordOffsets> {
    if !has_probed_size::<T>() {
        return None;
    }
    let probe = Vec::<T>::with_capacity(7);
    // SAFETY: a vector of three words consists of an address, a length and a capacity, which leave no byte for padding.
    unsafe { offsets_in::<_, 3>(&probe, probe.as_ptr().cast(), probe.len()) }
}

/// Returns where a `Box<[T]>` stores the address and the number of its elements, if that can be
/// found out.
pub(crate) fn boxed_slice_offsets<T>() -> Option<WordOffsets> {
    if !has_probed_size::<T>() {
        return None;
    }
    // `assume_init` turns this pointer into one to `[T]` as it is, so both have the same layout.
    let probe = Box::<[T]>::new_uninit_slice(3);
    // SAFETY: a box of two words consists of an address and a length, which leave no byte for
    // padding.
    unsafe { offsets_in::<_, 2>(&probe, probe.as_ptr().cast(), probe.len()) }
}

/// Returns where a `String` stores the address and the length of its text, if that can be found out.
pub(crate) fn string_offsets() -> Option<WordOffsets> {
    let mut probe = String::with_capacity(7);
    probe.push_str("abc");
    // SAFETY: as for vectors; a string is one.
    unsafe { offsets_in::<_, 3>(&probe, probe.as_ptr(), probe.len()) }
}

/// Where a slice behind a reference stores its address and its length: the constant below proves it.
pub(crate) const SLICE_OFFSETS: WordOffsets = (0, 8);

// A compiler that lays out `&str` or `&[u8]` in another way must fail here: in a constant, it is an
// error to read an address as a length, and to read a length as an address.
const _: () = {
    #[repr(C)]
    union Slice<'a> {
        text: &'a str,
        bytes: &'a [u8],
        words: Words,
    }
    assert!(size_of::<&str>() == size_of::<Words>() && align_of::<&str>() == align_of::<Words>());
    assert!(size_of::<&[u8]>() == size_of::<Words>() && align_of::<&[u8]>() == align_of::<Words>());
    let text = Slice { text: "celero" };
    let bytes = Slice { bytes: b"celero" };
    // SAFETY: any bits are a valid address and length. If the layout is as assumed, the address is
    // that of six bytes; if it is not, this does not compile.
    unsafe {
        assert!(text.words.length == 6 && *text.words.address == b'c');
        assert!(bytes.words.length == 6 && *bytes.words.address == b'c');
    }
};
