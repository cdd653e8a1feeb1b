//! Files that were cut to nothing: an empty policy would let every request pass.

use crate::support::{Folder, ask, exchange, head, status};
use celero_policy::{LivePolicy, Phase, Policy};

/// Every form of a file without content.
const EMPTY: [&str; 17] = [
    "",
    "\n\n",
    "\u{feff}",
    "# nothing\n",
    "---\n",
    "---\n...\n",
    "{}\n",
    "null\n",
    "~\n",
    "request:\n",
    "request: []\n",
    "request: {}\n",
    "request: {rules: []}\n",
    "request: {rules: }\n",
    "variables:\n",
    "lists: {}\n",
    "variables: {}\nresponse:\nlog: {rules: []}\n",
];

const RULES: &str = "request:\n- deny: 403\n";

fn denies(live: &LivePolicy) -> bool {
    status(ask(&live.current(), &head("GET /", &[]), &mut exchange())) == 403
}

/// Each file of a policy, and what is in the others.
#[test]
fn a_file_that_is_empty_is_refused_at_the_start_and_changes_nothing_later() {
    for (number, (main, other)) in [
        (RULES, None),
        ("include: [other.yaml]\n", Some(RULES)),
        ("include: [other.yaml]\nrequest:\n- deny: 403\n", Some("variables: {a: 'true'}\n")),
        ("levels: [other.yaml]\nrequest: [{allow: true}]\n", Some(RULES)),
        ("levels: [other.yaml]\nresponse: [{count: a}]\n", Some(RULES)),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = Folder::new(&format!("empty-{number}"));
        let file = folder.write("policy.yaml", main);
        let cut = other.map_or("policy.yaml", |other| {
            folder.write("other.yaml", other);
            "other.yaml"
        });
        let live = LivePolicy::load(&file).unwrap();
        assert!(denies(&live));
        for text in EMPTY {
            folder.write(cut, text);
            for error in [Policy::load(&file).unwrap_err(), live.reload().unwrap_err()] {
                assert!(error.is_emptiness(), "{text:?}: {error}");
                let error = error.to_string();
                assert!(error.contains("empty: allowed") && error.contains(cut), "{text:?}: {error}");
            }
            assert!(denies(&live), "{text:?}");
        }
        if cut == "policy.yaml" {
            folder.write(cut, "variables: {a: 'true'}\n");
            let error = live.reload().unwrap_err();
            assert!(error.is_emptiness() && error.to_string().contains("the policy in force has some"), "{error}");
        }
        let meant = EMPTY.into_iter().filter(|text| text.contains("request") || text.contains("variables"));
        for text in meant.chain([""]) {
            folder.write(cut, format!("empty: allowed\n{text}"));
            live.reload().unwrap_or_else(|error| panic!("{number} {text:?}: {error}"));
        }
    }
}

/// A file that was cut in its middle has lost its last phases.
#[test]
fn a_phase_that_had_rules_keeps_them() {
    let all: Vec<String> = Phase::ALL.iter().map(|phase| format!("{}: [{{count: c}}]\n", phase.name())).collect();
    let whole = format!(
        "requestBody: {{limit: 1KiB, rules: [{{count: c}}]}}\nresponseBody: {{limit: 1KiB, rules: [{{count: c}}]}}\n{}",
        all.iter().filter(|text| !text.contains("Body")).map(String::as_str).collect::<String>()
    );
    let folder = Folder::new("empty-phase");
    let file = folder.write("policy.yaml", &whole);
    let live = LivePolicy::load(&file).unwrap();
    for phase in Phase::ALL {
        let rest: String = whole
            .lines()
            .filter(|line| !line.starts_with(&format!("{}:", phase.name())))
            .map(|line| format!("{line}\n"))
            .collect();
        folder.write("policy.yaml", &rest);
        let error = live.reload().unwrap_err();
        let expected = format!("the phase `{}` of the policy has no rules, but", phase.name());
        assert!(error.is_emptiness() && error.to_string().contains(&expected), "{error}");
        // At the start nothing is known of before.
        Policy::load(&file).unwrap();
        folder.write("policy.yaml", format!("empty: allowed\n{rest}"));
        live.reload().unwrap();
        folder.write("policy.yaml", &whole);
        live.reload().unwrap();
    }
}

