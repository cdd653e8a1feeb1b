//! A CEL rule in the filter language, over the same environment.
//!
//! A CEL condition is true, false or fails; a condition here is true or false. So each condition is
//! translated to two (`condition.rs`): one that is true where the CEL condition is true, and one
//! that is true where it is false. The rule is the first of the root, so it is true for just the
//! contexts for which the CEL rule is true. Where that one would fail it is false, and a warning
//! names what it reads then.
//!
//! Fields are found by the expressions that give their values
//! (`runtime/src/filter/binding/http.rs`), so one table drives both directions. What has no equal
//! is noted with its place, all of it at once.

mod compare;
mod condition;
mod literal;
mod same;
mod test;
mod value;

use crate::filter::binding::FilterBinding;
use crate::lint::{FALSE_FOR_FAILURE, NO_EQUAL};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{
    Checked, Diagnostic, Expr, FallbackKind, FoldKind, Limits, Literal, LogicOp, NodeId, Overload, Reference, Span,
    Stage, Type, UnaryOp, Variable, with_stack,
};
use celero_ir::layout::Field as Layout;
use condition::{Condition, Outcomes};
use literal::Constant;
use test::{Test, outcomes};
use value::{Absence, Operand};

/// What a translation is about.
pub(crate) struct Given<'t> {
    /// The rule, with the bodies of functions in the places of their calls.
    pub(crate) checked: &'t Checked,
    /// The filter language of the environment.
    pub(crate) binding: &'t FilterBinding,
    /// The variables of the environment.
    pub(crate) variables: &'t [Variable],
    /// Their layouts.
    pub(crate) layouts: &'t [Layout],
    /// The bounds on the text.
    pub(crate) limits: &'t Limits,
}

/// Writes a rule in the filter language, on one line. Returns it and the warnings about it.
///
/// # Errors
/// What has no equal in the filter language: each part of the rule.
pub(crate) fn from_cel(given: &Given<'_>) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Given { checked, binding, variables, layouts, limits } = *given;
    let ast = checked.ast();
    let (root, depth) = (ast.root(), ast.node(ast.root()).depth);
    let mut translation =
        Translation { checked, binding, variables, layouts, limits, locals: Vec::new(), notes: Vec::new() };
    let found = with_stack(depth, || match checked.result_type() {
        Type::Bool => translation.condition(root),
        _ => translation.none(root, "a value that is no condition"),
    });
    let written = found.and_then(|found| Some((translation.root(root, &found.yes)?, found)));
    match written {
        Some((text, found)) if translation.notes.is_empty() => {
            let mut warnings: Vec<Diagnostic> = found.missing.iter().map(|(what, span)| absent(what, *span)).collect();
            warnings.sort_by_key(|warning| warning.span.start);
            Ok((text, warnings))
        }
        _ => {
            translation.notes.sort_by_key(|note| (note.span.start, note.span.end));
            Err(translation.notes)
        }
    }
}

fn absent(what: &str, span: Span) -> Diagnostic {
    let message = format!("without `{what}` the rule in CEL fails, and the translation is false");
    let help = vec!["say what holds then: `default(condition, false)`".to_owned()];
    Diagnostic { help, ..Diagnostic::warning(FALSE_FOR_FAILURE, span, message) }
}

/// What a variable of a macro stands for.
#[derive(Clone)]
enum Local {
    /// Each element of a list.
    Element(Operand),
    /// One of the literals of a list.
    Constant(Literal),
}

struct Translation<'t> {
    checked: &'t Checked,
    binding: &'t FilterBinding,
    variables: &'t [Variable],
    layouts: &'t [Layout],
    limits: &'t Limits,
    /// By level.
    locals: Vec<Local>,
    notes: Vec<Diagnostic>,
}

