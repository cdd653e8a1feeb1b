//! Generations, limits, mistakes, files.

use celero_lists::{Entries, Entry, EntryValue, Format, Kind, Limits, ListType, Lists, ListsError, ScalarRef};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

#[test]
fn a_reader_sees_one_generation_of_all_lists() {
    let lists = Lists::new(Limits::default());
    let a = lists.declare("a", Kind::Integers).unwrap();
    let b = lists.declare("b", Kind::Texts).unwrap();
    lists.change().insert("a", "0").insert("b", "0").commit().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                let (mut last, mut generations) = (0, 0_u64);
                while !done.load(Ordering::Relaxed) {
                    let snapshot = lists.load();
                    assert!(snapshot.generation() >= last);
                    generations += u64::from(snapshot.generation() > last);
                    last = snapshot.generation();
                    // Each change moves the only number of both lists.
                    let numbers: Vec<i64> = (0..64).filter(|number| snapshot.contains_integer(a, *number)).collect();
                    let texts: Vec<i64> =
                        (0..64).filter(|number| snapshot.contains_text(b, number.to_string().as_bytes())).collect();
                    assert_eq!((numbers.len(), &numbers), (1, &texts));
                }
                generations
            })
        });
        for round in 0..3_000_u32 {
            let (old, new) = ((round % 64).to_string(), ((round + 1) % 64).to_string());
            lists.change().remove("a", &old).insert("b", &new).insert("a", &new).remove("b", &old).commit().unwrap();
            if round % 500 == 0 {
                lists.merge();
            }
        }
        done.store(true, Ordering::Relaxed);
        let generations: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(generations > 0);
    });
}

/// In lists of one level and of several.
#[test]
fn the_bits_of_an_address_are_asked_as_the_address() {
    let lists = Lists::new(Limits::default());
    let (nets, other) = (lists.declare("nets", Kind::Addresses).unwrap(), lists.declare("other", Kind::Texts).unwrap());
    let entries = ["192.0.2.0/24", "192.0.2.128/25", "2001:db8::/32", "::/96", "0.0.0.0/9"];
    let entries = Entries::from_texts(Kind::Addresses, entries).unwrap();
    lists.change().replace("nets", entries).commit().unwrap();
    for levels in [1, 2] {
        let snapshot = lists.load();
        assert_eq!(snapshot.infos().next().unwrap().levels, levels);
        for (address, expected) in [
            ("192.0.2.7", Some("192.0.2.0/24")),
            ("192.0.2.200", Some("192.0.2.128/25")),
            ("::ffff:192.0.2.200", Some("192.0.2.128/25")),
            ("::192.0.2.200", Some("::/96")),
            ("2001:db8::7", Some("2001:db8::/32")),
            ("2001:db9::7", None),
            ("0.127.255.255", Some("0.0.0.0/9")),
            ("0.128.0.0", None),
            ("::ffff:0.128.0.0", None),
            ("::fffe:192.0.2.7", None),
            ("::1:ffff:192.0.2.7", None),
        ] {
            let ip: IpAddr = address.parse().unwrap();
            let bits = match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
                IpAddr::V6(v6) => v6.to_bits(),
            };
            for found in [snapshot.find_mapped_address(nets, bits), snapshot.find_address(nets, ip)] {
                let entry = found.and_then(|id| snapshot.entry(nets, id)).map(|entry| entry.to_string());
                assert_eq!(entry.as_deref(), expected, "{address}");
            }
            let has = [snapshot.has_mapped_address(nets, bits), snapshot.has_address(nets, ip)];
            assert_eq!(has, [Some(expected.is_some()); 2], "{address}");
            assert_eq!(snapshot.has_mapped_address(other, bits), None);
        }
        lists.change().insert("nets", "198.51.100.0/24").commit().unwrap();
    }
}

