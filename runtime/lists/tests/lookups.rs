//! The counts of lookups: what counts as one, on many threads, and what they survive.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_lists::{Entries, Kind, Limits, ListId, Lists, Meter};
use std::cell::RefCell;
use std::sync::Barrier;

fn lists() -> (Lists, Vec<ListId>) {
    let lists = Lists::new(Limits::default());
    let ids = Kind::ALL.iter().map(|kind| lists.declare(kind.name(), *kind).unwrap()).collect();
    (lists, ids)
}

fn counts(lists: &Lists, ids: &[ListId]) -> Vec<u64> {
    ids.iter().map(|id| lists.lookups(*id)).collect()
}

/// A meter that has nothing left.
struct Spent;

impl Meter for Spent {
    type Error = ();

    fn charge(&self, _: usize) -> Result<(), ()> {
        Err(())
    }
}

#[test]
fn each_search_of_a_list_for_a_value_it_may_have_is_a_lookup() {
    let (lists, ids) = lists();
    lists.change().insert("addresses", "192.0.2.0/24").insert("patterns", "a+b").insert("texts", "a").commit().unwrap();
    let snapshot = lists.load();
    for (&id, kind) in ids.iter().zip(Kind::ALL) {
        let (v4, v6) = ("192.0.2.7".parse().unwrap(), "2001:db8::1".parse().unwrap());
        let asks: [(bool, &dyn Fn() -> bool); 13] = [
            (kind == Kind::Addresses, &|| snapshot.contains_address(id, v4)),
            (kind == Kind::Addresses, &|| snapshot.contains_address(id, v6)),
            (kind == Kind::Addresses, &|| snapshot.has_address(id, v6).is_some()),
            (kind == Kind::Addresses, &|| snapshot.has_mapped_address(id, 7).is_some()),
            (kind == Kind::Addresses, &|| snapshot.find_address(id, v4).is_some()),
            (kind == Kind::Addresses, &|| snapshot.find_mapped_address(id, 7).is_some()),
            (kind == Kind::Integers, &|| snapshot.contains_integer(id, 7)),
            (kind == Kind::Integers, &|| snapshot.has_integer(id, -7).is_some()),
            (kind == Kind::Integers, &|| snapshot.find_integer(id, 7).is_some()),
            (!matches!(kind, Kind::Addresses | Kind::Integers), &|| snapshot.contains_text(id, b"a")),
            (!matches!(kind, Kind::Addresses | Kind::Integers), &|| snapshot.has_text(id, b"\xff").is_some()),
            (!matches!(kind, Kind::Addresses | Kind::Integers), &|| snapshot.find_text(id, b"").is_some()),
            // A search that is not finished.
            (!matches!(kind, Kind::Addresses | Kind::Integers), &|| {
                snapshot.has_text_metered(id, b"aab", &Spent).is_err()
            }),
        ];
        for (number, (suits, ask)) in asks.iter().enumerate() {
            let mut expected = counts(&lists, &ids);
            ask();
            if let Some(count) = expected.get_mut(id.number() as usize) {
                *count += u64::from(*suits);
            }
            assert_eq!(counts(&lists, &ids), expected, "{number} of {}", kind.name());
        }
    }
    // What is no lookup: reading and changing entries, and asking a list that was not declared.
    let before = counts(&lists, &ids);
    let texts = ids[Kind::ALL.iter().position(|kind| *kind == Kind::Texts).unwrap()];
    let found = snapshot.find_text(texts, b"a").unwrap();
    assert!(snapshot.entry(texts, found).is_some_and(|entry| snapshot.has_entry(texts, &entry)));
    assert_eq!((snapshot.value(texts, found, 0), snapshot.entries(texts).count()), (None, 1));
    lists.change().insert("texts", "a").insert("texts", "b").remove("texts", "a").commit().unwrap();
    lists.merge();
    assert!(!lists.load().contains_text(ListId::from_number(99), b"a"));
    assert_eq!(lists.lookups(ListId::from_number(99)), 0);
    assert_eq!(counts(&lists, &ids).iter().sum::<u64>(), before.iter().sum::<u64>() + 1);
}

