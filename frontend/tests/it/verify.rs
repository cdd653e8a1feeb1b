//! The invariants of checked trees: each is refused where it does not hold.

use celero_frontend::stdlib::{Builtin, Library};
use celero_frontend::{
    BinaryOp, Checked, Declarations, Expr, FallbackKind, FoldKind, InvalidTree, Invariant, Limits, Literal, LogicOp,
    Name, NodeId, Nodes, Overload, Reference, Span, TreeBuilder, Type, Variable,
};

const SOURCE: &str = "aé b";
const ALL: Span = Span { start: 0, end: 5 };

fn declared() -> Declarations {
    let mut declarations = Declarations::new();
    declarations.add_variable(Variable::new("n", Type::Int));
    declarations.add_function("f", false, vec![Type::Int], Type::String);
    declarations
}

fn int(tree: &mut TreeBuilder) -> NodeId {
    tree.add(Expr::Literal(Literal::Int(1)), ALL, Type::Int, Reference::None)
}

fn yes(tree: &mut TreeBuilder) -> NodeId {
    tree.add(Expr::Literal(Literal::Bool(true)), ALL, Type::Bool, Reference::None)
}

fn ident(tree: &mut TreeBuilder, ty: Type, reference: Reference) -> NodeId {
    let name = tree.name("n");
    tree.add(Expr::Ident { name, rooted: false, test: false }, ALL, ty, reference)
}

fn call(overloads: &[Overload]) -> Reference {
    Reference::Call { overloads: overloads.into(), receiver: false }
}

fn list(tree: &mut TreeBuilder, of: &[NodeId]) -> NodeId {
    let elements = tree.children(of);
    tree.add(Expr::List { elements, optional: Box::default() }, ALL, Type::list(Type::Dyn), Reference::None)
}

fn made(build: impl FnOnce(&mut TreeBuilder) -> NodeId, limits: &Limits) -> Result<Checked, Box<InvalidTree>> {
    let mut tree = TreeBuilder::new(SOURCE);
    let root = build(&mut tree);
    tree.finish(root, &declared(), limits)
}

/// Asserts that a tree is refused for this reason.
#[track_caller]
fn refused(invariant: Invariant, message: &str, build: impl FnOnce(&mut TreeBuilder) -> NodeId) {
    let error = made(build, &Limits::default()).unwrap_err();
    assert_eq!((error.invariant, error.to_string().as_str()), (invariant, message));
}

#[test]
fn a_valid_tree_is_accepted() {
    let build = |tree: &mut TreeBuilder| {
        let n = ident(tree, Type::Int, Reference::Variable(0));
        let one = int(tree);
        let sum = Expr::Binary { op: BinaryOp::Add, left: n, right: one };
        let sum = tree.add(sum, ALL, Type::Int, call(&[Overload::Builtin(Builtin::AddInt)]));
        let (function, args) = (tree.name("f"), tree.children(&[sum]));
        tree.add(
            Expr::Call { target: None, function, rooted: false, args },
            ALL,
            Type::String,
            call(&[Overload::Host(0)]),
        )
    };
    let checked = made(build, &Limits::default()).unwrap();
    assert_eq!(checked.result_type(), &Type::String);
    assert_eq!(checked.ast().depth(), 3);
    assert_eq!(checked.verify(&declared(), &Limits::default()), Ok(()));
    // It is valid for what it was made for, and no more.
    assert_eq!(checked.verify(&Declarations::new(), &Limits::default()).unwrap_err().invariant, Invariant::Reference);
    let mut without = declared();
    without.set_library(Library::Strings, false);
    assert_eq!(checked.verify(&without, &Limits::default()), Ok(()));
    for limits in [
        Limits { max_depth: 2, ..Limits::default() },
        Limits { max_nodes: 3, ..Limits::default() },
        Limits { max_source_bytes: 4, ..Limits::default() },
    ] {
        assert_eq!(made(build, &limits).unwrap_err().invariant, Invariant::Size, "{limits:?}");
    }
}

#[test]
fn children_come_before_parents_and_are_of_the_tree() {
    refused(Invariant::Order, "node 7: the root is no node of the tree", |tree| {
        int(tree);
        NodeId(7)
    });
    refused(Invariant::Order, "node 0: its child 0 was not added before it", |tree| list(tree, &[NodeId(0)]));
    refused(Invariant::Order, "node 0: its child 5 was not added before it", |tree| list(tree, &[NodeId(5)]));
    refused(Invariant::Order, "node 0: its children are of another tree", |tree| {
        let elements = Nodes { start: 1, len: u32::MAX };
        tree.add(Expr::List { elements, optional: Box::default() }, ALL, Type::list(Type::Dyn), Reference::None)
    });
    refused(Invariant::Order, "node 0: a name is of another tree", |tree| {
        tree.add(Expr::Ident { name: Name(3), rooted: false, test: false }, ALL, Type::Int, Reference::Variable(0))
    });
}

