//! The proxy is killed at random moments while its lists change: what was acknowledged is there
//! afterwards, and no change is there by half.

use crate::client::{Client, get};
use crate::lists::{TOKEN, change, json, rest, start};
use crate::process::Process;
use crate::running::{Folder, say};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Half of the pairs are in a list whose entries carry values.
const POLICY: &str = "\
lists:
  paths: {kind: texts, files: [paths.txt]}
  ranks: {kind: texts, values: {rank: int, name: string}, files: [ranks.jsonl]}
request:
  - {name: listed, when: request.path in lists.paths, deny: 403}
  - {name: ranked, when: request.path in lists.ranks, setHeaders: {x-rank: '${string(lists.ranks[request.path].rank)} ${lists.ranks[request.path].name}'}}
";

/// Pairs of paths. Each change is about both. The odd ones are in the list with values.
const PAIRS: u32 = 24;

/// What an answer says of a path: whether it is in a list, and the value that it has there.
type Listed = Option<String>;

/// What each pair is, and the change that nobody has acknowledged.
#[derive(Default)]
struct Known {
    listed: BTreeMap<u32, Listed>,
    open: Option<(u32, Listed)>,
    /// How many changes were acknowledged.
    acknowledged: u64,
}

/// Changes lists until the process is gone.
fn operate(process: &Process, seed: u64, mut known: Known, over: &AtomicBool) -> Known {
    let mut random = fastrand::Rng::with_seed(seed);
    while !over.load(Ordering::Relaxed) {
        let (pair, insert) = (random.u32(..PAIRS), random.bool());
        let with_values = pair % 2 == 1;
        let list = if with_values { "ranks" } else { "paths" };
        let line = format!("{} /lists/{list}", if insert { "POST" } else { "DELETE" });
        let rank = random.u32(..1000);
        let wanted =
            insert.then(|| if with_values { format!("{rank} {}", "n".repeat(9)) } else { "denied".to_owned() });
        // Some changes are large: the kill is to hit writes, too.
        let more = if random.u8(..4) == 0 { 2000 } else { 0 };
        let paths = (0..more).map(|n| format!("/more/{pair}/{n}"));
        let paths = [format!("/{pair}/a")].into_iter().chain(paths).chain([format!("/{pair}/b")]);
        let entry = |path| json!({"entry": path, "rank": rank, "name": "n".repeat(9)}).to_string();
        let body: String = paths.map(entry).collect::<Vec<_>>().join("\n");
        let token = format!("authorization: Bearer {TOKEN}");
        let Ok(mut client) = Client::try_connect(process.metrics) else { return known };
        known.open = Some((pair, wanted.clone()));
        client.request(&line, &[&token, "content-type: application/x-ndjson"], body.as_bytes());
        let Ok(reply) = client.try_reply(true) else { return known };
        assert_eq!(reply.status, 200, "{}", reply.text());
        known.listed.insert(pair, wanted);
        known.acknowledged += 1;
        known.open = None;
    }
    known
}

/// Compares what the proxy answers with what was acknowledged; returns what holds now.
fn compare(process: &Process, known: &Known, seed: u64) -> BTreeMap<u32, Listed> {
    let mut client = Client::connect(process.address);
    let mut listed = |path: String| -> Listed {
        let reply = client.request(&format!("GET {path}"), &[], b"").reply();
        if reply.status == 403 {
            return Some("denied".to_owned());
        }
        let headers = json(&reply)["headers"].take();
        let rank = headers.as_array()?.iter().find(|pair| pair[0] == "x-rank")?[1].as_str()?;
        Some(rank.to_owned())
    };
    let mut now = BTreeMap::new();
    for pair in 0..PAIRS {
        let (a, b) = (listed(format!("/{pair}/a")), listed(format!("/{pair}/b")));
        assert_eq!(a, b, "seed {seed}: half of the pair {pair} is there");
        let first = || match pair {
            0 => Some("denied".to_owned()),
            1 => Some("1 one".to_owned()),
            _ => None,
        };
        let acknowledged = known.listed.get(&pair).cloned().unwrap_or_else(first);
        let open = known.open.as_ref().filter(|(open, _)| *open == pair).map(|(_, wanted)| wanted);
        let expected = a == acknowledged || open == Some(&a);
        assert!(expected, "seed {seed}, pair {pair}: {acknowledged:?} was acknowledged, {a:?} is there");
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
    let ranked = ["/1/a", "/1/b"].map(|path| json!({"entry": path, "rank": 1, "name": "one"}).to_string());
    folder.write("ranks.jsonl", &ranked.join("\n"));
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
