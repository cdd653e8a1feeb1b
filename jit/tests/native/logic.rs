//! Logic with errors: `and` and `or` over all combinations of true, false and two errors, and random expressions with
//! variables, loops, headers and sharing, against a walk over the graph that knows nothing of blocks or registers.

use crate::common::{Build, run, run_with};
use crate::runtime::{Headers, Value, calls};
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Arith, Catch, Cmp, Constant, ErrorKind, FoldKind, Graph, Helper, NodeId, Op, Ty};

#[repr(C)]
struct Host {
    ints: [i64; 4],
    headers: Headers,
}

const HEADERS_AT: u32 = std::mem::offset_of!(Host, headers) as u32;
const KINDS: [ErrorKind; 4] =
    [ErrorKind::NoSuchKey, ErrorKind::NoSuchField, ErrorKind::InvalidArgument, ErrorKind::Host];

fn start() -> Build {
    let mut b = Build::default();
    for i in 0..4 {
        let access = Access::Load(Path(vec![i * 8]), Repr::I64);
        b.fields.push(Field::new(Ty::Int, false, access));
    }
    let headers = Some(Path(vec![HEADERS_AT]));
    b.fields.push(Field { headers, ..Field::new(Ty::Value, false, Access::Get) });
    b
}

/// False, true, or the error of this number when the field is 0, 1, or more.
fn uncertain(b: &mut Build, n: usize) -> NodeId {
    failing_with(b, n, KINDS[n])
}

fn failing_with(b: &mut Build, n: usize, kind: ErrorKind) -> NodeId {
    let field = b.add(Op::Field(n as u32), Ty::Int, &[]);
    let (one, two) = (b.int(1), b.int(2));
    let certain = b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[field, two]);
    let value = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[field, one]);
    let fail = b.add(Op::Fail(kind), Ty::Bool, &[]);
    b.add(Op::Cond, Ty::Bool, &[certain, value, fail])
}

fn certain(b: &mut Build, n: usize) -> NodeId {
    let field = b.add(Op::Field(n as u32), Ty::Int, &[]);
    let one = b.int(1);
    b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[field, one])
}

#[test]
fn every_combination_of_two_to_four_operands() {
    for all in [true, false] {
        for n in 2..=4_usize {
            // Bit i of `safe` says that operand i can't fail; the result as a jump, and as a value.
            for safe in 0..1_u32 << n {
                let mut b = start();
                let operands: Vec<_> = (0..n)
                    .map(|i| if safe >> i & 1 == 1 { certain(&mut b, i) } else { uncertain(&mut b, i) })
                    .collect();
                let node = b.add(if all { Op::And } else { Op::Or }, Ty::Bool, &operands);
                let yes = b.bool(true);
                let value = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[node, yes]);
                b.graph.add_root(node);
                b.graph.add_root(value);
                let code = b.compile();
                for case in 0..3_u32.pow(n as u32) {
                    let states: Vec<u32> = (0..n as u32).map(|i| case / 3_u32.pow(i) % 3).collect();
                    if states.iter().enumerate().any(|(i, &s)| s == 2 && safe >> i & 1 == 1) {
                        continue;
                    }
                    let decisive = u32::from(!all);
                    let expected = if states.contains(&decisive) {
                        Ok(!all)
                    } else {
                        states.iter().position(|&s| s == 2).map_or(Ok(all), |i| Err(KINDS[i]))
                    };
                    let mut ints = [0; 4];
                    for (i, &s) in states.iter().enumerate() {
                        ints[i] = i64::from(s);
                    }
                    assert_eq!(run(&code, 0, &ints).bool(), expected, "{all} {safe:b} {states:?}");
                    assert_eq!(run(&code, 1, &ints).bool(), expected, "value {all} {safe:b} {states:?}");
                }
            }
        }
    }
}

/// What the reference computes with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Val {
    Bool(bool),
    Int(i64),
}

type Res = Result<Val, ErrorKind>;

struct Walk<'a> {
    graph: &'a Graph,
    host: &'a Host,
    lists: &'a [Vec<i64>],
    fuel: i64,
}

