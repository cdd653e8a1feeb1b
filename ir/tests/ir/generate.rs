//! Random valid graphs.

use crate::common::{FIELD_TYPES, Random, field_of};
use celero_ir::{
    Arith, CallForm, Catch, Cmp, Constant, ErrorKind, FoldKind, Graph, Helper, NodeId, Op, Origin, Ty, Types, Wildcard,
};
use std::collections::HashSet;

const TEXTS: &[&str] = &["", "a", "b", "B", "ab", "abc", "x-\u{fffd}", "é", "\u{10ffff}a\"\\"];

/// A constant of a type.
pub(crate) fn random_constant(random: &mut Random, ty: Ty) -> Constant {
    let text = random.pick(TEXTS);
    let ints = [0, 1, -1, 2, 3, 7, i64::MAX, i64::MIN];
    match ty {
        Ty::Bool => Constant::Bool(random.below(2) == 0),
        Ty::Int => Constant::Int(random.pick(&ints)),
        Ty::Uint => Constant::Uint(random.pick(&[0, 1, 2, 3, u64::MAX])),
        Ty::Double => {
            let doubles = [0.0, -0.0, 1.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];
            Constant::Double(random.pick(&doubles).to_bits())
        }
        Ty::Str => Constant::Str(text.into()),
        Ty::Bytes => {
            let bytes = [text.as_bytes(), b"\xff", b"a\xe2\x82b"];
            Constant::Bytes(random.pick(&bytes).into())
        }
        Ty::Duration => Constant::Duration(random.pick(&ints)),
        Ty::Timestamp => Constant::Timestamp(random.pick(&ints), random.pick(&[0, 1, 999_999_999])),
        Ty::Ip => Constant::Ip(std::net::IpAddr::from([10, 0, 0, random.below(4) as u8])),
        _ => match random.below(4) {
            0 => Constant::Null,
            1 => Constant::List(
                (0..random.below(4)).map(|_| Constant::Str(random.pick(TEXTS).into())).collect::<Vec<_>>().into(),
            ),
            2 => Constant::List(
                (0..random.below(4)).map(|_| Constant::Int(random.pick(&ints))).collect::<Vec<_>>().into(),
            ),
            _ => {
                let ty = random.pick(SCALARS);
                random_constant(random, ty)
            }
        },
    }
}

/// The types that values hold.
pub(crate) const SCALARS: &[Ty] =
    &[Ty::Bool, Ty::Int, Ty::Uint, Ty::Double, Ty::Str, Ty::Bytes, Ty::Duration, Ty::Timestamp];

/// Which operations a generator may use.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// Whether folds, lists, maps, helpers and functions too, not only operations on scalars.
    pub(crate) everything: bool,
}

struct Generator {
    random: Random,
    graph: Graph,
    choice: Choice,
    /// Closed nodes; reused now and then, so that graphs share.
    closed: Vec<NodeId>,
    /// Nodes that bind variables, which can't stand under another binder.
    binding: HashSet<NodeId>,
    /// Types of the variables in scope.
    scope: Vec<Ty>,
}

/// A valid graph of about `size` nodes; every operation is possible.
pub(crate) fn random_graph(seed: u64, size: usize) -> Graph {
    generate(seed, size, Choice { everything: true }, FIELD_TYPES)
}

/// A valid graph without folds, containers, helpers and functions.
pub(crate) fn random_scalar_graph(seed: u64, size: usize) -> Graph {
    generate(seed, size, Choice { everything: false }, SCALARS)
}

fn generate(seed: u64, size: usize, choice: Choice, types: &[Ty]) -> Graph {
    let random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut generator = Generator {
        random,
        graph: Graph::new(),
        choice,
        closed: Vec::new(),
        binding: HashSet::new(),
        scope: Vec::new(),
    };
    while generator.graph.len() < size {
        let ty = if generator.random.below(2) == 0 { Ty::Bool } else { generator.random.pick(types) };
        let root = generator.node(ty, 6);
        generator.graph.add_root(root);
    }
    generator.graph
}

impl Generator {
    fn add(&mut self, op: Op, ty: Ty, args: &[NodeId]) -> NodeId {
        let start = self.random.below(100) as u32;
        let id = self.graph.add(op, ty, args, Origin { start, end: start + self.random.below(9) as u32 });
        if op.binds().is_some() || args.iter().any(|arg| self.binding.contains(arg)) {
            self.binding.insert(id);
        }
        if self.scope.is_empty() {
            self.closed.push(id);
        }
        id
    }

