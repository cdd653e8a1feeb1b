//! Verifies a graph before the compiler trusts it: everything that the documentation of [`Op`] and [`Constant`] states.
//!
//! Takes time linear in the nodes times [`MAX_LEVEL`]; recurses only within a constant, down to
//! [`MAX_CONSTANT_DEPTH`](crate::constant::MAX_CONSTANT_DEPTH).

use crate::constant::{Constant, ParameterKind};
use crate::graph::{Graph, NodeId};
use crate::helper::Param;
use crate::layout::{self, Field};
use crate::op::{FoldKind, Op};
use crate::projection::Projection;
use crate::table::{OperandType, Operands, ResultType};
use crate::ty::{Ty, Types};
use smallvec::SmallVec;
use std::fmt;

/// The levels of variables are below this number.
pub const MAX_LEVEL: u32 = 1024;

/// A requirement of a well-formed graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// Operands have smaller ids than the node.
    Order,
    /// The operation accepts this number of operands.
    Arity,
    /// The operation accepts operands of these types.
    OperandType,
    /// The operation has a result of this type.
    ResultType,
    /// A payload names a constant or function of the graph, or a helper that nodes may call.
    Payload,
    /// A constant is well formed, and of the kind that the operation needs.
    Constant,
    /// A `raw` text is compared only with constants without U+FFFD.
    Raw,
    /// A field exists, has the type of the node, and is a header map where the operation needs one.
    Field,
    /// Binders nest with rising levels below [`MAX_LEVEL`].
    Level,
    /// A variable has the type with which it is bound.
    LocalType,
    /// A root exists, and every variable below it is bound.
    Root,
}

/// A node that violates a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The node.
    pub node: NodeId,
    /// The requirement.
    pub requirement: Requirement,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.node, self.reason)
    }
}

impl std::error::Error for Violation {}

/// Verifies a graph over a host with these fields.
///
/// # Errors
/// The first node that violates a requirement.
pub fn verify(graph: &Graph, fields: &[Field]) -> Result<(), Violation> {
    let mut scopes = Scopes::default();
    for id in graph.ids() {
        let check = Check { graph, fields, id, op: graph.op(id), ty: graph.ty(id), args: graph.args(id) };
        let scope = check.order().and_then(|()| check.operands()).and_then(|()| check.payload());
        let scope = scope.and_then(|()| check.scope(&scopes));
        let scope = scope.map_err(|(requirement, reason)| Violation { node: id, requirement, reason })?;
        if !scope.free.is_empty() || scope.lowest != MAX_LEVEL {
            scopes.push(id, scope);
        }
    }
    for &root in graph.roots() {
        let reason = match scopes.get(root).and_then(|scope| scope.free.first()) {
            Some((level, ..)) => format!("a root that uses the variable of level {level}, which nothing binds"),
            None if root.0 as usize >= graph.len() => "a root that is no node".to_owned(),
            None => continue,
        };
        return Err(Violation { node: root, requirement: Requirement::Root, reason });
    }
    Ok(())
}

/// What nodes require of the binders around them. Most nodes require nothing and are not in it.
#[derive(Default)]
struct Scopes(Vec<(NodeId, Scope)>);

impl Scopes {
    /// Records what a node requires. Nodes come by rising ids.
    fn push(&mut self, id: NodeId, scope: Scope) {
        self.0.push((id, scope));
    }

    fn get(&self, id: NodeId) -> Option<&Scope> {
        let place = self.0.binary_search_by_key(&id, |(known, _)| *known).ok()?;
        self.0.get(place).map(|(_, scope)| scope)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a node requires of the binders around it.
struct Scope {
    /// Variables used but not bound in it, with the type used; sorted. For a record whose members
    /// are read, also the field that is its list.
    free: SmallVec<[(u32, Ty, Option<u32>); 2]>,
    /// The lowest level that the node or an operand binds, or [`MAX_LEVEL`].
    lowest: u32,
}

type Checked = Result<(), (Requirement, String)>;

fn fail<T>(requirement: Requirement, reason: impl Into<String>) -> Result<T, (Requirement, String)> {
    Err((requirement, reason.into()))
}

struct Check<'g> {
    graph: &'g Graph,
    fields: &'g [Field],
    id: NodeId,
    op: Op,
    ty: Ty,
    args: &'g [NodeId],
}

impl Check<'_> {
    fn order(&self) -> Checked {
        match self.args.iter().find(|arg| **arg >= self.id) {
            Some(arg) => fail(Requirement::Order, format!("the operand {arg} does not come before the node")),
            None => Ok(()),
        }
    }

