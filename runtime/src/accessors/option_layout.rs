//! How options show that they are empty, and where they keep their value.
//!
//! Native code then reads an option without a call. For references, `Box` and `NonZero` std
//! guarantees it ("Representation" of `Option`). For others the language does not define it, so it
//! is found out here, in constants: it is an error to read bytes there that a value does not
//! define.

use celero_ir::layout::Repr;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};

/// An option as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionLayout {
    /// The form of the number at the start of the option.
    pub(crate) mark: Repr,
    /// The number at the start of an empty option, and of no other.
    pub(crate) empty: u64,
    /// Where the value is.
    pub(crate) value: u32,
}

/// A type whose options native code reads.
pub(crate) trait InOption {
    /// The layout of an option of it, if it is a known one.
    const OPTION: Option<OptionLayout>;
}

/// What an option of a number without a niche is taken for.
#[repr(C)]
#[derive(Clone, Copy)]
struct Tagged<T: Copy> {
    tag: u8,
    value: MaybeUninit<T>,
}

macro_rules! numbers {
    ($($rust:ty)*) => {$(
        impl InOption for $rust {
            const OPTION: Option<OptionLayout> = {
                union Probe {
                    option: Option<$rust>,
                    parts: Tagged<$rust>,
                }
                const SOME: Probe = Probe { option: Some(97 as $rust) };
                const NONE: Probe = Probe { option: None };
                if size_of::<Option<$rust>>() == size_of::<Tagged<$rust>>() {
                    // SAFETY: the option is as large as its parts, so these are in it; to read what
                    // it does not define does not compile.
                    let holds = unsafe {
                        NONE.parts.tag == 0 && SOME.parts.tag == 1 && SOME.parts.value.assume_init() == 97 as $rust
                    };
                    let value = offset_of!(Tagged<$rust>, value) as u32;
                    if holds { Some(OptionLayout { mark: Repr::U8, empty: 0, value }) } else { None }
                } else {
                    None
                }
            };
        }
    )*};
}

numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

impl InOption for bool {
    const OPTION: Option<OptionLayout> = {
        union Probe {
            option: Option<bool>,
            byte: u8,
        }
        const VALUES: [Probe; 3] =
            [Probe { option: None }, Probe { option: Some(false) }, Probe { option: Some(true) }];
        let [none, no, yes] = VALUES;
        // SAFETY: an option has at least one byte; to read what it does not define does not compile.
        let [none, no, yes] = unsafe { [none.byte, no.byte, yes.byte] };
        if size_of::<Option<bool>>() == 1 && no == 0 && yes == 1 {
            Some(OptionLayout { mark: Repr::U8, empty: none as u64, value: 0 })
        } else {
            None
        }
    };
}

/// Whether the empty option of a pointer is the null pointer.
pub(crate) struct Nullable<P>(P);

impl<P> Nullable<P> {
    /// It is, and an option is nothing but the pointer.
    pub(crate) const HOLDS: bool = {
        union Probe<P> {
            option: ManuallyDrop<Option<P>>,
            word: usize,
        }
        size_of::<Option<P>>() == size_of::<usize>() && {
            let empty = Probe::<P> { option: ManuallyDrop::new(None) };
            // SAFETY: the option is a word; to read what it does not define does not compile.
            unsafe { empty.word == 0 }
        }
    };
}
