//! `remove_query_args`.

use super::Arguments;

/// Removes the arguments of these names from a query string. The others keep their order and their text.
pub(super) fn remove_query_args(args: &Arguments<'_>) -> Option<Vec<u8>> {
    let query = args.bytes(0)?;
    let names: Vec<&[u8]> = (1..args.values.len()).filter_map(|index| args.bytes(index)).collect();
    let is_kept = |argument: &&[u8]| {
        let name = argument.split(|byte| *byte == b'=').next().unwrap_or_default();
        !names.contains(&name)
    };
    let kept: Vec<&[u8]> = query.split(|byte| *byte == b'&').filter(is_kept).collect();
    Some(kept.join(&b'&'))
}
