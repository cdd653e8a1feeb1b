//! Dispatched calls: the functions that a graph calls by number, and whose overload the values' types choose.

use crate::arena::EvalResult;
use crate::function::Functions;
use crate::library::{self, Cx};
use crate::value::message;
use crate::value::{Value, type_name_of};
use celero_frontend::stdlib::{Builtin, TABLE};
use celero_frontend::{Checked, NodeId, Overload, Reference, Type};
use celero_ir::{ErrorKind, Graph};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A function that is neither the library's nor the host's: one of another language than CEL.
pub(crate) trait Extension: fmt::Debug + Send + Sync {
    /// The name in graphs. In all graphs of an environment, functions of equal names give equal results.
    fn name(&self) -> &str;

    /// Whether equal operands give equal results.
    fn is_pure(&self, functions: &Functions) -> bool;

    /// The function of the host that it calls, by the index of its declaration.
    fn host_function(&self) -> Option<u32> {
        None
    }

    /// Calls it.
    ///
    /// # Errors
    /// As the function.
    fn call<'a>(&self, cx: &Cx<'a>, functions: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>>;
}

/// What a dispatched call runs.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// The first of these whose parameters fit.
    Overloads(Box<[Overload]>),
    /// Builds a list; marked elements are optionals, left out when empty.
    List(Box<[bool]>),
    /// Builds a map from alternating keys and values; marked entries as in a list.
    Map(Box<[bool]>),
    /// Builds a message of this type with these fields; marked ones as in a list.
    Message {
        /// Its full name.
        name: Arc<str>,
        /// The numbers of the fields.
        fields: Box<[u32]>,
        /// For each field, whether it is marked; empty if none is.
        optional: Box<[bool]>,
    },
    /// Returns its operand if it is of the type.
    Guard(Type),
    /// A function of another language.
    Extension(Arc<dyn Extension>),
}

impl Callee {
    /// A single function of the library.
    pub(crate) fn builtin(builtin: Builtin) -> Self {
        Self::Overloads(Box::new([Overload::Builtin(builtin)]))
    }

