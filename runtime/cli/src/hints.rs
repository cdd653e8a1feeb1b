//! Hints for input that was probably meant otherwise: a text where a file is expected, a file where a text is expected, other formats.

use celero::{Diagnostic, similar};
use std::path::Path;

/// The extensions of files that hold rules.
const RULES: &[&str] = &["cel", "filter", "rules", "yaml", "yml"];
/// The extensions of files that hold requests or values.
const DATA: &[(&str, &str)] = &[("jsonl", "--requests"), ("http", "--requests"), ("json", "--bindings")];

/// Returns the message about a file that does not exist.
pub(crate) fn missing_file(path: &Path, command: &str) -> String {
    let shown = path.display().to_string();
    let message = format!("no such file: `{shown}`");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let written = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(name) = similar(written, names.iter().map(String::as_str)) {
        return format!("{message}; did you mean `{}`?", path.with_file_name(name).display());
    }
    if has_extension(path, RULES) {
        return message;
    }
    format!("{message}; to give a text use -e: celero {command} -e {}", quoted(&shown))
}

/// Returns the message about a file that holds requests or values, by its name.
pub(crate) fn not_rules(path: &Path) -> Option<String> {
    let (_, option) = DATA.iter().find(|(extension, _)| has_extension(path, &[extension]))?;
    let shown = path.display();
    Some(format!("`{shown}` does not hold rules, by its name: give it with {option} {shown}, or say --format"))
}

/// Returns hints about errors in rules. `argument` is the text that was given with `-e`; `declared` says whether the command line declares
/// variables.
pub(crate) fn about(argument: Option<&str>, declared: bool, command: &str, found: &[Diagnostic]) -> Vec<String> {
    let undeclared: Vec<&Diagnostic> = found.iter().filter(|found| found.code == "undeclared-name").collect();
    let mut hints = Vec::new();
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

/// Returns a text as one word of a shell's command line.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}