/// What a level lost is refused, too, and only its own file allows it.
#[test]
fn a_phase_of_a_level_keeps_its_rules() {
    let folder = Folder::new("empty-level-phase");
    let level = format!("{RULES}response: [{{count: c}}]\n");
    folder.write("team.yaml", &level);
    let main = "levels: [team.yaml]\nlog: [{count: d}]\n";
    let live = LivePolicy::load(folder.write("policy.yaml", main)).unwrap();
    for (main, team, refused) in [
        (main, "response: [{count: c}]\n", true),
        (&format!("empty: allowed\n{main}"), "response: [{count: c}]\n", true),
        ("levels: [team.yaml]\n", &format!("empty: allowed\n{level}"), true),
        (main, "empty: allowed\nresponse: [{count: c}]\n", false),
        // A level that is not named any more is none that was cut.
        ("log: [{count: d}]\n", "", false),
    ] {
        folder.write("team.yaml", team);
        folder.write("policy.yaml", main);
        assert_eq!(live.reload().is_err_and(|error| error.is_emptiness()), refused, "{main} {team}");
    }
}

/// Each kind of list from each kind of source: cut to nothing, it is refused at the start, and keeps its entries later.
#[test]
fn a_list_keeps_its_entries() {
    for (kind, entry) in [
        ("addresses", "192.0.2.0/24"),
        ("texts", "/a"),
        ("textsIgnoringCase", "/a"),
        ("hosts", "a.example"),
        ("integers", "7"),
        ("patterns", "a+"),
        ("wildcards", "/a*"),
    ] {
        for (source, file, full) in [
            ("files: [e.txt]", "e.txt", format!("{entry}\n")),
            ("files: [e.csv]", "e.csv", format!("entry\n{entry}\n")),
            ("files: [e.jsonl]", "e.jsonl", format!("{{\"entry\": \"{entry}\"}}\n")),
            ("files: ['d/*.txt']", "d/e.txt", format!("{entry}\n")),
            // Another file still has entries.
            ("files: [e.txt, more.txt]", "e.txt", format!("{entry}\n")),
        ] {
            let folder = Folder::new("empty-lists");
            std::fs::create_dir_all(folder.path("d")).unwrap();
            folder.write("more.txt", format!("{entry}\n"));
            folder.write(file, &full);
            let with = |more: &str| format!("lists: {{l: {{kind: {kind}, {source}{more}}}}}\n{RULES}");
            let main = folder.write("policy.yaml", with(""));
            let live = LivePolicy::load(&main).unwrap();
            let empty = if file.ends_with(".csv") { "entry\n" } else { "" };
            for cut in ["", "\n", empty].into_iter().filter(|text| !file.ends_with(".csv") || *text == "entry\n") {
                folder.write(file, cut);
                let read_again = live.current().read_lists().unwrap_err();
                for error in [Policy::load(&main).unwrap_err(), live.reload().unwrap_err(), read_again] {
                    assert!(error.is_emptiness(), "{kind} {source}: {error}");
                    let error = error.to_string();
                    assert!(error.contains("the list `l` has no entries from ") && error.contains(file), "{error}");
                    assert!(error.contains("`empty: allowed` in the list"), "{error}");
                }
            }
            folder.write("policy.yaml", with(", empty: allowed"));
            live.reload().unwrap();
            live.current().read_lists().unwrap();
            Policy::load(&main).unwrap();
        }
        let folder = Folder::new("empty-entries");
        let of = |list: &str| format!("lists: {{l: {{kind: {kind}{list}}}}}\n{RULES}");
        folder.write("policy.yaml", of(&format!(", entries: ['{entry}']")));
        let live = LivePolicy::load(folder.path("policy.yaml")).unwrap();
        for list in [", entries: []", ", entries: ", ""] {
            folder.write("policy.yaml", of(list));
            assert!(live.reload().unwrap_err().is_emptiness(), "{kind} {list}");
            // A list without sources is for the host to fill.
            assert_eq!(Policy::load(folder.path("policy.yaml")).is_ok(), list.is_empty(), "{kind} {list}");
        }
        folder.write("policy.yaml", of(", empty: allowed"));
        live.reload().unwrap();
    }
}

#[test]
fn a_folder_whose_files_are_gone_is_an_empty_list() {
    let folder = Folder::new("empty-folder");
    std::fs::create_dir_all(folder.path("d")).unwrap();
    folder.write("d/a.txt", "/a\n");
    folder.write("d/b.txt", "/b\n");
    let main = folder.write("policy.yaml", format!("lists: {{l: {{kind: texts, files: ['d/*.txt']}}}}\n{RULES}"));
    let policy = Policy::load(&main).unwrap();
    std::fs::remove_file(folder.path("d/a.txt")).unwrap();
    policy.read_lists().unwrap();
    std::fs::remove_file(folder.path("d/b.txt")).unwrap();
    assert!(policy.read_lists().unwrap_err().is_emptiness());
    assert!(Policy::load(&main).unwrap_err().is_emptiness());
    let more = "lists: {l: {kind: texts, entries: [/c], files: ['d/*.txt']}}\n";
    Policy::load(folder.write("policy.yaml", format!("{more}{RULES}"))).unwrap();
}