    fn constant(&mut self, constant: Constant, ty: Ty) -> NodeId {
        let id = self.graph.constant(constant);
        self.add(Op::Const(id), ty, &[])
    }

    fn leaf(&mut self, ty: Ty) -> NodeId {
        let locals: Vec<_> = (0..self.scope.len()).filter(|level| self.scope[*level] == ty).collect();
        let records: Vec<_> = (0..self.scope.len()).filter(|level| self.scope[*level] == Ty::Record).collect();
        match self.random.below(8) {
            0..=2 if !records.is_empty() && matches!(ty, Ty::Str | Ty::Int) => {
                let level = self.random.pick(&records) as u32;
                let record = self.add(Op::Local(level), Ty::Record, &[]);
                let member = u32::from(ty == Ty::Int);
                self.add(Op::Member { field: 13, member }, ty, &[record])
            }
            0..=2 if !locals.is_empty() => {
                let level = self.random.pick(&locals) as u32;
                self.add(Op::Local(level), ty, &[])
            }
            3 if self.random.below(4) == 0 => {
                let kind = self.random.pick(ErrorKind::ALL);
                self.add(Op::Fail(kind), ty, &[])
            }
            4 | 5 if !matches!(ty, Ty::Raw | Ty::Maybe) => {
                let constant = random_constant(&mut self.random, ty);
                self.constant(constant, ty)
            }
            _ => self.add(Op::Field(field_of(ty)), ty, &[]),
        }
    }

    fn node(&mut self, ty: Ty, depth: usize) -> NodeId {
        let usable = |id: &NodeId| self.graph.ty(*id) == ty && (self.scope.is_empty() || !self.binding.contains(id));
        let shared: Vec<_> = self.closed.iter().copied().filter(usable).collect();
        if !shared.is_empty() && self.random.below(5) == 0 {
            return self.random.pick(&shared);
        }
        let Some(depth) = depth.checked_sub(1) else { return self.leaf(ty) };
        match self.random.below(11) {
            0 => self.leaf(ty),
            1 => {
                let args = [self.node(Ty::Bool, depth), self.node(ty, depth), self.node(ty, depth)];
                self.add(Op::Cond, ty, &args)
            }
            2 => {
                let bound = self.random.pick(SCALARS);
                let init = self.node(bound, depth);
                let level = self.scope.len() as u32;
                self.scope.push(bound);
                let body = self.node(ty, depth);
                self.scope.pop();
                self.add(Op::Let(level), ty, &[init, body])
            }
            3 => {
                let mut args: Vec<_> = (0..2 + self.random.below(2)).map(|_| self.node(ty, depth)).collect();
                if ty == Ty::Value && self.random.below(2) == 0 {
                    let null = self.constant(Constant::Null, ty);
                    let at = self.random.below(args.len());
                    args[at] = null;
                }
                let catch = self.random.pick(&[Catch::Absence, Catch::Any]);
                self.add(Op::Coalesce(catch), ty, &args)
            }
            _ => self.operation(ty, depth),
        }
    }

