//! What the tests share: graphs that are built by hand, compiled, and run on the test runtime.

use crate::runtime::{Frame, Value, functions, helpers, leak, slice};
use celero_ir::layout::value::tag;
use celero_ir::layout::{self, Field};
use celero_ir::{Constant, ErrorKind, ErrorWord, Graph, NodeId, Op, Origin, Ty};
use celero_jit::{Code, Compiler, ConstantAddress, Entry, Error, Settings, SharedFunction, Unit};

/// A graph under construction, with the values of its constants.
#[derive(Default)]
pub(crate) struct Build {
    pub(crate) graph: Graph,
    pub(crate) fields: Vec<Field>,
    /// Values of constants that are lists or maps, by constant.
    values: Vec<(usize, u64)>,
    places: u32,
}

impl Build {
    pub(crate) fn add(&mut self, op: Op, ty: Ty, args: &[NodeId]) -> NodeId {
        self.places += 1;
        let origin = Origin { start: self.places, end: self.places + 1 };
        self.graph.add(op, ty, args, origin)
    }

    pub(crate) fn constant(&mut self, constant: Constant, ty: Ty) -> NodeId {
        let id = self.graph.constant(constant);
        self.add(Op::Const(id), ty, &[])
    }

    pub(crate) fn int(&mut self, n: i64) -> NodeId {
        self.constant(Constant::Int(n), Ty::Int)
    }

    pub(crate) fn bool(&mut self, b: bool) -> NodeId {
        self.constant(Constant::Bool(b), Ty::Bool)
    }

    pub(crate) fn text(&mut self, text: &str) -> NodeId {
        self.constant(Constant::Str(text.into()), Ty::Str)
    }

    /// A constant list, whose value is given.
    pub(crate) fn value(&mut self, value: Value) -> NodeId {
        let n = self.values.len() as i64;
        let id = self.graph.constant(Constant::List([Constant::Int(n)].into()));
        self.values.push((id.0 as usize, leak(value)));
        self.add(Op::Const(id), Ty::Value, &[])
    }

    pub(crate) fn constants(&self) -> Vec<ConstantAddress> {
        let address = |constant: &Constant| {
            let text = |bytes: &[u8], tag: u8| {
                let kept: &'static [u8] = Box::leak(bytes.to_vec().into_boxed_slice());
                let value = Value::new(tag, kept.as_ptr() as u64, kept.len() as u64);
                ConstantAddress { data: kept.as_ptr() as usize, len: kept.len(), value: leak(value) as usize }
            };
            let object = |text: String| {
                let text = Box::leak(Box::new(text));
                ConstantAddress { data: std::ptr::from_mut(text) as usize, ..Default::default() }
            };
            let bytes = |bytes: &[u8]| {
                let bytes = Box::leak(Box::new(bytes.to_vec()));
                ConstantAddress { data: std::ptr::from_mut(bytes) as usize, ..Default::default() }
            };
            match constant {
                Constant::Str(s) => text(s.as_bytes(), tag::STRING),
                Constant::Bytes(b) => text(b, tag::BYTES),
                Constant::Int(n) => ConstantAddress { value: leak(Value::int(*n)) as usize, ..Default::default() },
                Constant::HeaderName(name) | Constant::Regex(name) | Constant::ByteRegex(name) => {
                    object(name.to_string())
                }
                Constant::Searcher(needle) => bytes(needle),
                Constant::Wildcard(wildcard) => {
                    let wildcard = Box::leak(Box::new(wildcard.clone()));
                    ConstantAddress { data: std::ptr::from_mut(wildcard) as usize, ..Default::default() }
                }
                Constant::IntSet(members) => {
                    object(members.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
                }
                Constant::StrSet(members) => {
                    let members: Vec<Vec<u8>> = members.iter().map(|member| member.to_vec()).collect();
                    let members = Box::leak(Box::new(members));
                    ConstantAddress { data: std::ptr::from_mut(members) as usize, ..Default::default() }
                }
                _ => ConstantAddress::default(),
            }
        };
        let mut all: Vec<_> = self.graph.constants().iter().map(address).collect();
        for &(id, value) in &self.values {
            all[id].value = value as usize;
        }
        all
    }

    pub(crate) fn with_unit<T>(&self, f: impl FnOnce(&Unit<'_>) -> T) -> T {
        let (constants, helpers) = (self.constants(), helpers());
        f(&Unit {
            graph: &self.graph,
            fields: &self.fields,
            constants: &constants,
            helpers: &helpers,
            functions: &functions(),
            steps: None,
            literals: &[],
        })
    }

    /// Compiles three times with one compiler, with the constants at different addresses each time:
    /// small functions of the third are copies of those of the second.
    pub(crate) fn try_compile(&self) -> Result<Code, Error> {
        let mut compiler = Compiler::new(&Settings::default()).unwrap();
        self.with_unit(|unit| compiler.compile(unit))?;
        self.with_unit(|unit| compiler.compile(unit))?;
        self.with_unit(|unit| compiler.compile(unit))
    }

    pub(crate) fn compile(&self) -> Code {
        self.try_compile().unwrap()
    }

    /// Compiles one root and runs it on a host.
    pub(crate) fn run_on<T>(&mut self, root: NodeId, host: &T) -> Outcome {
        self.graph.add_root(root);
        let code = self.compile();
        run(&code, self.graph.roots().len() - 1, host)
    }

    pub(crate) fn run(&mut self, root: NodeId) -> Outcome {
        self.run_on(root, &0_u64)
    }
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) word: u64,
    pub(crate) result: [u64; 4],
    pub(crate) fuel: i64,
}

impl Outcome {
    pub(crate) fn bool(self) -> Result<bool, ErrorKind> {
        match self.word {
            0 => Ok(false),
            1 => Ok(true),
            word => Err(ErrorWord(word).unpack().0),
        }
    }