/// Records after empty lines, after lines that end with CR and LF, and of several lines.
#[test]
fn lines_of_csv_are_those_of_the_text() {
    for end in ["\n", "\r\n"] {
        let text = ["", "entry,note", "1,a", "", "x,b", "", "", "\"2\",\"c", "d\"", "z,e", "3,f,g"].join(end);
        let wrong = Entries::parse(Kind::Integers, Format::Csv, &text).unwrap_err();
        let lines: Vec<_> = wrong.listed().iter().map(|wrong| wrong.line.unwrap_or_default()).collect();
        assert_eq!(lines, [5, 10, 11], "{text:?}");
        let right = text.replace("x,", "8,").replace("z,", "9,").replace(",f,g", ",f");
        let entries = Entries::parse(Kind::Integers, Format::Csv, &right).unwrap();
        let lines: Vec<_> = entries.with_lines().map(|(entry, line)| (entry.to_string(), line)).collect();
        let expected = [("1", 3), ("8", 5), ("2", 8), ("9", 10), ("3", 11)];
        assert_eq!(lines, expected.map(|(entry, line)| (entry.to_owned(), Some(line))), "{text:?}");
    }
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut limits = Limits::default();
    (limits.lists, limits.entries, limits.bytes) = (2, 5, 100_000);
    let lists = Lists::new(limits);
    let a = lists.declare("a", Kind::Addresses).unwrap();
    lists.declare("t", Kind::Texts).unwrap();
    assert_eq!(lists.declare("a", Kind::Addresses), Ok(a));
    let refused = [
        (lists.declare("a", Kind::Hosts).unwrap_err(), "list `a` is of addresses, not of hosts"),
        (lists.declare("c", Kind::Hosts).unwrap_err(), "3 lists, more than the limit of 2"),
        (lists.declare("no-name", Kind::Hosts).unwrap_err(), "is no name of a list"),
        (lists.declare("", Kind::Hosts).unwrap_err(), "is no name of a list"),
        (
            lists.change().insert("a", "10.0.0.1").insert("aa", "10.0.0.2").commit().unwrap_err(),
            "no list `aa`; there are a, t",
        ),
        (
            lists.change().insert("a", "10.0.0.1").insert("a", "10.0.0").remove("t", "").commit().unwrap_err(),
            "list `a`: \"10.0.0\": not an IP address or a network such as 192.0.2.0/24\nlist `t`: \"\": empty",
        ),
        (
            lists
                .change()
                .insert("a", "::")
                .replace("t", Entries::from_texts(Kind::Texts, ["1", "2", "3", "4", "5"]).unwrap())
                .commit()
                .unwrap_err(),
            "6 entries, more than the limit of 5",
        ),
        (
            lists
                .change()
                .insert("t", &"x".repeat(4_000))
                .replace("a", Entries::new(Kind::Hosts))
                .commit()
                .unwrap_err(),
            "not of hosts",
        ),
        (
            Lists::new(Limits::default()).change().remove("x", "").commit().unwrap_err(),
            "no list `x`; there are no lists",
        ),
    ];
    for (error, text) in refused {
        assert!(error.to_string().contains(text), "{error}");
    }
    assert_eq!(lists.load().infos().map(|info| info.entries).sum::<usize>(), 0);
    assert_eq!(lists.load().generation(), 2);
    limits.bytes = 8_000;
    let small = Lists::new(limits);
    small.declare("t", Kind::Texts).unwrap();
    let error = small.change().insert("t", &"x".repeat(4_000)).insert("t", &"y".repeat(4_000)).commit().unwrap_err();
    assert!(matches!(error, ListsError::Limit { what: "bytes", .. }), "{error}");
}

#[test]
fn an_entry_that_is_inserted_again_stays() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("a", Kind::Addresses).unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let insert = |seconds| lists.change().insert_until("a", "10.0.0.1", at(seconds)).commit().unwrap();
    insert(5);
    assert_eq!(insert(9).inserted, 0);
    assert_eq!(lists.expire(at(8)).unwrap().removed, 0);
    let is_in = || lists.view_at(at(8)).has_address(id, "10.0.0.1".parse().unwrap());
    assert_eq!(is_in(), Some(true));
    assert_eq!(lists.next_expiry(), Some(at(9)));
    assert_eq!(lists.expire(at(9)).unwrap().removed, 1);
    assert_eq!(is_in(), Some(false));
    insert(20);
    lists.change().insert("a", "10.0.0.1").commit().unwrap();
    assert_eq!((lists.expire(at(30)).unwrap().removed, lists.next_expiry()), (0, None));
}

