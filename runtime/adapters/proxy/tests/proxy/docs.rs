//! `docs/proxy.md` tells what is so.

use crate::client::get;
use crate::running::{Folder, Running, workspace};
use celero_proxy::config::Config;

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
    folder.write("policy.yaml", "");
    let file = folder.write("proxy.yaml", proxy);
    let error = Config::check(&file).expect_err("this is wrong").to_string();
    error.replace(&format!("{}/", folder.0.display()), "")
}

#[test]
fn the_whole_configuration_is_one() {
    let (folder, example) = (Folder::new(), block(&page(), "yaml"));
    folder.write("policy.yaml", "");
    let file = folder.write("proxy.yaml", &example);
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(message(&example.replace("servers:", "serves:")).trim(), block(&page(), "text").trim());
}

#[test]
fn every_field_is_described() {
    let (page, example) = (page(), block(&page(), "yaml"));
    let places = [
        "listeners:",
        "    h2c: true",
        "    balance: consistent",
        "      path: /health",
        "    path: /api",
        "  idle: 60s",
    ];
    let mut fields = 0;
    for place in places {
        let indent = " ".repeat(place.len() - place.trim_start().len());
        let told = message(&example.replacen(place, &format!("{indent}unheard-of: 1\n{place}"), 1));
        let (_, list) = told.split_once("its fields are ").unwrap_or_else(|| panic!("{told}"));
        for field in list.lines().next().unwrap().split(", ") {
            assert!(page.contains(&format!("| {field}")), "{field} is not described");
            fields += 1;
        }
    }
    assert!(fields >= 30, "{fields}");
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
