//! The files that the proxy writes: none of them may be one that it reads, or writes for something else.

use super::include::identity;
use super::{Config, LogOutput, older};
use celero_policy::problems::Problems;
use celero_policy::yaml::Node;
use std::path::{Path, PathBuf};

/// Reports files of `config` that are written and are used for something else, too. `root` is its document, and `main` its file.
pub(super) fn check(config: &Config, root: &Node, main: &Path, problems: &mut Problems) {
    let mut used: Vec<(&str, PathBuf)> =
        vec![("the configuration", identity(main)), ("policy", identity(&config.policy))];
    used.extend(config.included_files().map(|file| ("include", identity(file))));
    used.extend(config.admin.iter().map(|admin| ("admin.token", identity(&admin.token))));
    used.extend(config.files().map(|file| ("a file of certificates, keys or answers", identity(file))));
    for (name, file, node) in written(config, root) {
        let file = identity(&file);
        // Devices and pipes (`/dev/null`) may take everything.
        if file.metadata().is_ok_and(|about| !about.is_file()) {
            continue;
        }
        if let Some((other, _)) = used.iter().find(|(_, known)| *known == file) {
            let message = format!("`{name}` and {} are the same file: {}", quoted(other), file.display());
            problems.add("config-conflict", node.place, message).help("the proxy writes to it; choose another file");
        }
        used.push((name, file));
    }
}

/// The files that are written, with the nodes that name them.
fn written<'n>(config: &Config, root: &'n Node) -> Vec<(&'static str, PathBuf, &'n Node)> {
    let at = |keys: &[&str]| keys.iter().try_fold(root, |node, key| node.get(key));
    let mut found = Vec::new();
    if let (Some(LogOutput::File(file)), Some(node)) = (&config.access_log, at(&["accessLog"])) {
        found.push(("accessLog", file.clone(), node));
    }
    if let (Some(record), Some(node)) = (&config.record, at(&["record", "file"])) {
        found.push(("record.file", record.file.clone(), node));
        found.push(("record.file", older(&record.file), node));
    }
    if let (Some(file), Some(node)) = (config.list_changes(), at(&["admin", "listChanges"])) {
        found.push(("admin.listChanges", file.to_owned(), node));
    }
    found
}

/// Returns a key in quotes, and words as they are.
fn quoted(name: &str) -> String {
    if name.contains(' ') { name.to_owned() } else { format!("`{name}`") }
}
