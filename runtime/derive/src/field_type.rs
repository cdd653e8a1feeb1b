//! `#[derive(FieldType)]`: newtypes, and types that a function of the host reads. Enums are in `choice.rs`.

use crate::attributes::{Shape, crate_path};
use crate::bounds::{bounded, is_one_type, static_arguments};
use crate::choice;
use crate::items::Items;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Path, Result};

pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let shape = Shape::read(&input.attrs);
    let celero = shape.as_ref().map_or_else(|_| crate_path(), |shape| shape.celero.clone());
    match shape.and_then(|shape| items(input, &shape)) {
        Ok(items) => implementation(input, &celero, &items),
        Err(error) => {
            // A type that rules can read, so that its uses are no errors too.
            let absent = quote!(::core::result::Result::Ok(::core::option::Option::None));
            let items = Items {
                generics: input.generics.clone(),
                ty: quote!(#celero::Type::Dyn),
                layout: quote!(#celero::derive_support::read_by_call(true)),
                value: quote!({ let _ = __arena; #absent }),
                others: TokenStream::new(),
                beside: TokenStream::new(),
            };
            let (error, implementation) = (error.into_compile_error(), implementation(input, &celero, &items));
            quote!(#error #implementation)
        }
    }
}

fn items(input: &DeriveInput, shape: &Shape) -> Result<Items> {
    if let Some(function) = &shape.with {
        if let Some((_, span)) = shape.number {
            return Err(Error::new(span, "`as` and `with` exclude each other"));
        }
        let celero = &shape.celero;
        let computed = quote!(#celero::derive_support::computed::<'_, Self, _, _>(#function));
        return Ok(Items {
            generics: input.generics.clone(),
            ty: quote!(#computed.ty()),
            layout: quote!(#computed.layout()),
            value: quote!(#computed.value(self, __arena)),
            others: TokenStream::new(),
            beside: TokenStream::new(),
        });
    }
    match &input.data {
        Data::Enum(data) => choice::items(input, shape, data),
        Data::Struct(data) => {
            if let Some(span) = shape.case.map(|(_, span)| span).or(shape.number.map(|(_, span)| span)) {
                return Err(Error::new(span, "`as` and `rename_all` are for enums"));
            }
            let mut fields = data.fields.iter();
            match (fields.next(), fields.next()) {
                (Some(field), None) => Ok(newtype(input, &shape.celero, field)),
                _ => Err(Error::new_spanned(
                    &input.ident,
                    "a field type is an enum or a struct with one field. Derive `celero::Context` for a struct whose fields are \
                     variables, or add `#[context(with = function)]`",
                )),
            }
        }
        Data::Union(data) => Err(Error::new(
            data.union_token.span,
            "a field type is an enum or a struct with one field, not a union. Add `#[context(with = function)]`",
        )),
    }
}

/// A struct with one field is what the field is.
fn newtype(input: &DeriveInput, celero: &Path, field: &Field) -> Items {
    let ty = &field.ty;
    let member = match &field.ident {
        Some(ident) => quote!(#ident),
        None => quote!(0),
    };
    let known = quote!(#celero::derive_support::known::<#ty>());
    let offset = quote!(::core::mem::offset_of!(Self, #member));
    let result = quote!(#celero::values::EvalResult<::core::option::Option<#celero::Value<'celero>>>);
    // Makes the compiler report a newtype that contains itself where it is declared, not where it is used.
    let finite = if is_one_type(&input.generics) {
        let (name, arguments) = (&input.ident, static_arguments(&input.generics));
        quote!(const _: () = <#name #arguments as #celero::FieldType>::NEWTYPE_CONTAINS_ITSELF;)
    } else {
        TokenStream::new()
    };
    Items {
        generics: bounded(&input.generics, std::iter::once((ty, quote!(#celero::FieldType)))),
        ty: quote!((#known.ty)()),
        layout: quote!((#known.layout)(#offset)),
        value: quote!((#known.value)(&self.#member, __arena)),
        others: quote! {
            const COUNT: u32 = #known.count;
            const MEMBERS: &'static [#celero::derive_support::Member] = #known.members;
            const NEWTYPE_CONTAINS_ITSELF: () = { let _ = #known; };
            const EXTENSION: #celero::derive_support::ExtensionPlace = #known.extension_place.hidden();

            fn variables() -> ::std::vec::Vec<#celero::host::Field> {
                let mut variables = ::std::vec::Vec::new();
                #known.push(&mut variables, "", #offset);
                variables
            }

            fn variable<'celero>(&'celero self, __index: u32, __arena: &'celero #celero::values::Arena) -> #result {
                (#known.variable)(&self.#member, __index, __arena)
            }
        },
        beside: finite,
    }
}

fn implementation(input: &DeriveInput, celero: &Path, items: &Items) -> TokenStream {
    let Items { generics, ty, layout, value, others, beside } = items;
    let name = &input.ident;
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        const _: () = {
            // SAFETY: the layout is that of the only field at its offset, that of the tag of an
            // enum, or a call of `value`.
            #[automatically_derived]
            unsafe impl #parameters #celero::FieldType for #name #arguments #bounds {
                fn ty() -> #celero::Type {
                    #ty
                }

                fn layout() -> #celero::layout::Field {
                    #layout
                }

                fn value<'celero>(
                    &'celero self,
                    __arena: &'celero #celero::values::Arena,
                ) -> #celero::values::EvalResult<::core::option::Option<#celero::Value<'celero>>> {
                    #value
                }

                #others
            }

            #[automatically_derived]
            impl #parameters #celero::host::Element for #name #arguments #bounds {}

            #beside
        };
    }
}
