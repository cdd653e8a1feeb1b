//! Replaces calls of functions defined in CEL by the functions' bodies, so that later stages need not support such calls.
//!
//! `f(a, b)` becomes `cel.bind(x, a, cel.bind(y, b, body))`: an argument is evaluated at most once, and its error surfaces
//! where the body uses it. A parameter that is not `dyn` checks the type of its argument ([`Reference::Guard`]), because a
//! static type is not trusted. An argument that costs nothing to repeat (a literal, a variable) replaces the
//! parameter wherever the body uses it, as one node with several parents. Nodes copied from a body have the place of the call.
//!
//! Bodies have been inlined when they were defined, so each call copies one body. The result is within the same limits as every
//! tree.

use crate::ast::{Expr, NodeId, Nodes};
use crate::checked::{Checked, Reference};
use crate::declarations::{Declarations, Definition};
use crate::diagnostic::{Diagnostic, Severity, Stage, TOO_DEEP, TOO_MANY_NODES};
use crate::limits::{Limits, with_stack};
use crate::stdlib::Overload;
use crate::tree_builder::{Place, TreeBuilder};
use crate::types::Type;
use smallvec::SmallVec;
use std::sync::Arc;

/// The function name of a guard's call, for trees shown as text.
const GUARD: &str = "@is";

/// Returns the tree with calls of functions defined in CEL replaced by their bodies; `None` if it has no such call.
///
/// Evaluate this tree, but show the original one to people.
///
/// # Errors
/// An error at a call if the result exceeds `max_nodes` or `max_depth`.
pub fn inline(
    checked: &Checked,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<Option<Checked>, Vec<Diagnostic>> {
    inline_body(checked, 0, declarations, limits)
}

/// As [`inline`], for the body of a function. Its first `parameters` variable levels are the function's parameters.
pub(crate) fn inline_body(
    checked: &Checked,
    parameters: u32,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<Option<Checked>, Vec<Diagnostic>> {
    if !checked.references().any(|reference| definition_of(reference, declarations).is_some()) {
        return Ok(None);
    }
    // The deepest recursion is into a body below the deepest call.
    with_stack(checked.ast().depth().saturating_add(declarations.body_depth), || {
        let mut writer = Writer::new(checked, parameters, declarations, limits);
        let mut copy = Copy::new(checked, parameters);
        let root = writer.copy(&mut copy, checked.ast().root()).map_err(|diagnostic| vec![*diagnostic])?;
        Ok(Some(writer.tree.finish_unverified(root)))
    })
}

/// Returns a body whose result is checked at evaluation: if it is not of type `ty`, the result is the error "no such overload".
pub(crate) fn guarded(
    checked: &Checked,
    parameters: u32,
    ty: &Type,
    limits: &Limits,
) -> Result<Checked, Vec<Diagnostic>> {
    let declarations = Declarations::new();
    with_stack(checked.ast().depth(), || {
        let mut writer = Writer::new(checked, parameters, &declarations, limits);
        let root = checked.ast().root();
        let mut copy = Copy::new(checked, parameters);
        let node = checked.ast().node(root);
        let place = Place { span: node.span, focus: node.focus };
        let root = writer
            .copy(&mut copy, root)
            .and_then(|root| writer.guard(root, ty, place))
            .map_err(|diagnostic| vec![*diagnostic])?;
        Ok(writer.tree.finish_unverified(root))
    })
}

/// Returns the definition that a call refers to. Such a call has no other candidates: no other function may have the same name,
/// form and number of parameters.
fn definition_of<'d>(reference: &Reference, declarations: &'d Declarations) -> Option<&'d Definition> {
    let Reference::Call { overloads, .. } = reference else { return None };
    let [Overload::Defined(index)] = **overloads else { return None };
    declarations.definitions().get(index as usize).map(|definition| &**definition)
}

/// What replaces a variable of a copied tree.
#[derive(Clone, Copy)]
enum Replacement {
    /// The variable of this level in the result.
    Level(u32),
    /// A node of the result, which may have several parents.
    Node(NodeId),
}

/// A tree that is being copied.
struct Copy<'c> {
    from: &'c Checked,
    /// For each variable in scope, indexed by its level in `from`.
    replacements: Vec<Replacement>,
    /// For a body, the place of the call, which all copied nodes get.
    place: Option<Place>,
}

impl<'c> Copy<'c> {
    /// Copies a tree whose first `parameters` variables keep their levels.
    fn new(from: &'c Checked, parameters: u32) -> Self {
        Self { from, replacements: (0..parameters).map(Replacement::Level).collect(), place: None }
    }
}

type Written<T = NodeId> = Result<T, Box<Diagnostic>>;

struct Writer<'a> {
    declarations: &'a Declarations,
    limits: &'a Limits,
    tree: TreeBuilder,
    /// The number of variables in scope.
    level: u32,
}

