//! Document formats as data: which keys a file may have, what each holds, and what it is for.
//!
//! A [`DocumentSpec`] is a table. [`DocumentSpec::check`] compares a YAML document with it,
//! [`DocumentSpec::json_schema`] makes a JSON schema of it, and the tests compare the documentation
//! with it, so none of the three can differ. The formats of this workspace are policies and their
//! cases (`keys/policy.rs`, `keys/auth.rs`, `cases/keys.rs`) and the configuration of
//! `celero-proxy`.
//!
//! ```
//! use celero_policy::problems::Problems;
//! use celero_policy::schema::{DiagnosticCodes, DocumentSpec, KeySpec, MappingSpec, ValueSpec};
//! use celero_policy::yaml;
//!
//! static SERVER: MappingSpec = MappingSpec::new(
//!     "a server",
//!     &[
//!         KeySpec::required("address", ValueSpec::Text, "Where it listens."),
//!         KeySpec::optional("threads", ValueSpec::Integer { least: 1, most: 64 }, "Number of threads."),
//!     ],
//! );
//! static FORMAT: DocumentSpec = DocumentSpec::new(
//!     "a server",
//!     ValueSpec::Mapping(&SERVER),
//!     DiagnosticCodes { unknown_key: "server-key", missing_key: "server-missing", value: "server-value" },
//! );
//!
//! let mut problems = Problems::default();
//! let file = problems.file("server.yaml".to_owned(), "address: localhost\nthread: 8\n");
//! let root = yaml::read(file, &mut problems).ok_or("not YAML")?;
//! FORMAT.check(&root, &mut problems);
//! let error = celero_policy::PolicyError::new(problems).to_string();
//! assert!(error.contains("server.yaml:2:1") && error.contains("did you mean `threads`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod foreign;
mod json_schema;
mod scalar;

pub use scalar::{duration, rate, ratio, seconds, share, size};

use crate::problems::Problems;
use crate::yaml::Node;
use serde_json::Value as Json;

/// A document format.
#[derive(Debug)]
#[non_exhaustive]
pub struct DocumentSpec {
    /// What a document is called, with an article: `a policy`.
    pub name: &'static str,
    /// What stands at the root.
    pub root: ValueSpec,
    /// The codes of the diagnostics.
    pub codes: DiagnosticCodes,
}

/// The codes of the diagnostics of [`DocumentSpec::check`].
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticCodes {
    /// A mapping has a key that its table does not have.
    pub unknown_key: &'static str,
    /// A required key is missing.
    pub missing_key: &'static str,
    /// A value is not what its key holds.
    pub value: &'static str,
}

/// A mapping with known keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct MappingSpec {
    /// What messages call it, with an article: `a rule`.
    pub name: &'static str,
    /// Its keys, in the order in which they are documented.
    pub keys: &'static [KeySpec],
}

/// A key of a mapping.
#[derive(Debug)]
#[non_exhaustive]
pub struct KeySpec {
    /// The key as written.
    pub name: &'static str,
    /// What it holds.
    pub value: ValueSpec,
    /// Whether the mapping must have it.
    pub required: bool,
    /// What it is for: a sentence or two, with unit and default. Editors show it.
    pub description: &'static str,
}

/// What may stand at a place of a document.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValueSpec {
    /// Text that is not empty.
    Text,
    /// A CEL expression.
    Expression,
    /// Text in which `${..}` are expressions.
    Template,
    /// Any value.
    Any,
    /// Any value. Texts in it are templates.
    JsonTemplate,
    /// The word `true`.
    True,
    /// `true` or `false`.
    Bool,
    /// A whole number between two bounds, both included.
    Integer {
        /// The smallest number.
        least: u64,
        /// The largest number.
        most: u64,
    },
    /// A number above 0 and at most 1: see [`share`].
    Share,
    /// A number from 0 to 1, both included: see [`ratio`].
    Ratio,
    /// A number of bytes with a unit, `64KiB`: see [`size`].
    Size,
    /// The same, above 0.
    PositiveSize,
    /// A time of whole seconds, `30s`: see [`seconds`].
    Seconds,
    /// A time with a unit, `250ms`: see [`duration`].
    Duration,
    /// The same, above 0.
    PositiveDuration,
    /// A number in a time, `100/s`: see [`rate`].
    Rate,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of the words that the function returns: those that the program knows.
    KnownWord(fn() -> Vec<&'static str>),
    /// A list of such values.
    List(&'static ValueSpec),
    /// A mapping of any keys to such values.
    Map(&'static ValueSpec),
    /// A mapping with known keys.
    Mapping(&'static MappingSpec),
    /// The first of these that fits.
    OneOf(&'static [ValueSpec]),
}

impl DocumentSpec {
    /// Returns a format of this name, root value and codes.
    #[must_use]
    pub const fn new(name: &'static str, root: ValueSpec, codes: DiagnosticCodes) -> Self {
        Self { name, root, codes }
    }

    /// Reports every difference between a document and the format. Takes time linear in the document.
    pub fn check(&self, root: &Node, problems: &mut Problems) {
        check::Checker { codes: self.codes, problems }.value(root, &self.root, self.name);
    }

    /// Returns the format as a JSON schema (draft 7), for editors that complete and check YAML with one.
    #[must_use]
    pub fn json_schema(&self, title: &str) -> Json {
        json_schema::document(&self.root, title)
    }
}

impl MappingSpec {
    /// Returns a mapping of this name with these keys.
    #[must_use]
    pub const fn new(name: &'static str, keys: &'static [KeySpec]) -> Self {
        Self { name, keys }
    }

    /// Returns the key of this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl KeySpec {
    /// Returns a key that a mapping may have.
    #[must_use]
    pub const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> Self {
        Self { name, value, required: false, description }
    }

    /// Returns a key that a mapping must have.
    #[must_use]
    pub const fn required(name: &'static str, value: ValueSpec, description: &'static str) -> Self {
        Self { name, value, required: true, description }
    }
}