    fn operands(&self) -> Checked {
        let decl = self.op.decl();
        let name = decl.name;
        let arity = self.args.len();
        let ty_of = |index: usize| self.args.get(index).map(|&arg| self.graph.ty(arg));
        let wrong = |index: usize| match self.args.get(index) {
            Some(&arg) => {
                fail(Requirement::OperandType, format!("`{name}` does not take {arg}, a {}", self.graph.ty(arg)))
            }
            None => fail(Requirement::Arity, format!("`{name}` has no operand {index}")),
        };
        let count = |fits: bool| {
            if fits { Ok(()) } else { fail(Requirement::Arity, format!("`{name}` does not take {arity} operands")) }
        };
        let all = |ty: Ty| match (0..arity).find(|&index| ty_of(index) != Some(ty)) {
            Some(index) => wrong(index),
            None => Ok(()),
        };
        match decl.operands {
            Operands::Many(least, ty) => count(arity >= least).and_then(|()| all(ty))?,
            Operands::Alike(least) => {
                count(arity >= least)?;
                (0..arity).find(|&index| ty_of(index) != ty_of(0)).map_or(Ok(()), wrong)?;
            }
            Operands::AnyOf(types) => {
                let bad = (0..arity).find(|&index| ty_of(index).is_none_or(|ty| !types.contains(&ty)));
                bad.map_or(Ok(()), wrong)?;
            }
            Operands::Pairs(ty) => count(arity.is_multiple_of(2)).and_then(|()| all(ty))?,
            Operands::Params(params) => {
                if params.iter().any(|param| !matches!(param, Param::Node(_))) {
                    return fail(Requirement::Payload, "a helper that only the compiler calls");
                }
                count(arity == params.len())?;
                let bad = params.iter().enumerate().find(|(i, param)| ty_of(*i).map(Param::Node) != Some(**param));
                bad.map_or(Ok(()), |(index, _)| wrong(index))?;
            }
            Operands::Each(operands) => {
                count(arity == operands.len())?;
                if decl.raw_and_constant && ty_of(0) == Some(Ty::Raw) {
                    self.raw_and_constant()?;
                } else {
                    let bad = operands.iter().enumerate().find(|(index, operand)| {
                        let ty = ty_of(*index);
                        !match operand {
                            OperandType::Is(wanted) => ty == Some(*wanted),
                            OperandType::OneOf(wanted) => ty.is_some_and(|ty| wanted.contains(&ty)),
                            OperandType::Any => true,
                            OperandType::SameAs(other) => ty == ty_of(*other),
                        }
                    });
                    bad.map_or(Ok(()), |(index, _)| wrong(index))?;
                }
            }
        }
        let given = match decl.result {
            ResultType::Is(ty) => Some(ty),
            ResultType::SameAs(index) => ty_of(index),
            ResultType::Declared => Some(self.ty),
            ResultType::None => return fail(Requirement::Payload, "a helper without a result"),
        };
        if given == Some(self.ty) {
            Ok(())
        } else {
            fail(Requirement::ResultType, format!("`{name}` gives no {}", self.ty))
        }
    }

    /// Checks operands that are a raw text and a constant.
    fn raw_and_constant(&self) -> Checked {
        let second = self.args.get(1).and_then(|&arg| match self.graph.op(arg) {
            Op::Const(constant) if self.graph.ty(arg) == Ty::Str => self.graph.constant_at(constant),
            _ => None,
        });
        match second {
            None => fail(Requirement::Raw, "a raw text meets what is not a constant text"),
            Some(constant) if !constant.is_raw_comparable() => {
                fail(Requirement::Raw, "a raw text meets U+FFFD in a constant")
            }
            Some(_) => Ok(()),
        }
    }

