//! Parses types and declarations of variables and functions, in the notation of configuration and
//! documentation: `list(string)`, `user.age: int, tags: list(string)`,
//! `acme.isInternal(address: string) -> bool`, `string.initial() -> string`.

use crate::similar::similar;
use crate::span::Span;
use crate::types::Type;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The names of types, for suggestions.
const TYPES: &[&str] = &[
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "null_type",
    "dyn",
    "timestamp",
    "duration",
    "list",
    "map",
    "optional_type",
    "type",
    "wrapper",
    "net.IP",
    "net.CIDR",
    "jwt.Token",
];

/// Deepest nesting of a type.
const MAX_DEPTH: u32 = 16;

/// An error in the notation of a type or declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The message: lower-case, one line, without a period.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NotationError {}

/// A name and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// The type; `dyn` where none is written.
    pub ty: Type,
}

/// A function's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDeclaration {
    /// The name, possibly qualified.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// The type that the function is called on: `string` of `string.initial()`.
    pub receiver: Option<Type>,
    /// The parameters, without the receiver.
    pub parameters: Vec<Parameter>,
    /// The type of the result, if it is written.
    pub result: Option<Type>,
}

impl FunctionDeclaration {
    /// A name without parameters, whose type is that of the body.
    #[must_use]
    pub fn alias(name: &str) -> Self {
        let (name, span) = (name.to_owned(), Span::new(0, 0));
        Self { name, span, receiver: None, parameters: Vec::new(), result: None }
    }
}

/// Reads the notation in which types are displayed; also `timestamp`, `duration`, `optional(T)`,
/// the names of protobuf's well-known types, and `list`, `map` without parameters, which are then
/// `dyn`.
///
/// ```
/// # use celero_frontend::Type;
/// assert_eq!("map(string, list(int))".parse(), Ok(Type::map(Type::String, Type::list(Type::Int))));
/// ```
impl FromStr for Type {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut reader = Reader::new(text);
        let ty = reader.ty(0)?;
        reader.end()?;
        Ok(ty)
    }
}

impl FunctionDeclaration {
    /// Reads `name(parameter: type, ..) -> type` or `type.name(parameter: type, ..) -> type`.
    /// Parameters without a type are `dyn`. If the text before the last dot of the name is a type,
    /// it is the receiver's type; otherwise it qualifies the name.
    ///
    /// # Errors
    /// What is not understood.
    pub fn parse(text: &str) -> Result<Self, NotationError> {
        let mut reader = Reader::new(text);
        let declaration = reader.function()?;
        reader.end()?;
        Ok(declaration)
    }
}

/// Reads declarations of variables: `user.age: int, tags: list(string)`.
///
/// # Errors
/// What is not understood.
pub fn parse_variables(text: &str) -> Result<Vec<(String, Type)>, NotationError> {
    parse_variables_with(text, &[])
}

