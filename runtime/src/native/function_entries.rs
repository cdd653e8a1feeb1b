//! The entry points of the library's functions for native code that knows the types of the operands: one for each
//! row of the table of builtins, generated from the signatures there (`celero_frontend::for_each_builtin`).
//!
//! An entry point gets the frame's address and the words of its operands, and returns what a helper
//! that can fail returns (`ir/src/helper.rs`). Types that are no scalars are the addresses of
//! values. A function that needs only its operands gets 0 as the frame, and cannot look at it:
//! [`Function::call_leaf`] has none.

use super::frame::{BaseFrame, Pair};
use super::helper_result::{ReturnWords, attempt};
use crate::arena::EvalResult;
use crate::function::contained;
use crate::library::{Function, Take, functions};
use crate::lower::{Callee, signature_of};
use crate::value::{Duration, Timestamp, Value};
use celero_frontend::stdlib::Builtin;
use celero_ir::{CallForm, ErrorKind, Graph, NodeId, Op};
use std::sync::LazyLock;

/// The addresses of the entry points, in the order of the table.
static ENTRIES: LazyLock<[usize; Builtin::ALL.len()]> = LazyLock::new(entries);

/// Returns the addresses of functions, by their numbers in a graph; 0 for those that only a dispatch
/// calls. `None` if the graph calls one in another way than its entry point is to be called.
pub(super) fn addresses(graph: &Graph, callees: &[Callee]) -> Option<Vec<usize>> {
    let has_signature = |id: NodeId| {
        let Op::Invoke { function, form } = graph.op(id) else { return true };
        let builtin = callees.get(function as usize).and_then(Callee::only_builtin);
        builtin.and_then(signature_of).is_some_and(|signature| {
            let operands = graph.args(id).iter().map(|&arg| graph.ty(arg));
            operands.eq(signature.params.iter().copied()) && graph.ty(id) == signature.result && form == signature.form
        })
    };
    let entry = |callee: &Callee| ENTRIES.get(callee.only_builtin()? as usize).copied();
    let mut nodes = (0..).take(graph.len()).map(NodeId);
    nodes.all(has_signature).then(|| callees.iter().map(|callee| entry(callee).unwrap_or(0)).collect())
}

/// Calls a function with the values of its operands, and returns its result in words.
///
/// # Safety
/// `frame` is the frame of the running evaluation if the function's form or its result needs one.
#[inline(always)]
unsafe fn run<'a, F: Function, R: Take<'a> + ReturnWords<'a>>(frame: *const BaseFrame<'a>, args: &[Value<'a>]) -> Pair {
    let typed = |value: EvalResult<Value<'a>>| value.and_then(|value| R::take(value).ok_or(ErrorKind::Host));
    if const { F::FORM.needs_frame() || R::NEEDS_FRAME } {
        // SAFETY: the contract.
        let frame = unsafe { &*frame };
        return attempt(frame, || typed(F::call(&frame.cx, args)));
    }
    let body = || typed(F::call_leaf(args)).map_or_else(R::failure, R::registers);
    // Nobody would read the error of a total function: a panic, which would be a defect, aborts.
    if matches!(F::FORM, CallForm::Total) {
        return body();
    }
    contained(body).unwrap_or_else(|()| R::failure(ErrorKind::Host))
}

