//! Rules and requests as a gateway with many tenants has them: of every hundred conditions 40 compare the host, 25 look
//! at the beginning of the path, 10 compare a header, 10 look into the user agent, 10 are networks and 5 expressions on the
//! path; one to three of them a rule. Of every hundred requests 30 are made for some rule to match.

use super::rng::Rng;
use super::vocabulary::Vocabulary;
use http::{HeaderName, HeaderValue, Request};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// The host is this.
    Host(String),
    /// The path begins with this.
    Prefix(String),
    /// The header is this.
    Header(String, String),
    /// The user agent holds this.
    Agent(String),
    /// The peer lies in this network.
    Network(Ipv4Addr, u8),
    /// The path matches this expression, and so does the second text.
    Path(String, String),
}

/// Conditions that must all hold.
pub(crate) type Rule = Vec<Atom>;

/// What the rules are asked about.
pub(crate) struct Sample {
    pub(crate) request: Request<()>,
    pub(crate) peer: SocketAddr,
}

impl Sample {
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

impl Atom {
    /// The condition in CEL; `network` writes the test of an address, for which engines differ.
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
pub(crate) fn source(rule: &Rule) -> String {
    in_cel(rule, |network| format!("cidr({network:?}).containsIP(source.address)"))
}

/// A rule in CEL with networks written by `network`.
pub(crate) fn in_cel(rule: &Rule, network: impl Fn(&str) -> String) -> String {
    rule.iter().map(|atom| atom.cel(&network)).collect::<Vec<_>>().join(" && ")
}

/// Addresses of a few large networks, so that some peers lie in some rules' ones.
fn address(rng: &mut Rng) -> Ipv4Addr {
    let first = *rng.pick(&[10, 192, 203]);
    let [_, a, b, c, ..] = rng.bits().to_le_bytes();
    Ipv4Addr::new(first, a, b, c)
}

struct Writer<'v> {
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

impl Writer<'_> {
    /// A condition of a kind: hosts, headers and tokens are each used once.
    fn atom(&mut self, kind: usize) -> Atom {
        let (words, rng) = (self.vocabulary, &mut self.rng);
        match kind {
            0 => Atom::Host(words.host(next(&mut self.hosts))),
            1 => Atom::Prefix(words.prefix(rng)),
            2 => {
                let (name, value) = words.header(next(&mut self.headers));
                Atom::Header(name, value)
            }
            3 => Atom::Agent(words.token(next(&mut self.tokens))),
            4 => {
                let bits = *rng.pick(&[16_u8, 20, 22, 24, 24, 24, 24, 24, 28, 32]);
                let mask = u32::MAX << 32_u32.saturating_sub(bits.into());
                Atom::Network(Ipv4Addr::from(u32::from(address(rng)) & mask), bits)
            }
            _ => {
                let (a, b) = (words.segment(rng).to_owned(), words.segment(rng).to_owned());
                let (escaped_a, escaped_b) = (regex::escape(&a), regex::escape(&b));
                match rng.below(3) {
                    0 => Atom::Path(format!("^/{escaped_a}/[^/]+/{escaped_b}$"), format!("/{a}/42/{b}")),
                    1 => Atom::Path(format!("^/{escaped_a}/{escaped_b}/[0-9]+"), format!("/{a}/{b}/1234")),
                    _ => Atom::Path(
                        format!("(?i)/{escaped_a}/.*{escaped_b}\\.(php|aspx?)$"),
                        format!("/x/{a}/y/{b}.php"),
                    ),
                }
            }
        }
    }

    fn rule(&mut self) -> Rule {
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
            // Two conditions on the path, or twice the same, would hardly ever hold.
            let of_path = |kind| kind == 1 || kind == 5;
            if !kinds.iter().any(|&other| other == kind || of_path(other) && of_path(kind)) {
                kinds.push(kind);
            }
        }
        kinds.into_iter().map(|kind| self.atom(kind)).collect()
    }
}

/// So many rules, no two the same.
pub(crate) fn rules(vocabulary: &Vocabulary, many: usize) -> Vec<Rule> {
    let mut writer = Writer { vocabulary, rng: Rng::new(many as u64), hosts: 0, headers: 0, tokens: 0 };
    let mut known = HashSet::new();
    let mut rules = Vec::with_capacity(many);
    while rules.len() < many {
        let rule = writer.rule();
        if known.insert(rule.clone()) {
            rules.push(rule);
        }
    }
    rules
}

/// Headers of a request that a few of the rules are true for: of those with one condition the first on the host, the first four
/// on the user agent, and the first three on other headers that mean nothing to a proxy.
pub(crate) fn headers_for(rules: &[Rule]) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut tokens = Vec::new();
    for rule in rules {
        match rule.as_slice() {
            [Atom::Host(host)] if !headers.iter().any(|(name, _)| name == "host") => {
                headers.push(("host".into(), host.clone()));
            }
            [Atom::Agent(token)] if tokens.len() < 4 => tokens.push(&**token),
            [Atom::Header(name, value)]
                if name.starts_with("x-")
                    // Others do not arrive as they are sent.
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

/// Requests for the rules.
pub(crate) fn samples(vocabulary: &Vocabulary, rules: &[Rule], many: usize) -> Vec<Sample> {
    let mut rng = Rng::new(rules.len() as u64 ^ 0x5a5a);
    (0..many).map(|_| sample(vocabulary, rules, &mut rng)).collect()
}

fn sample(vocabulary: &Vocabulary, rules: &[Rule], rng: &mut Rng) -> Sample {
    let mut host = vocabulary.host(rng.below(vocabulary.hosts()));
    let mut path = rng.pick(&vocabulary.paths).clone();
    let mut agent = rng.pick(&vocabulary.agents).clone();
    let mut ip = address(rng);
    let mut headers = vec![("accept".to_owned(), "text/html,*/*;q=0.8".to_owned())];
    for _ in 0..4 {
        headers.push(vocabulary.header(rng.below(vocabulary.headers())));
    }
    if rng.chance(30) {
        for atom in rng.pick(rules) {
            match atom {
                Atom::Host(of_rule) => host = of_rule.clone(),
                Atom::Prefix(prefix) => path = format!("{prefix}/42?tab=orders"),
                Atom::Header(name, value) => headers.push((name.clone(), value.clone())),
                Atom::Agent(token) => {
                    agent = format!("Mozilla/5.0 (compatible; {token}; +http://example.com/bot.html)")
                }
                Atom::Network(network, bits) => {
                    let host = rng.bits() as u32 & u32::MAX.checked_shr((*bits).into()).unwrap_or(0);
                    ip = Ipv4Addr::from(u32::from(*network) | host);
                }
                Atom::Path(_, matching) => path = matching.clone(),
            }
        }
    }
    let mut lines: Vec<(&str, &[u8])> = vec![("host", host.as_bytes()), ("user-agent", agent.as_bytes())];
    lines.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
    Sample::new(&path, &lines, ip)
}
