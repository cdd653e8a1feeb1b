//! Random rules in the filter language, judged by a slow walk over their trees: operators, missing
//! values, `[*]`, connectives, quantifiers and calls, as Cloudflare documents them and Wirefilter's
//! later versions have them.
//!
//! The trees are those of celero's parser; the published Wirefilter judges these (`filter::published`).

use super::filter_judge::{Argument, is_wildcard_match, judge, regex};
use super::{No, number};
use celero::filter::{
    AccessStep, Comparison, Connective, FilterExpr, FilterHost, FilterLiteral, FilterTree, FilterValue, IpItem,
    OrderOp, SetItems, StandardFunction,
};
use celero_frontend::NodeId;
use celero_tests::filter::{Values, evaluate_other_tier, interpret, show};
use celero_tests::generate::filter::Generator;
use celero_tests::shared::say;
use std::cmp::Ordering;
use std::net::IpAddr;

/// Random rules, each with twenty hosts.
const RULES: u64 = 4_000;

/// A condition has one result, or one for each value.
enum Truth {
    One(bool),
    Many(Vec<bool>),
}

struct Judge<'j> {
    tree: &'j FilterTree,
    host: &'j Values,
}

impl Judge<'_> {
    /// The value of any node; a condition is a value too.
    fn any(&self, id: NodeId) -> Result<Argument, No> {
        if self.is_value(id) {
            return self.value(id);
        }
        Ok(Some(match self.truth(id)? {
            Truth::One(truth) => truth.into(),
            Truth::Many(truths) => truths.into_iter().collect(),
        }))
    }

    fn is_value(&self, id: NodeId) -> bool {
        use FilterExpr::{Access, Call, Field, Literal};
        matches!(self.tree.expr(id), Field(_) | Literal(_) | Call { .. } | Access { .. })
    }

    fn value(&self, id: NodeId) -> Result<Argument, No> {
        Ok(match self.tree.expr(id) {
            FilterExpr::Field(index) => match self.tree.field(*index).unwrap().constant {
                Some(constant) => Some(constant.into()),
                None => self.host.field(*index).cloned(),
            },
            FilterExpr::Literal(FilterLiteral::Int(int)) => Some(FilterValue::Int(*int)),
            FilterExpr::Literal(FilterLiteral::Ip(address)) => Some(FilterValue::Ip(*address)),
            FilterExpr::Literal(FilterLiteral::Bytes(bytes)) => Some(FilterValue::Bytes(bytes.value.to_vec())),
            FilterExpr::Call { function, args } => self.call(*function, self.tree.children(*args))?,
            FilterExpr::Access { base, steps } => {
                self.value(*base)?.and_then(|base| parts(&base, steps).into_iter().next())
            }
            _ => return Err(No::Unjudged),
        })
    }

    /// The values of one with `[*]`; nothing if it is missing.
    fn values(&self, id: NodeId) -> Result<Option<Vec<FilterValue>>, No> {
        let FilterExpr::Access { base, steps } = self.tree.expr(id) else { return Err(No::Unjudged) };
        let Some(base) = self.value(*base)? else { return Ok(None) };
        // The elements of one array, which may be missing.
        if let [before @ .., AccessStep::Each] = &**steps
            && !before.contains(&AccessStep::Each)
        {
            return Ok(parts(&base, before).first().map(elements));
        }
        Ok(Some(parts(&base, steps)))
    }

    fn call(&self, index: u32, args: &[NodeId]) -> Result<Argument, No> {
        let function = self.tree.function(index).unwrap();
        let once = |args: &[Argument]| match function.standard {
            Some(StandardFunction::BitSlice | StandardFunction::IsJwtPresent | StandardFunction::IsJwtValid) | None => {
                let args: Vec<Option<&FilterValue>> = args.iter().map(Option::as_ref).collect();
                Ok(self.host.call(index, &args))
            }
            Some(standard) => judge(standard, args),
        };
        let is_each = args.first().is_some_and(|first| self.tree.node(*first).each);
        let rest: Vec<Argument> =
            args.iter().skip(usize::from(is_each)).map(|arg| self.any(*arg)).collect::<Result<_, _>>()?;
        if !is_each {
            return once(&rest);
        }
        let Some(values) = self.values(args[0])? else { return Ok(None) };
        let results = values.into_iter().map(|value| once(&[&[Some(value)], &rest[..]].concat()));
        let results: Vec<Argument> = results.collect::<Result<_, _>>()?;
        Ok(Some(results.into_iter().flatten().collect()))
    }

    fn truth(&self, id: NodeId) -> Result<Truth, No> {
        let is_true = |value: &FilterValue| *value == FilterValue::Bool(true);
        Ok(match self.tree.expr(id) {
            FilterExpr::Test(value) | FilterExpr::Compare { value, .. } if self.tree.node(*value).each => {
                let values = self.values(*value)?.unwrap_or_default();
                let holds = |value: &FilterValue| match self.tree.expr(id) {
                    FilterExpr::Compare { comparison, .. } => self.holds(comparison, value),
                    _ => is_true(value),
                };
                Truth::Many(values.iter().map(holds).collect())
            }
            FilterExpr::Test(value) if self.tree.node(*value).ty.is_bool_array() => {
                Truth::Many(self.value(*value)?.iter().flat_map(elements).map(|value| is_true(&value)).collect())
            }
            FilterExpr::Test(value) => Truth::One(self.value(*value)?.as_ref().is_some_and(is_true)),
            FilterExpr::Compare { value, comparison } => Truth::One(match self.value(*value)? {
                Some(value) => self.holds(comparison, &value),
                None => {
                    matches!(comparison, Comparison::Order(OrderOp::NotEqual, _)) && self.tree.scheme().nil_not_equal()
                }
            }),
            FilterExpr::Not(operand) => match self.truth(*operand)? {
                Truth::One(truth) => Truth::One(!truth),
                Truth::Many(truths) => Truth::Many(truths.iter().map(|truth| !truth).collect()),
            },
            FilterExpr::Logic { op, operands } => {
                let join = |truths: &[bool]| match op {
                    Connective::And => !truths.contains(&false),
                    Connective::Or => truths.contains(&true),
                    Connective::Xor => truths.iter().filter(|truth| **truth).count() % 2 == 1,
                };
                let (mut one, mut many) = (Vec::new(), Vec::new());
                for operand in self.tree.children(*operands) {
                    match self.truth(*operand)? {
                        Truth::One(truth) => one.push(truth),
                        Truth::Many(truths) => many.push(truths),
                    }
                }
                match many.iter().map(Vec::len).min() {
                    None => Truth::One(join(&one)),
                    Some(shortest) => {
                        let at = |at: usize| join(&many.iter().map(|truths| truths[at]).collect::<Vec<_>>());
                        Truth::Many((0..shortest).map(at).collect())
                    }
                }
            }
            FilterExpr::Quantifier { all, operand } => {
                let truths = if self.is_value(*operand) {
                    let Some(value) = self.value(*operand)? else { return Ok(Truth::One(false)) };
                    elements(&value).iter().map(is_true).collect()
                } else {
                    match self.truth(*operand)? {
                        Truth::One(truth) => vec![truth],
                        Truth::Many(truths) => truths,
                    }
                };
                Truth::One(if *all { !truths.contains(&false) } else { truths.contains(&true) })
            }
            _ => Truth::One(self.value(id)?.as_ref().is_some_and(is_true)),
        })
    }

    fn holds(&self, comparison: &Comparison, value: &FilterValue) -> bool {
        let bytes = value.as_bytes().unwrap_or_default();
        match comparison {
            Comparison::Order(op, literal) => {
                let order = order(value, literal);
                match op {
                    OrderOp::Equal => order == Some(Ordering::Equal),
                    OrderOp::NotEqual => order != Some(Ordering::Equal),
                    OrderOp::Less => order == Some(Ordering::Less),
                    OrderOp::Greater => order == Some(Ordering::Greater),
                    OrderOp::LessEqual => order.is_some_and(|order| order != Ordering::Greater),
                    OrderOp::GreaterEqual => order.is_some_and(|order| order != Ordering::Less),
                }
            }
            Comparison::BitwiseAnd(mask) => matches!(value, FilterValue::Int(int) if int & mask != 0),
            Comparison::Contains(part) => (0..=bytes.len()).any(|at| bytes[at..].starts_with(&part.value)),
            Comparison::Matches(pattern) => regex(&pattern.text).is_match(bytes),
            Comparison::Wildcard(wildcard) => is_wildcard_match(&wildcard.pattern.value, bytes, false),
            Comparison::StrictWildcard(wildcard) => is_wildcard_match(&wildcard.pattern.value, bytes, true),
            Comparison::OneOf(items) => match (items, value) {
                (SetItems::Ints(items), FilterValue::Int(int)) => items.iter().any(|(a, b)| (*a..=*b).contains(int)),
                (SetItems::Bytes(items), _) => items.iter().any(|item| *item.value == *bytes),
                (SetItems::Ips(items), FilterValue::Ip(address)) => items.iter().any(|item| is_in(*address, item)),
                _ => false,
            },
            Comparison::InList(name) => self.host.list_contains(name, value),
        }
    }
}

