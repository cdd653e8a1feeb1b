//! From a unit to installed code: emission, code generation, limits, installation.

use crate::code::{Code, CodeRange, Listing, SharedFunction, Symbol, name_helpers};
use crate::code_cache::{ClifHash, CodeCache};
use crate::code_memory::{CodeMemory, CompiledFunction, Reserve};
use crate::code_template::CodeTemplate;
use crate::convention::Convention;
use crate::emit::{self, Body, Emitted, RuleWords, Task};
use crate::error::{Bound, Error};
use crate::liveness;
use crate::plan::Plan;
use crate::settings::{Limits, Settings};
use crate::target::Target;
use crate::unit::{GroupedRule, HeaderBatch, Unit};
use celero_ir::{NodeId, Ty, layout};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::AbiParam;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::{CodegenError, CompiledCode, Context};
use cranelift_frontend::FunctionBuilderContext;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A compiler for the machine that it runs on. It reuses its working memory from one compilation to
/// the next; use one for each thread.
pub struct Compiler {
    target: Target,
    limits: Limits,
    copies: bool,
    context: Context,
    builder: FunctionBuilderContext,
    plan: Plan,
    reserve: Reserve,
    /// Shared code.
    shared: CodeCache<Arc<Code>>,
    templates: CodeCache<CodeTemplate>,
    codegen: Duration,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiler").field("target", &self.target.isa.triple().to_string()).finish_non_exhaustive()
    }
}

