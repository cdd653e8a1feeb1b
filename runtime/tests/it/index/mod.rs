//! What an index finds: each kind of key finds its rule, and nothing where it does not hold; what is found answers as the
//! rule alone does, whatever the host's data are.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::http::RequestContext;
use celero::{
    Arena, Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, EvalResult, Field, Host, Indexing, Limits, List,
    Program, RuleError, RuleSet, Scratch, Tier, Type, Value,
};
use celero_ir::Ty;
use celero_ir::layout::{self, Access};
use http::{HeaderName, HeaderValue, Request};
use std::net::IpAddr;
use std::sync::Mutex;

mod cost;

#[derive(Context)]
struct Call<'a> {
    #[context(flatten)]
    http: RequestContext<'a>,
    size: i64,
    count: u64,
    ratio: f64,
    secure: bool,
    #[context(name = "client.ip")]
    ip: IpAddr,
    #[context(name = "client.note")]
    note: Option<&'a str>,
    #[context(name = "client.admin")]
    admin: Option<bool>,
}

/// What a call has, written as `name=value` with spaces between; names with a `:` in front are headers, `%` escapes bytes.
#[derive(Debug)]
struct Input {
    request: Request<()>,
    peer: Option<IpAddr>,
    ip: IpAddr,
    size: i64,
    count: u64,
    ratio: f64,
    secure: bool,
    note: Option<String>,
    admin: Option<bool>,
}

fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).unwrap());
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

impl Input {
    fn new(written: &str) -> Self {
        let mut input = Self {
            request: Request::new(()),
            peer: None,
            ip: IpAddr::from([192, 0, 2, 1]),
            size: 0,
            count: 0,
            ratio: 0.0,
            secure: false,
            note: None,
            admin: None,
        };
        for word in written.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap();
            match name {
                "path" => *input.request.uri_mut() = value.parse().unwrap(),
                "method" => *input.request.method_mut() = value.parse().unwrap(),
                "peer" => input.peer = Some(value.parse().unwrap()),
                "ip" => input.ip = value.parse().unwrap(),
                "size" => input.size = value.parse().unwrap(),
                "count" => input.count = value.parse().unwrap(),
                "ratio" => input.ratio = value.parse().unwrap(),
                "secure" => input.secure = value.parse().unwrap(),
                "note" => input.note = Some(value.to_owned()),
                "admin" => input.admin = Some(value.parse().unwrap()),
                _ => {
                    let name: HeaderName = name.strip_prefix(':').unwrap().parse().unwrap();
                    let value = HeaderValue::from_bytes(&bytes(value)).unwrap();
                    input.request.headers_mut().append(name, value);
                }
            }
        }
        input
    }

    fn call(&self) -> Call<'_> {
        let http = RequestContext::new(&self.request);
        Call {
            http: self.peer.map_or(http, |peer| http.with_source((peer, 4000).into())),
            size: self.size,
            count: self.count,
            ratio: self.ratio,
            secure: self.secure,
            ip: self.ip,
            note: self.note.as_deref(),
            admin: self.admin,
        }
    }
}