/// More threads than a block has lines, at the same time and one after the other, while the lists change.
#[test]
fn no_lookup_of_any_thread_is_lost() {
    const THREADS: u32 = 40;
    const ROUNDS: u64 = 5;
    let lists = Lists::new(Limits::default());
    let (ports, words) =
        (lists.declare("ports", Kind::Integers).unwrap(), lists.declare("words", Kind::Texts).unwrap());
    let barrier = Barrier::new(THREADS as usize);
    for round in 0..ROUNDS {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (lists, barrier) = (&lists, &barrier);
                scope.spawn(move || {
                    for ask in 0..1_000_u32 {
                        // All threads are alive at the same time.
                        if ask == 500 {
                            barrier.wait();
                        }
                        let _ = lists.load().contains_integer(ports, i64::from(ask));
                        if ask % 10 == 0 {
                            let _ = lists.load().contains_text(words, b"a");
                        }
                    }
                    lists.change().insert("ports", &thread.to_string()).commit().unwrap();
                });
            }
        });
        let threads = u64::from(THREADS) * (round + 1);
        assert_eq!((lists.lookups(ports), lists.lookups(words)), (threads * 1_000, threads * 100));
    }
}

/// A thread that ends has given its place back when some of its destructors run.
#[test]
fn lookups_of_a_thread_that_ends_count() {
    struct AskInTheEnd(Lists, ListId);
    impl Drop for AskInTheEnd {
        fn drop(&mut self) {
            for number in 0..3 {
                let _ = self.0.load().contains_integer(self.1, number);
            }
        }
    }
    thread_local! {
        static EARLY: RefCell<Vec<AskInTheEnd>> = const { RefCell::new(Vec::new()) };
        static LATE: RefCell<Vec<AskInTheEnd>> = const { RefCell::new(Vec::new()) };
    }
    let lists = Lists::new(Limits::default());
    let ports = lists.declare("ports", Kind::Integers).unwrap();
    // A handle is joined when the destructors have run; a scope does not wait for them.
    let threads: Vec<_> = (0..20)
        .map(|_| {
            let lists = lists.clone();
            // Destroyed in this order or the other one.
            std::thread::spawn(move || {
                EARLY.with_borrow_mut(|all| all.push(AskInTheEnd(lists.clone(), ports)));
                let _ = lists.load().contains_integer(ports, 7);
                LATE.with_borrow_mut(|all| all.push(AskInTheEnd(lists.clone(), ports)));
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(lists.lookups(ports), 20 * 7);
}

#[test]
fn counts_stay_when_entries_are_replaced() {
    let (lists, ids) = lists();
    let texts = ids[Kind::ALL.iter().position(|kind| *kind == Kind::Texts).unwrap()];
    let ask = |lists: &Lists| lists.load().contains_text(texts, b"a");
    let old = (*lists.load()).clone();
    ask(&lists);
    lists.change().replace("texts", Entries::from_texts(Kind::Texts, ["a"]).unwrap()).commit().unwrap();
    ask(&lists);
    lists.merge();
    let fresh = || {
        let fresh = Lists::new(Limits::default());
        // In another order, so with other numbers.
        Kind::ALL.iter().rev().for_each(|kind| drop(fresh.declare(kind.name(), *kind)));
        fresh.change().insert("texts", "b").commit().unwrap();
        let id = fresh.load().find("texts").unwrap().0;
        assert!(fresh.load().contains_text(id, b"b"));
        fresh
    };
    lists.take_over(fresh()).unwrap();
    assert!(lists.load().contains_text(texts, b"b"));
    ask(&lists);
    let some = Lists::new(Limits::default());
    some.declare("texts", Kind::Texts).unwrap();
    lists.take_over_some(some).unwrap();
    ask(&lists);
    // Those that ask an old generation count too.
    assert!(!old.contains_text(texts, b"a"));
    assert_eq!((lists.lookups(texts), lists.load().contains_text(texts, b"b")), (6, false));
}

#[test]
fn lists_that_replace_others_count_with_them() {
    let before = Lists::new(Limits::default());
    let (kept, gone) = (before.declare("kept", Kind::Texts).unwrap(), before.declare("gone", Kind::Texts).unwrap());
    let _ = before.load().contains_text(kept, b"a");
    let _ = before.load().contains_text(gone, b"a");
    let after = Lists::new(Limits::default());
    let new = after.declare("new", Kind::Texts).unwrap();
    // Another kind: the name counts.
    let kept_there = after.declare("kept", Kind::Integers).unwrap();
    let generation = after.load().generation();
    after.take_over_lookups(&before);
    assert_eq!((after.lookups(new), after.lookups(kept_there), after.load().generation()), (0, 1, generation));
    // Both are asked for a while.
    let _ = before.load().contains_text(kept, b"a");
    let _ = after.load().contains_integer(kept_there, 7);
    let _ = after.load().contains_text(new, b"a");
    after.take_over_lookups(&after);
    after.change().insert("kept", "7").commit().unwrap();
    drop(before);
    let _ = after.load().contains_integer(kept_there, 7);
    assert_eq!((after.lookups(kept_there), after.lookups(new)), (4, 1));
}
