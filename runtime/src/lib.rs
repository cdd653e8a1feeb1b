//! celero compiles CEL rules to native code and runs them on a proxy's own data.
//!
//! A rule is an expression in [CEL](https://cel.dev), such as `request.path.startsWith("/admin") && !("x-team" in
//! request.headers)`. It is compiled once, and then run on each request: fields are read where they lie, nothing is
//! converted, and, as a rule, nothing is allocated.
//!
//! # Use
//!
//! ```
//! use celero::http::RequestContext;
//! use celero::{Engine, Env};
//!
//! let engine = Engine::new(); // one per process
//! let env = Env::<RequestContext>::new(); // what rules may mention
//! let rule = engine.compile(&env, r#"request.path.startsWith("/admin") && !("x-team" in request.headers)"#)?;
//!
//! let request = http::Request::get("/admin/users").body(())?;
//! assert!(rule.test(&RequestContext::new(&request))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Engine`] compiles; [`Env`] says which names and functions there are; [`Program`] is a compiled expression:
//! [`test`](Program::test) asks for a truth value, [`eval`](Program::eval) for any [`Value`]. All three can be shared between
//! threads, and evaluations share nothing that any of them writes.
//!
//! Many rules are a [`RuleSet`]: compiled together, so that what several of them read, look up or compute is done once, and asked
//! together: for the first that matches, for all, for how many. [`RuleSetBuilder::explain`] tells of each rule how it is found,
//! or why it is evaluated every time, and [`RuleSet::warnings`] of rules that can't match, repeat others, or come too late.
//! [`Live`] is such a set that changes while it is used.
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
//! [`FieldType`] lists the types that a field may have. [`http::RequestContext`] is a context for the `http` crate's requests
//! under the names that CEL gateways use. A host without a Rust type declares variables at run time and binds values to them:
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
//! What several rules have in common is a function: of the host ([`Env::function`]), or defined in CEL
//! ([`Env::define`]), which costs what its body costs:
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
//! [`CompileError`] holds every diagnostic of a rule, with the place, and displays as the source lines with carets. What is
//! valid but hardly meant is in [`Program::warnings`].
//!
//! [`EvalError`] says why an evaluation has no value: a small closed set of [kinds](ErrorKind) to match on, and the place in
//! the source. A missing header is such an error (`no_such_key`), and `&&` and `||` hide an error where the other operand
//! decides, as the language definition asks. Decide per rule what an error means: an allow list should read it as no, a deny
//! list as yes; for a set, [`ErrorPolicy`] says it for all.
//!
//! # Tiers
//!
//! Native code runs where the processor is supported (x86-64 and, so far untested, aarch64, with the Unix calling convention);
//! elsewhere, and for rules beyond the compiler's bounds, an interpreter does. Both give the same value or the same kind of
//! error; [`Tier`] chooses. [`Engine::explain`] shows every stage down to the machine code.
//!
//! # Untrusted rules and requests
//!
//! Rules may come from tenants, and requests from anyone. [`Limits`] bounds source, depth, steps and memory; compiling takes
//! time about linear in the source; `matches` takes time linear in the text. No rule and no request makes celero panic or
//! overflow the stack: that is a defect, and so are tiers that disagree. Not bounded are the host's own functions, and the
//! steps that both tiers count are not the same steps, so that a rule at the edge of its budget may exceed it in one tier only.
//!
//! Header values that are not UTF-8 are read as if each invalid sequence were U+FFFD; headers sent on several lines as one
//! value, joined with `,`; header names without regard to case.
//!
//! # Features
//!
//! - `http` (on by default): contexts and header maps of the `http` crate.
//! - `tracing`: spans and events of the target `celero` for what compiles and changes rules: `celero.compile`, `celero.build` of a set,
//!   `celero.background` of live rules, and each change of these. Never for a request.

mod accessors;
mod arena;
mod bindings;
mod constants;
mod context;
mod counters;
mod engine;
mod env;
mod error;
mod explain;
mod fields;
mod format;
mod function;
#[cfg(feature = "http")]
pub mod http;
mod interpret;
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

pub use arena::{Arena, ArenaVec, EvalResult};
pub use bindings::{BindError, Bindings};
pub use celero_derive::Context;
pub use celero_frontend::stdlib::Library;
pub use celero_frontend::{
    CodeInfo, Diagnostic, Label, Limits as SourceLimits, NotationError, Severity, Span, Stage, Style, Type,
    parse_variables, render,
};
pub use celero_jit::Profiling;
pub use context::{Context, Element, Field, FieldType, Host, Nested};
pub use counters::{Counts, RuleCounts};
pub use engine::{CompileError, Engine, EngineBuilder, Tier, diagnostic_codes};
pub use env::{Env, EnvError};
pub use error::{ErrorKind, EvalError};
pub use explain::Explanation;
pub use fields::Fields;
pub use function::{DynFunction, FromValue, Functions, HostFunction, IntoValue};
pub use library::Cx;
pub use limits::Limits;
pub use live::{Difference, Live, Reader, Rules, ShadowStatus, Status};
pub use program::Program;
pub use rules::{
    ErrorPolicy, EveryTime, Indexing, Match, RuleError, RuleExplanation, RuleSet, RuleSetBuilder, RuleSetError,
    SetExplanation, Way,
};
pub use scratch::Scratch;
pub use value::{Duration, HostList, HostMap, List, Map, MapBuilder, Timestamp, Value};

/// What `#[derive(Context)]` writes refers to.
#[doc(hidden)]
pub mod derive_support {
    pub use crate::context::{push_field, push_nested};
}
