//! The cases of the suite: `cel.expr.conformance.test.SimpleTestFile` as celero's runner needs it.

use super::read_value::{Unread, read};
use super::textproto::{self, Message, Node};
use crate::generate::Owned;
use celero::Type;
use std::sync::Arc;

/// Why a case can't be run.
pub const NEEDS_MESSAGES: &str = "needs messages";

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the file, without its ending.
    pub file: String,
    /// Section of the file.
    pub section: String,
    /// Name in the section.
    pub name: String,
    /// The expression.
    pub expr: String,
    /// Runs without the checker.
    pub unchecked: bool,
    /// Compares the type, evaluates nothing.
    pub check_only: bool,
    /// The container of its names.
    pub container: String,
    /// Declared variables.
    pub variables: Vec<(String, Type)>,
    /// Declared functions.
    pub functions: Vec<Function>,
    /// Values of variables.
    pub bindings: Vec<(String, Owned)>,
    /// What must come out.
    pub expected: Expected,
    /// Why it can't be run, if so.
    pub skip: Option<String>,
}

/// One overload of a declared function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether the first parameter is the receiver.
    pub receiver: bool,
    /// Parameter types.
    pub params: Vec<Type>,
    /// Result type.
    pub result: Type,
}

/// What must come out.
#[derive(Clone, Debug)]
pub enum Expected {
    /// A value.
    Value(Owned),
    /// A deduced type, and a value unless the case is `check_only`.
    Typed(Type, Option<Owned>),
    /// One of these errors; any error if there is none.
    Error(Vec<String>),
}

impl Case {
    /// `file/section/name`
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.file, self.section, self.name)
    }
}

/// Reads the cases of one file.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn read_file(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let tree = textproto::parse(text).map_err(|e| e.to_string())?;
    let mut cases = Vec::new();
    for section in tree.all("section").filter_map(Node::message) {
        for test in section.all("test").filter_map(Node::message) {
            let case = read_case(file, section.text("name"), test);
            cases.push(case.map_err(|e| format!("{}/{}: {e}", section.text("name"), test.text("name")))?);
        }
    }
    Ok(cases)
}

fn read_case(file: &str, section: &str, test: &Message) -> Result<Case, String> {
    let mut skip = None;
    let mut case = Case {
        file: file.to_owned(),
        section: section.to_owned(),
        name: test.text("name").to_owned(),
        expr: test.text("expr").to_owned(),
        unchecked: test.flag("disable_check"),
        check_only: test.flag("check_only"),
        container: test.text("container").to_owned(),
        variables: Vec::new(),
        functions: Vec::new(),
        bindings: Vec::new(),
        expected: Expected::Value(Owned::Bool(true)),
        skip: None,
    };
    if mentions_message(&case.expr) || case.container.starts_with("cel.expr.conformance.proto") {
        skip = Some(NEEDS_MESSAGES.to_owned());
    }
    if test.flag("disable_macros") {
        skip.get_or_insert("needs macros turned off".to_owned());
    }
    for decl in test.all("type_env").filter_map(Node::message) {
        let name = decl.text("name").to_owned();
        if let Some(ident) = decl.message("ident") {
            let ty = ident.message("type").map_or(Ok(Type::Dyn), |t| read_type(t, &mut skip))?;
            case.variables.push((name, ty));
        } else if let Some(function) = decl.message("function") {
            for overload in function.all("overloads").filter_map(Node::message) {
                let params = overload.all("params").filter_map(Node::message);
                let params = params.map(|t| read_type(t, &mut skip)).collect::<Result<_, _>>()?;
                let result = overload.message("result_type").map_or(Ok(Type::Dyn), |t| read_type(t, &mut skip))?;
                let receiver = overload.flag("is_instance_function");
                case.functions.push(Function { name: name.clone(), receiver, params, result });
            }
        } else {
            return Err(format!("declaration of `{name}` is neither ident nor function"));
        }
    }
    for binding in test.all("bindings").filter_map(Node::message) {
        let Some(value) = binding.message("value").and_then(|v| v.message("value")) else {
            skip.get_or_insert("needs bindings that are errors or unknown".to_owned());
            continue;
        };
        if let Some(value) = read_value(value, &mut skip)? {
            case.bindings.push((binding.text("key").to_owned(), value));
        }
    }
    if let Some(expected) = read_expected(test, &mut skip)? {
        case.expected = expected;
    }
    case.skip = skip;
    Ok(case)
}

