//! Rules of the published Wirefilter with a fault: both refuse them with the same message, or both
//! accept them with the same tree. [`reason`] says where the two may differ.

use super::published::{Read, published_scheme, read, read_published};
use celero_tests::generate::Rng;
use celero_tests::generate::filter::{Generator, scheme};
use celero_tests::shared::say;
use std::collections::BTreeMap;

/// Why the two may read a text differently; nothing if they may not.
fn reason(they: &Read, we: &Read, source: &str) -> Option<&'static str> {
    let (theirs, ours) = (they.as_ref().err().map_or("", |e| e), we.as_ref().err().map_or("", |e| e));
    Some(match (theirs, ours) {
        ("unknown field", "unknown identifier") => "names",
        (theirs, ours)
            if theirs.starts_with("cannot use this operation type") && ours.starts_with("cannot perform") =>
        {
            "wording"
        }
        (theirs, _) if theirs.starts_with("number too ") => "32 bits",
        (_, "expected byte separator") => "one byte",
        ("expected literal \"\\\"\"", "expected \" or r") => "raw strings",
        (_, "expected an item or literal \"}\"") => "comma",
        (_, "expected literal \"}\"") => "a set that is not closed",
        ("unrecognised input", "expected identifier character" | "unknown identifier") => "later",
        (theirs, ours) if theirs.starts_with("error: ") && ours.starts_with("invalid regular expression: ") => {
            "pattern"
        }
        _ if source.contains('\\') && they.is_ok() && we.is_ok() => "escapes",
        _ => return None,
    })
}

#[test]
fn faulty_texts_are_refused_as_by_the_published_wirefilter() {
    const CUTS: &[&str] = &[
        "", " ", "(", ")", "{", "}", "\"", "\\", "&", "|", "^", "!", "=", "<", "..", ".", "/", ":", "0", "9", "x", "e",
        "not ", " and ", " or ", " in ", " eq ", ",", "\t", "-", "é",
    ];
    let published = published_scheme(&scheme(false));
    let mut rng = Rng::new(3);
    let (mut accepted, mut refused) = (0u64, 0u64);
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    let mut unknown = Vec::new();
    for case in Generator::published(12).take(3_000) {
        for _ in 0..4 {
            let mut source = case.source.clone();
            let at = source.floor_char_boundary(rng.below(source.len() + 1));
            let end = source.ceil_char_boundary((at + rng.below(3)).min(source.len()));
            source.replace_range(at..end, rng.pick::<&str>(CUTS));
            let (they, we) = (read_published(&published, &source), read(&source));
            if they == we {
                accepted += u64::from(we.is_ok());
                refused += u64::from(we.is_err());
                continue;
            }
            let Some(why) = reason(&they, &we, &source) else {
                unknown.push(format!("{source}\nthe published Wirefilter: {they:?}\nhere: {we:?}"));
                continue;
            };
            *reasons.entry(why).or_default() += 1;
        }
    }
    say(&format!("of rules with a fault both accepted {accepted} and refused {refused}; they differ for {reasons:?}"));
    assert!(unknown.is_empty(), "{} differ without a known reason:\n{}", unknown.len(), unknown.join("\n"));
    assert!(accepted > 1_000 && refused > 3_000);
}
