//! `#[derive(Context)]` for celero: makes the fields of a struct the variables of rules.
//!
//! Use it through `celero`, which exports it. The generated code contains `unsafe impl`s, so a crate that forbids `unsafe_code` must
//! declare its contexts elsewhere. The implementations are sound by construction: each field is described by its own type, at the
//! offset that the compiler gives.

mod attributes;
mod expand;
mod names;

use proc_macro::TokenStream;

/// Implements `Host`, `Context` and `Nested` for a struct with named fields: each field becomes a variable of rules.
///
/// On the struct:
///
/// - `#[context(prefix = "request")]`: a prefix of all names: `request.method`.
/// - `#[context(rename_all = "camelCase")]`: how names are derived from the fields' names (`snake_case`: unchanged; `camelCase`;
///   `PascalCase`).
/// - `#[context(crate = "path")]`: the path of the crate `celero`.
///
/// On a field, whose type must be a `FieldType` unless it is skipped, nested or flattened:
///
/// - `#[context(name = "client.ip")]`: the name; may contain dots.
/// - `#[context(skip)]`: not a variable.
/// - `#[context(nested)]`: the type is itself such a struct, or a reference to one. The names of its fields start with this field's name.
/// - `#[context(flatten)]`: like `nested`, but the names of its fields are not prefixed.
#[proc_macro_derive(Context, attributes(context))]
pub fn derive_context(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    expand::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