impl Compiler {
    /// Returns a compiler with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where there is no native code for the machine; [`Error::Memory`] where the process may
    /// not execute pages that it has written.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let mut compiler = Self {
            target: Target::host(settings.verify)?,
            limits: settings.limits,
            copies: settings.copies,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            plan: Plan::default(),
            reserve: Reserve::default(),
            shared: CodeCache::default(),
            templates: CodeCache::default(),
            codegen: Duration::ZERO,
        };
        // A page of no functions.
        compiler.install(Vec::new())?;
        Ok(compiler)
    }

    /// Compiles one function for each root and installs them in one region of memory.
    ///
    /// A function that differs from two earlier ones in constants and places in the source only, as
    /// far as its CLIF says, is a copy of the second with other words: the code generator does not
    /// run. The compiler keeps the last 256 such functions that were compiled or copied.
    /// [`Settings::copies`] can switch that off.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] names the root; nothing is installed then. [`Error::Memory`] if there is
    /// no memory for the code.
    pub fn compile(&mut self, unit: &Unit<'_>) -> Result<Code, Error> {
        let mut functions = Vec::with_capacity(unit.graph.roots().len());
        for (number, &root) in unit.graph.roots().iter().enumerate() {
            functions.push(self.copy_or_compile(unit, number, root)?);
        }
        self.install(functions)
    }

    /// Compiles the function of a root so that rules which differ in constants only share it, or
    /// returns that of an earlier rule. The code reads what depends on the rule from the returned
    /// parameter row: constants, and places in the source. To call it, give the row to
    /// [`Entry::with_row`](crate::Entry::with_row).
    ///
    /// Two rules share code if the CLIF of their functions is the same, so the code is what
    /// compiling the second rule would give. The compiler keeps the code of the last 256 functions
    /// that were used.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn compile_shared(&mut self, unit: &Unit<'_>, root: NodeId) -> Result<SharedFunction, Error> {
        self.context.clear();
        let (convention, row) = self.emit(unit, 0, Body::Root(root), &[root], RuleWords::Row)?;
        let row = row.into();
        let stencil = &self.context.func.stencil;
        let hash = ClifHash::of(stencil);
        if let Some(code) = hash.and_then(|hash| self.shared.get(hash, stencil)) {
            return Ok(SharedFunction { code: Arc::clone(code), row });
        }
        let kept = hash.map(|hash| (hash, stencil.clone()));
        let function = self.finish(0, convention)?;
        let code = Arc::new(self.install(vec![function])?);
        if let Some((hash, stencil)) = kept {
            self.shared.insert(hash, stencil, Arc::clone(&code));
        }
        Ok(SharedFunction { code, row })
    }

    /// Compiles one function that evaluates up to 64 rules in order, as
    /// [`layout::group`](celero_ir::layout::group) says. Each rule has a budget of `steps`. Headers
    /// of a batch are looked up together. The function is not installed yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] when the rules are too many for one function, or one of them is too large.
    pub fn group(
        &mut self,
        unit: &Unit<'_>,
        rules: &[GroupedRule<'_>],
        headers: &[HeaderBatch<'_>],
        steps: i64,
    ) -> Result<CompiledFunction, Error> {
        if rules.len() > layout::group::MAX_RULES {
            return Err(Error::Internal("more rules than a function has bits for".into()));
        }
        let roots: Vec<NodeId> = rules.iter().map(|rule| rule.root).collect();
        self.function(unit, 0, Body::Rules { rules, headers, steps }, &roots)
    }

    /// Compiles a template: the function of a root of type `bool` that reads its
    /// [parameters](celero_ir::Parameter) from the [parameter row](layout::parameter_row) in the
    /// frame. Rules that differ in constants alone share it. The function is not installed yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], and [`Error::Internal`] for a root of another type.
    pub fn template(&mut self, unit: &Unit<'_>, root: NodeId) -> Result<CompiledFunction, Error> {
        if unit.graph.ty(root) != Ty::Bool {
            return Err(Error::Internal("the root of a template is not a truth value".into()));
        }
        self.function(unit, 0, Body::Template(root), &[root])
    }

    /// Installs functions into one region of memory; their order gives the index for [`Code::entry`].
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn install(&mut self, functions: Vec<CompiledFunction>) -> Result<Code, Error> {
        let bytes = functions.iter().fold(0_usize, |sum, function| sum.saturating_add(function.bytes.len()));
        let isa = &self.target.isa;
        let align = isa.symbol_alignment().max(isa.function_alignment().minimum.into());
        let memory = CodeMemory::install(&mut self.reserve, align, &functions);
        Ok(Code { memory: memory.map_err(Error::Memory)?, bytes })
    }

    /// Total time that Cranelift's code generator has worked for this compiler. Emission of its
    /// input and installation of its output are not counted.
    #[must_use]
    pub fn codegen_time(&self) -> Duration {
        self.codegen
    }

    /// Compiles one function for each root to text, and installs nothing.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn explain(&mut self, unit: &Unit<'_>) -> Result<Vec<Listing>, Error> {
        let mut listings = Vec::with_capacity(unit.graph.roots().len());
        for (number, &root) in unit.graph.roots().iter().enumerate() {
            self.context.clear();
            self.emit(unit, number, Body::Root(root), &[root], RuleWords::Code)?;
            self.generate(number)?;
            let clif = name_helpers(&self.context.func.display().to_string(), unit.helpers);
            // The code as `compile` installs it.
            self.context.clear();
            let (convention, words) = self.emit(unit, number, Body::Root(root), &[root], RuleWords::Relocated)?;
            self.generate(number)?;
            let code = self.context.take_compiled_code().ok_or_else(|| Error::Internal("no code".into()))?;
            let function = CodeTemplate::new(&code)?.function(&words, convention)?;
            let located = code.buffer.get_srclocs_sorted().iter().filter(|range| !range.loc.is_default());
            let ranges = located.map(|range| {
                let node = NodeId(range.loc.bits());
                CodeRange { from: range.start, to: range.end, node, origin: unit.graph.origin(node) }
            });
            listings.push(Listing { clif, ranges: ranges.collect(), bytes: function.bytes, symbols: Symbol::of(unit) });
        }
        Ok(listings)
    }

    /// Copies the function of an earlier root that has the same CLIF, or compiles it.
    fn copy_or_compile(&mut self, unit: &Unit<'_>, number: usize, root: NodeId) -> Result<CompiledFunction, Error> {
        self.context.clear();
        let (convention, words) = self.emit(unit, number, Body::Root(root), &[root], RuleWords::Relocated)?;
        let stencil = &self.context.func.stencil;
        let hash = if self.copies { ClifHash::of(stencil) } else { None };
        if let Some(template) = hash.and_then(|hash| self.templates.get(hash, stencil)) {
            return template.function(&words, convention);
        }
        let kept = hash.filter(|&hash| self.templates.occurs_again(hash)).map(|hash| (hash, stencil.clone()));
        let template = CodeTemplate::new(self.generate(number)?)?;
        let function = template.function(&words, convention)?;
        if let Some((hash, stencil)) = kept {
            self.templates.insert(hash, stencil, template);
        }
        Ok(function)
    }

    fn function(
        &mut self,
        unit: &Unit<'_>,
        number: usize,
        body: Body<'_>,
        roots: &[NodeId],
    ) -> Result<CompiledFunction, Error> {
        self.context.clear();
        let (convention, _) = self.emit(unit, number, body, roots, RuleWords::Code)?;
        self.finish(number, convention)
    }

    /// Generates the code of the function in the context.
    fn finish(&mut self, number: usize, convention: Convention) -> Result<CompiledFunction, Error> {
        let code = self.generate(number)?;
        if !code.buffer.relocs().is_empty() {
            return Err(Error::Internal("code that needs relocations".into()));
        }
        let (bytes, align) = (code.buffer.data().to_vec(), u64::from(code.buffer.alignment));
        Ok(CompiledFunction { bytes, align, convention })
    }

    /// Emits the CLIF of a function in the context. Returns how it is called, and its rule words
    /// that are not in the CLIF.
    fn emit(
        &mut self,
        unit: &Unit<'_>,
        number: usize,
        body: Body<'_>,
        roots: &[NodeId],
        rule_words: RuleWords,
    ) -> Result<(Convention, Vec<u64>), Error> {
        let limits = self.limits;
        let excess = |bound, limit| Error::TooLarge { root: number, bound, limit };
        self.plan.make(unit, roots);
        if self.plan.depth > limits.depth {
            return Err(excess(Bound::Depth, u64::from(limits.depth)));
        }
        if self.plan.loops > limits.loops {
            return Err(excess(Bound::Loops, u64::from(limits.loops)));
        }
        let text = matches!(body, Body::Root(root) if layout::returns_text(unit.graph.ty(root)));
        let signature = if text { &self.target.text_signature } else { &self.target.signature };
        self.context.func.signature.clone_from(signature);
        if rule_words == RuleWords::Row {
            self.context.func.signature.params.push(AbiParam::new(I64));
        }
        let task = Task {
            unit: *unit,
            plan: &self.plan,
            body,
            number,
            instructions: limits.instructions,
            target: self.target.facts(),
            rule_words,
        };
        let emitted = emit::emit(&mut self.context.func, &mut self.builder, &task);
        let Emitted { context_only, words } = emitted.inspect_err(|_| {
            // A builder that stopped half-way keeps its memory in use.
            self.builder = FunctionBuilderContext::new();
        })?;
        if liveness::exceeds(&self.context.func, limits.live_values) {
            return Err(excess(Bound::LiveValues, limits.live_values as u64));
        }
        Ok((Convention { context_only, text }, words))
    }

    /// Generates the code of the function in the context.
    fn generate(&mut self, number: usize) -> Result<&CompiledCode, Error> {
        let limits = self.limits;
        let excess = |bound, limit| Error::TooLarge { root: number, bound, limit };
        let start = Instant::now();
        let compiled = self.context.compile(&*self.target.isa, &mut ControlPlane::default());
        self.codegen = self.codegen.saturating_add(start.elapsed());
        let code = compiled.map_err(|error| match error.inner {
            CodegenError::CodeTooLarge | CodegenError::ImplLimitExceeded => excess(Bound::Code, 0),
            CodegenError::Unsupported(what) => Error::Unsupported(what),
            other => Error::Internal(format!("{other}: {other:?}")),
        })?;
        if code.buffer.frame_layout().is_none_or(|frame| frame.frame_to_fp_offset > limits.frame) {
            return Err(excess(Bound::Frame, u64::from(limits.frame)));
        }
        Ok(code)
    }
}
