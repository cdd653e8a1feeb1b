//! Replacing what a pattern or a wildcard matches.

use super::{Arguments, TooLarge};
use crate::filter::value::FilterValue;
use celero_frontend::filter::{BytesForm, BytesLiteral, Wildcard};

/// Most groups that a replacement can name.
pub(in crate::filter) const MAX_GROUPS: u32 = 9;

/// Writes a replacement with `${1}` to `${8}` for groups and `$$` for `$`.
fn expand<'v>(
    out: &mut Vec<u8>,
    replacement: &[u8],
    group: impl Fn(usize) -> Option<&'v [u8]>,
    room: usize,
) -> Result<(), TooLarge> {
    let mut rest = replacement;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match (byte, behind) {
            (b'$', [b'$', behind @ ..]) => {
                out.push(b'$');
                rest = behind;
            }
            (b'$', [b'{', digit @ b'0'..=b'9', b'}', behind @ ..]) => {
                let index = usize::from(digit.saturating_sub(b'0'));
                out.extend_from_slice(group(index).unwrap_or_default());
                rest = behind;
            }
            _ => out.push(byte),
        }
        if out.len() > room {
            return Err(TooLarge);
        }
    }
    Ok(())
}

/// `regex_replace`: the first match is replaced.
pub(super) fn regex_replace(args: &Arguments<'_>) -> Result<Option<FilterValue>, TooLarge> {
    let (Some(source), Some(replacement)) = (args.bytes(0), args.bytes(2)) else { return Ok(None) };
    let Some(pattern) = args.pattern else { return Ok(None) };
    let Some(found) = pattern.find_at(source, 0, args)? else { return Ok(Some(source.to_vec().into())) };
    let Some(groups) = pattern.groups(source, found.clone(), args)? else { return Ok(None) };
    let mut out = source.get(..found.start).unwrap_or_default().to_vec();
    expand(&mut out, replacement, |index| source.get(groups.get(index)?), args.room)?;
    out.extend_from_slice(source.get(found.end..).unwrap_or_default());
    Ok(Some(out.into()))
}

/// `wildcard_replace`: the whole value is replaced if the pattern matches it.
pub(super) fn wildcard_replace(args: &Arguments<'_>) -> Result<Option<FilterValue>, TooLarge> {
    let (Some(source), Some(pattern), Some(replacement)) = (args.bytes(0), args.bytes(1), args.bytes(2)) else {
        return Ok(None);
    };
    let pattern = BytesLiteral { value: pattern.into(), form: BytesForm::Quoted };
    let Ok(wildcard) = Wildcard::new(pattern, None) else { return Ok(None) };
    let prepared = celero_matching::Wildcard::new(wildcard.pieces().iter().map(|piece| &**piece), args.flag(3, b's'));
    let Some(stars) = prepared.stars(source, args)? else {
        return Ok(Some(source.to_vec().into()));
    };
    let group = |index: usize| match index.checked_sub(1) {
        Some(star) => source.get(stars.get(star)?.clone()),
        None => Some(source),
    };
    let mut out = Vec::new();
    expand(&mut out, replacement, group, args.room)?;
    Ok(Some(out.into()))
}
