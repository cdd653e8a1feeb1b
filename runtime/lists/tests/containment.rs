//! Which entries contain a value, and which are superfluous: the same as the list of all.
#![cfg(feature = "files")]
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_lists::{Entries, Entry, Format, Kind, Limits, ListType, Lists};

fn entries(kind: Kind, texts: &[&str]) -> Entries {
    Entries::from_texts(kind, texts).unwrap()
}

#[test]
fn superfluous_entries_are_found() {
    for (kind, texts, expected) in [
        (
            Kind::Addresses,
            &["10.1.0.0/16", "10.0.0.0/8", "::/0", "10.1.2.3", "10.0.0.0/8", "192.0.2.1", "2001:db8::1"][..],
            &[(0, 1), (3, 1), (4, 1), (6, 2)][..],
        ),
        (Kind::Integers, &["5", "1..9", "8..12", "9..10", "1..9"], &[(0, 1), (3, 2), (4, 1)]),
        (
            Kind::Hosts,
            &[
                "a.example.com",
                "*.example.com",
                "example.com",
                "*.b.example.com",
                "A.example.com",
                "*.com",
                "x.org",
                "x.org",
            ],
            &[(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (7, 6)],
        ),
        (Kind::Texts, &["a", "A", "a", "b"], &[(2, 0)]),
        (Kind::TextsIgnoringCase, &["a", "A"], &[(1, 0)]),
    ] {
        let found: Vec<_> = entries(kind, texts).covered().iter().map(|found| (found.index, found.by)).collect();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn only_what_changes_no_value_is_superfluous() {
    for (ty, entries, expected) in [
        (
            "addresses:string",
            &[
                ("10.0.0.0/8", "a"),
                ("10.1.0.0/16", "b"),
                // The closest network around it has another value.
                ("10.1.1.0/24", "a"),
                ("10.1.1.7", "a"),
                ("10.2.0.0/16", "a"),
                ("2001:db8::/32", "a"),
            ][..],
            &[(3, 2), (4, 0)][..],
        ),
        // Of equal entries the last one counts.
        ("addresses:string", &[("10.0.0.0/8", "a"), ("10.0.0.0/8", "b"), ("10.1.0.0/16", "a")], &[(0, 1)]),
        (
            "hosts:string",
            &[("*.example", "a"), ("*.b.example", "b"), ("c.b.example", "b"), ("d.b.example", "a"), ("b.example", "a")],
            &[(2, 1), (4, 0)],
        ),
        ("texts:string", &[("x", "a"), ("y", "a"), ("x", "a")], &[(0, 2)]),
        ("integers:string", &[("1..9", "a"), ("2..3", "a")], &[]),
    ] {
        let mut all = Entries::new(ty.parse::<ListType>().unwrap());
        for (entry, value) in entries {
            all.insert(entry, *value).unwrap();
        }
        let found: Vec<_> = all.covered().iter().map(|found| (found.index, found.by)).collect();
        assert_eq!(found, expected, "{ty}");
        let values: Vec<String> = all.values().iter().map(|value| format!("{value:?}")).collect();
        let expected: Vec<String> = entries.iter().map(|(_, value)| format!("[Some(Text({value:?}))]")).collect();
        assert_eq!(values, expected);
    }
    assert!(entries(Kind::Texts, &["a"]).values().iter().all(|value| value.is_empty()));
}

/// Each entry by itself, and without superfluous ones, as the list of all.
#[test]
fn entries_contain_what_their_list_does() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut pick = |texts: &[&str]| texts.get(random.usize(..texts.len())).map_or(String::new(), |&t| t.to_owned());
    for _ in 0..2_000 {
        for kind in Kind::ALL {
            let (of, asked): (&[&str], &[&str]) = match kind {
                Kind::Addresses => (
                    &["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "::/0", "2001:db8::/32", "0.0.0.0/0", "10.1.2.0/31"],
                    &["10.1.2.3", "10.9.9.9", "::ffff:10.1.2.2", "2001:db8::7", "::1", "192.0.2.1"],
                ),
                Kind::Hosts => (
                    &["a.b.c", "*.b.c", "b.c", "*.c", "x-b.c"],
                    &["a.b.c", "A.B.C:80", "b.c.", "c", ".b.c", "z.a.b.c", "x-b.c", "", "ab.c"],
                ),
                Kind::Integers => (&["1", "0..5", "3..9", "-2..0"], &["1", "-2", "9", "10", "4"]),
                Kind::Patterns => (
                    &["a", "^A", "b$", "(?i)ab", "[ä-ü]", "a.b", r"\*"],
                    &["a", "A", "ab", "AB", "*a", "b", "", "ä", "aüb", "a\nb"],
                ),
                Kind::Wildcards => {
                    (&["a", "A*", "*b", "*ä*", "a*b", r"\**", "*"], &["a", "A", "ab", "AB", "*a", "", "äb", "aüb"])
                }
                _ => (&["a", "A", "ab", "*a", "ä"], &["a", "A", "ab", "AB", "*a", "b", "", "Ä"]),
            };
            let texts: Vec<String> = (0..4).map(|_| pick(of)).collect();
            let all = Entries::from_texts(kind, &texts).unwrap();
            let covered: Vec<usize> = all.covered().iter().map(|covered| covered.index).collect();
            let needed = texts.iter().enumerate().filter(|(index, _)| !covered.contains(index)).map(|(_, text)| text);
            let needed = Entries::from_texts(kind, needed).unwrap();
            let lists = Lists::new(Limits::default());
            let [whole, part] = [("whole", all.clone()), ("part", needed)].map(|(name, entries)| {
                let id = lists.declare(name, kind).unwrap();
                lists.change().replace(name, entries).commit().unwrap();
                id
            });
            let (snapshot, value) = (lists.load(), pick(asked));
            let [whole, part] = [whole, part].map(|id| match kind {
                Kind::Addresses => snapshot.contains_address(id, value.parse().unwrap()),
                Kind::Integers => snapshot.contains_integer(id, value.parse().unwrap()),
                _ => snapshot.contains_text(id, value.as_bytes()),
            });
            let any = all.iter().any(|entry| entry.contains(kind, &value) == Some(true));
            assert_eq!((any, part), (whole, whole), "{kind} {texts:?} {value:?}");
        }
    }
    let entry = |kind, text| Entry::parse(kind, text).unwrap();
    assert_eq!(entry(Kind::Addresses, "10.0.0.0/8").contains(Kind::Addresses, "x"), None);
    // Nothing but stars.
    for text in ["*", "**"] {
        assert_eq!(entry(Kind::Texts, text).contains(Kind::Texts, text), Some(true));
        assert_eq!(entry(Kind::Texts, text).contains(Kind::Texts, "a"), Some(false));
    }
    assert_eq!(entry(Kind::Integers, "1").contains(Kind::Integers, "x"), None);
}

#[test]
fn entries_know_their_lines() {
    let entries = Entries::parse(Kind::Addresses, Format::Lines, "# a\n192.0.2.1..192.0.2.2\n\n10.0.0.0/8\n").unwrap();
    assert_eq!(entries.with_lines().map(|(_, line)| line).collect::<Vec<_>>(), [Some(2), Some(2), Some(4)]);
    let mut more = Entries::new(Kind::Addresses);
    more.append(entries);
    assert_eq!(more.with_lines().count(), 3);
}
