//! The pages that hold code: one owner, writable or executable but never both, unmapped when the owner goes.
//!
//! All functions of one compilation share one region, of the pages that they need and no others. A compiler cuts small regions
//! from a larger one that it holds in reserve: a system call for each takes longer than parsing a rule and checking it.
//!
//! cranelift-jit's module places and links
//! the functions; it asks [`Provider`] for memory, and what it is given stays ours: the module is dropped at once after
//! linking, and with the region in our hands its leak-by-default (its own providers never unmap) does not arise. Functions
//! are compiled before the module exists and handed over as bytes, because only then is the size of the region known, and
//! because the module would otherwise format every function's CLIF for the host's log.

use crate::profile::Installed;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{BranchProtection, JITBuilder, JITMemoryKind, JITMemoryProvider, JITModule};
use cranelift_module::{Module, ModuleError, ModuleResult, default_libcall_names};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use wasmtime_internal_jit_icache_coherence as icache;

/// A function's code, position-independent and without relocations.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) align: u64,
    pub(crate) bare: bool,
}

/// Executable memory, with the functions in it.
#[derive(Debug)]
pub(crate) struct CodeMemory {
    pages: Pages,
    /// The first bytes of the functions, each within the pages.
    functions: Vec<Function>,
}

impl CodeMemory {
    /// Links the functions into a region of their own and makes it executable.
    pub(crate) fn install(
        reserve: &mut Reserve,
        isa: OwnedTargetIsa,
        signature: &Signature,
        pieces: &[Piece],
    ) -> Result<Self, String> {
        let room = |sum: usize, piece: &Piece| {
            let align = usize::try_from(piece.align.max(isa.symbol_alignment())).ok()?;
            sum.checked_next_multiple_of(align.max(1))?.checked_add(piece.bytes.len())
        };
        let size = pieces.iter().try_fold(0, room).ok_or("the code is larger than the address space")?;
        let region = Region { pages: reserve.take(size).map_err(|e| e.to_string())?, used: 0, sealed: false };
        let shared = Arc::new(Mutex::new(region));

        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.memory_provider(Box::new(Provider(Arc::clone(&shared))));
        let mut module = JITModule::new(builder);
        let mut ids = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let id = module.declare_anonymous_function(signature).map_err(|e| e.to_string())?;
            module.define_function_bytes(id, piece.align, &piece.bytes, &[]).map_err(|e| e.to_string())?;
            ids.push(id);
        }
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let addresses: Vec<usize> = ids.iter().map(|&id| module.get_finalized_function(id).addr()).collect();
        drop(module);

        let region = Arc::into_inner(shared).ok_or("the module kept its memory")?;
        let Region { pages, .. } = region.into_inner().unwrap_or_else(PoisonError::into_inner);
        let base = pages.start.addr().get();
        let functions = addresses.iter().zip(pieces).map(|(address, piece)| {
            let (start, len) = (address.wrapping_sub(base), piece.bytes.len());
            let start = Some(start).filter(|start| start.checked_add(len).is_some_and(|end| end <= pages.len))?;
            // SAFETY: `start` is within the mapping, and so are `len` bytes from there, as just checked.
            Some(Function { start: unsafe { pages.start.add(start) }, len, bare: piece.bare })
        });
        let functions = functions.collect::<Option<_>>().ok_or("a function outside the region")?;
        Ok(Self { pages, functions })
    }

    /// The first byte of a function, and whether it is bare.
    #[inline]
    pub(crate) fn function(&self, index: usize) -> Option<(NonNull<u8>, bool)> {
        self.functions.get(index).map(|function| (function.start, function.bare))
    }

    /// The functions, to be told of.
    pub(crate) fn installed(&self) -> impl Iterator<Item = Installed<'_>> {
        self.functions.iter().map(|function| {
            // SAFETY: these bytes are within the pages (`install`), which are readable, never written after sealing, and mapped
            // as long as `self` is there.
            let code = unsafe { std::slice::from_raw_parts(function.start.as_ptr(), function.len) };
            Installed { address: function.start.addr().get(), code }
        })
    }

    /// Bytes of address space.
    pub(crate) fn size(&self) -> usize {
        self.pages.len
    }
}

/// A function in the pages beside it.
#[derive(Debug)]
struct Function {
    start: NonNull<u8>,
    /// Bytes of code.
    len: usize,
    bare: bool,
}

// SAFETY: as for `Pages`: what it points at belongs to no thread and is never written after sealing.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Bytes that are mapped at once for small regions.
const CHUNK: usize = 64 * 1024;

/// Pages for the next regions: writable, and without memory until they are written to.
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

    /// The first `len` bytes, whole pages of which there are enough; this value keeps the others, which may be none.
    fn split(&mut self, len: usize) -> Self {
        let len = len.min(self.len);
        let first = Self { start: self.start, len };
        // SAFETY: not more bytes on than there are.
        self.start = unsafe { self.start.add(len) };
        self.len = self.len.saturating_sub(len);
        first
    }

    /// Takes the right to write and gives the right to execute.
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

/// The module's view of the region. Freeing and unmapping are not its business.
struct Provider(Arc<Mutex<Region>>);

impl JITMemoryProvider for Provider {
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