#[cfg(feature = "files")]
#[test]
fn every_wrong_line_is_reported() {
    for (format, text, wrong) in [
        (
            Format::Lines,
            "\u{feff}# head\n10.0.0.0/8 # a\n\n10.0.0.0/33\n  nonsense\r\n::1\n",
            &[(4, "10.0.0.0/33"), (5, "nonsense")][..],
        ),
        (
            Format::Csv,
            "note, entry ,expires\na,10.0.0.1,\n\"b\nc\",10.0.0,7\nd,10.0.0.2,soon\ne\n",
            &[(3, "10.0.0"), (5, "10.0.0.2"), (6, "e")],
        ),
        (Format::Csv, "address\n10.0.0.1\n", &[(1, "address")]),
        // Without its second quote, a field would be all that follows.
        (Format::Csv, "entry,note\n10.0.0.1,\"a\n10.0.0.2,b\n10.0.0.3,c\n", &[(2, "10.0.0.1,\"a")]),
        (Format::Csv, "entry,note\n::,x\n10.0.0.1,\"a\n10.0.0.2,\"b\"\n", &[(3, "10.0.0.1,\"a")]),
        (Format::Csv, "entry,note\n10.0.0.1,a\"\n10.0.0.2,\"b\"\n", &[(2, "10.0.0.1,a\"")]),
        (Format::Csv, "entry,note\n::,\"\"\n\"10.0.0.1\",\"a \"\"b\"\"\nc\"\nx,\n", &[(5, "x")]),
        (
            Format::Csv,
            "entry,expires\n10.0.0.1\n10.0.0.2,7\n10.0.0.3,7,\nx,\n",
            &[(2, "10.0.0.1"), (4, "10.0.0.3"), (5, "x")],
        ),
        (Format::Csv, "entry,note,note,entry\n10.0.0.1,,,\n", &[(1, "entry,note,note,entry")]),
        (Format::Csv, "entry,expires,expires\n10.0.0.1,7,\n", &[(1, "entry,expires,expires")]),
        (
            Format::JsonLines,
            "\"10.0.0.1\"\n{\"entry\": \"10.0.0\"}\n{\"address\": 1}\n\n[]\n{\n{\"entry\":\"::\",\"expires\":-1}\n1\n",
            &[
                (2, "10.0.0"),
                (3, "{\"address\": 1}"),
                (5, "[]"),
                (6, "{"),
                (7, "{\"entry\":\"::\",\"expires\":-1}"),
                (8, "1"),
            ],
        ),
    ] {
        let error = Entries::parse(Kind::Addresses, format, text).unwrap_err();
        let listed: Vec<(usize, &str)> =
            error.listed().iter().map(|wrong| (wrong.line.unwrap(), wrong.entry.as_str())).collect();
        assert_eq!(listed, wrong, "{error}");
    }
    let many = Entries::parse(Kind::Integers, Format::Lines, &"x\n".repeat(1_000)).unwrap_err();
    assert_eq!((many.count(), many.listed().len()), (1_000, 100));
    assert!(many.to_string().ends_with("and 900 more"), "{many}");
}

