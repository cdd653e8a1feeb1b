//! The engine: its settings, and what its compilations share.

mod check;
mod compile;
mod explain;
mod format;
mod interpreted;
mod program;

pub use check::diagnostic_codes;
pub(crate) use compile::{Stages, not_native};
pub use explain::{CodeSpan, Explanation, MachineCode};
pub use program::Program;

use crate::compilation::parallel::default_threads;
use crate::compilation::spans::event;
use crate::function::Functions;
use crate::limits::Limits;
use celero_ir::passes;
use celero_jit::{Compiler, Profiler, Profiling, Settings};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Which tier evaluates. Both give the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// Native code if the processor is supported, the process may execute what it writes, and the rule is within
    /// the compiler's limits; otherwise the interpreter.
    #[default]
    Auto,
    /// Native code. Where that is not possible, compiling is an error.
    Native,
    /// The interpreter.
    Interpret,
}

/// Compiles rules. Create one per process; clones are cheap and share everything.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tier: Tier,
    limits: Limits,
    passes: passes::Options,
    share_code: bool,
    copy_code: bool,
    /// Number of threads on which a set is compiled.
    threads: usize,
    /// Whether the host chose it.
    threads_chosen: bool,
    profiler: Option<Profiler>,
    compiler: Mutex<Result<Compiler, celero_jit::Error>>,
    /// Why the machine or the process has no native code.
    native_failure: OnceLock<String>,
    /// In nanoseconds.
    codegen_time: AtomicU64,
    /// In nanoseconds.
    index_time: AtomicU64,
}

/// Chooses the settings of an [`Engine`].
#[derive(Clone, Debug)]
#[must_use]
pub struct EngineBuilder {
    tier: Tier,
    limits: Limits,
    passes: passes::Options,
    share_code: bool,
    copy_code: bool,
    threads: Option<NonZeroUsize>,
    profiling: Option<Profiling>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            tier: Tier::default(),
            limits: Limits::default(),
            passes: passes::Options::default(),
            share_code: false,
            copy_code: true,
            threads: None,
            profiling: None,
        }
    }
}

impl EngineBuilder {
    /// Sets which tier evaluates. Default: [`Tier::Auto`].
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Sets the limits of sources, evaluations and compiled code. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether graphs are optimised before they are compiled. Default: true. Without it rules
    /// give the same results more slowly, which is useful for testing celero only.
    pub fn optimize(mut self, on: bool) -> Self {
        self.passes = if on { passes::Options::default() } else { passes::Options::NONE };
        self
    }

    /// Sets whether programs whose rules differ in constants only share their code. Default: false.
    ///
    /// For many programs of few shapes. The second rule of a shape keeps 8 bytes for each of its
    /// constants and places instead of a page (4 KiB) of code, and the code generator does not run
    /// for it. Its evaluation is slightly slower, because it reads the constants from memory.
    /// Without this setting a rule can have a [copy](Self::copy_code) of another's code, which is
    /// as fast, if small numbers and the lengths of texts are the same too. Texts of 1, 2 to 3, 4
    /// to 7, 8 to 16 and 17 to 32 bytes, and longer ones, are different shapes. The engine keeps
    /// the code of 256 shapes, those that were used last.
    ///
    /// Has no effect on rule sets, which have templates, and with [`profiling`](Self::profiling),
    /// which shows one name for a function.
    ///
    /// ```
    /// use celero::{Engine, Env, Type};
    ///
    /// let engine = Engine::builder().share_code(true).build();
    /// let env = Env::dynamic().variable("team", Type::String);
    /// let red = engine.compile(&env, "team == 'red'")?;
    /// let before = engine.codegen_time();
    /// let tan = engine.compile(&env, "team == 'tan'")?;
    /// assert_eq!(engine.codegen_time(), before, "it has the code of the first");
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    pub fn share_code(mut self, on: bool) -> Self {
        self.share_code = on;
        self
    }

    /// Sets whether programs whose code differs from that of two earlier ones in constants only get
    /// a copy of it, with their own constants, without running the code generator. Default: true.
    /// The code is the same without it, so this is of use only to whoever measures the code
    /// generator.
    pub fn copy_code(mut self, on: bool) -> Self {
        self.copy_code = on;
        self
    }

    /// Sets on how many threads a rule set is compiled, the one that asks for it among them.
    /// Default: 1 if the environment has a [pure function of the host](crate::Env::pure_function),
    /// otherwise the number of processors that the process may use, at most 8. More than 64 count
    /// as 64. Sets of fewer than 256 rules are compiled on one thread, and so is the background
    /// work of [live rules](crate::Live). The set does not depend on the number.
    ///
    /// Pure functions of the host are called on these threads, because calls whose arguments are
    /// constants are evaluated at compile time. The caller waits meanwhile: hold no lock that a
    /// pure function takes. The threads end before the call that compiles returns; if one cannot be
    /// started, the others do its work. For a host that must not start threads: 1.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Writes the names of compiled functions for profilers such as `perf`. Default: nothing is written.
    ///
    /// Functions are named `celero::rule::NAME`; those of several rules, or of what several rules
    /// share, `celero::rules::FIRST..LAST`; an expression without a name, by its text. A failure to
    /// write is not an error of a compilation: [`Engine::profiling_failure`] returns it.
    pub fn profiling(mut self, profiling: Profiling) -> Self {
        self.profiling = Some(profiling);
        self
    }

