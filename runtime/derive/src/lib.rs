//! `#[derive(Context)]` for celero: makes a struct's fields the variables of rules.
//!
//! The output holds `unsafe impl`s, so a crate that forbids `unsafe_code` has to declare its contexts elsewhere. They are right
//! by construction: each field is described by its own type, at the offset that the compiler gives.

mod attributes;
mod expand;
mod names;

use proc_macro::TokenStream;

/// Implements `Host`, `Context` and `Nested` for a struct with named fields: each field is a variable of rules.
///
/// On the struct:
///
/// - `#[context(prefix = "request")]`: all names stand under this one, `request.method`.
/// - `#[context(rename_all = "camelCase")]`: how names follow from the fields' (`snake_case`, as they are; `camelCase`;
///   `PascalCase`).
/// - `#[context(crate = "path")]`: where the crate `celero` is.
///
/// On a field, whose type is otherwise a `FieldType`:
///
/// - `#[context(name = "client.ip")]`: this name; may hold dots.
/// - `#[context(skip)]`: no variable.
/// - `#[context(nested)]`: the type is itself such a struct, or a reference to one; its fields stand under this field's name.
/// - `#[context(flatten)]`: as `nested`, but its fields' names are taken as they are.
#[proc_macro_derive(Context, attributes(context))]
pub fn derive_context(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    expand::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
