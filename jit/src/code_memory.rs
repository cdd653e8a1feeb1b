//! The pages that hold code: one owner, writable or executable but never both, unmapped when the owner is dropped.
//!
//! The functions of one compilation share one region of whole pages. A compiler cuts small regions
//! from a larger one that it holds in reserve: a system call for each would take longer than parsing and checking a rule.
//!
//! cranelift-jit's module places and links the functions. It asks [`RegionProvider`] for memory, which [`CodeMemory`] keeps: the
//! module is dropped after linking, and because the region is not the module's, it cannot leak it (cranelift-jit's own providers
//! never unmap). Functions are compiled before the module exists and handed over as bytes, because only then is the size of the
//! region known, and because the module would otherwise format every function's CLIF for the host's log.

use crate::convention::Convention;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{BranchProtection, JITBuilder, JITMemoryKind, JITMemoryProvider, JITModule};
use cranelift_module::{Module, ModuleError, ModuleResult, default_libcall_names};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use wasmtime_internal_jit_icache_coherence as icache;

/// A function that is compiled and not installed yet: position-independent code without relocations.
#[derive(Debug)]
pub struct CompiledFunction {
    pub(crate) bytes: Vec<u8>,
    pub(crate) align: u64,
    pub(crate) convention: Convention,
}

/// An installed function: its address and its code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstalledFunction<'c> {
    pub(crate) address: usize,
    pub(crate) code: &'c [u8],
}

/// Executable memory, with the functions in it.
#[derive(Debug)]
pub(crate) struct CodeMemory {
    pages: Pages,
    /// Where the functions start, each within the pages.
    functions: Vec<FunctionRange>,
}

impl CodeMemory {
    /// Links the functions into a new region and makes it executable.
    pub(crate) fn install(
        reserve: &mut Reserve,
        isa: OwnedTargetIsa,
        signature: &Signature,
        functions: &[CompiledFunction],
    ) -> Result<Self, String> {
        let add = |sum: usize, function: &CompiledFunction| {
            let align = usize::try_from(function.align.max(isa.symbol_alignment())).ok()?;
            sum.checked_next_multiple_of(align.max(1))?.checked_add(function.bytes.len())
        };
        let size = functions.iter().try_fold(0, add).ok_or("the code is larger than the address space")?;
        let region = Region { pages: reserve.take(size).map_err(|e| e.to_string())?, used: 0, sealed: false };
        let shared = Arc::new(Mutex::new(region));

        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.memory_provider(Box::new(RegionProvider(Arc::clone(&shared))));
        let mut module = JITModule::new(builder);
        let mut ids = Vec::with_capacity(functions.len());
        for function in functions {
            let id = module.declare_anonymous_function(signature).map_err(|e| e.to_string())?;
            module.define_function_bytes(id, function.align, &function.bytes, &[]).map_err(|e| e.to_string())?;
            ids.push(id);
        }
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let addresses: Vec<usize> = ids.iter().map(|&id| module.get_finalized_function(id).addr()).collect();
        drop(module);

        let region = Arc::into_inner(shared).ok_or("the module kept its memory")?;
        let Region { pages, .. } = region.into_inner().unwrap_or_else(PoisonError::into_inner);
        let base = pages.start.addr().get();
        let functions = addresses.iter().zip(functions).map(|(address, function)| {
            let (start, len) = (address.wrapping_sub(base), function.bytes.len());
            let start = Some(start).filter(|start| start.checked_add(len).is_some_and(|end| end <= pages.len))?;
            // SAFETY: `start` is within the mapping, and so are `len` bytes from there, as just checked.
            Some(FunctionRange { start: unsafe { pages.start.add(start) }, len, convention: function.convention })
        });
        let functions = functions.collect::<Option<_>>().ok_or("a function outside the region")?;
        Ok(Self { pages, functions })
    }

    /// The first byte of a function, and how the function is called.
    #[inline]
    pub(crate) fn function(&self, index: usize) -> Option<(NonNull<u8>, Convention)> {
        self.functions.get(index).map(|function| (function.start, function.convention))
    }