    fn operation(&mut self, ty: Ty, depth: usize) -> NodeId {
        match ty {
            Ty::Bool => return self.test(depth),
            Ty::Int | Ty::Uint | Ty::Double | Ty::Duration if self.random.below(2) == 0 => {
                let ops: &[Arith] = match ty {
                    Ty::Duration => &[Arith::Add, Arith::Sub],
                    Ty::Double => &[Arith::Add, Arith::Sub, Arith::Mul, Arith::Div],
                    _ => &[Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem],
                };
                let op = self.random.pick(ops);
                let args = [self.node(ty, depth), self.node(ty, depth)];
                return self.add(Op::Arith(op), ty, &args);
            }
            Ty::Int if self.random.below(8) == 0 => {
                let arg = self.node(Ty::Bytes, depth);
                return self.add(Op::SeqSize, ty, &[arg]);
            }
            Ty::Duration if self.random.below(2) == 0 => {
                let args = [self.node(Ty::Timestamp, depth), self.node(Ty::Timestamp, depth)];
                return self.add(Op::TimeSince, ty, &args);
            }
            Ty::Timestamp if self.random.below(2) == 0 => {
                let op = self.random.pick(&[Op::TimeAdd, Op::TimeSub]);
                let args = [self.node(Ty::Timestamp, depth), self.node(Ty::Duration, depth)];
                return self.add(op, ty, &args);
            }
            Ty::Int | Ty::Double if self.random.below(2) == 0 => {
                let arg = self.node(ty, depth);
                return self.add(Op::Neg, ty, &[arg]);
            }
            Ty::Bytes if self.random.below(2) == 0 => {
                let of = self.random.pick(&[Ty::Str, Ty::Raw]);
                let arg = self.node(of, depth);
                return self.add(Op::AsBytes, ty, &[arg]);
            }
            Ty::Str if self.random.below(2) == 0 => {
                let raw = self.node(Ty::Raw, depth);
                return self.add(Op::Decode, ty, &[raw]);
            }
            Ty::Str if self.choice.everything && self.random.below(2) == 0 => {
                let args = [self.node(Ty::Str, depth), self.node(Ty::Str, depth)];
                return self.add(Op::Call(Helper::string_add), ty, &args);
            }
            Ty::Int if self.choice.everything && self.random.below(6) == 0 => {
                return self.fold(FoldKind::Count, depth);
            }
            Ty::Str if self.choice.everything && self.random.below(6) == 0 => {
                let seq = self.add(Op::Elements(13), Ty::Seq, &[]);
                let index = self.node(Ty::Int, depth);
                let record = self.add(Op::SeqAt, Ty::Record, &[seq, index]);
                return self.add(Op::Member { field: 13, member: 0 }, ty, &[record]);
            }
            Ty::Str if self.choice.everything && self.random.below(4) == 0 => {
                let seq = self.add(Op::Elements(12), Ty::Seq, &[]);
                let index = self.node(Ty::Int, depth);
                return self.add(Op::SeqAt, ty, &[seq, index]);
            }
            Ty::Int if self.choice.everything && self.random.below(6) == 0 => {
                let seq = self.random.pick(&[(Op::Elements(12), Ty::Seq), (Op::Cursor(12), Ty::Cursor)]);
                let seq = self.add(seq.0, seq.1, &[]);
                return self.add(Op::SeqSize, ty, &[seq]);
            }
            Ty::Str if self.choice.everything && self.random.below(3) == 0 => {
                let ip = self.node(Ty::Ip, depth);
                return self.add(Op::IpText, ty, &[ip]);
            }
            Ty::Raw => {
                let maybe = self.node(Ty::Maybe, depth);
                return self.add(Op::Require, ty, &[maybe]);
            }
            Ty::Maybe => {
                let name = self.graph.constant(Constant::HeaderName("x".into()));
                return self.add(Op::Header { field: 12, name }, ty, &[]);
            }
            Ty::Value => return self.value(depth),
            Ty::Ip => return self.leaf(ty),
            _ => {}
        }
        if self.choice.everything && self.random.below(3) == 0 {
            let function = self.random.pick(&["h", "f"]);
            let function = self.graph.function(function);
            let form = self.random.pick(if ty == Ty::Timestamp { &CallForm::ALL[2..] } else { &CallForm::ALL });
            let operand = self.random.pick(SCALARS);
            let args = [self.node(operand, depth), self.node(Ty::Value, depth)];
            return self.add(Op::Invoke { function, form }, ty, &args);
        }
        let value = self.node(Ty::Value, depth);
        self.add(Op::Unbox(ty), ty, &[value])
    }

    fn value(&mut self, depth: usize) -> NodeId {
        if !self.choice.everything || self.random.below(2) == 0 {
            let ty = self.random.pick(SCALARS);
            let arg = self.node(ty, depth);
            return self.add(Op::Box, Ty::Value, &[arg]);
        }
        match self.random.below(4) {
            0 => {
                let args: Vec<_> = (0..self.random.below(4)).map(|_| self.node(Ty::Value, depth)).collect();
                self.add(Op::List, Ty::Value, &args)
            }
            1 => {
                let args: Vec<_> = (0..self.random.below(3) * 2).map(|_| self.node(Ty::Value, depth)).collect();
                self.add(Op::Map, Ty::Value, &args)
            }
            2 => {
                let function = self.random.pick(&["f", "g \"quoted\""]);
                let function = self.graph.function(function);
                let args = [self.node(Ty::Value, depth)];
                let pure = self.random.below(3) > 0;
                self.add(Op::Dispatch { function, pure }, Ty::Value, &args)
            }
            _ => {
                let kinds = [FoldKind::Filter, FoldKind::Map, FoldKind::TransformMap, FoldKind::TransformMapEntry];
                let kind = self.random.pick(&kinds);
                self.fold(kind, depth)
            }
        }
    }

