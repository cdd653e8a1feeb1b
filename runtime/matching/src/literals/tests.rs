//! Against a search for each key.

use super::*;
use crate::testing::{Rng, STRIDE, distinct};

fn found<const IGNORE_CASE: bool>(map: &LiteralMap<IGNORE_CASE>, text: &[u8]) -> Vec<u32> {
    let [ids, may_end] = [false, true].map(|may_end| {
        let mut ids = Vec::new();
        assert!(scanned(map, text, usize::MAX / 4, may_end, |id| ids.push(id)));
        ids.sort_unstable();
        ids
    });
    assert_eq!(ids, may_end, "{text:?}");
    ids
}

/// Scans a text, its start first if the search may end there, and returns whether the steps sufficed.
fn scanned<const IGNORE_CASE: bool>(
    map: &LiteralMap<IGNORE_CASE>,
    text: &[u8],
    steps: usize,
    may_end: bool,
    mut hit: impl FnMut(u32),
) -> bool {
    let each = |id, _: Option<usize>| {
        hit(id);
        ControlFlow::Continue(())
    };
    let scan = if may_end { LiteralMap::scan_within::<true> } else { LiteralMap::scan_within::<false> };
    let limit = usize::MAX / 2;
    scan(map, text, &mut Steps { taken: limit.wrapping_sub(steps), limit }, each).is_ok()
}

