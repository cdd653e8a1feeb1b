//! Lists under random changes have the same answers as a plain set of entries, whatever their levels.

#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test")]

use celero_lists::{
    Entries, Entry, EntryId, EntryValue, Kind, Limits, ListType, Lists, Scalar, ScalarRef, Snapshot, Unmetered,
    ValueType,
};
use std::cmp::Reverse;
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
        Kind::Patterns => {
            let middle = pick(rng, &["a", "ab", "[a-c]", "a.c", "ä", r"\d+", "b|c", "a{2,3}", r"\bä", r"\*"]);
            format!("{}{middle}{}", pick(rng, &["", "^", "(?i)"]), pick(rng, &["", "$", "x?"]))
        }
        Kind::Wildcards => {
            let middle = pick(rng, &["a", "ab", "b", "A", "ä", r"\*", r"\\", "a*b", "."]);
            format!("{}{middle}{}", pick(rng, &["", "*", "c"]), pick(rng, &["", "*", "x", "*c"]))
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
        // As RE2 reads it, `\d` and `\b` are about ASCII.
        Kind::Patterns => {
            let pattern = entry.replace(r"\d", "[0-9]").replace(r"\b", r"(?-u:\b)");
            regex::Regex::new(&pattern).unwrap().is_match(value)
        }
        Kind::Wildcards => wildcard_matches(entry, value),
        _ => {
            let (least, greatest) = entry.split_once("..").unwrap_or((entry, entry));
            (least.parse::<i64>().unwrap()..=greatest.parse().unwrap()).contains(&value.parse().unwrap())
        }
    }
}

/// Tries all that each star may stand for.
fn wildcard_matches(wildcard: &str, value: &str) -> bool {
    let mut rest = wildcard.chars();
    let next = match rest.next() {
        None => return value.is_empty(),
        Some('*') => {
            let mut ends = value.char_indices().map(|(at, _)| at).chain([value.len()]);
            return ends.any(|at| wildcard_matches(rest.as_str(), value.get(at..).unwrap()));
        }
        Some('\\') => rest.next(),
        next => next,
    };
    let mut value = value.chars();
    value.next() == next && wildcard_matches(rest.as_str(), value.as_str())
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
        Kind::Patterns | Kind::Wildcards => {
            let parts = rng.usize(..5);
            let mut part = || pick(rng, &["a", "a", "b", "c", "A", "ä", "1", "x", "*", r"\", ".", "\n"]);
            (0..parts).map(|_| part()).collect()
        }
        _ => rng.i64(-60..100).to_string(),
    }
}

/// Whether the list contains a value at a time. An entry that is found has the most to say.
fn asked(lists: &Lists, kind: Kind, value: &str, now: SystemTime) -> (bool, Option<Entry>) {
    let view = lists.view_at(now);
    let (id, _) = view.snapshot().find("list").unwrap();
    let (has, found) = match kind {
        Kind::Addresses => {
            let address = value.parse().unwrap();
            (view.has_address(id, address), view.find_address(id, address))
        }
        Kind::Integers => {
            let number = value.parse().unwrap();
            (view.has_integer(id, number), view.find_integer(id, number))
        }
        _ => {
            let Ok(found) = view.find_text_metered(id, value.as_bytes(), &Unmetered);
            (view.has_text(id, value.as_bytes()), found)
        }
    };
    (has.unwrap(), found.and_then(|found| view.snapshot().entry(id, found)))
}

/// How many changes are made. Patterns are compiled for each.
fn rounds(kind: Kind) -> u32 {
    if matches!(kind, Kind::Patterns | Kind::Wildcards) { 120 } else { 400 }
}

#[test]
fn random_changes_agree_with_a_plain_set() {
    for (seed, kind) in (1..).zip(Kind::ALL) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let lists = Lists::new(Limits::default());
        lists.declare("list", kind).unwrap();
        let mut model: BTreeMap<Entry, Option<SystemTime>> = BTreeMap::new();
        // Nothing expires while the test runs, but by its own time.
        let mut now = SystemTime::now() + Duration::from_secs(1 << 20);
        let (mut found, mut most_levels, mut hidden) = (0, 0, 0);
        for round in 0..rounds(kind) {
            let before = model.clone();
            // Entries may have expired before they are removed.
            now += Duration::from_secs(rng.u64(..2));
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
                                let expires = now + Duration::from_secs(rng.u64(1..9));
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
                let all = model.iter().filter(|(key, _)| contains(kind, &key.to_string(), &value));
                let (live, expired): (Vec<_>, Vec<_>) =
                    all.partition(|(_, expires)| expires.is_none_or(|time| time > now));
                let right = live.iter().max_by_key(|(key, _)| specific(kind, &key.to_string())).map(|(key, _)| *key);
                found += usize::from(right.is_some());
                hidden += usize::from(!expired.is_empty());
                let (has, decides) = asked(&lists, kind, &value, now);
                assert_eq!((has, decides.as_ref()), (right.is_some(), right), "{kind} {round}: {value}");
            }
        }
        let enough = usize::try_from(rounds(kind)).unwrap() * 3 / 4;
        assert!(
            found > enough && hidden > 10 && most_levels > 2,
            "{kind}: {found} found, {hidden} where an entry has expired, {most_levels} levels"
        );
    }
}