fn read_expected(test: &Message, skip: &mut Option<String>) -> Result<Option<Expected>, String> {
    if let Some(value) = test.message("value") {
        return Ok(read_value(value, skip)?.map(Expected::Value));
    }
    if let Some(typed) = test.message("typed_result") {
        let ty = typed.message("deduced_type").map_or(Ok(Type::Dyn), |t| read_type(t, skip))?;
        let value = typed.message("result").map_or(Ok(None), |v| read_value(v, skip))?;
        return Ok(Some(Expected::Typed(ty, value)));
    }
    if let Some(set) = test.message("eval_error").or_else(|| test.message("any_eval_errors")) {
        let sets = std::iter::once(set).chain(set.all("errors").filter_map(Node::message));
        let texts = sets.flat_map(|s| s.all("errors").filter_map(Node::message).chain(std::iter::once(s)));
        let mut messages: Vec<String> = texts.map(|s| s.text("message").to_owned()).filter(|m| !m.is_empty()).collect();
        messages.sort();
        messages.dedup();
        return Ok(Some(Expected::Error(messages)));
    }
    if test.get("unknown").is_some() || test.get("any_unknowns").is_some() {
        skip.get_or_insert("needs unknown values".to_owned());
    }
    Ok(None)
}

fn read_value(value: &Message, skip: &mut Option<String>) -> Result<Option<Owned>, String> {
    match read(value) {
        Ok(value) => Ok(Some(value)),
        Err(Unread::NeedsMessages) => {
            skip.get_or_insert(NEEDS_MESSAGES.to_owned());
            Ok(None)
        }
        Err(Unread::Malformed(what)) => Err(what),
    }
}

/// Reads a `cel.expr.Type`. A message type marks the case as one that needs messages.
fn read_type(ty: &Message, skip: &mut Option<String>) -> Result<Type, String> {
    let Some((name, node)) = ty.fields.first() else { return Ok(Type::Dyn) };
    Ok(match (name.as_str(), node) {
        ("dyn", _) => Type::Dyn,
        ("null", _) => Type::Null,
        ("error", _) => Type::Error,
        ("primitive", Node::Word(w)) => primitive(w)?,
        ("wrapper", Node::Word(w)) => Type::Wrapper(Arc::new(primitive(w)?)),
        ("well_known", Node::Word(w)) => match w.as_str() {
            "TIMESTAMP" => Type::Timestamp,
            "DURATION" => Type::Duration,
            _ => Type::Dyn,
        },
        ("type_param", Node::Text(_)) => Type::Param(ty.text("type_param").into()),
        ("message_type", Node::Text(_)) => match ty.text("message_type") {
            "google.protobuf.Timestamp" => Type::Timestamp,
            "google.protobuf.Duration" => Type::Duration,
            other => {
                skip.get_or_insert(NEEDS_MESSAGES.to_owned());
                Type::Opaque(other.into(), Arc::new([]))
            }
        },
        ("type", Node::Message(m)) => Type::Type(Arc::new(read_type(m, skip)?)),
        ("list_type", Node::Message(m)) => Type::list(part(m, "elem_type", skip)?),
        ("map_type", Node::Message(m)) => Type::map(part(m, "key_type", skip)?, part(m, "value_type", skip)?),
        ("abstract_type", Node::Message(m)) => {
            let params = m.all("parameter_types").filter_map(Node::message).map(|t| read_type(t, skip));
            let mut params = params.collect::<Result<Vec<_>, _>>()?;
            match m.text("name") {
                "optional_type" | "optional" if params.len() == 1 => params.pop().map_or(Type::Dyn, Type::optional),
                name => Type::Opaque(name.into(), params.into()),
            }
        }
        other => return Err(format!("unknown type {other:?}")),
    })
}

fn part(message: &Message, name: &str, skip: &mut Option<String>) -> Result<Type, String> {
    message.message(name).map_or(Ok(Type::Dyn), |t| read_type(t, skip))
}

fn primitive(word: &str) -> Result<Type, String> {
    Ok(match word {
        "BOOL" => Type::Bool,
        "INT64" => Type::Int,
        "UINT64" => Type::Uint,
        "DOUBLE" => Type::Double,
        "STRING" => Type::String,
        "BYTES" => Type::Bytes,
        other => return Err(format!("unknown primitive type `{other}`")),
    })
}

