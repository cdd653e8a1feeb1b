//! How native code reads the host's types: accessor functions that it calls, and layouts of
//! standard types that it reads directly.
//!
//! A field's type describes itself with a [`celero_ir::layout::Field`]. Where the bytes of a type
//! can be read in place, the description is a path and a representation ([`vec_layout`]). Where
//! they can't, it holds the address of an `extern "C"` function, which native code calls with the
//! address of the value ([`text`], [`ip`], [`scalar`], [`slice`], [`value`]). For enums that are one of a few
//! texts, such as an HTTP method, it names the byte that tells the variants apart
//! ([`enum_tags`]). [`option_layout`] and [`pointee`] are where options and smart pointers keep their
//! value, [`computed`] calls functions of the host, [`entries`] finds the values of maps, [`cursor`]
//! goes over what is not contiguous, and [`record`] sees a struct as a map of its fields. [`kept`] holds a
//! value with the memory that it borrows from.
//!
//! This folder knows nothing of contexts and evaluations, and of values only in [`kept`]. `context/`
//! and `http/` build on it.

pub(crate) mod computed;
pub(crate) mod cursor;
pub(crate) mod entries;
pub(crate) mod enum_tags;
pub(crate) mod ip;
pub(crate) mod kept;
pub(crate) mod option_layout;
pub(crate) mod pointee;
pub(crate) mod record;
pub(crate) mod scalar;
pub(crate) mod slice;
pub(crate) mod text;
#[cfg(feature = "serde_json")]
pub(crate) mod value;
pub(crate) mod vec_layout;
