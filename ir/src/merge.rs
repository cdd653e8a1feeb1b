//! Merges the graph of a rule into the graph of a set: nodes that are equal become one node.
//!
//! Invariant: the nodes of a class have equal values, and an error names the place of the node that failed. Test:
//! `ir/src/merge.rs::a_later_occurrence_is_a_node_of_its_class`.

use crate::constant::ConstId;
use crate::graph::{Graph, NodeId};
use crate::op::Op;

/// Where the nodes of a merged graph are: new ids, indexed by the old ones. Each merge uses the
/// memory of the one before.
#[derive(Debug, Default)]
pub struct Places {
    /// Their classes.
    pub classes: Vec<NodeId>,
    /// The occurrences, if an expression of the merged graph has several: the class where it is the
    /// first occurrence, and another node where it is a later one. Otherwise empty.
    pub occurrences: Vec<NodeId>,
    constants: Vec<ConstId>,
    functions: Vec<u32>,
    /// Working memory: the operands of a node.
    args: Vec<NodeId>,
}

/// Adds all nodes of `from` to `into`, and writes where they are. Roots are not added. A class that
/// existed in `into` keeps its origin.
pub fn merge(into: &mut Graph, from: &Graph, places: &mut Places) {
    let Places { classes, occurrences, constants, functions, args } = places;
    constants.clear();
    constants.extend(from.constants().iter().map(|constant| into.constant(constant.clone())));
    functions.clear();
    functions.extend(from.functions().iter().map(|name| into.function(name)));
    let renumbered = |op: Op| {
        if let Some(function) = op.function() {
            return op.with_function(functions.get(function as usize).copied().unwrap_or(u32::MAX));
        }
        match op.constant().and_then(|constant| constants.get(constant.0 as usize)) {
            Some(&id) => op.with_constant(id),
            None => op,
        }
    };
    classes.clear();
    for id in from.ids() {
        args.clear();
        args.extend(from.args(id).iter().filter_map(|arg| classes.get(arg.0 as usize).copied()));
        let known = classes.get(from.class(id).0 as usize).copied();
        classes
            .push(known.unwrap_or_else(|| into.add_class(renumbered(from.op(id)), from.ty(id), args, from.origin(id))));
    }
    occurrences.clear();
    if from.has_occurrences() {
        for (id, &class) in from.ids().zip(&*classes) {
            args.clear();
            args.extend(from.args(id).iter().filter_map(|arg| occurrences.get(arg.0 as usize).copied()));
            occurrences.push(if from.class(id) == id && into.args(class) == *args {
                class
            } else {
                into.add_apart(class, renumbered(from.op(id)), from.ty(id), args, from.origin(id))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arith, Constant, Origin, Ty};

    /// The sum of a field and a number, given to an impure function.
    fn rule(n: i64, start: u32) -> Graph {
        let mut graph = Graph::new();
        let at = |start| Origin { start, end: start };
        let number = graph.constant(Constant::Int(n));
        let field = graph.add(Op::Field(0), Ty::Int, &[], at(start));
        let number = graph.add(Op::Const(number), Ty::Int, &[], at(start));
        let sum = graph.add(Op::Arith(Arith::Add), Ty::Int, &[field, number], at(start));
        let boxed = graph.add(Op::Box, Ty::Value, &[sum], at(start));
        let function = graph.function("f");
        let called = graph.add(Op::Dispatch { function, pure: false }, Ty::Value, &[boxed], at(start));
        graph.add_root(called);
        graph
    }

    #[test]
    fn what_is_equal_becomes_one_and_the_impure_stays_apart() {
        let mut all = Graph::new();
        all.function("g");
        let mut places = Places::default();
        let mut merged = |all: &mut Graph, rule: Graph| {
            merge(all, &rule, &mut places);
            assert!(places.occurrences.is_empty());
            places.classes.clone()
        };
        let first = merged(&mut all, rule(1, 10));
        let size = all.len();
        let again = merged(&mut all, rule(1, 20));
        assert_eq!(all.len(), size + 1, "the impure call alone is new");
        assert_eq!(first[..4], again[..4]);
        assert_ne!(first[4], again[4]);
        assert_eq!(all.origin(again[0]), Origin { start: 10, end: 10 }, "the first origin stays");
        assert_eq!(all.origin(again[4]), Origin { start: 20, end: 20 });
        let other = merged(&mut all, rule(2, 30));
        assert_eq!(other[0], first[0], "the field is shared");
        assert_eq!(all.len(), size + 5);
        assert_eq!((all.constants().len(), all.functions().len()), (2, 2));
        for (places, n) in [(&first, 1), (&other, 2)] {
            let Op::Const(constant) = all.op(places[1]) else { panic!("{:?}", all.op(places[1])) };
            assert_eq!(all.constant_at(constant), Some(&Constant::Int(n)));
            let Op::Dispatch { function, .. } = all.op(places[4]) else { panic!("{:?}", all.op(places[4])) };
            assert_eq!(&*all.functions()[function as usize], "f");
            assert_eq!(all.args(places[4]), [places[3]]);
        }
        assert!(all.roots().is_empty());
    }

    #[test]
    fn a_later_occurrence_is_a_node_of_its_class() {
        let mut rule = Graph::new();
        let at = |start| Origin { start, end: start };
        let [first, second] = [3, 7].map(|start| rule.add(Op::Field(0), Ty::Bool, &[], at(start)));
        assert_ne!(first, second);
        assert_eq!(rule.class(second), first);
        let either = rule.add(Op::Or, Ty::Bool, &[first, second], at(3));
        assert_eq!(rule.add(Op::Or, Ty::Bool, &[first, second], at(9)), either, "the operation itself cannot fail");
        rule.add_root(either);
        let mut all = Graph::new();
        // The class has the place of the second occurrence, which still needs a node of its own: in
        // this rule the class is the first.
        all.add(Op::Field(0), Ty::Bool, &[], at(7));
        let mut places = Places::default();
        merge(&mut all, &rule, &mut places);
        let Places { classes, occurrences, .. } = places;
        assert_eq!(classes[..2], [NodeId(0), NodeId(0)]);
        assert_eq!((occurrences[0], all.class(occurrences[1])), (NodeId(0), NodeId(0)));
        assert_ne!(occurrences[1], NodeId(0));
        assert_eq!(all.args(occurrences[2]), [occurrences[0], occurrences[1]]);
        assert_eq!(all.args(classes[2]), [NodeId(0), NodeId(0)]);
        assert_eq!(all.class(occurrences[2]), classes[2]);
    }
}
