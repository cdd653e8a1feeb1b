//! What a policy may use of the machine: files and environment variables.
//!
//! Invariant: a policy that is confined uses no file and no environment variable that the policy whose reach it was
//! given does not use for the same purpose. Test:
//! `runtime/adapters/policy/tests/policy/confinement.rs::a_confined_policy_uses_what_the_other_one_uses`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// For what a policy uses something of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    Include,
    /// Keys of tokens, and users with their passwords.
    Credentials,
    List,
    /// Descriptors of messages.
    Descriptors,
    Variable,
}

/// The files and environment variables that a policy uses, each for a purpose. The default is none.
///
/// A tool that shows a policy and lets people change its text gives the reach of the file to
/// [`Loader::within`](crate::Loader::within): so the changed text reads nothing that the file does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach(BTreeSet<(Use, OsString, Option<PathBuf>)>);

impl Reach {
    /// `folder`: the folder that a file must be in, whatever links lead to; `None`: any.
    pub(crate) fn has(&self, purpose: Use, name: &OsStr, folder: Option<&Path>) -> bool {
        self.0.contains(&(purpose, name.to_owned(), folder.map(Path::to_owned)))
    }

    pub(crate) fn add(&mut self, purpose: Use, name: &OsStr, folder: Option<&Path>) {
        self.0.insert((purpose, name.to_owned(), folder.map(Path::to_owned)));
    }
}
