//! How often a window occurs in texts, as far as one can guess.

use super::filter::hash_of_window;
use crate::byte_frequency::{RAREST, bits};

/// Guesses about windows of one length.
pub(super) struct Rarity<const IGNORE_CASE: bool> {
    /// By hash, how often keys and common texts have a window.
    seen: Vec<u16>,
    shift: u32,
    /// Bytes of a window.
    window: usize,
}

/// What user agents and paths are full of.
const COMMON: &[&str] = &[
    "Mozilla/5.0 (compatible; ",
    "Mozilla/4.0 (compatible; MSIE ",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/1",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Mobile Safari/537.36 Edg/",
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/1",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 16_5 like Mac OS X) Mobile/15E148 Safari/604.1",
    "Windows NT 6.1; WOW64; Trident/7.0; .NET CLR ; en-US; Build/",
    "+http://www. +https://www. https:// http:// .com/bot.html) .org .net bot@ spider crawler robot",
    "/api/v1/ /api/v2/ /index.html /index.php /static/ /assets/ /images/ /users/ /admin/ /wp-content/ /wp-admin/",
    ".html .php .json .js .css .png .svg ?id= &page= %20 application/json text/html, charset=utf-8 example.com",
];
/// How much being in a common text counts, in keys that have the window.
const COMMON_COUNTS: u16 = 64;
/// How much each key with the window counts.
const KEY_COUNTS: u32 = 64;
/// Places by hash, as a power of two, at most.
const MOST_PLACES: u32 = 20;

impl<const IGNORE_CASE: bool> Rarity<IGNORE_CASE> {
    /// Guesses for these keys, whose windows have so many bytes.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a [u8]> + Clone, window: usize) -> Self {
        let bytes: usize = keys.clone().map(<[u8]>::len).fold(0, usize::saturating_add);
        let places = bytes.saturating_mul(2).max(1 << 12).ilog2().min(MOST_PLACES);
        let mut own = Self { seen: vec![0; 1_usize.wrapping_shl(places)], shift: 64_u32.wrapping_sub(places), window };
        for text in COMMON {
            own.see(text.as_bytes(), COMMON_COUNTS);
        }
        for key in keys {
            own.see(key, 1);
        }
        own
    }

    fn see(&mut self, text: &[u8], counts: u16) {
        for window in windows(text, self.window) {
            let place = self.place(window);
            if let Some(seen) = self.seen.get_mut(place) {
                *seen = seen.saturating_add(counts);
            }
        }
    }

    fn place(&self, window: u32) -> usize {
        hash_of_window::<IGNORE_CASE>(window).wrapping_shr(self.shift) as usize
    }

    /// The larger, the more often the window occurs: from 1 to some millions.
    pub(super) fn weight(&self, window: u32) -> u32 {
        let bytes = window.to_le_bytes();
        // From 1 to 6 for a byte.
        let common = |byte: &u8| RAREST.saturating_sub(bits(*byte)).saturating_add(1).unsigned_abs();
        let common = bytes.iter().take(self.window).map(common).fold(0, u32::wrapping_add);
        let seen = self.seen.get(self.place(window)).copied().unwrap_or(0);
        1_u32.wrapping_shl(common.saturating_sub(12)).saturating_add(u32::from(seen).wrapping_mul(KEY_COUNTS))
    }
}

/// The windows of a text, of so many bytes, in order; what a window lacks in four bytes is zero.
pub(super) fn windows(text: &[u8], bytes: usize) -> impl Iterator<Item = u32> {
    text.windows(bytes).map(|window| window.iter().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(*byte)))
}
