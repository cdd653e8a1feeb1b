//! From checked expression to program: lowering, passes, native code.

use super::program::Program;
use super::{Engine, Tier, new_compiler};
use crate::compilation::profile;
use crate::compilation::spans::{event, span};
use crate::context::Context;
use crate::env::Env;
use crate::error::CompileError;
use crate::expression::{CheckedRule, Expression};
use crate::function::contained;
use crate::lint;
use crate::lower::ConstantEvaluator;
use crate::lower::Lowered;
use crate::native::{Input, NativeProgram};
use celero_frontend::{Diagnostic, Severity, Span, Stage};
use celero_ir::Graph;
use celero_ir::passes::{self, StageObserver, observed};
use celero_jit::Compiler;
use celero_matching::pattern::PatternCache;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

/// What [`Engine::explain`] shows of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// Whether stages are kept.
    pub(crate) wanted: bool,
    pub(crate) lowered: Option<Graph>,
    pub(crate) optimized: Option<Graph>,
    /// The calls of the host's functions that were folded, with their results.
    pub(crate) folded: BTreeSet<String>,
    pub(crate) listings: Vec<celero_jit::Listing>,
}

impl Engine {
    /// Compiles an expression for contexts of the environment's type.
    ///
    /// Takes 10 to 100 µs for a usual rule, most of it in the code generator. That does not run for
    /// a rule whose code would differ from the code of two earlier ones in constants only: it gets
    /// a copy with its own. For this the engine keeps the code of 256 small rules, those that were
    /// used last. Compilations of one engine run one after the other.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn compile<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Program<C::Static>, CompileError> {
        self.build(env, source, &mut Stages::default())
    }

    /// Compiles an expression that was [checked](Engine::check), without parsing it again.
    ///
    /// # Errors
    /// [`CompileError`] if it was checked for another environment, or if [`Tier::Native`] is asked
    /// for and not possible.
    pub fn compile_checked<C: Context>(
        &self,
        env: &Env<C>,
        rule: &CheckedRule,
    ) -> Result<Program<C::Static>, CompileError> {
        traced(rule.source(), || {
            let expression = Arc::clone(rule.expression_for(env)?);
            let patterns = self.pattern_cache(env);
            self.program(env, expression, &patterns, &mut Stages::default(), &mut ())
        })
    }

    /// Compiles a checked expression as [`compile_checked`](Self::compile_checked) does, for
    /// whoever measures its stages: `lower`, `verify` (before and after the passes), `compact` and
    /// each pass by its name, up to three times, and `codegen`.
    ///
    /// # Errors
    /// As [`compile_checked`](Self::compile_checked).
    pub fn compile_observed<C: Context>(
        &self,
        env: &Env<C>,
        rule: &CheckedRule,
        observer: &mut dyn StageObserver,
    ) -> Result<Program<C::Static>, CompileError> {
        let expression = Arc::clone(rule.expression_for(env)?);
        let patterns = self.pattern_cache(env);
        self.program(env, expression, &patterns, &mut Stages::default(), observer)
    }

    pub(crate) fn build<C: Context>(
        &self,
        env: &Env<C>,
        source: &str,
        stages: &mut Stages,
    ) -> Result<Program<C::Static>, CompileError> {
        traced(source, || {
            let patterns = self.pattern_cache(env);
            let expression = Arc::new(self.expression(env, source, &patterns)?);
            self.program(env, expression, &patterns, stages, &mut ())
        })
    }

    fn program<C: Context>(
        &self,
        env: &Env<C>,
        expression: Arc<Expression>,
        patterns: &PatternCache,
        stages: &mut Stages,
        observer: &mut dyn StageObserver,
    ) -> Result<Program<C::Static>, CompileError> {
        let tier = self.tier();
        let native = match tier {
            Tier::Interpret => None,
            Tier::Native | Tier::Auto => match self.native(env, &expression, patterns, stages, observer) {
                Ok(native) => {
                    if let Some(profiler) = self.profiler() {
                        profiler.record(native.code(), |_| profile::rule("", expression.source()));
                    }
                    Some(native)
                }
                Err(_) if tier == Tier::Auto => {
                    self.check_native_code();
                    None
                }
                Err(message) => return Err(not_native(expression.source(), message)),
            },
        };
        Ok(Program::new(expression, env, native, *self.limits()))
    }

    /// Lowers a tree to a graph. Returns it as lowered, and optimised. Records folded calls of the host's functions.
    ///
    /// # Errors
    /// An expression that has no graph, or a graph that is not well formed: a defect of celero.
    pub(crate) fn lowered<C: Context>(
        &self,
        env: &Env<C>,
        expression: &Expression,
        patterns: &PatternCache,
        folded: Option<&RefCell<BTreeSet<String>>>,
        observer: &mut dyn StageObserver,
    ) -> Result<(Lowered, Graph), String> {
        let fields = env.fields();
        let lowered = observed(observer, "lower", || expression.tree().lower(env.functions(), fields))?;
        observed(observer, "verify", || verify(&lowered.graph, fields))?;
        let evaluator = ConstantEvaluator::new(&lowered.calls, env.functions(), patterns).recording(folded);
        let graph = passes::run_observed(&lowered.graph, &self.shared.passes, &evaluator, observer);
        observed(observer, "verify", || verify(&graph, fields))?;
        Ok((lowered, graph))
    }

    fn native<C: Context>(
        &self,
        env: &Env<C>,
        expression: &Expression,
        patterns: &PatternCache,
        stages: &mut Stages,
        observer: &mut dyn StageObserver,
    ) -> Result<NativeProgram, String> {
        let limits = self.limits();
        let fields = env.fields();
        let folded = RefCell::default();
        let (lowered, graph) = self.lowered(env, expression, patterns, stages.wanted.then_some(&folded), observer)?;
        let mut compiler = self.shared.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        let (constant_bytes, steps) = (limits.constants, i64::from(limits.steps));
        // Listings show the code with its constants, and a profiler shows one name for a function.
        let share = self.shared.share_code && !stages.wanted && self.profiler().is_none();
        let input = Input { graph: &graph, fields, calls: &lowered.calls, patterns, constant_bytes, steps, share };
        let listings = stages.wanted.then_some(&mut stages.listings);
        let working = compiler.as_mut().map_err(|error| error.to_string())?;
        let before = working.codegen_time();
        let native = observed(observer, "codegen", || contained(|| NativeProgram::compile(working, input, listings)))
            .map_err(|()| {
            // A defect of the code generator, whose state can't be trusted any more.
            *compiler = new_compiler(self.shared.copy_code);
            "internal error: the code generator panicked".to_owned()
        })?;
        let after = compiler.as_ref().map_or(before, Compiler::codegen_time);
        drop(compiler);
        self.add_codegen_time(after.saturating_sub(before));
        let native = native.map_err(|error| error.to_string())?;
        if stages.wanted {
            stages.lowered = Some(lowered.graph);
            stages.optimized = Some(graph);
            stages.folded = folded.into_inner();
        }
        Ok(native)
    }
}

/// Runs a compilation, and reports it to the host's `tracing` subscriber.
fn traced<S: Context + 'static>(
    source: &str,
    compile: impl FnOnce() -> Result<Program<S>, CompileError>,
) -> Result<Program<S>, CompileError> {
    span!("celero.compile", bytes = source.len());
    let program = compile();
    match &program {
        Ok(program) => event!(debug, "compiled", native = program.is_native(), warnings = program.warnings().len()),
        Err(error) => event!(debug, "refused", errors = error.diagnostics().len()),
    }
    program
}

/// Refuses a graph that breaks the rules of graphs: a defect of this library.
fn verify(graph: &Graph, fields: &[celero_ir::layout::Field]) -> Result<(), String> {
    celero_ir::verify(graph, fields).map_err(|violation| format!("internal error: {violation}"))
}

/// The error of a rule that must be native code and can't be.
pub(crate) fn not_native(source: &str, message: String) -> CompileError {
    let span = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        stage: Stage::Limit,
        code: lint::NATIVE_CODE,
        message,
        span,
        labels: Vec::new(),
        help: vec!["the interpreter (`Tier::Interpret`) takes every rule".into()],
    };
    CompileError::new(source, vec![diagnostic])
}
