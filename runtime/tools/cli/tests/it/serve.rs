//! `celero serve`: which files become which page. The server itself is tested in its crate.

use crate::support::{celero, command, file};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Starts the server and returns what `path` answers.
fn get(args: &[&str], path: &str) -> Json {
    let all: Vec<&str> = ["serve", "--listen", "127.0.0.1:0"].iter().chain(args).copied().collect();
    let mut child = command(&all).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("celero: http://").and_then(|rest| rest.split('/').next()).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nX-Celero: 1\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[test]
fn files_become_pages() {
    let start = get(&["-e", "1 + 1"], "/api/start");
    assert_eq!(start["rule"], json!({ "name": "-e", "text": "1 + 1", "language": "cel" }));
    let filter = file("one.filter", "# a comment\nssl\n");
    assert_eq!(get(&[&filter], "/api/start")["rule"]["language"], "filter");
    let rules = file("served.rules", "a: request.path == \"/\"\nb: request.path == \"/\"\n");
    let found = get(&[&rules], "/api/rules");
    assert_eq!((&found["ok"], &found["texts"][1]["name"]), (&json!(true), &json!("b")));
    let (one, two) = (file("first.cel", "1 == 1"), file("second.cel", "2 == 2"));
    assert_eq!(get(&[&one, &two], "/api/rules")["texts"].as_array().unwrap().len(), 2);
    // Options for all files hold whenever the files are read.
    let (one, two) = (file("first.txt", "http.host eq \"a\""), file("second.txt", "ssl"));
    let found = get(&["--language", "filter", &one, &two], "/api/rules");
    assert_eq!((&found["ok"], &found["texts"][1]["language"]), (&json!(true), &json!("filter")), "{found}");
    let named = file("third.txt", "a: request.path == \"/\"\n");
    let found = get(&["--format", "rules", &named], "/api/rules");
    assert_eq!(found["texts"][0]["name"], "a", "{found}");
    let policy = file("served.yaml", "request:\n- name: all\n  deny: 403\n");
    let cases = file("served-cases.yaml", "- name: denied\n  request: {uri: /}\n  expect: {status: 403}\n");
    assert_eq!(get(&[&policy, &cases], "/api/policy")["cases"][0]["cases"][0]["passed"], true);
    let requests = file("recorded.http", "GET / HTTP/1.1\n");
    assert_eq!(get(&[&policy, "--requests", &requests], "/api/start")["requests"], json!(requests));
}

#[test]
fn what_cannot_be_served_is_named() {
    let rule = file("beside.cel", "true");
    let long = file("long.rules", &"# a comment\n".repeat(400_000));
    for (args, why) in [
        (&["serve", "-e", "true", "-e", "false"][..], "takes one text, or files"),
        (&["serve", "-e", "true", &rule], "takes one text, or files"),
        (&["serve", &long], "longer than 4194304 bytes"),
        (&["serve", "/dev/zero"], "/dev/zero: not a regular file"),
        (&["serve", "-"], "standard input can't be one"),
        (&["serve", "--requests", "/dev/zero"], "/dev/zero: not a regular file"),
        (&["serve", "--requests", &long], "longer than 4194304 bytes"),
        (&["serve", "/no/such.rules"], "/no/such.rules"),
        (&["serve", "--listen", "nowhere"], "invalid value 'nowhere'"),
        (&["serve", "--listen", "192.0.2.1:1"], "192.0.2.1:1"),
    ] {
        let run = celero(args);
        assert!(run.code == 2 && run.err.contains(why), "{}", run.err);
    }
}
