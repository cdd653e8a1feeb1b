//! What an expression reads of its variables, found by following its selections, and random values
//! that have such shapes: maps with the fields that are asked for, lists of such maps, literals of
//! the expression, and sometimes anything else.

use crate::generate::{Owned, Rng};
use celero::Type;
use celero_frontend::{Ast, Expr, Literal, NodeId};
use std::collections::BTreeMap;

/// The shape of one value.
#[derive(Debug, Default)]
struct Shape {
    /// By the names that are selected.
    fields: BTreeMap<String, usize>,
    /// What it is iterated or indexed for.
    element: Option<usize>,
}

/// The shapes of the variables of an expression.
#[derive(Debug, Default)]
pub struct Shapes {
    shapes: Vec<Shape>,
    roots: BTreeMap<String, usize>,
    literals: Vec<Owned>,
}

impl Shapes {
    /// What an expression reads.
    #[must_use]
    pub fn of(ast: &Ast) -> Self {
        let mut shapes = Self::default();
        shapes.visit(ast, ast.root(), &mut Vec::new());
        shapes
    }

    /// The names that are no macro's variables, first segments only.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.roots.keys().map(String::as_str)
    }

    /// A value for a variable, mostly as the expression wants it; `None` for absence.
    pub fn value(&self, name: &str, rng: &mut Rng) -> Option<Owned> {
        self.roots.get(name).filter(|_| rng.chance(96)).map(|shape| self.random(*shape, rng))
    }

    fn random(&self, shape: usize, rng: &mut Rng) -> Owned {
        let Some(Shape { fields, element }) = self.shapes.get(shape).filter(|_| rng.chance(92)) else {
            return self.leaf(rng);
        };
        match element {
            Some(element) if fields.is_empty() || rng.chance(50) => {
                let count = rng.below(4);
                if rng.chance(75) {
                    return Owned::List((0..count).map(|_| self.random(*element, rng)).collect());
                }
                let keys = ["a", "b", "c", "d"].iter().take(count);
                Owned::Map(keys.map(|k| (Owned::String((*k).into()), self.random(*element, rng))).collect())
            }
            _ if fields.is_empty() => self.leaf(rng),
            _ => {
                let present: Vec<_> = fields.iter().filter(|_| rng.chance(88)).collect();
                Owned::Map(present.iter().map(|(k, s)| (Owned::String((*k).clone()), self.random(**s, rng))).collect())
            }
        }
    }

    fn leaf(&self, rng: &mut Rng) -> Owned {
        if !self.literals.is_empty() && rng.chance(60) {
            return rng.pick(&self.literals).clone();
        }
        Owned::random(rng, &Type::Dyn)
    }

    fn new_shape(&mut self) -> usize {
        self.shapes.push(Shape::default());
        self.shapes.len() - 1
    }

    fn field(&mut self, of: Option<usize>, name: &str) -> Option<usize> {
        let of = of?;
        if let Some(known) = self.shapes.get(of)?.fields.get(name) {
            return Some(*known);
        }
        let new = self.new_shape();
        self.shapes.get_mut(of)?.fields.insert(name.to_owned(), new);
        Some(new)
    }

    fn element(&mut self, of: Option<usize>) -> Option<usize> {
        let of = of?;
        if let Some(known) = self.shapes.get(of)?.element {
            return Some(known);
        }
        let new = self.new_shape();
        self.shapes.get_mut(of)?.element = Some(new);
        Some(new)
    }

    fn all(&mut self, ast: &Ast, nodes: &[NodeId], scope: &mut Vec<(String, Option<usize>)>) {
        for node in nodes {
            self.visit(ast, *node, scope);
        }
    }

    /// The shape that a node has, if it is a part of a variable.
    fn visit(&mut self, ast: &Ast, id: NodeId, scope: &mut Vec<(String, Option<usize>)>) -> Option<usize> {
        match ast.expr(id) {
            Expr::Error => None,
            Expr::Literal(literal) => {
                self.literals.extend(match literal {
                    Literal::String(text) => Some(Owned::String(text.to_string())),
                    Literal::Int(number) => Some(Owned::Int(*number)),
                    Literal::Bool(truth) => Some(Owned::Bool(*truth)),
                    _ => None,
                });
                None
            }
            Expr::Ident { name, .. } => {
                let name = ast.name(*name);
                if let Some((_, shape)) = scope.iter().rev().find(|(local, _)| local == name) {
                    return *shape;
                }
                if let Some(known) = self.roots.get(name) {
                    return Some(*known);
                }
                let new = self.new_shape();
                self.roots.insert(name.to_owned(), new);
                Some(new)
            }
            Expr::Select { operand, field, .. } => {
                let of = self.visit(ast, *operand, scope);
                self.field(of, ast.name(*field))
            }
            Expr::Index { operand, index, .. } => {
                let of = self.visit(ast, *operand, scope);
                if let Expr::Literal(Literal::String(key)) = ast.expr(*index) {
                    return self.field(of, key);
                }
                self.visit(ast, *index, scope);
                self.element(of)
            }
            Expr::Unary { operand, .. } => {
                self.visit(ast, *operand, scope);
                None
            }
            Expr::Binary { left, right, .. } => {
                self.all(ast, &[*left, *right], scope);
                None
            }
            Expr::Logic { operands, .. } => {
                self.all(ast, ast.children(*operands), scope);
                None
            }
            Expr::Cond { condition, then, otherwise } => {
                self.all(ast, &[*condition, *otherwise], scope);
                self.visit(ast, *then, scope)
            }
            Expr::Call { target, args, .. } => {
                let of = target.and_then(|target| self.visit(ast, target, scope));
                self.all(ast, ast.children(*args), scope);
                // `a.?b.orValue(..)` is what `a.b` is.
                of
            }
            Expr::List { elements, .. } => {
                self.all(ast, ast.children(*elements), scope);
                None
            }
            Expr::Map { entries, .. } | Expr::Message { values: entries, .. } => {
                self.all(ast, ast.children(*entries), scope);
                None
            }
            Expr::Fold { range, var, var2, filter, transform, .. } => {
                let range = self.visit(ast, *range, scope);
                let element = self.element(range);
                let outside = scope.len();
                match var2 {
                    Some(second) => {
                        scope.push((ast.name(*var).to_owned(), None));
                        scope.push((ast.name(*second).to_owned(), element));
                    }
                    None => scope.push((ast.name(*var).to_owned(), element)),
                }
                for part in [filter, transform].into_iter().flatten() {
                    self.visit(ast, *part, scope);
                }
                scope.truncate(outside);
                range
            }
            Expr::Fallback { operands, .. } => {
                self.all(ast, ast.children(*operands), scope);
                None
            }
            Expr::Bind { var, init, body, .. } | Expr::OptMap { var, target: init, body, .. } => {
                let init = self.visit(ast, *init, scope);
                scope.push((ast.name(*var).to_owned(), init));
                let result = self.visit(ast, *body, scope);
                scope.pop();
                result
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_frontend::{Limits, parse};

    #[test]
    fn selections_are_followed_through_macros() {
        let source = "self.items.all(x, x.name == 'n' && has(x.other)) || request['a'].b";
        let shapes = Shapes::of(&parse(source, &Limits::default()).unwrap());
        assert_eq!(shapes.names().collect::<Vec<_>>(), ["request", "self"]);
        let mut rng = Rng::new(1);
        let shown: Vec<String> = (0..200).filter_map(|_| Some(shapes.value("self", &mut rng)?.to_string())).collect();
        assert!(shown.iter().any(|s| s.starts_with("{\"items\": [{\"name\": \"n\", \"other\": ")), "{shown:#?}");
        assert!(shown.iter().any(|s| s == "{}"), "{shown:#?}");
    }
}