/// The parts of a value that steps lead to.
fn parts(value: &FilterValue, steps: &[AccessStep]) -> Vec<FilterValue> {
    let Some((step, rest)) = steps.split_first() else { return vec![value.clone()] };
    let next: Vec<FilterValue> = match (step, value) {
        (AccessStep::Each, value) => elements(value),
        (AccessStep::Index(index), FilterValue::Array(elements)) => {
            elements.get(*index as usize).cloned().into_iter().collect()
        }
        (AccessStep::Key(key), FilterValue::Map(entries)) => entries.get(key.as_bytes()).cloned().into_iter().collect(),
        _ => Vec::new(),
    };
    next.iter().flat_map(|value| parts(value, rest)).collect()
}

fn elements(value: &FilterValue) -> Vec<FilterValue> {
    match value {
        FilterValue::Array(elements) => elements.clone(),
        FilterValue::Map(entries) => entries.values().cloned().collect(),
        _ => Vec::new(),
    }
}

fn order(value: &FilterValue, literal: &FilterLiteral) -> Option<Ordering> {
    match (value, literal) {
        (FilterValue::Int(a), FilterLiteral::Int(b)) => Some(a.cmp(b)),
        (FilterValue::Bytes(a), FilterLiteral::Bytes(b)) => Some(a.iter().cmp(b.value.iter())),
        // Addresses of two families have no order.
        (FilterValue::Ip(IpAddr::V4(a)), FilterLiteral::Ip(IpAddr::V4(b))) => Some(a.octets().cmp(&b.octets())),
        (FilterValue::Ip(IpAddr::V6(a)), FilterLiteral::Ip(IpAddr::V6(b))) => Some(a.octets().cmp(&b.octets())),
        _ => None,
    }
}

