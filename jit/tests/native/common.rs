//! A runtime just large enough to run compiled graphs: a frame, values, and the helpers that tests need.

use celero_ir::layout::value::tag;
use celero_ir::layout::{self, Field};
use celero_ir::{Constant, ErrorKind, ErrorWord, Graph, Helper, NodeId, Op, Origin, Ty};
use celero_jit::{Code, Compiler, ConstantAddress, Error, Settings, Unit};
use std::cell::Cell;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) tag: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) third: u64,
}

/// Tags of the tests' own: a list or map is a leaked vector of values; a map has keys and values by turns.
pub(crate) const LIST: u64 = 20;
pub(crate) const MAP: u64 = 21;

impl Value {
    pub(crate) fn new(tag: u8, first: u64, second: u64) -> Self {
        Self { tag: u64::from(tag), first, second, third: 0 }
    }

    pub(crate) fn int(n: i64) -> Self {
        Self::new(tag::INT, n as u64, 0)
    }

    pub(crate) fn text(text: &'static str) -> Self {
        Self::new(tag::STRING, text.as_ptr() as u64, text.len() as u64)
    }

    pub(crate) fn sequence(tag: u64, items: Vec<Value>) -> Self {
        let items = Box::leak(Box::new(items));
        Self { tag, first: std::ptr::from_mut(items) as u64, second: 0, third: 0 }
    }

    pub(crate) fn list(items: Vec<Value>) -> Self {
        Self::sequence(LIST, items)
    }

    pub(crate) fn ints(items: impl IntoIterator<Item = i64>) -> Self {
        Self::list(items.into_iter().map(Self::int).collect())
    }

    pub(crate) fn items(&self) -> &'static mut Vec<Value> {
        assert!(self.tag == LIST || self.tag == MAP);
        // SAFETY: made by `sequence`, never freed, used by one thread and by nobody else meanwhile.
        unsafe { &mut *(self.first as *mut Vec<Value>) }
    }

    /// A readable form, lists in brackets.
    pub(crate) fn show(&self) -> String {
        match self.tag {
            LIST => format!("[{}]", self.items().iter().map(Value::show).collect::<Vec<_>>().join(" ")),
            MAP => format!("{{{}}}", self.items().iter().map(Value::show).collect::<Vec<_>>().join(" ")),
            t if t == u64::from(tag::STRING) => {
                format!("{:?}", String::from_utf8_lossy(slice(self.first, self.second)))
            }
            t if t == u64::from(tag::DOUBLE) => format!("{:?}", f64::from_bits(self.first)),
            t if t == u64::from(tag::UINT) => format!("{}u", self.first),
            t if t == u64::from(tag::BOOL) => format!("{}", self.first as u8 == 1),
            t if t == u64::from(tag::NULL) => "null".into(),
            t if t == u64::from(tag::TIMESTAMP) => format!("{}.{}", self.first as i64, self.second),
            _ => format!("{}", self.first as i64),
        }
    }
}

pub(crate) fn slice(address: u64, length: u64) -> &'static [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: tests pass addresses of text that outlives the evaluation.
    unsafe { std::slice::from_raw_parts(address as *const u8, length as usize) }
}

#[repr(C)]
pub(crate) struct Frame {
    pub(crate) fuel: i64,
    /// The host language's own.
    pub(crate) rest: u64,
    pub(crate) out: u64,
    /// The host language's own, too.
    pub(crate) more: u64,
    pub(crate) result: [u64; 4],
}

const _: () = {
    use celero_ir::layout::frame;
    assert!(std::mem::offset_of!(Frame, fuel) == frame::FUEL as usize);
    assert!(std::mem::offset_of!(Frame, out) == frame::OUT as usize);
    assert!(std::mem::offset_of!(Frame, result) == frame::RESULT as usize);
};

#[repr(C)]
pub(crate) struct Pair(pub(crate) u64, pub(crate) u64);

thread_local! {
    /// How often any helper was called, by its place in the table.
    pub(crate) static CALLS: [Cell<u32>; Helper::COUNT] = const { [const { Cell::new(0) }; Helper::COUNT] };
    /// Makes `header_get` fail.
    pub(crate) static BREAK_HEADERS: Cell<bool> = const { Cell::new(false) };
}

