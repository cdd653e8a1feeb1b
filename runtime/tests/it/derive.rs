//! `#[derive(Context)]`: names, types, and that native code reads what `Host::field` gives.

use crate::layout::{agree, show};
use crate::support::Random;
use celero::values::{Arena, HostList, HostMap, Timestamp};
use celero::{Context, Engine, Env, Scratch, Tier, Type, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[derive(Context)]
struct Everything<'a, 'b> {
    flag: bool,
    a: i8,
    b: i16,
    c: i32,
    d: i64,
    e: isize,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: usize,
    k: f32,
    l: f64,
    str: &'a str,
    slice: &'b [u8],
    string: String,
    cow: Cow<'a, str>,
    boxed: Box<str>,
    arc: Arc<str>,
    vec: Vec<u8>,
    ip: IpAddr,
    ip4: Ipv4Addr,
    ip6: Ipv6Addr,
    time: SystemTime,
    span: Duration,
    own_time: Timestamp,
    own_span: celero::values::Duration,
    maybe_int: Option<i64>,
    maybe_str: Option<&'a str>,
    maybe_string: Option<String>,
    maybe_cow: Option<Cow<'a, str>>,
    maybe_bytes: Option<Vec<u8>>,
    maybe_ip: Option<IpAddr>,
    ref_int: &'a u16,
    ref_ref_string: &'a &'b String,
    ref_ip: &'a IpAddr,
    ref_maybe: &'a Option<&'b str>,
    list: Vec<String>,
    rows: &'a [i32],
    array: [bool; 3],
    nested_list: Vec<Vec<u8>>,
    map: HashMap<String, i64>,
    tree: BTreeMap<&'a str, Vec<bool>>,
    any: Value<'a>,
}

fn address(random: &mut Random) -> IpAddr {
    let low = random.number();
    if low.is_multiple_of(2) {
        Ipv4Addr::from((low >> 8) as u32).into()
    } else {
        Ipv6Addr::from(u128::from(low) << 40).into()
    }
}

#[test]
fn native_code_reads_what_the_safe_reading_gives() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..500 {
        let r = &mut random;
        let (one, two, word, boxed_ip) = (r.text(), r.text(), r.number() as u16, address(r));
        let (by_ref, maybe) = (&one, r.maybe(|_| two.as_str()));
        let rows = [r.number() as i32, -1];
        let value = Everything {
            flag: r.number().is_multiple_of(2),
            a: r.number() as i8,
            b: r.number() as i16,
            c: r.number() as i32,
            d: r.number() as i64,
            e: r.number() as isize,
            f: r.number() as u8,
            g: r.number() as u16,
            h: r.number() as u32,
            i: r.number(),
            j: r.number() as usize,
            k: f32::from_bits(r.number() as u32),
            l: f64::from_bits(r.number()),
            str: &one,
            slice: two.as_bytes(),
            string: r.text(),
            cow: if r.number().is_multiple_of(2) { Cow::Borrowed(&two) } else { Cow::Owned(r.text()) },
            boxed: r.text().into(),
            arc: r.text().into(),
            vec: r.text().into(),
            ip: address(r),
            ip4: Ipv4Addr::from(r.number() as u32),
            ip6: Ipv6Addr::from(u128::from(r.number())),
            time: SystemTime::UNIX_EPOCH + Duration::from_nanos(r.number() >> 1),
            span: Duration::from_nanos(r.number() >> 1),
            own_time: Timestamp { seconds: i64::from(r.number() as u32), nanos: 999_999_999 },
            own_span: celero::values::Duration(r.number() as i64),
            maybe_int: r.maybe(|r| r.number() as i64),
            maybe_str: r.maybe(|_| two.as_str()),
            maybe_string: r.maybe(Random::text),
            maybe_cow: r.maybe(|r| Cow::Owned(r.text())),
            maybe_bytes: r.maybe(|r| r.text().into()),
            maybe_ip: r.maybe(address),
            ref_int: &word,
            ref_ref_string: &by_ref,
            ref_ip: &boxed_ip,
            ref_maybe: &maybe,
            list: vec![r.text(), r.text()],
            rows: &rows,
            array: [true, false, true],
            nested_list: vec![r.text().into()],
            map: [(r.text(), 1)].into(),
            tree: [(one.as_str(), vec![true])].into(),
            any: Value::Int(1),
        };
        let in_place = agree(&value);
        let expected = "flag a b c d e f g h i j k l str slice string cow boxed arc vec ip ip4 ip6 time span own_time \
                        own_span maybe_int maybe_str maybe_string maybe_cow maybe_bytes maybe_ip ref_int ref_ref_string ref_ip ref_maybe any";
        assert_eq!(in_place.join(" "), expected);
    }
}

