//! The engines that search texts for a pattern, and who pays for a search.

pub(in crate::pattern) mod anchored_dfa;
pub(in crate::pattern) mod ascii_regex;
pub(in crate::pattern) mod byte_matcher;
pub(in crate::pattern) mod byte_regex;
pub(in crate::pattern) mod dfa_search;
pub(in crate::pattern) mod engine;
pub(in crate::pattern) mod interleaved;
pub(in crate::pattern) mod lazy;
pub(in crate::pattern) mod lazy_dfa;
pub(in crate::pattern) mod leftmost;
pub(in crate::pattern) mod matcher;
pub(in crate::pattern) mod meter;
pub(in crate::pattern) mod metered_regex;