    fn payload(&self) -> Checked {
        match self.op {
            Op::Field(field) => match self.fields.get(field as usize) {
                Some(known) if known.ty == self.ty => Ok(()),
                Some(known) => fail(Requirement::Field, format!("field {field} is a {}, not a {}", known.ty, self.ty)),
                None => fail(Requirement::Field, format!("there is no field {field}")),
            },
            Op::HasField(field) if self.fields.get(field as usize).is_none() => {
                fail(Requirement::Field, format!("there is no field {field}"))
            }
            Op::Elements(field) if self.elements(field).is_none_or(|elements| elements.stride == 0) => {
                fail(Requirement::Field, format!("field {field} is not a list of elements in one piece"))
            }
            Op::Cursor(field) if self.cursor(field).is_none() => {
                fail(Requirement::Field, format!("no cursor goes over field {field}"))
            }
            Op::Entry(field) => match self.entries(field) {
                Some(entries) if self.args.first().is_some_and(|&key| self.graph.ty(key) == entries.key) => Ok(()),
                Some(entries) => fail(Requirement::Field, format!("the keys of field {field} are {}", entries.key)),
                None => fail(Requirement::Field, format!("field {field} is neither a map nor a set")),
            },
            Op::EntryValue(field) => {
                let value = self.entries(field).and_then(|entries| entries.value.as_ref());
                let of = self.args.first().map(|&entry| self.graph.op(entry));
                match value {
                    Some(value) if value.ty != self.ty => fail(
                        Requirement::Field,
                        format!("the values of field {field} are {}, not {}", value.ty, self.ty),
                    ),
                    Some(_) if matches!(of, Some(Op::Fail(_))) || of == Some(Op::Entry(field)) => Ok(()),
                    Some(_) => fail(Requirement::Payload, format!("an entry that is not of field {field}")),
                    None => fail(Requirement::Field, format!("field {field} is not a map")),
                }
            }
            Op::Header { field, .. } if self.fields.get(field as usize).is_none_or(|known| known.headers.is_none()) => {
                fail(Requirement::Field, format!("field {field} is not a header map"))
            }
            Op::Unbox(ty) if layout::value::tag_of(ty).is_none() => {
                fail(Requirement::ResultType, format!("no value holds a {ty}"))
            }
            Op::HasTypes(types) => self.tested_types(types),
            Op::Reach(step) if step as usize >= Projection::MAX_DEPTH => {
                fail(Requirement::Payload, format!("no path of keys has a step {step}"))
            }
            Op::Reach(_) if !matches!(self.ty, Ty::Found | Ty::Value) => {
                fail(Requirement::ResultType, format!("a step gives no {}", self.ty))
            }
            Op::Fold { kind, filtered: true, .. }
                if !matches!(kind, FoldKind::Map | FoldKind::TransformMap | FoldKind::TransformMapEntry) =>
            {
                fail(Requirement::Payload, "a filter where the kind has none")
            }
            Op::Fold { .. } | Op::SeqSize | Op::SeqAt | Op::SeqHas | Op::SeqEqual
                if self.args.iter().any(|&arg| match self.graph.ty(arg) {
                    Ty::Seq => !matches!(self.graph.op(arg), Op::Elements(_)),
                    Ty::Cursor => !matches!(self.graph.op(arg), Op::Cursor(_)),
                    _ => false,
                }) =>
            {
                fail(Requirement::Payload, "elements that are not the field's own")
            }
            Op::Fold { kind: FoldKind::Filter, .. }
                if self.variable_types().is_some_and(|(ty, _)| layout::value::tag_of(ty).is_none()) =>
            {
                fail(Requirement::OperandType, "a list of what is no value")
            }
            Op::Fold { pairs: true, .. } if self.first_ty() == Some(Ty::Cursor) && self.variable_types().is_none() => {
                fail(Requirement::OperandType, "pairs of a map whose values are not read")
            }
            Op::Member { field, member } => match self.elements(field).and_then(|elements| elements.member(member)) {
                Some(known) if known.ty == self.ty => Ok(()),
                _ => fail(Requirement::Field, format!("field {field} has no member {member} that is a {}", self.ty)),
            },
            Op::SeqAt if self.element_ty(0) != Some(self.ty) => {
                fail(Requirement::ResultType, format!("no element is a {}", self.ty))
            }
            Op::SeqHas if self.element_ty(1) != self.first_ty() => {
                fail(Requirement::OperandType, "a value of another type than the elements")
            }
            Op::SeqEqual if self.element_ty(0) != self.element_ty(1) => {
                fail(Requirement::OperandType, "elements of different types")
            }
            Op::SeqHas | Op::SeqEqual if !self.element_ty(1).is_some_and(Ty::is_compared_in_place) => {
                fail(Requirement::OperandType, "elements that are not compared in place")
            }
            Op::Dispatch { function, .. } | Op::Invoke { function, .. }
                if self.graph.functions().get(function as usize).is_none() =>
            {
                fail(Requirement::Payload, format!("there is no function {function}"))
            }
            Op::Invoke { .. } if self.ty != Ty::Value && layout::value::tag_of(self.ty).is_none() => {
                fail(Requirement::ResultType, format!("no function gives a {}", self.ty))
            }
            Op::Invoke { form, .. } if !form.needs_frame() && matches!(self.ty, Ty::Value | Ty::Timestamp) => {
                fail(Requirement::ResultType, format!("a function without the frame gives no {}", self.ty))
            }
            _ => Ok(()),
        }?;
        let Some(id) = self.op.constant() else { return Ok(()) };
        let Some(constant) = self.graph.constant_at(id) else {
            return fail(Requirement::Payload, format!("there is no constant {}", id.0));
        };
        if let Some(wrong) = constant.fault() {
            return fail(Requirement::Constant, wrong);
        }
        let operand = self.first_ty();
        let fits = match (self.op, constant) {
            (Op::Const(_), constant) => constant.fits(self.ty),
            (Op::Header { .. }, Constant::HeaderName(_))
            | (Op::ContainsConst(_), Constant::Searcher(_))
            | (Op::WildcardConst(_), Constant::Wildcard(_))
            | (Op::InStrSet(_), Constant::StrSet(_))
            | (Op::InIntSet(_), Constant::IntSet(_))
            | (Op::InCidr(_), Constant::Cidr(..))
            | (Op::Project(_), Constant::Projection(_)) => true,
            (Op::Find(_), Constant::Projection(projection)) => projection.key_path().is_some(),
            (Op::MatchesConst(_), Constant::Regex(_)) => operand == Some(Ty::Str),
            (Op::MatchesConst(_), Constant::ByteRegex(_)) => operand == Some(Ty::Bytes),
            (op, Constant::Parameter(parameter)) => accepts(op, operand, parameter.kind),
            _ => false,
        };
        if !fits {
            return fail(
                Requirement::Constant,
                format!("`{}` of {} does not hold that constant", self.op.decl().name, self.ty),
            );
        }
        if operand == Some(Ty::Raw) && !constant.is_raw_comparable() {
            return fail(Requirement::Raw, "a raw text meets U+FFFD in a constant");
        }
        Ok(())
    }