#[test]
fn types_follow_from_rust() {
    let types: Vec<_> =
        Everything::fields().into_iter().map(|f| (f.name, f.ty.to_string(), f.layout.optional)).collect();
    let find = |name: &str| types.iter().find(|t| t.0 == name).map(|t| (t.1.as_str(), t.2)).unwrap();
    assert_eq!(find("f"), ("uint", false));
    assert_eq!(find("k"), ("double", false));
    assert_eq!(find("vec"), ("bytes", false));
    assert_eq!(find("ip6"), ("string", false));
    assert_eq!(find("time"), ("google.protobuf.Timestamp", false));
    assert_eq!(find("maybe_ip"), ("string", true));
    assert_eq!(find("ref_maybe"), ("string", true));
    assert_eq!(find("nested_list"), ("list(bytes)", false));
    assert_eq!(find("tree"), ("map(string, list(bool))", false));
    assert_eq!(find("any"), ("dyn", false));
}

#[derive(Context)]
struct Times {
    before: SystemTime,
    too_late: SystemTime,
    too_long: Duration,
    longest: Duration,
}

#[test]
fn times_out_of_range_are_overflows() {
    let epoch = SystemTime::UNIX_EPOCH;
    let times = Times {
        before: epoch - Duration::new(1, 250_000_000),
        too_late: epoch + Duration::from_secs(253_402_300_800),
        too_long: Duration::from_nanos(1 << 63),
        longest: Duration::from_nanos((1 << 63) - 1),
    };
    assert_eq!(show(&times, "before"), "Timestamp(Timestamp { seconds: -2, nanos: 750000000 })");
    assert_eq!(show(&times, "too_late"), "error overflow");
    assert_eq!(show(&times, "too_long"), "error overflow");
    assert_eq!(show(&times, "longest"), "Duration(Duration(9223372036854775807))");
}

#[derive(Context)]
#[context(rename_all = "camelCase")]
struct Peer<'a> {
    ip_address: IpAddr,
    #[context(name = "tls.name")]
    server_name: Option<&'a str>,
    r#type: u8,
}

#[derive(Context)]
struct Empty {}

#[derive(Context)]
#[context(prefix = "conn")]
struct Connection<'a> {
    id: u64,
    #[context(nested)]
    peer: &'a Peer<'a>,
    #[context(nested, name = "local.end")]
    local: Peer<'a>,
    #[context(skip)]
    _secret: std::cell::Cell<u8>,
    #[context(flatten)]
    _empty: Empty,
    #[context(flatten)]
    flat: &'a &'a Peer<'a>,
    last: bool,
}

