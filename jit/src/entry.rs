//! The call from the host into native code.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// A compiled function. Borrows the code that it is part of, so that the pages stay mapped during a call.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    address: NonNull<u8>,
    bare: bool,
    code: PhantomData<&'a crate::Code>,
}

// SAFETY: the address points at code that is never written while the borrow lasts (`code_memory::Pages`).
unsafe impl Send for Entry<'_> {}
// SAFETY: as above; a call changes nothing but the frame that it is given.
unsafe impl Sync for Entry<'_> {}

impl<'a> Entry<'a> {
    /// `address` is the first byte of a function of the code that `'a` borrows.
    #[inline]
    pub(crate) fn new(address: NonNull<u8>, bare: bool) -> Self {
        Self { address, bare, code: PhantomData }
    }

    /// The function as one that gets no frame, if it uses none.
    #[must_use]
    #[inline]
    pub fn bare(self) -> Option<BareEntry<'a>> {
        self.bare.then_some(BareEntry { address: self.address, code: PhantomData })
    }

    /// Runs the function on a host's data with an evaluation frame, and gives what the [crate](crate) says of results.
    ///
    /// # Safety
    ///
    /// `frame` points at a frame in the layout of [`celero_ir::layout::frame`], with room for the root's result, that
    /// nothing else uses during the call; `host` is laid out as the fields of the compiled [`Unit`](crate::Unit) say; and
    /// the helpers, constants and accessors at that unit's addresses exist and keep the contract of
    /// [`celero_ir::Helper`].
    #[must_use]
    #[inline]
    pub unsafe fn call(&self, host: *const u8, frame: *mut u8) -> u64 {
        // SAFETY: the address is that of a function which `compiler` made with this signature and calling convention
        // (`Entry::new`), and its pages are mapped and executable while `self` borrows their owner.
        let function: extern "C" fn(*const u8, *mut u8) -> u64 = unsafe { std::mem::transmute(self.address.as_ptr()) };
        function(host, frame)
    }
}

/// A compiled function that uses no frame. Borrows the code that it is part of, as [`Entry`] does.
#[derive(Clone, Copy, Debug)]
pub struct BareEntry<'a> {
    address: NonNull<u8>,
    code: PhantomData<&'a crate::Code>,
}

// SAFETY: as for `Entry`.
unsafe impl Send for BareEntry<'_> {}
// SAFETY: as for `Entry`; a call changes nothing.
unsafe impl Sync for BareEntry<'_> {}

impl BareEntry<'_> {
    /// Runs the function on a host's data.
    ///
    /// # Safety
    ///
    /// `host` is as for [`Entry::call`].
    #[must_use]
    #[inline]
    pub unsafe fn call(&self, host: *const u8) -> u64 {
        // SAFETY: as for `Entry::call`; the second argument is not used.
        let function: extern "C" fn(*const u8, *mut u8) -> u64 = unsafe { std::mem::transmute(self.address.as_ptr()) };
        function(host, std::ptr::null_mut())
    }
}
