//! Views that threads and readers keep between evaluations.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_lists::{Kind, Limits, ListId, Lists, Reader, Snapshot};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

fn integers() -> (Lists, ListId) {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("n", Kind::Integers).unwrap();
    (lists, id)
}

fn insert(lists: &Lists, number: i64) {
    lists.change().insert("n", &number.to_string()).commit().unwrap();
}

fn current(lists: &Lists) -> Weak<Snapshot> {
    Arc::downgrade(&lists.load())
}

/// Both ways to ask without a view of one's own.
fn has(lists: &Lists, reader: &mut Reader, id: ListId, number: i64) -> bool {
    let of_reader = reader.view(lists).has_integer(id, number);
    assert_eq!(lists.with_view(|view| view.has_integer(id, number)), of_reader);
    of_reader.unwrap()
}

#[test]
fn a_change_that_has_returned_is_seen() {
    let (lists, id) = integers();
    let (last, done) = (AtomicI64::new(-1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = Reader::default();
                while !done.load(Ordering::Relaxed) {
                    let known = last.load(Ordering::Acquire);
                    assert!(known < 0 || has(&lists, &mut reader, id, known), "{known}");
                }
            });
            // What one thread has seen of a change that has not returned yet, another one sees too.
            scope.spawn(|| {
                let mut reader = Reader::default();
                while !done.load(Ordering::Relaxed) {
                    let generation = lists.load().generation();
                    assert!(reader.view(&lists).snapshot().generation() >= generation);
                    lists.with_view(|view| assert!(view.snapshot().generation() >= generation));
                }
            });
        }
        for number in 0..2_000 {
            insert(&lists, number);
            last.store(number, Ordering::Release);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn every_kind_of_change_is_seen() {
    let (lists, id) = integers();
    let mut reader = Reader::default();
    assert!(!has(&lists, &mut reader, id, 7));
    insert(&lists, 7);
    assert!(has(&lists, &mut reader, id, 7));
    let (fresh, _) = integers();
    lists.take_over(fresh).unwrap();
    assert!(!has(&lists, &mut reader, id, 7));
    let second = lists.declare("m", Kind::Integers).unwrap();
    assert!(!has(&lists, &mut reader, second, 7));
    let (before, _) = integers();
    let _ = before.view().has_integer(id, 7);
    lists.take_over_lookups(&before);
    assert!(!has(&lists, &mut reader, id, 7));
    assert_eq!(before.lookups(id), 3, "both lookups count with those of the lists before");
}

/// Their generations have the same numbers.
#[test]
fn each_lists_have_views_of_their_own() {
    let mut reader = Reader::default();
    for round in 0..50 {
        // The memory of the one before is used again.
        let (lists, id) = integers();
        insert(&lists, round);
        let (other, _) = integers();
        insert(&other, -1);
        assert!(has(&lists, &mut reader, id, round) && !has(&other, &mut reader, id, round), "{round}");
        assert!(!has(&lists, &mut reader, id, -1) && has(&other, &mut reader, id, -1), "{round}");
    }
}

#[test]
fn views_within_each_other_are_of_their_own_generations() {
    let (lists, id) = integers();
    lists.with_view(|outer| {
        assert_eq!(outer.has_integer(id, 7), Some(false));
        insert(&lists, 7);
        lists.with_view(|inner| assert_eq!(inner.has_integer(id, 7), Some(true)));
        assert_eq!(outer.has_integer(id, 7), Some(false));
    });
    lists.with_view(|after| assert_eq!(after.has_integer(id, 7), Some(true)));
}

#[test]
fn each_view_has_its_own_time() {
    let (lists, id) = integers();
    let end = SystemTime::now() + Duration::from_millis(200);
    lists.change().insert_until("n", "7", end).commit().unwrap();
    let mut reader = Reader::default();
    assert!(has(&lists, &mut reader, id, 7));
    while SystemTime::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!has(&lists, &mut reader, id, 7));
}

