//! Lists of every kind: many entries in every format, changes, lookups of long values, and entries that others contain.

use crate::measure::growth;
use crate::{exclusive, report};
use celero_lists::{Entries, Format, Kind, Limits, ListType, Lists, Overlay, Record, Records};
use celero_tests::heap;
use celero_tests::shared::say;
use std::convert::Infallible;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, SystemTime};

/// A kind, a name, and the entry of a number.
type SizedEntry = (Kind, &'static str, fn(usize) -> String);

/// A name, a type, the format, the line of an entry, and the text before all lines.
type FormatOfLists = (&'static str, ListType, Format, fn(String) -> String, &'static str);

const ENTRIES: &[SizedEntry] = &[
    (Kind::Addresses, "addresses", |k| Ipv4Addr::from_bits(k as u32).to_string()),
    (Kind::Addresses, "addresses of IPv6", |k| Ipv6Addr::from_bits((k as u128) << 64).to_string()),
    (Kind::Addresses, "nested networks", |k| format!("10.0.0.0/{}", 8 + k % 25)),
    (Kind::Addresses, "networks in networks", |k| format!("{}/{}", Ipv4Addr::from_bits((k as u32) << 8), 1 + k % 32)),
    (Kind::Addresses, "nested networks of IPv6", |k| {
        format!("{}/{}", Ipv6Addr::from_bits((k as u128) << 70), 1 + k % 128)
    }),
    (Kind::Addresses, "ranges", |k| {
        let first = (k as u32) << 10;
        format!("{}..{}", Ipv4Addr::from_bits(first + 1), Ipv4Addr::from_bits(first + 1022))
    }),
    (Kind::Addresses, "equal networks", |_| "10.0.0.0/8".to_owned()),
    (Kind::Addresses, "wrong addresses", |k| format!("10.0.0.{}", 300 + k)),
    (Kind::Texts, "texts", |k| format!("t{k}")),
    (Kind::Texts, "equal texts", |_| "t".to_owned()),
    (Kind::Texts, "texts of equal length and start", |k| format!("{}{k:08}", "a".repeat(40))),
    (Kind::TextsIgnoringCase, "texts in both cases", |k| if k % 2 == 0 { format!("t{k}") } else { format!("T{k}") }),
    (Kind::Hosts, "hosts", |k| format!("h{k}.example.com")),
    (Kind::Hosts, "domains", |k| format!("*.h{k}.example.com")),
    (Kind::Hosts, "hosts below each other", |k| format!("*.{}com", "a.".repeat(k % 100))),
    (Kind::Hosts, "hosts of many labels", |k| format!("{}h{k}.com", "a.".repeat(60))),
    (Kind::Integers, "integers", |k| k.to_string()),
    (Kind::Integers, "nested ranges", |k| format!("{}..{}", k, 1_000_000 - k)),
    (Kind::Integers, "overlapping ranges", |k| format!("{}..{}", k, k + 1000)),
    (Kind::Patterns, "patterns", |k| format!("^/{k}/[a-z]+$")),
    (Kind::Patterns, "patterns without literals", |k| format!("[a-z]{{{}}}[0-9]", k % 20 + 1)),
    (Kind::Patterns, "equal patterns", |_| "a+b".to_owned()),
    (Kind::Patterns, "patterns in any case", |k| format!("(?i)admin{k}")),
    (Kind::Wildcards, "wildcards", |k| format!("/{k}/*")),
    (Kind::Wildcards, "wildcards of many stars", |k| format!("*a*b*{k}*c*")),
    (Kind::Wildcards, "wildcards of stars only", |k| "*a".repeat(k % 40 + 1)),
];

/// A list with so many entries; none if they are refused.
fn list(kind: Kind, make: fn(usize) -> String, n: usize) -> Option<Lists> {
    let lists = Lists::new(Limits::default());
    lists.declare("l", kind).unwrap();
    let entries = Entries::from_texts(kind, (0..n).map(make)).ok()?;
    lists.change().replace("l", entries).commit().ok().map(|_| lists)
}

fn look_up(lists: &Lists, text: &str) {
    let snapshot = lists.load();
    let Some((list, kind)) = snapshot.find("l") else { return };
    match kind {
        Kind::Addresses => {
            for address in [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
                black_box(snapshot.find_address(list, address));
            }
        }
        Kind::Integers => drop(black_box(snapshot.find_integer(list, 5))),
        _ => drop(black_box(snapshot.find_text(list, text.as_bytes()))),
    }
}

#[test]
fn lists_cost_what_their_entries_say() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (kind, name, make) in ENTRIES {
        let columns = "{a: string, b: int}";
        let valued: ListType = format!("{}:{columns}", kind.name()).parse().unwrap();
        let formats: [FormatOfLists; 3] = [
            ("lines", (*kind).into(), Format::Lines, |entry| entry, ""),
            ("CSV", valued.clone(), Format::Csv, |entry| format!("\"{entry}\",x,1"), "entry,a,b\n"),
            (
                "JSON",
                valued,
                Format::JsonLines,
                |entry| format!("{{\"entry\": {entry:?}, \"a\": {entry:?}, \"b\": 1}}"),
                "",
            ),
        ];
        for (format_name, ty, format, line, head) in formats {
            let work = |n: usize| {
                let lines: Vec<String> = (0..n).map(|k| line(make(k))).collect();
                let (text, ty) = (format!("{head}{}", lines.join("\n")), &ty);
                move || match Entries::parse(ty, format, &text) {
                    Ok(entries) => {
                        black_box(entries.covered().len());
                        let lists = Lists::new(Limits::default());
                        lists.declare("l", ty.clone()).unwrap();
                        let changed = lists.change().replace("l", entries).commit();
                        black_box(changed.map_err(|error| error.to_string()).is_ok());
                        look_up(&lists, "a.b");
                    }
                    Err(error) => drop(black_box(error.to_string())),
                }
            };
            problems.extend(growth(&format!("list in {format_name} of {name}"), 1 << 12, work));
        }
        let change = |n: usize| {
            move || {
                let lists = Lists::new(Limits::default());
                lists.declare("l", *kind).unwrap();
                for k in 0..n {
                    drop(black_box(lists.change().insert("l", &make(k)).commit().is_ok()));
                }
                let removed = (0..n).fold(lists.change(), |change, k| change.remove("l", &make(k)));
                drop(black_box(removed.commit().is_ok()));
            }
        };
        problems.extend(growth(&format!("changes of a list of {name}"), 1 << 10, change));
    }
    report(&problems);
}

