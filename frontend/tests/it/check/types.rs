//! The types of expressions: what operators, functions and macros give, and what is said of operands that do not fit.

use super::{check, host, table};
use celero_frontend::Declarations;

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
            ("s != 1", "no-matching-overload at \"!=\": no overload of `!=` fits `string != int` (write `s != \"1\"`)"),
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
                "no-matching-overload at \"a\": no overload of `.?` fits `list(int).?field` (possible are `map(string, A).?field`, `google.protobuf.Message.?field`, `optional_type(map(string, A)).?field`)",
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
                "call-form at \"startsWith\": `startsWith` is called on a value (write `'a'.startsWith('b')`)",
            ),
            ("s.duration()", "call-form at \"duration\": `duration` is not called on a value (write `duration(s)`)"),
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
            ("net.IQ{}", "undeclared-type at \"net.IQ\": undeclared type `net.IQ`"),
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
fn operands_are_labelled_with_their_types() {
    let text = "request.path + (1 + 2)";
    let error = check(&host(), text).unwrap_err().remove(0);
    let labels: Vec<(&str, &str)> =
        error.labels.iter().map(|l| (&text[l.span.start as usize..l.span.end as usize], l.text.as_str())).collect();
    assert_eq!(labels, [("request.path", "this is `string`"), ("1 + 2", "this is `int`")]);
}

#[test]
fn what_is_meant_by_operands_that_do_not_fit() {
    table(
        &host(),
        &[
            (
                "b'a'.contains('a')",
                "no-matching-overload at \"contains\": no overload of `contains` fits `bytes.contains(string)` (write `string(b'a').contains('a')`)",
            ),
            (
                "s in cidr('10.0.0.0/8')",
                "no-matching-overload at \"in\": no overload of `in` fits `string in net.CIDR` (write `cidr('10.0.0.0/8').containsIP(s)`)",
            ),
            (
                "ip(s) in cidr('10.0.0.0/8')",
                "no-matching-overload at \"in\": no overload of `in` fits `net.IP in net.CIDR` (write `cidr('10.0.0.0/8').containsIP(ip(s))`)",
            ),
        ],
    );
}