#[test]
fn a_value_of_another_type_changes_nothing() {
    let lists = Lists::new(Limits::default());
    let geo: ListType = "addresses:{country: string, asn: int}".parse().unwrap();
    let tier: ListType = "texts:int".parse().unwrap();
    lists.declare("geo", &geo).unwrap();
    assert_eq!(lists.declare("geo", &geo).map(|id| id.number()), Ok(0));
    lists.declare("tier", tier).unwrap();
    lists.declare("plain", Kind::Texts).unwrap();
    let error = lists.declare("geo", Kind::Addresses).unwrap_err();
    assert_eq!(error.to_string(), "list `geo` is of addresses:{country: string, asn: int}, not of addresses");
    let change = || lists.change().insert("plain", "kept?");
    let long = "x".repeat(4097);
    for (change, text) in [
        (
            change().insert_value("geo", "::", [("country", 1.into())], None).insert_value("geo", "::/129", "DE", None),
            "list `geo`: \"::\": `country`: not a string\nlist `geo`: \"::/129\": a value of this list has the fields country, asn",
        ),
        (
            change().insert_value("geo", "::", [("city", "B".into())], None),
            "there is no field `city`; there are country, asn",
        ),
        (
            change().insert_value("geo", "::", [("country", long.as_str().into())], None),
            "4097 bytes long, more than the limit of 4096",
        ),
        (change().insert("tier", "a"), "list `tier`: \"a\": no value: an entry of this list carries an int"),
        (change().insert_value("tier", "a", "1", None), "`value`: not an int"),
        (change().insert_value("tier", "a", [("x", 1.into())], None), "a value of this list is an int"),
        (change().insert_value("plain", "a", 1, None), "the entries of this list carry no values"),
        (
            change().replace("geo", Entries::new(Kind::Addresses)),
            "list `geo` is of addresses:{country: string, asn: int}, not of addresses",
        ),
        (
            change().replace("tier", Entries::new("texts:bool".parse::<ListType>().unwrap())),
            "list `tier` is of texts:int, not of texts:bool",
        ),
    ] {
        let error = change.commit().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(lists.load().infos().map(|info| info.entries).sum::<usize>(), 0);

    let mut entries = Entries::new(&geo);
    assert!(entries.insert("::", EntryValue::default()).is_ok());
    assert!(entries.insert("::", [("asn", true.into())]).is_err());
    assert_eq!(entries.len(), 1);
}

#[test]
fn few_values_take_a_byte_an_entry() {
    let (lists, count) = (Lists::new(Limits::default()), 20_000_u32);
    let mut bytes = Vec::new();
    for (name, ty) in [("plain", "addresses"), ("geo", "addresses:{country: string, asn: int}")] {
        let ty: ListType = ty.parse().unwrap();
        lists.declare(name, &ty).unwrap();
        let mut entries = Entries::new(&ty);
        for n in 0..count {
            let value = [("country", format!("C{}", n % 200).into()), ("asn", i64::from(n % 200).into())];
            let value = if ty.values().is_some() { value.into() } else { EntryValue::default() };
            entries.insert(&format!("{}/24", std::net::Ipv4Addr::from_bits(n << 9)), value).unwrap();
        }
        lists.change().replace(name, entries).commit().unwrap();
        bytes.push(lists.load().infos().last().unwrap().bytes);
    }
    // A byte for each entry, and 200 rows of three words with a text of at most four bytes.
    assert_eq!(bytes[1] - bytes[0], 20_000 + 200 * 24 + (10 * 2 + 90 * 3 + 100 * 4));
}

#[cfg(feature = "files")]
#[test]
fn values_come_from_files() {
    let ty: ListType = "addresses:{country: string, asn: int, vpn: bool}".parse().unwrap();
    let csv = "vpn,entry,note,asn,country,expires\ntrue,10.0.0.0/8,x,-5,\"D,E\",\n,10.1.0.1..10.1.0.2,,,,9999999999\n";
    let json = "{\"entry\":\"10.0.0.0/8\",\"vpn\":true,\"asn\":-5,\"country\":\"D,E\",\"x\":[]}\n{\"entry\":\"10.1.0.1..10.1.0.2\",\"asn\":null,\"expires\":9999999999}\n\"::\"\n";
    for (format, text, entries) in [(Format::Csv, csv, 3), (Format::JsonLines, json, 4)] {
        let lists = Lists::new(Limits::default());
        let id = lists.declare("geo", &ty).unwrap();
        lists.change().replace("geo", Entries::parse(&ty, format, text).unwrap()).commit().unwrap();
        let snapshot = lists.load();
        assert_eq!(snapshot.entries(id).count(), entries);
        let row = |address: &str| {
            let entry = snapshot.find_address(id, address.parse().unwrap()).unwrap();
            [0, 1, 2].map(|field| snapshot.value(id, entry, field))
        };
        assert_eq!(
            row("10.2.0.1"),
            [Some(ScalarRef::Text("D,E")), Some(ScalarRef::Int(-5)), Some(ScalarRef::Bool(true))]
        );
        assert_eq!(row("10.1.0.2"), [None; 3]);
        assert_eq!(lists.next_expiry(), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(9_999_999_999)));
    }
    // Of equal entries the last one counts.
    let tier: ListType = "hosts:string".parse().unwrap();
    let lists = Lists::new(Limits::default());
    let id = lists.declare("tier", &tier).unwrap();
    let entries = Entries::parse(&tier, Format::Csv, "entry,value\na.b,free\n*.b,none\nA.b.,gold\n").unwrap();
    lists.change().replace("tier", entries).commit().unwrap();
    let snapshot = lists.load();
    let value = |host: &str| snapshot.find_text(id, host.as_bytes()).and_then(|entry| snapshot.value(id, entry, 0));
    assert_eq!(["a.b:80", "c.b", "b"].map(value), [Some(ScalarRef::Text("gold")), Some(ScalarRef::Text("none")), None]);
}

