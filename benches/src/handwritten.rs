//! What an expert would write by hand: names, searchers, expressions and sets prepared, no conversion, no allocation.
//!
//! `behind_pointer` calls the code through a pointer that the compiler can't see through, as any
//! rule compiled at run time is called; `inline` lets it be merged with the loop that times it.

use crate::rules::WorkloadRule;
use crate::{Input, Runner, Workload};
use http::{HeaderName, Method};
use ipnet::IpNet;
use memchr::memmem::Finder;
use regex::Regex;
use std::collections::HashSet;
use std::hint::black_box;

/// A rule with all that can be prepared.
enum Prepared {
    Method(Vec<Method>),
    Header(HeaderName),
    HeaderIs(HeaderName, Vec<String>),
    HeaderIn(HeaderName, HashSet<Vec<u8>, foldhash::fast::FixedState>),
    HeaderContains(HeaderName, Box<Finder<'static>>),
    HeaderStarts(HeaderName, String),
    PathPrefix(String),
    PathMatches(Regex),
    Network(IpNet, IpNet),
    Arithmetic,
    Groups,
    BodyModel(String),
}

fn prepare(rule: &WorkloadRule) -> Prepared {
    let name = |h: &str| h.parse::<HeaderName>().expect("a header name");
    match rule {
        WorkloadRule::Method(m) => Prepared::Method(m.iter().map(|m| m.parse().expect("a method")).collect()),
        WorkloadRule::Header(h) => Prepared::Header(name(h)),
        WorkloadRule::HeaderIs(h, v) if v.len() <= 2 => Prepared::HeaderIs(name(h), v.clone()),
        WorkloadRule::HeaderIs(h, v) => Prepared::HeaderIn(name(h), v.iter().map(|v| v.clone().into_bytes()).collect()),
        WorkloadRule::HeaderContains(h, v) => Prepared::HeaderContains(name(h), Box::new(Finder::new(v).into_owned())),
        WorkloadRule::HeaderStarts(h, v) => Prepared::HeaderStarts(name(h), v.clone()),
        WorkloadRule::PathPrefix(p) => Prepared::PathPrefix(p.clone()),
        WorkloadRule::PathMatches(p) => Prepared::PathMatches(Regex::new(p).expect("an expression")),
        WorkloadRule::Network(a, b) => Prepared::Network(a.parse().expect("a network"), b.parse().expect("a network")),
        WorkloadRule::Arithmetic => Prepared::Arithmetic,
        WorkloadRule::Groups => Prepared::Groups,
        WorkloadRule::BodyModel(model) => Prepared::BodyModel(model.clone()),
    }
}

#[inline]
fn header<'a>(input: &'a Input, name: &HeaderName) -> &'a [u8] {
    input.request.headers().get(name).map_or(b"", |v| v.as_bytes())
}

/// What is read of the body. The whole body is scanned, though not all of it validated.
#[derive(serde::Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    model: &'a str,
}

// One function a kind of rule, so that a single rule costs no dispatch.
macro_rules! kinds {
    ($($kind:ident($input:ident, $($bound:pat),*) $body:expr;)*) => {
        #[expect(non_snake_case, reason = "named as the kinds are")]
        mod functions {
            #![expect(clippy::allow_attributes, reason = "a kind without preparation binds nothing")]
            use super::{Body, Finder, Input, Method, Prepared, header};
            $(pub(super) extern "C" fn $kind($input: &Input, prepared: &Prepared) -> u64 {
                #[allow(irrefutable_let_patterns, reason = "so that all kinds are written alike")]
                let Prepared::$kind($($bound),*) = prepared else { return u64::MAX };
                $body
            })*
            #[allow(unused_imports, reason = "used by some kinds only")]
            use Body as _B;
            #[allow(unused_imports, reason = "used by some kinds only")]
            use Finder as _F;
            #[allow(unused_imports, reason = "used by some kinds only")]
            use Method as _M;
        }
    };
}

