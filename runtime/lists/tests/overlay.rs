//! What was changed at run time survives when sources are read again.

#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test")]

use celero_lists::{
    Entries, Entry, Format, Kind, Limits, ListType, Lists, ListsError, Mark, Overlay, Record, Records, Scalar,
    ScalarRef,
};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const KIND: Kind = Kind::Integers;

/// Seconds since 1970 of the beginning of all tests here, in the future: nothing has expired but by their own time.
const START: u64 = 9_000_000_000;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START + seconds)
}

fn entries(text: &str) -> Entries {
    Entries::parse(KIND, Format::JsonLines, text).unwrap()
}

/// Lists with the entries of a source.
fn filled(source: &BTreeSet<u8>) -> Lists {
    let lists = Lists::new(Limits::default());
    lists.declare("other", Kind::Texts).unwrap();
    lists.declare("n", KIND).unwrap();
    let texts: Vec<String> = source.iter().map(u8::to_string).collect();
    lists.change().replace("n", Entries::from_texts(KIND, texts).unwrap()).commit().unwrap();
    lists
}

fn numbers(lists: &Lists) -> BTreeSet<u8> {
    let snapshot = lists.load();
    let (id, _) = snapshot.find("n").unwrap();
    snapshot.entries(id).map(|entry| entry.to_string().parse().unwrap()).collect()
}

/// A host's store: what it was told to keep.
#[derive(Default)]
struct Kept(BTreeMap<Entry, Mark>);

impl Kept {
    fn keep(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            match &record.mark {
                Some(mark) => drop(self.0.insert(record.entry.clone(), mark.clone())),
                None => drop(self.0.remove(&record.entry)),
            }
        }
    }

    fn restored(&self) -> Overlay {
        let mut overlay = Overlay::default();
        for (entry, mark) in &self.0 {
            let (list, entry, mark) = (Arc::from("n"), entry.clone(), Some(mark.clone()));
            overlay.restore(Record { list, ty: KIND.into(), entry, mark }).unwrap();
        }
        overlay
    }
}

/// Random changes, expiries, changed sources and restarts, against a model that goes through all of them in order.
#[test]
fn the_last_word_counts() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut restarts, mut rereads) = (0, 0);
    for _ in 0..150 {
        let mut source: BTreeSet<u8> = (0..12).filter(|_| random.bool()).collect();
        let (lists, mut overlay, mut kept) = (filled(&source), Overlay::default(), Kept::default());
        // What was said last of each number at run time: when it expires, or that it was removed.
        let mut said: BTreeMap<u8, Mark> = BTreeMap::new();
        let mut now = 0;
        for _ in 0..40 {
            let number = random.u8(0..12);
            match random.u8(0..8) {
                0 | 1 => {
                    let expires = random.bool().then(|| now + random.u64(1..6));
                    let text = match expires {
                        Some(expires) => format!("{{\"entry\": {number}, \"expires\": {}}}", START + expires),
                        None => number.to_string(),
                    };
                    let keep = |records: Records<'_>| -> Result<(), Infallible> {
                        kept.keep(records);
                        Ok(())
                    };
                    assert!(overlay.insert(&lists, "n", &entries(&text), keep).unwrap().is_ok());
                    said.insert(number, Mark::inserted(expires.map(at)));
                }
                2 | 3 => {
                    let keep = |records: Records<'_>| -> Result<(), Infallible> {
                        kept.keep(records);
                        Ok(())
                    };
                    assert!(overlay.remove(&lists, "n", &entries(&number.to_string()), keep).unwrap().is_ok());
                    // A removal says something only of what a source has.
                    if source.contains(&number) {
                        said.insert(number, Mark::Removed);
                    } else {
                        said.remove(&number);
                    }
                }
                4 => {
                    let fails = |_: Records<'_>| Err("no space");
                    let done = overlay.insert(&lists, "n", &entries(&number.to_string()), fails).unwrap();
                    assert_eq!(done, Err("no space"));
                }
                5 => {
                    now += random.u64(1..4);
                    kept.keep(overlay.expire(&lists, at(now)).unwrap().1);
                    for number in 0..12 {
                        if matches!(said.get(&number), Some(Mark::Inserted { expires: Some(time), .. }) if *time <= at(now))
                        {
                            said.remove(&number);
                            if source.contains(&number) {
                                said.insert(number, Mark::Removed);
                            }
                        }
                    }
                }
                which => {
                    source = (0..12).filter(|_| random.bool()).collect();
                    said.retain(|number, mark| *mark != Mark::Removed || source.contains(number));
                    if which == 6 {
                        overlay = kept.restored();
                        restarts += 1;
                    }
                    let fresh = filled(&source);
                    let applied = overlay.apply(&fresh, at(now), |_| true).unwrap();
                    lists.take_over(fresh).unwrap();
                    kept.keep(overlay.confirm(applied));
                    rereads += 1;
                }
            }
            let mut expected = source.clone();
            for (number, mark) in &said {
                if *mark == Mark::Removed {
                    expected.remove(number)
                } else {
                    expected.insert(*number)
                };
            }
            assert_eq!(numbers(&lists), expected);
            assert_eq!(overlay.len_of("n", &KIND.into()), said.len());
            for number in 0..12_u8 {
                let entry = Entry::parse(KIND, &number.to_string()).unwrap();
                assert_eq!(overlay.mark("n", &KIND.into(), &entry), said.get(&number));
            }
            assert_eq!(kept.0.len(), said.len());
        }
    }
    assert!(restarts > 100 && rereads > 200);
}

