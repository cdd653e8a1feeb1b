//! Types of fields beyond those of the standard language: enums, newtypes, functions, pointers,
//! collections, types of other crates. Both tiers read them alike, and native code reads what
//! `Host::field` gives.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::layout::{agree, show};
use celero::host::{Element, MapKey};
use celero::{Context, Engine, Env, FieldType, Limits, Scratch, Tier, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

/// Evaluates rules in both tiers, with and without passes; the last part of each line is the result.
#[track_caller]
pub(crate) fn results<C: Context>(context: &C, rules: &[(&str, &str)]) {
    for (tier, optimize) in [(Tier::Interpret, true), (Tier::Native, true), (Tier::Native, false)] {
        let engine = Engine::builder().tier(tier).optimize(optimize).build();
        for (rule, expected) in rules {
            let program = engine.compile(&Env::<C>::new(), rule).unwrap();
            let result = match program.eval(context, &mut Scratch::new()) {
                Ok(value) => format!("{value:?}"),
                Err(error) => error.kind.name().to_owned(),
            };
            assert_eq!(result, *expected, "{rule} {tier:?}, passes: {optimize}");
        }
    }
}

/// The type of each variable.
pub(crate) fn types<C: Context>() -> String {
    let shown = C::fields().into_iter().map(|field| {
        let absent = if field.layout.optional { "?" } else { "" };
        format!("{}{absent}: {}", field.name, field.ty)
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[derive(Clone, Copy, Debug, FieldType, PartialEq)]
#[context(rename_all = "kebab-case")]
enum Plan {
    Free,
    TeamPro,
    #[context(name = "BIG")]
    Enterprise,
}

#[derive(FieldType)]
#[context(as = "int")]
#[repr(i16)]
enum Level {
    Low = -3,
    High = 300,
}

#[derive(FieldType)]
#[context(as = "int")]
enum Unplaced {
    One = 1,
    Two,
}

#[derive(FieldType)]
#[expect(dead_code, reason = "only the names are read")]
enum Event<'a> {
    Open,
    Data { text: &'a str },
    Closed(u8),
}

#[derive(Context)]
struct Enums<'a> {
    pad: u8,
    plan: Plan,
    maybe: Option<Plan>,
    plans: Vec<Plan>,
    level: Level,
    maybe_level: Option<Level>,
    levels: &'a [Level],
    unplaced: Unplaced,
    event: Event<'a>,
    events: BTreeMap<&'a str, Event<'a>>,
}

#[test]
fn enums_are_text_or_numbers() {
    let levels = [Level::High, Level::Low];
    let mut context = Enums {
        pad: 7,
        plan: Plan::TeamPro,
        maybe: Some(Plan::Enterprise),
        plans: vec![Plan::Free, Plan::Enterprise],
        level: Level::Low,
        maybe_level: Some(Level::High),
        levels: &levels,
        unplaced: Unplaced::Two,
        event: Event::Data { text: "x" },
        events: [("a", Event::Open), ("b", Event::Closed(1))].into(),
    };
    assert_eq!(
        types::<Enums<'_>>(),
        "pad: uint, plan: string, maybe?: string, plans: list(string), level: int, maybe_level?: int, levels: list(int), \
         unplaced: int, event: string, events: map(string, string)"
    );
    assert_eq!(agree(&context).join(" "), "pad plan maybe level event");
    results(
        &context,
        &[
            ("plan", r#"String("team-pro")"#),
            ("plan == 'team-pro' && plan != 'BIG' && plan in ['free', 'team-pro']", "Bool(true)"),
            ("maybe + plans[0] + plans[1]", r#"String("BIGfreeBIG")"#),
            ("plans.exists(p, p == 'BIG') && !plans.exists(p, p == 'team-pro')", "Bool(true)"),
            ("level + maybe_level + levels[0] + levels[1]", "Int(594)"),
            ("levels.all(l, l < 301)", "Bool(true)"),
            ("unplaced", "Int(2)"),
            ("event + events.a + events['b']", r#"String("DataOpenClosed")"#),
        ],
    );
    for plan in [Plan::Free, Plan::TeamPro, Plan::Enterprise] {
        (context.plan, context.maybe) = (plan, None);
        (context.level, context.unplaced, context.event) = (Level::High, Unplaced::One, Event::Closed(3));
        agree(&context);
        assert_eq!(show(&context, "maybe"), "absent");
    }
    results(&context, &[("maybe", "no_such_key"), ("level", "Int(300)")]);
}

#[derive(FieldType)]
struct Tenant(String);

#[derive(FieldType)]
#[context(transparent)]
struct Port {
    number: u16,
}

#[derive(FieldType)]
struct Wrapped<T>(T);

#[derive(FieldType)]
struct Address(SocketAddr);

#[derive(Context)]
struct Newtypes {
    pad: u8,
    tenant: Tenant,
    maybe: Option<Tenant>,
    tenants: Vec<Tenant>,
    port: Port,
    wrapped: Wrapped<Port>,
    text: Wrapped<Option<String>>,
    address: Address,
}

#[test]
fn newtypes_are_what_they_hold() {
    let tenant = |name: &str| Tenant(name.to_owned());
    let context = Newtypes {
        pad: 1,
        tenant: tenant("acme"),
        maybe: Some(tenant("zeta")),
        tenants: vec![tenant("a"), tenant("b")],
        port: Port { number: 443 },
        wrapped: Wrapped(Port { number: 80 }),
        text: Wrapped(None),
        address: Address("[::ffff:10.0.0.1]:99".parse().unwrap()),
    };
    assert_eq!(
        types::<Newtypes>(),
        "pad: uint, tenant: string, maybe?: string, tenants: list(string), port: uint, wrapped: uint, text?: string, \
         address.address: string, address.port: int"
    );
    assert_eq!(agree(&context).join(" "), "pad tenant port wrapped text address.address address.port");
    results(
        &context,
        &[
            ("tenant + maybe + tenants[1]", r#"String("acmezetab")"#),
            ("tenants.exists(t, t == 'a')", "Bool(true)"),
            ("port + wrapped", "Uint(523)"),
            ("text", "no_such_key"),
            ("address.address + ':' + string(address.port)", r#"String("10.0.0.1:99")"#),
        ],
    );
}

#[expect(clippy::borrowed_box, reason = "a field may be one")]
#[derive(Context)]
struct Pointers<'a> {
    pad: u8,
    boxed: Box<i64>,
    arc: Arc<String>,
    counted: Rc<u16>,
    aligned: Arc<Aligned>,
    cow: Cow<'a, i32>,
    nested: &'a Box<Arc<f64>>,
    maybe: Option<Arc<i64>>,
    maybe_text: Option<Arc<str>>,
    text: Rc<str>,
    vec: Arc<Vec<u16>>,
    elements: Arc<Vec<Box<str>>>,
}

#[derive(FieldType)]
#[repr(align(64))]
struct Aligned(u32);

#[test]
fn pointers_are_what_they_point_to() {
    let nested = Box::new(Arc::new(1.5));
    let context = Pointers {
        pad: 1,
        boxed: Box::new(-4),
        arc: Arc::new("arc".to_owned()),
        counted: Rc::new(9),
        aligned: Arc::new(Aligned(64)),
        cow: Cow::Owned(3),
        nested: &nested,
        maybe: Some(Arc::new(5)),
        maybe_text: Some("text".into()),
        text: "rc".into(),
        vec: Arc::new(vec![1, 2]),
        elements: Arc::new(vec!["a".into()]),
    };
    assert_eq!(agree(&context).join(" "), "pad boxed arc counted aligned nested maybe maybe_text text");
    results(
        &context,
        &[
            ("boxed + cow + maybe", "Int(4)"),
            ("arc + text + maybe_text + elements[0]", r#"String("arcrctexta")"#),
            ("counted + aligned + vec[1]", "Uint(75)"),
            ("vec.exists(n, n == 2u) && elements.exists(e, e == 'a')", "Bool(true)"),
            ("nested", "Double(1.5)"),
        ],
    );
}

/// From 2 to the power of 53 on a double is equal to several integers, also in a set.
#[test]
fn large_doubles_are_in_sets_as_in_lists() {
    #[derive(Context)]
    struct Numbers {
        list: Vec<u64>,
        set: HashSet<u64>,
        sorted: BTreeSet<i64>,
    }
    let context = Numbers {
        list: vec![9_007_199_254_740_993],
        set: [9_007_199_254_740_993].into(),
        sorted: [-9_007_199_254_740_993].into(),
    };
    results(
        &context,
        &[
            ("(dyn(9007199254740992.0) in list) == (dyn(9007199254740992.0) in set)", "Bool(true)"),
            ("(dyn(-9007199254740992.0) in [-9007199254740993]) == (dyn(-9007199254740992.0) in sorted)", "Bool(true)"),
            ("dyn(5.0) in set", "Bool(false)"),
        ],
    );
}

#[derive(Context)]
struct Collections<'a> {
    deque: VecDeque<String>,
    shared: Arc<[i64]>,
    counted: Rc<[bool]>,
    cow: Cow<'a, [u16]>,
    digest: [u8; 4],
    bytes: Arc<[u8]>,
    letter: char,
    limit: NonZero<u32>,
    names: HashSet<String>,
    numbers: BTreeSet<i32>,
    flags: HashSet<bool>,
    by_number: BTreeMap<u16, &'a str>,
    by_flag: HashMap<bool, i64>,
    by_text: HashMap<Cow<'a, str>, HashSet<u64>>,
}

fn collections() -> Collections<'static> {
    Collections {
        deque: ["a".to_owned(), "b".to_owned()].into(),
        shared: [1, 2].into(),
        counted: [true].into(),
        cow: Cow::Borrowed(&[7, 8]),
        digest: [1, 2, 3, 255],
        bytes: [9].into(),
        letter: 'é',
        limit: NonZero::new(5).unwrap(),
        names: ["ann".to_owned(), "bob".to_owned()].into(),
        numbers: [3, -5, 40].into(),
        flags: [true].into(),
        by_number: [(80, "http"), (443, "https")].into(),
        by_flag: [(true, 1)].into(),
        by_text: [("x".into(), [u64::MAX].into())].into(),
    }
}

#[test]
fn collections_are_lists_and_maps() {
    let context = collections();
    assert_eq!(
        types::<Collections<'_>>(),
        "deque: list(string), shared: list(int), counted: list(bool), cow: list(uint), digest: bytes, bytes: bytes, \
         letter: string, limit: uint, names: list(string), numbers: list(int), flags: list(bool), \
         by_number: map(uint, string), by_flag: map(bool, int), by_text: map(string, list(uint))"
    );
    assert_eq!(agree(&context).join(" "), "digest bytes limit");
    results(
        &context,
        &[
            ("deque[0] + deque[1] + letter", r#"String("abé")"#),
            ("shared[1] + int(cow[1])", "Int(10)"),
            ("counted[0] && size(counted) == 1", "Bool(true)"),
            ("digest == b'\\001\\002\\003\\377' && bytes == b'\\011'", "Bool(true)"),
            ("limit", "Uint(5)"),
            ("'ann' in names && !('eve' in names) && size(names) == 2", "Bool(true)"),
            ("names.exists(n, n == 'bob') && names.all(n, n.size() == 3)", "Bool(true)"),
            ("sets.contains(names, ['bob']) && !sets.contains(names, ['x'])", "Bool(true)"),
            ("numbers == [-5, 3, 40] && numbers[2] == 40", "Bool(true)"),
            ("40 in numbers && dyn(40u) in numbers && dyn(3.0) in numbers && !(dyn(3.5) in numbers)", "Bool(true)"),
            ("!(dyn('ann') in numbers) && !(dyn(1) in names)", "Bool(true)"),
            ("true in flags && !(false in flags)", "Bool(true)"),
            ("numbers[3]", "invalid_argument"),
            ("by_number[443u] + by_number[dyn(80)]", r#"String("httpshttp")"#),
            ("1u in by_number", "Bool(false)"),
            ("dyn(-1) in by_number", "Bool(false)"),
            ("by_number.all(port, port > 79u)", "Bool(true)"),
            ("by_flag[true] + size(by_flag)", "Int(2)"),
            ("18446744073709551615u in by_text['x']", "Bool(true)"),
        ],
    );
}

/// A set of `count` numbers is searched with as many steps as one of 10.
#[test]
fn sets_are_searched_without_reading_their_elements() {
    #[derive(Context)]
    struct Numbers {
        numbers: BTreeSet<u32>,
    }
    let limits = Limits { steps: 20, memory: 1 << 12, ..Limits::default() };
    let engine = Engine::builder().limits(limits).build();
    let rule = engine.compile(&Env::<Numbers>::new(), "70000u in numbers && !(1u in numbers)").unwrap();
    assert!(rule.test(&Numbers { numbers: (2..100_000).collect() }).unwrap());
}

#[test]
fn keys_of_a_hosts_own_type_are_looked_up() {
    assert_eq!(<Box<str> as MapKey>::ty().to_string(), "string");
    assert_eq!(String::lookup(&Value::Int(1), str::len), None);
    assert_eq!(u8::lookup(&Value::Int(256), |n| *n), None);
    assert_eq!(i64::lookup(&Value::Double(2.0), |n| *n), Some(2));
    fn is_element<T: Element>() {}
    is_element::<HashSet<u8>>();
    is_element::<Wrapped<u8>>();
}

#[test]
fn times_and_sockets_are_read_without_a_value() {
    use celero::values::{Duration, Timestamp};
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
    use std::time::SystemTime;

    #[derive(Context)]
    struct Connection {
        pad: u8,
        since: SystemTime,
        #[context(name = "c.until")]
        until: Option<SystemTime>,
        seen: Timestamp,
        #[context(name = "c.never")]
        never: Option<Timestamp>,
        wait: std::time::Duration,
        left: Option<Duration>,
        #[context(name = "c.boxed")]
        boxed: Option<Box<SystemTime>>,
        peer: SocketAddr,
        local: Option<SocketAddrV4>,
        proxy: Option<SocketAddrV6>,
        four: Ipv4Addr,
        six: Option<Ipv6Addr>,
    }
    let at = |seconds| SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(seconds)).unwrap();
    let mut context = Connection {
        pad: 1,
        since: at(60),
        until: Some(at(3_600)),
        seen: Timestamp { seconds: -1, nanos: 500_000_000 },
        never: None,
        wait: std::time::Duration::from_millis(1_500),
        left: Some(Duration(-3)),
        boxed: Some(Box::new(at(7))),
        peer: "192.0.2.7:443".parse().unwrap(),
        local: Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80)),
        proxy: None,
        four: Ipv4Addr::new(10, 0, 0, 1),
        six: Some(Ipv4Addr::new(10, 0, 0, 2).to_ipv6_mapped()),
    };
    let all = "pad since c.until seen c.never wait left c.boxed peer.address peer.port local.address local.port proxy.address \
               proxy.port four six";
    assert_eq!(agree(&context).join(" "), all);
    results(
        &context,
        &[
            ("c.until - since == duration('59m') && since.getMinutes() == 1", "Bool(true)"),
            ("seen < since && seen.getMilliseconds() == 500", "Bool(true)"),
            ("has(c.until) && !has(c.never) && has(c.boxed)", "Bool(true)"),
            ("c.never", "no_such_key"),
            ("wait + left", "Duration(Duration(1499999997))"),
            ("c.boxed == timestamp(7)", "Bool(true)"),
            ("peer.port == 443 && local.port == 80", "Bool(true)"),
            ("proxy.port == 1 || has(proxy.address)", "no_such_key"),
            ("four + six + peer.address", r#"String("10.0.0.110.0.0.2192.0.2.7")"#),
        ],
    );
    // Times that CEL cannot hold are an error where they are read.
    let too_late = at(1 << 40);
    (context.since, context.until, context.boxed) = (too_late, Some(too_late), None);
    context.wait = std::time::Duration::MAX;
    for (source, result) in [
        ("since == seen", "overflow"),
        ("since == seen || four == '10.0.0.1'", "Bool(true)"),
        ("has(c.until) && c.until > seen", "overflow"),
        ("!has(c.boxed)", "Bool(true)"),
        ("wait > duration('1s')", "overflow"),
    ] {
        results(&context, &[(source, result)]);
    }
}

#[cfg(feature = "http")]
#[test]
fn types_of_http_are_fields() {
    use http::{HeaderName, HeaderValue, StatusCode, uri};

    #[derive(Context)]
    struct Http {
        status: StatusCode,
        name: HeaderName,
        value: HeaderValue,
        raw: HeaderValue,
        authority: uri::Authority,
        target: Option<uri::PathAndQuery>,
        scheme: uri::Scheme,
        limits: HashMap<HeaderName, u64>,
    }
    let context = Http {
        status: StatusCode::NOT_FOUND,
        name: HeaderName::from_static("x-team"),
        value: HeaderValue::from_static("ops"),
        raw: HeaderValue::from_bytes(b"a\xffb").unwrap(),
        authority: "host:80".parse().unwrap(),
        target: Some("/p?q".parse().unwrap()),
        scheme: uri::Scheme::HTTPS,
        limits: [(HeaderName::from_static("x-a"), 5)].into(),
    };
    assert_eq!(agree(&context).join(" "), "status name value authority target scheme");
    results(
        &context,
        &[
            ("status >= 400 && status < 500 && status == 404", "Bool(true)"),
            ("name + value + raw", "String(\"x-teamopsa\u{fffd}b\")"),
            ("scheme + authority + target", r#"String("httpshost:80/p?q")"#),
            ("limits['x-a']", "Uint(5)"),
        ],
    );
}
