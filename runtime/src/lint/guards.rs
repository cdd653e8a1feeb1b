//! Warnings about a rule as a guard: a rule that keeps a request back where it is true.
//!
//! A client that can make a guard fail, or false, passes it. Two ways are found here:
//!
//! - It leaves out what the condition reads, and a failed condition does not match. For each such
//!   read the whole condition is evaluated with sets of possible results, with that one thing
//!   absent and all else unknown: a warning, if the condition may then fail.
//! - It sends a header twice. The lines are one text, joined with commas, which differs from each
//!   of them. So `==` and `in` with a header are warned of where the guard is true only if they are
//!   (an even number of negations around them).

use super::{GUARD_PASSED_BY_ABSENCE, GUARD_PASSED_BY_REPEATING};
use celero_frontend::{
    Ast, BinaryOp, Checked, Diagnostic, Expr, FallbackKind, FoldKind, Literal, LogicOp, NodeId, Reference, Severity,
    Span, Stage, Type, UnaryOp, Variable,
};
use celero_ir::layout;

/// Most absent things that a rule is evaluated with.
const MAX_ABSENT: usize = 16;

/// Headers of which a message has one line: with several it is refused, because they frame or route it.
pub(crate) const SINGLE: [&str; 3] = ["content-length", "host", "transfer-encoding"];

/// The possible results of an expression, as a set of bits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Results(u8);

impl Results {
    const NEVER: Self = Self(0);
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    const ERROR: Self = Self(4);
    /// An optional without a value.
    const NONE: Self = Self(8);
    /// Any value.
    const VALUE: Self = Self(3);

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn when(self, holds: bool) -> Self {
        if holds { self } else { Self::NEVER }
    }

    fn negated(self) -> Self {
        let turned = Self::TRUE.when(self.may_be(Self::FALSE)).or(Self::FALSE.when(self.may_be(Self::TRUE)));
        turned.or(Self(self.0 & Self::ERROR.0))
    }
}

/// What a client may leave out.
#[derive(Clone, PartialEq, Eq)]
enum Optional {
    /// A header of the header map in a field, by its name in lower case.
    Header(u32, String),
    /// A field, or everything in a map of the host.
    Field(u32),
}

/// How a node depends on what may be absent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// It fails if that is absent.
    Read,
    /// It gives an empty optional.
    Optional,
    /// It asks whether that is present.
    Test,
}

/// Returns the warnings about a rule as a guard, in the order of the source. `fails_open`: a failed
/// condition does not match.
pub(crate) fn guard_warnings(
    checked: &Checked,
    fields: &[layout::Field],
    variables: &[Variable],
    fails_open: bool,
) -> Vec<Diagnostic> {
    let guard = Guard { checked, ast: checked.ast(), fields, variables };
    let mut found = guard.repeated();
    if fails_open {
        found.extend(guard.absent());
    }
    found.sort_by_key(|warning| (warning.span.start, warning.span.end));
    found
}

struct Guard<'c> {
    checked: &'c Checked,
    ast: &'c Ast,
    fields: &'c [layout::Field],
    variables: &'c [Variable],
}

