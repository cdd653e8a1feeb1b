//! Fields that are not plain loads, and headers.

use crate::common::{Build, run};
use crate::runtime::{BREAK_HEADERS, Headers, Pair, calls};
use celero_ir::layout::{Access, EnumTags, Field, Path, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, FoldKind, Helper, NodeId, Op, Ty};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// The host is an optional text.
extern "C" fn ip_accessor(ip: *const std::net::IpAddr, words: *mut [u64; 2]) -> u64 {
    // SAFETY: generated code passes the address of the field and that of two words of its own.
    let (ip, words) = unsafe { (&*ip, &mut *words) };
    *words = celero_ir::layout::ip_words(*ip);
    1
}

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
    b.fields.push(Field::new(Ty::Str, true, access));
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
fn named_text_is_asked_for_only_where_the_table_has_none() {
    extern "C" fn accessor(host: *const [u8; 4]) -> Pair {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the field's path leads to this type.
        let text = if unsafe { (*host)[2] } == 2 { "other" } else { "wrong" };
        Pair(text.as_ptr() as u64, text.len() as u64)
    }
    let mut table = [[0_usize; 2]; 256];
    let texts = &[(1, "first"), (255, "last")];
    for (tag, name) in texts {
        table[usize::from(*tag)] = [name.as_ptr() as usize, name.len()];
    }
    let mut b = Build::default();
    let names = EnumTags { tag: 2, table: table.as_ptr() as usize, texts };
    b.fields.push(Field::new(Ty::Str, false, Access::Tagged(Path(vec![0]), names, accessor as *const () as usize)));
    let text = b.add(Op::Field(0), Ty::Str, &[]);
    b.graph.add_root(text);
    // Texts of the table are told by the byte alone, and others by the text.
    for name in ["first", "other"] {
        let name = b.text(name);
        for op in [Cmp::Eq, Cmp::Ne] {
            let test = b.add(Op::Cmp(op), Ty::Bool, &[text, name]);
            b.graph.add_root(test);
        }
    }
    for members in [&["first", "last"][..], &["last", "other"], &[]] {
        let set = b.graph.constant(Constant::StrSet(members.iter().map(|&member| member.as_bytes().into()).collect()));
        let test = b.add(Op::InStrSet(set), Ty::Bool, &[text]);
        b.graph.add_root(test);
    }
    // The bytes of the text are told as the text is.
    let bytes = b.add(Op::AsBytes, Ty::Bytes, &[text]);
    let last = b.constant(Constant::Bytes(b"last"[..].into()), Ty::Bytes);
    let test = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[bytes, last]);
    b.graph.add_root(test);
    let code = b.compile();
    for (tag, name) in [(1, "first"), (255, "last"), (2, "other")] {
        let host = [9_u8, 9, tag, 9];
        let is = |others: &[&str]| others.contains(&name);
        let wanted = [
            (1, is(&["first"]), 0),
            (2, !is(&["first"]), 0),
            (3, is(&["other"]), u32::from(tag == 2)),
            (4, !is(&["other"]), u32::from(tag == 2)),
            (5, is(&["first", "last"]), 0),
            (6, is(&["last", "other"]), u32::from(tag == 2)),
            (8, is(&["last"]), 0),
        ];
        for (root, answer, asked) in wanted {
            ASKED.set(0);
            assert_eq!(run(&code, root, &host).bool(), Ok(answer), "{name} {root}");
            assert_eq!(ASKED.get(), asked, "{name} {root}");
        }
        assert_eq!(run(&code, 7, &host).bool(), Ok(false));
    }
    for (tag, name, asked) in [(1, "first", 0), (255, "last", 0), (2, "other", 1)] {
        ASKED.set(0);
        assert_eq!(run(&code, 0, &[9_u8, 9, tag, 9]).text(), Ok(name));
        assert_eq!(ASKED.get(), asked);
    }
}

#[test]
fn fields_got_through_helpers() {
    let mut b = Build::default();
    for ty in [Ty::Value, Ty::Int, Ty::Str] {
        b.fields.push(Field::new(ty, true, Access::Get));
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
        (Ty::Str, load(at[0], Repr::Slice(8))),
        (Ty::Int, load(at[1], Repr::I64)),
        (Ty::Ip, Access::Filled(Path(vec![at[2]]), ip_accessor as *const () as usize)),
    ] {
        b.fields.push(Field::new(ty, false, access));
    }
    let text = b.add(Op::Field(0), Ty::Str, &[]);
    let number = b.add(Op::Field(1), Ty::Int, &[]);
    let address = b.add(Op::Field(2), Ty::Ip, &[]);
    let searcher = b.graph.constant(Constant::Searcher(b"needle"[..].into()));
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

/// A text that is made where it is empty, and cannot be made where it is `!`; without one, absent.
extern "C" fn mostly(host: *const Option<&str>) -> Pair {
    // SAFETY: the field's path leads to this type.
    match unsafe { *host } {
        Some("" | "!") => Pair(celero_ir::layout::TO_BE_MADE as u64, 0),
        Some(text) => Pair(text.as_ptr() as u64, text.len() as u64),
        None => Pair(0, 0),
    }
}

fn make(host: &Option<&str>) -> Result<&'static str, ErrorKind> {
    if *host == Some("!") { Err(ErrorKind::OutOfBudget) } else { Ok("made") }
}