#[test]
fn spans_are_parts_of_the_source() {
    for (start, end) in [(0, 6), (2, 5), (3, 1)] {
        refused(Invariant::Span, &format!("node 0: {start}..{end} is no part of the source"), |tree| {
            tree.add(Expr::Literal(Literal::Int(1)), Span::new(start, end), Type::Int, Reference::None)
        });
    }
}

#[test]
fn expressions_have_the_parts_of_their_kind() {
    refused(Invariant::Shape, "node 0: it is an error", |tree| tree.add(Expr::Error, ALL, Type::Dyn, Reference::None));
    refused(Invariant::Shape, "node 1: a chain has at least two operands", |tree| {
        let operand = yes(tree);
        let operands = tree.children(&[operand]);
        tree.add(Expr::Logic { op: LogicOp::And, operands }, ALL, Type::Bool, Reference::None)
    });
    refused(Invariant::Shape, "node 1: a map has keys and values in turn", |tree| {
        let key = int(tree);
        let entries = tree.children(&[key]);
        let ty = Type::map(Type::Int, Type::Int);
        tree.add(Expr::Map { entries, optional: Box::default() }, ALL, ty, Reference::None)
    });
    refused(Invariant::Shape, "node 1: there is a mark for each element, or none", |tree| {
        let element = int(tree);
        let elements = tree.children(&[element]);
        let optional = Box::new([true, false]);
        tree.add(Expr::List { elements, optional }, ALL, Type::list(Type::Int), Reference::None)
    });
    refused(Invariant::Shape, "node 1: `default` has two operands", |tree| {
        let operand = int(tree);
        let operands = tree.children(&[operand]);
        tree.add(Expr::Fallback { kind: FallbackKind::Default, operands }, ALL, Type::Int, Reference::None)
    });
    let fold = |kind, second: bool, filter: bool, transform: bool| {
        move |tree: &mut TreeBuilder| {
            let range = list(tree, &[]);
            let mut inside = |wanted: bool| wanted.then(|| yes(tree));
            let (filter, transform) = (inside(filter), inside(transform));
            let var = tree.name("x");
            let fold = Expr::Fold { kind, range, var, var2: second.then_some(var), filter, transform };
            tree.add(fold, ALL, Type::Dyn, Reference::None)
        }
    };
    let limits = Limits::default();
    for (kind, second, filter, transform) in [
        (FoldKind::All, true, true, false),
        (FoldKind::Filter, false, true, false),
        (FoldKind::Map, false, true, true),
        (FoldKind::TransformMap, true, false, true),
        (FoldKind::FilterKeys, true, true, true),
    ] {
        made(fold(kind, second, filter, transform), &limits).unwrap();
    }
    for (kind, second, filter, transform) in [
        (FoldKind::All, true, false, false),
        (FoldKind::All, false, true, true),
        (FoldKind::Filter, true, true, false),
        (FoldKind::Map, false, true, false),
        (FoldKind::TransformMap, false, false, true),
        (FoldKind::MapValues, true, true, true),
    ] {
        let error = made(fold(kind, second, filter, transform), &limits).unwrap_err();
        assert_eq!(error.invariant, Invariant::Shape, "{kind:?} {second} {filter} {transform}");
    }
}

#[test]
fn types_are_concrete_and_suit_the_expression() {
    let literal =
        |ty: Type| move |tree: &mut TreeBuilder| tree.add(Expr::Literal(Literal::Int(1)), ALL, ty, Reference::None);
    let limits = Limits::default();
    let mut deep = Type::Int;
    for _ in 0..64 {
        deep = Type::list(deep);
    }
    for ty in [Type::Error, Type::Var(0), Type::Param("A".into()), Type::list(Type::Error), deep] {
        assert_eq!(made(literal(ty), &limits).unwrap_err().invariant, Invariant::Type);
    }
    made(literal(Type::Dyn), &limits).unwrap();
    refused(Invariant::Type, "node 0: its type is `string`, which is no `int`", literal(Type::String));
    refused(Invariant::Type, "node 0: its type is `bool`, which is no `int`", |tree| {
        ident(tree, Type::Bool, Reference::Variable(0))
    });
    refused(Invariant::Type, "node 0: its type is `int`, which is no `bool`", |tree| {
        let (a, b) = (int(tree), yes(tree));
        let operands = tree.children(&[a, b]);
        tree.add(Expr::Logic { op: LogicOp::Or, operands }, ALL, Type::Bool, Reference::None)
    });
}

