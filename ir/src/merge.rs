//! Merges the graph of a rule into the graph of a set: nodes that are equal become one node.

use crate::constant::ConstId;
use crate::graph::{Graph, NodeId};
use crate::op::Op;

/// Adds all nodes of `from` to `into`. Returns the new ids, indexed by the old ones. Roots are not added. A node that existed
/// in `into` keeps its origin.
pub fn merge(into: &mut Graph, from: &Graph) -> Vec<NodeId> {
    let constants: Vec<ConstId> = from.constants().iter().map(|constant| into.constant(constant.clone())).collect();
    let functions: Vec<u32> = from.functions().iter().map(|name| into.function(name)).collect();
    let mut ids: Vec<NodeId> = Vec::with_capacity(from.len());
    let mut args: Vec<NodeId> = Vec::new();
    for id in from.ids() {
        let mut op = from.op(id);
        if let Op::Dispatch { function, pure } = op {
            op = Op::Dispatch { function: functions.get(function as usize).copied().unwrap_or(u32::MAX), pure };
        }
        if let Some(&id) = op.constant().and_then(|constant| constants.get(constant.0 as usize)) {
            op = op.with_constant(id);
        }
        args.clear();
        args.extend(from.args(id).iter().filter_map(|arg| ids.get(arg.0 as usize).copied()));
        ids.push(into.add(op, from.ty(id), &args, from.origin(id)));
    }
    ids
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
        let first = merge(&mut all, &rule(1, 10));
        let size = all.len();
        let again = merge(&mut all, &rule(1, 20));
        assert_eq!(all.len(), size + 1, "the impure call alone is new");
        assert_eq!(first[..4], again[..4]);
        assert_ne!(first[4], again[4]);
        assert_eq!(all.origin(again[0]), Origin { start: 10, end: 10 }, "the first origin stays");
        assert_eq!(all.origin(again[4]), Origin { start: 20, end: 20 });
        let other = merge(&mut all, &rule(2, 30));
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
}
