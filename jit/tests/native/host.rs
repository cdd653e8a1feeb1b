//! Fields that are not plain loads, and headers.

use crate::common::{BREAK_HEADERS, Build, Headers, Pair, calls, run};
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, FoldKind, Helper, NodeId, Op, Ty};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// The host is an optional text.
extern "C" fn accessor(host: *const Option<&str>) -> Pair {
    ASKED.set(ASKED.get() + 1);
    // SAFETY: the field's path leads to this type.
    match unsafe { *host } {
        Some(text) => Pair(text.as_ptr() as u64, text.len() as u64),
        None => Pair(0, 0),
    }
}

#[test]
fn optional_text_is_asked_for_once() {
    let mut b = Build::default();
    let access = Access::Text(Path(vec![8]), accessor as *const () as usize);
    b.fields.push(Field { ty: Ty::Str, optional: true, access, headers: None });
    let has = b.add(Op::HasField(0), Ty::Bool, &[]);
    let text = b.add(Op::Field(0), Ty::Str, &[]);
    let x = b.text("x");
    let equal = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[text, x]);
    let guarded = b.add(Op::And, Ty::Bool, &[has, equal]);
    for root in [guarded, equal] {
        b.graph.add_root(root);
    }
    b.graph.add_root(text);
    let code = b.compile();
    for (host, both, plain) in [
        (Some("x"), Ok(true), Ok(true)),
        (Some("y"), Ok(false), Ok(false)),
        (None, Ok(false), Err(ErrorKind::NoSuchKey)),
    ] {
        let host = (0_u64, host);
        let at = std::mem::offset_of!((u64, Option<&str>), 1);
        assert_eq!(at, 8, "the path of the field");
        ASKED.set(0);
        assert_eq!(run(&code, 0, &host).bool(), both);
        assert_eq!(ASKED.get(), 1);
        assert_eq!(run(&code, 1, &host).bool(), plain);
        assert_eq!(run(&code, 2, &host).text().map(Some), host.1.map(Some).ok_or(ErrorKind::NoSuchKey));
    }
}

#[test]
fn fields_got_through_helpers() {
    let mut b = Build::default();
    for ty in [Ty::Value, Ty::Int, Ty::Str] {
        b.fields.push(Field { ty, optional: true, access: Access::Get, headers: None });
    }
    let value = b.add(Op::Field(0), Ty::Value, &[]);
    let int = b.add(Op::Field(1), Ty::Int, &[]);
    let text = b.add(Op::Field(2), Ty::Str, &[]);
    let has = b.add(Op::HasField(1), Ty::Bool, &[]);
    for root in [value, int, text, has] {
        b.graph.add_root(root);
    }
    let code = b.compile();
    assert_eq!(run(&code, 0, &0).show().unwrap(), "1000");
    assert_eq!(run(&code, 1, &0).int(), Ok(1001));
    assert_eq!(run(&code, 2, &0).text(), Err(ErrorKind::NoSuchOverload));
    assert_eq!(run(&code, 3, &0).bool(), Ok(true));
}

#[test]
fn prepared_constants_reach_their_helpers() {
    let mut b = Build::default();
    // The host: an address behind 8 bytes, and a text and a number before it.
    #[repr(C)]
    struct Host(&'static str, i64, std::net::IpAddr);
    let at = [0, std::mem::offset_of!(Host, 1) as u32, std::mem::offset_of!(Host, 2) as u32];
    let load = |at, repr| Access::Load(Path(vec![at]), repr);
    for (ty, access) in [
        (Ty::Str, load(at[0], Repr::Slice)),
        (Ty::Int, load(at[1], Repr::I64)),
        (Ty::Ip, Access::Address(Path(vec![at[2]]))),
    ] {
        b.fields.push(Field { ty, optional: false, access, headers: None });
    }
    let text = b.add(Op::Field(0), Ty::Str, &[]);
    let number = b.add(Op::Field(1), Ty::Int, &[]);
    let address = b.add(Op::Field(2), Ty::Ip, &[]);
    let searcher = b.graph.constant(Constant::Searcher("needle".into()));
    let regex = b.graph.constant(Constant::Regex("end$".into()));
    let set = b.graph.constant(Constant::IntSet([-1, 2, 3, 4, 5].into()));
    let network = b.graph.constant(Constant::Cidr("10.0.0.0".parse().unwrap(), 8));
    for (op, arg) in [
        (Op::ContainsConst(searcher), text),
        (Op::MatchesConst(regex), text),
        (Op::InIntSet(set), number),
        (Op::InCidr(network), address),
    ] {
        let root = b.add(op, Ty::Bool, &[arg]);
        b.graph.add_root(root);
    }
    let shown = b.add(Op::IpText, Ty::Str, &[address]);
    b.graph.add_root(shown);
    let code = b.compile();
    for (host, expected) in [
        (Host("a needle", -1, "10.0.0.7".parse().unwrap()), [true, false, true, true]),
        (Host("needl the end", 6, "11.0.0.7".parse().unwrap()), [false, true, false, false]),
    ] {
        for (root, expected) in expected.into_iter().enumerate() {
            assert_eq!(run(&code, root, &host).bool(), Ok(expected), "{root}");
        }
        assert_eq!(run(&code, 4, &host).text(), Ok(&*host.2.to_string()));
    }
}

/// One field, whose headers are the host; `header(i) == text` for the names `h0`, `h1`, ..
fn headers(b: &mut Build) {
    b.fields.push(Field { ty: Ty::Value, optional: false, access: Access::Get, headers: Some(Path(vec![0])) });
}

fn header(b: &mut Build, name: &str) -> NodeId {
    let name = b.graph.constant(Constant::HeaderName(name.into()));
    b.add(Op::Header { field: 0, name }, Ty::Maybe, &[])
}

fn equals(b: &mut Build, name: &str, text: &str) -> NodeId {
    let header = header(b, name);
    let value = b.add(Op::Require, Ty::Raw, &[header]);
    let text = b.text(text);
    b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[value, text])
}

