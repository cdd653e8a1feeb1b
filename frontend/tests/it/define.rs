//! Functions defined in CEL: a call is inlined to the tree of the `cel.bind` that it stands for.

use celero_frontend::{
    Ast, Checked, Declarations, Diagnostic, Expr, FunctionDeclaration, Limits, NodeId, Reference, Type, Variable,
    check, define, dump, inline, parse,
};

fn add(declarations: &mut Declarations, declaration: &str, body: &str) -> Result<(), Vec<Diagnostic>> {
    let declaration = FunctionDeclaration::parse(declaration).unwrap();
    let definition = define(declarations, &declaration, body, &Limits::default())?;
    declarations.add_definition(definition);
    Ok(())
}

fn declared(definitions: &[(&str, &str)]) -> Declarations {
    let mut declarations = Declarations::new();
    for (name, ty) in [("v", Type::Dyn), ("n", Type::Int)] {
        declarations.add_variable(Variable::new(name, ty));
    }
    for (declaration, body) in definitions {
        add(&mut declarations, declaration, body).unwrap_or_else(|d| panic!("{declaration}: {d:?}"));
    }
    declarations
}

fn inlined(declarations: &Declarations, source: &str) -> Result<Checked, Vec<Diagnostic>> {
    let limits = Limits::default();
    let (checked, _) = check(parse(source, &limits).unwrap(), declarations, &limits)?;
    Ok(inline(&checked, declarations, &limits)?.unwrap_or(checked))
}

/// The tree without places, and what its names stand for, children first.
fn meaning(checked: &Checked) -> String {
    let ast = checked.ast();
    let tree: Vec<String> =
        dump(ast).lines().map(|line| line.rsplit_once(' ').map_or(line, |(head, _)| head).to_owned()).collect();
    let mut names = Vec::new();
    walk(ast, ast.root(), &mut |id| match checked.reference(id) {
        Reference::Local(level) => names.push(format!("local {level}")),
        Reference::Variable(index) => names.push(format!("variable {index}")),
        Reference::Guard(ty) => names.push(format!("is {ty}")),
        _ => {}
    });
    format!("{}\n{}", tree.join("\n"), names.join(", "))
}

fn walk(ast: &Ast, id: NodeId, visit: &mut dyn FnMut(NodeId)) {
    let children: Vec<NodeId> = match ast.expr(id) {
        Expr::Select { operand, .. } | Expr::Unary { operand, .. } => vec![*operand],
        Expr::Binary { left, right, .. } => vec![*left, *right],
        Expr::Call { target, args, .. } => target.iter().chain(ast.children(*args)).copied().collect(),
        Expr::Logic { operands: nodes, .. } | Expr::List { elements: nodes, .. } => ast.children(*nodes).to_vec(),
        Expr::Fold { range, filter, transform, .. } => {
            [Some(*range), *filter, *transform].into_iter().flatten().collect()
        }
        Expr::Bind { init, body, .. } => vec![*init, *body],
        Expr::OptMap { target, body, .. } => vec![*target, *body],
        _ => Vec::new(),
    };
    for child in children {
        walk(ast, child, visit);
    }
    visit(id);
}

#[test]
fn a_call_is_the_binding_that_it_stands_for() {
    let declarations = declared(&[
        ("id(a)", "a"),
        ("sum(a, b)", "a + b"),
        ("sum3(a, b, c)", "sum(sum(a, b), c)"),
        ("each(l, d)", "l.map(x, sum(x, d)).filter(y, y > d)"),
        ("dyn.plus(d)", "optional.of(this).optMap(x, sum(x, d)).value()"),
    ]);
    for (call, text) in [
        ("id(v)", "v"),
        ("id(1) + 2", "1 + 2"),
        ("id(n + 1)", "cel.bind(a, n + 1, a)"),
        ("sum(1, v)", "1 + v"),
        ("sum(n + 1, v)", "cel.bind(a, n + 1, a + v)"),
        ("sum(v, n + 1)", "cel.bind(b, n + 1, v + b)"),
        ("sum(n + 1, n + 2)", "cel.bind(a, n + 1, cel.bind(b, n + 2, a + b))"),
        ("sum(sum(n + 1, 2), 3)", "cel.bind(a, cel.bind(a, n + 1, a + 2), a + 3)"),
        ("sum(1, sum(n + 1, 2))", "cel.bind(b, cel.bind(a, n + 1, a + 2), 1 + b)"),
        ("sum3(1, v, 3)", "cel.bind(a, 1 + v, a + 3)"),
        (
            "sum3(n + 1, n + 2, n + 3)",
            "cel.bind(a, n + 1, cel.bind(b, n + 2, cel.bind(c, n + 3, cel.bind(a, a + b, a + c))))",
        ),
        ("[1].map(x, sum(x, x))", "[1].map(x, x + x)"),
        (
            "[1].map(x, sum(x + 1, [2].map(y, x + y)[0]))",
            "[1].map(x, cel.bind(a, x + 1, cel.bind(b, [2].map(y, x + y)[0], a + b)))",
        ),
        ("each([1], 2)", "cel.bind(l, [1], l.map(x, x + 2).filter(y, y > 2))"),
        (
            "[5].map(d, each([d], d + 1))",
            "[5].map(d, cel.bind(l, [d], cel.bind(d, d + 1, l.map(x, x + d).filter(y, y > d))))",
        ),
        ("(n + 1).plus(2)", "cel.bind(this, n + 1, optional.of(this).optMap(x, x + 2).value())"),
    ] {
        let (call, text) = (inlined(&declarations, call).unwrap(), inlined(&declarations, text).unwrap());
        assert_eq!(meaning(&call), meaning(&text), "{}", call.ast().source());
    }
}

