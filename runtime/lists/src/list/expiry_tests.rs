//! Lookups in lists of which entries expire.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::any_list::AnyList;
use super::levels::{Counts, Effects, Keyed};
use crate::clock::{Clock, PinnedClock};
use crate::entry::Entry;
use crate::kind::Kind;
use crate::sets::Unmetered;
use crate::value::Cells;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Says the time, or fails if nobody may ask.
struct Watch(Option<SystemTime>);

impl Clock for Watch {
    fn now(&self) -> SystemTime {
        self.0.expect("no lookup asks the time")
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn list(kind: Kind, entries: &[(&str, Option<u64>)]) -> AnyList {
    let mut keyed = Keyed::new(None);
    for (text, expires) in entries {
        keyed.push(Entry::parse(kind, text).unwrap(), expires.map(at));
    }
    AnyList::new(kind, keyed).unwrap()
}

/// The list after an insertion.
fn with(list: &AnyList, text: &str, expires: Option<u64>) -> (AnyList, Effects) {
    let entry = Entry::parse(list.kind(), text).unwrap();
    let expiries: BTreeMap<Entry, SystemTime> = expires.map(|time| (entry.clone(), at(time))).into_iter().collect();
    list.changed(vec![(entry, Some(Cells::default()))], &expiries).unwrap()
}

fn has(list: &AnyList, value: &str, clock: &dyn Clock) -> bool {
    let found = match list {
        AnyList::Addresses(_) => {
            let address: std::net::Ipv4Addr = value.parse().unwrap();
            let address = address.to_ipv6_mapped().to_bits();
            assert_eq!(list.find_address(address, clock).is_some(), list.has_address(address, clock).unwrap());
            list.has_address(address, clock)
        }
        AnyList::Integers(_) => {
            let number = value.parse().unwrap();
            assert_eq!(list.find_integer(number, clock).is_some(), list.has_integer(number, clock).unwrap());
            list.has_integer(number, clock)
        }
        _ => {
            let text = value.as_bytes();
            let Ok(found) = list.find_text(text, &Unmetered, clock);
            let Ok(has) = list.has_text(text, &Unmetered, clock);
            assert_eq!(Some(found.is_some()), has);
            has
        }
    };
    found.unwrap()
}

#[test]
fn only_entries_that_expire_are_compared_with_the_time() {
    // An entry that expires and one that does not; a value of each, and one of neither.
    for (kind, [expires, lasts], [short, long, none]) in [
        (Kind::Addresses, ["10.0.0.0/24", "10.1.0.0/16"], ["10.0.0.7", "10.1.2.3", "10.2.0.0"]),
        (Kind::Hosts, ["*.a.example", "b.example"], ["x.a.example", "b.example", "a.example"]),
        (Kind::Texts, ["a", "b"], ["a", "b", "c"]),
        (Kind::TextsIgnoringCase, ["a", "b"], ["A", "B", "c"]),
        (Kind::Integers, ["1..5", "10"], ["3", "10", "7"]),
        (Kind::Patterns, ["^a", "^b"], ["aa", "bb", "cc"]),
        (Kind::Wildcards, ["a*", "b*"], ["aa", "bb", "cc"]),
    ] {
        let list = list(kind, &[(expires, Some(9)), (lasts, None)]);
        let nobody = Watch(None);
        assert!(has(&list, long, &nobody) && !has(&list, none, &nobody), "{kind}");
        assert!(has(&list, short, &Watch(Some(at(8)))), "{kind}");
        assert!(!has(&list, short, &Watch(Some(at(9)))), "{kind}");
    }
}

#[test]
fn what_is_less_specific_answers_for_an_entry_that_has_expired() {
    for (kind, inner, outer, value) in [
        (Kind::Addresses, "10.1.2.0/24", "10.0.0.0/8", "10.1.2.3"),
        (Kind::Hosts, "*.a.example", "*.example", "x.a.example"),
        (Kind::Hosts, "x.a.example", "*.example", "x.a.example"),
        (Kind::Integers, "3..4", "1..10", "3"),
        (Kind::Patterns, "^/admin/", "^/a", "/admin/x"),
        (Kind::Wildcards, "/admin/*", "/a*", "/admin/x"),
    ] {
        let whole = list(kind, &[(inner, Some(9)), (outer, None)]);
        // The same in two levels.
        let (later, _) = with(&list(kind, &[(outer, None)]), inner, Some(9));
        let (earlier, _) = with(&list(kind, &[(inner, Some(9))]), outer, None);
        for list in [whole, later, earlier] {
            for (time, right) in [(8, inner), (9, outer)] {
                let clock = PinnedClock::at(at(time));
                let found = match kind {
                    Kind::Addresses => list.find_address(0xffff_0a01_0203, &clock),
                    Kind::Integers => list.find_integer(3, &clock),
                    _ => list.find_text(value.as_bytes(), &Unmetered, &clock).unwrap_or(None),
                };
                let entry = found.and_then(|found| list.entry(found)).unwrap();
                assert_eq!(entry, Entry::parse(kind, right).unwrap(), "{kind} at {time}");
                assert!(has(&list, value, &clock));
            }
        }
    }
}

#[test]
fn an_entry_that_has_expired_hides_no_earlier_one_and_comes_back_with_another_time() {
    let change = |list: &AnyList, expires| with(list, "a", expires);
    let first = list(Kind::Texts, &[("a", None), ("b", None)]);
    let (second, effects) = change(&first, Some(9));
    assert_eq!(effects.counts, Counts { renewed: 1, ..Counts::default() });
    assert!(has(&second, "a", &PinnedClock::at(at(8))) && !has(&second, "a", &PinnedClock::at(at(9))));
    // The generation before does not know of it.
    assert!(has(&first, "a", &Watch(None)));
    assert_eq!(change(&second, Some(9)).1.counts, Counts::default());
    let (third, _) = change(&second, Some(20));
    assert!(has(&third, "a", &PinnedClock::at(at(19))) && !has(&third, "a", &PinnedClock::at(at(20))));
    let merged = third.merged().unwrap();
    assert!(has(&merged, "a", &PinnedClock::at(at(19))) && !has(&merged, "a", &PinnedClock::at(at(20))));
    let (last, effects) = change(&merged, None);
    assert!(has(&last, "a", &Watch(None)) && has(&last, "b", &Watch(None)));
    assert_eq!(effects.ended, [(at(20), Entry::parse(Kind::Texts, "a").unwrap())]);
}
