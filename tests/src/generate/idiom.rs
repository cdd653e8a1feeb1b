//! What rules are made of that random nesting of functions rarely gives: comparisons with sets of literals, headers,
//! networks, every macro over every kind of range, each kind of error. All are conditions.

use super::expression::{LOCALS, Writer, names};
use super::idiom_table::{Idiom, PLAIN, failing, of};
use super::{Group, coverage, definitions, host, types};
use celero_frontend::Type;
use std::sync::LazyLock;

/// Steps that [`beyond`] exceeds in every tier, though tiers count different steps.
pub(super) const FEW_STEPS: u32 = 300;

use Group::{Helper, Operation as Op};

/// The macros that iterate, each with the form of its body and its name in the table.
const FOLDS: &[(&str, Body, &str)] = &[
    ("all", Body::Test(1), "all"),
    ("all", Body::Test(2), "all 2"),
    ("exists", Body::Test(1), "exists"),
    ("exists", Body::Test(2), "exists 2"),
    ("exists_one", Body::Test(1), "exists_one"),
    ("existsOne", Body::Test(2), "exists_one 2"),
    ("filter", Body::Test(1), "filter"),
    ("map", Body::Transform(1, false), "map()"),
    ("map", Body::Transform(1, true), "map() filtered"),
    ("transformList", Body::Transform(2, false), "transformList"),
    ("transformList", Body::Transform(2, true), "transformList filtered"),
    ("transformMap", Body::Transform(2, false), "transformMap"),
    ("transformMap", Body::Transform(2, true), "transformMap filtered"),
    ("transformMapEntry", Body::Entry(false), "transformMapEntry"),
    ("transformMapEntry", Body::Entry(true), "transformMapEntry filtered"),
    ("mapValues", Body::Values, "mapValues"),
    ("filterKeys", Body::Test(1), "filterKeys"),
];

#[derive(Clone, Copy)]
enum Body {
    /// With this number of variables.
    Test(usize),
    /// With this number of variables, and whether there is a filter.
    Transform(usize, bool),
    /// With a filter or not.
    Entry(bool),
    /// With the value of an entry as its variable.
    Values,
}

