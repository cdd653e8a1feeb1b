//! Macros of libraries: which names are macros where a library is off, and the types of those that evaluate lazily.

use celero_frontend::stdlib::Library;
use celero_frontend::{Declarations, Diagnostic, Limits, Type, Variable, check, parse_with};

fn host() -> Declarations {
    let mut host = Declarations::new();
    let types = [("i", Type::Int), ("s", Type::String), ("ints", Type::list(Type::Int)), ("any", Type::Dyn)];
    for (name, ty) in types {
        host.add_variable(Variable::new(name, ty));
    }
    host
}

/// What is wrong with a text whose macros are those of the libraries that are on, or its type.
fn outcome_with(declarations: &Declarations, text: &str) -> String {
    let limits = Limits::default();
    let checked = parse_with(text, &limits, declarations.libraries()).and_then(|ast| check(ast, declarations, &limits));
    match checked {
        Ok((checked, _)) => checked.result_type().to_string(),
        Err(errors) => {
            let help = |e: &Diagnostic| e.help.iter().map(|help| format!(" ({help})")).collect::<String>();
            let lines: Vec<_> = errors.iter().map(|e| format!("{}: {}{}", e.code, e.message, help(e))).collect();
            lines.join("\n")
        }
    }
}

#[test]
fn macros_are_of_libraries() {
    let mut d = host();
    for (library, macros) in [
        (
            Library::Comprehensions,
            &[
                ("ints.all(i, x, x > i)", "all"),
                ("ints.exists(i, x, x > i)", "exists"),
                ("ints.exists_one(i, x, x > i)", "exists_one"),
                ("ints.existsOne(i, x, x > i)", "existsOne"),
                ("ints.transformList(i, x, x)", "transformList"),
                ("ints.transformMap(i, x, x > 1, x)", "transformMap"),
                ("ints.transformMapEntry(i, x, {x: i})", "transformMapEntry"),
            ][..],
        ),
        (Library::Bindings, &[("cel.bind(x, 1, x)", "cel.bind")]),
        (
            Library::Gateway,
            &[
                ("i.with(x, x)", "with"),
                ("{s: 1}.mapValues(v, v)", "mapValues"),
                ("{s: 1}.filterKeys(k, k == s)", "filterKeys"),
                ("default(i, 1)", "default"),
                ("coalesce(i, 1)", "coalesce"),
            ],
        ),
    ] {
        for (text, name) in macros {
            assert!(!outcome_with(&d, text).contains(':'), "{text}");
            d.set_library(library, false);
            let expected = format!("library-off: `{name}` is of the library `{}`, which is turned off", library.name());
            assert_eq!(outcome_with(&d, text), expected, "{text}");
            d.set_library(library, true);
        }
    }
    for library in [Library::Comprehensions, Library::Bindings, Library::Gateway] {
        d.set_library(library, false);
    }
    assert_eq!(outcome_with(&d, "ints.all(x, x > 0) && ints.map(x, x > 1, x) == [2]"), "bool");
    assert!(!outcome_with(&d, "i.with(x, x)").contains("undeclared"), "its variables are not looked at");
    // The names are then the host's.
    d.add_function("default", false, vec![Type::Int, Type::Int], Type::String);
    d.add_function("with", true, vec![Type::Int, Type::Int, Type::Int], Type::String);
    d.add_function("cel.bind", false, vec![Type::Int, Type::Int, Type::Int], Type::String);
    for text in ["default(i, 1)", "i.with(i, 1)", "cel.bind(1, i, 1)"] {
        assert_eq!(outcome_with(&d, text), "string", "{text}");
    }
}

#[test]
fn lazy_forms_have_the_types_of_their_operands() {
    for (text, expected) in [
        ("i.with(x, [x])", "list(int)"),
        ("{s: i}.mapValues(v, v > 0)", "map(string, bool)"),
        ("{s: i}.filterKeys(k, k.startsWith('a'))", "map(string, int)"),
        ("any.mapValues(v, 1)", "map(dyn, int)"),
        ("any.filterKeys(k, k > 1)", "map(dyn, dyn)"),
        ("default(i, 1)", "int"),
        ("default([], [1])", "list(int)"),
        ("default(any, 1)", "dyn"),
        ("coalesce(s)", "string"),
        ("coalesce(null)", "null_type"),
        ("coalesce(null, null)", "null_type"),
        ("coalesce(null, s, s)", "dyn"),
        ("default(i, null)", "dyn"),
        (
            "coalesce(s, i, s)",
            "branch-types: the operands of `coalesce` differ in type: `string` and \
              `int` (wrap one of them in `dyn(..)` if both types are meant)",
        ),
        ("default(nothing.at.all, 1)", "undeclared-name: undeclared reference to `nothing`"),
        ("ints.mapValues(v, v)", "not-map: `mapValues` takes a map, this is `list(int)`"),
        ("ints.filterKeys(k, true)", "not-map: `filterKeys` takes a map, this is `list(int)`"),
        ("i.filterKeys(k, true)", "not-iterable: a macro ranges over a list or a map, this is `int`"),
        ("{s: i}.filterKeys(k, k)", "not-bool: the predicate of `filterKeys` must be `bool`, this is `string`"),
        (
            "i.with(1, x)",
            "undeclared-function: undeclared function `with` (`with` is a macro, written \
              `value.with(x, expression)`)",
        ),
        (
            "coalesce()",
            "undeclared-function: undeclared function `coalesce` (`coalesce` is a macro, written `coalesce(value, ..)`)",
        ),
    ] {
        assert_eq!(outcome_with(&host(), text), expected, "{text}");
    }
}
