//! Conversions into [`Value`] from the types that its variants hold.

use crate::value::{Duration, List, Map, Timestamp, Value};
use std::net::IpAddr;

macro_rules! from {
    ($($variant:ident $ty:ty;)*) => {
        $(impl<'a> From<$ty> for Value<'a> {
            #[inline]
            fn from(inner: $ty) -> Self {
                Self::$variant(inner)
            }
        })*
    };
}

from! {
    Bool bool;
    Int i64;
    Uint u64;
    Double f64;
    String &'a str;
    Bytes &'a [u8];
    Duration Duration;
    Timestamp Timestamp;
    List List<'a>;
    Map Map<'a>;
    Ip IpAddr;
    Optional Option<&'a Value<'a>>;
}