#[cfg(feature = "files")]
#[test]
fn every_wrong_value_is_reported_with_its_column() {
    for (ty, format, text, wrong) in [
        (
            "integers:{a: int, b: bool}",
            Format::Csv,
            "entry,a,b\n1,x,yes\n2,,\nz,1,\n3,9223372036854775808,true\n",
            &[(2, Some("a"), "x"), (2, Some("b"), "yes"), (4, None, "z"), (5, Some("a"), "9223372036854775808")][..],
        ),
        ("integers:{a: int, b: bool}", Format::Csv, "entry,A\n1,2\n", &[(1, None, "entry,A"), (1, None, "entry,A")]),
        ("integers:bool", Format::Csv, "entry,value\n1,true\n2,\n3\n", &[(3, None, "2"), (4, None, "3")]),
        (
            "texts:{a: int, b: string}",
            Format::JsonLines,
            "{\"entry\":\"x\",\"a\":\"1\"}\n{\"entry\":\"y\",\"a\":1.5}\n{\"entry\":\"z\",\"b\":1}\n{\"entry\":\"\"}\n",
            &[(1, Some("a"), "x"), (2, Some("a"), "y"), (3, Some("b"), "z"), (4, None, "")],
        ),
        ("texts:int", Format::JsonLines, "\"x\"\n{\"entry\":\"y\",\"value\":1}\n", &[(1, None, "x")]),
        ("texts:int", Format::Lines, "x\ny\n", &[(1, None, "x")]),
    ] {
        let error = Entries::parse(ty.parse::<ListType>().unwrap(), format, text).unwrap_err();
        let listed: Vec<(usize, Option<&str>, &str)> = error
            .listed()
            .iter()
            .map(|wrong| (wrong.line.unwrap(), wrong.column.as_deref(), wrong.entry.as_str()))
            .collect();
        assert_eq!(listed, wrong, "{error}");
    }
}

#[cfg(feature = "files")]
#[test]
fn entries_of_files_expire() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("n", Kind::Integers).unwrap();
    let csv = Entries::parse(Kind::Integers, Format::Csv, "entry,expires\n1,100\n2,\n").unwrap();
    let json = "{\"entry\":3,\"expires\":200}\n4\n\"5..7\"\n";
    lists.change().replace("n", csv).commit().unwrap();
    assert_eq!(lists.next_expiry(), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(100)));
    lists.change().replace("n", Entries::parse(Kind::Integers, Format::JsonLines, json).unwrap()).commit().unwrap();
    lists.expire(SystemTime::UNIX_EPOCH + Duration::from_secs(200)).unwrap();
    let snapshot = lists.load();
    let held: Vec<i64> = (0..10).filter(|number| snapshot.contains_integer(id, *number)).collect();
    assert_eq!(held, [4, 5, 6, 7]);
}

#[cfg(feature = "files")]
#[test]
fn of_equal_entries_the_last_says_when_they_expire() {
    let parse = |text: &str| Entries::parse(Kind::Integers, Format::Csv, &format!("entry,expires\n{text}")).unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let read_as = |entries: Entries| {
        let times: Vec<_> = entries.with_expiries().map(|(entry, expires)| (entry.to_string(), expires)).collect();
        let lists = Lists::new(Limits::default());
        let id = lists.declare("n", Kind::Integers).unwrap();
        lists.change().replace("n", entries).commit().unwrap();
        lists.expire(at(1_000)).unwrap();
        let view = lists.view_at(at(1_000));
        let held: Vec<i64> = (0..10).filter(|number| view.has_integer(id, *number) == Some(true)).collect();
        (times, held)
    };
    let (one, two) = ("1".to_owned(), "2".to_owned());
    let (times, held) = read_as(parse("1,5\n2,7\n1,\n"));
    assert_eq!(times, [(one.clone(), None), (two.clone(), Some(at(7))), (one.clone(), None)]);
    assert_eq!(held, [1]);
    let (times, held) = read_as(parse("1,\n2,7\n2,2000\n1,5\n"));
    assert_eq!(times.iter().map(|(_, time)| *time).collect::<Vec<_>>(), [5, 2000, 2000, 5].map(|time| Some(at(time))));
    assert_eq!(held, [2]);
    // The same of what is appended, with and without times on each side.
    for (first, second, kept) in
        [("1,5\n", "1,\n", &[1_i64][..]), ("1,\n2,\n", "2,\n1,5\n", &[2]), ("1,5\n2,5\n", "2,\n3,\n4,5\n", &[2, 3])]
    {
        let mut entries = parse(first);
        entries.append(parse(second));
        assert_eq!(read_as(entries).1, kept, "{first} {second}");
    }
}

