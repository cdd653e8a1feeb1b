//! A compiled expression.

use crate::Type;
use crate::arena::without_room;
use crate::context::{Context, Host};
use crate::env::Env;
use crate::error::{ErrorKind, EvalError};
use crate::fields::Fields;
use crate::function::{Functions, contained};
use crate::interpret::interpret;
use crate::library::Cx;
use crate::limits::Limits;
use crate::lower::is_pure;
use crate::native::{BaseFrameCode, HOST, NativeProgram, failure, word_of};
use crate::scratch::{Scratch, with_thread_scratch};
use crate::value::Value;
use celero_frontend::{Checked, Diagnostic, NodeId, Reference};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A compiled expression for contexts of one type. Cheap to clone, `Send` and `Sync`; evaluations share nothing that
/// any of them writes.
pub struct Program<S> {
    native: Option<NativeProgram>,
    shared: Arc<Shared>,
    context: PhantomData<fn(&S)>,
}

struct Shared {
    trees: Trees,
    warnings: Vec<Diagnostic>,
    fields: Fields,
    functions: Functions,
    /// The variables' fingerprint.
    declarations: u64,
    limits: Limits,
}

/// The trees of an expression.
#[derive(Debug)]
pub(crate) struct Trees {
    /// As written.
    pub(crate) written: Checked,
    /// With the functions defined in CEL in the places of their calls, if it calls any.
    pub(crate) inlined: Option<Checked>,
}

impl Trees {
    /// The tree that is evaluated.
    pub(crate) fn evaluated(&self) -> &Checked {
        self.inlined.as_ref().unwrap_or(&self.written)
    }
}

impl<S> Clone for Program<S> {
    fn clone(&self) -> Self {
        Self { native: self.native.clone(), shared: self.shared.clone(), context: PhantomData }
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
        trees: Trees,
        warnings: Vec<Diagnostic>,
        env: &Env<C>,
        native: Option<NativeProgram>,
        limits: Limits,
    ) -> Self {
        let fields = Fields::of(trees.evaluated(), env.declarations().variables(), env.fields());
        let (functions, declarations) = (env.functions().clone(), env.variables().fingerprint());
        let shared = Arc::new(Shared { trees, warnings, fields, functions, declarations, limits });
        Self { native, shared, context: PhantomData }
    }

    /// The text it was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        self.checked().ast().source()
    }

    /// The static type of its result.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.checked().result_type()
    }

    /// What is valid, but probably not what the author means, in the order of the source. Rules with warnings run: a call
    /// that always fails may stand where its error never matters.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.shared.warnings
    }

    /// What it can read of the context.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.shared.fields
    }

    /// Returns whether every evaluation with the same context gives the same result: whether the expression calls no impure
    /// function, such as `random()`, `uuid()` or one that the host declared with [`Env::impure_function`]. Functions that are
    /// defined in CEL count by their bodies. Walks the expression's tree.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        let checked = self.shared.trees.evaluated();
        let mut ids = (0..u32::try_from(checked.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
        ids.all(|id| match checked.reference(id) {
            Reference::Call { overloads, .. } => overloads.iter().all(|called| is_pure(called, &self.shared.functions)),
            _ => true,
        })
    }

    /// Whether native code evaluates it.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.native.is_some()
    }

    /// Bytes of machine code; 0 where the interpreter evaluates it.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.native.as_ref().map_or(0, NativeProgram::code_size)
    }

    /// The tree as written.
    pub(crate) fn checked(&self) -> &Checked {
        &self.shared.trees.written
    }
}

impl<S: Context + 'static> Program<S> {
    /// Evaluates a rule: an expression whose result is a truth value. Takes no lock. Allocates nothing once the thread has
    /// evaluated before: the first evaluation that builds a string or a list makes room for it.
    ///
    /// # Errors
    /// The evaluation's error; `no_such_overload` when the result is not a truth value.
    #[inline]
    pub fn test<C: Context<Static = S>>(&self, context: &C) -> Result<bool, EvalError> {
        // What becomes of the rule comes back in a register, so that no result has to be put together in memory.
        let word = match &self.native {
            Some(native) => match (native.context_only(), native.base_frame()) {
                (Some(code), _) if self.is_for(context).is_ok() => code.run(context),
                (_, Some(code)) => self.test_base_frame(code, context),
                _ => self.test_roomy(context),
            },
            None => self.test_roomy(context),
        };
        if word <= 1 { Ok(word == 1) } else { Err(failure(word)) }
    }

    #[inline]
    fn test_base_frame<C: Context<Static = S>>(&self, code: BaseFrameCode<'_>, context: &C) -> u64 {
        if let Err(error) = self.is_for(context) {
            return word_of(&error);
        }
        // An arena without room costs nothing, and is hardly ever asked for any.
        match without_room(|arena| code.run(context, arena)) {
            Some(word) if word <= 1 => word,
            word => self.test_with_room(word, context),
        }
    }

    /// Evaluates the rule again if it may have failed for want of room in the arena; else that word stands.
    #[cold]
    #[inline(never)]
    fn test_with_room<C: Context<Static = S>>(&self, word: Option<u64>, context: &C) -> u64 {
        match word {
            Some(word) if failure(word).kind != ErrorKind::OutOfBudget => word,
            _ => self.test_roomy(context),
        }
    }

    #[inline(never)]
    fn test_roomy<C: Context<Static = S>>(&self, context: &C) -> u64 {
        with_thread_scratch(|scratch| self.test_with(context, scratch)).map_or_else(|error| word_of(&error), u64::from)
    }

    /// [`test`](Self::test) with a scratch of the caller's.
    ///
    /// # Errors
    /// As [`test`](Self::test).
    pub fn test_with<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, EvalError> {
        if let Value::Bool(answer) = self.eval(context, scratch)? {
            return Ok(answer);
        }
        let ast = self.checked().ast();
        let span = ast.span(ast.root());
        Err(EvalError { kind: ErrorKind::NoSuchOverload, start: span.start, end: span.end })
    }

    /// Evaluates an expression. The value borrows from the program, the context and the scratch.
    ///
    /// # Errors
    /// The evaluation's error.
    pub fn eval<'a, C: Context<Static = S>>(
        &'a self,
        context: &'a C,
        scratch: &'a mut Scratch,
    ) -> Result<Value<'a>, EvalError> {
        self.is_for(context)?;
        let arena = scratch.arena(self.shared.limits.memory);
        match &self.native {
            Some(native) => native.run(context, &self.shared.functions, arena),
            None => self.interpret(context, &Cx::new(i64::from(self.shared.limits.steps), arena)),
        }
    }

    /// Refuses a context of the right type whose variables are others.
    #[inline]
    fn is_for<C: Context>(&self, context: &C) -> Result<(), EvalError> {
        match context.declarations() {
            Some(declarations) if declarations != self.shared.declarations => Err(HOST),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn interpret<'a>(&'a self, host: &'a dyn Host, cx: &Cx<'a>) -> Result<Value<'a>, EvalError> {
        // A panic of the host's data ends the evaluation as it does in native code.
        let mut value = Value::Null;
        let shared = &*self.shared;
        contained(|| interpret(shared.trees.evaluated(), &shared.functions, host, cx, &mut value))
            .unwrap_or(Err(HOST))?;
        Ok(value)
    }
}
