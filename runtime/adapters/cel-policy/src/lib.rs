//! Policies in the [CEL Policy](https://github.com/cel-expr/cel-policy) format, compiled to one
//! native function, and the environment files of cel-go. `docs/cel-policy.md` is the guide to the
//! files.
//!
//! [`CelPolicy::compile`] makes a [`Program`](celero::Program) of a policy. What expressions may
//! mention is an [`Env`](celero::Env), as for every rule: of a context of the host,
//!
//! ```
//! use celero::{Context, Engine, Env, Scratch, Value};
//! use celero_cel_policy::CelPolicy;
//!
//! #[derive(Context)]
//! struct Order {
//!     total: i64,
//!     country: &'static str,
//! }
//!
//! let policy = "
//! rule:
//!   variables:
//!   - name: domestic
//!     expression: country == 'DE'
//!   match:
//!   - condition: variables.domestic && total >= 50
//!     output: \"'free'\"
//!   - condition: variables.domestic
//!     output: \"'standard'\"
//! ";
//! let program = CelPolicy::compile(&Engine::new(), &Env::<Order>::new(), policy)?;
//! let mut scratch = Scratch::new();
//! let result = program.eval(&Order { total: 80, country: "DE" }, &mut scratch)?;
//! assert_eq!(result.to_string(), r#"optional.of("free")"#);
//! let result = program.eval(&Order { total: 80, country: "FR" }, &mut scratch)?;
//! assert!(matches!(result, Value::Optional(None)));
//!
//! let wrong = CelPolicy::compile(&Engine::new(), &Env::<Order>::new(), "rule:\n  match:\n  - output: totl > 1\n");
//! let shown = wrong.unwrap_err().render("policy.yaml", false);
//! assert!(shown.contains("policy.yaml:3:13") && shown.contains("did you mean `total`?"), "{shown}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! or of an [environment file](Environment), with [`Bindings`](celero::Bindings) for the values:
//!
//! ```
//! use celero::{Bindings, Engine, Env, Scratch};
//! use celero_cel_policy::{CelPolicy, Environment};
//!
//! let file = "
//! variables:
//! - {name: order.total, type_name: int}
//! functions:
//! - name: limit
//!   overloads:
//!   - id: limit_string
//!     args: [{type_name: string}]
//!     return: {type_name: int}
//! ";
//! let host = Env::dynamic().function("limit", |team: &str| if team == "a" { 10_i64 } else { 100 });
//! let env = Environment::parse("config.yaml", file)?.bindings(host)?;
//! let policy = "rule:\n  aggregate:\n  - condition: order.total > limit('a')\n    output: \"'team a'\"\n  - output: \"'all'\"\n";
//! let program = CelPolicy::compile(&Engine::new(), &env, policy)?;
//! let mut call = Bindings::new(&env);
//! call.set("order.total", 50)?;
//! assert_eq!(program.eval(&call, &mut Scratch::new())?.to_string(), r#"["team a", "all"]"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Tests`] runs the files of tests that belong to policies.

mod codes;
mod compose;
mod environment;
mod environment_file;
mod expression;
mod extensions;
mod keys;
mod language;
mod policy;
mod tests_file;
mod types;

pub use environment::Environment;
pub use language::{CelPolicy, is_policy};
pub use tests_file::{TestReport, Tests};