/// Whether an expression holds a message literal or the name of a message type: an identifier
/// followed by `{`, or a name in one of the packages that hold messages. Looks outside of strings
/// and comments only, and needs no parser, least of all the one under test.
#[must_use]
pub fn mentions_message(expr: &str) -> bool {
    let mut word = String::new();
    let mut chars = expr.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            '"' | '\'' => {
                let raw = matches!(word.as_str(), "r" | "R" | "br" | "bR" | "Br" | "BR" | "rb" | "rB" | "Rb" | "RB");
                skip_string(c, raw, &mut chars);
                word.clear();
            }
            '`' => while chars.next().is_some_and(|c| c != '`') {},
            c if c.is_alphanumeric() || c == '_' || c == '.' => word.push(c),
            c if c.is_whitespace() => {
                // A name may be followed by blanks before its brace; another name starts over.
                if chars.peek().is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                    if is_message_name(&word) {
                        return true;
                    }
                    word.clear();
                }
            }
            c => {
                let name = word.trim_end_matches('.');
                let literal = c == '{' && name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.');
                if (literal && name != "in") || is_message_name(&word) {
                    return true;
                }
                word.clear();
            }
        }
    }
    is_message_name(&word)
}

fn is_message_name(word: &str) -> bool {
    let name = word.trim_start_matches('.');
    let well_known = name.strip_prefix("google.protobuf.");
    name.starts_with("cel.expr.conformance.proto")
        || well_known.is_some_and(|n| !matches!(n.split('.').next(), Some("Timestamp" | "Duration")))
}

fn skip_string(quote: char, raw: bool, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = chars.clone();
    let triple = ahead.next() == Some(quote) && ahead.next() == Some(quote);
    if triple {
        chars.next();
        chars.next();
    }
    let mut run = 0u32;
    while let Some(c) = chars.next() {
        if c == '\\' && !raw {
            chars.next();
            run = 0;
            continue;
        }
        run = if c == quote { run.saturating_add(1) } else { 0 };
        if run == if triple { 3 } else { 1 } {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_seen_in_expressions() {
        for expr in [
            "TestAllTypes{}",
            "a.b.C {x: 1}",
            "1 == google.protobuf.Int32Value{value: 1}",
            "type(x) == google.protobuf.Any",
            ".a.B{}",
            "google.protobuf.Timestamp{seconds: 1}",
        ] {
            assert!(mentions_message(expr), "{expr}");
        }
        for expr in [
            "{'a': 1}",
            "'A{}' == \"B{\"",
            "r'\\' + '{'",
            "'''a'b{''' + 'c'",
            "x in {'a': 1}",
            "x in{'a': 1}",
            "[1].map(x, {x: 1})",
            "type(x) == google.protobuf.Timestamp",
            "google.protobuf.Duration == type(duration('1s'))",
            "a // B{}",
            "1 + {}.x",
        ] {
            assert!(!mentions_message(expr), "{expr}");
        }
    }

    #[test]
    fn a_case_is_read_whole() {
        let text = r#"
            name: "f"
            section { name: "s" test {
                name: "t" expr: "x.y + 1" disable_check: true container: "c"
                type_env { name: "x.y" ident { type { list_type { elem_type { primitive: INT64 } } } } }
                bindings { key: "x.y" value { value { list_value { values { int64_value: 1 } } } } }
                eval_error { errors { message: "no such overload" } } }
              test { name: "d" expr: "true" }
              test { name: "o" expr: "x" value { object_value { [type.googleapis.com/google.protobuf.Duration] { seconds: 2 } } } }
              test { name: "m" expr: "x" value { object_value { [type.googleapis.com/a.B] {} } } } }"#;
        let cases = read_file("f", text).unwrap();
        let case = &cases[0];
        assert_eq!(case.path(), "f/s/t");
        assert!(case.unchecked && case.container == "c" && case.skip.is_none());
        assert_eq!(case.variables, [("x.y".to_owned(), Type::list(Type::Int))]);
        assert!(case.bindings[0].1.same(&Owned::List(vec![Owned::Int(1)])));
        assert!(matches!(&case.expected, Expected::Error(m) if m == &["no such overload"]));
        assert!(matches!(cases[1].expected, Expected::Value(Owned::Bool(true))));
        assert!(matches!(cases[2].expected, Expected::Value(Owned::Duration(2_000_000_000))));
        assert_eq!(cases[3].skip.as_deref(), Some(NEEDS_MESSAGES));
    }
}
