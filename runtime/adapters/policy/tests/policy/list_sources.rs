//! Where lists have their entries: all files of a folder, URLs that a host fetches, MaxMind databases.

use crate::support::{Folder, ask, exchange, head, status, wrong};
use celero_policy::{ListDocument, ListSource, LivePolicy, Policy};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn asked(policy: &Policy, path: &str) -> u16 {
    status(ask(policy, &head(&format!("GET {path}"), &[]), &mut exchange()))
}

fn document(text: &str) -> ListDocument {
    ListDocument { bytes: text.as_bytes().into(), etag: None, last_modified: None, at: SystemTime::now() }
}

/// Does what a host does with a new document.
fn fetched(policy: &Policy, source: &ListSource, text: &str) -> Result<(), String> {
    let document = document(text);
    let fresh = policy.read_list_with(source, &document).map_err(|error| error.to_string())?.unwrap();
    policy.lists().unwrap().take_over_some(fresh).map_err(|error| error.to_string())?;
    source.accept(document);
    Ok(())
}

const URLS: &str = "lists:
  paths: {kind: texts, entries: [/inline], urls: ['https://a.example/one.txt?key=1', {url: 'http://127.0.0.1:1/two', refresh: 2s}]}
  other: {kind: texts, entries: [/other]}
request: [{when: request.path in lists.paths, deny: 403}, {when: request.path in lists.other, deny: 404}]";

#[test]
fn documents_count_for_their_list_alone() {
    let policy = Policy::parse("policy.yaml", URLS, Path::new(".")).unwrap();
    let sources: Vec<Arc<ListSource>> = policy.list_sources().cloned().collect();
    let about: Vec<_> = sources.iter().map(|source| (source.list(), source.shown_url())).collect();
    assert_eq!(about, [("paths", "https://a.example/one.txt"), ("paths", "http://127.0.0.1:1/two")]);
    assert_eq!((sources[0].timeout(), sources[0].largest()), (Duration::from_secs(30), 64 << 20));
    let now = || ["/inline", "/1", "/2", "/other"].map(|path| asked(&policy, path));
    assert_eq!(now(), [403, 0, 0, 404]);
    assert_eq!((sources[0].pause(), sources[0].age()), (Duration::ZERO, None));
    // What a host changes in other lists stays.
    policy.lists().unwrap().change().remove("other", "/other").commit().unwrap();
    fetched(&policy, &sources[0], "/1\n").unwrap();
    assert_eq!(now(), [403, 403, 0, 0]);
    fetched(&policy, &sources[1], "/2\n").unwrap();
    fetched(&policy, &sources[0], "/1\n/3\n").unwrap();
    assert_eq!(now(), [403, 403, 403, 0]);
    // Wrong documents are named, with the URL that may be shown.
    let error = fetched(&policy, &sources[0], &format!("/2\n{}\n", "x".repeat(5000))).unwrap_err();
    assert!(error.contains("https://a.example/one.txt: line 2") && !error.contains("key=1"), "{error}");
    let bytes = ListDocument { bytes: b"\xff"[..].into(), ..document("") };
    assert!(sources[0].check(&bytes).is_err_and(|error| error == "not UTF-8"));
    assert_eq!(now(), [403, 403, 403, 0]);
    // Pauses: a tenth around an hour, and around two seconds.
    let pauses: Vec<Duration> = sources.iter().map(|source| source.pause()).collect();
    let near = |pause: Duration, seconds: f64| (seconds * 0.85..seconds * 1.1001).contains(&pause.as_secs_f64());
    assert!(near(pauses[0], 3600.0) && near(pauses[1], 2.0), "{pauses:?}");
    for expected in [10.0, 20.0, 40.0] {
        sources[0].failed("no".to_owned());
        assert!(near(sources[0].pause(), expected), "{:?}", sources[0].pause());
        sources[1].failed("no".to_owned());
        assert!(near(sources[1].pause(), 2.0), "{:?}", sources[1].pause());
    }
    for _ in 0..40 {
        sources[0].failed("no".to_owned());
    }
    assert!(near(sources[0].pause(), 3600.0), "{:?}", sources[0].pause());
    assert_eq!((sources[0].info().failed, sources[0].info().error.as_deref()), (43, Some("no")));
    let before = sources[0].document().unwrap().at;
    sources[0].is_current(before + Duration::from_secs(5));
    assert_eq!(sources[0].document().unwrap().at, before + Duration::from_secs(5));
    assert_eq!((sources[0].info().unchanged, sources[0].info().error), (1, None));
}

