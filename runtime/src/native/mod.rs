//! The native tier: prepares constants, has the graph compiled, calls the code.
//!
//! This folder holds all of this crate's `unsafe` code; elsewhere only `unsafe impl`s promise layouts. What makes it sound: native code is made from graphs that
//! [`lower`](crate::lower) builds and `celero_ir::verify` accepts, reads fields as the [`Context`](crate::Context) trait's
//! contract says, and calls helpers as the table says; [`layout`] asserts the rest.

mod frame;
mod group;
#[cfg(feature = "http")]
mod header_table;
mod layout;
mod manual;
mod pool;
mod shims;

pub(crate) use group::{Answer, Draft, Finished, Groups, Part, Stops};

use crate::arena::Arena;
use crate::context::Context;
use crate::error::EvalError;
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::{Callee, Calls};
use crate::value::{Duration, Timestamp, Value};
use celero_ir::{ErrorKind, ErrorWord, Graph, Op, Origin, Ty};
use celero_jit::{Code, Compiler, ContextEntry, Entry, Listing, Unit};
use celero_matching::pattern::PatternCache;
use frame::{Base, Frame, Outcome};
use pool::Pool;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, LazyLock};

static HELPERS: LazyLock<[usize; celero_ir::Helper::COUNT]> = LazyLock::new(shims::addresses);

/// The compiled form of one graph with one root. What a call needs first lies in it, and not behind its pointer.
#[derive(Clone, Debug)]
pub(crate) struct Native {
    way: Way,
    /// The budget of an evaluation.
    steps: i64,
    result: Ty,
    compiled: Arc<Compiled>,
}

/// The function of a [`Compiled`], and what calling it takes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// The context alone: the result is a truth value, and no helper is called.
    Bare(ContextEntry<'static>),
    /// The base of a frame: the result is a truth value, and the arena is used only where a header is sent twice or is not
    /// UTF-8.
    Framed(Entry<'static>),
    /// A frame, and an arena with room.
    Roomy(Entry<'static>),
}

#[derive(Debug)]
struct Compiled {
    code: Code,
    /// Holds what the code refers to by address.
    _pool: Pool,
    callees: Box<[Callee]>,
}

/// Why there is no native code.
#[derive(Debug)]
pub(crate) enum NativeError {
    /// A constant could not be prepared within the limits.
    Constant(ErrorKind),
    /// A function in the graph that was never lowered: a defect.
    Function,
    /// The compiler refused.
    Compile(celero_jit::Error),
}

impl std::fmt::Display for NativeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(kind) => write!(f, "a constant cannot be prepared: {kind}"),
            Self::Function => f.write_str("internal error: the graph calls an unknown function"),
            Self::Compile(error) => error.fmt(f),
        }
    }
}

/// What the code is made with.
pub(crate) struct Input<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) fields: &'a [celero_ir::layout::Field],
    pub(crate) calls: &'a Calls,
    /// The patterns among the constants.
    pub(crate) patterns: &'a PatternCache,
    /// Most bytes of text and values among the constants.
    pub(crate) constant_bytes: usize,
    /// The budget of every evaluation.
    pub(crate) steps: i64,
}

impl Native {
    /// Compiles a graph; where `listings` is given, for people to read as well.
    pub(crate) fn compile(
        compiler: &mut Compiler,
        input: Input<'_>,
        listings: Option<&mut Vec<Listing>>,
    ) -> Result<Self, NativeError> {
        let Input { graph, fields, calls, patterns, constant_bytes, steps } = input;
        let callees = calls.numbered(graph).ok_or(NativeError::Function)?;
        let pool = Pool::new(graph.constants(), patterns, constant_bytes).map_err(NativeError::Constant)?;
        let unit = Unit { graph, fields, constants: pool.addresses(), helpers: &*HELPERS, steps: Some(steps) };
        let code = compiler.compile(&unit).map_err(NativeError::Compile)?;
        if let Some(listings) = listings {
            *listings = compiler.explain(&unit).map_err(NativeError::Compile)?;
        }
        let result = graph.roots().first().map_or(Ty::Value, |&root| graph.ty(root));
        let compiled = Arc::new(Compiled { code, _pool: pool, callees });
        let entry = compiled.code.entry(0).ok_or(NativeError::Function)?;
        // SAFETY: the code that the entry borrows is owned by `compiled`, which goes with it, and nobody gets the entry.
        let entry = unsafe { std::mem::transmute::<Entry<'_>, Entry<'static>>(entry) };
        let way = match (result, entry.context_only()) {
            (Ty::Bool, Some(bare)) => Way::Bare(bare),
            (Ty::Bool, None) if !builds(graph, fields) => Way::Framed(entry),
            _ => Way::Roomy(entry),
        };
        Ok(Self { way, steps, result, compiled })
    }

