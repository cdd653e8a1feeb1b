//! Hints for input that was probably meant otherwise: a text where a file is expected, a file where
//! a text is expected, other formats.

use celero::Diagnostic;
use celero::diagnostics::similar;
use celero_tooling::language::Language;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The extensions of files that hold rules.
const RULES: &[&str] = &["rules", "yaml", "yml"];
/// The extensions of files that hold requests or values.
const DATA: &[(&str, &str)] = &[("jsonl", "--requests"), ("http", "--requests"), ("json", "--bindings")];
/// The commands that take requests and values.
const TAKES_DATA: &[&str] = &["bench", "check", "eval", "explain"];

/// Returns the message about a file of rules that does not exist.
pub(crate) fn missing_rules(path: &Path, command: &str) -> String {
    let message = missing_file(path);
    let is_of_language =
        path.extension().and_then(|name| name.to_str()).is_some_and(|name| Language::named(name).is_ok());
    if is_of_language || has_extension(path, RULES) || message.contains("did you mean") {
        return message;
    }
    format!("{message}; to give a text use -e: celero {command} -e {}", quoted(&path.display().to_string()))
}

/// Returns the message about a file that does not exist.
pub(crate) fn missing_file(path: &Path) -> String {
    let message = format!("no such file: `{}`", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let written = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(name) = similar(written, names.iter().map(String::as_str)) {
        return format!("{message}; did you mean `{}`?", path.with_file_name(name).display());
    }
    message
}

/// Returns the message about a file that can't be read.
pub(crate) fn unreadable(path: &Path, error: &Error) -> String {
    let shown = path.display();
    match error.kind() {
        ErrorKind::NotFound => missing_file(path),
        ErrorKind::IsADirectory => format!("`{shown}` is a folder: name the files in it, such as {shown}/*.rules"),
        _ => format!("{shown}: {error}"),
    }
}

/// Returns the message about a file that is not UTF-8 from byte `valid` on.
pub(crate) fn not_utf8(path: &Path, content: &[u8], valid: usize) -> String {
    let shown = path.display();
    if content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff") {
        return format!("{shown}: the file is UTF-16: save it as UTF-8");
    }
    if content.contains(&0) {
        return format!("{shown}: the file is not text");
    }
    let before = content.get(..valid).unwrap_or(content);
    let line = before.split(|byte| *byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count().saturating_add(1);
    let byte = content.get(valid).copied().unwrap_or_default();
    format!("{shown}:{line}:{column}: the byte {byte:#04x} is not UTF-8: save the file as UTF-8")
}

/// Returns the message about a file that holds requests or values, by its name.
pub(crate) fn not_rules(path: &Path, command: &str) -> Option<String> {
    let (_, option) = DATA.iter().find(|(extension, _)| has_extension(path, &[extension]))?;
    let shown = path.display();
    let message = format!("`{shown}` does not hold rules, by its name");
    Some(match TAKES_DATA.contains(&command) {
        true => format!("{message}: give it with {option} {shown}, or say --format"),
        false => format!("{message}; if it does, say --format"),
    })
}

/// Returns the message about a file whose name and content do not agree.
pub(crate) fn other_format(path: &Path, content: &str, extension: &str, format: &str) -> String {
    let shown = path.display();
    format!("`{shown}` holds {content}, by its content: rename it to end in {extension}, or say --format {format}")
}

/// Returns hints about errors in rules. `argument` is the text that was given with `-e`; `declared`
/// says whether the command line declares variables.
pub(crate) fn about(argument: Option<&str>, declared: bool, command: &str, found: &[Diagnostic]) -> Vec<String> {
    let is_undeclared = |found: &&Diagnostic| found.code == "undeclared-name" && !says_what_is_meant(found);
    let undeclared: Vec<&Diagnostic> = found.iter().filter(is_undeclared).collect();
    let mut hints = Vec::new();
    if found.iter().any(lacks_list) {
        hints.push("lists are declared with --list NAME:KIND=FILE".to_owned());
    }
    let without_value = |found: &Diagnostic| {
        found.message.strip_prefix("variable `")?.strip_suffix("` has no value").map(str::to_owned)
    };
    if let Some(name) = found.iter().find_map(without_value) {
        hints.push(format!("--bindings FILE.json gives variables their values: {{\"{name}\": ..}}"));
    }
    if undeclared.is_empty() {
        return hints;
    }
    let of_request = |found: &&Diagnostic| found.message.contains("`request") || found.message.contains("`source");
    if let Some(file) = argument.map(str::trim).filter(|text| Path::new(text).is_file()) {
        hints.push(format!("there is a file `{file}`; without -e it is read: celero {command} {file}"));
    } else if declared && undeclared.iter().any(of_request) {
        hints.push(
            "with --vars or --bindings there is no request: leave both out, or declare these names too".to_owned(),
        );
    } else if !declared && !undeclared.iter().all(of_request) {
        let known = "rules read a request (`request.path`, `source.address`)";
        hints.push(format!("{known}; other variables are declared with --vars 'NAME: TYPE' or --bindings FILE.json"));
    }
    hints
}

/// Whether an error says what is probably meant by its name, so that nothing has to be declared: it is similar to a
/// declared one, a text without quotes, a list, a variable of the environment, or a name of policies.
pub(crate) fn says_what_is_meant(found: &Diagnostic) -> bool {
    let starts = ["did you mean", "write `", "a text is in quotes", "there are the lists", "list it: "];
    let is_meant = |help: &String| {
        starts.iter().any(|start| help.starts_with(start))
            || help.ends_with(celero_tooling::policy_names::POLICIES_ONLY)
    };
    found.help.iter().any(is_meant) || lacks_list(found)
}

/// Whether an error is that a named list is asked and none is declared.
pub(crate) fn lacks_list(found: &Diagnostic) -> bool {
    found.help.iter().any(|help| help.ends_with("none is declared") || help == "no named list is declared")
}

/// Returns a text as one word of a shell's command line.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}
