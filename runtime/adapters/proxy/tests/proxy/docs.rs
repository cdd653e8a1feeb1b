//! `docs/proxy.md`, `docs/proxy-reference.md`, `docs/proxy-output.md` and the files in `examples/` agree with the code.

use crate::certificates::Authority;
use crate::client::get;
use crate::quickstart::markdown::blocks;
use crate::running::{Folder, Running, say, workspace};
use celero_proxy::config::Config;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// A page of `docs/`.
fn page(name: &str) -> String {
    std::fs::read_to_string(workspace().join("docs").join(name)).unwrap()
}

fn reference() -> String {
    page("proxy-reference.md")
}

/// The first block of a language.
fn block(page: &str, language: &str) -> String {
    blocks(page).iter().find(|block| block.language == language).unwrap().body.to_owned()
}

fn message(proxy: &str) -> String {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let file = folder.write("proxy.yaml", proxy);
    let error = Config::check(&file).expect_err("this is wrong").to_string();
    error.replace(&format!("{}/", folder.0.display()), "")
}

#[test]
fn the_whole_configuration_is_one() {
    let (folder, example) = (Folder::new(), block(&reference(), "yaml"));
    folder.write("policy.yaml", "empty: allowed\n");
    folder.write("admin.token", &"t".repeat(32));
    let file = folder.write("proxy.yaml", &example);
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(message(&example.replace("servers:", "serves:")).trim(), block(&reference(), "text").trim());
}

/// The files that examples name.
fn example_files() -> Folder {
    let (folder, authority) = (Folder::new(), Authority::new("examples"));
    for name in ["www.example.com", "api.example.com"] {
        authority.server(&[name]).write(&folder, name);
    }
    for (name, text) in [
        ("clients.pem", authority.pem()),
        ("internal.pem", authority.pem()),
        ("api.example.com.ocsp", "a response".to_owned()),
        ("admin.token", "t".repeat(32)),
        ("down.html", "<p>closed</p>".to_owned()),
        ("policy.yaml", "empty: allowed\n".to_owned()),
    ] {
        folder.write(name, &text);
    }
    folder
}

/// What an example leaves out that every configuration needs.
const REQUIRED: [(&str, &str); 4] = [
    ("listeners:", "listeners: [{ address: 127.0.0.1:0 }]\n"),
    ("policy:", "policy: policy.yaml\n"),
    ("upstreams:", "upstreams: [{ name: example, demo: true }]\n"),
    ("routes:", "routes: [{ upstream: example }]\n"),
];

/// A block of `yaml` is a configuration, or with `file=` a file that later ones name.
#[test]
fn the_examples_are_configurations() {
    for (name, least) in [("proxy.md", 12), ("proxy-reference.md", 2)] {
        let (page, folder, mut checked) = (page(name), example_files(), 0);
        for block in blocks(&page).iter().filter(|block| block.language == "yaml") {
            assert_eq!(block.attribute("no-run"), None, "{name}:{}", block.line);
            if let Some(file) = block.attribute("file") {
                folder.write(file, block.body);
                continue;
            }
            let missing = REQUIRED.iter().filter(|(key, _)| !block.body.lines().any(|line| line.starts_with(key)));
            let text: String = missing.map(|(_, line)| *line).chain([block.body]).collect();
            let file = folder.write("proxy.yaml", &text);
            Config::check(&file).unwrap_or_else(|error| panic!("{name}:{}: {error}", block.line));
            checked += 1;
        }
        assert!(checked >= least, "{name}: {checked}");
    }
}

