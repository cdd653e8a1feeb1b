//! Documents that are read and written, and those that are made to take long.

use super::*;
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::library::json;
use crate::value::Value;
use celero_ir::ErrorKind::{InvalidArgument, OutOfBudget};

/// The JSON of a document: `none` if it is none.
fn read(text: &str) -> EvalResult<String> {
    let arena = Arena::new(16 << 20);
    let cx = Cx::new(1_000_000, &arena);
    Ok(match parse(&cx, text)? {
        Some(value) => json::to_json(&cx, value)?.to_owned(),
        None => "none".to_owned(),
    })
}

/// The document of JSON.
fn written(json: &str) -> EvalResult<String> {
    let arena = Arena::new(16 << 20);
    let cx = Cx::new(1_000_000, &arena);
    let json = cx.arena().alloc_str(json)?.as_bytes();
    encode(&cx, &json::json_parse(&cx, json)?).map(str::to_owned)
}

/// What cel-go 0.33 gives, each of which was seen there.
#[test]
fn documents_are_read_as_cel_go_reads_them() {
    for (text, json) in [
        ("hello", r#""hello""#),
        ("--- a\n...", r#""a""#),
        ("---", "null"),
        ("a:", r#"{"a":null}"#),
        ("a: |\n  x\n  y\n", r#"{"a":"x\ny\n"}"#),
        ("[a, b: c]", r#"["a",{"b":"c"}]"#),
        ("a: &x {b: 1}\nc: *x", r#"{"a":{"b":1},"c":{"b":1}}"#),
        ("&a [1, &b 2, *b]", "[1,2,2]"),
        ("[&a k, {*a : 1}]", r#"["k",{"k":1}]"#),
        ("[&a 1, {*a : 1}]", r#"[1,{"1":1}]"#),
        ("\"<<\": {a: 1}", r#"{"<<":{"a":1}}"#),
        ("? a", r#"{"a":null}"#),
        ("{1: a, true: b, 1.5: c, \"q\": f}", r#"{"1":"a","1.5":"c","q":"f","true":"b"}"#),
        (
            "[yes, no, on, off, y, True, tRue, Null, ~, nULL, ]",
            r#"["yes","no","on","off","y",true,"tRue",null,null,"nULL"]"#,
        ),
        ("[1.0, 1e2, 0x1f, 0o17, 017, 1_000, 0b11, .5, 5., +1, -0x1]", "[1,100,31,15,15,1000,3,0.5,5,1,-1]"),
        ("[1_0.5, 0777, 08, 0_1, -0b1, 0o8, 1__0, 1e400]", r#"[10.5,511,8,1,-1,"0o8",10,"1e400"]"#),
        (
            "[._5, 1_e3, +_1, +, 0x, 0b, 1_, -0, 1E5, +.5, -.5, .]",
            r#"["._5",1000,1,"+","0x","0b",1,0,100000,0.5,-0.5,"."]"#,
        ),
        (
            "[18446744073709551615, -9223372036854775808, 0x1FFFFFFFFFFFFFFFF]",
            r#"[18446744073709551615,-9223372036854775808,"0x1FFFFFFFFFFFFFFFF"]"#,
        ),
        ("[1:30, 190:20:30]", r#"["1:30","190:20:30"]"#),
        (
            "[2023-01-01, 2023-1-1, 2023-01-01 1:2:3.5]",
            r#"["2023-01-01T00:00:00Z","2023-01-01T00:00:00Z","2023-01-01T01:02:03.5Z"]"#,
        ),
        (
            "[2023-01-01t10:00:00.50+01:00, 2023-01-01T10:00:00+00:00]",
            r#"["2023-01-01T10:00:00.5+01:00","2023-01-01T10:00:00Z"]"#,
        ),
        (
            "[2023-01-01T10:00:00, 2023-01-01t1:2:3z, 2023-02-30, 2023-01-01 10:00:00Z]",
            r#"["2023-01-01T10:00:00","2023-01-01t1:2:3z","2023-02-30","2023-01-01 10:00:00Z"]"#,
        ),
        (
            "[2023-01-01T10:00:00.123456789123Z, 2023-01-01 10:00, 2023-01-01T10:00:00.Z]",
            r#"["2023-01-01T10:00:00.123456789Z","2023-01-01 10:00","2023-01-01T10:00:00.Z"]"#,
        ),
        ("!!str 1", r#""1""#),
        ("!!int \"1\"", "1"),
        ("!!float 1_0", "10"),
        ("!!bool \"true\"", "true"),
        ("!!null ~", "null"),
        ("!!binary aGk=", r#""hi""#),
        ("!!timestamp 2023-01-01", r#""2023-01-01T00:00:00Z""#),
        ("!!set {a, b}", r#"{"a":null,"b":null}"#),
        ("!foo 1", r#""1""#),
        ("!foo {a: 1}", r#"{"a":1}"#),
        ("- !!str\n- !!null\n-", r#"["",null,null]"#),
    ] {
        assert_eq!(read(text).as_deref(), Ok(json), "{text}");
    }
}

#[test]
fn what_is_no_document_is_absent() {
    for text in [
        "",
        "   ",
        "# only a comment",
        ": a",
        "[1, 2",
        "a: b: c",
        "{[1]: a}",
        "? [a]\n: b",
        "{a: 1, a: 2}",
        "{1: a, \"1\": b}",
        "doc1\n---\ndoc2",
        "--- a\n...\n--- b",
        "---\n---\n",
        "x: *a",
        "&a [*a]",
        "[&a [1], {*a : 1}]",
        ".inf",
        "[.nan]",
        "!!bool yes",
        "!!null x",
        "!!int 1.5",
        "!!float x",
        "!!binary a",
        // Merge keys are not supported.
        "{<<: {a: 1}}",
    ] {
        assert_eq!(read(text).as_deref(), Ok("none"), "{text}");
    }
    // As many levels are read as JSON may have.
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(read(&deep(128)), Ok(deep(128)));
    for levels in [129, 200, 1_000] {
        assert_eq!(read(&deep(levels)).as_deref(), Ok("none"), "{levels}");
    }
}

#[test]
fn values_are_written_as_cel_go_writes_them() {
    for (json, text) in [
        (r#""hello""#, "hello\n"),
        ("null", "null\n"),
        ("[]", "[]\n"),
        (r"[[],{},[[]],[{}]]", "- []\n- {}\n- - []\n- - {}\n"),
        (
            r#"{"items":[1,"two",false],"m":{"n":null,"x":[],"y":{},"z":[[1,2],[3]]}}"#,
            "items:\n    - 1\n    - two\n    - false\nm:\n    \"n\": null\n    x: []\n    \"y\": {}\n    z:\n        - - 1\n          - 2\n        - - 3\n",
        ),
        (r#"[{"a":[1,{"b":[2]}],"c":{"d":[3]}}]"#, "- a:\n    - 1\n    - b:\n        - 2\n  c:\n    d:\n        - 3\n"),
        (r#"[[[1]],[{"a":{"b":1}}]]"#, "- - - 1\n- - a:\n        b: 1\n"),
        (
            "[1.0, 1.5, 1e21, 1e20, 1e-7, -0.0, 123456789.123]",
            "- 1\n- 1.5\n- 1e+21\n- 1e+20\n- 1e-07\n- 0\n- 1.23456789123e+08\n",
        ),
        ("[9007199254740991, 9007199254740992]", "- 9007199254740991\n- \"9007199254740992\"\n"),
    ] {
        assert_eq!(written(json).as_deref(), Ok(text), "{json}");
    }
    let key = "k".repeat(130);
    assert_eq!(written(&format!("[{{\"{key}\":5,\"z\":[1]}}]")), Ok(format!("- ? {key}\n  : 5\n  z:\n    - 1\n")));
    assert_eq!(written(&format!("{{\"{key}\":[1]}}")), Ok(format!("? {key}\n:   - 1\n")));
}

#[test]
fn texts_are_quoted_as_cel_go_quotes_them() {
    let as_written = |text: &str| written(&serde_json::to_string(text).unwrap());
    for (quote, texts) in [
        (
            "",
            "a] it's a\\b = a,b é :a ?a -a e . .. ._5 12:99 1e400 1e5x a--- -1x 0b12 0o8 NaN 0x + -- tRUE oFF 1,5 a% =a \
             1.5.5 1-1 2023-02-30 0x1p3",
        ),
        ("'", "#a @a `a %a !a &a *a [a {a \"q\" - ? : | > --- ... a: ---a ...a"),
        (
            "\"",
            "123 1.5 true yes no on y null ~ 2023-01-01 1:30 0x1f 0o17 017 1_000 .inf .nan << 1e3 +1 -1 .5 5. 1:30:20 \
             2023-1-1 0b11 09 0_9 1_ .5e3 True OFF 1.e5 12e03 1__0",
        ),
    ] {
        for text in texts.split(' ').filter(|text| !text.is_empty()) {
            assert_eq!(as_written(text), Ok(format!("{quote}{text}{quote}\n")), "{text}");
        }
    }
    for (text, quoted) in [
        ("", "\"\""),
        (" ", "' '"),
        ("a ", "'a '"),
        (" a", "' a'"),
        ("- a", "'- a'"),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("'", "''''"),
        ("a'b: c", "'a''b: c'"),
        ("a\tb", "\"a\\tb\""),
        ("\u{1}", "\"\\x01\""),
        ("\u{85}", "\"\\N\""),
        ("🚀", "\"\\U0001F680\""),
        ("\u{feff}", "\"\\uFEFF\""),
        // cel-go writes blocks of lines.
        ("a\nb", "\"a\\nb\""),
    ] {
        assert_eq!(as_written(text), Ok(format!("{quoted}\n")), "{text}");
    }
}

#[test]
fn every_text_is_read_as_it_was_written() {
    let parts = [
        "a", "-", "?", ":", " ", "#", "'", "\"", "\\", "\n", "\t", "\r", "0", "1", "_", ".", "~", "é", "🚀", "{", "[",
        ",", "&", "*", "!", "|", ">", "%", "@", "`", "\u{85}", "\u{2028}", "\u{feff}", "\u{7f}", "\0", "e", "+", "<<",
        "=", "x", "---",
    ];
    let mut texts: Vec<String> = parts.iter().flat_map(|a| parts.iter().map(move |b| format!("{a}{b}"))).collect();
    texts.extend(parts.map(str::to_owned));
    texts.push("k".repeat(2_000));
    let mut random = fastrand::Rng::with_seed(7);
    texts.extend((0..2_000).map(|_| (0..random.usize(1..8)).map(|_| parts[random.usize(..parts.len())]).collect()));
    for text in texts {
        for json in
            [serde_json::json!(text), serde_json::json!([text]), serde_json::json!({ text.as_str(): {"k": [text]} })]
        {
            let yaml = written(&json.to_string()).unwrap();
            let back: Option<serde_json::Value> = serde_json::from_str(&read(&yaml).unwrap()).ok();
            assert_eq!(back, Some(json), "{yaml}");
        }
    }
}

#[test]
fn hostile_documents_are_bounded() {
    let read = |text: &str, steps: i64, memory: usize| {
        let arena = Arena::new(memory);
        let cx = Cx::new(steps, &arena);
        parse(&cx, text).map(|value| value.is_some())
    };
    // Each line has ten aliases of the line before.
    let mut bomb = "- &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..20 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb += &format!("- &a{level} [{aliases}]\n");
    }
    assert_eq!(read(&bomb, 1_000_000, 16 << 20), Err(OutOfBudget));
    assert_eq!(read(&bomb, i64::MAX, 16 << 20), Err(OutOfBudget));
    assert_eq!(read(&bomb, 10_000, 1 << 30), Err(OutOfBudget));
    // Aliases may nest a document deeper than its text is.
    let mut deep = "- &a0 [x]\n".to_owned();
    (1..200).for_each(|level| deep += &format!("- &a{level} [*a{}]\n", level - 1));
    assert_eq!(read(&deep, 1_000_000, 16 << 20), Ok(false));

    let most = super::read::MAX_BYTES;
    assert_eq!(read(&"a".repeat(most), 1_000_000, 16 << 20), Ok(true));
    assert_eq!(read(&"a".repeat(most + 1), i64::MAX, 16 << 20), Err(InvalidArgument));
    for text in [
        "[", "{", "- ", "? ", "a: ", "!", "&a ", "*a ", "\"", "'", "|\n", "\n", " ", "#", "%", "---\n", "[a, ", "{a: [",
    ] {
        let long = text.repeat(most / text.len());
        assert_eq!(read(&long, 100_000, 16 << 20), Err(OutOfBudget), "{text}");
        // With enough steps all of it is read, which ends.
        read(&long, 2_000_000, 16 << 20).ok();
    }
}

#[test]
fn values_that_json_has_not_are_not_written() {
    let arena = Arena::new(1 << 16);
    let cx = Cx::new(1_000_000, &arena);
    for value in [Value::Double(f64::NAN), Value::Type("int"), Value::Optional(None), Value::Ip([1, 2, 3, 4].into())] {
        assert_eq!(encode(&cx, &value), Err(InvalidArgument), "{value:?}");
    }
}
