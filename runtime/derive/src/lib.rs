//! The derive macros of celero: `Context` makes the fields of a struct the variables of rules,
//! `FieldType` makes an enum or a newtype the type of such a field.
//!
//! Use them through `celero`, which exports them. The generated code contains `unsafe impl`s, so a
//! crate that forbids `unsafe_code` must declare its contexts elsewhere. The implementations are
//! sound by construction: each field is described by its own type, at the offset that the compiler
//! gives.

mod attributes;
mod bounds;
mod choice;
mod context;
mod field_type;
mod items;
mod names;

use proc_macro::TokenStream;

/// Implements `Host`, `Context` and `FieldType` for a struct with named fields: each field becomes a variable of rules.
///
/// A field's type is one of those that `FieldType` lists, a struct that derives `Context`, or an
/// enum or newtype that derives `FieldType`. The fields of a struct inside, also behind `Option`,
/// `Box`, `Arc` or a reference, become variables too: `peer.address`. They are absent if the option
/// is `None`. In lists and maps such a struct is a map from names to values, so a misspelt name is
/// only found when the rule is evaluated.
///
/// On the struct:
///
/// - `#[context(prefix = "request")]`: a prefix of all names: `request.method`.
/// - `#[context(rename_all = "camelCase")]`: how names are derived from the fields' names
///   (`snake_case`: unchanged; `camelCase`; `PascalCase`).
/// - `#[context(crate = "path")]`: the path of the crate `celero`.
///
/// On a field:
///
/// - `#[context(name = "client.ip")]`: the name; may contain dots.
/// - `#[context(with = function)]`: the value is what `function(&field)` returns, a `FieldValue`.
///   For every type that rules can't read. Native code calls the function whenever it reads the
///   field.
/// - `#[context(flatten)]`: the names of the inner struct's fields are not prefixed with this field's name.
/// - `#[context(skip)]`: not a variable.
/// - `#[context(nested)]`: says that the type is a struct that derives `Context`; the compiler then checks that.
///
/// A struct may have lifetimes, types and constants as parameters. Types must be `'static`; a type
/// that is part of a field's type must be such that rules can read the field.
#[proc_macro_derive(Context, attributes(context))]
pub fn derive_context(input: TokenStream) -> TokenStream {
    context::expand(&syn::parse_macro_input!(input as syn::DeriveInput)).into()
}

/// Implements `FieldType` and `Element` for an enum or a newtype, so that it can be the type of a
/// field, of the elements of lists and of the values of maps.
///
/// - An enum is text: the name of the variant. Native code reads the tag of an enum without fields
///   in place, if its discriminants are at most 31 and it has neither parameters, a destructor nor
///   `align`, and otherwise calls a function. `#[context(as = "int")]`: an enum without fields is
///   the number of its discriminant; with `#[repr(u8)]` or another integer type native code reads
///   it in place.
/// - A struct with one field is what the field is, read in place. A newtype that contains itself,
///   as in `struct Tree(Vec<Tree>)`, has no type in CEL: it needs `with`.
/// - With `#[context(with = function)]` any type is what `function(&self)` returns, a `FieldValue`.
///
/// On an enum `#[context(rename_all = "kebab-case")]` says how names are derived from those of the
/// variants (`lowercase`, `UPPERCASE`, `snake_case`, `SCREAMING_SNAKE_CASE`, `kebab-case`,
/// `camelCase`, `PascalCase`: unchanged), and `#[context(name = "x")]` on a variant names it.
/// `#[context(crate = "path")]` is the path of the crate `celero`.
#[proc_macro_derive(FieldType, attributes(context))]
pub fn derive_field_type(input: TokenStream) -> TokenStream {
    field_type::expand(&syn::parse_macro_input!(input as syn::DeriveInput)).into()
}
