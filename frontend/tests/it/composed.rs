//! What languages that compose rules of several expressions use: grafts, names by scope,
//! abbreviations, and functions that are taken away.

use celero_frontend::{
    Cel, Checked, Declarations, Diagnostic, Expr, Graft, Language, Limits, MessageTypes, Reference, Span, TreeBuilder,
    Type, Variable, common_type, unparse,
};
use std::sync::Arc;

fn checked(declarations: &Declarations, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    Cel.check(text, declarations, &Limits::default()).map(|(checked, _)| checked)
}

fn message(declarations: &Declarations, text: &str) -> String {
    match checked(declarations, text) {
        Ok(checked) => checked.result_type().to_string(),
        Err(found) => found.iter().map(|found| found.message.clone()).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn a_graft_has_its_variables_and_its_places_in_the_new_tree() {
    let mut declarations = Declarations::new();
    let outer = declarations.add_variable(Variable::new("n", Type::Int));
    let inner = declarations.add_variable(Variable::new("parts.list", Type::list(Type::Int)));
    let source = "xx[n, 2] / parts.list.exists(x, x > n && parts.list[0] == x)";
    let (init, body) = (checked(&declarations, "[n, 2]").unwrap(), &source[11..]);
    let body = checked(&declarations, body).unwrap();

    let mut tree = TreeBuilder::new(source);
    let graft = |tree: &mut TreeBuilder, from: &Checked, level: u32, start: u32| {
        let local = move |index: u32| (index == inner && level > 0).then_some(0);
        let span = move |span: Span| Span::new(span.start + start, span.end + start);
        tree.graft(from, &Graft { level, local: &local, span: &span })
    };
    let init = graft(&mut tree, &init, 0, 2);
    let body = graft(&mut tree, &body, 1, 11);
    let bind = Expr::Bind { var: tree.name("list"), init, body, with: false };
    let root = tree.add(bind, Span::new(0, 0), Type::Bool, Reference::None);
    let whole = tree.finish(root, &declarations, &Limits::default()).unwrap();

    assert_eq!(unparse(whole.ast()), "cel.bind(list, [n, 2], parts.list.exists(x, x > n && parts.list[0] == x))");
    let mut seen = Vec::new();
    for (id, node) in (0..).map(celero_frontend::NodeId).zip(whole.ast().nodes()) {
        let text = &source[node.span.start as usize..node.span.end as usize];
        match whole.reference(id) {
            Reference::Local(level) => seen.push(format!("{text} is local {level}")),
            Reference::Variable(index) => {
                assert_eq!((*index, text), (outer, "n"));
            }
            _ => {}
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ["parts.list is local 0", "x is local 1"]);
}

#[test]
fn a_name_stands_for_another_variable_inside_of_a_scope() {
    let mut declarations = Declarations::new();
    let first = declarations.add_variable(Variable::new("a.x", Type::Int));
    let hidden = declarations.rename_variable("a.x", None);
    assert_eq!(hidden, Some(first));
    assert!(checked(&declarations, "a.x").is_err());
    let second = declarations.add_variable(Variable::new("a.x", Type::String));
    assert_eq!(message(&declarations, "a.x"), "string");
    assert_eq!(declarations.rename_variable("a.x", hidden), Some(second));
    assert_eq!(message(&declarations, "a.x"), "int");
}

#[test]
fn the_last_part_of_a_name_stands_for_the_whole() {
    let mut messages = MessageTypes::default();
    messages.add_message("acme.v1.Order", [(Arc::from("id"), Type::Int)]);
    messages.add_message("acme.v1.Order.Line", [(Arc::from("id"), Type::Int)]);
    messages.add_message("other.Order", [(Arc::from("name"), Type::String)]);
    messages.add_constant("acme.v1.Order.Kind.BIG", 7);
    let mut declarations = Declarations::new();
    declarations.set_messages(messages);
    declarations.set_container("other");
    assert_eq!(message(&declarations, "Order{name: 'a'}"), "other.Order");
    declarations.abbreviate("acme.v1.Order").unwrap();
    declarations.abbreviate("acme.v1.Order").unwrap();
    assert_eq!(message(&declarations, "Order{id: 1}"), "acme.v1.Order");
    assert_eq!(message(&declarations, "Order.Line{id: 1}.id + Order.Kind.BIG"), "int");
    assert_eq!(message(&declarations, ".other.Order{name: 'a'}"), "other.Order");
    assert_eq!(message(&declarations, "[1].map(Order, Order + 1)"), "list(int)");
    assert_eq!(message(&declarations, "Order"), "type(acme.v1.Order)");
    assert!(checked(&declarations, "Order.Kind.SMALL == 1").is_err());
    let clash = declarations.abbreviate("other.Order").unwrap_err();
    assert_eq!(clash, "`Order` stands for `acme.v1.Order` already, and can't stand for `other.Order`");
    assert!(declarations.abbreviate("Order").is_err());
}

#[test]
fn what_is_taken_away_is_named() {
    let mut declarations = Declarations::new();
    declarations.add_variable(Variable::new("m", Type::map(Type::String, Type::Int)));
    let texts = [
        ("has", "has(m.x)", "`has`"),
        ("map", "[1].map(n, n)", "`map`"),
        ("size", "'a'.size()", "`size`"),
        ("_+_", "1 + 2", "`+`"),
        ("_&&_", "true && true", "`&&`"),
        ("_?_:_", "true ? 1 : 2", "`?:`"),
        ("@in", "1 in [1]", "`in`"),
    ];
    for (name, text, shown) in texts {
        assert!(checked(&declarations, text).is_ok(), "{text}");
        declarations.exclude(name);
        assert!(declarations.is_excluded(name));
        assert_eq!(message(&declarations, text), format!("the environment does not have {shown}"));
    }
    assert!(checked(&declarations, "[2, 1].sortBy(n, n)").is_ok(), "its expansion has a `map`");
    assert!(checked(&declarations, "[1].all(n, n > 0) && true").is_err());
    assert!(checked(&declarations, "[1].all(n, n > 0)").is_ok());
}

#[test]
fn types_that_agree_have_a_common_one() {
    let common =
        |one: &str, other: &str| common_type(&one.parse().unwrap(), &other.parse().unwrap()).map(|ty| ty.to_string());
    assert_eq!(common("int", "int").as_deref(), Some("int"));
    assert_eq!(common("int", "string"), None);
    assert_eq!(common("list(dyn)", "list(int)").as_deref(), Some("list(dyn)"));
    assert_eq!(common("dyn", "int").as_deref(), Some("dyn"));
    assert_eq!(common("map(string, int)", "map(string, string)"), None);
}
