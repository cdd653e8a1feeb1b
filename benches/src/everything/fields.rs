//! A cell of the matrix, and the kinds of fields: one row for each Rust type that a field may have,
//! with its value, and the class of operations that [`operations`](super::operations) has for its
//! CEL type. The class gets the value in its usual Rust form.

use super::by_hand::{cookie, finder, is, joined, name, net, paris, regex, zoned};
use super::operations::{
    address, any_map, bytes, double, headers, int, int_list, int_map, int_set, json, label, nested, nothing, socket,
    span, status, structs, text, text_list, text_map, text_set, time, truth, truths, uint,
};
use celero::values::{Duration, Timestamp};
use celero::{Context, FieldType, Value};
use jiff::SignedDuration;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

/// An expression about a kind of field, and the Rust that an expert writes for it.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The field, or the library that a function is of.
    pub kind: &'static str,
    /// The expression.
    pub source: String,
    /// The same in Rust; `None` where the expression fails.
    pub(super) by_hand: ByHand,
}

/// A function of Rust that stands for an expression.
pub(super) type ByHand = fn(&Fields) -> Option<bool>;

impl Cell {
    /// `@` in the text stands for the field.
    pub(super) fn new(kind: &'static str, text: &str, by_hand: ByHand) -> Self {
        Self { kind, source: text.replace('@', kind), by_hand }
    }
}

/// Adds the operations of a kind. Its value is the first name, the context the second one.
macro_rules! cells {
    ([$cells:ident $kind:ident $x:ident $view:expr] $value:ident $context:ident; $($text:expr => $by_hand:expr;)*) => {$(
        $cells.push(Cell::new(stringify!($kind), $text, |$context| {
            let $x = &$context.$kind;
            match $view {
                $value => Some($by_hand),
            }
        }));
    )*};
}

/// The cells of a table of expressions that are not about one kind.
macro_rules! table {
    ($kind:literal $context:ident; $($text:expr => $by_hand:expr;)*) => {
        [$(Cell::new($kind, $text, |$context| Some($by_hand))),*]
    };
}

pub(super) use table;

/// An element of lists, and the value of a nested field.
#[derive(Clone, Context)]
pub(crate) struct Upstream {
    pub(crate) name: String,
    pub(crate) healthy: bool,
    pub(crate) weight: i64,
    pub(crate) zone: Zone,
}

/// A struct in a struct.
#[derive(Clone, Context)]
pub(crate) struct Zone {
    pub(crate) region: String,
    pub(crate) rank: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, FieldType)]
pub(crate) enum Level {
    Low,
    High,
}

#[derive(FieldType)]
pub(crate) struct Port(pub(crate) i64);

/// A type that only a function makes a field.
pub(crate) struct Version(pub(crate) i64, pub(crate) i64);

fn number(version: &Version) -> i64 {
    version.0 * 10 + version.1
}

fn version_text(version: &&'static str) -> Cow<'static, str> {
    Cow::Borrowed(version)
}

/// One kind of field.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The field.
    pub name: &'static str,
    /// Its type, as Rust writes it.
    pub rust: &'static str,
    /// The class of operations that is run on it.
    pub class: &'static str,
}

