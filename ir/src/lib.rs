//! The typed expression graph that celero compiles.
#![forbid(unsafe_code)]

mod constant;
mod cost;
mod error;
mod fallible;
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
pub use cost::Cost;
pub use error::{ErrorKind, ErrorWord, Origin};
pub use fallible::Fallible;
pub use graph::{Graph, Node, NodeId};
pub use helper::{Helper, HelperDecl, Param};
pub use merge::merge;
pub use op::{Arith, Catch, Cmp, FoldKind, Op};
pub use parse::{ParseError, parse};
pub use projection::{Projection, Step};
pub use table::{Fails, OpDecl, Operand, Operands, Outcome};
pub use ty::Ty;
pub use verify::{MAX_LEVEL, Rule, Violation, verify};
