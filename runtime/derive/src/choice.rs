//! Enums as text or as numbers.

use crate::attributes::{Shape, variant_name};
use crate::items::Items;
use crate::names::{self, Case};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::HashMap;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Path, Result, Variant};

pub(crate) fn items(input: &DeriveInput, shape: &Shape, data: &DataEnum) -> Result<Items> {
    if data.variants.is_empty() {
        return Err(Error::new_spanned(&input.ident, "an enum without variants has no value that rules could read"));
    }
    match shape.number {
        Some((true, span)) => number(input, shape, data, span),
        _ => text(input, shape, data),
    }
}

/// Without fields, so that a value can be made from its name, and its discriminant is all that it holds.
fn is_plain(variant: &Variant) -> bool {
    matches!(variant.fields, Fields::Unit)
}

fn number(input: &DeriveInput, shape: &Shape, data: &DataEnum, span: Span) -> Result<Items> {
    if let Some((_, span)) = shape.case {
        return Err(Error::new(span, "`rename_all` has no effect on an enum that is an `int`"));
    }
    for variant in &data.variants {
        if !is_plain(variant) {
            let text = format!("`int` is for enums without fields, and `{}` has fields: use `text`", variant.ident);
            return Err(Error::new(span, text));
        }
        if let Some(name) = variant_name(variant)? {
            return Err(Error::new(name.span(), "`name` has no effect on an enum that is an `int`"));
        }
    }
    let celero = &shape.celero;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let layout = number_layout(input, celero)?;
    Ok(Items {
        generics: input.generics.clone(),
        ty: quote!(#celero::Type::Int),
        layout: quote!(#celero::derive_support::of_numbers({ #layout }, &[#(Self::#variants as i64),*])),
        value: quote! {
            let _ = __arena;
            let number = match self { #(Self::#variants => Self::#variants as i64,)* };
            ::core::result::Result::Ok(::core::option::Option::Some(#celero::Value::Int(number)))
        },
        others: TokenStream::new(),
        beside: TokenStream::new(),
    })
}

/// With an integer type in `repr`, an enum without fields is that integer (reference, "Primitive
/// representation of field-less enums").
fn number_layout(input: &DeriveInput, celero: &Path) -> Result<TokenStream> {
    let mut stored = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            let reprs = [
                ("i8", "I8"),
                ("i16", "I16"),
                ("i32", "I32"),
                ("i64", "I64"),
                ("u8", "U8"),
                ("u16", "U16"),
                ("u32", "U32"),
                ("u64", "U64"),
            ];
            if let Some((rust, repr)) = reprs.iter().find(|(rust, _)| meta.path.is_ident(rust)) {
                stored = Some((Ident::new(rust, Span::mixed_site()), Ident::new(repr, Span::mixed_site())));
            }
            // The value of `align(8)`.
            if meta.input.peek(syn::token::Paren) {
                let inner;
                syn::parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    let layout = quote!(#celero::layout);
    Ok(match stored {
        Some((rust, repr)) => quote! {
            // Another macro may change `repr`.
            const {
                ::core::assert!(
                    ::core::mem::size_of::<Self>() >= ::core::mem::size_of::<::core::primitive::#rust>(),
                    "`repr` is not what `FieldType` was derived for",
                );
            }
            #layout::Field::new(
                #layout::Ty::Int,
                false,
                #layout::Access::Load(#layout::Path(::std::vec![0]), #layout::Repr::#repr),
            )
        },
        None => quote!(#celero::derive_support::read_by_call(false)),
    })
}

/// Whether `repr` has `align`.
fn is_aligned(input: &DeriveInput) -> bool {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // A malformed `repr` is an error of the compiler.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("align");
            if meta.input.peek(syn::token::Paren) {
                let inner;
                syn::parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
            }
            Ok(())
        });
    }
    found
}

fn text(input: &DeriveInput, shape: &Shape, data: &DataEnum) -> Result<Items> {
    let case = shape.case.map_or(Case::Same, |(case, _)| case);
    let mut seen: HashMap<String, &Ident> = HashMap::new();
    let (mut texts, mut variants) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let given = variant_name(variant)?;
        let span = given.as_ref().map_or_else(|| variant.ident.span(), LitStr::span);
        let text = given.map_or_else(|| case.apply(&names::plain(&variant.ident)), |name| name.value());
        if let Some(first) = seen.insert(text.clone(), &variant.ident) {
            let text = format!("two variants have the name `{text}`: `{first}` and `{}`", variant.ident);
            return Err(Error::new(span, text));
        }
        texts.push(text);
        variants.push(&variant.ident);
    }
    let (celero, name) = (&shape.celero, &input.ident);
    let support = quote!(#celero::derive_support);
    // Values of an enum with parameters may differ in more than their tag; and a table belongs to one type.
    // With `align` a value may have bytes that are not initialised, among which the tag can't be told.
    let has_tag = data.variants.iter().all(is_plain) && input.generics.params.is_empty() && !is_aligned(input);
    let layout = if has_tag {
        quote! {
            static TAGS: #support::Tags = #support::Tags::new();
            #support::named_layout::<Self>(&TAGS, |text| match text {
                #(#texts => ::core::option::Option::Some(Self::#variants),)*
                _ => ::core::option::Option::None,
            })
        }
    } else {
        quote!(#support::called_layout::<Self>())
    };
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    Ok(Items {
        generics: input.generics.clone(),
        ty: quote!(#celero::Type::String),
        layout,
        value: quote! {
            let _ = __arena;
            let name = #support::Named::name(self);
            ::core::result::Result::Ok(::core::option::Option::Some(#celero::Value::String(name)))
        },
        others: quote! {
            fn optional_layout() -> #celero::layout::Field {
                #support::optional_named_layout::<Self>()
            }
        },
        beside: quote! {
            #[automatically_derived]
            impl #parameters #support::Named for #name #arguments #bounds {
                const NAMES: &'static [&'static ::core::primitive::str] = &[#(#texts),*];

                fn name(&self) -> &'static ::core::primitive::str {
                    match self {
                        #(Self::#variants { .. } => #texts,)*
                    }
                }
            }
        },
    })
}
