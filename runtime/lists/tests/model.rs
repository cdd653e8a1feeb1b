//! Lists under random changes have the same answers as a plain set of entries, whatever their levels.

#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test")]

use celero_lists::{Entries, Entry, Kind, Limits, Lists};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

fn pick<'t>(rng: &mut fastrand::Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len())]
}

/// A random entry, from so few that they often meet.
fn entry(kind: Kind, rng: &mut fastrand::Rng) -> String {
    match kind {
        Kind::Addresses if rng.bool() => {
            format!(
                "10.{}.{}.{}/{}",
                rng.u8(..2),
                rng.u8(..4),
                rng.u8(..),
                pick(rng, &["0", "8", "15", "23", "30", "32"])
            )
        }
        Kind::Addresses => {
            let address = format!("2001:db8::{:x}:{:x}", rng.u8(..4), rng.u8(..4));
            format!("{address}/{}", pick(rng, &["0", "32", "64", "111", "127", "128"]))
        }
        Kind::Texts | Kind::TextsIgnoringCase => {
            let long = if rng.bool() { "a text that is longer than sixteen bytes " } else { "" };
            format!("{long}{}{}", pick(rng, &["a", "A", "b", "ä", "Ä"]), rng.u8(..20))
        }
        Kind::Hosts => {
            let star = if rng.bool() { "*." } else { "" };
            format!(
                "{star}{}{}",
                pick(rng, &["", "a.", "b.", "a.b.", "B.a."]),
                pick(rng, &["com", "example.com", "x.Org", "c"])
            )
        }
        _ => {
            let least = rng.i64(-50..50);
            if rng.bool() { least.to_string() } else { format!("{least}..{}", least + rng.i64(0..40)) }
        }
    }
}

