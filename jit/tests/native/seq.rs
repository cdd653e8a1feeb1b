//! Lists of the host that are read in place.

use crate::common::{Build, run_with};
use celero_ir::layout::{Access, Elements, Field, Members, Path, Place, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, FoldKind, NodeId, Op, Ty};

#[repr(C)]
struct Row {
    name: &'static str,
    weight: i64,
}

#[repr(C)]
struct Host {
    numbers: &'static [i64],
    rows: &'static [Row],
}

fn load(repr: Repr, at: u32) -> Access {
    Access::Load(Path(vec![at]), repr)
}

fn members() -> Vec<(String, Field)> {
    let name = Field::new(Ty::Str, false, load(Repr::Slice(8), 0));
    let weight = Field::new(Ty::Int, false, load(Repr::I64, 16));
    vec![("name".to_owned(), name), ("weight".to_owned(), weight)]
}

fn build() -> Build {
    let mut b = Build::default();
    let list = |elements| Field { elements: Some(elements), ..Field::new(Ty::Value, false, Access::Get) };
    let access = load(Repr::I64, 0);
    let numbers =
        Elements { path: Path(vec![0]), place: Place::Words(8), stride: 8, ty: Ty::Int, access, members: None };
    let members = Some(Members(members));
    let access = Access::Get;
    let rows = Elements { path: Path(vec![16]), place: Place::Words(8), stride: 24, ty: Ty::Record, access, members };
    b.fields.extend([list(numbers), list(rows)]);
    b
}

const HOST: Host = Host {
    numbers: &[5, -1, 5],
    rows: &[Row { name: "a", weight: 2 }, Row { name: "bb", weight: 7 }, Row { name: "c", weight: 7 }],
};

const EMPTY: Host = Host { numbers: &[], rows: &[] };

fn elements(b: &mut Build, list: u32) -> NodeId {
    b.add(Op::Elements(list), Ty::Seq, &[])
}

#[test]
fn sizes_and_elements() {
    for (host, list, size) in [(HOST, 0, 3), (HOST, 1, 3), (EMPTY, 0, 0)] {
        let mut b = build();
        let seq = elements(&mut b, list);
        let root = b.add(Op::SeqSize, Ty::Int, &[seq]);
        assert_eq!(b.run_on(root, &host).int(), Ok(size));
    }
    for index in [i64::MIN, -1, 0, 1, 2, 3, i64::MAX] {
        let mut b = build();
        let seq = elements(&mut b, 0);
        let at = b.int(index);
        let root = b.add(Op::SeqAt, Ty::Int, &[seq, at]);
        let found = usize::try_from(index).ok().and_then(|index| HOST.numbers.get(index)).copied();
        assert_eq!(b.run_on(root, &HOST).int(), found.ok_or(ErrorKind::InvalidArgument), "{index}");
        let root = b.add(Op::SeqAt, Ty::Int, &[seq, at]);
        assert_eq!(b.run_on(root, &EMPTY).int(), Err(ErrorKind::InvalidArgument), "{index}");
    }
}

/// A search that finds an element has paid for those up to it; one that finds none, for all.
#[test]
fn a_search_pays_for_what_it_visits() {
    for (wanted, visited) in [(5, 1), (-1, 2), (6, 3)] {
        let mut b = build();
        let (seq, value) = (elements(&mut b, 0), b.int(wanted));
        let root = b.add(Op::SeqHas, Ty::Bool, &[value, seq]);
        b.graph.add_root(root);
        let code = b.compile();
        for fuel in 0..5 {
            let outcome = run_with(&code, 0, &HOST, fuel);
            let found = HOST.numbers.contains(&wanted);
            let expected = if fuel < visited { Err(ErrorKind::OutOfBudget) } else { Ok(found) };
            assert_eq!(outcome.bool(), expected, "{wanted} with {fuel}");
            if fuel >= visited {
                assert_eq!(outcome.fuel, fuel - visited, "{wanted} with {fuel}");
            }
        }
        assert_eq!(run_with(&code, 0, &EMPTY, 0).bool(), Ok(false));
    }
}

/// In a list of any length, with any budget, a number is found where it first is, and paid for as by a search of one
/// after the other.
#[test]
fn searches_of_numbers_see_every_place() {
    let numbers = [0_i64, 1, 2, 3, 4, 9, 9, 7, 8, 9, 10, 11, 12];
    let doubles = numbers.map(|n| if n == 2 { f64::NAN } else { n as f64 });
    let bits = |of: f64| Constant::Double(of.to_bits());
    let whole = || (0..14_i64).map(|n| (n as f64, n));
    let cases: Vec<(Ty, Repr, f64, Constant)> = whole()
        .map(|(f, n)| (Ty::Int, Repr::I64, f, Constant::Int(n)))
        .chain(whole().map(|(f, n)| (Ty::Uint, Repr::U64, f, Constant::Uint(n as u64))))
        .chain(whole().map(|(f, _)| f).chain([-0.0, f64::NAN]).map(|f| (Ty::Double, Repr::F64, f, bits(f))))
        .collect();
    for (ty, repr, wanted, constant) in cases {
        let mut b = build();
        let elements_of = b.fields[0].elements.as_mut().unwrap();
        (elements_of.ty, elements_of.access) = (ty, load(repr, 0));
        let (value, seq) = (b.constant(constant, ty), elements(&mut b, 0));
        let root = b.add(Op::SeqHas, Ty::Bool, &[value, seq]);
        b.graph.add_root(root);
        let code = b.compile();
        for length in 0..=numbers.len() {
            let at = match ty {
                Ty::Double => doubles[..length].iter().position(|n| *n == wanted),
                _ => numbers[..length].iter().position(|n| *n as f64 == wanted),
            };
            let visited = at.map_or(length, |at| at + 1) as i64;
            for fuel in 0..=14 {
                let outcome = match ty {
                    Ty::Double => run_with(&code, 0, &[&doubles[..length]], fuel),
                    _ => run_with(&code, 0, &[&numbers[..length]], fuel),
                };
                let expected = if fuel < visited { Err(ErrorKind::OutOfBudget) } else { Ok(at.is_some()) };
                assert_eq!(outcome.bool(), expected, "{wanted} in {length} of {ty} with {fuel}");
                if fuel >= visited {
                    assert_eq!(outcome.fuel, fuel - visited, "{wanted} in {length} of {ty} with {fuel}");
                }
            }
        }
    }
}

