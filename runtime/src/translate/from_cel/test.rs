//! A test of one value, and what becomes of it where the value is missing.

use super::condition::{Condition, Outcomes};
use super::literal::Constant;
use super::value::{Absence, Operand};
use crate::filter::pattern::visible;
use celero_frontend::Span;
use celero_frontend::filter::{FilterType, OrderOp};
use celero_frontend::filter::{quoted_bytes, raw_string};
use ipnet::IpNet;
use std::cmp::Ordering;

/// What a value is tested for.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Order(OrderOp, Constant),
    /// A common bit.
    Bits(i64),
    Contains(Constant),
    StartsWith(Constant),
    EndsWith(Constant),
    Matches(String),
    Wildcard {
        strict: bool,
        pattern: Constant,
    },
    OneOf(Vec<Constant>),
    Networks(Vec<IpNet>),
    /// It is in the list of this name.
    InList(String),
    /// It is a `Bool`.
    IsTrue,
    /// It is there.
    Present,
}

/// Translates a test. `nil_not_equal`: `ne` is true for a missing value.
pub(super) fn outcomes(value: &Operand, test: &Test, span: Span, nil_not_equal: bool) -> Option<Outcomes> {
    let each = value.each;
    let yes = text(value, test)?;
    let is_missing_true = nil_not_equal && matches!(test, Test::Order(OrderOp::NotEqual, _));
    if value.absence == Absence::Never || matches!(test, Test::Present) {
        let outcomes = match (test, value.absence) {
            (Test::Present, Absence::Never) => Outcomes::of(Condition::Always(true)),
            (Test::Present, _) => {
                Outcomes { presence: Some((value.text.clone(), true)), ..Outcomes::of(Condition::single(yes)) }
            }
            _ => Outcomes::of(Condition::single(yes)),
        };
        return Some(Outcomes { each, ..outcomes });
    }
    let present = || text(value, &Test::Present).map(Condition::single);
    // True where there is a value and the test holds, or does not.
    let holds = if is_missing_true {
        Condition::all(vec![present()?, Condition::single(yes.clone())])
    } else {
        Condition::single(yes.clone())
    };
    let fails = match opposite(test) {
        Some(opposite) if !(nil_not_equal && matches!(opposite, Test::Order(OrderOp::NotEqual, _))) => {
            Condition::single(text(value, &opposite)?)
        }
        _ => Condition::all(vec![present()?, Condition::single(yes).not()]),
    };
    if let Some(default) = &value.default {
        // Without a value the test is of the default.
        return Some(match on_constant(test, default)? {
            true => Outcomes { yes: fails.clone().not(), no: fails, ..Outcomes::of(Condition::Always(true)) },
            false => Outcomes::of(holds),
        });
    }
    let mut outcomes = Outcomes { yes: holds, no: fails, ..Outcomes::of(Condition::Always(true)) };
    outcomes.missing.insert(value.text.clone(), span);
    if value.absence == Absence::Fails {
        outcomes.fails = Some(span);
    }
    Some(outcomes)
}