    /// Creates the engine.
    #[must_use]
    pub fn build(self) -> Engine {
        let Self { tier, limits, passes, share_code, copy_code, threads, profiling } = self;
        let compiler = match tier {
            Tier::Interpret => Err(celero_jit::Error::Unsupported("the tier is `Interpret`".into())),
            Tier::Auto | Tier::Native => new_compiler(copy_code),
        };
        let failed = compiler.as_ref().err().filter(|_| tier != Tier::Interpret).map(ToString::to_string);
        let profiler = profiling.map(Profiler::new);
        let shared = Shared {
            tier: if tier == Tier::Auto && failed.is_some() { Tier::Interpret } else { tier },
            limits,
            passes,
            share_code,
            copy_code,
            threads: threads.map_or_else(default_threads, NonZeroUsize::get),
            threads_chosen: threads.is_some(),
            profiler,
            compiler: Mutex::new(compiler),
            native_failure: OnceLock::new(),
            codegen_time: AtomicU64::new(0),
            index_time: AtomicU64::new(0),
        };
        let engine = Engine { shared: Arc::new(shared) };
        if let Some(why) = failed {
            engine.note_native_failure(why);
        }
        engine
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// Creates an engine with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder, for other settings than the defaults.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    pub(crate) fn tier(&self) -> Tier {
        self.shared.tier
    }

    /// Number of threads on which a set is compiled whose rules may call these functions. Unless
    /// the host chose it, folding calls no function on another thread: the caller, which waits, may
    /// hold a lock that the function takes.
    pub(crate) fn threads(&self, functions: &Functions) -> usize {
        if functions.has_pure() && !self.shared.threads_chosen { 1 } else { self.shared.threads }
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Returns why rules are interpreted although the tier is not [`Tier::Interpret`]: celero was built without its
    /// feature `native`, the processor is not supported, or the process may not execute pages that it has written, as
    /// under SELinux without `execmem` or with `MemoryDenyWriteExecute=` of systemd. `None` if there was no such
    /// failure; rules that exceed a limit of the compiler are none.
    ///
    /// With the feature `tracing`, the first such failure of an engine is a warning too.
    #[must_use]
    pub fn native_failure(&self) -> Option<&str> {
        self.shared.native_failure.get().map(String::as_str)
    }

    /// After a failure: notes if there is no native code at all. The process may have given up the right since.
    pub(crate) fn check_native_code(&self) {
        if self.native_failure().is_none()
            && let Some(why) = new_compiler(false).err()
        {
            self.note_native_failure(why.to_string());
        }
    }

    fn note_native_failure(&self, why: String) {
        // Threads may fail at the same time: only the first says so.
        if self.shared.native_failure.set(why).is_ok() {
            event!(warn, "no native code: rules are interpreted", reason = self.native_failure());
        }
    }

    /// Returns the total time that the code generator underneath, Cranelift, has spent on programs
    /// and rule sets, except sets whose code could not be installed. The rest of a compilation's
    /// time is celero's own: parsing, checking, optimising, indexing.
    #[must_use]
    pub fn codegen_time(&self) -> Duration {
        Duration::from_nanos(self.shared.codegen_time.load(Ordering::Relaxed))
    }

    /// Returns the total time that planning and building the indexes of rule sets has taken.
    #[must_use]
    pub fn index_time(&self) -> Duration {
        Duration::from_nanos(self.shared.index_time.load(Ordering::Relaxed))
    }

    pub(crate) fn add_codegen_time(&self, time: Duration) {
        add(&self.shared.codegen_time, time);
    }

    pub(crate) fn add_index_time(&self, time: Duration) {
        add(&self.shared.index_time, time);
    }

    /// Returns the first failure to write function names for [profilers](EngineBuilder::profiling);
    /// `None` if there was none.
    #[must_use]
    pub fn profiling_failure(&self) -> Option<&str> {
        self.profiler().and_then(Profiler::failure)
    }

    pub(crate) fn profiler(&self) -> Option<&Profiler> {
        self.shared.profiler.as_ref()
    }
}

fn new_compiler(copies: bool) -> Result<Compiler, celero_jit::Error> {
    Compiler::new(&Settings { copies, ..Settings::default() })
}

fn add(total: &AtomicU64, time: Duration) {
    total.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}
