//! Every construct of the language gives the tree it should, with spans.

use celero_frontend::{Ast, Expr, Limits, Literal, Style, dump, parse, render};

fn tree(source: &str) -> Ast {
    parse(source, &Limits::default())
        .unwrap_or_else(|diagnostics| panic!("{}", render(source, "test", &diagnostics, Style::Plain)))
}

/// The tree on one line without spans, children in parentheses.
fn shape(source: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for line in dump(&tree(source)).lines() {
        let indent = (line.len() - line.trim_start().len()) / 2;
        let (head, _span) = line.trim_start().rsplit_once(' ').unwrap();
        if indent > depth {
            text.push('(');
        } else {
            text.push_str(&")".repeat(depth - indent));
            text.push_str(if text.is_empty() { "" } else { ", " });
        }
        text.push_str(head);
        depth = indent;
    }
    text + &")".repeat(depth)
}

fn literal(source: &str) -> Literal {
    let ast = tree(source);
    match ast.expr(ast.root()) {
        Expr::Literal(literal) => literal.clone(),
        other => panic!("{source}: {other:?}"),
    }
}

fn codes(source: &str) -> Vec<&'static str> {
    parse(source, &Limits::default()).err().unwrap_or_default().iter().map(|d| d.code).collect()
}

#[test]
fn numbers() {
    for (source, value) in [
        ("0", Literal::Int(0)),
        ("007", Literal::Int(7)),
        ("0x2aF", Literal::Int(0x2af)),
        ("-0x80", Literal::Int(-128)),
        ("- 1", Literal::Int(-1)),
        ("9223372036854775807", Literal::Int(i64::MAX)),
        ("-9223372036854775808", Literal::Int(i64::MIN)),
        ("-0x8000000000000000", Literal::Int(i64::MIN)),
        ("1u", Literal::Uint(1)),
        ("0xFFU", Literal::Uint(255)),
        ("18446744073709551615u", Literal::Uint(u64::MAX)),
        (".5", Literal::Double(0.5)),
        ("1.5e-3", Literal::Double(0.0015)),
        ("1E+3", Literal::Double(1000.0)),
        ("-2.5", Literal::Double(-2.5)),
    ] {
        assert_eq!(literal(source), value, "{source}");
    }
    assert!(matches!(literal("-0.0"), Literal::Double(zero) if zero.is_sign_negative()));
    for source in
        ["9223372036854775808", "-9223372036854775809", "18446744073709551616u", "1e999", "0x8000000000000000"]
    {
        assert_eq!(codes(source), ["number-out-of-range"], "{source}");
    }
    for source in ["1ux", "0x", "0X1", "12ab", "1.5u", "1e", "0xg", "1_000"] {
        assert_eq!(codes(source), ["invalid-number"], "{source}");
    }
    assert_eq!(shape("1in[1]"), "in(int 1, list(int 1))");
    assert_eq!(shape("1.e3"), "select .e3(int 1)");
}