#[test]
fn documents_stay_when_the_policy_is_loaded_again() {
    let folder = Folder::new("list-urls");
    let file = folder.write("policy.yaml", URLS);
    let live = LivePolicy::load(&file).unwrap();
    let first = Arc::clone(live.current().list_sources().next().unwrap());
    first.is_current(SystemTime::now());
    assert_eq!(first.info().failed, 1, "there is no document that could be current");
    fetched(&live.current(), &first, "/1\n").unwrap();
    folder.write("policy.yaml", URLS.replace("/inline", "/new"));
    live.reload().unwrap();
    let now = |live: &LivePolicy| ["/inline", "/new", "/1"].map(|path| asked(&live.current(), path));
    assert_eq!(now(&live), [0, 403, 403]);
    assert_eq!(live.current().list_sources().next().unwrap().info(), first.info());
    // So does what files say, which are read again without the policy.
    let current = live.current();
    current.lists().unwrap().take_over(current.read_lists().unwrap().unwrap()).unwrap();
    assert_eq!(now(&live), [0, 403, 403]);
    // At another URL, or as another type, it is another document.
    folder.write("policy.yaml", URLS.replace("key=1", "key=2"));
    live.reload().unwrap();
    assert_eq!(now(&live), [403, 0, 0]);

    // A host may have kept documents.
    let policy = Policy::load(&file).unwrap();
    policy.restore_lists(|source| source.url().ends_with("two").then(|| document("/2\n"))).unwrap();
    assert_eq!([asked(&policy, "/2"), asked(&policy, "/1")], [403, 0]);
    let restored = policy.list_sources().nth(1).unwrap();
    assert_eq!((restored.pause(), restored.info().accepted), (Duration::ZERO, 0));
}

#[test]
fn all_files_of_a_folder_are_one_list() {
    let folder = Folder::new("list-folder");
    std::fs::create_dir_all(folder.path("paths.d")).unwrap();
    let file = folder.write(
        "policy.yaml",
        "lists: {paths: {kind: texts, empty: allowed, files: ['paths.d/*.txt', 'paths.d/*.jsonl']}}
request: [{when: request.path in lists.paths, deny: 403}]",
    );
    let live = LivePolicy::load(&file).unwrap();
    assert_eq!(asked(&live.current(), "/a"), 0);
    folder.write("paths.d/a.txt", "/a\n");
    folder.write("paths.d/b.jsonl", "\"/b\"\n");
    folder.write("paths.d/c.csv", "entry\n/c\n");
    folder.write("paths.d/.d.txt", "/d\n");
    let current = live.current();
    current.lists().unwrap().take_over(current.read_lists().unwrap().unwrap()).unwrap();
    assert_eq!(["/a", "/b", "/c", "/d"].map(|path| asked(&current, path)), [403, 403, 0, 0]);
    let files: Vec<_> = current.list_files().collect();
    assert_eq!(files, [("paths".to_owned(), vec![folder.path("paths.d/*.txt"), folder.path("paths.d/*.jsonl")])]);
    assert!(current.files().contains(&folder.path("paths.d/*.txt")));
    // Every wrong file is named.
    let long = "x".repeat(5000);
    folder.write("paths.d/e.txt", format!("/e\n{long}\n"));
    folder.write("paths.d/f.txt", format!("{long}\n"));
    let error = live.reload().unwrap_err().to_string();
    assert!(error.contains("e.txt: line 2") && error.contains("f.txt: line 1"), "{error}");
    assert_eq!(asked(&live.current(), "/a"), 403);
    std::fs::remove_dir_all(folder.path("paths.d")).unwrap();
    let error = live.reload().unwrap_err().to_string();
    assert!(error.contains("paths.d/*.txt can't be read: No such file"), "{error}");
}

