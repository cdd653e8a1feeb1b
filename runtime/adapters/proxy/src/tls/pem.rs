//! Files in PEM.

use crate::error::Error;
use celero_policy::read_regular;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use std::fmt::Display;
use std::path::Path;

/// Returns the certificates of a file, at least one.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_slice_iter(&read(file)?).collect::<Result<Vec<_>, pem::Error>>();
    let found = found.map_err(|error| problem(file, error))?;
    if found.is_empty() {
        return Err(problem(file, "there is no certificate in it"));
    }
    Ok(found)
}

/// Returns the revocation lists of a file, at least one.
pub(super) fn revocation_lists(file: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
    let found = CertificateRevocationListDer::pem_slice_iter(&read(file)?).collect::<Result<Vec<_>, pem::Error>>();
    let found = found.map_err(|error| problem(file, error))?;
    if found.is_empty() {
        return Err(problem(file, "there is no revocation list in it"));
    }
    Ok(found)
}

/// Returns the private key of a file.
pub(super) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(&read(file)?).map_err(|error| match error {
        pem::Error::NoItemsFound => problem(file, "there is no private key in it"),
        error => problem(file, error),
    })
}

/// The largest file, in bytes. Lists of revoked certificates are the largest.
const LARGEST_FILE: u64 = 64 << 20;

/// Returns the content of a file.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, Error> {
    read_regular(file, LARGEST_FILE).map_err(|error| problem(file, error))
}

/// Returns an error about a file.
pub(super) fn problem(file: &Path, what: impl Display) -> Error {
    Error::new(format!("error: {}: {what}", file.display()))
}
