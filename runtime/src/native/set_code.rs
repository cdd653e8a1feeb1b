//! The machine code of a rule set, and the calls of its functions.

use super::failure;
use super::frame::{BaseFrame, Frame, GroupSlot, ResultSlot};
use super::pool::Pool;
use crate::context::Context;
use crate::error::{ErrorKind, EvalError};
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::Callee;
use celero_ir::layout::group;
use celero_jit::Code;
use std::mem::MaybeUninit;

/// Consecutive rules of the linear scan, and the function that evaluates them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearBlock {
    /// Number of rules.
    pub(crate) count: usize,
    /// Number of the function; `None` if the interpreter evaluates the rules one by one.
    pub(crate) function: Option<usize>,
}

/// The code of templates, and the parameter rows of the rules that use them.
#[derive(Debug, Default)]
pub(crate) struct CompiledTemplates {
    /// Indexed by template: its code, or why it has none.
    pub(super) templates: Vec<Result<TemplateCode, String>>,
    /// Indexed by row: its template, and the index of its first word. `None` if a constant cannot be prepared.
    pub(super) rows: Vec<Option<(u32, u32)>>,
    /// The words of all rows.
    pub(super) words: Vec<u64>,
}

/// The compiled form of a template.
#[derive(Debug)]
pub(super) struct TemplateCode {
    pub(super) function: usize,
    pub(super) callees: Box<[Callee]>,
    /// Number of words of a row that hold constants.
    pub(super) words: u16,
    /// Whether evaluation usually allocates.
    pub(super) builds: bool,
}

impl CompiledTemplates {
    /// Why a row has no native code.
    pub(crate) fn refusal(&self, row: u32) -> Option<&str> {
        match self.rows.get(row as usize) {
            Some(Some((template, _))) => match self.templates.get(*template as usize) {
                Some(Ok(_)) => None,
                Some(Err(why)) => Some(why),
                None => Some("internal error: a row without a template"),
            },
            _ => Some("a constant cannot be prepared"),
        }
    }

    /// Bytes of memory, without machine code.
    pub(crate) fn bytes(&self) -> usize {
        let (rows, words) = (size_of_val(self.rows.as_slice()), size_of_val(self.words.as_slice()));
        rows.saturating_add(words).saturating_add(size_of_val(self.templates.as_slice()))
    }
}

/// The machine code of a rule set.
#[derive(Debug)]
pub(crate) struct SetCode {
    code: Code,
    /// Owns the constants that the code refers to by address.
    _pool: Pool,
    callees: Box<[Callee]>,
    templates: CompiledTemplates,
}

/// After which rules a function returns without evaluating the rest of its rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopConditions {
    pub(crate) on_match: bool,
    pub(crate) on_error: bool,
}

/// The result of a function: which of its rules matched and which failed, as bits.
pub(crate) struct RuleBits {
    matched: u64,
    failed: u64,
    /// One error word per rule; only the words of failed rules are initialized.
    errors: [MaybeUninit<u64>; group::MAX_RULES],
}

impl RuleBits {
    pub(crate) fn new() -> Self {
        Self { matched: 0, failed: 0, errors: [MaybeUninit::uninit(); group::MAX_RULES] }
    }

    /// The rules that matched or failed.
    #[inline]
    pub(crate) fn reported(&self) -> u64 {
        self.matched | self.failed
    }

    /// Whether any rule failed.
    #[inline]
    pub(crate) fn has_failures(&self) -> bool {
        self.failed != 0
    }

    /// The error of a rule, by its number in the function; `None` if it did not fail.
    pub(crate) fn error(&self, rule: u32) -> Option<EvalError> {
        if self.failed.checked_shr(rule).unwrap_or(0) & 1 == 0 {
            return None;
        }
        let word = self.errors.get(rule as usize)?;
        // SAFETY: `failed` and `errors` are written by `SetCode::call` alone, and the function that
        // it calls writes the word of each rule whose bit it sets.
        Some(failure(unsafe { word.assume_init() }))
    }

    /// Whether a rule exceeded its budget. The rules of a function share memory, so the rule may
    /// succeed when evaluated standalone.
    fn is_spent(&self) -> bool {
        let mut left = self.failed;
        while left != 0 {
            let rule = left.trailing_zeros();
            if self.error(rule).is_some_and(|error| error.kind == ErrorKind::OutOfBudget) {
                return true;
            }
            left &= left.wrapping_sub(1);
        }
        false
    }
}