#[test]
fn lists_are_taken_over_as_a_whole() {
    let lists = filled(&BTreeSet::from([1, 2]));
    let generation = lists.load().generation();
    let fresh = filled(&BTreeSet::from([3]));
    fresh.change().insert_until("n", "9", at(5)).insert("other", "x").commit().unwrap();
    assert!(lists.take_over(fresh).unwrap().generation > generation);
    assert_eq!(numbers(&lists), BTreeSet::from([3, 9]));
    assert_eq!(lists.next_expiry(), Some(at(5)));
    assert_eq!(lists.expire(at(5)).unwrap().removed, 1);

    let generation = lists.load().generation();
    for (declared, reason) in [
        (&[("n", KIND)][..], "no list `other`"),
        (&[("n", KIND), ("other", Kind::Texts), ("third", KIND)], "no list `third`"),
        (&[("n", Kind::Hosts), ("other", Kind::Texts)], "of integers, not of hosts"),
    ] {
        let wrong = Lists::new(Limits::default());
        for (name, kind) in declared {
            wrong.declare(name, *kind).unwrap();
        }
        let error = lists.take_over(wrong).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    lists.take_over(lists.clone()).unwrap();
    assert_eq!((lists.load().generation(), numbers(&lists)), (generation, BTreeSet::from([3])));
}

#[test]
fn what_is_refused_changes_nothing() {
    let lists = filled(&BTreeSet::from([1]));
    let mut overlay = Overlay::default();
    let never = |_: Records<'_>| -> Result<(), Infallible> { panic!("nothing is to be kept") };
    let unknown = overlay.insert(&lists, "nn", &entries("5"), never);
    assert!(matches!(unknown, Err(ListsError::UnknownList { .. })));
    assert!(matches!(overlay.remove(&lists, "other", &entries("5"), never), Err(ListsError::Type { .. })));
    let mut limits = Limits::default();
    limits.entries = 2;
    let small = Lists::new(limits);
    small.declare("n", KIND).unwrap();
    assert!(matches!(overlay.insert(&small, "n", &entries("5\n6\n7"), never), Err(ListsError::Limit { .. })));
    assert_eq!((overlay.len_of("n", &KIND.into()), small.load().generation()), (0, 1));

    // Nor is an overlay changed that does not fit into the lists.
    let mut restored = Overlay::default();
    for number in 5..8 {
        let entry = Entry::parse(KIND, &number.to_string()).unwrap();
        let mark = Some(Mark::inserted(Some(at(1))));
        restored.restore(Record { list: "n".into(), ty: KIND.into(), entry, mark }).unwrap();
    }
    assert!(restored.apply(&small, at(0), |_| true).is_err());
    assert_eq!(restored.len_of("n", &KIND.into()), 3);
    // What is never put in force changes nothing either.
    drop(restored.apply(&small, at(1), |_| true).unwrap());
    assert_eq!(restored.len_of("n", &KIND.into()), 3);
    let applied = restored.apply(&small, at(1), |_| true).unwrap();
    assert_eq!(restored.confirm(applied).len(), 3);
    assert_eq!(restored.len_of("n", &KIND.into()), 0);
}

/// Until all sources of a list are there, its removals stay, and what expired is removed.
#[test]
fn what_a_missing_source_may_have_stays_removed() {
    let (mut overlay, mut kept) = (Overlay::default(), Kept::default());
    for (number, mark) in [("1", Mark::Removed), ("2", Mark::inserted(Some(at(5)))), ("3", Mark::Removed)] {
        let entry = Entry::parse(KIND, number).unwrap();
        kept.0.insert(entry.clone(), mark.clone());
        overlay.restore(Record { list: "n".into(), ty: KIND.into(), entry, mark: Some(mark) }).unwrap();
    }
    // The first document is not there yet.
    let lists = filled(&BTreeSet::new());
    let applied = overlay.apply(&lists, at(6), |list| list != "n").unwrap();
    kept.keep(overlay.confirm(applied));
    assert_eq!(numbers(&lists), BTreeSet::new());
    // What is removed now counts as well, and what is inserted leaves a removal behind.
    let keep = |records: Records<'_>| -> Result<(), Infallible> {
        kept.keep(records);
        Ok(())
    };
    overlay.remove(&lists, "n", &entries("4"), keep).unwrap().unwrap();
    let keep = |records: Records<'_>| -> Result<(), Infallible> {
        kept.keep(records);
        Ok(())
    };
    overlay.insert(&lists, "n", &entries("{\"entry\": 5, \"expires\": 9000000007}"), keep).unwrap().unwrap();
    kept.keep(overlay.expire(&lists, at(7)).unwrap().1);
    let removed = |kept: &Kept| kept.0.values().filter(|mark| **mark == Mark::Removed).count();
    assert_eq!((removed(&kept), kept.0.len()), (5, 5));
    // It arrives after another restart. What it does not have is forgotten.
    let mut overlay = kept.restored();
    let fresh = filled(&BTreeSet::from([1, 2, 4, 5, 9]));
    let applied = overlay.apply(&fresh, at(8), |_| true).unwrap();
    lists.take_over(fresh).unwrap();
    kept.keep(overlay.confirm(applied));
    assert_eq!(numbers(&lists), BTreeSet::from([9]));
    assert_eq!((removed(&kept), kept.0.len()), (4, 4));
}

