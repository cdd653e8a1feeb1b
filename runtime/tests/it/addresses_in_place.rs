//! Addresses of the host that native code tests as numbers: what `ip(address)` is asked, and whether
//! the text of an address is another text.

use celero::{Context, Engine, Env, Scratch, Tier};
use std::net::IpAddr;

#[derive(Context)]
struct Peer {
    address: IpAddr,
    maybe: Option<IpAddr>,
    other: bool,
}

/// Addresses at the bounds of all networks that have a property.
const ADDRESSES: &[&str] = &[
    "0.0.0.0",
    "0.0.0.1",
    "10.1.2.3",
    "126.255.255.255",
    "127.0.0.0",
    "127.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.254.0.0",
    "169.254.255.255",
    "169.255.0.0",
    "223.255.255.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.254",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:0.0.0.0",
    "::fffe:127.0.0.1",
    "2001:db8::1",
    "fe7f:ffff::",
    "fe80::",
    "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fec0::",
    "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "ff00::",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

const RULES: &[&str] = &[
    "ip(@).family() == 4",
    "ip(@).family() == 6",
    "ip(@).isUnspecified()",
    "ip(@).isLoopback()",
    "ip(@).isLinkLocalUnicast()",
    "ip(@).isGlobalUnicast()",
    "ip(@) == ip('127.0.0.0')",
    "ip('::1') != ip(@)",
    "ip(@) == ip('2001:db8::1')",
    "cidr('fe80::/10').containsIP(@)",
    "@ == '127.0.0.0'",
    "'::1' != @",
    "!(@ == '::1')",
    "@ in ['127.0.0.0', '::2', 'ff02::1', 'internal']",
    "@ in ['::', '010.1.2.3', '10.1.2.3', '::ffff:10.1.2.3', '128.0.0.0', 'FE80::', 'fec0::', 'fe80:0::', '0.0.0.0']",
    "@ == '10.1.2.3' || @ == '0.0.0.1' || other && @ != '224.0.0.0'",
];

/// Texts that an address has, and texts that only look like one: in each tier, an address has a text or has not,
/// whatever may be read of it.
#[test]
fn addresses_have_the_texts_that_the_standard_library_writes() {
    const OTHERS: &[&str] = &["", "127.0.0.01", "127.0.0.0 ", "0:0:0:0:0:0:0:1", "FE80::", "::127.0.0.1%0", "10.1.515"];
    let mut scratch = Scratch::new();
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        for text in ADDRESSES.iter().chain(OTHERS) {
            let [equal, differs, one_of] = ["address == '@'", "address != '@'", "address in ['@', 'internal']"]
                .map(|rule| engine.compile(&Env::<Peer>::new(), &rule.replace('@', text)).unwrap());
            for address in ADDRESSES {
                let address: IpAddr = address.parse().unwrap();
                let peer = Peer { address, maybe: None, other: false };
                let same = address.to_canonical().to_string() == *text;
                let mut test = |program: &celero::Program<Peer>| program.test_with(&peer, &mut scratch).unwrap();
                assert_eq!(
                    [test(&equal), test(&differs), test(&one_of)],
                    [same, !same, same],
                    "{address} {text} {tier:?}"
                );
            }
        }
    }
}

#[test]
fn both_tiers_agree_on_addresses_at_bounds() {
    let mut answers = [0_usize; 2];
    for rule in RULES.iter().flat_map(|rule| [rule.replace('@', "address"), rule.replace('@', "maybe")]) {
        let [interpreted, native] = [Tier::Interpret, Tier::Native]
            .map(|tier| Engine::builder().tier(tier).build().compile(&Env::<Peer>::new(), &rule).unwrap());
        let mut scratch = Scratch::new();
        for address in ADDRESSES {
            let address = address.parse().unwrap();
            for maybe in [Some(address), None] {
                let peer = Peer { address, maybe, other: maybe.is_none() };
                let mut test = |program: &celero::Program<Peer>| {
                    program.test_with(&peer, &mut scratch).map_err(|error| (error.kind, error.start, error.end))
                };
                let expected = test(&interpreted);
                assert_eq!(test(&native), expected, "{rule}: {address}, {maybe:?}");
                if let Ok(answer) = expected {
                    answers[usize::from(answer)] += 1;
                }
            }
        }
        let explained = Engine::new().explain(&Env::<Peer>::new(), &rule).unwrap();
        let (_, graph) = explained.sections().find(|(title, _)| *title == "optimized graph").unwrap();
        assert!(graph.contains("in_cidr") && !graph.contains(": value"), "{rule}\n{graph}");
    }
    assert!(answers.iter().all(|&count| count > 100), "{answers:?}");
}
