//! Times and durations.

use crate::common::{Build, run};
use celero_ir::layout::{Access, Field, Path, Repr, ScalarAccessor};
use celero_ir::{ErrorKind, Op, Ty};

extern "C" fn read(time: *const [u64; 2], words: *mut [u64; 2]) -> u64 {
    // SAFETY: generated code passes the address at the end of the path and that of two words of its own.
    unsafe { *words = *time };
    0
}

/// Sums and differences of times at every edge, also of times that a host has out of range, against whole numbers
/// of nanoseconds.
#[test]
fn times_at_every_edge() {
    const SECOND: i128 = 1_000_000_000;
    let mut b = Build::default();
    for at in [0, 16] {
        let accessor = ScalarAccessor { address: read as *const () as usize, fails: false, contains: false };
        b.fields.push(Field::new(Ty::Timestamp, false, Access::Scalar(Path(vec![at]), accessor)));
    }
    b.fields.push(Field::new(Ty::Duration, false, Access::Load(Path(vec![32]), Repr::I64)));
    let mut field = |index, ty| b.add(Op::Field(index), ty, &[]);
    let (first, second, span) = (field(0, Ty::Timestamp), field(1, Ty::Timestamp), field(2, Ty::Duration));
    for (op, ty, args) in [
        (Op::TimeAdd, Ty::Timestamp, [first, span]),
        (Op::TimeSub, Ty::Timestamp, [first, span]),
        (Op::TimeSince, Ty::Duration, [first, second]),
    ] {
        let root = b.add(op, ty, &args);
        b.graph.add_root(root);
    }
    let code = b.compile();
    let (least, most) = (-62_135_596_800, 253_402_300_799);
    let seconds = [i64::MIN, least - 1, least, -9_223_372_037, -1, 0, 1, 9_223_372_036, most, most + 1, i64::MAX];
    let nanos = [i64::MIN, -1, 0, 1, 145_224_193, 999_999_999, 1_000_000_000, i64::MAX];
    let spans = [i64::MIN, -SECOND as i64 - 1, -SECOND as i64, -1, 0, 1, 999_999_999, SECOND as i64, i64::MAX];
    let times = || seconds.into_iter().flat_map(|s| nanos.into_iter().map(move |n| (s, n)));
    let all = |(seconds, nanos): (i64, i64)| i128::from(seconds) * SECOND + i128::from(nanos);
    for time in times() {
        for span in spans {
            let host = [time.0, time.1, 0, 0, span];
            for (root, earlier) in [(0, false), (1, true)] {
                let sum = all(time) + if earlier { -i128::from(span) } else { span.into() };
                let second = sum.div_euclid(SECOND);
                // A sum of nanoseconds that needs more than 64 bits is an error.
                let rest = span % SECOND as i64;
                let lost = if earlier { time.1.checked_sub(rest) } else { time.1.checked_add(rest) }.is_none();
                let expected = if lost || !(least.into()..=most.into()).contains(&second) {
                    Err(ErrorKind::Overflow)
                } else {
                    Ok([second as u64, sum.rem_euclid(SECOND) as u64])
                };
                assert_eq!(run(&code, root, &host).words(), expected, "{time:?} {earlier} {span}");
            }
        }
        for other in times() {
            let expected = i64::try_from(all(time) - all(other)).map_err(|_| ErrorKind::Overflow);
            let host = [time.0, time.1, other.0, other.1, 0];
            assert_eq!(run(&code, 2, &host).int(), expected, "{time:?} - {other:?}");
        }
    }
}
