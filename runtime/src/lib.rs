//! celero compiles CEL rules to native code and runs them on a proxy's own data.
//!
//! A rule is an expression in [CEL](https://cel.dev), such as
//! `request.method in ["GET", "HEAD"] && request.path.startsWith("/api/")`. It is compiled once,
//! and then run on each request: fields are read where the host stores them, nothing is converted,
//! and usually nothing is allocated.
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
//! [`Engine`] compiles; [`Env`] declares names and functions; [`Program`] is a compiled expression:
//! [`test`](Program::test) returns a `bool`, [`eval`](Program::eval) any [`Value`]. All three can
//! be shared between threads, and evaluations never lock.
//!
//! A [`RuleSet`] compiles many [rules](Rule) together, so that what several of them read, look up
//! or compute is done once. It returns the first rule that matches, all of them, or their number:
//!
//! ```
//! # use celero::http::RequestContext;
//! # use celero::{Engine, Env, ErrorPolicy, Scratch};
//! let env = Env::<RequestContext>::new();
//! let rules = Engine::new()
//!     .rules(&env)
//!     .rule("writers", r#"request.method != "GET""#, "log")
//!     .rule("admin", r#"request.path.startsWith("/admin") && request.headers["x-team"] != "ops""#, "deny")
//!     .on_error(ErrorPolicy::Match) // a rule that denies matches when it fails
//!     .build()?;
//!
//! let mut scratch = Scratch::new(); // one per worker thread
//! let request = http::Request::post("/admin/keys").body(())?;
//! let call = RequestContext::new(&request);
//! let actions: Vec<_> = rules.all(&call, &mut scratch)?.map(|rule| (rule.name, *rule.action)).collect();
//! assert_eq!(actions, [("writers", "log"), ("admin", "deny")]);
//! let report = rules.describe(&scratch.errors()[0], &call).expect("a rule of the set");
//! assert_eq!(report.message(), r#"no header "x-team""#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! [`RuleSetBuilder::explain`](sets::RuleSetBuilder::explain) returns how each rule is found, or
//! why it is evaluated every time; [`RuleSet::warnings`] reports rules that can't match, repeat
//! others, or are hidden by earlier ones.
//!
//! # Modules
//!
//! The root has the names that most programs use; the others are in modules by purpose:
//!
//! | module | what it has |
//! |---|---|
//! | [`sets`] | rule sets and live rules: [`Rule`], [`Match`](sets::Match), [`ErrorPolicy`], [`Reader`](sets::Reader), [`Rules`](sets::Rules), explanations, counts |
//! | [`host`] | the host's data and functions: [`Bindings`], [`Scratch`], [`FieldType`], [`FromValue`](host::FromValue), [`IntoValue`](host::IntoValue) |
//! | [`values`] | [`Value`], [`OwnedValue`], [`Type`], lists, maps, times, the [`Arena`](values::Arena) |
//! | [`diagnostics`] | [`CompileError`], [`EvalError`], [`Report`](diagnostics::Report), [`Diagnostic`] |
//! | [`settings`] | [`Tier`], [`Limits`], [`Library`](settings::Library), [`EngineBuilder`](settings::EngineBuilder), [`Explanation`](settings::Explanation), [`Trace`](settings::Trace) |
//! | [`trees`] | trees of other implementations of CEL: [`Tree`](trees::Tree) |
//! | [`messages`] | messages of protocol buffers: [`Message`](messages::Message), [`Descriptors`](messages::Descriptors) |
//! | [`http`] | contexts for requests of the crate `http` |
//! | [`lists`] | named lists that rules ask, and that change |
//! | [`filter`] | Cloudflare's filter language, translations between it and CEL |
//! | [`language`] | what a rule language of your own is made of |
//! | [`layout`] | field types of your own that native code reads in place |
//! | [`counting`] | counters for hosts that decide themselves what counts as a match |
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
//! [`FieldType`] lists the types that a field may have. Enums and newtypes derive
//! [`FieldType`](derive@FieldType); with `#[context(with = function)]` every other type is a field
//! too; a struct inside derives `Context` itself. [`http::RequestContext`] is a context for
//! requests of the crate `http`, with the names that CEL gateways use. A host without a Rust type
//! declares variables at run time and binds values to them:
//!
//! ```
//! # use celero::{Bindings, Engine, Env, Type};
//! let env = Env::dynamic().variable("user.age", Type::Int);
//! let rule = Engine::new().compile(&env, "user.age >= 18")?;
//! let mut bindings = Bindings::new(&env);
//! bindings.set("user.age", 41)?;
//! assert!(rule.test(&bindings)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rules call functions of the host ([`Env::function`]) and functions defined in CEL
//! ([`Env::define`]), which cost what their bodies cost:
//!
//! ```
//! # use celero::{Bindings, Engine, Env, Type};
//! let env = Env::dynamic().define("internal(address: string) -> bool", "cidr('10.0.0.0/8').containsIP(address)");
//! assert!(Engine::new().compile(&env, "internal('10.1.2.3')")?.test(&Bindings::new(&env))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules that change
//!
//! [`Live`] is a rule set that changes while threads evaluate it. A change is in effect when the
//! call returns, interpreted at first; native code follows in the background:
//!
//! ```
//! use celero::http::RequestContext;
//! use celero::{Engine, Env, ErrorPolicy, Live, Rule, Scratch};
//!
//! let live = Live::new(Engine::new(), Env::<RequestContext>::new());
//! live.replace(|rules| rules.rule("admin", r#"request.path.startsWith("/admin")"#, 403).on_error(ErrorPolicy::Match))?;
//!
//! let (reader, mut scratch) = (live.reader(), Scratch::new()); // one of each per thread
//! let request = http::Request::get("/beta").body(())?;
//! let call = RequestContext::new(&request);
//! assert!(!reader.load().any(&call, &mut scratch)?);
//! live.insert(Rule::new("beta", r#"request.path == "/beta""#, 404))?;
//! assert!(reader.load().any(&call, &mut scratch)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A rule that does not compile changes nothing. [`Live::shadow`] tries candidate rules on a share
//! of the requests.
//!
//! # Lists
//!
//! A list is data of the host that rules ask: addresses, host names, texts, integers or patterns.
//! A list with a million entries is one lookup, and changing it compiles no rule:
//!
//! ```
//! use celero::lists::{Kind, Limits, Lists};
//! use celero::{Bindings, Engine, Env, Type};
//!
//! let lists = Lists::new(Limits::default());
//! lists.declare("blocked", Kind::Addresses)?;
//! let env = Env::dynamic().variable("client", Type::String).lists(&lists);
//! let rule = Engine::new().compile(&env, "client in lists.blocked")?;
//!
//! let mut call = Bindings::new(&env);
//! call.set("client", "192.0.2.7")?;
//! assert!(!rule.test(&call)?);
//! lists.change().insert("blocked", "192.0.2.0/24").commit()?;
//! assert!(rule.test(&call)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Entries can carry values (`lists.geo[client].country`): [`Env::lists`] has an example.
//!
//! # The filter language
//!
//! [`Env::filter_language`] compiles rules in Cloudflare's filter language in place of CEL, for
//! programs, rule sets and live rules alike. The module [`filter`] has more:
//!
//! ```
//! # use celero::filter::FilterLanguage;
//! # use celero::http::RequestContext;
//! # use celero::{Engine, Env};
//! let env = Env::<RequestContext>::new().filter_language(FilterLanguage::http());
//! let rule = Engine::new().compile(&env, r#"http.request.method in {"GET" "HEAD"} and not ip.src in {192.0.2.0/24}"#)?;
//! let request = http::Request::get("/").body(())?;
//! assert!(rule.test(&RequestContext::new(&request).with_source("203.0.113.7:4711".parse()?))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads and async
//!
//! [`Engine`], [`Env`], [`Program`], [`RuleSet`], [`Live`] and [`Lists`](lists::Lists) are [`Send`]
//! and [`Sync`]: make one of each, and share it. A [`Scratch`] is memory that evaluations reuse:
//! have one per thread.
//!
//! An evaluation returns at once: it takes no lock and awaits nothing, so it may run in any task. A
//! [`Value`] borrows from the context and the scratch; [`Value::to_owned`] makes an [`OwnedValue`],
//! which may be kept over an `.await` and sent to another thread. What has to be waited for, such
//! as a row of a database, is fetched first and put into the context:
//!
//! ```
//! use celero::{Context, Engine, Env, OwnedValue, Program, Scratch};
//!
//! #[derive(Context)]
//! struct Call {
//!     path: String,
//!     risk: Option<i64>, // absent if the service gave no answer
//! }
//!
//! async fn risk_of(path: &str) -> Option<i64> {
//!     (path == "/login").then_some(70)
//! }
//!
//! async fn decide(rule: &Program<Call>, path: String) -> Result<OwnedValue, Box<dyn std::error::Error + Send + Sync>> {
//!     let risk = risk_of(&path).await;
//!     let value = rule.eval(&Call { path, risk }, &mut Scratch::new())?.to_owned()?;
//!     std::future::ready(()).await; // the value is kept meanwhile
//!     Ok(value)
//! }
//!
//! fn task<T: Send>(future: T) -> T {
//!     future // a runtime such as tokio asks the same of what it spawns
//! }
//!
//! let rule = Engine::new().compile(&Env::<Call>::new(), r#"default(risk, 100) > 50 ? "deny " + path : "pass""#)?;
//! let decision = task(decide(&rule, "/login".into()));
//! # let mut decision = std::pin::pin!(decision);
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # let std::task::Poll::Ready(Ok(value)) = decision.as_mut().poll(&mut context) else { panic!("nothing waits") };
//! # assert_eq!(value.to_string(), r#""deny /login""#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Policies
//!
//! This crate evaluates rules; what a proxy does with their results is yours to write, or a policy:
//! a YAML file of rules that deny, redirect, change headers, limit rates and log. The crate
//! `celero-policy` runs policies (its page begins with an example), `celero-tower` puts one around
//! a service of axum, hyper or tonic, and `celero-pingora` into the phases of Pingora.
//!
//! # Errors
//!
//! [`CompileError`] has all diagnostics of a rule, with their places, and displays as source lines
//! with carets. [`Program::warnings`] reports what is valid, but probably not what the author
//! means.
//!
//! [`EvalError`] says why an evaluation has no value: its [kind](ErrorKind) and the place in the
//! source. It is small and costs nothing to make; [`Program::describe`] puts it into words, with
//! what it failed on. A missing header is an error (`no_such_key`). `&&` and `||` hide an error if
//! the other operand decides (CEL language definition, "Logical Operators"). Decide for each rule
//! what an error means: an allow list should read it as no, a deny list as yes. [`ErrorPolicy`]
//! sets it for rules of a set, which otherwise returns the error.
//!
//! # Tiers
//!
//! Native code runs where the processor is supported: x86-64 and aarch64 (so far tested under QEMU
//! only), with the Unix calling convention. On other processors, and for rules beyond the
//! compiler's limits, an interpreter evaluates. Both return the same value or the same kind of
//! error; [`Tier`] chooses. [`Engine::explain`] returns every stage of a compilation down to the
//! machine code.
//!
//! # Untrusted rules and requests
//!
//! Rules may come from tenants, and requests from anyone. [`Limits`] bounds source, depth, steps
//! and memory. Compiling takes time about linear in the source; `matches` takes time linear in the
//! text. A rule or a request that makes celero panic or overflow the stack is a defect, and so are
//! tiers that disagree. The host's own functions are not bounded. Both tiers count steps, but not
//! the same ones: a rule near its limit may exceed it in one tier only.
//!
//! In header values that are not UTF-8, each invalid sequence is read as U+FFFD. A header on
//! several lines is one value, joined with `,`; `cookie` with `; `. The case of header names does
//! not matter.
//!
//! # Other languages
//!
//! Rules are written in CEL by default. The module [`language`] has what is needed for another
//! language: it checks a source and builds a tree, and everything else here works on that tree.
//!
//! # Features
//!
//! - `native` (on by default): native code, through Cranelift. Without it rules are interpreted, with the same
//!   results, and no page of memory is executable but those of the program's files. [`Tier::Native`] is an error then.
//!   With it, a process that may not execute what it writes interprets too: see [`Engine::native_failure`].
//! - `http` (on by default): contexts and header maps of the `http` crate.
//! - `bytes`, `chrono`, `jiff`, `serde_json`, `url`, `uuid`: types of these crates as fields, see [`FieldType`].
//!   With `serde_json`, documents are values and bindings too, and with `serde` whatever is `Serialize`.
//! - `serde`: [`Rule`], [`Limits`] and [`ErrorPolicy`] in configuration files; [`OwnedValue`] in any format.
//! - `tracing`: spans and events of the target `celero` for compiling and changing rules:
//!   `celero.compile`, `celero.build` for a set, `celero.background` for live rules, and one for
//!   each change of these. None for evaluations.