impl Walk<'_> {
    fn bool(&mut self, id: NodeId, env: &mut Vec<Res>) -> Result<bool, ErrorKind> {
        match self.eval(id, env)? {
            Val::Bool(b) => Ok(b),
            Val::Int(_) => panic!("not a bool"),
        }
    }

    fn int(&mut self, id: NodeId, env: &mut Vec<Res>) -> Result<i64, ErrorKind> {
        match self.eval(id, env)? {
            Val::Int(n) => Ok(n),
            Val::Bool(_) => panic!("not an int"),
        }
    }

    fn header(&self, id: NodeId) -> Option<&str> {
        let Op::Header { name, .. } = self.graph.op(id) else { panic!("not a header") };
        let Some(Constant::HeaderName(name)) = self.graph.constant_at(name) else { panic!("not a name") };
        self.host.headers.0.iter().find(|(k, _)| **k == **name).map(|(_, v)| &**v)
    }

    /// `and`, `all`, `or`, `exists`.
    fn absorb(all: bool, results: impl Iterator<Item = Result<bool, ErrorKind>>) -> Res {
        let mut first = None;
        for result in results {
            match result {
                Ok(b) if b != all => return Ok(Val::Bool(b)),
                Ok(_) => {}
                Err(ErrorKind::OutOfBudget) => return Err(ErrorKind::OutOfBudget),
                Err(e) => first = first.or(Some(e)),
            }
        }
        first.map_or(Ok(Val::Bool(all)), Err)
    }

    fn eval(&mut self, id: NodeId, env: &mut Vec<Res>) -> Res {
        let graph = self.graph;
        let args = graph.args(id);
        Ok(match graph.op(id) {
            Op::Const(c) => match graph.constant_at(c).unwrap() {
                Constant::Int(n) => Val::Int(*n),
                Constant::Bool(b) => Val::Bool(*b),
                other => panic!("{other:?}"),
            },
            Op::Field(n) => Val::Int(self.host.ints[n as usize]),
            Op::Fail(kind) => return Err(kind),
            Op::Not => Val::Bool(!self.bool(args[0], env)?),
            op @ (Op::And | Op::Or) => {
                return Self::absorb(op == Op::And, args.iter().map(|&arg| self.bool(arg, env)));
            }
            Op::Cond => {
                let branch = if self.bool(args[0], env)? { args[1] } else { args[2] };
                return self.eval(branch, env);
            }
            Op::Coalesce(catch) => {
                let mut last = Err(ErrorKind::Host);
                for &arg in args {
                    last = self.eval(arg, env);
                    if !matches!((catch, last), (_, Err(ErrorKind::NoSuchKey)) | (Catch::Any, Err(_)))
                        || last == Err(ErrorKind::OutOfBudget)
                    {
                        break;
                    }
                }
                return last;
            }
            Op::Arith(op) => {
                let (a, b) = (self.int(args[0], env)?, self.int(args[1], env)?);
                Val::Int(match op {
                    Arith::Add => a.checked_add(b).ok_or(ErrorKind::Overflow)?,
                    Arith::Mul => a.checked_mul(b).ok_or(ErrorKind::Overflow)?,
                    Arith::Div if b == 0 => return Err(ErrorKind::DivideByZero),
                    Arith::Div => a.checked_div(b).ok_or(ErrorKind::Overflow)?,
                    _ => panic!("{op:?}"),
                })
            }
            Op::Cmp(cmp) if graph.ty(args[0]) == Ty::Raw => {
                let text = self.header(graph.args(args[0])[0]).ok_or(ErrorKind::NoSuchKey)?;
                let Op::Const(c) = graph.op(args[1]) else { panic!("not a constant") };
                let Some(Constant::Str(s)) = graph.constant_at(c) else { panic!("not text") };
                Val::Bool((text == &**s) == (cmp == Cmp::Eq))
            }
            Op::Cmp(cmp) => {
                let (a, b) = (self.eval(args[0], env)?, self.eval(args[1], env)?);
                let order = match (a, b) {
                    (Val::Int(a), Val::Int(b)) => a.cmp(&b),
                    (Val::Bool(a), Val::Bool(b)) => a.cmp(&b),
                    _ => panic!("types"),
                };
                Val::Bool(if cmp == Cmp::Eq { order.is_eq() } else { order.is_lt() })
            }
            Op::IsPresent => Val::Bool(self.header(args[0]).is_some()),
            Op::Unbox(_) => return self.eval(args[0], env),
            Op::Local(level) => return env[level as usize],
            Op::Let(_) => {
                let init = self.eval(args[0], env);
                if init == Err(ErrorKind::OutOfBudget) {
                    return init;
                }
                env.push(init);
                let result = self.eval(args[1], env);
                env.pop();
                return result;
            }
            Op::Fold { kind, .. } => {
                let Op::Const(c) = graph.op(args[0]) else { panic!("not a constant") };
                let Some(Constant::List(n)) = graph.constant_at(c) else { panic!("not a list") };
                let Constant::Int(n) = n[0] else { panic!("not a number") };
                let list = self.lists[n as usize].clone();
                let mut turn = |env: &mut Vec<Res>, element: i64| {
                    self.fuel -= 1;
                    env.push(Ok(Val::Int(element)));
                    let result = self.bool(args[1], env);
                    env.pop();
                    result
                };
                match kind {
                    FoldKind::All | FoldKind::Exists => {
                        return Self::absorb(kind == FoldKind::All, list.into_iter().map(|e| turn(env, e)));
                    }
                    _ => {
                        let mut count = 0;
                        for element in list {
                            count += u32::from(turn(env, element)?);
                        }
                        Val::Bool(count == 1)
                    }
                }
            }
            op => panic!("{op:?}"),
        })
    }
}