    /// The function of the library that it calls, whatever the types of the values.
    pub(crate) fn only_builtin(&self) -> Option<Builtin> {
        match self {
            Self::Overloads(overloads) => match **overloads {
                [Overload::Builtin(builtin)] => Some(builtin),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first function of the host that it may call, by the index of its declaration.
    pub(crate) fn host_function(&self) -> Option<u32> {
        match self {
            Self::Overloads(overloads) => overloads.iter().find_map(|overload| match overload {
                Overload::Host(index) => Some(*index),
                _ => None,
            }),
            Self::Extension(function) => function.host_function(),
            _ => None,
        }
    }

    /// Whether it calls this function of the library, whatever the types of the values.
    pub(crate) fn is_builtin(&self, builtin: Builtin) -> bool {
        self.only_builtin() == Some(builtin)
    }

    /// Runs it.
    pub(crate) fn call<'a>(&self, cx: &Cx<'a>, functions: &'a Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        match self {
            Self::Overloads(overloads) => crate::function::dispatch(cx, functions, overloads, args),
            Self::List(marks) => library::list_of(cx, args, marks),
            Self::Map(marks) => library::map_of(cx, args, marks),
            Self::Message { name, fields, optional } => {
                let types = functions.messages().ok_or(ErrorKind::Host)?;
                message::build(cx, types, name, fields, args, optional)
            }
            Self::Guard(ty) => library::guard(ty, args),
            Self::Extension(function) => function.call(cx, functions, args),
        }
    }

    /// Whether its result is the value of a key in its first operand, of which it reads nothing else.
    pub(crate) fn is_selection(&self) -> bool {
        let selects = |overload: &Overload| {
            matches!(
                overload,
                Overload::Builtin(
                    Builtin::IndexList
                        | Builtin::IndexMap
                        | Builtin::IndexOptionalList
                        | Builtin::IndexOptionalMap
                        | Builtin::OptionalSelectMap
                        | Builtin::OptionalSelectMessage
                        | Builtin::OptionalSelectOptional
                        | Builtin::OptionalIndexList
                        | Builtin::OptionalIndexMap
                        | Builtin::OptionalIndexOptionalList
                        | Builtin::OptionalIndexOptionalMap
                )
            )
        };
        matches!(self, Self::Overloads(overloads) if overloads.iter().all(selects))
    }

    /// Whether equal operands give equal results.
    pub(crate) fn is_pure(&self, functions: &Functions) -> bool {
        match self {
            Self::Overloads(overloads) => overloads.iter().all(|overload| is_pure(overload, functions)),
            Self::List(_) | Self::Map(_) | Self::Message { .. } | Self::Guard(_) => true,
            Self::Extension(function) => function.is_pure(functions),
        }
    }
}

/// Whether a tree calls a function whose equal calls need not give equal results.
pub(crate) fn calls_impure(tree: &Checked, functions: &Functions) -> bool {
    let mut ids = (0..u32::try_from(tree.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
    ids.any(|id| match tree.reference(id) {
        Reference::Call { overloads, .. } => !overloads.iter().all(|called| is_pure(called, functions)),
        _ => false,
    })
}

/// Whether equal operands of a function give equal results.
pub(crate) fn is_pure(overload: &Overload, functions: &Functions) -> bool {
    match overload {
        Overload::Builtin(builtin) => TABLE.row(*builtin).is_some_and(|row| row.pure),
        Overload::Defined(_) => true,
        Overload::Host(index) => functions.is_pure(*index),
    }
}

/// The callees of a graph, by their names in the graph. Passes may renumber functions, but do not rename them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    by_name: HashMap<String, Callee>,
}

impl Calls {
    /// Returns the number of a callee in the graph. Adds it under a readable name if it is new.
    pub(crate) fn number(&mut self, callee: Callee, graph: &mut Graph) -> u32 {
        let name = match &callee {
            Callee::Overloads(overloads) => {
                let names: Vec<String> = overloads
                    .iter()
                    .map(|overload| match overload {
                        Overload::Builtin(builtin) => format!("{builtin:?}"),
                        Overload::Host(index) => format!("host{index}"),
                        Overload::Defined(index) => format!("defined{index}"),
                    })
                    .collect();
                names.join("|")
            }
            Callee::List(marks) => format!("list{}", pattern(marks)),
            Callee::Map(marks) => format!("map{}", pattern(marks)),
            Callee::Message { name, fields, optional } => {
                let fields: Vec<String> = fields.iter().map(u32::to_string).collect();
                format!("message{}:{name}:{}", pattern(optional), fields.join("|"))
            }
            Callee::Guard(ty) => guard_name(ty),
            Callee::Extension(function) => function.name().to_owned(),
        };
        let number = graph.function(&name);
        self.by_name.insert(name, callee);
        number
    }

    /// Moves the callees of another graph here. A name means the same in all graphs of an environment.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.by_name.extend(other.by_name.drain());
    }

    /// The callee of a name in the graph.
    pub(crate) fn by_name(&self, name: &str) -> Option<&Callee> {
        self.by_name.get(name)
    }

    /// The callees by the numbers that they have in a graph; `None` if it calls another function.
    pub(crate) fn numbered(&self, graph: &Graph) -> Option<Box<[Callee]>> {
        graph.functions().iter().map(|name| self.by_name(name).cloned()).collect()
    }
}

/// Compares only the outermost type, as evaluation does.
fn guard_name(ty: &Type) -> String {
    let or_null = if matches!(ty, Type::Wrapper(_)) { "null_or." } else { "" };
    format!("is.{or_null}{}", type_name_of(ty))
}

fn pattern(marks: &[bool]) -> String {
    marks.iter().map(|&optional| if optional { '?' } else { '.' }).collect()
}
