//! Estimates how often a window occurs in texts.

use super::filter::hash_of_window;
use crate::byte_frequency::{MAX_RARITY_BITS, rarity_bits};

/// An anchor is within this many bytes from the start of its key.
pub(super) const ANCHOR_REGION: usize = 256;

/// Estimates for windows of one length.
pub(super) struct Rarity<const IGNORE_CASE: bool> {
    /// Indexed by hash: how often keys and common texts contain a window.
    seen: Vec<u16>,
    shift: u32,
    /// Length of a window, in bytes.
    window: usize,
}

/// Text that is frequent in user agents and paths.
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
/// Weight of an occurrence in a common text, in keys that contain the window.
const COMMON_COUNTS: u16 = 64;
/// Weight of each key that contains the window.
const KEY_COUNTS: u32 = 64;
/// Binary logarithm of the largest number of counters.
const MAX_COUNTERS_LOG2: u32 = 20;

impl<const IGNORE_CASE: bool> Rarity<IGNORE_CASE> {
    /// Estimates from `keys`, for windows of `window` bytes.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a [u8]> + Clone, window: usize) -> Self {
        let bytes: usize = keys.clone().map(<[u8]>::len).fold(0, usize::saturating_add);
        let places = bytes.saturating_mul(2).max(1 << 12).ilog2().min(MAX_COUNTERS_LOG2);
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

    /// Relative frequency of a window, from 1 to some millions.
    pub(super) fn weight(&self, window: u32) -> u32 {
        let bytes = window.to_le_bytes().map(|byte| if IGNORE_CASE { byte.to_ascii_lowercase() } else { byte });
        // From 1 to 6 for each byte.
        let common = |byte: &u8| MAX_RARITY_BITS.saturating_sub(rarity_bits(*byte)).saturating_add(1).unsigned_abs();
        let common = bytes.iter().take(self.window).map(common).fold(0, u32::wrapping_add);
        let seen = self.seen.get(self.place(window)).copied().unwrap_or(0);
        1_u32.wrapping_shl(common.saturating_sub(12)).saturating_add(u32::from(seen).wrapping_mul(KEY_COUNTS))
    }
}

/// The windows of `bytes` bytes of a text, in order, as numbers.
pub(super) fn windows(text: &[u8], bytes: usize) -> impl Iterator<Item = u32> {
    text.windows(bytes).map(|window| window.iter().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(*byte)))
}
