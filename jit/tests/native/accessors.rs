//! Scalars that a function of the host reads.

use crate::common::{Build, run};
use celero_ir::layout::{Access, Field, Path, ScalarAccessor};
use celero_ir::{Cmp, Constant, ErrorKind, Op, Ty};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// A value behind eight bytes, or why there is none.
#[repr(C)]
struct Host(u64, Result<[u64; 2], ErrorKind>);

extern "C" fn read(value: *const Result<[u64; 2], ErrorKind>, words: *mut [u64; 2]) -> u64 {
    ASKED.set(ASKED.get() + 1);
    // SAFETY: generated code passes the address at the end of the path and that of two words of its own.
    match unsafe { &*value } {
        Ok(value) => {
            // SAFETY: as above.
            unsafe { *words = *value };
            0
        }
        Err(kind) => *kind as u64,
    }
}

#[test]
fn scalars_of_every_type() {
    let constants = [
        (Ty::Bool, Constant::Bool(true), [1, 0]),
        (Ty::Int, Constant::Int(-7), [-7_i64 as u64, 0]),
        (Ty::Uint, Constant::Uint(u64::MAX), [u64::MAX, 0]),
        (Ty::Double, Constant::Double(1.5_f64.to_bits()), [1.5_f64.to_bits(), 0]),
        (Ty::Duration, Constant::Duration(9), [9, 0]),
        (Ty::Timestamp, Constant::Timestamp(3, 4), [3, 4]),
    ];
    let path = || Path(vec![std::mem::offset_of!(Host, 1) as u32]);
    for (ty, constant, words) in constants {
        for (optional, fails) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut b = Build::default();
            let accessor = ScalarAccessor { address: read as *const () as usize, fails, contains: false };
            b.fields.push(Field::new(ty, optional, Access::Scalar(path(), accessor)));
            let constant = b.graph.constant(constant.clone());
            let constant = b.add(Op::Const(constant), ty, &[]);
            let field = b.add(Op::Field(0), ty, &[]);
            let equal = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[field, constant]);
            let less = b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[field, constant]);
            let present = b.add(Op::HasField(0), Ty::Bool, &[]);
            let either = b.add(Op::Or, Ty::Bool, &[less, equal]);
            let both = b.add(Op::And, Ty::Bool, &[present, either]);
            [equal, present, both].into_iter().for_each(|root| b.graph.add_root(root));
            let code = b.compile();
            let asked = |root, host: &Host| {
                ASKED.set(0);
                let result = run(&code, root, host).bool();
                assert_eq!(ASKED.get(), 1, "for presence and value, {ty}");
                result
            };
            let host = Host(0, Ok(words));
            assert_eq!([0, 1, 2].map(|root| asked(root, &host)), [Ok(true); 3], "{ty}");
            if optional {
                let host = Host(0, Err(ErrorKind::NoSuchKey));
                let want = [Err(ErrorKind::NoSuchKey), Ok(false), Ok(false)];
                assert_eq!([0, 1, 2].map(|root| asked(root, &host)), want, "{ty}");
            }
            if fails {
                let host = Host(0, Err(ErrorKind::Overflow));
                let want = [Err(ErrorKind::Overflow), Ok(true), Err(ErrorKind::Overflow)];
                assert_eq!([0, 1, 2].map(|root| asked(root, &host)), want, "{ty}");
            }
        }
    }
}
