//! Which URLs a host may fetch documents from.

use http::Uri;
use std::net::IpAddr;
use std::str::FromStr;

/// Checks that a document at a URL can't be replaced on its way.
///
/// # Errors
/// The end of a sentence that begins with the URL.
pub(crate) fn check_url(text: &str) -> Result<(), &'static str> {
    const NO_URL: &str = "is not a URL with a host, and without user and password";
    let url = Uri::from_str(text).map_err(|_| NO_URL)?;
    let host = url.host().ok_or(NO_URL)?;
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let local = host == "localhost" || IpAddr::from_str(address).is_ok_and(|address| address.is_loopback());
    match url.scheme_str() {
        Some("https") => {}
        Some("http") if local => {}
        _ => return Err("begins with `https://`, or with `http://` and an address of this machine"),
    }
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) { Err(NO_URL) } else { Ok(()) }
}