/// Lists of different lengths differ for nothing; others pay for each pair that is compared.
#[test]
fn equality_pays_for_what_it_visits() {
    for (other, visited) in [(&[5, -1, 5][..], 3), (&[5, 0, 5], 2), (&[0, -1, 5], 1), (&[5, -1], 0)] {
        let mut b = build();
        let numbers = b.fields[0].clone();
        let second = numbers.elements.clone().map(|elements| Elements { path: Path(vec![16]), ..elements });
        b.fields[1] = Field { elements: second, ..numbers };
        let host = [HOST.numbers, other];
        let args = [elements(&mut b, 0), elements(&mut b, 1)];
        let root = b.add(Op::SeqEqual, Ty::Bool, &args);
        b.graph.add_root(root);
        let code = b.compile();
        for fuel in 0..5 {
            let outcome = run_with(&code, 0, &host, fuel);
            let expected = if fuel < visited { Err(ErrorKind::OutOfBudget) } else { Ok(HOST.numbers == other) };
            assert_eq!(outcome.bool(), expected, "{other:?} with {fuel}");
            if fuel >= visited {
                assert_eq!(outcome.fuel, fuel - visited, "{other:?} with {fuel}");
            }
        }
    }
}

#[test]
fn members_of_elements() {
    let fold = |kind, of: fn(&mut Build, NodeId) -> NodeId| {
        let mut b = build();
        let seq = elements(&mut b, 1);
        let row = b.add(Op::Local(0), Ty::Record, &[]);
        let test = of(&mut b, row);
        let ty = if kind == FoldKind::Count { Ty::Int } else { Ty::Bool };
        let root = b.add(Op::Fold { kind, level: 0, pairs: false, filtered: false }, ty, &[seq, test]);
        (b, root)
    };
    let heavy = |b: &mut Build, row: NodeId| {
        let (weight, seven) = (b.add(Op::Member { field: 1, member: 1 }, Ty::Int, &[row]), b.int(7));
        b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[weight, seven])
    };
    let named = |b: &mut Build, row: NodeId| {
        let (name, text) = (b.add(Op::Member { field: 1, member: 0 }, Ty::Str, &[row]), b.text("bb"));
        b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[name, text])
    };
    for (host, count, all, any, one) in [(HOST, 2, false, true, false), (EMPTY, 0, true, false, false)] {
        let (mut b, root) = fold(FoldKind::Count, heavy);
        assert_eq!(b.run_on(root, &host).int(), Ok(count));
        for (kind, expected) in [(FoldKind::All, all), (FoldKind::Exists, any), (FoldKind::ExistsOne, one)] {
            let (mut b, root) = fold(kind, heavy);
            assert_eq!(b.run_on(root, &host).bool(), Ok(expected), "{kind:?}");
        }
    }
    let (mut b, root) = fold(FoldKind::ExistsOne, named);
    assert_eq!(b.run_on(root, &HOST).bool(), Ok(true));
}

#[repr(C)]
struct Pair {
    address: *const i64,
    count: usize,
}

#[repr(C)]
struct Places {
    here: [i64; 3],
    list: Option<&'static [i64]>,
}

unsafe extern "C" fn asked(list: *const Option<&'static [i64]>) -> Pair {
    // SAFETY: the code calls it with the address of that field.
    let list = unsafe { *list };
    Pair { address: list.map_or(std::ptr::null(), <[i64]>::as_ptr), count: list.map_or(0, <[i64]>::len) }
}

/// A list that is its elements, one that is asked for them, and one that may be absent, in loops
/// with an index.
#[test]
fn places_of_elements() {
    let call = Place::Call(asked as *const () as usize);
    for (place, path, optional) in [(Place::Here(3), 0, false), (call, 24, false), (call, 24, true)] {
        for present in [true, false] {
            let mut b = Build::default();
            let elements = Elements {
                path: Path(vec![path]),
                place,
                stride: 8,
                ty: Ty::Int,
                access: load(Repr::I64, 0),
                members: None,
            };
            b.fields.push(Field { elements: Some(elements), ..Field::new(Ty::Value, optional, Access::Get) });
            let host = Places { here: [5, 1, 5], list: present.then_some(&[5, 1, 5]) };
            let seq = b.add(Op::Elements(0), Ty::Seq, &[]);
            let (index, element) = (b.add(Op::Local(0), Ty::Int, &[]), b.add(Op::Local(1), Ty::Int, &[]));
            let test = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[index, element]);
            let fold = Op::Fold { kind: FoldKind::Exists, level: 0, pairs: true, filtered: false };
            let root = b.add(fold, Ty::Bool, &[seq, test]);
            let found = match (place, present, optional) {
                (Place::Call(_), false, true) => Err(ErrorKind::NoSuchKey),
                (Place::Call(_), false, false) => Ok(false),
                _ => Ok(true),
            };
            assert_eq!(b.run_on(root, &host).bool(), found, "{place:?} {present}");
        }
    }
}
