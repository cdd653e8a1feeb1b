//! A rule in the filter language as CEL over the same environment.
//!
//! A comparison with a missing value is false here and an error in CEL, so it becomes
//! `default(.., false)`. Text is bytes here and UTF-8 there: where that could make a difference,
//! and for everything that CEL lacks, there is no translation, and a note says why. The nearest
//! forms have one where only few values make a difference, and a warning says which.

mod comparison;
mod derived;
mod value;

use super::cel_text::quoted;
use crate::filter::binding::{FilterBinding, Source};
use crate::lint::{NO_EQUAL, OTHER_MEANING};
use celero_frontend::filter::{
    AccessStep, BytesLiteral, Comparison, Connective, FilterExpr, FilterLiteral, FilterTree, FilterType, OrderOp,
    SetItems,
};
use celero_frontend::{Cel, Diagnostic, Language as _, NodeId, Severity, Span, Stage, Type, Variable, with_stack};
use celero_ir::Domain;
use celero_ir::layout::Field as Layout;
use value::{Failure, Value, absorbed};

/// What is translated, and how.
pub(super) struct Given<'t> {
    pub(super) tree: &'t FilterTree,
    pub(super) binding: &'t FilterBinding,
    pub(super) variables: &'t [Variable],
    pub(super) layouts: &'t [Layout],
    /// Whether the nearest form stands for what has no equal.
    pub(super) near: bool,
}

/// Writes a rule as CEL. Returns the warnings about its nearest forms too.
///
/// # Errors
/// What has no equal in CEL: each part of the rule.
pub(super) fn to_cel(given: Given<'_>) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Given { tree, binding, variables, layouts, near } = given;
    let (notes, warnings) = (Vec::new(), Vec::new());
    let mut translation = Translation { tree, binding, variables, layouts, near, notes, warnings };
    let text = with_stack(tree.depth(), || match tree.result_type() {
        FilterType::Bool => translation.condition(tree.root(), None),
        _ => translation.none(tree.root(), "a value that is no condition").map(|never: Value| never.text),
    });
    match text {
        Some(text) if translation.notes.is_empty() => {
            let mut warnings = translation.warnings;
            warnings.sort_by_key(|warning| warning.span.start);
            Ok((text, warnings))
        }
        _ => Err(translation.notes),
    }
}

struct Translation<'t> {
    tree: &'t FilterTree,
    binding: &'t FilterBinding,
    variables: &'t [Variable],
    layouts: &'t [Layout],
    near: bool,
    notes: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
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

    /// Takes the nearest form, if it is asked for, with a warning about what differs. Otherwise notes
    /// that there is no equal of `what`.
    fn nearest(&mut self, id: NodeId, what: &str, differs: &str) -> Option<()> {
        if !self.near {
            return self.none(id, what);
        }
        let message = format!("this is the nearest form of {what}: {differs}");
        self.warnings.push(Diagnostic::warning(OTHER_MEANING, self.tree.node(id).span, message));
        Some(())
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
                    Comparison::InList(name) => self.in_list(id, &value, name)?,
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
        let value = Value::new(variable.name.to_string(), variable.ty.clone(), failure);
        Some((value, comparison))
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
        let list = match self.header_names(*base).filter(|_| before.is_empty()) {
            Some(names) => names,
            None => {
                let base = self.value(*base)?;
                self.access(id, base, before)?
            }
        };
        let Type::List(element) = &list.ty else { return self.none(id, "`[*]` of a map") };
        let element = Value {
            may_be_invalid: list.may_be_invalid,
            ..Value::new(ELEMENT.to_owned(), (**element).clone(), Failure::Never)
        };
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
        if let Some(constant) = self.tree.field(index).and_then(|field| field.constant) {
            return Some(Value::new(constant.to_string(), Type::Bool, Failure::Never));
        }
        self.of_source(id, self.binding.source(index))
    }

    /// The value that a source gives a field.
    fn of_source(&mut self, id: NodeId, source: &Source) -> Option<Value> {
        let value = |text: String, ty: Type, failure| Some(Value::new(text, ty, failure));
        match source {
            Source::Variable(variable, ty) => {
                let layout = self.layouts.get(*variable as usize);
                let Some(variable) = self.variables.get(*variable as usize) else { return self.none(id, "this field") };
                let failure = if variable.optional { Failure::Missing } else { Failure::Never };
                // CEL joins the lines of a header; this view has each.
                if self.tree.node(id).ty == lines() && *ty == Type::map(Type::String, Type::String) {
                    let lines = Type::map(Type::String, Type::list(Type::String));
                    let text = format!("{}.raw()", variable.name);
                    return Some(Value { may_be_invalid: true, ..Value::new(text, lines, failure) });
                }
                let is_address = *ty == Type::String && layout.is_some_and(|it| it.domain == Some(Domain::Address));
                Some(Value { is_address, ..Value::new(variable.name.to_string(), ty.clone(), failure) })
            }
            Source::Header { map, name } => {
                let Some(map) = self.variables.get(*map as usize) else { return self.none(id, "this field") };
                let text = format!("{}[{}]", map.name, quoted(name));
                Some(Value { may_be_invalid: true, ..Value::new(text, Type::String, Failure::Missing) })
            }
            Source::Expression(expression) => {
                let checked = expression.checked();
                value(format!("({})", Cel.unparse(checked)), checked.result_type().clone(), Failure::Any)
            }
            Source::Derived(how, base) => self.derived(id, *how, base),
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
                (AccessStep::Key(name), _) if value.is_query => self.argument(id, value, name)?,
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
            ("size", _) if value.ty == Type::String => {
                if value.may_be_invalid {
                    self.nearest(
                        id,
                        "the number of bytes of a text",
                        "it differs for values that are not UTF-8: of U+FFFD, as which CEL reads what is not, three are counted",
                    )?;
                }
                (format!("bytes({}).size()", value.text), Type::Int)
            }
            ("size", _) => return self.none(id, "the number of bytes of this value"),
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