    /// Checks the types that are tested: those of values, and the operands' own.
    fn tested_types(&self, types: Types) -> Checked {
        if self.args.len() > Types::MAX {
            return fail(Requirement::Arity, format!("more than {} operands", Types::MAX));
        }
        if let Some(ty) = types.iter().find(|ty| *ty != Ty::Value && layout::value::tag_of(*ty).is_none()) {
            return fail(Requirement::Payload, format!("no value holds a {ty}"));
        }
        let operands = self.args.iter().map(|&arg| Some(self.graph.ty(arg))).chain(std::iter::repeat(None));
        let of_another = |(ty, operand): &(Ty, Option<Ty>)| match operand {
            Some(Ty::Value) => false,
            Some(operand) => operand != ty,
            None => *ty != Ty::Value,
        };
        match types.iter().zip(operands).find(of_another) {
            Some((ty, Some(operand))) => fail(Requirement::OperandType, format!("a {operand} is no {ty}")),
            Some((ty, None)) => fail(Requirement::Payload, format!("no operand that may be a {ty}")),
            None => Ok(()),
        }
    }

    /// The node's scope, from those of its operands.
    fn scope(&self, scopes: &Scopes) -> Result<Scope, (Requirement, String)> {
        let mut scope = Scope { free: SmallVec::new(), lowest: MAX_LEVEL };
        if let Op::Local(level) = self.op {
            if level >= MAX_LEVEL {
                return fail(Requirement::Level, format!("level {level} is not below {MAX_LEVEL}"));
            }
            scope.free.push((level, self.ty, None));
        }
        if let Op::Member { field, .. } = self.op {
            let record = self.args.first().copied();
            let list = record.and_then(|record| Some(self.graph.op(*self.graph.args(record).first()?)));
            match record.map(|record| self.graph.op(record)) {
                Some(Op::Local(level)) => scope.free.push((level, Ty::Record, Some(field))),
                Some(Op::SeqAt) if list == Some(Op::Elements(field)) => {}
                _ => return fail(Requirement::Payload, "a member of what is no element of the list"),
            }
        }
        let binds = self.op.binds();
        let operands = if scopes.is_empty() { &[] } else { self.args };
        for (index, arg) in operands.iter().enumerate() {
            let Some(operand) = scopes.get(*arg) else { continue };
            let bound = match binds {
                Some((level, count, from)) if index >= from => level..level.saturating_add(count),
                _ => 0..0,
            };
            if !bound.is_empty() && operand.lowest < bound.end {
                let lowest = operand.lowest;
                return fail(Requirement::Level, format!("level {} is bound around level {lowest}", bound.start));
            }
            scope.lowest = scope.lowest.min(operand.lowest);
            for &(level, ty, list) in &operand.free {
                if !bound.contains(&level) {
                    scope.free.push((level, ty, list));
                } else if list
                    .is_some_and(|field| self.args.first().map(|&arg| self.graph.op(arg)) != Some(Op::Elements(field)))
                {
                    return fail(Requirement::LocalType, format!("the variable of level {level} is of another list"));
                } else if ty != self.bound_ty(level) {
                    let bound = self.bound_ty(level);
                    return fail(
                        Requirement::LocalType,
                        format!("the variable of level {level} is a {bound}, not a {ty}"),
                    );
                }
            }
        }
        if let Some((level, count, _)) = binds {
            if level.saturating_add(count) > MAX_LEVEL {
                return fail(Requirement::Level, format!("level {level} is not below {MAX_LEVEL}"));
            }
            scope.lowest = scope.lowest.min(level);
        }
        scope.free.sort_unstable_by_key(|&(level, ty, list)| (level, ty as u8, list));
        scope.free.dedup();
        Ok(scope)
    }

