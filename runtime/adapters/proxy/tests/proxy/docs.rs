//! `docs/proxy.md` and the files in `examples/` agree with the code.

use crate::client::get;
use crate::running::{Folder, Running, say, workspace};
use celero_proxy::config::Config;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

fn page() -> String {
    std::fs::read_to_string(workspace().join("docs/proxy.md")).unwrap()
}

/// The first block of a language.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
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
    let (folder, example) = (Folder::new(), block(&page(), "yaml"));
    folder.write("policy.yaml", "empty: allowed\n");
    folder.write("admin.token", &"t".repeat(32));
    let file = folder.write("proxy.yaml", &example);
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(message(&example.replace("servers:", "serves:")).trim(), block(&page(), "text").trim());
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
    let (page, mut keys) = (page(), BTreeSet::new());
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
    let (page, proxy) = (page(), Running::demo("request: [{ name: a, count: b }]\n"));
    get(proxy.address, "/");
    let metrics = get(proxy.metrics, "/metrics").text();
    let names: Vec<&str> = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(names.len() >= 10);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name} is not described");
    }
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
