//! Checks the expressions of a policy and composes them to one tree.
//!
//! Each expression is checked by itself, in the scope of the variables before it, and its tree is
//! put into the tree of the policy: variables become bindings around the matches of their rule,
//! which evaluate them once and keep their errors for where they are used; matches become
//! conditional expressions. A rule whose matches may all fail has an optional as its result. What an inner rule
//! with such a result does in a match depends on the match: after a condition, it decides; without
//! one, the matches after it are next where it gives nothing.
//!
//! Invariant: the tree is as large as the trees of the expressions and a few nodes for each match and variable, and
//! each expression is checked once. Test: `runtime/adapters/cel-policy/tests/it/limits.rs::time_is_linear`.

use crate::codes;
use crate::expression::{Expression, whole};
use crate::keys::is_qualified;
use crate::policy::{Match, Outcome, Policy, Rule, Semantic, Variable};
use celero::diagnostics::{Label, Severity, Span, Stage};
use celero::language::{
    Builtin, Cel, Checked, Declarations, Diagnostic, Expr, ExpressionVisitor, Graft, Language as _, Limits, Literal,
    NodeId, Overload, Place, Reference, TreeBuilder, Type, UnaryOp, Variable as Declared, common_type,
};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The first part of the names of variables.
const VARIABLES: &str = "variables";

/// What a rule became.
struct Composed {
    node: NodeId,
    /// The type of an output.
    output: Type,
    /// Whether the result is an optional of an output.
    optional: bool,
}

/// A match, its parts in the tree.
struct Part {
    place: Place,
    /// `None`: it holds always.
    condition: Option<NodeId>,
    result: Composed,
    /// Where the output or the inner rule is written.
    outcome: Span,
    /// The inner rule, or else the whole match.
    whole: Span,
    is_rule: bool,
}

/// The variables of one rule.
#[derive(Default)]
struct Scope {
    places: HashMap<String, Span>,
    binds: Vec<Bind>,
}

/// A variable of a rule.
struct Bind {
    name: String,
    place: Place,
    /// `None` after an error.
    init: Option<NodeId>,
    /// The variable that its name stood for outside of the rule.
    hidden: Option<u32>,
}

/// The tree of a policy before it is finished.
pub(crate) struct Composition {
    pub(crate) tree: TreeBuilder,
    pub(crate) root: NodeId,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// A policy that is composed.
pub(crate) struct Composer<'c> {
    /// The text of the file.
    file: &'c str,
    /// What expressions may mention, the variables in scope among it.
    declarations: Declarations,
    limits: &'c Limits,
    tree: TreeBuilder,
    /// The number of variables of the environment.
    declared: usize,
    /// The levels of the policy's variables, in the order in which they are declared.
    levels: Vec<u32>,
    /// Of the same variables, those that are used.
    used: RefCell<HashSet<usize>>,
    /// The number of variables in scope.
    level: u32,
    /// The number of errors in expressions.
    errors: u32,
    found: Vec<Diagnostic>,
    /// Takes each expression without an error.
    visit: &'c mut ExpressionVisitor<'c>,
}

impl<'c> Composer<'c> {
    pub(crate) fn new(
        file: &'c str,
        declarations: &Declarations,
        limits: &'c Limits,
        visit: &'c mut ExpressionVisitor<'c>,
    ) -> Self {
        Self {
            file,
            declarations: declarations.clone(),
            limits,
            tree: TreeBuilder::new(file),
            declared: declarations.variables().len(),
            levels: Vec::new(),
            used: RefCell::default(),
            level: 0,
            errors: 0,
            found: Vec::new(),
            visit,
        }
    }

    /// Composes a policy.
    ///
    /// # Errors
    /// All errors and warnings.
    pub(crate) fn policy(mut self, policy: &Policy) -> Result<Composition, Vec<Diagnostic>> {
        for import in &policy.imports {
            if let Err(reason) = self.declarations.abbreviate(import.text.trim()) {
                self.error(codes::IMPORT, whole(import.place), reason);
            }
        }
        let composed = self.rule(&policy.rule, false);
        let has_errors = self.found.iter().any(|found| found.severity == Severity::Error);
        match composed {
            Some(Composed { node, .. }) if !has_errors => {
                Ok(Composition { tree: self.tree, root: node, warnings: self.found })
            }
            _ => Err(self.found),
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::error(Stage::Check, code, span, message));
    }