#[test]
fn parts_appear_under_their_names() {
    let peer =
        |n: u8| Peer { ip_address: Ipv4Addr::new(10, 0, 0, n).into(), server_name: (n > 1).then_some("x"), r#type: n };
    let (one, three) = (peer(1), peer(3));
    let connection = Connection {
        id: 7,
        peer: &one,
        local: peer(2),
        _secret: 0.into(),
        _empty: Empty {},
        flat: &&three,
        last: true,
    };
    let names: Vec<_> = Connection::fields().into_iter().map(|f| f.name).collect();
    let expected = "conn.id conn.peer.ipAddress conn.peer.tls.name conn.peer.type conn.local.end.ipAddress \
                    conn.local.end.tls.name conn.local.end.type conn.ipAddress conn.tls.name conn.type conn.last";
    assert_eq!(names.join(" "), expected);
    assert_eq!(agree(&connection).join(" "), expected);
    assert_eq!(show(&connection, "conn.peer.ipAddress"), r#"String("10.0.0.1")"#);
    assert_eq!(show(&connection, "conn.peer.tls.name"), "absent");
    assert_eq!(show(&connection, "conn.local.end.type"), "Uint(2)");
    assert_eq!(show(&connection, "conn.type"), "Uint(3)");
    assert_eq!(show(&connection, "conn.last"), "Bool(true)");
    let arena = Arena::new(64);
    assert!(celero::host::Host::field(&connection, 11, &arena).unwrap().is_none());
    assert!(Env::<Connection<'_>>::new().problems().is_empty());
}

#[test]
fn rules_read_parts_in_both_tiers() {
    let peer =
        |n: u8| Peer { ip_address: Ipv4Addr::new(10, 0, 0, n).into(), server_name: (n > 1).then_some("x"), r#type: n };
    let (one, three) = (peer(1), peer(3));
    let connection = Connection {
        id: 7,
        peer: &one,
        local: peer(2),
        _secret: 0.into(),
        _empty: Empty {},
        flat: &&three,
        last: true,
    };
    for tier in [Tier::Native, Tier::Interpret] {
        let engine = Engine::builder().tier(tier).build();
        for (rule, expected) in [
            ("conn.id == 7u && conn.last", "Ok(Bool(true))"),
            ("conn.peer.type + conn.local.end.type * 10u + conn.type * 100u", "Ok(Uint(321))"),
            ("cidr('10.0.0.3/32').containsIP(conn.ipAddress)", "Ok(Bool(true))"),
            ("cidr('10.0.0.3/32').containsIP(conn.peer.ipAddress)", "Ok(Bool(false))"),
            ("conn.local.end.ipAddress + '!'", r#"Ok(String("10.0.0.2!"))"#),
            ("has(conn.peer.tls.name) || conn.tls.name != 'x'", "Ok(Bool(false))"),
        ] {
            let program = engine.compile(&Env::<Connection<'_>>::new(), rule).unwrap();
            assert_eq!(format!("{:?}", program.eval(&connection, &mut Scratch::new())), expected, "{rule} {tier:?}");
        }
    }
}

#[derive(Context)]
struct Twice {
    #[context(nested, name = "a")]
    one: Inner,
    #[context(name = "a.x")]
    two: i64,
}

#[derive(Context)]
struct Inner {
    x: i64,
}

#[test]
fn the_same_name_in_a_part_is_a_problem_of_the_environment() {
    let twice = Twice { one: Inner { x: 1 }, two: 2 };
    assert_eq!(agree(&twice), ["a.x", "a.x"]);
    let problems: Vec<_> = Env::<Twice>::new().problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["variable `a.x` is declared twice"]);
}

#[cfg(feature = "http")]
#[derive(Context)]
struct Headers<'a> {
    pad: u64,
    own: http::HeaderMap,
    borrowed: &'a &'a http::HeaderMap,
}

#[cfg(feature = "http")]
#[test]
fn header_maps_are_found_through_their_path() {
    use celero_ir::layout::{Access, Path};

    let map = http::HeaderMap::new();
    let headers = Headers { pad: 1, own: http::HeaderMap::new(), borrowed: &&map };
    assert_eq!(agree(&headers), ["pad"]);
    let start = std::ptr::from_ref(&headers).addr();
    let fields = Headers::fields();
    let paths: Vec<Path> = fields.iter().filter_map(|f| f.layout.headers.clone()).collect();
    assert_eq!(fields[1].layout.access, Access::Get);
    assert_eq!(paths[0].0[0] as usize, std::ptr::from_ref(&headers.own).addr() - start);
    assert_eq!(paths[1].0, [u32::try_from(std::ptr::from_ref(&headers.borrowed).addr() - start).unwrap(), 0, 0]);
}

#[test]
fn lists_and_maps_are_read_in_place() {
    let arena = Arena::new(1 << 12);
    let list = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(HostList::len(&list), 2);
    assert!(matches!(HostList::get(&list, 1, &arena), Ok(Some(Value::String("b")))));
    assert!(matches!(HostList::get(&list, 2, &arena), Ok(None)));
    let map: HashMap<&str, u64> = [("a", 1), ("b", 2)].into();
    assert_eq!(HostMap::len(&map), 2);
    assert!(matches!(HostMap::get(&map, &Value::String("b"), &arena), Ok(Some(Value::Uint(2)))));
    assert!(matches!(HostMap::get(&map, &Value::String("c"), &arena), Ok(None)));
    assert!(matches!(HostMap::get(&map, &Value::Int(1), &arena), Ok(None)));
    let all = HostMap::entries(&map, &arena).unwrap();
    assert_eq!(all.len(), 2);
    let mut sum = 0;
    for (index, (key, value)) in all.iter().enumerate() {
        let entry = HostMap::entry(&map, index, &arena).unwrap().unwrap();
        assert_eq!(format!("{entry:?}"), format!("{:?}", (key, value)));
        if let Value::Uint(n) = value {
            sum += n;
        }
    }
    assert!(HostMap::entry(&map, 2, &arena).unwrap().is_none());
    assert_eq!(sum, 3);
    assert_eq!(<Vec<Vec<u8>> as celero::FieldType>::ty(), Type::list(Type::Bytes));
}
