//! Comparisons of a field with values that it never has.

#[cfg(feature = "http")]
use crate::filter::binding::Derivation;
use crate::filter::binding::{FilterBinding, Source, Spelling};
use crate::lint::alternatives::{alternatives_meant, as_text};
use crate::lint::domain::{SIZE, message};
use crate::lint::excluded::{
    Beside, Excluded, Place, constant_ordering, excluded_literals, excluded_text, excluded_wildcard, excluded_word,
};
use crate::lint::stars::{AS_TEXT, wildcard_meant};
use crate::lint::{ALTERNATIVES_AS_TEXT, NEVER_THAT_VALUE, WILDCARD_AS_TEXT};
use celero_frontend::filter::{
    BytesLiteral, Comparison, FilterExpr, FilterLiteral, FilterNode, FilterTree, OrderOp, SetItems, StandardFunction,
    Wildcard,
};
use celero_frontend::{Diagnostic, NodeId, Span};
use celero_ir::{Domain, layout};
#[cfg(feature = "http")]
use celero_ir::{HEADER_NAME, Never, TextDomain};
use celero_matching::pattern::{may_ignore_case, quick_required_literals};
use std::cmp::Ordering;

/// The values of extensions of paths.
#[cfg(feature = "http")]
const EXTENSION: Domain = Domain::Text(TextDomain {
    begins: "",
    never: &[Never::UpperCase, Never::Character('.'), Never::Character('/'), Never::Character('?')],
    also: &[],
});

/// The values of media types.
#[cfg(feature = "http")]
const MEDIA_TYPE: Domain =
    Domain::Text(TextDomain { begins: "", never: &[Never::UpperCase, Never::Character(';')], also: &[] });

/// Longest pattern that is examined, in bytes.
const MAX_EXAMINED: usize = 1024;

/// A field whose type has more values than it.
struct Field<'t> {
    name: &'t str,
    domain: Domain,
    /// If it has the values of a variable in other words: `domain` is that of the variable.
    spelling: Option<&'t Spelling>,
    /// If it is made of a value that may be missing, such as a size: then no comparison is true, so
    /// `len(x) ge 0` says that `x` is there.
    may_be_missing: bool,
}

impl Field<'_> {
    /// Returns why the field never has this text there; `None` if it may.
    fn excludes(&self, place: Place, part: &BytesLiteral) -> Option<Excluded> {
        match (self.spelling, &self.domain) {
            (Some(spelling), Domain::OneOf(words)) => {
                let own: Vec<_> = words.iter().filter_map(|word| spelling.of_field(word)).collect();
                excluded_word(&own.iter().map(|word| &**word).collect::<Vec<_>>(), place, &part.value)
            }
            (Some(_), _) => None,
            (None, domain) => excluded_text(domain, place, &part.value),
        }
    }

    /// Returns why a wildcard pattern matches no value of the field; `None` if it may match one.
    fn excludes_wildcard(&self, wildcard: &Wildcard, strict: bool) -> Option<Excluded> {
        if self.spelling.is_some() { None } else { excluded_wildcard(&self.domain, wildcard.pieces(), strict) }
    }

    /// Returns why a pattern matches in no value of the field; `None` if it may match, or if it may
    /// require bytes that a pattern on text does not.
    fn excludes_pattern(&self, pattern: &str) -> Option<Excluded> {
        let differs = |escape: &str| pattern.contains(escape);
        let is_examined = self.spelling.is_none()
            && pattern.len() <= MAX_EXAMINED
            && pattern.is_ascii()
            && !may_ignore_case(pattern)
            && !["\\x", "\\u", "\\U"].into_iter().any(differs);
        if is_examined { excluded_literals(&self.domain, &quick_required_literals(pattern)?) } else { None }
    }
}

