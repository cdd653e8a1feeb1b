//! Types of other crates as fields, one file for each crate. Each is behind the feature with the name of its crate.

#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "serde_json")]
mod serde_json;
#[cfg(feature = "url")]
mod url;
#[cfg(feature = "uuid")]
mod uuid;
