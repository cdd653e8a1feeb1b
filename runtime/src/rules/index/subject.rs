//! The subject of a test: the attribute that it is about, and how its value is read.

use super::attribute::AttributeSource;
use super::finder::Finder;
use celero_frontend::stdlib::Builtin;
use celero_ir::{Catch, Constant, NodeId, Op, Ty};
use std::sync::Arc;

/// What a test is about.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) source: AttributeSource,
    pub(super) ty: Ty,
    pub(super) lower: bool,
    /// Whether there may be no value; the test fails then.
    pub(super) optional: bool,
    /// What is tested instead if there is no value.
    pub(super) default: Option<Arc<str>>,
}

impl<'f> Finder<'f> {
    /// What a test is about, if that is an attribute.
    pub(super) fn subject(&mut self, id: NodeId) -> Option<Subject> {
        let (graph, args) = (self.graph, self.graph.args(id));
        let of = |ty: Ty, inner: Subject| Some(Subject { ty, ..inner });
        match (graph.op(id), args) {
            // Values that are bytes are no text, whatever is read of them.
            (Op::Field(_) | Op::Unbox(_), _) if graph.ty(id) == Ty::Bytes => None,
            (Op::Field(field), _) => {
                let layout = self.fields.get(field as usize)?;
                let optional = !layout.is_sure();
                Some(Subject {
                    source: AttributeSource::Field(field),
                    ty: graph.ty(id),
                    lower: false,
                    optional,
                    default: None,
                })
            }
            (Op::Header { field, name }, _) => {
                let source = self.paths.headers.entry(id).or_insert_with(|| match graph.constant_at(name) {
                    Some(Constant::HeaderName(name)) => AttributeSource::header(field, name),
                    _ => None,
                });
                let source = source.clone()?;
                Some(Subject { source, ty: Ty::Maybe, lower: false, optional: true, default: None })
            }
            (Op::Require, &[inner]) => of(Ty::Raw, self.subject(inner).filter(|inner| inner.ty == Ty::Maybe)?),
            (Op::Decode, &[inner]) => of(Ty::Str, self.subject(inner)?),
            (Op::AsBytes, &[inner]) => {
                let is_text = |inner: &Subject| matches!(inner.ty, Ty::Str | Ty::Raw) && !inner.lower;
                of(Ty::Bytes, self.subject(inner).filter(is_text).filter(|inner| inner.default.is_none())?)
            }
            // What is no text fails here, and makes the attribute unreadable.
            (Op::Unbox(ty), &[inner]) => of(ty, self.subject(inner).filter(|inner| inner.ty == Ty::Value)?),
            (Op::Box, &[inner]) => {
                let has_keys = |inner: &Subject| matches!(inner.ty, Ty::Str | Ty::Raw | Ty::Int | Ty::Uint);
                let inner = self.subject(inner).filter(has_keys)?;
                of(Ty::Value, inner)
            }
            (Op::Coalesce(Catch::Absence), &[inner, default]) => {
                let inner = self.subject(inner).filter(|inner| inner.default.is_none() && !inner.lower)?;
                let Some(Constant::Str(default)) = self.constant(default) else { return None };
                (inner.ty == Ty::Str).then(|| Subject { default: Some(default.clone()), ..inner })
            }
            (Op::Dispatch { .. } | Op::Invoke { .. }, &[inner]) => {
                self.library_call(id, Builtin::LowerAscii)?;
                let inner = self.subject(inner).filter(|inner| inner.default.is_none())?;
                Some(Subject { ty: graph.ty(id), lower: true, ..inner })
            }
            _ => None,
        }
    }

    /// The operands of a node that calls exactly this library function.
    fn library_call(&self, id: NodeId, builtin: Builtin) -> Option<&'f [NodeId]> {
        let function = self.graph.op(id).function()?;
        let callee = self.calls.by_name(self.graph.functions().get(function as usize)?)?;
        callee.is_builtin(builtin).then(|| self.graph.args(id))
    }

    /// For a test of presence: the attribute, and whether it must be present.
    pub(super) fn presence(&mut self, id: NodeId) -> Option<(AttributeSource, bool)> {
        let (graph, args) = (self.graph, self.graph.args(id));
        match (graph.op(id), args) {
            (Op::IsPresent, &[header]) => Some((self.subject(header)?.source, true)),
            (Op::HasField(field), _) => Some((AttributeSource::Field(field), true)),
            (Op::Not, &[inner]) => match self.presence(inner)? {
                (source, true) => Some((source, false)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn constant(&self, id: NodeId) -> Option<&'f Constant> {
        match self.graph.op(id) {
            Op::Const(constant) => self.graph.constant_at(constant),
            _ => None,
        }
    }
}
