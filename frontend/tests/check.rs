//! The checker on text: what type an expression has, or what is said about it.
#![expect(clippy::unwrap_used, clippy::panic, clippy::string_slice, reason = "tests")]

use celero_frontend::stdlib::Library;
use celero_frontend::{Checked, Declarations, Diagnostic, Expr, Limits, NodeId, Overload, Reference, Type, Variable};
use std::fmt::Write as _;
use std::sync::Arc;

fn parse(text: &str) -> celero_frontend::Ast {
    celero_frontend::parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn check(declarations: &Declarations, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    celero_frontend::check(parse(text), declarations, &Limits::default()).map(|(checked, _)| checked)
}

/// The result type; or, a line each, `code at "text": message (help)`.
fn outcome(declarations: &Declarations, text: &str) -> String {
    let errors = match check(declarations, text) {
        Ok(checked) => return checked.result_type().to_string(),
        Err(errors) => errors,
    };
    let mut out = String::new();
    for error in errors {
        let at = &text[error.span.start as usize..error.span.end as usize];
        let separator = if out.is_empty() { "" } else { "\n" };
        write!(out, "{separator}{} at \"{at}\": {}", error.code, error.message).unwrap();
        for help in error.help {
            write!(out, " ({help})").unwrap();
        }
    }
    out
}

/// Compares all rows before it fails, so that one run shows everything.
fn table(declarations: &Declarations, rows: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in rows {
        let actual = outcome(declarations, text);
        if actual != *expected {
            write!(wrong, "\n{text}\n  expected {expected}\n  actual   {actual}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn variable(declarations: &mut Declarations, name: &str, ty: Type) -> u32 {
    declarations.add_variable(Variable { name: name.into(), ty, optional: false })
}

fn param(name: &str) -> Type {
    Type::Param(name.into())
}

fn wrapper(ty: Type) -> Type {
    Type::Wrapper(Arc::new(ty))
}

/// Variables of every kind, and some functions of a host.
fn host() -> Declarations {
    let mut d = Declarations::new();
    variable(&mut d, "i", Type::Int);
    variable(&mut d, "u", Type::Uint);
    variable(&mut d, "s", Type::String);
    variable(&mut d, "any", Type::Dyn);
    variable(&mut d, "t", Type::Timestamp);
    variable(&mut d, "ints", Type::list(Type::Int));
    variable(&mut d, "tags", Type::map(Type::String, Type::list(Type::String)));
    variable(&mut d, "ports", Type::map(Type::Int, Type::String));
    variable(&mut d, "maybe", Type::optional(Type::map(Type::String, Type::Int)));
    variable(&mut d, "wi", wrapper(Type::Int));
    variable(&mut d, "ws", wrapper(Type::String));
    variable(&mut d, "request.path", Type::String);
    variable(&mut d, "request.method", Type::String);
    variable(&mut d, "request.headers", Type::map(Type::String, Type::String));
    d.add_function("fn", false, vec![Type::String, Type::Int], Type::String);
    d.add_function("math.twice", false, vec![Type::Int], Type::Int);
    d.add_function("size", false, vec![Type::Timestamp], Type::String);
    d.add_function("pick", true, vec![Type::list(param("T")), Type::Int], param("T"));
    let tuple = |a, b, c| Type::Opaque("tuple".into(), [a, b, c].into());
    d.add_function("tuple", false, vec![param("T"), param("U"), param("V")], tuple(param("T"), param("U"), param("V")));
    let same = || tuple(param("T"), param("T"), param("T"));
    d.add_function("sort", false, vec![same()], same());
    d
}

#[test]
fn literals_and_aggregates() {
    table(
        &Declarations::new(),
        &[
            ("null", "null_type"),
            ("true", "bool"),
            ("1", "int"),
            ("1u", "uint"),
            ("1.5", "double"),
            ("'a'", "string"),
            ("b'a'", "bytes"),
            ("[]", "list(dyn)"),
            ("{}", "map(dyn, dyn)"),
            ("[1, 2]", "list(int)"),
            ("[1, 'a']", "list(dyn)"),
            ("[1, 'a', 2]", "list(dyn)"),
            ("{'abc': 123}", "map(string, int)"),
            ("{1: 'a', 2u: 'b'}", "map(dyn, string)"),
            ("{1: 'a', 2: 1}", "map(int, dyn)"),
            ("[{1: dyn(1)}, {dyn(1): 1}]", "list(map(dyn, dyn))"),
            ("[[1], [dyn(1)]]", "list(list(dyn))"),
            ("[[[[[]]]], [], [[[]]]]", "list(list(list(list(list(dyn)))))"),
            ("[[], [1]]", "list(list(int))"),
            ("[int, string]", "list(type(dyn))"),
            ("[?optional.of(1), 2]", "list(int)"),
            ("[?dyn(1)]", "list(dyn)"),
            ("{?'a': optional.of(1)}", "map(string, int)"),
            (
                "[?1]",
                "not-optional at \"1\": an entry marked `?` must be an optional, this is `int` (wrap it in `optional.of(..)`)",
            ),
            (
                "{?'a': 1}",
                "not-optional at \"1\": an entry marked `?` must be an optional, this is `int` (wrap it in `optional.of(..)`)",
            ),
        ],
    );
}

/// The deduced types of the conformance suite that need no messages.
#[test]
fn types_are_deduced_as_the_suite_says() {
    table(
        &host(),
        &[
            ("['foo'][0]", "string"),
            ("('foo' + 'bar').startsWith('foo')", "bool"),
            ("fn('abc', 123)", "string"),
            ("[optional.none(), optional.of(1)]", "list(optional_type(int))"),
            ("[optional.of(1), optional.of(dyn(1))]", "list(optional_type(dyn))"),
            ("true ? optional.of(dyn(1)) : optional.of(1)", "optional_type(dyn)"),
            ("([] + ints + [])[0]", "int"),
            ("[wi, ws]", "list(dyn)"),
            ("[wi, i]", "list(wrapper(int))"),
            ("[i, wi]", "list(wrapper(int))"),
            ("[wi, i, dyn(1)]", "list(dyn)"),
            ("wi + 1", "int"),
            ("wi == null", "bool"),
            ("false ? wi : null", "wrapper(int)"),
            ("true ? wi : 42", "wrapper(int)"),
            ("[tuple(1, 2u, 3.0), tuple(dyn(1), dyn(2u), dyn(3.0))][0]", "tuple(dyn, dyn, dyn)"),
            ("sort(tuple(dyn(1), 2u, 3.0))", "tuple(dyn, dyn, dyn)"),
            ("tuple(1, 2u, 3.0) == tuple(1, dyn(2u), dyn(3.0))", "bool"),
            ("tuple(dyn(1), dyn(2u), 3.0) == tuple(1, 2u, 3.0)", "bool"),
            ("[t, null][0]", "google.protobuf.Timestamp"),
            ("[optional.of(1), null][0]", "optional_type(int)"),
        ],
    );
}

#[test]
fn what_dyn_flows_into_is_dyn() {
    table(
        &host(),
        &[
            ("[1] + any", "list(dyn)"),
            ("([1] + any)[0]", "dyn"),
            ("any + [1]", "list(dyn)"),
            ("([] + any)[0] + 1", "int"),
            ("any[0]", "dyn"),
            ("any.a.b", "dyn"),
            ("has(any.a)", "bool"),
            ("any.?a", "optional_type(dyn)"),
            ("any[?0]", "optional_type(dyn)"),
            ("any.orValue(1)", "dyn"),
            ("any + any", "dyn"),
            ("any < 1", "bool"),
            ("any && any", "bool"),
            ("any ? 1 : any", "dyn"),
            ("any in [1]", "bool"),
            ("1 in any", "bool"),
            ("any == 1 && 'a' == any", "bool"),
            ("-any", "dyn"),
            ("size(any)", "dyn"),
            ("any.size()", "int"),
            ("any.pick(1)", "dyn"),
            ("any.map(x, x + 1)", "list(int)"),
            ("any.map(x, x)", "list(dyn)"),
        ],
    );
}

#[test]
fn operators() {
    table(
        &host(),
        &[
            ("1 + 2 * 3 - 4 / 5 % 6", "int"),
            ("t - t", "google.protobuf.Duration"),
            ("t + duration('1s')", "google.protobuf.Timestamp"),
            ("b'a' + b'b'", "bytes"),
            ("[1] + [2]", "list(int)"),
            ("-1.5", "double"),
            ("!(1 < 2u || 1.5 >= 2)", "bool"),
            ("1 in ints && 's' in tags", "bool"),
            ("ints[0]", "int"),
            ("tags['a'][0]", "string"),
            ("ports[443]", "string"),
            ("maybe['a']", "optional_type(int)"),
            ("ints[?0]", "optional_type(int)"),
            ("maybe[?'a'].orValue(0)", "int"),
            ("[] == [1] && {} == {1: 2} && int == type(1)", "bool"),
            ("i ? 1 : 2", "not-bool at \"i\": the condition of `?:` must be `bool`, this is `int`"),
            (
                "i && s || true",
                "not-bool at \"i\": an operand of `&&` must be `bool`, this is `int`\nnot-bool at \"s\": an operand of `&&` must be `bool`, this is `string`",
            ),
            (
                "true ? 1 : 'a'",
                "branch-types at \"?\": the branches of `?:` differ in type: `int` and `string` (wrap one of them in `dyn(..)` if both types are meant)",
            ),
            (
                "1 + 1u",
                "no-matching-overload at \"+\": no overload of `+` fits `int + uint` (convert one side with `int(..)`, `uint(..)` or `double(..)`)",
            ),
            (
                "i == u",
                "no-matching-overload at \"==\": no overload of `==` fits `int == uint` (convert one side with `int(..)`, `uint(..)` or `double(..)`)",
            ),
            (
                "s != 1",
                "no-matching-overload at \"!=\": no overload of `!=` fits `string != int` (values of these types are never equal)",
            ),
            (
                "s + 1",
                "no-matching-overload at \"+\": no overload of `+` fits `string + int` (convert to text with `string(..)`)",
            ),
            (
                "s * 2",
                "no-matching-overload at \"*\": no overload of `*` fits `string * int` (possible are `int * int`)",
            ),
            (
                "-u",
                "no-matching-overload at \"-\": no overload of `-` fits `-uint` (a `uint` has no negative: convert it with `int(..)`)",
            ),
            (
                "1.5 % 2.0",
                "no-matching-overload at \"%\": no overload of `%` fits `double % double` (`%` is for `int` and `uint` only)",
            ),
            ("!i", "no-matching-overload at \"!\": no overload of `!` fits `!int` (possible are `!bool`)"),
            (
                "ints['a']",
                "no-matching-overload at \"['a']\": no overload of `[]` fits `list(int)[string]` (possible are `list(A)[int]`, `map(A, B)[A]`, `optional_type(list(A))[int]`, `optional_type(map(A, B))[A]`)",
            ),
            (
                "1 in s",
                "no-matching-overload at \"in\": no overload of `in` fits `int in string` (possible are `A in list(A)`, `A in map(A, B)`)",
            ),
            (
                "ints.?a",
                "no-matching-overload at \"a\": no overload of `.?` fits `list(int).?field` (possible are `map(string, A).?field`, `optional_type(map(string, A)).?field`)",
            ),
            (
                "null == 1",
                "no-matching-overload at \"==\": no overload of `==` fits `null_type == int` (values of these types are never equal)",
            ),
        ],
    );
}

#[test]
fn functions() {
    table(
        &host(),
        &[
            ("size('a') + 'a'.size()", "int"),
            ("size(t)", "string"),
            ("math.twice(2)", "int"),
            ("ints.pick(0)", "int"),
            ("[].pick(0)", "dyn"),
            ("optional.none()", "optional_type(dyn)"),
            ("optional.none().orValue('a')", "string"),
            ("optional.of(1).or(optional.none())", "optional_type(int)"),
            ("type(type(1))", "type(type(int))"),
            ("cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))", "bool"),
            ("'a'.matches('b') && matches('a', 'b')", "bool"),
            ("sise('a')", "undeclared-function at \"sise\": undeclared function `sise` (did you mean `size`?)"),
            (
                "math.twise(1)",
                "undeclared-function at \"twise\": undeclared function `math.twise` (did you mean `math.twice`?)",
            ),
            (
                "s.startswith('a')",
                "undeclared-function at \"startswith\": undeclared function `startswith` (did you mean `startsWith`?)",
            ),
            ("nothing.frobnicate()", "undeclared-name at \"nothing\": undeclared reference to `nothing`"),
            ("s.frobnicate()", "undeclared-function at \"frobnicate\": undeclared function `frobnicate`"),
            (
                "ints.exists(x)",
                "undeclared-function at \"exists\": undeclared function `exists` (`exists` is a macro, written `range.exists(x, predicate)`)",
            ),
            (
                "startsWith('a', 'b')",
                "call-form at \"startsWith\": `startsWith` is called on a value (write `x.startsWith(..)`)",
            ),
            ("s.duration()", "call-form at \"duration\": `duration` is not called on a value (write `duration(x)`)"),
            (
                "s.startsWith(1)",
                "no-matching-overload at \"startsWith\": no overload of `startsWith` fits `string.startsWith(int)` (possible are `string.startsWith(string)`)",
            ),
            (
                "fn('a')",
                "no-matching-overload at \"fn\": no overload of `fn` fits `fn(string)` (possible are `fn(string, int)`)",
            ),
            (
                "int(b'a')",
                "no-matching-overload at \"int\": no overload of `int` fits `int(bytes)` (possible are `int(int)`, `int(uint)`, `int(double)`, `int(string)`, `int(google.protobuf.Timestamp)`)",
            ),
        ],
    );
}

#[test]
fn fields() {
    table(
        &host(),
        &[
            ("tags.a", "list(string)"),
            ("tags.a[0]", "string"),
            ("has(tags.a)", "bool"),
            ("tags.?a", "optional_type(list(string))"),
            ("maybe.a", "optional_type(int)"),
            ("maybe.?a.orValue(1)", "int"),
            ("has(maybe.a)", "bool"),
            ("[].map(x, x.a)", "list(dyn)"),
            ("{}.a", "dyn"),
            ("i.a", "no-fields at \"a\": a value of type `int` has no field `a`"),
            ("has(s.a)", "no-fields at \"a\": a value of type `string` has no field `a`"),
            ("int.max", "no-fields at \"max\": a value of type `type(int)` has no field `max`"),
            ("ports.a", "no-fields at \"a\": a value of type `map(int, string)` has no key `\"a\"`"),
            ("maybe.a.b", "no-fields at \"b\": a value of type `int` has no field `b`"),
            ("Foo{a: 1}", "undeclared-type at \"Foo\": undeclared type `Foo`"),
            ("net.IQ{}", "undeclared-type at \"net.IQ\": undeclared type `net.IQ` (did you mean `net.IP`?)"),
        ],
    );
}

#[test]
fn macros() {
    table(
        &host(),
        &[
            ("ints.all(x, x > 0) && ints.exists(x, x > 0) && ints.exists_one(x, x > 0)", "bool"),
            ("tags.all(k, v, k in v)", "bool"),
            ("ints.filter(x, x > 0)", "list(int)"),
            ("ports.filter(k, k > 0)", "list(int)"),
            ("ints.map(x, string(x))", "list(string)"),
            ("ints.map(x, x > 0, [x])", "list(list(int))"),
            ("tags.map(k, k)", "list(string)"),
            ("['a'].transformList(i, x, [i])", "list(list(int))"),
            ("tags.transformList(k, v, v[0])", "list(string)"),
            ("['a'].transformMap(i, x, x)", "map(int, string)"),
            ("tags.transformMap(k, v, size(v) > 1, size(v))", "map(string, int)"),
            ("tags.transformMapEntry(k, v, {v[0]: k})", "map(string, string)"),
            ("any.transformMap(k, v, 1)", "map(dyn, int)"),
            ("ints.transformMapEntry(i, x, any)", "map(dyn, dyn)"),
            ("cel.bind(x, [1], x + x)", "list(int)"),
            ("cel.bind(x, 1, cel.bind(x, 'a', x))", "string"),
            ("ints.map(x, ints.map(y, x + y))", "list(list(int))"),
            ("[].map(x, x + 1)", "list(int)"),
            ("maybe.optMap(m, m.size())", "optional_type(int)"),
            ("maybe.optFlatMap(m, m.?a)", "optional_type(int)"),
            ("any.optMap(m, m.size())", "optional_type(int)"),
            ("any.optFlatMap(m, m)", "dyn"),
            ("i.map(x, x)", "not-iterable at \"i\": a macro ranges over a list or a map, this is `int`"),
            ("ints.all(x, x)", "not-bool at \"x\": the predicate of `all` must be `bool`, this is `int`"),
            ("ints.map(x, x, x)", "not-bool at \"x\": the predicate of `map` must be `bool`, this is `int`"),
            (
                "ints.transformMapEntry(i, x, x)",
                "not-map at \"x\": the transform of `transformMapEntry` must be a map, this is `int`",
            ),
            (
                "i.optMap(x, x)",
                "not-optional at \"i\": the target of `optMap` must be an optional, this is `int` (wrap it in `optional.of(..)`)",
            ),
            (
                "maybe.optFlatMap(x, 1)",
                "not-optional at \"1\": the mapping of `optFlatMap` must be an optional, this is `int` (wrap it in `optional.of(..)`)",
            ),
            ("x.map(x, x)", "undeclared-name at \"x\": undeclared reference to `x`"),
        ],
    );
}

#[test]
fn names_that_are_not_declared() {
    table(
        &host(),
        &[
            ("request.path", "string"),
            ("request.headers.host", "string"),
            ("nothing", "undeclared-name at \"nothing\": undeclared reference to `nothing`"),
            ("nothing.below", "undeclared-name at \"nothing\": undeclared reference to `nothing`"),
            ("port", "undeclared-name at \"port\": undeclared reference to `port` (did you mean `ports`?)"),
            (
                "request",
                "undeclared-name at \"request\": undeclared reference to `request` (`request` is only the start of declared names: `request.headers`, `request.method`, `request.path`)",
            ),
            (
                "request.pth",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            (
                "request.pth.x.y",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            (
                "request.query",
                "undeclared-name at \"query\": undeclared reference to `request.query` (declared are `request.headers`, `request.method`, `request.path`)",
            ),
            (
                "reqest.path",
                "undeclared-name at \"reqest\": undeclared reference to `reqest` (did you mean `request.path`?)",
            ),
            (
                "has(request.pth)",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            ("size", "undeclared-name at \"size\": undeclared reference to `size` (`size` is a function: call it)"),
            // One mistake is reported once.
            (
                "size(nothing.a + nothing[0]).foo",
                "undeclared-name at \"nothing\": undeclared reference to `nothing`\nundeclared-name at \"nothing\": undeclared reference to `nothing`",
            ),
        ],
    );
}

fn root_reference(declarations: &Declarations, text: &str) -> Reference {
    let checked = check(declarations, text).unwrap();
    checked.reference(checked.ast().root()).clone()
}

#[test]
fn containers_are_searched_innermost_first() {
    let mut d = Declarations::new();
    let outer = variable(&mut d, "y", Type::String);
    let middle = variable(&mut d, "com.y", Type::Bool);
    let inner = variable(&mut d, "com.example.y", Type::map(Type::String, Type::Int));
    let deep = variable(&mut d, "y.z.w", Type::Bytes);
    d.add_function("com.example.f", false, vec![Type::Int], Type::Bool);
    d.add_function("f", false, vec![Type::Int], Type::String);
    assert_eq!(root_reference(&d, "y"), Reference::Variable(outer));
    assert_eq!(root_reference(&d, "com.y"), Reference::Variable(middle));
    table(&d, &[("f(1)", "string"), ("com.example.f(1)", "bool")]);
    d.set_container("com.example");
    assert_eq!(root_reference(&d, "y"), Reference::Variable(inner));
    assert_eq!(root_reference(&d, ".y"), Reference::Variable(outer));
    assert_eq!(root_reference(&d, "example.y"), Reference::Variable(inner));
    assert_eq!(root_reference(&d, ".y.z.w"), Reference::Variable(deep));
    // The outer scope's longer `y.z.w` comes before the inner scope's `y`.
    assert_eq!(root_reference(&d, "y.z.w"), Reference::Variable(deep));
    table(
        &d,
        &[
            ("y.z", "int"),
            ("y.z.v", "no-fields at \"v\": a value of type `int` has no field `v`"),
            ("f(1)", "bool"),
            (".f(1)", "string"),
            ("example.f(1)", "bool"),
            (".example.f(1)", "undeclared-name at \"example\": undeclared reference to `example`"),
            (
                "com.example.nothing",
                "undeclared-name at \"nothing\": undeclared reference to `com.example.nothing` (declared are `com.example.y`)",
            ),
        ],
    );
    d.set_container("com.other");
    assert_eq!(root_reference(&d, "y"), Reference::Variable(middle));
}

#[test]
fn the_longest_name_wins_within_a_scope() {
    let mut d = Declarations::new();
    variable(&mut d, "a", Type::map(Type::String, Type::Dyn));
    let long = variable(&mut d, "a.b.c", Type::String);
    assert_eq!(root_reference(&d, "a.b.c"), Reference::Variable(long));
    assert_eq!(root_reference(&d, "has(a.b.c)"), Reference::Variable(long));
    table(&d, &[("a.b.c", "string"), ("a.b", "dyn"), ("has(a.b.c)", "bool"), ("has(a.b)", "bool")]);
    assert_eq!(root_reference(&d, "has(a.b)"), Reference::None);
}

#[test]
fn macro_variables_shadow_declared_names() {
    let mut d = Declarations::new();
    d.set_container("com.example");
    variable(&mut d, "com.example.y", Type::Int);
    variable(&mut d, "com.example.y.z", Type::Int);
    variable(&mut d, "y", Type::String);
    variable(&mut d, "y.z", Type::String);
    d.add_function("y.f", false, vec![], Type::Bool);
    table(
        &d,
        &[
            ("['a'].map(y, y)", "list(string)"),
            ("[1u].map(y, .y)", "list(string)"),
            ("[{'z': 0u}].map(y, y.z)", "list(uint)"),
            ("[{'z': 0u}].map(y, .y.z)", "list(string)"),
            ("y.f()", "bool"),
            ("[1].map(y, .y.f())", "list(bool)"),
            ("[1].map(y, y.f())", "undeclared-function at \"f\": undeclared function `f`"),
        ],
    );
}

#[test]
fn types_are_values() {
    let d = host();
    for (text, ty) in [
        ("int", Type::Int),
        ("null_type", Type::Null),
        ("list", Type::list(Type::Dyn)),
        ("map", Type::map(Type::Dyn, Type::Dyn)),
        ("type", Type::Type(Arc::new(Type::Dyn))),
        ("optional_type", Type::optional(Type::Dyn)),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("google.protobuf.Duration", Type::Duration),
        ("net.IP", Type::Opaque("net.IP".into(), Arc::new([]))),
        ("net.CIDR", Type::Opaque("net.CIDR".into(), Arc::new([]))),
    ] {
        assert_eq!(root_reference(&d, text), Reference::Type(ty.clone()), "{text}");
        assert_eq!(outcome(&d, text), format!("type({ty})"));
    }
    assert_eq!(outcome(&d, "has(net.IP)"), "undeclared-name at \"net\": undeclared reference to `net`");
}

/// The overloads a call may mean, by the name of the variant.
fn overloads(declarations: &Declarations, text: &str) -> String {
    match root_reference(declarations, text) {
        Reference::Call { overloads, receiver } => {
            let names: Vec<String> = overloads
                .iter()
                .map(|o| match o {
                    Overload::Builtin(b) => format!("{b:?}"),
                    other => format!("{other:?}"),
                })
                .collect();
            format!("{}{}", if receiver { "receiver " } else { "" }, names.join(" "))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn calls_refer_to_the_overloads_that_may_apply() {
    let d = host();
    for (text, expected) in [
        ("1 + 2", "AddInt"),
        ("1 + any", "AddInt"),
        ("-any", "NegInt NegDouble"),
        ("'a'.size()", "receiver SizeString"),
        ("size('a')", "SizeString"),
        ("size(any)", "SizeString SizeBytes SizeList SizeMap Host(2)"),
        ("math.twice(1)", "Host(1)"),
        ("optional.of(1)", "OptionalOf"),
        ("ints[0]", "IndexList"),
        ("any[0]", "IndexList IndexMap IndexOptionalList IndexOptionalMap"),
        ("tags.?a", "OptionalSelectMap"),
        ("maybe[?'a']", "OptionalIndexOptionalMap"),
        ("1 < any", "LessInt LessIntUint LessIntDouble"),
        ("ints.pick(0)", "receiver Host(3)"),
    ] {
        assert_eq!(overloads(&d, text), expected, "{text}");
    }
}

#[test]
fn locals_are_numbered_from_the_root() {
    let text = "cel.bind(a, [1].map(r, r), a.map(b, tags.all(k, v, v.exists(e, e == k) && b > 0)).size() + a.size())";
    let checked = check(&host(), text).unwrap();
    let ast = checked.ast();
    let mut seen = String::new();
    for (node, index) in ast.nodes().iter().zip(0..) {
        if let (Expr::Ident { name, .. }, Reference::Local(level)) = (&node.expr, checked.reference(NodeId(index))) {
            write!(seen, "{}{level} ", ast.name(*name)).unwrap();
        }
    }
    assert_eq!(seen, "r0 a0 v3 e4 k2 b1 a0 ");
}

#[test]
fn no_variable_or_parameter_is_left() {
    for text in ["[[], {}]", "optional.none()", "[].map(x, [x, x])", "{}.transformMap(k, v, [])", "[].pick(0)"] {
        let checked = check(&host(), text).unwrap();
        for index in 0..checked.ast().nodes().len() {
            let ty = checked.type_of(NodeId(u32::try_from(index).unwrap())).to_string();
            assert!(!ty.contains(['_', 'A', 'B', 'T']) || ty.contains("optional_type"), "{text}: {ty}");
        }
    }
}

#[test]
fn unchecked_resolves_names_only() {
    let mut d = host();
    d.set_unchecked(true);
    table(
        &d,
        &[
            ("1 + 'a'", "dyn"),
            ("true ? 1 : 'a'", "dyn"),
            ("1 == 1u", "dyn"),
            ("[?1]", "dyn"),
            ("i.a.b && 3", "dyn"),
            ("1.map(x, x)", "dyn"),
            ("Foo{a: 1}", "dyn"),
            ("startsWith('a')", "dyn"),
        ],
    );
    assert_eq!(root_reference(&d, "nothing"), Reference::Undeclared);
    assert_eq!(root_reference(&d, "nothing.a"), Reference::None);
    assert!(matches!(root_reference(&d, "request.path"), Reference::Variable(_)));
    assert_eq!(overloads(&d, "f(1)"), "");
    assert_eq!(overloads(&d, "nothing.f(1)"), "receiver ");
    assert_eq!(overloads(&d, "s.startsWith(1)"), "receiver StartsWith");
    assert_eq!(overloads(&d, "startsWith(s, s)"), "");
    assert_eq!(overloads(&d, "getHours(1)"), "");
    assert_eq!(overloads(&d, "t.getHours()"), "receiver Hours HoursOfDuration");
    assert_eq!(overloads(&d, "!1"), "Not");
}

#[test]
fn operands_are_labelled_with_their_types() {
    let text = "request.path + (1 + 2)";
    let error = check(&host(), text).unwrap_err().remove(0);
    let labels: Vec<(&str, &str)> =
        error.labels.iter().map(|l| (&text[l.span.start as usize..l.span.end as usize], l.text.as_str())).collect();
    assert_eq!(labels, [("request.path", "this is `string`"), ("1 + 2", "this is `int`")]);
}

#[test]
fn an_unused_binding_is_a_warning() {
    let warnings = |text| celero_frontend::check(parse(text), &host(), &Limits::default()).unwrap().1;
    assert!(warnings("cel.bind(x, 1, x)").is_empty());
    let found = warnings("cel.bind(x, 1, 2)");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].message.as_str()), ("unused-binding", "`x` is bound but not used"));
}

#[test]
fn diagnostics_are_limited_and_in_source_order() {
    let text = (0..40).map(|i| format!("zzz{i}.foo")).collect::<Vec<_>>().join(" + ");
    let errors = check(&host(), &text).unwrap_err();
    assert_eq!(errors.len(), 16);
    assert!(errors.windows(2).all(|w| w[0].span.start < w[1].span.start));
}

/// `range.map(x, BODY).map(x, BODY)..`, `times` times.
fn chain(body: &str, times: usize) -> String {
    format!("[1]{}", format!(".map(x, {body})").repeat(times))
}

#[test]
fn types_have_bounds() {
    let d = host();
    // Doubles the type each time.
    let wide = chain("{x: x}", 60);
    let errors = check(&d, &wide).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        (errors[0].code, errors[0].message.as_str()),
        ("type-too-complex", "the type of this has more than 1024 parts")
    );
    let deep = chain("[[[[[x]]]]]", 60);
    let errors = check(&d, &deep).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].message, "the type of this is nested more than 64 levels deep");
    let nested = |n| outcome(&d, &format!("{}{}", "[".repeat(n), "]".repeat(n)));
    assert!(nested(63).ends_with(&")".repeat(63)));
    assert!(nested(64).starts_with("type-too-complex"));
}

#[test]
fn variables_cannot_make_a_type_explode() {
    // Each list's element type is a pair of the next one's, all unknown until the last is compared with a list.
    let mut text = "v60 == [1]".to_owned();
    for i in (0..60).rev() {
        text = format!("cel.bind(v{}, [], v{i} == [{{v{}: v{}}}] && {text})", i + 1, i + 1, i + 1);
    }
    let text = format!("cel.bind(v0, [], {text})");
    assert!(outcome(&Declarations::new(), &text).starts_with("type-too-complex"));
}

/// Comparing large types again and again runs out of steps, also where the answer is a mere `bool`.
#[test]
fn inference_has_a_bound() {
    let compare = vec!["x == x"; 6000].join(" || ");
    let text = format!("cel.bind(x, {}, {compare})", chain("{x: x}", 8));
    let errors = check(&host(), &text).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].message.starts_with("inferring types takes more than "), "{}", errors[0].message);
}

/// Trees of the greatest depth, on a thread whose own stack would not do.
#[test]
fn the_deepest_trees_fit_the_stack() {
    let nest =
        |open: &str, middle: &str, close: &str, times| format!("{}{middle}{}", open.repeat(times), close.repeat(times));
    let texts = [
        nest("[", "1", "][0]", 120),
        nest("{1: ", "1", "}[1]", 120),
        nest("dyn(", "1", ")", 240),
        nest("(true ? ", "1", " : 2)", 240),
        nest("true ? 1 : ", "1", "", 240),
        nest("[1].map(x, ", "x", ")[0]", 80),
        nest("optional.of(1).optMap(x, ", "x", ").value()", 80),
        nest("cel.bind(x, 1, ", "x", ")", 240),
        nest("cel.bind(x, ", "1", ", x)", 240),
        nest("", "any", ".a", 240),
        nest("", "any", ".?a", 240),
        nest("", "any", "[0]", 240),
        nest("any.f(", "1", ")", 120),
    ];
    let mut d = host();
    d.add_function("f", true, vec![Type::Dyn, Type::Dyn], Type::Dyn);
    let run = move || texts.iter().map(|text| outcome(&d, text)).collect::<Vec<_>>();
    let outcomes = std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
    for outcome in outcomes {
        assert!(!outcome.contains(" at "), "{outcome}");
    }
}

#[test]
fn libraries_can_be_turned_off() {
    let mut d = host();
    for library in [Library::Strings, Library::Network, Library::Optionals, Library::Standard] {
        d.set_library(library, false);
    }
    table(
        &d,
        &[
            ("s.size() + size(s)", "int"),
            ("s.charAt(1)", "library-off at \"charAt\": `charAt` is of the library `strings`, which is turned off"),
            (
                "strings.quote(s)",
                "library-off at \"quote\": `strings.quote` is of the library `strings`, which is turned off",
            ),
            ("ip(s)", "library-off at \"ip\": `ip` is of the library `network`, which is turned off"),
            ("type(1) == net.IP", "undeclared-name at \"net\": undeclared reference to `net`"),
            ("any.?a", "library-off at \"a\": `.?` is of the library `optionals`, which is turned off"),
            ("any[?1]", "library-off at \"[?1]\": `[?]` is of the library `optionals`, which is turned off"),
            (
                "[?any]",
                "library-off at \"any\": an entry marked `?` is of the library `optionals`, which is turned off",
            ),
            (
                "any.optMap(x, x)",
                "library-off at \"optMap\": `optMap` is of the library `optionals`, which is turned off",
            ),
            ("string(any)", "string"),
            (
                "s.reverse()",
                "no-matching-overload at \"reverse\": no overload of `reverse` fits `string.reverse()` (possible are \
                 `list(A).reverse()`) (the library `strings`, which is turned off, has others)",
            ),
        ],
    );
    let d = host();
    table(&d, &[("s.charAt(1)", "string"), ("any.?a.optMap(x, x)", "optional_type(dyn)"), ("ip(s)", "net.IP")]);
    // A function of the host takes the place of one that is off.
    let mut d = host();
    d.set_library(Library::Strings, false);
    d.add_function("charAt", true, vec![Type::String, Type::Int], Type::Int);
    table(&d, &[("s.charAt(1)", "int")]);
}

/// Each code with an expression that earns it.
#[test]
fn every_code_is_reported() {
    let wide = chain("{x: x}", 60);
    let cases = [
        ("undeclared-name", "nothing"),
        ("undeclared-function", "nothing()"),
        ("undeclared-type", "Nothing{}"),
        ("call-form", "startsWith(s, s)"),
        ("no-matching-overload", "1 + s"),
        ("no-fields", "i.a"),
        ("not-bool", "!true && 1"),
        ("branch-types", "true ? 1 : s"),
        ("not-iterable", "i.map(x, x)"),
        ("not-optional", "[?1]"),
        ("not-map", "ints.transformMapEntry(i, x, x)"),
        ("type-too-complex", &wide),
    ];
    let mut seen = vec!["unused-binding", "library-off", "result-type", "declaration"];
    for (code, text) in cases {
        let errors = check(&host(), text).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.code).collect::<Vec<_>>(), [code], "{text}");
        seen.push(code);
    }
    for info in celero_frontend::CHECKER_CODES {
        assert!(seen.contains(&info.code), "{} has no case", info.code);
    }
}
