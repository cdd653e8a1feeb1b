//! Text and addresses of the host for native code: the C functions of [`Access::Text`], and the proof that slices lie in memory as
//! [`Repr::Slice`](celero_ir::layout::Repr::Slice) says.

use celero_ir::layout::{Access, Path};
use std::marker::PhantomData;
use std::net::IpAddr;

/// A way to see a type as text or bytes without building anything.
pub(crate) trait TextView {
    /// What is looked at.
    type Source;

    /// The bytes, or `None` when they are absent.
    fn text(source: &Self::Source) -> Option<&[u8]>;
}

/// The view of an option: absent, or what the inner view gives.
#[derive(Debug)]
pub(crate) struct OrAbsent<V>(PhantomData<V>);

impl<V: TextView> TextView for OrAbsent<V> {
    type Source = Option<V::Source>;

    fn text(source: &Self::Source) -> Option<&[u8]> {
        source.as_ref().and_then(V::text)
    }
}

/// Address and length, as the C ABI returns two words. A null address means absence.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Words {
    address: *const u8,
    length: usize,
}

/// The function that [`text_access`] hands out.
///
/// # Safety
/// `address` is that of a `V::Source`, which is neither moved nor changed for as long as the answer is used.
unsafe extern "C" fn text_of<V: TextView>(address: *const u8) -> Words {
    // SAFETY: the caller's promise; native code keeps it by calling with the address that `Context::fields` describes, in
    // a host that is borrowed for the whole evaluation.
    let source = unsafe { &*address.cast::<V::Source>() };
    match V::text(source) {
        Some(text) => Words { address: text.as_ptr(), length: text.len() },
        None => Words { address: std::ptr::null(), length: 0 },
    }
}

/// How native code reads the text of a `V::Source` at an address.
pub(crate) fn text_access<V: TextView>() -> Access {
    Access::Text(Path(vec![0]), text_of::<V> as *const () as usize)
}

/// # Safety
/// `address` is that of an `Option<IpAddr>`, which is neither moved nor changed for as long as the answer is used.
unsafe extern "C" fn ip_of(address: *const u8) -> Words {
    // SAFETY: as in `text_of`.
    match unsafe { &*address.cast::<Option<IpAddr>>() } {
        Some(ip) => Words { address: std::ptr::from_ref(ip).cast(), length: size_of::<IpAddr>() },
        None => Words { address: std::ptr::null(), length: 0 },
    }
}

/// How native code reads an `Option<IpAddr>` at an address.
pub(crate) fn optional_ip_access() -> Access {
    Access::Text(Path(vec![0]), ip_of as *const () as usize)
}

// `Repr::Slice` reads `&str` and `&[u8]` as an address followed by a length. The language does not promise that, so a
// compiler that lays them out otherwise must fail here: reading an address as a length is an error in a constant, and so is
// reading a length as an address.
const _: () = {
    #[repr(C)]
    union Lay<'a> {
        text: &'a str,
        bytes: &'a [u8],
        words: Words,
    }
    assert!(size_of::<&str>() == size_of::<Words>() && align_of::<&str>() == align_of::<Words>());
    assert!(size_of::<&[u8]>() == size_of::<Words>() && align_of::<&[u8]>() == align_of::<Words>());
    let text = Lay { text: "celero" };
    let bytes = Lay { bytes: b"celero" };
    // SAFETY: any bits are a valid address and length; the address is that of six bytes if the layout is as assumed, and
    // else this does not compile.
    unsafe {
        assert!(text.words.length == 6 && *text.words.address == b'c');
        assert!(bytes.words.length == 6 && *bytes.words.address == b'c');
    }
};
