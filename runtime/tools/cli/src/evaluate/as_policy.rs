//! A file of rules as a policy: each rule denies the requests that it matches.

use crate::rules::file::RulesFile;
use serde_json::Value as Json;

/// Returns the policy of rules, in the order of their set. Every rule keeps its language.
pub(crate) fn policy(file: &RulesFile) -> String {
    let language = file.language;
    let mut text = format!(
        "# Each rule denies what it matches, with the status 403. docs/policy-reference.md has the other actions.\ndefaults:\n  language: {}\nrequest:\n",
        language.name()
    );
    for rule in &file.rules {
        // A JSON string is a YAML string.
        text.push_str(&format!("  - name: {}\n", Json::from(&*rule.name)));
        if rule.language != language {
            text.push_str(&format!("    language: {}\n", rule.language.name()));
        }
        text.push_str(&when(&rule.source));
        text.push_str("    deny: 403\n");
    }
    text
}

/// A condition as a block, in which nothing is escaped; on one line in quotes if a text in it may
/// go on over a line end, where blanks count.
fn when(source: &str) -> String {
    let source = source.trim();
    let lines: Vec<&str> = source.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let even = |line: &&str| ['"', '\''].iter().all(|quote| line.matches(*quote).count().is_multiple_of(2));
    let may_go_on = ["#\"", "\"\"\"", "'''"].iter().any(|start| source.contains(start));
    if lines.len() > 1 && (may_go_on || !lines.iter().all(even)) {
        return format!("    when: {}\n", Json::from(source));
    }
    let lines: String = lines.iter().map(|line| format!("      {line}\n")).collect();
    format!("    when: |-\n{lines}")
}
