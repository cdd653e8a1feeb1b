//! The cases of the suite: `cel.expr.conformance.test.SimpleTestFile` as celero's runner needs it.

use super::read_value::{Unread, read};
use super::textproto::{self, Message, Node};
use crate::generate::Owned;
use celero::Type;
use std::sync::Arc;

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
    if test.flag("disable_macros") {
        skip.get_or_insert("needs macros turned off".to_owned());
    }
    for decl in test.all("type_env").filter_map(Node::message) {
        let name = decl.text("name").to_owned();
        if let Some(ident) = decl.message("ident") {
            let ty = ident.message("type").map_or(Ok(Type::Dyn), read_type)?;
            case.variables.push((name, ty));
        } else if let Some(function) = decl.message("function") {
            for overload in function.all("overloads").filter_map(Node::message) {
                let params = overload.all("params").filter_map(Node::message);
                let params = params.map(read_type).collect::<Result<_, _>>()?;
                let result = overload.message("result_type").map_or(Ok(Type::Dyn), read_type)?;
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
        let ty = typed.message("deduced_type").map_or(Ok(Type::Dyn), read_type)?;
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
        Err(Unread::StrongEnum) => {
            skip.get_or_insert("enums with types of their own are withdrawn".to_owned());
            Ok(None)
        }
        Err(Unread::Malformed(what)) => Err(what),
    }
}

/// Reads a `cel.expr.Type`.
fn read_type(ty: &Message) -> Result<Type, String> {
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
        ("message_type", Node::Text(_)) => celero_frontend::type_of_message(ty.text("message_type")),
        ("type", Node::Message(m)) => Type::Type(Arc::new(read_type(m)?)),
        ("list_type", Node::Message(m)) => Type::list(part(m, "elem_type")?),
        ("map_type", Node::Message(m)) => Type::map(part(m, "key_type")?, part(m, "value_type")?),
        ("abstract_type", Node::Message(m)) => {
            let params = m.all("parameter_types").filter_map(Node::message).map(read_type);
            let mut params = params.collect::<Result<Vec<_>, _>>()?;
            match m.text("name") {
                "optional_type" | "optional" if params.len() == 1 => params.pop().map_or(Type::Dyn, Type::optional),
                name => Type::Opaque(name.into(), params.into()),
            }
        }
        other => return Err(format!("unknown type {other:?}")),
    })
}

fn part(message: &Message, name: &str) -> Result<Type, String> {
    message.message(name).map_or(Ok(Type::Dyn), read_type)
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

#[cfg(test)]
mod tests {
    use super::*;

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
              test { name: "m" expr: "x" value { enum_value { type: "a.B" value: 1 } } } }"#;
        let cases = read_file("f", text).unwrap();
        let case = &cases[0];
        assert_eq!(case.path(), "f/s/t");
        assert!(case.unchecked && case.container == "c" && case.skip.is_none());
        assert_eq!(case.variables, [("x.y".to_owned(), Type::list(Type::Int))]);
        assert!(case.bindings[0].1.same(&Owned::List(vec![Owned::Int(1)])));
        assert!(matches!(&case.expected, Expected::Error(m) if m == &["no such overload"]));
        assert!(matches!(cases[1].expected, Expected::Value(Owned::Bool(true))));
        assert!(matches!(cases[2].expected, Expected::Value(Owned::Duration(2_000_000_000))));
        assert_eq!(cases[3].skip.as_deref(), Some("enums with types of their own are withdrawn"));
    }
}
