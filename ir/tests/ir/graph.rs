//! Nodes and constants are found again, in graphs of any size.

use celero_ir::{Constant, Graph, NodeId, Op, Origin, Ty};

/// Adds a field at two places, which can fail, so that each place is a node; a constant; and an
/// operation on all of them.
fn add(graph: &mut Graph, n: u32) -> [NodeId; 4] {
    let at = |start| Origin { start, end: start };
    let [first, second] = [1, 2].map(|place| graph.add(Op::Field(n), Ty::Value, &[], at(place)));
    let constant = graph.constant(Constant::Int(n.into()));
    let constant = graph.add(Op::Const(constant), Ty::Value, &[], at(3));
    let list = graph.add(Op::List, Ty::Value, &[first, second, constant], at(4));
    [first, second, constant, list]
}

#[test]
fn equal_nodes_are_found_however_many_there_are() {
    let mut graph = Graph::new();
    let mut known = Vec::new();
    for n in 0..50 {
        known.push(add(&mut graph, n));
        for (before, ids) in (0..).zip(&known) {
            assert_eq!(add(&mut graph, before), *ids, "{before} of {n}");
        }
        assert_eq!((graph.len(), graph.constants().len()), (4 * known.len(), known.len()));
    }
    for &[first, second, constant, list] in &known {
        let classes = [first, second, constant, list].map(|id| graph.class(id));
        assert_eq!(classes, [first, first, constant, list]);
    }
    assert!(graph.has_occurrences());
}