mod accessors;
mod arena;
mod cel;
mod compilation;
mod context;
mod counters;
mod cx;
mod engine;
mod env;
mod error;
mod expression;
mod fields;
pub mod filter;
mod function;
#[cfg(feature = "http")]
pub mod http;
mod interpret;
pub mod language;
mod library;
mod limits;
mod lint;
mod live;
mod lower;
mod native;
mod owned;
mod report;
mod rules;
mod scratch;
mod translate;
mod value;
mod variables;

/// The page of the crate where it is published.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
mod readme {}

// What most programs name, and no glob: a name here is a promise. The modules have the others.
pub use celero_derive::Context;
pub use context::{Context, layout};
pub use engine::{Engine, Program};
pub use env::Env;
pub use live::Live;
pub use rules::RuleSet;
#[doc(no_inline)]
pub use {
    diagnostics::{CompileError, Diagnostic, ErrorKind, EvalError, RuleError},
    host::{Bindings, FieldType, Scratch},
    sets::{ErrorPolicy, Rule, RuleSetError},
    settings::{Limits, Tier},
    values::{OwnedValue, Type, Value},
};

pub mod sets {
    //! Rules in sets: how they are built, what they return, how they are found, and sets that
    //! change while they are used.
    //!
    //! A [`RuleSetBuilder`] makes a [`RuleSet`] from [`Rule`]s; a [`Live`] takes changes and gives
    //! [`Rules`] to the threads that evaluate, each through a [`Reader`]. [`Match`] is a rule that
    //! matched. [`ErrorPolicy`] says what a failing rule counts as.

