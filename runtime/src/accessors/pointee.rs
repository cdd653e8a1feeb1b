//! Where `Arc` and `Rc` keep their value: how far after the address that they hold.
//!
//! Native code then reads the value behind the pointer without a call. The language does not define
//! the offset, so it is found out here, at run time, with a pointer made for this. A `Box` holds
//! the address of its value (std, "Memory layout" of `Box`).

use std::rc::Rc;
use std::sync::Arc;

/// The distance from the address that a pointer of one word holds to `value`, if it is that.
///
/// # Safety
/// If `P` is as large as a word, all bytes of `pointer` are initialised.
unsafe fn offset_in<P>(pointer: &P, value: usize) -> Option<u32> {
    if size_of::<P>() != size_of::<usize>() || align_of::<P>() != align_of::<usize>() {
        return None;
    }
    // SAFETY: size and alignment are those of a word (checked above), so all bytes are initialised (the contract).
    let word = unsafe { std::ptr::from_ref(pointer).cast::<usize>().read() };
    let offset = u32::try_from(value.checked_sub(word)?).ok()?;
    (offset <= FARTHEST).then_some(offset)
}

/// The largest offset that is believed: two counters, and the padding of a value that is aligned to a page.
const FARTHEST: u32 = 4096;

macro_rules! offsets {
    ($($name:ident: $pointer:ident;)*) => {$(
        #[doc = concat!("Returns how far the value is from the address that an `", stringify!($pointer), "<T>` holds, if that can be found out.")]
        pub(crate) fn $name<T>() -> Option<u32> {
            // `assume_init` turns this pointer into one to `T` as it is, so both have the same layout.
            let probe = $pointer::<T>::new_uninit();
            let value = $pointer::as_ptr(&probe).addr();
            // SAFETY: a pointer of one word consists of an address.
            unsafe { offset_in(&probe, value) }
        }
    )*};
}

offsets! {
    arc_offset: Arc;
    rc_offset: Rc;
}
