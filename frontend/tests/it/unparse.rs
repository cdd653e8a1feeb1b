//! Canonical text: what it looks like, and that it stands for the tree it was made from.

use celero_frontend::{Ast, FORMAT_CODES, Limits, dump, format, layout, parse, unparse};

fn tree(source: &str) -> Ast {
    parse(source, &Limits::default()).unwrap_or_else(|d| panic!("{source}: {d:?}"))
}

/// A tree without places.
fn shape(ast: &Ast) -> String {
    dump(ast).lines().map(|line| line.rsplit_once(' ').unwrap().0.to_owned() + "\n").collect()
}

fn check(source: &str) -> String {
    let ast = tree(source);
    let text = unparse(&ast);
    assert!(!text.contains('\n'), "{text}");
    for other in [text.clone(), layout(&ast, 100), layout(&ast, 12)] {
        let again = tree(&other);
        assert_eq!(shape(&again), shape(&ast), "{source} => {other}");
        assert_eq!(unparse(&again), text, "{source}");
        assert_eq!(layout(&again, 12), layout(&ast, 12), "{source}");
    }
    text
}

#[test]
fn text_is_canonical() {
    for (source, expected) in [
        // Parentheses.
        ("((a))", "a"),
        ("a+(b+c)", "a + (b + c)"),
        ("(a+b)+c", "a + b + c"),
        ("(a + b) * c", "(a + b) * c"),
        ("a + (b * c)", "a + b * c"),
        ("a - (b - c) - d", "a - (b - c) - d"),
        ("(a < b) == c", "a < b == c"),
        ("a < (b == c)", "a < (b == c)"),
        ("a && (b && (c && d))", "a && b && c && d"),
        ("(a && b) || c", "a && b || c"),
        ("a && (b || c)", "a && (b || c)"),
        ("(a ? b : c) ? (d ? e : f) : (g ? h : i)", "(a ? b : c) ? (d ? e : f) : g ? h : i"),
        ("(a || b) ? c : d", "a || b ? c : d"),
        ("[a ? b : c, (a)]", "[a ? b : c, a]"),
        ("(a ? b : c).d", "(a ? b : c).d"),
        ("(a.b).c[(d)]", "a.b.c[d]"),
        ("{(a ? b : c): (a ? b : c)}", "{(a ? b : c): a ? b : c}"),
        ("1in[1]", "1 in [1]"),
        // Signs.
        ("!(!a)", "!!a"),
        ("-(-a)", "--a"),
        ("!(-a)", "!(-a)"),
        ("-1", "-1"),
        ("-(1)", "-(1)"),
        ("--1", "-(-1)"),
        ("-1u", "-1u"),
        ("-(1.5.f().g[0])", "-(1.5.f().g[0])"),
        ("-1.f()", "(-1).f()"),
        ("-(-1).f()", "-(-1).f()"),
        ("a--1", "a - -1"),
        ("a - -b", "a - -b"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-(a + b)", "-(a + b)"),
        ("-a.b", "-a.b"),
        ("(-a).b", "(-a).b"),
        ("!(a in b)", "!(a in b)"),
        ("!a in b", "!a in b"),
        // Literals.
        ("0x10", "16"),
        ("0xffU", "255u"),
        ("1e3", "1000.0"),
        ("1e300", "1e300"),
        (".5", "0.5"),
        ("-0.0", "-0.0"),
        ("'a'", "\"a\""),
        ("'say \"a\"'", "'say \"a\"'"),
        ("'\\'\"'", "\"'\\\"\""),
        ("'\\\\d+'", "r\"\\d+\""),
        ("r'\\d\"'", "r'\\d\"'"),
        ("r'\\d' + '\\n\\\\'", "r\"\\d\" + \"\\n\\\\\""),
        ("'''a\nb\t'''", "\"a\\nb\\t\""),
        ("'\\a\\x7f\\u202e\\U000e0001'", "\"\\u0007\\u007f\\u202e\\U000e0001\""),
        ("'\u{fc}'", "\"\u{fc}\""),
        ("b'\\xff\\\\\"\u{fc}\\n'", "b\"\\xff\\\\\\\"\\xc3\\xbc\\n\""),
        ("null == true", "null == true"),
        // Names.
        (". a", ".a"),
        (".a.b(1)", ".a.b(1)"),
        (".f(1)", ".f(1)"),
        ("a.`b`", "a.b"),
        ("a.`b-c`.`in`.if", "a.`b-c`.`in`.if"),
        ("a.?`b.c`[?d]", "a.?`b.c`[?d]"),
        ("[?a, b]", "[?a, b]"),
        ("{?'a': b, 'c': d,}", "{?\"a\": b, \"c\": d}"),
        (".a.B{c: 1, ?`d-e`: 2}", ".a.B{c: 1, ?`d-e`: 2}"),
        ("a.if.B{}", "a.if.B{}"),
        // Macros.
        ("has(a.b.c)", "has(a.b.c)"),
        ("!has( a ) || has(.a)", "!has(a) || has(.a)"),
        ("has(a.`b-c`) && .has(a)", "has(a.`b-c`) && .has(a)"),
        ("[1].all(x, x > 0)", "[1].all(x, x > 0)"),
        ("(a + b).existsOne(i, x, i == x)", "(a + b).exists_one(i, x, i == x)"),
        ("a.map(x, x > 1, x * 2).filter(y, y)", "a.map(x, x > 1, x * 2).filter(y, y)"),
        ("a.transformMapEntry(k, v, {k: v})", "a.transformMapEntry(k, v, {k: v})"),
        ("cel.bind(x, 1, x + x)", "cel.bind(x, 1, x + x)"),
        ("cel.bind(x, 1)", "cel.bind(x, 1)"),
        ("(a+b).with(x,x+x)", "(a + b).with(x, x + x)"),
        ("-(1).with(x, x)", "-(1.with(x, x))"),
        ("a.with(1, x)", "a.with(1, x)"),
        ("a.mapValues(v,v+1).filterKeys(k,k!='')", "a.mapValues(v, v + 1).filterKeys(k, k != \"\")"),
        ("a.filterKeys(a, a.filterKeys(b, a.mapValues(a, b)))", "a.filterKeys(a, a.filterKeys(b, a.mapValues(a, b)))"),
        ("default( a.b , (c||d) )", "default(a.b, c || d)"),
        ("coalesce(a,b ? c : d, e)[0]", "coalesce(a, b ? c : d, e)[0]"),
        ("a.optMap(x, x).optFlatMap(y, y)", "a.optMap(x, x).optFlatMap(y, y)"),
        ("a.all(x)", "a.all(x)"),
        ("(a+b).sortBy(x, -x.sortBy(y,y)[0])", "(a + b).sortBy(x, -x.sortBy(y, y)[0])"),
        ("math.greatest(1,a, 2)", "math.greatest(1, a, 2)"),
        ("math.least([1,a, 2])", "math.least([1, a, 2])"),
        ("math.least([1][0],a, 2)", "math.least([[1][0], a, 2])"),
    ] {
        assert_eq!(check(source), expected, "{source}");
    }
}

#[test]
fn long_lines_are_broken() {
    let source = "request.method == 'GET' && (request.path.startsWith('/a') || request.path in ['/b', '/c'] && x) \
                  && y.all(v, v > 1) ? first(1, 2) : second ? {'k': 'value'} : third";
    let expected = r#"request.method == "GET"
  && (
    request.path.startsWith("/a")
    || request.path in ["/b", "/c"] && x
  )
  && y.all(v, v > 1)
? first(1, 2)
: second
? {"k": "value"}
: third"#;
    assert_eq!(layout(&tree(source), 44), expected);
    assert_eq!(layout(&tree("f(aaaa, [bbbb, cccc], {d: e})"), 16), "f(\n  aaaa,\n  [bbbb, cccc],\n  {d: e}\n)");
    assert_eq!(layout(&tree("aaaa.exists(x, bbbb == x && cccc)"), 20), "aaaa.exists(x,\n  bbbb == x && cccc\n)");
}

#[test]
fn deep_trees_are_written() {
    let depth = 248;
    check(&format!("{}a{}", "f(".repeat(depth), ")".repeat(depth)));
    check(&format!("{}a{}", "[".repeat(depth), "]".repeat(depth)));
    check(&format!("{}a", "!".repeat(depth)));
    check(&format!("a{}", " + a".repeat(depth)));
    check(&format!("{}a{}", "(a - ".repeat(depth), ")".repeat(depth)));
    check(&format!("a{}", " && a".repeat(5_000)));
    check(&format!("{}a", "a ? b : ".repeat(depth)));
}

#[test]
fn formatting_keeps_what_it_can() {
    let limits = Limits::default();
    assert_eq!(format("  a&&b\n", &limits, 100).unwrap(), "a && b\n");
    let commented = "// Who may.\r\n\n  //And why: http://a\n'//' ==a";
    assert_eq!(format(commented, &limits, 100).unwrap(), "// Who may.\n//And why: http://a\n\"//\" == a\n");
    for (behind, laid) in [
        ("a==b//", "a == b //\n"),
        ("a==b // c\n", "a == b // c\n"),
        ("a==b\n//c\n\n // d", "a == b\n//c\n// d\n"),
        ("// a\na==b // c\n// d", "// a\na == b // c\n// d\n"),
        ("'//'==a //\r\n//", "\"//\" == a //\n//\n"),
    ] {
        assert_eq!(format(behind, &limits, 100).unwrap(), laid);
        assert_eq!(format(laid, &limits, 100).unwrap(), laid);
    }
    let lost = format("a // one\n && // two\n b // three", &limits, 100).unwrap_err();
    let places: Vec<(u32, u32)> = lost.iter().map(|d| (d.span.start, d.span.end)).collect();
    assert_eq!(places, [(2, 8), (13, 19)]);
    assert!(lost.iter().all(|d| FORMAT_CODES.iter().any(|info| info.code == d.code)));
    assert_eq!(format("a +", &limits, 100).unwrap_err()[0].code, "unexpected-end");
}
