//! Which hosts a request for operators may name.

use celero_policy::canonical::is_local_host;
use http::header::HOST;
use http::{HeaderMap, Uri};

/// Returns whether a request names this machine as only this machine's own clients do:
/// [`is_local_host`]. A request without a host, as of HTTP/1.0, does: browsers always send one.
pub(crate) fn is_own(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut fields = headers.get_all(HOST).iter();
    let mut targets = uri.authority().into_iter();
    fields.all(|host| host.to_str().is_ok_and(is_local_host))
        && targets.all(|authority| is_local_host(authority.as_str()))
}
