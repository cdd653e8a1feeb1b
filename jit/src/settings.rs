//! How code is compiled, and how profilers learn of it.

/// Most loops inside of one another, by default. Each keeps some values alive in all loops inside
/// of it, so the register allocator's time grows with the square of their number: of 16, half as
/// much again as of 8 for each loop.
pub const MAX_LOOPS: u32 = 16;

/// How large one function may get. The defaults keep the compilation of one function below some tenths of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CLIF instructions; code generation takes about a microsecond for each.
    pub instructions: usize,
    /// Values alive at once. The register allocator's time grows with their square: 50 ms for 1,000.
    pub live_values: usize,
    /// Depth of nested expressions. Emission recurses that deep, on stacks that it allocates when needed.
    pub depth: u32,
    /// Loops inside of one another: [`MAX_LOOPS`].
    pub loops: u32,
    /// Bytes of stack.
    pub frame: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instructions: 100_000, live_values: 400, depth: 20_000, loops: MAX_LOOPS, frame: 64 * 1024 }
    }
}

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether Cranelift's verifier checks each function, which nearly doubles the time. On by default in debug builds.
    pub verify: bool,
    /// How large functions may get.
    pub limits: Limits,
    /// Whether [`compile`](crate::Compiler::compile) copies functions. On by default.
    pub copies: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { verify: cfg!(debug_assertions), limits: Limits::default(), copies: true }
    }
}

/// How profilers learn the names of compiled rules. For Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profiling {
    /// Lines in `/tmp/perf-PID.map`: a range of addresses, and a name. `perf record` and
    /// `perf report`, or `perf top`, read it. Lines stay when code is dropped: where rules are
    /// replaced often, an address may have had several names.
    PerfMap,
    /// The code itself, with times, in `/tmp/jit-PID.dump`: `perf record -k mono`,
    /// `perf inject --jit -i perf.data -o jit.data`, `perf report -i jit.data`, or `perf annotate`
    /// to see which instructions take the time. All code that was ever compiled is in it: it grows
    /// with each compilation.
    JitDump,
}
