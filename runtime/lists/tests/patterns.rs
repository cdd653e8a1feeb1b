//! Lists of regular expressions and wildcards: what they may hold, what is wrong with entries, and
//! who pays for searches.

#![expect(clippy::unwrap_used, reason = "a test")]

use celero_lists::{
    Entries, Entry, EntryValue, Format, Kind, Limits, ListType, Lists, ListsError, MAX_COMPILED_BYTES, MAX_PATTERNS,
    Meter, ScalarRef, WrongEntries,
};
use std::cell::Cell;
use std::fmt::Write;

/// A list of this type with these entries.
fn list(ty: &str, entries: &[&str]) -> Lists {
    let lists = Lists::new(Limits::default());
    lists.declare("list", ty.parse::<ListType>().unwrap()).unwrap();
    let mut change = lists.change();
    for entry in entries {
        change = change.insert("list", entry);
    }
    change.commit().unwrap();
    lists
}

fn has(lists: &Lists, text: &[u8]) -> bool {
    let snapshot = lists.load();
    snapshot.contains_text(snapshot.find("list").unwrap().0, text)
}

#[test]
fn patterns_are_searched_for_and_wildcards_are_whole() {
    let patterns = list("patterns", &["^/admin/", r"\.php$", "(?i)select.*from", "ä+b"]);
    for (text, expected) in [
        ("/admin/x", true),
        ("/x/admin/", false),
        ("/x.php", true),
        ("/x.php/", false),
        ("q=SELECT a FROM b", true),
        ("ääb", true),
        ("é /admin/", false),
        ("é.php", true),
        ("", false),
    ] {
        assert_eq!(has(&patterns, text.as_bytes()), expected, "{text}");
    }
    let wildcards = list("wildcards", &["/admin/*", "*.php", "/a*/b*c", r"/\*", "/é*"]);
    for (text, expected) in [
        ("/admin/", true),
        ("/admin", false),
        ("x/admin/", false),
        ("/x.php", true),
        ("/x.php5", false),
        ("/a//bc", true),
        ("/a\n/b\nc", true),
        ("/ab", false),
        ("/*", true),
        ("/x", false),
        ("/éa", true),
        ("/ADMIN/", false),
    ] {
        assert_eq!(has(&wildcards, text.as_bytes()), expected, "{text}");
    }
    // What is no UTF-8 doesn't hide the rest.
    assert!(has(&patterns, b"\xff\xfe.php") && has(&patterns, b"/admin/\xff") && !has(&patterns, b"\xff"));
    assert!(has(&wildcards, b"/admin/\xff") && has(&wildcards, b"\xc3.php"));
}

