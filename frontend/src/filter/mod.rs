//! Cloudflare's filter language, the language of Wirefilter: the text of a rule to a checked tree.
//!
//! ```
//! use celero_frontend::filter::{FilterOptions, check_filter, http_scheme};
//! use celero_frontend::{Style, render};
//! use std::sync::Arc;
//!
//! let scheme = Arc::new(http_scheme());
//! let options = FilterOptions::default();
//! let rule = r#"http.host contains "example" and ip.src in {10.0.0.0/8}"#;
//! assert!(check_filter(rule, &scheme, &options).is_ok());
//!
//! let rule = r#"http.hst contains "example""#;
//! let errors = check_filter(rule, &scheme, &options).unwrap_err();
//! assert!(render(rule, "rule", &errors, Style::Plain).contains("did you mean `http.host`?"));
//! ```
//!
//! # A second kind of checked tree
//!
//! [`FilterTree`] is not a [`Checked`](crate::Checked) tree, for four reasons:
//!
//! 1. Missing values. In CEL reading an absent value is an error that operators pass on; here it is nil, which makes a
//!    comparison false and can make `!=` true. A walk that turns errors into results would not be an oracle.
//! 2. Text. CEL's strings are UTF-8 and its functions count characters; here all text is bytes.
//! 3. Many values. `x[*] eq "a"` has a result for each element, and `and`, `or`, `xor` and `not`
//!    work on them one by one. Functions are called for each value and leave out what is nil. CEL
//!    has folds, but no such operators.
//! 4. The canonical text, and the JSON in Wirefilter's shape, need the literals as they were
//!    written, and sets, lists and wildcards as such.
//!
//! So the interpreter of this language walks a `FilterTree` itself and shares only library
//! functions with native code. The graph below is common to all languages: lowering makes a graph
//! from a `FilterTree` as it does from a `Checked` tree. The runtime knows both kinds of trees by
//! one trait. Because of that, the trait [`Language`](crate::Language), whose result is a `Checked`
//! tree, is not implemented here; the functions of this module correspond to its methods one by one
//! ([`check_filter`], [`format_filter`], [`unparse_filter`], [`FILTER_CODES`]).
//!
//! # Stages
//!
//! One pass parses and checks (`parser/`), because the type of a comparison's left side says which
//! literal follows. `literal/` reads literals; `scheme.rs` and `function.rs` say what a rule may
//! name; `standard.rs` and `http_fields.rs` are the tables of what Cloudflare documents;
//! `unparse.rs` and `layout.rs` write canonical text, and `json.rs` the tree as JSON. `text.rs`
//! puts trees together to one whose value is their text.
//!
//! # Where Wirefilter is lax or odd
//!
//! The language is Wirefilter's, also where that seems an accident: keywords need no blank behind
//! them (`notssl`), a leading 0 makes a number octal (so `09` is an error), a tab is not a blank,
//! keys may be quoted but not raw strings, addresses in sets may have leading zeros or lack numbers
//! (`10/8`), sets may be empty. [`FilterOptions::strict`] warns of these. Differences: all errors
//! are reported, not the first only, and with hints; a range of addresses in the wrong order is an
//! error; a list must be declared unless the scheme accepts every name.

mod codes;
mod function;
mod http_fields;
mod json;
mod layout;
mod lexicon;
mod literal;
mod options;
mod parser;
mod quote;
mod scheme;
mod standard;
mod text;
mod tree;
mod types;
mod unparse;
mod wirefilter_error;
mod words;

pub use codes::FILTER_CODES;
pub use function::{Accepts, ArgumentKind, FilterFunction, FilterParameter, LiteralRule, ResultType, StandardFunction};
pub use http_fields::{HttpField, HttpFieldValue, http_fields, http_scheme};
pub use json::filter_json;
pub use layout::format_filter;
pub use lexicon::FILTER_LEXICON;
pub use literal::{BytesForm, BytesLiteral, FilterLiteral, InvalidWildcard, IpItem, Pattern, SetItems, Wildcard};
pub use options::FilterOptions;
pub use parser::{check_filter, check_value};
pub use quote::{quoted_bytes, raw_string};
pub use scheme::{FilterField, Named, Scheme, SchemeError};
pub use standard::standard_functions;
pub use text::{FilterPiece, filter_text};
pub use tree::{AccessStep, Comparison, Connective, FilterExpr, FilterNode, FilterTree, OrderOp};
pub use types::{FilterType, MAX_TYPE_LAYERS, NotAType};
pub use unparse::unparse_filter;
pub use wirefilter_error::wirefilter_error;
pub use words::FILTER_WORDS;