#[test]
fn text_is_made_only_where_it_must_be() {
    let mut b = Build::default();
    let access = Access::MostlyText(Path(vec![8]), mostly as *const () as usize, make as *const () as usize);
    b.fields.push(Field::new(Ty::Str, true, access));
    let has = b.add(Op::HasField(0), Ty::Bool, &[]);
    let text = b.add(Op::Field(0), Ty::Str, &[]);
    let (made, x) = (b.text("made"), b.text("x"));
    let is_made = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[text, made]);
    let is_x = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[text, x]);
    let either = b.add(Op::Or, Ty::Bool, &[is_x, is_made]);
    let guarded = b.add(Op::And, Ty::Bool, &[has, either]);
    for root in [guarded, either, text] {
        b.graph.add_root(root);
    }
    let code = b.compile();
    calls(Helper::text_made);
    for (host, guarded, either, text, made) in [
        (Some("x"), Ok(true), Ok(true), Ok("x"), 0),
        (Some("y"), Ok(false), Ok(false), Ok("y"), 0),
        (Some(""), Ok(true), Ok(true), Ok("made"), 3),
        (Some("!"), Err(ErrorKind::OutOfBudget), Err(ErrorKind::OutOfBudget), Err(ErrorKind::OutOfBudget), 3),
        (None, Ok(false), Err(ErrorKind::NoSuchKey), Err(ErrorKind::NoSuchKey), 0),
    ] {
        let host = (0_u64, host);
        assert_eq!(run(&code, 0, &host).bool(), guarded, "{host:?}");
        assert_eq!(run(&code, 1, &host).bool(), either, "{host:?}");
        assert_eq!(run(&code, 2, &host).text(), text, "{host:?}");
        assert_eq!(calls(Helper::text_made), made, "{host:?}");
    }
}

/// Trees of comparisons have the results of the networks, for addresses at and next to all their bounds.
#[test]
fn several_networks_are_tested_as_each_of_them() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) % below
    };
    for round in 0..40 {
        let networks: Vec<(std::net::IpAddr, u8)> = (0..4 + random(24))
            .map(|_| match random(3) {
                0 => (std::net::Ipv4Addr::from_bits(random(1 << 32) as u32).into(), random(33) as u8),
                1 => (std::net::Ipv4Addr::new(10, 0, random(2) as u8, random(256) as u8).into(), 24 + random(9) as u8),
                _ => {
                    let high = [0, 1, 0x2001_0db8_0000_0000, u64::MAX][random(4) as usize];
                    let low = [0, 0xffff_0000_0000, random(1 << 40), u64::MAX][random(4) as usize];
                    let bits = u128::from(high) << 64 | u128::from(low);
                    (std::net::Ipv6Addr::from_bits(bits).into(), random(129) as u8)
                }
            })
            .collect();
        let mut b = Build::default();
        b.fields.push(Field::new(Ty::Ip, false, Access::Filled(Path(vec![0]), ip_accessor as *const () as usize)));
        let address = b.add(Op::Field(0), Ty::Ip, &[]);
        let mut tests = Vec::new();
        for &(ip, prefix) in &networks {
            let network = b.graph.constant(Constant::Cidr(ip, prefix));
            let test = b.add(Op::InCidr(network), Ty::Bool, &[address]);
            b.graph.add_root(test);
            tests.push(test);
        }
        let any = b.add(Op::Or, Ty::Bool, &tests);
        b.graph.add_root(any);
        let code = b.compile();
        let number = |words: [u64; 2]| u128::from(words[0]) << 64 | u128::from(words[1]);
        let bounds = networks.iter().flat_map(|&(ip, prefix)| {
            let network = celero_ir::layout::Network::new(ip, prefix);
            let first = number(network.bits) & number(network.mask);
            [first, first | !number(network.mask)]
        });
        for bound in bounds.chain([0, 0xffff_0000_0000, 0xffff_ffff_ffff]) {
            for at in [bound, bound.wrapping_sub(1), bound.wrapping_add(1)] {
                let host = std::net::Ipv6Addr::from_bits(at).to_canonical();
                let each = (0..tests.len()).any(|root| run(&code, root, &host).bool() == Ok(true));
                assert_eq!(run(&code, tests.len(), &host).bool(), Ok(each), "round {round}: {host} in {networks:?}");
            }
        }
    }
}

