//! From a unit to installed code: emission, code generation, limits, linking.

use crate::code_memory::{CodeMemory, Piece, Reserve};
use crate::emit::{self, Body, Task};
use crate::entry::Entry;
use crate::error::{Bound, Error};
use crate::liveness;
use crate::plan::Plan;
use crate::profile::Installed;
use crate::unit::{HeaderTable, Rule, Unit};
use celero_ir::{Helper, NodeId, Origin, Ty, layout};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, CompiledCode, Context};
use cranelift_frontend::FunctionBuilderContext;
use std::time::{Duration, Instant};

/// How large one function may get, so that compiling one takes some tenths of a second at the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CLIF instructions; code generation takes about a microsecond for each.
    pub instructions: usize,
    /// Values alive at once; register allocation takes time with the square of it: 50 ms for 1,000.
    pub live_values: usize,
    /// Expressions inside one another; emission recurses that deep, on stacks of its own when needed.
    pub depth: u32,
    /// Bytes of stack.
    pub frame: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instructions: 100_000, live_values: 400, depth: 20_000, frame: 64 * 1024 }
    }
}

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether Cranelift's verifier checks each function, which nearly doubles the time. On by default in debug builds.
    pub verify: bool,
    /// How large functions may get.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { verify: cfg!(debug_assertions), limits: Limits::default() }
    }
}

/// A compiler for this machine. Keeps its working memory from one compilation to the next; one per thread.
pub struct Compiler {
    isa: OwnedTargetIsa,
    signature: Signature,
    limits: Limits,
    context: Context,
    builder: FunctionBuilderContext,
    plan: Plan,
    reserve: Reserve,
    codegen: Duration,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiler").field("target", &self.isa.triple().to_string()).finish_non_exhaustive()
    }
}

impl Compiler {
    /// A compiler with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where there is no native code for the machine.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let isa = host(settings)?;
        let mut signature = Signature::new(isa.default_call_conv());
        signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
        signature.returns.push(AbiParam::new(I64));
        Ok(Self {
            isa,
            signature,
            limits: settings.limits,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            plan: Plan::default(),
            reserve: Reserve::default(),
            codegen: Duration::ZERO,
        })
    }

    /// Compiles a function for each root into one region of memory.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] names the root; no code remains then.
    pub fn compile(&mut self, unit: &Unit<'_>) -> Result<Code, Error> {
        let mut pieces = Vec::with_capacity(unit.graph.roots().len());
        for (number, &root) in unit.graph.roots().iter().enumerate() {
            self.context.clear();
            pieces.push(self.generate(unit, number, Body::Root(root), &[root]).map(Function::new)?.0);
        }
        self.link(&pieces)
    }

    /// Compiles one function for up to 64 rules, which it evaluates in order: what [`layout::group`](celero_ir::layout::group)
    /// says. Each has a budget of so many steps. Headers of a table are looked up together. The function is not installed yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] when the rules are too many for one function, or one of them is too large.
    pub fn group(
        &mut self,
        unit: &Unit<'_>,
        rules: &[Rule<'_>],
        headers: &[HeaderTable<'_>],
        steps: i64,
    ) -> Result<Function, Error> {
        if rules.len() > layout::group::MOST {
            return Err(Error::Internal("more rules than a function has bits for".into()));
        }
        self.context.clear();
        let roots: Vec<NodeId> = rules.iter().map(|rule| rule.root).collect();
        self.generate(unit, 0, Body::Rules { rules, headers, steps }, &roots).map(Function::new)
    }

    /// Compiles the function of a root of type `bool` whose [parameters](celero_ir::Parameter) are in the
    /// [row](layout::row) that the frame tells. The function is not installed yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`].
    pub fn shape(&mut self, unit: &Unit<'_>, root: NodeId) -> Result<Function, Error> {
        if unit.graph.ty(root) != Ty::Bool {
            return Err(Error::Internal("a shape that is no truth value".into()));
        }
        self.context.clear();
        self.generate(unit, 0, Body::Root(root), &[root]).map(Function::new)
    }

    /// Installs functions into one region of memory, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn install(&mut self, functions: Vec<Function>) -> Result<Code, Error> {
        let pieces: Vec<Piece> = functions.into_iter().map(|function| function.0).collect();
        self.link(&pieces)
    }

    fn link(&mut self, pieces: &[Piece]) -> Result<Code, Error> {
        let bytes = pieces.iter().fold(0_usize, |sum, piece| sum.saturating_add(piece.bytes.len()));
        let memory =
            CodeMemory::install(&mut self.reserve, self.isa.clone(), &self.signature, pieces).map_err(Error::Memory)?;
        Ok(Code { memory, bytes })
    }

    /// How long Cranelift's code generator has worked for this compiler so far: for all else than that, emission of its input
    /// and installation of its output, the clock stands still.
    #[must_use]
    pub fn codegen_time(&self) -> Duration {
        self.codegen
    }

    /// Compiles a function for each root, to be read instead of run.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn explain(&mut self, unit: &Unit<'_>) -> Result<Vec<Listing>, Error> {
        let mut listings = Vec::with_capacity(unit.graph.roots().len());
        for (number, &root) in unit.graph.roots().iter().enumerate() {
            self.context.clear();
            self.context.set_disasm(true);
            self.generate(unit, number, Body::Root(root), &[root])?;
            let clif = with_names(&self.context.func.display().to_string(), unit.helpers);
            let code = self.context.take_compiled_code().ok_or_else(|| Error::Internal("no code".into()))?;
            let located = code.buffer.get_srclocs_sorted().iter().filter(|range| !range.loc.is_default());
            let spans = located.map(|range| {
                let node = NodeId(range.loc.bits());
                Span { from: range.start, to: range.end, node, origin: unit.graph.origin(node) }
            });
            listings.push(Listing {
                clif,
                spans: spans.collect(),
                size: code.buffer.data().len(),
                assembly: code.vcode.unwrap_or_default(),
            });
        }
        Ok(listings)
    }

    fn generate(
        &mut self,
        unit: &Unit<'_>,
        number: usize,
        body: Body<'_>,
        roots: &[NodeId],
    ) -> Result<(&CompiledCode, bool), Error> {
        let limits = self.limits;
        let excess = |bound, limit| Error::TooLarge { root: number, bound, limit };
        self.plan.make(unit, roots);
        if self.plan.depth > limits.depth {
            return Err(excess(Bound::Depth, u64::from(limits.depth)));
        }
        self.context.func.signature = self.signature.clone();
        let task = Task {
            unit: *unit,
            plan: &self.plan,
            body,
            number,
            instructions: limits.instructions,
            config: self.isa.frontend_config(),
        };
        let emitted = emit::emit(&mut self.context.func, &mut self.builder, &task);
        let bare = emitted.inspect_err(|_| {
            // A builder that stopped half-way leaves its memory in use.
            self.builder = FunctionBuilderContext::new();
        })?;
        if liveness::exceeds(&self.context.func, limits.live_values) {
            return Err(excess(Bound::LiveValues, limits.live_values as u64));
        }
        let start = Instant::now();
        let compiled = self.context.compile(&*self.isa, &mut ControlPlane::default());
        self.codegen = self.codegen.saturating_add(start.elapsed());
        let code = compiled.map_err(|error| match error.inner {
            CodegenError::CodeTooLarge | CodegenError::ImplLimitExceeded => excess(Bound::Code, 0),
            CodegenError::Unsupported(what) => Error::Unsupported(what),
            other => Error::Internal(format!("{other}: {other:?}")),
        })?;
        if !code.buffer.relocs().is_empty() {
            return Err(Error::Internal("code that needs relocations".into()));
        }
        if code.buffer.frame_layout().is_none_or(|frame| frame.frame_to_fp_offset > limits.frame) {
            return Err(excess(Bound::Frame, u64::from(limits.frame)));
        }
        Ok((code, bare))
    }
}