/// An idiom of any kind.
enum Any {
    Plain(&'static Idiom),
    /// A macro over a range.
    Fold(&'static (&'static str, Body, &'static str), &'static str),
    /// A call of a function that the environment declares: of the host, or defined in CEL.
    Call(Group, &'static host::Function),
    /// Tests of the elements of a list that lies in the host.
    Elements(Type),
}

static ALL: LazyLock<Vec<Any>> = LazyLock::new(|| {
    let mut all: Vec<Any> = PLAIN.iter().map(Any::Plain).collect();
    for fold in FOLDS {
        all.extend(coverage::ranges(fold.2).iter().map(|range| Any::Fold(fold, range)));
    }
    all.extend(host::FUNCTIONS.iter().map(|function| Any::Call(Group::Host, function)));
    all.extend(definitions::FUNCTIONS.iter().map(|function| Any::Call(Group::Defined, function)));
    all.extend(coverage::ELEMENTS.map(Any::Elements));
    all
});

/// How many idioms there are.
pub(super) fn count() -> usize {
    ALL.len()
}

/// The lines of the table that an idiom is there for.
pub(super) fn lines(index: usize) -> Vec<(Group, String)> {
    match ALL.get(index) {
        Some(Any::Plain((lines, _))) => lines.iter().map(|(group, name)| (*group, (*name).to_owned())).collect(),
        Some(Any::Fold((_, _, name), range)) => {
            let helper = if matches!(*name, "mapValues" | "filterKeys") { "map_only" } else { "range_items" };
            vec![(Group::Syntax, format!("{name} over {range}")), (Helper, helper.to_owned())]
        }
        Some(Any::Call(group, function)) => vec![(*group, function.name.to_string())],
        Some(Any::Elements(ty)) => ["elements", "seq_size", "seq_at", "seq_has", "seq_equal"]
            .map(|op| (Op, op.to_owned()))
            .into_iter()
            .chain([(Group::Element, ty.to_string())])
            .collect(),
        None => Vec::new(),
    }
}

/// Whether there is such a line only where native code reads fields in place.
pub(super) fn in_place(group: Group, name: &str) -> bool {
    group == Group::Element || IN_PLACE.contains(&name)
}

/// Operations and helpers that there are only where native code reads fields in place; `seq_size` is also the size
/// of bytes.
const IN_PLACE: &[&str] = &[
    "header",
    "require",
    "decode",
    "is_present",
    "in_cidr",
    "ip_text",
    "header_get",
    "header_text",
    "text_decode",
    "elements",
    "cursor",
    "seq_size",
    "seq_at",
    "seq_has",
    "seq_equal",
    "entry",
    "has_entry",
    "entry_value",
    "entry_of_text",
    "entry_of_number",
    "bytes_starts_with",
    "bytes_ends_with",
    "string_matches",
    "bytes_equal",
    "bytes_compare",
];

/// One that was rarely written before, or that the run needs.
pub(super) fn write(w: &mut Writer<'_>) -> String {
    let mut index = w.uses.idioms.rarest(w.rng, 6);
    if !w.uses.wanted.idioms.is_empty() && w.rng.chance(85) {
        index = *w.rng.pick(&w.uses.wanted.idioms);
    }
    w.uses.idioms.add(index);
    match ALL.get(index) {
        Some(Any::Plain((_, idiom))) => idiom(w),
        Some(Any::Fold((name, body, _), range)) => fold(w, name, *body, range),
        Some(Any::Call(_, function)) => {
            let call = w.declared(function);
            if *function.result() == Type::Bool { call } else { format!("({call} == {})", w.expr(function.result())) }
        }
        Some(Any::Elements(ty)) => elements(w, ty),
        None => String::new(),
    }
}

/// A condition that takes more than [`FEW_STEPS`] steps, and little beside that.
pub(super) fn beyond(w: &mut Writer<'_>) -> String {
    let long = *w.rng.pick(&[
        "lists.range(2000).all(i, i >= 0)",
        "lists.range(50).all(i, lists.range(50).all(j, i + j >= 0))",
        "lists.range(2000).exists(i, i < 0)",
        "lists.range(2000).exists_one(i, i < 0)",
        "(lists.range(2000).map(i, i * 2).size() == 2000)",
        "(lists.range(2000).filter(i, i < 5).size() == 5)",
        "(lists.range(2000).transformMap(i, v, v).size() == 2000)",
        "(lists.range(2000).map(i, {'a': i}).size() == 2000)",
    ]);
    match w.rng.below(6) {
        0 => format!("({long} ? 1 : 2)"),
        1 => format!("(host.yes() && {long})"),
        2 => format!("[{long}]"),
        3 => format!("({} ? {long} : true)", w.leaf(&Type::Bool)),
        4 => format!("!{long}"),
        _ => long.into(),
    }
}

/// A test of the elements of a list of the host, or of its size, an element, the search for one.
fn elements(w: &mut Writer<'_>, ty: &Type) -> String {
    let list = of(w, &Type::list(ty.clone()));
    match w.rng.below(10) {
        0 => return format!("({list}.size() > {})", w.expr(&Type::Int)),
        1 => return format!("({list}[{}] == {})", w.rng.below(4), w.expr(ty)),
        2 => return format!("({list}[{}] == {})", w.expr(&Type::Int), of(w, ty)),
        3 => return format!("({} in {list})", w.expr(ty)),
        9 => return format!("({list} {} {})", w.rng.pick(&["==", "!="]), of(w, &Type::list(ty.clone()))),
        // A variable or a literal has the type of the elements, not `dyn`.
        4 => return format!("({} in {list})", w.leaf(ty)),
        _ => {}
    }
    let name = *w.rng.pick(LOCALS);
    let test = *w.rng.pick(&["all", "exists", "exists_one"]);
    let index = w.rng.chance(30).then_some(("k", Type::Int));
    let vars: Vec<_> = index.into_iter().chain([(name, ty.clone())]).collect();
    let body = w.within(&vars, |w| match w.rng.below(10) {
        0..3 => w.expr(&Type::Bool),
        3 => format!("({name} == {})", of(w, ty)),
        4 => format!("(dyn({name}) == {} || {name} != {})", w.expr(&Type::Dyn), w.leaf(ty)),
        5 => format!("({name} in [{}, {}])", w.leaf(ty), w.leaf(ty)),
        6 => {
            let other = of(w, &Type::list(ty.clone()));
            let inner = w.within(&[("v", ty.clone())], |w| w.expr(&Type::Bool));
            format!("{other}.{test}(v, v == {name} || {inner})")
        }
        7 => format!("gen.same({name}, {})", of(w, ty)),
        8 => format!("([{name}, {name}].size() == 2 && {})", failing(w)),
        _ => match ty {
            Type::Bool => format!("({name} ? {} : !{name})", failing(w)),
            Type::Int => format!("(100 / {name} + {name} > {name} % 7)"),
            Type::Uint => format!("(100u / {name} + {name} > {name} % 7u)"),
            Type::Double => format!("(1.5 / {name} + {name} > -{name})"),
            Type::String => format!("({name}.startsWith('a') || int({name}) == 42 || {name} + 'c' == 'abc')"),
            _ => format!("({name}.size() > 1 || string({name}) == 'abc' || {name} + b'c' == b'abc')"),
        },
    });
    format!("{list}.{test}({}, {body})", names(&vars))
}

/// A macro over a list, a map, or one of these as a `dyn`.
fn fold(w: &mut Writer<'_>, name: &str, body: Body, over: &str) -> String {
    let element = types::any(w.rng, 1);
    let map = match over {
        "a list" => false,
        "a map" => true,
        _ => w.rng.chance(50),
    };
    let key = if map { types::key(w.rng) } else { Type::Int };
    let range = w.expr(&if map { Type::map(key.clone(), element.clone()) } else { Type::list(element.clone()) });
    let unknown = over == "a dyn";
    let range = if unknown { format!("dyn({range})") } else { range };
    let known = |ty: Type| if unknown { Type::Dyn } else { ty };
    let two = match body {
        Body::Test(count) | Body::Transform(count, _) => count == 2,
        Body::Entry(_) => true,
        Body::Values => false,
    };
    let first = *w.rng.pick(LOCALS);
    let vars = if two {
        vec![("k", known(key)), (first, known(element))]
    } else {
        let keys = map && !matches!(body, Body::Values);
        vec![(first, known(if keys { key } else { element }))]
    };
    let list = names(&vars);
    w.within(&vars, |w| {
        let filter = |w: &mut Writer<'_>, filtered: bool| {
            if filtered { format!("{}, ", w.expr(&Type::Bool)) } else { String::new() }
        };
        match body {
            Body::Test(_) => {
                let test = w.expr(&Type::Bool);
                if matches!(name, "filter" | "filterKeys") {
                    format!("({range}.{name}({list}, {test}).size() == 1)")
                } else {
                    format!("{range}.{name}({list}, {test})")
                }
            }
            Body::Transform(_, filtered) => {
                let (filter, ty) = (filter(w, filtered), types::any(w.rng, 1));
                format!("({range}.{name}({list}, {filter}{}).size() == 1)", w.expr(&ty))
            }
            Body::Values => {
                let ty = types::any(w.rng, 1);
                format!("({range}.{name}({list}, {}).size() == 1)", w.expr(&ty))
            }
            Body::Entry(filtered) => {
                let (filter, key) = (filter(w, filtered), types::key(w.rng));
                let (key, value) = (w.expr(&key), w.expr(&Type::Int));
                format!("({range}.{name}({list}, {filter}{{{key}: {value}}}).size() == 1)")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_for_lines_that_are_in_the_table() {
        let mut coverage = coverage::Coverage::default();
        coverage.expect(Group::Host, host::FUNCTIONS.iter().map(|f| f.name.to_string().into()));
        coverage.expect(Group::Defined, definitions::FUNCTIONS.iter().map(|f| f.name.to_string().into()));
        for (group, name) in (0..count()).flat_map(lines) {
            assert!(coverage.has(group, &name), "{group:?} {name}");
        }
    }
}