    fn fold(&mut self, kind: FoldKind, depth: usize) -> NodeId {
        let tests = matches!(kind, FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Count);
        let transforms = !tests && kind != FoldKind::Filter;
        let (pairs, filtered) = (self.random.below(2) == 0, transforms && self.random.below(2) == 0);
        let (range, index, element) = if self.random.below(4) == 0 {
            let cursor = self.add(Op::Cursor(12), Ty::Cursor, &[]);
            (cursor, Ty::Str, if pairs { Ty::Int } else { Ty::Str })
        } else if self.random.below(2) == 0 {
            let lists = [(12, Ty::Str), (13, Ty::Record)];
            let (list, element) = if kind == FoldKind::Filter { lists[0] } else { self.random.pick(&lists) };
            (self.add(Op::Elements(list), Ty::Seq, &[]), Ty::Int, element)
        } else {
            (self.node(Ty::Value, depth), Ty::Value, Ty::Value)
        };
        let mut args = vec![range];
        let level = self.scope.len();
        self.scope.extend(pairs.then_some(index));
        self.scope.push(element);
        if filtered || !transforms {
            args.push(self.node(Ty::Bool, depth));
        }
        if transforms {
            args.push(self.node(Ty::Value, depth));
        }
        self.scope.truncate(level);
        let op = Op::Fold { kind, level: level as u32, pairs, filtered };
        self.add(op, op_result(op), &args)
    }

