//! What is refused because nothing is in it. A full disk or a shell's `>` cuts a file to nothing, and a policy without rules lets every request
//! pass. The key `empty: allowed` of a policy's file or of a list says that it is meant.

use crate::outcome::Phase;
use crate::problems::{FileSpan, Problems};
use crate::yaml::{Node, NodeValue};

/// The code of diagnostics about what is empty.
pub(crate) const CODE: &str = "policy-empty";
pub(crate) const HELP: &str = "if this is meant, write `empty: allowed` at the top of the file";

/// Whether a file or a list may be empty.
pub(crate) fn is_allowed(node: &Node) -> bool {
    node.text_of("empty").is_some_and(|word| word.text == "allowed")
}

/// Reports a file without content, and phases without rules. `root` is `None` if no document is in the file; `at` is where a file is named
/// that is included.
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

fn is_hollow(node: &Node) -> bool {
    match &node.value {
        NodeValue::Scalar(_) => node.is_nothing(),
        NodeValue::List(elements) => elements.is_empty(),
        NodeValue::Map(entries) => entries.is_empty(),
    }
}

/// Whether a source of a list had entries when it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadSource {
    pub(crate) list: String,
    /// A file, a URL or the key `entries`; `None` is the whole list.
    pub(crate) source: Option<String>,
    /// Where the policy names it.
    pub(crate) place: FileSpan,
    pub(crate) has_entries: bool,
}

impl ReadSource {
    fn is(&self, other: &Self) -> bool {
        (&self.list, &self.source) == (&other.list, &other.source)
    }
}

/// Reports lists that would have no entries, or none of a file, a URL or the policy, although they had some before.
pub(crate) fn check_lists(before: &[ReadSource], now: &[ReadSource], problems: &mut Problems) {
    let emptied = |now: &&ReadSource| !now.has_entries && before.iter().any(|old| old.has_entries && old.is(now));
    let emptied: Vec<&ReadSource> = now.iter().filter(emptied).collect();
    for ReadSource { list, source, place, .. } in &emptied {
        let message = match source {
            Some(source) => format!("the list `{list}` had entries from {source}, which has none now"),
            // One message for each list is enough.
            None if emptied.iter().any(|other| other.list == *list && other.source.is_some()) => continue,
            None => format!("the list `{list}` had entries, and would have none now"),
        };
        problems.add(CODE, *place, message).help("if this is meant, write `empty: allowed` in the list");
    }
}

/// Brings what was read last into `known`.
pub(crate) fn remember(known: &mut Vec<ReadSource>, read: Vec<ReadSource>) {
    known.retain(|old| !read.iter().any(|new| new.is(old)));
    known.extend(read);
}