/// As [`parse_variables`], with the full names of messages, which are types too: `m: test.Request`.
///
/// # Errors
/// What is not understood.
pub fn parse_variables_with(text: &str, messages: &[&str]) -> Result<Vec<(String, Type)>, NotationError> {
    let mut reader = Reader { messages, ..Reader::new(text) };
    let mut found = Vec::new();
    while !reader.rest().is_empty() {
        let (name, _) = reader.word();
        if name.is_empty() || !reader.take(":") {
            return Err(reader.error("expected `NAME: TYPE`".to_owned()));
        }
        found.push((name.to_owned(), reader.ty(0)?));
        if !reader.take(",") && !reader.rest().is_empty() {
            return Err(reader.error("expected `,` between declarations".to_owned()));
        }
    }
    Ok(found)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The full names of messages.
    messages: &'t [&'t str],
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, messages: &[] }
    }

    /// Returns the remaining text without leading blanks.
    fn rest(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        self.at = self.at.saturating_add(rest.len().saturating_sub(trimmed.len()));
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.at.saturating_add(token.len());
        }
        found
    }

    /// Parses letters, digits, `_` and `.`; may be empty.
    fn word(&mut self) -> (&'t str, Span) {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(rest.len());
        let start = self.at;
        self.at = self.at.saturating_add(end);
        (rest.get(..end).unwrap_or_default(), span(start, self.at))
    }

    /// Returns an error at the next text.
    fn error(&mut self, message: String) -> NotationError {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        NotationError { message, span: span(self.at, self.at.saturating_add(next)) }
    }

    fn end(&mut self) -> Result<(), NotationError> {
        match self.rest().trim_end() {
            "" => Ok(()),
            rest => Err(NotationError {
                message: format!("unexpected `{rest}`"),
                span: span(self.at, self.at.saturating_add(rest.len())),
            }),
        }
    }

    fn ty(&mut self, depth: u32) -> Result<Type, NotationError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        let (name, place) = self.word();
        let mut params = Vec::new();
        if self.take("(") {
            loop {
                params.push(self.ty(depth.saturating_add(1))?);
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.error(format!("expected `,` or `)` after the parameters of `{name}`")));
                }
            }
        }
        named(name, params, self.messages).map_err(|message| NotationError { message, span: place })
    }

    fn function(&mut self) -> Result<FunctionDeclaration, NotationError> {
        let (receiver, name, span) = self.called()?;
        if !self.take("(") {
            return Err(self.error("expected `(` after the name of the function".to_owned()));
        }
        let mut parameters = Vec::new();
        while !self.take(")") {
            let (name, span) = self.word();
            if name.is_empty() {
                return Err(self.error("expected `PARAMETER: TYPE` or `)`".to_owned()));
            }
            let ty = if self.take(":") { self.ty(0)? } else { Type::Dyn };
            parameters.push(Parameter { name: name.to_owned(), span, ty });
            if !self.take(",") && !self.rest().starts_with(')') {
                return Err(self.error("expected `,` or `)` after a parameter".to_owned()));
            }
        }
        let result = if self.take("->") { Some(self.ty(0)?) } else { None };
        Ok(FunctionDeclaration { name, span, receiver, parameters, result })
    }

    /// Parses a function's name and its receiver's type, if it has one.
    fn called(&mut self) -> Result<(Option<Type>, String, Span), NotationError> {
        let start = self.at;
        let (path, place) = self.word();
        if path.is_empty() {
            return Err(self.error("expected the name of a function".to_owned()));
        }
        if let Some(end) =
            closing(self.rest()).filter(|end| self.rest().get(*end..).is_some_and(|r| r.starts_with('.')))
        {
            // `list(string).first`: the receiver's type has parameters.
            let end = self.at.saturating_add(end);
            let mut receiver = Reader { text: self.text.get(..end).unwrap_or_default(), at: start, ..*self };
            let ty = receiver.ty(0)?;
            receiver.end()?;
            self.at = end.saturating_add(1);
            let (name, place) = self.word();
            if name.is_empty() {
                return Err(self.error("expected the name of a function".to_owned()));
            }
            return Ok((Some(ty), name.to_owned(), place));
        }
        if let Some((prefix, name)) = path.rsplit_once('.')
            && let Ok(ty) = named(prefix, Vec::new(), self.messages)
        {
            let after = prefix.len().saturating_add(1);
            let place = Span::new(place.start.saturating_add(u32::try_from(after).unwrap_or(u32::MAX)), place.end);
            return Ok((Some(ty), name.to_owned(), place));
        }
        Ok((None, path.to_owned(), place))
    }
}

fn span(start: usize, end: usize) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}

/// Returns the offset after the bracket that closes the text's first one.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open = open.saturating_add(1),
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return (c == ')').then(|| at.saturating_add(1));
        }
    }
    None
}

