//! Values and types as people write them.

pub mod inferred_type;
pub mod json;
pub mod notation;