impl<'a> Writer<'a> {
    /// Returns a writer of an empty tree with the source of `from`.
    fn new(from: &Checked, level: u32, declarations: &'a Declarations, limits: &'a Limits) -> Self {
        let tree = TreeBuilder::over(Arc::clone(from.ast().source()));
        Self { declarations, limits, tree, level }
    }

    fn copy(&mut self, copy: &mut Copy<'_>, id: NodeId) -> Written {
        let from = copy.from;
        let (node, reference) = (from.ast().node(id), from.reference(id));
        let place = copy.place.unwrap_or(Place { span: node.span, focus: node.focus });
        if let Some(definition) = definition_of(reference, self.declarations) {
            return self.call(copy, id, definition, place);
        }
        let mut reference = reference.clone();
        if let Reference::Local(level) = &mut reference {
            match copy.replacements.get(*level as usize) {
                Some(Replacement::Node(node)) => return Ok(*node),
                Some(Replacement::Level(new)) => *level = *new,
                None => {}
            }
        }
        let expr = self.expr(copy, &node.expr)?;
        self.push(expr, place, from.type_of(id).clone(), reference)
    }

    /// Writes what replaces a call: bindings of the arguments, the first one outermost, around the body.
    fn call(&mut self, copy: &mut Copy<'_>, id: NodeId, definition: &Definition, place: Place) -> Written {
        let ast = copy.from.ast();
        let args: SmallVec<[NodeId; 4]> = match ast.expr(id) {
            Expr::Call { target, args, .. } => {
                let receiver = target.iter().filter(|_| definition.signature.receiver);
                receiver.chain(ast.children(*args)).copied().collect()
            }
            // A definition without parameters, mentioned by name.
            _ => SmallVec::new(),
        };
        let outside = self.level;
        let mut binds = Vec::new();
        let mut body = Copy { from: &definition.body, replacements: Vec::new(), place: Some(place) };
        for ((arg, name), ty) in args.iter().zip(&*definition.parameters).zip(&*definition.signature.params) {
            let at = copy.place.unwrap_or(Place { span: ast.span(*arg), focus: ast.node(*arg).focus });
            let arg = self.copy(copy, *arg)?;
            let (fits, repeatable) = self.argument(arg, ty);
            if fits && repeatable {
                body.replacements.push(Replacement::Node(arg));
                continue;
            }
            let init = if fits { arg } else { self.guard(arg, ty, at)? };
            binds.push((self.tree.name(name), init));
            body.replacements.push(Replacement::Level(self.level));
            self.level = self.level.saturating_add(1);
        }
        let mut result = self.copy(&mut body, definition.body.ast().root())?;
        self.level = outside;
        let ty = self.tree.type_of(result);
        for (var, init) in binds.into_iter().rev() {
            result =
                self.push(Expr::Bind { var, init, body: result, with: false }, place, ty.clone(), Reference::None)?;
        }
        Ok(result)
    }

    /// Returns whether an argument is certainly of a parameter's type, and whether evaluating it again costs nothing.
    fn argument(&self, arg: NodeId, ty: &Type) -> (bool, bool) {
        let any = *ty == Type::Dyn;
        match self.tree.node(arg) {
            Some((Expr::Literal(literal), _)) => (any || literal.ty() == *ty, true),
            Some((Expr::Select { test: true, .. }, _)) => (any || *ty == Type::Bool, false),
            // The host guarantees that variables have their declared types.
            Some((_, Reference::Variable(index))) => {
                (any || self.declarations.variables().get(*index as usize).is_some_and(|v| v.ty == *ty), true)
            }
            Some((_, Reference::Local(_))) => (any, true),
            _ => (any, false),
        }
    }

    fn guard(&mut self, arg: NodeId, ty: &Type, place: Place) -> Written {
        let args = self.tree.children(&[arg]);
        let function = self.tree.name(GUARD);
        let expr = Expr::Call { target: None, function, rooted: false, args };
        self.push(expr, place, ty.clone(), Reference::Guard(ty.clone()))
    }

