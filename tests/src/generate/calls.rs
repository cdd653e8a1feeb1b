//! Random calls: of a row of the library's table, and of the functions that the environment declares.

use super::expression::{LOCALS, Writer, primary};
use super::rng::Rng;
use super::types::{self, Bindings};
use super::{definitions, host, literal};
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, Row, Style, TABLE};
use std::sync::Arc;

impl Writer<'_> {
    /// A call of a function of the host, or of one defined in CEL, with this result.
    pub(super) fn declared_call(&mut self, ty: &Type) -> Option<String> {
        let all = host::FUNCTIONS.iter().chain(definitions::FUNCTIONS.iter());
        let fitting: Vec<&host::Function> = all.filter(|function| function.result() == ty).collect();
        (!fitting.is_empty()).then(|| {
            let function = *self.rng.pick(&fitting);
            self.declared(function)
        })
    }

    /// A call of a function that the environment declares.
    pub(super) fn declared(&mut self, function: &host::Function) -> String {
        let args: Vec<String> = function.params().iter().map(|param| self.expr(param)).collect();
        function.call(&args)
    }

    /// A call of some row of the table with this result.
    pub(super) fn call(&mut self, ty: &Type) -> Option<String> {
        let fits = |row: &&Row| {
            let mut bindings = Bindings::new();
            types::unify(&row.result, ty, &mut bindings)
                && types::is_readable(row, &bindings)
                && row.params.iter().all(|p| types::valid(&types::substitute(p, &bindings)) || has_param(p, &bindings))
        };
        // Rows whose result can be anything fail often (an absent key, an empty optional): keep them the rarer.
        let any_result = self.rng.chance(25);
        let fitting: Vec<&Row> = TABLE
            .rows()
            .iter()
            .filter(fits)
            .filter(|row| any_result || !matches!(row.result, Type::Param(_)))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let row = self.rarest(&fitting);
        let mut bindings = Bindings::new();
        types::unify(&row.result, ty, &mut bindings);
        types::complete(self.rng, row, &mut bindings);
        Some(self.row(row, &bindings, None))
    }

    /// The least used of a few.
    pub(super) fn rarest<'r>(&mut self, rows: &[&'r Row]) -> &'r Row {
        let mut best = *self.rng.pick(rows);
        for _ in 0..4 {
            let other = *self.rng.pick(rows);
            if self.uses.rows.of(other.builtin as usize) < self.uses.rows.of(best.builtin as usize) {
                best = other;
            }
        }
        self.uses.rows.add(best.builtin as usize);
        best
    }

    /// A call of a row, with an argument that is given already or not.
    pub(super) fn row(&mut self, row: &Row, bindings: &Bindings, given: Option<(usize, String)>) -> String {
        if let ("@sortBy", [list, keys]) = (row.name, &*row.params) {
            let list = types::substitute(list, bindings);
            let (Type::List(element), Type::List(key)) = (&list, keys) else { return self.leaf(&row.result) };
            let range = given.map_or_else(|| self.expr(&list), |(_, text)| text);
            let name = *self.rng.pick(LOCALS);
            let key = self.within(&[(name, Type::clone(element))], |w| w.expr(key));
            return format!("{range}.sortBy({name}, {key})");
        }
        let mut args: Vec<String> = Vec::new();
        for (position, param) in row.params.iter().enumerate() {
            args.push(match &given {
                Some((at, text)) if *at == position => text.clone(),
                _ => self.argument(row, position, &types::substitute(param, bindings)),
            });
        }
        let call = render(row, args, self.rng.chance(50));
        if row.pure { call } else { self.tamed(&call, &row.result) }
    }

    /// Calls whose results differ, in an expression of their type whose value is known: that they differ.
    pub(super) fn tamed(&mut self, call: &str, ty: &Type) -> String {
        let (then, otherwise) = (self.leaf(ty), self.leaf(ty));
        format!("({call} != {call} ? {then} : {otherwise})")
    }

    fn argument(&mut self, row: &Row, position: usize, ty: &Type) -> String {
        if position == 1 && row.name == "_?._" {
            return (*self.rng.pick(literal::FIELDS)).to_owned();
        }
        if self.rng.chance(8)
            && let Some(name) = self.variable(&Type::Dyn)
        {
            return name;
        }
        if self.rng.chance(70)
            && let Some(text) = literal::argument(self.rng, row.builtin, position)
        {
            return primary(text);
        }
        let key = matches!(
            (row.builtin, position),
            (
                Builtin::IndexMap
                    | Builtin::OptionalIndexMap
                    | Builtin::OptionalIndexOptionalMap
                    | Builtin::IndexOptionalMap,
                1
            ) | (Builtin::InMap, 0)
        );
        if key && self.rng.chance(60) {
            return primary(literal::key(self.rng, ty));
        }
        self.expr(ty)
    }
}

/// A call of a row whose arguments are the variables `a`, `b` and so on, with the types of these,
/// random where the row takes any; and the name of the field that is selected, which is no
/// variable. The keys of a sorting are in a second list.
#[must_use]
pub fn call_with_variables(rng: &mut Rng, row: &Row) -> (String, Vec<Type>, Option<String>) {
    let mut bindings = Bindings::new();
    types::complete(rng, row, &mut bindings);
    let mut types: Vec<Type> = row.params.iter().map(|param| types::substitute(param, &bindings)).collect();
    match row.name {
        "@sortBy" => {
            if let Some(first) = types.first_mut() {
                *first = Type::list(Type::Int);
            }
            ("a.sortBy(x, b[x])".to_owned(), types, None)
        }
        "_?._" => {
            let field = *rng.pick(literal::FIELDS);
            types.truncate(1);
            (format!("a.?{field}"), types, Some(field.to_owned()))
        }
        _ => {
            let names = ["a", "b", "c", "d"].iter().take(types.len()).map(|name| (*name).to_owned());
            (render(row, names.collect(), rng.chance(50)), types, None)
        }
    }
}

/// Whether a parameter of a signature is not bound yet.
fn has_param(ty: &Type, bindings: &Bindings) -> bool {
    match ty {
        Type::Param(name) => bindings.iter().all(|(n, _)| n != name),
        Type::List(t) | Type::Optional(t) | Type::Type(t) => has_param(t, bindings),
        Type::Map(kv) => has_param(&kv.0, bindings) || has_param(&kv.1, bindings),
        _ => false,
    }
}

/// A call as source text; `member` chooses where both forms exist.
fn render(row: &Row, args: Vec<String>, member: bool) -> String {
    let mut args = args.into_iter();
    let (first, second) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    match row.name {
        "!_" => format!("(!{first})"),
        "-_" => format!("(-{first})"),
        "_[_]" => format!("{first}[{second}]"),
        "_[?_]" => format!("{first}[?{second}]"),
        "_?._" => format!("{first}.?{second}"),
        "@in" => format!("({first} in {second})"),
        name if name.starts_with('_') => format!("({first} {} {second})", name.trim_matches('_')),
        name => {
            let member = match row.style {
                Style::Global => false,
                Style::Member => true,
                Style::Both => member,
            };
            let count = row.params.len();
            let all: Arc<[String]> = [first, second].into_iter().take(count).chain(args).collect();
            match (&*all, member) {
                ([receiver, rest @ ..], true) => format!("{receiver}.{name}({})", rest.join(", ")),
                (all, _) => format!("{name}({})", all.join(", ")),
            }
        }
    }
}