#[test]
fn mistakes_of_sources_are_reported() {
    for (list, message) in [
        ("{kind: texts, urls: ['http://a.example/x']}", "begins with `https://`"),
        ("{kind: texts, urls: ['https://user:password@a.example/x']}", "without user and password"),
        ("{kind: texts, urls: ['http://a.example/x?key=secret']}", "http://a.example/x?**********` begins with"),
        ("{kind: texts, urls: 'https://a.example/x?key=secret'}", "not `https://a.example/x?**********`"),
        ("{kind: texts, values: int, urls: ['https://a.example/x?key=secret']}", "x?**********` is read as lines"),
        ("{kind: texts, urls: ['file:///etc/passwd']}", "is not a URL with a host"),
        (
            "{kind: texts, urls: ['https://a.example/x', {url: 'https://a.example/x', refresh: 1m}]}",
            "has this URL twice",
        ),
        ("{kind: texts, urls: [{refresh: 1m}]}", "`url`"),
        ("{kind: texts, urls: [{url: 'https://a.example', refresh: soon}]}", "refresh"),
        ("{kind: texts, urls: [{url: 'https://a.example', format: xml}]}", "xml"),
        ("{kind: texts, urls: [{url: 'https://a.example', largest: 2GiB}]}", "largest"),
        ("{kind: texts, values: int, urls: ['https://a.example/x.txt']}", "lines, which have no values"),
        ("{kind: texts, urls: ['https://a.example/x.mmdb']}", "a MaxMind database has addresses, not texts"),
        ("{kind: addresses, files: [x.mmdb]}", "the list has no `values`"),
        ("{kind: addresses, values: {a: int}, mmdb: {b: c}, files: [x.mmdb]}", "there is no field `b`; there are a"),
        ("{kind: addresses, values: {a: int}, mmdb: {a: c..d}, files: [x.mmdb]}", "is no path"),
        ("{kind: texts, files: ['x*.txt']}", "a star stands for all names with an extension"),
        ("{kind: texts, files: ['*/x.txt']}", "is no pattern of files"),
    ] {
        let error = wrong(&format!("lists:\n  l: {list}\n"));
        assert!(error.contains(message) && error.contains("policy.yaml:2:"), "{list}: {error}");
        assert!(!error.contains("secret") && !error.contains("password@"), "{list}: {error}");
    }
}

/// Errors and warnings are shown as text, and as data for other programs: neither has what may be secret in a URL.
#[test]
fn no_form_of_an_error_or_a_warning_has_the_secrets_of_a_url() {
    let url = "HTTPS://user:hunter2@a.example/x?key=hunter2";
    let lists = format!("{{l: {{kind: texts, urls: ['{url}']}}}}");
    let error = Policy::parse("policy.yaml", &format!("lists: {lists}\n"), Path::new(".")).unwrap_err();
    let data: Vec<String> = error.diagnostics().map(|(_, found)| format!("{found:?}")).collect();
    assert!(data.iter().any(|found| found.contains("@a.example/x?")), "{data:?}");
    assert!(!data.concat().contains("hunter2") && !error.to_string().contains("hunter2"), "{error} {data:?}");
    let text = format!("request:\n- {{name: '{url}', count: a}}\n- {{name: '{url}', count: b}}\n");
    let policy = Policy::parse("policy.yaml", &text, Path::new(".")).unwrap();
    let data: Vec<String> = policy.warnings().map(|(_, found)| format!("{found:?}")).collect();
    assert!(data.iter().any(|found| found.contains("@a.example/x?")), "{data:?}");
    assert!(!data.concat().contains("hunter2") && !policy.render_warnings(false).contains("hunter2"), "{data:?}");
}