    pub use crate::counters::{Counts, RuleCounts};
    pub use crate::live::{Difference, Live, Reader, Rules, ShadowStatus, Status};
    pub use crate::rules::{
        ErrorPolicy, IndexEntry, Indexing, Match, Rule, RuleExplanation, RuleSet, RuleSetBuilder, RuleSetError,
        SetExplanation, Unindexed,
    };
}

pub mod values {
    //! Values of rules: what evaluations return, and what functions of the host take and return.
    //!
    //! [`Value`] is any CEL value; [`List`] and [`Map`] borrow from the host, the rule or an
    //! [`Arena`]. [`OwnedValue`] is a copy that borrows nothing. [`Type`] is a static type.

    pub use crate::arena::{Arena, ArenaVec, EvalResult};
    pub use crate::owned::OwnedValue;
    pub use crate::value::{Duration, HostList, HostMap, List, Map, MapBuilder, Timestamp, Value};
    pub use celero_frontend::{NotationError, Type, parse_variables, parse_variables_with};
}

pub mod trees {
    //! Trees that implementations of CEL exchange, in the binary form and in JSON: `cel.expr.ParsedExpr` and
    //! `cel.expr.CheckedExpr` of the CEL specification (`proto/cel/expr/syntax.proto`, `checked.proto`).
    //!
    //! [`Engine::parsed_tree`](crate::Engine::parsed_tree) and [`Engine::checked_tree`](crate::Engine::checked_tree)
    //! make trees of expressions, [`Engine::compile_tree`](crate::Engine::compile_tree) and
    //! [`Engine::check_tree`](crate::Engine::check_tree) take those of anyone. Trees of cel-go compile here, and those
    //! of celero load in cel-go (`cel.CheckedExprToAst`).

