//! The typed expression graph that celero compiles.
#![forbid(unsafe_code)]

mod constant;
mod error;
mod graph;
mod helper;
pub mod layout;
mod merge;
mod op;
mod parse;
pub mod passes;
mod print;
mod projection;
mod table;
mod ty;
mod verify;

pub use constant::{ConstId, Constant, MAX_CONSTANT_DEPTH, Parameter, ParameterKind};
pub use error::{ErrorKind, ErrorWord, Origin};
pub use graph::{Graph, Node, NodeId};
pub use helper::{Helper, HelperDecl, Param};
pub use merge::merge;
pub use op::{Arith, Catch, Cmp, FoldKind, Op};
pub use parse::{ParseError, parse};
pub use projection::{Projection, Step};
pub use table::{Fails, OpDecl, OperandType, Operands, ResultType};
pub use ty::Ty;
pub use verify::{MAX_LEVEL, Requirement, Violation, verify};
