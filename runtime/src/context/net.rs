//! Addresses as fields: text for rule authors. An [`IpAddr`] is kept as a number until a rule reads the text.
//!
//! An IPv4 address in IPv6 form (`::ffff:192.0.2.1`), as sockets for both families report IPv4 peers, reads as the IPv4 address.
//! So one rule fits both kinds of sockets; `ip(..)` does not accept text in the IPv6 form.

use super::FieldType;
use super::describe::read_by_call;
use super::field_type::Element;
use crate::accessors::ip::{IpView, ip_access};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

macro_rules! addresses {
    ($($rust:ty: $canonical:expr, $layout:expr, $optional:expr;)*) => {$(
        // SAFETY: the views of an `IpAddr` show the address whose text `value` gives; the others are read by `value` only.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::String
            }

            fn layout() -> Layout {
                $layout
            }

            fn optional_layout() -> Layout {
                $optional
            }

            fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let canonical: fn(&Self) -> IpAddr = $canonical;
                Ok(Some(Value::String(arena.format_ip(canonical(self))?)))
            }
        }

        impl Element for $rust {}
    )*};
}

impl IpView for IpAddr {
    type Source = Self;

    fn ip(source: &Self) -> Option<IpAddr> {
        Some(*source)
    }
}

impl IpView for Option<IpAddr> {
    type Source = Self;

    fn ip(source: &Self) -> Option<IpAddr> {
        *source
    }
}

/// The layout of an address that a view shows.
pub(crate) fn address<V: IpView>(optional: bool) -> Layout {
    Layout::new(Ty::Ip, optional, ip_access::<V>())
}

addresses! {
    IpAddr: IpAddr::to_canonical,
        address::<IpAddr>(false), address::<Option<IpAddr>>(true);
    Ipv4Addr: |ip| (*ip).into(), read_by_call(false), read_by_call(true);
    Ipv6Addr: Ipv6Addr::to_canonical, read_by_call(false), read_by_call(true);
}
