//! Accessors for IP addresses: `extern "C"` functions that write the two words of [`Ty::Ip`](celero_ir::Ty::Ip).

use celero_ir::layout::{self, Access, Path};
use std::net::IpAddr;

/// A way to see a type as an IP address.
pub(crate) trait IpView {
    /// The type that is read.
    type Source;

    /// Returns the address, or `None` if it is absent.
    fn ip(source: &Self::Source) -> Option<IpAddr>;
}

/// The function that [`ip_access`] describes. Returns 1 if there is an address, else 0.
///
/// # Safety
/// `address` is the address of a `V::Source` that is neither moved nor changed during the call;
/// `words` can be written to, and nothing else accesses it during the call.
unsafe extern "C" fn ip_of<V: IpView>(address: *const u8, words: *mut [u64; 2]) -> u64 {
    // SAFETY: the contract of this function. Native code keeps it: it calls with the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let ip = V::ip(unsafe { &*address.cast::<V::Source>() });
    if let Some(ip) = ip {
        // SAFETY: the contract of this function: native code passes a slot of its own stack frame.
        unsafe { words.write(layout::ip_words(ip)) };
    }
    u64::from(ip.is_some())
}

/// Returns how native code reads the IP address that a `V::Source` shows; the path starts at its address.
pub(crate) fn ip_access<V: IpView>() -> Access {
    Access::Filled(Path(vec![0]), ip_of::<V> as *const () as usize)
}
