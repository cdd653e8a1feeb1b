//! A mapped page that nobody reads: profilers see the mapping, which looks like code, and find the file by it.

use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::ptr::NonNull;

/// A mapped page of a file, unmapped on drop.
pub(super) struct Marker {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nobody reads or writes the page.
unsafe impl Send for Marker {}

impl Marker {
    pub(super) fn new(file: &File) -> io::Result<Self> {
        let len = rustix::param::page_size();
        let rights = ProtFlags::READ | ProtFlags::EXEC;
        // SAFETY: a new private mapping at an address of the system's choice touches no other memory.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, rights, MapFlags::PRIVATE, file, 0)? };
        Ok(Self { start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, len })
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        // SAFETY: the page is ours alone, mapped in `new`, and nobody refers to it. There is
        // nothing to do about an error.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
