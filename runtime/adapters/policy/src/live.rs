//! A policy that is read again while it is used.

use crate::error::PolicyError;
use crate::policy::Policy;
use arc_swap::ArcSwap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The policy of a file, which can be read again. Watching files is the host's: [`Policy::files`] says which.
#[derive(Debug)]
pub struct LivePolicy {
    file: PathBuf,
    current: ArcSwap<Policy>,
}

impl LivePolicy {
    /// Reads a policy.
    ///
    /// # Errors
    /// As [`Policy::load`].
    pub fn load(file: &Path) -> Result<Self, PolicyError> {
        Ok(Self { file: file.to_owned(), current: ArcSwap::from_pointee(Policy::load(file)?) })
    }

    /// The policy of now. A request keeps the one that it started with.
    #[must_use]
    pub fn current(&self) -> Arc<Policy> {
        self.current.load_full()
    }

    /// Reads the file again. One that is wrong changes nothing; with one that is right all counting begins anew.
    ///
    /// # Errors
    /// As [`Policy::load`].
    pub fn reload(&self) -> Result<(), PolicyError> {
        self.current.store(Arc::new(Policy::load(&self.file)?));
        Ok(())
    }
}
