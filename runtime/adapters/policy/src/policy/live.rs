//! A policy that can be loaded again while it is used.
//!
//! Invariant: a file is compiled as a whole or not at all. Test:
//! `runtime/adapters/policy/tests/policy/failures.rs::a_bad_file_changes_nothing_and_says_why`.

use crate::file::error::PolicyError;
use crate::limits::remote::RemoteLimits;
use crate::policy::Policy;
use crate::policy::loader::Loader;
use arc_swap::ArcSwap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The policy of a file, which can be loaded again while threads use it. The host watches the
/// files: see [`Policy::files`].
#[derive(Debug)]
pub struct LivePolicy {
    file: PathBuf,
    loader: Loader,
    current: ArcSwap<Policy>,
}

impl LivePolicy {
    /// Loads a policy.
    ///
    /// # Errors
    /// See [`Policy::load`].
    pub fn load(file: impl AsRef<Path>) -> Result<Self, PolicyError> {
        Self::load_with(file, Policy::loader())
    }

    /// Loads a policy that uses functions and variables of the host. It may use them after a reload
    /// too. A host whose requests have no values of these variables gets the answer 500 for each:
    /// see [`Exchange::set_variables`](crate::Exchange::set_variables).
    ///
    /// # Errors
    /// See [`Loader::load`].
    pub fn load_with(file: impl AsRef<Path>, loader: Loader) -> Result<Self, PolicyError> {
        let current = ArcSwap::from_pointee(loader.load(&file)?);
        Ok(Self { file: file.as_ref().to_owned(), loader, current })
    }

    /// Loads a policy whose remote limits `services` ask, also after it was loaded again.
    ///
    /// # Errors
    /// See [`Policy::load`].
    pub fn load_with_remote_limits(
        file: impl AsRef<Path>,
        services: Arc<dyn RemoteLimits>,
    ) -> Result<Self, PolicyError> {
        Self::load_with(file, Policy::loader().remote_limits(services))
    }

    /// Returns the current policy, without a lock. Keep it for all phases of a request.
    #[must_use]
    pub fn current(&self) -> Arc<Policy> {
        self.current.load_full()
    }

    /// Loads the file again. A file with errors changes nothing, nor does one that is empty
    /// although the policy in force is not ([`Policy::check_replaces`]). A valid file replaces the
    /// policy, and all counters start at 0, but those of limits with the same name and definition,
    /// and of lookups in lists with the same name.
    ///
    /// # Errors
    /// See [`Policy::load`].
    pub fn reload(&self) -> Result<(), PolicyError> {
        let mut next = self.loader.load(&self.file)?;
        next.check_replaces(&self.current())?;
        next.take_over(&self.current());
        next.restore_lists(|_| None)?;
        self.current.store(Arc::new(next));
        Ok(())
    }
}