    fn first_ty(&self) -> Option<Ty> {
        self.args.first().map(|&arg| self.graph.ty(arg))
    }

    /// The type of the variable that the node binds at this level.
    fn bound_ty(&self, bound: u32) -> Ty {
        match (self.op, self.first_ty()) {
            (Op::Let(_), Some(init)) => init,
            (Op::Fold { level, .. }, Some(Ty::Seq | Ty::Cursor)) => {
                self.variable_types().map_or(Ty::Value, |(first, second)| if bound == level { first } else { second })
            }
            _ => Ty::Value,
        }
    }

    /// The types of the variables of a fold over what is read in place; the first one twice without `pairs`.
    fn variable_types(&self) -> Option<(Ty, Ty)> {
        let Op::Fold { pairs, .. } = self.op else { return None };
        match self.graph.op(*self.args.first()?) {
            Op::Elements(field) => self.elements(field).map(|list| (if pairs { Ty::Int } else { list.ty }, list.ty)),
            Op::Cursor(field) => self.cursor(field)?.items.variables(pairs),
            _ => None,
        }
    }

    /// The type of the elements that are the operand of this index.
    fn element_ty(&self, index: usize) -> Option<Ty> {
        let Op::Elements(field) = self.graph.op(*self.args.get(index)?) else { return None };
        self.elements(field).map(|elements| elements.ty)
    }

    fn entries(&self, field: u32) -> Option<&layout::Entries> {
        self.fields.get(field as usize)?.entries.as_ref()
    }

    fn cursor(&self, field: u32) -> Option<&layout::Cursor> {
        self.fields.get(field as usize)?.cursor.as_ref()
    }

    fn elements(&self, field: u32) -> Option<&layout::Elements> {
        self.fields.get(field as usize)?.elements.as_ref()
    }
}

/// Whether the prepared constant of an operation on this type may be a parameter of this kind.
const fn accepts(op: Op, operand: Option<Ty>, kind: ParameterKind) -> bool {
    match kind {
        ParameterKind::Searcher => matches!(op, Op::ContainsConst(_)),
        ParameterKind::Regex => matches!((op, operand), (Op::MatchesConst(_), Some(Ty::Str))),
        ParameterKind::ByteRegex => matches!((op, operand), (Op::MatchesConst(_), Some(Ty::Bytes))),
        ParameterKind::Wildcard => matches!(op, Op::WildcardConst(_)),
        ParameterKind::StrSet => matches!(op, Op::InStrSet(_)),
        ParameterKind::IntSet => matches!(op, Op::InIntSet(_)),
        ParameterKind::Cidr => matches!(op, Op::InCidr(_)),
        ParameterKind::Int
        | ParameterKind::Uint
        | ParameterKind::Double
        | ParameterKind::Str
        | ParameterKind::Bytes
        | ParameterKind::Value => false,
    }
}
