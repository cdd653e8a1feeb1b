//! Prints the lines of standard input that mention a bad network, a blocked host or a suspicious text.
//!
//! A line is `ADDRESS HOST REST`, such as `192.0.2.17 shop.example.com GET /cart?id=1`. Run it with
//! `cargo run -p celero-matching --example log_filter < access.log`.

#![expect(clippy::print_stdout, reason = "the output of a command")]

use celero_matching::{LiteralMap, Networks, SuffixMap};
use std::io::BufRead;
use std::net::IpAddr;

/// Networks, and why they are listed.
const NETWORKS: &[(&str, u8, &str)] =
    &[("192.0.2.0", 24, "scanner"), ("198.51.100.0", 24, "botnet"), ("2001:db8::", 32, "scanner")];

/// Hosts: a domain and all below it.
const DOMAINS: &[&str] = &["example.net", "internal.example.com"];

/// Texts in lower case, and what they indicate.
const TEXTS: &[(&str, &str)] =
    &[("../", "path traversal"), ("union select", "SQL injection"), ("<script", "cross-site scripting")];

struct Filter {
    networks: Networks,
    domains: SuffixMap,
    texts: LiteralMap<true>,
}

impl Filter {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut networks: Vec<(IpAddr, u8)> = Vec::new();
        for (address, prefix, _) in NETWORKS {
            networks.push((address.parse()?, *prefix));
        }
        let texts: Vec<&str> = TEXTS.iter().map(|(text, _)| *text).collect();
        Ok(Self {
            networks: Networks::new(&networks),
            domains: SuffixMap::new(DOMAINS).ok_or("too many domains")?,
            texts: LiteralMap::new(&texts).ok_or("too many texts")?,
        })
    }

    /// Why a line is suspicious: empty if it is not.
    fn reasons(&self, line: &str) -> Vec<String> {
        let mut reasons = Vec::new();
        let (address, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (host, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if let Ok(address) = address.parse::<IpAddr>() {
            self.networks.for_each(address.to_canonical(), |id| {
                reasons.extend(NETWORKS.get(id as usize).map(|(_, _, why)| (*why).to_owned()));
            });
        }
        self.domains.for_each(host.as_bytes(), |id| {
            // A domain matches itself, and names that end with a dot and the domain.
            let domain = DOMAINS.get(id as usize).copied().unwrap_or_default();
            if host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.')) {
                reasons.push(format!("host {domain}"));
            }
        });
        self.texts.for_each(rest.as_bytes(), |id| {
            reasons.extend(TEXTS.get(id as usize).map(|(_, what)| (*what).to_owned()));
        });
        reasons.sort();
        reasons.dedup(); // a text may be reported for each occurrence
        reasons
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = Filter::new()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let reasons = filter.reasons(&line);
        if !reasons.is_empty() {
            println!("{line}  # {}", reasons.join(", "));
        }
    }
    Ok(())
}
