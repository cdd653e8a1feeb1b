//! Lists that follow those of another `Lists`.

#![expect(clippy::unwrap_used, reason = "a test")]

use celero_lists::{Entries, Entry, Kind, Limits, ListId, ListType, Lists, ListsError, Overlay};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

fn numbers(lists: &Lists, list: ListId) -> Vec<i64> {
    (0..100).filter(|number| lists.load().contains_integer(list, *number)).collect()
}

/// A source with the list `a`, and what follows it with a list `own`.
fn source_and_follower() -> (Lists, Lists, [ListId; 2]) {
    let source = Lists::new(Limits::default());
    let a = source.declare("a", Kind::Integers).unwrap();
    source.change().insert("a", "1").commit().unwrap();
    let lists = Lists::following(&source, Limits::default());
    let own = lists.declare("own", Kind::Integers).unwrap();
    (source, lists, [a, own])
}

#[test]
fn a_change_is_seen_when_it_returns() {
    let (source, lists, [a, own]) = source_and_follower();
    assert_eq!(numbers(&lists, a), [1]);
    lists.change().insert("own", "7").commit().unwrap();
    let generation = lists.load().generation();
    source.change().insert("a", "2").commit().unwrap();
    assert_eq!((numbers(&lists, a), numbers(&lists, own)), (vec![1, 2], vec![7]));
    assert_eq!(lists.load().generation(), generation + 1);
    source.change().replace("a", Entries::from_texts(Kind::Integers, ["3"]).unwrap()).commit().unwrap();
    assert_eq!(numbers(&lists, a), [3]);
    source
        .take_over({
            let fresh = Lists::new(Limits::default());
            fresh.declare("a", Kind::Integers).unwrap();
            fresh.change().insert("a", "4").commit().unwrap();
            fresh
        })
        .unwrap();
    assert_eq!(numbers(&lists, a), [4]);
    // Neither a list that is declared later nor a merge changes what is followed.
    let later = source.declare("own", Kind::Texts).unwrap();
    source.change().insert("own", "text").commit().unwrap();
    source.merge();
    assert_eq!(later, own);
    assert_eq!((numbers(&lists, a), numbers(&lists, own)), (vec![4], vec![7]));
    assert_eq!(lists.load().names(), ["a", "own"]);
}

/// Each change moves the only number of two lists, of which readers see both or none, at one of two followers.
#[test]
fn readers_see_the_generations_of_the_source() {
    let source = Lists::new(Limits::default());
    let [a, b] = ["a", "b"].map(|name| source.declare(name, Kind::Integers).unwrap());
    source.change().insert("a", "0").insert("b", "0").commit().unwrap();
    let first = Lists::following(&source, Limits::default());
    // Of the first follower's.
    let second = Lists::following(&first, Limits::default());
    let own = second.declare("own", Kind::Integers).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for lists in [&first, &second] {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let snapshot = lists.load();
                    let of =
                        |list| (0..64).filter(|number| snapshot.contains_integer(list, *number)).collect::<Vec<_>>();
                    assert_eq!((of(a).len(), of(a)), (1, of(b)));
                }
            });
        }
        // Changes of the follower's own lists meanwhile are not lost.
        let changes = scope.spawn(|| {
            for round in 0..1_000_u32 {
                second.change().insert("own", &(round % 100).to_string()).commit().unwrap();
            }
        });
        for round in 0..2_000_u32 {
            let (old, new) = ((round % 64).to_string(), ((round + 1) % 64).to_string());
            source.change().remove("a", &old).insert("b", &new).insert("a", &new).remove("b", &old).commit().unwrap();
            let snapshot = second.load();
            assert!(snapshot.contains_integer(a, i64::from((round + 1) % 64)));
            if round % 100 == 0 {
                // Followers come and go.
                drop(Lists::following(&source, Limits::default()));
                source.merge();
            }
        }
        changes.join().unwrap();
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(numbers(&second, own).len(), 100);
}

#[test]
fn what_follows_is_changed_at_its_source_only() {
    let (source, lists, [a, own]) = source_and_follower();
    let followed = ListsError::Followed("a".to_owned());
    assert!(lists.is_followed("a") && !lists.is_followed("own") && !lists.is_followed("b") && !source.is_followed("a"));
    let refused = lists.change().insert("own", "5").insert("a", "2").commit().unwrap_err();
    assert_eq!(refused, followed);
    assert_eq!(refused.to_string(), "list `a` follows a list of another `Lists`: change it there");
    assert_eq!(lists.change().remove("a", "1").commit().unwrap_err(), followed);
    assert_eq!(lists.change().replace("a", Entries::new(Kind::Integers)).commit().unwrap_err(), followed);

    // An overlay and what was read anew change own lists only.
    let entries = Entries::from_texts(Kind::Integers, ["9"]).unwrap();
    let mut overlay = Overlay::default();
    let kept = overlay.insert(&lists, "a", &entries, |_| Ok::<(), Infallible>(()));
    assert_eq!(kept.unwrap_err(), followed);
    let ty = ListType::from(Kind::Integers);
    assert_eq!(overlay.mark("a", &ty, &Entry::parse(Kind::Integers, "9").unwrap()), None);
    for list in ["a", "own"] {
        let fresh = || {
            let fresh = Lists::new(Limits::default());
            fresh.declare(list, Kind::Integers).unwrap();
            fresh.change().insert(list, "8").commit().unwrap();
            fresh
        };
        for taken in [lists.take_over(fresh()), lists.take_over_some(fresh())] {
            assert_eq!(taken.err(), (list == "a").then(|| followed.clone()));
        }
    }
    assert_eq!((numbers(&lists, a), numbers(&lists, own)), (vec![1], vec![8]));
    assert_eq!(numbers(&source, a), [1]);
    // A list of the same name and type is that one; of another type it is none.
    assert_eq!(lists.declare("a", Kind::Integers), Ok(a));
    assert!(matches!(lists.declare("a", Kind::Texts), Err(ListsError::Type { .. })));
}

