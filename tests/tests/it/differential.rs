//! The interpreter, native code, and native code without passes agree on random typed programs, value for value and error
//! for error.
//!
//! Each line of the table of what the programs consist of ([`Coverage`](celero_tests::generate::Coverage)) is met by at least
//! [`LEAST`] cases.
//!
//! `CELERO_DIFFERENTIAL_CASES` sets how many pairs of a program and a set of inputs are compared, `CELERO_SEED` the seed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use celero::{Arena, Bindings, Context, Engine, Env, Explanation, Limits, Program, Scratch, Tier, Timestamp, Value};
use celero_tests::differential::{Arm, Ended, Report, compare_more};
use celero_tests::generate::{Case, Coverage, Declared, Generator, Group, Owned, declare};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

const CASES: u64 = 300_000;
const THREADS: u64 = 2;

/// Fewest cases that each line of the table must have in a run of [`CASES`].
const LEAST: u64 = 1_000;

/// A tier, with and without its passes.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    tier: Tier,
    optimize: bool,
}

const WAYS: [Way; 3] = [
    Way { name: "interpreter", tier: Tier::Interpret, optimize: true },
    Way { name: "native", tier: Tier::Native, optimize: true },
    Way { name: "native without passes", tier: Tier::Native, optimize: false },
];

impl Way {
    fn engine(self, steps: Option<u32>) -> Engine {
        let limits = Limits::default();
        let limits = Limits { steps: steps.unwrap_or(limits.steps), ..limits };
        Engine::builder().tier(self.tier).optimize(self.optimize).limits(limits).build()
    }
}

/// Runs programs over variables that are declared at run time.
struct Dynamic {
    way: Way,
    engine: Engine,
}

impl Dynamic {
    fn new(way: Way) -> Self {
        Self { way, engine: way.engine(None) }
    }
}

impl Arm for Dynamic {
    fn name(&self) -> &str {
        self.way.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let env = case.env();
        let engine = case.steps.map_or_else(|| self.engine.clone(), |steps| self.way.engine(Some(steps)));
        let program = engine.compile(&env, &case.source).map_err(|error| error.to_string())?;
        let mut scratch = Scratch::new();
        let mut results = Vec::with_capacity(case.bindings.len());
        for set in &case.bindings {
            let arena = Arena::new(1 << 24);
            let mut bindings = Bindings::new(&env);
            for (variable, value) in case.variables.iter().zip(set) {
                if let Some(value) = value {
                    let value = value.in_arena(&arena).map_err(|kind| kind.to_string())?;
                    bindings.set(&variable.name, value).map_err(|error| error.to_string())?;
                }
            }
            results.push(ended(&program, &bindings, &mut scratch)?);
        }
        Ok(results)
    }

    fn stages(&mut self, case: &Case) -> Option<Explanation> {
        self.engine.explain(&case.env(), &case.source).ok()
    }
}

fn ended<C: Context>(program: &Program<C::Static>, context: &C, scratch: &mut Scratch) -> Result<Ended, String> {
    let shown = Arena::new(1 << 24);
    match program.eval(context, scratch) {
        Ok(value) => Owned::of(&value, &shown).map(Ended::Value).map_err(|kind| kind.to_string()),
        Err(error) => Ok(Ended::Error(error.kind)),
    }
}

/// Data that native code reads in place: a field of each kind.
#[derive(Context)]
struct Call<'a> {
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
    left: celero::Duration,
    level: Option<i64>,
    host: Option<&'a str>,
    note: Option<String>,
    blob: Option<Vec<u8>>,
    headers: HeaderMap,
    trailers: &'a HeaderMap,
    tags: Vec<String>,
    codes: &'a [i32],
    bits: [bool; 3],
    flags: Vec<bool>,
    counts: Vec<i64>,
    ports: &'a [u16],
    totals: Vec<u64>,
    weights: &'a [f64],
    singles: Vec<f32>,
    names: &'a [&'a str],
    parts: Vec<Vec<u8>>,
    slices: &'a [&'a [u8]],
    scores: HashMap<String, i64>,
    tree: BTreeMap<String, Vec<bool>>,
    claim: Value<'a>,
    verb: http::Method,
    target: http::Uri,
    version: http::Version,
    referred: &'a u32,
    #[context(nested)]
    user: User<'a>,
    #[context(nested, name = "peers.last")]
    last: &'a User<'a>,
}

