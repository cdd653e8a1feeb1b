//! Values of fields, from pools that the literals of rules are taken from too.

use super::Rng;
use crate::filter::Values;
use celero::filter::{BytesForm, BytesLiteral, FilterType, FilterValue, IpItem, Scheme, SetItems};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

const NUMBERS: &[i64] =
    &[0, 1, 2, 3, 7, 8, 12, 80, 443, 8080, 255, -1, -2, -80, 2_147_483_647, -2_147_483_648, i64::MAX, i64::MIN];

const ADDRESSES: &[&str] = &[
    "0.0.0.0",
    "10.0.0.1",
    "10.255.255.255",
    "192.0.2.1",
    "192.0.2.7",
    "192.0.3.0",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "2001:db8::1",
    "2001:db8:ffff::",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

const TEXTS: &[&[u8]] = &[
    b"",
    b"a",
    b"b",
    b"A",
    b"ab",
    b"aB",
    b"ba",
    b"abc",
    b"a/b",
    b"/a/b.php",
    b"/wp-admin/index.php",
    b"example.com",
    b"WWW.Example.com",
    b"0",
    b"12",
    b"a,b,,c",
    b"a=1&b=2&a=3",
    b"YQ==",
    b"%41+b%2541",
    b"{\"a\":[1,\"x\",{\"b\":-7}],\"b\":\"y\"}",
    b"a\"b",
    b"a\\b",
    b"a*b",
    b"${1}",
    b"a\nb",
    b"\xff",
    b"\xff\x00a",
    b"\xc3",
    "é".as_bytes(),
    "Éé".as_bytes(),
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
];

/// Keys of maps.
pub(super) const KEYS: &[&str] = &["a", "b", "x-y", "é", "", "a\"b"];

/// A number.
pub(super) fn number(rng: &mut Rng, published: bool) -> i64 {
    let number = match rng.below(10) {
        0 => i64::try_from(rng.below(20)).unwrap_or(0),
        1 => rng.pick(NUMBERS).wrapping_add(1),
        _ => *rng.pick(NUMBERS),
    };
    // The published Wirefilter has numbers of 32 bits.
    if published { i64::from(i32::try_from(number).unwrap_or(7)) } else { number }
}

/// An address.
pub(super) fn address(rng: &mut Rng) -> IpAddr {
    let address = rng.pick(ADDRESSES).parse().unwrap_or(IpAddr::from([0, 0, 0, 0]));
    match (address, rng.below(8)) {
        (IpAddr::V4(v4), 0) => IpAddr::from(v4.to_bits().wrapping_add(1).to_be_bytes()),
        (IpAddr::V6(v6), 0) => IpAddr::from(v6.to_bits().wrapping_sub(1).to_be_bytes()),
        _ => address,
    }
}

/// A byte string: one of the pool, a part of one, two joined, or one with a byte changed.
pub(super) fn text(rng: &mut Rng) -> Vec<u8> {
    let mut text = rng.pick(TEXTS).to_vec();
    match rng.below(12) {
        0 => text.truncate(rng.below(text.len() + 1)),
        1 => drop(text.drain(..rng.below(text.len() + 1))),
        2 => text.extend_from_slice(rng.pick::<&[u8]>(TEXTS)),
        3 => {
            let at = rng.below(text.len());
            if let Some(byte) = text.get_mut(at) {
                *byte = rng.bits().to_le_bytes()[0];
            }
        }
        _ => {}
    }
    text
}

fn value(rng: &mut Rng, ty: &FilterType, published: bool) -> FilterValue {
    match ty {
        FilterType::Bool => rng.chance(50).into(),
        FilterType::Int => number(rng, published).into(),
        FilterType::Ip => address(rng).into(),
        FilterType::Bytes => text(rng).into(),
        FilterType::Array(element) => {
            let length = rng.below(4);
            FilterValue::Array((0..length).map(|_| value(rng, element, published)).collect())
        }
        FilterType::Map(element) => {
            let length = rng.below(4);
            let mut entries = BTreeMap::new();
            for _ in 0..length {
                entries.insert(rng.pick(KEYS).as_bytes().to_vec(), value(rng, element, published));
            }
            FilterValue::Map(entries)
        }
    }
}

/// A host: some fields are missing, unless it is for the published Wirefilter, in which none may be.
pub(super) fn host(rng: &mut Rng, scheme: &Arc<Scheme>, published: bool) -> Values {
    let mut host = Values::new(scheme).with_lists(Arc::clone(&LISTS)).with_functions(function);
    for (index, field) in scheme.fields().iter().enumerate() {
        let missing = field.constant.is_some() || (!published && rng.chance(15));
        host.set(index, (!missing).then(|| value(rng, &field.ty, published)));
    }
    host
}

static LISTS: LazyLock<Arc<[(String, SetItems)]>> = LazyLock::new(|| {
    let word = |text: &[u8]| BytesLiteral { value: text.into(), form: BytesForm::Quoted };
    let network = |text: &str, prefix| text.parse().map(|address| IpItem::Network(address, prefix));
    let networks = [network("10.0.0.0", 8), network("192.0.2.1", 32), network("2001:db8::", 32)];
    [
        ("numbers".to_owned(), SetItems::Ints([(1, 3), (80, 80), (8000, 8999)].into())),
        ("bad".to_owned(), SetItems::Ips(networks.into_iter().flatten().collect())),
        // Entries of named lists are UTF-8.
        ("words".to_owned(), SetItems::Bytes([word(b"a"), word(b"abc"), word("é".as_bytes())].into())),
    ]
    .into()
});

/// The functions of the host: some have no result, and none has one of a missing argument.
fn function(name: &str, args: &[Option<&FilterValue>]) -> Option<FilterValue> {
    let args: Vec<&FilterValue> = args.iter().copied().collect::<Option<_>>()?;
    match (name, *args.first()?) {
        ("host.echo", value) => Some(value.clone()),
        ("host.odd", FilterValue::Int(value)) => (value & 1 == 1).then_some(FilterValue::Int(*value)),
        ("host.known", FilterValue::Ip(address)) => {
            let wanted = args.get(1) == Some(&&FilterValue::Bool(true));
            Some(FilterValue::Bool(address.is_ipv4() == wanted))
        }
        ("host.twice", FilterValue::Bytes(text)) => {
            (!text.is_empty()).then(|| [text.clone(), text.clone()].into_iter().collect())
        }
        ("is_jwt_valid", FilterValue::Bytes(text)) => Some(FilterValue::Bool(text.len() & 1 == 0)),
        ("bit_slice", FilterValue::Bytes(text)) => text.first().map(|byte| FilterValue::Int(i64::from(*byte))),
        _ => None,
    }
}
