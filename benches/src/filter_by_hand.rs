//! The twenty rules of F8 as one handwritten function: each field is read once, each text is searched once.

use aho_corasick::Span;
use aho_corasick::packed::Searcher;
use foldhash::fast::FixedState;
use ipnet::IpNet;
use std::collections::HashSet;
use std::net::IpAddr;

const AGENTS: [&str; 9] =
    ["nikto", "sqlmap", "masscan", "zgrab", "AhrefsBot", "SemrushBot", "python-requests", "MJ12bot", "Chrome"];
const PATHS: [&str; 8] =
    ["/wp-login.php", "/xmlrpc.php", "/.git/", "/phpmyadmin", "../", "/vendor/phpunit", "/checkout", "/view"];

/// Bits of the texts that are rules alone, and of the others.
const ALONE_IN_AGENT: u64 = 0xff;
const CHROME: u64 = 1 << 8;
const ALONE_IN_PATH: u64 = 0x3f;
const CHECKOUT: u64 = 1 << 6;
const VIEW: u64 = 1 << 7;

/// What the function prepares.
pub(crate) struct Twenty {
    agents: Searcher,
    paths: Searcher,
    /// First address and mask of each network.
    v4: Vec<(u32, u32)>,
    v6: Vec<(u128, u128)>,
    countries: HashSet<&'static [u8], FixedState>,
}

impl Twenty {
    /// `None` if the processor lacks what the searches need.
    pub(crate) fn new(networks: &str, countries: &'static str) -> Option<Self> {
        let networks = || networks.split_whitespace().filter_map(|network| network.parse::<IpNet>().ok());
        let v4 = networks().filter_map(|network| match network {
            IpNet::V4(network) => Some((network.network().to_bits(), network.netmask().to_bits())),
            IpNet::V6(_) => None,
        });
        let v6 = networks().filter_map(|network| match network {
            IpNet::V6(network) => Some((network.network().to_bits(), network.netmask().to_bits())),
            IpNet::V4(_) => None,
        });
        Some(Self {
            agents: Searcher::new(AGENTS)?,
            paths: Searcher::new(PATHS)?,
            v4: v4.collect(),
            v6: v6.collect(),
            countries: countries.split_whitespace().map(str::as_bytes).collect(),
        })
    }

    /// The number of rules that hold.
    #[inline]
    pub(crate) fn count(&self, request: &http::Request<()>, peer: IpAddr, country: &str) -> u64 {
        let agent = request.headers().get(http::header::USER_AGENT).map_or(&b""[..], |value| value.as_bytes());
        let uri = request.uri();
        let path = uri.path();
        let agents = all_in(&self.agents, agent);
        let paths = all_in(&self.paths, path.as_bytes());
        let in_network = match peer {
            IpAddr::V4(address) => self.v4.iter().any(|(network, mask)| address.to_bits() & mask == *network),
            IpAddr::V6(address) => self.v6.iter().any(|(network, mask)| address.to_bits() & mask == *network),
        };
        let counts: [u64; 8] = [
            (agents & ALONE_IN_AGENT).count_ones().into(),
            (paths & ALONE_IN_PATH).count_ones().into(),
            in_network.into(),
            self.countries.contains(country.as_bytes()).into(),
            (path == "/admin").into(),
            (paths & CHECKOUT != 0 && uri.host() == Some("shop.example.com")).into(),
            (paths & VIEW != 0 && agents & CHROME != 0).into(),
            path.starts_with("/user/").into(),
        ];
        counts.into_iter().fold(0, u64::wrapping_add)
    }
}

/// Which texts of a searcher are in `text`, as bits. No text is the beginning of another, so one
/// text at most begins at each place.
#[inline]
fn all_in(searcher: &Searcher, text: &[u8]) -> u64 {
    let (mut found, mut from) = (0, 0);
    while let Some(one) = searcher.find_in(text, Span { start: from, end: text.len() }) {
        found |= 1_u64.wrapping_shl(one.pattern().as_u32());
        from = one.start().saturating_add(1);
    }
    found
}