/// What a list with values holds.
fn tiers(lists: &Lists) -> Vec<(String, Option<i64>, Option<String>)> {
    let snapshot = lists.load();
    let (id, _) = snapshot.find("tier").unwrap();
    let mut all: Vec<_> = snapshot
        .rows(id)
        .map(|(entry, row)| {
            let rank = row.get(0).map(|rank| if let ScalarRef::Int(rank) = rank { rank } else { panic!("{rank:?}") });
            let name = row.get(1).map(|name| if let ScalarRef::Text(name) = name { name.to_owned() } else { panic!() });
            (entry.to_string(), rank, name)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn values_are_changed_kept_and_restored() {
    let ty: ListType = "hosts:{rank: int, name: string}".parse().unwrap();
    let parsed = |text: &str| Entries::parse(&ty, Format::JsonLines, text).unwrap();
    let source = r#"{"entry": "a.example", "rank": 1, "name": "one"}
        {"entry": "b.example", "rank": 2}"#;
    let fresh = || {
        let lists = Lists::new(Limits::default());
        lists.declare("tier", &ty).unwrap();
        lists.change().replace("tier", parsed(source)).commit().unwrap();
        lists
    };
    let row = |entry: &str, rank, name: Option<&str>| (entry.to_owned(), rank, name.map(str::to_owned));
    let (lists, mut overlay, mut kept) = (fresh(), Overlay::default(), Vec::new());
    let mut keep = |records: Records<'_>| -> Result<(), Infallible> {
        kept.extend(records);
        Ok(())
    };
    // Of equal entries the last counts; a field that an entry leaves out is absent, also if the source has it.
    let text = r#"{"entry": "c.example", "rank": 8, "name": "x"}
        {"entry": "a.example", "name": "uno"}
        {"entry": "c.example", "rank": 9, "expires": 9000000005}"#;
    let changed = overlay.insert(&lists, "tier", &parsed(text), &mut keep).unwrap().unwrap();
    assert_eq!((changed.inserted, changed.updated), (1, 1));
    // Only the value is another one: this is to be kept, too.
    overlay.insert(&lists, "tier", &parsed(r#"{"entry": "a.example", "name": "eins"}"#), &mut keep).unwrap().unwrap();
    let entry = |name: &str| Entries::from_texts(Kind::Hosts, [name]).unwrap();
    assert_eq!(overlay.remove(&lists, "tier", &entry("b.example"), &mut keep).unwrap().unwrap().removed, 1);
    let expected = [row("a.example", None, Some("eins")), row("c.example", Some(9), None)];
    assert_eq!(tiers(&lists), expected);

    let mut restored = Overlay::default();
    for record in kept {
        restored.restore(record).unwrap();
    }
    let again = fresh();
    let applied = restored.apply(&again, at(1), |_| true).unwrap();
    assert_eq!(restored.confirm(applied), []);
    assert_eq!(tiers(&again), expected);
    assert_eq!(restored.len_of("tier", &ty), 3);
    restored.expire(&again, at(5)).unwrap();
    assert_eq!(tiers(&again), expected[..1]);

    // A list of other values has nothing of it, and takes nothing of another type.
    let other: ListType = "hosts:{rank: int}".parse().unwrap();
    assert_eq!(restored.len_of("tier", &other), 0);
    let narrow = Lists::new(Limits::default());
    narrow.declare("tier", &other).unwrap();
    let applied = restored.apply(&narrow, at(1), |_| true).unwrap();
    restored.confirm(applied);
    assert_eq!(narrow.load().infos().next().unwrap().entries, 0);
    let refused = restored.insert(&narrow, "tier", &parsed(source), |_| Ok::<(), Infallible>(())).unwrap_err();
    assert!(matches!(refused, ListsError::Type { .. }), "{refused}");

    for wrong in [
        vec![],
        vec![Some(Scalar::Int(1))],
        vec![Some(Scalar::Text("1".into())), None],
        vec![Some(Scalar::Int(1)), Some(Scalar::Text("x".repeat(5000).into()))],
        vec![None, None, None],
    ] {
        let mark = Some(Mark::Inserted { expires: None, value: wrong.into() });
        let entry = Entry::parse(Kind::Hosts, "d.example").unwrap();
        let error = restored.restore(Record { list: "tier".into(), ty: ty.clone(), entry, mark }).unwrap_err();
        assert!(error.contains("d.example is none of a list of hosts:{rank: int, name: string}"), "{error}");
    }
}

#[test]
fn some_lists_are_taken_over() {
    let lists = filled(&BTreeSet::from([1, 2]));
    lists.change().insert("other", "x").insert_until("n", "7", at(9)).commit().unwrap();
    let fresh = || {
        let fresh = Lists::new(Limits::default());
        fresh.declare("other", Kind::Texts).unwrap();
        fresh
    };
    let new = fresh();
    new.change().insert_until("other", "y", at(5)).commit().unwrap();
    lists.take_over_some(new).unwrap();
    let snapshot = lists.load();
    assert_eq!(numbers(&lists), BTreeSet::from([1, 2, 7]));
    assert_eq!(
        snapshot.entries(snapshot.find("other").unwrap().0).map(|entry| entry.to_string()).collect::<Vec<_>>(),
        ["y"]
    );
    // The times of the others stay.
    assert_eq!(lists.next_expiry(), Some(at(5)));
    lists.expire(at(5)).unwrap();
    assert_eq!(lists.next_expiry(), Some(at(9)));

    let strange = fresh();
    strange.declare("third", KIND).unwrap();
    assert!(lists.take_over_some(strange).unwrap_err().to_string().contains("no list `third`"));
    let mut limits = Limits::default();
    limits.entries = 3;
    let small = Lists::new(limits);
    small.declare("n", KIND).unwrap();
    small.declare("other", Kind::Texts).unwrap();
    small.change().insert("n", "1").insert("n", "2").commit().unwrap();
    let large = fresh();
    large.change().insert("other", "x").insert("other", "y").commit().unwrap();
    let error = small.take_over_some(large).unwrap_err();
    assert_eq!(error, ListsError::Limit { what: "entries", wanted: 4, limit: 3 });
    assert_eq!(numbers(&small), BTreeSet::from([1, 2]));
}
