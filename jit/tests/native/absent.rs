//! Fields that are absent where numbers of the host say so.

use crate::common::{Build, run};
use crate::runtime::Pair;
use celero_ir::layout::{AbsentIf, Access, Field, Path, Repr};
use celero_ir::{Cmp, ErrorKind, Op, Ty};

extern "C" fn text(host: *const Option<&str>) -> Pair {
    // SAFETY: the field's path leads to this type.
    unsafe { *host }.map_or(Pair(0, 0), |text| Pair(text.as_ptr() as u64, text.len() as u64))
}

/// Pointers to pointers, of which each may be null, and a number behind a tag.
#[test]
fn fields_behind_null_pointers_and_tags_are_absent() {
    #[repr(C)]
    struct Inner<'a> {
        name: Option<&'a str>,
        tag: u8,
        number: i32,
    }
    #[repr(C)]
    struct Host<'a> {
        pad: u64,
        inner: Option<&'a Option<&'a Inner<'a>>>,
    }
    let null = |path: &[u32]| AbsentIf { path: Path(path.to_vec()), repr: Repr::U64, number: 0 };
    let (number, tag) = (std::mem::offset_of!(Inner<'_>, number) as u32, std::mem::offset_of!(Inner<'_>, tag) as u32);
    let mut b = Build::default();
    let tagged = AbsentIf { path: Path(vec![8, 0, tag]), repr: Repr::U8, number: 2 };
    for (ty, access, last) in [
        (Ty::Int, Access::Load(Path(vec![8, 0, number]), Repr::I32), Some(tagged)),
        (Ty::Str, Access::Text(Path(vec![8, 0, 0]), text as *const () as usize), None),
    ] {
        let absent_if = [null(&[8]), null(&[8, 0])].into_iter().chain(last).collect();
        b.fields.push(Field { absent_if, ..Field::new(ty, true, access) });
    }
    let roots = [
        b.add(Op::Field(0), Ty::Int, &[]),
        b.add(Op::HasField(0), Ty::Bool, &[]),
        b.add(Op::Field(1), Ty::Str, &[]),
        b.add(Op::HasField(1), Ty::Bool, &[]),
    ];
    let x = b.text("x");
    let same = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[roots[2], x]);
    let guarded = b.add(Op::And, Ty::Bool, &[roots[3], same]);
    for root in roots.into_iter().chain([guarded]) {
        b.graph.add_root(root);
    }
    let code = b.compile();
    let inner = [(Some("x"), 1), (Some("x"), 2), (None, 1)].map(|(name, tag)| Inner { name, tag, number: -7 });
    let some = [Some(&inner[0]), Some(&inner[1]), Some(&inner[2]), None];
    for (inner, number, name) in [
        (Some(&some[0]), Some(-7_i64), Some("x")),
        (Some(&some[1]), None, Some("x")),
        (Some(&some[2]), Some(-7), None),
        (Some(&some[3]), None, None),
        (None, None, None),
    ] {
        let host = Host { pad: u64::MAX, inner };
        assert_eq!(host.pad, u64::MAX);
        let wanted = number.map(i64::cast_unsigned).ok_or(ErrorKind::NoSuchKey);
        assert_eq!(run(&code, 0, &host).words().map(|words| words[0]), wanted);
        assert_eq!(run(&code, 1, &host).bool(), Ok(number.is_some()));
        assert_eq!(run(&code, 2, &host).text(), name.ok_or(ErrorKind::NoSuchKey));
        assert_eq!(run(&code, 3, &host).bool(), Ok(name.is_some()));
        assert_eq!(run(&code, 4, &host).bool(), Ok(name == Some("x")));
    }
}
