//! celero compiles CEL rules to native code and runs them on a proxy's own data.
//!
//! A rule is an expression in [CEL](https://cel.dev), such as `request.method in ["GET", "HEAD"] &&
//! request.path.startsWith("/api/")`. It is compiled once, and then run on each request: fields are read where the host stores them,
//! nothing is converted, and usually nothing is allocated.
//!
//! # Use
//!
//! ```
//! use celero::http::RequestContext;
//! use celero::{Engine, Env};
//!
//! let engine = Engine::new(); // one per process
//! let env = Env::<RequestContext>::new(); // what rules may mention
//! let rule = engine.compile(&env, r#"request.method in ["GET", "HEAD"] && request.path.startsWith("/api/")"#)?;
//!
//! let request = http::Request::get("/api/users").body(())?;
//! assert!(rule.test(&RequestContext::new(&request))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Engine`] compiles; [`Env`] declares names and functions; [`Program`] is a compiled expression: [`test`](Program::test) returns a
//! `bool`, [`eval`](Program::eval) any [`Value`]. All three can be shared between threads, and evaluations never lock.
//!
//! A [`RuleSet`] compiles many [rules](Rule) together, so that what several of them read, look up or compute is done once. It returns
//! the first rule that matches, all of them, or their number. [`RuleSetBuilder::explain`] returns how each rule is found, or why it is
//! evaluated every time; [`RuleSet::warnings`] reports rules that can't match, repeat others, or are hidden by earlier ones. [`Live`] is a
//! set that changes while it is used.
//!
//! # The host's data
//!
//! A context is a struct whose fields rules read. Derive [`Context`](derive@Context) for your own:
//!
//! ```
//! # use celero::{Context, Engine, Env, Scratch, Value};
//! #[derive(Context)]
//! struct Call<'a> {
//!     method: &'a str,
//!     #[context(name = "client.ip")]
//!     client_ip: std::net::IpAddr,
//!     #[context(name = "user.tenant")]
//!     tenant: Option<String>,
//!     groups: Vec<String>,
//! }
//!
//! let engine = Engine::new();
//! let env = Env::<Call>::new().function("plan", |tenant: &str| if tenant == "acme" { 2_i64 } else { 1 });
//! let rule = engine.compile(&env, r#"has(user.tenant) && plan(user.tenant) > 1 && groups.exists(g, g.startsWith("adm"))"#)?;
//! let name = engine.compile(&env, r#"user.tenant + "/" + client.ip"#)?;
//!
//! let call = Call {
//!     method: "GET",
//!     client_ip: [192, 0, 2, 7].into(),
//!     tenant: Some("acme".into()),
//!     groups: vec!["users".into(), "admins".into()],
//! };
//! assert!(rule.test(&call)?);
//! let mut scratch = Scratch::new(); // one per worker thread
//! assert!(matches!(name.eval(&call, &mut scratch)?, Value::String("acme/192.0.2.7")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`FieldType`] lists the types that a field may have. [`http::RequestContext`] is a context for requests of the crate `http`, with
//! the names that CEL gateways use. A host without a Rust type declares variables at run time and binds values to them:
//!
//! ```
//! # use celero::{Bindings, Engine, Env, Type, Value};
//! let env = Env::dynamic().variable("user.age", Type::Int);
//! let rule = Engine::new().compile(&env, "user.age >= 18")?;
//! let mut bindings = Bindings::new(&env);
//! bindings.set("user.age", Value::Int(41))?;
//! assert!(rule.test(&bindings)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rules call functions of the host ([`Env::function`]) and functions defined in CEL ([`Env::define`]), which cost what their bodies
//! cost:
//!
//! ```
//! # use celero::{Bindings, Engine, Env, Type};
//! let env = Env::dynamic().define("internal(address: string) -> bool", "cidr('10.0.0.0/8').containsIP(address)");
//! assert!(Engine::new().compile(&env, "internal('10.1.2.3')")?.test(&Bindings::new(&env))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! [`CompileError`] has all diagnostics of a rule, with their places, and displays as source lines with carets. [`Program::warnings`]
//! reports what is valid, but probably not what the author means.
//!
//! [`EvalError`] says why an evaluation has no value: its [kind](ErrorKind) and the place in the source. A missing header is an error
//! (`no_such_key`). `&&` and `||` hide an error if the other operand decides (CEL language definition, "Logical Operators"). Decide for
//! each rule what an error means: an allow list should read it as no, a deny list as yes. [`ErrorPolicy`] sets it for rules of a set,
//! which otherwise returns the error.
//!
//! # Tiers
//!
//! Native code runs where the processor is supported: x86-64 and, so far untested, aarch64, with the Unix calling convention. On other
//! processors, and for rules beyond the compiler's limits, an interpreter evaluates. Both return the same value or the same kind of
//! error; [`Tier`] chooses. [`Engine::explain`] returns every stage of a compilation down to the machine code.
//!
//! # Untrusted rules and requests
//!
//! Rules may come from tenants, and requests from anyone. [`Limits`] bounds source, depth, steps and memory. Compiling takes time about
//! linear in the source; `matches` takes time linear in the text. A rule or a request that makes celero panic or overflow the stack is a
//! defect, and so are tiers that disagree. The host's own functions are not bounded. Both tiers count steps, but not the same ones: a
//! rule near its limit may exceed it in one tier only.
//!
//! In header values that are not UTF-8, each invalid sequence is read as U+FFFD. A header on several lines is one value, joined with `,`; `cookie` with `; `.
//! The case of header names does not matter.
//!
//! # Other languages
//!
//! Rules are written in CEL by default. The module [`language`] has what is needed for another language: it checks a source and builds a
//! tree, and everything else here works on that tree.
//!
//! # Features
//!
//! - `http` (on by default): contexts and header maps of the `http` crate.
//! - `tracing`: spans and events of the target `celero` for compiling and changing rules: `celero.compile`, `celero.build` for a set,
//!   `celero.background` for live rules, and one for each change of these. None for evaluations.