/// `x` of the caller is another variable in the body, though both have the name.
#[test]
fn a_body_does_not_see_the_variables_of_its_caller() {
    let mut declarations = declared(&[("f(x)", "[x].map(v, x + v)")]);
    let call = inlined(&declarations, "[1].map(x, f(v))").unwrap();
    let text = inlined(&declarations, "[1].map(x, [v].map(w, v + w))").unwrap();
    assert_eq!(meaning(&call).replace("map v", "map w").lines().last(), meaning(&text).lines().last());
    assert!(inlined(&declarations, "[1].map(y, f(y))").is_ok());
    assert!(add(&mut declarations, "g(a)", "a + y").is_err());
}

#[test]
fn parameters_check_what_may_be_of_another_type() {
    let declarations =
        declared(&[("f(a: int)", "a"), ("g(a) -> int", "a"), ("h(a: int) -> dyn", "a"), ("s() -> bool", "n == 1")]);
    let names = |source: &str| {
        let meaning = meaning(&inlined(&declarations, source).unwrap());
        meaning.rsplit_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(names("f(1)"), "");
    assert_eq!(names("f(n)"), "variable 1");
    assert_eq!(names("f(v)"), "variable 0, is int, local 0");
    assert_eq!(names("f(n + 1)"), "variable 1, is int, local 0");
    assert_eq!(names("[n].map(x, f(x))"), "variable 1, local 0, is int, local 1");
    assert_eq!(names("g(v)"), "variable 0, is int");
    assert_eq!(names("h(n)"), "variable 1");
    assert_eq!(names("s()"), "variable 1");
}

#[test]
fn what_comes_from_a_body_has_the_place_of_the_call() {
    let declarations = declared(&[("f(a)", "[a].map(x, x + n)")]);
    let checked = inlined(&declarations, "[0] + f(v + 2)").unwrap();
    let shown: Vec<(u32, u32)> = checked.ast().nodes().iter().map(|n| (n.span.start, n.span.end)).collect();
    let own = [(0, 14), (0, 3), (1, 2), (8, 9), (12, 13), (8, 13)];
    assert!(shown.iter().all(|place| *place == (6, 14) || own.contains(place)), "{shown:?}");
    assert!(shown.iter().filter(|place| **place == (6, 14)).count() >= 5);
}

/// Each definition calls the one before twice: the 60th would have 2^60 nodes.
#[test]
fn definitions_that_double_are_refused_early() {
    let mut declarations = declared(&[("f0(a)", "a + 1")]);
    let refused = (1..60).find_map(|i| {
        let body = format!("f{}(a) + f{}(a + 1)", i - 1, i - 1);
        add(&mut declarations, &format!("f{i}(a)"), &body).err().map(|d| (i, d))
    });
    let (level, diagnostics) = refused.unwrap();
    assert!(level <= 16, "{level}");
    let [one] = &*diagnostics else { panic!("{diagnostics:?}") };
    assert_eq!(one.code, "too-many-nodes");
    assert!(one.message.contains("65536 nodes (`max_nodes`)"), "{}", one.message);
}

#[test]
fn calls_of_large_definitions_are_bounded_in_the_rule() {
    let declarations = declared(&[("f(a)", &format!("[{}]", vec!["a"; 1000].join(", ")))]);
    let rule = format!("[{}]", vec!["f(v + 1)"; 100].join(", "));
    let diagnostics = inlined(&declarations, &rule).unwrap_err();
    assert_eq!(diagnostics.first().unwrap().code, "too-many-nodes");
    assert!(inlined(&declarations, "[f(v + 1), f(v + 2)]").is_ok());
}

/// Chains of definitions and deep bodies in deep arguments fit on the stack, or are refused.
#[test]
fn depth_is_bounded() {
    let mut declarations = declared(&[("f0(a: int)", "a + 1")]);
    let refused = (1..1000).find_map(|i| {
        add(&mut declarations, &format!("f{i}(a: int)"), &format!("f{}(a + 1)", i - 1)).err().map(|d| (i, d))
    });
    let (level, diagnostics) = refused.unwrap();
    assert!((50..250).contains(&level), "{level}");
    let deepest = level - 1;
    assert_eq!(diagnostics.first().unwrap().code, "too-deep");
    assert!(inlined(&declarations, &format!("f{deepest}(n)")).is_ok());
    let deep = format!("{}n{}", "f0(".repeat(60), ")".repeat(60));
    assert!(inlined(&declarations, &deep).is_ok());
    let both = format!("f{deepest}({})", vec!["1"; 249].join(" + "));
    let found = inlined(&declarations, &both);
    assert!(found.is_ok() || found.unwrap_err().first().unwrap().code == "too-deep");
}

/// Definitions hold what was written: thousands that use a large one take no more than they are long.
#[test]
fn definitions_share_what_they_use() {
    let mut declarations = declared(&[("f0()", "n + n")]);
    for i in 1..14 {
        add(&mut declarations, &format!("f{i}()"), &format!("f{0}() + f{0}()", i - 1)).unwrap();
    }
    // Each of these has half as many nodes as one tree may have.
    for i in 0..1000 {
        add(&mut declarations, &format!("wide{i}()"), "f13() + 1").unwrap();
    }
    assert!(inlined(&declarations, "wide999() == 1").is_ok());
    let errors = inlined(&declarations, "wide1() + wide2() == 1").unwrap_err();
    assert_eq!(errors.iter().map(|e| (e.code, e.span.start)).collect::<Vec<_>>(), [("too-many-nodes", 10)]);
}

/// A chain of names for one thing is no deeper as a tree, but writing it recurses.
#[test]
fn names_of_names_are_bounded() {
    let mut declarations = declared(&[("f0()", "n")]);
    let refused = (1..1000).find_map(|i| {
        add(&mut declarations, &format!("f{i}()"), &format!("f{}()", i - 1)).err().map(|errors| (i, errors))
    });
    let (last, errors) = refused.unwrap();
    assert_eq!((last, errors[0].code), (251, "too-deep"), "{errors:?}");
    assert_eq!(meaning(&inlined(&declarations, "f249()").unwrap()), meaning(&inlined(&declarations, "n").unwrap()));
}

/// The size that is known before a tree is written is that of the tree, or more where an argument
/// replaces its parameter in the end.
#[test]
fn the_size_of_a_tree_is_known_before_it_is_written() {
    let declarations = declared(&[
        ("id(a)", "a"),
        ("sum(a: int, b: int)", "a + b"),
        ("sum3(a, b, c)", "sum(sum(a, b), c)"),
        ("each(l, d)", "l.map(x, sum(x, d)).filter(y, y > d)"),
        ("deep(a)", "[[[[a]]]]"),
    ]);
    // Where an argument replaces its parameter, the parameter's uses are counted too.
    for (call, more_nodes, deeper) in [
        ("id(v)", 1, 0),
        ("sum(1, n)", 2, 0),
        ("sum(n + 1, v)", 0, 0),
        ("sum3(n + 1, n + 2, n + 3)", 0, 0),
        ("each([1], n + 2)", 0, 0),
        ("deep(deep(v))", 1, 0),
        ("sum3(1, 2, 3)", 12, 3),
    ] {
        let tree = inlined(&declarations, call).unwrap();
        let (nodes, depth) = (u32::try_from(tree.ast().nodes().len()).unwrap(), tree.ast().depth());
        let fits = |max_nodes: u32, max_depth: u32| {
            let (checked, _) =
                check(parse(call, &Limits::default()).unwrap(), &declarations, &Limits::default()).unwrap();
            inline(&checked, &declarations, &Limits { max_nodes, max_depth, ..Limits::default() }).is_ok()
        };
        assert!(!fits(nodes - 1, 250) && !fits(65_536, depth - 1), "{call}");
        assert!(fits(nodes + more_nodes, 250), "{call}: {nodes} nodes");
        assert!(fits(65_536, depth + deeper), "{call}: depth {depth}");
    }
}