pub(super) fn other_values(
    tree: &FilterTree,
    node: &FilterNode,
    binding: &FilterBinding,
    fields: &[layout::Field],
    found: &mut Vec<Diagnostic>,
) {
    let field = |value: NodeId| field_of(tree, value, binding, fields);
    let mut stars = Vec::new();
    let mut star = |field: &Field<'_>, place: Place, part: &BytesLiteral| {
        let text = std::str::from_utf8(&part.value).ok().filter(|_| field.spelling.is_none());
        if let Some(pattern) = text.and_then(|text| wildcard_meant(&field.domain, place, text)) {
            let help = vec![format!("write `{} strict wildcard \"{pattern}\"`", field.name)];
            stars.push(Diagnostic { help, ..Diagnostic::warning(WILDCARD_AS_TEXT, node.span, AS_TEXT) });
        }
    };
    let mut several = Vec::new();
    let mut are_several = |field: &Field<'_>, text: &BytesLiteral, question: Option<bool>| {
        let text = std::str::from_utf8(&text.value).ok().filter(|_| field.spelling.is_none());
        let Some((text, parts)) =
            text.and_then(|text| Some((text, alternatives_meant(&field.domain, Place::Whole, text)?)))
        else {
            return false;
        };
        let items = parts.iter().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(" ");
        let help = match question {
            None => format!("write `{items}` in place of `\"{text}\"`"),
            Some(false) => format!("write `{} in {{{items}}}`", field.name),
            Some(true) => format!("write `not {} in {{{items}}}`", field.name),
        };
        several.push(Diagnostic {
            help: vec![help],
            ..Diagnostic::warning(ALTERNATIVES_AS_TEXT, node.span, as_text(text))
        });
        true
    };
    let mut warn = |span: Span, result: bool, name: &str, excluded: Excluded| {
        let help = excluded.help(|beside| beside_field(name, beside));
        let help = if help.is_empty() { Vec::new() } else { vec![help] };
        let message = message(result, name, &excluded.because);
        found.push(Diagnostic { help, ..Diagnostic::warning(NEVER_THAT_VALUE, span, message) });
    };
    match &node.expr {
        FilterExpr::Compare { value, comparison } => {
            let Some(field) = field(*value) else { return };
            match comparison {
                Comparison::Order(op @ (OrderOp::Equal | OrderOp::NotEqual), FilterLiteral::Bytes(bytes)) => {
                    if are_several(&field, bytes, Some(*op == OrderOp::NotEqual)) {
                        found.extend(several);
                        return;
                    }
                    match field.excludes(Place::Whole, bytes) {
                        Some(excluded) => warn(node.span, *op == OrderOp::NotEqual, field.name, excluded),
                        None => star(&field, Place::Whole, bytes),
                    }
                }
                Comparison::Order(op, FilterLiteral::Int(number)) => {
                    let holds = |ordering| holds(*op, ordering);
                    if let Some((result, because)) = constant_ordering(&field.domain, holds, *number)
                        && !(result && field.may_be_missing)
                    {
                        warn(node.span, result, field.name, Excluded::because(because));
                    }
                }
                Comparison::Contains(bytes) => match field.excludes(Place::Anywhere, bytes) {
                    Some(excluded) => warn(node.span, false, field.name, excluded),
                    None => star(&field, Place::Anywhere, bytes),
                },
                Comparison::Matches(pattern) => {
                    if let Some(excluded) = field.excludes_pattern(&pattern.text) {
                        warn(node.span, false, field.name, excluded);
                    }
                }
                Comparison::Wildcard(wildcard) | Comparison::StrictWildcard(wildcard) => {
                    let strict = matches!(comparison, Comparison::StrictWildcard(_));
                    if let Some(excluded) = field.excludes_wildcard(wildcard, strict) {
                        warn(node.span, false, field.name, excluded);
                    }
                }
                Comparison::OneOf(SetItems::Bytes(items)) => {
                    for item in items {
                        if are_several(&field, item, None) {
                            continue;
                        }
                        match field.excludes(Place::Whole, item) {
                            Some(excluded) => warn(node.span, false, field.name, excluded),
                            None => star(&field, Place::Whole, item),
                        }
                    }
                }
                Comparison::OneOf(SetItems::Ints(items)) => {
                    for (first, last) in items {
                        let from = constant_ordering(&field.domain, Ordering::is_ge, *first);
                        let to = constant_ordering(&field.domain, Ordering::is_le, *last);
                        if let Some((_, because)) = from.into_iter().chain(to).find(|(result, _)| !result) {
                            warn(node.span, false, field.name, Excluded::because(because));
                        }
                    }
                }
                _ => {}
            }
        }
        FilterExpr::Call { function, args } => {
            let place = match tree.function(*function).and_then(|function| function.standard) {
                Some(StandardFunction::StartsWith) => Place::Start,
                Some(StandardFunction::EndsWith) => Place::End,
                _ => return,
            };
            let [value, part] = tree.children(*args) else { return };
            if let (Some(field), FilterExpr::Literal(FilterLiteral::Bytes(bytes))) = (field(*value), tree.expr(*part)) {
                match field.excludes(place, bytes) {
                    Some(excluded) => warn(node.span, false, field.name, excluded),
                    None => star(&field, place, bytes),
                }
            }
        }
        _ => {}
    }
    found.extend(stars);
    found.extend(several);
}

