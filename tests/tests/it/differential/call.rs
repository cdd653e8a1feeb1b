//! A context with a field of each kind that native code reads in place, filled with the values of a random case.

use celero::values::{Arena, Timestamp};
use celero::{Context, Env, Value};
use celero_tests::generate::{Case, Declared, Owned};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Data that native code reads in place: a field of each kind.
#[derive(Context)]
pub(super) struct Call<'a> {
    secure: bool,
    tiny: i8,
    small: i16,
    middle: i32,
    size: i64,
    word: isize,
    octet: u8,
    port: u16,
    id: u32,
    total: u64,
    room: usize,
    single: f32,
    ratio: f64,
    method: &'a str,
    path: String,
    cow: Cow<'a, str>,
    boxed: Box<str>,
    shared: Arc<str>,
    slice: &'a [u8],
    body: Vec<u8>,
    peer: IpAddr,
    #[context(name = "peer.v4")]
    peer_v4: Ipv4Addr,
    #[context(name = "peer.v6")]
    peer_v6: Ipv6Addr,
    #[context(name = "peers.first")]
    first_peer: Option<IpAddr>,
    began: SystemTime,
    took: Duration,
    at: Timestamp,
    left: celero::values::Duration,
    level: Option<i64>,
    host: Option<&'a str>,
    note: Option<String>,
    blob: Option<Vec<u8>>,
    headers: HeaderMap,
    trailers: &'a HeaderMap,
    tags: Vec<String>,
    codes: &'a [i32],
    bits: [bool; 3],
    flags: Arc<[bool]>,
    counts: Vec<i64>,
    ports: &'a [u16],
    totals: Box<[u64]>,
    weights: &'a [f64],
    singles: VecDeque<f32>,
    marks: Option<Vec<i64>>,
    aliases: Option<Cow<'a, [String]>>,
    quotas: Option<HashMap<String, i64>>,
    names: &'a [&'a str],
    parts: Vec<Vec<u8>>,
    slices: &'a [&'a [u8]],
    scores: HashMap<String, i64>,
    tree: BTreeMap<String, Vec<bool>>,
    labels: BTreeMap<Box<str>, String>,
    limits: Arc<BTreeMap<i32, f32>>,
    sizes: &'a BTreeMap<u64, u16>,
    truths: BTreeMap<bool, Arc<str>>,
    people: BTreeMap<String, User<'a>>,
    teams: HashSet<String>,
    primes: BTreeSet<i16>,
    claim: Value<'a>,
    verb: http::Method,
    target: http::Uri,
    version: http::Version,
    referred: &'a u32,
    #[context(nested)]
    user: User<'a>,
    #[context(nested, name = "peers.last")]
    last: &'a User<'a>,
    #[context(nested)]
    guest: Option<&'a User<'a>>,
    #[context(nested)]
    owner: Option<Box<Owner<'a>>>,
    #[context(nested)]
    visitor: Option<User<'a>>,
    cost: Option<Box<f64>>,
    number: Option<NonZeroU16>,
    quick: Option<bool>,
    share: Option<f32>,
    order: Option<u16>,
}

/// A part that refers to others.
#[derive(Context)]
struct Owner<'a> {
    level: Option<i32>,
    address: IpAddr,
    verb: http::Method,
    #[context(nested)]
    user: Option<Arc<User<'a>>>,
}

/// A part of it.
#[derive(Context, Clone)]
pub(super) struct User<'a> {
    id: i64,
    name: &'a str,
    admin: Option<bool>,
}

pub(super) fn variables_of_call() -> Vec<Declared> {
    let env = Env::<Call<'_>>::new();
    let variables = env.declarations().variables().iter();
    variables.map(|v| Declared { name: v.name.to_string(), ty: v.ty.clone(), optional: v.optional }).collect()
}