#[cfg(feature = "files")]
#[test]
fn a_text_has_no_more_entries_than_is_wanted() {
    let (kind, range) = (Kind::Addresses, "::1..f::\n");
    let count = Entries::parse(kind, Format::Lines, range).unwrap().len();
    assert!(count > 100);
    for (text, most) in [(range.repeat(2), count * 2), ("::1\n".repeat(7), 7)] {
        assert_eq!(Entries::parse_at_most(kind, Format::Lines, &text, most).unwrap().len(), most);
        let error = Entries::parse_at_most(kind, Format::Lines, &text, most - 1).unwrap_err();
        assert_eq!(error.count(), 1);
        let bound = format!("more than {} entries, with equal ones", most - 1);
        assert!(error.to_string().contains(&bound), "{error}");
    }
    // All of a range or nothing of it, and other mistakes too.
    let error =
        Entries::parse_at_most(kind, Format::Lines, &format!("{range}{range}x\n{range}"), count + 1).unwrap_err();
    assert_eq!(error.listed().iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [Some(2), Some(3)]);
}

#[test]
fn what_only_removes_needs_no_room() {
    let texts: Vec<String> = (0..2_000).map(|number| format!("{number:060}")).collect();
    let entries = Entries::from_texts(Kind::Texts, &texts).unwrap();
    let filled = |limits| {
        let lists = Lists::new(limits);
        lists.declare("t", Kind::Texts).unwrap();
        lists.change().replace("t", entries.clone()).commit().unwrap();
        lists
    };
    let bytes = |lists: &Lists| lists.load().infos().map(|info| info.bytes).sum::<usize>();
    let mut limits = Limits::default();
    limits.bytes = bytes(&filled(limits)) + 64;
    let lists = filled(limits);
    let mut change = lists.change();
    for text in texts.iter().take(100) {
        change = change.remove("t", text);
    }
    assert_eq!(change.commit().unwrap().removed, 100);
    assert!(bytes(&lists) > limits.bytes, "the removed entries take room");
    let error = lists.change().insert("t", "x").commit().unwrap_err();
    assert!(matches!(error, ListsError::Limit { what: "bytes", .. }), "{error}");
}

#[test]
fn a_view_is_of_one_time() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("n", Kind::Integers).unwrap();
    let end = SystemTime::now() + Duration::from_millis(20);
    lists.change().insert_until("n", "7", end).insert("n", "8").commit().unwrap();
    let view = lists.view();
    let before = view.has_integer(id, 7);
    while SystemTime::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(view.has_integer(id, 7), before);
    assert_eq!(lists.view().has_integer(id, 7), Some(false));
    // Lookups of the snapshot, and what names entries, are of now.
    let snapshot = view.snapshot();
    assert!(!snapshot.contains_integer(id, 7) && snapshot.find_integer(id, 7).is_none());
    let entry = |text| Entry::parse(Kind::Integers, text).unwrap();
    assert_eq!((snapshot.has_entry(id, &entry("7")), snapshot.has_entry(id, &entry("8"))), (false, true));
    assert_eq!(snapshot.entries(id).collect::<Vec<_>>(), [entry("8")]);
    assert_eq!(snapshot.infos().next().map(|info| info.entries), Some(2));
}

#[test]
fn another_time_is_a_change() {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("n", Kind::Integers).unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let first = lists.change().insert_until("n", "7", at(5)).commit().unwrap();
    let second = lists.change().insert_until("n", "7", at(9)).commit().unwrap();
    assert_eq!((second.inserted, second.removed, second.updated), (0, 0, 0));
    assert!(second.generation > first.generation);
    assert_eq!([8, 9].map(|time| lists.view_at(at(time)).has_integer(id, 7)), [Some(true), Some(false)]);
    // Also where all entries are replaced by equal ones.
    let mut entries = Entries::new(Kind::Integers);
    entries.insert("7", EntryValue::default()).unwrap();
    let third = lists.change().replace("n", entries).commit().unwrap();
    assert_eq!((third.inserted, third.removed, third.updated), (0, 0, 0));
    assert_eq!((lists.view_at(at(99)).has_integer(id, 7), lists.next_expiry()), (Some(true), None));
    assert_eq!(lists.change().insert("n", "7").commit().unwrap().generation, third.generation);
}