/// The text of a test; false where the value is missing, `ne` apart.
fn text(value: &Operand, test: &Test) -> Option<String> {
    let subject = &value.text;
    let list = |items: Vec<String>| format!("{subject} in {{{}}}", items.join(" "));
    Some(match test {
        Test::Order(op, constant) => format!("{subject} {} {}", word(*op), constant.text()),
        Test::Bits(bits) => format!("{subject} bitwise_and {bits}"),
        Test::Contains(part) => format!("{subject} contains {}", part.text()),
        Test::StartsWith(part) => format!("starts_with({subject}, {})", part.text()),
        Test::EndsWith(part) => format!("ends_with({subject}, {})", part.text()),
        Test::Matches(pattern) => format!("{subject} matches {}", raw_string(&visible(pattern))),
        Test::Wildcard { strict, pattern } => {
            format!("{subject} {} {}", if *strict { "strict wildcard" } else { "wildcard" }, pattern.text())
        }
        Test::OneOf(constants) => list(constants.iter().map(Constant::text).collect()),
        Test::Networks(networks) => list(networks.iter().map(|network| network.trunc().to_string()).collect()),
        Test::InList(name) => format!("{subject} in ${name}"),
        Test::IsTrue => subject.clone(),
        Test::Present => match value.ty {
            FilterType::Bytes => format!("{subject} contains {}", quoted_bytes(b"")),
            FilterType::Int => format!("{subject} ge {}", i64::MIN),
            FilterType::Ip => format!("{subject} in {{0.0.0.0/0 ::/0}}"),
            FilterType::Bool => format!("to_string({subject}) in {{\"true\" \"false\"}}"),
            FilterType::Array(_) => format!("len({subject}) ge 0"),
            FilterType::Map(_) => return None,
        },
    })
}

/// The test that holds for just the values for which this one does not, if there is one that is as short.
fn opposite(test: &Test) -> Option<Test> {
    let Test::Order(op, constant) = test else { return None };
    let op = match (op, constant) {
        (OrderOp::Equal, _) => OrderOp::NotEqual,
        (OrderOp::NotEqual, _) => OrderOp::Equal,
        (_, Constant::Address(_)) => return None,
        (OrderOp::Less, _) => OrderOp::GreaterEqual,
        (OrderOp::LessEqual, _) => OrderOp::Greater,
        (OrderOp::Greater, _) => OrderOp::LessEqual,
        (OrderOp::GreaterEqual, _) => OrderOp::Less,
    };
    Some(Test::Order(op, constant.clone()))
}

/// Whether a test holds for a constant; `None` where that takes a search.
fn on_constant(test: &Test, value: &Constant) -> Option<bool> {
    let bytes = |constant: &Constant| match constant {
        Constant::Text(text) => Some(text.clone().into_bytes()),
        Constant::Bytes(bytes) => Some(bytes.clone()),
        _ => None,
    };
    let order = |other: &Constant| match (value, other) {
        (Constant::Int(a), Constant::Int(b)) => Some(a.cmp(b)),
        _ => Some(bytes(value)?.cmp(&bytes(other)?)),
    };
    match test {
        Test::Order(op, other) => {
            let order = order(other)?;
            Some(match op {
                OrderOp::Equal => order == Ordering::Equal,
                OrderOp::NotEqual => order != Ordering::Equal,
                OrderOp::Less => order == Ordering::Less,
                OrderOp::LessEqual => order != Ordering::Greater,
                OrderOp::Greater => order == Ordering::Greater,
                OrderOp::GreaterEqual => order != Ordering::Less,
            })
        }
        Test::Bits(bits) => match value {
            Constant::Int(value) => Some(value & bits != 0),
            _ => None,
        },
        Test::Contains(part) => Some(memchr::memmem::find(&bytes(value)?, &bytes(part)?).is_some()),
        Test::StartsWith(part) => Some(bytes(value)?.starts_with(&bytes(part)?)),
        Test::EndsWith(part) => Some(bytes(value)?.ends_with(&bytes(part)?)),
        Test::OneOf(constants) => {
            let found: Option<Vec<bool>> =
                constants.iter().map(|constant| order(constant).map(|order| order == Ordering::Equal)).collect();
            Some(found?.contains(&true))
        }
        Test::Matches(_)
        | Test::Wildcard { .. }
        | Test::Networks(_)
        | Test::InList(_)
        | Test::IsTrue
        | Test::Present => None,
    }
}

fn word(op: OrderOp) -> &'static str {
    match op {
        OrderOp::Equal => "eq",
        OrderOp::NotEqual => "ne",
        OrderOp::GreaterEqual => "ge",
        OrderOp::LessEqual => "le",
        OrderOp::Greater => "gt",
        OrderOp::Less => "lt",
    }
}
