//! Prints a graph as text: one node for each line, constants inline, roots at the end.
//! [`parse`](crate::parse) reads the text back to an equal graph. Files of tests and
//! `celero explain` show graphs in this form.
//!
//! ```text
//! v0: str = field 0 @0..4
//! v1: str = const "/admin" @16..24
//! v2: bool = starts_with v0, v1 @0..25
//! root v2
//! ```
//!
//! A line is `vN: type = name payloads operands @from..to`: payloads are separated by spaces,
//! operands by commas, and the origin `0..0` is omitted. Names are those of the
//! [tables](crate::OpDecl).

use crate::constant::{Constant, Parameter};
use crate::graph::{Graph, NodeId};
use crate::op::Op;
use crate::quoted;
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
        | Op::Cursor(number)
        | Op::Entry(number)
        | Op::EntryValue(number)
        | Op::Local(number)
        | Op::Let(number)
        | Op::Reach(number) => write!(f, " {number}")?,
        Op::Header { field, .. } => write!(f, " {field}")?,
        Op::Member { field, member } => write!(f, " {field} {member}")?,
        Op::Fold { level, pairs, filtered, .. } => {
            write!(f, " {level}")?;
            f.write_str(if pairs { " pairs" } else { "" })?;
            f.write_str(if filtered { " filtered" } else { "" })?;
        }
        Op::Unbox(ty) => write!(f, " {ty}")?,
        Op::HasTypes(types) => write!(f, " {types}")?,
        Op::Call(helper) => write!(f, " {}", helper.decl().name)?,
        Op::Dispatch { function, .. } | Op::Invoke { function, .. } => {
            match op {
                Op::Invoke { form, .. } => write!(f, " {} ", form.name())?,
                _ => f.write_str(if op.is_pure() { " pure " } else { " impure " })?,
            }
            match graph.functions().get(function as usize) {
                Some(name) => quoted::text(f, name)?,
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

/// The constant in the text form.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Null => f.write_str("null"),
            Constant::Bool(value) => write!(f, "{value}"),
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Uint(value) => write!(f, "{value}u"),
            Constant::Double(bits) => {
                let value = f64::from_bits(*bits);
                // Equality compares the payload of a NaN, so it is printed.
                if value.is_nan() { write!(f, "nan {bits:x}") } else { write!(f, "{value:?}") }
            }
            Constant::Str(text) => quoted::text(f, text),
            Constant::Bytes(bytes) => quoted::bytes(f, bytes),
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
            Constant::Searcher(needle) => {
                f.write_str("searcher ")?;
                quoted::text_or_bytes(f, needle)
            }
            Constant::Regex(pattern) => named(f, "regex", pattern),
            Constant::ByteRegex(pattern) => named(f, "byte_regex", pattern),
            Constant::Wildcard(wildcard) => write!(f, "wildcard {wildcard}"),
            Constant::StrSet(members) => {
                f.write_str("str_set [")?;
                list(f, "", members, |f, member| quoted::text_or_bytes(f, member))?;
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
    quoted::text(f, text)
}
