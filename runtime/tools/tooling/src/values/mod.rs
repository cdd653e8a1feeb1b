//! Values and types as people write them.

pub use celero_policy::typed_json as json;

pub mod inferred_type;
pub mod notation;