    pub(crate) fn words(self) -> Result<[u64; 2], ErrorKind> {
        match self.word {
            0 => Ok([self.result[0], self.result[1]]),
            word => Err(ErrorWord(word).unpack().0),
        }
    }

    pub(crate) fn int(self) -> Result<i64, ErrorKind> {
        self.words().map(|words| words[0] as i64)
    }

    pub(crate) fn text(self) -> Result<&'static str, ErrorKind> {
        self.words().map(|words| std::str::from_utf8(slice(words[0], words[1])).unwrap())
    }

    pub(crate) fn show(self) -> Result<String, ErrorKind> {
        self.words()?;
        let [tag, first, second, third] = self.result;
        Ok(Value { tag, first, second, third }.show())
    }
}

pub(crate) fn run<T>(code: &Code, root: usize, host: &T) -> Outcome {
    run_with(code, root, host, 1000)
}

pub(crate) fn run_with<T>(code: &Code, root: usize, host: &T, fuel: i64) -> Outcome {
    start(code.entry(root).unwrap(), host, Frame { fuel, rest: [0; 3], out: 0, more: 0, result: [u64::MAX; 4] })
}

/// Runs shared code with the parameter row of a rule.
pub(crate) fn run_shared<T>(function: &SharedFunction, host: &T) -> Outcome {
    let entry = function.code.entry(0).unwrap().with_row(&function.row);
    start(entry, host, Frame { fuel: 1000, rest: [0; 3], out: 0, more: 0, result: [u64::MAX; 4] })
}

/// Runs a template on a parameter row.
pub(crate) fn run_row<T>(code: &Code, function: usize, host: &T, row: &[u64]) -> Outcome {
    let mut result = [u64::MAX; 4];
    result[(layout::parameter_row::ADDRESS - layout::frame::RESULT) as usize / 8] = row.as_ptr() as u64;
    start(code.entry(function).unwrap(), host, Frame { fuel: 1000, rest: [0; 3], out: 0, more: 0, result })
}

fn start<T>(entry: Entry<'_>, host: &T, mut frame: Frame) -> Outcome {
    // SAFETY: as below.
    let text = entry
        .text()
        .map(|entry| unsafe { entry.call(std::ptr::from_ref(host).cast(), std::ptr::from_mut(&mut frame).cast()) });
    if let Some(text) = text {
        let failed = text.address.is_null();
        frame.result[..2].copy_from_slice(&[text.address as u64, text.length]);
        return Outcome { word: if failed { text.length } else { 0 }, result: frame.result, fuel: frame.fuel };
    }
    // SAFETY: the frame is laid out as the compiler takes it to be, and the helpers are those of `runtime`.
    let word = unsafe { entry.call(std::ptr::from_ref(host).cast(), std::ptr::from_mut(&mut frame).cast()) };
    Outcome { word, result: frame.result, fuel: frame.fuel }
}