#[test]
fn addresses_lie_in_networks_of_their_own_family() {
    let parse = |text: &str| text.parse::<std::net::IpAddr>().unwrap();
    let networks = [
        ("10.1.2.3", 0),
        ("10.1.2.3", 8),
        ("10.1.2.3", 31),
        ("10.1.2.3", 32),
        ("::", 0),
        ("::", 80),
        ("::", 96),
        ("::", 97),
        ("2001:db8::", 32),
        ("2001:db8::1", 64),
        ("2001:db8::1", 65),
        ("2001:db8::1", 128),
    ];
    let addresses = [
        "10.1.2.3",
        "10.1.2.2",
        "10.255.0.0",
        "11.1.2.3",
        "0.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::1:0:0:0",
        "::fffe:0:0",
        "::7fff:ffff",
        "::8000:0",
        "2001:db8::1",
        "2001:db8::2",
        "2001:db8:0:0:8000::",
        "2001:db9::",
    ];
    let mut b = Build::default();
    let access = Access::Filled(Path(vec![0]), ip_accessor as *const () as usize);
    b.fields.push(Field::new(Ty::Ip, false, access));
    let address = b.add(Op::Field(0), Ty::Ip, &[]);
    for (ip, prefix) in networks {
        let network = b.graph.constant(Constant::Cidr(parse(ip), prefix));
        let root = b.add(Op::InCidr(network), Ty::Bool, &[address]);
        b.graph.add_root(root);
    }
    let code = b.compile();
    for address in addresses.map(parse) {
        for (root, (network, prefix)) in networks.into_iter().enumerate() {
            let expected = match (parse(network), address) {
                (std::net::IpAddr::V4(a), std::net::IpAddr::V4(b)) => {
                    (u64::from(a.to_bits()) ^ u64::from(b.to_bits())) >> (32 - prefix) == 0
                }
                (std::net::IpAddr::V6(a), std::net::IpAddr::V6(b)) => {
                    (a.to_bits() ^ b.to_bits()).checked_shr(128 - u32::from(prefix)).unwrap_or(0) == 0
                }
                _ => false,
            };
            assert_eq!(run(&code, root, &address).bool(), Ok(expected), "{address} in {network}/{prefix}");
        }
    }
}

/// One field, whose headers are the host; `header(i) == text` for the names `h0`, `h1`, ..
fn headers(b: &mut Build) {
    b.fields.push(Field { headers: Some(Path(vec![0])), ..Field::new(Ty::Value, false, Access::Get) });
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
    assert_eq!(listing[0].clif.matches(" = header_get").count(), 1, "{}", listing[0].clif);
    let slots = listing[0].clif.matches("explicit_slot").count();
    assert_eq!(slots, 1, "only an error needs a place: {}", listing[0].clif);
}

#[test]
fn a_header_of_which_only_the_text_is_read_is_one_call() {
    let mut b = Build::default();
    headers(&mut b);
    let header = header(&mut b, "x");
    let present = b.add(Op::Require, Ty::Raw, &[header]);
    let text = b.add(Op::Decode, Ty::Str, &[present]);
    b.graph.add_root(text);
    let expected = b.text("abc");
    let same_bytes = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[present, expected]);
    let same_text = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[text, expected]);
    let both = b.add(Op::And, Ty::Bool, &[same_bytes, same_text]);
    b.graph.add_root(both);
    let code = b.compile();
    let made = || [Helper::header_text, Helper::header_get, Helper::text_decode].map(calls);
    made();
    for (pairs, expected) in
        [(vec![("x", "abc")], Ok("abc")), (vec![("x", "")], Ok("")), (vec![], Err(ErrorKind::NoSuchKey))]
    {
        assert_eq!(run(&code, 0, &host(&pairs)).text(), expected);
        assert_eq!(made(), [1, 0, 0]);
    }
    assert_eq!(run(&code, 1, &host(&[("x", "abc")])).bool(), Ok(true));
    assert_eq!(made(), [0, 1, 1], "the bytes are read too");
    BREAK_HEADERS.set(true);
    assert_eq!(run(&code, 0, &host(&[("x", "abc")])).text(), Err(ErrorKind::OutOfBudget));
    BREAK_HEADERS.set(false);
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
    let list = b.value(crate::runtime::Value::ints(0..5));
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
