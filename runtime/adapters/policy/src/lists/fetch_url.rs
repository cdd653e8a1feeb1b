//! Which URLs a host may fetch documents from, and how long it waits after failures.

use http::Uri;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// Returns a URL without its query, which may hold a secret.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

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

/// Returns the pause after this many failures in a row: `first` after one, and twice as long after
/// each further one, but at most `most`.
pub(crate) fn backoff(first: Duration, failures: u32, most: Duration) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        let pause = |failures| backoff(Duration::from_secs(10), failures, Duration::from_secs(60)).as_secs();
        assert_eq!([1, 2, 3, 4, 32, 33, u32::MAX].map(pause), [10, 20, 40, 60, 60, 60, 60]);
    }
}
