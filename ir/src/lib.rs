//! The typed expression graph that celero compiles, and the passes that optimise it.
//!
//! Three files are the contract between the compiler (`celero-jit`) and the runtime (`celero`),
//! which do not know each other: `op.rs` (what can be computed), `helper.rs` (which functions of
//! the runtime native code may call) and `layout.rs` (where values are in memory). Their first
//! lines say how to add to them; `passes/mod.rs` says how to add a pass.
//!
//! | file | content |
//! |---|---|
//! | `graph.rs` | nodes, hash-consed: equal expressions are one node, or one class of nodes if they can fail |
//! | `table.rs` | for each operation its name, operands, result type and ways to fail |
//! | `constant.rs`, `projection.rs`, `ty.rs`, `error.rs` | what nodes are made of |
//! | `print.rs`, `parse.rs` | the text form, and back |
//! | `verify.rs` | checks a graph before it is compiled |
//! | `merge.rs` | puts the graphs of several rules into one |
//! | `passes/` | optimisations |
#![forbid(unsafe_code)]

mod constant;
mod domain;
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
mod quoted;
mod table;
mod ty;
mod verify;
mod wildcard;

pub use constant::{ConstId, Constant, MAX_CONSTANT_DEPTH, Parameter, ParameterKind, TIMESTAMP_SECONDS};
pub use domain::{Domain, HEADER_NAME, Never, NeverPart, TextDomain, one_of};
pub use error::{ErrorKind, ErrorWord, Origin};
pub use graph::{Graph, Node, NodeId};
pub use helper::{Helper, HelperDecl, Param};
pub use merge::{Places, merge};
pub use op::{Arith, CallForm, Catch, Cmp, FoldKind, Op};
pub use parse::{ParseError, parse};
pub use projection::{Projection, Step};
pub use table::{Fails, OpDecl, OperandType, Operands, ResultType};
pub use ty::{Ty, Types};
pub use verify::{MAX_LEVEL, Requirement, Violation, verify};
pub use wildcard::Wildcard;