const TIERS: [Tier; 2] = [Tier::Native, Tier::Interpret];
const POLICIES: [ErrorPolicy; 3] = [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn build<C: Context, T: AsRef<str>>(
    engine: &Engine,
    env: &Env<C>,
    sources: &[T],
    indexing: Indexing,
    policy: ErrorPolicy,
) -> RuleSet<C::Static, ()> {
    let rules = engine.rules(env).index(indexing).on_error(policy);
    sources.iter().fold(rules, |rules, source| rules.rule("r", source.as_ref(), ())).build().unwrap()
}

/// Asks a set in every mode, and compares with what its rules answer alone.
#[track_caller]
fn as_alone<S: Context + 'static, C: Context<Static = S>>(set: &RuleSet<S, ()>, alone: &[Program<S>], context: &C) {
    let policy = set.on_error();
    let answers: Vec<_> = alone.iter().map(|program| program.test(context)).collect();
    let mut scratch = Scratch::new();
    for once in [false, true] {
        let (mut matched, mut errors, mut stopped) = (Vec::new(), Vec::new(), None);
        for (rule, answer) in answers.iter().enumerate() {
            if let Err(error) = *answer {
                errors.push(RuleError { rule, error });
                if policy == ErrorPolicy::Stop {
                    stopped = Some(RuleError { rule, error });
                    break;
                }
            }
            if answer.unwrap_or(policy == ErrorPolicy::Match) {
                matched.push(rule);
                if once {
                    break;
                }
            }
        }
        let sources = || alone.iter().map(Program::source).collect::<Vec<_>>();
        let got = if once {
            set.first(context, &mut scratch).map(|first| first.map(|rule| rule.index).into_iter().collect())
        } else {
            set.all(context, &mut scratch).map(<[usize]>::to_vec)
        };
        assert_eq!(got, stopped.map_or(Ok(matched), Err), "{policy:?}, once: {once}, {:#?}", sources());
        if policy == ErrorPolicy::NoMatch {
            assert!(scratch.errors().iter().all(|error| errors.contains(error)), "{:?}", scratch.errors());
        } else {
            assert_eq!(scratch.errors(), errors, "{policy:?}, once: {once}, {:#?}", sources());
        }
    }
}