/// The Rust type of a type of the table, as operands and results have it.
macro_rules! rust_type {
    (bool) => { bool };
    (int) => { i64 };
    (uint) => { u64 };
    (double) => { f64 };
    (string) => { &'a str };
    (bytes) => { &'a [u8] };
    (duration) => { Duration };
    (timestamp) => { Timestamp };
    ($other:tt) => { Value<'a> };
}

/// Expands to the address of one entry point. Each step of the recursion consumes the type of an
/// operand and adds its parameters, whose names may repeat, because each step has its own hygiene.
macro_rules! entry {
    ($row:ident $result:tt [] ($($params:tt)*) ($($args:tt)*)) => {{
        unsafe extern "C" fn entry<'a>(frame: *const BaseFrame<'a>, $($params)*) -> Pair {
            let args = [$($args)*];
            // SAFETY: native code passes on the frame that it was called with, which is one or
            // begins with one, unless the function is called without a frame.
            unsafe { run::<functions::$row, rust_type!($result)>(frame, &args) }
        }
        entry as *const () as usize
    }};
    ($row:ident $result:tt [bool $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: u64,) ($($args)* Value::Bool(v != 0),))
    };
    ($row:ident $result:tt [int $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: i64,) ($($args)* Value::Int(v),))
    };
    ($row:ident $result:tt [uint $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: u64,) ($($args)* Value::Uint(v),))
    };
    ($row:ident $result:tt [double $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: f64,) ($($args)* Value::Double(v),))
    };
    ($row:ident $result:tt [string $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* Value::String({
            // SAFETY: native code passes the two words of a `str` node: valid UTF-8 that outlives the evaluation.
            unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(p, n)) }
        }),))
    };
    ($row:ident $result:tt [bytes $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* p: *const u8, n: usize,) ($($args)* Value::Bytes({
            // SAFETY: native code passes the two words of a `bytes` node: readable, and outliving the evaluation.
            unsafe { std::slice::from_raw_parts(p, n) }
        }),))
    };
    ($row:ident $result:tt [duration $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: i64,) ($($args)* Value::Duration(Duration(v)),))
    };
    ($row:ident $result:tt [timestamp $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* seconds: i64, nanos: i64,) ($($args)*
            Value::Timestamp(Timestamp { seconds, nanos }),
        ))
    };
    ($row:ident $result:tt [$other:tt $($rest:tt)*] ($($params:tt)*) ($($args:tt)*)) => {
        entry!($row $result [$($rest)*] ($($params)* v: *const Value<'a>,) ($($args)* {
            // SAFETY: native code passes the address of a value: a constant's, one in the arena, or
            // one in its own frame.
            unsafe { *v }
        },))
    };
}

macro_rules! entries {
    ($($library:ident { $($(#[doc = $doc:literal])? $row:ident $style:ident $($impure:ident)? $name:literal
        ($($param:tt),*) -> $result:tt;)* })*) => {
        fn entries() -> [usize; Builtin::ALL.len()] {
            [$($(entry!($row $result [$($param)*] () ())),*),*]
        }
    };
}

celero_frontend::for_each_builtin!(entries);

#[cfg(test)]
mod tests {
    use super::*;
    use celero_ir::{Origin, Ty};

    /// A graph that calls a function, and whether its entry point is to be called so.
    fn calls(builtin: Builtin, params: &[Ty], result: Ty, form: CallForm) -> bool {
        let mut graph = Graph::new();
        let operands: Vec<NodeId> =
            (0..).zip(params).map(|(level, &ty)| graph.add(Op::Local(level), ty, &[], Origin::default())).collect();
        let function = graph.function("f");
        graph.add(Op::Invoke { function, form }, result, &operands, Origin::default());
        addresses(&graph, &[Callee::builtin(builtin)]).is_some()
    }

    #[test]
    fn functions_are_called_with_their_signatures_only() {
        let add = Builtin::AddInt;
        let form = signature_of(add).unwrap().form;
        assert!(calls(add, &[Ty::Int, Ty::Int], Ty::Int, form));
        assert!(!calls(add, &[Ty::Str, Ty::Int], Ty::Int, form));
        assert!(!calls(add, &[Ty::Int], Ty::Int, form));
        assert!(!calls(add, &[Ty::Int, Ty::Int], Ty::Str, form));
        for other in [CallForm::Total, CallForm::Partial, CallForm::Framed, CallForm::Impure] {
            assert_eq!(calls(add, &[Ty::Int, Ty::Int], Ty::Int, other), other == form, "{other:?}");
        }
    }
}
