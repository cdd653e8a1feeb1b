//! How long others wait during floods.

use crate::certificates::TlsClient;
use crate::client::Client;
use crate::raw_h2::{END_HEADERS, END_STREAM, RawH2, WINDOW_UPDATE};
use crate::raw_tls::{RawTls, VERSIONS};
use crate::running::{Running, say};
use crate::{frame_floods, http1_floods, tls_floods};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

/// The connections that flood at a time, and those of others.
const FLOODING: usize = 2;
const OTHERS: usize = 2;
/// The rounds, of which the median counts.
const ROUNDS: usize = 5;

/// Floods a proxy on one connection.
type Attack<'a> = Box<dyn Fn(SocketAddr) + Sync + 'a>;

/// Returns how long the requests on a connection take, of 100 all but the slowest.
fn p99<S: Read + Write>(mut client: Client<S>, time: Duration) -> Duration {
    let (start, mut taken) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let sent = Instant::now();
        assert_eq!(client.request("GET /", &[], b"").reply().status, 200);
        taken.push(sent.elapsed());
    }
    taken.sort_unstable();
    taken[taken.len() * 99 / 100]
}

/// Measures one of two proxies while the flood goes to `flooded`, if anywhere.
fn measured(other: &(dyn Fn() -> Duration + Sync), attack: &Attack<'_>, flooded: Option<SocketAddr>) -> Duration {
    let over = AtomicBool::new(false);
    scope(|scope| {
        for address in flooded.iter().cycle().take(if flooded.is_some() { FLOODING } else { 0 }) {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    attack(*address);
                }
            });
        }
        let others: Vec<_> = (0..OTHERS).map(|_| scope.spawn(other)).collect();
        let slowest = others.into_iter().map(|other| other.join().unwrap()).max().unwrap();
        over.store(true, Ordering::Relaxed);
        slowest
    })
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// Each flood of a kind: the 99th percentile of others at the flooded proxy is at most three times
/// what it is while another proxy of this process is flooded, which takes the processor as well. In
/// turns, because the machine has other work.
fn compare(
    kind: &str,
    proxies: [&Running; 2],
    attacks: Vec<(&str, Attack<'_>)>,
    other: &(dyn Fn() -> Duration + Sync),
) {
    let mut slow = Vec::new();
    let wanted = std::env::var("CELERO_FLOOD").unwrap_or_default();
    for (name, attack) in attacks.into_iter().filter(|(name, _)| format!("{kind}, {name}").contains(&wanted)) {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (times, flooded) in times.iter_mut().zip([None, Some(proxies[1].address), Some(proxies[0].address)]) {
                times.push(measured(other, &attack, flooded));
            }
        }
        let [without, elsewhere, flooded] = times.map(median);
        say(&format!(
            "{kind}, {name}: p99 {without:.1} ms without, {elsewhere:.1} ms while another proxy is flooded, {flooded:.1} ms flooded: {:.1} times",
            flooded / elsewhere
        ));
        if flooded > 3.0 * elsewhere && flooded > 3.0 * without {
            slow.push(format!("{kind}, {name}"));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// Requests over HTTP/2 that cost nothing of its budget of frames: as many at once as may be open, again and again.
fn requests(address: SocketAddr) {
    const OPEN: u32 = 100;
    let mut client = RawH2::connect(address, &[]);
    client.frame(WINDOW_UPDATE, 0, 0, &[0x3f, 0, 0, 0]);
    for round in 0..10 {
        let streams = (round * OPEN..(round + 1) * OPEN).map(|number| 2 * number + 1);
        assert!(streams.into_iter().all(|stream| client.request("GET", "/", END_HEADERS | END_STREAM, stream)));
        let ends =
            std::iter::from_fn(|| client.read()).filter(|frame| frame.stream > 0 && frame.flags & END_STREAM > 0);
        assert_eq!(ends.take(OPEN as usize).count(), OPEN as usize);
    }
}

fn demo() -> Running {
    Running::with("upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n", "")
}

#[test]
fn others_are_served_as_fast_during_floods() {
    let Some(time) = std::env::var("CELERO_FLOOD_MS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|ms| *ms > 0)
        .map(Duration::from_millis)
    else {
        return say(
            "others_are_served_as_fast_during_floods: left out without CELERO_FLOOD_MS, the time of a measurement",
        );
    };
    let (one, two) = (demo(), demo());
    let other = || p99(Client::connect(one.address), time);
    let attacks = frame_floods::FLOODS.iter().map(|flood| {
        let attack = |address| {
            frame_floods::takes(&mut frame_floods::begun(RawH2::connect(address, &[])), &[*flood]);
        };
        (flood.0, Box::new(attack) as Attack<'_>)
    });
    let attacks = attacks.chain([("requests", Box::new(requests) as Attack<'_>)]);
    compare("HTTP/2", [&one, &two], attacks.collect(), &other);
    let attacks = http1_floods::FLOODS.iter().map(|flood| {
        let attack = |address| {
            http1_floods::flood(address, flood);
        };
        (flood.name, Box::new(attack) as Attack<'_>)
    });
    compare("HTTP/1.1", [&one, &two], attacks.collect(), &other);
    let (one, client) = tls_floods::proxy("");
    let (two, client_of_two) = tls_floods::proxy("");
    let clients: [(SocketAddr, TlsClient); 2] = [(one.address, client.clone()), (two.address, client_of_two)];
    let other = || p99(Client::over(client.connect(one.address, tls_floods::NAME).unwrap()), time);
    let attacks = tls_floods::AFTER.iter().map(|(name, _, records)| {
        let clients = &clients;
        let attack = move |address: SocketAddr| {
            let Some((_, client)) = clients.iter().find(|(known, _)| *known == address) else { return };
            let mut tls = RawTls::connect(&client.clone().versions(VERSIONS[0]), address, tls_floods::NAME);
            tls_floods::ends(tls.socket.try_clone().unwrap(), || records(&mut tls));
        };
        (*name, Box::new(attack) as Attack<'_>)
    });
    compare("TLS", [&one, &two], attacks.collect(), &other);
}
