//! How large a tree is with the bodies of the definitions that it uses in their places, computed
//! without writing that tree.
//!
//! Invariant: a tree that would exceed the limits with the bodies of its definitions is refused before any body is
//! copied. Test: `frontend/tests/it/define.rs::definitions_that_double_are_refused_early`.

use crate::ast::{Node, NodeId};
use crate::checked::Checked;
use crate::declarations::{Declarations, Definition};
use crate::defined_call::{Passing, arguments};
use crate::diagnostic::{Diagnostic, Severity, Stage};
use crate::expanded_size::ExpandedSize;
use crate::limits::Limits;

/// Returns the size of a tree with the bodies of the definitions that it uses in their places.
/// Takes time linear in the tree.
///
/// # Errors
/// The size exceeds `max_nodes` or `max_depth`; at the first call, or the first operand, with which it does.
pub(crate) fn expanded_size(
    checked: &Checked,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<ExpandedSize, Box<Diagnostic>> {
    let ast = checked.ast();
    // By node. Children are before their parents.
    let mut sizes: Vec<ExpandedSize> = Vec::with_capacity(ast.nodes().len());
    for (node, id) in ast.nodes().iter().zip((0..).map(NodeId)) {
        let of = |id: NodeId| sizes.get(id.0 as usize).copied().unwrap_or_default();
        let (mut size, mut at) = (ExpandedSize::default(), node);
        if let Some(definition) = declarations.definition_of(checked.reference(id)) {
            size = of_call(checked, node, definition, declarations, &of);
        } else {
            size.nodes = 1;
            size.depth = 1;
            ast.each_child(id, |child| {
                let was_within = size.excess(limits).is_none();
                size.add(of(child), 1);
                if was_within && size.excess(limits).is_some() {
                    at = ast.node(child);
                }
            });
        }
        if let Some((code, what)) = size.excess(limits) {
            return Err(Box::new(Diagnostic {
                severity: Severity::Error,
                stage: Stage::Limit,
                code,
                message: format!("with the definitions that it uses in their places the expression {what}"),
                span: at.focus,
                labels: Vec::new(),
                help: vec!["the body of a definition counts at each of its uses".to_owned()],
            }));
        }
        sizes.push(size);
    }
    Ok(sizes.get(ast.root().0 as usize).copied().unwrap_or_default())
}

/// Returns the size of what replaces a call: the body, inside the bindings of those arguments that
/// do not replace their parameters.
fn of_call(
    checked: &Checked,
    call: &Node,
    definition: &Definition,
    declarations: &Declarations,
    size_of: &dyn Fn(NodeId) -> ExpandedSize,
) -> ExpandedSize {
    let (mut size, mut bindings, mut deepest) = (ExpandedSize::default(), 0_u32, 1);
    let args = arguments(checked.ast(), &call.expr, definition);
    for (&arg, ty) in args.iter().zip(&*definition.signature.params) {
        let passing = Passing::of(checked.ast().expr(arg), checked.reference(arg), ty, declarations);
        let mut arg = size_of(arg);
        if passing.replaces() {
            deepest = deepest.max(arg.depth);
            size.add(arg, 0);
            continue;
        }
        if !passing.fits {
            arg = arg.wrapped();
        }
        bindings = bindings.saturating_add(1);
        size.nodes = size.nodes.saturating_add(1);
        size.add(arg, bindings);
    }
    let mut body = definition.size;
    body.calls = body.calls.saturating_add(1);
    // Arguments replace parameters, which are one level deep.
    size.add(body, bindings.saturating_add(deepest).saturating_sub(1));
    size
}
