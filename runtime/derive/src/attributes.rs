//! Reads and checks the `#[context(..)]` attributes.

use crate::names::{self, Case};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, ExprPath, Field, Ident, LitStr, Path, Result, Variant};

/// The attributes of a struct that derives `Context`.
pub(crate) struct Container {
    pub(crate) celero: Path,
    pub(crate) prefix: String,
    pub(crate) case: Case,
}

/// The attributes of a type that derives `FieldType`.
pub(crate) struct Shape {
    pub(crate) celero: Path,
    pub(crate) case: Option<(Case, Span)>,
    /// Whether `as` says that the type is an `int`, and where.
    pub(crate) number: Option<(bool, Span)>,
    pub(crate) with: Option<ExprPath>,
}

/// What a field becomes in rules.
pub(crate) enum Role {
    /// A variable, or the variables of a struct, with this qualified name.
    Variable(String),
    /// A struct: its variables, with this prefix (may be empty).
    Nested(String),
    /// A variable with this qualified name that a function computes.
    Computed(String, ExprPath),
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

pub(crate) fn crate_path() -> Path {
    syn::parse_quote!(::celero)
}

fn for_each_attribute(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("context")) {
        attribute.parse_nested_meta(&mut read)?;
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let key = meta.path.get_ident().map_or_else(String::new, ToString::to_string);
    let expected = |span: Span| Error::new(span, format!("expected a text in quotes: `{key} = \"..\"`"));
    let value = meta.value().map_err(|_| expected(meta.path.span()))?;
    if value.peek(LitStr) { value.parse() } else { Err(expected(value.span())) }
}

/// A path of a function, with or without quotes.
fn function(meta: &ParseNestedMeta<'_>) -> Result<ExprPath> {
    let value = meta.value()?;
    let expected = || "expected the path of a function: `with = function`";
    if value.peek(LitStr) {
        let quoted: LitStr = value.parse()?;
        return quoted.parse().map_err(|_| Error::new(quoted.span(), expected()));
    }
    let start = value.span();
    value.parse().map_err(|_| Error::new(start, expected()))
}

fn case(meta: &ParseNestedMeta<'_>, known: &[(&str, Case)]) -> Result<(Case, Span)> {
    let name = text(meta)?;
    let value = name.value();
    match known.iter().find(|(known, _)| *known == value) {
        Some((_, case)) => Ok((*case, name.span())),
        None => {
            let known: Vec<_> = known.iter().map(|(known, _)| format!("`{known}`")).collect();
            Err(Error::new(name.span(), format!("unknown case: expected {}", names::or(&known))))
        }
    }
}

impl Container {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut container = Self { celero: crate_path(), prefix: String::new(), case: Case::Same };
        for_each_attribute(attributes, |meta| {
            if meta.path.is_ident("crate") {
                container.celero = text(&meta)?.parse_with(Path::parse_mod_style)?;
            } else if meta.path.is_ident("prefix") {
                container.prefix = qualified(&text(&meta)?)?;
            } else if meta.path.is_ident("rename_all") {
                container.case = case(&meta, names::FIELD_CASES)?.0;
            } else {
                return Err(meta.error("unknown attribute: expected `prefix`, `rename_all` or `crate` on a struct"));
            }
            Ok(())
        })?;
        Ok(container)
    }
}

impl Shape {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut shape = Self { celero: crate_path(), case: None, number: None, with: None };
        for_each_attribute(attributes, |meta| {
            if meta.path.is_ident("crate") {
                shape.celero = text(&meta)?.parse_with(Path::parse_mod_style)?;
            } else if meta.path.is_ident("rename_all") {
                shape.case = Some(case(&meta, names::VARIANT_CASES)?);
            } else if meta.path.is_ident("as") {
                let name = text(&meta)?;
                shape.number = match name.value().as_str() {
                    "text" => Some((false, name.span())),
                    "int" => Some((true, name.span())),
                    _ => return Err(Error::new(name.span(), "unknown form: expected `text` or `int`")),
                };
            } else if meta.path.is_ident("with") {
                shape.with = Some(function(&meta)?);
            } else if meta.path.is_ident("transparent") {
                // What a newtype is anyway.
            } else {
                let known =
                    "unknown attribute: expected `as`, `rename_all`, `with`, `transparent` or `crate` on a field type";
                return Err(meta.error(known));
            }
            Ok(())
        })?;
        Ok(shape)
    }
}

/// The name that a variant was given, if any.
pub(crate) fn variant_name(variant: &Variant) -> Result<Option<LitStr>> {
    let mut name = None;
    for_each_attribute(&variant.attrs, |meta| {
        if !meta.path.is_ident("name") {
            return Err(meta.error("unknown attribute: expected `name` on a variant"));
        }
        name = Some(text(&meta)?);
        Ok(())
    })?;
    Ok(name)
}

impl<'a> Member<'a> {
    pub(crate) fn read(container: &Container, ident: &'a Ident, field: &'a Field) -> Result<Self> {
        let mut name: Option<LitStr> = None;
        let mut kind: Option<(&'static str, Span)> = None;
        let mut with = None;
        for_each_attribute(&field.attrs, |meta| {
            let known = ["skip", "nested", "flatten", "with"].into_iter().find(|kind| meta.path.is_ident(kind));
            if let Some(known) = known {
                if let Some((other, _)) = kind {
                    return Err(meta.error(format!("`{known}` and `{other}` exclude each other")));
                }
                kind = Some((known, meta.path.span()));
                if known != "with" && meta.input.peek(syn::Token![=]) {
                    return Err(meta.error(format!("`{known}` has no value: it is written alone")));
                }
                if known == "with" {
                    with = Some(function(&meta)?);
                }
            } else if meta.path.is_ident("name") {
                if name.is_some() {
                    return Err(meta.error("a field has one `name`"));
                }
                name = Some(text(&meta)?);
            } else {
                let known = "unknown attribute: expected `name`, `with`, `skip`, `nested` or `flatten` on a field";
                return Err(meta.error(known));
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
        let role = match (kind.map(|(kind, _)| kind), with) {
            (Some("skip"), _) => Role::Skipped,
            (Some("flatten"), _) => Role::Nested(container.prefix.clone()),
            (_, Some(with)) => Role::Computed(names::checked(full, span)?, with),
            (Some(_), None) => Role::Nested(names::checked(full, span)?),
            (None, None) => Role::Variable(names::checked(full, span)?),
        };
        Ok(Self { ident, ty: &field.ty, role, span })
    }
}

fn qualified(name: &LitStr) -> Result<String> {
    if let Some(bare) = name.value().strip_suffix('.') {
        return Err(Error::new(name.span(), format!("a name has no point at its end: `{bare}`")));
    }
    names::checked(name.value(), name.span())
}