fn is_in(address: IpAddr, item: &IpItem) -> bool {
    match (item, address) {
        (IpItem::Range(IpAddr::V4(a), IpAddr::V4(b)), IpAddr::V4(address)) => *a <= address && address <= *b,
        (IpItem::Range(IpAddr::V6(a), IpAddr::V6(b)), IpAddr::V6(address)) => *a <= address && address <= *b,
        (IpItem::Network(IpAddr::V4(network), bits), IpAddr::V4(address)) => {
            (u64::from(u32::from(address)) ^ u64::from(u32::from(*network))) >> (32 - bits) == 0
        }
        (IpItem::Network(IpAddr::V6(network), bits), IpAddr::V6(address)) => {
            (u128::from(address) ^ u128::from(*network)).checked_shr(128 - u32::from(*bits)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[test]
fn random_filter_rules_give_what_their_judge_gives() {
    let seed = number("CELERO_SEED", 1);
    let rules = number("CELERO_JUDGED_CASES", RULES);
    let (mut wrong, mut pairs, mut unjudged, mut missing) = (Vec::new(), 0, 0, 0);
    for case in Generator::new(seed ^ 0x6a75_6467).take(usize::try_from(rules).unwrap()) {
        let filter = case.compile().unwrap_or_else(|error| panic!("{case:?}\n{error}"));
        let tree = filter.tree();
        let tiers = [interpret(&filter, &case.hosts), evaluate_other_tier(&filter, &case.hosts).unwrap()];
        for (at, host) in case.hosts.iter().enumerate() {
            let Ok(wanted) = (Judge { tree, host }).any(tree.root()) else {
                unjudged += 1;
                continue;
            };
            pairs += 1;
            missing += u64::from(wanted.is_none());
            for (tier, name) in tiers.iter().zip(["interpreter", "native"]) {
                if tier[at] != Ok(wanted.clone()) {
                    let result = tier[at].as_ref().map(|value| show(value.as_ref()));
                    wrong.push(format!(
                        "{case:?}: {name}: {result:?}, judge: {}, host:\n{host:?}",
                        show(wanted.as_ref())
                    ));
                }
            }
        }
    }
    say(&format!(
        "{rules} rules in the filter language are judged over {pairs} hosts, {unjudged} left out, {missing} missing values"
    ));
    assert!(
        unjudged * 50 < pairs && missing > pairs / 100,
        "{unjudged} of {pairs} are not judged, {missing} are missing"
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
}
