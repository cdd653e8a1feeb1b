//! The native code of one rule: prepared constants, machine code, and the call.

use super::entry_abi::{BaseFrameCode, ContextOnlyCode, EntryAbi, FrameNeeded, FullFrameCode, TextCode};
use super::frame::Frame;
use super::function_entries::addresses;
use super::literal_batches::LiteralBatches;
use super::pool::Pool;
use super::{HELPERS, NativeError, failure, word_of};
use crate::arena::Arena;
use crate::context::Context;
use crate::cx::{Cx, CxSettings};
use crate::error::EvalError;
use crate::function::Functions;
use crate::lower::{Callee, Calls};
use crate::value::Value;
use celero_ir::layout::Field;
use celero_ir::{Graph, NodeId, Ty};
use celero_jit::{Code, Compiler, Entry, Listing, SharedFunction, Unit};
use celero_lists::View as ListsView;
use celero_matching::pattern::PatternCache;
use std::sync::Arc;

/// The compiled form of a graph with one root.
///
/// The members that every call reads come first and are stored here, not behind the pointer.
#[derive(Clone, Debug)]
pub(crate) struct NativeProgram {
    abi: EntryAbi,
    settings: CxSettings,
    result: Ty,
    compiled: Arc<Compiled>,
}

/// What the code refers to, shared by the clones of a program.
#[derive(Debug)]
struct Compiled {
    code: Arc<Code>,
    /// The parameter row of this rule, if the code is shared.
    row: Box<[u64]>,
    /// The objects whose addresses are in the code or in the row.
    _pool: Pool,
    callees: Box<[Callee]>,
}

/// What a program is compiled from.
pub(crate) struct Input<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) fields: &'a [Field],
    pub(crate) calls: &'a Calls,
    /// The compiled patterns that the graph's constants refer to.
    pub(crate) patterns: &'a PatternCache,
    /// Largest size of the text and values among the constants, in bytes.
    pub(crate) constant_bytes: usize,
    /// Budget of an evaluation, in steps.
    pub(crate) steps: i64,
    /// Whether the code may be shared with rules that differ in constants only.
    pub(crate) share: bool,
}

impl NativeProgram {
    /// Compiles a graph. If `listings` is given, also writes the intermediate and the machine code as text to it.
    ///
    /// # Errors
    /// See [`NativeError`].
    pub(crate) fn compile(
        compiler: &mut Compiler,
        input: Input<'_>,
        listings: Option<&mut Vec<Listing>>,
    ) -> Result<Self, NativeError> {
        let Input { graph, fields, calls, patterns, constant_bytes, steps, share } = input;
        let callees = calls.numbered(graph).ok_or(NativeError::Function)?;
        let mut pool = Pool::new(graph.constants(), patterns, constant_bytes).map_err(NativeError::Constant)?;
        let nodes: Vec<NodeId> = (0..).take(graph.len()).map(NodeId).collect();
        let batches = LiteralBatches::new(graph, graph.roots(), &nodes, &mut pool);
        let (constants, literals) = (pool.addresses(), batches.as_unit());
        let (helpers, functions) = (HELPERS.as_slice(), addresses(graph, &callees).ok_or(NativeError::Function)?);
        let steps_known = Some(steps);
        let unit =
            Unit { graph, fields, constants, helpers, functions: &functions, steps: steps_known, literals: &literals };
        let shared = share.then(|| graph.roots().first()).flatten().map(|&root| compiler.compile_shared(&unit, root));
        let SharedFunction { code, row } = match shared {
            // Shared code is a little longer than the rule's own, which may fit.
            Some(shared) if !matches!(shared, Err(celero_jit::Error::TooLarge { .. })) => {
                shared.map_err(NativeError::Compile)?
            }
            _ => {
                let code = Arc::new(compiler.compile(&unit).map_err(NativeError::Compile)?);
                SharedFunction { code, row: Box::default() }
            }
        };
        if let Some(listings) = listings {
            *listings = compiler.explain(&unit).map_err(NativeError::Compile)?;
        }
        let result = graph.roots().first().map_or(Ty::Value, |&root| graph.ty(root));
        let compiled = Arc::new(Compiled { code, row, _pool: pool, callees });
        let settings = CxSettings { steps, dialect: patterns.dialect() };
        let entry = compiled.code.entry(0).ok_or(NativeError::Function)?.with_row(&compiled.row);
        // SAFETY: the entry borrows code and a row that `compiled` owns and never changes. The
        // entry is stored beside `compiled`, and is given away only with the lifetime of a borrow
        // of the program.
        let entry = unsafe { std::mem::transmute::<Entry<'_>, Entry<'static>>(entry) };
        Ok(Self { abi: EntryAbi::choose(entry, result, graph, fields), settings, result, compiled })
    }

