//! Fields that follow from another value. The arguments of a query and the names of headers have an equal in CEL.

use super::Translation;
use super::value::{Failure, Value};
use crate::filter::binding::{Derivation, PartValue, Source};
use crate::translate::cel_text::quoted;
use celero_frontend::filter::FilterExpr;
use celero_frontend::{NodeId, Type};

/// The name of a part of a query in a macro.
const PART: &str = "part";

impl Translation<'_> {
    /// What follows from the value of a source.
    pub(super) fn derived(&mut self, id: NodeId, how: Derivation, base: &Source) -> Option<Value> {
        let base = self.of_source(id, base)?;
        let (list, query) = (Type::list(Type::String), &base.text);
        // Parts are separated by `&`; an empty one is no argument.
        let each = |value: String| format!("{query}.split(\"&\").map({PART}, {PART} != \"\", {value})");
        let value = match how {
            _ if base.ty != Type::String => None,
            Derivation::Arguments => Some(Value { ty: Type::map(Type::String, list), is_query: true, ..base.clone() }),
            Derivation::ArgumentNames => {
                Some(Value { text: each(format!("{PART}.split(\"=\", 2)[0]")), ty: list, ..base.clone() })
            }
            Derivation::ArgumentValues => {
                let value = format!("{PART}.contains(\"=\") ? {PART}.split(\"=\", 2)[1] : \"\"");
                Some(Value { text: each(value), ty: list, ..base.clone() })
            }
            _ => None,
        };
        match value {
            Some(value) => Some(value),
            None => self.none(id, &format!("this field: no function of CEL reads {} from `{query}`", words(how))),
        }
    }

    /// The values of the argument of a name; missing if there is none.
    pub(super) fn argument(&mut self, id: NodeId, query: Value, name: &str) -> Option<Value> {
        if name.contains('=') {
            return self.none(id, "the name of an argument with `=`, which no argument has");
        }
        // An empty name is that of a part that begins with `=`: an empty part is no argument.
        let (whole, begin) = (quoted(name), quoted(&format!("{name}=")));
        let (is_named, value) = match name.chars().count() {
            0 => (format!("{PART}.startsWith(\"=\")"), format!("{PART}.substring(1)")),
            length => (
                format!("{PART} == {whole} || {PART}.startsWith({begin})"),
                format!("{PART} == {whole} ? \"\" : {PART}.substring({})", length.saturating_add(1)),
            ),
        };
        let text = format!("{}.split(\"&\").map({PART}, {is_named}, {value})", query.text);
        let guard = Some(format!("size({text}) > 0"));
        Some(Value { text, guard, ty: Type::list(Type::String), is_query: false, ..query })
    }

    /// The names of a header map, where a condition is about any or all of them: the keys of the map, which has each
    /// once. `None` if the field is another one.
    pub(super) fn header_names(&self, field: NodeId) -> Option<Value> {
        let FilterExpr::Field(index) = *self.tree.expr(field) else { return None };
        let Source::Derived(Derivation::HeaderNames, base) = self.binding.source(index) else { return None };
        let Source::Variable(variable, _) = **base else { return None };
        let variable = self.variables.get(variable as usize)?;
        let failure = if variable.optional { Failure::Missing } else { Failure::Never };
        Some(Value::new(variable.name.to_string(), Type::list(Type::String), failure))
    }
}

/// What a derivation reads.
fn words(how: Derivation) -> &'static str {
    match how {
        Derivation::HeaderNames => "a name for each line",
        Derivation::HeaderValues => "the lines of all headers as one list",
        Derivation::Cookies => "the cookies by name",
        Derivation::Arguments | Derivation::ArgumentNames | Derivation::ArgumentValues => "arguments without decoding",
        Derivation::Extension => "the extension",
        Derivation::Languages => "the languages in their order of preference",
        Derivation::MediaType => "the media type",
        Derivation::Mime => "the media type of its first bytes",
        Derivation::Form | Derivation::FormNames | Derivation::FormValues => "the fields of a form without decoding",
        Derivation::Multipart | Derivation::Parts(PartValue::Content) => "the parts of a body",
        Derivation::Parts(_) => "the headers of the parts of a body",
    }
}
