//! What the tools of celero share: the command, its language server and its web page. So all of
//! them read the same files alike, and say the same about them.
//!
//! | module | what it does |
//! |---|---|
//! | [`language`], [`envs`] | the language of a file; the environment of each language |
//! | [`rules`] | files of rules: format, rules, layout, diagnostics, sets |
//! | [`requests`] | requests as HTTP/1.1 text, as a line of `curl`, in files; the address of a client |
//! | [`values`] | values as JSON and back, values as CEL source; types, declarations and definitions as text |
//! | [`names`] | signatures and documentation of functions and macros |
//! | [`policy_names`] | names that only policies have, in errors about other rules |
//! | [`diagnostic_json`] | errors and warnings as JSON |
//! | [`measure`] | the time of something short |
//! | [`progress`] | what is going on and how long it will still take, on a line of the terminal |
//! | [`disassembly`] | machine code as instructions, each with the part of the source that it came from |
//!
//! The text may be anybody's: errors are messages for people, and nothing panics. A policy is read by `celero-policy`.

pub mod diagnostic_json;
pub mod disassembly;
pub mod envs;
pub mod language;
pub mod measure;
pub mod names;
pub mod policy_names;
pub mod progress;
pub mod requests;
pub mod rules;
pub mod values;