    fn test(&mut self, depth: usize) -> NodeId {
        match self.random.below(if self.choice.everything { 16 } else { 11 }) {
            0 => {
                let arg = self.node(Ty::Bool, depth);
                self.add(Op::Not, Ty::Bool, &[arg])
            }
            1 | 2 => {
                let args: Vec<_> = (0..2 + self.random.below(3)).map(|_| self.node(Ty::Bool, depth)).collect();
                let op = self.random.pick(&[Op::And, Op::Or]);
                self.add(op, Ty::Bool, &args)
            }
            3 => self.chain(depth),
            4 if self.random.below(4) == 0 => {
                let types = [self.random.pick(SCALARS), self.random.pick(SCALARS), Ty::Value];
                let second = if self.random.below(2) == 0 { Ty::Value } else { types[1] };
                let args = [self.node(Ty::Value, depth), self.node(second, depth), self.node(Ty::Value, depth)];
                self.add(Op::HasTypes(Types::new(&types).unwrap()), Ty::Bool, &args)
            }
            4 | 5 => {
                let ty = self.random.pick(SCALARS);
                let cmp = self.random.pick(&[Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]);
                let args = [self.node(ty, depth), self.node(ty, depth)];
                self.add(Op::Cmp(cmp), Ty::Bool, &args)
            }
            6 => {
                let op = self.random.pick(&[Op::StartsWith, Op::EndsWith, Op::Cmp(Cmp::Eq), Op::Cmp(Cmp::Ne)]);
                let (ty, other) = self.random.pick(&[(Ty::Str, Ty::Str), (Ty::Raw, Ty::Str), (Ty::Bytes, Ty::Bytes)]);
                let constant = match ty {
                    Ty::Raw => Constant::Str(self.random.pick(&["", "a", "ab", "é"]).into()),
                    _ => random_constant(&mut self.random, ty),
                };
                let args = [self.node(ty, depth), self.constant(constant, other)];
                self.add(op, Ty::Bool, &args)
            }
            7 => {
                let ty = self.random.pick(&[Ty::Str, Ty::Raw, Ty::Bytes]);
                let members: &[&[u8]] = &[b"a", b"ab", "é".as_bytes(), b"\xff"];
                // What is not UTF-8 does not meet raw text.
                let members = if ty == Ty::Raw { &members[..3] } else { members };
                let needle: &[u8] = if ty == Ty::Raw { b"b" } else { self.random.pick(&[b"b", b"\x82"]) };
                let set = Constant::StrSet(members.iter().map(|&member| member.into()).collect());
                let strict = self.random.below(2) == 0;
                let all: [&[&[u8]]; 4] = [&[b"a", b""], &[b"", needle, b""], &[b"", b"b"], &[needle]];
                let pieces = self.random.pick(&all);
                let wildcard = Constant::Wildcard(Wildcard::new(pieces.iter().copied(), strict));
                let constant = self.random.pick(&[set, Constant::Searcher(needle.into()), wildcard]);
                let op = match constant {
                    Constant::Searcher(_) => Op::ContainsConst,
                    Constant::Wildcard(_) => Op::WildcardConst,
                    _ => Op::InStrSet,
                };
                let op = op(self.graph.constant(constant));
                let arg = self.node(ty, depth);
                self.add(op, Ty::Bool, &[arg])
            }
            8 => {
                let set = self.graph.constant(Constant::IntSet([-1, 1, 7].into()));
                let arg = self.node(Ty::Int, depth);
                self.add(Op::InIntSet(set), Ty::Bool, &[arg])
            }
            9 => {
                let arg = self.node(Ty::Maybe, depth);
                self.add(Op::IsPresent, Ty::Bool, &[arg])
            }
            10 => {
                let (ty, list) = self.random.pick(&[(Ty::Str, "a"), (Ty::Str, ""), (Ty::Bytes, ""), (Ty::Int, "")]);
                let items: Vec<_> = (0..self.random.below(4)).map(|_| random_constant(&mut self.random, ty)).collect();
                let list = if list.is_empty() { items } else { vec![Constant::Str(list.into()), Constant::Int(1)] };
                let list = self.constant(Constant::List(list.into()), Ty::Value);
                let arg = self.node(ty, depth);
                let arg = self.add(Op::Box, Ty::Value, &[arg]);
                self.add(Op::Call(Helper::in_container), Ty::Bool, &[arg, list])
            }
            11 => {
                let helper = self.random.pick(&[Helper::string_contains, Helper::string_matches]);
                let args = [self.node(Ty::Str, depth), self.node(Ty::Str, depth)];
                self.add(Op::Call(helper), Ty::Bool, &args)
            }
            12 => {
                let key = self.node(Ty::Str, depth);
                let entry = self.add(Op::Entry(12), Ty::Entry, &[key]);
                if self.random.below(2) == 0 {
                    return self.add(Op::HasEntry, Ty::Bool, &[entry]);
                }
                let args = [self.add(Op::EntryValue(12), Ty::Int, &[entry]), self.node(Ty::Int, depth)];
                self.add(Op::Cmp(Cmp::Eq), Ty::Bool, &args)
            }
            13 => {
                let network = self.graph.constant(Constant::Cidr(std::net::IpAddr::from([10, 0, 0, 0]), 31));
                let arg = self.node(Ty::Ip, depth);
                self.add(Op::InCidr(network), Ty::Bool, &[arg])
            }
            14 => {
                let value = self.node(Ty::Str, depth);
                let seq = self.add(Op::Elements(12), Ty::Seq, &[]);
                if self.random.below(3) == 0 {
                    return self.add(Op::SeqEqual, Ty::Bool, &[seq, seq]);
                }
                self.add(Op::SeqHas, Ty::Bool, &[value, seq])
            }
            _ => {
                let kind = self.random.pick(&[FoldKind::All, FoldKind::Exists, FoldKind::ExistsOne]);
                self.fold(kind, depth)
            }
        }
    }

    /// `x == c || x == d || ..`, or its opposite.
    fn chain(&mut self, depth: usize) -> NodeId {
        let (cmp, op) = self.random.pick(&[(Cmp::Eq, Op::Or), (Cmp::Ne, Op::And)]);
        let ty = self.random.pick(&[Ty::Str, Ty::Int, Ty::Bytes]);
        let subject = self.node(ty, depth);
        let mut args = Vec::new();
        for _ in 0..2 + self.random.below(4) {
            let constant = random_constant(&mut self.random, ty);
            let constant = self.constant(constant, ty);
            let operands = if self.random.below(3) == 0 { [constant, subject] } else { [subject, constant] };
            args.push(self.add(Op::Cmp(cmp), Ty::Bool, &operands));
            if self.random.below(4) == 0 {
                args.push(self.node(Ty::Bool, depth));
            }
        }
        self.add(op, Ty::Bool, &args)
    }
}

fn op_result(op: Op) -> Ty {
    match op.decl().result {
        celero_ir::ResultType::Is(ty) => ty,
        _ => Ty::Value,
    }
}
