//! The pages that hold code: one owner, writable or executable but never both, unmapped when the owner is dropped.
//!
//! The functions of one compilation share one region of whole pages. A compiler cuts small regions
//! from a larger one that it holds in reserve: a system call for each would take longer than
//! parsing and checking a rule.
//!
//! Code needs no linking, because it refers to all else by absolute addresses: the functions are
//! copied into the region one after the other.

use crate::convention::Convention;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use std::io;
use std::ptr::NonNull;
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
    /// Copies the functions into a new region and makes it executable. `align` is the least alignment of each.
    pub(crate) fn install(reserve: &mut Reserve, align: u64, functions: &[CompiledFunction]) -> Result<Self, String> {
        let mut size = 0_usize;
        let mut starts = Vec::with_capacity(functions.len());
        for function in functions {
            let start = usize::try_from(function.align.max(align)).ok();
            let start = start.and_then(|align| size.checked_next_multiple_of(align.max(1)));
            let end = start.and_then(|start| start.checked_add(function.bytes.len()));
            let (Some(start), Some(end)) = (start, end) else {
                return Err("the code is larger than the address space".into());
            };
            starts.push(start);
            size = end;
        }
        let mut pages = reserve.take(size).map_err(|e| e.to_string())?;
        let copied = starts.into_iter().zip(functions).map(|(start, CompiledFunction { bytes, convention, .. })| {
            Some(FunctionRange { start: pages.write(start, bytes)?, len: bytes.len(), convention: *convention })
        });
        let functions = copied.collect::<Option<_>>().ok_or("a function outside the region")?;
        pages.seal().map_err(|e| e.to_string())?;
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
            // SAFETY: these bytes are within the pages (`install`), which are readable, never
            // written after sealing, and mapped as long as `self` is there.
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

/// Maps pages together with their physical memory, at most a reserve of 64 KiB before it is needed:
/// a page fault for each page would take longer.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PREFAULT: MapFlags = MapFlags::POPULATE;
/// Other systems give a page its physical memory when it is first written to.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PREFAULT: MapFlags = MapFlags::empty();

/// Pages for the next small regions: writable.
#[derive(Debug, Default)]
pub(crate) struct Reserve(Option<Pages>);

impl Reserve {
    /// New writable pages, at least one.
    fn take(&mut self, size: usize) -> io::Result<Pages> {
        let len = size.max(1).checked_next_multiple_of(rustix::param::page_size()).ok_or(io::ErrorKind::OutOfMemory)?;
        // A quarter of a reserve at most is dropped unused.
        if len > CHUNK / 4 {
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
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, rights, MapFlags::PRIVATE.union(PREFAULT))?
        };
        Ok(Self { start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, len })
    }

    /// Returns the first `len` bytes, which are whole pages; this value keeps the others. With
    /// `len` too large it returns all.
    fn split(&mut self, len: usize) -> Self {
        let len = len.min(self.len);
        let first = Self { start: self.start, len };
        // SAFETY: not more bytes on than there are.
        self.start = unsafe { self.start.add(len) };
        self.len = self.len.saturating_sub(len);
        first
    }

    /// Copies bytes to an offset and returns their address. `None` if they are not within the
    /// pages. The pages are not sealed yet.
    fn write(&mut self, start: usize, bytes: &[u8]) -> Option<NonNull<u8>> {
        start.checked_add(bytes.len()).filter(|&end| end <= self.len)?;
        // SAFETY: `start` and as many bytes from there as `bytes` has are within the mapping, as
        // just checked. The pages are writable until they are sealed, and borrowed exclusively, so
        // that nothing overlaps with `bytes`.
        unsafe {
            let address = self.start.add(start);
            address.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            Some(address)
        }
    }

    /// Makes the pages executable and no longer writable.
    fn seal(&mut self) -> io::Result<()> {
        let start = self.start.as_ptr();
        // SAFETY: `start` and `len` are those of pages that this value owns, which are readable.
        unsafe { icache::clear_cache(start.cast(), self.len) }.map_err(io::Error::other)?;
        // SAFETY: the same pages, whole ones; nothing holds a reference into them.
        unsafe { rustix::mm::mprotect(start.cast(), self.len, MprotectFlags::READ | MprotectFlags::EXEC) }
            .map_err(|e| io::Error::other(format!("pages can't be made executable: {e}")))?;
        icache::pipeline_flush_mt().map_err(io::Error::other)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the pages are ours alone, mapped in `map`; nobody runs them, because every
            // `Entry` borrows their owner. An error would mean that they are not mapped; there is
            // nothing to do about it here.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}
