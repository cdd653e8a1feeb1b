//! Generates rules and requests like those of a gateway with many tenants.
//!
//! A rule has one to three conditions. Of every hundred conditions 40 compare the host, 25 test a
//! prefix of the path, 10 compare a header, 10 search the user agent, 10 are networks and 5 are
//! expressions on the path. Of every hundred requests 30 are made so that some rule matches.

use super::rng::Rng;
use super::vocabulary::Vocabulary;
use http::{HeaderName, HeaderValue, Request};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    /// The host is this.
    Host(String),
    /// The path begins with this.
    Prefix(String),
    /// The header is this.
    Header(String, String),
    /// The user agent contains this.
    Agent(String),
    /// The peer is in this network.
    Network(Ipv4Addr, u8),
    /// The path matches the first text, an expression; the second text is a path that does.
    Path(String, String),
}

/// Conditions that must all hold.
pub(crate) type GeneratedRule = Vec<Condition>;

/// A request on which the rules are evaluated.
pub(crate) struct RequestSample {
    pub(crate) request: Request<()>,
    pub(crate) peer: SocketAddr,
}

impl RequestSample {
    /// A request for a path, with headers.
    pub(crate) fn new(path: &str, headers: &[(&str, &[u8])], ip: Ipv4Addr) -> Self {
        let mut request = Request::get(path).body(()).expect("a path");
        for (name, value) in headers {
            let name = name.parse::<HeaderName>().expect("a name");
            request.headers_mut().insert(name, HeaderValue::from_bytes(value).expect("a value"));
        }
        Self { request, peer: SocketAddr::new(IpAddr::V4(ip), 40_000) }
    }
}

impl Condition {
    /// The condition in CEL; `network` writes the test of an address, which differs between engines.
    pub(crate) fn cel(&self, network: impl Fn(&str) -> String) -> String {
        match self {
            Self::Host(host) => format!("request.host == {host:?}"),
            Self::Prefix(prefix) => format!("request.path.startsWith({prefix:?})"),
            Self::Header(name, value) => format!("request.headers[{name:?}] == {value:?}"),
            Self::Agent(token) => format!("request.headers[\"user-agent\"].contains({token:?})"),
            Self::Network(address, bits) => network(&format!("{address}/{bits}")),
            Self::Path(pattern, _) => format!("request.path.matches({pattern:?})"),
        }
    }
}

/// A rule in celero's CEL.
pub(crate) fn source(rule: &GeneratedRule) -> String {
    in_cel(rule, |network| format!("cidr({network:?}).containsIP(source.address)"))
}

/// A rule in CEL with networks written by `network`.
pub(crate) fn in_cel(rule: &GeneratedRule, network: impl Fn(&str) -> String) -> String {
    rule.iter().map(|condition| condition.cel(&network)).collect::<Vec<_>>().join(" && ")
}

/// An address from one of three large networks, so that some peers are in the networks of some rules.
fn address(rng: &mut Rng) -> Ipv4Addr {
    let first = *rng.pick(&[10, 192, 203]);
    let [_, a, b, c, ..] = rng.bits().to_le_bytes();
    Ipv4Addr::new(first, a, b, c)
}

struct RuleGenerator<'v> {
    vocabulary: &'v Vocabulary,
    rng: Rng,
    hosts: usize,
    headers: usize,
    tokens: usize,
}

fn next(counter: &mut usize) -> usize {
    let number = *counter;
    *counter = counter.saturating_add(1);
    number
}

impl RuleGenerator<'_> {
    /// A condition of this kind. Each host, header and token is used once.
    fn condition(&mut self, kind: usize) -> Condition {
        let (words, rng) = (self.vocabulary, &mut self.rng);
        match kind {
            0 => Condition::Host(words.host(next(&mut self.hosts))),
            1 => Condition::Prefix(words.prefix(rng)),
            2 => {
                let (name, value) = words.header(next(&mut self.headers));
                Condition::Header(name, value)
            }
            3 => Condition::Agent(words.token(next(&mut self.tokens))),
            4 => {
                let bits = *rng.pick(&[16_u8, 20, 22, 24, 24, 24, 24, 24, 28, 32]);
                let mask = u32::MAX << 32_u32.saturating_sub(bits.into());
                Condition::Network(Ipv4Addr::from(u32::from(address(rng)) & mask), bits)
            }
            _ => {
                let (a, b) = (words.segment(rng).to_owned(), words.segment(rng).to_owned());
                let (escaped_a, escaped_b) = (regex::escape(&a), regex::escape(&b));
                match rng.below(3) {
                    0 => Condition::Path(format!("^/{escaped_a}/[^/]+/{escaped_b}$"), format!("/{a}/42/{b}")),
                    1 => Condition::Path(format!("^/{escaped_a}/{escaped_b}/[0-9]+"), format!("/{a}/{b}/1234")),
                    _ => Condition::Path(
                        format!("(?i)/{escaped_a}/.*{escaped_b}\\.(php|aspx?)$"),
                        format!("/x/{a}/y/{b}.php"),
                    ),
                }
            }
        }
    }

    fn rule(&mut self) -> GeneratedRule {
        let many = self.rng.below(3).saturating_add(1);
        let mut kinds: Vec<usize> = Vec::new();
        while kinds.len() < many {
            let kind = match self.rng.below(100) {
                0..40 => 0,
                40..65 => 1,
                65..75 => 2,
                75..85 => 3,
                85..95 => 4,
                _ => 5,
            };
            // Two conditions on the path, or two of one kind, would hardly ever both hold.
            let of_path = |kind| kind == 1 || kind == 5;
            if !kinds.iter().any(|&other| other == kind || of_path(other) && of_path(kind)) {
                kinds.push(kind);
            }
        }
        kinds.into_iter().map(|kind| self.condition(kind)).collect()
    }
}

