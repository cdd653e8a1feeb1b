//! What an author probably meant by the operands of a comparison that has an error, and by functions of other languages
//! that compare.

use super::names::Meaning;
use super::{Checker, codes};
use crate::alternatives::alternatives;
use crate::ast::{BinaryOp, Expr, NodeId, UnaryOp};
use crate::cel::foreign::{self, Word};
use crate::types::Type;

impl Checker<'_> {
    /// Adds to the errors of operands what they mean in a comparison: `!a == b`, `GET` without quotes, and a list.
    pub(super) fn explain_operands(&mut self, id: NodeId, op: BinaryOp, left: (NodeId, &Type), right: (NodeId, &Type)) {
        if self.errors.is_empty() || self.full() {
            return;
        }
        let (left, left_type) = left;
        let (right, right_type) = right;
        let mut left_is_text = self.infer.shallow(left_type) == Type::String;
        if let Expr::Unary { op: UnaryOp::Not, operand } = *self.ast.expr(left)
            && *left_type == Type::Error
            && let Some(help) = self.negated_comparison(id, op)
            && let Some(error) = self.error_at(left, codes::NO_OVERLOAD)
        {
            error.help = vec![help];
            left_is_text = self.types.get(operand) == Some(&Type::String);
        }
        match op {
            BinaryOp::In => match self.ast.expr(right) {
                Expr::List { elements, .. } if left_is_text => {
                    for &element in self.ast.children(*elements) {
                        self.explain_word(element, None, true);
                    }
                }
                _ if *right_type == Type::Error => self.explain_list(left, right),
                _ => {}
            },
            BinaryOp::Eq | BinaryOp::Ne => {
                let negated = op == BinaryOp::Ne;
                if *right_type == Type::Error {
                    self.explain_compared_list(left, right, negated);
                    let left_is_text = left_is_text && !matches!(self.ast.expr(left), Expr::Literal(_));
                    self.explain_word(right, Some((left, negated)), left_is_text);
                }
                if *left_type == Type::Error && *right_type != Type::Error {
                    // On the left, where a variable is expected, only a name in capitals is meant as a text.
                    let is_loud = |text: &str| !text.contains(|c: char| c.is_ascii_lowercase());
                    let is_text = self.infer.shallow(right_type) == Type::String
                        && !matches!(self.ast.expr(right), Expr::Literal(_))
                        && self.written(left).is_some_and(is_loud);
                    self.explain_word(left, Some((right, negated)), is_text);
                }
            }
            _ => {}
        }
    }

    /// Explains a name that is not declared and is compared with `other`, or with a text if `is_text`.
    fn explain_word(&mut self, id: NodeId, other: Option<(NodeId, bool)>, is_text: bool) {
        let Expr::Ident { name, .. } = *self.ast.expr(id) else { return };
        let name = self.ast.name(name);
        let help = match (foreign::word(name), other) {
            (Some(Word::Null), other) => other
                .and_then(|(other, negated)| self.presence(other, negated))
                .or_else(|| Some("did you mean `null`?".to_owned())),
            (Some(Word::Truth(meant)), _) => Some(format!("did you mean `{meant}`?")),
            (None, _) if !is_text => None,
            (None, _) => Some(format!("a text is in quotes: `\"{name}\"`")),
        };
        if let Some(error) = self.error_at(id, codes::UNDECLARED_NAME)
            && error.help.is_empty()
        {
            error.help.extend(help);
        }
    }

    /// Returns the help for `!a == b`.
    fn negated_comparison(&self, id: NodeId, op: BinaryOp) -> Option<String> {
        let text = self.written(id)?.strip_prefix('!')?;
        let span = self.ast.span(id);
        let focus = self.ast.node(id).focus;
        let source = self.ast.source();
        let before = source.get(span.start.checked_add(1)? as usize..focus.start as usize)?;
        let after = source.get(focus.end as usize..span.end as usize)?;
        Some(match op {
            BinaryOp::Eq => format!("write `{before}!={after}`"),
            BinaryOp::Ne => format!("write `{before}=={after}`"),
            _ => format!("write `!({text})`"),
        })
    }

    /// Returns the help for a comparison with `null`: the test that says whether a value is there, or is not there.
    pub(super) fn presence(&self, id: NodeId, is_there: bool) -> Option<String> {
        let variable = self.path(id).and_then(|path| {
            let parts = self.path_parts(&path);
            match self.names.resolve(&parts, path.rooted).filter(|_| self.local_of(&path).is_none())? {
                (count, Meaning::Variable(index, _)) if count == parts.len() => {
                    self.names.declarations.variables().get(index as usize)
                }
                _ => None,
            }
        });
        if let Some(variable) = variable
            && !variable.optional
        {
            if matches!(variable.ty, Type::Dyn | Type::Null | Type::Opaque(..)) {
                return None;
            }
            let what = if is_there { "leave this comparison out" } else { "this is never true" };
            return Some(format!("`{}` is never absent or null: {what}", self.written(id)?));
        }
        let test = match *self.ast.expr(id) {
            Expr::Ident { test: false, .. } if variable.is_some() => format!("has({})", self.written(id)?),
            Expr::Select { test: false, optional: false, .. } => format!("has({})", self.written(id)?),
            Expr::Index { operand, index, optional: false } if self.is_text(index) => {
                let test = format!("{} in {}", self.written(index)?, self.receiver(operand)?);
                return Some(if is_there { format!("write `{test}`") } else { format!("write `!({test})`") });
            }
            _ => return None,
        };
        Some(if is_there { format!("write `{test}`") } else { format!("write `!{test}`") })
    }

    /// Returns what `left in right` means, where `right` is a literal text: a list of one text, of several, or of
    /// networks.
    pub(super) fn in_text(&self, left: NodeId, right: NodeId) -> Option<String> {
        let (text, literal, value) = (self.receiver(left)?, self.written(right)?, self.text_of(right)?);
        let is_network = |text: &str| {
            let address = text.split_once('/').map(|(address, _)| address);
            address.is_some_and(|address| address.parse::<std::net::IpAddr>().is_ok())
        };
        let Some(parts) = alternatives(value) else {
            return Some(if is_network(value) {
                format!("cidr({literal}).containsIP({text})")
            } else {
                format!("{text} in [{literal}]")
            });
        };
        let has_networks = parts.iter().any(|part| is_network(part)) && self.names.function("cidr", false).is_some();
        let item = |part: &&str| match part.parse::<std::net::IpAddr>() {
            Ok(address) if has_networks => format!("\"{part}/{}\"", if address.is_ipv4() { 32 } else { 128 }),
            _ => format!("\"{part}\""),
        };
        let list = parts.iter().map(item).collect::<Vec<_>>().join(", ");
        Some(if has_networks {
            format!("[{list}].exists(network, cidr(network).containsIP({text}))")
        } else {
            format!("{text} in [{list}]")
        })
    }

    /// Returns the test of an address and a network, in any order. If neither says which it is, the first is the
    /// network of a function whose name begins with it.
    pub(super) fn network_test(&self, name: &str, args: &[NodeId]) -> Option<String> {
        let &[first, second] = args else { return None };
        self.names.function("cidr", false)?;
        let has_prefix = |id: NodeId| self.text_of(id).is_some_and(|text| text.contains('/'));
        let is_call = |id: NodeId| matches!(self.ast.expr(id), Expr::Call { target: None, function, .. } if self.ast.name(*function) == "cidr");
        let is_network = |id: NodeId| has_prefix(id) || is_call(id);
        let is_first = match (is_network(first), is_network(second)) {
            (true, false) => true,
            (false, true) => false,
            _ => name.strip_prefix("net.").unwrap_or(name).to_ascii_lowercase().starts_with("cidr"),
        };
        let (network, address) = if is_first { (first, second) } else { (second, first) };
        let (written, address) = (self.written(network)?, self.written(address)?);
        let network = if is_call(network) { written.to_owned() } else { format!("cidr({written})") };
        Some(format!("{network}.containsIP({address})"))
    }

    /// Returns the help for a call of a qualified function of another language, such as `net.cidr_contains(a, b)` of
    /// Rego.
    pub(super) fn qualified_meant(&self, name: &str, args: &[NodeId]) -> Option<String> {
        if self.full() {
            return None;
        }
        let written = match (name, args) {
            ("net.cidr_contains", _) => self.network_test(name, args)?,
            ("regex.match" | "regexp.MatchString" | "re.match" | "re.search", &[pattern, text]) => {
                self.as_method("matches", text, &[pattern])?
            }
            _ => return None,
        };
        Some(format!("write `{written}`"))
    }
}
