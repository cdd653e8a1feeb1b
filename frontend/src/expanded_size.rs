//! How large a tree is with the bodies of the definitions that it uses in their places, computed without writing that tree: what exceeds the
//! limits is refused before anything is copied.

use crate::ast::{Node, NodeId};
use crate::checked::Checked;
use crate::declarations::{Declarations, Definition};
use crate::defined_call::{Passing, arguments};
use crate::diagnostic::{Diagnostic, Severity, Stage, TOO_DEEP, TOO_MANY_NODES};
use crate::limits::Limits;

/// The size of an expression with the bodies of the definitions that it uses in their places. An upper bound: an argument that turns out to be
/// a literal needs no binding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpandedSize {
    pub(crate) nodes: usize,
    pub(crate) depth: u32,
    /// Most bodies that are inside one another.
    pub(crate) calls: u32,
}

impl ExpandedSize {
    /// The size of an expression with a further node around it.
    pub(crate) fn wrapped(self) -> Self {
        Self { nodes: self.nodes.saturating_add(1), depth: self.depth.saturating_add(1), ..self }
    }

    /// The levels of a recursion that writes the expression.
    pub(crate) fn levels(self) -> u32 {
        self.depth.saturating_add(self.calls)
    }

    /// Adds an expression below, with this many nodes between.
    fn add(&mut self, below: Self, between: u32) {
        self.nodes = self.nodes.saturating_add(below.nodes);
        self.depth = self.depth.max(below.depth.saturating_add(between));
        self.calls = self.calls.max(below.calls);
    }

    /// Returns the limit that is exceeded: its code, and what the expression does.
    fn excess(self, limits: &Limits) -> Option<(&'static str, String)> {
        let Limits { max_depth, max_nodes, .. } = *limits;
        if self.depth > max_depth {
            Some((TOO_DEEP, format!("nests deeper than {max_depth} levels (`max_depth`)")))
        } else if self.calls > max_depth {
            Some((
                TOO_DEEP,
                format!("uses definitions that use one another more than {max_depth} levels deep (`max_depth`)"),
            ))
        } else if self.nodes > max_nodes as usize {
            Some((TOO_MANY_NODES, format!("has more than {max_nodes} nodes (`max_nodes`)")))
        } else {
            None
        }
    }
}

/// Returns the size of a tree with the bodies of the definitions that it uses in their places. Takes time linear in the tree.
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

/// Returns the size of what replaces a call: the body, inside the bindings of those arguments that do not replace their parameters.
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
