//! Prefixes of up to 31 bits as one word: the bits, then a one, then zeros. The first half of a
//! word is a prefix of up to 15 bits.

/// The prefix that all addresses have.
pub(super) const ALL: u32 = 0x8000_0000;

/// Writes a prefix of `length` bits, the first ones of `bits`; `None` if it has more than 31.
pub(super) fn write(bits: u32, length: u32) -> Option<u32> {
    let end = ALL.checked_shr(length)?;
    Some((bits & !end.wrapping_mul(2).wrapping_sub(1)) | end)
}

/// The first half of a prefix that no address has whose first 16 bits end with two zeros.
pub(super) const NEVER: u16 = 3;

/// Whether the first 32 bits of an address begin with the prefix.
#[inline(always)]
pub(super) fn holds(prefix: u32, address: u32) -> bool {
    // The bits of the prefix are those above the last one.
    (prefix ^ address) & !(prefix ^ prefix.wrapping_sub(1)) == 0
}

/// The same for the first half of a prefix, and the first 16 bits of an address.
#[inline(always)]
pub(super) fn half_holds(prefix: u16, address: u16) -> bool {
    (prefix ^ address) & !(prefix ^ prefix.wrapping_sub(1)) == 0
}
