//! What an expert would write by hand for rules that come from a file: a loop over prepared
//! conditions that leaves a rule at the first condition that is false. Fields that all rules read
//! are read once.

use super::generate::{Condition, GeneratedRule, RequestSample};
use http::HeaderName;
use memchr::memmem::Finder;
use regex::Regex;
use std::net::IpAddr;

enum Prepared {
    Host(Box<str>),
    Prefix(Box<str>),
    Header(HeaderName, Box<str>),
    Agent(Box<Finder<'static>>),
    Network(u32, u32),
    Path(Regex),
}

fn prepare(condition: &Condition) -> Prepared {
    match condition {
        Condition::Host(host) => Prepared::Host(host.as_str().into()),
        Condition::Prefix(prefix) => Prepared::Prefix(prefix.as_str().into()),
        Condition::Header(name, value) => Prepared::Header(name.parse().expect("a name"), value.as_str().into()),
        Condition::Agent(token) => Prepared::Agent(Box::new(Finder::new(token).into_owned())),
        Condition::Network(address, bits) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub((*bits).into())).unwrap_or(0);
            Prepared::Network(u32::from(*address), mask)
        }
        Condition::Path(pattern, _) => Prepared::Path(Regex::new(pattern).expect("an expression")),
    }
}

/// Returns a function that finds the rules that match.
pub(crate) fn all(rules: &[GeneratedRule]) -> impl Fn(&RequestSample, &mut Vec<usize>) + use<> {
    let rules: Vec<Box<[Prepared]>> = rules.iter().map(|rule| rule.iter().map(prepare).collect()).collect();
    move |sample, matched| {
        let (path, headers) = (sample.request.uri().path(), sample.request.headers());
        let text = |name: &HeaderName| headers.get(name).map(http::HeaderValue::as_bytes);
        let host = text(&http::header::HOST).unwrap_or_default();
        let agent = text(&http::header::USER_AGENT).unwrap_or_default();
        let ip = match sample.peer.ip() {
            IpAddr::V4(ip) => u32::from(ip),
            IpAddr::V6(_) => 0,
        };
        for (number, rule) in rules.iter().enumerate() {
            let holds = rule.iter().all(|condition| match condition {
                Prepared::Host(is) => host == is.as_bytes(),
                Prepared::Prefix(prefix) => path.starts_with(&**prefix),
                Prepared::Header(name, is) => text(name) == Some(is.as_bytes()),
                Prepared::Agent(finder) => finder.find(agent).is_some(),
                Prepared::Network(network, mask) => ip & mask == *network,
                Prepared::Path(regex) => regex.is_match(path),
            });
            if holds {
                matched.push(number);
            }
        }
    }
}
