//! `celero lists`.

use crate::support::{celero, celero_reading, file};
use serde_json::json;

fn lists(args: &[&str]) -> crate::support::Run {
    celero(&[&["lists"], args].concat())
}

#[test]
fn every_wrong_entry_and_every_superfluous_one_is_named() {
    let wrong = file("lists-wrong.txt", "10.0.0.0/8\n10.0.0.0/99\n# a comment\nhost\n");
    let run = lists(&["check", "--kind", "addresses", &wrong]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains(&format!("error: {wrong}:2: \"10.0.0.0/99\": the length of the prefix")), "{}", run.err);
    assert!(run.err.contains(&format!("error: {wrong}:4: \"host\": not an IP address")), "{}", run.err);
    assert_eq!(run.out, format!("{wrong}: failed: 2 wrong entries\n"));

    let nested = file("lists-nested.txt", "10.1.0.0/16\n10.0.0.0/8\n\n10.0.0.0/8 # again\n192.0.2.1\n");
    let run = lists(&["check", "--kind", "addresses", &nested]);
    assert_eq!((run.code, run.out), (0, format!("{nested}: ok: 4 entries, 2 of them superfluous\n")));
    assert!(
        run.err.contains(&format!("warning: {nested}:1: 10.1.0.0/16 is part of 10.0.0.0/8 of line 2")),
        "{}",
        run.err
    );
    assert!(run.err.contains(&format!("warning: {nested}:4: 10.0.0.0/8 is the entry of line 2 again")), "{}", run.err);
    assert_eq!(lists(&["check", "--deny-warnings", "--kind", "addresses", &nested]).code, 1);
    let run = lists(&["check", "--json", "--kind", "addresses", &nested, &wrong]);
    let json = run.json();
    assert_eq!((run.code, &json["ok"], &json["files"][0]["warnings"][0]["byLine"]), (1, &json!(false), &json!(2)));
    assert_eq!((&json["files"][1]["wrongCount"], &json["files"][1]["wrong"][1]["line"]), (&json!(2), &json!(4)));
}

#[test]
fn what_contains_a_value_is_shown() {
    let nets = file("lists-show.txt", "10.0.0.0/8\n10.1.2.0/24\n2001:db8::/32\n");
    let run = lists(&["show", "--kind", "addresses", &nets, "10.1.2.3"]);
    assert_eq!((run.code, run.out), (0, format!("{nets}:1: 10.0.0.0/8\n{nets}:2: 10.1.2.0/24\n")));
    let run = lists(&["show", "--kind", "addresses", &nets, "192.0.2.1"]);
    assert_eq!((run.code, run.out), (1, format!("no entry of {nets} contains 192.0.2.1\n")));
    let run = lists(&["show", "--kind", "addresses", &nets, "a.example"]);
    assert_eq!((run.code, run.err.trim_end()), (2, "error: \"a.example\" is no value for lists of addresses"));
    let hosts = file("lists-show-hosts.txt", "*.example.com\nexample.com\n");
    let json = lists(&["show", "--json", "--kind", "hosts", &hosts, "A.Example.com:80"]).json();
    assert_eq!(json["entries"], json!([{"entry": "*.example.com", "line": 1}]));
    let ports = file("lists-show-ports.txt", "-5..-1\n");
    assert_eq!(lists(&["show", "--kind", "integers", &ports, "-3"]).code, 0);
}