kinds! {
    Method(input, methods) match methods.as_slice() {
        [one] => u64::from(input.request.method() == *one),
        many => u64::from(many.contains(input.request.method())),
    };
    Header(input, name) {
        let value = input.request.headers().get(name);
        value.and_then(|v| v.to_str().ok()).unwrap_or("").len() as u64
    };
    HeaderIs(input, name, values) {
        let text = header(input, name);
        u64::from(values.iter().any(|v| v.as_bytes() == text))
    };
    HeaderIn(input, name, set) u64::from(set.contains(header(input, name)));
    HeaderContains(input, name, finder) u64::from(finder.find(header(input, name)).is_some());
    HeaderStarts(input, name, prefix) u64::from(header(input, name).starts_with(prefix.as_bytes()));
    PathPrefix(input, prefix) {
        let request = &input.request;
        u64::from(
            request.uri().path().starts_with(prefix.as_str())
                && (request.method() == Method::GET || request.method() == Method::HEAD),
        )
    };
    PathMatches(input, regex) u64::from(regex.is_match(input.request.uri().path()));
    Network(input, a, b) {
        let ip = input.peer.ip();
        u64::from(a.contains(&ip) || b.contains(&ip))
    };
    BodyModel(input, model) {
        serde_json::from_slice::<Body<'_>>(&input.body).map_or(u64::MAX, |body| u64::from(body.model == model))
    };
}

extern "C" fn arithmetic(input: &Input, _: &Prepared) -> u64 {
    let sum = input.a.checked_mul(3).and_then(|x| x.checked_add(input.b));
    u64::from(sum.and_then(|x| x.checked_rem(7)) == Some(2) && input.a < 100)
}

extern "C" fn groups(input: &Input, _: &Prepared) -> u64 {
    u64::from(input.groups.iter().any(|g| g.starts_with("adm")))
}

type Function = extern "C" fn(&Input, &Prepared) -> u64;

fn function(prepared: &Prepared) -> Function {
    match prepared {
        Prepared::Method(_) => functions::Method,
        Prepared::Header(_) => functions::Header,
        Prepared::HeaderIs(..) => functions::HeaderIs,
        Prepared::HeaderIn(..) => functions::HeaderIn,
        Prepared::HeaderContains(..) => functions::HeaderContains,
        Prepared::HeaderStarts(..) => functions::HeaderStarts,
        Prepared::PathPrefix(_) => functions::PathPrefix,
        Prepared::PathMatches(_) => functions::PathMatches,
        Prepared::Network(..) => functions::Network,
        Prepared::Arithmetic => arithmetic,
        Prepared::Groups => groups,
        Prepared::BodyModel(_) => functions::BodyModel,
    }
}

/// The rules, each behind a pointer.
pub(crate) fn behind_pointer(workload: &Workload) -> Runner {
    let rules: Vec<(Function, Prepared)> = workload
        .rules
        .iter()
        .map(|rule| {
            let prepared = prepare(rule);
            (function(&prepared), prepared)
        })
        .collect();
    match <[_; 1]>::try_from(rules) {
        Ok([(function, prepared)]) => Box::new(move |input| black_box(function)(input, &prepared)),
        Err(rules) => Box::new(move |input| rules.iter().map(|(f, p)| black_box(*f)(input, p)).sum()),
    }
}

/// The rules, merged with the caller.
pub(crate) fn inline(workload: &Workload) -> Runner {
    let rules: Vec<Prepared> = workload.rules.iter().map(prepare).collect();
    match <[_; 1]>::try_from(rules) {
        Ok([rule]) => match rule {
            rule @ Prepared::Method(_) => Box::new(move |input| functions::Method(input, &rule)),
            rule @ Prepared::Header(_) => Box::new(move |input| functions::Header(input, &rule)),
            rule @ Prepared::HeaderIs(..) => Box::new(move |input| functions::HeaderIs(input, &rule)),
            rule @ Prepared::HeaderIn(..) => Box::new(move |input| functions::HeaderIn(input, &rule)),
            rule @ Prepared::HeaderContains(..) => Box::new(move |input| functions::HeaderContains(input, &rule)),
            rule @ Prepared::HeaderStarts(..) => Box::new(move |input| functions::HeaderStarts(input, &rule)),
            rule @ Prepared::PathPrefix(_) => Box::new(move |input| functions::PathPrefix(input, &rule)),
            rule @ Prepared::PathMatches(_) => Box::new(move |input| functions::PathMatches(input, &rule)),
            rule @ Prepared::Network(..) => Box::new(move |input| functions::Network(input, &rule)),
            rule @ Prepared::Arithmetic => Box::new(move |input| arithmetic(input, &rule)),
            rule @ Prepared::Groups => Box::new(move |input| groups(input, &rule)),
            rule @ Prepared::BodyModel(_) => Box::new(move |input| functions::BodyModel(input, &rule)),
        },
        Err(rules) => Box::new(move |input| rules.iter().map(|rule| function(rule)(input, rule)).sum()),
    }
}
