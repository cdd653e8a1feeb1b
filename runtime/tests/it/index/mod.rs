//! What an index finds: each kind of key finds its rule, and nothing where it does not hold; what
//! is found answers as the rule alone does, whatever the host's data are.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::host::{Field, Host};
use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::values::{Arena, EvalResult, List};
use celero::{
    Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Limits, Program, Rule, RuleError, RuleSet, Scratch, Tier,
    Type, Value,
};
use celero_ir::Ty;
use celero_ir::layout::{self, Access};
use http::{HeaderName, HeaderValue, Request};
use std::net::IpAddr;

mod cost;
mod failures;
mod kinds;
mod limits;
mod named_lists;
mod one_lookup;
mod unreadable_hosts;

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
    #[context(nested)]
    token: Option<Box<Token>>,
}

#[derive(Context)]
struct Token {
    subject: String,
    level: Option<u16>,
    issuer: IpAddr,
}

/// What a call has, written as `name=value` with spaces between; names with a `:` in front are
/// headers, `%` escapes bytes.
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
    /// That of the token; its level is the length less three.
    subject: Option<String>,
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
            subject: None,
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
                "subject" => input.subject = Some(value.to_owned()),
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
            token: self.subject.clone().map(|subject| {
                let level = subject.len().checked_sub(3).and_then(|level| u16::try_from(level).ok());
                Box::new(Token { subject, level, issuer: self.ip })
            }),
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
                errors.push(RuleError::new(rule, error));
                if policy == ErrorPolicy::Stop {
                    stopped = Some(RuleError::new(rule, error));
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
            set.indices(context, &mut scratch).map(<[usize]>::to_vec)
        };
        assert_eq!(got, stopped.map_or(Ok(matched), Err), "{policy:?}, once: {once}, {:#?}", sources());
        if policy == ErrorPolicy::NoMatch {
            assert!(scratch.errors().iter().all(|error| errors.contains(error)), "{:?}", scratch.errors());
        } else {
            assert_eq!(scratch.errors(), errors, "{policy:?}, once: {once}, {:#?}", sources());
        }
    }
}

fn env() -> Env<Call<'static>> {
    Env::<Call<'_>>::new().pure_function("count_of", |n: i64| n.saturating_add(1))
}
