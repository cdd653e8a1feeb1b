//! The engine: compiles rules. One per process.

use crate::constants::ConstantEvaluator;
use crate::context::Context;
use crate::env::{Env, EnvError};
use crate::explain::Explanation;
use crate::function::contained;
use crate::limits::Limits;
use crate::lint;
use crate::lower::{Lowered, lower};
use crate::native::{Input, NativeProgram};
use crate::profile;
use crate::program::{Program, Trees};
use crate::rules::RuleSetBuilder;
use crate::trace::{event, span};
use celero_frontend::{
    CHECKER_CODES, Checked, CodeInfo, Diagnostic, FORMAT_CODES, PARSER_CODES, Severity, Span, Stage, Style,
};
use celero_ir::{Graph, passes};
use celero_jit::{Compiler, Profiler, Profiling, Settings};
use celero_matching::pattern::PatternCache;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Which tier evaluates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// Native code where the host's processor is supported and the rule is within the compiler's bounds; else the
    /// interpreter.
    #[default]
    Auto,
    /// Native code, or an error.
    Native,
    /// The interpreter.
    Interpret,
}

/// Compiles rules. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tier: Tier,
    limits: Limits,
    passes: passes::Options,
    profiler: Option<Profiler>,
    compiler: Mutex<Result<Compiler, celero_jit::Error>>,
    /// Nanoseconds.
    index_time: AtomicU64,
}

/// Chooses the settings of an [`Engine`].
#[derive(Clone, Debug, Default)]
pub struct EngineBuilder {
    tier: Tier,
    limits: Limits,
    passes: passes::Options,
    profiling: Option<Profiling>,
}

impl EngineBuilder {
    /// Which tier evaluates. Default [`Tier::Auto`].
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// The bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether graphs are optimised before they are compiled. Default true; without, rules mean the same and run slower,
    /// which is there to be tested.
    #[must_use]
    pub fn optimize(mut self, on: bool) -> Self {
        self.passes = if on { passes::Options::default() } else { passes::Options::NONE };
        self
    }

    /// Whether profilers are told which machine code is which rule's. Default: they are not, and nothing is written.
    ///
    /// Functions are named `celero::rule::NAME`, and those of several rules, or of what several have in common,
    /// `celero::rules::FIRST..LAST`; an expression without a name, by its text. What goes wrong is no error of a compilation:
    /// [`Engine::profiling_failure`].
    #[must_use]
    pub fn profiling(mut self, profiling: Profiling) -> Self {
        self.profiling = Some(profiling);
        self
    }

