//! The check of a configuration with everything that it names.

use crate::config::Config;
use crate::error::Error;
use crate::file_stamps::check_end_markers;
use crate::tls::{ClientTls, ServerTrust};
use celero_policy::Policy;
use std::path::{Path, PathBuf};

impl Config {
    /// Checks a configuration file, its policy, and the files of certificates and keys.
    ///
    /// # Errors
    /// Returns all errors in these files, each with its position.
    pub fn check(file: &Path) -> Result<(), Error> {
        let config = Self::load(file)?;
        let policy = Policy::load(&config.policy)?;
        for tls in config.listeners.iter().filter_map(|listener| listener.tls.as_ref()) {
            ClientTls::load(tls)?;
        }
        for tls in config.upstreams.iter().filter_map(|upstream| upstream.tls.as_ref()) {
            ServerTrust::load(tls)?;
        }
        if config.reload.end_marker {
            check_end_markers(policy.files().iter().map(PathBuf::as_path).chain([file]))?;
        }
        Ok(())
    }
}