/// Reads a set of inputs by the names of the variables.
pub(super) struct Inputs<'a> {
    case: &'a Case,
    set: &'a [Option<Owned>],
    /// Where the next one will be, if they are read in order.
    next: Cell<usize>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(case: &'a Case, set: &'a [Option<Owned>]) -> Self {
        Self { case, set, next: Cell::new(0) }
    }

    fn of(&self, name: &str) -> Option<&'a Owned> {
        let variables = &self.case.variables;
        let named = |at: &usize| variables.get(*at).is_some_and(|v| v.name == name);
        let next = self.next.get();
        let at = (next..variables.len()).chain(0..next).find(named).unwrap_or_else(|| panic!("no variable {name}"));
        self.next.set(at + 1);
        self.set.get(at).and_then(Option::as_ref)
    }

    /// Wide numbers are cut to the size of the field.
    fn int(&self, name: &str) -> i64 {
        match self.of(name) {
            Some(Owned::Int(v) | Owned::Duration(v) | Owned::Timestamp(v, _)) => *v,
            Some(Owned::Uint(v)) => v.cast_signed(),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn double(&self, name: &str) -> f64 {
        if let Some(Owned::Double(v)) = self.of(name) { *v } else { panic!("{name}") }
    }

    fn truth(&self, name: &str) -> bool {
        matches!(self.of(name), Some(Owned::Bool(true)))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        if let Some(Owned::String(v)) = self.of(name) { Some(v) } else { None }
    }

    fn string(&self, name: &str) -> &'a str {
        self.text(name).unwrap_or_else(|| panic!("{name}"))
    }

    fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        if let Some(Owned::Bytes(v)) = self.of(name) { Some(v) } else { None }
    }

    fn list(&self, name: &str) -> &'a [Owned] {
        if let Some(Owned::List(v)) = self.of(name) { v } else { panic!("{name}") }
    }

    fn map(&self, name: &str) -> &'a [(Owned, Owned)] {
        if let Some(Owned::Map(v)) = self.of(name) { v } else { panic!("{name}") }
    }

    /// An address that stands for the text.
    fn address(&self, name: &str) -> Option<IpAddr> {
        let text = self.text(name)?;
        const ALL: [&str; 5] = ["10.0.0.1", "192.168.1.7", "2001:db8::5", "::ffff:10.0.0.1", "0.0.0.0"];
        Some(text.parse().unwrap_or_else(|_| ALL[text.len() % ALL.len()].parse().unwrap()))
    }

    /// Lines with the names and values of a map; some are not UTF-8, some names have two.
    fn headers(&self, name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (key, value) in self.map(name) {
            let (Owned::String(key), Owned::String(value)) = (key, value) else { continue };
            let Ok(key) = HeaderName::from_bytes(key.as_bytes()) else { continue };
            let mut bytes: Vec<u8> = value.bytes().filter(|b| *b >= 32).collect();
            if bytes.len() % 4 == 3 {
                bytes.push(0xff);
            }
            let value = HeaderValue::from_bytes(&bytes).unwrap();
            if bytes.len() % 5 == 1 {
                headers.append(key.clone(), HeaderValue::from_static("first"));
            }
            headers.append(key, value);
        }
        headers
    }

    /// A user some of whose parts may be absent.
    fn maybe_user(&self, path: &str) -> User<'a> {
        let (id, name, admin) = (format!("{path}.id"), format!("{path}.name"), format!("{path}.admin"));
        User {
            id: self.of(&id).map_or(0, |_| self.int(&id)),
            name: self.text(&name).unwrap_or_default(),
            admin: self.of(&admin).map(|_| self.truth(&admin)),
        }
    }

    /// Absent, or with an absent user, or a whole one.
    #[expect(clippy::cast_possible_truncation, reason = "any number of the field's type will do")]
    fn owner(&self) -> Option<Box<Owner<'a>>> {
        let address = self.address("owner.address")?;
        Some(Box::new(Owner {
            level: self.of("owner.level").map(|_| self.int("owner.level") as i32),
            address,
            verb: self.text("owner.verb").and_then(|verb| verb.parse().ok()).unwrap_or_default(),
            user: self.of("owner.user.id").map(|_| Arc::new(self.maybe_user("owner.user"))),
        }))
    }

    fn user(&self, path: &str) -> User<'a> {
        let admin = format!("{path}.admin");
        User {
            id: self.int(&format!("{path}.id")),
            name: self.string(&format!("{path}.name")),
            admin: self.of(&admin).map(|_| self.truth(&admin)),
        }
    }
}