/// A rule; calls for which it is true; calls for which no key of its holds; calls for which one does, and it is false.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("request.path == '/a'", &["path=/a"], &["path=/b", "path=/", "path=/a/"], &[]),
    ("'/a' == request.path", &["path=/a"], &["path=/b"], &[]),
    ("request.host == 'a.b'", &[":host=a.b"], &["path=/", ":host=a"], &[]),
    ("request.method in ['PUT', 'DELETE']", &["method=PUT", "method=DELETE"], &["path=/", "method=PU"], &[]),
    ("request.path.startsWith('/a/')", &["path=/a/", "path=/a/b"], &["path=/a", "path=/b/a/"], &[]),
    ("request.path.endsWith('.php')", &["path=/x.php", "path=/.php"], &["path=/php", "path=/x.php/"], &[]),
    ("request.path.contains('a..b')", &["path=/a..b", "path=/xa..by"], &["path=/a.b"], &[]),
    ("request.path.matches('(?i)wp-login')", &["path=/WP-Login.php"], &["path=/wp/login"], &[]),
    (
        "request.path.matches('^/shop/items/[0-9]+/')",
        &["path=/shop/items/12/x"],
        &["path=/x/shop/items/1/", "path=/shop"],
        &["path=/shop/items/1x"],
    ),
    ("request.path.matches('a.*[.](php|asp)$')", &["path=/a1.php"], &["path=/a1.php/", "path=/"], &["path=/x.asp"]),
    ("request.path.matches('^/exact$')", &["path=/exact"], &["path=/exact/", "path=/Exact"], &[]),
    ("request.path.matches('x.*foobar.*y')", &["path=/xfoobary"], &["path=/xy"], &["path=/foobar"]),
    ("request.path.matches(r'\\d{3}')", &["path=/a123"], &["path=/12a3", "path=/"], &[]),
    ("request.path.matches(r'^\\W\\w+\\d$')", &["path=/ab1"], &["path=/ab", "path=/1", "path=/a-1"], &[]),
    ("request.path.lowerAscii() == '/ab'", &["path=/aB", "path=/ab"], &["path=/abc"], &[]),
    ("request.path.lowerAscii().startsWith('/ab')", &["path=/ABc"], &["path=/bab"], &[]),
    ("request.path.lowerAscii().contains('ab')", &["path=/xABc"], &["path=/ba"], &[]),
    (
        "cidr('10.0.0.0/8').containsIP(client.ip)",
        &["ip=10.1.2.3", "ip=::ffff:10.0.0.0"],
        &["ip=11.0.0.1", "ip=::a00:1"],
        &[],
    ),
    ("cidr('10.1.2.3/32').containsIP(client.ip)", &["ip=10.1.2.3"], &["ip=10.1.2.2"], &[]),
    ("cidr('2001:db8::/33').containsIP(client.ip)", &["ip=2001:db8::1"], &["ip=2001:db8:8000::", "ip=10.0.0.1"], &[]),
    (
        "cidr('10.0.0.0/8').containsIP(source.address)",
        &["peer=10.1.2.3", "peer=::ffff:10.1.2.3"],
        &["peer=::1", "path=/"],
        &[],
    ),
    ("size == 3", &["size=3"], &["size=2", "size=4"], &[]),
    ("size < 3", &["size=2", "size=-9223372036854775808"], &["size=3"], &[]),
    ("size <= 3", &["size=3"], &["size=4"], &[]),
    ("size > 3", &["size=4", "size=9223372036854775807"], &["size=3"], &[]),
    ("size >= 3", &["size=3"], &["size=2"], &[]),
    ("size >= 9223372036854775807", &["size=9223372036854775807"], &["size=9223372036854775806"], &[]),
    ("size <= -9223372036854775808", &["size=-9223372036854775808"], &["size=-9223372036854775807"], &[]),
    ("size in [1, 5, 9]", &["size=1", "size=9"], &["size=2", "size=0"], &[]),
    ("source.port == 4000", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port == dyn(4000u)", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port == 80", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("source.port in [443, 4000]", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port in [443, 8443]", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("source.port > 1024", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port < 1024", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("size == dyn(3u)", &["size=3"], &["size=2"], &[]),
    ("count == dyn(7)", &["count=7"], &["count=8"], &[]),
    ("count == 7u", &["count=7"], &["count=8"], &[]),
    ("count >= 9223372036854775808u", &["count=18446744073709551615"], &["count=9223372036854775807"], &[]),
    ("count < 1u", &["count=0"], &["count=1"], &[]),
    ("secure", &["secure=true"], &["secure=false"], &[]),
    ("!secure", &["secure=false"], &["secure=true"], &[]),
    ("!client.admin", &["admin=false"], &["admin=true", "path=/"], &[]),
    ("client.admin", &["admin=true"], &["admin=false", "path=/"], &[]),
    ("client.note == 'x'", &["note=x"], &["note=y", "path=/"], &[]),
    ("has(client.note)", &["note=x"], &["path=/"], &[]),
    ("!has(client.note)", &["path=/"], &["note=x"], &[]),
    ("'X-A' in request.headers", &[":x-a=1", ":x-a="], &[":x-b=1", "path=/"], &[]),
    ("!('x-a' in request.headers)", &["path=/"], &[":x-a=", ":x-a=1"], &[]),
    ("request.headers['x-a'] == '1'", &[":x-a=1"], &[":x-a=2", ":x-a=", "path=/"], &[]),
    ("request.headers['x-a'] == '1,2'", &[":x-a=1 :x-a=2", ":x-a=1,2"], &[":x-a=1", ":x-a=2 :x-a=1"], &[]),
    ("request.headers['x-a'] == ''", &[":x-a="], &[":x-a=1", "path=/", ":x-a= :x-a="], &[]),
    ("request.headers['x-a'] in ['1', '2']", &[":x-a=2"], &[":x-a=3", ":x-a=1 :x-a=2", "path=/"], &[]),
    ("request.headers['x-a'].startsWith('ab')", &[":x-a=ab", ":x-a=ab%ff"], &[":x-a=a", "path=/"], &[]),
    (
        "request.headers['x-a'].endsWith('ab')",
        &[":x-a=%ffab", ":x-a=x :x-a=ab"],
        &[":x-a=ab%ff", ":x-a=ab :x-a=x"],
        &[],
    ),
    ("request.headers['x-a'].contains('b,c')", &[":x-a=ab :x-a=cd"], &[":x-a=ab", "path=/"], &[]),
    ("request.headers['x-a'].matches('^a.b$')", &[":x-a=axb", ":x-a=a%ffb"], &[":x-a=ba", "path=/"], &[":x-a=ab"]),
    ("request.headers['x-a'].matches('(?i)^mozilla/[0-9]')", &[":x-a=mOZILLA/7"], &[":x-a=xmozilla/7"], &[]),
    ("request.headers['x-a'].lowerAscii() == 'abc'", &[":x-a=AbC", ":x-a=abc"], &[":x-a=ab", "path=/"], &[]),
    ("default(request.headers['x-a'], 'z') == 'z'", &[":x-a=z", "path=/"], &[":x-a=y", ":x-a="], &[]),
    ("default(request.headers['x-a'], 'z') == 'y'", &[":x-a=y"], &[":x-a=z", "path=/"], &[]),
    (
        "default(request.headers['x-a'], 'z-header-a').startsWith('z-header')",
        &[":x-a=z-header", "path=/"],
        &[":x-a=z-heade"],
        &[],
    ),
    ("default(client.note, 'none') == 'none'", &["note=none", "path=/"], &["note=x"], &[]),
    ("request.headers[?'x-a'].orValue('') == 'b'", &[":x-a=b"], &[":x-a=", "path=/"], &[]),
    ("request.headers[?'x-a'].orValue('b') == 'b'", &[":x-a=b", "path=/"], &[":x-a=a", ":x-a="], &[]),
    ("request.path == '/a' || request.host == 'h'", &["path=/a", ":host=h"], &["path=/b"], &[]),
    ("request.path == '/a' && size(request.host) == 1", &["path=/a :host=h"], &[":host=h"], &["path=/a"]),
    ("request.path == '/a' ? request.host == 'h' : false", &["path=/a :host=h"], &[":host=h"], &["path=/a"]),
    ("request.path == '/a' && ratio > 1.5", &["path=/a ratio=2"], &["ratio=2"], &["path=/a ratio=1.5"]),
    ("request.path == '/a' && count_of(size) == 2", &["path=/a size=1"], &["size=1"], &["path=/a size=7"]),
];

/// Rules that no key finds, because what could be one would hold always, or fails.
const KEYLESS: &[&str] = &[
    "size(request.path) == 2",
    "request.path != '/a'",
    "ratio > 1.5",
    "request.path == request.host",
    "request.headers['x-a'] == '\\uFFFD'",
    "request.path == '/a' || size(request.path) == 2",
    "count_of(size) == 2",
    "size + 1 == 2",
    "client.ip == '10.1.2.3'",
    "source.port in [dyn(4000), 'x']",
    "source.port == dyn(4000.0)",
    "source.port != 80",
];

fn env() -> Env<Call<'static>> {
    Env::<Call<'_>>::new().function("count_of", |n: i64| n.saturating_add(1))
}

