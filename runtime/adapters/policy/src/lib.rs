//! Policies: what a proxy does with requests and responses, written as a YAML file of rules.
//!
//! `docs/policy.md` describes the file. A [`Policy`] is one compiled file, a [`LivePolicy`] one that can be loaded again. A host is a
//! proxy or server that runs policies: `celero-pingora` and `celero-tower` are hosts, and `celero-pingora` is the one to copy for
//! another. A host
//!
//! 1. runs [`Policy::connection`] for each connection, before it reads anything of HTTP, and keeps its [`ClientConnection`] until it ends;
//! 2. keeps one [`Exchange`] for each request;
//! 3. calls the phases in their order: [`Policy::request`], [`Policy::request_body`] if [`Policy::request_buffering`] asks for the
//!    body, [`Policy::response`], [`Policy::response_body`] if [`Policy::response_buffering`] asks for it, [`Policy::log`];
//! 4. waits, if the [`Decision`] of a phase of the request has a [`Delay`];
//! 5. applies the [`Edits`] of the exchange after each phase that returns [`Outcome::Continue`], and sends the answer of a phase that
//!    returns [`Outcome::Respond`].
//!
//! [`Policy::request`] first makes the request canonical in place, so that rules, the host's routes and the server see one and the same
//! request, however the client spelled it ([`canonical`]).
//!
//! Phases do no I/O and wait for no delay. [`Policy::request`] and [`Policy::request_body`] block their thread while a password is verified or a
//! service that counts limits is asked ([`RemoteLimits`], which the host implements); asynchronous hosts call [`Policy::request_async`] and
//! [`Policy::request_body_async`] instead.
//!
//! ```
//! use celero_policy::{Exchange, Outcome, Policy};
//!
//! let text = "request:\n- when: request.path.startsWith('/admin')\n  deny: 403\n- setHeaders: {x-proxy: celero}\n";
//! let policy = Policy::parse("policy.yaml", text, ".".as_ref())?;
//! let client = "192.0.2.7:4711".parse()?;
//!
//! let (mut head, ()) = http::Request::get("/").header("host", "example.com").body(())?.into_parts();
//! let mut exchange = Exchange::new(Some(client), None);
//! assert!(matches!(policy.request(&mut head, &mut exchange).outcome, Outcome::Continue));
//! exchange.edits().apply_to_request(&mut head);
//! assert_eq!(head.headers["x-proxy"], "celero");
//!
//! let (mut head, ()) = http::Request::get("//x/../admin/users").header("host", "example.com").body(())?.into_parts();
//! exchange.reset(Some(client), None);
//! let Outcome::Respond(answer) = policy.request(&mut head, &mut exchange).outcome else { panic!("the policy denies this") };
//! assert_eq!(answer.status, 403);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action_failure;
mod actions;
mod answer_keys;
mod auth;
mod auth_keys;
mod body_buffering;
mod body_change;
mod body_edit;
mod body_phases;
mod body_settings;
mod case_keys;
mod case_request;
mod cases;
mod compile;
mod compile_answers;
mod compile_body;
mod compile_delay;
mod compile_effects;
mod compile_limit;
mod compile_remote;
mod connection;
mod content_coding;
mod context;
mod declared_names;
mod definition_graph;
mod definitions;
mod delay;
mod document;
mod edits;
mod emptiness;
mod entry_format;
mod error;
mod error_policy;
mod exchange;
mod expectation;
mod expression_budget;
mod expression_layout;
mod expression_places;
mod expressions;
mod failure_log;
mod fetch_url;
mod grpc;
mod host_condition;
mod host_needs;
mod inspect;
mod json_patch;
mod language;
mod late_needs;
mod levels;
mod limit_headers;
mod limit_keys;
mod limit_state;
mod list_source;
mod live;
mod mentions;
mod named_lists;
mod normalize;
mod outcome;
mod outline;
mod phase;
mod phase_env;
mod policy;
mod policy_counters;
mod policy_delays;
mod policy_keys;
mod policy_limits;
mod policy_lists;
mod purpose;
mod regular_file;
mod remote_limit;
mod remote_limits;
mod replacement;
mod request_limits;
mod request_phase;
mod requirement;
mod rule;
mod rule_delay;
mod rule_limit;
mod rule_reads;
mod rule_target;
mod rule_times;
pub mod schema;
mod target_edits;
mod template;
mod tls_connection;
mod tls_hello;
mod translation;
mod unchangeable;
mod values;
pub mod yaml;

pub use auth::{ClientCertificate, KeyFetch, KeyFetcher, KeySource, KeySourceInfo};
pub use body_buffering::{BodyBuffering, BufferState};
#[doc(hidden)]
pub use body_edit::DIGEST_FIELDS;
pub use cases::TestReport;
pub use celero_canonical as canonical;
pub use connection::{ClientConnection, ConnectionOutcome};
pub use delay::{Delay, DelayInfo};
pub use edits::{Edit, Edits};
pub use error::PolicyError;
pub use exchange::Exchange;
pub use expectation::expects_continue;
pub use host_condition::{EndCondition, RequestCondition, RequestOrigin, ResponseCondition};
pub use language::Language;
pub use limit_state::LimitInfo;
pub use list_source::{ListDocument, ListSource, ListSourceInfo};
pub use live::LivePolicy;
pub use outcome::{
    Decision, LogFields, Outcome, Phase, PhaseInfo, PolicyAnswer, RequestSummary, RuleInfo, VerificationInfo,
};
pub use outline::{Outline, PolicyDefinition, PolicyExpression, PolicyRule};
pub use policy::Policy;
#[doc(hidden)]
pub use regular_file::{open_regular, read_regular};
pub use remote_limits::{RemoteAnswer, RemoteLimits, RemoteQuestion, RemoteReply, Unavailable};
pub use tls_connection::TlsConnection;
pub use tls_hello::TlsHello;
pub use translation::TranslatedPolicy;
pub use yaml::problems;