    /// The code as a rule that gets the context alone, if it is one.
    #[inline]
    pub(crate) fn bare(&self) -> Option<Bare<'_>> {
        if let Way::Bare(entry) = self.way { Some(Bare(entry)) } else { None }
    }

    /// The code as a rule that gets the base of a frame, if it is one.
    #[inline]
    pub(crate) fn framed(&self) -> Option<Framed<'_>> {
        if let Way::Framed(entry) = self.way { Some(Framed { entry, steps: self.steps }) } else { None }
    }

    /// The code.
    pub(crate) fn code(&self) -> &Code {
        &self.compiled.code
    }

    /// Bytes of machine code.
    pub(crate) fn code_size(&self) -> usize {
        self.compiled.code.size()
    }

    /// Runs the code on a context.
    #[inline]
    pub(crate) fn run<'a, C: Context>(
        &'a self,
        context: &'a C,
        functions: &'a Functions,
        arena: &'a Arena,
    ) -> Result<Value<'a>, EvalError> {
        let (base, result) = (Base::new(Cx::new(self.steps, arena)), Outcome { nothing: () });
        let mut frame = Frame { base, result, host: context, functions, callees: &self.compiled.callees };
        let (host, given) = (std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast());
        // SAFETY: the frame is laid out as the code expects (`layout`), the context is of the type that the code was
        // compiled for, as `Program` knows, and the pool that the code refers to is alive in `self`.
        let word = unsafe {
            match self.way {
                Way::Bare(entry) => entry.call(host),
                Way::Framed(entry) | Way::Roomy(entry) => entry.call(host, given),
            }
        };
        if frame.panicked.get() {
            return Err(HOST);
        }
        if word > 1 {
            return Err(failure(word));
        }
        self.outcome(word, &frame)
    }

    /// The result: a truth value is the word that the code answered, others it left in the frame.
    #[inline]
    fn outcome<'a>(&self, word: u64, frame: &Frame<'a>) -> Result<Value<'a>, EvalError> {
        // SAFETY: native code that ends without an error leaves as many words as the root's type has; a whole value, which
        // has bytes without content, is not read as words. `bytes` is for roots of these types.
        let (first, second, bytes) = unsafe { (|| frame.word(0), || frame.word(1), || frame.bytes()) };
        // Each arm makes the whole answer: put together after them, it would be copied in pieces that don't fit its words.
        match self.result {
            Ty::Bool => Ok(Value::Bool(word == 1)),
            Ty::Int => Ok(Value::Int(first().cast_signed())),
            Ty::Uint => Ok(Value::Uint(first())),
            Ty::Double => Ok(Value::Double(f64::from_bits(first()))),
            // SAFETY: a `str` node is valid UTF-8.
            Ty::Str => Ok(Value::String(unsafe { std::str::from_utf8_unchecked(bytes()) })),
            Ty::Bytes | Ty::Raw | Ty::Maybe => Ok(Value::Bytes(bytes())),
            Ty::Duration => Ok(Value::Duration(Duration(first().cast_signed()))),
            Ty::Timestamp => {
                Ok(Value::Timestamp(Timestamp { seconds: first().cast_signed(), nanos: second().cast_signed() }))
            }
            // No root is one.
            Ty::Seq | Ty::Found => Ok(Value::Null),
            Ty::Ip => Ok(Value::Ip(ip_of_words([first(), second()]))),
            // SAFETY: for a root of type `value` native code copies a whole value here.
            Ty::Value => Ok(unsafe { frame.result.value }),
        }
    }
}

/// See [`Native::bare`].
#[derive(Clone, Copy)]
pub(crate) struct Bare<'a>(ContextEntry<'a>);

impl Bare<'_> {
    /// Runs the code: the truth value, or an [`ErrorWord`].
    #[inline]
    pub(crate) fn decide<C: Context>(self, context: &C) -> u64 {
        // SAFETY: as in `Native::run`.
        unsafe { self.0.call(std::ptr::from_ref(context).cast()) }
    }
}

/// See [`Native::framed`].
#[derive(Clone, Copy)]
pub(crate) struct Framed<'a> {
    entry: Entry<'a>,
    steps: i64,
}

impl Framed<'_> {
    /// Runs the code: the truth value, or an [`ErrorWord`].
    #[inline]
    pub(crate) fn decide<C: Context>(self, context: &C, arena: &Arena) -> u64 {
        let mut base = Base::new(Cx::new(self.steps, arena));
        // SAFETY: as in `Native::run`; such code needs no more of a frame than its base.
        let word = unsafe { self.entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut base).cast()) };
        if base.panicked.get() { word_of(&HOST) } else { word }
    }
}

/// The address that the two words of a [`Ty::Ip`] hold. An IPv4 address is stored in its IPv4-mapped form.
fn ip_of_words([high, low]: [u64; 2]) -> IpAddr {
    Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).to_canonical()
}

/// The host's fault, at no place of the rule.
pub(crate) const HOST: EvalError = EvalError { kind: ErrorKind::Host, start: 0, end: 0 };

/// The error of a word that is no truth value.
#[inline]
pub(crate) fn failure(word: u64) -> EvalError {
    let (kind, origin) = ErrorWord(word).unpack();
    EvalError { kind, start: origin.start, end: origin.end }
}

/// The word of an error. None is lost: sources are shorter than an [`ErrorWord`] has room for.
pub(crate) fn word_of(error: &EvalError) -> u64 {
    ErrorWord::new(error.kind, Origin { start: error.start, end: error.end }).0
}

/// Whether evaluating the graph builds something as a rule. Whatever asks the host or a function by number does, so that the
/// helpers for that get a whole [`Frame`].
fn builds(graph: &Graph, fields: &[celero_ir::layout::Field]) -> bool {
    (0..graph.len()).any(|i| {
        let id = celero_ir::NodeId(u32::try_from(i).unwrap_or(u32::MAX));
        match graph.op(id) {
            Op::Field(index) | Op::HasField(index) => {
                fields.get(index as usize).is_some_and(|field| matches!(field.access, celero_ir::layout::Access::Get))
            }
            // Elements of the host are read where they lie.
            Op::Fold { .. } => graph.args(id).first().is_none_or(|&range| !matches!(graph.op(range), Op::Elements(_))),
            Op::List | Op::Map | Op::Dispatch { .. } | Op::IpText | Op::Project(_) | Op::Find(_) => true,
            Op::Call(helper) => {
                let decl = helper.decl();
                matches!(decl.result, celero_ir::Param::Node(Ty::Value | Ty::Str | Ty::Bytes))
            }
            _ => false,
        }
    })
}
