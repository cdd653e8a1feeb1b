//! What tools ask of policies besides running them: the check without native code, the table of keys.

use crate::file::error::PolicyError;
use crate::keys::policy::POLICY;
use crate::policy::Policy;
use crate::schema::DocumentSpec;
use serde_json::Value as Json;
use std::path::Path;

impl Policy {
    /// Finds the errors and warnings of a policy as [`parse`](Self::parse) does, without compiling
    /// it to native code: for tools that do not run it. The policy that it returns acts the same,
    /// more slowly.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files.
    pub fn check(name: &str, text: &str, base: &Path) -> Result<Self, PolicyError> {
        Self::loader().check(name, text, base)
    }

    /// Returns the keys of policy files, with what each holds and what it is for.
    #[must_use]
    pub fn keys() -> &'static DocumentSpec {
        &POLICY
    }

    /// Returns the format of policy files as a JSON schema (draft 7), for editors that complete and
    /// check YAML with one.
    #[must_use]
    pub fn json_schema() -> Json {
        POLICY.json_schema("celero policy")
    }
}
