//! Ids of rules and policies. The same text has the same id in every run.

use celero_tooling::language::Language;

/// Returns a fingerprint of a language and a text: FNV-1a in hexadecimal.
pub(crate) fn fingerprint(language: Language, source: &str) -> String {
    let bytes = language.name().bytes().chain([0]).chain(source.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}