/// A MaxMind database of IPv4 with one node: 128.0.0.0/1 has a record.
fn database(country: &str) -> Vec<u8> {
    let text = |text: &str| [&[0x40 | u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let map = |members: &[(&str, Vec<u8>)]| {
        let head = vec![0xe0 | u8::try_from(members.len()).unwrap()];
        members.iter().fold(head, |all, (name, value)| [all, text(name), value.clone()].concat())
    };
    let number = |number: u8| vec![0xa1, number];
    let record = map(&[("country", map(&[("iso_code", text(country))]))]);
    let about = map(&[
        ("binary_format_major_version", number(2)),
        ("binary_format_minor_version", number(0)),
        ("build_epoch", vec![0x01, 0x02, 1]),
        ("database_type", text("Test")),
        ("description", map(&[])),
        ("ip_version", number(4)),
        ("languages", vec![0x00, 0x04]),
        ("node_count", vec![0xc1, 1]),
        ("record_size", number(24)),
    ]);
    [vec![0, 0, 1, 0, 0, 17], vec![0; 16], record, b"\xab\xcd\xefMaxMind.com".to_vec(), about].concat()
}

/// Of several documents each one keeps its entries, and the first document of a URL has some.
#[test]
fn a_document_that_has_lost_all_entries_is_refused() {
    for (allowed, kept) in [("", 403), ("empty: allowed, ", 0)] {
        let text = URLS.replacen("{kind: texts, ", &format!("{{kind: texts, {allowed}"), 1);
        let policy = Policy::parse("policy.yaml", &text, Path::new(".")).unwrap();
        let sources: Vec<Arc<ListSource>> = policy.list_sources().cloned().collect();
        assert_eq!(fetched(&policy, &sources[0], "").is_err(), allowed.is_empty());
        assert_eq!(sources[0].check(&document("# nothing\n")).is_err(), allowed.is_empty());
        for (source, path) in sources.iter().zip(["/1", "/2"]) {
            fetched(&policy, source, &format!("{path}\n")).unwrap();
            for cut in ["", "\n", "# nothing\n"] {
                let result = fetched(&policy, source, cut);
                assert_eq!(result.is_err(), allowed.is_empty(), "{result:?}");
                assert_eq!(asked(&policy, path), kept);
                let error = result.err().unwrap_or_default();
                assert!(!allowed.is_empty() || error.contains("empty: allowed"), "{error}");
                assert!(!error.contains("key=1"), "{error}");
            }
        }
    }
}

#[test]
fn databases_are_read_and_replaced() {
    let folder = Folder::new("list-mmdb");
    let file = folder.write(
        "policy.yaml",
        "lists:
  geo:
    kind: addresses
    values: {country: string, note: string}
    mmdb: {country: country.iso_code}
    entries: [{entry: 192.0.2.8/29, note: neighbours}]
    files: [geo.mmdb]
request:
- {when: 'lists.geo[source.address].country == \"DE\"', deny: 403}
- {when: 'lists.geo[source.address].country == \"FR\"', deny: 404}",
    );
    let write = |bytes: &[u8]| {
        std::fs::write(folder.path("new"), bytes).unwrap();
        std::fs::rename(folder.path("new"), folder.path("geo.mmdb")).unwrap();
    };
    write(&database("DE"));
    let policy = Policy::load(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(asked(&policy, "/"), 403);
    write(&database("FR"));
    let read = || policy.read_lists().map(|fresh| policy.lists().unwrap().take_over(fresh.unwrap()).unwrap());
    read().unwrap();
    assert_eq!(asked(&policy, "/"), 404);
    // A damaged one changes nothing, nor does one with a value of another type.
    let whole = database("DE");
    let wrong_type = database("DE").iter().map(|byte| if *byte == 0x42 { 0x82 } else { *byte }).collect::<Vec<_>>();
    for (bytes, part) in
        [(&whole[..whole.len() - 1], ""), (&b"no database"[..], ""), (&*wrong_type, "128.0.0.0/1: `country`")]
    {
        write(bytes);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("geo.mmdb: ") && error.contains(part) && error.contains("policy.yaml:7:"), "{error}");
        assert_eq!(asked(&policy, "/"), 404);
    }
    // One without entries is refused as an empty file is.
    let mut nothing = database("FR");
    nothing[5] = 1;
    write(&nothing);
    for error in [read().unwrap_err(), Policy::load(&file).unwrap_err()] {
        assert!(error.is_emptiness() && error.to_string().contains("geo.mmdb"), "{error}");
    }
    write(&database("FR"));
    // At a URL it is read in the same way.
    let text =
        std::fs::read_to_string(&file).unwrap().replace("files: [geo.mmdb]", "urls: ['https://a.example/geo.mmdb']");
    let policy = Policy::load(folder.write("urls.yaml", &text)).unwrap();
    let source = Arc::clone(policy.list_sources().next().unwrap());
    let document = ListDocument { bytes: whole.into(), ..document("") };
    policy.lists().unwrap().take_over_some(policy.read_list_with(&source, &document).unwrap().unwrap()).unwrap();
    assert_eq!(asked(&policy, "/"), 403);
}