    /// Returns the code if it needs nothing but the context, and returns a truth value.
    #[inline(always)]
    pub(crate) fn context_only(&self) -> Option<ContextOnlyCode<'_>> {
        match self.abi {
            EntryAbi::ContextOnly(entry) => Some(ContextOnlyCode(entry)),
            _ => None,
        }
    }

    /// Returns the frame with which other code is called for a truth value.
    #[inline]
    pub(crate) fn frame(&self) -> FrameNeeded<'_> {
        match self.abi {
            EntryAbi::BaseFrame(entry) => FrameNeeded::Base(BaseFrameCode { entry, settings: self.settings }),
            EntryAbi::BaseFrameWithLists(_) => FrameNeeded::BaseWithLists,
            EntryAbi::BaseFrameWithMemory(entry) => {
                FrameNeeded::BaseWithMemory(BaseFrameCode { entry, settings: self.settings })
            }
            EntryAbi::ContextOnly(_) | EntryAbi::Text(_) | EntryAbi::FullFrame(_) => FrameNeeded::Whole,
        }
    }

    /// Returns the code if it is called with the base of a frame that has lists.
    pub(crate) fn with_lists(&self) -> Option<BaseFrameCode<'_>> {
        match self.abi {
            EntryAbi::BaseFrameWithLists(entry) => Some(BaseFrameCode { entry, settings: self.settings }),
            _ => None,
        }
    }

    /// Returns the code if it returns text and gets the base of a frame.
    #[inline]
    pub(crate) fn text(&self) -> Option<TextCode<'_>> {
        match self.abi {
            EntryAbi::Text(entry) => Some(TextCode { entry, settings: self.settings, result: self.result }),
            _ => None,
        }
    }

    /// Returns the code, for profilers.
    pub(crate) fn code(&self) -> &Code {
        &self.compiled.code
    }

    /// Returns the size of the machine code in bytes.
    pub(crate) fn code_size(&self) -> usize {
        self.compiled.code.size()
    }

    /// Runs the code on a context, whatever its ABI.
    ///
    /// # Errors
    /// The evaluation error; `host` if a helper panicked.
    #[inline]
    pub(crate) fn run<'a, C: Context>(
        &'a self,
        context: &'a C,
        functions: &'a Functions,
        arena: &'a Arena,
        lists: Option<&'a ListsView>,
    ) -> Result<Value<'a>, EvalError> {
        let word = match self.abi {
            EntryAbi::ContextOnly(entry) => ContextOnlyCode(entry).run(context),
            EntryAbi::BaseFrame(entry) | EntryAbi::BaseFrameWithLists(entry) | EntryAbi::BaseFrameWithMemory(entry) => {
                BaseFrameCode { entry, settings: self.settings }.run(context, arena, lists)
            }
            EntryAbi::Text(entry) => {
                let (settings, result) = (self.settings, self.result);
                return TextCode { entry, settings, result }.run(context, arena, lists);
            }
            EntryAbi::FullFrame(code) => {
                let cx = self.settings.cx(arena, lists);
                return self.run_with_whole_frame(code, context, functions, cx);
            }
        };
        if word > 1 { Err(failure(word)) } else { Ok(Value::Bool(word == 1)) }
    }

    /// [`run`](Self::run) for code that gets a whole frame. Not inlined: where both make the
    /// result, it would be copied in pieces.
    #[inline(never)]
    fn run_with_whole_frame<'a, C: Context>(
        &'a self,
        code: FullFrameCode,
        context: &'a C,
        functions: &'a Functions,
        cx: Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut frame = Frame::new(cx, context, functions, &self.compiled.callees);
        let (host, frame_address) = (std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast());
        // SAFETY: the frame has the layout that the code expects (`layout.rs` proves it); the
        // context is of the type that the code was compiled for, which the type parameter of
        // `Program` ensures; and `self` keeps alive the pool that the code refers to.
        let word = unsafe {
            match code {
                FullFrameCode::Truth(entry) | FullFrameCode::Other(entry) => entry.call(host, frame_address),
                FullFrameCode::Text(entry) => {
                    let text = entry.call(host, frame_address);
                    return frame.base.text(self.result, text);
                }
            }
        };
        if frame.panicked.get() {
            return Err(EvalError::HOST);
        }
        if word > 1 {
            return Err(failure(word));
        }
        // SAFETY: code for a root of type `self.result` has just run with this frame, and ended without an error.
        unsafe { frame.value(self.result, word) }
    }

    /// Runs code that gets a whole frame and returns a truth value, without making a [`Value`] of
    /// it. Returns 0 or 1, or an [`ErrorWord`](celero_ir::ErrorWord); `None` for other code.
    #[inline]
    pub(crate) fn test_with_whole_frame<C: Context>(
        &self,
        context: &C,
        functions: &Functions,
        arena: &Arena,
        lists: Option<&ListsView>,
    ) -> Option<u64> {
        let EntryAbi::FullFrame(FullFrameCode::Truth(entry)) = self.abi else { return None };
        let cx = self.settings.cx(arena, lists);
        let mut frame = Frame::new(cx, context, functions, &self.compiled.callees);
        // SAFETY: as in `run_with_whole_frame`.
        let word = unsafe { entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast()) };
        Some(if frame.panicked.get() { word_of(&EvalError::HOST) } else { word })
    }
}
