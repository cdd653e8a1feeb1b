//! A rule in the filter language as CEL over the same environment.
//!
//! A comparison with a missing value is false here and an error in CEL, so it becomes
//! `default(.., false)`. Text is bytes here and UTF-8 there: where that could make a difference,
//! and for everything that CEL lacks, there is no translation, and a note says why.

use super::cel_text::{int, operator, quoted};
use crate::cx::PATTERN_DIALECT;
use crate::env::names;
use crate::filter::binding::{FilterBinding, Source};
use crate::filter::pattern::difference;
use crate::lint::NO_EQUAL;
use celero_frontend::filter::{
    AccessStep, BytesLiteral, Comparison, Connective, FilterExpr, FilterLiteral, FilterTree, FilterType, IpItem,
    OrderOp, SetItems, Wildcard,
};
use celero_frontend::{Cel, Diagnostic, Language as _, NodeId, Severity, Span, Stage, Type, Variable, with_stack};
use celero_matching::pattern::compile;
use std::net::IpAddr;

/// Writes a rule as CEL.
///
/// # Errors
/// What has no equal in CEL: each part of the rule.
pub(crate) fn to_cel(
    tree: &FilterTree,
    binding: &FilterBinding,
    variables: &[Variable],
) -> Result<String, Vec<Diagnostic>> {
    let mut translation = Translation { tree, binding, variables, notes: Vec::new() };
    let text = with_stack(tree.depth(), || match tree.result_type() {
        FilterType::Bool => translation.condition(tree.root(), None),
        _ => translation.none(tree.root(), "a value that is no condition").map(|never: Value| never.text),
    });
    match text {
        Some(text) if translation.notes.is_empty() => Ok(text),
        _ => Err(translation.notes),
    }
}

/// Why a value may have no result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Never,
    /// It may be missing.
    Missing,
    /// It may fail in any way, which here is a missing value.
    Any,
}

/// A value in CEL.
#[derive(Clone)]
struct Value {
    text: String,
    ty: Type,
    failure: Failure,
    /// A condition that must hold for there to be a value: an index within a list.
    guard: Option<String>,
}

struct Translation<'t> {
    tree: &'t FilterTree,
    binding: &'t FilterBinding,
    variables: &'t [Variable],
    notes: Vec<Diagnostic>,
}

/// The name of the element in a macro.
const ELEMENT: &str = "value";