    /// The functions, in order, with their code.
    pub(crate) fn installed(&self) -> impl Iterator<Item = InstalledFunction<'_>> {
        self.functions.iter().map(|function| {
            // SAFETY: these bytes are within the pages (`install`), which are readable, never written after sealing, and mapped
            // as long as `self` is there.
            let code = unsafe { std::slice::from_raw_parts(function.start.as_ptr(), function.len) };
            InstalledFunction { address: function.start.addr().get(), code }
        })
    }

    /// Bytes of address space.
    pub(crate) fn size(&self) -> usize {
        self.pages.len
    }
}

/// A function within the pages of its [`CodeMemory`].
#[derive(Debug)]
struct FunctionRange {
    start: NonNull<u8>,
    /// Bytes of code.
    len: usize,
    convention: Convention,
}

// SAFETY: as for `Pages`: what it points at belongs to no thread and is never written after sealing.
unsafe impl Send for FunctionRange {}
// SAFETY: as above.
unsafe impl Sync for FunctionRange {}

/// Bytes that one system call maps for small regions.
const CHUNK: usize = 64 * 1024;

/// Pages for the next small regions: writable, and without physical memory until they are written to.
#[derive(Debug, Default)]
pub(crate) struct Reserve(Option<Pages>);

impl Reserve {
    /// New writable pages, at least one.
    fn take(&mut self, size: usize) -> io::Result<Pages> {
        let len = size.max(1).checked_next_multiple_of(rustix::param::page_size()).ok_or(io::ErrorKind::OutOfMemory)?;
        if len >= CHUNK {
            return Pages::map(len);
        }
        let mut rest = match self.0.take() {
            Some(rest) if rest.len >= len => rest,
            _ => Pages::map(CHUNK)?,
        };
        let taken = rest.split(len);
        self.0 = Some(rest);
        Ok(taken)
    }
}

/// Mapped pages that this value alone owns.
#[derive(Debug)]
struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the pages belong to this value and to no thread; after sealing nobody writes to them.
unsafe impl Send for Pages {}
// SAFETY: shared access only reads and runs the pages.
unsafe impl Sync for Pages {}

impl Pages {
    /// New writable pages; `len` is a multiple of their size.
    fn map(len: usize) -> io::Result<Self> {
        // SAFETY: a new private mapping at an address of the system's choice touches no other memory.
        let start = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, rights, MapFlags::PRIVATE)?
        };
        Ok(Self { start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, len })
    }

    /// Returns the first `len` bytes, which are whole pages; this value keeps the others. With `len` too large it returns all.
    fn split(&mut self, len: usize) -> Self {
        let len = len.min(self.len);
        let first = Self { start: self.start, len };
        // SAFETY: not more bytes on than there are.
        self.start = unsafe { self.start.add(len) };
        self.len = self.len.saturating_sub(len);
        first
    }

    /// Makes the pages executable and no longer writable.
    fn seal(&self) -> io::Result<()> {
        let start = self.start.as_ptr();
        // SAFETY: `start` and `len` are those of pages that this value owns, which are readable.
        unsafe { icache::clear_cache(start.cast(), self.len)? };
        // SAFETY: the same pages, whole ones; nothing holds a reference into them.
        unsafe { rustix::mm::mprotect(start.cast(), self.len, MprotectFlags::READ | MprotectFlags::EXEC)? };
        icache::pipeline_flush_mt()?;
        Ok(())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the pages are ours alone, mapped in `map`; nobody runs them, because every `Entry` borrows their owner.
            // An error would mean that they are not mapped; there is nothing to do about it here.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

/// The region while the module fills it.
struct Region {
    pages: Pages,
    used: usize,
    sealed: bool,
}

/// Gives the module memory from the region. Never frees: the region's owner unmaps it.
struct RegionProvider(Arc<Mutex<Region>>);

impl JITMemoryProvider for RegionProvider {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        let mut region = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if region.sealed || !matches!(kind, JITMemoryKind::Executable) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let align = usize::try_from(align).map_err(io::Error::other)?;
        let start = region.used.checked_next_multiple_of(align.max(1)).ok_or(io::ErrorKind::OutOfMemory)?;
        let end = start.checked_add(size).filter(|&end| end <= region.pages.len).ok_or(io::ErrorKind::OutOfMemory)?;
        region.used = end;
        // SAFETY: `start..end` lies within the mapping, as just checked.
        Ok(unsafe { region.pages.start.as_ptr().add(start) })
    }

    unsafe fn free_memory(&mut self) {}

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        let mut region = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        region.sealed = true;
        region.pages.seal().map_err(|err| ModuleError::Allocation { err })
    }
}
