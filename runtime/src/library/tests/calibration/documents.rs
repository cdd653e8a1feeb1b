//! The worst cases of functions that read or write whole documents: JSON of a type, YAML, tokens.

use super::entries::Calls;
use super::values::Values;
use super::worst_cases::{json_texts, one, text};
use super::*;

/// Each document as each type.
pub(super) fn typed_documents<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    typed(json_texts(), values)
}

fn typed<'v>(texts: Vec<String>, values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let types = ["int", "double", "bytes", "list", "map", "google.protobuf.Timestamp", "google.protobuf.Duration"];
    let all = texts.iter().flat_map(|json| types.map(|ty| one(&[S(text(values, json)), Value::Type(ty)])));
    all.collect()
}

fn yaml_texts() -> Vec<String> {
    let lines = |line: &str| line.repeat(1_000);
    let numbered = |line: &str| (0..1_000).map(|n| line.replace("{n}", &n.to_string())).collect::<String>();
    vec![
        "a".into(),
        lines("- a\n"),
        lines("- 1.5\n"),
        lines("- \"a\\tb\"\n"),
        lines("- 'it''s'\n"),
        lines("- 2026-01-02T03:04:05Z\n"),
        lines("- [a, {b: c}]\n"),
        lines("- {}\n"),
        lines("# a comment\n"),
        lines("- |\n  text\n  more\n"),
        lines("- >\n  text\n  more\n"),
        lines("- &a x\n- *a\n"),
        numbered("key{n}: 1\n"),
        numbered("? key{n}\n: 1\n"),
        numbered("- &a{n} [1]\n- *a{n}\n"),
        format!("{}{}", numbered("- &a{n} 1\n"), lines("- *a0\n")),
        format!("{}{}", numbered("- &a{n} [1]\n"), lines("- *a999\n")),
        format!("[{}]", lines("a,")),
        format!("[{}]", lines("a: b,")),
        format!("[{}{}]", "[".repeat(200), "]: 1".repeat(200)),
        format!("{}[{}{}", "[".repeat(200), lines("a,"), "]: 1".repeat(201)),
        format!("{}{}", "[".repeat(120), "]".repeat(120)),
        format!("{}a", "- ".repeat(2_000)),
        format!("{}a", "? ".repeat(2_000)),
        (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        "1".repeat(20_000),
        format!("1.{}e300", "5".repeat(20_000)),
        "é".repeat(10_000),
        format!("\"{}\"", "\\u00e9".repeat(5_000)),
        format!("'{}'", "\n".repeat(10_000)),
        format!("a: |\n{}", "\n".repeat(10_000)),
        " ".repeat(20_000),
        "\n".repeat(20_000),
        ":".repeat(20_000),
        "!".repeat(20_000),
        "a\n".repeat(10_000),
    ]
}

pub(super) fn yaml_documents<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    yaml_texts().iter().map(|yaml| one(&[S(text(values, yaml))])).collect()
}

pub(super) fn typed_yaml_documents<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    typed(yaml_texts(), values)
}

/// Texts that are written in each way.
pub(super) fn written_documents<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let all = ["a", "1", "'", ": ", " #", "\n", "\u{1}", "é", "😀", "1:2", "0_"];
    all.iter().map(|part| one(&[S(text(values, &part.repeat(2_000)))])).collect()
}

pub(super) fn tokens<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let whole = [0, 10, 1_000].map(|claims| S(values.token_text(claims)));
    let others = [".", " ", "a", "a.", "Bearer ", "e30.", "é"].map(|part| S(text(values, &part.repeat(10_000))));
    whole.into_iter().chain(others).map(|token| one(&[token])).collect()
}

const CLAIMS: [usize; 3] = [0, 10, 1_000];

pub(super) fn claims<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    CLAIMS.map(|claims| one(&[values.token(claims), S("aud")])).into()
}

pub(super) fn claims_of_optionals<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    CLAIMS.map(|claims| one(&[optional_token(values, claims), S("aud")])).into()
}

pub(super) fn presented<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    CLAIMS.map(|claims| one(&[values.token(claims), S("issuer"), S("nobody")])).into()
}

pub(super) fn presented_of_optionals<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    CLAIMS.map(|claims| one(&[optional_token(values, claims), S("issuer"), S("nobody")])).into()
}

fn optional_token<'v>(values: &mut Values<'v>, claims: usize) -> Value<'v> {
    let token = values.token(claims);
    Value::Optional(Some(values.arena.alloc(token).unwrap()))
}
