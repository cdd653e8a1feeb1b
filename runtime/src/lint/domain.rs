//! Comparisons of a field with values that it never has, such as `request.path == "admin"`, in both
//! languages. Which values a field has is declared with its type (`Domain` in `ir/src/domain.rs`).
//!
//! Only warnings depend on it, never the result: a host may fill a
//! [`RequestContext`](crate::http::RequestContext) with a request that it did not make canonical,
//! and then its method may be `get`. Where the type does guarantee the domain (a port, a status),
//! reading the field can still fail, so its comparison is no constant that code generation could
//! use.

use super::alternatives::alternatives_meant;
use super::excluded::{
    Beside, Excluded, Place, constant_ordering, excluded_literals, excluded_text, excluded_wildcard,
};
use super::networks::is_network;
use super::{Lint, NEVER_THAT_VALUE};
use crate::library::wildcard_of;
use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Expr, Literal, NodeId, Reference};
use celero_ir::{Domain, HEADER_NAME};
use celero_matching::pattern::quick_required_literals;
use std::cmp::Ordering;

/// The values of a function's result, where its type has more: sizes, parts of a point in time,
/// positions in a text.
pub(super) fn results(function: Builtin) -> Option<Domain> {
    use Builtin as B;
    Some(match function {
        B::SizeString | B::SizeBytes | B::SizeList | B::SizeMap => SIZE,
        B::IndexOf | B::IndexOfFrom | B::LastIndexOf | B::LastIndexOfFrom => Domain::Range(-1, i64::MAX),
        B::Month | B::MonthIn => Domain::Range(0, 11),
        B::DayOfYear | B::DayOfYearIn => Domain::Range(0, 365),
        B::DayOfMonth | B::DayOfMonthIn => Domain::Range(0, 30),
        B::Date | B::DateIn => Domain::Range(1, 31),
        B::DayOfWeek | B::DayOfWeekIn => Domain::Range(0, 6),
        B::Hours | B::HoursIn => Domain::Range(0, 23),
        B::Minutes | B::MinutesIn | B::Seconds | B::SecondsIn => Domain::Range(0, 59),
        B::Milliseconds | B::MillisecondsIn => Domain::Range(0, 999),
        _ => return None,
    })
}

/// The sizes of texts, lists and maps.
pub(crate) const SIZE: Domain = Domain::Range(0, i64::MAX);

/// An integer, as far as one that is signed holds it: a field of a range holds no more.
fn number(literal: &Literal) -> Option<i64> {
    match literal {
        Literal::Int(number) => Some(*number),
        Literal::Uint(number) => Some(i64::try_from(*number).unwrap_or(i64::MAX)),
        _ => None,
    }
}

/// The text of a warning about a comparison with a constant result.
pub(crate) fn message(result: bool, field: &str, because: &str) -> String {
    let always = if result { "always true" } else { "never true" };
    format!("this is {always}: `{field}` {because}")
}