    /// Composes a rule. `None` after an error.
    fn rule(&mut self, rule: &Rule, in_aggregate: bool) -> Option<Composed> {
        let aggregates = rule.semantic == Semantic::All;
        if in_aggregate && aggregates {
            self.error(codes::NESTING, whole(rule.place), "nested aggregate rules are not allowed");
        }
        let mut scope = Scope::default();
        let first = self.levels.len();
        for variable in &rule.variables {
            self.variable(variable, &mut scope);
        }
        let inside = in_aggregate || aggregates;
        let parts: Vec<Option<Part>> = rule.matches.iter().map(|one| self.one_match(one, inside)).collect();
        let output = self.agreed(&parts);
        if !aggregates {
            self.reachable(&parts);
        }
        self.leave(&scope, first);
        let parts = parts.into_iter().collect::<Option<Vec<Part>>>()?;
        let output = output?;
        let composed = if aggregates { self.all(rule, parts, output) } else { self.first(rule, parts, output)? };
        Some(self.bound(scope, composed))
    }

    /// Checks a variable and declares it for what follows in its rule.
    fn variable(&mut self, Variable { name, expression }: &Variable, scope: &mut Scope) {
        let checked = self.check(expression);
        let full = format!("{VARIABLES}.{}", name.text);
        let at = whole(name.place);
        if !is_qualified(&name.text) {
            let message = format!("`{}` is no name: write letters, digits and `_`", name.text);
            return self.error(codes::VARIABLE, at, message);
        }
        if let Some(first) = scope.places.insert(full.clone(), at) {
            let message = format!("invalid variable declaration: overlapping identifier for name '{full}'");
            let mut error = Diagnostic::error(Stage::Check, codes::VARIABLE, at, message);
            error.labels.push(Label { span: first, text: "the first is here".to_owned() });
            return self.found.push(error);
        }
        // Nothing more is said about what has an error.
        let ty = checked.as_ref().map_or(Type::Dyn, |checked| checked.result_type().clone());
        let place = Place { span: expression.place(self.file), focus: at };
        let init = checked.map(|checked| self.graft(&checked, expression));
        let hidden = self.declarations.rename_variable(&full, None);
        self.declarations.add_variable(Declared::new(full.as_str(), ty));
        self.levels.push(self.level);
        self.level = self.level.saturating_add(1);
        scope.binds.push(Bind { name: full, place, init, hidden });
    }

    /// Ends the scope of the variables of a rule, whose first one has this number.
    fn leave(&mut self, scope: &Scope, first: usize) {
        for (number, bind) in (first..).zip(&scope.binds) {
            self.declarations.rename_variable(&bind.name, bind.hidden);
            if !self.used.borrow().contains(&number) && bind.init.is_some() {
                let message = format!("`{}` is not used", bind.name);
                self.found.push(Diagnostic::warning("unused-binding", bind.place.focus, message));
            }
        }
        let count = u32::try_from(scope.binds.len()).unwrap_or(u32::MAX);
        self.level = self.level.saturating_sub(count);
    }

    /// Puts the variables of a rule around it, the first one outermost.
    fn bound(&mut self, scope: Scope, composed: Composed) -> Composed {
        let mut body = composed.node;
        let ty = result_type(&composed);
        for Bind { name, place, init, .. } in scope.binds.into_iter().rev() {
            let Some(init) = init else { continue };
            let var = self.tree.name(&name);
            body = self.tree.add(Expr::Bind { var, init, body, with: false }, place, ty.clone(), Reference::None);
        }
        Composed { node: body, ..composed }
    }

    /// Checks an expression. `None` after an error. Nothing is checked where no more errors are shown: each looks for
    /// what was meant among all names.
    fn check(&mut self, expression: &Expression) -> Option<Checked> {
        if self.errors >= self.limits.max_diagnostics.max(1) {
            return None;
        }
        let (checked, found) = match Cel.check(&expression.text, &self.declarations, self.limits) {
            Ok((checked, warnings)) => (Some(checked), warnings),
            Err(found) => (None, found),
        };
        let place = |span| expression.span(self.file, span);
        for diagnostic in found {
            self.errors = self.errors.saturating_add(u32::from(diagnostic.severity == Severity::Error));
            self.found.push(diagnostic.placed(place));
        }
        if let Some(checked) = &checked {
            (self.visit)(checked, &place);
        }
        checked.filter(|checked| self.tests_no_variable(expression, checked))
    }

    /// The number of a variable of the policy.
    fn number(&self, index: u32) -> Option<usize> {
        (index as usize).checked_sub(self.declared)
    }

    /// Refuses `has(variables.x)`: variables of the policy are always there.
    fn tests_no_variable(&mut self, expression: &Expression, checked: &Checked) -> bool {
        let is_test = |id: NodeId| checked.ast().expr(id).is_test();
        let mut tests = variables_of(checked).filter(|(id, index)| is_test(*id) && self.number(*index).is_some());
        let Some((id, _)) = tests.next() else { return true };
        let span = expression.span(self.file, checked.ast().span(id));
        self.error(codes::VARIABLE, span, "a variable of a policy is always present: `has` is for fields and keys");
        false
    }

