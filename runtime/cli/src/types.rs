//! The notation of types: `list(string)`, `map(string, dyn)`, `optional_type(int)`.

use celero::Type;
use std::sync::Arc;

/// Deepest nesting of a type.
const MAX_DEPTH: u32 = 16;

/// Reads a type.
///
/// # Errors
/// What is not understood, for people.
pub(crate) fn parse(text: &str) -> Result<Type, String> {
    let mut rest = text;
    let ty = one(&mut rest, 0).map_err(|why| format!("type `{text}`: {why}"))?;
    if rest.trim().is_empty() { Ok(ty) } else { Err(format!("type `{text}`: unexpected `{}`", rest.trim())) }
}

/// Reads declarations: `user.age: int, tags: list(string)`.
///
/// # Errors
/// What is not understood, for people.
pub(crate) fn declarations(text: &str) -> Result<Vec<(String, Type)>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once(':').ok_or_else(|| format!("`{rest}`: expected `NAME: TYPE`"))?;
        rest = after;
        let name = name.trim().to_owned();
        let ty = one(&mut rest, 0).map_err(|why| format!("type of `{name}`: {why}"))?;
        found.push((name, ty));
        rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim(),
            None if rest.is_empty() => {}
            None => return Err(format!("`{rest}`: expected `,` between declarations")),
        }
    }
    Ok(found)
}

fn one(rest: &mut &str, depth: u32) -> Result<Type, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nested deeper than {MAX_DEPTH}"));
    }
    let text = rest.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end).unwrap_or((text, ""));
    *rest = after.trim_start();
    let mut params = Vec::new();
    if let Some(inside) = rest.strip_prefix('(') {
        *rest = inside;
        loop {
            params.push(one(rest, depth.saturating_add(1))?);
            *rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(',') {
                *rest = after;
            } else if let Some(after) = rest.strip_prefix(')') {
                *rest = after;
                break;
            } else {
                return Err(format!("expected `,` or `)` after the parameters of `{name}`"));
            }
        }
    }
    named(name, params)
}

fn named(name: &str, params: Vec<Type>) -> Result<Type, String> {
    let given = params.len();
    let mut params = params.into_iter();
    let plain = match name {
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "bool" => Type::Bool,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "dyn" | "any" | "google.protobuf.Any" | "google.protobuf.Value" => Type::Dyn,
        "null" | "null_type" => Type::Null,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Struct" => Type::map(Type::String, Type::Dyn),
        "google.protobuf.ListValue" => Type::list(Type::Dyn),
        "google.protobuf.BoolValue" => wrapper(Type::Bool),
        "google.protobuf.BytesValue" => wrapper(Type::Bytes),
        "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => wrapper(Type::Double),
        "google.protobuf.Int32Value" | "google.protobuf.Int64Value" => wrapper(Type::Int),
        "google.protobuf.StringValue" => wrapper(Type::String),
        "google.protobuf.UInt32Value" | "google.protobuf.UInt64Value" => wrapper(Type::Uint),
        "net.IP" | "net.CIDR" => Type::Opaque(name.into(), Arc::new([])),
        "list" | "optional_type" | "optional" | "type" | "wrapper" if given <= 1 => {
            let inner = params.next().unwrap_or(Type::Dyn);
            return Ok(match name {
                "list" => Type::list(inner),
                "type" => Type::Type(Arc::new(inner)),
                "wrapper" => wrapper(inner),
                _ => Type::optional(inner),
            });
        }
        "map" if given == 0 || given == 2 => {
            return Ok(Type::map(params.next().unwrap_or(Type::Dyn), params.next().unwrap_or(Type::Dyn)));
        }
        "list" | "optional_type" | "optional" | "type" | "wrapper" => {
            return Err(format!("`{name}` takes one parameter"));
        }
        "map" => return Err("`map` takes a key and a value type".into()),
        "" => return Err("expected a type".into()),
        _ => {
            return Err(format!(
                "there is no type `{name}`; there are int, uint, double, bool, string, bytes, null_type, dyn, timestamp, \
                 duration, list(T), map(K, V), optional_type(T), type(T), wrapper(T), net.IP, net.CIDR"
            ));
        }
    };
    if given > 0 { Err(format!("`{name}` takes no parameters")) } else { Ok(plain) }
}

fn wrapper(inner: Type) -> Type {
    Type::Wrapper(Arc::new(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        for text in [
            "int",
            "list(string)",
            "map(string, dyn)",
            "optional_type(list(uint))",
            "google.protobuf.Timestamp",
            "type(int)",
            "wrapper(bool)",
            "net.CIDR",
            "null_type",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            parse(" map( string,list (timestamp) ) ").unwrap(),
            Type::map(Type::String, Type::list(Type::Timestamp))
        );
        assert_eq!(parse("list").unwrap(), Type::list(Type::Dyn));
    }

    #[test]
    fn what_is_no_type_is_named() {
        for (text, part) in [
            ("", "expected a type"),
            ("strin", "no type `strin`"),
            ("list(int", "expected `,` or `)`"),
            ("int(int)", "no parameters"),
            ("map(int)", "a key and a value"),
            ("int x", "unexpected `x`"),
            ("list(int, int)", "one parameter"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse(&"list(".repeat(100)).unwrap_err().contains("deeper"));
    }

    #[test]
    fn declarations_are_read() {
        let found = declarations("a.b: map(string, int), c: bool").unwrap();
        assert_eq!(found, [("a.b".into(), Type::map(Type::String, Type::Int)), ("c".into(), Type::Bool)]);
        assert!(declarations("a").unwrap_err().contains("NAME: TYPE"));
        assert!(declarations("a: int b: int").unwrap_err().contains("`,`"));
    }
}
