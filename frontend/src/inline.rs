//! Replaces calls of functions defined in CEL by the functions' bodies, so that later stages need
//! not support such calls.
//!
//! `f(a, b)` becomes `cel.bind(x, a, cel.bind(y, b, body))`: an argument is evaluated at most once,
//! and its error surfaces where the body uses it. A parameter that is not `dyn` checks the type of
//! its argument ([`Reference::Guard`]), because a static type is not trusted. An argument that
//! costs nothing to repeat (a literal, a variable) replaces the parameter wherever the body uses
//! it, as one node with several parents. Nodes copied from a body have the place of the call.
//!
//! The size of the result is known before it is written ([`expanded_size`]), and within the same limits as every tree.
//!
//! Invariant: a definition uses only definitions declared before it, so definitions do not recurse. Each is stored as
//! it was written, so they take memory linear in their text. Test:
//! `frontend/tests/it/define.rs::definitions_share_what_they_use`.

use crate::ast::{Ast, Expr, Node, NodeId, Nodes};
use crate::checked::{Checked, Reference};
use crate::declarations::{Declarations, Definition};
use crate::defined_call::{Passing, arguments};
use crate::diagnostic::Diagnostic;
use crate::expanded_size::ExpandedSize;
use crate::expansion::expanded_size;
use crate::limits::{Limits, with_stack};
use crate::span::Span;
use crate::tree_builder::{Place, TreeBuilder};
use crate::types::Type;
use std::sync::Arc;

/// The function name of a guard's call, for trees shown as text.
const GUARD: &str = "@is";

/// Returns the tree with calls of functions defined in CEL replaced by their bodies; `None` if it has no such call.
///
/// Evaluate this tree, but show the original one to people.
///
/// # Errors
/// An error at a call if the result exceeds `max_nodes` or `max_depth`. Nothing was copied then.
pub fn inline(
    checked: &Checked,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<Option<Checked>, Vec<Diagnostic>> {
    if !uses_definitions(checked, declarations) {
        return Ok(None);
    }
    let size = expanded_size(checked, declarations, limits).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(Some(written(checked, size, declarations, |writer, copy| writer.copy(copy, checked.ast().root()))))
}

/// Returns how many nodes [`inline`] makes of a tree at most, without making them; 0 if it calls no
/// function defined in CEL. Takes time linear in the tree.
///
/// # Errors
/// As of [`inline`].
pub fn inlined_nodes(
    checked: &Checked,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<usize, Vec<Diagnostic>> {
    if !uses_definitions(checked, declarations) {
        return Ok(0);
    }
    let size = expanded_size(checked, declarations, limits).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(size.nodes)
}

fn uses_definitions(checked: &Checked, declarations: &Declarations) -> bool {
    checked.references().any(|reference| declarations.definition_of(reference).is_some())
}

/// Returns a body whose result is checked at evaluation: if it is not of type `ty`, the result is
/// the error "no such overload". Its first `parameters` variable levels are parameters. Calls of
/// definitions stay.
pub(crate) fn guarded(checked: &Checked, parameters: u32, ty: &Type) -> Checked {
    let size = ExpandedSize { depth: checked.ast().depth(), ..ExpandedSize::default() };
    written(checked, size, &Declarations::new(), |writer, copy| {
        writer.level = parameters;
        copy.replacements = (0..parameters).map(Replacement::Level).collect();
        let root = checked.ast().root();
        let node = checked.ast().node(root);
        let place = Place { span: node.span, focus: node.focus };
        let root = writer.copy(copy, root);
        writer.guard(root, ty, place)
    })
}

/// Returns the tree that `write` writes, which is of this size at most. The root is the result of `write`.
fn written(
    from: &Checked,
    size: ExpandedSize,
    declarations: &Declarations,
    write: impl FnOnce(&mut Writer<'_>, &mut Copy<'_>) -> NodeId,
) -> Checked {
    with_stack(size.levels(), || {
        let tree = TreeBuilder::over(Arc::clone(from.ast().source()));
        let mut writer = Writer { declarations, tree, level: 0 };
        let mut copy = Copy { from, replacements: Vec::new(), place: None, graft: None };
        let root = write(&mut writer, &mut copy);
        writer.tree.finish_unverified(root)
    })
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
    graft: Option<&'c Graft<'c>>,
}

impl Copy<'_> {
    fn place_of(&self, node: &Node) -> Place {
        let graft = |span| self.graft.map_or(span, |graft| (graft.span)(span));
        self.place.unwrap_or_else(|| Place { span: graft(node.span), focus: graft(node.focus) })
    }
}

/// Where a tree becomes a part of another one.
pub struct Graft<'g> {
    /// The number of macro variables in scope there.
    pub level: u32,
    /// For each declared variable of the tree that is a macro's variable there, by index: its level.
    pub local: &'g dyn Fn(u32) -> Option<u32>,
    /// The span there of a span of the tree.
    pub span: &'g dyn Fn(Span) -> Span,
}