    fn graft(&mut self, checked: &Checked, expression: &Expression) -> NodeId {
        let (declared, levels, used) = (self.declared, &self.levels, &self.used);
        let local = |index: u32| {
            let number = (index as usize).checked_sub(declared)?;
            used.borrow_mut().insert(number);
            levels.get(number).copied()
        };
        let span = |span| expression.span(self.file, span);
        self.tree.graft(checked, &Graft { level: self.level, local: &local, span: &span })
    }

    fn one_match(&mut self, one: &Match, in_aggregate: bool) -> Option<Part> {
        let condition = one.condition.as_ref().map(|condition| self.condition(one, condition));
        if let Some(explanation) = &one.explanation
            && let Some(checked) = self.check(explanation)
        {
            let read = variables_of(&checked).filter_map(|(_, index)| self.number(index));
            self.used.borrow_mut().extend(read);
        }
        let (result, outcome) = match &one.outcome {
            Outcome::Rule(rule) => (self.rule(rule, in_aggregate), whole(rule.place)),
            Outcome::Output(output) => {
                let result = self.check(output).map(|checked| Composed {
                    output: checked.result_type().clone(),
                    node: self.graft(&checked, output),
                    optional: false,
                });
                (result, output.place(self.file))
            }
            Outcome::Text(text) => {
                let at = whole(one.place);
                let literal = Expr::Literal(Literal::String((*text).into()));
                let node = self.tree.add(literal, at, Type::String, Reference::None);
                (Some(Composed { node, output: Type::String, optional: false }), at)
            }
        };
        let condition = match condition {
            None => None,
            Some(condition) => condition?,
        };
        let at = condition.and(one.condition.as_ref()).map_or(outcome, |text| text.place(self.file));
        let place = Place { span: at, focus: at };
        let is_rule = matches!(one.outcome, Outcome::Rule(_));
        let whole = if is_rule { outcome } else { whole(one.place) };
        Some(Part { place, condition, result: result?, outcome, whole, is_rule })
    }

    /// Returns the node of a condition: `Some(None)` if it is always true, `None` after an error.
    fn condition(&mut self, one: &Match, condition: &Expression) -> Option<Option<NodeId>> {
        let checked = self.check(condition)?;
        let place = condition.place(self.file);
        if common_type(checked.result_type(), &Type::Bool).is_none() {
            let message = format!("a condition must be `bool`, this is `{}`", checked.result_type());
            self.error(codes::CONDITION, place, message);
            return None;
        }
        let literal = match checked.ast().expr(checked.ast().root()) {
            Expr::Literal(Literal::Bool(value)) => Some(*value != one.negated),
            _ => None,
        };
        match literal {
            Some(true) => return Some(None),
            // `true` of a validation holds always: it never has its output.
            Some(false) if !one.negated => {
                self.error(codes::CONDITION, place, "condition is always false");
                return None;
            }
            _ => {}
        }
        let mut node = self.graft(&checked, condition);
        if one.negated {
            let reference = called(Builtin::Not, false);
            node = self.tree.add(Expr::Unary { op: UnaryOp::Not, operand: node }, place, Type::Bool, reference);
        }
        Some(Some(node))
    }

    /// Returns the type of the outputs of a rule, and reports the first that has another type than those before it.
    fn agreed(&mut self, parts: &[Option<Part>]) -> Option<Type> {
        let mut agreed: Option<Type> = None;
        for part in parts.iter().flatten() {
            let output = &part.result.output;
            agreed = match &agreed {
                None => Some(output.clone()),
                Some(before) => match common_type(before, output) {
                    Some(common) => Some(common),
                    None => {
                        let types = format!("type {output}, but previous outputs have type {before}");
                        let message = format!("incompatible output types: block has output {types}");
                        self.error(codes::OUTPUTS, part.outcome, message);
                        return None;
                    }
                },
            };
        }
        agreed
    }

    /// Reports a match after which no other one is reached.
    fn reachable(&mut self, parts: &[Option<Part>]) {
        let mut before_last = parts.iter().rev().skip(1).flatten();
        if let Some(part) = before_last.find(|part| part.condition.is_none() && !part.result.optional) {
            let what = if part.is_rule { "rule" } else { "match" };
            self.error(codes::UNREACHABLE, part.whole, format!("{what} creates unreachable outputs"));
        }
    }