    /// Copies an expression and its descendants.
    fn expr(&mut self, copy: &mut Copy<'_>, expr: &Expr) -> Written<Expr> {
        let ast = copy.from.ast();
        Ok(match expr {
            Expr::Error => Expr::Error,
            Expr::Literal(literal) => Expr::Literal(literal.clone()),
            Expr::Ident { name, rooted } => Expr::Ident { name: self.tree.name(ast.name(*name)), rooted: *rooted },
            Expr::Select { operand, field, test, optional } => Expr::Select {
                operand: self.copy(copy, *operand)?,
                field: self.tree.name(ast.name(*field)),
                test: *test,
                optional: *optional,
            },
            Expr::Index { operand, index, optional } => Expr::Index {
                operand: self.copy(copy, *operand)?,
                index: self.copy(copy, *index)?,
                optional: *optional,
            },
            Expr::Unary { op, operand } => Expr::Unary { op: *op, operand: self.copy(copy, *operand)? },
            Expr::Binary { op, left, right } => {
                Expr::Binary { op: *op, left: self.copy(copy, *left)?, right: self.copy(copy, *right)? }
            }
            Expr::Logic { op, operands } => Expr::Logic { op: *op, operands: self.children(copy, *operands)? },
            Expr::Cond { condition, then, otherwise } => Expr::Cond {
                condition: self.copy(copy, *condition)?,
                then: self.copy(copy, *then)?,
                otherwise: self.copy(copy, *otherwise)?,
            },
            Expr::Call { target, function, rooted, args } => Expr::Call {
                target: target.map(|target| self.copy(copy, target)).transpose()?,
                function: self.tree.name(ast.name(*function)),
                rooted: *rooted,
                args: self.children(copy, *args)?,
            },
            Expr::List { elements, optional } => {
                Expr::List { elements: self.children(copy, *elements)?, optional: optional.clone() }
            }
            Expr::Map { entries, optional } => {
                Expr::Map { entries: self.children(copy, *entries)?, optional: optional.clone() }
            }
            Expr::Message { name, fields, values, optional } => Expr::Message {
                name: self.tree.name(ast.name(*name)),
                fields: fields.iter().map(|field| self.tree.name(ast.name(*field))).collect(),
                values: self.children(copy, *values)?,
                optional: optional.clone(),
            },
            Expr::Fold { kind, range, var, var2, filter, transform } => {
                let range = self.copy(copy, *range)?;
                let variables = if var2.is_some() { 2 } else { 1 };
                let (filter, transform) = self.within(copy, variables, |writer, copy| {
                    let filter = filter.map(|filter| writer.copy(copy, filter)).transpose()?;
                    Ok((filter, transform.map(|transform| writer.copy(copy, transform)).transpose()?))
                })?;
                let var = self.tree.name(ast.name(*var));
                let var2 = var2.map(|var2| self.tree.name(ast.name(var2)));
                Expr::Fold { kind: *kind, range, var, var2, filter, transform }
            }
            Expr::Bind { var, init, body, with } => {
                let init = self.copy(copy, *init)?;
                let body = self.within(copy, 1, |writer, copy| writer.copy(copy, *body))?;
                Expr::Bind { var: self.tree.name(ast.name(*var)), init, body, with: *with }
            }
            Expr::Fallback { kind, operands } => {
                Expr::Fallback { kind: *kind, operands: self.children(copy, *operands)? }
            }
            Expr::OptMap { target, var, body, flat } => {
                let target = self.copy(copy, *target)?;
                let body = self.within(copy, 1, |writer, copy| writer.copy(copy, *body))?;
                Expr::OptMap { target, var: self.tree.name(ast.name(*var)), body, flat: *flat }
            }
        })
    }

    /// Calls `inside` in the scope of `variables` additional variables.
    fn within<T>(
        &mut self,
        copy: &mut Copy<'_>,
        variables: u32,
        inside: impl FnOnce(&mut Self, &mut Copy<'_>) -> Written<T>,
    ) -> Written<T> {
        let (outer_level, outer_variables) = (self.level, copy.replacements.len());
        for _ in 0..variables {
            copy.replacements.push(Replacement::Level(self.level));
            self.level = self.level.saturating_add(1);
        }
        let result = inside(self, copy);
        copy.replacements.truncate(outer_variables);
        self.level = outer_level;
        result
    }

    fn children(&mut self, copy: &mut Copy<'_>, nodes: Nodes) -> Written<Nodes> {
        let ids = copy.from.ast().children(nodes);
        let ids = ids.iter().map(|&id| self.copy(copy, id)).collect::<Written<Vec<NodeId>>>()?;
        Ok(self.tree.children(&ids))
    }

    fn push(&mut self, expr: Expr, place: Place, ty: Type, reference: Reference) -> Written {
        let depth = self.tree.depth(&expr);
        let Limits { max_depth, max_nodes, .. } = *self.limits;
        let excess = if depth > max_depth {
            Some((TOO_DEEP, format!("nests deeper than {max_depth} levels (`max_depth`)")))
        } else if self.tree.len() >= max_nodes as usize {
            Some((TOO_MANY_NODES, format!("has more than {max_nodes} nodes (`max_nodes`)")))
        } else {
            None
        };
        if let Some((code, what)) = excess {
            return Err(Box::new(Diagnostic {
                severity: Severity::Error,
                stage: Stage::Limit,
                code,
                message: format!("with the functions it calls in their places the expression {what}"),
                span: place.focus,
                labels: Vec::new(),
                help: vec!["the body of a function defined in CEL counts at each of its calls".to_owned()],
            }));
        }
        Ok(self.tree.add(expr, place, ty, reference))
    }
}
