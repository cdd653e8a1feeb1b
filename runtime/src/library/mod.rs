//! The standard library, written once as safe Rust; the interpreter and native code call the same functions.
//!
//! There is one file or folder for each library of the table of builtins
//! (`frontend/src/stdlib/table.rs`), named after it: [`standard`] has the functions and operators
//! of the language definition, [`strings`] the strings library, and so on. [`calls`] finds the
//! function of a call: of a builtin by its row in the table, of given values by their types, and of
//! native code by the name of a helper.
//!
//! Every function that scans or builds more than a fixed amount charges the budget first, so that
//! no chain of calls runs or grows without bound: one step for each element, for 64 bytes that are
//! read in blocks, or for 8 bytes that are worked on one by one. `tests/calibration/` looks for
//! arguments with which a call takes longer than its steps promise.

mod calls;
mod encoders;
mod gateway;
mod hmac;
mod http;
mod json;
mod jwt;
mod lists;
mod literals;
mod math;
mod named_lists;
mod network;
mod optionals;
mod recent_cache;
mod regex;
mod sets;
mod standard;
mod strings;
mod text_builder;
mod utf8;
mod wildcard;
mod yaml;

pub(crate) use self::calls::{
    Function, Take, accepts, all_fit, dispatch_by_helper, form_of, functions, guard, helper_functions, invoke,
    takes_any_index,
};
pub(crate) use self::encoders::padding_is_whole;
pub(crate) use self::hmac::{code as hmac_code, is_same as is_same_code};
pub(crate) use self::json::{ProjectionPlan, Selected, find, json_parse, project};
pub(crate) use self::literals::{list_of, map_of};
pub(crate) use self::named_lists::{list_has, list_has_address, list_has_bytes, list_has_integer, list_value};
pub(crate) use self::network::{cidr_from_string, ip_from_string, masked};
pub(crate) use self::standard::containers::range_items;
pub(crate) use self::standard::matches::{byte_regex_found, regex_found};
pub(crate) use self::strings::{Malformed, Piece, pieces};
#[cfg(feature = "http")]
pub(crate) use self::utf8::lossy;
pub(crate) use self::wildcard::{prepared_wildcard, wildcard_found, wildcard_of};
pub(crate) use crate::cx::Cx;

#[cfg(test)]
mod tests;