    /// Composes a rule of which the first match counts, from its last match on. `None` after an error.
    fn first(&mut self, rule: &Rule, parts: Vec<Part>, output: Type) -> Option<Composed> {
        let place = Place::from(whole(rule.place));
        let mut after: Option<Composed> = may_fail(&parts).then(|| Composed {
            node: self.none(place, &output),
            output: output.clone(),
            optional: true,
        });
        let mut is_none = true;
        for Part { place, condition, result, .. } in parts.into_iter().rev() {
            let Some(next) = after.take() else {
                // The last match of a rule that never fails: it has no condition.
                (after, is_none) = (Some(Composed { output: output.clone(), ..result }), false);
                continue;
            };
            let optional = match condition {
                Some(_) => result.optional || next.optional,
                None => result.optional && next.optional,
            };
            let node = match condition {
                Some(condition) => {
                    let then = if result.optional == optional { result.node } else { self.some(place, &result) };
                    let otherwise = if next.optional == optional { next.node } else { self.some(place, &next) };
                    let ty = if optional { Type::optional(output.clone()) } else { output.clone() };
                    self.tree.add(Expr::Cond { condition, then, otherwise }, place, ty, Reference::None)
                }
                None if !result.optional || is_none => result.node,
                None => self.or(place, &result, &next, &output),
            };
            (after, is_none) = (Some(Composed { node, output: output.clone(), optional }), false);
        }
        after
    }

    /// Composes a rule of which all matches count: a list.
    fn all(&mut self, rule: &Rule, parts: Vec<Part>, output: Type) -> Composed {
        let place = Place::from(whole(rule.place));
        let mut optional = Vec::with_capacity(parts.len());
        let mut elements = Vec::with_capacity(parts.len());
        for Part { place, condition, result, .. } in parts {
            optional.push(condition.is_some() || result.optional);
            elements.push(match condition {
                None => result.node,
                Some(condition) => {
                    let then = if result.optional { result.node } else { self.some(place, &result) };
                    let otherwise = self.none(place, &result.output);
                    let ty = Type::optional(result.output);
                    self.tree.add(Expr::Cond { condition, then, otherwise }, place, ty, Reference::None)
                }
            });
        }
        let list = Expr::List { elements: self.tree.children(&elements), optional: optional.into() };
        let output = Type::list(output);
        let node = self.tree.add(list, place, output.clone(), Reference::None);
        Composed { node, output, optional: false }
    }

    /// An optional that holds a result.
    fn some(&mut self, place: Place, result: &Composed) -> NodeId {
        let args = self.tree.children(&[result.node]);
        let call = Expr::Call { target: None, function: self.tree.name("optional.of"), rooted: false, args };
        let ty = Type::optional(result.output.clone());
        self.tree.add(call, place, ty, called(Builtin::OptionalOf, false))
    }

    /// An optional that holds nothing.
    fn none(&mut self, place: Place, output: &Type) -> NodeId {
        let args = self.tree.children(&[]);
        let call = Expr::Call { target: None, function: self.tree.name("optional.none"), rooted: false, args };
        self.tree.add(call, place, Type::optional(output.clone()), called(Builtin::OptionalNone, false))
    }

    /// What an optional holds, or the next result.
    fn or(&mut self, place: Place, result: &Composed, next: &Composed, output: &Type) -> NodeId {
        let (name, builtin, ty) = match next.optional {
            true => ("or", Builtin::OptionalOr, Type::optional(output.clone())),
            false => ("orValue", Builtin::OptionalOrValue, output.clone()),
        };
        let args = self.tree.children(&[next.node]);
        let call = Expr::Call { target: Some(result.node), function: self.tree.name(name), rooted: false, args };
        self.tree.add(call, place, ty, called(builtin, true))
    }
}

/// The nodes of an expression that are variables, with the variables' indices.
fn variables_of(checked: &Checked) -> impl Iterator<Item = (NodeId, u32)> {
    let ids = (0..u32::try_from(checked.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
    ids.filter_map(|id| match checked.reference(id) {
        Reference::Variable(index) => Some((id, *index)),
        _ => None,
    })
}

/// Whether a rule may have no output.
fn may_fail(parts: &[Part]) -> bool {
    for part in parts {
        match (part.result.optional, part.condition) {
            // The inner rule decides also where it has no output.
            (true, Some(_)) => return true,
            (false, None) => return false,
            _ => {}
        }
    }
    true
}

fn result_type(composed: &Composed) -> Type {
    if composed.optional { Type::optional(composed.output.clone()) } else { composed.output.clone() }
}

fn called(builtin: Builtin, receiver: bool) -> Reference {
    Reference::Call { overloads: Box::new([Overload::Builtin(builtin)]), receiver }
}
