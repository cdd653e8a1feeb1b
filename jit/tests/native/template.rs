//! Code whose constants are read from a row, code that rules share, and copies of code with other
//! constants answer what code with the same constants answers, errors and places included.

mod copied;
mod shared;

use crate::common::{Build, run, run_row, run_shared};
use crate::runtime::{BREAK_HEADERS, Headers};
use celero_ir::layout::{Access, Field, Network, Path, Repr, ip_words};
use celero_ir::{
    Arith, Cmp, ConstId, Constant, ErrorKind, ErrorWord, Helper, NodeId, Op, Parameter, ParameterKind, Ty, Wildcard,
    parse, verify,
};
use celero_jit::{Code, Compiler, Error, Settings, SharedFunction};
use std::net::IpAddr;

#[repr(C)]
#[derive(Clone, Copy)]
struct Host {
    text: &'static str,
    int: i64,
    uint: u64,
    double: f64,
    ip: IpAddr,
    headers: *const Headers,
}

extern "C" fn ip_accessor(ip: *const IpAddr, words: *mut [u64; 2]) -> u64 {
    // SAFETY: generated code passes the address of the field and that of two words of its own.
    let (ip, words) = unsafe { (&*ip, &mut *words) };
    *words = ip_words(*ip);
    1
}

/// An expression, built with constants, or with parameters and the row of the same constants.
struct TemplateBuilder {
    build: Build,
    templated: bool,
    row: Vec<u64>,
}

impl TemplateBuilder {
    fn new(templated: bool, expression: impl Fn(&mut Self) -> NodeId) -> Self {
        let mut build = Build::default();
        let at = |offset: usize| Path(vec![offset as u32]);
        let text = at(std::mem::offset_of!(Host, text));
        for (ty, access) in [
            (Ty::Str, Access::Load(text.clone(), Repr::Slice(8))),
            (Ty::Int, Access::Load(at(std::mem::offset_of!(Host, int)), Repr::I64)),
            (Ty::Uint, Access::Load(at(std::mem::offset_of!(Host, uint)), Repr::U64)),
            (Ty::Double, Access::Load(at(std::mem::offset_of!(Host, double)), Repr::F64)),
            (Ty::Ip, Access::Filled(at(std::mem::offset_of!(Host, ip)), ip_accessor as *const () as usize)),
            (Ty::Raw, Access::Load(text, Repr::Slice(8))),
        ] {
            build.fields.push(Field::new(ty, false, access));
        }
        let headers = Path(vec![std::mem::offset_of!(Host, headers) as u32, 0]);
        build.fields.push(Field { headers: Some(headers), ..Field::new(Ty::Value, false, Access::Get) });
        let mut builder = Self { build, templated, row: vec![0xdead] };
        let root = expression(&mut builder);
        builder.build.graph.add_root(root);
        verify(&builder.build.graph, &builder.build.fields).unwrap();
        builder
    }

    /// The constant, or a parameter that is it.
    fn id(&mut self, kind: ParameterKind, constant: Constant) -> ConstId {
        if !self.templated {
            return self.build.graph.constant(constant);
        }
        let (at, plain) = (self.row.len() as u16, constant.is_raw_comparable());
        let mut other = Build::default();
        other.graph.constant(constant.clone());
        let address = other.constants()[0];
        match (kind, &constant) {
            (ParameterKind::Int, Constant::Int(n)) => self.row.push(*n as u64),
            (ParameterKind::Uint, Constant::Uint(n)) => self.row.push(*n),
            (ParameterKind::Double, Constant::Double(bits)) => self.row.push(*bits),
            (ParameterKind::Str | ParameterKind::Bytes, _) => {
                self.row.extend([address.data as u64, address.len as u64])
            }
            (ParameterKind::Value, _) => self.row.push(address.value as u64),
            (ParameterKind::Cidr, &Constant::Cidr(ip, prefix)) => {
                let network = Network::new(ip, prefix);
                assert!(!network.around_ipv4);
                self.row.extend(network.bits.into_iter().chain(network.mask));
            }
            _ => self.row.push(address.data as u64),
        }
        assert_eq!(self.row.len() as u16, at + kind.words());
        self.build.graph.constant(Constant::Parameter(Parameter { kind, plain, at }))
    }