fn count(helper: Helper) {
    CALLS.with(|calls| calls[helper as usize].set(calls[helper as usize].get() + 1));
}

pub(crate) fn calls(helper: Helper) -> u32 {
    CALLS.with(|calls| calls[helper as usize].take())
}

fn leak(value: Value) -> u64 {
    std::ptr::from_mut(Box::leak(Box::new(value))) as u64
}

fn at(address: u64) -> Value {
    // SAFETY: generated code passes addresses of values.
    unsafe { *(address as *const Value) }
}

fn fail(kind: ErrorKind) -> Pair {
    Pair(kind as u64, 0)
}

/// A host's headers: pairs of name and value.
pub(crate) struct Headers(pub(crate) Vec<(String, String)>);

extern "C" fn header_get(_: *mut Frame, map: u64, name: u64) -> Pair {
    count(Helper::header_get);
    if BREAK_HEADERS.get() {
        return Pair(0, ErrorKind::OutOfBudget as u64);
    }
    // SAFETY: tests point the field at `Headers`, and the constant at a `String`.
    let (map, name) = unsafe { (&*(map as *const Headers), &*(name as *const String)) };
    match map.0.iter().find(|(key, _)| key == name) {
        Some((_, value)) => Pair(value.as_ptr() as u64, value.len() as u64),
        None => Pair(0, 0),
    }
}

extern "C" fn field_get(_: *mut Frame, index: u64) -> Pair {
    count(Helper::field_get);
    match index {
        100.. => fail(ErrorKind::NoSuchKey),
        _ => Pair(0, leak(Value::int(index as i64 + 1000))),
    }
}

extern "C" fn field_has(_: *mut Frame, index: u64) -> u64 {
    u64::from(index < 100)
}

extern "C" fn text_decode(_: *mut Frame, address: u64, length: u64) -> Pair {
    count(Helper::text_decode);
    if slice(address, length) == b"BAD" { Pair(0, ErrorKind::OutOfBudget as u64) } else { Pair(address, length) }
}