/// Adds the keys of a schema.
fn add_keys(schema: &Json, found: &mut BTreeSet<String>) {
    match schema {
        Json::Object(members) => {
            if let Some(Json::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().cloned());
            }
            members.values().for_each(|value| add_keys(value, found));
        }
        Json::Array(elements) => elements.iter().for_each(|value| add_keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_described() {
    let (page, mut keys) = (reference(), BTreeSet::new());
    add_keys(&Config::json_schema(), &mut keys);
    assert!(keys.len() >= 30, "{keys:?}");
    let missing: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("| `{key}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_schema_beside_the_examples_is_the_one_of_this_version() {
    let path = workspace().join("examples/proxy.schema.json");
    let expected = format!("{:#}\n", Config::json_schema());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn every_metric_is_described() {
    let (page, proxy) = (page("proxy-output.md"), Running::demo("request: [{ name: a, count: b }]\n"));
    get(proxy.address, "/");
    let metrics = get(proxy.metrics, "/metrics").text();
    let names: Vec<&str> = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(names.len() >= 10);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name} is not described");
    }
}

/// The fields are those that `log_entry.rs` adds, whether or not a test makes a request that has them.
#[test]
fn every_field_of_the_access_log_is_described() {
    let (page, source) = (page("proxy-output.md"), include_str!("../../src/request/log_entry.rs"));
    let (_, section) = page.split_once("\n## The access log\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let fields: Vec<&str> = source.split("entry.add(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(fields.len() >= 18, "{fields:?}");
    let missing: Vec<_> = fields.iter().filter(|field| !section.contains(&format!("`{field}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What systemd thinks of the unit: no mistake, and little that a process which was taken over could do.
#[test]
fn systemd_accepts_the_units() {
    let folder = Folder::new();
    let analyze = |arguments: &[&str], files: &[&Path]| {
        let output = Command::new("systemd-analyze").args(arguments).args(files).output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        // An unknown key is a line with the file's path, and no failure.
        (output.status.success() && !said.contains(&*folder.0.to_string_lossy()), said)
    };
    if Command::new("systemd-analyze").arg("--version").stdout(Stdio::null()).status().is_err() {
        say("left out: there is no systemd-analyze");
        return;
    }
    let unit = |name: &str| std::fs::read_to_string(workspace().join("packaging").join(name)).unwrap();
    let service = unit("celero-proxy.service").replace("/usr/bin/celero-proxy", env!("CARGO_BIN_EXE_celero-proxy"));
    let socket = folder.write("celero-proxy.socket", &unit("celero-proxy.socket"));
    let file = folder.write("celero-proxy.service", &service);
    let (fine, said) = analyze(&["verify"], &[&file, &socket]);
    assert!(fine, "{said}");
    let (fine, said) = analyze(&["security", "--offline=true", "--threshold=18"], &[&file]);
    assert!(fine, "{said}");
    // Both tests can fail.
    let file = folder.write("celero-proxy.service", &service.replace("UMask=0027", "UMsk=0027"));
    assert!(!analyze(&["verify"], &[&file, &socket]).0);
    let file = folder.write("celero-proxy.service", &service.replace("NoNewPrivileges=yes", ""));
    assert!(!analyze(&["security", "--offline=true", "--threshold=18"], &[&file]).0);
}

/// The texts under a key of a ConfigMap.
fn config_map(text: &str, key: &str) -> String {
    let (_, rest) = text.split_once(&format!("  {key}: |\n")).unwrap();
    rest.lines().map_while(|line| line.strip_prefix("    ")).fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn the_files_of_kubernetes_fit_together() {
    let text = std::fs::read_to_string(workspace().join("packaging/kubernetes.yaml")).unwrap();
    let folder = Folder::new();
    folder.write("policy.yaml", &config_map(&text, "policy.yaml"));
    let file = folder.write("proxy.yaml", &config_map(&text, "proxy.yaml"));
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
    let config = Config::load(&file).unwrap();
    let admin = config.metrics.unwrap().port();
    assert!(text.contains(&format!("name: admin, containerPort: {admin} ")));
    assert!(text.contains(&format!("name: http, containerPort: {} ", config.listeners[0].address.port())));
    let (_, seconds) = text.split_once("terminationGracePeriodSeconds: ").unwrap();
    let seconds: u64 = seconds.lines().next().unwrap().parse().unwrap();
    assert!((config.grace + config.drain_delay).as_secs() < seconds);
    for probe in ["/health", "/ready"] {
        assert!(text.contains(&format!("path: {probe}, port: admin")), "{probe}");
        assert_eq!(get(Running::demo("empty: allowed\n").metrics, probe).status, 200);
    }
}