/// A host's list, changed at run time: inserted, read again, expired, removed.
#[test]
fn overlays_cost_what_their_entries_say() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let keep = |records: Records<'_>| {
        records.for_each(|record| drop(black_box(record)));
        Ok::<(), Infallible>(())
    };
    for (kind, name, make) in ENTRIES {
        let work = |n: usize| {
            let expiring = |k: usize| format!("{{\"entry\": {:?}, \"expires\": {}}}", make(k), 1 + k);
            let text = (0..n).map(expiring).collect::<Vec<_>>().join("\n");
            let entries = Entries::parse(*kind, Format::JsonLines, &text).ok();
            move || {
                // What is refused is measured where it is read.
                let Some(entries) = &entries else { return };
                let [lists, fresh] = [(); 2].map(|()| Lists::new(Limits::default()));
                [&lists, &fresh].into_iter().for_each(|lists| drop(lists.declare("l", *kind).unwrap()));
                let mut overlay = Overlay::default();
                black_box(overlay.insert(&lists, "l", entries, keep).is_ok());
                if let Ok(applied) = overlay.apply(&fresh, SystemTime::UNIX_EPOCH, |_| true) {
                    black_box(overlay.confirm(applied).len());
                }
                let half = SystemTime::UNIX_EPOCH + Duration::from_secs(n as u64 / 2);
                black_box(overlay.expire(&lists, half).is_ok());
                black_box(overlay.remove(&lists, "l", entries, keep).is_ok());
            }
        };
        problems.extend(growth(&format!("overlay of {name}"), 1 << 12, work));
    }
    report(&problems);
}

/// The name of a change, the type and the format of its entries, the text of one, and the most
/// bytes that it may take while it is made, with those that stay: what the list and the overlay
/// hold.
type SizedChange = (&'static str, &'static str, Format, fn(usize) -> String, usize);

const CHANGES: &[SizedChange] = &[
    ("addresses", "addresses", Format::Lines, |k| Ipv4Addr::from_bits(k as u32 * 7).to_string(), 240),
    ("texts", "texts", Format::Lines, |k| format!("customer-{k:08}"), 430),
    (
        "addresses that expire",
        "addresses",
        Format::JsonLines,
        |k| format!("{{\"entry\": \"{}\", \"expires\": 1999999999}}", Ipv4Addr::from_bits(k as u32)),
        380,
    ),
    (
        "texts with values",
        "texts:{a: string, b: int}",
        Format::JsonLines,
        |k| format!("{{\"entry\": \"customer-{k:08}\", \"a\": \"x{}\", \"b\": {}}}", k % 100, k % 7),
        430,
    ),
];

/// A body of a change may have a million entries.
#[test]
fn a_change_of_many_entries_takes_few_bytes_for_each() {
    let _guard = exclusive();
    let n = 200_000;
    let mut problems = Vec::new();
    for (name, ty, format, make, most) in CHANGES {
        let ty: ListType = ty.parse().unwrap();
        let text = (0..n).map(|k| make(k) + "\n").collect::<String>();
        let entries = Entries::parse(&ty, *format, &text).unwrap();
        drop(text);
        let lists = Lists::new(Limits::default());
        lists.declare("l", ty).unwrap();
        let (mut overlay, mut kept) = (Overlay::default(), 0);
        let mut change = |insert: bool| {
            let before = heap::held();
            let ((), peak) = heap::peak(|| {
                let keep = |records: Records<'_>| {
                    kept += records.map(|_: Record| 1).sum::<usize>();
                    Ok::<(), Infallible>(())
                };
                let changed = if insert {
                    overlay.insert(&lists, "l", &entries, keep)
                } else {
                    overlay.remove(&lists, "l", &entries, keep)
                };
                changed.unwrap().unwrap();
            });
            // The background merges meanwhile.
            lists.merge();
            let held = (heap::held() as f64 - before as f64) / n as f64;
            say(&format!("  {name}, inserted: {insert}: {} bytes an entry, {held:.0} of them stay", peak / n));
            if peak / n > *most {
                problems.push(format!("{name}, inserted: {insert}: {} bytes an entry, at most {most}", peak / n));
            }
        };
        change(true);
        change(false);
        assert_eq!(kept, 2 * n, "{name}");
    }
    report(&problems);
}

/// What lists are asked for: texts that repeat these.
const VALUES: &[&str] = &["a", ".", "a.", "admin", "/", "A", "é", "a1", "*", "[::1]:"];

#[test]
fn lookups_in_lists_cost_what_their_values_say() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (kind, name, make) in ENTRIES {
        if matches!(kind, Kind::Addresses | Kind::Integers) {
            continue;
        }
        let Some(lists) = list(*kind, *make, 300) else { continue };
        for piece in VALUES {
            let work = |n: usize| {
                let (text, lists) = (piece.repeat(n), &lists);
                move || look_up(lists, &text)
            };
            problems.extend(growth(&format!("lookup of {piece} in {name}"), 1 << 16, work));
        }
    }
    report(&problems);
}