#[test]
fn files_are_compared_and_converted() {
    let old = file("lists-old.csv", "entry,expires\n10.0.0.0/8,\n192.0.2.1,1900000000\n198.51.100.0/24,\n");
    let new = file(
        "lists-new.jsonl",
        "\"10.0.0.7/8\"\n{\"entry\": \"192.0.2.1\", \"expires\": 1900000001}\n\"203.0.113.0/24\"\n",
    );
    let run = lists(&["diff", "--kind", "addresses", &old, &new]);
    let expected =
        "- 198.51.100.0/24\n+ 203.0.113.0/24\n~ 192.0.2.1 expires at another time\n1 removed, 1 inserted, 2 in both\n";
    assert_eq!((run.code, &*run.out), (1, expected));
    assert_eq!(lists(&["diff", "--kind", "addresses", &old, &old]).code, 0);
    let json = lists(&["diff", "--json", "--kind", "addresses", &old, &new]).json();
    assert_eq!(json["inserted"], json!(["203.0.113.0/24"]));

    // There and back.
    let csv = lists(&["convert", "--kind", "addresses", "--to", "csv", &new]).out;
    assert_eq!(csv, "entry,expires\n10.0.0.0/8,\n192.0.2.1,1900000001\n203.0.113.0/24,\n");
    let back = file("lists-back.csv", &csv);
    assert_eq!(lists(&["diff", "--kind", "addresses", &new, &back]).code, 0);
    // What lines can't say is refused, not lost.
    let run = lists(&["convert", "--kind", "addresses", "--to", "lines", &new]);
    assert_eq!((run.code, &*run.out), (1, ""));
    assert!(run.err.contains("\"192.0.2.1\" expires, which lines can't say"), "{}", run.err);
    let texts = file("lists-texts.jsonl", "\"a # b\"\n\" c\"\n\"d,\\\"\\n\"\n");
    let run = lists(&["convert", "--kind", "texts", "--to", "lines", &texts]);
    assert!(run.code == 1 && run.err.contains("read as something else in a line"), "{}", run.err);
    let back = file("lists-texts.csv", &lists(&["convert", "--kind", "texts", "--to", "csv", &texts]).out);
    assert_eq!(lists(&["diff", "--kind", "texts", &texts, &back]).code, 0);

    // Without what is not needed; an entry that lasts longer than the one around it is.
    let nested = "10.0.0.0/8\n10.1.0.0/16\n10.0.0.0/8\n";
    let run = celero_reading(
        &["lists", "convert", "--kind", "addresses", "--to", "lines", "--compact", "-"],
        nested.as_bytes(),
    );
    assert_eq!(run.out, "10.0.0.0/8\n");
    let timed = file(
        "lists-timed.csv",
        "entry,expires\n10.0.0.0/8,1900000000\n10.1.0.0/16,\n10.2.0.0/16,1800000000\n192.0.2.1,1\n",
    );
    let run = lists(&["convert", "--kind", "addresses", "--to", "csv", "--compact", &timed]);
    assert_eq!(run.out, "entry,expires\n10.0.0.0/8,1900000000\n10.1.0.0/16,\n");
}

const GEO: &str = "addresses:{country: string, asn: int}";

#[test]
fn values_are_checked_and_decide_what_is_superfluous() {
    let wrong = file("lists-geo-wrong.csv", "entry,country,asn\n192.0.2.0/24,DE,AS1\n");
    let run = lists(&["check", "--kind", GEO, &wrong]);
    assert_eq!(lists(&["check", "--json", "--kind", GEO, &wrong]).json()["files"][0]["wrong"][0]["column"], "asn");
    assert_eq!(run.code, 1);
    assert!(run.err.contains("`asn`: not an integer"), "{}", run.err);

    let geo = file("lists-geo.csv", "entry,country,asn\n192.0.2.0/24,DE,3320\n192.0.2.128/25,FR,\n");
    let run = lists(&["check", "--deny-warnings", "--kind", GEO, &geo]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, &*format!("{geo}: ok: 2 entries\n"), ""));
    let same = file("lists-geo-same.csv", "entry,value\n10.0.0.0/8,a\n10.1.0.0/16,a\n192.0.2.1,a\n192.0.2.1,b\n");
    let run = lists(&["check", "--kind", "addresses:string", &same]);
    assert_eq!((run.code, run.out), (0, format!("{same}: ok: 4 entries, 2 of them superfluous\n")));
    assert!(run.err.contains(&format!("{same}:3: 10.1.0.0/16 is part of 10.0.0.0/8 of line 2")), "{}", run.err);
    assert!(run.err.contains(&format!("{same}:4: the entry of line 5 replaces the value of 192.0.2.1")), "{}", run.err);

    let run = lists(&["show", "--kind", GEO, &geo, "192.0.2.200"]);
    assert!(run.code == 0 && run.out.ends_with(":3: 192.0.2.128/25  {\"country\":\"FR\"}\n"), "{}", run.out);
    let json = lists(&["show", "--json", "--kind", GEO, &geo, "192.0.2.1"]).json();
    assert_eq!(
        json["entries"],
        json!([{"entry": "192.0.2.0/24", "line": 2, "values": {"country": "DE", "asn": 3320}}])
    );
    let json = lists(&["bench", "--time", "5", "--json", "--kind", GEO, &geo]).json();
    assert_eq!((&json["kind"], &json["entries"]), (&json!("addresses"), &json!(2)));
}

