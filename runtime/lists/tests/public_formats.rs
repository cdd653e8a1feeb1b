//! The formats of lists that others publish.

#![cfg(feature = "files")]

use celero_lists::{Entries, Format, Kind, Limits, Lists};

/// Entries and lines of public lists, in every kind of line ends and with a byte order mark.
#[test]
fn lines_of_public_lists_are_read() {
    for (kind, text, expected) in [
        (
            Kind::Addresses,
            "; Spamhaus DROP List\n\n1.10.16.0/20 ; SBL256894\n2001:db8::/32 ; SBL1\n// a\n# b\n192.0.2.7\t# c\n192.0.2.8 // d\n",
            &["1.10.16.0/20", "2001:db8::/32", "192.0.2.7", "192.0.2.8"][..],
        ),
        (
            Kind::Addresses,
            "192.0.2.0-192.0.2.3\n192.0.2.4 - 192.0.2.5 ; x\n192.0.2.6..192.0.2.7\n2001:db8::-2001:db8::1\n",
            &["192.0.2.0/30", "192.0.2.4/31", "192.0.2.6/31", "2001:db8::/127"],
        ),
        (
            Kind::Hosts,
            "# StevenBlack\n127.0.0.1 localhost\n127.0.0.1 localhost.localdomain\n127.0.0.1 local\n255.255.255.255 broadcasthost\n::1 localhost\n\
             ::1 ip6-localhost ip6-loopback\nfe80::1%lo0 localhost\nff00::0 ip6-localnet\nff00::0 ip6-mcastprefix\nff02::1 ip6-allnodes\n\
             ff02::2 ip6-allrouters\nff02::3 ip6-allhosts\n\
             0.0.0.0 0.0.0.0\n0.0.0.0 ads.example.com # x\n0.0.0.0\ttracker.example\tb.example\n:: c.example\nplain.example ; y\n*.star.example\n",
            &["ads.example.com", "tracker.example", "b.example", "c.example", "plain.example", "*.star.example"],
        ),
        (Kind::Integers, "7 ; a\n8 // b\n// c\n1..3\n", &["7", "8", "1..3"]),
        // In texts these signs may be content.
        (Kind::Texts, "a ; b\n//c\n0.0.0.0 d # e\na-b\n;f\n", &["a ; b", "//c", "0.0.0.0 d", "a-b", ";f"]),
    ] {
        let sorted = |entries: Vec<String>| {
            let mut entries = entries;
            entries.sort();
            entries
        };
        for text in [
            text.to_owned(),
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
            text.replace('\n', "\n \t\n\n"),
            text.trim_end().to_owned(),
        ] {
            let entries =
                Entries::parse(kind, Format::Lines, &text).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            let lists = Lists::new(Limits::default());
            let id = lists.declare("l", kind).unwrap();
            lists.change().replace("l", entries).commit().unwrap();
            let found: Vec<String> = lists.load().entries(id).map(|entry| entry.to_string()).collect();
            assert_eq!(sorted(found), sorted(expected.iter().map(|entry| (*entry).to_owned()).collect()), "{text:?}");
        }
    }
    for (kind, line) in [
        (Kind::Addresses, "192.0.2.9-192.0.2.1"),
        (Kind::Addresses, "192.0.2.1-x"),
        (Kind::Addresses, "-192.0.2.1"),
        (Kind::Addresses, "192.0.2.0/24-192.0.3.0"),
        (Kind::Addresses, "192.0.2.1;x"),
        (Kind::Addresses, "192.0.2.1 x"),
        (Kind::Hosts, "http://a.example"),
        (Kind::Hosts, "a.example b.example"),
        (Kind::Hosts, "0.0.0.0 http://a.example"),
    ] {
        let error = Entries::parse(kind, Format::Lines, &format!("# x\r\n\r\n{line}\r\n")).unwrap_err();
        assert_eq!(error.listed().iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [Some(3)], "{line}");
    }
}