fn whole(value: &Owned) -> i64 {
    match value {
        Owned::Int(v) => *v,
        Owned::Uint(v) => v.cast_signed(),
        _ => 0,
    }
}

fn real(value: &Owned) -> f64 {
    if let Owned::Double(v) = value { *v } else { 0.0 }
}

fn bytes(value: &Owned) -> &[u8] {
    if let Owned::Bytes(v) = value { v } else { &[] }
}

/// What a [`Call`] refers to.
pub(super) struct Referred<'a> {
    trailers: HeaderMap,
    codes: Vec<i32>,
    ports: Vec<u16>,
    weights: Vec<f64>,
    names: Vec<&'a str>,
    slices: Vec<&'a [u8]>,
    number: u32,
    sizes: BTreeMap<u64, u16>,
    user: User<'a>,
    guest: User<'a>,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any number of the field's type will do")]
pub(super) fn referred<'a>(inputs: &Inputs<'a>) -> Referred<'a> {
    let text = |v: &'a Owned| if let Owned::String(v) = v { v.as_str() } else { "" };
    Referred {
        trailers: inputs.headers("trailers"),
        codes: inputs.list("codes").iter().map(|v| whole(v) as i32).collect(),
        ports: inputs.list("ports").iter().map(|v| whole(v) as u16).collect(),
        weights: inputs.list("weights").iter().map(real).collect(),
        names: inputs.list("names").iter().map(text).collect(),
        slices: inputs.list("slices").iter().map(bytes).collect(),
        number: inputs.int("referred") as u32,
        sizes: inputs.map("sizes").iter().map(|(k, v)| (whole(k) as u64, whole(v) as u16)).collect(),
        user: inputs.user("peers.last"),
        guest: inputs.maybe_user("guest"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any number of the field's type will do")]
pub(super) fn call<'a>(inputs: &Inputs<'a>, referred: &'a Referred<'a>, arena: &'a Arena) -> Result<Call<'a>, String> {
    let text = |v: &Owned| if let Owned::String(v) = v { v.clone() } else { String::new() };
    let truth = |v: &Owned| matches!(v, Owned::Bool(true));
    let (seconds, nanos) = (inputs.int("at"), inputs.int("took").unsigned_abs());
    let bits = inputs.list("bits");
    let version = if inputs.string("version").len() > 3 { http::Version::HTTP_2 } else { http::Version::HTTP_11 };
    Ok(Call {
        secure: inputs.truth("secure"),
        tiny: inputs.int("tiny") as i8,
        small: inputs.int("small") as i16,
        middle: inputs.int("middle") as i32,
        size: inputs.int("size"),
        word: inputs.int("word") as isize,
        octet: inputs.int("octet") as u8,
        port: inputs.int("port") as u16,
        id: inputs.int("id") as u32,
        total: inputs.int("total") as u64,
        room: inputs.int("room") as usize,
        single: inputs.double("single") as f32,
        ratio: inputs.double("ratio"),
        method: inputs.string("method"),
        path: inputs.string("path").to_owned(),
        cow: inputs.string("cow").into(),
        boxed: inputs.string("boxed").into(),
        shared: inputs.string("shared").into(),
        slice: inputs.bytes("slice").unwrap_or_default(),
        body: inputs.bytes("body").unwrap_or_default().to_vec(),
        peer: inputs.address("peer").unwrap(),
        peer_v4: Ipv4Addr::from(inputs.string("peer.v4").len() as u32 + 0x0a00_0000),
        peer_v6: Ipv6Addr::from(inputs.string("peer.v6").len() as u128 + (0x2001_0db8 << 96)),
        first_peer: inputs.address("peers.first"),
        began: SystemTime::UNIX_EPOCH + Duration::from_secs(inputs.int("began").unsigned_abs()),
        took: Duration::from_nanos(nanos).saturating_mul(if nanos % 2 == 1 { 3 } else { 1 }),
        at: Timestamp { seconds, nanos: 7 },
        left: celero::values::Duration(inputs.int("left")),
        level: inputs.of("level").map(|_| inputs.int("level")),
        host: inputs.text("host"),
        note: inputs.text("note").map(str::to_owned),
        blob: inputs.bytes("blob").map(<[u8]>::to_vec),
        headers: inputs.headers("headers"),
        trailers: &referred.trailers,
        tags: inputs.list("tags").iter().map(text).collect(),
        codes: &referred.codes,
        bits: [0, 1, 2].map(|i| bits.get(i).is_some_and(truth)),
        flags: inputs.list("flags").iter().map(truth).collect(),
        counts: inputs.list("counts").iter().map(whole).collect(),
        ports: &referred.ports,
        totals: inputs.list("totals").iter().map(|v| whole(v).cast_unsigned()).collect(),
        weights: &referred.weights,
        marks: inputs.of("marks").map(|_| inputs.list("marks").iter().map(whole).collect()),
        aliases: inputs.of("aliases").map(|_| inputs.list("aliases").iter().map(text).collect()),
        quotas: inputs.of("quotas").map(|_| inputs.map("quotas").iter().map(|(k, v)| (text(k), whole(v))).collect()),
        singles: inputs.list("singles").iter().map(|v| real(v) as f32).collect(),
        names: &referred.names,
        parts: inputs.list("parts").iter().map(|v| bytes(v).to_vec()).collect(),
        slices: &referred.slices,
        // One entry at most: the order of more would be another each time.
        scores: inputs
            .map("scores")
            .iter()
            .take(1)
            .map(|(k, v)| (text(k), if let Owned::Int(v) = v { *v } else { 0 }))
            .collect(),
        tree: inputs
            .map("tree")
            .iter()
            .map(|(k, v)| (text(k), if let Owned::List(v) = v { v.iter().map(truth).collect() } else { Vec::new() }))
            .collect(),
        labels: inputs.map("labels").iter().map(|(k, v)| (text(k).into(), text(v))).collect(),
        limits: Arc::new(inputs.map("limits").iter().map(|(k, v)| (whole(k) as i32, real(v) as f32)).collect()),
        sizes: &referred.sizes,
        truths: inputs.map("truths").iter().map(|(k, v)| (truth(k), text(v).into())).collect(),
        people: inputs.map("people").iter().map(|(k, _)| (text(k), referred.user.clone())).collect(),
        // One at most: as for `scores`.
        teams: inputs.list("teams").iter().take(1).map(text).collect(),
        primes: inputs.list("primes").iter().map(|v| whole(v) as i16).collect(),
        claim: inputs.of("claim").unwrap().in_arena(arena).map_err(|kind| kind.to_string())?,
        verb: inputs.string("verb").parse().unwrap_or(http::Method::GET),
        target: inputs.string("target").parse().unwrap_or_default(),
        version,
        referred: &referred.number,
        user: inputs.user("user"),
        last: &referred.user,
        guest: inputs.of("guest.id").map(|_| &referred.guest),
        owner: inputs.owner(),
        visitor: inputs.of("visitor.id").map(|_| inputs.maybe_user("visitor")),
        cost: inputs.of("cost").map(|_| Box::new(inputs.double("cost"))),
        number: inputs.of("number").and_then(|_| NonZeroU16::new(inputs.int("number") as u16)),
        quick: inputs.of("quick").map(|_| inputs.truth("quick")),
        share: inputs.of("share").map(|_| inputs.double("share") as f32),
        order: inputs.of("order").map(|_| inputs.int("order") as u16),
    })
}
