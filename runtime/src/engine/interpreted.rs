//! What a program does with the interpreter only: traces, and evaluations of a context that is
//! known in part.

use super::program::{Program, Shared};
use crate::context::Context;
use crate::error::EvalError;
use crate::expression::{Partial, Trace, Unknowns, decided};
use crate::scratch::Scratch;

impl<S: Context + 'static> Program<S> {
    /// Evaluates the expression with the interpreter and returns what each part of it evaluated to,
    /// for people who ask why a rule matches or doesn't. Values borrow as those of
    /// [`eval`](Self::eval) do.
    ///
    /// Bounded as an evaluation is, by [`Limits::steps`](crate::Limits::steps) and
    /// [`Limits::memory`](crate::Limits::memory);
    /// [`TracedPart::results`](crate::settings::TracedPart::results) says how many results are
    /// kept. It is an evaluation of its own: impure functions are called again, and their results
    /// may differ.
    ///
    /// ```
    /// use celero::settings::PartResult;
    /// use celero::{Bindings, Engine, Env, Scratch, Value};
    ///
    /// let env = Env::dynamic();
    /// let source = "1 + 1 == 3 || 'a' in ['a']";
    /// let program = Engine::new().compile(&env, source)?;
    /// let (context, mut scratch) = (Bindings::new(&env), Scratch::new());
    /// let trace = program.trace(&context, &mut scratch)?;
    /// let sum = &trace.parts()[2];
    /// assert_eq!(&source[sum.span().start as usize..sum.span().end as usize], "1 + 1");
    /// assert!(matches!(sum.results(), [PartResult::Value(Value::Int(2))]));
    /// assert!(matches!(trace.result()?, Value::Bool(true)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The context is for other variables than the program. An error of the evaluation is [the
    /// trace's result](Trace::result).
    pub fn trace<'a, C: Context<Static = S>>(
        &'a self,
        context: &'a C,
        scratch: &'a mut Scratch,
    ) -> Result<Trace<'a>, EvalError> {
        self.is_for(context)?;
        let Shared { expression, functions, limits, .. } = &*self.shared;
        let (arena, lists) = scratch.prepare(limits.memory, self.lists.as_ref());
        Ok(expression.trace(functions, context, &self.shared.settings().cx(arena, lists)))
    }

    /// Evaluates the expression as a rule while some variables are not known yet, with the
    /// interpreter. Returns the result if it is the same whatever their values are: of
    /// `request.path == "/" && request.body.contains("x")`, `false` for every other path. `None` if
    /// it depends on them.
    ///
    /// ```
    /// use celero::settings::Unknowns;
    /// use celero::{Bindings, Engine, Env, Scratch, Type};
    ///
    /// let env = Env::dynamic().variable("request.path", Type::String).variable("request.body", Type::String);
    /// let source = "request.path == '/login' && request.body.contains('admin')";
    /// let (engine, mut scratch) = (Engine::new(), Scratch::new());
    /// let program = engine.compile(&env, source)?;
    /// let head = Unknowns::new(&env, &["request.body"])?;
    ///
    /// let mut call = Bindings::new(&env);
    /// call.set("request.path", "/about")?;
    /// assert_eq!(program.decide(&call, &head, &mut scratch)?, Some(false));
    /// call.set("request.path", "/login")?;
    /// assert_eq!(program.decide(&call, &head, &mut scratch)?, None);
    /// assert_eq!(program.partial(&call, &head, &mut scratch)?.residual(), "request.body.contains('admin')");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A rule that would spend its budget on what is not known may be decided, because that is not
    /// evaluated. What a function of the host returns is not known while it is `Poll::Pending`.
    ///
    /// # Errors
    /// The evaluation's error, if it is the same whatever their values are; `host` if the context
    /// or the unknown variables are of another environment than the program.
    pub fn decide<C: Context<Static = S>>(
        &self,
        context: &C,
        unknowns: &Unknowns,
        scratch: &mut Scratch,
    ) -> Result<Option<bool>, EvalError> {
        self.knows(context, unknowns)?;
        let Shared { expression, functions, limits, .. } = &*self.shared;
        let (arena, lists) = scratch.prepare(limits.memory, self.lists.as_ref());
        let (known, cx) = (unknowns.known(context), self.shared.settings().cx(arena, lists).partial());
        decided(expression.test(functions, &known, &cx)).transpose()
    }

    /// As [`decide`](Self::decide), of any expression, and keeps what is left of it where it is not
    /// decided.
    ///
    /// # Errors
    /// `host` if the context or the unknown variables are of another environment than the program;
    /// `out_of_budget` at the limit of memory. An error of the evaluation is
    /// [the result](Partial::result).
    pub fn partial<'a, C: Context<Static = S>>(
        &'a self,
        context: &'a C,
        unknowns: &'a Unknowns,
        scratch: &'a mut Scratch,
    ) -> Result<Partial<'a>, EvalError> {
        self.knows(context, unknowns)?;
        let Shared { expression, functions, limits, .. } = &*self.shared;
        let (arena, lists) = scratch.prepare(limits.memory, self.lists.as_ref());
        let known = arena.alloc(unknowns.known(context)).map_err(|kind| EvalError { kind, ..EvalError::HOST })?;
        Ok(expression.partial(functions, known, &self.shared.settings().cx(arena, lists).partial()))
    }

    /// Refuses a context, as [`is_for`](Self::is_for), or unknown variables of other declarations.
    fn knows<C: Context<Static = S>>(&self, context: &C, unknowns: &Unknowns) -> Result<(), EvalError> {
        self.is_for(context)?;
        if unknowns.is_for(self.shared.declarations) { Ok(()) } else { Err(EvalError::HOST) }
    }
}
