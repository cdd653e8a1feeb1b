//! `#[derive(Context)]`: the implementations of `Host`, `Context`, `FieldType` and what follows from them.
//!
//! Each field's type is named once for each use, always as the argument of the same function, so
//! that the compiler reports a mistake once. If an attribute is wrong, implementations without
//! fields take the place of the real ones, so that the uses of the struct are no errors too.

use crate::attributes::{Container, Member, Role, crate_path};
use crate::bounds::{self, bounded, static_arguments, with_static_types};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Generics, Ident, Path, Result};

pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let mut errors = None;
    let (container, members) = read(input, &mut errors);
    let celero = container.map_or_else(crate_path, |container| container.celero);
    let members = if errors.is_none() { members } else { Vec::new() };
    let errors = errors.map(Error::into_compile_error);
    let implementations = implementations(input, &celero, &members);
    quote!(#errors #implementations)
}

fn add(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

/// Reads the struct; all mistakes in it are errors.
fn read<'a>(input: &'a DeriveInput, errors: &mut Option<Error>) -> (Option<Container>, Vec<Member<'a>>) {
    let fields = match fields(input) {
        Ok(fields) => fields,
        Err(error) => {
            add(errors, error);
            return (None, Vec::new());
        }
    };
    let container = match Container::read(&input.attrs) {
        Ok(container) => container,
        Err(error) => {
            add(errors, error);
            return (None, Vec::new());
        }
    };
    let mut members = Vec::new();
    for (ident, field) in fields.iter().filter_map(|field| Some((field.ident.as_ref()?, field))) {
        match Member::read(&container, ident, field) {
            Ok(member) => members.push(member),
            Err(error) => add(errors, error),
        }
    }
    if let Err(error) = distinct(&members) {
        add(errors, error);
    }
    (Some(container), members)
}

fn fields(input: &DeriveInput) -> Result<&syn::punctuated::Punctuated<syn::Field, syn::Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Err(Error::new_spanned(
                &input.ident,
                "a context must be a struct with named fields: rules read them by name. Derive `celero::FieldType` for a newtype: it \
                 can then be the type of a field",
            )),
            _ => Err(Error::new_spanned(
                &input.ident,
                "a context must be a struct with named fields: rules read them by name",
            )),
        },
        Data::Enum(data) => Err(Error::new(
            data.enum_token.span,
            "a context must be a struct, not an enum: rules read its fields. Derive `celero::FieldType` for an enum: it can then be the \
             type of a field",
        )),
        Data::Union(data) => Err(Error::new(data.union_token.span, "a context must be a struct, not a union")),
    }
}

