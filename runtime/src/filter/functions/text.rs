//! Functions of byte strings and arrays: parts, joints, lengths, encodings.

use super::{Arguments, TooLarge};
use crate::filter::value::FilterValue;
use crate::library::padding_is_whole;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;

/// `concat`: missing arguments are left out; the result is missing if all are.
pub(super) fn concat(args: &Arguments<'_>) -> Result<Option<FilterValue>, TooLarge> {
    let size = args.values.iter().flatten().map(|value| value.size()).fold(0, usize::saturating_add);
    if size > args.room {
        return Err(TooLarge);
    }
    let mut whole: Option<FilterValue> = None;
    for value in args.values.iter().flatten() {
        match (&mut whole, value) {
            (None, value) => whole = Some((*value).clone()),
            (Some(FilterValue::Bytes(whole)), FilterValue::Bytes(part)) => whole.extend_from_slice(part),
            (Some(FilterValue::Array(whole)), FilterValue::Array(part)) => whole.extend_from_slice(part),
            _ => {}
        }
    }
    Ok(whole)
}

/// `join`
pub(super) fn join(args: &Arguments<'_>) -> Result<Option<FilterValue>, TooLarge> {
    let (Some(FilterValue::Array(items)), Some(separator)) = (args.value(0), args.bytes(1)) else { return Ok(None) };
    let mut text = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.extend_from_slice(separator);
        }
        text.extend_from_slice(item.as_bytes().unwrap_or_default());
        if text.len() > args.room {
            return Err(TooLarge);
        }
    }
    Ok(Some(FilterValue::Bytes(text)))
}

/// `split`: at most so many parts; the last has the rest.
pub(super) fn split(args: &Arguments<'_>) -> Option<FilterValue> {
    let (text, separator, limit) = (args.bytes(0)?, args.bytes(1)?, args.int(2)?);
    let limit = usize::try_from(limit).ok()?;
    let mut parts = Vec::new();
    let mut start = 0usize;
    for at in memmem::find_iter(text, separator).take(limit.saturating_sub(1)) {
        parts.push(text.get(start..at).unwrap_or_default().to_vec());
        start = at.saturating_add(separator.len());
    }
    parts.push(text.get(start..).unwrap_or_default().to_vec());
    Some(parts.into_iter().collect())
}

/// `remove_bytes`
pub(super) fn remove_bytes(text: &[u8], removed: &[u8]) -> FilterValue {
    let mut is_removed = [false; 256];
    for byte in removed {
        if let Some(is_removed) = is_removed.get_mut(usize::from(*byte)) {
            *is_removed = true;
        }
    }
    let is_kept = |byte: &u8| is_removed.get(usize::from(*byte)) == Some(&false);
    text.iter().copied().filter(is_kept).collect::<Vec<u8>>().into()
}

/// `substring`: byte indexes, from the end if they are negative. Beyond an end they are that end.
pub(super) fn substring(args: &Arguments<'_>) -> Option<FilterValue> {
    let text = args.bytes(0)?;
    let length = i64::try_from(text.len()).ok()?;
    let index = |value: i64| {
        let from_start = if value < 0 { value.saturating_add(length) } else { value };
        usize::try_from(from_start.clamp(0, length)).unwrap_or(0)
    };
    let start = index(args.int(1)?);
    let end = if args.values.len() > 2 { index(args.int(2)?) } else { text.len() };
    Some(text.get(start..end).unwrap_or_default().to_vec().into())
}

/// `len`: bytes, or elements.
pub(super) fn len(value: &FilterValue) -> Option<FilterValue> {
    let length = match value {
        FilterValue::Bytes(bytes) => bytes.len(),
        FilterValue::Array(values) => values.len(),
        _ => return None,
    };
    i64::try_from(length).ok().map(FilterValue::Int)
}

/// `to_string`
pub(super) fn to_string(value: &FilterValue) -> Option<FilterValue> {
    let text = match value {
        FilterValue::Int(value) => value.to_string(),
        FilterValue::Bool(value) => value.to_string(),
        FilterValue::Ip(value) => value.to_string(),
        _ => return None,
    };
    Some(text.into_bytes().into())
}

/// `encode_base64`: with `u` the alphabet for URLs, with `p` padding.
pub(super) fn encode_base64(bytes: &[u8], url: bool, padding: bool) -> FilterValue {
    let alphabet = if url { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let config = GeneralPurposeConfig::new().with_encode_padding(padding);
    GeneralPurpose::new(alphabet, config).encode(bytes).into_bytes().into()
}

/// The standard alphabet, padded or not, if [`padding_is_whole`].
const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// `decode_base64`: nothing if the text is not base64.
pub(super) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    if !padding_is_whole(text) {
        return None;
    }
    GeneralPurpose::new(&alphabet::STANDARD, ANY_PADDING).decode(text).ok()
}

/// Decodes base64 for URLs without padding.
pub(super) fn decode_base64_url(text: &[u8]) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::RequireNone);
    GeneralPurpose::new(&alphabet::URL_SAFE, config).decode(text).ok()
}

/// `uuidv4`: the first 16 bytes of the seed, with the bits of version and variant set. Bytes that a
/// shorter seed lacks are 0.
pub(super) fn uuidv4(seed: &[u8]) -> FilterValue {
    let mut bytes = [0u8; 16];
    for (byte, seed) in bytes.iter_mut().zip(seed) {
        *byte = *seed;
    }
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text.into_bytes().into()
}