impl Guard<'_> {
    fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.ast.nodes().len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    fn text(&self, id: NodeId) -> Option<&str> {
        match self.ast.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the field of a variable, or of a view of it such as `request.headers.split()`.
    fn field(&self, mut id: NodeId) -> Option<u32> {
        while let Expr::Call { target: Some(target), function, args, .. } = self.ast.expr(id)
            && self.ast.children(*args).is_empty()
            && matches!(self.ast.name(*function), "raw" | "join" | "split" | "redacted")
        {
            id = *target;
        }
        match *self.checked.reference(id) {
            Reference::Variable(field) if !self.ast.expr(id).is_test() => Some(field),
            _ => None,
        }
    }

    /// Returns what a node reads, or asks for, of what may be absent.
    fn access(&self, id: NodeId) -> Option<(Optional, Access)> {
        let is_headers = |field: u32| self.fields.get(field as usize).is_some_and(|layout| layout.headers.is_some());
        let (map, name, access) = match self.ast.expr(id) {
            Expr::Select { test, .. } if matches!(self.checked.reference(id), Reference::Variable(_)) => {
                return self.variable(id, *test);
            }
            Expr::Ident { test, .. } => return self.variable(id, *test),
            Expr::Select { operand, field, test, optional } => {
                let plain = if *optional { Access::Optional } else { Access::Read };
                (*operand, Some(self.ast.name(*field)), if *test { Access::Test } else { plain })
            }
            Expr::Index { operand, index, optional } => {
                (*operand, self.text(*index), if *optional { Access::Optional } else { Access::Read })
            }
            Expr::Binary { op: BinaryOp::In, left, right } => (*right, self.text(*left), Access::Test),
            Expr::Call { target: Some(target), function, .. } if self.ast.name(*function) == "cookie" => {
                (*target, Some("cookie"), Access::Read)
            }
            _ => return None,
        };
        let field = self.field(map)?;
        if is_headers(field) {
            return Some((Optional::Header(field, name?.to_ascii_lowercase()), access));
        }
        let is_map = matches!(self.variables.get(field as usize)?.ty, Type::Map(_) | Type::Dyn);
        is_map.then_some((Optional::Field(field), access))
    }

    fn variable(&self, id: NodeId, test: bool) -> Option<(Optional, Access)> {
        let Reference::Variable(field) = *self.checked.reference(id) else { return None };
        let optional = self.fields.get(field as usize)?.optional;
        optional.then_some((Optional::Field(field), if test { Access::Test } else { Access::Read }))
    }

    /// Warns for each thing whose absence may make the condition fail.
    fn absent(&self) -> Vec<Diagnostic> {
        let mut reads: Vec<(Optional, NodeId)> = Vec::new();
        for id in self.ids() {
            if let Some((optional, Access::Read | Access::Optional)) = self.access(id)
                && reads.len() < MAX_ABSENT
                && !reads.iter().any(|(known, _)| *known == optional)
            {
                reads.push((optional, id));
            }
        }
        reads.retain(|(optional, _)| self.result_without(optional).may_be(Results::ERROR));
        reads.iter().map(|(optional, id)| self.passed_by_absence(optional, *id)).collect()
    }

    fn passed_by_absence(&self, optional: &Optional, id: NodeId) -> Diagnostic {
        let variable = |field: u32| self.variables.get(field as usize).map_or("", |variable| &*variable.name);
        let (what, test) = match optional {
            Optional::Header(field, name) => {
                (format!("the header `{name}`"), format!("{}[?\"{name}\"].orValue(\"\")", variable(*field)))
            }
            Optional::Field(field) => {
                let name = variable(*field);
                let is_map = matches!(
                    self.variables.get(*field as usize).map(|variable| &variable.ty),
                    Some(Type::Map(_) | Type::Dyn)
                );
                let part = if is_map && !name.contains('.') { ".NAME" } else { "" };
                (format!("`{name}`"), format!("has({name}{part})"))
            }
        };
        let message =
            format!("without {what} this guard fails, and lets the message pass: a failed condition does not match");
        let help = format!(
            "let the guard match when it fails (`closed` in a policy, `match` elsewhere), or say what absence means with `{test}`"
        );
        warning(GUARD_PASSED_BY_ABSENCE, self.ast.span(id), message, help)
    }

    /// Returns the possible results of the condition with this absent and all else unknown. An
    /// operand precedes its operation among the nodes.
    fn result_without(&self, absent: &Optional) -> Results {
        let mut results = vec![Results::VALUE; self.ast.nodes().len()];
        for id in self.ids() {
            let of = |id: NodeId| results.get(id.0 as usize).copied().unwrap_or(Results::VALUE);
            let result = match self.access(id) {
                Some((optional, access)) if optional == *absent => match access {
                    Access::Read => Results::ERROR,
                    Access::Optional => Results::NONE,
                    Access::Test => Results::FALSE,
                },
                _ => self.result(id, of),
            };
            if let Some(place) = results.get_mut(id.0 as usize) {
                *place = result;
            }
        }
        results.get(self.ast.root().0 as usize).copied().unwrap_or(Results::VALUE)
    }

    fn result(&self, id: NodeId, of: impl Fn(NodeId) -> Results) -> Results {
        match self.ast.expr(id) {
            Expr::Literal(Literal::Bool(value)) => {
                if *value {
                    Results::TRUE
                } else {
                    Results::FALSE
                }
            }
            Expr::Logic { op, operands } => {
                let operands = self.ast.children(*operands).iter().map(|id| of(*id));
                match op {
                    LogicOp::And => all(operands),
                    LogicOp::Or => all(operands.map(Results::negated)).negated(),
                }
            }
            Expr::Unary { op: UnaryOp::Not, operand } => of(*operand).negated(),
            Expr::Cond { condition, then, otherwise } => {
                let condition = of(*condition);
                let then = of(*then).when(condition.may_be(Results::TRUE));
                let otherwise = of(*otherwise).when(condition.may_be(Results::FALSE));
                then.or(otherwise).or(Results::ERROR.when(condition.may_be(Results::ERROR)))
            }
            Expr::Fallback { kind: FallbackKind::Default | FallbackKind::Coalesce, operands } => {
                let mut left = Results::ERROR;
                for operand in self.ast.children(*operands) {
                    let next = of(*operand).when(left.may_be(Results::ERROR));
                    left = left.without(Results::ERROR).or(next);
                }
                left
            }
            Expr::Call { target: Some(target), function, args, .. }
                if of(*target) == Results::NONE
                    && matches!(self.ast.name(*function), "hasValue" | "orValue" | "value") =>
            {
                match (self.ast.name(*function), self.ast.children(*args)) {
                    ("hasValue", _) => Results::FALSE,
                    ("orValue", [other]) => of(*other),
                    _ => Results::ERROR,
                }
            }
            _ => {
                let (mut fails, mut gives) = (false, true);
                self.ast.each_child(id, |child| {
                    fails |= of(child).may_be(Results::ERROR);
                    gives &= of(child).without(Results::ERROR) != Results::NEVER;
                });
                Results::VALUE.when(gives).or(Results::ERROR.when(fails))
            }
        }
    }

    /// Warns where a header is compared, and the guard is true only if the comparison is.
    fn repeated(&self) -> Vec<Diagnostic> {
        // By node: whether the rule can become true, or false, by it.
        let mut positive = vec![false; self.ast.nodes().len()];
        let mut negative = positive.clone();
        let mut found = Vec::new();
        if let Some(root) = positive.get_mut(self.ast.root().0 as usize) {
            *root = true;
        }
        for id in self.ids().rev() {
            let of = |marks: &[bool]| marks.get(id.0 as usize).copied().unwrap_or(false);
            let here = (of(&positive), of(&negative));
            let mut mark = |id: NodeId, (yes, no): (bool, bool)| {
                let places = positive.get_mut(id.0 as usize).zip(negative.get_mut(id.0 as usize));
                if let Some((positive, negative)) = places {
                    (*positive, *negative) = (*positive || yes, *negative || no);
                }
            };
            match self.ast.expr(id) {
                Expr::Logic { operands, .. } => {
                    self.ast.children(*operands).iter().for_each(|operand| mark(*operand, here));
                }
                Expr::Unary { op: UnaryOp::Not, operand } => mark(*operand, (here.1, here.0)),
                Expr::Cond { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|id| mark(*id, here)),
                Expr::Bind { body, .. } => mark(*body, here),
                Expr::Fold { kind: FoldKind::All | FoldKind::Exists, filter: Some(test), .. } => mark(*test, here),
                Expr::Binary { op: BinaryOp::Eq, left, right } if here.0 => found.extend(self.equality(*left, *right)),
                Expr::Binary { op: BinaryOp::Ne, left, right } if here.1 => found.extend(self.equality(*left, *right)),
                Expr::Binary { op: BinaryOp::In, left, .. } if here.0 => found.extend(self.equality(*left, *left)),
                _ => {}
            }
        }
        found
    }

    /// Returns the warning about a comparison, if one side is the text of a header of a request.
    fn equality(&self, left: NodeId, right: NodeId) -> Option<Diagnostic> {
        let (id, other) = [(left, right), (right, left)].into_iter().find(|(id, _)| self.header(*id).is_some())?;
        let (map, name) = self.header(id)?;
        let member = match self.text(other).filter(|text| !text.contains(',')) {
            Some(text) => format!("\"{text}\" in {map}.split()[\"{name}\"]"),
            None => format!("{map}.raw()[\"{name}\"].exists(line, ..)"),
        };
        let message = format!(
            "a client passes this guard by sending the header `{name}` twice: its lines are one text, joined with `,`"
        );
        Some(warning(GUARD_PASSED_BY_REPEATING, self.ast.span(id), message, format!("look at each line: `{member}`")))
    }

    /// Returns the map and the name of a header of a request whose text a node gives.
    fn header(&self, mut id: NodeId) -> Option<(&str, String)> {
        // `default(request.headers["a"], "")` and `request.headers[?"a"].orValue("")` give the text too.
        loop {
            match self.ast.expr(id) {
                Expr::Fallback { operands, .. } => id = *self.ast.children(*operands).first()?,
                Expr::Call { target: Some(target), function, .. }
                    if matches!(
                        self.ast.name(*function),
                        "orValue" | "value" | "lowerAscii" | "upperAscii" | "trim"
                    ) =>
                {
                    id = *target;
                }
                Expr::Select { operand, test: false, .. } | Expr::Index { operand, .. } => {
                    // Not a view of the map, whose values are lists.
                    let Reference::Variable(_) = self.checked.reference(*operand) else { return None };
                    break;
                }
                _ => return None,
            }
        }
        let (Optional::Header(field, name), Access::Read | Access::Optional) = self.access(id)? else { return None };
        let map = &*self.variables.get(field as usize)?.name;
        (map.starts_with("request.") && !SINGLE.contains(&&*name)).then_some((map, name))
    }
}

/// Returns the results of `&&`: false if an operand is, else an error if one fails, else true.
fn all(operands: impl Iterator<Item = Results>) -> Results {
    let (mut may_be_true, mut may_be_false, mut may_fail, mut may_not_be_false) = (true, false, false, true);
    for operand in operands {
        may_be_true &= operand.may_be(Results::TRUE);
        may_be_false |= operand.may_be(Results::FALSE);
        may_fail |= operand.may_be(Results::ERROR);
        may_not_be_false &= operand.may_be(Results::TRUE.or(Results::ERROR));
    }
    let fails = Results::ERROR.when(may_fail && may_not_be_false);
    Results::TRUE.when(may_be_true).or(Results::FALSE.when(may_be_false)).or(fails)
}

fn warning(code: &'static str, span: Span, message: String, help: String) -> Diagnostic {
    let (severity, stage) = (Severity::Warning, Stage::Check);
    Diagnostic { severity, stage, code, message, span, labels: Vec::new(), help: vec![help] }
}
