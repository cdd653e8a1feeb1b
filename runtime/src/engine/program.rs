//! A compiled expression.

use crate::arena::{Arena, with_zero_capacity};
use crate::context::{Context, Shape};
use crate::cx::CxSettings;
use crate::env::Env;
use crate::error::{ErrorKind, EvalError};
use crate::expression::Expression;
use crate::fields::Fields;
use crate::function::{Functions, with_lists};
use crate::limits::Limits;
use crate::native::{BaseFrameCode, ContextOnlyCode, FrameNeeded, NativeProgram, failure, word_of};
use crate::report::{DescribedError, Known, Report};
use crate::scratch::{Scratch, with_thread_scratch};
use crate::value::Value;
use crate::variables::Variables;
use celero_frontend::{Diagnostic, Type};
use celero_lists::{Lists, View as ListsView};
use celero_matching::pattern::Dialect;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A compiled expression for contexts of one type. Cheap to clone, `Send` and `Sync`. Evaluations never lock.
pub struct Program<S> {
    native: Option<NativeProgram>,
    /// The lists of the host, if the expression asks any.
    pub(super) lists: Option<Lists>,
    /// What the extension of a context must consist of.
    extension: Option<Shape>,
    pub(super) shared: Arc<Shared>,
    context: PhantomData<fn(&S)>,
}

pub(super) struct Shared {
    pub(super) expression: Arc<Expression>,
    fields: Fields,
    pub(super) functions: Functions,
    variables: Arc<Variables>,
    /// Fingerprint of the variables.
    pub(super) declarations: u64,
    pub(super) limits: Limits,
    dialect: Dialect,
}

impl Shared {
    /// What an evaluation by the interpreter begins with.
    pub(super) fn settings(&self) -> CxSettings {
        CxSettings { steps: i64::from(self.limits.steps), dialect: self.dialect }
    }
}

impl<S> Clone for Program<S> {
    fn clone(&self) -> Self {
        Self {
            native: self.native.clone(),
            lists: self.lists.clone(),
            extension: self.extension,
            shared: self.shared.clone(),
            context: PhantomData,
        }
    }
}

impl<S> fmt::Debug for Program<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("source", &self.source())
            .field("native", &self.is_native())
            .finish_non_exhaustive()
    }
}

impl<S> Program<S> {
    pub(crate) fn new<C>(
        expression: Arc<Expression>,
        env: &Env<C>,
        native: Option<NativeProgram>,
        limits: Limits,
    ) -> Self {
        let fields = expression.fields(env.declarations().variables(), env.fields());
        let (functions, variables) = (env.functions().clone(), env.variables());
        let (declarations, dialect) = (variables.fingerprint(), env.dialect());
        let lists = expression.lists(&functions).cloned();
        let shared = Arc::new(Shared { expression, fields, functions, variables, declarations, limits, dialect });
        Self { native, lists, extension: env.extension(), shared, context: PhantomData }
    }

    /// Returns the source of the expression.
    #[must_use]
    pub fn source(&self) -> &str {
        self.shared.expression.source()
    }

    /// Returns the static type of the result.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.shared.expression.result_type()
    }

    /// Returns the name of the type of the result in the language of the rule: `list(bytes)` in CEL
    /// is `Array<Bytes>` in the filter language.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.shared.expression.tree().type_name()
    }

    /// Returns the warnings, in the order of the source: what is valid, but probably not what the
    /// author means. Such expressions run: a call that always fails may be used where its error
    /// never matters.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        self.shared.expression.warnings()
    }

    /// Returns the [`warnings`](Self::warnings) as text, with the source lines that they are about;
    /// an empty text if there are none. `origin` names the source, such as a file; `color` adds ANSI
    /// colours.
    #[must_use]
    pub fn render_warnings(&self, origin: &str, color: bool) -> String {
        self.shared.expression.render_warnings(origin, color)
    }

    /// Returns what an evaluation can read of the context.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.shared.fields
    }

    /// Returns whether every evaluation with the same context gives the same result: whether the
    /// expression asks no [named list](Env::lists) and calls no impure function, such as
    /// `random()`, `uuid()` or one that the host declared with [`Env::function`]. Functions
    /// that are defined in CEL count by their bodies. Walks the expression's tree.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.shared.expression.is_pure(&self.shared.functions)
    }

    /// Returns whether the expression calls an impure function, so that two evaluations with the
    /// same context and the same lists may differ.
    #[must_use]
    pub fn calls_impure(&self) -> bool {
        self.shared.expression.tree().calls_impure(&self.shared.functions)
    }

    /// Returns whether native code evaluates the expression.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.native.is_some()
    }

    /// Returns the bytes of machine code; 0 if the interpreter evaluates the expression.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.native.as_ref().map_or(0, NativeProgram::code_size)
    }

    pub(crate) fn expression(&self) -> &Expression {
        &self.shared.expression
    }
}

