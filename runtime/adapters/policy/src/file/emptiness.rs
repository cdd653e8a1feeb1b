//! What is refused because nothing is in it. A full disk or a shell's `>` cuts a file to nothing,
//! and a policy without rules lets every request pass. The key `empty: allowed` of a policy's file
//! or of a list says that it is meant.
//!
//! Invariant: a list with entries is not replaced by one without, unless the file says so. Test:
//! `runtime/adapters/policy/tests/policy/emptiness.rs::a_list_keeps_its_entries`.

use crate::host::outcome::Phase;
use crate::problems::{FileSpan, Problems};
use crate::yaml::{Node, NodeValue};
use std::fmt::Display;

/// The code of diagnostics about what is empty.
pub(crate) const CODE: &str = "policy-empty";
pub(crate) const HELP: &str = "if this is meant, write `empty: allowed` at the top of the file";
pub(crate) const LIST_HELP: &str = "if this is meant, write `empty: allowed` in the list";

/// Whether a file or a list may be empty.
pub(crate) fn is_allowed(node: &Node) -> bool {
    node.text_of("empty").is_some_and(|word| word.text == "allowed")
}

/// Reports a file without content, and phases without rules. `root` is `None` if no document is in
/// the file; `at` is where a file is named that is included.
pub(crate) fn check_file(file: usize, root: Option<&Node>, at: Option<FileSpan>, problems: &mut Problems) {
    if root.is_some_and(is_allowed) {
        return;
    }
    let entries = root.map_or(&[][..], Node::entries);
    let is_phase = |name: &str| Phase::ALL.iter().any(|phase| phase.name() == name);
    let before = problems.count();
    for entry in entries.iter().filter(|entry| is_phase(&entry.key.text)) {
        let rules = entry.value.get("rules").unwrap_or(&entry.value);
        if is_hollow(rules) {
            let message = format!("the phase `{}` has no rules", entry.key.text);
            let help = "remove it, or write its rules; if this is meant, write `empty: allowed` at the top of the file";
            problems.add(CODE, entry.key.place, message).help(help);
        }
    }
    let is_other = root.is_some_and(|root| !is_hollow(root) && !matches!(root.value, NodeValue::Map(_)));
    if problems.count() == before && !is_other && entries.iter().all(|entry| is_hollow(&entry.value)) {
        let message = format!("{} is empty: it has no rules and no definitions", problems.name(file));
        problems.add(CODE, at.unwrap_or(FileSpan::new(file, 0, 0)), message).help(HELP);
    }
}

/// Reports a level without rules. `at` is where its file is named.
pub(crate) fn report_level(name: &str, at: FileSpan, problems: &mut Problems) {
    problems.add(CODE, at, format!("the level `{name}` has no rules")).help(HELP);
}

/// The phases in which a level has rules.
#[derive(Debug)]
pub(crate) struct LevelPhases {
    /// The level as messages name it.
    pub(crate) name: String,
    pub(crate) phases: Vec<&'static str>,
    pub(crate) may_be_empty: bool,
}

/// Reports phases of a level that had rules, and have none.
pub(crate) fn check_phases(before: &[LevelPhases], now: &[LevelPhases], problems: &mut Problems) {
    for level in now.iter().filter(|level| !level.may_be_empty) {
        let known = before.iter().filter(|known| known.name == level.name).flat_map(|known| &known.phases);
        for phase in known.filter(|phase| !level.phases.contains(phase)) {
            let message = format!("the phase `{phase}` of {} has no rules, but in force it has some", level.name);
            problems.add(CODE, FileSpan::new(0, 0, 0), message).help(HELP);
        }
    }
}

fn is_hollow(node: &Node) -> bool {
    match &node.value {
        NodeValue::Scalar(_) => node.is_nothing(),
        NodeValue::List(elements) => elements.is_empty(),
        NodeValue::Map(entries) => entries.is_empty(),
    }
}

/// Reports that a file, a document or the key `entries` of a list has no entries.
pub(crate) fn report_source(list: &str, source: &dyn Display, at: FileSpan, problems: &mut Problems) {
    let message = format!("the list `{list}` has no entries from {source}, which may have been cut to nothing");
    problems.add(CODE, at, message).help(LIST_HELP);
}

/// Reports that none of the files that a list names are there.
pub(crate) fn report_list(list: &str, at: FileSpan, problems: &mut Problems) {
    problems
        .add(CODE, at, format!("the list `{list}` has no entries: no file has a name that it gives"))
        .help(LIST_HELP);
}

/// Returns whether a list says where its entries are. The others are for hosts to fill.
pub(crate) fn names_entries(list: &Node) -> bool {
    let has_elements = |key| list.get(key).is_some_and(|node| !node.elements().is_empty());
    list.get("entries").is_some() || has_elements("files") || has_elements("urls")
}