mod accessors;
mod arena;
mod bindings;
mod constants;
mod context;
mod counters;
pub mod counting;
mod cx;
mod engine;
mod env;
mod error;
mod explain;
mod expression;
mod fields;
mod format;
mod function;
#[cfg(feature = "http")]
pub mod http;
mod interpret;
pub mod language;
pub mod layout;
mod library;
mod limits;
mod lint;
mod live;
mod lower;
mod native;
mod profile;
mod program;
mod rules;
mod scratch;
mod trace;
mod value;

/// The page of the crate where it is published.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
mod readme {}

pub use arena::{Arena, ArenaVec, EvalResult};
pub use bindings::{BindError, Bindings};
pub use celero_derive::Context;
pub use celero_frontend::stdlib::Library;
pub use celero_frontend::{
    CodeInfo, Diagnostic, Label, Limits as SourceLimits, NotationError, Severity, Span, Stage, Style, Type,
    parse_variables, render, similar,
};
pub use celero_jit::Profiling;
pub use context::{Context, Element, Field, FieldType, Host, Nested};
pub use counters::{Counts, RuleCounts};
pub use cx::Cx;
pub use engine::{Engine, EngineBuilder, Tier, diagnostic_codes};
pub use env::{Env, EnvError};
pub use error::{CompileError, ErrorKind, EvalError, RuleError};
pub use explain::{CodeSpan, Explanation, MachineCode};
pub use expression::{CheckedRule, TextPiece};
pub use fields::Fields;
pub use function::{DynFunction, FromValue, Functions, HostFunction, IntoValue};
pub use limits::Limits;
pub use live::{Difference, Live, Reader, Rules, ShadowStatus, Status};
pub use program::Program;
pub use rules::{
    ErrorPolicy, IndexEntry, Indexing, Match, Rule, RuleExplanation, RuleSet, RuleSetBuilder, RuleSetError,
    SetExplanation, Unindexed,
};
pub use scratch::Scratch;
pub use value::{Duration, HostList, HostMap, List, Map, MapBuilder, Timestamp, Value};

/// What the code generated by `#[derive(Context)]` refers to.
#[doc(hidden)]
pub mod derive_support {
    pub use crate::context::{push_field, push_nested};
}
