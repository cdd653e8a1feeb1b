//! What differs between implementations of `FieldType`.

use proc_macro2::TokenStream;
use syn::Generics;

/// The items of `FieldType` that are not the trait's own.
pub(crate) struct Items {
    pub(crate) generics: Generics,
    pub(crate) ty: TokenStream,
    pub(crate) layout: TokenStream,
    pub(crate) value: TokenStream,
    pub(crate) others: TokenStream,
    /// Further implementations.
    pub(crate) beside: TokenStream,
}
