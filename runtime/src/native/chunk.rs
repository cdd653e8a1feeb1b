//! Where strings of JSON end or are interrupted, found with vector instructions where there are some.

/// Bytes that are looked at together.
pub(crate) const CHUNK: usize = 64;

/// The bytes of a chunk at which a look at a string must stop, a bit for each, the first in the lowest: quotes, backslashes,
/// control characters, and all that is not ASCII.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn stops(chunk: &[u8; CHUNK]) -> u64 {
    let (quarters, _) = chunk.as_chunks::<16>();
    quarters.iter().rev().fold(0, |bits, quarter| {
        // SAFETY: SSE2 is part of every x86-64.
        (bits << 16) | u64::from(unsafe { stops_sse2(quarter) })
    })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn stops(chunk: &[u8; CHUNK]) -> u64 {
    stops_bytewise(chunk)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn stops_sse2(chunk: &[u8; 16]) -> u16 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    let both = u128::from_le_bytes(*chunk).cast_signed();
    let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    // What is not ASCII is negative.
    let control_or_high = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    let stops = _mm_or_si128(_mm_or_si128(quote, backslash), control_or_high);
    // Sixteen bits of it are set at most.
    (_mm_movemask_epi8(stops) & 0xffff) as u16
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn stops_bytewise(chunk: &[u8; CHUNK]) -> u64 {
    let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x80..);
    chunk.iter().rev().fold(0, |bits, byte| (bits << 1) | u64::from(stops(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_classified_byte_by_byte() {
        for byte in 0..=255_u8 {
            for place in 0..CHUNK {
                let mut chunk = [b'a'; CHUNK];
                chunk[CHUNK - 1 - place] = b'"';
                chunk[place] = byte;
                assert_eq!(stops(&chunk), stops_bytewise(&chunk), "{chunk:?}");
            }
        }
    }
}
