//! Which paths the rules of a policy see: what `normalize` changes or refuses is in none of them, and a rule that asks
//! for it gets a warning.

use crate::host::outcome::Phase;
use celero::layout::{Domain, Never, NeverPart, TextDomain};
use celero::{Context, Env};
use celero_canonical::{EncodedSlashes, Options, Slashes};
use std::sync::OnceLock;

const MERGED: NeverPart = NeverPart {
    spellings: &["//"],
    replaced_by: Some("/"),
    why: "repeated slashes are merged before any rule (`normalize: {slashes: keep}` keeps them)",
};

const ENCODED: &[&str] = &["%2F", "%2f", "%5C", "%5c"];

const DECODED: NeverPart = NeverPart {
    spellings: ENCODED,
    replaced_by: Some("/"),
    why: "encoded slashes are decoded before any rule (`normalize: {encodedSlashes: keep}` keeps them)",
};

const REFUSED: NeverPart = NeverPart {
    spellings: ENCODED,
    replaced_by: None,
    why: "requests with an encoded slash are refused before any rule (`normalize: {encodedSlashes: keep}` lets them through)",
};

/// Returns an environment of a phase whose paths are those that the options let through. The phase `log` sees refused
/// requests too, whose parts are as they were received.
pub(crate) fn with_paths<C: Context>(mut env: Env<C>, phase: Phase, options: &Options) -> Env<C> {
    if phase == Phase::Log {
        for name in ["request.path", "request.pathAndQuery", "request.uri", "request.host", "request.method"] {
            env = env.with_domain(name, |_| None);
        }
        return env;
    }
    env.with_domain("request.path", |domain| match domain {
        Domain::Text(path) => Some(Domain::Text(TextDomain { never: never(path.never, options), ..path })),
        other => Some(other),
    })
}

/// What is in no path: also what is in no canonical one. The lists are made once for each choice of options.
fn never(of_canonical: &'static [Never], options: &Options) -> &'static [Never] {
    static LISTS: [OnceLock<Vec<Never>>; 6] = [const { OnceLock::new() }; 6];
    let merged = (options.slashes == Slashes::Merge).then_some(MERGED);
    let (number, encoded): (usize, _) = match options.encoded_slashes {
        EncodedSlashes::Keep => (0, None),
        EncodedSlashes::Decode => (2, Some(DECODED)),
        EncodedSlashes::Refuse => (4, Some(REFUSED)),
    };
    let number = if merged.is_some() { number.saturating_add(1) } else { number };
    let Some(list) = LISTS.get(number) else { return of_canonical };
    list.get_or_init(|| {
        // The first of the list that a text has is the reason that is told.
        let parts = encoded.into_iter().chain(merged).map(Never::Part);
        parts.chain(of_canonical.iter().copied()).collect()
    })
}
