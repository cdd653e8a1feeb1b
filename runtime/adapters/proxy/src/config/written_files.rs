//! The files that the proxy writes: none of them may be one that it reads, or writes for something else.

use super::include::identity;
use super::{Config, LogOutput};
use crate::error::Error;
use celero_lists::FilePattern;
use celero_policy::Policy;
use celero_policy::problems::Problems;
use celero_policy::yaml::Node;
use std::path::{Path, PathBuf};

/// Returns the file to which a bounded file is renamed when it is full.
pub(crate) fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// Reports files of `config` that are written and are used for something else, too. `root` is its
/// document, and `main` its file.
pub(super) fn check(config: &Config, root: &Node, main: &Path, problems: &mut Problems) {
    let mut used: Vec<(&str, PathBuf)> =
        vec![("the configuration", identity(main)), ("policy", identity(&config.policy))];
    used.extend(config.included_files().map(|file| ("include", identity(file))));
    used.extend(config.admin.iter().map(|admin| ("admin.token", identity(&admin.token))));
    used.extend(config.files().map(|file| ("a file of certificates, keys or answers", identity(file))));
    for (name, file) in written(config) {
        let Some(node) = name.split('.').try_fold(root, |node, key| node.get(key)) else { continue };
        if let Some((other, _)) = used.iter().find(|(_, known)| *known == file) {
            let message = format!("`{name}` and {} are the same file: {}", quoted(other), file.display());
            problems.add("config-conflict", node.place, message).help(HELP);
        }
        used.push((name, file));
    }
}

const HELP: &str = "the proxy writes to it; choose another file";

impl Config {
    /// Loads the policy.
    ///
    /// # Errors
    /// Returns an error if it is not valid, asks for what this proxy can't do, or has a file that is also written.
    pub(crate) fn load_policy(&self) -> Result<Policy, Error> {
        let policy = Policy::load(&self.policy)?;
        self.check_policy_files(&policy)?;
        if policy.accepts_tunnels() {
            return Err(Error::new(format!(
                "error: {}: `normalize: {{connect: accept}}` has no effect: celero-proxy makes no tunnels, and answers CONNECT with 405\n  \
                 = help: remove it; it is for hosts of the tower layer that make tunnels themselves",
                self.policy.display()
            )));
        }
        Ok(policy)
    }

    /// Refuses files that are written and that the policy reads, as those of its lists.
    ///
    /// # Errors
    /// Returns an error that names the first of them.
    fn check_policy_files(&self, policy: &Policy) -> Result<(), Error> {
        let written = written(self);
        if written.is_empty() {
            return Ok(());
        }
        for path in policy.files() {
            let read = match FilePattern::of_path(path) {
                Some(pattern) => pattern.files().unwrap_or_default(),
                None => vec![path.clone()],
            };
            let read: Vec<PathBuf> = read.iter().map(|file| identity(file)).collect();
            // A file that does not exist yet would be read once it is written.
            let pattern = FilePattern::of_path(&identity(path));
            let is_read =
                |file: &PathBuf| read.contains(file) || pattern.as_ref().is_some_and(|pattern| pattern.matches(file));
            if let Some((name, file)) = written.iter().find(|(_, file)| is_read(file)) {
                return Err(Error::new(format!(
                    "error: `{name}` and a file of the policy are the same file: {}\n  = help: {HELP}",
                    file.display()
                )));
            }
        }
        Ok(())
    }
}

/// The files that are written, each after the key that names it.
fn written(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let mut found = Vec::new();
    if let Some(LogOutput::File(file)) = &config.access_log {
        found.push(("accessLog", identity(file)));
    }
    if let Some(record) = &config.record {
        found.push(("record.file", identity(&record.file)));
        found.push(("record.file", identity(&older(&record.file))));
    }
    if let Some(file) = config.list_changes() {
        found.push(("admin.listChanges", identity(file)));
    }
    // Devices and pipes (`/dev/null`) may take everything.
    let takes_everything = |file: &Path| file.metadata().is_ok_and(|about| !about.is_file());
    found.retain(|(_, file)| !takes_everything(file));
    found
}

/// Returns a key in quotes, and words as they are.
fn quoted(name: &str) -> String {
    if name.contains(' ') { name.to_owned() } else { format!("`{name}`") }
}
