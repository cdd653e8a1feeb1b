//! Changes of 10,000 entries of a large list while another thread asks it: how long until a change
//! is visible, and what readers notice.

use super::list_of;
use crate::matching::generate_networks;
use crate::rulesets::rng::Rng;
use celero::lists::{Entries, Kind, ListId, Lists};
use serde_json::{Value, json};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Entries of a change: half of them are inserted, half removed.
const DELTA: usize = 10_000;
/// How long readers are measured with changes, or without them, before it is the other's turn.
const TURN: Duration = Duration::from_millis(250);
/// How many turns of each.
const TURNS: usize = 16;
/// The time from the beginning of a change to that of the next one.
const EVERY: Duration = Duration::from_millis(50);
/// Longest time of a lookup that is told from longer ones, in nanoseconds.
const LONGEST: usize = 1 << 20;

pub(super) fn measure(size: usize, say: &mut dyn FnMut(&str)) -> Value {
    let mut rng = Rng::new(37);
    let networks = generate_networks(size.saturating_add(DELTA), true, &mut rng);
    let texts: Vec<String> = networks.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect();
    let (base, spare) = texts.split_at(size);
    let entries = Entries::from_texts(Kind::Addresses, base).expect("entries");
    let (lists, id) = list_of(Kind::Addresses, entries);
    let addresses: Vec<IpAddr> = (0..65_536).map(|_| Ipv4Addr::from_bits(rng.bits() as u32).into()).collect();

    let (half, turn, over) = (DELTA / 2, AtomicUsize::new(0), AtomicBool::new(false));
    let (quiet, changing, mut visible) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(&lists, id, &addresses, &turn, &over));
        let (mut visible, mut number) = (Vec::new(), 0_usize);
        for now in 0..TURNS * 2 {
            turn.store(now, Ordering::Relaxed);
            let began = Instant::now();
            while now % 2 == 1 && began.elapsed() < TURN {
                let start = Instant::now();
                // The spare entries come and go, and so does a part of the others.
                let (gone, back) = if number.is_multiple_of(2) { (base, spare) } else { (spare, base) };
                let mut change = lists.change();
                for text in back.iter().take(half) {
                    change = change.insert("list", text);
                }
                for text in gone.iter().take(half) {
                    change = change.remove("list", text);
                }
                change.commit().expect("a change");
                // What a reader would see that begins now.
                black_box(lists.load().generation());
                visible.push(start.elapsed().as_secs_f64() * 1e3);
                number = number.wrapping_add(1);
                std::thread::sleep(EVERY.saturating_sub(start.elapsed()));
            }
            std::thread::sleep(TURN.saturating_sub(began.elapsed()));
        }
        over.store(true, Ordering::Relaxed);
        let [quiet, changing] = reader.join().expect("a reader");
        (quiet, changing, visible)
    });
    visible.sort_by(f64::total_cmp);
    let at = |share: f64| {
        visible.get((visible.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    };
    let [quiet, changing] = [quiet, changing].map(|times| [0.5, 0.99, 0.999].map(|share| percentile(&times, share)));
    let ratio = changing[2] as f64 / quiet[2] as f64;
    say(&format!(
        "{size} networks, {} changes of {DELTA} entries: visible after {:.1} ms (median), {:.1} ms (longest), parsing included",
        visible.len(),
        at(0.5),
        at(1.0)
    ));
    say(&format!(
        "readers, ns (median, p99, p99.9): {quiet:?} without changes, {changing:?} with them; p99.9 ratio {ratio:.2}"
    ));
    let round = |x: f64| (x * 100.0).round() / 100.0;
    json!({ "entries": size, "delta": DELTA, "changes": visible.len(), "visible_ms": round(at(0.5)), "longest_ms": round(at(1.0)),
        "quiet_ns": quiet, "changing_ns": changing, "p999_ratio": round(ratio) })
}

/// Asks until it is over. Returns how many lookups took how many nanoseconds, in even turns and in odd ones.
fn read(lists: &Lists, id: ListId, addresses: &[IpAddr], turn: &AtomicUsize, over: &AtomicBool) -> [Vec<u64>; 2] {
    let mut times = [vec![0_u64; LONGEST], vec![0_u64; LONGEST]];
    while !over.load(Ordering::Relaxed) {
        let now = turn.load(Ordering::Relaxed) % 2;
        for address in addresses.iter().take(4096) {
            let start = Instant::now();
            black_box(lists.load().contains_address(id, black_box(*address)));
            let took = usize::try_from(start.elapsed().as_nanos()).unwrap_or(LONGEST).min(LONGEST.saturating_sub(1));
            if let Some(count) = times.get_mut(now).and_then(|times| times.get_mut(took)) {
                *count = count.saturating_add(1);
            }
        }
    }
    times
}

/// The nanoseconds that this share of the lookups does not exceed.
fn percentile(times: &[u64], share: f64) -> usize {
    let all: u64 = times.iter().sum();
    let mut below = 0_u64;
    times
        .iter()
        .position(|count| {
            below = u64::saturating_add(below, *count);
            below as f64 >= all as f64 * share
        })
        .unwrap_or(LONGEST)
}