impl Translation<'_> {
    /// Notes that something has no equal.
    fn none<T>(&mut self, id: NodeId, what: &str) -> Option<T> {
        self.note(self.tree.node(id).span, what);
        None
    }

    fn note(&mut self, span: Span, what: &str) {
        self.notes.push(Diagnostic {
            severity: Severity::Error,
            stage: Stage::Check,
            code: NO_EQUAL,
            message: format!("CEL has no equal of {what}"),
            span,
            labels: Vec::new(),
            help: Vec::new(),
        });
    }

    /// A condition. `element` is the value that `[*]` stands for, in the operand of a quantifier.
    fn condition(&mut self, id: NodeId, element: Option<&Value>) -> Option<String> {
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Logic { op, operands } => {
                let operands = tree.children(*operands);
                // All operands are translated, so that all notes are collected.
                let texts: Vec<Option<String>> =
                    operands.iter().map(|operand| self.condition(*operand, element)).collect();
                let texts: Vec<String> =
                    texts.into_iter().map(|text| Some(format!("({})", text?))).collect::<Option<_>>()?;
                Some(match op {
                    Connective::And => texts.join(" && "),
                    Connective::Or => texts.join(" || "),
                    Connective::Xor => {
                        let joined = texts.into_iter().reduce(|all, text| format!("({all} != {text})"));
                        joined.unwrap_or_default()
                    }
                })
            }
            FilterExpr::Not(operand) => Some(format!("!({})", self.condition(*operand, element)?)),
            FilterExpr::Test(value) if element.is_none() => {
                let value = self.value(*value)?;
                Some(absorbed(&value, &value.text, false))
            }
            FilterExpr::Compare { value, comparison } => {
                let in_words = self.in_words_of_variable(*value, comparison);
                let (value, comparison) = match (element, &in_words) {
                    (Some(element), _) => (element.clone(), comparison),
                    (None, Some((value, comparison))) => (value.clone(), comparison),
                    (None, None) => (self.value(*value)?, comparison),
                };
                let missing =
                    matches!(comparison, Comparison::Order(OrderOp::NotEqual, _)) && tree.scheme().nil_not_equal();
                let test = match comparison {
                    Comparison::InList(name) => self.in_list(id, &value, element.is_none(), name)?,
                    comparison => self.comparison(id, &value, comparison)?,
                };
                Some(absorbed(&value, &test, missing))
            }
            FilterExpr::Quantifier { all, operand } => self.quantifier(id, *all, *operand),
            _ => self.none(id, "this"),
        }
    }

    /// A comparison of a field that has the values of a variable in other words, as one of the
    /// variable; `None` if it is none with words.
    fn in_words_of_variable(&self, value: NodeId, comparison: &Comparison) -> Option<(Value, Comparison)> {
        let FilterExpr::Field(field) = *self.tree.expr(value) else { return None };
        let spelling = self.binding.spelling_of_field(field)?;
        let variable = self.variables.get(spelling.variable as usize)?;
        let word = |literal: &BytesLiteral| {
            let word = spelling.of_variable(std::str::from_utf8(&literal.value).ok()?)?;
            Some(BytesLiteral { value: word.as_bytes().into(), form: literal.form })
        };
        let comparison = match comparison {
            Comparison::Order(op @ (OrderOp::Equal | OrderOp::NotEqual), FilterLiteral::Bytes(bytes)) => {
                Comparison::Order(*op, FilterLiteral::Bytes(word(bytes)?))
            }
            Comparison::OneOf(SetItems::Bytes(items)) => {
                let items: Option<Vec<BytesLiteral>> = items.iter().map(word).collect();
                Comparison::OneOf(SetItems::Bytes(items?.into()))
            }
            _ => return None,
        };
        let failure = if variable.optional { Failure::Missing } else { Failure::Never };
        Some((Value { text: variable.name.to_string(), ty: variable.ty.clone(), failure, guard: None }, comparison))
    }

    /// `any` and `all` of comparisons of the elements of one list, which has one `[*]`.
    fn quantifier(&mut self, id: NodeId, all: bool, operand: NodeId) -> Option<String> {
        let Some(value) = self.quantified(operand) else {
            return self.none(id, "a quantifier over several values");
        };
        let (list, element) = self.range(id, value)?;
        let test = self.condition(operand, Some(&element))?;
        let name = if all { "all" } else { "exists" };
        let text = format!("{}.{name}({ELEMENT}, {test})", list.text);
        Some(absorbed(&list, &text, all))
    }

    /// The list that `[*]` goes through, and what is compared of each element.
    fn range(&mut self, id: NodeId, value: NodeId) -> Option<(Value, Value)> {
        let tree = self.tree;
        let FilterExpr::Access { base, steps } = tree.expr(value) else {
            return self.none(id, "a quantifier over this value");
        };
        let Some((AccessStep::Each, before)) = steps.split_last() else {
            return self.none(id, "`[*]` before an index");
        };
        if before.contains(&AccessStep::Each) {
            return self.none(id, "several `[*]`");
        }
        if let (FilterExpr::Call { function, args }, []) = (tree.expr(*base), before)
            && let &[inner] = tree.children(*args)
            && tree.node(inner).each
            && let Some(method) = tree.function(*function).and_then(|function| case_method(&function.name))
        {
            let (list, element) = self.range(id, inner)?;
            self.is_text(id, &element)?;
            let text = format!("{}.{method}()", element.text);
            return Some((list, Value { text, ..element }));
        }
        let base = self.value(*base)?;
        let list = self.access(id, base, before)?;
        let Type::List(element) = &list.ty else { return self.none(id, "`[*]` of a map") };
        let element = Value { text: ELEMENT.to_owned(), ty: (**element).clone(), failure: Failure::Never, guard: None };
        Some((list, element))
    }

    /// The value whose elements a condition compares; `None` if there are several.
    fn quantified(&self, id: NodeId) -> Option<NodeId> {
        match self.tree.expr(id) {
            FilterExpr::Compare { value, .. } => Some(*value),
            FilterExpr::Not(operand) => self.quantified(*operand),
            FilterExpr::Logic { operands, .. } => {
                let mut values = self.tree.children(*operands).iter().map(|operand| self.quantified(*operand));
                let first = values.next()??;
                values.all(|value| value.is_some_and(|value| self.same(value, first))).then_some(first)
            }
            _ => None,
        }
    }

    /// Whether two values are the same parts of the same field.
    fn same(&self, one: NodeId, other: NodeId) -> bool {
        match (self.tree.expr(one), self.tree.expr(other)) {
            (FilterExpr::Access { base, steps }, FilterExpr::Access { base: other, steps: others }) => {
                steps == others
                    && matches!(self.tree.expr(*base), FilterExpr::Field(_))
                    && self.tree.expr(*base) == self.tree.expr(*other)
            }
            _ => false,
        }
    }

    fn comparison(&mut self, id: NodeId, value: &Value, comparison: &Comparison) -> Option<String> {
        let text = &value.text;
        Some(match comparison {
            Comparison::Order(op, FilterLiteral::Int(number)) => format!("{text} {} {}", operator(*op), int(*number)),
            Comparison::Order(
                OrderOp::Less | OrderOp::LessEqual | OrderOp::Greater | OrderOp::GreaterEqual,
                FilterLiteral::Bytes(bytes),
            ) if !bytes.value.is_ascii() => {
                return self.none(id, "an order of bytes that are not ASCII");
            }
            Comparison::Order(op, FilterLiteral::Bytes(bytes)) => {
                format!("{text} {} {}", operator(*op), self.text(id, value, bytes)?)
            }
            Comparison::Order(op @ (OrderOp::Equal | OrderOp::NotEqual), FilterLiteral::Ip(address)) => {
                let address = self.address(id, *address)?;
                format!("{} {} ip(\"{address}\")", address_of(value), operator(*op))
            }
            Comparison::Order(_, FilterLiteral::Ip(_)) => return self.none(id, "an order of addresses"),
            Comparison::BitwiseAnd(number) => format!("math.bitAnd({text}, {}) != 0", int(*number)),
            Comparison::Contains(bytes) => {
                self.is_text(id, value)?;
                format!("{text}.contains({})", self.text(id, value, bytes)?)
            }
            Comparison::Matches(pattern) => {
                self.is_text(id, value)?;
                if let Some(difference) = difference(&pattern.text) {
                    return self.none(id, difference);
                }
                if compile(PATTERN_DIALECT.pattern(&pattern.text)).is_err() {
                    return self.none(id, "a pattern that is longer, larger or nested deeper than CEL's may be");
                }
                format!("{text}.matches({})", quoted(&pattern.text))
            }
            Comparison::Wildcard(wildcard) => self.wildcard(id, value, wildcard, "wildcard")?,
            Comparison::StrictWildcard(wildcard) => self.wildcard(id, value, wildcard, "strictWildcard")?,
            Comparison::OneOf(items) => return self.one_of(id, value, items),
            Comparison::InList(_) => return self.none(id, "a list here"),
        })
    }

    /// A query of a list. `is_whole` says whether `value` is what the comparison names, not an element of it.
    fn in_list(&mut self, id: NodeId, value: &Value, is_whole: bool, name: &str) -> Option<String> {
        let FilterExpr::Compare { value: node, .. } = *self.tree.expr(id) else { return self.none(id, "this") };
        let ty = &self.tree.node(node).ty;
        if self.binding.list(name, ty).is_none() {
            return self.none(id, &format!("the list `{name}`, which is not declared"));
        }
        if let Err(why) = names::list(name) {
            return self.none(id, &format!("the list `{name}`: {why}"));
        }
        // The list sees bytes here and text there, which differ where they are not UTF-8.
        let is_text = |field: u32| matches!(self.binding.source(field), Source::Variable(_, Type::String));
        let is_text = is_whole && matches!(self.tree.expr(node), FilterExpr::Field(field) if is_text(*field));
        if *ty == FilterType::Bytes && !is_text {
            return self.none(id, "a list that is asked for bytes that may not be UTF-8");
        }
        Some(format!("{} in lists.{name}", value.text))
    }

    fn one_of(&mut self, id: NodeId, value: &Value, items: &SetItems) -> Option<String> {
        let text = &value.text;
        if items.is_empty() {
            return Some("false".to_owned());
        }
        let tests: Vec<String> = match items {
            SetItems::Bytes(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.text(id, value, item)).collect();
                vec![format!("{text} in [{}]", items?.join(", "))]
            }
            SetItems::Ints(items) => {
                let single: Vec<String> =
                    items.iter().filter(|(first, last)| first == last).map(|(first, _)| int(*first)).collect();
                let range =
                    |(first, last): &(i64, i64)| format!("({text} >= {} && {text} <= {})", int(*first), int(*last));
                let ranges = items.iter().filter(|(first, last)| first != last).map(range);
                let single = (!single.is_empty()).then(|| format!("{text} in [{}]", single.join(", ")));
                single.into_iter().chain(ranges).collect()
            }
            SetItems::Ips(items) => {
                let mut tests = Vec::new();
                for item in items {
                    let IpItem::Network(address, prefix) = *item else {
                        return self.none(id, "a range of addresses");
                    };
                    let address = self.address(id, address)?;
                    tests.push(format!("cidr(\"{address}/{prefix}\").containsIP({})", address_of(value)));
                }
                tests
            }
        };
        Some(format!("({})", tests.join(" || ")))
    }

    /// A wildcard. Both languages have one syntax for its pattern.
    fn wildcard(&mut self, id: NodeId, value: &Value, wildcard: &Wildcard, function: &str) -> Option<String> {
        let pattern = self.text(id, value, &wildcard.pattern)?;
        Some(format!("{}.{function}({pattern})", value.text))
    }

    /// A byte string as a literal of the type of a value.
    fn text(&mut self, id: NodeId, value: &Value, bytes: &BytesLiteral) -> Option<String> {
        self.is_text(id, value)?;
        match std::str::from_utf8(&bytes.value) {
            // Text that is not UTF-8 is read with this character.
            Ok(text) if !text.contains('\u{fffd}') => Some(quoted(text)),
            _ => self.none(id, "bytes that are not UTF-8"),
        }
    }

    fn is_text(&mut self, id: NodeId, value: &Value) -> Option<()> {
        if value.ty == Type::String { Some(()) } else { self.none(id, "text operations on `bytes`") }
    }

    fn address(&mut self, id: NodeId, address: IpAddr) -> Option<IpAddr> {
        match address {
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => self.none(id, "an IPv4-mapped address"),
            address => Some(address),
        }
    }

    /// A value of one part.
    fn value(&mut self, id: NodeId) -> Option<Value> {
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Field(index) => self.field(id, *index),
            FilterExpr::Access { base, steps } => {
                let base = self.value(*base)?;
                self.access(id, base, steps)
            }
            FilterExpr::Call { function, args } if !tree.node(id).each => {
                let name = tree.function(*function).map_or("", |function| &*function.name);
                self.call(id, name, tree.children(*args))
            }
            _ => self.none(id, "this value"),
        }
    }

    fn field(&mut self, id: NodeId, index: u32) -> Option<Value> {
        let value = |text: String, ty: Type, failure| Some(Value { text, ty, failure, guard: None });
        if let Some(constant) = self.tree.field(index).and_then(|field| field.constant) {
            return value(constant.to_string(), Type::Bool, Failure::Never);
        }
        match self.binding.source(index) {
            Source::Variable(variable, ty) => {
                let Some(variable) = self.variables.get(*variable as usize) else { return self.none(id, "this field") };
                let failure = if variable.optional { Failure::Missing } else { Failure::Never };
                // CEL joins the lines of a header; this view has each.
                if self.tree.node(id).ty == lines() && *ty == Type::map(Type::String, Type::String) {
                    let lines = Type::map(Type::String, Type::list(Type::String));
                    return value(format!("{}.raw()", variable.name), lines, failure);
                }
                value(variable.name.to_string(), ty.clone(), failure)
            }
            Source::Header { map, name } => {
                let Some(map) = self.variables.get(*map as usize) else { return self.none(id, "this field") };
                value(format!("{}[{}]", map.name, quoted(name)), Type::String, Failure::Missing)
            }
            Source::Expression(expression) => {
                let checked = expression.checked();
                value(format!("({})", Cel.unparse(checked)), checked.result_type().clone(), Failure::Any)
            }
            Source::Derived(..) => self.none(id, "this field, which follows from another one"),
            Source::Missing => self.none(id, "this field, which has no value"),
        }
    }

    fn access(&mut self, id: NodeId, mut value: Value, steps: &[AccessStep]) -> Option<Value> {
        for step in steps {
            value = match (step, &value.ty) {
                (AccessStep::Index(index), Type::List(element)) => {
                    let enough = format!("size({}) > {index}", value.text);
                    let guard = match &value.guard {
                        Some(guard) => format!("{guard} && {enough}"),
                        None => enough,
                    };
                    let text = format!("{}[{index}]", value.text);
                    Value { text, ty: (**element).clone(), guard: Some(guard), ..value }
                }
                (AccessStep::Key(key), _) if value.text.ends_with(".raw()") && has_capitals(key) => {
                    return self.none(id, "the name of a header with capital letters, which no header has");
                }
                (AccessStep::Key(key), Type::Map(parts)) => {
                    let (text, ty) = (format!("{}[{}]", value.text, quoted(key)), parts.1.clone());
                    Value { text, ty, failure: value.failure.max(Failure::Missing), ..value }
                }
                _ => return self.none(id, "this part of a value"),
            };
        }
        Some(value)
    }

    fn call(&mut self, id: NodeId, name: &str, args: &[NodeId]) -> Option<Value> {
        let tree = self.tree;
        let method = match (case_method(name), name) {
            (Some(method), _) => method,
            (_, "starts_with") => "startsWith",
            (_, "ends_with") => "endsWith",
            (_, "len") => "size",
            _ => return self.none(id, &format!("the function `{name}`")),
        };
        let (first, second) = (*args.first()?, args.get(1).map(|arg| tree.expr(*arg)));
        let value = self.value(first)?;
        let (text, ty) = match (method, second) {
            ("size", _) if matches!(value.ty, Type::List(_)) => (format!("size({})", value.text), Type::Int),
            // CEL reads bytes that are not UTF-8 as a character of three bytes.
            ("size", _) => return self.none(id, "the number of bytes of a text"),
            ("lowerAscii" | "upperAscii", _) => {
                self.is_text(id, &value)?;
                (format!("{}.{method}()", value.text), Type::String)
            }
            (_, Some(FilterExpr::Literal(FilterLiteral::Bytes(bytes)))) => {
                let bytes = bytes.clone();
                let text = self.text(id, &value, &bytes)?;
                (format!("{}.{method}({text})", value.text), Type::Bool)
            }
            _ => return self.none(id, &format!("the function `{name}` with these arguments")),
        };
        Some(Value { text, ty, ..value })
    }
}

/// The method of CEL that changes the case of text as a function does.
fn case_method(function: &str) -> Option<&'static str> {
    match function {
        "lower" => Some("lowerAscii"),
        "upper" => Some("upperAscii"),
        _ => None,
    }
}

/// The type of header maps.
fn lines() -> FilterType {
    FilterType::map(FilterType::array(FilterType::Bytes))
}

fn has_capitals(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// A test of a value that is `missing` where there is no value.
fn absorbed(value: &Value, test: &str, missing: bool) -> String {
    let test = match (&value.guard, missing) {
        (Some(guard), false) => format!("({guard} && {test})"),
        (Some(guard), true) => format!("(!({guard}) || {test})"),
        (None, _) => test.to_owned(),
    };
    match value.failure {
        Failure::Never => test,
        Failure::Missing => format!("default({test}, {missing})"),
        Failure::Any => format!("coalesce({test}, {missing})"),
    }
}

/// The address that a value is, of type `net.IP`.
fn address_of(value: &Value) -> String {
    if value.ty == Type::String { format!("ip({})", value.text) } else { value.text.clone() }
}
