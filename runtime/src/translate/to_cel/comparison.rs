//! Comparisons of one value.

use super::Translation;
use super::value::{Value, address_of};
use crate::cx::PATTERN_DIALECT;
use crate::env::names;
use crate::translate::cel_text::{int, operator, quoted};
use celero_frontend::filter::{
    BytesLiteral, Comparison, FilterExpr, FilterLiteral, FilterType, IpItem, OrderOp, SetItems, Wildcard,
};
use celero_frontend::{NodeId, Type};
use celero_lists::networks_of_range;
use celero_matching::pattern::{OnText, compile, on_text};
use std::net::IpAddr;

impl Translation<'_> {
    pub(super) fn comparison(&mut self, id: NodeId, value: &Value, comparison: &Comparison) -> Option<String> {
        let text = &value.text;
        Some(match comparison {
            Comparison::Order(op, FilterLiteral::Int(number)) => format!("{text} {} {}", operator(*op), int(*number)),
            Comparison::Order(
                op @ (OrderOp::Less | OrderOp::LessEqual | OrderOp::Greater | OrderOp::GreaterEqual),
                FilterLiteral::Bytes(bytes),
            ) if !bytes.value.is_ascii() && value.may_be_invalid => {
                self.nearest(
                    id,
                    "an order of bytes that are not ASCII",
                    "it differs for values that are not UTF-8, whose bytes CEL reads as U+FFFD",
                )?;
                format!("{text} {} {}", operator(*op), self.text(id, value, bytes)?)
            }
            Comparison::Order(op, FilterLiteral::Bytes(bytes)) => {
                format!("{text} {} {}", operator(*op), self.text(id, value, bytes)?)
            }
            Comparison::Order(op @ (OrderOp::Equal | OrderOp::NotEqual), FilterLiteral::Ip(address)) => {
                let address = self.address(id, *address)?;
                match value.is_address {
                    true => format!("{text} {} \"{address}\"", operator(*op)),
                    false => format!("{} {} ip(\"{address}\")", address_of(value), operator(*op)),
                }
            }
            Comparison::Order(_, FilterLiteral::Ip(_)) => return self.none(id, "an order of addresses"),
            Comparison::BitwiseAnd(number) => format!("math.bitAnd({text}, {}) != 0", int(*number)),
            Comparison::Contains(bytes) => {
                self.is_text(id, value)?;
                format!("{text}.contains({})", self.text(id, value, bytes)?)
            }
            Comparison::Matches(pattern) => {
                self.is_text(id, value)?;
                let pattern = match on_text(&pattern.text) {
                    OnText::Exact(pattern) => pattern,
                    OnText::Near(pattern) => {
                        self.nearest(
                            id,
                            "a pattern that sees bytes in the filter language and characters in CEL",
                            "it differs for values that are not ASCII, of which a character is several bytes",
                        )?;
                        pattern
                    }
                    OnText::Other => {
                        return self
                            .none(id, "a pattern that RE2, which reads those of CEL, refuses or reads otherwise");
                    }
                };
                if compile(PATTERN_DIALECT.pattern(&pattern)).is_err() {
                    return self.none(id, "a pattern that is longer, larger or nested deeper than CEL's may be");
                }
                format!("{text}.matches({})", quoted(&pattern))
            }
            Comparison::Wildcard(wildcard) => self.wildcard(id, value, wildcard, "wildcard")?,
            Comparison::StrictWildcard(wildcard) => self.wildcard(id, value, wildcard, "strictWildcard")?,
            Comparison::OneOf(items) => return self.one_of(id, value, items),
            Comparison::InList(_) => return self.none(id, "a list here"),
        })
    }

    /// A query of a list.
    pub(super) fn in_list(&mut self, id: NodeId, value: &Value, name: &str) -> Option<String> {
        let FilterExpr::Compare { value: node, .. } = *self.tree.expr(id) else { return self.none(id, "this") };
        let ty = &self.tree.node(node).ty;
        if self.binding.list(name, ty).is_none() {
            return self.none(id, &format!("the list `{name}`, which is not declared"));
        }
        if let Err(why) = names::list(name) {
            return self.none(id, &format!("the list `{name}`: {why}"));
        }
        if *ty == FilterType::Bytes {
            self.is_text(id, value)?;
        }
        // The list sees bytes here and text there, which differ where they are not UTF-8.
        if *ty == FilterType::Bytes && value.may_be_invalid {
            self.nearest(
                id,
                "a list that is asked for bytes that may not be UTF-8",
                "it differs for values that are not UTF-8, whose bytes CEL reads as U+FFFD",
            )?;
        }
        Some(format!("{} in lists.{name}", value.text))
    }

    fn one_of(&mut self, id: NodeId, value: &Value, items: &SetItems) -> Option<String> {
        let text = &value.text;
        if items.is_empty() {
            return Some("false".to_owned());
        }
        let tests: Vec<String> = match items {
            SetItems::Bytes(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.text(id, value, item)).collect();
                vec![format!("{text} in [{}]", items?.join(", "))]
            }
            SetItems::Ints(items) => {
                let single: Vec<String> =
                    items.iter().filter(|(first, last)| first == last).map(|(first, _)| int(*first)).collect();
                let range =
                    |(first, last): &(i64, i64)| format!("({text} >= {} && {text} <= {})", int(*first), int(*last));
                let ranges = items.iter().filter(|(first, last)| first != last).map(range);
                let single = (!single.is_empty()).then(|| format!("{text} in [{}]", single.join(", ")));
                single.into_iter().chain(ranges).collect()
            }
            SetItems::Ips(items) => {
                let mut tests = Vec::new();
                // A network is asked for text too.
                let asked = if value.is_address { value.text.clone() } else { address_of(value) };
                for item in items {
                    let networks = match *item {
                        IpItem::Network(address, prefix) => vec![(self.address(id, address)?, prefix)],
                        IpItem::Range(first, last) => {
                            let networks = networks_of_range(self.address(id, first)?, self.address(id, last)?);
                            // A range may have addresses in it that CEL does not read, as its ends may be.
                            let read = |(address, prefix)| Some((self.address(id, address)?, prefix));
                            networks.into_iter().map(read).collect::<Option<_>>()?
                        }
                    };
                    let test = |(address, prefix)| format!("cidr(\"{address}/{prefix}\").containsIP({asked})");
                    tests.extend(networks.into_iter().map(test));
                }
                tests
            }
        };
        Some(format!("({})", tests.join(" || ")))
    }

    /// A wildcard. Both languages have one syntax for its pattern.
    fn wildcard(&mut self, id: NodeId, value: &Value, wildcard: &Wildcard, function: &str) -> Option<String> {
        let pattern = self.text(id, value, &wildcard.pattern)?;
        Some(format!("{}.{function}({pattern})", value.text))
    }

    /// A byte string as a literal of the type of a value.
    pub(super) fn text(&mut self, id: NodeId, value: &Value, bytes: &BytesLiteral) -> Option<String> {
        self.is_text(id, value)?;
        match std::str::from_utf8(&bytes.value) {
            // Text that is not UTF-8 is read with this character.
            Ok(text) if !text.contains('\u{fffd}') => Some(quoted(text)),
            _ => self.none(id, "bytes that are not UTF-8"),
        }
    }

    pub(super) fn is_text(&mut self, id: NodeId, value: &Value) -> Option<()> {
        if value.ty == Type::String { Some(()) } else { self.none(id, "text operations on `bytes`") }
    }

    fn address(&mut self, id: NodeId, address: IpAddr) -> Option<IpAddr> {
        match address {
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => self.none(id, "an IPv4-mapped address"),
            address => Some(address),
        }
    }
}
