//! The text form of a graph: one node a line, constants in place, roots at the end. [`parse`](crate::parse) reads it back
//! as an equal graph.
//!
//! ```text
//! v0: str = field 0 @0..4
//! v1: str = const "/admin" @16..24
//! v2: bool = starts_with v0, v1 @0..25
//! root v2
//! ```
//!
//! A line is `vN: type = name payload operands @from..to`, where payloads stand one after the other, operands are parted by
//! commas, and the origin `0..0` is left out.

use crate::constant::{Constant, Parameter};
use crate::graph::{Graph, NodeId};
use crate::op::Op;
use std::fmt::{self, Write};
use std::sync::Arc;

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.ids() {
            let node = self.node(id);
            write!(f, "{id}: {} = {}", node.ty, node.op.decl().name)?;
            payload(self, node.op, f)?;
            list(f, " ", self.args(id), |f, arg| write!(f, "{arg}"))?;
            let origin = self.origin(id);
            if origin != crate::Origin::default() {
                write!(f, " @{}..{}", origin.start, origin.end)?;
            }
            f.write_char('\n')?;
        }
        for root in self.roots() {
            writeln!(f, "root {root}")?;
        }
        Ok(())
    }
}

fn payload(graph: &Graph, op: Op, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match op {
        Op::Fail(kind) => write!(f, " {}", kind.name())?,
        Op::Field(number)
        | Op::HasField(number)
        | Op::Elements(number)
        | Op::Local(number)
        | Op::Let(number)
        | Op::Reach(number) => write!(f, " {number}")?,
        Op::Header { field, .. } => write!(f, " {field}")?,
        Op::Fold { level, pairs, filtered, .. } => {
            write!(f, " {level}")?;
            f.write_str(if pairs { " pairs" } else { "" })?;
            f.write_str(if filtered { " filtered" } else { "" })?;
        }
        Op::Unbox(ty) => write!(f, " {ty}")?,
        Op::Call(helper) => write!(f, " {}", helper.decl().name)?,
        Op::Dispatch { function, pure } => {
            f.write_str(if pure { " pure " } else { " impure " })?;
            match graph.functions().get(function as usize) {
                Some(name) => string(f, name)?,
                None => f.write_char('?')?,
            }
        }
        _ => {}
    }
    let Some(id) = op.constant() else { return Ok(()) };
    match graph.constant_at(id) {
        Some(constant) => write!(f, " {constant}"),
        None => f.write_str(" ?"),
    }
}

/// A constant as the text form has it.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Null => f.write_str("null"),
            Constant::Bool(value) => write!(f, "{value}"),
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Uint(value) => write!(f, "{value}u"),
            Constant::Double(bits) => {
                let value = f64::from_bits(*bits);
                // A NaN has a payload, which equality sees.
                if value.is_nan() { write!(f, "nan {bits:x}") } else { write!(f, "{value:?}") }
            }
            Constant::Str(text) => string(f, text),
            Constant::Bytes(bytes) => byte_string(f, bytes),
            Constant::Duration(nanos) => write!(f, "duration {nanos}"),
            Constant::Timestamp(seconds, nanos) => write!(f, "timestamp {seconds} {nanos}"),
            Constant::Type(name) => named(f, "type", name),
            Constant::List(items) => {
                f.write_char('[')?;
                list(f, "", items, |f, item| write!(f, "{item}"))?;
                f.write_char(']')
            }
            Constant::Map(entries) => {
                f.write_char('{')?;
                list(f, "", entries, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_char('}')
            }
            Constant::Ip(address) => write!(f, "ip \"{address}\""),
            Constant::Cidr(address, prefix) => write!(f, "cidr \"{address}/{prefix}\""),
            Constant::Searcher(needle) => named(f, "searcher", needle),
            Constant::Regex(pattern) => named(f, "regex", pattern),
            Constant::StrSet(members) => {
                f.write_str("str_set [")?;
                list(f, "", members, |f, member| string(f, member))?;
                f.write_char(']')
            }
            Constant::IntSet(members) => {
                f.write_str("int_set [")?;
                list(f, "", members, |f, member| write!(f, "{member}"))?;
                f.write_char(']')
            }
            Constant::HeaderName(name) => named(f, "header_name", name),
            Constant::Projection(projection) => write!(f, "projection {projection}"),
            Constant::Parameter(Parameter { kind, plain, at }) => {
                write!(f, "parameter {}{} {at}", if *plain { "plain " } else { "" }, kind.name())
            }
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    before: &str,
    items: &[T],
    mut item: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    let mut separator = before;
    for each in items {
        f.write_str(separator)?;
        item(f, each)?;
        separator = ", ";
    }
    Ok(())
}

fn named(f: &mut fmt::Formatter<'_>, name: &str, text: &Arc<str>) -> fmt::Result {
    write!(f, "{name} ")?;
    string(f, text)
}

pub(crate) fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            // What would break the line, or could not be seen.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffd}') => {
                write!(f, "\\u{{{:x}}}", u32::from(c))?;
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

fn byte_string(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("b\"")?;
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}
