//! `--descriptors` and `--message`: rules on messages of protocol buffers.

use crate::support::{answers, celero, file};
use std::path::PathBuf;

/// A file of bytes for a test.
fn bytes(name: &str, content: &[u8]) -> String {
    let path: PathBuf = file(name, "").into();
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

/// `syntax = "proto3"; package a; message M { int32 n = 1; string t = 2; }`
const DESCRIPTORS: &[u8] = b"\x0a\x2c\x0a\x07a.proto\x12\x01a\x22\x16\x0a\x01M\x12\x07\x0a\x01n\x18\x01\x28\x05\x12\x08\x0a\x02tt\x18\x02\x28\x09b\x06proto3";

#[test]
fn rules_read_messages_from_files() {
    let descriptors = bytes("a.binpb", DESCRIPTORS);
    let message = bytes("m.bin", &[0x08, 7, 0x12, 2, b'h', b'i']);
    let bound = format!("m:a.M={message}");
    let eval = |rule: &str| celero(&["eval", "--descriptors", &descriptors, "--message", &bound, "-e", rule]);
    let run = eval("m.n > 5 && m.tt == 'hi' && m == a.M{n: 7, tt: 'hi'}");
    assert_eq!((run.code, run.out.trim(), &*run.err), (0, "true", ""));
    let run = eval("m");
    assert_eq!((run.code, run.out.trim(), &*run.err), (0, "a.M{n: 7, tt: \"hi\"}", ""));
    let run = eval("m.ttt == 'a'");
    assert!(run.code == 1 && run.err.contains("message `a.M` has no field `ttt`"), "{}", run.err);
    assert!(run.err.contains("did you mean `tt`?"), "{}", run.err);
    let run = eval("a.N{}");
    assert!(run.code == 1 && run.err.contains("undeclared type `a.N`"), "{}", run.err);
    let run = celero(&["check", "--descriptors", &descriptors, "-e", "a.M{n: 'x'}"]);
    assert!(run.code == 1 && run.err.contains("the field `n` of `a.M` is `int`, this is `string`"), "{}", run.err);
}

#[test]
fn wrong_messages_are_named() {
    let descriptors = bytes("b.binpb", DESCRIPTORS);
    let message = bytes("short.bin", &[0x08]);
    let eval = |descriptors: &str, bound: &str| {
        celero(&["eval", "--descriptors", descriptors, "--message", bound, "-e", "m.n > 5"])
    };
    let run = eval(&descriptors, &format!("m:a.M={message}"));
    assert!(run.code == 1 && run.err.contains("error[invalid_argument]"), "{}", run.err);
    let run = eval(&descriptors, &format!("m:a.m={message}"));
    assert!(run.code == 2 && run.err.contains("b.binpb has no message `a.m`; did you mean `a.M`?"), "{}", run.err);
    let run = eval(&descriptors, &format!("m:M={message}"));
    assert!(run.code == 2 && run.err.contains("b.binpb has no message `M`; did you mean `a.M`?"), "{}", run.err);
    let run = eval(&descriptors, &message);
    assert!(run.code == 2 && run.err.contains("is not of the form NAME:TYPE=FILE"), "{}", run.err);
    let run = eval(&message, &format!("m:a.M={message}"));
    let wrong = "short.bin: these bytes are no file descriptor set: the message ends inside a field";
    assert!(run.code == 2 && run.err.contains(wrong), "{}", run.err);
    let run = eval(&bytes("b.proto", b"message M {}"), &format!("m:a.M={message}"));
    assert!(run.code == 2 && run.err.contains("it is made with `protoc --include_imports"), "{}", run.err);
    let run = eval("/nowhere.binpb", &format!("m:a.M={message}"));
    assert!(run.code == 2 && run.err.contains("/nowhere.binpb"), "{}", run.err);
}

#[test]
fn variables_are_declared_as_messages() {
    let descriptors = bytes("vars.binpb", DESCRIPTORS);
    let check = |vars: &str, rule: &str| celero(&["check", "--descriptors", &descriptors, "--vars", vars, "-e", rule]);
    let run = check("m: a.M, all: list(a.M), n: int", "m.n > n && all.exists(each, each.tt == 'x' && each == m)");
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let run = check("m: a.M", "m.none");
    assert!(run.code == 1 && run.err.contains("message `a.M` has no field `none`"), "{}", run.err);
    for (vars, wrong) in [
        ("m: M", "there is no type `M`; did you mean `a.M`?"),
        ("m: a.m", "there is no type `a.m`; did you mean `a.M`?"),
    ] {
        let run = check(vars, "m.n > 1");
        assert!(run.code == 2 && run.err.contains(wrong), "{}", run.err);
    }
}

#[test]
fn rules_about_requests_name_messages() {
    let descriptors = bytes("requests.binpb", DESCRIPTORS);
    let requests = file("messages.http", "GET /ab HTTP/1.1\nhost: h\n\n");
    let rule = "a.M{n: size(request.path), tt: request.host} == a.M{n: 3, tt: 'h'}";
    let eval = |more: &[&str]| celero(&[&["eval", "--descriptors", &descriptors, "-e", rule], more].concat());
    let run = eval(&["--requests", &requests]);
    assert_eq!((run.code, run.out.trim(), &*run.err), (0, "true", ""));
    let run = eval(&["--requests", &requests, "--message", "m:a.M=m.bin"]);
    assert!(run.code == 2 && run.err.contains("--requests"), "{}", run.err);
}

#[test]
fn lines_name_messages() {
    let descriptors = bytes("lines.binpb", DESCRIPTORS);
    let lines = [
        r#"{"expr": "a.M{n: 7}.n + 1"}"#,
        r#"{"expr": "m.none", "vars": {"m": "a.M"}}"#,
        r#"{"expr": "m", "vars": {"m": "a.N"}}"#,
    ];
    let (code, answers) = answers(&["--descriptors", &descriptors], &lines.join("\n"));
    assert_eq!((code, &answers[0]), (0, &serde_json::json!({ "value": { "int": "8" } })));
    let message = |answer: usize| answers[answer]["error"]["message"].as_str().unwrap();
    assert!(message(1).contains("message `a.M` has no field `none`"), "{answers:?}");
    assert!(message(2).contains("there is no type `a.N`"), "{answers:?}");
}
