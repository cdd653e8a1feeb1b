//! Warnings about a filter rule as a guard: a rule that keeps a request back where it is true.
//!
//! A client that can make a guard false passes it. Two ways are found:
//!
//! - It leaves out what is compared. A comparison with a missing value is false, so `ne` does not
//!   find what is not there, and `any` has nothing to find it in.
//! - It sends a header twice. The lines of some fields are one text, joined with commas, which
//!   differs from each of them; `[0]` is the first line only. So `eq` and `in` are warned of where
//!   the guard is true only if they are.

use crate::filter::binding::{FilterBinding, Source};
use crate::lint::{GUARD_PASSED_BY_ABSENCE, GUARD_PASSED_BY_REPEATING, SINGLE};
use celero_frontend::filter::{AccessStep, Comparison, Connective, FilterExpr, FilterTree, OrderOp, StandardFunction};
use celero_frontend::{Diagnostic, NodeId, Variable, with_stack};
use celero_ir::layout;

/// Returns the warnings, in the order of the source. Takes time linear in the rule.
pub(in crate::filter) fn guard_warnings(
    tree: &FilterTree,
    binding: &FilterBinding,
    fields: &[layout::Field],
    variables: &[Variable],
) -> Vec<Diagnostic> {
    let mut guard = Guard { tree, binding, fields, variables, found: Vec::new() };
    with_stack(tree.depth(), || guard.condition(tree.root(), Role::TRUE, None));
    guard.found.sort_by_key(|warning| (warning.span.start, warning.span.end));
    guard.found
}

/// What a condition must be for the guard to be true: it can be both below `xor`.
#[derive(Clone, Copy)]
struct Role {
    holds: bool,
    fails: bool,
}

impl Role {
    const TRUE: Self = Self { holds: true, fails: false };

    fn negated(self) -> Self {
        Self { holds: self.fails, fails: self.holds }
    }
}

/// A value that a client can leave out.
struct Optional {
    /// For messages.
    name: String,
    /// The header that it is the text of, and whether that is the first line only.
    header: Option<(String, bool)>,
}

struct Guard<'g> {
    tree: &'g FilterTree,
    binding: &'g FilterBinding,
    fields: &'g [layout::Field],
    variables: &'g [Variable],
    found: Vec<Diagnostic>,
}