/// Whether an entry, as it is shown, contains a value.
fn contains(kind: Kind, entry: &str, value: &str) -> bool {
    match kind {
        Kind::Addresses => {
            let (network, prefix) = entry.split_once('/').unwrap_or((entry, "128"));
            let prefix: u32 = prefix.parse().unwrap();
            match (network.parse().unwrap(), value.parse::<IpAddr>().unwrap().to_canonical()) {
                (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros() >= prefix.min(32),
                (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros() >= prefix,
                _ => false,
            }
        }
        Kind::Texts => entry == value,
        Kind::TextsIgnoringCase => entry.eq_ignore_ascii_case(value),
        Kind::Hosts => {
            let value = value.to_ascii_lowercase();
            let value = value.split(':').next().unwrap();
            let value = value.strip_suffix('.').unwrap_or(value);
            match entry.strip_prefix('*') {
                Some(suffix) => value.len() > suffix.len() && value.ends_with(suffix),
                None => value == entry,
            }
        }
        _ => {
            let (least, greatest) = entry.split_once("..").unwrap_or((entry, entry));
            (least.parse::<i64>().unwrap()..=greatest.parse().unwrap()).contains(&value.parse().unwrap())
        }
    }
}

fn value(kind: Kind, rng: &mut fastrand::Rng) -> String {
    match kind {
        Kind::Addresses => {
            let entry = entry(kind, rng);
            let address = entry.split('/').next().unwrap();
            let mapped = rng.u8(..8) == 0 && address.contains('.');
            if mapped { format!("::ffff:{address}") } else { address.to_owned() }
        }
        Kind::Hosts => {
            let host = entry(kind, rng).replace("*.", pick(rng, &["", "x.", "y.x."]));
            format!("{host}{}", pick(rng, &["", "", ".", ":80", ".:8080"]))
        }
        Kind::Texts | Kind::TextsIgnoringCase => entry(kind, rng),
        _ => rng.i64(-60..100).to_string(),
    }
}

fn asked(lists: &Lists, kind: Kind, value: &str) -> bool {
    let snapshot = lists.load();
    let (id, _) = snapshot.find("list").unwrap();
    match kind {
        Kind::Addresses => snapshot.contains_address(id, value.parse().unwrap()),
        Kind::Integers => snapshot.contains_integer(id, value.parse().unwrap()),
        _ => snapshot.contains_text(id, value.as_bytes()),
    }
}

#[test]
fn random_changes_agree_with_a_plain_set() {
    for (seed, kind) in (1..).zip(Kind::ALL) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let lists = Lists::new(Limits::default());
        lists.declare("list", kind).unwrap();
        let mut model: BTreeMap<Entry, Option<SystemTime>> = BTreeMap::new();
        let mut now = SystemTime::UNIX_EPOCH;
        let (mut found, mut most_levels) = (0, 0);
        for round in 0..400 {
            let before = model.clone();
            let changed = match rng.u8(..20) {
                0 => {
                    let texts: Vec<String> = (0..rng.usize(..60)).map(|_| entry(kind, &mut rng)).collect();
                    model = texts.iter().map(|text| (Entry::parse(kind, text).unwrap(), None)).collect();
                    lists.change().replace("list", Entries::from_texts(kind, &texts).unwrap()).commit().unwrap()
                }
                1 => {
                    now += Duration::from_secs(rng.u64(..5));
                    model.retain(|_, expires| expires.is_none_or(|time| time > now));
                    lists.expire(now).unwrap()
                }
                2 => {
                    lists.merge();
                    assert_eq!(
                        lists.load().infos().next().unwrap().levels.min(2),
                        lists.load().infos().next().unwrap().levels
                    );
                    continue;
                }
                _ => {
                    let mut change = lists.change();
                    for _ in 0..rng.usize(1..4) {
                        let text = entry(kind, &mut rng);
                        let own = Entry::parse(kind, &text).unwrap();
                        change = match rng.u8(..4) {
                            0 | 1 => {
                                model.remove(&own);
                                change.remove("list", &text)
                            }
                            2 => {
                                model.insert(own, None);
                                change.insert("list", &text)
                            }
                            _ => {
                                let expires = now + Duration::from_secs(rng.u64(1..5));
                                model.insert(own, Some(expires));
                                change.insert_until("list", &text, expires)
                            }
                        };
                    }
                    change.commit().unwrap()
                }
            };
            assert_eq!(
                changed.inserted,
                model.keys().filter(|key| !before.contains_key(key)).count(),
                "{kind} {round}"
            );
            assert_eq!(changed.removed, before.keys().filter(|key| !model.contains_key(key)).count(), "{kind} {round}");
            assert_eq!(lists.next_expiry(), model.values().flatten().min().copied(), "{kind} {round}");
            let snapshot = lists.load();
            let info = snapshot.infos().next().unwrap();
            assert_eq!(info.entries, model.len());
            most_levels = most_levels.max(info.levels);
            let mut entries: Vec<Entry> = snapshot.entries(snapshot.find("list").unwrap().0).collect();
            entries.sort_unstable();
            assert!(entries.iter().eq(model.keys()), "{kind} {round}");
            for _ in 0..20 {
                let value = value(kind, &mut rng);
                let right = model.keys().any(|key| contains(kind, &key.to_string(), &value));
                found += usize::from(right);
                assert_eq!(asked(&lists, kind, &value), right, "{kind} {round}: {value}");
            }
        }
        assert!(found > 300 && most_levels > 2, "{kind}: {found} found, {most_levels} levels");
    }
}

#[test]
fn large_lists_merge_in_the_background() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("list", Kind::Integers).unwrap();
    for part in 0..12 {
        let mut change = lists.change();
        for number in 0..8_000 {
            change = change.insert("list", &(part * 8_000 + number).to_string());
        }
        if part > 0 {
            change = change.remove("list", &(part * 8_000 - 1).to_string());
        }
        change.commit().unwrap();
    }
    lists.merge();
    lists.merge();
    let snapshot = lists.load();
    let info = snapshot.infos().next().unwrap();
    assert_eq!((info.entries, info.levels <= 2), (96_000 - 11, true), "{info:?}");
    for number in 0..96_000 {
        let removed = number % 8_000 == 7_999 && number != 95_999;
        assert_eq!(snapshot.contains_integer(id, number), !removed, "{number}");
    }
}