    fn node(&mut self, kind: ParameterKind, constant: Constant, ty: Ty) -> NodeId {
        let id = self.id(kind, constant);
        self.build.add(Op::Const(id), ty, &[])
    }

    fn int(&mut self, n: i64) -> NodeId {
        self.node(ParameterKind::Int, Constant::Int(n), Ty::Int)
    }

    fn text(&mut self, text: &str) -> NodeId {
        self.node(ParameterKind::Str, Constant::Str(text.into()), Ty::Str)
    }

    fn bytes(&mut self, bytes: &[u8]) -> NodeId {
        self.node(ParameterKind::Bytes, Constant::Bytes(bytes.into()), Ty::Bytes)
    }

    fn field(&mut self, field: u32) -> NodeId {
        let ty = self.build.fields[field as usize].ty;
        self.build.add(Op::Field(field), ty, &[])
    }

    fn test(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        self.build.add(op, Ty::Bool, args)
    }

    fn any(&mut self, tests: &[NodeId]) -> NodeId {
        self.test(Op::Or, tests)
    }

    /// The header `x`, which may be missing.
    fn header(&mut self) -> NodeId {
        let name = self.build.graph.constant(Constant::HeaderName("x".into()));
        let header = self.build.add(Op::Header { field: 6, name }, Ty::Maybe, &[]);
        self.build.add(Op::Require, Ty::Raw, &[header])
    }

    fn template(&self) -> Code {
        let mut compiler = Compiler::new(&Settings::default()).unwrap();
        let root = self.build.graph.roots()[0];
        let function = self.build.with_unit(|unit| compiler.template(unit, root)).unwrap();
        compiler.install(vec![function]).unwrap()
    }
}

const LONG: &str = "text that is far too long to be compared in line";

fn hosts(headers: &'static [Headers]) -> Vec<Host> {
    let texts =
        ["", "a", "ab", "abc", "b", "cab", "BAD", "é", "x\u{fffd}", LONG, "text that is far too long to be not"];
    let ips = ["10.1.2.3", "::ffff:10.1.2.3", "192.168.0.1", "2001:db8::1", "2001:db9::1", "::", "11.0.0.0"];
    let ints = [0, 1, -1, 7, 8, i64::MAX, i64::MIN];
    let doubles = [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, -2.0];
    let all = texts.len() * ints.len();
    let host = |n: usize| Host {
        text: texts[n % texts.len()],
        int: ints[n % ints.len()],
        uint: ints[(n / 3) % ints.len()] as u64,
        double: doubles[n % doubles.len()],
        ip: ips[(n / 2) % ips.len()].parse().unwrap(),
        headers: &headers[n % headers.len()],
    };
    (0..all).map(host).collect()
}

const CMPS: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

type Expression = fn(&mut TemplateBuilder) -> NodeId;

/// How often a rule was false, true, failed.
type Counts = [u32; 3];

thread_local! {
    /// Compiles all shared code of a test, so that rules get the code of others.
    static SHARED: std::cell::RefCell<Compiler> = std::cell::RefCell::new(Compiler::new(&Settings::default()).unwrap());

    /// Compiles all rules of a test, so that functions are copies of those of earlier rules.
    static COPIED: std::cell::RefCell<Compiler> = std::cell::RefCell::new(Compiler::new(&Settings::default()).unwrap());
}

/// The code of a rule, and whether the code generator did not run.
fn copied(builder: &TemplateBuilder) -> (Code, bool) {
    COPIED.with_borrow_mut(|compiler| {
        let before = compiler.codegen_time();
        let code = builder.build.with_unit(|unit| compiler.compile(unit)).unwrap();
        (code, compiler.codegen_time() == before)
    })
}

fn shared(builder: &TemplateBuilder) -> SharedFunction {
    let root = builder.build.graph.roots()[0];
    SHARED.with_borrow_mut(|compiler| builder.build.with_unit(|unit| compiler.compile_shared(unit, root)).unwrap())
}