    /// The engine.
    #[must_use]
    pub fn build(self) -> Engine {
        let compiler = Mutex::new(Compiler::new(&Settings::default()));
        let Self { tier, limits, passes, profiling } = self;
        let (profiler, index_time) = (profiling.map(Profiler::new), AtomicU64::new(0));
        Engine { shared: Arc::new(Shared { tier, limits, passes, profiler, compiler, index_time }) }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// To choose settings.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// To compile rules that are evaluated together: [`RuleSet`](crate::RuleSet) says more.
    pub fn rules<'e, C: Context, A>(&self, env: &'e Env<C>) -> RuleSetBuilder<'e, C, A> {
        RuleSetBuilder::new(self.clone(), env)
    }

    pub(crate) fn tier(&self) -> Tier {
        self.shared.tier
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// How long the code generator underneath, Cranelift, has worked in all compilations so far: what is left of the time that
    /// [`compile`](Self::compile) takes is celero's own part.
    #[must_use]
    pub fn codegen_time(&self) -> Duration {
        let compiler = self.shared.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        compiler.as_ref().map_or(Duration::ZERO, Compiler::codegen_time)
    }

    /// How long making the indices of sets of [rules](Self::rules) has taken so far: a small part of the time that
    /// [`build`](RuleSetBuilder::build) takes, most of which goes to the rules one by one.
    #[must_use]
    pub fn index_time(&self) -> Duration {
        Duration::from_nanos(self.shared.index_time.load(Ordering::Relaxed))
    }

    pub(crate) fn add_index_time(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.shared.index_time.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Why profilers could not be [told](EngineBuilder::profiling) of code, the first time that happened.
    #[must_use]
    pub fn profiling_failure(&self) -> Option<&str> {
        self.profiler().and_then(Profiler::failure)
    }

    pub(crate) fn profiler(&self) -> Option<&Profiler> {
        self.shared.profiler.as_ref()
    }

    /// Parses and checks an expression without compiling it, and gives the warnings.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn check<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Vec<Diagnostic>, CompileError> {
        self.checked(env, source, &PatternCache::default()).map(|(_, warnings)| warnings)
    }

    pub(crate) fn checked<C: Context>(
        &self,
        env: &Env<C>,
        source: &str,
        patterns: &PatternCache,
    ) -> Result<(Trees, Vec<Diagnostic>), CompileError> {
        let failed = |diagnostics| CompileError::new(source, diagnostics);
        if !env.problems().is_empty() {
            return Err(failed(env.problems().iter().map(undeclarable).collect()));
        }
        let declarations = env.declarations();
        let ast = celero_frontend::parse_with(source, &self.shared.limits.source, env.declarations().libraries())
            .map_err(failed)?;
        let (checked, mut warnings) =
            celero_frontend::check(ast, declarations, &self.shared.limits.source).map_err(failed)?;
        warnings.extend(lint::lint(&checked, env.fields(), patterns));
        warnings.sort_by_key(|warning| warning.span.start);
        warnings.truncate(self.shared.limits.source.max_diagnostics as usize);
        let inlined = celero_frontend::inline(&checked, declarations, &self.shared.limits.source).map_err(failed)?;
        Ok((Trees { written: checked, inlined }, warnings))
    }

    /// Compiles an expression for contexts of the environment's type.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn compile<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Program<C::Static>, CompileError> {
        self.build(env, source, &mut Stages::default())
    }

    /// Compiles an expression and shows every stage of the way.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn explain<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Explanation, CompileError> {
        let mut stages = Stages { wanted: true, ..Stages::default() };
        let program = self.build(env, source, &mut stages)?;
        Ok(Explanation::new(&program, stages))
    }

    fn build<C: Context>(
        &self,
        env: &Env<C>,
        source: &str,
        stages: &mut Stages,
    ) -> Result<Program<C::Static>, CompileError> {
        span!("celero.compile", bytes = source.len());
        let program = self.program(env, source, stages);
        match &program {
            Ok(program) => event!(debug, "compiled", native = program.is_native(), warnings = program.warnings().len()),
            Err(error) => event!(debug, "refused", errors = error.diagnostics().len()),
        }
        program
    }

    fn program<C: Context>(
        &self,
        env: &Env<C>,
        source: &str,
        stages: &mut Stages,
    ) -> Result<Program<C::Static>, CompileError> {
        let shared = &*self.shared;
        let patterns = PatternCache::with_budget(shared.limits.patterns);
        let (trees, warnings) = self.checked(env, source, &patterns)?;
        let native = match shared.tier {
            Tier::Interpret => None,
            Tier::Native | Tier::Auto => match self.native(env, trees.evaluated(), &patterns, stages) {
                Ok(native) => {
                    if let Some(profiler) = self.profiler() {
                        profiler.record(native.code(), |_| profile::rule("", source));
                    }
                    Some(native)
                }
                Err(_) if shared.tier == Tier::Auto => None,
                Err(message) => {
                    return Err(not_native(source, message));
                }
            },
        };
        Ok(Program::new(trees, warnings, env, native, shared.limits))
    }

    /// A tree as a graph, as it is and optimised.
    pub(crate) fn lowered<C: Context>(
        &self,
        env: &Env<C>,
        checked: &Checked,
        patterns: &PatternCache,
    ) -> Result<(Lowered, Graph), String> {
        let fields = env.fields();
        let lowered = lower(checked, env.functions(), fields);
        verify(&lowered.graph, fields)?;
        let library = ConstantEvaluator::new(&lowered.calls, env.functions(), patterns);
        let graph = passes::run(&lowered.graph, &self.shared.passes, &library);
        verify(&graph, fields)?;
        Ok((lowered, graph))
    }

    fn native<C: Context>(
        &self,
        env: &Env<C>,
        checked: &Checked,
        patterns: &PatternCache,
        stages: &mut Stages,
    ) -> Result<NativeProgram, String> {
        let shared = &*self.shared;
        let fields = env.fields();
        let (lowered, graph) = self.lowered(env, checked, patterns)?;
        let mut compiler = shared.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        let (constant_bytes, steps) = (shared.limits.constants, i64::from(shared.limits.steps));
        let input = Input { graph: &graph, fields, calls: &lowered.calls, patterns, constant_bytes, steps };
        let listings = stages.wanted.then_some(&mut stages.listings);
        let working = compiler.as_mut().map_err(|error| error.to_string())?;
        let native = contained(|| NativeProgram::compile(working, input, listings)).map_err(|()| {
            // A defect of the code generator. What it was working with is not fit to be used again.
            *compiler = Compiler::new(&Settings::default());
            "internal error: the code generator panicked".to_owned()
        })?;
        drop(compiler);
        let native = native.map_err(|error| error.to_string())?;
        if stages.wanted {
            stages.lowered = Some(lowered.graph);
            stages.optimized = Some(graph);
        }
        Ok(native)
    }
}

/// Every code that a [`Diagnostic`] can have, with what it means. Codes are stable.
pub fn diagnostic_codes() -> impl Iterator<Item = &'static CodeInfo> {
    [PARSER_CODES, CHECKER_CODES, lint::CODES, FORMAT_CODES].into_iter().flatten()
}

/// A graph that breaks the rules of graphs is a defect of this library; it is refused, not compiled.
fn verify(graph: &Graph, fields: &[celero_ir::layout::Field]) -> Result<(), String> {
    celero_ir::verify(graph, fields).map_err(|violation| format!("internal error: {violation}"))
}

/// A declaration of the environment that cannot stand.
fn undeclarable(problem: &EnvError) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        stage: Stage::Check,
        code: lint::ENVIRONMENT,
        message: problem.message().to_owned(),
        span: Span::new(0, 0),
        labels: Vec::new(),
        help: problem.diagnostics().first().map_or_else(Vec::new, |found| found.help.clone()),
    }
}

/// The error for a rule that must be native code and can't be.
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

/// What `explain` shows of the way, kept only where it is wanted.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    wanted: bool,
    pub(crate) lowered: Option<Graph>,
    pub(crate) optimized: Option<Graph>,
    pub(crate) listings: Vec<celero_jit::Listing>,
}

/// Why an expression was rejected: every finding, not only the first. Displays as the rendered diagnostics.
#[derive(Clone)]
pub struct CompileError {
    source: Arc<str>,
    diagnostics: Vec<Diagnostic>,
}

impl CompileError {
    pub(crate) fn new(source: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self { source: source.into(), diagnostics }
    }

    /// The findings, in order of the source.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings with the lines they are about; `origin` names the source, `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, origin: &str, color: bool) -> String {
        let style = if color { Style::Ansi } else { Style::Plain };
        celero_frontend::render(&self.source, origin, &self.diagnostics, style)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("rule", false))
    }
}

impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for CompileError {}