    pub use crate::cel::trees::{Tree, TreeError, TreeKind, TreePlace};
}

pub mod messages {
    //! Messages of protocol buffers, which rules read from their bytes, or from messages of the host:
    //! [`Env::messages`](crate::Env::messages) makes their types known.

    pub use crate::value::message::{HostField, HostMessage, Message};
    pub use celero_frontend::type_of_message;
    pub use celero_protobuf::{DescriptorError, Descriptors, Method};
}

pub mod host {
    //! The host's side: the data that rules read, and the functions that they call.
    //!
    //! [`FieldType`] lists the types that a field of a context may have, [`FromValue`] and
    //! [`IntoValue`] those of functions. [`Bindings`] are for hosts that have no Rust type for
    //! their data. [`crate::layout`] is for types of your own.

    pub use crate::context::{Element, Extension, ExtensionFields, Field, FieldType, FieldValue, Host, MapKey, Nested};
    pub use crate::cx::Cx;
    #[cfg(all(feature = "serde", feature = "serde_json"))]
    pub use crate::env::serialized::Serialized;
    pub use crate::env::{BindError, Bindings, EnvError, ONLY_DECLARED};
    pub use crate::fields::Fields;
    pub use crate::function::{DynFunction, FromValue, Functions, HostFunction, IntoValue};
    pub use crate::scratch::Scratch;
    pub use celero_derive::FieldType;
}

