//! Entries of maps of the host.

use crate::common::{Build, run};
use crate::runtime::{FindEntry, Key, calls};
use celero_ir::layout::value::tag;
use celero_ir::layout::{Access, Entries, EntryValue, Field, Path, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, Helper, Op, Ty};
use celero_jit::{Compiler, Settings, Unit};

/// A map at an offset behind a pointer. One lookup answers whether there is an entry and what its value is.
#[test]
fn entries_are_looked_up_once_and_read_in_place() {
    static VALUES: [i64; 3] = [7, -7, 9];
    fn find(map: u64, key: Key) -> Result<u64, ErrorKind> {
        // SAFETY: the path leads to this number.
        assert_eq!(unsafe { *(map as *const u64) }, 5);
        let at = |index: usize| std::ptr::from_ref(&VALUES[index]) as u64;
        match key {
            Key::Text("a") | Key::Number(tag::BOOL, 1) => Ok(at(0)),
            Key::Text("b") | Key::Number(tag::INT, 2) => Ok(at(1)),
            Key::Number(tag::UINT, 3) => Ok(at(2)),
            Key::Text("broken") => Err(ErrorKind::Host),
            _ => Ok(0),
        }
    }
    let keys = [
        (Ty::Str, Constant::Str("a".into()), Ok(Some(7))),
        (Ty::Str, Constant::Str("b".into()), Ok(Some(-7))),
        (Ty::Str, Constant::Str("c".into()), Ok(None)),
        (Ty::Str, Constant::Str("broken".into()), Err(ErrorKind::Host)),
        (Ty::Bool, Constant::Bool(true), Ok(Some(7))),
        (Ty::Bool, Constant::Bool(false), Ok(None)),
        (Ty::Int, Constant::Int(2), Ok(Some(-7))),
        (Ty::Int, Constant::Int(-2), Ok(None)),
        (Ty::Uint, Constant::Uint(3), Ok(Some(9))),
    ];
    let number = [0_u64, 5];
    for in_place in [true, false] {
        let mut b = Build::default();
        for (index, (key, ..)) in keys.iter().enumerate() {
            let access = if in_place { Access::Load(Path(vec![0]), Repr::I64) } else { Access::Get };
            let value = Some(EntryValue { ty: Ty::Int, access, make: 77 });
            let entries = Entries { path: Path(vec![0, 8]), key: *key, find: find as FindEntry as usize, value };
            let map = Field::new(Ty::Value, false, Access::Get);
            b.fields.push(Field { entries: Some(entries), ..map });
            assert_eq!(b.fields.len(), index + 1);
        }
        for (index, (ty, key, _)) in (0..).zip(&keys) {
            let key = b.constant(key.clone(), *ty);
            let entry = b.add(Op::Entry(index), Ty::Entry, &[key]);
            let has = b.add(Op::HasEntry, Ty::Bool, &[entry]);
            let value = b.add(Op::EntryValue(index), Ty::Int, &[entry]);
            let zero = b.int(0);
            let positive = b.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[value, zero]);
            let guarded = b.add(Op::And, Ty::Bool, &[has, positive]);
            let hundred = b.int(100);
            let small = b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[value, zero]);
            let large = b.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[value, hundred]);
            let either = b.add(Op::Or, Ty::Bool, &[small, large]);
            for root in [has, value, guarded, either] {
                b.graph.add_root(root);
            }
        }
        let code = b.compile();
        for (index, (_, key, answer)) in keys.iter().enumerate() {
            let made = |value: i64| match value {
                _ if in_place => Ok(value),
                0.. => Ok(value + 1),
                _ => Err(ErrorKind::Overflow),
            };
            let value = answer.and_then(|value| value.ok_or(ErrorKind::NoSuchKey)).and_then(made);
            let host = &number;
            calls(Helper::entry_of_text);
            calls(Helper::entry_of_number);
            assert_eq!(run(&code, index * 4, &host).bool(), answer.map(|value| value.is_some()), "{key:?}");
            let read = run(&code, index * 4 + 1, &host).words().map(|words| words[0].cast_signed());
            assert_eq!(read, value, "{key:?}");
            assert_eq!(calls(Helper::entry_of_text) + calls(Helper::entry_of_number), 2);
            let both = if answer == &Ok(None) { Ok(false) } else { value.map(|value| value > 0) };
            assert_eq!(run(&code, index * 4 + 2, &host).bool(), both, "{key:?}");
            assert_eq!(calls(Helper::entry_of_text) + calls(Helper::entry_of_number), 1);
            let outside = value.map(|value| !(0..=100).contains(&value));
            assert_eq!(run(&code, index * 4 + 3, &host).bool(), outside, "{key:?}");
        }
    }
}

/// A lookup needs a frame only where the budget may not suffice for it, or where something else reads the budget.
#[test]
fn lookups_that_the_budget_always_allows_need_no_frame() {
    fn find(_: u64, _: Key) -> Result<u64, ErrorKind> {
        Ok(0)
    }
    let key = "a key of 20 bytes...";
    let least = Entries::most_steps(key.len() as u32);
    for (steps, lookups, expected) in [
        (Some(least), 1, true),
        (Some(least - 1), 1, false),
        (Some(2 * least), 2, true),
        (Some(2 * least - 1), 2, false),
        (None, 1, false),
    ] {
        let mut b = Build::default();
        let key = b.text(key);
        let mut root = b.bool(false);
        for index in 0..lookups {
            let entries = Entries { path: Path(vec![0]), key: Ty::Str, find: find as FindEntry as usize, value: None };
            b.fields.push(Field { entries: Some(entries), ..Field::new(Ty::Value, false, Access::Get) });
            let entry = b.add(Op::Entry(index), Ty::Entry, &[key]);
            let has = b.add(Op::HasEntry, Ty::Bool, &[entry]);
            root = b.add(Op::Or, Ty::Bool, &[root, has]);
        }
        b.graph.add_root(root);
        let code =
            b.with_unit(|unit| Compiler::new(&Settings::default()).unwrap().compile(&Unit { steps, ..*unit }).unwrap());
        assert_eq!(code.entry(0).unwrap().context_only().is_some(), expected, "{steps:?} for {lookups}");
    }
}