fn host(pairs: &[(&str, &str)]) -> Headers {
    Headers(pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect())
}

#[test]
fn one_lookup_where_the_first_dominates() {
    let mut b = Build::default();
    headers(&mut b);
    let (first, second) = (equals(&mut b, "x", "a"), equals(&mut b, "x", "b"));
    let either = b.add(Op::Or, Ty::Bool, &[first, second]);
    b.graph.add_root(either);
    let code = b.compile();
    for (pairs, expected) in [
        (vec![("x", "a")], Ok(true)),
        (vec![("x", "b")], Ok(true)),
        (vec![("x", "c")], Ok(false)),
        (vec![], Err(ErrorKind::NoSuchKey)),
    ] {
        calls(Helper::header_get);
        assert_eq!(run(&code, 0, &host(&pairs)).bool(), expected);
        assert_eq!(calls(Helper::header_get), 1);
    }
    let listing =
        b.with_unit(|unit| celero_jit::Compiler::new(&celero_jit::Settings::default()).unwrap().explain(unit).unwrap());
    assert_eq!(listing[0].clif.matches("call_indirect").count(), 1, "{}", listing[0].clif);
    let slots = listing[0].clif.matches("explicit_slot").count();
    assert_eq!(slots, 1, "only an error needs a place: {}", listing[0].clif);
}

#[test]
fn one_lookup_where_no_lookup_dominates() {
    let mut b = Build::default();
    headers(&mut b);
    // (y == 1 ? x == a : true) && x == b, and a loop that asks for a header on each turn.
    let condition = equals(&mut b, "y", "1");
    let (first, second, yes) = (equals(&mut b, "x", "a"), equals(&mut b, "x", "ab"), b.bool(true));
    let cond = b.add(Op::Cond, Ty::Bool, &[condition, first, yes]);
    let negated = b.add(Op::Not, Ty::Bool, &[cond]);
    let either = b.add(Op::Or, Ty::Bool, &[negated, second]);
    let list = b.value(crate::common::Value::ints(0..5));
    let op = Op::Fold { kind: FoldKind::Exists, level: 0, pairs: false, filtered: false };
    let late = equals(&mut b, "z", "never");
    let fold = b.add(op, Ty::Bool, &[list, late]);
    for root in [either, fold] {
        b.graph.add_root(root);
    }
    let code = b.compile();
    for (pairs, expected, lookups) in [
        (vec![("y", "1"), ("x", "ab")], Ok(true), 2),
        (vec![("y", "1"), ("x", "a")], Ok(false), 2),
        (vec![("y", "2"), ("x", "ab")], Ok(true), 2),
        (vec![("y", "2"), ("x", "c")], Ok(false), 2),
        (vec![("y", "2")], Err(ErrorKind::NoSuchKey), 2),
        (vec![("x", "ab")], Ok(true), 2),
    ] {
        calls(Helper::header_get);
        assert_eq!(run(&code, 0, &host(&pairs)).bool(), expected, "{pairs:?}");
        assert_eq!(calls(Helper::header_get), lookups);
    }
    assert_eq!(run(&code, 1, &host(&[("z", "no")])).bool(), Ok(false));
    assert_eq!(calls(Helper::header_get), 1);
    assert_eq!(run(&code, 1, &host(&[])).bool(), Err(ErrorKind::NoSuchKey));
    assert_eq!(calls(Helper::header_get), 1);
}

#[test]
fn presence_and_the_failure_of_a_lookup() {
    let mut b = Build::default();
    headers(&mut b);
    let x = header(&mut b, "x");
    let present = b.add(Op::IsPresent, Ty::Bool, &[x]);
    let value = b.add(Op::Require, Ty::Raw, &[x]);
    for root in [present, value, x] {
        b.graph.add_root(root);
    }
    let code = b.compile();
    let (with, without) = (host(&[("x", "")]), host(&[]));
    assert_eq!(run(&code, 0, &with).bool(), Ok(true));
    assert_eq!(run(&code, 0, &without).bool(), Ok(false));
    assert_eq!(run(&code, 1, &with).text(), Ok(""));
    assert_eq!(run(&code, 1, &without).text(), Err(ErrorKind::NoSuchKey));
    assert_eq!(run(&code, 2, &without).words(), Ok([0, 0]));
    BREAK_HEADERS.set(true);
    assert_eq!(run(&code, 0, &with).bool(), Err(ErrorKind::OutOfBudget));
    assert_eq!(run(&code, 1, &with).text(), Err(ErrorKind::OutOfBudget));
    assert_eq!(run(&code, 2, &with).text(), Err(ErrorKind::OutOfBudget));
    BREAK_HEADERS.set(false);
}
