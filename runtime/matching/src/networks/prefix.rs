//! Prefixes of up to 31 bits as one word: the bits, then a one, then zeros.

/// The prefix that all addresses have.
pub(super) const ALL: u32 = 0x8000_0000;

/// Writes a prefix of `length` bits, the first ones of `bits`; `None` if it has more than 31.
pub(super) fn write(bits: u32, length: u32) -> Option<u32> {
    let end = ALL.checked_shr(length)?;
    Some((bits & !end.wrapping_mul(2).wrapping_sub(1)) | end)
}

/// Whether the first 32 bits of an address begin with the prefix.
#[inline(always)]
pub(super) fn holds(prefix: u32, address: u32) -> bool {
    // The bits of the prefix are those above the last one.
    (prefix ^ address) & !(prefix ^ prefix.wrapping_sub(1)) == 0
}
