//! Hyperscan through its C library, which is loaded at run time where it is installed (Debian's
//! package `libhyperscan5`).

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// Flags of expressions.
pub(super) const SINGLE_MATCH: c_uint = 8;
pub(super) const PREFILTER: c_uint = 128;
const BLOCK_MODE: c_uint = 1;
const SUCCESS: c_int = 0;

type OnMatch = extern "C" fn(c_uint, c_ulonglong, c_ulonglong, c_uint, *mut c_void) -> c_int;
type CompileMulti = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    c_uint,
    c_uint,
    *const c_void,
    *mut *mut c_void,
    *mut *mut CompileError,
) -> c_int;
type CompileLiterals = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    *const usize,
    c_uint,
    c_uint,
    *const c_void,
    *mut *mut c_void,
    *mut *mut CompileError,
) -> c_int;
type Scan = unsafe extern "C" fn(*const c_void, *const u8, c_uint, c_uint, *mut c_void, OnMatch, *mut c_void) -> c_int;

#[repr(C)]
struct CompileError {
    message: *const c_char,
    expression: c_int,
}

/// The functions of the library.
struct Functions {
    compile_multi: CompileMulti,
    compile_literals: CompileLiterals,
    free_error: unsafe extern "C" fn(*mut CompileError) -> c_int,
    alloc_scratch: unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> c_int,
    scan: Scan,
    database_size: unsafe extern "C" fn(*const c_void, *mut usize) -> c_int,
    scratch_size: unsafe extern "C" fn(*const c_void, *mut usize) -> c_int,
    free_database: unsafe extern "C" fn(*mut c_void) -> c_int,
    free_scratch: unsafe extern "C" fn(*mut c_void) -> c_int,
    version: unsafe extern "C" fn() -> *const c_char,
    /// Keeps the functions in memory.
    _library: Library,
}

/// The library, if it is installed.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let load = || {
        // SAFETY: loading the library runs no code that needs more than being loaded.
        let library = ["libhs.so.5", "libhs.so"].iter().find_map(|name| unsafe { Library::new(name) }.ok())?;
        // SAFETY: the types are those of `hs_compile.h`, `hs_runtime.h` and `hs_common.h`; the library stays loaded.
        unsafe {
            Some(Functions {
                compile_multi: *library.get(b"hs_compile_multi\0").ok()?,
                compile_literals: *library.get(b"hs_compile_lit_multi\0").ok()?,
                free_error: *library.get(b"hs_free_compile_error\0").ok()?,
                alloc_scratch: *library.get(b"hs_alloc_scratch\0").ok()?,
                scan: *library.get(b"hs_scan\0").ok()?,
                database_size: *library.get(b"hs_database_size\0").ok()?,
                scratch_size: *library.get(b"hs_scratch_size\0").ok()?,
                free_database: *library.get(b"hs_free_database\0").ok()?,
                free_scratch: *library.get(b"hs_free_scratch\0").ok()?,
                version: *library.get(b"hs_version\0").ok()?,
                _library: library,
            })
        }
    };
    FUNCTIONS.get_or_init(load).as_ref()
}

/// The version of the library, if it is installed.
pub(super) fn version() -> Option<String> {
    let functions = functions()?;
    // SAFETY: the function returns a string that is never freed.
    let version = unsafe { CStr::from_ptr((functions.version)()) };
    Some(version.to_string_lossy().into_owned())
}

/// Expressions, compiled. The id of an expression is its index.
pub(super) struct Database {
    functions: &'static Functions,
    database: *mut c_void,
    scratch: *mut c_void,
}