/// How specific an entry is, as it is shown: of two that contain a value, the greater one decides.
fn specific(kind: Kind, entry: &str) -> (i128, i64, Reverse<String>) {
    let (first, second) = match kind {
        Kind::Addresses => (entry.split_once('/').map_or(128, |(_, prefix)| prefix.parse().unwrap()), 0),
        Kind::Hosts => (if entry.starts_with('*') { entry.len().try_into().unwrap() } else { i128::MAX }, 0),
        Kind::Patterns | Kind::Wildcards => (entry.len().try_into().unwrap(), 0),
        Kind::Integers => {
            let (least, greatest) = entry.split_once("..").unwrap_or((entry, entry));
            let (least, greatest): (i64, i64) = (least.parse().unwrap(), greatest.parse().unwrap());
            (i128::from(least) - i128::from(greatest), least)
        }
        _ => (0, 0),
    };
    (first, second, Reverse(entry.to_owned()))
}

/// A random value of the type `{text: string, number: int, truth: bool}`, from so few that they often meet.
fn fields(rng: &mut fastrand::Rng) -> Vec<(&'static str, Scalar)> {
    let all = [
        ("text", Scalar::from(pick(rng, &["", "a", "ab", "b"]))),
        ("number", Scalar::from(rng.i64(-1..2))),
        ("truth", rng.bool().into()),
    ];
    all.into_iter().filter(|_| rng.u8(..4) > 0).collect()
}

fn found(snapshot: &Snapshot, kind: Kind, value: &str) -> Option<(Entry, Vec<Option<Scalar>>)> {
    let (id, _) = snapshot.find("list").unwrap();
    let entry = match kind {
        Kind::Addresses => snapshot.find_address(id, value.parse().unwrap()),
        Kind::Integers => snapshot.find_integer(id, value.parse().unwrap()),
        _ => snapshot.find_text(id, value.as_bytes()),
    }?;
    assert_eq!(EntryId::from_number(entry.number()), Some(entry));
    let own = snapshot.entry(id, entry).unwrap();
    let values = (0..3).map(|field| snapshot.value(id, entry, field).map(ScalarRef::to_owned)).collect();
    Some((own, values))
}

