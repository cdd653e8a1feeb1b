//! Validates messages of protocol buffers by their [protovalidate](https://protovalidate.com) rules.
//!
//! Rules are options of fields, messages and oneofs (`buf/validate/validate.proto`). Nearly all of them, the standard
//! ones too, are expressions in CEL that this file or yours contains. A [`Validator`] compiles those that a type of
//! message has, and those of the types in it, to native code, and validates messages from their bytes in the wire
//! format.
//!
//! [`functions`] declares the functions of protovalidate in any environment, for rules of your own:
//!
//! ```
//! use celero::{Bindings, Engine, Env, Type};
//!
//! let env = celero_protovalidate::functions(Env::dynamic()).variable("host", Type::String);
//! let rule = Engine::new().compile(&env, "host.isHostname() && !'a b'.isEmail()")?;
//! let mut call = Bindings::new(&env);
//! call.set("host", "example.com")?;
//! assert!(rule.test(&call)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compile;
mod error;
mod formats;
mod functions;
mod options;
mod plan;
mod standard;
mod validator;
mod violation;

pub use error::{CompileError, ValidateError};
pub use functions::functions;
pub use validator::Validator;
pub use violation::{PathElement, Subscript, Violation};