/// Asks all of them about every host.
fn compare(name: &str, expression: impl Fn(&mut TemplateBuilder) -> NodeId) -> Counts {
    let headers: &'static [Headers] =
        Box::leak(Box::new(["abc", "BAD", "x", "", LONG].map(|value| Headers(vec![("x".into(), value.into())]))));
    let absent: &'static Headers = Box::leak(Box::new(Headers(vec![])));
    let (fixed, templated) = (TemplateBuilder::new(false, &expression), TemplateBuilder::new(true, &expression));
    assert!(templated.row.len() > 1, "{name} has no parameters");
    let text = templated.build.graph.to_string();
    assert_eq!(parse(&text).unwrap(), templated.build.graph, "{name}");
    let mut compiler = Compiler::new(&Settings::default()).unwrap();
    let code = fixed.build.with_unit(|unit| compiler.compile(unit)).unwrap();
    let (template, shared) = (templated.template(), shared(&fixed));
    copied(&fixed);
    copied(&fixed);
    let (copy, _) = copied(&fixed);
    let mut counts = [0; 3];
    let hosts = hosts(headers);
    let absent = hosts.iter().map(|host| Host { headers: absent, ..*host });
    for host in hosts.iter().copied().chain(absent) {
        let (want, got) = (run(&code, 0, &host), run_row(&template, 0, &host, &templated.row));
        let inputs = (host.text, host.int, host.uint, host.double, host.ip);
        assert_eq!(got.word, want.word, "{name} of {inputs:?}: {:?} {:?}", got.bool(), want.bool());
        let again = run_shared(&shared, &host);
        assert_eq!(again.word, want.word, "{name} of {inputs:?}, shared: {:?} {:?}", again.bool(), want.bool());
        let of_copy = run(&copy, 0, &host);
        assert_eq!(of_copy.word, want.word, "{name} of {inputs:?}, copied: {:?} {:?}", of_copy.bool(), want.bool());
        counts[usize::from(got.word > 0) + usize::from(got.word > 1)] += 1;
    }
    counts
}

/// Compares, where the rule must be met false and true, and failing if it can.
fn check(name: &str, fails: bool, expression: impl Fn(&mut TemplateBuilder) -> NodeId) {
    let [no, yes, failed] = compare(name, expression);
    assert!(no > 0 && yes > 0 && (failed > 0) == fails, "{name}: {no} false, {yes} true, {failed} failed");
}

/// Compares a number of the host with each constant, on either side.
fn numbers(kind: ParameterKind, field: u32, constants: &[Constant]) -> [Counts; 6] {
    CMPS.map(|cmp| {
        let mut sum = [0; 3];
        for (constant, turned) in constants.iter().flat_map(|constant| [(constant, false), (constant, true)]) {
            let counts = compare(&format!("{cmp:?} {constant:?}, turned: {turned}"), |d| {
                let field = d.field(field);
                let ty = d.build.graph.ty(field);
                let number = d.node(kind, constant.clone(), ty);
                d.test(Op::Cmp(cmp), &if turned { [number, field] } else { [field, number] })
            });
            sum = std::array::from_fn(|n| sum[n] + counts[n]);
        }
        sum
    })
}

#[test]
fn numbers_of_each_type() {
    let ints = [0, 7, i64::MAX, i64::MIN].map(Constant::Int);
    let uints = [0, 7, 1 << 63, u64::MAX].map(Constant::Uint);
    let doubles = [0.0, -0.0, 1.5, f64::NAN, f64::NEG_INFINITY].map(|n: f64| Constant::Double(n.to_bits()));
    for counts in [
        numbers(ParameterKind::Int, 1, &ints),
        numbers(ParameterKind::Uint, 2, &uints),
        numbers(ParameterKind::Double, 3, &doubles),
    ] {
        assert!(counts.iter().all(|&[no, yes, failed]| no > 0 && yes > 0 && failed == 0), "{counts:?}");
    }
}

