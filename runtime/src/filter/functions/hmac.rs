//! `sha256`, and tokens with a time and a message authentication code.

use super::Arguments;
use super::text::{decode_base64, decode_base64_url};
use super::url::url_decode;
use crate::library::{hmac_code, is_same_code};
use sha2::{Digest, Sha256};

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Digits of the time in a token.
const TIME_DIGITS: usize = 10;

/// `is_timed_hmac_valid_v0(key, messageMAC, ttl, now, separator length, flags)`.
///
/// The text is message, separator, ten digits of time, `-` and the code in base64: percent-encoded,
/// or with the flag `s` for URLs and unpadded. The code is over the message and the digits. A token
/// is valid from its time until `ttl` seconds after it.
pub(super) fn is_timed_hmac_valid(args: &Arguments<'_>) -> Option<bool> {
    let (key, text, ttl, now) = (args.bytes(0)?, args.bytes(1)?, args.int(2)?, args.int(3)?);
    let separator = usize::try_from(args.int(4).unwrap_or(0)).ok()?;
    Some(is_valid(key, text, ttl, now, separator, args.flag(5, b's')).unwrap_or(false))
}

fn is_valid(key: &[u8], text: &[u8], ttl: i64, now: i64, separator: usize, url_safe: bool) -> Option<bool> {
    // The message may contain such a place too, so the last one counts.
    let dash = text.iter().enumerate().rev().find_map(|(at, byte)| {
        let digits = text.get(at.checked_sub(TIME_DIGITS)?..at)?;
        (*byte == b'-' && digits.iter().all(u8::is_ascii_digit)).then_some(at)
    })?;
    let time_start = dash.checked_sub(TIME_DIGITS)?;
    let digits = text.get(time_start..dash)?;
    let message = text.get(..time_start.checked_sub(separator)?)?;
    let encoded = text.get(dash.checked_add(1)?..)?;
    let code = if url_safe {
        decode_base64_url(encoded)?
    } else {
        // A plus sign is a digit of base64 here, not a blank.
        let kept: Vec<u8> =
            encoded.iter().flat_map(|byte| if *byte == b'+' { b"%2B".to_vec() } else { vec![*byte] }).collect();
        decode_base64(&url_decode(&kept, false, false))?
    };
    let time: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let expires = time.saturating_add(ttl);
    let is_right = is_same_code(&hmac_code::<Sha256>(key, &[message, digits]), &code);
    Some(!message.is_empty() && is_right && time <= now && now < expires)
}