#[test]
fn values_are_converted_and_compared() {
    let text = "entry,country,asn,expires\n192.0.2.0/24,\"D,E\",3320,\n192.0.2.128/25,FR,,1900000000\n";
    let geo = file("lists-geo-all.csv", text);
    let jsonl = lists(&["convert", "--kind", GEO, "--to", "jsonl", "--compact", &geo]).out;
    let objects: Vec<serde_json::Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({"entry": "192.0.2.0/24", "country": "D,E", "asn": 3320}),
        json!({"entry": "192.0.2.128/25", "country": "FR", "expires": 1_900_000_000}),
    ];
    assert_eq!(objects, expected);
    // There and back.
    let path = file("lists-geo-all.jsonl", &jsonl);
    assert_eq!(lists(&["convert", "--kind", GEO, "--to", "csv", &path]).out, text);
    assert_eq!(lists(&["diff", "--kind", GEO, &geo, &path]).code, 0);
    let other = file("lists-geo-other.csv", &text.replace("FR", "BE"));
    let run = lists(&["diff", "--kind", GEO, &geo, &other]);
    let expected = "~ 192.0.2.128/25 carries another value\n0 removed, 0 inserted, 2 in both\n";
    assert_eq!((run.code, &*run.out), (1, expected));
    let json = lists(&["diff", "--json", "--kind", GEO, &geo, &other]).json();
    assert_eq!((&json["same"], &json["valuesChanged"]), (&json!(false), &json!(["192.0.2.128/25"])));
    // What a format can't say is refused, not lost.
    let run = lists(&["convert", "--kind", GEO, "--to", "lines", &geo]);
    assert_eq!((run.code, &*run.out), (1, ""));
    assert!(run.err.contains("carries a value, which lines can't say"), "{}", run.err);
    let empty = file("lists-empty-text.jsonl", "{\"entry\": \"x\", \"value\": \"\"}\n");
    let run = lists(&["convert", "--kind", "texts:string", "--to", "csv", &empty]);
    assert!(run.code == 1 && run.err.contains("\"x\" carries an empty text"), "{}", run.err);
    assert_eq!(lists(&["convert", "--kind", "texts:string", "--to", "jsonl", &empty]).code, 0);
}

/// A MaxMind database of IPv4 with one node: 128.0.0.0/1 has the record `{"country": {"iso_code": "DE"}}`.
const DATABASE: &[u8] = b"\0\0\x01\0\0\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \xe1\x47country\xe1\x48iso_code\x42DE\xab\xcd\xefMaxMind.com\
    \xe9\x5bbinary_format_major_version\xa1\x02\x5bbinary_format_minor_version\xa1\0\x4bbuild_epoch\x01\x02\x01\
    \x4ddatabase_type\x44Test\x4bdescription\xe0\x4aip_version\xa1\x04\x49languages\0\x04\x4anode_count\xc1\x01\
    \x4brecord_size\xa1\x18";

