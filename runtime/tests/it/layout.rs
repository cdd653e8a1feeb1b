//! An interpreter of `layout::Access`: reads a field as native code would, and compares with the safe reading.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "fields are read as native code reads them")]

use celero::host::Field;
use celero::values::{Arena, Duration, Timestamp};
use celero::{Context, Value};
use celero_ir::layout::{AbsentIf, Access, Path, Repr, TO_BE_MADE};
use celero_ir::{ErrorKind, Ty};
use std::net::Ipv6Addr;

/// What the C function of `Access::Text` answers with.
#[repr(C)]
struct Words {
    address: *const u8,
    length: usize,
}

unsafe fn follow(start: *const u8, path: &Path) -> *const u8 {
    let (first, rest) = path.0.split_first().unwrap();
    let mut address = unsafe { start.add(*first as usize) };
    for offset in rest {
        address = unsafe { address.cast::<*const u8>().read().add(*offset as usize) };
    }
    address
}

unsafe fn words<'a>(ty: Ty, address: *const u8, length: usize) -> Value<'a> {
    let bytes = unsafe { std::slice::from_raw_parts(address, length) };
    match ty {
        Ty::Str => Value::String(std::str::from_utf8(bytes).unwrap()),
        Ty::Bytes => Value::Bytes(bytes),
        other => panic!("two words as {other}"),
    }
}

fn scalar<'a>(ty: Ty, [first, second]: [u64; 2]) -> Value<'a> {
    match ty {
        Ty::Int => Value::Int(first.cast_signed()),
        Ty::Duration => Value::Duration(Duration(first.cast_signed())),
        Ty::Timestamp => Value::Timestamp(Timestamp { seconds: first.cast_signed(), nanos: second.cast_signed() }),
        other => panic!("no accessor of the library gives a {other}"),
    }
}

