//! Quick fixes: what a diagnostic suggests, as an edit.

use crate::checks::checker::Finding;
use crate::checks::environment::Checks;
use crate::checks::scope::Scope;
use crate::documents::document::Document;
use crate::documents::region::{Region, Regions};
use celero::diagnostics::Severity;
use celero::filter::{FilterOptions, check_filter};
use celero::language::Limits;
use std::cell::OnceCell;
use std::ops::Range;

/// An edit that a diagnostic suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fix {
    pub(crate) title: String,
    /// What is replaced, in bytes of the document.
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Returns the edits that a diagnostic suggests. In an expression an edit is offered only if fewer
/// errors are left after it. `regions` are those of the document, found when they are first needed.
pub(crate) fn fixes(
    document: &Document,
    regions: &OnceCell<Regions>,
    finding: &Finding,
    checks: &dyn Checks,
) -> Vec<Fix> {
    let words = finding.diagnostic.help.iter().flat_map(|help| suggestions(help));
    let range = finding.range();
    let mut found: Vec<Fix> = Vec::new();
    for word in words {
        let regions = regions.get_or_init(|| Regions::of(document));
        let fix = |range: Range<usize>| Fix { title: format!("Replace with `{word}`"), range, text: word.to_owned() };
        let fixed = match regions.at(range.start) {
            // A key or a value of a policy: the place of the diagnostic is all of it.
            None => Some(fix(range.clone())),
            Some((region, at)) => {
                let scope = Scope::of(region, regions.outline.as_ref(), checks);
                let end = region.in_source(range.end).unwrap_or(at);
                in_expression(region, at..end, word, &scope).map(|range| fix(region.range(range)))
            }
        };
        found.extend(fixed.filter(|fix| !found.contains(fix)));
    }
    found
}

/// Returns what a line of help suggests to write: of `did you mean` each alternative.
fn suggestions(help: &str) -> Vec<&str> {
    let rest =
        help.strip_prefix("did you mean ").or_else(|| help.strip_prefix("operators are written in lower case: "));
    let Some(rest) = rest else { return Vec::new() };
    rest.split('`').skip(1).step_by(2).collect()
}

/// Returns the range of an expression that is replaced by a word, if that leaves fewer errors.
fn in_expression(region: &Region, range: Range<usize>, word: &str, scope: &Scope) -> Option<Range<usize>> {
    let source = &*region.source;
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let before = source.get(..range.start)?;
    let whole = before.trim_end_matches(is_part).len();
    let after = source.get(range.end..)?;
    let name_end = range.end.saturating_add(after.len()).saturating_sub(after.trim_start_matches(is_part).len());
    let errors = errors(region, source, scope);
    // The place of a diagnostic is a part of a qualified name, and what is suggested may be all of it.
    let candidates = [range.clone(), whole..range.end, range.start..name_end, whole..name_end];
    candidates.into_iter().find(|candidate| {
        let mut edited = source.to_owned();
        if edited.get(candidate.clone()).is_none() {
            return false;
        }
        edited.replace_range(candidate.clone(), word);
        self::errors(region, &edited, scope) < errors
    })
}

fn errors(region: &Region, source: &str, scope: &Scope) -> usize {
    let count = |found: &[celero::Diagnostic]| found.iter().filter(|d| d.severity == Severity::Error).count();
    let checked = match (&scope.scheme, region.language.any().checked_language()) {
        (Some(scheme), _) => check_filter(source, scheme, &FilterOptions::default()).map(drop),
        (None, Some(language)) => language.check(source, &scope.declarations, &Limits::default()).map(drop),
        (None, None) => Ok(()),
    };
    // A condition of a policy that is no `bool` is an error too, which this does not see.
    checked.map_or_else(|found| count(&found), |()| 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_what_to_write() {
        assert_eq!(suggestions("did you mean `request.path`?"), ["request.path"]);
        assert_eq!(suggestions("did you mean `a`, `b` or `c`?"), ["a", "b", "c"]);
        assert_eq!(suggestions("operators are written in lower case: `eq`"), ["eq"]);
        assert!(suggestions("write `true` for a rule that always matches").is_empty());
    }
}