fn named(name: &str, params: Vec<Type>, messages: &[&str]) -> Result<Type, String> {
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
        "net.IP" | "net.CIDR" | "jwt.Token" => Type::Opaque(name.into(), Arc::new([])),
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
        name if messages.contains(&name) => Type::message(name),
        _ => {
            // The name without its package.
            let short = messages.iter().copied().find(|message| message.rsplit('.').next() == Some(name));
            let known = match name {
                "integer" | "long" | "i64" | "number" => Some("int"),
                "float" | "f64" | "decimal" => Some("double"),
                "str" | "text" | "varchar" => Some("string"),
                "boolean" => Some("bool"),
                "array" | "vec" => Some("list"),
                "object" | "dict" | "struct" => Some("map"),
                "any" | "json" => Some("dyn"),
                "ip" | "address" | "inet" => Some("net.IP"),
                _ => short.or_else(|| similar(name, TYPES.iter().copied().chain(messages.iter().copied()))),
            };
            if let Some(known) = known {
                return Err(format!("there is no type `{name}`; did you mean `{known}`?"));
            }
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
            assert_eq!(text.parse::<Type>().unwrap().to_string(), text);
        }
        assert_eq!(
            " map( string,list (timestamp) ) ".parse(),
            Ok(Type::map(Type::String, Type::list(Type::Timestamp)))
        );
        assert_eq!("list".parse(), Ok(Type::list(Type::Dyn)));
    }

    #[test]
    fn what_is_no_type_is_named_with_its_place() {
        for (text, part, start, end) in [
            ("", "expected a type", 0, 0),
            ("strin", "no type `strin`", 0, 5),
            ("list(int", "expected `,` or `)`", 8, 8),
            ("int(int)", "no parameters", 0, 3),
            ("map(int)", "a key and a value", 0, 3),
            ("int x", "unexpected `x`", 4, 5),
            ("list(int, int)", "one parameter", 0, 4),
            ("list(é)", "expected a type", 5, 5),
        ] {
            let error = text.parse::<Type>().unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.span, Span::new(start, end), "{text}");
        }
        assert!("list(".repeat(100).parse::<Type>().unwrap_err().message.contains("deeper"));
    }

    #[test]
    fn variables_are_read() {
        let found = parse_variables("a.b: map(string, int), c: bool").unwrap();
        assert_eq!(found, [("a.b".into(), Type::map(Type::String, Type::Int)), ("c".into(), Type::Bool)]);
        assert!(parse_variables("a").unwrap_err().message.contains("NAME: TYPE"));
        assert!(parse_variables("a: int b: int").unwrap_err().message.contains("`,`"));
    }

    #[test]
    fn functions_are_read_with_receiver_and_qualified_name() {
        let read = |text: &str| {
            let FunctionDeclaration { name, span, receiver, parameters, result } =
                FunctionDeclaration::parse(text).unwrap();
            assert!(text.get(span.start as usize..span.end as usize).unwrap() == name, "{text}");
            let show = |ty: Option<Type>| ty.map_or("none".to_owned(), |ty| ty.to_string());
            let parameters: Vec<String> = parameters.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
            format!("{} | {name} | {} | {}", show(receiver), parameters.join(", "), show(result))
        };
        assert_eq!(read("f()"), "none | f |  | none");
        assert_eq!(read("f(a: string, b) -> bool"), "none | f | a: string, b: dyn | bool");
        assert_eq!(read(" acme.f ( a ) "), "none | acme.f | a: dyn | none");
        assert_eq!(read("string.initial() -> string"), "string | initial |  | string");
        assert_eq!(read("net.IP.f()"), "net.IP | f |  | none");
        assert_eq!(read("list(map(string, int)).f(n: int)"), "list(map(string, int)) | f | n: int | none");
    }

    #[test]
    fn what_is_no_function_is_named_with_its_place() {
        for (text, part, start, end) in [
            ("", "the name of a function", 0, 0),
            ("f", "expected `(`", 1, 1),
            ("f(", "expected `PARAMETER: TYPE` or `)`", 2, 2),
            ("f(a b)", "after a parameter", 4, 5),
            ("f(a: strng)", "no type `strng`", 5, 10),
            ("f() -> ", "expected a type", 7, 7),
            ("f() bool", "unexpected `bool`", 4, 8),
            ("lst(int).f()", "no type `lst`", 0, 3),
            ("list(int).()", "the name of a function", 10, 11),
        ] {
            let error = FunctionDeclaration::parse(text).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.span, Span::new(start, end), "{text}");
        }
    }
}
