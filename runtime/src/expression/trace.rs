//! [`Trace`]: what each part of an expression evaluated to.

use super::Expression;
use super::deciding::Deciding;
use crate::arena::Arena;
use crate::context::Host;
use crate::error::EvalError;
use crate::function::Functions;
use crate::interpret::{NodeResult, Recorded, Recorder};
use crate::language::RuleTree;
use crate::library::Cx;
use crate::value::Value;
use celero_frontend::{Span, Type};
use std::fmt;

/// The results of all parts of an expression in one evaluation, for people who ask why a rule matches or doesn't.
///
/// Made by [`Program::trace`](crate::Program::trace) and [`RuleSet::trace`](crate::RuleSet::trace).
/// [`render`](Self::render) says it in words, [`parts`](Self::parts) are for a display of one's own.
#[derive(Clone)]
pub struct Trace<'a> {
    result: Result<Value<'a>, EvalError>,
    tree: &'a dyn RuleTree,
    nodes: Vec<Recorded<'a>>,
    parts: Vec<TracedPart<'a>>,
    arena: &'a Arena,
    /// Whether bytes are the texts of the language.
    bytes_are_text: bool,
}

impl fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { result, parts, .. } = self;
        f.debug_struct("Trace").field("result", result).field("parts", parts).finish_non_exhaustive()
    }
}

/// A part of an expression, and what it evaluated to.
#[derive(Clone, Debug)]
pub struct TracedPart<'a> {
    span: Span,
    depth: usize,
    evaluations: u64,
    results: Vec<PartResult<'a>>,
}

/// The result of a part of an expression.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PartResult<'a> {
    /// It has a value.
    Value(Value<'a>),
    /// In the filter language: the value is missing, which is no error there.
    Missing,
    /// It failed. The place is that of the part that failed first.
    Failed(EvalError),
}

impl<'a> Trace<'a> {
    /// Returns the result of the whole expression.
    ///
    /// # Errors
    /// The evaluation's error.
    pub fn result(&self) -> Result<Value<'a>, EvalError> {
        self.result
    }

    /// Returns the parts: the whole expression first, each part before those in it, in the order of
    /// the source. Literals and names that are only the beginning of a longer name are left out.
    #[must_use]
    pub fn parts(&self) -> &[TracedPart<'a>] {
        &self.parts
    }

    /// Returns why the expression has its result: a line for each part that decided, with the values
    /// that it read. Of `a && b` that is false that is the operand that is false, of `a || b` that is
    /// true the one that is true; of a call of a function defined in CEL it is a part of its body.
    /// At most 50 lines, each with a line end. Lists of more than 4 elements, maps, and texts after
    /// their 64th character are not shown.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let program = Engine::new().compile(&env, r#"request.path.startsWith("/api") && request.method == "GET""#)?;
    /// let request = http::Request::get("/x").body(())?;
    /// let (context, mut scratch) = (RequestContext::new(&request), Scratch::new());
    /// assert_eq!(
    ///     program.trace(&context, &mut scratch)?.render(),
    ///     "request.path.startsWith(\"/api\") is false: request.path is \"/x\"\n"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The text of the context's data is in it: it is for who may see the request, and not for logs.
    #[must_use]
    pub fn render(&self) -> String {
        let Self { tree, nodes, arena, bytes_are_text, .. } = self;
        Deciding { tree: *tree, nodes, arena, bytes_are_text: *bytes_are_text }.lines()
    }
}

impl Trace<'_> {
    /// See [`Partial::residual`](super::Partial::residual).
    pub(super) fn residual(&self) -> String {
        let mut residual = String::new();
        self.tree.write_residual(&self.nodes, &mut residual);
        residual
    }
}

impl<'a> TracedPart<'a> {
    /// Returns the place in the source.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the number of parts that this one is in.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns how often the part was evaluated: 0 if the rest decided without it, more than 1 in a loop.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Returns whether the first evaluation gave `true`.
    #[must_use]
    pub fn is_true(&self) -> bool {
        matches!(self.results.first(), Some(PartResult::Value(Value::Bool(true))))
    }

    /// Returns the results of the first evaluations, at most 16. Beyond 4,096 results of all parts
    /// only the first one of each part is kept; in the filter language values are kept up to 1 MiB
    /// in all.
    #[must_use]
    pub fn results(&self) -> &[PartResult<'a>] {
        &self.results
    }
}

impl Expression {
    /// Evaluates the expression with the interpreter, and keeps the results of its parts.
    pub(crate) fn trace<'a>(&'a self, functions: &'a Functions, host: &'a dyn Host, cx: &Cx<'a>) -> Trace<'a> {
        let recorder = Recorder::new(self.tree.node_count());
        let result = self.interpret(Some(&recorder), functions, host, cx);
        let nodes = recorder.into_nodes();
        let parts = parts(&*self.tree, &nodes);
        let bytes_are_text = self.language.text_type() == Type::Bytes;
        Trace { result, tree: &*self.tree, nodes, parts, arena: cx.arena(), bytes_are_text }
    }
}

/// The parts of a tree with their results, each before those in it. A node at the place of the part
/// around it, such as the body of a function in the place of its call, is not a part of its own.
fn parts<'a>(tree: &dyn RuleTree, nodes: &[Recorded<'a>]) -> Vec<TracedPart<'a>> {
    let mut parts = Vec::new();
    let mut pending = vec![(tree.root(), 0_usize, None)];
    while let Some((id, depth, around)) = pending.pop() {
        if tree.is_literal(id) && around.is_some() {
            continue;
        }
        let span = tree.span(id);
        let own = around != Some(span);
        if own {
            let recorded = nodes.get(id.0 as usize).cloned().unwrap_or_default();
            let result = |result: NodeResult<'a>| match result {
                Ok(Some(value)) => PartResult::Value(value),
                Ok(None) => PartResult::Missing,
                Err((kind, failed)) => {
                    let Span { start, end } = tree.span(failed);
                    PartResult::Failed(EvalError { kind, start, end })
                }
            };
            let results = recorded.results.into_iter().map(result).collect();
            parts.push(TracedPart { span, depth, evaluations: recorded.count, results });
        }
        let depth = if own { depth.saturating_add(1) } else { depth };
        let mut children = Vec::new();
        tree.add_parts(id, &mut children);
        children.sort_by_key(|child| tree.span(*child).start);
        pending.extend(children.into_iter().rev().map(|child| (child, depth, Some(span))));
    }
    parts
}
