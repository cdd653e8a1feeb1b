//! Addresses as fields: text for rule authors. An [`IpAddr`] is kept as a number until a rule reads the text.
//!
//! An IPv4 address in IPv6 form (`::ffff:192.0.2.1`), as sockets for both families report IPv4
//! peers, reads as the IPv4 address. So one rule fits both kinds of sockets; `ip(..)` does not
//! accept text in the IPv6 form.

use super::describe::{Field, read_by_call};
use super::field_type::{Element, FieldType, Nested};
use super::members::Member;
use super::record::record;
use crate::accessors::ip::{IpView, ip_access};
use crate::accessors::scalar::{ScalarView, optional_scalar, scalar};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use celero_ir::{Domain, ErrorKind, Ty};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

macro_rules! addresses {
    ($($rust:ty: $canonical:expr;)*) => {$(
        impl IpView for $rust {
            type Source = Self;

            fn ip(source: &Self) -> Option<IpAddr> {
                Some((*source).into())
            }
        }

        impl IpView for Option<$rust> {
            type Source = Self;

            fn ip(source: &Self) -> Option<IpAddr> {
                source.map(IpAddr::from)
            }
        }

        // SAFETY: the views show the address whose text `value` gives.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::String
            }

            fn layout() -> Layout {
                address::<Self>(false)
            }

            fn optional_layout() -> Layout {
                address::<Option<Self>>(true)
            }

            fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let canonical: fn(&Self) -> IpAddr = $canonical;
                Ok(Some(Value::String(arena.format_ip(canonical(self))?)))
            }
        }

        impl Element for $rust {}
    )*};
}

/// The layout of an address that a view shows.
fn address<V: IpView>(optional: bool) -> Layout {
    Layout::new(Ty::Ip, optional, ip_access::<V>()).of_domain(Domain::Address)
}

addresses! {
    IpAddr: IpAddr::to_canonical;
    Ipv4Addr: |ip| (*ip).into();
    Ipv6Addr: Ipv6Addr::to_canonical;
}

/// The view of a socket address as its IP address.
struct AddressOf<S>(PhantomData<S>);

impl<S: Into<SocketAddr> + Copy> IpView for AddressOf<S> {
    type Source = S;

    fn ip(source: &S) -> Option<IpAddr> {
        Some((*source).into().ip())
    }
}

/// The same of an option.
struct AddressIn<S>(PhantomData<S>);

impl<S: Into<SocketAddr> + Copy> IpView for AddressIn<S> {
    type Source = Option<S>;

    fn ip(source: &Option<S>) -> Option<IpAddr> {
        source.map(|socket| socket.into().ip())
    }
}

/// The view of a socket address as its port.
struct PortOf<S>(PhantomData<S>);

impl<S: Into<SocketAddr> + Copy> ScalarView for PortOf<S> {
    type Source = S;
    const TY: Ty = Ty::Int;
    const FAILS: bool = false;

    fn words(source: &S) -> Result<[u64; 2], ErrorKind> {
        Ok([(*source).into().port().into(), 0])
    }
}

/// What a port can be.
pub(crate) const PORT: Domain = Domain::Range(0, 65_535);

/// The variables of a socket address: `address` and `port`, with these layouts.
fn socket(address: Layout, port: Layout) -> Vec<Field> {
    let field = |name: &str, ty, layout| Field { name: name.to_owned(), ty, layout };
    vec![field("address", Type::String, address), field("port", Type::Int, port.of_domain(PORT))]
}

macro_rules! sockets {
    ($($rust:ty),*) => {$(
        // SAFETY: the views show the address whose text `variable` gives, and the port.
        unsafe impl FieldType for $rust {
            const COUNT: u32 = 2;
            const MEMBERS: &'static [Member] = &[Member::new("address", 0, 1, &[]), Member::new("port", 1, 1, &[])];

            fn ty() -> Type {
                Type::map(Type::String, Type::Dyn)
            }

            fn layout() -> Layout {
                read_by_call(false)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(record(self)))
            }

            fn variables() -> Vec<Field> {
                socket(address::<AddressOf<Self>>(false), scalar::<PortOf<Self>>())
            }

            fn optional_variables() -> Vec<Field> {
                socket(address::<AddressIn<Self>>(true), optional_scalar::<PortOf<Self>>())
            }

            fn variable<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                match index {
                    0 => arena.format_ip(SocketAddr::from(*self).ip().to_canonical()).map(|text| Some(Value::String(text))),
                    _ => Ok(Some(Value::Int(self.port().into()))),
                }
            }
        }

        impl Element for $rust {}

        impl Nested for $rust {}
    )*};
}

sockets!(SocketAddr, SocketAddrV4, SocketAddrV6);
