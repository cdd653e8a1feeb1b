//! `/tmp/jit-PID.dump`, in the format of the Linux kernel's
//! `tools/perf/Documentation/jitdump-specification.txt`: a header, and a record for each function.
//! While it is written a page of it is mapped as if it were code: `perf record` notes the mapping,
//! which is how `perf inject` finds the file.

use super::OfProcess;
use super::file::{Existing, own};
use super::marker::Marker;
use crate::code_memory::InstalledFunction;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, Write};

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER: u32 = 40;
/// The kind of a record with code.
const LOAD: u32 = 0;
/// Bytes of such a record before the name.
const LOAD_HEAD: u32 = 56;

/// The processor, as ELF numbers it.
#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 62;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 183;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINE: u32 = 0;

pub(super) struct Dump {
    process: u32,
    file: File,
    records: Vec<u8>,
    /// The number of the next function.
    next: u64,
    _marker: Marker,
}

/// The time on the clock that `perf record -k mono` uses, in nanoseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec).unwrap_or(0), u64::try_from(time.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// The id of this thread, where the system has one.
fn thread() -> Option<u32> {
    #[cfg(target_os = "linux")]
    return Some(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
    #[cfg(not(target_os = "linux"))]
    None
}

impl Dump {
    pub(super) fn new(process: u32) -> io::Result<Self> {
        // An existing file is that of an earlier process with this id.
        let mut file = own(&format!("/tmp/jit-{process}.dump"), Existing::Replace)?;
        let mut header = Vec::new();
        for word in [MAGIC, VERSION, HEADER, MACHINE, 0, process] {
            header.extend(word.to_ne_bytes());
        }
        header.extend(now().to_ne_bytes());
        header.extend(0_u64.to_ne_bytes());
        file.write_all(&header)?;
        let marker = Marker::new(&file)?;
        Ok(Self { process, file, records: Vec::new(), next: 0, _marker: marker })
    }

    pub(super) fn record(
        &mut self,
        InstalledFunction { address, code }: InstalledFunction<'_>,
        name: &str,
    ) -> io::Result<()> {
        let size = name.len().saturating_add(1).saturating_add(code.len());
        let size = u32::try_from(size).ok().and_then(|size| size.checked_add(LOAD_HEAD));
        let size = size.ok_or_else(|| io::Error::other("a function of 4 GiB"))?;
        let thread = thread().unwrap_or(self.process);
        let address = u64::try_from(address).map_err(io::Error::other)?;
        let length = u64::try_from(code.len()).map_err(io::Error::other)?;
        let records = &mut self.records;
        for word in [LOAD, size] {
            records.extend(word.to_ne_bytes());
        }
        records.extend(now().to_ne_bytes());
        for word in [self.process, thread] {
            records.extend(word.to_ne_bytes());
        }
        for word in [address, address, length, self.next] {
            records.extend(word.to_ne_bytes());
        }
        records.extend(name.as_bytes());
        records.push(0);
        records.extend(code);
        self.next = self.next.saturating_add(1);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        let records = std::mem::take(&mut self.records);
        self.file.write_all(&records)
    }
}

impl OfProcess for Dump {
    fn process(&self) -> u32 {
        self.process
    }
}