#[test]
fn databases_are_read_by_paths() {
    let csv = file("lists-database.csv", "entry,country\n192.0.2.0/24,FR\n");
    let path = std::path::PathBuf::from(&csv).with_file_name("lists-database.mmdb");
    std::fs::write(&path, DATABASE).unwrap();
    let (db, kind) = (path.to_str().unwrap(), "addresses:{country: string}");
    let of = ["--kind", kind, "--path", "country=country.iso_code"];
    let run = |command: &str, args: &[&str]| lists(&[&[command], &of[..], args].concat());
    let checked = run("check", &[db]);
    assert_eq!((checked.code, checked.out, checked.err), (0, format!("{db}: ok: 1 entry\n"), String::new()));
    let shown = run("show", &[db, "192.0.2.7"]);
    assert_eq!((shown.code, shown.out), (0, format!("{db}: 128.0.0.0/1  {{\"country\":\"DE\"}}\n")));
    assert_eq!(run("show", &[db, "10.0.0.1"]).code, 1);
    assert_eq!(run("convert", &["--to", "csv", db]).out, "entry,country\n128.0.0.0/1,DE\n");
    let compared = run("diff", &[db, &csv]);
    assert_eq!(
        (compared.code, &*compared.out),
        (1, "- 128.0.0.0/1\n+ 192.0.2.0/24\n1 removed, 1 inserted, 0 in both\n")
    );
    let json = run("bench", &["--time", "5", "--json", db]).json();
    assert_eq!((&json["entries"], &json["present"]["contained"]), (&json!(1), &json!(1.0)));
    // Without the path, the record has a map under the name of the field.
    let run = lists(&["check", "--kind", kind, db]);
    assert_eq!((run.code, &*run.out), (1, &*format!("{db}: failed: 1 wrong entry\n")));
    assert!(run.err.contains(&format!("error: {db}: 128.0.0.0/1: `country`: not")), "{}", run.err);
    let run = lists(&["check", "--json", "--kind", kind, db]).json();
    assert_eq!((&run["ok"], &run["files"][0]["wrongCount"]), (&json!(false), &json!(1)));
    let damaged = path.with_file_name("lists-damaged.mmdb");
    std::fs::write(&damaged, DATABASE.get(..90).unwrap()).unwrap();
    assert_eq!(lists(&["show", "--kind", kind, damaged.to_str().unwrap(), "192.0.2.7"]).code, 2);
    for (kind, path, why) in [
        (kind, "city=city.name", "there is no field `city`; there are country"),
        (kind, "country", "expected `FIELD=PATH`"),
        (kind, "country=a..b", "is no path"),
        ("addresses", "country=a", "the list has no `values`"),
        ("hosts:string", "value=a", "a MaxMind database has addresses, not hosts"),
    ] {
        for file in [db, &csv] {
            let run = lists(&["check", "--kind", kind, "--path", path, file]);
            assert!(run.code == 2 && run.err.contains(why), "{kind} {path}: {}", run.err);
        }
    }
}

#[test]
fn rules_ask_lists_from_databases() {
    let csv = file("lists-asked.csv", "entry,country\n128.0.0.0/1,FR\n");
    let path = std::path::PathBuf::from(&csv).with_file_name("lists-asked.MMDB");
    std::fs::write(&path, DATABASE).unwrap();
    let db = path.to_str().unwrap();
    let asked = |list: &str, paths: &[&str]| {
        let paths = paths.iter().flat_map(|path| ["--list-path", path]);
        let list = ["eval", "-e", "lists.a.geo['192.0.2.7'].country", "--list", list];
        celero(&list.into_iter().chain(paths).collect::<Vec<_>>())
    };
    let geo = format!("a.geo:addresses:{{country: string}}={db}");
    let run = asked(&geo, &["a.geo.country=country.iso_code"]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "\"DE\"\n", ""));
    for (list, path, why) in [
        // Without the path, the record has a map under the name of the field.
        (&*geo, None, "`country`: not"),
        (&geo, Some("a.geo.city=city.name"), "`a.geo`: there is no field `city`; there are country"),
        (&geo, Some("a.geo.country=contry.iso_code"), "no record has a value at `contry.iso_code`"),
        (&geo, Some("a.geo.country"), "expected `NAME.FIELD=PATH`"),
        (&geo, Some("country=country.iso_code"), "expected `NAME.FIELD=PATH`"),
        (&geo, Some("geo.country=country.iso_code"), "there is no list `geo`"),
        (&format!("a.geo:addresses:{{country: string}}={csv}"), Some("a.geo.country=a"), "is no MaxMind database"),
        (&format!("a.geo:addresses={db}"), None, "`a.geo`: the list has no `values`"),
        (&format!("a.geo:addresses:string={db}.mmdb"), None, "lists-asked.MMDB.mmdb"),
    ] {
        let run = asked(list, path.as_slice());
        assert!(run.code == 2 && run.err.contains(why), "{list} {path:?}: {} {}", run.code, run.err);
    }
}