/// A file of secrets that is included: by the main file, by an included file, by a level.
#[test]
fn an_included_file_of_another_format_is_not_quoted() {
    let folder = Folder::new("secrets");
    std::fs::create_dir_all(folder.path("teams")).unwrap();
    for secret in [
        "hunter2",
        "hunter2: x",
        "[hunter2",
        "# hunter2\n",
        "- hunter2\n- b",
        "\"hunter2",
        "token=hunter2\nb: c: d",
        "jwt: hunter2",
        "apiKey: {key: hunter2}",
        "env: {A: hunter2}",
    ] {
        folder.write("admin.token", secret);
        folder.write("teams/own.token", secret);
        folder.write("more.yaml", "include: [admin.token]\n");
        for (main, team) in [
            ("include: [admin.token]\n", ""),
            ("include: [more.yaml]\n", ""),
            ("levels: [admin.token]\n", ""),
            ("levels: [teams/a.yaml]\n", "include: [own.token]\n"),
            ("levels: [teams/a.yaml]\n", "include: [../admin.token]\n"),
            ("levels: [teams/a.yaml]\n", "lists: {l: {kind: addresses, files: [../admin.token]}}\n"),
        ] {
            folder.write("teams/a.yaml", format!("{team}{RULES}"));
            let error = Policy::load(folder.write("policy.yaml", format!("{main}{RULES}"))).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && error.contains("token"), "{main} {secret}: {error}");
        }
    }
}

#[test]
fn files_of_a_level_are_below_its_folder() {
    let folder = Folder::new("level-folder");
    std::fs::create_dir_all(folder.path("teams/sub")).unwrap();
    folder.write("policy.yaml", format!("levels: [teams/a.yaml]\n{RULES}"));
    folder.write("outside.yaml", RULES);
    folder.write("outside.txt", "/a\n");
    folder.write("teams/sub/b.yaml", "include: [c.yaml]\n");
    folder.write("teams/sub/c.yaml", RULES);
    folder.write("teams/sub/l.txt", "/a\n");
    for name in ["outside.yaml", "outside.txt"] {
        std::os::unix::fs::symlink(folder.path(name), folder.path("teams").join(name)).unwrap();
    }
    let absolute = folder.path("teams/sub/c.yaml").display().to_string();
    let load = |include: &str, file: &str| {
        let list =
            if file.is_empty() { String::new() } else { format!("lists: {{l: {{kind: texts, files: ['{file}']}}}}\n") };
        folder.write("teams/a.yaml", format!("include: [{include}]\n{list}{RULES}"));
        Policy::load(folder.path("policy.yaml")).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(load("sub/b.yaml", "sub/l.txt"), Ok(()));
    assert_eq!(load("./sub/c.yaml", "sub/*.txt"), Ok(()));
    for wrong in ["../outside.yaml", "outside.yaml", "sub/../sub/c.yaml", "../none.yaml", &absolute] {
        let error = load(wrong, "").unwrap_err();
        assert!(error.contains("is not below the folder of this level"), "{wrong}: {error}");
    }
    for wrong in ["../outside.txt", "outside.txt", "../*.txt", "*.txt", "/etc/hostname", "../none.txt"] {
        let error = load("", wrong).unwrap_err();
        assert!(error.contains("is not below the folder of this level"), "{wrong}: {error}");
    }
    // So is the file of the level, which its owner can replace by a link.
    let file = folder.path("teams/a.yaml");
    let linked = |target: &str| {
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(target, &file).unwrap();
        Policy::load(folder.path("policy.yaml")).map(drop).map_err(|error| error.to_string())
    };
    for outside in ["../outside.yaml", "../none.yaml", "/etc/hostname", "/dev/null", ".."] {
        let error = linked(outside).unwrap_err();
        assert!(error.contains("`teams/a.yaml` is not below the folder of this level"), "{outside}: {error}");
    }
    // As Kubernetes shows files of a volume.
    std::os::unix::fs::symlink("sub", folder.path("teams/..data")).unwrap();
    assert_eq!(linked("..data/c.yaml"), Ok(()));
    assert!(linked("none.yaml").unwrap_err().contains("is not below the folder of this level"));
    std::fs::remove_file(&file).unwrap();
    // An included file of a level's file is of the level, too.
    folder.write("teams/sub/b.yaml", "include: [../outside.yaml]\n");
    assert!(load("sub/b.yaml", "").unwrap_err().contains("is not below the folder of this level"));
}
