//! Values: fields, literals, calls, parts of arrays and maps.

use super::extension::{Compute, Derive, FunctionCall, HeaderLines, MISSING};
use super::{Lower, Lowering, Operand};
use crate::filter::binding::Source;
use crate::filter::derive::derived_type;
use crate::lower::{header_name, lower_into};
use celero_frontend::filter::{AccessStep, FilterExpr, FilterLiteral, FilterType, StandardFunction};
use celero_frontend::{NodeId as TreeId, Type};
use celero_ir::{Catch, Constant, Helper, NodeId, Op, Ty};

impl<'c> Lowering<'c> {
    /// A value without `[*]`.
    pub(super) fn value(&mut self, id: TreeId) -> Lower<Operand> {
        match self.tree.expr(id) {
            FilterExpr::Field(index) => Ok(self.field(*index, id)),
            FilterExpr::Literal(literal) => Ok(self.literal(literal, id)),
            FilterExpr::Call { function, args } => self.called(id, *function, self.tree.children(*args)),
            FilterExpr::Access { base, steps } => {
                let operand = self.value(*base)?;
                self.part(operand, steps, id)
            }
            _ if self.tree.node(id).ty == FilterType::Bool => Ok(Operand { node: self.condition(id)?, ty: Type::Bool }),
            _ => Ok(Operand { node: self.results(id)?, ty: Type::list(Type::Bool) }),
        }
    }

    fn field(&mut self, index: u32, at: TreeId) -> Operand {
        if let Some(value) = self.tree.field(index).and_then(|field| field.constant) {
            return Operand { node: self.truth(value, at), ty: Type::Bool };
        }
        let binding = self.binding;
        self.source(binding.source(index), at)
    }

    fn source(&mut self, source: &Source, at: TreeId) -> Operand {
        match source {
            Source::Missing => Operand { node: self.missing(Ty::Value, at), ty: Type::Dyn },
            Source::Variable(index, ty) => {
                let representation = self.fields.get(*index as usize).map_or(Ty::Value, |layout| layout.ty);
                Operand { node: self.add(Op::Field(*index), representation, &[], at), ty: ty.clone() }
            }
            Source::Header { map, name } => {
                // A name that no header can have is that of a missing one.
                let Some(name) = header_name(name) else {
                    return Operand { node: self.missing(Ty::Raw, at), ty: Type::String };
                };
                let name = self.lowered.graph.constant(Constant::HeaderName(name.into()));
                let header = self.add(Op::Header { field: *map, name }, Ty::Maybe, &[], at);
                Operand { node: self.add(Op::Require, Ty::Raw, &[header], at), ty: Type::String }
            }
            Source::Expression(expression) => {
                let checked = expression.checked();
                let node = lower_into(&mut self.lowered, self.level, checked, self.functions, self.fields);
                Operand { node, ty: checked.result_type().clone() }
            }
            Source::Derived(how, base) => {
                let base = self.source(base, at);
                let node = self.call(Derive(*how), &[base.node], at);
                Operand { node, ty: Type::from(&derived_type(*how)) }
            }
        }
    }

    fn literal(&mut self, literal: &FilterLiteral, at: TreeId) -> Operand {
        match literal {
            FilterLiteral::Int(value) => {
                Operand { node: self.constant(Constant::Int(*value), Ty::Int, at), ty: Type::Int }
            }
            FilterLiteral::Ip(address) => {
                let constant = Constant::Ip(*address);
                Operand { node: self.constant(constant, Ty::Value, at), ty: Type::from(&FilterType::Ip) }
            }
            FilterLiteral::Bytes(bytes) => {
                let constant = Constant::Bytes(bytes.value.clone());
                Operand { node: self.constant(constant, Ty::Bytes, at), ty: Type::Bytes }
            }
        }
    }

    /// The value in the representation for its type; it is missing if it is of another type.
    pub(super) fn unboxed(&mut self, operand: Operand, ty: &FilterType, at: TreeId) -> NodeId {
        let Operand { node, ty: known } = operand;
        let wanted = match ty {
            FilterType::Bool => Ty::Bool,
            FilterType::Int => Ty::Int,
            FilterType::Bytes if known == Type::String => Ty::Str,
            FilterType::Bytes => Ty::Bytes,
            _ => return node,
        };
        if self.ty(node) != Ty::Value {
            return node;
        }
        if let Op::Fail(kind) = self.lowered.graph.op(node) {
            return self.add(Op::Fail(kind), wanted, &[], at);
        }
        self.add(Op::Unbox(wanted), wanted, &[node], at)
    }

    /// A part of a value: an element of an array, or a value of a map.
    pub(super) fn part(&mut self, mut operand: Operand, steps: &[AccessStep], at: TreeId) -> Lower<Operand> {
        for step in steps {
            operand = match step {
                AccessStep::Index(index) => {
                    let element = element_type(&operand.ty);
                    let list = self.boxed(operand.node, at);
                    let index = self.constant(Constant::Int((*index).into()), Ty::Int, at);
                    let node = self.add(Op::Call(Helper::index_list), Ty::Value, &[list, index], at);
                    Operand { node, ty: element }
                }
                AccessStep::Key(key) if self.is_header_map(operand.node) => {
                    let map = self.boxed(operand.node, at);
                    let lines = self.call(HeaderLines::new(key), &[map], at);
                    Operand { node: lines, ty: Type::list(Type::Bytes) }
                }
                AccessStep::Key(key) => {
                    let element = element_type(&operand.ty);
                    let map = self.boxed(operand.node, at);
                    let key = self.constant(Constant::Str(key.clone()), Ty::Str, at);
                    let node = self.add(Op::Call(Helper::select), Ty::Value, &[map, key], at);
                    Operand { node, ty: element }
                }
                AccessStep::Each => return Err("`[*]` inside of a value".into()),
            };
        }
        Ok(operand)
    }