impl SetCode {
    /// Keeps `pool`, whose constants `code` refers to by address, alive as long as the code.
    pub(super) fn new(code: Code, pool: Pool, callees: Box<[Callee]>, templates: CompiledTemplates) -> Self {
        Self { code, _pool: pool, callees, templates }
    }

    /// Bytes of machine code.
    pub(crate) fn size(&self) -> usize {
        self.code.size()
    }

    /// The code.
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The number of the function that evaluates a row; `None` if it has no code.
    pub(crate) fn function_of(&self, row: u32) -> Option<usize> {
        let (template, _) = (*self.templates.rows.get(row as usize)?)?;
        self.templates.templates.get(template as usize)?.as_ref().ok().map(|template| template.function)
    }

    /// The compiled templates and their rows.
    pub(crate) fn templates(&self) -> &CompiledTemplates {
        &self.templates
    }

    /// Whether evaluating a row usually allocates, so that it needs an arena with capacity; `None`
    /// if the row has no code.
    #[inline]
    pub(crate) fn builds(&self, row: u32) -> Option<bool> {
        let (template, _) = (*self.templates.rows.get(row as usize)?)?;
        self.templates.templates.get(template as usize)?.as_ref().ok().map(|template| template.builds)
    }

    /// Evaluates a row on a context.
    ///
    /// # Errors
    /// The evaluation's error.
    #[inline]
    pub(crate) fn test<'a, C: Context>(
        &'a self,
        row: u32,
        context: &'a C,
        functions: &'a Functions,
        cx: Cx<'a>,
    ) -> Result<bool, EvalError> {
        let (template, first) = self.templates.rows.get(row as usize).copied().flatten().ok_or(EvalError::HOST)?;
        let template = self
            .templates
            .templates
            .get(template as usize)
            .and_then(|template| template.as_ref().ok())
            .ok_or(EvalError::HOST)?;
        let words = self.templates.words.get(first as usize..).ok_or(EvalError::HOST)?;
        let entry = self.code.entry(template.function).ok_or(EvalError::HOST)?;
        let result = ResultSlot { row: words.as_ptr() };
        let mut frame =
            Frame { base: BaseFrame::new(cx), result, host: context, functions, callees: &template.callees };
        // SAFETY: the frame is laid out as the code expects (`layout`), and has the address of a
        // row that `SetCompiler::fill` made for this template; the context is of the type that the
        // code was compiled for, as `RuleSet` knows; the pool that the code and the row refer to is
        // alive in `self`.
        let word = unsafe { entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast()) };
        if word <= 1 && !frame.panicked.get() {
            return Ok(word == 1);
        }
        if frame.panicked.get() {
            return Err(EvalError::HOST);
        }
        // The error word holds the number of a site instead of a place.
        let error = failure(word);
        let place =
            words.get(usize::from(template.words).saturating_add(error.start as usize)).ok_or(EvalError::HOST)?;
        Err(EvalError { kind: error.kind, start: (place >> 32) as u32, end: *place as u32 })
    }

    /// Runs a function on a context. `false` when its answer must not be used: something ran out of
    /// budget, which each rule has for itself, or a helper panicked, which may be any rule's.
    pub(crate) fn call<'a, C: Context>(
        &'a self,
        function: usize,
        context: &'a C,
        functions: &'a Functions,
        cx: Cx<'a>,
        stops: StopConditions,
        answer: &mut RuleBits,
    ) -> bool {
        let Some(entry) = self.code.entry(function) else { return false };
        let group = GroupSlot {
            matched: 0,
            failed: 0,
            errors: answer.errors.as_mut_ptr().cast(),
            stop_on_match: u32::from(stops.on_match),
            stop_on_error: u32::from(stops.on_error),
        };
        let result = ResultSlot { group };
        let mut frame = Frame { base: BaseFrame::new(cx), result, host: context, functions, callees: &self.callees };
        // SAFETY: the frame is laid out as the code expects (`layout`) and has a word for each rule
        // a function can have; the context is of the type that the code was compiled for, as
        // `RuleSet` knows; the pool that the code refers to is alive in `self`.
        let _ = unsafe { entry.call(std::ptr::from_ref(context).cast(), std::ptr::from_mut(&mut frame).cast()) };
        // SAFETY: the member that was written above; native code writes integers to its words.
        let group = unsafe { frame.result.group };
        (answer.matched, answer.failed) = (group.matched, group.failed);
        !frame.panicked.get() && !answer.is_spent()
    }
}