/// A part of it.
#[derive(Context, Clone)]
struct User<'a> {
    id: i64,
    name: &'a str,
    admin: Option<bool>,
}

fn variables_of_call() -> Vec<Declared> {
    let env = Env::<Call<'_>>::new();
    let variables = env.declarations().variables().iter();
    variables.map(|v| Declared { name: v.name.to_string(), ty: v.ty.clone(), optional: v.optional }).collect()
}

/// Reads a set of inputs by the names of the variables.
struct Inputs<'a> {
    case: &'a Case,
    set: &'a [Option<Owned>],
    /// Where the next one will be, if they are read in order.
    next: Cell<usize>,
}

impl<'a> Inputs<'a> {
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
struct Referred<'a> {
    trailers: HeaderMap,
    codes: Vec<i32>,
    ports: Vec<u16>,
    weights: Vec<f64>,
    names: Vec<&'a str>,
    slices: Vec<&'a [u8]>,
    number: u32,
    user: User<'a>,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any number of the field's type will do")]
fn referred<'a>(inputs: &Inputs<'a>) -> Referred<'a> {
    let text = |v: &'a Owned| if let Owned::String(v) = v { v.as_str() } else { "" };
    Referred {
        trailers: inputs.headers("trailers"),
        codes: inputs.list("codes").iter().map(|v| whole(v) as i32).collect(),
        ports: inputs.list("ports").iter().map(|v| whole(v) as u16).collect(),
        weights: inputs.list("weights").iter().map(real).collect(),
        names: inputs.list("names").iter().map(text).collect(),
        slices: inputs.list("slices").iter().map(bytes).collect(),
        number: inputs.int("referred") as u32,
        user: inputs.user("peers.last"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any number of the field's type will do")]
fn call<'a>(inputs: &Inputs<'a>, referred: &'a Referred<'a>, arena: &'a Arena) -> Result<Call<'a>, String> {
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
        left: celero::Duration(inputs.int("left")),
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
        claim: inputs.of("claim").unwrap().in_arena(arena).map_err(|kind| kind.to_string())?,
        verb: inputs.string("verb").parse().unwrap_or(http::Method::GET),
        target: inputs.string("target").parse().unwrap_or_default(),
        version,
        referred: &referred.number,
        user: inputs.user("user"),
        last: &referred.user,
    })
}

/// Runs programs over [`Call`].
struct Typed {
    way: Way,
    engine: Engine,
    env: Env<Call<'static>>,
}

impl Typed {
    fn new(way: Way, unchecked: bool) -> Self {
        Self { way, engine: way.engine(None), env: declare(Env::new()).unchecked(unchecked) }
    }
}

impl Arm for Typed {
    fn name(&self) -> &str {
        self.way.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let engine = case.steps.map_or_else(|| self.engine.clone(), |steps| self.way.engine(Some(steps)));
        let program = engine.compile(&self.env, &case.source).map_err(|error| error.to_string())?;
        let mut scratch = Scratch::new();
        let run = |set: &Vec<Option<Owned>>| {
            let arena = Arena::new(1 << 24);
            let inputs = Inputs { case, set, next: Cell::new(0) };
            let referred = referred(&inputs);
            ended(&program, &call(&inputs, &referred, &arena)?, &mut scratch)
        };
        case.bindings.iter().map(run).collect()
    }

    fn stages(&mut self, case: &Case) -> Option<Explanation> {
        self.engine.explain(&self.env, &case.source).ok()
    }
}

fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    let parsed = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    parsed.unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// One share of a run: cases over variables of their own and over [`Call`], each with and without static types.
fn run(seed: u64, pairs: u64) -> Report {
    let [mut a, mut b, mut c] = WAYS.map(Dynamic::new);
    let mut report = Report::default();
    let share = |percent: u64| pairs * percent / 100;
    compare_more(&mut report, Generator::new(seed), share(45), &mut [&mut a, &mut b, &mut c]);
    compare_more(&mut report, Generator::new(seed ^ 1).unchecked(), share(8), &mut [&mut a, &mut b, &mut c]);
    let [mut a, mut b, mut c] = WAYS.map(|way| Typed::new(way, true));
    let typed = Generator::over(seed ^ 2, variables_of_call());
    compare_more(&mut report, typed.clone().unchecked(), share(7), &mut [&mut a, &mut b, &mut c]);
    let [mut a, mut b, mut c] = WAYS.map(|way| Typed::new(way, false));
    compare_more(&mut report, typed, share(40), &mut [&mut a, &mut b, &mut c]);
    report
}

/// Runs another program than it is asked to: a fault that the comparison must find.
struct Planted {
    inner: Dynamic,
    fault: (&'static str, &'static str),
}

impl Arm for Planted {
    fn name(&self) -> &str {
        "planted"
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let wrong = Case { source: case.source.replace(self.fault.0, self.fault.1), ..case.clone() };
        // Where the other program does not check, the fault is not there.
        self.inner.run(&wrong).or_else(|_| self.inner.run(case))
    }
}

#[test]
fn planted_faults_are_found() {
    let faults = [
        (" < ", " <= "),
        (" && ", " || "),
        (".startsWith(", ".endsWith("),
        (".exists(", ".all("),
        (".exists_one(", ".exists("),
        (" / 0 ", " % 0 "),
        ("math.greatest(", "math.least("),
        ("has(", "!has("),
    ];
    for fault in faults {
        let (mut right, mut planted) = (Dynamic::new(WAYS[0]), Planted { inner: Dynamic::new(WAYS[0]), fault });
        let mut report = Report::default();
        while report.failures.is_empty() && report.programs < 12_000 {
            let generator = Generator::new(report.programs);
            compare_more(&mut report, generator, 800, &mut [&mut right, &mut planted]);
        }
        let found = report.failures.first().unwrap_or_else(|| panic!("{fault:?} was not found"));
        assert!(found.contains("smallest: ") && found.contains("planted: "), "{found}");
    }
}

#[test]
fn the_tiers_agree() {
    let cases = number("CELERO_DIFFERENTIAL_CASES", CASES);
    let seed = number("CELERO_SEED", 1);
    let mut total = Report::default();
    let variables = variables_of_call();
    total.coverage.expect(Group::Variable, variables.iter().map(|v| v.name.clone().into()));
    let functions = declare(Env::dynamic()).declarations().functions().to_vec();
    total.coverage.expect(Group::Host, functions.iter().map(|f| f.name.to_string().into()));
    let definitions = declare(Env::dynamic()).declarations().definitions().to_vec();
    total.coverage.expect(Group::Defined, definitions.iter().map(|d| d.name().to_owned().into()));
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|n| scope.spawn(move || run(seed.wrapping_add(n << 32), cases / THREADS))).collect();
        for thread in threads {
            total.merge(thread.join().unwrap());
        }
    });
    let Report { programs, refused, compared, spent, coverage, failures } = &total;
    println!("seed {seed}: {compared} cases of {programs} programs, {spent} spent their budget, {refused} refused");
    println!("{coverage}");
    assert!(failures.is_empty(), "{} disagreements, seed {seed}:\n{}", failures.len(), failures.join("\n"));
    assert!(*refused <= programs / 50, "the generator wrote {refused} programs that don't check, of {programs}");
    if cases >= CASES {
        let missing = coverage.missing(Coverage::GROUPS, LEAST);
        assert!(missing.is_empty(), "met by fewer than {LEAST} cases:\n{}", missing.join("\n"));
    }
}