#[test]
fn the_longest_entry_has_the_value() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("list", "wildcards:string".parse::<ListType>().unwrap()).unwrap();
    let mut change = lists.change();
    for (entry, value) in [("*", "all"), ("/api/*", "api"), ("/api/admin/*", "admin"), ("*.php", "php")] {
        change = change.insert_value("list", entry, value, None);
    }
    change.commit().unwrap();
    let value = |text: &str| {
        let snapshot = lists.load();
        let entry = snapshot.find_text(id, text.as_bytes()).unwrap();
        match snapshot.value(id, entry, 0) {
            Some(ScalarRef::Text(text)) => text.to_owned(),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(
        ["/x", "/api/", "/api/admin/x.php", "/x.php"].map(value),
        ["all", "api", "admin", "php"].map(str::to_owned)
    );
    lists.change().remove("list", "/api/admin/*").commit().unwrap();
    assert_eq!(value("/api/admin/x.php"), "api");
}

#[test]
fn every_wrong_pattern_is_named_with_its_line() {
    let read = |kind, text: &str| Entries::parse(kind, Format::Lines, text);
    let wrong =
        read(Kind::Patterns, "# paths\n^/a\n(\n\n\\pL{1000}\n[z-a] # no range\n^\\w+@\\w+\\.\\w+$\n").unwrap_err();
    let said: Vec<String> = wrong.listed().iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(said[0], "line 3: \"(\": not a regular expression: unclosed group, at byte 0");
    assert!(said[1].starts_with("line 5: ") && said[1].contains("exceeds the size limit of 2097152 bytes"), "{said:?}");
    assert!(said[2].starts_with("line 6: \"[z-a]\": "), "{said:?}");
    let wrong = read(Kind::Wildcards, "/a/**\n/a/*\n\\d\n").unwrap_err();
    assert_eq!(wrong.listed().iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [Some(1), Some(3)]);
    let lists = list("patterns", &["a"]);
    let refused = lists.change().insert("list", "b").insert("list", "(").commit().unwrap_err();
    assert_eq!(refused.to_string(), "list `list`: \"(\": not a regular expression: unclosed group, at byte 0");
    assert!(has(&lists, b"a") && !has(&lists, b"b"));
}

/// The error of a text with more entries, and of changes that lead to more.
#[test]
fn the_number_of_entries_is_bounded() {
    let many = |count: usize, entry: &str| {
        (0..count).fold(String::new(), |mut text, number| {
            writeln!(text, "{entry}{number}").unwrap();
            text
        })
    };
    let read = |text: &str| Entries::parse(Kind::Wildcards, Format::Lines, text);
    let exceeds = |wrong: &WrongEntries| wrong.listed().iter().map(ToString::to_string).collect::<Vec<_>>();
    let wrong = read(&many(MAX_PATTERNS + 5, "/a/*/")).unwrap_err();
    let line = MAX_PATTERNS + 1;
    let said = format!("line {line}: \"/a/*/{MAX_PATTERNS}\": more than 10000 entries, with equal and wrong ones");
    assert_eq!(exceeds(&wrong), [said]);
    // Wrong entries are not read without end either.
    assert_eq!(read(&many(MAX_PATTERNS + 5, "**")).unwrap_err().count(), MAX_PATTERNS + 1);

    let lists = Lists::new(Limits::default());
    lists.declare("list", Kind::Wildcards).unwrap();
    lists.change().replace("list", read(&many(MAX_PATTERNS, "/a/*/")).unwrap()).commit().unwrap();
    assert!(has(&lists, b"/a/b/17") && !has(&lists, b"/a/b/"));
    let refused = lists.change().insert("list", "/b").commit().unwrap_err();
    let (wanted, limit) = (MAX_PATTERNS + 1, MAX_PATTERNS);
    assert_eq!(refused, ListsError::Limit { what: "entries in a list", wanted, limit });
    lists.change().remove("list", "/a/*/0").insert("list", "/b").commit().unwrap();
    assert!(has(&lists, b"/b") && !has(&lists, b"/a/b/0"));
    let mut both = read(&many(MAX_PATTERNS, "/a/*/")).unwrap();
    let insert = |entries: &mut Entries| entries.insert("/b", EntryValue::default()).unwrap_err().to_string();
    assert!([(); 2].iter().all(|()| insert(&mut both).contains("more than 10000 entries")));
    both.append(read(&many(1, "/c")).unwrap());
    assert!(matches!(lists.change().replace("list", both).commit(), Err(ListsError::Limit { .. })));
}

#[test]
fn the_memory_of_compiled_patterns_is_bounded() {
    let is_pattern = |width: &usize| Entry::parse(Kind::Patterns, &format!(r"\pL{{{width}}}0")).is_ok();
    let width = (1..64).rev().find(is_pattern).unwrap();
    let large = |number: usize| format!(r"\pL{{{width}}}{number}");
    let lists = list("patterns", &[&large(0)]);
    let one = lists.load().infos().next().unwrap().bytes;
    assert!(one > 500_000, "{one}");
    let count = MAX_COMPILED_BYTES / one + 20;
    let all = (0..count).map(large);
    let refused =
        lists.change().replace("list", Entries::from_texts(Kind::Patterns, all).unwrap()).commit().unwrap_err();
    assert!(refused.to_string().contains("bytes of compiled patterns in a list, more than the limit of"), "{refused}");
    // Also in steps.
    let mut number = 1;
    let refused = loop {
        let step = (number..number + 16).fold(lists.change(), |change, number| change.insert("list", &large(number)));
        match step.commit() {
            Ok(_) => number += 16,
            Err(refused) => break refused,
        }
        assert!(number < count);
    };
    assert!(matches!(refused, ListsError::Limit { limit: MAX_COMPILED_BYTES, .. }), "{refused}");
    let text = |number: usize| format!("{}{number}", "a".repeat(width));
    assert!(has(&lists, text(number - 1).as_bytes()) && number > 40);
    let info = lists.load().infos().next().unwrap();
    assert!(info.entries == number && info.bytes > MAX_COMPILED_BYTES / 2, "{info:?}");
    // What is removed makes room.
    (0..16).fold(lists.change(), |change, number| change.remove("list", &large(number))).commit().unwrap();
    (0..15).fold(lists.change(), |change, at| change.insert("list", &large(number + at))).commit().unwrap();
    assert!(has(&lists, text(number + 14).as_bytes()) && !has(&lists, format!("-{}", text(0)).as_bytes()));
    assert_eq!(lists.load().infos().next().unwrap().entries, number - 1);
}

#[test]
fn the_memory_of_wildcards_is_bounded() {
    // Few bytes, and many searchers.
    let lists = list("wildcards", &[]);
    let many = (0..MAX_PATTERNS).map(|number| format!("{}{number}", "*a".repeat(64)));
    let many = Entries::from_texts(Kind::Wildcards, many).unwrap();
    let refused = lists.change().replace("list", many).commit().unwrap_err();
    assert!(matches!(refused, ListsError::Limit { limit: MAX_COMPILED_BYTES, .. }), "{refused}");
    let wrong = Entry::parse(Kind::Wildcards, &"*a".repeat(65)).unwrap_err();
    assert_eq!(wrong, "more than 64 stars");
}

/// However they are given: in a text, as equal lines too, in collections that are joined, and in
/// changes, one after the other or in one.
#[test]
fn the_time_for_letter_cases_is_bounded() {
    let slow = |number: usize| format!(r"(?i){}{number}", r"[B-\x{10FFFF}]?".repeat(225));
    let lines = |number: &dyn Fn(usize) -> usize| -> String { (0..200).map(|at| slow(number(at)) + "\n").collect() };
    let read = |text: &str| Entries::parse(Kind::Patterns, Format::Lines, text);
    for text in [lines(&|at| at), lines(&|_| 7)] {
        let wrong = read(&text).unwrap_err();
        assert_eq!(wrong.count(), 1);
        let first = &wrong.listed()[0];
        assert!(first.line < Some(30) && first.reason.contains("4000000 steps"), "{first}");
    }
    // Classes of few characters, and those that regard case, cost little.
    let cheap: String = (0..300).map(|at| format!("(?i)[a-z_]+{at}\n[\\s\\S]{at}\n")).collect();
    assert_eq!(read(&cheap).unwrap().len(), 600);

    let few = |from: usize| Entries::from_texts(Kind::Patterns, (from..from + 10).map(slow)).unwrap();
    let mut joined = few(0);
    joined.append(few(10));
    assert!(joined.insert("a", EntryValue::default()).unwrap_err().to_string().contains("4000000 steps"));
    let lists = Lists::new(Limits::default());
    lists.declare("list", Kind::Patterns).unwrap();
    let exceeds = |refused: &ListsError| {
        let what = "steps for letter cases of the patterns in a list";
        assert!(matches!(refused, ListsError::Limit { what: own, limit: 4_000_000, .. } if *own == what), "{refused}");
    };
    exceeds(&lists.change().replace("list", joined).commit().unwrap_err());
    let one = (0..200).fold(lists.change(), |change, number| change.insert("list", &slow(number)));
    let refused = one.commit().unwrap_err();
    assert!(matches!(&refused, ListsError::Entries(wrong) if wrong.count() == 1), "{refused}");
    lists.change().replace("list", few(0)).commit().unwrap();
    let more = (10..20).fold(lists.change(), |change, number| change.insert("list", &slow(number)));
    exceeds(&more.commit().unwrap_err());
    assert!(has(&lists, b"abc3") && lists.load().infos().next().unwrap().entries == 10);
}

/// Has a number of steps.
struct Steps(Cell<usize>);

impl Meter for Steps {
    type Error = ();

    fn charge(&self, steps: usize) -> Result<(), ()> {
        self.0.set(self.0.get().checked_sub(steps).ok_or(())?);
        Ok(())
    }
}

#[test]
fn searches_are_paid_for() {
    // No table decides it, and a text of its letters makes it slow.
    let slow = list("patterns:int", &[]);
    slow.change().insert_value("list", "(?:a.{60}b|b.{60}c|c.{60}a)$", 1, None).commit().unwrap();
    let snapshot = slow.load();
    let id = snapshot.find("list").unwrap().0;
    let ascii: String = ["a", "b", "c", "ab"].iter().cycle().take(20_000).copied().collect();
    for text in [ascii.clone(), format!("{ascii}é")] {
        let all = Steps(Cell::new(usize::MAX));
        let has = snapshot.has_text_metered(id, text.as_bytes(), &all).unwrap().unwrap();
        let found = snapshot.find_text_metered(id, text.as_bytes(), &all).unwrap();
        assert_eq!((has, found.is_some()), (snapshot.contains_text(id, text.as_bytes()), has));
        assert!(usize::MAX - all.0.get() > text.len() / 4, "{}", usize::MAX - all.0.get());
        for steps in [0, 10, text.len() / 9] {
            let few = || Steps(Cell::new(steps));
            assert_eq!(snapshot.has_text_metered(id, text.as_bytes(), &few()), Err(()), "{steps}");
            assert_eq!(snapshot.find_text_metered(id, text.as_bytes(), &few()), Err(()), "{steps}");
        }
    }
    let texts = list("texts", &["a"]);
    let snapshot = texts.load();
    let id = snapshot.find("list").unwrap().0;
    assert_eq!(snapshot.has_text_metered(id, b"a", &Steps(Cell::new(0))), Ok(Some(true)));
}

/// In short texts too, whether one search finds them all or each is searched for.
#[test]
fn each_entry_that_matches_is_paid_for() {
    let patterns: Vec<String> = (0..1_000).map(|number| format!("(?:{number})?")).collect();
    let wildcards: Vec<String> = (0..50).map(|count| "a".repeat(count) + "*").collect();
    for (ty, entries, text) in [("patterns", patterns, "a".to_owned()), ("wildcards", wildcards, "a".repeat(50))] {
        let lists = list(ty, &entries.iter().map(String::as_str).collect::<Vec<_>>());
        let snapshot = lists.load();
        let id = snapshot.find("list").unwrap().0;
        let all = Steps(Cell::new(usize::MAX));
        assert!(snapshot.find_text_metered(id, text.as_bytes(), &all).unwrap().is_some());
        let spent = usize::MAX - all.0.get();
        assert!(spent >= entries.len(), "{ty} {spent}");
        let few = Steps(Cell::new(entries.len() / 2));
        assert_eq!(snapshot.find_text_metered(id, text.as_bytes(), &few), Err(()), "{ty}");
    }
}

/// A removal waits for no compilation, however many there are.
#[test]
fn removals_compile_nothing() {
    let lists = list("patterns", &["a", "b", "c", "d"]);
    let levels = || lists.load().infos().next().unwrap().levels;
    assert_eq!(levels(), 1);
    for entry in ["a", "b", "c"] {
        lists.change().remove("list", entry).commit().unwrap();
        assert_eq!(levels(), 2, "{entry}");
    }
    assert!(has(&lists, b"d") && !has(&lists, b"abc"));
    lists.change().insert("list", "e").commit().unwrap();
    assert_eq!(levels(), 1);
    assert!(has(&lists, b"e") && has(&lists, b"d") && !has(&lists, b"abc"));
}