impl Lint<'_> {
    /// Warns about `==`, `!=`, orderings, `in`, `contains`, `startsWith`, `endsWith` and `matches` of a field.
    pub(super) fn domain(&mut self, id: NodeId) {
        if let Expr::Binary { op, left, right } = *self.ast.expr(id) {
            return self.comparison_with_field(id, op, left, right);
        }
        let Some((builtin, operands)) = self.call(id) else { return };
        let &[field, part] = &*operands else { return };
        let (Some(domain), Some(text)) = (self.domain_of(field), self.text(part)) else { return };
        let place = match builtin {
            Builtin::StartsWith => Some(Place::Start),
            Builtin::EndsWith => Some(Place::End),
            Builtin::Contains => Some(Place::Anywhere),
            _ => None,
        };
        if let Some(place) = place {
            return self.part(id, (field, &domain), part, place, false);
        }
        let excluded = match builtin {
            Builtin::Matches => quick_required_literals(self.patterns.pattern(&text))
                .and_then(|required| excluded_literals(&domain, &required)),
            Builtin::Wildcard | Builtin::StrictWildcard => wildcard_of(&text, builtin == Builtin::StrictWildcard)
                .and_then(|wildcard| excluded_wildcard(&domain, &wildcard.pieces, wildcard.strict)),
            _ => return,
        };
        if let Some(excluded) = excluded {
            self.excluded(id, field, false, &excluded);
        }
    }

    fn comparison_with_field(&mut self, id: NodeId, op: BinaryOp, left: NodeId, right: NodeId) {
        let (field, value, is_turned) = match self.domain_of(left) {
            Some(_) => (left, right, false),
            None => (right, left, true),
        };
        let Some(domain) = self.domain_of(field) else { return };
        let holds = |ordering: Ordering| {
            let ordering = if is_turned { ordering.reverse() } else { ordering };
            match op {
                BinaryOp::Eq => ordering.is_eq(),
                BinaryOp::Ne => ordering.is_ne(),
                BinaryOp::Lt => ordering.is_lt(),
                BinaryOp::Le => ordering.is_le(),
                BinaryOp::Gt => ordering.is_gt(),
                _ => ordering.is_ge(),
            }
        };
        match (op, self.ast.expr(value)) {
            (BinaryOp::Eq | BinaryOp::Ne, Expr::Literal(Literal::String(_))) => {
                self.part(id, (field, &domain), value, Place::Whole, op == BinaryOp::Ne);
            }
            (
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
                Expr::Literal(literal),
            ) => {
                if let Some((result, because)) =
                    number(literal).and_then(|number| constant_ordering(&domain, holds, number))
                {
                    self.excluded(id, field, result, &Excluded::because(because));
                }
            }
            (BinaryOp::In, Expr::List { elements, .. }) if !is_turned => {
                for &element in self.ast.children(*elements) {
                    let excluded = match self.ast.expr(element) {
                        Expr::Literal(Literal::String(_)) => {
                            self.part(element, (field, &domain), element, Place::Whole, false);
                            None
                        }
                        Expr::Literal(literal) => number(literal)
                            .and_then(|number| constant_ordering(&domain, Ordering::is_eq, number))
                            .filter(|(result, _)| !result)
                            .map(|(_, because)| Excluded::because(because)),
                        _ => None,
                    };
                    if let Some(excluded) = excluded {
                        self.excluded(element, field, false, &excluded);
                    }
                }
            }
            _ => {}
        }
    }

    /// Warns about a text that a field never has in a place, or that is written as a pattern. `id` is the comparison.
    fn part(&mut self, id: NodeId, (field, domain): (NodeId, &Domain), part: NodeId, place: Place, result: bool) {
        let Some(text) = self.text(part) else { return };
        if let Some(parts) = alternatives_meant(domain, place, &text) {
            return self.several(id, field, (part, &text), &parts, result);
        }
        match excluded_text(domain, place, text.as_bytes()) {
            Some(excluded) if *domain == Domain::Address && is_network(&text) => {
                let help = self.network_help(field, &text);
                self.excluded(id, field, result, &Excluded { help, ..excluded });
            }
            Some(excluded) => self.excluded(id, field, result, &excluded),
            None if *domain == Domain::Address && place == Place::Start => self.beginning_of_address(id, field, &text),
            None => self.star(part, field, domain, place),
        }
    }

    /// The domain of the field that a node is, of the names of headers that a macro goes through,
    /// or of the results of the function that a node calls.
    fn domain_of(&mut self, id: NodeId) -> Option<Domain> {
        match *self.checked.reference(id) {
            Reference::Variable(index) => {
                let is_test = self.ast.expr(id).is_test();
                self.fields.get(index as usize).filter(|_| !is_test)?.domain
            }
            Reference::Local(_) => self.is_header_name(id).then_some(HEADER_NAME),
            Reference::None if let Some(member) = self.member(id) => member.domain,
            _ => self.call(id).and_then(|(function, _)| results(function)),
        }
    }

    fn excluded(&mut self, id: NodeId, field: NodeId, result: bool, excluded: &Excluded) {
        let message = message(result, self.source(field), &excluded.because);
        let help = excluded.help(|beside| beside_field(self.source(field), beside));
        self.warn(NEVER_THAT_VALUE, self.ast.span(id), message, &help);
    }
}

/// The name of a variable beside `path` or `host`.
fn beside_field(field: &str, beside: Beside) -> Option<String> {
    let (own, name) = match beside {
        Beside::Query => ("path", "query"),
        Beside::Raw => ("path", "rawPath"),
        Beside::Port => ("host", "port"),
        Beside::Scheme => ("host", "scheme"),
        Beside::Path => ("host", "path"),
        Beside::Host => ("path", "host"),
    };
    let before = field.strip_suffix(own)?;
    (before.is_empty() || before.ends_with('.')).then(|| format!("{before}{name}"))
}
