//! Generics of the implementations: bounds on parameters, and the type with all lifetimes `'static`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::HashSet;
use syn::visit::Visit;
use syn::{GenericParam, Generics, Ident, Lifetime, Path, Type, parse_quote};

/// Whether a type mentions one of the type parameters.
fn mentions(ty: &Type, params: &HashSet<&Ident>) -> bool {
    struct Search<'a> {
        params: &'a HashSet<&'a Ident>,
        found: bool,
    }

    impl<'ast> Visit<'ast> for Search<'_> {
        fn visit_path(&mut self, path: &'ast Path) {
            self.found |= path.segments.first().is_some_and(|first| self.params.contains(&first.ident));
            syn::visit::visit_path(self, path);
        }
    }

    let mut search = Search { params, found: false };
    search.visit_type(ty);
    search.found
}

/// Whether a type has neither types nor constants as parameters: its constants can be named where it is declared.
pub(crate) fn is_one_type(generics: &Generics) -> bool {
    generics.type_params().next().is_none() && generics.const_params().next().is_none()
}

/// The generics with a bound for each of these types that depends on a type parameter.
pub(crate) fn bounded<'a>(generics: &Generics, types: impl Iterator<Item = (&'a Type, TokenStream)>) -> Generics {
    let mut bounded = generics.clone();
    let params: HashSet<&Ident> = generics.type_params().map(|param| &param.ident).collect();
    for (ty, bound) in types.filter(|(ty, _)| mentions(ty, &params)) {
        bounded.make_where_clause().predicates.push(parse_quote!(#ty: #bound));
    }
    bounded
}

/// The generics with `'static` for each type parameter.
pub(crate) fn with_static_types(generics: &Generics) -> Generics {
    let mut bounded = generics.clone();
    for param in generics.type_params() {
        let ident = &param.ident;
        bounded.make_where_clause().predicates.push(parse_quote!(#ident: 'static));
    }
    bounded
}

/// The arguments of the type with all its lifetimes `'static`.
pub(crate) fn static_arguments(generics: &Generics) -> TokenStream {
    let arguments = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => {
            let lifetime = Lifetime::new("'static", Span::mixed_site());
            quote!(#lifetime)
        }
        GenericParam::Type(param) => {
            let ident = &param.ident;
            quote!(#ident)
        }
        GenericParam::Const(param) => {
            let ident = &param.ident;
            quote!(#ident)
        }
    });
    quote!(<#(#arguments),*>)
}
