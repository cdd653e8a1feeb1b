//! The diagnostics of the server are those of `celero check`.

use super::client::{Client, language, offset};
use crate::support::{celero, file};
use serde_json::Value as Json;

/// A diagnostic of `--json` and one of the server in one form: severity, code, place, message with help.
type Plain = (bool, String, (usize, usize), String);

fn of_command(text: &str, found: &Json) -> Plain {
    let mut message = found["message"].as_str().unwrap().to_owned();
    for help in found["help"].as_array().unwrap() {
        message.push_str(&format!("\nhelp: {}", help.as_str().unwrap()));
    }
    // The place of an error of the YAML may end behind the text.
    let span = |at: usize| text.floor_char_boundary(usize::try_from(found["span"][at].as_u64().unwrap()).unwrap());
    (found["severity"] == "error", found["code"].as_str().unwrap().to_owned(), (span(0), span(1)), message)
}

fn of_server(text: &str, found: &Json) -> Plain {
    let place = (offset(text, &found["range"]["start"]), offset(text, &found["range"]["end"]));
    let message = found["message"].as_str().unwrap().to_owned();
    (found["severity"] == 1, found["code"].as_str().unwrap().to_owned(), place, message)
}

/// A valid file, one with errors and one with warnings of each kind, with characters of one to four bytes.
const FILES: &[(&str, &str)] = &[
    ("good.cel", "request.path == \"/\"\n"),
    ("wrong.cel", "\"\u{1f600}é\" == request.pth &&\n  request.hots == 1 && size(1)\n"),
    ("open.cel", "request.path == (\"\u{1f600}\""),
    ("warned.cel", "request.path.matches(\"[\u{1f600}\") || \"\u{1f600}\" == \"b\""),
    // What one dialect of patterns refuses, the other accepts.
    ("re2.cel", "request.path.matches(r\"a**\")\n"),
    ("good_re2.cel", "request.headers[\"a\"].matches(r\"^/[[]\")\n"),
    ("regex.filter", "http.request.uri.path matches r\"^/[[]\"\n"),
    ("good_regex.filter", "http.request.uri.path matches \"/a**$\"\n"),
    ("named.cel", "# language: filter\n# \u{1f600}\nhttp.hots eq \"a\"\n"),
    ("good.filter", "http.host eq \"a\" and ip.src in {192.0.2.0/24}\n"),
    ("wrong.filter", "http.host eq \"\u{1f600}\" and http.hots eq \"a\" or lenn(http.host) > 1"),
    (
        "mixed.rules",
        "# \u{1f600}\na: request.path == \"\u{1f600}\" && request.pth\nb [language filter]:\n  http.host EQ \"a\"\nc: true\nd: true\n",
    ),
    (
        "guard.rules",
        "g [tag deny]: request.headers[\"x-\u{1f600}\"] != \"a\"\nh: request.path == \"/\"\ni: request.path == \"/\"\n",
    ),
    (
        "policy.yaml",
        "variables:\n  a: \"request.pth == '\u{1f600}'\"\nrequest:\n- name: \u{1f600}\n  when: 'request.path == ''é'' && request.hots == \"\"'\n  denny: true\n- redirect: https://${request.hots}/\n",
    ),
    ("warned.yaml", "request:\n- name: a\n  deny: true\n- name: a\n  when: response.code == 200\n  deny: 403\n"),
    ("broken.yaml", "request:\n- when: {\n"),
];

#[test]
fn diagnostics_are_those_of_check() {
    let mut client = Client::new(&[]);
    let mut codes = std::collections::BTreeSet::new();
    for (name, text) in FILES {
        // A copy in a folder of its own, so that both see one path.
        let path = file(&format!("lsp-{name}"), text);
        let checked = celero(&["check", "--json", &path]).json();
        let mut wanted: Vec<Plain> =
            checked["diagnostics"].as_array().unwrap().iter().map(|found| of_command(text, found)).collect();
        let language = if name.ends_with(".yaml") { "celero-policy" } else { language(name) };
        let found = client.open(&format!("file://{path}"), language, text);
        let mut found: Vec<Plain> = found.iter().map(|found| of_server(text, found)).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(wanted.is_empty(), name.starts_with("good"), "{name}: {wanted:?}");
        codes.extend(wanted.into_iter().map(|found| found.1));
    }
    assert!(codes.len() >= 6, "{codes:?}");
    assert_eq!(client.end(), 0);
}

#[test]
fn diagnostics_are_those_of_check_for_the_file_tests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/policy/tests/errors");
    let mut client = Client::new(&[]);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().canonicalize().unwrap();
        let name = path.to_str().unwrap();
        let Some(text) = name.ends_with(".yaml").then(|| std::fs::read_to_string(&path).unwrap()) else { continue };
        let mut wanted: Vec<Plain> = celero(&["check", "--json", name]).json()["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| of_command(&text, found))
            .collect();
        let found = client.open(&format!("file://{name}"), "celero-policy", &text);
        let mut found: Vec<Plain> = found.iter().map(|found| of_server(&text, found)).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{name}");
        count += 1;
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn policies_may_use_what_their_host_declares() {
    let host = file("lsp-host.yaml", "variables: {tenant.seats: int}\n");
    let mut client = Client::new(&["--env", &host]);
    let text = "request: [{name: a, when: tenant.seats > 1, deny: 402}, {name: b, when: tenant.seat > 1, deny: 402}]\n";
    let found = client.open("file:///of-host.yaml", "celero-policy", text);
    let messages: Vec<&str> = found.iter().map(|found| found["message"].as_str().unwrap()).collect();
    assert!(messages.len() == 1 && messages[0].contains("did you mean `tenant.seats`?"), "{messages:?}");
    assert_eq!(client.end(), 0);
}