#[test]
fn text() {
    let tests: [(&str, Expression); 8] = [
        ("==", |d| each_text(d, Op::Cmp(Cmp::Eq), false)),
        ("!=", |d| {
            let (field, long) = (d.field(0), d.text(LONG));
            d.test(Op::Cmp(Cmp::Ne), &[field, long])
        }),
        ("the other way round", |d| each_text(d, Op::Cmp(Cmp::Eq), true)),
        ("<", |d| {
            let (field, text) = (d.field(0), d.text("ab"));
            d.test(Op::Cmp(Cmp::Lt), &[field, text])
        }),
        (">=", |d| {
            let (field, text) = (d.field(0), d.text("b"));
            d.test(Op::Cmp(Cmp::Ge), &[text, field])
        }),
        ("startsWith", |d| {
            let (field, long) = (d.field(0), d.text("text that is far too long to be "));
            let (one, ab) = (d.test(Op::StartsWith, &[field, long]), d.text("ab"));
            let two = d.test(Op::StartsWith, &[field, ab]);
            d.any(&[one, two])
        }),
        ("endsWith", |d| {
            let (field, ab) = (d.field(0), d.text("ab"));
            d.test(Op::EndsWith, &[field, ab])
        }),
        ("raw", |d| {
            let (field, empty, bad) = (d.field(5), d.text(""), d.text("BAD"));
            let one = d.test(Op::Cmp(Cmp::Eq), &[field, empty]);
            let two = d.test(Op::EndsWith, &[field, bad]);
            d.any(&[one, two])
        }),
    ];
    for (name, expression) in tests {
        check(name, false, expression);
    }
}

fn each_text(d: &mut TemplateBuilder, op: Op, turned: bool) -> NodeId {
    let field = d.field(0);
    let tests = ["", "abc", "é", "x\u{fffd}", LONG].map(|text| {
        let text = d.text(text);
        d.test(op, &if turned { [text, field] } else { [field, text] })
    });
    d.any(&tests)
}

#[test]
fn byte_strings() {
    for (name, op) in [
        ("==", Op::Cmp(Cmp::Eq)),
        ("!=", Op::Cmp(Cmp::Ne)),
        ("<", Op::Cmp(Cmp::Lt)),
        (">=", Op::Cmp(Cmp::Ge)),
        ("startsWith", Op::StartsWith),
        ("endsWith", Op::EndsWith),
    ] {
        for constant in [&b"abc"[..], "é".as_bytes(), LONG.as_bytes()] {
            check(&format!("{name} {constant:?}"), false, |d| {
                let field = d.field(5);
                let (bytes, constant) = (d.build.add(Op::AsBytes, Ty::Bytes, &[field]), d.bytes(constant));
                d.test(op, &[bytes, constant])
            });
        }
    }
    let [no, yes, failed] = compare("not UTF-8", |d| {
        let field = d.field(5);
        let (bytes, constant) = (d.build.add(Op::AsBytes, Ty::Bytes, &[field]), d.bytes(b"\xff"));
        d.test(Op::Cmp(Cmp::Eq), &[bytes, constant])
    });
    assert!(no > 0 && yes == 0 && failed == 0);
}

#[test]
fn values_of_any_type() {
    check("text", false, |d| {
        let field = d.field(0);
        let value = d.build.add(Op::Box, Ty::Value, &[field]);
        let constant = d.node(ParameterKind::Value, Constant::Str("abc".into()), Ty::Value);
        let text = d.test(Op::Call(Helper::value_equal), &[value, constant]);
        let number = d.node(ParameterKind::Value, Constant::Int(7), Ty::Value);
        let other = d.test(Op::Call(Helper::value_equal), &[number, value]);
        d.any(&[other, text])
    });
    check("numbers", false, |d| {
        let field = d.field(1);
        let value = d.build.add(Op::Box, Ty::Value, &[field]);
        let number = d.node(ParameterKind::Value, Constant::Int(7), Ty::Value);
        d.test(Op::Call(Helper::value_equal), &[value, number])
    });
}