/// Reports two variables with the same name. Variables of nested contexts are compared when an `Env` is created.
fn distinct(members: &[Member<'_>]) -> Result<()> {
    let mut seen: HashMap<&str, &Member<'_>> = HashMap::new();
    for member in members {
        let (Role::Variable(name) | Role::Computed(name, _)) = &member.role else { continue };
        if let Some(first) = seen.insert(name, member) {
            let text = format!("two fields have the name `{name}`: `{}` and `{}`", first.ident, member.ident);
            return Err(Error::new(member.span, text));
        }
    }
    Ok(())
}

/// What generated code does with one field. Its locals begin with `__`: a function of the user may have any other name.
struct Parts {
    /// The number of its variables.
    count: TokenStream,
    /// Its entry in the members of the struct, whose first variable is `first`.
    entry: TokenStream,
    /// Adds its variables to `__variables`.
    push: TokenStream,
    /// Reads the variable with the number `__index`.
    read: TokenStream,
    /// Of a struct: returns its extension, if it has one.
    /// And: changes `__layout` and returns `true`, if it has a place for one.
    extension: Option<(TokenStream, TokenStream)>,
    /// Where its extension is, and the check that it is found.
    place: Option<(TokenStream, TokenStream)>,
}

/// An extension that is not found would do nothing.
fn extension_place(support: &TokenStream, known: &TokenStream, member: &Member<'_>) -> (TokenStream, TokenStream) {
    let place = quote!(#support::ExtensionPlace);
    let found = quote!(#known.extension_place);
    let check = |refused: TokenStream, message: &str| quote_spanned!(member.ty.span()=> ::core::assert!(!::core::matches!(#found, #place::#refused), #message););
    let hidden = check(
        quote!(Hidden),
        "rules do not find an `Extension` in an `Option` or a newtype: without data it is `Extension::default()`",
    );
    let plain = match member.role {
        Role::Nested(_) => TokenStream::new(),
        _ => check(
            quote!(Found),
            "rules do not find the `Extension` in this field: add `#[context(flatten)]`, or `nested` to a struct with one",
        ),
    };
    (found, quote!(#plain #hidden))
}

fn parts(celero: &Path, member: &Member<'_>, first: &TokenStream) -> Option<Parts> {
    let (ident, ty) = (member.ident, member.ty);
    let support = quote!(#celero::derive_support);
    let offset = quote!(::core::mem::offset_of!(Self, #ident));
    let entry = |name: &str, count: &TokenStream, inner: &TokenStream| {
        // Each segment but the last is a group with one member.
        let mut segments = name.rsplit('.');
        let last = segments.next().unwrap_or_default();
        let innermost = |first: TokenStream| quote!(#support::Member::new(#last, #first, #count, #inner));
        let mut groups: Vec<&str> = segments.collect();
        let Some(outermost) = groups.pop() else { return innermost(first.clone()) };
        let mut entry = innermost(quote!(0));
        for group in groups {
            entry = quote!(#support::Member::new(#group, 0, #count, &[#entry]));
        }
        quote!(#support::Member::new(#outermost, #first, #count, &[#entry]))
    };
    let (known, name) = match &member.role {
        Role::Skipped => return None,
        Role::Computed(name, function) => {
            // The span of the function: that is where the compiler looks for the mistake.
            let computed = quote!(#support::computed::<'_, #ty, _, _>(#function));
            let count = quote!(1u32);
            return Some(Parts {
                entry: entry(name, &count, &quote!(&[])),
                count,
                push: quote!(#computed.push(&mut __variables, #name, #offset);),
                read: quote!(#computed.value(&self.#ident, __arena)),
                extension: None,
                place: None,
            });
        }
        Role::Variable(name) => (quote!(#support::known::<#ty>()), name),
        Role::Nested(name) => (quote!(#support::known_nested::<#ty>()), name),
    };
    let count = quote!(#known.count);
    Some(Parts {
        entry: entry(name, &count, &quote!(#known.members)),
        count,
        push: quote!(#known.push(&mut __variables, #name, #offset);),
        read: quote!((#known.variable)(&self.#ident, __index, __arena)),
        extension: matches!(member.role, Role::Nested(_)).then(|| {
            let find = quote! {
                if let ::core::option::Option::Some(__extension) = (#known.extension)(&self.#ident) {
                    return ::core::option::Option::Some(__extension);
                }
            };
            let place = quote! {
                if (#known.place_extension)(__layout, #offset) {
                    return true;
                }
            };
            (find, place)
        }),
        place: Some(extension_place(&support, &known, member)),
    })
}

/// The type parameters' bounds that reading the fields needs.
fn generics(input: &DeriveInput, celero: &Path, members: &[Member<'_>]) -> Generics {
    let types = members.iter().filter_map(|member| match member.role {
        Role::Variable(_) => Some((member.ty, quote!(#celero::FieldType))),
        Role::Nested(_) => Some((member.ty, quote!(#celero::host::Nested))),
        Role::Computed(..) | Role::Skipped => None,
    });
    bounded(&input.generics, types)
}

/// What makes a reference to the struct a parameter of host functions: an item of `FieldType`, and an implementation.
fn as_parameter(name: &Ident, celero: &Path) -> (TokenStream, TokenStream) {
    let text = name.to_string();
    let of_field_type = quote! {
        fn as_struct(&self) -> ::core::option::Option<&dyn ::core::any::Any> {
            ::core::option::Option::Some(self)
        }
    };
    let implementation = quote! {
        #[automatically_derived]
        impl<'celero_of> #celero::host::FromValue for &'celero_of #name {
            type Of<'celero> = &'celero #name;

            fn ty() -> #celero::Type {
                <#name as #celero::FieldType>::ty()
            }

            fn from_value<'celero>(__value: &#celero::Value<'celero>, _: &#celero::host::Cx<'celero>) -> #celero::values::EvalResult<&'celero #name> {
                #celero::derive_support::struct_of(__value, #text)
            }
        }
    };
    (of_field_type, implementation)
}

fn implementations(input: &DeriveInput, celero: &Path, members: &[Member<'_>]) -> TokenStream {
    let support = quote!(#celero::derive_support);
    let name = &input.ident;
    let generics = generics(input, celero, members);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let context_generics = with_static_types(&generics);
    let (_, _, context_bounds) = context_generics.split_for_impl();
    let static_arguments = static_arguments(&input.generics);
    let arguments_of_value = quote!(__arena: &'celero #celero::values::Arena);
    let result = quote!(#celero::values::EvalResult<::core::option::Option<#celero::Value<'celero>>>);

    let (mut entries, mut pushes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let (mut finds, mut places) = (Vec::new(), Vec::new());
    let (mut checks, mut found_in) = (Vec::new(), Vec::new());
    let mut total = quote!(0u32);
    for member in members {
        let Some(Parts { count, entry, push, read, extension, place }) = parts(celero, member, &total) else {
            continue;
        };
        let (found, check) = place.unzip();
        checks.extend(check);
        found_in.extend(found.filter(|_| extension.is_some()));
        entries.push(entry);
        pushes.push(push);
        if let Some((find, place)) = extension {
            finds.push(find);
            places.push(place);
        }
        reads.push(quote! {
            let __count = #count;
            if __index < __count {
                return #read;
            }
            let __index = __index.wrapping_sub(__count);
        });
        total = quote!(#total.wrapping_add(#count));
    }

    let (mut of_context, mut beyond) = (None, quote!(::core::result::Result::Ok(::core::option::Option::None)));
    // A reference to a struct with parameters could not be told from one to the same struct with others.
    let (mut of_field_type, as_parameter) =
        if input.generics.params.is_empty() { as_parameter(name, celero) } else { Default::default() };
    if !finds.is_empty() {
        let found = quote!(::core::option::Option<&#celero::host::Extension>);
        let layout = quote!(&mut #celero::layout::Field);
        of_field_type.extend(quote! {
            fn extension(&self) -> #found {
                #(#finds)*
                ::core::option::Option::None
            }

            fn place_extension(__layout: #layout) -> bool {
                #(#places)*
                false
            }
        });
        of_context = Some(quote! {
            #[inline]
            fn extension(&self) -> #found {
                <Self as #celero::FieldType>::extension(self)
            }

            fn place_extension(__layout: #layout) -> bool {
                <Self as #celero::FieldType>::place_extension(__layout)
            }
        });
        beyond = quote! {
            match <Self as #celero::FieldType>::extension(self) {
                ::core::option::Option::Some(__extension) => #celero::host::Host::field(__extension, __index, __arena),
                ::core::option::Option::None => #beyond,
            }
        };
    }

    // Without a type or a constant to choose, the check needs no use of the struct.
    let checked = bounds::is_one_type(&input.generics).then(
        || quote!(const _: #support::ExtensionPlace = <#name #static_arguments as #celero::FieldType>::EXTENSION;),
    );
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #parameters #celero::host::Host for #name #arguments #bounds {
                fn field<'celero>(&'celero self, __index: u32, #arguments_of_value) -> #result {
                    #(#reads)*
                    let _ = (__index, __arena);
                    #beyond
                }
            }

            // SAFETY: each field is described by its own type, at the offset that the compiler
            // gives, in the order in which `Host::field` counts.
            #[automatically_derived]
            unsafe impl #parameters #celero::FieldType for #name #arguments #bounds {
                const COUNT: u32 = {
                    let _ = <Self as #celero::FieldType>::EXTENSION;
                    #total
                };
                const EXTENSION: #support::ExtensionPlace = {
                    #(#checks)*
                    #support::ExtensionPlace::first(&[#(#found_in),*])
                };
                const MEMBERS: &'static [#support::Member] = &[#(#entries),*];

                fn ty() -> #celero::Type {
                    #celero::Type::map(#celero::Type::String, #celero::Type::Dyn)
                }

                fn layout() -> #celero::layout::Field {
                    #support::read_by_call(false)
                }

                fn value<'celero>(&'celero self, _: &'celero #celero::values::Arena) -> #result {
                    ::core::result::Result::Ok(::core::option::Option::Some(#support::record(self)))
                }

                fn variables() -> ::std::vec::Vec<#celero::host::Field> {
                    let mut __variables = ::std::vec::Vec::new();
                    #(#pushes)*
                    __variables
                }

                fn variable<'celero>(&'celero self, __index: u32, #arguments_of_value) -> #result {
                    #celero::host::Host::field(self, __index, __arena)
                }

                #of_field_type
            }

            #checked

            #[automatically_derived]
            impl #parameters #celero::host::IntoValue for #name #arguments #bounds {
                fn ty() -> #celero::Type {
                    <Self as #celero::FieldType>::ty()
                }

                fn into_value<'celero>(self, #arguments_of_value) -> #celero::values::EvalResult<#celero::Value<'celero>> {
                    #support::value_of(&self, __arena)
                }
            }

            #as_parameter

            #[automatically_derived]
            impl #parameters #celero::host::Element for #name #arguments #bounds {}

            #[automatically_derived]
            impl #parameters #celero::host::Nested for #name #arguments #bounds {}

            // SAFETY: as for `FieldType`.
            #[automatically_derived]
            unsafe impl #parameters #celero::Context for #name #arguments #context_bounds {
                type Static = #name #static_arguments;

                fn fields() -> ::std::vec::Vec<#celero::host::Field> {
                    <Self as #celero::FieldType>::variables()
                }

                #of_context
            }
        };
    }
}