#[test]
fn values_are_those_of_the_most_specific_entry() {
    let values: ValueType = "{text: string, number: int, truth: bool}".parse().unwrap();
    for (seed, kind) in (1..).zip(Kind::ALL) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ty = ListType::new(kind, Some(values.clone()));
        let lists = Lists::new(Limits::default());
        lists.declare("list", &ty).unwrap();
        let mut model: BTreeMap<Entry, Vec<(&str, Scalar)>> = BTreeMap::new();
        let (mut inner, mut updates, mut most_levels) = (0, 0, 0);
        for round in 0..rounds(kind) {
            let before = model.clone();
            let changed = match rng.u8(..20) {
                0 => {
                    model.clear();
                    let mut all = Entries::new(&ty);
                    for _ in 0..rng.usize(..60) {
                        let (text, fields) = (entry(kind, &mut rng), fields(&mut rng));
                        // Half of them come from another collection.
                        if rng.bool() {
                            all.insert(&text, fields.iter().cloned().collect::<EntryValue>()).unwrap();
                        } else {
                            let mut other = Entries::new(&ty);
                            other.insert(&text, fields.iter().cloned().collect::<EntryValue>()).unwrap();
                            all.append(other);
                        }
                        model.insert(Entry::parse(kind, &text).unwrap(), fields);
                    }
                    lists.change().replace("list", all).commit().unwrap()
                }
                1 => {
                    lists.merge();
                    continue;
                }
                _ => {
                    let mut change = lists.change();
                    for _ in 0..rng.usize(1..4) {
                        let (text, fields) = (entry(kind, &mut rng), fields(&mut rng));
                        let own = Entry::parse(kind, &text).unwrap();
                        change = if rng.u8(..3) == 0 {
                            model.remove(&own);
                            change.remove("list", &text)
                        } else {
                            model.insert(own, fields.clone());
                            change.insert_value("list", &text, fields.into_iter().collect::<EntryValue>(), None)
                        };
                    }
                    change.commit().unwrap()
                }
            };
            let other =
                model.iter().filter(|(key, fields)| before.get(key).is_some_and(|before| before != *fields)).count();
            assert_eq!(changed.updated, other, "{kind} {round}");
            assert_eq!(
                (changed.inserted, changed.removed),
                (
                    model.keys().filter(|key| !before.contains_key(key)).count(),
                    before.keys().filter(|key| !model.contains_key(key)).count()
                )
            );
            updates += other;
            let snapshot = lists.load();
            let info = snapshot.infos().next().unwrap();
            assert_eq!((info.entries, info.values.as_ref()), (model.len(), Some(&values)));
            most_levels = most_levels.max(info.levels);
            let cells = |fields: &Vec<(&str, Scalar)>| {
                let own = |name| fields.iter().find(|(own, _)| *own == name).map(|(_, scalar)| scalar.clone());
                ["text", "number", "truth"].map(own).to_vec()
            };
            let id = snapshot.find("list").unwrap().0;
            let mut rows: Vec<_> = snapshot.rows(id).collect();
            rows.sort_by(|(one, _), (other, _)| one.cmp(other));
            assert!(rows.iter().map(|(entry, _)| entry).eq(model.keys()));
            for ((entry, row), fields) in rows.iter().zip(model.values()) {
                assert_eq!(row.iter().map(|cell| cell.map(ScalarRef::to_owned)).collect::<Vec<_>>(), cells(fields));
                assert_eq!(snapshot.row(id, entry), Some(*row));
            }
            for _ in 0..20 {
                let value = value(kind, &mut rng);
                let around: Vec<_> = model.iter().filter(|(key, _)| contains(kind, &key.to_string(), &value)).collect();
                let right = around.iter().max_by_key(|(key, _)| specific(kind, &key.to_string()));
                inner += usize::from(around.len() > 1);
                let right = right.map(|(key, fields)| ((*key).clone(), cells(fields)));
                assert_eq!(found(&snapshot, kind, &value), right, "{kind} {round}: {value}");
            }
        }
        let enough = usize::try_from(rounds(kind)).unwrap() * 3 / 4;
        let is_nested = !matches!(kind, Kind::Texts | Kind::TextsIgnoringCase);
        assert!(
            (inner > enough) == is_nested && updates > enough / 3 && most_levels > 2,
            "{kind}: {inner} {updates} {most_levels}"
        );
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
