//! Reads and checks the `#[context(..)]` attributes.

use crate::names::{self, Case};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Field, Ident, LitStr, Path, Result};

/// The attributes of the struct.
pub(crate) struct Container {
    pub(crate) celero: Path,
    pub(crate) prefix: String,
    pub(crate) case: Case,
}

/// What a field becomes in rules.
pub(crate) enum Role {
    /// A variable with this qualified name.
    Variable(String),
    /// A nested context: its variables, with this prefix (may be empty).
    Nested(String),
    /// No variable.
    Skipped,
}

/// A field of the struct.
pub(crate) struct Member<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a syn::Type,
    pub(crate) role: Role,
    /// The span of its name, for errors.
    pub(crate) span: Span,
}

fn for_each_attribute(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("context")) {
        attribute.parse_nested_meta(&mut read)?;
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

impl Container {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut container = Self { celero: syn::parse_quote!(::celero), prefix: String::new(), case: Case::Snake };
        for_each_attribute(attributes, |meta| {
            if meta.path.is_ident("crate") {
                container.celero = text(&meta)?.parse_with(Path::parse_mod_style)?;
            } else if meta.path.is_ident("prefix") {
                container.prefix = qualified(&text(&meta)?)?;
            } else if meta.path.is_ident("rename_all") {
                let case = text(&meta)?;
                container.case = Case::named(&case.value()).ok_or_else(|| {
                    Error::new(case.span(), "unknown case: expected `snake_case`, `camelCase` or `PascalCase`")
                })?;
            } else {
                return Err(meta.error("unknown attribute: expected `prefix`, `rename_all` or `crate` on a struct"));
            }
            Ok(())
        })?;
        Ok(container)
    }
}

impl<'a> Member<'a> {
    pub(crate) fn read(container: &Container, ident: &'a Ident, field: &'a Field) -> Result<Self> {
        let mut name: Option<LitStr> = None;
        let mut kind: Option<(&'static str, Span)> = None;
        for_each_attribute(&field.attrs, |meta| {
            let known = ["skip", "nested", "flatten"].into_iter().find(|kind| meta.path.is_ident(kind));
            if let Some(known) = known {
                if let Some((other, _)) = kind {
                    return Err(meta.error(format!("`{known}` and `{other}` exclude each other")));
                }
                kind = Some((known, meta.path.span()));
            } else if meta.path.is_ident("name") {
                name = Some(text(&meta)?);
            } else {
                return Err(meta.error("unknown attribute: expected `name`, `skip`, `nested` or `flatten` on a field"));
            }
            Ok(())
        })?;
        if let (Some(name), Some((kind @ ("skip" | "flatten"), _))) = (&name, kind) {
            return Err(Error::new(name.span(), format!("a field with `{kind}` can't have a `name`")));
        }
        let span = name.as_ref().map_or_else(|| ident.span(), LitStr::span);
        let own = match &name {
            Some(name) => qualified(name)?,
            None => container.case.apply(&names::plain(ident)),
        };
        let full = names::join(&container.prefix, &own);
        let role = match kind.map(|(kind, _)| kind) {
            Some("skip") => Role::Skipped,
            Some("flatten") => Role::Nested(container.prefix.clone()),
            Some(_) => Role::Nested(names::checked(full, span)?),
            None => Role::Variable(names::checked(full, span)?),
        };
        Ok(Self { ident, ty: &field.ty, role, span })
    }
}

fn qualified(name: &LitStr) -> Result<String> {
    names::checked(name.value(), name.span())
}
