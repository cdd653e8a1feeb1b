//! The tree of a rule as JSON, in the shape of Wirefilter's, read back: the inverse of
//! [`filter_json`](celero_frontend::filter::filter_json).
//!
//! The JSON becomes the text of a rule, which is then checked as every rule is; so what a rule must
//! be is decided in one place. While the text is written, the part of the JSON behind each part of
//! the text is noted, so that errors name the part of the JSON.

mod literal;

use celero_frontend::filter::{
    FilterFunction, FilterOptions, FilterTree, FilterType, Named, ResultType, Scheme, check_filter, check_value,
};
use celero_frontend::filter::{quoted_bytes, raw_string};
use celero_frontend::{Diagnostic, with_stack};
use literal::Digits;
use serde_json::{Map, Value as Json};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Deepest nesting of objects that is read; [`FilterOptions::max_nesting`] bounds what comes of it.
const MAX_DEPTH: u32 = 1000;

/// A part of a JSON document that is no part of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonError {
    /// The part, as a JSON pointer (RFC 6901): `/items/0/lhs`; empty for the whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl JsonError {
    /// An error of the whole document.
    pub(crate) fn of_whole(message: &str) -> Self {
        Self { path: String::new(), message: message.to_owned() }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

impl std::error::Error for JsonError {}

/// Reads the tree of a rule, or of a value, from JSON in the shape that
/// [`filter_json`](celero_frontend::filter::filter_json) and Wirefilter write.
/// [`FilterTree::source`] is then the rule as text. Takes time linear in the JSON.
///
/// # Errors
/// Everything that is not of that shape, or, if all is, every error of the rule.
///
/// ```
/// use celero::filter::{FilterOptions, filter_json, http_scheme, read_filter_json};
/// use std::sync::Arc;
///
/// let (scheme, options) = (Arc::new(http_scheme()), FilterOptions::default());
/// let json = serde_json::json!({"lhs": "http.host", "op": "Equal", "rhs": "example.com"});
/// let tree = read_filter_json(&json, &scheme, &options).unwrap();
/// assert_eq!(&**tree.source(), r#"http.host eq "example.com""#);
/// assert_eq!(filter_json(&tree), json.to_string());
///
/// let json = serde_json::json!({"op": "Not", "arg": {"lhs": "http.hst", "op": "IsTrue"}});
/// let errors = read_filter_json(&json, &scheme, &options).unwrap_err();
/// assert_eq!(errors[0].to_string(), "/arg/lhs: there is no field `http.hst`");
/// ```
pub fn read_filter_json(
    json: &Json,
    scheme: &Arc<Scheme>,
    options: &FilterOptions,
) -> Result<FilterTree, Vec<JsonError>> {
    let check = |text: &str| {
        let checked = match is_value(json) {
            true => check_value(text, scheme, options),
            false => check_filter(text, scheme, options),
        };
        checked.map(|(tree, _)| tree)
    };
    read(json, scheme, options.limits.max_diagnostics as usize, check)
}

/// Reads a tree from JSON: writes it as text over the names of a scheme, and checks that.
///
/// # Errors
/// Everything that is not of the shape of a tree, or every error of `check`, at most `most`.
pub(crate) fn read<T>(
    json: &Json,
    scheme: &Scheme,
    most: usize,
    check: impl FnOnce(&str) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<JsonError>> {
    let mut reader = Reader {
        scheme,
        most,
        text: String::new(),
        parts: Vec::new(),
        part: None,
        depth: 0,
        digits: Digits::Always,
        errors: Vec::new(),
    };
    with_stack(MAX_DEPTH, || if is_value(json) { drop(reader.value(json)) } else { reader.condition(json) });
    if !reader.errors.is_empty() {
        return Err(reader.errors);
    }
    check(&reader.text).map_err(|found| {
        let placed = |error: &Diagnostic| JsonError { path: reader.part_at(error), message: error.message.clone() };
        found.iter().map(placed).collect()
    })
}

/// Whether JSON is a value, such as a field or a call, and no condition.
fn is_value(json: &Json) -> bool {
    match json {
        Json::Object(members) => members.contains_key("name"),
        Json::String(_) | Json::Array(_) => true,
        _ => false,
    }
}

/// A member or an element of the JSON.
struct Part {
    name: String,
    /// What it is in, as an index.
    parent: Option<usize>,
    /// Its place in the text of the rule.
    text: Range<usize>,
}

struct Reader<'r> {
    scheme: &'r Scheme,
    most: usize,
    text: String,
    /// The parts that were read, each before what is in it.
    parts: Vec<Part>,
    /// The part that is read, as an index into `parts`; `None` for the whole.
    part: Option<usize>,
    /// How deep it is nested.
    depth: u32,
    digits: Digits,
    errors: Vec<JsonError>,
}

impl Reader<'_> {
    fn error(&mut self, message: impl Into<String>) {
        if self.errors.len() < self.most {
            self.errors.push(JsonError { path: self.pointer(self.part), message: message.into() });
        }
    }

    /// The path of a part.
    fn pointer(&self, part: Option<usize>) -> String {
        let get = |index: Option<usize>| self.parts.get(index?);
        let around = std::iter::successors(get(part), |inner| get(inner.parent)).collect::<Vec<_>>().into_iter().rev();
        around.map(|part| format!("/{}", part.name.replace('~', "~0").replace('/', "~1"))).collect()
    }

    /// The path of the smallest part in which an error is.
    fn part_at(&self, error: &Diagnostic) -> String {
        let at = error.span.start as usize;
        let around = self.parts.iter().enumerate().rev().filter(|(_, part)| part.text.contains(&at));
        self.pointer(around.min_by_key(|(_, part)| part.text.len()).map(|(index, _)| index))
    }

    /// Reads a member or an element.
    fn within<T>(&mut self, name: impl ToString, read: impl FnOnce(&mut Self) -> T) -> T {
        let (outer, index, start) = (self.part, self.parts.len(), self.text.len());
        self.parts.push(Part { name: name.to_string(), parent: outer, text: start..start });
        self.part = Some(index);
        self.depth = self.depth.saturating_add(1);
        let result = read(self);
        if let Some(part) = self.parts.get_mut(index) {
            part.text.end = self.text.len();
        }
        self.part = outer;
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn is_too_deep(&mut self) -> bool {
        let deep = self.depth >= MAX_DEPTH;
        if deep {
            self.error(format!("this is nested more than {MAX_DEPTH} deep"));
        }
        deep
    }

    /// The members of an object, of which there may be no others.
    fn object<'j>(&mut self, json: &'j Json, known: &[&str]) -> Option<&'j Map<String, Json>> {
        let Json::Object(members) = json else {
            self.error("expected an object");
            return None;
        };
        for name in members.keys().filter(|name| !known.contains(&&***name)) {
            self.within(name, |reader| reader.error(format!("unknown member; expected {}", known.join(", "))));
        }
        Some(members)
    }

    fn member<'j>(&mut self, members: &'j Map<String, Json>, name: &str) -> Option<&'j Json> {
        let member = members.get(name);
        if member.is_none() {
            self.error(format!("the member `{name}` is missing"));
        }
        member
    }

    fn string<'j>(&mut self, json: &'j Json) -> Option<&'j str> {
        let text = json.as_str();
        if text.is_none() {
            self.error("expected a string");
        }
        text
    }

    fn condition(&mut self, json: &Json) {
        if self.is_too_deep() {
            return;
        }
        let op = json.get("op").and_then(Json::as_str);
        let known: &[&str] = match op {
            Some("And" | "Or" | "Xor") => &["op", "items"],
            Some("Not" | "Any" | "All") => &["op", "arg"],
            Some("IsTrue") => &["lhs", "op"],
            _ => &["lhs", "op", "rhs"],
        };
        let Some(members) = self.object(json, known) else { return };
        let Some(op) = op else {
            if self.member(members, "op").is_some() {
                self.within("op", |reader| reader.error("expected a string"));
            }
            return;
        };
        match op {
            "And" | "Or" | "Xor" => {
                let Some(items) = self.member(members, "items") else { return };
                self.within("items", |reader| reader.chain(items, &format!(" {} ", op.to_ascii_lowercase())));
            }
            "Not" => {
                let Some(arg) = self.member(members, "arg") else { return };
                self.text.push_str("not ");
                self.within("arg", |reader| reader.operand(arg));
            }
            "Any" | "All" => {
                let Some(arg) = self.member(members, "arg") else { return };
                self.text.push_str(&op.to_ascii_lowercase());
                self.text.push('(');
                self.within("arg", |reader| reader.argument(arg, None));
                self.text.push(')');
            }
            _ => self.comparison(members, op),
        }
    }

    /// Conditions joined by a word.
    fn chain(&mut self, items: &Json, word: &str) {
        let items = match items {
            Json::Array(items) if items.len() > 1 => items,
            _ => return self.error("expected an array of at least two conditions"),
        };
        for (index, item) in items.iter().enumerate() {
            self.text.push_str(if index > 0 { word } else { "" });
            self.within(index, |reader| reader.operand(item));
        }
    }

    /// A condition within another one, in parentheses if it is a chain.
    fn operand(&mut self, json: &Json) {
        let is_chain = matches!(json.get("op").and_then(Json::as_str), Some("And" | "Or" | "Xor"));
        self.text.push_str(if is_chain { "(" } else { "" });
        self.condition(json);
        self.text.push_str(if is_chain { ")" } else { "" });
    }

    fn comparison(&mut self, members: &Map<String, Json>, op: &str) {
        let Some(lhs) = self.member(members, "lhs") else { return };
        let ty = self.within("lhs", |reader| reader.value(lhs));
        if op == "IsTrue" {
            return;
        }
        let word = match op {
            "Equal" => "eq",
            "NotEqual" => "ne",
            "GreaterThanEqual" => "ge",
            "LessThanEqual" => "le",
            "GreaterThan" => "gt",
            "LessThan" => "lt",
            "BitwiseAnd" => "bitwise_and",
            "Contains" => "contains",
            "Matches" => "matches",
            "Wildcard" => "wildcard",
            "Strict Wildcard" => "strict wildcard",
            "OneOf" | "InList" => "in",
            _ => return self.within("op", |reader| reader.error(format!("there is no operator `{op}`"))),
        };
        let Some(rhs) = self.member(members, "rhs") else { return };
        let Some(ty) = ty else { return };
        self.text.push_str(&format!(" {word} "));
        self.within("rhs", |reader| match (op, rhs) {
            ("Matches", pattern) => {
                if let Some(pattern) = reader.string(pattern) {
                    reader.text.push_str(&raw_string(pattern));
                }
            }
            ("InList", name) => {
                let is_name = |name: &&str| {
                    !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'))
                };
                match reader.string(name) {
                    Some(name) if is_name(&name) => reader.text.push_str(&format!("${name}")),
                    Some(name) => reader.error(format!("invalid list name {name:?}")),
                    None => {}
                }
            }
            ("OneOf", Json::Array(items)) => {
                reader.text.push('{');
                for (index, item) in items.iter().enumerate() {
                    reader.text.push_str(if index > 0 { " " } else { "" });
                    reader.within(index, |reader| reader.item(item, &ty));
                }
                reader.text.push('}');
            }
            ("OneOf", _) => reader.error("expected an array of items"),
            (_, literal) => {
                reader.digits = if op.ends_with("Wildcard") { Digits::Never } else { Digits::Always };
                reader.literal(literal, &ty);
                reader.digits = Digits::Always;
            }
        });
    }

    /// A field, a call, or a part of one. Returns the type of the value, or of each of the values.
    fn value(&mut self, json: &Json) -> Option<FilterType> {
        if self.is_too_deep() {
            return None;
        }
        match json {
            Json::String(name) => match self.scheme.named(name) {
                Some(Named::Field(index)) => {
                    self.text.push_str(name);
                    self.scheme.fields().get(index as usize).map(|field| field.ty.clone())
                }
                _ => {
                    self.error(format!("there is no field `{name}`"));
                    None
                }
            },
            Json::Array(parts) => {
                let [base, steps @ ..] = parts.as_slice() else {
                    self.error("expected a field or a call, and indexes");
                    return None;
                };
                let mut ty = self.within(0, |reader| reader.value(base));
                for (index, step) in (1_usize..).zip(steps) {
                    self.within(index, |reader| reader.step(step));
                    ty = match ty? {
                        FilterType::Array(element) | FilterType::Map(element) => Some((*element).clone()),
                        // The check says what is wrong.
                        other => Some(other),
                    };
                }
                ty
            }
            Json::Object(_) => self.call(json),
            _ => {
                self.error("expected the name of a field, a call, or an array of one of them and indexes");
                None
            }
        }
    }

    /// An index.
    fn step(&mut self, json: &Json) {
        let Some(members) = self.object(json, &["kind", "value"]) else { return };
        let Some(kind) = self.member(members, "kind") else { return };
        match kind.as_str() {
            Some("MapEach") => self.text.push_str("[*]"),
            Some(kind @ ("ArrayIndex" | "MapKey")) => {
                let Some(value) = self.member(members, "value") else { return };
                self.within("value", |reader| match (kind, value) {
                    ("ArrayIndex", Json::Number(index)) if index.as_u64().is_some() => {
                        reader.text.push_str(&format!("[{index}]"));
                    }
                    ("MapKey", Json::String(key)) => {
                        reader.text.push_str(&format!("[{}]", quoted_bytes(key.as_bytes())))
                    }
                    ("ArrayIndex", _) => reader.error("expected a number that is not negative"),
                    _ => reader.error("expected a string"),
                });
            }
            _ => self.within("kind", |reader| reader.error("expected ArrayIndex, MapKey or MapEach")),
        }
    }

    fn call(&mut self, json: &Json) -> Option<FilterType> {
        let members = self.object(json, &["name", "args"])?;
        let (name, args) = (self.member(members, "name")?, self.member(members, "args")?);
        let function: Option<&FilterFunction> = self.within("name", |reader| {
            let name = reader.string(name)?;
            let Some(Named::Function(index)) = reader.scheme.named(name) else {
                reader.error(format!("there is no function `{name}`"));
                return None;
            };
            reader.text.push_str(name);
            reader.scheme.functions().get(index as usize)
        });
        let function = function?;
        let Json::Array(args) = args else {
            self.within("args", |reader| reader.error("expected an array of arguments"));
            return None;
        };
        self.text.push('(');
        let first = self.within("args", |reader| {
            let mut first = None;
            for (index, arg) in args.iter().enumerate() {
                reader.text.push_str(if index > 0 { ", " } else { "" });
                let is_address = function
                    .parameter(index)
                    .is_some_and(|parameter| parameter.accepts_some(&FilterType::Ip, first.as_ref()));
                let ty = reader.within(index, |reader| reader.argument(arg, Some(is_address)));
                if index == 0 {
                    first = ty;
                }
            }
            first
        });
        self.text.push(')');
        let result = match &function.result {
            ResultType::Type(ty) => Some(ty.clone()),
            ResultType::SameAsFirst => first,
        };
        // A function that is called for each value has an array of results.
        if args.first().is_some_and(has_each) { result.map(FilterType::array) } else { result }
    }

    /// An argument with its kind; `is_address` says, for a literal, whether its text is an address.
    /// Without it there are no literals.
    fn argument(&mut self, json: &Json, is_address: Option<bool>) -> Option<FilterType> {
        let members = self.object(json, &["kind", "value"])?;
        let (kind, value) = (self.member(members, "kind")?, self.member(members, "value")?);
        match (kind.as_str(), is_address) {
            (Some("IndexExpr"), _) => self.within("value", |reader| reader.value(value)),
            (Some("SimpleExpr"), _) => {
                // Without parentheses a test would be a value, and a chain would end at its first operand.
                let op = value.get("op").and_then(Json::as_str);
                let parentheses = matches!(op, Some("And" | "Or" | "Xor" | "IsTrue"));
                self.text.push_str(if parentheses { "(" } else { "" });
                self.within("value", |reader| reader.condition(value));
                self.text.push_str(if parentheses { ")" } else { "" });
                Some(FilterType::Bool)
            }
            (Some("Literal"), Some(is_address)) => {
                let ty = match value {
                    Json::Number(_) => FilterType::Int,
                    _ if is_address => FilterType::Ip,
                    _ => FilterType::Bytes,
                };
                self.digits = Digits::Argument;
                self.within("value", |reader| reader.literal(value, &ty));
                self.digits = Digits::Always;
                Some(ty)
            }
            _ => {
                self.within("kind", |reader| reader.error("expected IndexExpr, SimpleExpr, or Literal in a call"));
                None
            }
        }
    }
}

/// Whether an argument is a value with `[*]`.
fn has_each(argument: &Json) -> bool {
    let steps = argument.get("value").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    steps.iter().any(|step| step.get("kind").and_then(Json::as_str) == Some("MapEach"))
}