/// Counters for hosts that decide themselves what counts as a match of a rule.
pub mod counting {
    pub use crate::counters::{CounterShards, Counters, Counting, Evaluations, SlotCounts};
}

/// Named lists that rules ask as `value in lists.NAME`, and that change while they do:
/// [`Env::lists`] declares them.
pub mod lists {
    pub use celero_lists::{
        Change, Changed, Entries, Entry, EntryId, EntryValue, Kind, Limits, ListId, ListInfo, ListType, Lists,
        ListsError, MAX_ENTRY_BYTES, Row, Scalar, ScalarRef, ScalarType, Snapshot, ValueType, View, WrongEntries,
        WrongEntry,
    };
}

pub mod diagnostics {
    //! Errors and warnings: of compilations ([`CompileError`], [`Diagnostic`]) and of evaluations
    //! ([`EvalError`], [`RuleError`], [`Report`]).

    pub use crate::engine::diagnostic_codes;
    pub use crate::error::{CompileError, ErrorKind, EvalError, RuleError};
    pub use crate::report::{DescribedError, Report};
    pub use crate::translate::Translated;
    pub use celero_frontend::{CodeInfo, Diagnostic, Label, Severity, Span, Stage, Style, render, similar};
}

/// How an [`Engine`] compiles: tiers, limits, libraries, profiling, and what a compilation shows of
/// itself.
pub mod settings {
    pub use crate::engine::{CodeSpan, EngineBuilder, Explanation, MachineCode, Tier};
    pub use crate::expression::{CheckedRule, PartResult, Partial, TextPiece, Trace, TracedPart, Unknowns};
    pub use crate::language::{PartCost, StaticCost};
    pub use crate::limits::Limits;
    pub use crate::lint::Validator;
    pub use celero_frontend::Limits as SourceLimits;
    pub use celero_frontend::stdlib::Library;
    pub use celero_ir::passes::StageObserver;
    pub use celero_jit::Profiling;
    pub use celero_matching::pattern::Dialect as PatternDialect;
}

/// What the code generated by `#[derive(Context)]` refers to.
#[doc(hidden)]
pub mod derive_support {
    pub use crate::context::{
        Computed, ExtensionPlace, Known, Member, Named, Tags, called_layout, computed, known, known_nested,
        named_layout, of_numbers, optional_named_layout, read_by_call, record, struct_of, value_of,
    };
}