#[test]
fn what_is_prepared() {
    check("contains", false, |d| {
        let (needle, field) = (d.id(ParameterKind::Searcher, Constant::Searcher(b"b"[..].into())), d.field(0));
        d.test(Op::ContainsConst(needle), &[field])
    });
    check("contains, raw", false, |d| {
        let (needle, field) = (d.id(ParameterKind::Searcher, Constant::Searcher(b"far"[..].into())), d.field(5));
        d.test(Op::ContainsConst(needle), &[field])
    });
    check("matches", false, |d| {
        let (pattern, field) = (d.id(ParameterKind::Regex, Constant::Regex("ab$".into())), d.field(0));
        d.test(Op::MatchesConst(pattern), &[field])
    });
    check("matches, bytes", false, |d| {
        let (pattern, field) = (d.id(ParameterKind::ByteRegex, Constant::ByteRegex("ab$".into())), d.field(0));
        let bytes = d.build.add(Op::AsBytes, Ty::Bytes, &[field]);
        d.test(Op::MatchesConst(pattern), &[bytes])
    });
    check("wildcard", false, |d| {
        let wildcard = Constant::Wildcard(Wildcard::new([&b"A"[..], b""], false));
        let (wildcard, field) = (d.id(ParameterKind::Wildcard, wildcard), d.field(0));
        d.test(Op::WildcardConst(wildcard), &[field])
    });
    check("in a set of texts", false, |d| {
        let set = Constant::StrSet(["", "abc", LONG].map(|text| text.as_bytes().into()).into());
        let (set, field) = (d.id(ParameterKind::StrSet, set), d.field(0));
        d.test(Op::InStrSet(set), &[field])
    });
    check("in a set of numbers", false, |d| {
        let set = Constant::IntSet([i64::MIN, 0, 8].into());
        let (set, field) = (d.id(ParameterKind::IntSet, set), d.field(1));
        d.test(Op::InIntSet(set), &[field])
    });
    for (name, expression) in [
        ("IPv4", (|d| network(d, "10.0.0.0", 8)) as Expression),
        ("all of IPv4", |d| network(d, "0.0.0.0", 0)),
        ("one of IPv4", |d| network(d, "192.168.0.1", 32)),
        ("IPv6", |d| network(d, "2001:db8::", 32)),
        ("one of IPv6", |d| network(d, "2001:db9::1", 128)),
    ] {
        check(name, false, expression);
    }
}

fn network(d: &mut TemplateBuilder, ip: &str, prefix: u8) -> NodeId {
    let network = d.id(ParameterKind::Cidr, Constant::Cidr(ip.parse().unwrap(), prefix));
    let field = d.field(4);
    d.test(Op::InCidr(network), &[field])
}

#[test]
fn failures_and_their_places() {
    check("an absent header", true, |d| {
        let (header, text) = (d.header(), d.text("abc"));
        d.test(Op::Cmp(Cmp::Eq), &[header, text])
    });
    check("text that is not read", true, |d| {
        let (header, number) = (d.header(), d.int(7));
        let decoded = d.build.add(Op::Decode, Ty::Str, &[header]);
        let pattern = d.id(ParameterKind::Regex, Constant::Regex("bc$".into()));
        let (matches, field) = (d.test(Op::MatchesConst(pattern), &[decoded]), d.field(1));
        let same = d.test(Op::Cmp(Cmp::Eq), &[field, number]);
        d.any(&[matches, same])
    });
    check("overflow", true, |d| {
        let (field, seven, eight) = (d.field(1), d.int(7), d.int(8));
        let sum = d.build.add(Op::Arith(Arith::Add), Ty::Int, &[field, seven]);
        d.test(Op::Cmp(Cmp::Ge), &[sum, eight])
    });
    check("division by what is no constant of the code", true, |d| {
        let (field, seven, less) = (d.field(1), d.int(7), d.int(-1));
        let by_seven = d.build.add(Op::Arith(Arith::Div), Ty::Int, &[field, seven]);
        let by_less = d.build.add(Op::Arith(Arith::Div), Ty::Int, &[field, less]);
        let rest = d.build.add(Op::Arith(Arith::Rem), Ty::Int, &[field, seven]);
        let [zero, one] = [d.int(0), d.int(1)];
        let tests = [(by_seven, one), (by_less, one), (rest, zero)].map(|(a, b)| d.test(Op::Cmp(Cmp::Eq), &[a, b]));
        d.test(Op::And, &[tests[0], tests[2], tests[1]]);
        d.any(&tests)
    });
    let [no, yes, failed] = compare("division by zero", |d| {
        let (field, zero) = (d.field(1), d.int(0));
        let ratio = d.build.add(Op::Arith(Arith::Rem), Ty::Int, &[field, zero]);
        d.test(Op::Cmp(Cmp::Eq), &[ratio, field])
    });
    assert!((no, yes) == (0, 0) && failed > 0);
    check("a chain in which one fails", true, |d| {
        let (header, text, field) = (d.header(), d.text("abc"), d.field(1));
        let header = d.test(Op::Cmp(Cmp::Eq), &[header, text]);
        let (one, set) = (d.int(1), d.id(ParameterKind::IntSet, Constant::IntSet([0, 1, 7].into())));
        let more = d.test(Op::Cmp(Cmp::Gt), &[field, one]);
        let some = d.test(Op::InIntSet(set), &[field]);
        let inner = d.test(Op::Or, &[more, some]);
        d.test(Op::And, &[header, inner])
    });
}

