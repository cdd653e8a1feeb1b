//! `json` and `yaml` functions of cel-go's encoders, on the same expressions: what cel-go gives, and what is otherwise.

use super::Dynamic;
use super::cel_go::Asked;
use super::go_values::agrees;
use crate::go_program::GoProgram;
use celero::Engine;
use celero_tests::shared::say;
use serde_json::json;

/// Texts that `yaml.parse` reads, and of which most are JSON.
const TEXTS: &[&str] = &[
    "hello",
    "'hello'",
    "123",
    "1.5",
    "true",
    "null",
    "~",
    "[]",
    "{}",
    "[1, 'two', true]",
    r#"{"items": [1, "two", false]}"#,
    "- 1\n- two\n- true",
    "items:\n  - 1\n  - two",
    "a: 1\nb: 2",
    "  \n a: 1 \r\n ",
    "[1.0, 1e2, 0x1f, 0o17, 017, 1_000, 0b11, .5, 5., +1]",
    "[yes, no, on, off, y, True, tRue, Null, nULL]",
    "[2023-01-01, 2023-1-1, 2023-01-01 1:2:3.5, 2023-01-01t10:00:00.50+01:00, 2023-02-30]",
    "[1:30, 12:99, 1e400, 9007199254740993, -9223372036854775808, 0.1, 1e21]",
    "a: &x {b: 1}\nc: *x\nd: [*x, *x]",
    "&a [1, &b 2, *b]",
    "a: |\n  x\n  y\nb: >\n  x\n  y\n",
    "a: |-\n  x\nb: |+\n  x\n\n",
    "!!str 1",
    "!!int \"1\"",
    "!!float 1",
    "!!binary aGk=",
    "!!set {a, b}",
    "!foo bar",
    "? a",
    "{1: a, true: b, 1.5: c}",
    "--- a",
    "---",
    "--- a\n...",
    "# only a comment",
    "",
    ": a",
    "[1, 2",
    "a: b: c",
    "{[1]: a}",
    "{a: 1, a: 2}",
    "a\n---\nb",
    "x: *a",
    "&a [*a]",
    ".inf",
    "!!bool yes",
    "!!int 1.5",
    "\"a\\x41\\u00e9\\n\"",
    "'it''s'",
    "a b  c",
    "a #b",
    "a#b",
    "a:b",
    "http://a/b?c=d",
    "\"aGk=\"",
    "\"5s\"",
    "2023-01-01T00:00:00Z",
    "-42",
    "007",
    "1e2",
];

/// Texts of JSON only.
const DOCUMENTS: &[&str] = &[
    "[1, 1.0, 1e2, 1.5, -0.5, 9007199254740993]",
    r#"{"a":1,"a":2}"#,
    r#""a\u0041\ud83d\ude00""#,
    " \t42\n",
    "{\"a\": 1} {\"b\": 2}",
    "{\"a\": 1,}",
    "1 2",
    "\"1700000000\"",
    "\" 1.5 \"",
    "\"1h1.5s\"",
    "\"0\"",
    "\"aGVsbG8\"",
    "\"-__-\"",
    "18446744073709551615",
];

const TYPES: &[&str] = &[
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "null_type",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "type([1])",
    "type({'': 1})",
    "list",
    "map",
];

/// Values that are written. A map has one key: cel-go writes more in an order by chance.
const VALUES: &[&str] = &[
    "'hello'",
    "[1.0, 1.5, 1e20, 1e21, 1e-6, 1e-7, 0.1, -0.0, 123456789.125]",
    "0.0 / 0.0",
    "[1.0 / 0.0]",
    "[9007199254740991, 9007199254740992, -9007199254740992, 18446744073709551615u]",
    "{'items': [1, 'two', false, {'m': {'n': null}}, {'x': []}, {'y': {}}, {'z': [[1, 2], [3]]}]}",
    "[{'a': [1, {'b': [2]}]}, {'c': {'d': [3]}}]",
    "[[[1]], [{'a': {'b': 1}}]]",
    "[[], {}, [[]], [{}]]",
    "{1: 'a'}",
    "{true: 'b'}",
    "'<a&b>'",
    "'a\\u2028b\\n\"\\\\ é'",
    "b'hi'",
    "timestamp('2026-01-02T03:04:05.5Z')",
    "duration('1500ms')",
    "optional.of(1)",
    "optional.none()",
    "int",
    "ip('::1')",
    "null",
    "['', ' ', 'a ', '123', 'true', 'yes', '~', '- a', 'a: b', 'a #b', '#a', '[a', 'a]', \"it's\", 'a\\\\b', '1:30', '0x1f', '=', '-', '?a', '---', '🚀', '1e400', '2023-02-30', 'a,b']",
];

/// Words of an expression, and why its result is otherwise.
const OTHERWISE: &[(&str, &str)] = &[
    ("18446744073709551615\")", "cel-go reads integers beyond 63 bits as doubles"),
    ("yaml.encode('a\\u2028b", "cel-go writes a block of lines, which this character ends"),
    ("\"007\"", "cel-go reads a number alone as Go does; it is not JSON"),
];

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn encoders_do_what_those_of_cel_go_do() {
    let Some(judge) = GoProgram::build_module("trees", "encoders are not judged by cel-go") else { return };
    let mut sources = Vec::new();
    for text in TEXTS {
        sources.push(format!("yaml.parse({})", quoted(text)));
        sources.extend(TYPES.iter().map(|ty| format!("yaml.parse({}, {ty})", quoted(text))));
    }
    for text in TEXTS.iter().chain(DOCUMENTS) {
        sources.push(format!("json.parse({})", quoted(text)));
        sources.extend(TYPES.iter().map(|ty| format!("json.parse({}, {ty})", quoted(text))));
    }
    for value in VALUES {
        sources.extend(["json", "yaml"].map(|form| format!("{form}.encode({value})")));
    }
    let engine = Engine::new();
    let asked: Vec<Asked> = sources
        .into_iter()
        .map(|source| {
            let env = Dynamic::dynamic();
            Asked { source, env, container: "", variables: Vec::new(), sets: vec![Vec::new()] }
        })
        .collect();
    let mut questions = vec![json!({ "functions": true })];
    questions.extend(asked.iter().map(|asked| asked.question(&engine).unwrap_or_else(|| panic!("{}", asked.source))));
    let answers = judge.ask(&questions);
    let (mut wrong, mut same, mut used) = (Vec::new(), 0, vec![false; OTHERWISE.len()]);
    for (asked, answer) in asked.iter().zip(&answers[1..]) {
        let (source, expected) = (&asked.source, &answer["results"][0]);
        let own = &asked.results(&engine.compile(&asked.env, source).unwrap())[0];
        if agrees(own, expected) {
            same += 1;
        } else if let Some(at) = OTHERWISE.iter().position(|(words, _)| source.contains(words)) {
            used[at] = true;
        } else {
            wrong.push(format!("{source}: {own}, cel-go: {expected} {}", answer["refused"]));
        }
    }
    say(&format!("{same} of {} expressions with encoders give what cel-go gives", asked.len()));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    let unused: Vec<_> = OTHERWISE.iter().zip(used).filter(|(_, used)| !used).map(|((_, why), _)| why).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
