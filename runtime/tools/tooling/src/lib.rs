//! What the tools of celero share: the command, its language server and its web page. So all of
//! them read the same files alike, and say the same about them.
//!
//! | module | what it does |
//! |---|---|
//! | [`source`], [`language`] | the format and the language of a file |
//! | [`rules_file`], [`rules_layout`] | the rules of a `.rules` file, and their layout |
//! | [`check`], [`rule_sets`] | the diagnostics of rules; sets of them |
//! | [`envs`] | the environment of each language |
//! | [`http_request`] | reads an HTTP/1.1 request from text |
//! | [`recorded_requests`] | reads files of requests |
//! | [`curl`] | reads the request that a command line of `curl` would send |
//! | [`address`] | the address of a client |
//! | [`value_json`], [`value_text`] | values as JSON and back; values as CEL source |
//! | [`inferred_type`] | the type of a value in JSON, for languages that declare every variable |
//! | [`diagnostic_json`] | errors and warnings as JSON |
//! | [`macros`] | the names of CEL's macros |
//! | [`names`] | signatures and documentation of functions and macros |
//! | [`measure`] | the time of something short |
//! | [`static_cost`] | how many operations each part of a rule takes, read off its checked tree |
//! | [`notation`] | types, declarations and definitions as the command line has them |
//! | [`progress`] | what is going on and how long it will still take, on a line of the terminal |
//! | [`disassembly`] | machine code as instructions, each with the part of the source that it came from |
//!
//! The text may be anybody's: errors are messages for people, and nothing panics. A policy is read by `celero-policy`.

pub mod address;
pub mod check;
pub mod curl;
pub mod diagnostic_json;
pub mod disassembly;
pub mod envs;
pub mod http_request;
pub mod inferred_type;
pub mod language;
pub mod macros;
pub mod measure;
pub mod names;
pub mod notation;
pub mod progress;
pub mod recorded_requests;
pub mod rule_sets;
pub mod rules_file;
pub mod rules_layout;
pub mod source;
pub mod static_cost;
pub mod value_json;
pub mod value_text;