impl<S: Context + 'static> Program<S> {
    /// Evaluates the rule and returns whether it matches `context`.
    ///
    /// Does not lock. Does not allocate after the first evaluations on a thread.
    ///
    /// # Errors
    /// The evaluation's error. If the result is not a `bool`, its kind is
    /// [`NoSuchOverload`](ErrorKind::NoSuchOverload).
    // Inlined, so that the result is not returned in memory, which takes longer than the code of a short rule.
    #[inline(always)]
    pub fn test<C: Context<Static = S>>(&self, context: &C) -> Result<bool, EvalError> {
        let word = match self.context_only() {
            Some(code) if self.is_for(context).is_ok() => code.run(context),
            _ => self.test_with_frame(context),
        };
        if word <= 1 { Ok(word == 1) } else { Err(self.failure(word)) }
    }

    /// The code, if it needs nothing but the context.
    #[inline(always)]
    fn context_only(&self) -> Option<ContextOnlyCode<'_>> {
        self.native.as_ref().and_then(NativeProgram::context_only)
    }

    /// Not inlined: the caller would save the registers that it needs, also for code that needs the context alone.
    #[inline(never)]
    fn test_with_frame<C: Context<Static = S>>(&self, context: &C) -> u64 {
        match self.native.as_ref().map(NativeProgram::frame) {
            Some(FrameNeeded::Base(code)) => self.test_base_frame(code, context),
            Some(FrameNeeded::BaseWithLists) => self.test_with_lists(context),
            Some(FrameNeeded::BaseWithMemory(code)) => {
                with_thread_scratch(|scratch| self.test_base(code, context, scratch))
            }
            _ => self.test_with_thread_scratch(context),
        }
    }

    /// The error of a word that is neither 0 nor 1.
    #[cold]
    fn failure(&self, word: u64) -> EvalError {
        self.widen_budget_error(failure(word))
    }

    #[inline(always)]
    fn test_base_frame<C: Context<Static = S>>(&self, code: BaseFrameCode<'_>, context: &C) -> u64 {
        if let Err(error) = self.is_for(context) {
            return word_of(&error);
        }
        // A zero-capacity arena costs nothing, and these rules hardly ever allocate.
        match with_zero_capacity(|arena| code.run(context, arena, None)) {
            Some(word) if word <= 1 => word,
            word => self.retry_with_arena(word, context),
        }
    }

    /// [`test_base_frame`](Self::test_base_frame) with the lists of a generation. Not inlined:
    /// rules without lists would save more registers.
    #[inline(never)]
    fn test_with_lists<C: Context<Static = S>>(&self, context: &C) -> u64 {
        let code = self.native.as_ref().and_then(NativeProgram::with_lists);
        let (Some(code), Some(lists)) = (code, &self.lists) else { return self.test_with_thread_scratch(context) };
        if let Err(error) = self.is_for(context) {
            return word_of(&error);
        }
        match lists.with_view(|view| with_zero_capacity(|arena| code.run(context, arena, Some(view)))) {
            Some(word) if word <= 1 => word,
            word => self.retry_with_arena(word, context),
        }
    }

    /// Evaluates the rule again, with a real arena, if it may have failed because the first one had no capacity.
    #[cold]
    #[inline(never)]
    fn retry_with_arena<C: Context<Static = S>>(&self, word: Option<u64>, context: &C) -> u64 {
        match word {
            Some(word) if failure(word).kind != ErrorKind::OutOfBudget => word,
            _ => self.test_with_thread_scratch(context),
        }
    }

    #[inline(never)]
    fn test_with_thread_scratch<C: Context<Static = S>>(&self, context: &C) -> u64 {
        with_thread_scratch(|scratch| self.test_whole(context, scratch))
    }

    /// Evaluates the rule as [`test`](Self::test) does, with a scratch of the caller instead of the thread's own.
    ///
    /// # Errors
    /// As [`test`](Self::test).
    // Inlined, as `test` is.
    #[inline(always)]
    pub fn test_with<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, EvalError> {
        scratch.release_lists();
        let word = match self.context_only() {
            Some(code) if self.is_for(context).is_ok() => code.run(context),
            _ => self.test_with_frame_and_scratch(context, scratch),
        };
        if word <= 1 { Ok(word == 1) } else { Err(self.failure(word)) }
    }

    /// Not inlined, as [`test_with_frame`](Self::test_with_frame).
    #[inline(never)]
    fn test_with_frame_and_scratch<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> u64 {
        match self.native.as_ref().map(NativeProgram::frame) {
            Some(FrameNeeded::Base(code)) => self.test_base_without_memory(code, context, scratch),
            Some(FrameNeeded::BaseWithMemory(code)) => self.test_base(code, context, scratch),
            _ => self.test_whole(context, scratch),
        }
    }

    #[inline(always)]
    fn test_base_without_memory<C: Context<Static = S>>(
        &self,
        code: BaseFrameCode<'_>,
        context: &C,
        scratch: &mut Scratch,
    ) -> u64 {
        if let Err(error) = self.is_for(context) {
            return word_of(&error);
        }
        match code.run(context, &scratch.no_memory, None) {
            word if word <= 1 => word,
            word => self.retry_with_memory(word, context, scratch),
        }
    }

    /// As [`retry_with_arena`](Self::retry_with_arena), with a scratch of the caller.
    #[cold]
    #[inline(never)]
    fn retry_with_memory<C: Context<Static = S>>(&self, word: u64, context: &C, scratch: &mut Scratch) -> u64 {
        if failure(word).kind == ErrorKind::OutOfBudget { self.test_whole(context, scratch) } else { word }
    }

    #[inline(always)]
    fn test_base<C: Context<Static = S>>(&self, code: BaseFrameCode<'_>, context: &C, scratch: &mut Scratch) -> u64 {
        if let Err(error) = self.is_for(context) {
            return word_of(&error);
        }
        match scratch.fresh_arena(self.shared.limits.memory) {
            Some(arena) => code.run(context, arena, None),
            None => self.test_base_in_used_arena(code, context, scratch),
        }
    }

    /// Not inlined, as [`test_with_frame`](Self::test_with_frame).
    #[inline(never)]
    fn test_base_in_used_arena<C: Context<Static = S>>(
        &self,
        code: BaseFrameCode<'_>,
        context: &C,
        scratch: &mut Scratch,
    ) -> u64 {
        let (arena, _) = scratch.prepare(self.shared.limits.memory, None);
        code.run(context, arena, None)
    }

    /// Evaluates a rule of any kind.
    #[inline(never)]
    fn test_whole<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> u64 {
        let (arena, _) = scratch.prepare(self.shared.limits.memory, None);
        with_lists(self.lists.as_ref(), |lists| self.word(context, arena, lists))
            .unwrap_or_else(|error| word_of(&error))
    }

    fn word<C: Context<Static = S>>(
        &self,
        context: &C,
        arena: &Arena,
        lists: Option<&ListsView>,
    ) -> Result<u64, EvalError> {
        self.is_for(context)?;
        let Shared { expression, functions, .. } = &*self.shared;
        let Some(native) = &self.native else {
            return expression.test(functions, context, &self.shared.settings().cx(arena, lists)).map(u64::from);
        };
        match native.test_with_whole_frame(context, functions, arena, lists) {
            Some(word) => Ok(word),
            None => expression.truth(&self.eval_in(context, arena, lists)?).map(u64::from),
        }
    }

    /// Evaluates the expression and returns its value, which borrows from the program, the context
    /// and the scratch. If it asks [lists](Env::lists), the scratch keeps their generation in
    /// memory until the next program is evaluated with it.
    ///
    /// # Errors
    /// The evaluation's error.
    // Inlined, as `test` is.
    #[inline(always)]
    pub fn eval<'a, C: Context<Static = S>>(
        &'a self,
        context: &'a C,
        scratch: &'a mut Scratch,
    ) -> Result<Value<'a>, EvalError> {
        self.is_for(context)?;
        let (arena, lists) = scratch.prepare(self.shared.limits.memory, self.lists.as_ref());
        let result = match self.native.as_ref().and_then(NativeProgram::text) {
            Some(code) => code.run(context, arena, lists),
            None => self.eval_in(context, arena, lists),
        };
        result.map_err(|error| self.widen_budget_error(error))
    }

    /// Evaluates the expression, by native code of any ABI or interpreted.
    #[inline(never)]
    fn eval_in<'a, C: Context<Static = S>>(
        &'a self,
        context: &'a C,
        arena: &'a Arena,
        lists: Option<&'a ListsView>,
    ) -> Result<Value<'a>, EvalError> {
        let Shared { expression, functions, .. } = &*self.shared;
        match &self.native {
            Some(native) => native.run(context, functions, arena, lists),
            None => expression.interpret(None, functions, context, &self.shared.settings().cx(arena, lists)),
        }
    }

    #[cold]
    fn widen_budget_error(&self, error: EvalError) -> EvalError {
        error.widen_budget_error(self.source())
    }

    /// Puts an error of an evaluation into words: which key, index, pattern, variable or overload
    /// it is about, and what the host's function says. `context` is the context of that evaluation.
    ///
    /// For whoever reads the error; a proxy that only acts on it needs no report. Interprets the
    /// expression again, as far as it calls no impure function: pure functions of the host are
    /// called again. Of another function that failed, the report has the message of its last
    /// failure on this thread.
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env};
    ///
    /// let even = |n: i64| if n % 2 == 0 { Ok(true) } else { Err(format!("{n} is odd")) };
    /// let env = Env::dynamic().pure_function("even", even);
    /// let program = Engine::new().compile(&env, "even(2) && even(3)")?;
    /// let context = Bindings::new(&env);
    /// let error = program.test(&context).unwrap_err();
    /// assert_eq!(program.describe(&error, &context).to_string(), "`even` failed: 3 is odd (at 11..18)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn describe<C: Context<Static = S>>(&self, error: &EvalError, context: &C) -> Report {
        let Shared { expression, functions, variables, limits, dialect, .. } = &*self.shared;
        expression.describe(*error, context, &Known { variables, functions, limits, dialect: *dialect })
    }

    /// Evaluates the expression as a rule, as [`test`](Self::test) does, and describes its error: for
    /// code that passes errors on with `?`. A result costs what it costs there; an error costs a
    /// second evaluation, as [`describe`](Self::describe) says.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let program = Engine::new().compile(&env, r#"request.headers["x-team"] == "ops""#)?;
    /// let request = http::Request::new(());
    /// let error = program.test_described(&RequestContext::new(&request)).unwrap_err();
    /// let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    /// assert_eq!(lines[0], r#"error[no_such_key]: no header "x-team""#);
    /// assert_eq!(lines[3], r#"1 | request.headers["x-team"] == "ops""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The evaluation's error, described.
    pub fn test_described<C: Context<Static = S>>(&self, context: &C) -> Result<bool, DescribedError> {
        self.test(context).map_err(|error| self.describe(&error, context).into_error())
    }

    /// Refuses a context of the right type with other variables, or other data in its extension.
    #[inline]
    pub(super) fn is_for<C: Context>(&self, context: &C) -> Result<(), EvalError> {
        let is_for_others = context.declarations().is_some_and(|declared| declared != self.shared.declarations)
            || context.extension().is_some_and(|extension| !extension.is_for(self.extension));
        if is_for_others { Err(EvalError::HOST) } else { Ok(()) }
    }
}
