//! The head of a message as this crate changes it. Hosts with their own types implement these
//! traits; those of `http` have them.

use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use http::uri::Authority;
use http::{StatusCode, Uri, request, response};

/// The fields of a message.
pub trait Fields {
    /// Returns the fields.
    fn headers(&self) -> &HeaderMap;

    /// Replaces all lines of a field. A host that can't store the value removes the field instead.
    fn set_field(&mut self, name: &HeaderName, value: HeaderValue);

    /// Adds a line to a field.
    fn add_field(&mut self, name: &HeaderName, value: HeaderValue);

    /// Removes all lines of a field.
    fn remove_field(&mut self, name: &HeaderName);
}

/// The head of a request.
pub trait Head: Fields {
    /// Returns method, target, version and fields.
    fn parts(&self) -> &request::Parts;

    /// Returns the target as it was received, if [`parts`](Self::parts) doesn't have all of it, as
    /// `http::Uri` has not of a target that is not UTF-8.
    fn raw_target(&self) -> Option<&[u8]> {
        None
    }

    /// Replaces the target.
    fn set_uri(&mut self, uri: Uri);
}

/// The head of a response.
pub trait ResponseHead: Fields {
    /// Returns status, version and fields.
    fn parts(&self) -> &response::Parts;

    /// Replaces the status.
    fn set_status(&mut self, status: StatusCode);
}

impl ResponseHead for response::Parts {
    fn parts(&self) -> &response::Parts {
        self
    }

    fn set_status(&mut self, status: StatusCode) {
        self.status = status;
    }
}

impl Fields for HeaderMap {
    fn headers(&self) -> &HeaderMap {
        self
    }

    fn set_field(&mut self, name: &HeaderName, value: HeaderValue) {
        self.insert(name, value);
    }

    fn add_field(&mut self, name: &HeaderName, value: HeaderValue) {
        self.append(name, value);
    }

    fn remove_field(&mut self, name: &HeaderName) {
        self.remove(name);
    }
}

macro_rules! fields_of_parts {
    ($($parts:ty)*) => {$(
        impl Fields for $parts {
            fn headers(&self) -> &HeaderMap {
                &self.headers
            }

            fn set_field(&mut self, name: &HeaderName, value: HeaderValue) {
                self.headers.set_field(name, value);
            }

            fn add_field(&mut self, name: &HeaderName, value: HeaderValue) {
                self.headers.add_field(name, value);
            }

            fn remove_field(&mut self, name: &HeaderName) {
                self.headers.remove_field(name);
            }
        }
    )*};
}

fields_of_parts! { request::Parts response::Parts }

impl Head for request::Parts {
    fn parts(&self) -> &request::Parts {
        self
    }

    fn set_uri(&mut self, uri: Uri) {
        self.uri = uri;
    }
}

/// Makes the authority of the target, which HTTP/2 and HTTP/3 send, follow the field `Host`. Call
/// it after `Host` was set.
pub fn follow_host(head: &mut impl Head) {
    let parts = head.parts();
    let host = parts.headers.get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let (Some(host), Some(known)) = (host, parts.uri.authority()) else { return };
    if host == *known {
        return;
    }
    let mut target = parts.uri.clone().into_parts();
    target.authority = Some(host);
    if let Ok(uri) = Uri::from_parts(target) {
        head.set_uri(uri);
    }
}
