//! What a run is given: rules and requests.

mod requests;
mod rules;

pub use requests::{Request, requests};
pub use rules::{SourceRule, rules};
