//! Times, sizes and rates are the same with and without quotes, in YAML and in JSON, for every key that holds one.

use crate::running::Folder;
use crate::schema_documents::{block, documents, whole_config};
use celero_policy::Policy;
use celero_proxy::config::Config;
use serde_json::{Value as Json, json};
use std::path::Path;

/// A value of the type of a key; `None` if it holds no time, size or rate.
fn value(schema: &Json) -> Option<Json> {
    Some(json!(match schema["pattern"].as_str()? {
        pattern if pattern.contains("KiB") => "2KiB",
        pattern if pattern.contains("[smhd]") => "7/m",
        pattern if pattern.contains("ms") => "5s",
        pattern if pattern.contains("[smh]?") => "2m",
        other => panic!("a value for {other}"),
    }))
}

/// The texts of a document: without quotes, in JSON, and with each kind of quotes.
fn texts(document: &Json) -> [String; 4] {
    let json = document.to_string();
    let value = ["2KiB", "7/m", "5s", "2m"].into_iter().find(|value| json.contains(&format!("\"{value}\""))).unwrap();
    let plain = block(document);
    let quoted = |quote: char| plain.replace(&format!(" {value}\n"), &format!(" {quote}{value}{quote}\n"));
    [plain.clone(), json, quoted('"'), quoted('\'')]
}

#[test]
fn the_configuration_reads_them_with_and_without_quotes() {
    let folder = Folder::new();
    let found = documents(&Config::json_schema(), &value);
    assert!(found.len() >= 25, "{}", found.len());
    for (path, document) in found {
        let [plain, others @ ..] = texts(&whole_config(&path, &document));
        let load = |text: &str| Config::load(&folder.write("proxy.yaml", text)).map_err(|error| error.to_string());
        let expected = load(&plain);
        for text in others {
            assert_ne!(text, plain);
            match (&expected, load(&text)) {
                (Ok(expected), Ok(config)) => assert_eq!(&config, expected, "{text}"),
                // What it must have besides is missing, or this value has no effect there.
                (Err(expected), Err(error)) => {
                    let about = |error: &str| {
                        error.lines().filter(|line| line.contains("error[")).collect::<Vec<_>>().join("\n")
                    };
                    assert_eq!(about(&error), about(expected), "{text}");
                    assert!(!error.contains("[config-value]"), "{path}: {error}");
                }
                (expected, found) => panic!("{path}: {:?}, but {:?}\n{text}", expected.as_ref().err(), found.err()),
            }
        }
        let wrong = Config::load(
            &folder.write("proxy.yaml", &plain.replace(": 2KiB", ": 5 minutes").replace(": 5s", ": 5 minutes")),
        );
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains("as in `") && error.contains("not `5 minutes`"), "{path}: {error}");
    }
}

#[test]
fn policies_and_cases_read_them_with_and_without_quotes() {
    let found = documents(&Policy::json_schema(), &value);
    assert!(found.len() >= 25, "{}", found.len());
    let mut right = 0;
    for (path, document) in found {
        let about = |text: &str| match Policy::parse("policy.yaml", text, Path::new(".")) {
            Ok(_) => String::new(),
            Err(error) => {
                error.diagnostics().map(|(_, found)| format!("{}: {}\n", found.code, found.message)).collect()
            }
        };
        let [plain, others @ ..] = texts(&document);
        let expected = about(&plain);
        assert!(
            !["2KiB", "7/m", "5s", "2m"].iter().any(|value| expected.contains(&format!("not `{value}`"))),
            "{path}: {expected}"
        );
        right += usize::from(expected.is_empty());
        for text in others {
            assert_eq!(about(&text), expected, "{path}: {text}");
        }
    }
    assert!(right > 3, "{right}");
    let policy = Policy::parse("policy.yaml", "request: [{delay: 5s}]", Path::new(".")).unwrap();
    for (at, delay) in [("1m", "5s"), ("'1m'", "'5s'"), ("\"1m\"", "\"5000ms\"")] {
        for case in [
            format!("- name: a\n  at: {at}\n  expect: {{delay: {delay}}}\n"),
            format!("[{{\"name\": \"a\", \"at\": {at}, \"expect\": {{\"delay\": {delay}}}}}]"),
        ] {
            let report = policy.test("cases.yaml", &case).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(report.passed(), "{case}: {}", report.render(false));
        }
    }
}