#[test]
fn patterns_are_checked_and_asked() {
    let wrong = file("lists-patterns-wrong.txt", "^/a\n(\n");
    let run = lists(&["check", "--kind", "patterns", &wrong]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains(&format!("{wrong}:2: \"(\": not a regular expression: unclosed group")), "{}", run.err);
    let patterns = file("lists-patterns.txt", "^/admin\n(?i)select.+from   # SQL\n");
    let run = lists(&["show", "--kind", "patterns", &patterns, "q=SELECT a FROM b"]);
    assert_eq!((run.code, run.out), (0, format!("{patterns}:2: (?i)select.+from\n")));
    assert_eq!(lists(&["show", "--kind", "patterns", &patterns, "/x/admin"]).code, 1);
    let wildcards = file("lists-wildcards.txt", "/admin/*\n*.php\n");
    let run = lists(&["show", "--kind", "wildcards", &wildcards, "/admin/x.php"]);
    assert_eq!((run.code, run.out), (0, format!("{wildcards}:1: /admin/*\n{wildcards}:2: *.php\n")));
    let args = ["--list", &*format!("bad:patterns={patterns}")];
    let run = celero(&[&["eval", "-e", "'/admin/x' in lists.bad && !('/x' in lists.bad)"][..], &args].concat());
    assert_eq!((run.code, &*run.out), (0, "true\n"), "{}", run.err);
}

#[test]
fn lookups_are_measured() {
    for (kind, text) in [
        ("addresses", "10.0.0.0/8\n2001:db8::/32\n0.0.0.0/0\n::1\n"),
        ("hosts", "*.example.com\nexample.org\n"),
        ("integers", "1..9\n-5\n"),
        ("textsIgnoringCase", "abc\n"),
        ("wildcards", "/a/*\n*.php\n"),
        ("patterns", "abc\n"),
    ] {
        let path = file(&format!("lists-bench-{kind}.txt"), text);
        let json = lists(&["bench", "--time", "5", "--json", "--kind", kind, &path]).json();
        assert_eq!((&json["kind"], &json["present"]["contained"]), (&json!(kind), &json!(1.0)), "{json}");
        assert!(json["random"]["contained"].as_f64().is_some_and(|share| share < 1.0 || kind == "addresses"), "{json}");
    }
    let run = lists(&["bench", "--time", "5", "--kind", "texts", &file("lists-bench.txt", "a\n")]);
    assert!(run.code == 0 && run.out.starts_with("1 entry of texts, "), "{}", run.out);
    let run = lists(&["bench", "--kind", "texts", &file("lists-empty.txt", "")]);
    assert!(run.code == 2 && run.err.contains("has no entries"), "{}", run.err);
}

#[test]
fn wrong_arguments_are_explained() {
    let run = lists(&["check", "--kind", "nets", "-"]);
    assert!(run.code == 2 && run.err.contains("\"nets\" is no kind of lists: addresses, texts"), "{}", run.err);
    let run = lists(&["check", "--kind", "hosts", "no-such-file.txt"]);
    assert!(run.code == 2 && run.err.contains("no-such-file.txt"), "{}", run.err);
    assert_eq!(lists(&["check", "--kind", "hosts"]).code, 2);
    let wrong = file("lists-wrong-hosts.txt", "a..b\n");
    for args in [
        &["show", "--kind", "hosts", &wrong, "a"][..],
        &["diff", "--kind", "hosts", &wrong, &wrong],
        &["bench", "--kind", "hosts", &wrong],
    ] {
        let run = lists(args);
        assert!(run.code == 2 && run.err.contains("a label is empty"), "{args:?}: {}", run.err);
    }
}