    /// Whether a node reads a header map of the host.
    pub(super) fn is_header_map(&self, node: NodeId) -> bool {
        match self.lowered.graph.op(node) {
            Op::Field(field) => self.fields.get(field as usize).is_some_and(|layout| layout.headers.is_some()),
            _ => false,
        }
    }

    /// A call whose first argument has one value.
    fn called(&mut self, id: TreeId, function: u32, args: &'c [TreeId]) -> Lower<Operand> {
        if self.is_mapped(args) {
            return self.mapped(id, function, args);
        }
        let standard = self.tree.function(function).and_then(|function| function.standard);
        if let (&[text, part], Some(StandardFunction::StartsWith | StandardFunction::EndsWith)) = (args, standard) {
            let at_start = standard == Some(StandardFunction::StartsWith);
            if let Some(node) = self.affix_folded(id, at_start, text, part)? {
                return Ok(Operand { node, ty: Type::Bool });
            }
        }
        let operands: Vec<Operand> = args.iter().map(|&arg| self.value(arg)).collect::<Lower<_>>()?;
        if let (&[_, key], [map, _], Some(StandardFunction::HasKey)) = (args, operands.as_slice(), standard)
            && let Some(node) = self.has_header(id, map.node, key)
        {
            return Ok(Operand { node, ty: Type::Bool });
        }
        self.applied(id, function, args, operands, false)
    }

    /// Whether a header map of the host has this key, a literal. Keys are compared as they are, and
    /// names are in lower case.
    fn has_header(&mut self, id: TreeId, map: NodeId, key: TreeId) -> Option<NodeId> {
        let FilterExpr::Literal(FilterLiteral::Bytes(key)) = self.tree.expr(key) else { return None };
        let Op::Field(field) = self.lowered.graph.op(map) else { return None };
        if !self.is_header_map(map) {
            return None;
        }
        let key = std::str::from_utf8(&key.value).ok().filter(|key| !key.bytes().any(|byte| byte.is_ascii_uppercase()));
        let Some(name) = key.and_then(header_name) else { return Some(self.truth(false, id)) };
        let name = self.lowered.graph.constant(Constant::HeaderName(name.into()));
        let header = self.add(Op::Header { field, name }, Ty::Maybe, &[], id);
        Some(self.add(Op::IsPresent, Ty::Bool, &[header], id))
    }

    /// A call of a function with these operands. Its result is missing if the function has none,
    /// and if the call is one of many, also if its first operand is missing: the function is not
    /// called then.
    pub(super) fn applied(
        &mut self,
        id: TreeId,
        function: u32,
        args: &[TreeId],
        operands: Vec<Operand>,
        one_of_many: bool,
    ) -> Lower<Operand> {
        let declared = self.tree.function(function).ok_or("an unknown function")?;
        let result = &self.tree.node(id).ty;
        // The type of one call, also where the call is made for each value.
        let result = match result {
            FilterType::Array(element) if self.is_mapped(args) => element,
            other => other,
        };
        let ty = Type::from(result);
        if let [text, part] = operands.as_slice()
            && let Some(StandardFunction::StartsWith | StandardFunction::EndsWith) = declared.standard
        {
            let at_start = declared.standard == Some(StandardFunction::StartsWith);
            let (text, part) = (text.clone(), part.clone());
            return Ok(Operand { node: self.starts_or_ends(id, at_start, text, part), ty });
        }
        let parameters = args.iter().map(|&arg| self.tree.node(arg).ty.clone()).collect();
        let run = match declared.standard {
            Some(standard) if !standard.is_of_host() => {
                let pattern = self.tree.pattern_argument(function, args);
                let pattern = pattern
                    .and_then(|(node, text)| Some((Box::from(text), self.filter.prepared.pattern(node)?.clone())));
                Compute::Standard(standard, pattern)
            }
            _ => match self.binding.host_function(function) {
                Some(_) => Compute::Host(self.binding.clone(), function),
                None => return Ok(Operand { node: self.missing(Ty::Value, id), ty }),
            },
        };
        let missing = self.constant(Constant::Type(MISSING.into()), Ty::Value, id);
        let operands: Vec<NodeId> = operands
            .into_iter()
            .enumerate()
            .map(|(number, operand)| {
                let boxed = self.boxed(operand.node, id);
                if one_of_many && number == 0 {
                    return boxed;
                }
                self.add(Op::Coalesce(Catch::Any), Ty::Value, &[boxed, missing], id)
            })
            .collect();
        let call = FunctionCall::new(&declared.name, run, parameters);
        Ok(Operand { node: self.call(call, &operands, id), ty })
    }

    /// `starts_with` and `ends_with`.
    fn starts_or_ends(&mut self, id: TreeId, at_start: bool, text: Operand, part: Operand) -> NodeId {
        let text = self.unboxed(text, &FilterType::Bytes, id);
        let part = self.unboxed(part, &FilterType::Bytes, id);
        let (text, part) = self.comparable(text, part, id);
        let op = if at_start { Op::StartsWith } else { Op::EndsWith };
        self.add(op, Ty::Bool, &[text, part], id)
    }
}

/// The type of the elements of a list or the values of a map.
pub(super) fn element_type(ty: &Type) -> Type {
    match ty {
        Type::List(element) => (**element).clone(),
        Type::Map(parts) => parts.1.clone(),
        _ => Type::Dyn,
    }
}