macro_rules! kinds {
    ($($(#[$attribute:meta])? $name:ident: $rust:ty = $value:expr; $class:ident$(($text:literal))? $x:ident => $view:expr;)*) => {
        /// The context of all cells: a field of each kind.
        #[derive(Context)]
        pub(crate) struct Fields { $($(#[$attribute])? pub(crate) $name: $rust),* }

        impl Fields {
            pub(crate) fn new() -> Self {
                Self { $($name: $value),* }
            }
        }

        /// The kinds of fields, in the order of the table.
        pub const KINDS: &[Kind] =
            &[$(Kind { name: stringify!($name), rust: stringify!($rust), class: stringify!($class) }),*];

        /// The operations of each kind.
        pub(super) fn cells() -> Vec<Cell> {
            let mut cells = Vec::new();
            $($class! { [cells $name $x $view] $($text)? })*
            cells
        }
    };
}

kinds! {
    flag: bool = true; truth x => *x;
    i8: i8 = 41; int x => i64::from(*x);
    i16: i16 = 41; int x => i64::from(*x);
    i32: i32 = 41; int x => i64::from(*x);
    i64: i64 = 41; int x => *x;
    isize: isize = 41; int x => *x as i64;
    nonzero_i8: NonZero<i8> = NonZero::new(41).expect("41"); int x => i64::from(x.get());
    nonzero_i16: NonZero<i16> = NonZero::new(41).expect("41"); int x => i64::from(x.get());
    nonzero_i32: NonZero<i32> = NonZero::new(41).expect("41"); int x => i64::from(x.get());
    nonzero_i64: NonZero<i64> = NonZero::new(41).expect("41"); int x => x.get();
    u8: u8 = 41; uint x => u64::from(*x);
    u16: u16 = 41; uint x => u64::from(*x);
    u32: u32 = 41; uint x => u64::from(*x);
    u64: u64 = 41; uint x => *x;
    usize: usize = 41; uint x => *x as u64;
    nonzero_u8: NonZero<u8> = NonZero::new(41).expect("41"); uint x => u64::from(x.get());
    nonzero_u16: NonZero<u16> = NonZero::new(41).expect("41"); uint x => u64::from(x.get());
    nonzero_u32: NonZero<u32> = NonZero::new(41).expect("41"); uint x => u64::from(x.get());
    nonzero_u64: NonZero<u64> = NonZero::new(41).expect("41"); uint x => x.get();
    f32: f32 = 2.5; double x => f64::from(*x);
    f64: f64 = 2.5; double x => *x;
    str: &'static str = TEXT; text x => *x;
    owned: String = TEXT.into(); text x => x.as_str();
    cow_text: Cow<'static, str> = TEXT.into(); text x => x.as_ref();
    box_text: Box<str> = TEXT.into(); text x => x.as_ref();
    arc_text: Arc<str> = TEXT.into(); text x => x.as_ref();
    rc_text: Rc<str> = TEXT.into(); text x => x.as_ref();
    char: char = 'x'; label("x") x => &*x.encode_utf8(&mut [0; 4]);
    slice: &'static [u8] = BYTES; bytes x => *x;
    octets: Vec<u8> = BYTES.into(); bytes x => x.as_slice();
    array: [u8; 16] = *BYTES; bytes x => x.as_slice();
    cow_bytes: Cow<'static, [u8]> = BYTES.into(); bytes x => x.as_ref();
    box_bytes: Box<[u8]> = BYTES.as_slice().into(); bytes x => x.as_ref();
    arc_bytes: Arc<[u8]> = BYTES.as_slice().into(); bytes x => x.as_ref();
    rc_bytes: Rc<[u8]> = BYTES.as_slice().into(); bytes x => x.as_ref();
    bytes_crate: bytes::Bytes = bytes::Bytes::from_static(BYTES); bytes x => x.as_ref();
    bytes_mut: bytes::BytesMut = BYTES.as_slice().into(); bytes x => x.as_ref();
    ip: IpAddr = V4.into(); address x => *x;
    ipv4: Ipv4Addr = V4; address x => IpAddr::from(*x);
    ipv6: Ipv6Addr = V4.to_ipv6_mapped(); address x => x.to_canonical();
    socket: SocketAddr = SocketAddr::new(V4.into(), 443); socket x => *x;
    socket_v4: SocketAddrV4 = SocketAddrV4::new(V4, 443); socket x => SocketAddr::V4(*x);
    socket_v6: SocketAddrV6 = SocketAddrV6::new(V4.to_ipv6_mapped(), 443, 0, 0); socket x => SocketAddr::V6(*x);
    system_time: SystemTime = SystemTime::UNIX_EPOCH + std::time::Duration::new(SECONDS, 0);
        time x => i64::try_from(x.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos()).ok()?;
    time: Timestamp = Timestamp::new(SECONDS as i64, 0).expect("2023"); time x => x.seconds * 1_000_000_000 + x.nanos;
    chrono_time: chrono::DateTime<chrono::Utc> = chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(SECONDS as i64);
        time x => x.timestamp_nanos_opt()?;
    jiff_time: jiff::Timestamp = jiff::Timestamp::constant(SECONDS as i64, 0); time x => i64::try_from(x.as_nanosecond()).ok()?;
    jiff_zoned: jiff::Zoned = jiff::Timestamp::constant(SECONDS as i64, 0).to_zoned(jiff::tz::TimeZone::UTC);
        time x => i64::try_from(x.timestamp().as_nanosecond()).ok()?;
    std_span: std::time::Duration = std::time::Duration::from_secs(90); span x => i64::try_from(x.as_nanos()).ok()?;
    span: Duration = Duration(90_000_000_000); span x => x.0;
    chrono_span: chrono::TimeDelta = chrono::TimeDelta::seconds(90); span x => x.num_nanoseconds()?;
    jiff_span: SignedDuration = SignedDuration::from_secs(90); span x => i64::try_from(x.as_nanos()).ok()?;
    nums: Vec<i64> = (0..16).collect(); int_list x => x;
    nums_slice: &'static [i64] = NUMBERS; int_list x => x;
    nums_array: [i64; 16] = *NUMBERS; int_list x => x;
    nums_deque: VecDeque<i64> = (0..16).collect(); int_list x => x;
    nums_box: Box<[i64]> = (0..16).collect(); int_list x => x;
    nums_arc: Arc<[i64]> = (0..16).collect(); int_list x => x;
    nums_rc: Rc<[i64]> = (0..16).collect(); int_list x => x;
    nums_cow: Cow<'static, [i64]> = NUMBERS.as_slice().into(); int_list x => x;
    nums32: Vec<i32> = (0..16).collect(); int_list x => x;
    flags: Vec<bool> = vec![false, true]; truths x => x;
    tags: Vec<String> = tags(); text_list x => x;
    tags_slice: &'static [String] = tags().leak(); text_list x => x;
    tags_str: Vec<&'static str> = tags().leak().iter().map(String::as_str).collect(); text_list x => x;
    tags_arc: Arc<[Arc<str>]> = tags().into_iter().map(Into::into).collect(); text_list x => x;
    upstreams: Vec<Upstream> = upstreams(); structs x => x;
    upstreams_slice: &'static [Upstream] = upstreams().leak(); structs x => x;
    int_hash_set: HashSet<i64> = (0..16).collect(); int_set x => x;
    int_tree_set: BTreeSet<i64> = (0..16).collect(); int_set x => x;
    hash_set: HashSet<String> = tags().into_iter().collect(); text_set x => x;
    tree_set: BTreeSet<String> = tags().into_iter().collect(); text_set x => x;
    labels: HashMap<String, String> = pairs().collect(); text_map x => x;
    labels_tree: BTreeMap<String, String> = pairs().collect(); text_map x => x;
    labels_ref: &'static HashMap<String, String> = Box::leak(Box::new(pairs().collect())); text_map x => x;
    int_hash_map: HashMap<i64, i64> = (0..12).map(|n| (n, n * n)).collect(); int_map x => x;
    int_tree_map: BTreeMap<i64, i64> = (0..12).map(|n| (n, n * n)).collect(); int_map x => x;
    upstream: Upstream = upstreams().swap_remove(6); nested x => x;
    upstream_box: Box<Upstream> = Box::new(upstreams().swap_remove(6)); nested x => x;
    upstream_option: Option<&'static Upstream> = upstreams().leak().get(6); nested x => (*x)?;
    level: Level = Level::High; label("High") x => if *x == Level::High { "High" } else { "Low" };
    level_option: Option<Level> = Some(Level::High); label("High") x => if (*x)? == Level::High { "High" } else { "Low" };
    newtype: Port = Port(41); int x => x.0;
    #[context(with = number)]
    computed: Version = Version(4, 1); int x => number(x);
    #[context(with = version_text)]
    computed_text: &'static str = TEXT; text x => *x;
    headers: http::HeaderMap = header_map(); headers x => x;
    headers_ref: &'static http::HeaderMap = Box::leak(Box::new(header_map())); headers x => x;
    method: http::Method = http::Method::POST; label("POST") x => x.as_str();
    version: http::Version = http::Version::HTTP_2; label("HTTP/2.0") x => if *x == http::Version::HTTP_2 { "HTTP/2.0" } else { "" };
    header_name: http::HeaderName = http::header::HOST; label("host") x => x.as_str();
    scheme: http::uri::Scheme = http::uri::Scheme::HTTPS; label("https") x => x.as_str();
    authority: http::uri::Authority = http::uri::Authority::from_static("example.com:8080");
        label("example.com:8080") x => x.as_str();
    target: http::uri::PathAndQuery = http::uri::PathAndQuery::from_static("/a/b?c=d"); label("/a/b?c=d") x => x.as_str();
    uri: http::Uri = http::Uri::from_static("http://example.com/a"); label("http://example.com/a") x => x.to_string().as_str();
    header_value: http::HeaderValue = http::HeaderValue::from_static("gzip, br"); label("gzip, br") x => x.to_str().ok()?;
    status: http::StatusCode = http::StatusCode::NOT_FOUND; status x => i64::from(x.as_u16());
    url: url::Url = url::Url::parse("https://example.com/a").expect("a URL"); label("https://example.com/a") x => x.as_str();
    uuid: uuid::Uuid = uuid::Uuid::from_u128(7);
        label("00000000-0000-0000-0000-000000000007") x => &*x.as_hyphenated().encode_lower(&mut [0; 36]);
    document: &'static serde_json::Value = Box::leak(Box::new(document())); json x => *x;
    object: serde_json::Map<String, serde_json::Value> = object(); any_map x => x;
    value: Value<'static> = Value::Int(41); int x => match x { Value::Int(n) => *n, _ => return None };
    option: Option<i64> = Some(41); int x => (*x)?;
    option_u32: Option<u32> = Some(41); uint x => u64::from((*x)?);
    option_f64: Option<f64> = Some(2.5); double x => (*x)?;
    option_flag: Option<bool> = Some(true); truth x => (*x)?;
    option_text: Option<String> = Some(TEXT.into()); text x => x.as_deref()?;
    option_str: Option<&'static str> = Some(TEXT); text x => (*x)?;
    option_bytes: Option<Vec<u8>> = Some(BYTES.into()); bytes x => x.as_deref()?;
    option_ip: Option<IpAddr> = Some(V4.into()); address x => (*x)?;
    option_socket: Option<SocketAddr> = Some(SocketAddr::new(V4.into(), 443)); socket x => (*x)?;
    option_time: Option<Timestamp> = Some(Timestamp::new(SECONDS as i64, 0).expect("2023"));
        time x => { let t = (*x)?; t.seconds * 1_000_000_000 + t.nanos };
    option_nums: Option<Vec<i64>> = Some((0..16).collect()); int_list x => x.as_ref()?;
    option_tags: Option<&'static [String]> = Some(tags().leak()); text_list x => (*x)?;
    option_labels: Option<HashMap<String, String>> = Some(pairs().collect()); text_map x => x.as_ref()?;
    option_headers: Option<http::HeaderMap> = Some(header_map()); headers x => x.as_ref()?;
    reference: &'static i64 = &41; int x => **x;
    boxed: Box<i64> = Box::new(41); int x => **x;
    shared: Arc<i64> = Arc::new(41); int x => **x;
    counted: Rc<i64> = Rc::new(41); int x => **x;
    cow: Cow<'static, i64> = Cow::Owned(41); int x => **x;
    shared_text: Arc<String> = Arc::new(TEXT.into()); text x => x.as_str();
    cow_upstream: Cow<'static, Upstream> = Cow::Owned(upstreams().swap_remove(6)); nested x => x.as_ref();

    // Second operands: no operations of their own.
    off: bool = false; nothing x => x;
    small: i64 = 3; nothing x => x;
    small_uint: u64 = 3; nothing x => x;
    small_double: f64 = 0.5; nothing x => x;
    word: &'static str = "World"; nothing x => x;
    pattern_text: &'static str = "^Hello, [A-Z][a-z]+"; nothing x => x;
    key: &'static str = "key7"; nothing x => x;
    header_key: &'static str = "x-num"; nothing x => x;
    piece: &'static [u8] = b"bytes"; nothing x => x;
    network: &'static str = "10.0.0.0/8"; nothing x => x;
    address: &'static str = "10.1.2.3"; nothing x => x;
    zone: &'static str = "Europe/Paris"; nothing x => x;
    digits: &'static str = "41"; nothing x => x;
    decimal: &'static str = "2.5"; nothing x => x;
    truth_text: &'static str = "true"; nothing x => x;
    date_text: &'static str = "2023-11-14T22:13:20Z"; nothing x => x;
    span_text: &'static str = "90s"; nothing x => x;
    json_text: &'static str = r#"{"user":{"age":30}}"#; nothing x => x;
    form: &'static str = "a=1&b=x%20y"; nothing x => x;
    base64: &'static str = "aGVsbG8/"; nothing x => x;
    hex: &'static str = "68656c6c6f3f"; nothing x => x;
    jwt: &'static str = "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3VlciIsInN1YiI6ImFkYSIsImF1ZCI6WyJhcHAiXSwiZXhwIjoxNzAwMDAwMDAwLCJpYXQiOjEsInRlbmFudCI6ImJsdWUifQ.c2ln"; nothing x => x;
    lists: Vec<Vec<i64>> = vec![vec![1, 2], vec![3]]; nothing x => x;
    uints: Vec<u64> = (0..16).collect(); nothing x => x;
    doubles: Vec<f64> = (0..16).map(f64::from).collect(); nothing x => x;
    spans: Vec<Duration> = (0..4).map(Duration).collect(); nothing x => x;
    times: Vec<Timestamp> = (0..4).map(|s| Timestamp { seconds: s, nanos: 0 }).collect(); nothing x => x;
    pieces: Vec<Vec<u8>> = vec![b"b".to_vec(), b"a".to_vec()]; nothing x => x;
    queries: HashMap<String, Vec<String>> = [("cookie".to_owned(), vec!["a=1; id=7".to_owned()])].into(); nothing x => x;
}

pub(super) const TEXT: &str = "Hello, World of Rules/and Paths";
pub(super) const BYTES: &[u8; 16] = b"sixteen bytes ok";
const NUMBERS: &[i64; 16] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const V4: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 3);
/// 2023-11-14T22:13:20Z, a Tuesday.
const SECONDS: u64 = 1_700_000_000;

fn tags() -> Vec<String> {
    (0..8).map(|n| format!("tag{n}")).collect()
}

fn pairs() -> impl Iterator<Item = (String, String)> {
    (0..12).map(|n| (format!("key{n}"), format!("value{n}")))
}

fn upstreams() -> Vec<Upstream> {
    let zone = |n: i64| Zone { region: format!("r{n}"), rank: n };
    (0..8).map(|n| Upstream { name: format!("u{n}"), healthy: n == 6, weight: n, zone: zone(n) }).collect()
}

fn header_map() -> http::HeaderMap {
    let mut headers: http::HeaderMap = (0..10)
        .map(|n| (format!("x-h{n}").parse().expect("a name"), format!("v{n}").parse().expect("a value")))
        .collect::<Vec<(http::HeaderName, http::HeaderValue)>>()
        .into_iter()
        .collect();
    headers.insert("x-num", http::HeaderValue::from_static("42"));
    headers.insert("cookie", http::HeaderValue::from_static("a=1; id=7"));
    headers
}

fn object() -> serde_json::Map<String, serde_json::Value> {
    match document() {
        serde_json::Value::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}

/// A document of 2 KB.
fn document() -> serde_json::Value {
    let items: Vec<_> =
        (0..40).map(|n| serde_json::json!({"id": n, "name": format!("item number {n}"), "on": n % 2 == 0})).collect();
    serde_json::json!({"user": {"age": 30, "name": "ada", "groups": ["users", "admin"], "score": 2.5}, "items": items})
}
