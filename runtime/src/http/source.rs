//! The peer's address as the data of rules.

use crate::accessors::ip::IpView;
use crate::arena::{Arena, EvalResult};
use crate::context::{Field, Host, Nested, address, at_offset, read_by_call};
use crate::value::Value;
use celero_frontend::Type;
use std::mem::offset_of;
use std::net::{IpAddr, SocketAddr};

/// Where a request came from: `address`, the text of the IP address, and `port`, an `int` as gateways declare it. Both are
/// absent when that is not known.
///
/// A host that always knows the address declares a field of type [`IpAddr`] instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    peer: Option<SocketAddr>,
}

impl From<SocketAddr> for Source {
    #[inline]
    fn from(peer: SocketAddr) -> Self {
        Self { peer: Some(peer) }
    }
}

/// The view of a peer as its IP address.
struct Address;

impl IpView for Address {
    type Source = Option<SocketAddr>;

    fn ip(source: &Self::Source) -> Option<IpAddr> {
        source.map(|peer| peer.ip())
    }
}

impl Host for Source {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let Some(peer) = &self.peer else { return Ok(None) };
        match index {
            0 => arena.format_ip(peer.ip().to_canonical()).map(|text| Some(Value::String(text))),
            1 => Ok(Some(Value::Int(peer.port().into()))),
            _ => Ok(None),
        }
    }
}

// SAFETY: the view shows the address whose text `Host::field` gives, and is at the offset of the only member; `port` is
// read by `Host::field`.
unsafe impl Nested for Source {
    const COUNT: u32 = 2;

    fn nested_fields() -> Vec<Field> {
        let mut shown = address::<Address>(true);
        at_offset(&mut shown, offset_of!(Self, peer));
        let field = |name: &str, ty, layout| Field { name: name.to_owned(), ty, layout };
        vec![field("address", Type::String, shown), field("port", Type::Int, read_by_call(true))]
    }
}
