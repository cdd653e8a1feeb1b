//! The entry ABI of compiled code: which of context, evaluation frame and arena a call has to provide.

use super::frame::BaseFrame;
use super::word_of;
use crate::accessors::computed::is_always_made;
use crate::arena::Arena;
use crate::context::Context;
use crate::cx::CxSettings;
use crate::error::EvalError;
use crate::value::Value;
use celero_ir::layout::{Access, Field};
use celero_ir::{CallForm, FoldKind, Graph, Helper, NodeId, Op, Param, Ty};
use celero_jit::{ContextEntry, Entry, TextEntry};
use celero_lists::View as ListsView;

/// A compiled function, and what a call to it provides.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryAbi {
    /// Only the context. The result is a `bool`, and no helper that the code calls needs a frame.
    ContextOnly(ContextEntry<'static>),
    /// The context and the base of a frame. The result is a `bool`. The code rarely allocates: only
    /// to join header lines of one name, or to decode a header that is not UTF-8.
    BaseFrame(Entry<'static>),
    /// As `BaseFrame`, and the code asks named lists, which the frame must have.
    BaseFrameWithLists(Entry<'static>),
    /// As `BaseFrame`, but the code usually allocates.
    BaseFrameWithMemory(Entry<'static>),
    /// The context and the base of a frame, whose arena has capacity. The result is text, in registers.
    Text(TextEntry<'static>),
    /// The context and a whole frame, whose arena has capacity.
    FullFrame(FullFrameCode),
}

/// Code with the ABI [`EntryAbi::FullFrame`].
#[derive(Clone, Copy, Debug)]
pub(super) enum FullFrameCode {
    /// The result is text, in registers.
    Text(TextEntry<'static>),
    /// The result is a truth value.
    Truth(Entry<'static>),
    /// The result is in the frame.
    Other(Entry<'static>),
}

impl EntryAbi {
    /// Chooses the cheapest ABI for a function that was compiled from `graph` and has a result of type `result`.
    pub(super) fn choose(entry: Entry<'static>, result: Ty, graph: &Graph, fields: &[Field]) -> Self {
        if let Some(entry) = entry.text() {
            let whole = allocates(graph, fields);
            return if whole { Self::FullFrame(FullFrameCode::Text(entry)) } else { Self::Text(entry) };
        }
        if result != Ty::Bool {
            return Self::FullFrame(FullFrameCode::Other(entry));
        }
        if let Some(entry) = entry.context_only() {
            return Self::ContextOnly(entry);
        }
        match (allocates(graph, fields), asks_lists(graph)) {
            (false, false) => Self::BaseFrame(entry),
            (false, true) => Self::BaseFrameWithLists(entry),
            (true, false) if !needs_whole_frame(graph, fields) => Self::BaseFrameWithMemory(entry),
            (true, _) => Self::FullFrame(FullFrameCode::Truth(entry)),
        }
    }
}

fn nodes(graph: &Graph) -> impl Iterator<Item = NodeId> {
    (0..).take(graph.len()).map(NodeId)
}

/// Whether the code asks named lists.
fn asks_lists(graph: &Graph) -> bool {
    nodes(graph).any(|id| matches!(graph.op(id), Op::Call(helper) if helper.asks_lists()))
}

/// Whether a node calls a host's field, or a function that is chosen by the values' types: with a
/// whole [`Frame`](super::frame::Frame).
fn is_called_with_whole_frame(op: Op, fields: &[Field]) -> bool {
    match op {
        Op::Field(index) | Op::HasField(index) => {
            fields.get(index as usize).is_some_and(|field| field.access == Access::Get)
        }
        Op::Dispatch { .. } => true,
        _ => false,
    }
}

fn needs_whole_frame(graph: &Graph, fields: &[Field]) -> bool {
    nodes(graph).any(|id| is_called_with_whole_frame(graph.op(id), fields))
}

/// Whether evaluation usually allocates. Calls with a whole frame count as allocating.
pub(super) fn allocates(graph: &Graph, fields: &[Field]) -> bool {
    nodes(graph).any(|id| match graph.op(id) {
        op if is_called_with_whole_frame(op, fields) => true,
        Op::Field(index) => fields
            .get(index as usize)
            .is_some_and(|field| matches!(field.access, Access::MostlyText(_, show, _) if is_always_made(show))),
        Op::EntryValue(index) => {
            let value = fields.get(index as usize).and_then(|field| field.entries.as_ref()?.value.as_ref());
            value.is_none_or(|value| matches!(value.access, Access::Get))
        }
        // Elements of the host are read in place, by folds that build nothing.
        Op::Fold { kind: FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Count, .. } => {
            let in_place = |&range: &NodeId| matches!(graph.op(range), Op::Elements(_) | Op::Cursor(_));
            !graph.args(id).first().is_some_and(in_place)
        }
        Op::Fold { .. } => true,
        Op::List | Op::Map | Op::IpText | Op::Project(_) | Op::Find(_) => true,
        // What is done with a list, a map or an optional may need memory, whatever the result.
        Op::Invoke { form, .. } => {
            let value = |id: NodeId| graph.ty(id) == Ty::Value;
            form == CallForm::Impure
                || matches!(graph.ty(id), Ty::Value | Ty::Str | Ty::Bytes)
                || graph.args(id).iter().any(|&arg| value(arg))
        }
        // The list's own text.
        Op::Call(Helper::list_value_text) => false,
        Op::Call(helper) => {
            matches!(helper.decl().result, Param::Node(Ty::Value | Ty::Str | Ty::Bytes))
        }
        _ => false,
    })
}

/// The evaluation frame with which [`Program::test`](crate::Program::test) and
/// [`Program::test_with`](crate::Program::test_with) call the code.
#[derive(Clone, Copy)]
pub(crate) enum FrameNeeded<'a> {
    /// Its base, at first without memory.
    Base(BaseFrameCode<'a>),
    /// As `Base`, with the lists of a generation.
    BaseWithLists,
    /// Its base, with memory.
    BaseWithMemory(BaseFrameCode<'a>),
    /// A whole one, or none: as [`NativeProgram::run`](super::NativeProgram::run) does.
    Whole,
}

/// Code with the ABI [`EntryAbi::ContextOnly`].
#[derive(Clone, Copy)]
pub(crate) struct ContextOnlyCode<'a>(pub(super) ContextEntry<'a>);

impl ContextOnlyCode<'_> {
    /// Runs the code. Returns 0 or 1, or an [`ErrorWord`](celero_ir::ErrorWord).
    #[inline]
    pub(crate) fn run<C: Context>(self, context: &C) -> u64 {
        // SAFETY: as in `NativeProgram::run_with_whole_frame`.
        unsafe { self.0.call(std::ptr::from_ref(context).cast()) }
    }
}

/// Code with the ABI [`EntryAbi::Text`].
#[derive(Clone, Copy)]
pub(crate) struct TextCode<'a> {
    pub(super) entry: TextEntry<'a>,
    pub(super) settings: CxSettings,
    /// The type of the result.
    pub(super) result: Ty,
}

impl<'a> TextCode<'a> {
    /// Runs the code.
    ///
    /// # Errors
    /// The evaluation error; `host` if a helper panicked.
    #[inline(always)]
    pub(crate) fn run<C: Context>(
        self,
        context: &'a C,
        arena: &'a Arena,
        lists: Option<&'a ListsView>,
    ) -> Result<Value<'a>, EvalError> {
        let mut base = BaseFrame::new(self.settings.cx(arena, lists));
        // SAFETY: as in `NativeProgram::run_with_whole_frame`. Code with this ABI calls only
        // helpers that use the base of the frame.
        let text = unsafe { self.entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut base).cast()) };
        // SAFETY: the code has just run with this base. Its text is in the context, the arena, the
        // lists or the constants of the program: all are borrowed for `'a`, the program by this
        // code.
        unsafe { base.text(self.result, text) }
    }
}

/// Code with the ABI [`EntryAbi::BaseFrame`], or one that is called as it is.
#[derive(Clone, Copy)]
pub(crate) struct BaseFrameCode<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) settings: CxSettings,
}

impl BaseFrameCode<'_> {
    /// Runs the code. Returns 0 or 1, or an [`ErrorWord`](celero_ir::ErrorWord). If `arena` has no
    /// capacity and the code needs some, that is the error `out_of_budget`.
    #[inline]
    pub(crate) fn run<C: Context>(self, context: &C, arena: &Arena, lists: Option<&ListsView>) -> u64 {
        let mut base = BaseFrame::new(self.settings.cx(arena, lists));
        // SAFETY: as in `NativeProgram::run_with_whole_frame`. Code with this ABI calls only
        // helpers that use the base of the frame.
        let word = unsafe { self.entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut base).cast()) };
        if base.panicked.get() { word_of(&EvalError::HOST) } else { word }
    }
}