/// `many` different rules; the same ones in every run.
pub(crate) fn rules(vocabulary: &Vocabulary, many: usize) -> Vec<GeneratedRule> {
    let mut generator = RuleGenerator { vocabulary, rng: Rng::new(many as u64), hosts: 0, headers: 0, tokens: 0 };
    let mut known = HashSet::new();
    let mut rules = Vec::with_capacity(many);
    while rules.len() < many {
        let rule = generator.rule();
        if known.insert(rule.clone()) {
            rules.push(rule);
        }
    }
    rules
}

/// Headers of a request for which a few of the rules are true: of the rules with one condition the
/// first on the host, the first four on the user agent, and the first three on `x-` headers.
pub(crate) fn headers_for(rules: &[GeneratedRule]) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut tokens = Vec::new();
    for rule in rules {
        match rule.as_slice() {
            [Condition::Host(host)] if !headers.iter().any(|(name, _)| name == "host") => {
                headers.push(("host".into(), host.clone()));
            }
            [Condition::Agent(token)] if tokens.len() < 4 => tokens.push(&**token),
            [Condition::Header(name, value)]
                if name.starts_with("x-")
                    // A proxy trims the others.
                    && value.trim() == value
                    && !headers.iter().any(|(known, _)| known == name)
                    && headers.iter().filter(|(known, _)| known.starts_with("x-")).count() < 3 =>
            {
                headers.push((name.clone(), value.clone()));
            }
            _ => {}
        }
    }
    headers.push(("user-agent".into(), format!("Mozilla/5.0 (compatible; {})", tokens.join("; "))));
    headers
}

/// `many` requests for the rules; the same ones in every run.
pub(crate) fn samples(vocabulary: &Vocabulary, rules: &[GeneratedRule], many: usize) -> Vec<RequestSample> {
    let mut rng = Rng::new(rules.len() as u64 ^ 0x5a5a);
    (0..many).map(|_| sample(vocabulary, rules, &mut rng)).collect()
}

fn sample(vocabulary: &Vocabulary, rules: &[GeneratedRule], rng: &mut Rng) -> RequestSample {
    let mut host = vocabulary.host(rng.below(vocabulary.hosts()));
    let mut path = rng.pick(&vocabulary.paths).clone();
    let mut agent = rng.pick(&vocabulary.agents).clone();
    let mut ip = address(rng);
    let mut headers = vec![("accept".to_owned(), "text/html,*/*;q=0.8".to_owned())];
    for _ in 0..4 {
        headers.push(vocabulary.header(rng.below(vocabulary.headers())));
    }
    if rng.chance(30) {
        for condition in rng.pick(rules) {
            match condition {
                Condition::Host(of_rule) => host = of_rule.clone(),
                Condition::Prefix(prefix) => path = format!("{prefix}/42?tab=orders"),
                Condition::Header(name, value) => headers.push((name.clone(), value.clone())),
                Condition::Agent(token) => {
                    agent = format!("Mozilla/5.0 (compatible; {token}; +http://example.com/bot.html)")
                }
                Condition::Network(network, bits) => {
                    let host = rng.bits() as u32 & u32::MAX.checked_shr((*bits).into()).unwrap_or(0);
                    ip = Ipv4Addr::from(u32::from(*network) | host);
                }
                Condition::Path(_, matching) => path = matching.clone(),
            }
        }
    }
    let mut lines: Vec<(&str, &[u8])> = vec![("host", host.as_bytes()), ("user-agent", agent.as_bytes())];
    lines.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
    RequestSample::new(&path, &lines, ip)
}
