//! Generates the implementations of `Host`, `Nested` and `Context`.

use crate::attributes::{Container, Member, Role};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::HashMap;
use syn::visit_mut::VisitMut;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Lifetime, Result};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => {
                return Err(Error::new_spanned(
                    &input.ident,
                    "a context must be a struct with named fields: rules read them by name",
                ));
            }
        },
        Data::Enum(data) => {
            return Err(Error::new(
                data.enum_token.span,
                "a context must be a struct, not an enum: rules read its fields",
            ));
        }
        Data::Union(data) => return Err(Error::new(data.union_token.span, "a context must be a struct, not a union")),
    };
    for param in &input.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            return Err(Error::new_spanned(
                param,
                "a context may only have lifetime parameters: native code is compiled for one layout. Derive it for a struct with the \
                 concrete type",
            ));
        }
    }
    let container = Container::read(&input.attrs)?;
    let mut members = Vec::new();
    for field in fields {
        if let Some(ident) = &field.ident {
            members.push(Member::read(&container, ident, field)?);
        }
    }
    distinct(&members)?;
    Ok(implementations(input, &container, &members))
}

/// Reports two variables with the same name. Variables of nested contexts are compared when an `Env` is created.
fn distinct(members: &[Member<'_>]) -> Result<()> {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for member in members {
        let Role::Variable(name) = &member.role else { continue };
        if let Some(first) = seen.insert(name, member.span) {
            let mut error = Error::new(member.span, format!("two fields have the name `{name}`"));
            error.combine(Error::new(first, "the first is here"));
            return Err(error);
        }
    }
    Ok(())
}

fn implementations(input: &DeriveInput, container: &Container, members: &[Member<'_>]) -> TokenStream {
    let celero = &container.celero;
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let statics = input.generics.lifetimes().map(|_| Lifetime::new("'static", Span::mixed_site()));
    let static_type = quote!(#name<#(#statics),*>);

    let mut starts = Vec::new();
    let mut arms = Vec::new();
    let mut pushes = Vec::new();
    let mut next = quote!(0u32);
    for (position, member) in members.iter().enumerate() {
        let (ident, ty) = (member.ident, member.ty);
        let start = format_ident!("CELERO_START_{position}");
        let end = format_ident!("CELERO_END_{position}");
        match &member.role {
            Role::Skipped => continue,
            Role::Variable(variable) => {
                starts.push(quote!(const #start: u32 = #next; const #end: u32 = #start + 1;));
                arms.push(quote!(#start => <#ty as #celero::FieldType>::value(&self.#ident, arena),));
                pushes.push(quote! {
                    #celero::derive_support::push_field::<#ty>(&mut fields, #variable, ::core::mem::offset_of!(Self, #ident));
                });
            }
            Role::Nested(prefix) => {
                let outlived = with_static_lifetimes(ty);
                starts.push(quote! {
                    const #start: u32 = #next;
                    const #end: u32 = #start + <#outlived as #celero::Nested>::COUNT;
                });
                arms.push(quote! {
                    _ if (#start..#end).contains(&index) => #celero::Host::field(&self.#ident, index.wrapping_sub(#start), arena),
                });
                pushes.push(quote! {
                    #celero::derive_support::push_nested::<#ty>(&mut fields, #prefix, ::core::mem::offset_of!(Self, #ident));
                });
            }
        }
        next = quote!(#end);
    }

    quote! {
        const _: () = {
            #(#starts)*

            #[automatically_derived]
            impl #generics #celero::Host for #name #arguments #bounds {
                fn field<'celero>(
                    &'celero self,
                    index: u32,
                    arena: &'celero #celero::Arena,
                ) -> #celero::EvalResult<::core::option::Option<#celero::Value<'celero>>> {
                    match index {
                        #(#arms)*
                        _ => ::core::result::Result::Ok(::core::option::Option::None),
                    }
                }
            }

            // SAFETY: each field is described by its own type, at the offset that the compiler gives, in the order of the
            // arms above.
            #[automatically_derived]
            unsafe impl #generics #celero::Nested for #name #arguments #bounds {
                const COUNT: u32 = #next;

                fn nested_fields() -> ::std::vec::Vec<#celero::Field> {
                    let mut fields = ::std::vec::Vec::new();
                    #(#pushes)*
                    fields
                }
            }

            // SAFETY: as for `Nested`.
            #[automatically_derived]
            unsafe impl #generics #celero::Context for #name #arguments #bounds {
                type Static = #static_type;

                fn fields() -> ::std::vec::Vec<#celero::Field> {
                    <Self as #celero::Nested>::nested_fields()
                }
            }
        };
    }
}

/// Returns the type with `'static` lifetimes. A constant can't mention the struct's lifetimes, and does not depend on them.
fn with_static_lifetimes(ty: &syn::Type) -> syn::Type {
    struct Static;

    impl VisitMut for Static {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }

    let mut ty = ty.clone();
    Static.visit_type_mut(&mut ty);
    ty
}