impl Translation<'_> {
    /// Notes that something has no equal. A part that is reported twice, because it is translated
    /// for each of several literals, is one.
    fn none<T>(&mut self, id: NodeId, what: &str) -> Option<T> {
        let span = self.checked.ast().span(id);
        let message = format!("the filter language has no equal of {what}");
        let known = self.notes.iter().any(|note| note.span == span && note.message == message);
        if !known && self.notes.len() < self.limits.max_diagnostics as usize {
            self.notes.push(Diagnostic::error(Stage::Check, NO_EQUAL, span, message));
        }
        None
    }

    /// Notes that the translation is beyond the bound on rules.
    fn too_long<T>(&mut self, id: NodeId) -> Option<T> {
        let message = format!("the translation is longer than {} bytes", self.limits.max_source_bytes);
        self.notes.push(Diagnostic::error(Stage::Check, NO_EQUAL, self.checked.ast().span(id), message));
        None
    }

    /// The text of the whole rule.
    fn root(&mut self, id: NodeId, condition: &Condition) -> Option<String> {
        if let Some((text, _)) = condition.text() {
            return Some(text.to_owned());
        }
        let value = *condition == Condition::Always(true);
        let fields = self.binding.scheme().fields();
        match fields.iter().find(|field| field.constant == Some(value)) {
            Some(field) => Some(field.name.to_string()),
            None => self.none(id, &format!("a rule that is always {value}")),
        }
    }

    /// The library function that a node calls whatever its values are.
    fn builtin(&self, id: NodeId) -> Option<Builtin> {
        match self.checked.reference(id) {
            Reference::Call { overloads, .. } => match **overloads {
                [Overload::Builtin(builtin)] => Some(builtin),
                _ => None,
            },
            _ => None,
        }
    }

    /// The operands of a call, the receiver first.
    fn operands(&self, id: NodeId) -> Vec<NodeId> {
        let (Reference::Call { receiver, .. }, Expr::Call { target, args, .. }) =
            (self.checked.reference(id), self.checked.ast().expr(id))
        else {
            return Vec::new();
        };
        let target = target.filter(|_| *receiver);
        target.into_iter().chain(self.checked.ast().children(*args).iter().copied()).collect()
    }

    /// The name of what a node calls, for messages.
    fn name(&self, id: NodeId) -> String {
        match self.checked.ast().expr(id) {
            Expr::Call { function, .. } => self.checked.ast().name(*function).to_owned(),
            Expr::Binary { op, .. } => op.function().trim_matches(['_', '@']).to_owned(),
            _ => String::new(),
        }
    }

    /// The element that a macro's variable stands for.
    fn element(&self, id: NodeId) -> Option<Operand> {
        match self.local(id)? {
            Local::Element(element) => Some(element.clone()),
            Local::Constant(_) => None,
        }
    }

    fn local(&self, id: NodeId) -> Option<&Local> {
        match *self.checked.reference(id) {
            Reference::Local(level) => self.locals.get(level as usize),
            _ => None,
        }
    }

    fn local_constant(&self, id: NodeId) -> Option<Constant> {
        match self.local(id)? {
            Local::Constant(literal) => Constant::of(literal),
            Local::Element(_) => None,
        }
    }

    /// A condition.
    fn condition(&mut self, id: NodeId) -> Option<Outcomes> {
        let outcomes = self.unbounded(id)?;
        let longest = outcomes.yes.len().max(outcomes.no.len());
        if longest > self.limits.max_source_bytes as usize {
            let most = self.limits.max_source_bytes;
            return self.none(id, &format!("this in {most} bytes, the limit of a rule"));
        }
        Some(outcomes)
    }

    fn unbounded(&mut self, id: NodeId) -> Option<Outcomes> {
        let ast = self.checked.ast();
        match ast.expr(id) {
            Expr::Literal(Literal::Bool(value)) => Some(Outcomes::of(Condition::Always(*value))),
            Expr::Logic { op, operands } => self.logic(id, ast.children(*operands), *op == LogicOp::And),
            Expr::Unary { op: UnaryOp::Not, operand } => Some(self.condition(*operand)?.not()),
            Expr::Cond { condition, then, otherwise } => self.choice(id, *condition, *then, *otherwise),
            Expr::Binary { left, right, .. } => {
                if *self.checked.type_of(*left) == Type::Bool && *self.checked.type_of(*right) == Type::Bool {
                    return self.equivalence(id, *left, *right);
                }
                self.comparison(id, *left, *right)
            }
            Expr::Fallback { kind, operands } if self.is_bool(id) => match ast.children(*operands) {
                &[first, second] => self.fallback(id, first, second, *kind),
                _ => self.none(id, "several conditions, of which the first is taken"),
            },
            Expr::Fold { kind, range, var2: None, filter: Some(predicate), transform: None, .. }
                if matches!(kind, FoldKind::All | FoldKind::Exists) =>
            {
                self.quantifier(id, *range, *predicate, *kind == FoldKind::All)
            }
            Expr::Fold { kind, .. } => self.none(id, &format!("`{}` in this form", kind.name())),
            expr if expr.is_test()
                && let Reference::Variable(variable) = *self.checked.reference(id) =>
            {
                self.variable_presence(id, variable)
            }
            Expr::Select { test: true, operand, field, .. } => {
                let key = ast.name(*field).to_owned();
                self.presence(id, *operand, &key)
            }
            Expr::Call { .. } if self.builtin(id).is_some() => self.test_call(id),
            _ if self.is_bool(id) => {
                let value = self.value(id)?;
                self.test(id, &value, &Test::IsTrue)
            }
            _ => self.none(id, &format!("a condition of type `{}`", self.checked.type_of(id))),
        }
    }

    fn is_bool(&self, id: NodeId) -> bool {
        *self.checked.type_of(id) == Type::Bool
    }

    fn test(&mut self, id: NodeId, value: &Operand, test: &Test) -> Option<Outcomes> {
        let span = self.checked.ast().span(id);
        match outcomes(value, test, span, self.binding.scheme().nil_not_equal()) {
            Some(outcomes) => Some(outcomes),
            None => self.none(id, "this test of a value that may be missing"),
        }
    }

    fn logic(&mut self, id: NodeId, operands: &[NodeId], all: bool) -> Option<Outcomes> {
        // All operands are translated, so that all notes are collected.
        let translated: Vec<Option<Outcomes>> = operands.iter().map(|operand| self.condition(*operand)).collect();
        let operands = translated.into_iter().collect::<Option<Vec<_>>>()?;
        let is_constant = |operand: &Outcomes| matches!(operand.yes, Condition::Always(_));
        let each = operands.iter().any(|operand| operand.each);
        if each && operands.iter().any(|operand| !operand.each && !is_constant(operand)) {
            return self.none(id, "a condition about the elements of a list and something else");
        }
        Some(Outcomes::logic(operands, all))
    }

    /// `condition ? then : otherwise`
    fn choice(&mut self, id: NodeId, condition: NodeId, then: NodeId, otherwise: NodeId) -> Option<Outcomes> {
        let parts = [condition, then, otherwise].map(|part| self.condition(part));
        let [condition, then, otherwise] = parts;
        let (condition, then, otherwise) = (condition?, then?, otherwise?);
        if [&condition, &then, &otherwise].iter().any(|part| part.each) {
            return self.none(id, "a choice about the elements of a list");
        }
        let choose = |then: Condition, otherwise: Condition| {
            let first = Condition::all(vec![condition.yes.clone(), then]);
            Condition::any(vec![first, Condition::all(vec![condition.no.clone(), otherwise])])
        };
        let yes = choose(then.yes.clone(), otherwise.yes.clone());
        let mut missing = condition.missing.clone();
        missing.extend(then.missing.clone());
        missing.extend(otherwise.missing.clone());
        let fails = condition.fails.or(then.fails).or(otherwise.fails);
        let never = missing.is_empty() && fails.is_none();
        let no = if never { yes.clone().not() } else { choose(then.no, otherwise.no) };
        Some(Outcomes { yes, no, missing, fails, presence: None, each: false })
    }

    /// `==` and `!=` of conditions.
    fn equivalence(&mut self, id: NodeId, left: NodeId, right: NodeId) -> Option<Outcomes> {
        let equal = match self.builtin(id) {
            Some(Builtin::Equal) => true,
            Some(Builtin::NotEqual) => false,
            _ => return self.none(id, "an order of conditions"),
        };
        let (left, right) = (self.condition(left), self.condition(right));
        let (left, right) = (left?, right?);
        if left.each || right.each {
            return self.none(id, "a comparison of conditions about the elements of a list");
        }
        let equivalent = if left.never_fails() && right.never_fails() {
            Outcomes::of(left.yes.xor(right.yes)).not()
        } else {
            let both = |a: &Condition, b: &Condition| Condition::all(vec![a.clone(), b.clone()]);
            let yes = Condition::any(vec![both(&left.yes, &right.yes), both(&left.no, &right.no)]);
            let no = Condition::any(vec![both(&left.yes, &right.no), both(&left.no, &right.yes)]);
            let mut missing = left.missing;
            missing.extend(right.missing);
            Outcomes { yes, no, missing, fails: left.fails.or(right.fails), presence: None, each: false }
        };
        Some(if equal { equivalent } else { equivalent.not() })
    }

    /// `default(condition, other)`, `coalesce(condition, other)`.
    fn fallback(&mut self, id: NodeId, first: NodeId, second: NodeId, kind: FallbackKind) -> Option<Outcomes> {
        let (first, second) = (self.condition(first), self.condition(second));
        let (first, second) = (first?, second?);
        if first.each || second.each {
            return self.none(id, "a default of a condition about the elements of a list");
        }
        if first.fails.is_some() && kind == FallbackKind::Default {
            return self.none(id, "`default` of a condition that can fail for other reasons than a missing value");
        }
        if first.never_fails() {
            return Some(first);
        }
        let (missing, fails) = (second.missing, second.fails);
        // Where the first is neither true nor false, the second decides.
        let yes = match &second.yes {
            Condition::Always(false) => first.yes.clone(),
            Condition::Always(true) => first.no.clone().not(),
            other => {
                let second = Condition::all(vec![first.no.clone().not(), other.clone()]);
                Condition::any(vec![first.yes.clone(), second])
            }
        };
        let no = if missing.is_empty() && fails.is_none() {
            yes.clone().not()
        } else {
            let second = Condition::all(vec![first.yes.not(), second.no]);
            Condition::any(vec![first.no, second])
        };
        Some(Outcomes { yes, no, missing, fails, presence: None, each: false })
    }

    /// `list.exists(x, condition)` and `list.all(x, condition)`.
    fn quantifier(&mut self, id: NodeId, range: NodeId, predicate: NodeId, all: bool) -> Option<Outcomes> {
        if let Expr::List { elements, optional } = self.checked.ast().expr(range)
            && optional.is_empty()
        {
            return self.over_literals(id, self.checked.ast().children(*elements), predicate, all);
        }
        let list = self.value(range);
        let Some(element) = list.as_ref().and_then(Operand::elements) else {
            return match list {
                Some(_) => self.none(range, "the keys of a map"),
                None => None,
            };
        };
        let list = list?;
        if list.each || list.default.is_some() {
            return self.none(id, "a list in a list");
        }
        self.locals.push(Local::Element(element));
        let condition = self.condition(predicate);
        self.locals.pop();
        let condition = condition?;
        let Some((text, is_chain)) = condition.yes.text().filter(|_| condition.each) else {
            return self.none(predicate, "a condition that is not about the element");
        };
        let name = if all { "all" } else { "any" };
        let text = if is_chain { format!("{name}(({text}))") } else { format!("{name}({text})") };
        let holds = Condition::single(text);
        if list.absence == Absence::Never {
            return Some(Outcomes::of(holds));
        }
        let mut found = self.test(id, &list, &Test::Present)?;
        let present = found.yes;
        found.no = Condition::all(vec![present.clone(), holds.clone().not()]);
        // `any` of nothing is false already.
        found.yes = if all { Condition::all(vec![present, holds]) } else { holds };
        found.presence = None;
        let span = self.checked.ast().span(range);
        found.missing.insert(list.text.clone(), span);
        found.fails = (list.absence == Absence::Fails).then_some(span);
        Some(found)
    }

    /// A macro over a list of literals: a condition for each.
    fn over_literals(&mut self, id: NodeId, elements: &[NodeId], predicate: NodeId, all: bool) -> Option<Outcomes> {
        let mut conditions = Vec::new();
        let mut complete = true;
        for &element in elements {
            let Some(literal) = self.literal(element).cloned() else {
                return self.none(element, "an element that is no constant");
            };
            self.locals.push(Local::Constant(literal));
            let condition = self.condition(predicate);
            self.locals.pop();
            match condition {
                Some(condition) => conditions.push(condition),
                None => complete = false,
            }
            let longest = conditions.iter().map(|one| one.yes.len()).fold(0, usize::saturating_add);
            if longest > self.limits.max_source_bytes as usize {
                return self.too_long(id);
            }
        }
        complete.then(|| Outcomes::logic(conditions, all))
    }
}
