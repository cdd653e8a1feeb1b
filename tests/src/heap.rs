//! An allocator that counts: how often a thread takes memory, and how much all threads hold. A test
//! that asks must install it: `#[global_allocator] static HEAP: Heap = Heap;`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and the counters.
#[derive(Debug)]
pub struct Heap;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    // A thread that is ending has no counter any more, and nobody reads it.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get().wrapping_add(1)));
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    if held > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(held, Ordering::Relaxed);
    }
}

fn give(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: each call goes to the system's allocator as it is; the counters neither allocate nor unwind.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        give(layout.size());
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, and all memory is the system allocator's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How often this thread takes memory in `f`.
pub fn allocations(mut f: impl FnMut()) -> u64 {
    let before = TAKEN.get();
    f();
    TAKEN.get().wrapping_sub(before)
}

/// Bytes that all threads together have taken and not given back. Unlike resident memory this knows
/// no fragmentation and no pages that an allocator keeps: what grows is kept by somebody.
#[must_use]
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// Returns the largest number of bytes that all threads together take at once in `f` beyond what they held before.
pub fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = held();
    PEAK.store(before, Ordering::Relaxed);
    let result = f();
    (result, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}