struct Random {
    b: Build,
    seed: u64,
    lists: Vec<NodeId>,
    /// Closed nodes made before.
    bools: Vec<NodeId>,
    ints: Vec<NodeId>,
}

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 11) % n
    }

    fn binds(&self, id: NodeId) -> bool {
        let graph = &self.b.graph;
        matches!(graph.op(id), Op::Let(_) | Op::Fold { .. }) || graph.args(id).iter().any(|&arg| self.binds(arg))
    }

    fn local(&mut self, ty: Ty, scope: &[Ty]) -> Option<NodeId> {
        let level = self.below(scope.len().max(1) as u64) as usize;
        let held = *scope.get(level)?;
        let local = self.b.add(Op::Local(level as u32), held, &[]);
        match (held, ty) {
            (Ty::Value, Ty::Int) => Some(self.b.add(Op::Unbox(Ty::Int), Ty::Int, &[local])),
            _ => (held == ty).then_some(local),
        }
    }

    fn header(&mut self) -> NodeId {
        let name = ["a", "b", "missing"][self.below(3) as usize];
        let name = self.b.graph.constant(Constant::HeaderName(name.into()));
        self.b.add(Op::Header { field: 4, name }, Ty::Maybe, &[])
    }

    fn bind(&mut self, ty: Ty, depth: u32, scope: &mut Vec<Ty>) -> NodeId {
        let held = if self.below(2) == 0 { Ty::Bool } else { Ty::Int };
        let init = self.node(held, depth, scope);
        let level = scope.len() as u32;
        scope.push(held);
        let body = self.node(ty, depth, scope);
        scope.pop();
        self.b.add(Op::Let(level), ty, &[init, body])
    }

    fn coalesce(&mut self, ty: Ty, depth: u32, scope: &mut Vec<Ty>) -> NodeId {
        let n = 2 + self.below(2);
        let args: Vec<_> = (0..n).map(|_| self.node(ty, depth, scope)).collect();
        let catch = if self.below(2) == 0 { Catch::Absence } else { Catch::Any };
        self.b.add(Op::Coalesce(catch), ty, &args)
    }

    fn node(&mut self, ty: Ty, depth: u32, scope: &mut Vec<Ty>) -> NodeId {
        let old = if ty == Ty::Bool { &self.bools } else { &self.ints };
        let count = old.len() as u64;
        if count > 0 && self.below(8) == 0 {
            let pick = self.below(count) as usize;
            let id = if ty == Ty::Bool { self.bools[pick] } else { self.ints[pick] };
            // What binds variables has its place in the nesting.
            if scope.is_empty() || !self.binds(id) {
                return id;
            }
        }
        if self.below(3) == 0
            && let Some(local) = self.local(ty, scope)
        {
            return local;
        }
        let id = if ty == Ty::Bool { self.bool_node(depth, scope) } else { self.int_node(depth, scope) };
        if scope.is_empty() {
            if ty == Ty::Bool { self.bools.push(id) } else { self.ints.push(id) }
        }
        id
    }

    fn bool_node(&mut self, depth: u32, scope: &mut Vec<Ty>) -> NodeId {
        let Some(d) = depth.checked_sub(1) else {
            return match self.below(6) {
                0 => self.b.bool(true),
                1 => {
                    let header = self.header();
                    self.b.add(Op::IsPresent, Ty::Bool, &[header])
                }
                2 => {
                    let header = self.header();
                    let text = self.b.add(Op::Require, Ty::Raw, &[header]);
                    let constant = self.b.text(["x", "long value"][self.seed as usize % 2]);
                    let cmp = if self.below(2) == 0 { Cmp::Eq } else { Cmp::Ne };
                    self.b.add(Op::Cmp(cmp), Ty::Bool, &[text, constant])
                }
                3 => {
                    let n = self.below(4) as usize;
                    certain(&mut self.b, n)
                }
                _ => {
                    let n = self.below(4) as usize;
                    let kind = if self.below(6) == 0 { ErrorKind::OutOfBudget } else { KINDS[n] };
                    failing_with(&mut self.b, n, kind)
                }
            };
        };
        match self.below(10) {
            0..=2 => {
                let n = 2 + self.below(3);
                let args: Vec<_> = (0..n).map(|_| self.node(Ty::Bool, d, scope)).collect();
                let op = if self.below(2) == 0 { Op::And } else { Op::Or };
                self.b.add(op, Ty::Bool, &args)
            }
            3 => {
                let arg = self.node(Ty::Bool, d, scope);
                self.b.add(Op::Not, Ty::Bool, &[arg])
            }
            4 => {
                let args = [(); 3].map(|()| self.node(Ty::Bool, d, scope));
                self.b.add(Op::Cond, Ty::Bool, &args)
            }
            5 => {
                let ty = if self.below(2) == 0 { Ty::Bool } else { Ty::Int };
                let args = [(); 2].map(|()| self.node(ty, d, scope));
                let cmp = if self.below(2) == 0 { Cmp::Eq } else { Cmp::Lt };
                self.b.add(Op::Cmp(cmp), Ty::Bool, &args)
            }
            6 => self.bind(Ty::Bool, d, scope),
            8 => self.coalesce(Ty::Bool, d, scope),
            7 => {
                let kind = [FoldKind::All, FoldKind::Exists, FoldKind::ExistsOne][self.below(3) as usize];
                let range = self.lists[self.seed as usize % self.lists.len()];
                let level = scope.len() as u32;
                scope.push(Ty::Value);
                let predicate = self.node(Ty::Bool, d, scope);
                scope.pop();
                let op = Op::Fold { kind, level, pairs: false, filtered: false };
                self.b.add(op, Ty::Bool, &[range, predicate])
            }
            _ => self.bool_node(0, scope),
        }
    }

    fn int_node(&mut self, depth: u32, scope: &mut Vec<Ty>) -> NodeId {
        let Some(d) = depth.checked_sub(1) else {
            let n = self.below(8) as u32;
            return if n < 4 { self.b.add(Op::Field(n), Ty::Int, &[]) } else { self.b.int(i64::from(n) - 5) };
        };
        match self.below(6) {
            4 => self.coalesce(Ty::Int, d, scope),
            0 => {
                let condition = self.node(Ty::Bool, d, scope);
                let (then, other) = (self.node(Ty::Int, d, scope), self.node(Ty::Int, d, scope));
                self.b.add(Op::Cond, Ty::Int, &[condition, then, other])
            }
            1 | 2 => {
                let op = [Arith::Add, Arith::Mul, Arith::Div][self.below(3) as usize];
                let args = [(); 2].map(|()| self.node(Ty::Int, d, scope));
                self.b.add(Op::Arith(op), Ty::Int, &args)
            }
            3 => self.bind(Ty::Int, d, scope),
            _ => self.int_node(0, scope),
        }
    }
}

