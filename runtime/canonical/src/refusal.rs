//! Why a request is refused.

use std::fmt;

macro_rules! refusals {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal, $message:literal;)+) => {
        /// Why a request has no canonical form. A host answers such a request with status 400 and
        /// forwards nothing of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Refusal {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Refusal {
            /// All reasons, in the order of their [`index`](Self::index).
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the stable word of the reason, for logs and counters.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }

        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => $message,)+
                })
            }
        }
    };
}

refusals! {
    /// The target is not in origin-form, nor in absolute-form, nor `*` of `OPTIONS` (RFC 9112, section 3.2).
    TargetForm = "target-form", "the request target must start with `/`";
    /// The target is longer than 65,534 bytes.
    TargetTooLong = "target-too-long", "the request target is longer than 65534 bytes";
    /// The method is `CONNECT`, and the options refuse it.
    Connect = "connect", "the method CONNECT is not accepted";
    /// The method has a lower-case letter. Methods are case-sensitive (RFC 9110, section 9.1), but
    /// some servers read them in any case.
    Method = "method", "the method has a lower-case letter";
    /// The scheme of the target is neither `http` nor `https`.
    Scheme = "scheme", "the scheme of the request target must be http or https";
    /// No `Host` in HTTP/1.1 (RFC 9112, section 3.2) or HTTP/1.0, or no host at all in HTTP/2 and HTTP/3.
    HostMissing = "host-missing", "the request names no host";
    /// More than one `Host` (RFC 9112, section 3.2).
    HostDuplicate = "host-duplicate", "the request has more than one `Host`";
    /// The host is not a name, an IPv4 address or an IPv6 address in brackets, or its port is not a
    /// number from 1 to 65535.
    HostInvalid = "host-invalid", "the host or the port of the request is not valid";
    /// The host and the port in the target and those in `Host` are not the same bytes, as clients
    /// send them (RFC 9112, section 3.2). This is stricter than RFC 9113, section 8.3.1, which
    /// compares normalised values: `h` and `h:443` are one host only to who knows the scheme.
    HostMismatch = "host-mismatch", "the request target and `Host` differ";
    /// The target has a raw control character or a space.
    PathControl = "path-control", "the request target has a control character";
    /// The path has a percent-encoded control character.
    PathEncodedControl = "path-encoded-control", "the path has an encoded control character";
    /// The path has a `\`.
    PathBackslash = "path-backslash", "the path has a backslash";
    /// The path has a `%` without two hexadecimal digits.
    PathPercent = "path-percent", "the path has a `%` without two hexadecimal digits";
    /// The path has an encoded `/` or `\`, and the options refuse them.
    PathEncodedSlash = "path-encoded-slash", "the path has an encoded slash or backslash";
    /// The path has a dot segment, and the options refuse them, or a dot segment with parameters (`..;x`).
    PathDotSegment = "path-dot-segment", "the path has a dot segment";
    /// `Connection` names a field that may not be removed, or more than 64 fields.
    Nomination = "connection-nomination", "`Connection` names a field that it may not remove";
    /// A field of an HTTP/1.1 connection in HTTP/2 or HTTP/3 (RFC 9113, section 8.2.2).
    ConnectionField = "connection-field", "HTTP/2 has no fields for the connection";
    /// A name with a character such as `_`, which some servers take for the name of another field.
    FieldName = "field-name", "the name of a field has a character that servers may read as `-`";
    /// A value starts or ends with a space or a tab (RFC 9113, section 8.2.1), which servers of
    /// HTTP/1.1 take for no part of it.
    FieldValue = "field-value", "the value of a field starts or ends with a space";
    /// A field that has one value has two lines (RFC 9110, section 5.3). Some servers take the
    /// first one, some the last one.
    FieldRepeated = "field-repeated", "a field that has one value is sent twice";
    /// `Content-Length` is not one number (RFC 9110, section 8.6).
    ContentLength = "content-length", "`Content-Length` must be one number";
    /// `Transfer-Encoding` is not `chunked`, or comes with `Content-Length` or in HTTP/1.0 (RFC 9112, section 6.1).
    TransferEncoding = "transfer-encoding", "`Transfer-Encoding` must be `chunked`, without `Content-Length`";
    /// A request to upgrade the connection has a body.
    UpgradeBody = "upgrade-body", "a request to upgrade the connection may not have a body";
}

impl Refusal {
    /// Returns the position of the reason in [`ALL`](Self::ALL), for arrays of counters.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_indices_are_positions() {
        let mut words: Vec<_> = Refusal::ALL.iter().map(|refusal| refusal.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Refusal::ALL.len());
        assert!(Refusal::ALL.iter().enumerate().all(|(position, refusal)| refusal.index() == position));
    }
}