#[test]
fn a_thread_keeps_one_generation() {
    let (lists, id) = integers();
    let old = current(&lists);
    lists.with_view(|view| view.has_integer(id, 7));
    insert(&lists, 7);
    assert!(old.upgrade().is_some(), "the thread keeps it");
    let new = current(&lists);
    lists.with_view(|view| view.has_integer(id, 7));
    assert!(old.upgrade().is_none());
    // The lists are dropped, and others are asked.
    drop(lists);
    assert!(new.upgrade().is_some());
    integers().0.with_view(|_| ());
    assert!(new.upgrade().is_none());
    // A thread that has ended keeps nothing.
    let (lists, _) = integers();
    let asked = lists.clone();
    std::thread::spawn(move || asked.with_view(|_| ())).join().unwrap();
    let kept = current(&lists);
    drop(lists);
    assert!(kept.upgrade().is_none());
}

#[test]
fn a_reader_keeps_one_generation() {
    let (lists, _) = integers();
    let mut reader = Reader::default();
    let first = current(&lists);
    reader.view(&lists);
    insert(&lists, 1);
    let second = current(&lists);
    reader.view(&lists);
    assert!(first.upgrade().is_none() && second.upgrade().is_some());
    insert(&lists, 2);
    reader.clear();
    assert!(second.upgrade().is_none());
}

/// Destructors that run after the thread's reader is gone ask lists.
#[test]
fn a_thread_that_ends_asks_lists() {
    struct AtTheEnd(Lists, ListId, Arc<AtomicBool>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            self.2.store(self.0.with_view(|view| view.has_integer(self.1, 7)) == Some(true), Ordering::Relaxed);
        }
    }
    thread_local!(static LAST: std::cell::RefCell<Option<AtTheEnd>> = const { std::cell::RefCell::new(None) });
    let (lists, id) = integers();
    insert(&lists, 7);
    let found = Arc::new(AtomicBool::new(false));
    let asked = (lists.clone(), found.clone());
    std::thread::spawn(move || {
        // The destructor that is registered first runs last.
        LAST.set(Some(AtTheEnd(asked.0.clone(), id, asked.1)));
        asked.0.with_view(|_| ());
    })
    .join()
    .unwrap();
    assert!(found.load(Ordering::Relaxed));
    let kept = current(&lists);
    drop(lists);
    assert!(kept.upgrade().is_none(), "the thread has kept nothing");
}

#[test]
fn what_is_pinned_stays() {
    let (lists, id) = integers();
    let (other, _) = integers();
    let end = SystemTime::now() + Duration::from_millis(200);
    lists.change().insert_until("n", "7", end).commit().unwrap();
    let mut reader = Reader::default();
    lists.pin(|| {
        assert!(has(&lists, &mut reader, id, 7));
        insert(&lists, 8);
        insert(&other, 8);
        while SystemTime::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        // One generation at one time, also within another pin and for another reader.
        assert!(has(&lists, &mut reader, id, 7) && !has(&lists, &mut reader, id, 8));
        lists.pin(|| assert!(has(&lists, &mut Reader::default(), id, 7) && !has(&lists, &mut reader, id, 8)));
        // Other lists are not pinned, unless they are too.
        assert!(has(&other, &mut reader, id, 8));
        other.pin(|| {
            insert(&other, 9);
            assert!(!has(&other, &mut reader, id, 9) && !has(&lists, &mut reader, id, 8));
            lists.pin(|| assert!(!has(&lists, &mut reader, id, 8)));
        });
        assert!(has(&other, &mut reader, id, 9) && has(&lists, &mut reader, id, 7));
        assert!(!has(&lists, &mut reader, id, 8));
        // A panic in an evaluation that the host contains does not end a pin.
        let contained = AssertUnwindSafe(|| lists.with_view(|_| panic!("contained")));
        assert!(std::panic::catch_unwind(contained).is_err() && !has(&lists, &mut reader, id, 8));
        // Another thread is not concerned.
        std::thread::scope(|scope| {
            let seen = scope.spawn(|| has(&lists, &mut Reader::default(), id, 8)).join();
            assert!(seen.unwrap());
        });
    });
    assert!(!has(&lists, &mut reader, id, 7) && has(&lists, &mut reader, id, 8));
}

#[test]
fn a_pin_ends_with_a_panic() {
    let (lists, id) = integers();
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        lists.pin(|| {
            insert(&lists, 7);
            assert!(has(&lists, &mut Reader::default(), id, 7), "what is pinned has it not");
        });
    }));
    assert!(result.is_err());
    assert!(has(&lists, &mut Reader::default(), id, 7));
}