#[test]
fn an_error_has_the_place_that_the_graph_says() {
    let absent = Headers(vec![]);
    let broken = |d: &mut TemplateBuilder| {
        let (header, text) = (d.header(), d.text("abc"));
        d.test(Op::Cmp(Cmp::Eq), &[header, text])
    };
    let builder = TemplateBuilder::new(true, broken);
    let host = Host { headers: &absent, ..hosts(Box::leak(Box::new([Headers(vec![])])))[0] };
    let graph = &builder.build.graph;
    let place =
        |wanted: fn(Op) -> bool| graph.ids().find(|&id| wanted(graph.op(id))).map(|id| graph.origin(id)).unwrap();
    let template = builder.template();
    let ask = || ErrorWord(run_row(&template, 0, &host, &builder.row).word).unpack();
    assert_eq!(ask(), (ErrorKind::NoSuchKey, place(|op| op == Op::Require)));
    BREAK_HEADERS.set(true);
    let failed = ask();
    BREAK_HEADERS.set(false);
    assert_eq!(failed, (ErrorKind::OutOfBudget, place(|op| matches!(op, Op::Header { .. }))));
}

#[test]
fn one_template_serves_many_rows() {
    let builder = TemplateBuilder::new(true, |d| {
        let (field, text, number) = (d.field(0), d.text("abc"), d.int(7));
        let (one, field) = (d.test(Op::Cmp(Cmp::Eq), &[field, text]), d.field(1));
        let two = d.test(Op::Cmp(Cmp::Eq), &[field, number]);
        d.test(Op::And, &[one, two])
    });
    let template = builder.template();
    let host = Host { text: "number 70", int: 70, ..hosts(Box::leak(Box::new([Headers(vec![])])))[0] };
    for n in 0..100_u64 {
        let text = format!("number {n}");
        let row = [0, text.as_ptr() as u64, text.len() as u64, n];
        assert_eq!(run_row(&template, 0, &host, &row).bool(), Ok(n == 70), "{n}");
    }
}

#[test]
fn a_template_is_a_truth_value() {
    let mut b = Build::default();
    let (number, text) = (b.int(1), b.text("a"));
    let truth = b.bool(true);
    let value = b.add(Op::Box, Ty::Value, &[truth]);
    let mut compiler = Compiler::new(&Settings::default()).unwrap();
    for root in [number, text, value] {
        b.graph.add_root(root);
        let refused = b.with_unit(|unit| compiler.template(unit, root).err());
        assert!(matches!(refused, Some(Error::Internal(_))), "{refused:?}");
    }
    // The compiler is as good as before.
    let function = b.with_unit(|unit| compiler.template(unit, truth)).unwrap();
    let code = compiler.install(vec![function]).unwrap();
    assert_eq!(run_row(&code, 0, &0_u64, &[]).bool(), Ok(true));
}