/// The name of a field beside the path or the host.
fn beside_field(field: &str, beside: Beside) -> Option<String> {
    let (own, name) = match beside {
        Beside::Query => ("http.request.uri.path", "http.request.uri.query"),
        Beside::Raw => ("http.request.uri.path", "raw.http.request.uri.path"),
        Beside::Host => ("http.request.uri.path", "http.host"),
        Beside::Path => ("http.host", "http.request.uri.path"),
        // No field has the port of the host, or the scheme as a text.
        Beside::Port | Beside::Scheme => return None,
    };
    (field == own).then(|| name.to_owned())
}

fn holds(op: OrderOp, ordering: Ordering) -> bool {
    match op {
        OrderOp::Equal => ordering.is_eq(),
        OrderOp::NotEqual => ordering.is_ne(),
        OrderOp::GreaterEqual => ordering.is_ge(),
        OrderOp::LessEqual => ordering.is_le(),
        OrderOp::Greater => ordering.is_gt(),
        OrderOp::Less => ordering.is_lt(),
    }
}

/// Returns the field whose value, or one of whose values, a node is, or the size that it is.
fn field_of<'t>(
    tree: &'t FilterTree,
    id: NodeId,
    binding: &'t FilterBinding,
    fields: &[layout::Field],
) -> Option<Field<'t>> {
    let index = match tree.expr(id) {
        FilterExpr::Field(index) => *index,
        FilterExpr::Access { base, .. } => match tree.expr(*base) {
            FilterExpr::Field(index) => *index,
            _ => return None,
        },
        FilterExpr::Call { function, .. } if tree.function(*function)?.standard == Some(StandardFunction::Len) => {
            return Some(Field { name: "len(..)", domain: SIZE, spelling: None, may_be_missing: true });
        }
        _ => return None,
    };
    let of_variable = |variable: u32| fields.get(variable as usize)?.domain;
    let spelling = binding.spelling_of_field(index);
    let domain = match (spelling, binding.source(index)) {
        (Some(spelling), _) => of_variable(spelling.variable)?,
        (None, Source::Variable(variable, _)) => of_variable(*variable)?,
        #[cfg(feature = "http")]
        (None, Source::Derived(how, _)) => match how {
            Derivation::HeaderNames => HEADER_NAME,
            Derivation::Extension => EXTENSION,
            Derivation::MediaType => MEDIA_TYPE,
            _ => return None,
        },
        _ => return None,
    };
    Some(Field { name: &tree.field(index)?.name, domain, spelling, may_be_missing: false })
}