/// A listing in which the remarks on values that are a helper's address say its name.
fn with_names(clif: &str, addresses: &[usize]) -> String {
    let mut text = String::with_capacity(clif.len());
    let mut parts = clif.split(" = 0x");
    text.extend(parts.next());
    for part in parts {
        let end = part.find(|c: char| c != '_' && !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        let address = usize::from_str_radix(&number.replace('_', ""), 16).ok();
        let place = addresses.iter().position(|known| Some(*known) == address);
        match place.and_then(|place| Helper::ALL.get(place)) {
            Some(helper) => text.extend([" = ", helper.decl().name, rest]),
            None => text.extend([" = 0x", number, rest]),
        }
    }
    text
}

/// Cranelift for this machine.
fn host(wanted: &Settings) -> Result<OwnedTargetIsa, Error> {
    let unsupported = |why: &dyn std::fmt::Display| Error::Unsupported(why.to_string());
    let mut flags = settings::builder();
    let verify = if wanted.verify { "true" } else { "false" };
    for (name, value) in [
        // Emission leaves nothing for the optimiser to find; it would take half as long again.
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", verify),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "true"),
        // A large frame touches each of its pages, so that it can't step over the guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("is_pic", "false"),
    ] {
        flags.set(name, value).map_err(|e| Error::Internal(e.to_string()))?;
    }
    let builder = cranelift_native::builder().map_err(|why| unsupported(&why))?;
    let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| unsupported(&e))?;
    // Helpers answer in two integer registers, and text is compared as little-endian words.
    let convention = isa.default_call_conv();
    if !matches!(convention, CallConv::SystemV | CallConv::AppleAarch64) {
        return Err(unsupported(&format!("calling convention {convention}")));
    }
    if cfg!(target_endian = "big") || isa.pointer_bits() != 64 {
        return Err(unsupported(&"only little-endian machines of 64 bits"));
    }
    Ok(isa)
}

/// A function that is compiled and not installed.
#[derive(Debug)]
pub struct Function(Piece);

impl Function {
    fn new((code, bare): (&CompiledCode, bool)) -> Self {
        Self(Piece { bytes: code.buffer.data().to_vec(), align: u64::from(code.buffer.alignment), bare })
    }
}

/// The functions of one unit. Owns their memory: it is unmapped when this goes.
#[derive(Debug)]
pub struct Code {
    memory: CodeMemory,
    bytes: usize,
}

impl Code {
    /// The function of a root.
    #[must_use]
    pub fn entry(&self, root: usize) -> Option<Entry<'_>> {
        self.memory.function(root).map(|(address, bare)| Entry::new(address, bare))
    }

    /// The functions, in order.
    pub(crate) fn installed(&self) -> impl Iterator<Item = Installed<'_>> {
        self.memory.installed()
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory mapped for it: whole pages.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.memory.size()
    }
}

/// A function, to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Cranelift's intermediate form; remarks on calls name the helpers.
    pub clif: String,
    /// Machine code as text.
    pub assembly: String,
    /// Bytes of machine code.
    pub size: usize,
    /// Which code came from where in the source, by rising addresses.
    pub spans: Vec<Span>,
}

/// A range of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte, from the start of the function.
    pub from: u32,
    /// One past the last byte.
    pub to: u32,
    /// The node that it computes.
    pub node: NodeId,
    /// Where that node came from in the source.
    pub origin: Origin,
}
