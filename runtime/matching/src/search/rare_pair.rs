//! Chooses the two bytes of a needle that a search compares first.

/// The bytes that are frequent in request targets and header values, the most frequent first. All others are rare.
const FREQUENT: &[u8] = b" tleia/o.0np;xm,cs15rS2g3hMd=-Aq4CWub98()6*PLTOR7fzwk%GE+KUBINHDFvVy:_X?JjQ&ZY['\"{}";

/// Indexed by byte: the higher, the more frequent.
static RANKS: [u8; 256] = ranks();

#[expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn ranks() -> [u8; 256] {
    let mut ranks = [0; 256];
    let mut rank = FREQUENT.len() as u8;
    let mut i = 0;
    while i < FREQUENT.len() {
        ranks[FREQUENT[i] as usize] = rank;
        rank -= 1;
        i += 1;
    }
    ranks
}

/// Returns the offsets of the two rarest bytes among the first 256 of a needle, in ascending order.
/// The bytes differ unless all are the same. For a needle shorter than two bytes the result is
/// `(0, 0)`.
pub(super) fn rarest(needle: &[u8]) -> (u8, u8) {
    let rank = |byte: u8| RANKS.get(usize::from(byte)).copied().unwrap_or(0);
    let bytes = || needle.iter().copied().zip(0..=u8::MAX);
    let Some((rare, first)) = bytes().min_by_key(|(byte, _)| rank(*byte)) else { return (0, 0) };
    let other = bytes().filter(|(byte, _)| *byte != rare).min_by_key(|(byte, _)| rank(*byte));
    // If all bytes are equal, the last offset tells runs of different lengths apart.
    let Some(second) = other.or_else(|| bytes().next_back()).map(|(_, at)| at) else { return (0, 0) };
    (first.min(second), first.max(second))
}

#[cfg(test)]
mod tests {
    use super::rarest;

    #[test]
    fn the_rarest_bytes_are_chosen() {
        assert_eq!(rarest(b""), (0, 0));
        assert_eq!(rarest(b"a"), (0, 0));
        assert_eq!(rarest(b"aa"), (0, 1));
        assert_eq!(rarest(b"aaaa"), (0, 3));
        assert_eq!(rarest(b"/wp-admin/"), (1, 3));
        assert_eq!(rarest(b"aaaaaaabaa"), (0, 7));
        assert_eq!(rarest(b"\0/\xff"), (0, 2));
        let mut long = vec![b'e'; 1000];
        assert_eq!(rarest(&long), (0, 255));
        long[300] = b'~';
        assert_eq!(rarest(&long), (0, 255));
        long[200] = b'~';
        assert_eq!(rarest(&long), (0, 200));
    }
}
