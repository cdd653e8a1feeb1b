//! The proxy is killed at random moments while its lists change: what was acknowledged is there afterwards, and no change is there by half.

use crate::client::{Client, get};
use crate::lists::{TOKEN, change, rest, start};
use crate::process::Process;
use crate::running::{Folder, say};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const POLICY: &str = "\
lists:
  paths: {kind: texts, files: [paths.txt]}
request:
  - {name: listed, when: request.path in lists.paths, deny: 403}
";

/// Pairs of paths. Each change is about both.
const PAIRS: u32 = 24;

/// Whether each pair is in the list, and the change that nobody has acknowledged: its pair, and whether it inserts.
#[derive(Default)]
struct Known {
    listed: BTreeMap<u32, bool>,
    open: Option<(u32, bool)>,
    /// How many changes were acknowledged.
    acknowledged: u64,
}

/// Changes lists until the process is gone.
fn operate(process: &Process, seed: u64, mut known: Known, over: &AtomicBool) -> Known {
    let mut random = fastrand::Rng::with_seed(seed);
    while !over.load(Ordering::Relaxed) {
        let (pair, insert) = (random.u32(..PAIRS), random.bool());
        let line = if insert { "POST /lists/paths" } else { "DELETE /lists/paths" };
        // Some changes are large: the kill is to hit writes, too.
        let more: String = if random.u8(..4) == 0 {
            (0..2000).map(|n| format!("/more/{pair}/{n}\n")).collect()
        } else {
            String::new()
        };
        let body = format!("/{pair}/a\n{more}/{pair}/b\n");
        let token = format!("authorization: Bearer {TOKEN}");
        let Ok(mut client) = Client::try_connect(process.metrics) else { return known };
        known.open = Some((pair, insert));
        client.request(line, &[&token, "content-type: text/plain"], body.as_bytes());
        let Ok(reply) = client.try_reply(true) else { return known };
        assert_eq!(reply.status, 200, "{}", reply.text());
        known.listed.insert(pair, insert);
        known.acknowledged += 1;
        known.open = None;
    }
    known
}

/// Compares what the proxy answers with what was acknowledged; returns what holds now.
fn compare(process: &Process, known: &Known, seed: u64) -> BTreeMap<u32, bool> {
    let mut client = Client::connect(process.address);
    let mut is_listed = |path: String| client.request(&format!("GET {path}"), &[], b"").reply().status == 403;
    let mut now = BTreeMap::new();
    for pair in 0..PAIRS {
        let (a, b) = (is_listed(format!("/{pair}/a")), is_listed(format!("/{pair}/b")));
        assert_eq!(a, b, "seed {seed}: half of the pair {pair} is there");
        let acknowledged = known.listed.get(&pair).copied().unwrap_or(pair == 0);
        let open = known.open.filter(|(open, _)| *open == pair).map(|(_, insert)| insert);
        let expected = a == acknowledged || open == Some(a);
        assert!(expected, "seed {seed}, pair {pair}: {acknowledged} was acknowledged, {a} is there");
        now.insert(pair, a);
    }
    now
}

/// `CELERO_KILLS=200` kills more often.
#[test]
fn what_was_acknowledged_survives_kills() {
    let rounds: u64 = std::env::var("CELERO_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(4);
    let folder = Folder::new();
    folder.write("paths.txt", "/0/a\n/0/b\n");
    folder.write("admin.token", TOKEN);
    let (mut known, mut killed_open, mut acknowledged) = (Known::default(), 0_u64, 0);
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..rounds {
        let process = start(&folder, POLICY, &rest(""));
        known = Known { listed: compare(&process, &known, seed), ..Known::default() };
        let over = AtomicBool::new(false);
        // The first round lasts long enough for an acknowledgement on a busy machine.
        let least = if round == 0 { 500_000 } else { 1_000 };
        let pause = Duration::from_micros(random.u64(least..least + 80_000));
        known = std::thread::scope(|scope| {
            let (process, before) = (&process, known);
            let operator = scope.spawn(|| operate(process, seed.wrapping_add(round), before, &over));
            std::thread::sleep(pause);
            process.signal("KILL");
            over.store(true, Ordering::Relaxed);
            operator.join().unwrap()
        });
        killed_open += u64::from(known.open.is_some());
        acknowledged += known.acknowledged;
        drop(process);
    }
    let process = start(&folder, POLICY, &rest(""));
    compare(&process, &known, seed);
    assert!(acknowledged > 0, "seed {seed}: no change was acknowledged");
    // It can still be changed.
    assert_eq!(change(process.metrics, "POST /lists/paths", "text/plain", "/last\n").status, 200);
    assert_eq!(get(process.address, "/last").status, 403);
    if rounds > 20 {
        assert!(killed_open > 0, "seed {seed}: no kill hit a change");
        say(&format!("{rounds} kills, {killed_open} of them during a change, {acknowledged} changes acknowledged"));
    }
}
