//! Text and addresses of the host for native code: the C functions of [`Access::Text`], and the proof that slices lie in memory as
//! [`Repr::Slice`](celero_ir::layout::Repr::Slice) says.

#[cfg(feature = "http")]
use celero_ir::layout::Names;
use celero_ir::layout::{self, Access, Path};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv6Addr};

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

/// How native code reads the text of a `V::Source` at an address, if most are among these names.
#[cfg(feature = "http")]
pub(crate) fn named_access<V: TextView>(names: Names) -> Access {
    Access::Named(Path(vec![0]), names, text_of::<V> as *const () as usize)
}

/// A way to see a type as an IP address.
pub(crate) trait IpView {
    /// What is looked at.
    type Source;

    /// The address, or `None` when it is absent.
    fn ip(source: &Self::Source) -> Option<IpAddr>;
}

/// The address of a `Ty::Ip`'s words; the mapped form of an IPv4 address is the address.
pub(crate) fn ip_of_words([high, low]: [u64; 2]) -> IpAddr {
    Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).to_canonical()
}

/// The function that [`ip_access`] hands out.
///
/// # Safety
/// `address` is that of a `V::Source`, `words` of two words that nothing else uses.
unsafe extern "C" fn ip_of<V: IpView>(address: *const u8, words: *mut [u64; 2]) -> u64 {
    // SAFETY: as in `text_of`.
    let ip = V::ip(unsafe { &*address.cast::<V::Source>() });
    if let Some(ip) = ip {
        // SAFETY: the caller's promise: native code passes a place in its own frame.
        unsafe { words.write(layout::ip_words(ip)) };
    }
    u64::from(ip.is_some())
}

/// How native code reads the IP address that a `V::Source` at an address shows.
pub(crate) fn ip_access<V: IpView>() -> Access {
    Access::Ip(Path(vec![0]), ip_of::<V> as *const () as usize)
}

/// Where a value of three words holds the address and the length of its content: offsets in bytes, the second from the
/// first. The language does not say, so it is read off a value that is made for it; all values of a type are alike.
///
/// `None` where that does not show, and then native code asks an accessor.
fn words_of<T>(value: &T, address: *const u8, length: usize) -> Option<(u32, i32)> {
    if size_of::<T>() != size_of::<[usize; 3]>() || align_of::<T>() != align_of::<usize>() {
        return None;
    }
    // SAFETY: the value is of three words, and has no padding: the caller gives one that consists of an address, a length
    // and a capacity, which fill it.
    let words = unsafe { std::ptr::from_ref(value).cast::<[usize; 3]>().read() };
    let only = |wanted: usize| {
        let mut found = words.iter().zip([0_i32, 8, 16]).filter(|(word, _)| **word == wanted);
        found.next().filter(|_| found.next().is_none()).map(|(_, offset)| offset)
    };
    let (address, length) = (only(address.addr())?, only(length)?);
    Some((address.unsigned_abs(), length.checked_sub(address)?))
}

/// Where a vector holds the address and the number of its elements, as [`words_of`] says.
pub(crate) fn vec_layout<T>() -> Option<(u32, i32)> {
    if size_of::<T>() == 0 {
        return None;
    }
    let probe = Vec::<T>::with_capacity(7);
    words_of(&probe, probe.as_ptr().cast(), probe.len())
}

/// Where a string holds the address and the length of its text.
pub(crate) fn string_layout() -> Option<(u32, i32)> {
    let mut probe = String::with_capacity(7);
    probe.push_str("abc");
    words_of(&probe, probe.as_ptr(), probe.len())
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
