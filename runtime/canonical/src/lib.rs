//! One canonical request of all its spellings.
//!
//! A request can be spelled in thousands of ways that a server takes for the same: `//admin`,
//! `/%61dmin`, `/x/../admin`, `Admin.Example.:80`, `GET http://admin.example/`. A rule that reads
//! one spelling is passed by the others. [`canonicalize`] makes them one, in place, before anything
//! reads the request: rules, routes and logs then read what the server gets. A request that has no
//! canonical form is refused ([`Refusal`]): answer it with status 400.
//!
//! | part | canonical form |
//! |---|---|
//! | target | origin-form; absolute-form that agrees with `Host` becomes origin-form (RFC 9112, section 3.2), and `*` if `OPTIONS` has no path |
//! | path | dot segments removed, slashes merged, unreserved characters decoded, other encoded bytes in upper case (RFC 3986, sections 5.2.4 and 6.2.2) |
//! | host | lower case, without a dot at its end; exactly one, and the same in target and `Host`, which HTTP/2 and HTTP/3 get too |
//! | fields of the connection | removed, with all that `Connection` names (RFC 9110, section 7.6.1); only upgrades to WebSocket stay |
//! | `Cookie` | one line, joined with `; ` (RFC 9113, section 8.2.3) |
//! | framing | one `Content-Length` of digits, or `Transfer-Encoding: chunked` |
//! | names of fields | none that a server may take for a guarded name ([`GuardedNames`]): `x_user` for `x-user` |
//!
//! [`Options`] say what is refused instead of changed. `docs/security.md` lists what is promised,
//! with the test of each line.
//!
//! The crate knows the types of the `http` crate and nothing of rules. A head that is canonical
//! already costs no allocation; its path is read in blocks of bytes and costs less than 20
//! nanoseconds (`cargo bench -p celero-canonical`).

mod authority;
mod canonicalize;
mod fields;
mod guarded;
mod head;
mod local_host;
mod options;
mod path;
mod refusal;
mod target;
mod trailers;

pub use authority::{Authority, canonical_host, split_authority};
pub use canonicalize::{Changes, canonical_changes, canonicalize, canonicalize_response};
pub use fields::{field_value, joined_cookies};
pub use guarded::GuardedNames;
pub use head::{Fields, Head, ResponseHead, follow_host};
pub use local_host::is_local_host;
pub use options::{DotSegments, EncodedSlashes, Options, Slashes, Underscores};
pub use path::{canonical_path, canonical_spelling};
pub use refusal::Refusal;
pub use target::origin_form;
pub use trailers::clean_trailers;
