//! Input made to hurt: it ends, in a tree or in diagnostics, on a small stack, in time and memory linear in its length.

use celero_frontend::{Ast, Diagnostic, Expr, Limits, Node, NodeId, Nodes, Stage, Style, dump, parse, render};
use celero_timing::{assert_linear, cpu_time_of};

/// Runs on a thread with little stack.
fn small_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(f).unwrap().join().unwrap()
}

/// Limits that let everything in but depth.
fn roomy() -> Limits {
    Limits { max_source_bytes: u32::MAX, max_nodes: u32::MAX, ..Limits::default() }
}

/// A name and what makes the source of a given size.
type Shape = (&'static str, fn(usize) -> String);

/// Shapes that repeat something `n` times.
fn shapes() -> Vec<Shape> {
    vec![
        ("parens", |n| "(".repeat(n) + "1" + &")".repeat(n)),
        ("parens unclosed", |n| "(".repeat(n)),
        ("lists unclosed", |n| "[".repeat(n)),
        ("lists", |n| "[".repeat(n) + &"]".repeat(n)),
        ("maps unclosed", |n| "{1:".repeat(n)),
        ("calls unclosed", |n| "f(".repeat(n)),
        ("messages unclosed", |n| "M{a:".repeat(n)),
        ("indexes unclosed", |n| "a[".repeat(n)),
        ("macros unclosed", |n| "[1].map(x,".repeat(n)),
        ("mixed unclosed", |n| "([{a:f(".repeat(n)),
        ("closers", |n| ")]}".repeat(n)),
        ("mismatched", |n| "(a],[b),{c],".repeat(n)),
        ("not", |n| "!".repeat(n) + "x"),
        ("not alone", |n| "!".repeat(n)),
        ("minus", |n| "-".repeat(n) + "x"),
        ("minus number", |n| "-".repeat(n) + "1"),
        ("alternating signs", |n| "!-".repeat(n) + "x"),
        ("not paren", |n| "!(".repeat(n)),
        ("motif", |n| "!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(n)),
        ("fields", |n| "a".to_owned() + &".b".repeat(n)),
        ("methods", |n| "a".to_owned() + &".f()".repeat(n)),
        ("macro methods", |n| "a".to_owned() + &".map(x,x)".repeat(n)),
        ("elements", |n| "a".to_owned() + &"[0]".repeat(n)),
        ("sum", |n| "1".to_owned() + &"+1".repeat(n)),
        ("product", |n| "1".to_owned() + &"*1".repeat(n)),
        ("relations", |n| "1".to_owned() + &"==1".repeat(n)),
        ("in", |n| "1".to_owned() + &" in a".repeat(n)),
        ("and", |n| "a".to_owned() + &"&&a".repeat(n)),
        ("or and", |n| "a".to_owned() + &"||a&&b".repeat(n)),
        ("nested or", |n| "a||(".repeat(n)),
        ("nested or left", |n| "(".repeat(249) + "a" + &"||a".repeat(n) + &"||b)".repeat(249)),
        ("conditionals", |n| "a?1:".repeat(n) + "1"),
        ("conditionals in the middle", |n| "a?".repeat(n) + "1" + &":1".repeat(n)),
        ("precedence ladder", |n| "a||b&&c==d+e*(".repeat(n)),
        ("wide list", |n| "[".to_owned() + &"1,".repeat(n) + "]"),
        ("wide map", |n| "{".to_owned() + &"1:2,".repeat(n) + "}"),
        ("wide call", |n| "f(1".to_owned() + &",1".repeat(n) + ")"),
        ("names", |n| "[".to_owned() + &(0..n).map(|i| format!("a{i},")).collect::<String>() + "]"),
        ("long name", |n| "a".repeat(n)),
        ("long number", |n| "1".repeat(n)),
        ("long double", |n| "1.".to_owned() + &"1".repeat(n)),
        ("long string", |n| "'".to_owned() + &"\\n".repeat(n) + "'"),
        ("unterminated strings", |n| "'a\n".repeat(n)),
        ("triple unterminated", |n| "'''a\n".repeat(n)),
        ("backquotes", |n| "a.`".repeat(n)),
        ("comments", |n| "//a\n".repeat(n)),
        ("block comments", |n| "/*".repeat(n)),
        ("foreign", |n| "é".repeat(n)),
        ("foreign apart", |n| "é ".repeat(n)),
        ("reserved", |n| "if.".repeat(n)),
        ("reserved in parens", |n| "(if.if.if,".repeat(n)),
        ("errors", |n| "[".to_owned() + &"a b,".repeat(n)),
        ("dots", |n| ".".repeat(n)),
        ("questions", |n| "?".repeat(n)),
        ("commas", |n| ",".repeat(n)),
        ("list commas", |n| "[,".repeat(n)),
        ("message name", |n| "a".to_owned() + &".a".repeat(n) + "{}"),
        ("nothing", |_| String::new()),
    ]
}

/// The ids of a node's children, in order.
fn children(ast: &Ast, node: &Node) -> Vec<NodeId> {
    let all = |nodes: &Nodes| ast.children(*nodes).to_vec();
    match &node.expr {
        Expr::Error | Expr::Literal(_) | Expr::Ident { .. } => vec![],
        Expr::Select { operand, .. } | Expr::Unary { operand, .. } => vec![*operand],
        Expr::Index { operand, index, .. } => vec![*operand, *index],
        Expr::Binary { left, right, .. } => vec![*left, *right],
        Expr::Logic { operands: nodes, .. }
        | Expr::List { elements: nodes, .. }
        | Expr::Map { entries: nodes, .. }
        | Expr::Message { values: nodes, .. } => all(nodes),
        Expr::Cond { condition, then, otherwise } => vec![*condition, *then, *otherwise],
        Expr::Call { target, args, .. } => target.iter().copied().chain(all(args)).collect(),
        Expr::Fold { range, filter, transform, .. } => {
            std::iter::once(*range).chain(*filter).chain(*transform).collect()
        }
        Expr::Bind { init, body, .. } => vec![*init, *body],
        Expr::OptMap { target, body, .. } => vec![*target, *body],
        Expr::Fallback { operands, .. } => all(operands),
    }
}

/// What a tree promises: no errors in it, every node but the root somebody's child, children before
/// their parents, within their spans and less deep.
fn check_tree(ast: &Ast) {
    let mut count = 0;
    for (at, node) in ast.nodes().iter().enumerate() {
        assert_ne!(node.expr, Expr::Error);
        assert!(node.span.start <= node.focus.start && node.focus.end <= node.span.end, "{node:?}");
        let children = children(ast, node);
        let mut below = 0;
        let mut end = node.span.start;
        for &id in &children {
            let child = ast.node(id);
            assert!((id.0 as usize) < at);
            assert!(end <= child.span.start && child.span.end <= node.span.end, "{node:?}, {child:?}");
            end = child.span.end;
            below = below.max(child.depth);
        }
        assert_eq!(node.depth, below + 1);
        if let Expr::Logic { op, .. } = &node.expr {
            let nested = |id: &NodeId| matches!(ast.expr(*id), Expr::Logic { op: inner, .. } if inner == op);
            assert!(children.len() >= 2 && !children.iter().any(nested));
        }
        count += children.len();
    }
    assert_eq!(count + 1, ast.nodes().len());
    assert_eq!(ast.root().0 as usize + 1, ast.nodes().len());
}

/// The result is well-formed and all that is done with it ends, too.
fn check(name: &str, source: &str, limits: &Limits, result: &Result<Ast, Vec<Diagnostic>>) {
    match result {
        Ok(ast) => {
            assert!(ast.depth() <= limits.max_depth, "{name}");
            assert!(ast.nodes().len() <= limits.max_nodes as usize, "{name}");
            check_tree(ast);
            assert!(!dump(ast).is_empty());
        }
        Err(diagnostics) => {
            assert!((1..=limits.max_diagnostics as usize).contains(&diagnostics.len()), "{name}");
            for diagnostic in diagnostics {
                let span = diagnostic.span;
                assert!(source.get(span.start as usize..span.end as usize).is_some(), "{name}: {diagnostic:?}");
            }
            assert!(render(source, name, diagnostics, Style::Plain).len() < 64 * 1024, "{name}");
        }
    }
}

#[test]
fn every_shape_ends() {
    small_stack(|| {
        for (name, make) in shapes() {
            for n in [1, 3, 4, 40, 249, 250, 251, 1000, 20_000] {
                let source = make(n);
                check(name, &source, &roomy(), &parse(&source, &roomy()));
                check(name, &source, &Limits::default(), &parse(&source, &Limits::default()));
            }
        }
    });
}

#[test]
fn deep_nesting_is_a_limit() {
    small_stack(|| {
        let deep = [
            "parens",
            "parens unclosed",
            "lists unclosed",
            "lists",
            "maps unclosed",
            "calls unclosed",
            "messages unclosed",
            "indexes unclosed",
            "macros unclosed",
            "not",
            "minus",
            "not paren",
            "motif",
            "fields",
            "methods",
            "macro methods",
            "elements",
            "sum",
            "product",
            "relations",
            "in",
            "nested or",
            "conditionals",
            "precedence ladder",
            "message name",
        ];
        for (name, make) in shapes().into_iter().filter(|(name, _)| deep.contains(name)) {
            let diagnostics = parse(&make(5000), &roomy()).expect_err(name);
            assert_eq!(diagnostics.len(), 1, "{name}: {diagnostics:?}");
            assert_eq!((diagnostics[0].stage, diagnostics[0].code), (Stage::Limit, "too-deep"), "{name}");
        }
    });
}

#[test]
fn the_most_a_limit_allows_fits_the_stack() {
    small_stack(|| {
        // Every kind of nesting within every other: twelve levels of tree, four brackets, the parentheses apart.
        let units = 80;
        let source = "a?b:c||d&&e==f+g*!!f([{1:M{x:(".repeat(units) + "1" + &")}}])".repeat(units);
        let depth = u32::try_from(12 * units + 1).unwrap();
        let ast = parse(&source, &Limits { max_depth: depth, ..roomy() }).unwrap();
        assert_eq!(ast.depth(), depth);
        assert!(parse(&source, &Limits { max_depth: depth - 1, ..roomy() }).is_err());
        // Brackets that add nothing to the tree.
        for unit in ["(", "a||(", "!!(", "[(", "f(("] {
            let closers: String = unit
                .chars()
                .rev()
                .filter_map(|c| {
                    Some(match c {
                        '(' => ')',
                        '[' => ']',
                        _ => return None,
                    })
                })
                .collect();
            let source = unit.repeat(1000) + "1" + &closers.repeat(1000);
            let limits = Limits { max_depth: 2001, ..roomy() };
            assert!(parse(&source, &limits).is_ok(), "{unit}");
        }
    });
}

#[test]
fn truncation_never_panics() {
    let source = "a.b.?c[?0].`d-e`(1) ? has(x.y) && [1, ?2u,].all(i, v, v > -0x1F) : M{f: 'é\\u00e9', ?g: b\"\"\"\\xff\"\"\"} \
                  // é\n || cel.bind(x, r'\\', {x: 1.5e3,}.optMap(y, !!y)) /* é";
    for (end, _) in source.char_indices() {
        for start in [0, 4, 12, 30] {
            if start <= end && source.is_char_boundary(start) {
                let piece = &source[start..end];
                check("truncated", piece, &Limits::default(), &parse(piece, &Limits::default()));
            }
        }
    }
}

/// Real expressions with pieces of one copied over another, in an order that is always the same.
#[test]
fn mutations_never_panic() {
    let seeds = [
        "request.method == 'GET' && (request.path.startsWith(\"/a\") || request.headers['x-y'] in ['a', 'b',])",
        "has(a.b) && (c || (d || e)) ? cel.bind(x, 1u, x + 2u) : -m.`k-l`[0x1F] * .5",
        "m.all(k, v, k in v) && l.map(i, i > 0, i * 2).exists_one(x, !!x) || o.?f[?2].optMap(y, y).orValue({?'é': 1})",
        "a.b.M{f: r'''\\d''', ?g: b'\\xff', h: [?a, .b.c(1.5e-3)]}.transformMap(i, v, v != null, {i: v}) // end",
    ];
    let mut state: u64 = 1;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut source: Vec<char> = seeds[random(seeds.len())].chars().collect();
        for _ in 0..=random(4) {
            let other: Vec<char> = seeds[random(seeds.len())].chars().collect();
            let from = random(other.len());
            let to = (from + random(12)).min(other.len());
            let at = random(source.len() + 1);
            let end = (at + random(12)).min(source.len());
            source.splice(at..end, other[from..to].iter().copied());
        }
        let source: String = source.into_iter().collect();
        let result = parse(&source, &Limits::default());
        accepted += usize::from(result.is_ok());
        check("mutation", &source, &Limits::default(), &result);
    }
    assert!(accepted > 100, "{accepted} of the mutations are still CEL");
}

/// Token soup: every pair and triple of tokens.
#[test]
fn token_soup_never_panics() {
    let tokens = [
        "a",
        "1",
        "1u",
        ".5",
        "'s'",
        "b''",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        ":",
        "?",
        "!",
        "-",
        "+",
        "==",
        "&&",
        "||",
        "in",
        "if",
        "`q`",
        "=",
        "&",
        "é",
        "has(",
        ".map(",
        "cel.bind(",
        "/*",
        "//",
        "'",
    ];
    for a in tokens {
        for b in tokens {
            for c in tokens {
                for source in [format!("{a}{b}{c}"), format!("f({a} {b} {c})")] {
                    check("soup", &source, &Limits::default(), &parse(&source, &Limits::default()));
                }
            }
        }
    }
}

#[test]
fn time_is_linear() {
    small_stack(|| {
        for (name, make) in shapes() {
            assert_linear(name, [4_000, 16_000], |size| {
                let source = make(size);
                cpu_time_of(|| parse(&source, &roomy()))
            });
        }
    });
}
