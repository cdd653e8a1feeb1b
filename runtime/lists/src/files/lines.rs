//! The lines of public lists: plain ones with comments, those of hosts files, and networks with a
//! remark (Spamhaus DROP).

use crate::kind::Kind;
use std::net::IpAddr;

/// What hosts files call the machine itself and its networks (`hosts(5)`, and the lists that are
/// made of it). Nobody means to list these.
const OF_THE_MACHINE: [&str; 12] = [
    "0.0.0.0",
    "broadcasthost",
    "ip6-allhosts",
    "ip6-allnodes",
    "ip6-allrouters",
    "ip6-localhost",
    "ip6-localnet",
    "ip6-loopback",
    "ip6-mcastprefix",
    "local",
    "localhost",
    "localhost.localdomain",
];

/// Returns the entries of a line: one, or those of a line of a hosts file, which begins with an
/// address (`0.0.0.0 ads.example`).
pub(crate) fn entries(kind: Kind, line: &str) -> impl Iterator<Item = &str> {
    let line = without_comment(kind, line).trim();
    let mut words = line.split_whitespace();
    let begins_with_address = kind == Kind::Hosts && words.next().is_some_and(is_address);
    let is_of_hosts_file = begins_with_address && words.clone().next().is_some();
    let whole = Some(line).filter(|line| !line.is_empty() && !is_of_hosts_file);
    let names = is_of_hosts_file.then_some(words).into_iter().flatten();
    whole.into_iter().chain(names.filter(|name| !OF_THE_MACHINE.iter().any(|own| own.eq_ignore_ascii_case(name))))
}

/// Whether a word is an address, with or without a zone (RFC 4007, section 11): `fe80::1%lo0`.
fn is_address(word: &str) -> bool {
    word.split_once('%').map_or(word, |(address, _)| address).parse::<IpAddr>().is_ok()
}

/// The line up to the sign of a comment that begins it or follows a space.
fn without_comment(kind: Kind, line: &str) -> &str {
    // In texts and patterns these may be parts of entries.
    let signs: &[&str] = match kind {
        Kind::Addresses | Kind::Hosts | Kind::Integers => &["#", ";", "//"],
        _ => &["#"],
    };
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        if before.is_whitespace() && signs.iter().any(|sign| rest.starts_with(sign)) {
            return line.get(..at).unwrap_or(line);
        }
        before = c;
    }
    line
}