/// All calls of the cases.
fn inputs() -> Vec<Input> {
    let mut written: Vec<&str> =
        CASES.iter().flat_map(|(_, hits, misses, vain)| [*hits, *misses, *vain].concat()).collect();
    written.sort_unstable();
    written.dedup();
    written.into_iter().map(Input::new).collect()
}

/// Rules that no call here matches, which make values of fields unlikely.
fn others() -> impl Iterator<Item = String> {
    (0..12).flat_map(|n| {
        ["request.path", "request.host", "request.headers['x-a']", "client.note", "request.headers['x-a'].lowerAscii()"]
            .map(|field| format!("{field} == 'other-{n}'"))
            .into_iter()
            .chain(["request.path", "request.headers['x-a']"].map(|field| format!("{field}.startsWith('other-{n}')")))
    })
}

#[test]
fn each_kind_of_key_finds_its_rule_alone() {
    let env = env();
    let mut scratch = Scratch::new();
    let mut wrong = Vec::new();
    for tier in TIERS {
        for (source, hits, misses, vain) in CASES {
            let sources: Vec<String> = std::iter::once((*source).to_owned()).chain(others()).collect();
            let set = build(&engine(tier), &env, &sources, Indexing::Always, ErrorPolicy::NoMatch);
            let native = if tier == Tier::Native { sources.len() } else { 0 };
            if (set.indexed_rules(), set.native_rules()) != (sources.len(), native) {
                wrong.push(format!("{source} in {tier:?}: {} indexed, {set:?}", set.indexed_rules()));
            }
            for (inputs, found, matched) in [(hits, true, true), (misses, false, false), (vain, true, false)] {
                for written in *inputs {
                    let input = Input::new(written);
                    let call = input.call();
                    let answer = (set.candidates(&call, &mut scratch) == [0], set.any(&call, &mut scratch));
                    if answer != (found, Ok(matched)) {
                        wrong.push(format!("{source} for {written} in {tier:?}: {answer:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_no_key_finds_is_evaluated() {
    let env = env();
    let inputs = inputs();
    for source in KEYLESS {
        let program = [engine(Tier::Interpret).compile(&env, source).unwrap()];
        for tier in TIERS {
            let set = build(&engine(tier), &env, &[source], Indexing::Always, ErrorPolicy::NoMatch);
            assert_eq!(set.indexed_rules(), 0, "{source}");
            inputs.iter().for_each(|input| as_alone(&set, &program, &input.call()));
        }
    }
}

/// All rules together, several times, so that keys meet in one lookup, and pay.
#[test]
fn all_kinds_of_keys_together() {
    let env = env();
    let inputs = inputs();
    let cases = CASES.iter().map(|(source, ..)| (*source).to_owned());
    let mut sources: Vec<String> = cases.chain(KEYLESS.iter().map(|source| (*source).to_owned())).collect();
    for n in 0..4 {
        let further = CASES.iter().map(|(source, ..)| format!("({source}) && size != {n}"));
        sources.extend(further);
    }
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for indexing in [Indexing::Always, Indexing::Auto] {
            for policy in POLICIES {
                let set = build(&engine, &env, &sources, indexing, policy);
                assert!(set.indexed_rules() * 2 > sources.len(), "{} of {}", set.indexed_rules(), sources.len());
                inputs.iter().for_each(|input| as_alone(&set, &alone, &input.call()));
            }
        }
    }
}

/// Rules like [`others`] that never fail.
fn guarded_others() -> impl Iterator<Item = String> {
    (0..12).flat_map(|n| {
        let header = format!("'x-a' in request.headers && request.headers['x-a'] == 'other-{n}'");
        [header, format!("has(client.note) && client.note == 'other-{n}'")]
    })
}

#[test]
fn a_guarded_header_is_not_found_where_it_is_absent() {
    let env = env();
    let mut scratch = Scratch::new();
    let guarded = "'x-a' in request.headers && request.headers['x-a'] == '1'";
    let bare = "  request.headers['x-a'] == '1'";
    let calls = [("path=/", false, false), (":x-a=2", false, false), (":x-a=1", true, true)];
    for tier in TIERS {
        for policy in POLICIES {
            for source in [guarded, "has(client.note) && client.note == '1'"] {
                let sources: Vec<String> = std::iter::once(source.to_owned()).chain(guarded_others()).collect();
                let set = build(&engine(tier), &env, &sources, Indexing::Always, policy);
                assert_eq!(set.indexed_rules(), sources.len(), "{source}");
                for (written, found, matched) in calls {
                    let input = Input::new(
                        if source == guarded { written.to_owned() } else { written.replace(":x-a", "note") }.as_str(),
                    );
                    let call = input.call();
                    assert_eq!(
                        set.candidates(&call, &mut scratch).len(),
                        usize::from(found),
                        "{source} for {written}, {policy:?}"
                    );
                    assert_eq!(set.any(&call, &mut scratch), Ok(matched));
                    assert!(scratch.errors().is_empty());
                }
            }
            let set = build(&engine(tier), &env, &[bare], Indexing::Always, policy);
            let alone = [engine(tier).compile(&env, bare).unwrap()];
            for (written, found, _) in calls {
                let input = Input::new(written);
                // Where it matters that it fails, it is found where it does.
                let found = found || written == "path=/" && policy != ErrorPolicy::NoMatch;
                assert_eq!(
                    set.candidates(&input.call(), &mut scratch).len(),
                    usize::from(found),
                    "{written}, {policy:?}"
                );
                as_alone(&set, &alone, &input.call());
            }
        }
    }
}

/// What fails is found, and fails where its own source says, next to what makes the failure be of no consequence.
#[test]
fn failures_are_those_of_the_rules_alone() {
    let env = env();
    let sources = [
        "request.headers['x-a'] == '1'",
        "   request.headers['x-a'] == '1'",
        "request.headers['x-a'] == '1' && request.path == '/a'",
        "request.path == '/a' && request.headers['x-a'] == '1'",
        "request.headers['x-a'] == '1' && request.headers['x-b'] == '2'",
        "'x-a' in request.headers && request.headers['x-b'] == '2'",
        "request.headers['x-a'].startsWith('1') || request.path == '/a'",
        "!('x-a' in request.headers) && request.headers['x-a'] == '1'",
        "default(request.headers['x-a'], '1') == '1' && request.headers['x-b'] == '2'",
        "request.headers['x-a'].matches('^1+$') && 1 / size == 1",
        "request.path == '/a' && 1 / size == 1",
        "request.path == '/a' && client.note.startsWith('n')",
        "client.note == 'n' && client.admin",
        "!client.admin && request.path == '/a'",
        "cidr('10.0.0.0/8').containsIP(source.address) && request.path == '/a'",
        "request.headers['x-a'].lowerAscii() == 'a' && request.path == '/a'",
        "request.headers['x-a'] in ['1', '2'] ? request.path == '/a' : false",
    ];
    let mut inputs: Vec<Input> = Vec::new();
    for path in ["path=/a", "path=/b"] {
        for a in ["", ":x-a=1", ":x-a=", ":x-a=A", ":x-a=1 :x-a=2", ":x-a=%ff"] {
            for rest in
                ["", ":x-b=2 size=1", "note=n", "note=n admin=true peer=10.0.0.1", "admin=false :x-b=1", "peer=::1"]
            {
                inputs.push(Input::new(&format!("{path} {a} {rest}")));
            }
        }
    }
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        let failures = |input: &&Input| alone.iter().any(|program| program.test(&input.call()).is_err());
        assert!(inputs.iter().filter(failures).count() > 20);
        for policy in POLICIES {
            for indexing in [Indexing::Always, Indexing::Auto] {
                // Often enough that lookups pay.
                let often = build(&engine, &env, &sources.repeat(8), indexing, policy);
                let once = build(&engine, &env, &sources, indexing, policy);
                assert!(
                    often.indexed_rules() > sources.len() * 4
                        && (indexing == Indexing::Auto || once.indexed_rules() > 12)
                );
                for input in &inputs {
                    as_alone(&once, &alone, &input.call());
                }
                let again: Vec<_> =
                    sources.repeat(8).iter().map(|source| engine.compile(&env, source).unwrap()).collect();
                inputs.iter().step_by(5).for_each(|input| as_alone(&often, &again, &input.call()));
            }
        }
    }
}

/// What a field of [`Odd`] does when it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Text(&'static str),
    Number(i64),
    Truth(bool),
    Nothing,
    Fails,
    Panics,
}

/// A host whose fields are what they like, whatever they were declared as.
struct Odd([Does; 3]);

impl Host for Odd {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match self.0.get(index as usize) {
            Some(Does::Text(text)) => Ok(Some(Value::String(text))),
            Some(Does::Number(number)) => Ok(Some(Value::Int(*number))),
            Some(Does::Truth(truth)) => Ok(Some(Value::Bool(*truth))),
            Some(Does::Fails) => Err(ErrorKind::Overflow),
            Some(Does::Panics) => std::panic::panic_any("read"),
            Some(Does::Nothing) | None => Ok(None),
        }
    }
}

// SAFETY: all fields are read through `Host::field`.
unsafe impl Context for Odd {
    type Static = Odd;

    fn fields() -> Vec<Field> {
        let layout = || layout::Field::new(Ty::Value, true, Access::Get);
        let types = [("any", Type::Dyn), ("text", Type::String), ("number", Type::Int)];
        types.map(|(name, ty)| Field { name: name.to_owned(), ty, layout: layout() }).into()
    }
}

/// Runs with panics that say nothing. They are a matter of the whole process: one test at a time.
fn quietly(body: impl FnOnce()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    std::panic::set_hook(hook);
    drop(alone);
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn hosts_that_cannot_be_read_are_asked_rule_by_rule() {
    let does = [
        Does::Text("a"),
        Does::Text("b"),
        Does::Number(1),
        Does::Number(7),
        Does::Truth(true),
        Does::Nothing,
        Does::Fails,
        Does::Panics,
    ];
    let env = Env::<Odd>::new();
    let sources = [
        "any == 'a'",
        "any in ['a', 'b']",
        "any == 'a' && number == 7",
        "text == 'a'",
        "  text == 'a' || number < 3",
        "text.startsWith('a') && any == 'b'",
        "text.lowerAscii() == 'a'",
        "number == 7",
        "number in [1, 7]",
        "text.matches('^[ab]$')",
        "true",
        "size(text) == 1",
        "default(text, 'a') == 'a'",
        "any",
        "!any",
    ];
    quietly(|| {
        for tier in TIERS {
            let engine = engine(tier);
            let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
            for policy in POLICIES {
                let set = build(&engine, &env, &sources, Indexing::Always, policy);
                assert!(set.indexed_rules() >= 8, "{} in {tier:?}", set.indexed_rules());
                for any in does {
                    for text in does {
                        for number in does {
                            as_alone(&set, &alone, &Odd([any, text, number]));
                        }
                    }
                }
                let unread = Odd([Does::Text("x"), Does::Panics, Does::Number(0)]);
                let mut scratch = Scratch::new();
                let found = set.candidates(&unread, &mut scratch).len();
                assert_eq!(found, set.indexed_rules(), "all that an index can't decide is found");
            }
        }
    });
}

#[test]
fn bindings_of_another_type_are_asked_rule_by_rule() {
    let env = Env::dynamic().variable("any", Type::Dyn).variable("host", Type::String);
    let sources: Vec<String> = (0..40)
        .flat_map(|n| {
            [format!("any == 'a{n}'"), format!("any in ['a{n}', 'b']"), format!("host == 'h{n}' && any == 'b'")]
        })
        .collect();
    let values = [Value::String("a3"), Value::String("b"), Value::Int(3), Value::Null, Value::Double(f64::NAN)];
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for policy in POLICIES {
            let set = build(&engine, &env, &sources, Indexing::Auto, policy);
            assert_eq!(set.indexed_rules(), sources.len());
            for any in values.iter().map(Some).chain([None]) {
                for host in [Some("h3"), None] {
                    let mut bindings = Bindings::new(&env);
                    if let Some(any) = any {
                        bindings.set("any", *any).unwrap();
                    }
                    if let Some(host) = host {
                        bindings.set("host", Value::String(host)).unwrap();
                    }
                    as_alone(&set, &alone, &bindings);
                }
            }
        }
    }
}

#[test]
fn a_found_rule_has_the_budget_of_one_alone() {
    let limits = Limits { steps: 200, memory: 4096, ..Limits::default() };
    let env = Env::dynamic()
        .variable("host", Type::String)
        .variable("text", Type::String)
        .variable("list", Type::list(Type::Int));
    let mut sources = vec![
        "host == 'a' && list.all(x, list.all(y, y == x))".to_owned(),
        "host == 'a' && (text + text + text + text + text + text).size() > 0".to_owned(),
    ];
    sources.extend((0..30).map(|n| format!("host == 'a' && (text + '{n}').size() > 1000")));
    sources.extend((0..30).map(|n| format!("host == 'a' && list.all(x, x > -{n} - 1)")));
    sources.extend((0..30).map(|n| format!("host == 'b{n}' && list.all(x, list.all(y, y == x))")));
    let (items, text) = ([Value::Int(1); 60], "a".repeat(1000));
    for tier in TIERS {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for policy in POLICIES {
            let set = build(&engine, &env, &sources, Indexing::Always, policy);
            assert_eq!(set.indexed_rules(), sources.len());
            for host in ["a", "b3", "c"] {
                let mut bindings = Bindings::new(&env);
                bindings.set("host", Value::String(host)).unwrap();
                bindings.set("text", Value::String(&text)).unwrap();
                bindings.set("list", Value::List(List::Slice(&items))).unwrap();
                as_alone(&set, &alone, &bindings);
                let mut scratch = Scratch::new();
                let _ = set.all(&bindings, &mut scratch);
                let spent: Vec<usize> = scratch.errors().iter().map(|error| error.rule).collect();
                let expected = match host {
                    "a" if policy == ErrorPolicy::Stop => vec![0],
                    "a" => vec![0, 1],
                    "b3" => vec![sources.iter().position(|source| source.contains("'b3'")).unwrap()],
                    _ => vec![],
                };
                assert_eq!(spent, expected, "{host}, {policy:?} in {tier:?}");
                assert!(scratch.errors().iter().all(|error| error.error.kind == ErrorKind::OutOfBudget));
            }
        }
    }
}

/// Patterns with tables of their own, found by literals and by tables of all, large, and of more than ASCII.
fn pattern_rules() -> Vec<String> {
    let of = |n: usize| {
        let rest = format!("request.host == 'a' && request.path.matches('/{n}[a-z]+/x')");
        let patterns = ["^/{n}/[^/]+$", "/user{n}.*view", "{n}[0-9]{2}", "[{n}-9][^a-z][a-z]$", "(?i){n}k+[äk]"];
        let all = patterns.map(|pattern| format!("request.path.matches('{}')", pattern.replace("{n}", &n.to_string())));
        [rest].into_iter().chain(all)
    };
    (1..8).flat_map(of).collect()
}

#[test]
fn patterns_without_room_answer_as_those_with_it() {
    let env = env();
    let sources = pattern_rules();
    let alone: Vec<_> = sources.iter().map(|source| engine(Tier::Native).compile(&env, source).unwrap()).collect();
    let paths = ["/1/a", "/user3/view", "/x123", "/5abc/x", "/7-a", "/%C3%A4", "/2kkK"];
    let inputs: Vec<Input> = paths.iter().map(|path| Input::new(&format!("path={path} :host=a"))).collect();
    for patterns in [0, 1 << 12, 1 << 15, 1 << 18] {
        let engine = Engine::builder().limits(Limits { patterns, ..Limits::default() }).build();
        for indexing in [Indexing::Always, Indexing::Off] {
            let set = build(&engine, &env, &sources, indexing, ErrorPolicy::Match);
            for _ in 0..2 {
                inputs.iter().for_each(|input| as_alone(&set, &alone, &input.call()));
            }
        }
        let programs = sources.iter().map(|source| engine.compile(&env, source).unwrap());
        for (program, alone) in programs.zip(&alone) {
            inputs.iter().for_each(|input| assert_eq!(program.test(&input.call()), alone.test(&input.call())));
        }
    }
}

#[test]
fn a_pattern_without_room_is_paid_for_with_steps() {
    let env = env();
    let input = Input::new("path=/ab/x12y :host=h");
    for (patterns, compiled) in [(0, false), (1 << 20, true)] {
        for (indexing, rule) in [(Indexing::Always, "steps[0-9]"), (Indexing::Off, "steps[0-8]")] {
            let limits = Limits { patterns, steps: 5000, ..Limits::default() };
            let engine = Engine::builder().tier(Tier::Native).limits(limits).build();
            let source = format!("request.host == 'h' && !request.path.matches('{rule}.*x')");
            let set = build(&engine, &env, &[source], indexing, ErrorPolicy::Stop);
            let answer = set.any(&input.call(), &mut Scratch::new());
            let wanted = if compiled { Ok(true) } else { Err(ErrorKind::OutOfBudget) };
            assert_eq!(answer.map_err(|error| error.error.kind), wanted, "{indexing:?}");
        }
    }
}
