//! Codes of the checker: each is reported, warnings and libraries that are off included.

use super::{chain, check, host, parse, table};
use celero_frontend::stdlib::Library;
use celero_frontend::{Limits, ListKey, ListValues, MessageTypes, Type};

#[test]
fn an_unused_binding_is_a_warning() {
    let warnings = |text| celero_frontend::check(parse(text), &host(), &Limits::default()).unwrap().1;
    assert!(warnings("cel.bind(x, 1, x)").is_empty());
    let found = warnings("cel.bind(x, 1, 2)");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].message.as_str()), ("unused-binding", "`x` is bound but not used"));
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

/// What authors write who know another language.
#[test]
fn words_of_other_languages_are_understood() {
    for (text, help) in [
        ("not(s == '')", "did you mean `!`?"),
        ("len(s) > 1", "did you mean `size`?"),
        ("s.toLowerCase() == 'a'", "did you mean `lowerAscii`?"),
        ("ints.any(x, x > 1)", "did you mean `exists`?"),
        ("s in '10.0.0.0/8'", "write `cidr('10.0.0.0/8').containsIP(s)`"),
        ("s in s", "`cidr(b).containsIP(a)` for an address in a network"),
        ("duration('1s') > 500", "a duration is written `duration(\"10s\")`"),
        ("duration('1s') == '1s'", "a duration is written `duration(\"10s\")`"),
        ("cidr('10.0.0.0/8').contains(s)", "`containsIP(..)` tests an address"),
        ("s.startsWith('a', 'b')", "`[a, b].exists(x, text.startsWith(x))` tests several"),
        ("s.contains(['a', 'b'])", "`[a, b].exists("),
        ("math.max(1, 2) > 1", "did you mean `math.greatest`?"),
        ("math.sqr(4)", "did you mean `math.sqrt`?"),
        ("math.power(2, 3)", "the functions of `math` are `math.abs`, "),
        ("base64(b'a')", "the functions of `base64` are `base64.decode`, "),
        ("timestamp(0) < '2026-01-01'", "a time is written `timestamp("),
    ] {
        let errors = check(&host(), text).unwrap_err();
        assert!(errors.len() == 1 && errors[0].help.iter().any(|line| line.contains(help)), "{text}: {errors:?}");
    }
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
    let mut lists = host();
    lists.add_list("a", ListKey::Text, None);
    lists.add_list("v", ListKey::Text, Some(ListValues::Fields([("x".into(), Type::Int)].into())));
    for (code, text) in [
        ("unknown-list", "s in lists.b"),
        ("unknown-list", "lists.b[s].x"),
        ("list-use", "lists.a"),
        ("list-use", "i in lists.a"),
        ("list-use", "lists.a[s]"),
        ("list-use", "lists.v[s]"),
        ("list-use", "lists.v[i].x"),
        ("no-fields", "lists.v[s].y"),
    ] {
        let errors = check(&lists, text).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.code).collect::<Vec<_>>(), [code], "{text}");
        seen.push(code);
    }
    let mut messages = host();
    let mut types = MessageTypes::default();
    types.add_message("a.M", [("x".into(), Type::Int)]);
    messages.set_messages(types);
    for (code, text) in [
        ("field-value", "a.M{x: s}"),
        ("field-value", "a.M{x: 1, x: 2}"),
        ("no-fields", "a.M{y: 1}"),
        ("no-fields", "a.M{}.y"),
        ("undeclared-type", "a.N{x: 1}"),
    ] {
        let errors = check(&messages, text).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.code).collect::<Vec<_>>(), [code], "{text}");
        seen.push(code);
    }
    for info in celero_frontend::CHECKER_CODES {
        assert!(seen.contains(&info.code), "{} has no case", info.code);
    }
}
