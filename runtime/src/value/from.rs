//! Conversions into [`Value`]: from the types that its variants hold, from narrower numbers, and
//! from references to what the host owns.

use crate::value::{Duration, List, Map, Timestamp, Value};
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

macro_rules! from {
    ($($variant:ident $ty:ty $(: $convert:expr)?;)*) => {
        $(impl<'a> From<$ty> for Value<'a> {
            #[inline]
            fn from(inner: $ty) -> Self {
                $(let inner = $convert(inner);)?
                Self::$variant(inner)
            }
        })*
    };
}

from! {
    Bool bool;
    Int i64;
    Int i8: i64::from;
    Int i16: i64::from;
    Int i32: i64::from;
    Int isize: |inner| inner as i64;
    Uint u64;
    Uint u8: u64::from;
    Uint u16: u64::from;
    Uint u32: u64::from;
    Uint usize: |inner| inner as u64;
    Double f64;
    Double f32: f64::from;
    String &'a str;
    String &'a String: String::as_str;
    String &'a Box<str>;
    String &'a Arc<str>;
    String &'a Rc<str>;
    String &'a Cow<'_, str>;
    Bytes &'a [u8];
    Bytes &'a Vec<u8>;
    Bytes &'a Box<[u8]>;
    Bytes &'a Arc<[u8]>;
    Bytes &'a Rc<[u8]>;
    Bytes &'a Cow<'_, [u8]>;
    Duration Duration;
    Timestamp Timestamp;
    List List<'a>;
    Map Map<'a>;
    Ip IpAddr;
    Ip Ipv4Addr: IpAddr::from;
    Ip Ipv6Addr: IpAddr::from;
    Optional Option<&'a Value<'a>>;
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    #[inline]
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<()> for Value<'_> {
    /// Returns `null`.
    #[inline]
    fn from((): ()) -> Self {
        Self::Null
    }
}