impl TreeBuilder {
    /// Adds a copy of a tree and returns its root. The other tree's declared variables may be macro variables here.
    pub fn graft(&mut self, from: &Checked, at: &Graft<'_>) -> NodeId {
        let none = Declarations::new();
        let tree = std::mem::replace(self, Self::new(""));
        let mut writer = Writer { declarations: &none, tree, level: at.level };
        let mut copy = Copy { from, replacements: Vec::new(), place: None, graft: Some(at) };
        let root = with_stack(from.ast().depth(), || writer.copy(&mut copy, from.ast().root()));
        *self = writer.tree;
        root
    }
}

/// The text of a name with dots.
fn written_name(ast: &Ast, mut id: NodeId) -> String {
    let mut names = Vec::new();
    loop {
        match ast.expr(id) {
            Expr::Select { operand, field, .. } => {
                names.push(ast.name(*field));
                id = *operand;
            }
            Expr::Ident { name, .. } => {
                names.push(ast.name(*name));
                break;
            }
            _ => break,
        }
    }
    names.reverse();
    names.join(".")
}

struct Writer<'a> {
    declarations: &'a Declarations,
    tree: TreeBuilder,
    /// The number of variables in scope.
    level: u32,
}

impl Writer<'_> {
    fn copy(&mut self, copy: &mut Copy<'_>, id: NodeId) -> NodeId {
        let from = copy.from;
        let (node, reference) = (from.ast().node(id), from.reference(id));
        let place = copy.place_of(node);
        if let Some(definition) = self.declarations.definition_of(reference) {
            return self.call(copy, id, definition, place);
        }
        let mut reference = reference.clone();
        if let Reference::Local(level) = &mut reference {
            match copy.replacements.get(*level as usize) {
                Some(Replacement::Node(node)) => return *node,
                Some(Replacement::Level(new)) => *level = *new,
                None => {}
            }
        }
        if let Reference::Variable(index) = reference
            && let Some(level) = copy.graft.and_then(|graft| (graft.local)(index))
        {
            let name = self.tree.name(&written_name(from.ast(), id));
            let local = Expr::Ident { name, rooted: false, test: false };
            return self.tree.add(local, place, from.type_of(id).clone(), Reference::Local(level));
        }
        let expr = self.expr(copy, &node.expr);
        self.tree.add(expr, place, from.type_of(id).clone(), reference)
    }

    /// Writes what replaces a call: bindings of the arguments, the first one outermost, around the body.
    fn call(&mut self, copy: &mut Copy<'_>, id: NodeId, definition: &Definition, place: Place) -> NodeId {
        let ast = copy.from.ast();
        let outside = self.level;
        let mut binds = Vec::new();
        let mut body = Copy { from: &definition.body, replacements: Vec::new(), place: Some(place), graft: None };
        let args = arguments(ast, ast.expr(id), definition);
        for ((arg, name), ty) in args.iter().zip(&*definition.parameters).zip(&*definition.signature.params) {
            let at = copy.place_of(ast.node(*arg));
            let arg = self.copy(copy, *arg);
            let passing = self.passing(arg, ty);
            if passing.is_some_and(Passing::replaces) {
                body.replacements.push(Replacement::Node(arg));
                continue;
            }
            let fits = passing.is_some_and(|passing| passing.fits);
            let init = if fits { arg } else { self.guard(arg, ty, at) };
            binds.push((self.tree.name(name), init));
            body.replacements.push(Replacement::Level(self.level));
            self.level = self.level.saturating_add(1);
        }
        let mut result = self.copy(&mut body, definition.body.ast().root());
        self.level = outside;
        let ty = self.tree.type_of(result);
        for (var, init) in binds.into_iter().rev() {
            let bind = Expr::Bind { var, init, body: result, with: false };
            result = self.tree.add(bind, place, ty.clone(), Reference::None);
        }
        result
    }

    fn passing(&self, arg: NodeId, ty: &Type) -> Option<Passing> {
        let (expr, reference) = self.tree.node(arg)?;
        Some(Passing::of(expr, reference, ty, self.declarations))
    }

    fn guard(&mut self, arg: NodeId, ty: &Type, place: Place) -> NodeId {
        let args = self.tree.children(&[arg]);
        let function = self.tree.name(GUARD);
        let expr = Expr::Call { target: None, function, rooted: false, args };
        self.tree.add(expr, place, ty.clone(), Reference::Guard(ty.clone()))
    }

    /// Copies an expression and its descendants.
    fn expr(&mut self, copy: &mut Copy<'_>, expr: &Expr) -> Expr {
        let ast = copy.from.ast();
        match expr {
            Expr::Error => Expr::Error,
            Expr::Literal(literal) => Expr::Literal(literal.clone()),
            Expr::Ident { name, rooted, test } => {
                Expr::Ident { name: self.tree.name(ast.name(*name)), rooted: *rooted, test: *test }
            }
            Expr::Select { operand, field, test, optional } => Expr::Select {
                operand: self.copy(copy, *operand),
                field: self.tree.name(ast.name(*field)),
                test: *test,
                optional: *optional,
            },
            Expr::Index { operand, index, optional } => {
                Expr::Index { operand: self.copy(copy, *operand), index: self.copy(copy, *index), optional: *optional }
            }
            Expr::Unary { op, operand } => Expr::Unary { op: *op, operand: self.copy(copy, *operand) },
            Expr::Binary { op, left, right } => {
                Expr::Binary { op: *op, left: self.copy(copy, *left), right: self.copy(copy, *right) }
            }
            Expr::Logic { op, operands } => Expr::Logic { op: *op, operands: self.children(copy, *operands) },
            Expr::Cond { condition, then, otherwise } => Expr::Cond {
                condition: self.copy(copy, *condition),
                then: self.copy(copy, *then),
                otherwise: self.copy(copy, *otherwise),
            },
            Expr::Call { target, function, rooted, args } => Expr::Call {
                target: target.map(|target| self.copy(copy, target)),
                function: self.tree.name(ast.name(*function)),
                rooted: *rooted,
                args: self.children(copy, *args),
            },
            Expr::List { elements, optional } => {
                Expr::List { elements: self.children(copy, *elements), optional: optional.clone() }
            }
            Expr::Map { entries, optional } => {
                Expr::Map { entries: self.children(copy, *entries), optional: optional.clone() }
            }
            Expr::Message { name, fields, values, optional } => Expr::Message {
                name: self.tree.name(ast.name(*name)),
                fields: fields.iter().map(|field| self.tree.name(ast.name(*field))).collect(),
                values: self.children(copy, *values),
                optional: optional.clone(),
            },
            Expr::Fold { kind, range, var, var2, filter, transform } => {
                let range = self.copy(copy, *range);
                let variables = if var2.is_some() { 2 } else { 1 };
                let (filter, transform) = self.within(copy, variables, |writer, copy| {
                    let filter = filter.map(|filter| writer.copy(copy, filter));
                    (filter, transform.map(|transform| writer.copy(copy, transform)))
                });
                let var = self.tree.name(ast.name(*var));
                let var2 = var2.map(|var2| self.tree.name(ast.name(var2)));
                Expr::Fold { kind: *kind, range, var, var2, filter, transform }
            }
            Expr::Bind { var, init, body, with } => {
                let init = self.copy(copy, *init);
                let body = self.within(copy, 1, |writer, copy| writer.copy(copy, *body));
                Expr::Bind { var: self.tree.name(ast.name(*var)), init, body, with: *with }
            }
            Expr::Fallback { kind, operands } => {
                Expr::Fallback { kind: *kind, operands: self.children(copy, *operands) }
            }
            Expr::OptMap { target, var, body, flat } => {
                let target = self.copy(copy, *target);
                let body = self.within(copy, 1, |writer, copy| writer.copy(copy, *body));
                Expr::OptMap { target, var: self.tree.name(ast.name(*var)), body, flat: *flat }
            }
        }
    }

    /// Calls `inside` in the scope of `variables` additional variables.
    fn within<T>(
        &mut self,
        copy: &mut Copy<'_>,
        variables: u32,
        inside: impl FnOnce(&mut Self, &mut Copy<'_>) -> T,
    ) -> T {
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

    fn children(&mut self, copy: &mut Copy<'_>, nodes: Nodes) -> Nodes {
        let ids = copy.from.ast().children(nodes);
        let ids = ids.iter().map(|&id| self.copy(copy, id)).collect::<Vec<NodeId>>();
        self.tree.children(&ids)
    }
}
