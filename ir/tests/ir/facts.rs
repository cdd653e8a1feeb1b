//! What is known of graphs without evaluating them: failure and cost.

use crate::common::fields;
use celero_ir::{Cost, Fallible, NodeId, parse};

#[test]
fn failure_is_found_where_it_arises() {
    let text = "v0: int = field 1\nv1: double = field 3\nv2: uint = field 2\nv3: uint = local 0\nv4: uint = let 0 v2, v3\n\
        v5: bool = cmp.eq v3, v3\nv6: double = arith.add v1, v1\nv7: value = local 0\nv8: value = field 11\n\
        v9: value = local 1\nv10: value = let 1 v9, v9\nv11: value = list v7\n";
    let graph = parse(text).unwrap();
    let mut host = fields();
    for field in &mut host {
        field.access =
            celero_ir::layout::Access::Load(celero_ir::layout::Path::default(), celero_ir::layout::Repr::U64);
    }
    let found = Fallible::new(&graph, &host);
    let own: Vec<_> = graph.ids().filter(|id| found.own(*id)).map(|id| id.0).collect();
    let whole: Vec<_> = graph.ids().filter(|id| found.whole(*id)).map(|id| id.0).collect();
    // Fields of odd numbers are optional.
    assert_eq!(own, [0, 1, 8, 11]);
    assert_eq!(whole, [0, 1, 6, 8, 11]);
    assert!(found.own(NodeId(99)));
}

#[test]
fn errors_of_a_bound_variable_surface_where_it_is_used() {
    let text = "v0: int = field 1\nv1: int = local 1\nv2: bool = cmp.eq v1, v1\nv3: int = local 0\nv4: bool = let 1 v3, v2\n\
        v5: bool = let 0 v0, v4\nv6: bool = const true\nv7: bool = let 2 v0, v6\n";
    let graph = parse(text).unwrap();
    let mut host = fields();
    let found = Fallible::new(&graph, &host);
    assert!(found.whole(NodeId(7)), "the host may exhaust the budget, which nothing holds back");
    for field in &mut host {
        field.access =
            celero_ir::layout::Access::Load(celero_ir::layout::Path::default(), celero_ir::layout::Repr::U64);
    }
    let found = Fallible::new(&graph, &host);
    let own: Vec<_> = graph.ids().filter(|id| found.own(*id)).map(|id| id.0).collect();
    assert_eq!(own, [0, 1, 3]);
    assert!(found.whole(NodeId(5)) && !found.whole(NodeId(7)));
}

#[test]
fn cost_tells_what_folds_repeat() {
    let text = "v0: bool = field 0\nv1: value = field 11\nv2: value = local 0\nv3: bool = unbox bool v2\n\
        v4: bool = fold.all 0 v1, v3\nv5: bool = and v0, v4\nroot v5\nroot v0";
    let cost = Cost::of(&parse(text).unwrap());
    // and, field 0; then the range and the fold; in a turn the fold and unbox.
    assert_eq!(cost, Cost { least: 2, most: 2 + 1 + 3, per_turn: 3 + 1 });
    assert_eq!(Cost::of(&parse("v0: int = field 1").unwrap()), Cost::default());
}

#[test]
fn cost_of_nested_folds_is_all_in_the_turn() {
    let text = "v0: value = field 11\nv1: value = local 0\nv2: value = local 1\nv3: bool = unbox bool v2\nv4: bool = not v3\n\
        v5: bool = fold.all 1 v1, v4\nv6: bool = fold.all 0 v0, v5\nroot v6";
    assert_eq!(Cost::of(&parse(text).unwrap()), Cost { least: 4, most: 4, per_turn: 3 + 3 + 1 + 1 });
}

#[test]
fn what_is_shared_costs_once() {
    let mut text = "v0: int = field 1\n".to_owned();
    for id in 1..100 {
        text += &format!("v{id}: int = arith.add v{0}, v{0}\n", id - 1);
    }
    let cost = Cost::of(&parse(&(text + "root v99\n")).unwrap());
    assert_eq!(cost, Cost { least: 100, most: 100, per_turn: 0 });
}
