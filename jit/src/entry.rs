//! The call from the host into native code.

use crate::code_memory::CodeMemory;
use crate::convention::Convention;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A compiled function. Borrows the [`Code`](crate::Code) that it is part of, so the pages stay mapped during a call.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    address: NonNull<u8>,
    convention: Convention,
    /// The parameter row of the rule, if the code is shared.
    row: *const u64,
    code: PhantomData<&'a CodeMemory>,
}

// SAFETY: the address points at code that is never written while the borrow lasts
// (`code_memory::Pages`), and the row is borrowed as long.
unsafe impl Send for Entry<'_> {}
// SAFETY: as above; a call changes nothing but the frame that it is given.
unsafe impl Sync for Entry<'_> {}

impl<'a> Entry<'a> {
    /// `address` is the first byte of a function in the memory that `'a` borrows, which is called as `convention` says.
    #[inline]
    pub(crate) fn new(address: NonNull<u8>, convention: Convention) -> Self {
        Self { address, convention, row: std::ptr::null(), code: PhantomData }
    }

    /// Returns the function with the parameter row of a rule, which code that rules
    /// [share](crate::Compiler::compile_shared) reads.
    #[must_use]
    #[inline]
    pub fn with_row(self, row: &'a [u64]) -> Self {
        Self { row: row.as_ptr(), ..self }
    }

    /// Returns the function as one that is called without an evaluation frame, if it uses none.
    #[must_use]
    #[inline]
    pub fn context_only(self) -> Option<ContextEntry<'a>> {
        self.convention.context_only.then_some(ContextEntry { address: self.address, row: self.row, code: PhantomData })
    }

    /// Returns the function as one that returns text in registers, if it does: see
    /// [`returns_text`](celero_ir::layout::returns_text).
    #[must_use]
    #[inline]
    pub fn text(self) -> Option<TextEntry<'a>> {
        self.convention.text.then_some(TextEntry { address: self.address, row: self.row, code: PhantomData })
    }

    /// Runs the function on a host's data with an evaluation frame. The [crate](crate)
    /// documentation says what the returned word means. A function that returns [text](Self::text)
    /// is run as such.
    ///
    /// # Safety
    ///
    /// `frame` points at a frame in the layout of [`celero_ir::layout::frame`], with space for the
    /// root's result, that nothing else uses during the call; `host` is laid out as the fields of
    /// the compiled [`Unit`](crate::Unit) say; if the code is shared, the entry has the
    /// [row](Self::with_row) that was returned with it for the unit; and the helpers, constants and
    /// accessors at that unit's addresses exist and keep the contract of [`celero_ir::Helper`].
    #[must_use]
    #[inline]
    pub unsafe fn call(&self, host: *const u8, frame: *mut u8) -> u64 {
        // SAFETY: the address is that of a function which `compiler` made with this calling
        // convention (`Entry::new`) and this signature, or this one without the last parameter: the
        // convention (System V or AAPCS64, `Target::host`) passes it in a register that such a
        // function may overwrite and does not read. The pages are mapped and executable while
        // `self` borrows their owner.
        let function: extern "C" fn(*const u8, *mut u8, *const u64) -> u64 =
            unsafe { std::mem::transmute(self.address.as_ptr()) };
        function(host, frame, self.row)
    }
}

/// A compiled function that uses no evaluation frame: it calls no helper and spends no budget. Borrows its code as
/// [`Entry`] does.
#[derive(Clone, Copy, Debug)]
pub struct ContextEntry<'a> {
    address: NonNull<u8>,
    row: *const u64,
    code: PhantomData<&'a CodeMemory>,
}

// SAFETY: as for `Entry`.
unsafe impl Send for ContextEntry<'_> {}
// SAFETY: as for `Entry`; a call changes nothing.
unsafe impl Sync for ContextEntry<'_> {}

impl ContextEntry<'_> {
    /// Runs the function on a host's data.
    ///
    /// # Safety
    ///
    /// `host` and the row are as for [`Entry::call`].
    #[must_use]
    #[inline]
    pub unsafe fn call(&self, host: *const u8) -> u64 {
        // SAFETY: as for `Entry::call`; the second argument is not used.
        let function: extern "C" fn(*const u8, *mut u8, *const u64) -> u64 =
            unsafe { std::mem::transmute(self.address.as_ptr()) };
        function(host, std::ptr::null_mut(), self.row)
    }
}

/// A compiled function that returns text in two registers. Borrows its code as [`Entry`] does.
#[derive(Clone, Copy, Debug)]
pub struct TextEntry<'a> {
    address: NonNull<u8>,
    row: *const u64,
    code: PhantomData<&'a CodeMemory>,
}

// SAFETY: as for `Entry`.
unsafe impl Send for TextEntry<'_> {}
// SAFETY: as for `Entry`.
unsafe impl Sync for TextEntry<'_> {}

/// Text in the two integer result registers of the C ABI.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TextWords {
    /// Null if the function failed.
    pub address: *const u8,
    /// Bytes of the text; if the function failed, an [`ErrorWord`](celero_ir::ErrorWord).
    pub length: u64,
}

impl TextEntry<'_> {
    /// Runs the function on a host's data with an evaluation frame.
    ///
    /// # Safety
    ///
    /// As for [`Entry::call`]. The frame needs no space for the result.
    #[must_use]
    #[inline]
    pub unsafe fn call(&self, host: *const u8, frame: *mut u8) -> TextWords {
        // SAFETY: as for `Entry::call`; the function has the signature for two words (`Entry::text`).
        let function: extern "C" fn(*const u8, *mut u8, *const u64) -> TextWords =
            unsafe { std::mem::transmute(self.address.as_ptr()) };
        function(host, frame, self.row)
    }
}