#[test]
fn random_expressions_agree_with_a_walk_over_the_graph() {
    let lists = [vec![], vec![1], vec![0, 1, 2], vec![3, 0, 1, 5]];
    let (mut errors, mut answers) = (0, 0);
    for seed in 1..=400_u64 {
        let mut b = start();
        let nodes = lists.iter().map(|list| b.value(Value::ints(list.iter().copied()))).collect();
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Random { b, seed, lists: nodes, bools: vec![], ints: vec![] };
        for _ in 0..6 {
            let depth = 1 + random.below(5) as u32;
            let ty = if random.below(4) == 0 { Ty::Int } else { Ty::Bool };
            let root = random.node(ty, depth, &mut vec![]);
            random.b.graph.add_root(root);
        }
        let b = &random.b;
        let code = b.compile();
        for ints in [[0, 1, 2, 0], [1, 1, 1, 1], [2, 0, 1, 2], [2, 2, 0, 1], [0, 0, 2, 2]] {
            let headers = Headers(vec![("a".into(), "x".into()), ("b".into(), "long value".into())]);
            let host = Host { ints, headers };
            for (i, &root) in b.graph.roots().iter().enumerate() {
                let mut walk = Walk { graph: &b.graph, host: &host, lists: &lists, fuel: 1_000_000 };
                let expected = walk.eval(root, &mut vec![]);
                calls(Helper::header_get);
                let outcome = run_with(&code, i, &host, 1_000_000);
                assert!(calls(Helper::header_get) <= 3, "a header is looked up twice: seed {seed}");
                let got = match b.graph.ty(root) {
                    Ty::Bool => outcome.bool().map(Val::Bool),
                    _ => outcome.int().map(Val::Int),
                };
                assert_eq!(got, expected, "seed {seed} root {i} ints {ints:?}");
                if expected.is_ok() { answers += 1 } else { errors += 1 }
            }
        }
    }
    assert!(errors > 500 && answers > 5000, "{errors} {answers}");
}
