//! The variables of macros at a cursor, in an expression that need not be valid.

use crate::cursor::context::{OpenCall, open_calls, selected_from};
use crate::cursor::tokens::{Token, tokens};
use celero::Type;
use celero::language::{Cel, Declarations, Language as _, Limits, Variable, macro_forms};
use celero_tooling::language::Language;
use std::ops::Range;

/// A variable of a macro.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    /// Where it is declared.
    pub(crate) declared: Range<usize>,
    pub(crate) ty: Type,
    /// How the macro is written.
    pub(crate) usage: &'static str,
}

/// Returns the variables of macros that an expression at the end of a source may mention, the
/// innermost last, and the declarations with them.
pub(crate) fn locals(before: &str, declarations: &Declarations) -> (Vec<Local>, Declarations) {
    let tokens = tokens(before, Language::cel());
    let mut declarations = declarations.clone();
    let mut found = Vec::new();
    for call in open_calls(&tokens, before.len()) {
        for local in of_call(before, &tokens, &call, &declarations) {
            declarations.add_variable(Variable::new(local.name.as_str(), local.ty.clone()));
            found.push(local);
        }
    }
    (found, declarations)
}

/// Returns the type of an expression, `dyn` if it is not valid.
pub(crate) fn type_of(text: &str, declarations: &Declarations) -> Option<Type> {
    Cel.check(text, declarations, &Limits::default()).ok().map(|(checked, _)| checked.result_type().clone())
}

fn of_call(before: &str, tokens: &[Token], call: &OpenCall, declarations: &Declarations) -> Vec<Local> {
    let Some(name) = tokens.get(call.name).map(|token| token.text(before)) else { return Vec::new() };
    let complete = call.arguments.len().saturating_sub(1);
    let forms = macro_forms().filter(|form| form.name == name && form.method && form.variables > 0);
    // Of several forms the one whose variables are all written.
    let Some(form) = forms.filter(|form| form.variables <= complete).max_by_key(|form| form.variables) else {
        return Vec::new();
    };
    let text = |range: &Range<usize>| before.get(range.clone()).unwrap_or_default();
    let is_bind = name == "bind";
    if is_bind && complete < 2 {
        return Vec::new();
    }
    let from = match is_bind {
        true => call.arguments.get(1).map(text),
        false => selected_from(tokens, call.name).and_then(|range| before.get(range)),
    };
    let ty = from.and_then(|from| type_of(from, declarations)).unwrap_or(Type::Dyn);
    let mut locals = Vec::new();
    for (index, argument) in call.arguments.iter().take(form.variables).enumerate() {
        let written = text(argument);
        let name = written.trim();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Vec::new();
        }
        let blanks = written.len().saturating_sub(written.trim_start().len());
        let start = argument.start.saturating_add(blanks);
        let declared = start..start.saturating_add(name.len());
        let ty = variable_type(form.name, form.variables, index, &ty);
        locals.push(Local { name: name.to_owned(), declared, ty, usage: form.usage });
    }
    locals
}

/// Returns the type of a macro's variable: `of` is the type that the macro is called on or, of
/// `bind`, that of the value.
fn variable_type(name: &str, variables: usize, index: usize, of: &Type) -> Type {
    match (name, of) {
        ("bind" | "with", ty) => ty.clone(),
        ("optMap" | "optFlatMap", Type::Optional(inner)) => Type::clone(inner),
        ("mapValues", Type::Map(entry)) => entry.1.clone(),
        (_, Type::List(_)) if variables == 2 && index == 0 => Type::Int,
        (_, Type::List(element)) => Type::clone(element),
        (_, Type::Map(entry)) if index == 0 => entry.0.clone(),
        (_, Type::Map(entry)) => entry.1.clone(),
        _ => Type::Dyn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_the_types_of_their_macros() {
        let mut declarations = Declarations::new();
        for (name, ty) in [("l", "list(string)"), ("m", "map(string, list(int))")] {
            let ty = ty.parse().unwrap();
            declarations.add_variable(Variable::new(name, ty));
        }
        for (before, wanted) in [
            ("l.exists(x, ", "x: string"),
            ("l.all(i, x, ", "i: int, x: string"),
            ("m.exists(k, m[k].map(v, ", "k: string, v: int"),
            ("m.transformMap(k, v, v.all(n, ", "k: string, v: list(int), n: int"),
            ("cel.bind(n, 1 + 1, ", "n: int"),
            ("cel.bind(n, ", ""),
            ("l.exists(x, true) && ", ""),
            ("(l + ['a']).map( x , ", "x: string"),
            ("nothing.map(x, ", "x: dyn"),
            ("l.exists(1, ", ""),
        ] {
            let (found, _) = locals(before, &declarations);
            let shown: Vec<String> = found.iter().map(|local| format!("{}: {}", local.name, local.ty)).collect();
            assert_eq!(shown.join(", "), wanted, "{before}");
        }
    }
}