/// The ids that a search within the usual number of steps finds, once each.
fn found_in_bounded_steps<const IGNORE_CASE: bool>(map: &LiteralMap<IGNORE_CASE>, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    map.for_each(text, |id| ids.push(id));
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The ids of the keys by how often they occur, those of one byte once.
fn right<const IGNORE_CASE: bool>(keys: &[Vec<u8>], text: &[u8]) -> Vec<u32> {
    let same = |a: &[u8], b: &[u8]| if IGNORE_CASE { a.eq_ignore_ascii_case(b) } else { a == b };
    let times = |key: &Vec<u8>| {
        let times = text.windows(key.len()).filter(|part| same(part, key)).count();
        if key.len() == 1 { times.min(1) } else { times }
    };
    (0..).zip(keys).flat_map(|(id, key)| vec![id; times(key)]).collect()
}

/// Searches with the instructions of each level that the processor has, as far as levels differ,
/// and with the automaton.
///
/// Texts are copied to allocations of exactly their size, so that reading beyond their end is
/// noticed by tools that look for it.
fn check<const IGNORE_CASE: bool>(keys: &[Vec<u8>], texts: &[Vec<u8>]) {
    let maps = LiteralLevel::ALL.map(|level| LiteralMap::<IGNORE_CASE>::with_level(keys, level).unwrap());
    for text in texts {
        let text: Box<[u8]> = text[..].into();
        let mut right = right::<IGNORE_CASE>(keys, &text);
        for (map, level) in maps.iter().zip(LiteralLevel::ALL) {
            assert_eq!(found(map, &text), right, "{level:?}: {text:?} in {keys:?}");
            assert_eq!(map.any(&text), !right.is_empty(), "{level:?}: {text:?} in {keys:?}");
        }
        right.dedup();
        assert_eq!(found_by_automaton(&maps[0], &text), right, "automaton: {text:?} in {keys:?}");
        for (map, level) in maps.iter().zip(LiteralLevel::ALL) {
            assert_eq!(found_in_bounded_steps(map, &text), right, "bounded, {level:?}: {text:?} in {keys:?}");
        }
    }
    if IGNORE_CASE {
        check_both_cases(keys, texts);
    }
}

/// Searches for keys of which every second matches only in its own case: some of these with upper case.
fn check_both_cases(keys: &[Vec<u8>], texts: &[Vec<u8>]) {
    let exact = keys.iter().enumerate().filter(|(n, _)| n % 2 == 0);
    let exact: Vec<_> = exact.map(|(n, key)| if n % 4 == 0 { key.clone() } else { key.to_ascii_uppercase() }).collect();
    let others: Vec<_> = keys.iter().skip(1).step_by(2).cloned().collect();
    let maps = LiteralLevel::ALL.map(|level| LiteralMap::<true>::build(&exact, &others, level).unwrap());
    for text in texts {
        let ids = right::<true>(&others, text).into_iter().map(|id| id.saturating_add(exact.len() as u32));
        let mut right: Vec<u32> = right::<false>(&exact, text).into_iter().chain(ids).collect();
        for (map, level) in maps.iter().zip(LiteralLevel::ALL) {
            assert_eq!(found(map, text), right, "{level:?}: {text:?} in {exact:?}, {others:?}");
            assert_eq!(map.any(text), !right.is_empty(), "{level:?}: {text:?} in {exact:?}, {others:?}");
        }
        right.dedup();
        assert_eq!(found_by_automaton(&maps[0], text), right, "automaton: {text:?} in {exact:?}, {others:?}");
        for (map, level) in maps.iter().zip(LiteralLevel::ALL) {
            let bounded = found_in_bounded_steps(map, text);
            assert_eq!(bounded, right, "bounded, {level:?}: {text:?} in {exact:?}, {others:?}");
        }
    }
}

fn found_by_automaton<const IGNORE_CASE: bool>(map: &LiteralMap<IGNORE_CASE>, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    let (end, steps) = map.search_linear(text, 0, |id| {
        ids.push(id);
        ControlFlow::Continue(())
    });
    // Two automata, where case counts for some keys.
    assert!(end.is_continue() && steps <= text.len().saturating_mul(4));
    ids.sort_unstable();
    ids
}

#[test]
fn agrees_with_a_search_for_each_key() {
    let mut rng = Rng::new(1);
    for alphabet in [&b"a"[..], b"ab", b"aAb@`[{", b"abc\xff\xdf\0 ", b"abcdefghijklmnopqrstuvwxyzABCDE0123456789-/."] {
        for shortest in [1, 2, 3, 4, 5, 7].into_iter().step_by(STRIDE) {
            for longest in [8, 12, 40] {
                for most in [7, 40, 120].into_iter().step_by(STRIDE) {
                    let mut key = || [rng.text(longest - shortest, alphabet), vec![alphabet[0]; shortest]].concat();
                    let keys = distinct((0..most).map(|_| key()));
                    let mut texts: Vec<_> = (0..10).map(|_| rng.text(150, alphabet)).collect();
                    for key in keys.iter().step_by(1 + keys.len() / 5) {
                        texts.push([&rng.text(40, alphabet)[..], key, &rng.text(40, alphabet)].concat());
                        texts.push(key.clone());
                    }
                    texts.push(Vec::new());
                    check::<false>(&keys, &texts);
                    let small = distinct(keys.iter().map(|key| key.to_ascii_lowercase()));
                    check::<true>(&small, &texts);
                }
            }
        }
    }
}

#[test]
fn sets_of_every_size_agree_with_a_search_for_each_key() {
    let mut rng = Rng::new(5);
    for (most, longest) in [(48, 3), (60, 6), (300, 5), (1_000, 12), (2_500, 9)].into_iter().step_by(STRIDE) {
        let keys = distinct((0..most).map(|_| [rng.text(longest, b"abcdefgh0/"), b"xy".to_vec()].concat()));
        let texts: Vec<_> = (0..6).map(|_| [rng.text(700, b"abcdefghxyABXY0/"), b"xy".to_vec()].concat()).collect();
        check::<false>(&keys, &texts);
        check::<true>(&keys, &texts);
    }
}

#[test]
fn a_key_is_found_at_every_place() {
    for key in ["ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefghijk"] {
        for before in (0..70)
            .chain(120..150)
            .chain(250..262)
            .chain(284..292)
            .chain([319, 320, 321])
            .chain(570..580)
            .chain([700])
            .step_by(STRIDE)
        {
            for after in (0..4).chain([17, 39]) {
                let text = [&vec![b'.'; before][..], key.as_bytes(), &vec![b'.'; after]].concat();
                check::<false>(&[key.into()], std::slice::from_ref(&text));
                check::<true>(&[key.into()], &[text.to_ascii_uppercase()]);
            }
        }
    }
}

#[test]
fn a_search_ends_where_the_visitor_wants_no_more() {
    let map = LiteralMap::<false>::new(&["a", "bc", "def", "ghij", "klmnop", "qrstuvwxyz"]).unwrap();
    for key in ["a", "bc", "def", "ghij", "klmnop", "qrstuvwxyz"] {
        let text = format!("{} ", key).repeat(1_000);
        let mut hits = 0;
        let end = map.try_for_each(text.as_bytes(), |_| {
            hits += 1;
            if hits == 3 || key == "a" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(end.is_break() && map.any(text.as_bytes()), "{key}");
        assert_eq!(hits, if key == "a" { 1 } else { 3 }, "{key}");
    }
    assert!(!map.any(b"0123456789") && !map.any(b""));
    assert!(map.try_for_each(b"a bc def", |_| ControlFlow::Continue(())).is_continue());
}

#[test]
fn long_keys_and_texts_are_compared_whole() {
    let key = b"0123456789".repeat(1_000);
    let mut other = key.clone();
    *other.last_mut().unwrap() = b'x';
    let short = key[..9_999].to_vec();
    check::<false>(&[key.clone(), other.clone()], &[key, other, short]);
}

#[test]
fn zeros_after_the_end_are_not_text() {
    for key in [&b"ab\0"[..], b"ab\0\0", b"ab ", b"ab\0\0\0\0\0\0\0\0", b"\0\0"] {
        let texts = [&b"ab"[..], b"xxxxxxxxxab", b"ab\0", b"", b"\0"].map(<[u8]>::to_vec);
        check::<false>(&[key.to_vec()], &texts);
        check::<true>(&[key.to_vec()], &texts);
    }
}

#[test]
fn too_many_steps_are_given_up() {
    // All these keys have the same anchor.
    let keys: Vec<Vec<u8>> = (8..500).map(|length| vec![b'a'; length]).collect();
    let map = LiteralMap::<false>::new(&keys).unwrap();
    let text = vec![b'a'; 1_000];
    let mut hits = 0;
    assert!(!scanned(&map, &text, 10_000, false, |_| hits += 1));
    assert!(0 < hits && hits <= 10_000, "{hits}");
    assert!(scanned(&map, &text, 10_000_000, false, |_| ()));
    assert!(scanned(&map, b"nothing of it", 0, true, |_| ()));
    // Then each key is searched for separately.
    for (text, folded) in [(vec![b'a'; 1_000], false), (vec![b'A'; 300], true)] {
        let (mut ids, many) = (Vec::new(), text.len().min(499) - 7);
        if folded {
            let _ = LiteralMap::<true>::new(&keys).unwrap().search_linear(&text, 0, |id| {
                ids.push(id);
                ControlFlow::Continue(())
            });
        } else {
            map.for_each(&text, |id| ids.push(id));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids, (0..many as u32).collect::<Vec<_>>());
    }
}

#[test]
fn keys_are_found_wherever_the_steps_end() {
    let rare = |n: usize| b"0123456789"[n % 10];
    // Too many keys with one anchor; keys with a rare anchor far from their start, and keys for scans of their own.
    let nested = (2..60).map(|length| vec![b'a'; length]);
    let far =
        (0..25).map(|n| [vec![b'a'; 10 * n + 3], vec![rare(n), b'#', rare(n / 10), b'%', b'Q', b'Z', b'~']].concat());
    let short = (0..200).map(|n| vec![b"xyzuv"[n / 40], b'(' + (n % 40) as u8]);
    let keys: Vec<Vec<u8>> = nested.chain(far).chain(short).collect();
    let (exact, others) = keys.split_at(keys.len() / 2);
    let lower: Vec<_> = others.iter().map(|key| key.to_ascii_lowercase()).collect();
    let maps = LiteralLevel::ALL.map(|level| {
        let both = LiteralMap::<true>::build(exact, &lower, level).unwrap();
        (level, LiteralMap::<false>::with_level(&keys, level).unwrap(), both)
    });
    for before in [0_usize, 1, 64, 255, 256, 511, 700, 980, 1_030] {
        for key in keys.iter().skip(40).step_by(11) {
            // The key begins far before, at, in and after the bytes that use up the steps.
            for at in [before.saturating_sub(450), before, before + 40, before + 300] {
                let mut text = [vec![b'.'; before], vec![b'a'; 300], vec![b'.'; 300]].concat();
                text.splice(at..at + key.len(), key.clone());
                let mut ids: Vec<u32> = right::<false>(&keys, &text);
                ids.dedup();
                for (level, map, both) in &maps {
                    assert_eq!(found_in_bounded_steps(map, &text), ids, "{level:?}, {before}, {at}, {key:?}");
                    let folded = right::<true>(&lower, &text).into_iter().map(|id| id + exact.len() as u32);
                    let mut ids: Vec<u32> = right::<false>(exact, &text).into_iter().chain(folded).collect();
                    ids.dedup();
                    assert_eq!(
                        found_in_bounded_steps(both, &text),
                        ids,
                        "both cases, {level:?}, {before}, {at}, {key:?}"
                    );
                }
            }
        }
    }
    assert!(maps.iter().all(|(_, map, both)| map.automata.get().is_some() && both.automata.get().is_some()));
}

#[test]
fn keys_with_much_in_common_are_told_apart() {
    let keys: Vec<Vec<u8>> = (0..10_000).map(|n| format!("/api/v1/tenants/{n:08}/reports/").into_bytes()).collect();
    let map = LiteralMap::<false>::new(&keys).unwrap();
    for (id, key) in (0..).zip(&keys).step_by(97) {
        let mut ids = Vec::new();
        assert!(scanned(&map, key, 200, true, |id| ids.push(id)));
        assert_eq!(ids, [id]);
    }
}

#[test]
fn many_keys_are_small() {
    let mut rng = Rng::new(3);
    let keys = distinct((0..100_000).map(|n| format!("{:x}{n}", rng.word() & 0xffff_ffff).into_bytes()));
    let map = LiteralMap::<true>::new(&keys).unwrap();
    for (id, key) in (0..).zip(&keys).step_by(31) {
        let text = [b"Mozilla/5.0 (", &key.to_ascii_uppercase()[..], b"/1.0)"].concat();
        assert!(found(&map, &text).contains(&id));
    }
    let own: usize = keys.iter().map(Vec::len).sum();
    assert!(map.heap_bytes() < own + 40 * keys.len() + (1 << 19), "{} for {own}", map.heap_bytes());
}