unsafe fn load<'a>(ty: Ty, repr: Repr, address: *const u8) -> Value<'a> {
    macro_rules! read {
        ($t:ty) => {
            unsafe { address.cast::<$t>().read() }
        };
    }
    match (ty, repr) {
        (Ty::Bool, Repr::Bool) => Value::Bool(read!(bool)),
        (Ty::Int, Repr::I8) => Value::Int(read!(i8).into()),
        (Ty::Int, Repr::I16) => Value::Int(read!(i16).into()),
        (Ty::Int, Repr::I32) => Value::Int(read!(i32).into()),
        (Ty::Int, Repr::I64) => Value::Int(read!(i64)),
        (Ty::Duration, Repr::I64) => Value::Duration(Duration(read!(i64))),
        (Ty::Uint, Repr::U8) => Value::Uint(read!(u8).into()),
        (Ty::Uint, Repr::U16) => Value::Uint(read!(u16).into()),
        (Ty::Uint, Repr::U32) => Value::Uint(read!(u32).into()),
        (Ty::Uint, Repr::U64) => Value::Uint(read!(u64)),
        (Ty::Double, Repr::F32) => Value::Double(read!(f32).into()),
        (Ty::Double, Repr::F64) => Value::Double(read!(f64)),
        (Ty::Value, Repr::Value) => read!(Value<'a>),
        (_, Repr::Slice(after)) => {
            let (pointer, length) = (read!(usize), unsafe { address.offset(after as isize).cast::<usize>().read() });
            unsafe { words(ty, std::ptr::with_exposed_provenance(pointer), length) }
        }
        other => panic!("{other:?} is no load"),
    }
}

/// Reads a field in place. `None` inside when it is absent; `None` outside when only the helpers can read it.
unsafe fn read<'a>(start: *const u8, field: &Field, arena: &'a Arena) -> Option<Option<Value<'a>>> {
    let ty = field.layout.ty;
    for AbsentIf { path, repr, number } in &field.layout.absent_if {
        let unsigned = unsafe { load(Ty::Uint, *repr, follow(start, path)) };
        if matches!(unsigned, Value::Uint(found) if found == *number) {
            return Some(None);
        }
    }
    Some(match &field.layout.access {
        Access::Load(path, repr) => Some(unsafe { load(ty, *repr, follow(start, path)) }),
        Access::Tagged(path, names, function) => {
            let at = unsafe { follow(start, path) };
            let (tag, table) = unsafe { (at.add(names.tag as usize).read(), names.table as *const Words) };
            let Words { address, length } = unsafe { table.add(tag.into()).read() };
            if address.is_null() {
                let other =
                    celero_ir::layout::Field { access: Access::Text(path.clone(), *function), ..field.layout.clone() };
                return unsafe { read(start, &Field { layout: other, ..field.clone() }, arena) };
            }
            Some(unsafe { words(ty, address, length) })
        }
        Access::Text(path, function) => {
            type Text = unsafe extern "C" fn(*const u8) -> Words;
            let function = unsafe { std::mem::transmute::<usize, Text>(*function) };
            let Words { address, length } = unsafe { function(follow(start, path)) };
            (!address.is_null()).then(|| unsafe { words(ty, address, length) })
        }
        Access::MostlyText(path, function, _) => {
            type Text = unsafe extern "C" fn(*const u8) -> Words;
            let function = unsafe { std::mem::transmute::<usize, Text>(*function) };
            let Words { address, length } = unsafe { function(follow(start, path)) };
            if address.addr() == TO_BE_MADE {
                return None;
            }
            (!address.is_null()).then(|| unsafe { words(ty, address, length) })
        }
        Access::Filled(path, function) if ty == Ty::Value => {
            type Fill<'s> = unsafe extern "C" fn(*const u8, *mut Value<'s>) -> u64;
            let function = unsafe { std::mem::transmute::<usize, Fill<'a>>(*function) };
            let mut value = Value::Null;
            let present = unsafe { function(follow(start, path), &raw mut value) } != 0;
            present.then_some(value)
        }
        Access::Filled(path, function) => {
            assert_eq!(ty, Ty::Ip);
            type Fill = unsafe extern "C" fn(*const u8, *mut [u64; 2]) -> u64;
            let function = unsafe { std::mem::transmute::<usize, Fill>(*function) };
            let mut words = [0; 2];
            let present = unsafe { function(follow(start, path), &raw mut words) } != 0;
            let number = u128::from(words[0]) << 64 | u128::from(words[1]);
            let shown = Ipv6Addr::from_bits(number).to_canonical().to_string();
            present.then(|| Value::String(arena.alloc_str(&shown).unwrap()))
        }
        Access::Scalar(path, accessor) => {
            type Fill = unsafe extern "C" fn(*const u8, *mut [u64; 2]) -> u64;
            let function = unsafe { std::mem::transmute::<usize, Fill>(accessor.address) };
            let mut words = [0; 2];
            match unsafe { function(follow(start, path), &raw mut words) } {
                0 => Some(scalar(ty, words)),
                code => {
                    assert_eq!(code, ErrorKind::NoSuchKey as u64, "{}", field.name);
                    None
                }
            }
        }
        Access::Get => {
            assert_eq!(ty, Ty::Value);
            return None;
        }
    })
}

/// Reads every field of a context both ways and checks that they agree. Returns the names of those
/// that native code reads in place.
pub(crate) fn agree<C: Context>(context: &C) -> Vec<String> {
    let start = std::ptr::from_ref(context).cast::<u8>();
    let mut in_place = Vec::new();
    for (index, field) in C::fields().into_iter().enumerate() {
        let arena = Arena::new(1 << 20);
        let safe = context.field(u32::try_from(index).unwrap(), &arena).unwrap();
        assert!(safe.is_some() || field.layout.optional, "{} is absent but not optional", field.name);
        assert!(safe.is_none_or(|value| value.fits(&field.ty)), "{}: {safe:?} is no {}", field.name, field.ty);
        // SAFETY: the layouts are what is under test; the context is alive.
        if let Some(native) = unsafe { read(start, &field, &arena) } {
            assert_eq!(format!("{native:?}"), format!("{safe:?}"), "{}", field.name);
            in_place.push(field.name);
        }
    }
    in_place
}

/// The value of a field by name, as text.
pub(crate) fn show<C: Context>(context: &C, name: &str) -> String {
    let index = C::fields().iter().position(|field| field.name == name).unwrap_or_else(|| panic!("no field {name}"));
    let arena = Arena::new(1 << 20);
    match context.field(u32::try_from(index).unwrap(), &arena) {
        Ok(Some(value)) => format!("{value:?}"),
        Ok(None) => "absent".to_owned(),
        Err(kind) => format!("error {}", kind.name()),
    }
}
