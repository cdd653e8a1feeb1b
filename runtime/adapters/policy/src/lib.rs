//! Policies: what a proxy does with requests and responses, written as a YAML file of rules.
//!
//! `docs/policy.md` is the guide to the file, `docs/policy-reference.md` the reference. A
//! [`Policy`] is one compiled file, a [`LivePolicy`] one that can be loaded again. A host is a
//! proxy or server that runs policies: `celero-pingora` and `celero-tower` are hosts, and
//! `celero-pingora` is the one to copy for another. A host
//!
//! 1. runs [`Policy::connection`] for each connection, before it reads anything of HTTP, and keeps
//!    its [`ClientConnection`] until it ends;
//! 2. keeps one [`Exchange`] for each request;
//! 3. calls the phases in their order: [`Policy::request`], [`Policy::request_body`] if
//!    [`Policy::request_buffering`] asks for the body, [`Policy::response`],
//!    [`Policy::response_body`] if [`Policy::response_buffering`] asks for it, [`Policy::log`]. A
//!    host that can forward a body while it arrives asks before for a [`MessageStream`];
//! 4. waits, if the [`Decision`] of a phase of the request has a [`Delay`];
//! 5. applies the [`Edits`] of the exchange after each phase that returns [`Outcome::Continue`],
//!    and sends the answer of a phase that returns [`Outcome::Respond`].
//!
//! [`Policy::request`] first makes the request canonical in place, so that rules, the host's routes
//! and the server see one and the same request, however the client spelled it ([`canonical`]).
//!
//! Phases do no I/O and wait for no delay. [`Policy::request`] and [`Policy::request_body`] block
//! their thread while a password is verified or a service that counts limits is asked
//! ([`RemoteLimits`], which the host implements); asynchronous hosts call [`Policy::request_async`]
//! and [`Policy::request_body_async`] instead.
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
//!
//! A host with functions and data of its own loads policies with a [`Loader`], and gives the values
//! for each request with [`Exchange::set_variables`].
//!
//! # Rooms
//!
//! The folders of the source. Each uses only those above it.
//!
//! | folder | what is there |
//! |---|---|
//! | `yaml/` | files as trees with places; errors and warnings; what messages must not show |
//! | `schema/` | formats of documents as tables: the check, and the JSON schema |
//! | `host/` | what a policy and its host give each other: edits, answers, delays, logs |
//! | `limits/` | what limits have counted, and what clients are told |
//! | `keys/` | the tables of all keys |
//! | `file/` | the files of a policy: reading, includes, levels, and what is refused because it is empty |
//! | `bodies/` | how much of a body is read, codings, patches |
//! | `grpc/` | calls of gRPC whose messages rules read: methods, heads, frames |
//! | `lists/` | the section `lists`, and where entries come from |
//! | `rules/` | what a rule does when it matches |
//! | `expressions/` | expressions, definitions and templates: what they may mention, and their check |
//! | `auth/` | credentials, and the threads that verify them |
//! | `phases/` | what a phase reads, and how its rules run |
//! | `compile/` | from a document to the rules of a phase |
//! | `policy/` | the compiled policy: the API for hosts, reloads |
//! | `cases/`, `editor/` | tests of policies without a network; what editors ask |

mod auth;
mod bodies;
mod cases;
mod compile;
mod editor;
mod expressions;
mod file;
mod grpc;
mod host;
mod keys;
mod language;
mod limits;
mod lists;
mod phases;
mod policy;
mod rules;
pub mod schema;
pub mod yaml;

pub use auth::{ClientCertificate, KeyFetch, KeyFetcher, KeySource, KeySourceInfo};
pub use bodies::buffering::{BodyBuffering, BufferState};
pub use cases::TestReport;
pub use celero::Context;
pub use celero_canonical as canonical;
pub use editor::outline::{Outline, PolicyDefinition, PolicyExpression, PolicyRule};
pub use editor::translation::TranslatedPolicy;
pub use expressions::costs::ExpressionCost;
pub use expressions::native_failure;
#[doc(hidden)]
pub use file::document::LARGEST_FILE;
pub use file::error::PolicyError;
#[doc(hidden)]
pub use file::regular_file::{open_regular, read_regular};
#[doc(hidden)]
pub use host::body_edit::DIGEST_FIELDS;
pub use host::delay::{Delay, DelayInfo};
pub use host::edits::{Edit, Edits};
pub use host::expectation::expects_continue;
pub use host::outcome::{
    Decision, LogFields, Outcome, Phase, PhaseInfo, PolicyAnswer, RequestSummary, RuleInfo, VerificationInfo,
};
pub use host::tls_hello::TlsHello;
#[doc(hidden)]
pub use host::typed_json;
pub use language::Language;
pub use limits::remote::{RemoteAnswer, RemoteLimits, RemoteQuestion, RemoteReply, Unavailable};
pub use limits::state::LimitInfo;
pub use lists::source::{ListDocument, ListSource, ListSourceInfo};
pub use phases::exchange::Exchange;
pub use phases::tls_connection::TlsConnection;
pub use phases::watch::RuleReasons;
pub use policy::Policy;
pub use policy::connection::{ClientConnection, ConnectionOutcome};
pub use policy::host_condition::{EndCondition, RequestCondition, RequestOrigin, ResponseCondition};
pub use policy::live::LivePolicy;
pub use policy::loader::Loader;
pub use policy::message_stream::{CheckedMessages, LimitQuestion, LimitReply, MessageStep, MessageStream};
pub use yaml::problems;
pub use yaml::reach::Reach;