impl Guard<'_> {
    /// Looks for comparisons in a condition. `of_nothing` is given inside of a quantifier: whether
    /// the guard is false if that has no elements.
    fn condition(&mut self, id: NodeId, role: Role, of_nothing: Option<bool>) {
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Not(operand) => self.condition(*operand, role.negated(), of_nothing),
            FilterExpr::Logic { op, operands } => {
                let both = Role { holds: true, fails: true };
                let role = if *op == Connective::Xor { both } else { role };
                for &operand in tree.children(*operands) {
                    self.condition(operand, role, of_nothing);
                }
            }
            FilterExpr::Quantifier { all, operand } => {
                // `any` of nothing is false, `all` of nothing is true.
                let of_nothing = if *all { role.fails } else { role.holds };
                self.condition(*operand, role, Some(of_nothing));
            }
            FilterExpr::Compare { value, comparison } => self.comparison(id, *value, comparison, role, of_nothing),
            _ => {}
        }
    }

    fn comparison(&mut self, id: NodeId, value: NodeId, comparison: &Comparison, role: Role, of_nothing: Option<bool>) {
        let Some(optional) = self.optional(value) else { return };
        let unequal = matches!(comparison, Comparison::Order(OrderOp::NotEqual, _));
        let looks_for_other = if unequal { role.holds } else { role.fails };
        let passes = match of_nothing {
            None => unequal && role.holds && !self.tree.scheme().nil_not_equal(),
            Some(of_nothing) => of_nothing && looks_for_other && self.tree.node(value).each,
        };
        let span = self.tree.node(id).span;
        if passes {
            let name = &optional.name;
            let message = format!("without {name} this guard is false, and lets the message pass");
            let help = match of_nothing {
                None => "write `not .. eq ..`: that is true for a missing value",
                Some(_) => "write `not any(.. eq ..)`: that is true where there is nothing",
            };
            self.warn(GUARD_PASSED_BY_ABSENCE, id, message, help.to_owned());
        }
        let equality = match comparison {
            Comparison::Order(OrderOp::Equal, _) | Comparison::OneOf(_) | Comparison::InList(_) => role.holds,
            Comparison::Order(OrderOp::NotEqual, _) => role.fails,
            _ => false,
        };
        if let Some((name, first)) = optional.header.filter(|_| equality && of_nothing.is_none()) {
            let why =
                if first { "only one of its lines is compared" } else { "its lines are one text, joined with `,`" };
            let message = format!("a client passes this guard by sending the header `{name}` twice: {why}");
            let test = self.tree.source().get(self.tree.node(value).span.end as usize..span.end as usize);
            let quantifier = if unequal { "all" } else { "any" };
            let lines = self.each(value, &self.lines(&name));
            let help = format!("look at each line: `{quantifier}({lines}{})`", test.unwrap_or(" eq .."));
            self.warn(GUARD_PASSED_BY_REPEATING, id, message, help);
        }
    }

    fn warn(&mut self, code: &'static str, id: NodeId, message: String, help: String) {
        let warning = Diagnostic::warning(code, self.tree.node(id).span, message);
        self.found.push(Diagnostic { help: vec![help], ..warning });
    }

    /// What a value is, if a client can leave it out.
    fn optional(&self, id: NodeId) -> Option<Optional> {
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Field(index) => match self.binding.source(*index) {
                Source::Header { map, name } => self.header(*map, name, false),
                Source::Variable(index, _) => {
                    let is_optional = self.fields.get(*index as usize)?.optional;
                    is_optional.then(|| Optional { name: self.text(id), header: None })
                }
                _ => None,
            },
            FilterExpr::Access { base, steps } => {
                if let FilterExpr::Field(index) = tree.expr(*base)
                    && let Source::Variable(map, _) = self.binding.source(*index)
                    && self.fields.get(*map as usize).is_some_and(|layout| layout.headers.is_some())
                    && let [AccessStep::Key(name), rest @ ..] = &**steps
                {
                    return self.header(*map, name, matches!(rest, [AccessStep::Index(_)]));
                }
                match steps.first() {
                    Some(AccessStep::Key(_) | AccessStep::Index(_)) => {
                        Some(Optional { name: self.text(id), header: None })
                    }
                    _ => self.optional(*base),
                }
            }
            // A function of a missing value has no result.
            FilterExpr::Call { function, args } => {
                let standard = tree.function(*function)?.standard?;
                let unchanged = matches!(standard, StandardFunction::Lower | StandardFunction::Upper);
                let optional = self.optional(*tree.children(*args).first()?)?;
                let header = optional.header.filter(|_| unchanged);
                let takes_missing = matches!(standard, StandardFunction::Coalesce | StandardFunction::Concat);
                (!takes_missing).then_some(Optional { header, ..optional })
            }
            _ => None,
        }
    }

    /// A header of a request.
    fn header(&self, map: u32, name: &str, first: bool) -> Option<Optional> {
        let name = name.to_ascii_lowercase();
        let is_request = self.variables.get(map as usize)?.name.starts_with("request.");
        let known = is_request && !SINGLE.contains(&&*name);
        known.then(|| Optional { name: format!("the header `{name}`"), header: Some((name, first)) })
    }

    /// The lines of a header, as a rule writes them.
    fn lines(&self, name: &str) -> String {
        let is_map = |index: &u32| {
            matches!(self.binding.source(*index), Source::Variable(map, _)
                if self.fields.get(*map as usize).is_some_and(|layout| layout.headers.is_some())
                    && self.variables.get(*map as usize).is_some_and(|variable| variable.name.starts_with("request.")))
        };
        let mut fields = (0u32..).zip(self.tree.scheme().fields());
        let map = fields.find(|(index, _)| is_map(index)).map_or("headers", |(_, field)| &*field.name);
        format!("{map}[\"{name}\"]")
    }

    /// A value with the lines of a header in the place of its text.
    fn each(&self, id: NodeId, lines: &str) -> String {
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Call { function, args } => {
                let name = tree.function(*function).map_or("", |function| &*function.name);
                let inner = tree.children(*args).first().map(|&first| self.each(first, lines)).unwrap_or_default();
                format!("{name}({inner})[*]")
            }
            _ => format!("{lines}[*]"),
        }
    }

    fn text(&self, id: NodeId) -> String {
        let span = self.tree.node(id).span;
        format!("`{}`", self.tree.source().get(span.start as usize..span.end as usize).unwrap_or_default())
    }
}