#[test]
fn strings() {
    for (source, value) in [
        (r#""""#, ""),
        (r#"'"'"#, "\""),
        (r"'''a'b''c'''", "a'b''c"),
        ("\"\"\"a\nb\r\nc\"\"\"", "a\nb\r\nc"),
        (r#"'\a\b\f\n\r\t\v\\\?\"\'\`'"#, "\x07\x08\x0c\n\r\t\x0b\\?\"'`"),
        (r"'\x41\X4a\101\377\u00e9\U0001F62C'", "AJA\u{ff}é\u{1f62c}"),
        (r"r'\n\'", "\\n\\"),
        (r"R'''\'''", "\\"),
        ("'\u{1f62c}é'", "\u{1f62c}é"),
        (r"'''\''''", "'"),
    ] {
        assert_eq!(literal(source), Literal::String(value.into()), "{source}");
    }
    for (source, value) in [
        (r"b'\377\xFF\x00'", &b"\xff\xff\0"[..]),
        ("B\"é\"", "é".as_bytes()),
        (r"b'é\n'", "é\n".as_bytes()),
        (r"br'\x41'", br"\x41"),
        (r"rB'\'", br"\"),
        ("b'''a\nb'''", b"a\nb"),
        ("bR\"\"\"a\"\"\"", b"a"),
    ] {
        assert_eq!(literal(source), Literal::Bytes(value.into()), "{source}");
    }
    for source in [
        r"'\z'",
        r"'\8'",
        r"'\400'",
        r"'\12'",
        r"'\x4'",
        r"'\u12'",
        r"'\ud800'",
        r"'\U00110000'",
        r"b'\u0041'",
        r"b'\U00000041'",
        r"'\é'",
        r"'''\'''",
    ] {
        let expected = if source == r"'''\'''" { "unterminated-string" } else { "invalid-escape" };
        assert_eq!(codes(source), [expected], "{source}");
    }
    for source in ["'a", "\"a\nb\"", "'''a'", r"'a\'", "r'", "b\"", "'a\\\nb'", "'a\rb'"] {
        assert_eq!(codes(source), ["unterminated-string"], "{source}");
    }
}

#[test]
fn precedence() {
    assert_eq!(
        shape("a ? b || c && d == e + f * -g : h"),
        "cond(ident a, then: ||(ident b, &&(ident c, ==(ident d, +(ident e, *(ident f, -(ident g)))))), else: ident h)"
    );
    assert_eq!(shape("a - b - c"), "-(-(ident a, ident b), ident c)");
    assert_eq!(shape("a * b / c % d"), "%(/(*(ident a, ident b), ident c), ident d)");
    assert_eq!(shape("a < b == c in d"), "in(==(<(ident a, ident b), ident c), ident d)");
    assert_eq!(shape("a <= b != (c >= d > e)"), "!=(<=(ident a, ident b), >(>=(ident c, ident d), ident e))");
    assert_eq!(
        shape("a ? b : c ? d : e"),
        "cond(ident a, then: ident b, else: cond(ident c, then: ident d, else: ident e))"
    );
    assert_eq!(shape("(a + b) * c"), "*(+(ident a, ident b), ident c)");
}

#[test]
fn logic_chains_are_one_node() {
    assert_eq!(shape("a && b && c"), "&&(ident a, ident b, ident c)");
    assert_eq!(shape("(a && b) && (c && (d && e))"), "&&(ident a, ident b, ident c, ident d, ident e)");
    assert_eq!(shape("a && (b || c || d) && e"), "&&(ident a, ||(ident b, ident c, ident d), ident e)");
    assert_eq!(shape("a || b && c || d"), "||(ident a, &&(ident b, ident c), ident d)");
    let ast = tree("(a || b) || (c || d)");
    assert_eq!(ast.nodes().len(), 5, "merged chains leave nothing behind");
    assert_eq!(ast.depth(), 2);
    assert_eq!((ast.span(ast.root()).start, ast.span(ast.root()).end), (0, 20));
}

#[test]
fn signs() {
    assert_eq!(shape("!!x"), "!(!(ident x))");
    assert_eq!(shape("--x"), "-(-(ident x))");
    assert_eq!(shape("--1"), "-(int -1)");
    assert_eq!(shape("-1u"), "-(uint 1)");
    assert_eq!(shape("a -1"), "-(ident a, int 1)");
    assert_eq!(shape("a - -1"), "-(ident a, int -1)");
    assert_eq!(shape("-1.abs()"), "call abs(target: int -1)");
    assert_eq!(shape("!-1"), "!(int -1)");
    assert_eq!(shape("!a.b[0]"), "!(index(select .b(ident a), int 0))");
    assert_eq!(codes("!-x"), ["mixed-signs"]);
    assert_eq!(codes("-!!x"), ["mixed-signs"]);
}

#[test]
fn members() {
    assert_eq!(shape("a.b.?c[0][?1]"), "index ?(index(select .?c(select .b(ident a)), int 0), int 1)");
    assert_eq!(shape("a.`b-c/d.e f`"), "select .b-c/d.e f(ident a)");
    assert_eq!(shape("a.?`in`"), "select .?in(ident a)");
    assert_eq!(shape(".a.b"), "select .b(ident .a)");
    assert_eq!(
        shape("f() + .g(1, 2) + a.b.h(x)"),
        "+(+(call f, call .g(int 1, int 2)), call h(target: select .b(ident a), ident x))"
    );
    assert_eq!(shape("a.if + a.while()"), "+(select .if(ident a), call while(target: ident a))");
    assert_eq!(shape("'a'.size()"), "call size(target: string \"a\")");
}

#[test]
fn collections() {
    assert_eq!(shape("[]"), "list");
    assert_eq!(shape("[,]"), "list");
    assert_eq!(shape("[a, ?b, c,]"), "list(ident a, ?ident b, ident c)");
    assert_eq!(shape("{}"), "map");
    assert_eq!(shape("{1: a, ?'b': c,}"), "map(key: int 1, value: ident a, ?key: string \"b\", value: ident c)");
    assert_eq!(shape("M{}"), "message M");
    assert_eq!(
        shape("a.b . M{f: 1, ?`g-h`: 2, in_: 3, for: 4,}"),
        "message a.b.M(f: int 1, ?g-h: int 2, in_: int 3, for: int 4)"
    );
    assert_eq!(shape(".a.M{f: 1}.f"), "select .f(message .a.M(f: int 1))");
    assert_eq!(shape("package.if.M{}"), "message package.if.M");
    assert_eq!(tree("a.b.c.M{f: 1}").nodes().len(), 2, "the name's nodes are taken back");
    assert_eq!(codes("(a.b){}"), ["unexpected-token"]);
    assert_eq!(codes("a.?b{}"), ["unexpected-token"]);
    assert_eq!(codes("a[0]{}"), ["unexpected-token"]);
    assert_eq!(codes("has(a){}"), ["unexpected-token"]);
}

#[test]
fn macros() {
    for (source, expected) in [
        ("has(a.b)", "has .b(ident a)"),
        ("has(a)", "has a"),
        ("has(.a) && r.all(x, has(b))", "&&(has .a, all x(range: ident r, filter: has b))"),
        ("has(a).b", "select .b(has a)"),
        ("has(a.b.`c-d`)", "has .c-d(select .b(ident a))"),
        ("r.all(x, p)", "all x(range: ident r, filter: ident p)"),
        ("r.all(x, x)", "all x(range: ident r, filter: ident x)"),
        ("r.all(i, x, p)", "all i, x(range: ident r, filter: ident p)"),
        ("r.exists(x, p)", "exists x(range: ident r, filter: ident p)"),
        ("r.exists(i, x, p)", "exists i, x(range: ident r, filter: ident p)"),
        ("r.exists_one(x, p)", "exists_one x(range: ident r, filter: ident p)"),
        ("r.existsOne(i, x, p)", "exists_one i, x(range: ident r, filter: ident p)"),
        ("r.filter(x, x > 1)", "filter x(range: ident r, filter: >(ident x, int 1))"),
        ("r.map(x, t)", "map x(range: ident r, transform: ident t)"),
        ("r.map(x, p, t)", "map x(range: ident r, filter: ident p, transform: ident t)"),
        ("r.transformList(i, x, t)", "transformList i, x(range: ident r, transform: ident t)"),
        ("r.transformList(i, x, p, t)", "transformList i, x(range: ident r, filter: ident p, transform: ident t)"),
        ("r.transformMap(k, v, t)", "transformMap k, v(range: ident r, transform: ident t)"),
        (
            "r.transformMapEntry(k, v, p, t)",
            "transformMapEntry k, v(range: ident r, filter: ident p, transform: ident t)",
        ),
        ("cel.bind(x, 1, x)", "bind x(init: int 1, body: ident x)"),
        ("(a + b).with(x, x)", "with x(init: +(ident a, ident b), body: ident x)"),
        ("m.mapValues(v, t)", "mapValues @, v(range: ident m, transform: ident t)"),
        ("m.filterKeys(k, p)", "filterKeys k, @(range: ident m, filter: ident p, transform: ident @)"),
        ("default(a, b)", "default(ident a, ident b)"),
        ("coalesce(a)", "coalesce(ident a)"),
        ("coalesce(a, b, c)", "coalesce(ident a, ident b, ident c)"),
        // Other forms are calls.
        ("a.with(1, x)", "call with(target: ident a, int 1, ident x)"),
        ("a.with(x)", "call with(target: ident a, ident x)"),
        ("a.with(b.c, x, y)", "call with(target: ident a, select .c(ident b), ident x, ident y)"),
        ("m.mapValues(1, t)", "call mapValues(target: ident m, int 1, ident t)"),
        ("m.filterKeys(k, p, q)", "call filterKeys(target: ident m, ident k, ident p, ident q)"),
        ("with(x, y)", "call with(ident x, ident y)"),
        ("default(a)", "call default(ident a)"),
        ("default(a, b, c)", "call default(ident a, ident b, ident c)"),
        (".default(a, b)", "call .default(ident a, ident b)"),
        ("a.default(b, c)", "call default(target: ident a, ident b, ident c)"),
        ("coalesce()", "call coalesce"),
        ("a.coalesce(b)", "call coalesce(target: ident a, ident b)"),
        ("o.optMap(x, x)", "optMap x(target: ident o, body: ident x)"),
        ("o.optFlatMap(x, t)", "optFlatMap x(target: ident o, body: ident t)"),
        // Not the macros' shapes: calls.
        ("has(a, b)", "call has(ident a, ident b)"),
        (".has(a)", "call .has(ident a)"),
        ("all(x, p)", "call all(ident x, ident p)"),
        ("r.all(x)", "call all(target: ident r, ident x)"),
        ("r.map(x, y, z, w)", "call map(target: ident r, ident x, ident y, ident z, ident w)"),
        ("r.filter(i, x, p)", "call filter(target: ident r, ident i, ident x, ident p)"),
        ("cel.bind(x, y)", "call bind(target: ident cel, ident x, ident y)"),
        (".cel.bind(x, 1, x)", "call bind(target: ident .cel, ident x, int 1, ident x)"),
        ("a.bind(x, 1, x)", "call bind(target: ident a, ident x, int 1, ident x)"),
        ("a.has(b.c)", "call has(target: ident a, select .c(ident b))"),
    ] {
        assert_eq!(shape(source), expected, "{source}");
    }
    assert_eq!(tree("r.all(i, x, p)").nodes().len(), 3, "variables are no nodes");
    assert_eq!(tree("cel.bind(x, 1, x)").nodes().len(), 3, "nor is `cel`");
}

#[test]
fn white_space_and_comments() {
    assert_eq!(shape("// first\n a\t+\r\n\x0c b // last"), "+(ident a, ident b)");
    assert_eq!(shape("a // x\r + z\n + b"), "+(ident a, ident b)");
}

#[test]
fn spans_and_focus() {
    let text = |source: &str| {
        let ast = tree(source);
        let node = ast.node(ast.root());
        let piece = |start: u32, end: u32| source.get(start as usize..end as usize).unwrap().to_owned();
        (piece(node.span.start, node.span.end), piece(node.focus.start, node.focus.end))
    };
    for (source, span, focus) in [
        (" (a + b) * c ", "(a + b) * c", "*"),
        ("((a + b))", "a + b", "+"),
        ("é == 'é' // é", "", ""),
        ("'é' == a", "'é' == a", "=="),
        ("(a).b.c", "(a).b.c", "c"),
        ("a.`b-c`", "a.`b-c`", "`b-c`"),
        ("a . f ( 1 ) ", "a . f ( 1 )", "f"),
        (".f(1)", ".f(1)", "f"),
        ("a[ 1 ]", "a[ 1 ]", "[ 1 ]"),
        ("a ? b : (c)", "a ? b : (c)", "?"),
        ("a || b || (c)", "a || b || (c)", "||"),
        ("!!(x)", "!!(x)", "!"),
        ("- 1", "- 1", "- 1"),
        ("has(a.b)", "has(a.b)", "b"),
        ("has(a)", "has(a)", "a"),
        ("r.map(x, x)", "r.map(x, x)", "map"),
        ("a.M{f: 1}", "a.M{f: 1}", "a.M"),
        ("[1, 2]", "[1, 2]", "[1, 2]"),
    ] {
        if span.is_empty() {
            assert_eq!(codes(source), ["invalid-character"]);
        } else {
            assert_eq!(text(source), (span.to_owned(), focus.to_owned()), "{source}");
        }
    }
}

#[test]
fn dump_shows_every_span() {
    assert_eq!(
        dump(&tree("m.exists(k, k in [1u, ?b'x'])")),
        "exists k 0..29\n  range: ident m 0..1\n  filter: in 12..28\n    ident k 12..13\n    list 17..28\n      \
         uint 1 18..20\n      ?bytes \"x\" 23..27\n"
    );
}

#[test]
fn a_name_is_stored_once_however_many_there_are() {
    for many in 1..40 {
        let names: Vec<String> = (0..many).map(|n| format!("name{n}")).collect();
        let source = names.iter().chain(&names).chain(names.first()).cloned().collect::<Vec<_>>().join(" + ");
        let ast = tree(&source);
        let mut found = Vec::new();
        for node in ast.nodes() {
            if let Expr::Ident { name, .. } = node.expr {
                assert_eq!(ast.name(name), &source[node.span.start as usize..node.span.end as usize]);
                found.push(name.0);
            }
        }
        assert!(found.iter().copied().eq((0..many).chain(0..many).chain([0])), "{found:?}");
    }
}