#[test]
fn what_follows_expires_and_counts_with_its_source() {
    let (source, lists, [a, own]) = source_and_follower();
    let end = SystemTime::now() + Duration::from_secs(3_600);
    source.change().insert_until("a", "2", end).commit().unwrap();
    assert_eq!(lists.next_expiry(), None);
    assert_eq!(lists.view_at(end).has_integer(a, 2), Some(false));
    assert_eq!(lists.expire(end).unwrap().removed, 0);
    assert_eq!(source.expire(end).unwrap().removed, 1);
    assert_eq!(lists.load().entries(a).count(), 1);

    let before = source.lookups(a);
    numbers(&lists, a);
    assert_eq!((source.lookups(a), lists.lookups(a)), (before + 100, before + 100));
    // Also in lists that replace these.
    let next = Lists::following(&source, Limits::default());
    next.declare("own", Kind::Integers).unwrap();
    numbers(&lists, own);
    next.take_over_lookups(&lists);
    source.change().insert("a", "5").commit().unwrap();
    numbers(&next, a);
    assert_eq!((next.lookups(a), next.lookups(own)), (before + 200, 100));
}

/// Nobody else keeps the one in the middle.
#[test]
fn what_follows_a_follower_goes_on_without_its_owner() {
    let source = Lists::new(Limits::default());
    let a = source.declare("a", Kind::Integers).unwrap();
    let lists = Lists::following(&Lists::following(&source, Limits::default()), Limits::default());
    source.change().insert("a", "1").commit().unwrap();
    assert_eq!(numbers(&lists, a), [1]);
    // A source without lists has no followers.
    let nothing = Lists::new(Limits::default());
    let lists = Lists::following(&nothing, Limits::default());
    for lists in [&nothing, &lists] {
        lists.declare("x", Kind::Integers).unwrap();
    }
    nothing.change().insert("x", "1").commit().unwrap();
    lists.take_over(nothing).unwrap();
    assert_eq!(lists.load().infos().next().unwrap().entries, 1);
}

#[test]
fn what_follows_is_no_source_of_entries_that_are_taken_over() {
    let (source, lists, [a, _]) = source_and_follower();
    let end = SystemTime::now() + Duration::from_secs(3_600);
    source.change().insert_until("a", "2", end).commit().unwrap();
    assert_eq!(
        source.take_over_some(Lists::following(&source, Limits::default())),
        Err(ListsError::Followed("a".to_owned()))
    );
    assert_eq!((source.next_expiry(), numbers(&lists, a)), (Some(end), vec![1, 2]));
}

/// The overlay is of a time when the list was the policy's own.
#[test]
fn marks_of_a_list_that_follows_now_do_not_count() {
    let (_, lists, [a, own]) = source_and_follower();
    let mut overlay = Overlay::default();
    let before = Lists::new(Limits::default());
    let entries = Entries::from_texts(Kind::Integers, ["9"]).unwrap();
    for list in ["a", "own"] {
        before.declare(list, Kind::Integers).unwrap();
        overlay.insert(&before, list, &entries, |_| Ok::<(), Infallible>(())).unwrap().unwrap();
    }
    let applied = overlay.apply(&lists, SystemTime::now(), |_| true).unwrap();
    overlay.confirm(applied);
    assert_eq!((numbers(&lists, a), numbers(&lists, own)), (vec![1], vec![9]));
}

#[test]
fn limits_count_own_lists() {
    let (source, _, [a, _]) = source_and_follower();
    let mut limits = Limits::default();
    (limits.entries, limits.lists) = (2, 1);
    let lists = Lists::following(&source, limits);
    lists.declare("own", Kind::Integers).unwrap();
    source.change().replace("a", Entries::from_texts(Kind::Integers, ["1", "2", "3"]).unwrap()).commit().unwrap();
    lists.change().insert("own", "1").insert("own", "2").commit().unwrap();
    let error = lists.change().insert("own", "3").commit().unwrap_err();
    assert_eq!(error, ListsError::Limit { what: "entries", wanted: 3, limit: 2 });
    let error = lists.declare("other", Kind::Integers).unwrap_err();
    assert_eq!(error, ListsError::Limit { what: "lists", wanted: 2, limit: 1 });
    assert_eq!(numbers(&lists, a), [1, 2, 3]);
}
