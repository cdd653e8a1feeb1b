//! Which files of the crate `celero` know a language of rules.

use super::sources;
use super::tokens::tokens;
use std::collections::BTreeMap;

/// The folders of languages, each with the paths by which others name it.
const LANGUAGES: &[(&str, &[&[&str]])] = &[
    ("cel", &[&["crate", "::", "cel"], &["Cel"]]),
    ("filter", &[&["crate", "::", "filter"], &["celero_frontend", "::", "filter"]]),
];

/// Files outside of a language's folder that name it, and why.
const NAMED_IN: &[(&str, &str, &str)] = &[
    ("engine/format.rs", "cel", "`Engine::format` formats CEL"),
    ("env/mod.rs", "cel", "the language of an environment that names none"),
    ("language/mod.rs", "cel", "the public names for languages whose trees are CEL's"),
    ("library/wildcard.rs", "filter", "wildcard patterns are read as in the filter language"),
];

/// Files of policies and tools that name a language of the registry, and why.
const NAMED_BY_TOOLS: &[(&str, &str)] = &[
    ("adapters/policy/src/editor/translation.rs", "translation"),
    ("adapters/policy/src/language.rs", "the registry"),
    ("tools/cli/src/commands/eval/filter_jsonl.rs", "lines about host values of the filter language"),
    ("tools/cli/src/commands/eval/jsonl.rs", "lines about host values of the filter language"),
    ("tools/cli/src/commands/translate/lines.rs", "translation"),
    ("tools/cli/src/commands/translate/mod.rs", "translation"),
    ("tools/cli/src/commands/translate/translation.rs", "translation"),
    ("tools/cli/src/input/contexts.rs", "options of the command about the filter language"),
    ("tools/lsp/src/cursor/locals.rs", "the variables of CEL's macros"),
    ("tools/lsp/src/features/completion.rs", "the completion of CEL's functions and macros"),
    ("tools/tooling/src/language.rs", "translation: the counterpart of a language"),
];

/// The languages that a file names, in code: not in comments and strings.
fn named(text: &str) -> Vec<&'static str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let words: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
    let names = |paths: &[&[&str]]| paths.iter().any(|path| words.windows(path.len()).any(|found| found == *path));
    LANGUAGES.iter().filter(|(_, paths)| names(paths)).map(|(language, _)| *language).collect()
}

/// The files that name a language, but are not in its folder: file and language.
fn strangers(files: &BTreeMap<String, String>) -> Vec<(&str, &'static str)> {
    let inner = files.iter().filter_map(|(file, text)| Some((file.strip_prefix("runtime/src/")?, text)));
    inner
        .flat_map(|(file, text)| named(text).into_iter().map(move |language| (file, language)))
        .filter(|(file, language)| !file.starts_with(&format!("{language}/")))
        .collect()
}

#[test]
fn no_stage_names_a_language() {
    let files = sources();
    let mut found = strangers(&files);
    // The root lists the modules; fields of the filter language are CEL expressions; translation knows both languages.
    found.retain(|(file, _)| *file != "lib.rs" && !file.starts_with("filter/") && !file.starts_with("translate/"));
    let expected: Vec<(&str, &str)> = NAMED_IN.iter().map(|(file, language, _)| (*file, *language)).collect();
    assert_eq!(found, expected, "a language is named outside of its folder; see runtime/src/language/rule_language.rs");
}

#[test]
fn no_tool_names_a_language() {
    let named = |text: &str| {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let words: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
        words.windows(3).any(|found| matches!(found, ["Language", "::", "cel" | "filter" | "Cel" | "Filter"]))
    };
    let files = sources();
    let inner = files.iter().filter_map(|(file, text)| Some((file.strip_prefix("runtime/")?, text)));
    let found: Vec<&str> = inner
        .filter(|(file, text)| file.contains("/src/") && !file.ends_with("/tests.rs") && named(text))
        .map(|(file, _)| file)
        .collect();
    let expected: Vec<&str> = NAMED_BY_TOOLS.iter().map(|(file, _)| *file).collect();
    assert_eq!(found, expected, "a tool names a language: ask `Language` for what differs");
}

#[test]
fn a_name_in_code_is_found() {
    for (text, expected) in [
        ("use crate::filter::FilterRule;", &["filter"][..]),
        ("fn f(x: &celero_frontend::filter::Scheme) { crate::cel::cel() }", &["cel", "filter"]),
        ("/// See crate::filter.\nfn f() { x.filter(|y| \"crate::cel\" == y) }", &[]),
    ] {
        assert_eq!(named(text), expected, "{text}");
    }
}
