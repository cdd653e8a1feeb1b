//! The shapes of the parts of a rule in CEL, for [`necessary`](crate::language::necessary).

use crate::language::{KnownNames, Shape, Shapes};
use crate::lower::is_pure;
use celero_frontend::{Checked, Definition, Expr, LogicOp, NodeId, Overload, Reference, Span, UnaryOp};
use std::collections::HashMap;

/// Deepest nesting of definitions that is followed.
const MAX_NESTED: u32 = 32;

/// A rule and the definitions that it uses.
pub(super) struct CelShapes<'t> {
    names: KnownNames<'t>,
    /// For each node of a tree, whether it reads only what is known; by the place of the tree in memory.
    known: HashMap<*const Checked, Vec<bool>>,
}

impl<'t> CelShapes<'t> {
    pub(super) fn new(names: KnownNames<'t>) -> Self {
        Self { names, known: HashMap::new() }
    }

    fn definition(&self, reference: &Reference) -> Option<&'t Definition> {
        self.names.declarations.definition_of(reference)
    }

    /// Whether a node of a tree reads only what is known, and calls only what is pure.
    fn is_known(&mut self, tree: &'t Checked, id: NodeId, nested: u32) -> bool {
        if !self.known.contains_key(&std::ptr::from_ref(tree)) {
            let known = self.known_nodes(tree, nested);
            self.known.insert(tree, known);
        }
        let known = self.known.get(&std::ptr::from_ref(tree));
        known.and_then(|known| known.get(id.0 as usize)) == Some(&true)
    }

    fn known_nodes(&mut self, tree: &'t Checked, nested: u32) -> Vec<bool> {
        let mut known = vec![false; tree.ast().nodes().len()];
        for index in 0..known.len() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let reference = tree.reference(id);
            let mut is_known = match reference {
                Reference::Variable(variable) => self.names.has(*variable),
                Reference::Undeclared => false,
                Reference::Call { overloads, .. } => match self.definition(reference) {
                    Some(definition) => {
                        let body = definition.body();
                        nested < MAX_NESTED && self.is_known(body, body.ast().root(), nested.saturating_add(1))
                    }
                    None => overloads.iter().all(|overload| {
                        !matches!(overload, Overload::Defined(_)) && is_pure(overload, self.names.functions)
                    }),
                },
                Reference::None
                | Reference::Local(_)
                | Reference::Type(_)
                | Reference::Guard(_)
                | Reference::InList(_)
                | Reference::ListValue { .. }
                | Reference::Constant(_)
                | Reference::Message(_) => true,
            };
            // Children have smaller ids. The beginning of a name is not evaluated.
            if !reference.is_name() {
                tree.ast().each_child(id, |child| is_known &= known.get(child.0 as usize) == Some(&true));
            }
            if let Some(place) = known.get_mut(index) {
                *place = is_known;
            }
        }
        known
    }

    fn is_known_part(&mut self, (tree, id): (&'t Checked, NodeId)) -> bool {
        self.is_known(tree, id, 0)
    }
}

fn source(tree: &Checked, id: NodeId) -> String {
    let Span { start, end } = tree.ast().span(id);
    tree.ast().source().get(start as usize..end as usize).unwrap_or_default().to_owned()
}

impl<'t> Shapes for CelShapes<'t> {
    type Part = (&'t Checked, NodeId);

    const AND: &'static str = "&&";
    const OR: &'static str = "||";
    const NOT: &'static str = "!";

    fn shape(&mut self, (tree, id): Self::Part) -> Shape<Self::Part> {
        if self.is_known_part((tree, id)) {
            return Shape::Known(source(tree, id));
        }
        let ast = tree.ast();
        match *ast.expr(id) {
            Expr::Logic { op, operands } => {
                let operands = ast.children(operands).iter().map(|operand| (tree, *operand)).collect();
                if op == LogicOp::And { Shape::And(operands) } else { Shape::Or(operands) }
            }
            Expr::Unary { op: UnaryOp::Not, operand } => Shape::Not((tree, operand)),
            Expr::Cond { condition, then, otherwise } if self.is_known_part((tree, condition)) => {
                Shape::Choice(source(tree, condition), (tree, then), (tree, otherwise))
            }
            _ => match self.definition(tree.reference(id)) {
                // A body with parameters means something only where they have values.
                Some(definition) if definition.parameters().is_empty() => {
                    let body = definition.body();
                    Shape::Same((body, body.ast().root()))
                }
                _ => Shape::Unknown,
            },
        }
    }
}