#[test]
fn names_and_calls_refer_to_what_is_declared() {
    refused(Invariant::Reference, "node 0: there is no variable of this index", |tree| {
        ident(tree, Type::Int, Reference::Variable(1))
    });
    refused(Invariant::Reference, "node 0: a name refers to nothing", |tree| ident(tree, Type::Int, Reference::None));
    refused(Invariant::Reference, "node 0: the expression can't have this reference", |tree| {
        ident(tree, Type::Int, Reference::Undeclared)
    });
    refused(Invariant::Reference, "node 0: the expression can't have this reference", |tree| {
        tree.add(Expr::Literal(Literal::Int(1)), ALL, Type::Int, Reference::Variable(0))
    });
    let sum = |reference: Reference| {
        move |tree: &mut TreeBuilder| {
            let (left, right) = (int(tree), int(tree));
            tree.add(Expr::Binary { op: BinaryOp::Add, left, right }, ALL, Type::Dyn, reference)
        }
    };
    let builtin = |builtin| call(&[Overload::Builtin(builtin)]);
    for (reference, reason) in [
        (Reference::None, "a call or an operator refers to no function"),
        (call(&[]), "a call or an operator refers to no function"),
        (builtin(Builtin::SubInt), "an operator refers to a function of another name"),
        (builtin(Builtin::AddString), "a `int` is no operand for a `string`"),
        (call(&[Overload::Host(0)]), "an operator refers to a function of the host"),
    ] {
        refused(Invariant::Reference, &format!("node 2: {reason}"), sum(reference));
    }
    let named = |reference: Reference, ty: Type| {
        move |tree: &mut TreeBuilder| {
            let one = int(tree);
            let (function, args) = (tree.name("f"), tree.children(&[one]));
            tree.add(Expr::Call { target: None, function, rooted: false, args }, ALL, ty, reference)
        }
    };
    for (overload, reason) in [
        (Overload::Host(1), "there is no host function of this index"),
        (Overload::Defined(0), "there is no defined function of this index"),
        (Overload::Builtin(Builtin::Contains), "a function takes another number of operands"),
    ] {
        refused(Invariant::Reference, &format!("node 1: {reason}"), named(call(&[overload]), Type::Dyn));
    }
    let message = "node 1: its type is `int`, which is no `string`";
    refused(Invariant::Type, message, named(call(&[Overload::Host(0)]), Type::Int));
    refused(Invariant::Type, message, named(Reference::Guard(Type::String), Type::Int));
}

#[test]
fn a_function_of_a_library_that_is_off_is_refused() {
    let mut declarations = declared();
    declarations.set_library(Library::Gateway, false);
    let mut tree = TreeBuilder::new(SOURCE);
    let (function, args) = (tree.name("random"), tree.children(&[]));
    let reference = call(&[Overload::Builtin(Builtin::Random)]);
    let root = tree.add(Expr::Call { target: None, function, rooted: false, args }, ALL, Type::Dyn, reference);
    let error = tree.finish(root, &declarations, &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "node 0: a function is of a library that is turned off");
}

#[test]
fn macro_variables_are_used_in_their_scope() {
    let bind = |outside: u32, inside: u32| {
        move |tree: &mut TreeBuilder| {
            let init = if outside == u32::MAX { int(tree) } else { ident(tree, Type::Int, Reference::Local(outside)) };
            let body = ident(tree, Type::Int, Reference::Local(inside));
            let var = tree.name("x");
            tree.add(Expr::Bind { var, init, body, with: false }, ALL, Type::Int, Reference::None)
        }
    };
    made(bind(u32::MAX, 0), &Limits::default()).unwrap();
    refused(Invariant::Scope, "node 0: level 0 is not open here, 0 are", bind(0, 0));
    refused(Invariant::Scope, "node 1: level 1 is not open here, 1 are", bind(u32::MAX, 1));
}

#[test]
fn only_names_and_literals_are_shared() {
    let twice = |of: fn(&mut TreeBuilder) -> NodeId| {
        move |tree: &mut TreeBuilder| {
            let element = of(tree);
            list(tree, &[element, element])
        }
    };
    made(twice(int), &Limits::default()).unwrap();
    made(twice(|tree| ident(tree, Type::Int, Reference::Variable(0))), &Limits::default()).unwrap();
    refused(
        Invariant::Sharing,
        "node 1: it has several parents",
        twice(|tree| {
            let one = int(tree);
            list(tree, &[one])
        }),
    );
    // Evaluated once for each parent, this would take 2^60 steps.
    let doubling = |tree: &mut TreeBuilder| (0..60).fold(int(tree), |below, _| list(tree, &[below, below]));
    assert_eq!(made(doubling, &Limits::default()).unwrap_err().invariant, Invariant::Sharing);
}