impl Database {
    /// Compiles expressions, each with flags. `None` if the library is not there, or does not take one of them.
    pub(super) fn patterns<'e>(expressions: impl Iterator<Item = (&'e str, c_uint)>) -> Option<Self> {
        let (texts, flags): (Vec<CString>, Vec<c_uint>) =
            expressions.filter_map(|(text, flags)| Some((CString::new(text).ok()?, flags))).unzip();
        let texts: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        Self::compile(&texts, |functions, ids, database, error| {
            let count = ids.len() as c_uint;
            // SAFETY: all lists have as many entries.
            unsafe {
                let (texts, flags) = (texts.as_ptr(), flags.as_ptr());
                (functions.compile_multi)(texts, flags, ids.as_ptr(), count, BLOCK_MODE, null(), database, error)
            }
        })
    }

    /// Compiles literals.
    pub(super) fn literals(literals: &[String]) -> Option<Self> {
        let texts: Vec<*const c_char> = literals.iter().map(|literal| literal.as_ptr().cast()).collect();
        let lengths: Vec<usize> = literals.iter().map(String::len).collect();
        let flags = vec![SINGLE_MATCH; literals.len()];
        Self::compile(&texts, |functions, ids, database, error| {
            let (flags, lengths, count) = (flags.as_ptr(), lengths.as_ptr(), ids.len() as c_uint);
            // SAFETY: all lists have as many entries.
            unsafe {
                let texts = texts.as_ptr();
                (functions.compile_literals)(
                    texts,
                    flags,
                    ids.as_ptr(),
                    lengths,
                    count,
                    BLOCK_MODE,
                    null(),
                    database,
                    error,
                )
            }
        })
    }

    fn compile(
        texts: &[*const c_char],
        compile: impl Fn(&Functions, &[c_uint], *mut *mut c_void, *mut *mut CompileError) -> c_int,
    ) -> Option<Self> {
        let functions = functions()?;
        let ids: Vec<c_uint> = (0..).take(texts.len()).collect();
        let (mut database, mut scratch, mut error) = (null_mut(), null_mut(), null_mut());
        if compile(functions, &ids, &raw mut database, &raw mut error) != SUCCESS {
            // SAFETY: the error is of the call before.
            unsafe { (functions.free_error)(error) };
            return None;
        }
        // SAFETY: the database is of the call before.
        let allocated = unsafe { (functions.alloc_scratch)(database, &raw mut scratch) };
        (allocated == SUCCESS).then_some(Self { functions, database, scratch })
    }

    /// Adds the ids of the expressions that match.
    pub(super) fn find(&self, text: &[u8], found: &mut Vec<u32>) {
        extern "C" fn add(id: c_uint, _: c_ulonglong, _: c_ulonglong, _: c_uint, found: *mut c_void) -> c_int {
            // SAFETY: the pointer is that of the list which `find` passes, which nothing else uses meanwhile.
            unsafe { (*found.cast::<Vec<u32>>()).push(id) };
            0
        }
        self.scan(text, add, std::ptr::from_mut(found).cast());
    }

    /// Whether an expression matches.
    pub(super) fn any(&self, text: &[u8]) -> bool {
        extern "C" fn stop(_: c_uint, _: c_ulonglong, _: c_ulonglong, _: c_uint, any: *mut c_void) -> c_int {
            // SAFETY: the pointer is that of the flag which `any` passes, which nothing else uses meanwhile.
            unsafe { *any.cast::<bool>() = true };
            1
        }
        let mut any = false;
        self.scan(text, stop, (&raw mut any).cast());
        any
    }

    fn scan(&self, text: &[u8], on_match: OnMatch, context: *mut c_void) {
        // SAFETY: the text is readable, the scratch belongs to the database, and no other scan uses
        // it: it is not shared between threads.
        unsafe {
            (self.functions.scan)(
                self.database,
                text.as_ptr(),
                text.len() as c_uint,
                0,
                self.scratch,
                on_match,
                context,
            )
        };
    }

    /// Bytes of the database and of its scratch space.
    pub(super) fn bytes(&self) -> usize {
        let (mut database, mut scratch) = (0, 0);
        // SAFETY: both were made by the library.
        unsafe {
            (self.functions.database_size)(self.database, &raw mut database);
            (self.functions.scratch_size)(self.scratch, &raw mut scratch);
        }
        database.saturating_add(scratch)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: both were made by the library, and are not used any more.
        unsafe {
            (self.functions.free_scratch)(self.scratch);
            (self.functions.free_database)(self.database);
        }
    }
}