extern "C" fn string_add(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> Pair {
    let joined = Box::leak([slice(a, an), slice(b, bn)].concat().into_boxed_slice());
    Pair(joined.as_ptr() as u64, joined.len() as u64)
}

extern "C" fn bytes_equal(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    count(Helper::bytes_equal);
    assert_eq!(an, bn);
    u64::from(slice(a, an) == slice(b, bn))
}

extern "C" fn bytes_compare(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> i64 {
    slice(a, an).cmp(slice(b, bn)) as i64
}

extern "C" fn string_starts_with(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    u64::from(slice(a, an).starts_with(slice(b, bn)))
}

extern "C" fn string_ends_with(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    u64::from(slice(a, an).ends_with(slice(b, bn)))
}

extern "C" fn str_set_has(_: *mut Frame, set: u64, text: u64, length: u64) -> u64 {
    // SAFETY: the constant is a vector of strings.
    let set = unsafe { &*(set as *const Vec<String>) };
    u64::from(set.iter().any(|member| member.as_bytes() == slice(text, length)))
}

/// The prepared object of the helpers below is a `String`; they compare it with what they are given.
fn prepared(address: u64) -> &'static str {
    // SAFETY: see `Build::constants`.
    unsafe { &*(address as *const String) }
}

extern "C" fn searcher_find(_: *mut Frame, searcher: u64, text: u64, length: u64) -> Pair {
    let needle = prepared(searcher);
    Pair(0, u64::from(slice(text, length).windows(needle.len()).any(|w| w == needle.as_bytes())))
}

extern "C" fn regex_find(_: *mut Frame, regex: u64, text: u64, length: u64) -> Pair {
    Pair(0, u64::from(slice(text, length).ends_with(prepared(regex).trim_end_matches('$').as_bytes())))
}

extern "C" fn int_set_has(_: *mut Frame, set: u64, number: i64) -> u64 {
    u64::from(prepared(set).split(',').any(|member| member == number.to_string()))
}

extern "C" fn ip_text(_: *mut Frame, high: u64, low: u64) -> Pair {
    let number = u128::from(high) << 64 | u128::from(low);
    let text = std::net::Ipv6Addr::from_bits(number).to_canonical().to_string().leak();
    Pair(text.as_ptr() as u64, text.len() as u64)
}

extern "C" fn value_new(_: *mut Frame, tag: u64, first: u64, second: u64) -> Pair {
    count(Helper::value_new);
    Pair(0, leak(Value { tag, first, second, third: 0 }))
}

extern "C" fn value_equal(_: *mut Frame, a: u64, b: u64) -> Pair {
    count(Helper::value_equal);
    Pair(0, u64::from(at(a).show() == at(b).show()))
}

extern "C" fn range_items(_: *mut Frame, range: u64) -> Pair {
    let range = at(range);
    match range.tag {
        LIST => Pair(0, leak(range)),
        MAP => Pair(0, leak(Value::list(range.items().iter().step_by(2).copied().collect()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn map_only(_: *mut Frame, value: u64) -> Pair {
    if at(value).tag == MAP { Pair(0, value) } else { fail(ErrorKind::NoSuchOverload) }
}

extern "C" fn range_pairs(_: *mut Frame, range: u64) -> Pair {
    let range = at(range);
    match range.tag {
        LIST => {
            let pairs = range.items().iter().enumerate().flat_map(|(i, v)| [Value::int(i as i64), *v]);
            Pair(0, leak(Value::list(pairs.collect())))
        }
        MAP => Pair(0, leak(Value::list(range.items().clone()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn list_len(_: *mut Frame, list: u64) -> i64 {
    at(list).items().len() as i64
}

extern "C" fn list_at(_: *mut Frame, list: u64, index: u64) -> Pair {
    count(Helper::list_at);
    Pair(0, leak(at(list).items()[index as usize]))
}

extern "C" fn begin(_: *mut Frame, capacity: u64) -> Pair {
    assert!(capacity < 1 << 20);
    Pair(0, std::ptr::from_mut(Box::leak(Box::new(Vec::<Value>::new()))) as u64)
}

fn builder(address: u64) -> &'static mut Vec<Value> {
    // SAFETY: made by `begin`.
    unsafe { &mut *(address as *mut Vec<Value>) }
}

extern "C" fn list_push(_: *mut Frame, list: u64, element: u64) -> Pair {
    builder(list).push(at(element));
    Pair(0, 0)
}

extern "C" fn list_finish(_: *mut Frame, list: u64) -> Pair {
    Pair(0, leak(Value::list(builder(list).clone())))
}

extern "C" fn map_insert(_: *mut Frame, map: u64, key: u64, element: u64) -> Pair {
    let (map, key) = (builder(map), at(key));
    if map.iter().step_by(2).any(|known| known.show() == key.show()) {
        return fail(ErrorKind::DuplicateKey);
    }
    map.extend([key, at(element)]);
    Pair(0, 0)
}

extern "C" fn map_merge(frame: *mut Frame, map: u64, entries: u64) -> Pair {
    for entry in at(entries).items().chunks(2) {
        let done = map_insert(frame, map, leak(entry[0]), leak(entry[1]));
        if done.0 != 0 {
            return done;
        }
    }
    Pair(0, 0)
}

extern "C" fn map_finish(_: *mut Frame, map: u64) -> Pair {
    Pair(0, leak(Value::sequence(MAP, builder(map).clone())))
}

/// Function 0 lists its operands; function 1 fails; function 2 adds integers.
extern "C" fn dispatch(_: *mut Frame, function: u64, operands: u64, count: u64) -> Pair {
    // SAFETY: generated code passes the address of so many addresses.
    let operands = unsafe { std::slice::from_raw_parts(operands as *const u64, count as usize) };
    let values = operands.iter().map(|&operand| at(operand));
    match function {
        0 => Pair(0, leak(Value::list(values.collect()))),
        2 => Pair(0, leak(Value::int(values.map(|v| v.first as i64).sum()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn size(_: *mut Frame, value: u64) -> Pair {
    match at(value).tag {
        LIST => Pair(0, at(value).items().len() as u64),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn missing() {
    std::process::abort()
}

pub(crate) fn helpers() -> Vec<usize> {
    let address = |helper: Helper| match helper {
        Helper::header_get => header_get as *const () as usize,
        Helper::field_get => field_get as *const () as usize,
        Helper::field_has => field_has as *const () as usize,
        Helper::text_decode => text_decode as *const () as usize,
        Helper::string_add => string_add as *const () as usize,
        Helper::bytes_equal => bytes_equal as *const () as usize,
        Helper::bytes_compare => bytes_compare as *const () as usize,
        Helper::string_starts_with => string_starts_with as *const () as usize,
        Helper::string_ends_with => string_ends_with as *const () as usize,
        Helper::str_set_has => str_set_has as *const () as usize,
        Helper::searcher_find => searcher_find as *const () as usize,
        Helper::regex_find => regex_find as *const () as usize,
        Helper::int_set_has => int_set_has as *const () as usize,
        Helper::ip_text => ip_text as *const () as usize,
        Helper::value_new => value_new as *const () as usize,
        Helper::value_equal => value_equal as *const () as usize,
        Helper::range_items => range_items as *const () as usize,
        Helper::map_only => map_only as *const () as usize,
        Helper::range_pairs => range_pairs as *const () as usize,
        Helper::list_len => list_len as *const () as usize,
        Helper::list_at => list_at as *const () as usize,
        Helper::list_begin | Helper::map_begin => begin as *const () as usize,
        Helper::list_push => list_push as *const () as usize,
        Helper::list_finish => list_finish as *const () as usize,
        Helper::map_insert => map_insert as *const () as usize,
        Helper::map_merge => map_merge as *const () as usize,
        Helper::map_finish => map_finish as *const () as usize,
        Helper::dispatch => dispatch as *const () as usize,
        Helper::size => size as *const () as usize,
        _ => missing as *const () as usize,
    };
    Helper::ALL.iter().map(|&helper| address(helper)).collect()
}

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
            match constant {
                Constant::Str(s) => text(s.as_bytes(), tag::STRING),
                Constant::Bytes(b) => text(b, tag::BYTES),
                Constant::Int(n) => ConstantAddress { value: leak(Value::int(*n)) as usize, ..Default::default() },
                Constant::HeaderName(name) | Constant::Searcher(name) | Constant::Regex(name) => {
                    object(name.to_string())
                }
                Constant::IntSet(members) => {
                    object(members.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
                }
                Constant::StrSet(members) => {
                    let members: Vec<String> = members.iter().map(ToString::to_string).collect();
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
        f(&Unit { graph: &self.graph, fields: &self.fields, constants: &constants, helpers: &helpers, steps: None })
    }

    pub(crate) fn try_compile(&self) -> Result<Code, Error> {
        self.with_unit(|unit| Compiler::new(&Settings::default()).unwrap().compile(unit))
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
    start(code, root, host, Frame { fuel, rest: 0, out: 0, more: 0, result: [u64::MAX; 4] })
}

/// Runs a function on a row of constants.
pub(crate) fn run_row<T>(code: &Code, function: usize, host: &T, row: &[u64]) -> Outcome {
    let mut result = [u64::MAX; 4];
    result[(layout::parameter_row::ADDRESS - layout::frame::RESULT) as usize / 8] = row.as_ptr() as u64;
    start(code, function, host, Frame { fuel: 1000, rest: 0, out: 0, more: 0, result })
}

fn start<T>(code: &Code, root: usize, host: &T, mut frame: Frame) -> Outcome {
    let entry = code.entry(root).unwrap();
    // SAFETY: the frame is laid out as the compiler takes it to be, and the helpers are those of this file.
    let word = unsafe { entry.call(std::ptr::from_ref(host).cast(), std::ptr::from_mut(&mut frame).cast()) };
    Outcome { word, result: frame.result, fuel: frame.fuel }
}
