//! The documented functions, as safe Rust on values. A function whose argument is missing has no result, unless its
//! documentation says otherwise.

mod hmac;
mod json;
mod query;
mod replace;
mod text;
mod url;

pub(super) use replace::MAX_GROUPS;
pub(super) use url::url_decode;

use super::value::FilterValue;
use celero_frontend::filter::StandardFunction;
use celero_matching::pattern::{ByteRegex, Meter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The result would take more memory than there is, or finding it more steps.
pub(super) struct TooLarge;

/// The arguments of a call.
pub(super) struct Arguments<'c> {
    /// Their values, `None` for nil. Arguments that were left out are not there.
    pub(super) values: &'c [Option<&'c FilterValue>],
    /// The compiled pattern of `regex_replace`.
    pub(super) pattern: Option<&'c ByteRegex>,
    /// Most bytes of the result.
    pub(super) room: usize,
    /// Takes steps from the budget.
    pub(super) charge: &'c dyn Fn(usize) -> Result<(), TooLarge>,
}

impl Meter for Arguments<'_> {
    type Error = TooLarge;

    fn charge(&self, steps: usize) -> Result<(), TooLarge> {
        (self.charge)(steps)
    }
}

impl<'c> Arguments<'c> {
    fn value(&self, index: usize) -> Option<&'c FilterValue> {
        self.values.get(index).copied().flatten()
    }

    fn bytes(&self, index: usize) -> Option<&'c [u8]> {
        self.value(index).and_then(FilterValue::as_bytes)
    }

    fn int(&self, index: usize) -> Option<i64> {
        if let Some(FilterValue::Int(value)) = self.value(index) { Some(*value) } else { None }
    }

    fn ip(&self, index: usize) -> Option<IpAddr> {
        if let Some(FilterValue::Ip(value)) = self.value(index) { Some(*value) } else { None }
    }

    /// The characters of an optional argument of flags.
    fn flag(&self, index: usize, flag: u8) -> bool {
        self.bytes(index).is_some_and(|flags| flags.contains(&flag))
    }
}

/// Calls a function. The result is nil if there is none.
///
/// # Errors
///
/// The result would exceed [`Arguments::room`], or no steps are left.
pub(super) fn call(function: StandardFunction, args: &Arguments<'_>) -> Result<Option<FilterValue>, TooLarge> {
    use StandardFunction as F;
    Ok(match function {
        // Only a host can compute these.
        F::BitSlice | F::IsJwtPresent | F::IsJwtValid => None,
        F::Cidr => cidr(args.ip(0), args.int(1), args.int(2)),
        F::Cidr6 => cidr(args.ip(0), Some(32), args.int(1)),
        F::Coalesce => args.values.iter().find_map(|value| *value).cloned(),
        F::Concat => return text::concat(args),
        F::DecodeBase64 => args.bytes(0).and_then(text::decode_base64).map(FilterValue::Bytes),
        F::EncodeBase64 => {
            args.bytes(0).map(|bytes| text::encode_base64(bytes, args.flag(1, b'u'), args.flag(1, b'p')))
        }
        F::EndsWith => both(args).map(|(text, end)| text.ends_with(end).into()),
        F::StartsWith => both(args).map(|(text, start)| text.starts_with(start).into()),
        F::HasKey => has_key(args).map(FilterValue::Bool),
        F::HasValue => has_value(args).map(FilterValue::Bool),
        F::IsTimedHmacValidV0 => hmac::is_timed_hmac_valid(args).map(FilterValue::Bool),
        F::Join => return text::join(args),
        F::Len => args.value(0).and_then(text::len),
        F::LookupJsonInteger => json::lookup(args, json::integer),
        F::LookupJsonString => json::lookup(args, json::string),
        F::Lower => args.bytes(0).map(|text| text.to_ascii_lowercase().into()),
        F::Upper => args.bytes(0).map(|text| text.to_ascii_uppercase().into()),
        F::RegexReplace => return replace::regex_replace(args),
        F::WildcardReplace => return replace::wildcard_replace(args),
        F::RemoveBytes => both(args).map(|(text, removed)| text::remove_bytes(text, removed)),
        F::RemoveQueryArgs => query::remove_query_args(args).map(FilterValue::Bytes),
        F::Sha256 => args.bytes(0).map(hmac::sha256).map(|digest| digest.to_vec().into()),
        F::Split => text::split(args),
        F::Substring => text::substring(args),
        F::ToString => args.value(0).and_then(text::to_string),
        F::UrlDecode => args.bytes(0).map(|text| url_decode(text, args.flag(1, b'r'), args.flag(1, b'u')).into()),
        F::Uuidv4 => args.bytes(0).map(text::uuidv4),
    })
}

fn both<'c>(args: &Arguments<'c>) -> Option<(&'c [u8], &'c [u8])> {
    Some((args.bytes(0)?, args.bytes(1)?))
}

fn has_key(args: &Arguments<'_>) -> Option<bool> {
    let (Some(FilterValue::Map(map)), Some(key)) = (args.value(0), args.bytes(1)) else { return None };
    Some(map.contains_key(key))
}

fn has_value(args: &Arguments<'_>) -> Option<bool> {
    let wanted = args.value(1)?;
    match args.value(0)? {
        FilterValue::Array(values) => Some(values.contains(wanted)),
        FilterValue::Map(values) => Some(values.values().any(|value| value == wanted)),
        _ => None,
    }
}

/// `cidr`: the first address of the network of so many bits that an address is in.
fn cidr(address: Option<IpAddr>, v4: Option<i64>, v6: Option<i64>) -> Option<FilterValue> {
    Some(FilterValue::Ip(match address? {
        IpAddr::V4(address) => {
            let hosts = u32::MAX.checked_shr(u32::try_from(v4?).ok()?).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & !hosts).into()
        }
        IpAddr::V6(address) => {
            let hosts = u128::MAX.checked_shr(u32::try_from(v6?).ok()?).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & !hosts).into()
        }
    }))
}
