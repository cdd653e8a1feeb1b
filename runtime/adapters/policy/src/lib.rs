//! Policies: what a proxy does with requests and responses, written as a YAML file of rules.
//!
//! A [`Policy`] is one compiled file. A host asks it once a phase ([`Policy::request`], [`Policy::request_body`],
//! [`Policy::response`], [`Policy::log`]), keeps an [`Exchange`] for each request, and applies the [`Edits`] that a phase leaves
//! there. Nothing here does I/O on the way of a request.
//!
//! ```
//! use celero_policy::{Exchange, Outcome, Policy};
//!
//! let policy = Policy::parse("policy.yaml", "", ".".as_ref())?;
//! let (mut head, ()) = http::Request::get("/").body(())?.into_parts();
//! let mut exchange = Exchange::new(Some("192.0.2.7:4711".parse()?), None);
//! match policy.request(&head, &mut exchange) {
//!     Outcome::Continue => exchange.edits().apply(&mut head.headers),
//!     Outcome::Respond(answer) => println!("{} by {}", answer.status, answer.rule),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod auth;
mod cases;
mod compile;
mod context;
mod counters;
mod definitions;
mod document;
mod edits;
mod error;
mod error_policy;
mod exchange;
mod expressions;
mod live;
mod outcome;
mod phase;
mod policy;
pub mod problems;
mod rule;
mod rule_times;
mod schema;
mod shape;
mod shapes;
mod template;
mod values;
pub mod yaml;

pub use cases::TestReport;
pub use edits::{Edit, Edits};
pub use error::PolicyError;
pub use exchange::Exchange;
pub use live::LivePolicy;
pub use outcome::{Answer, Ended, LogFields, Outcome, Phase, PhaseInfo, RuleInfo};
pub use policy::Policy;
pub use schema::schema;
