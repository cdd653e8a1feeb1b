//! Hides what may be secret in the URLs of a text: the query, and a user with a password. Errors go to logs.
//!
//! Invariant: no message shows a query, a user or a password of a URL. Test:
//! `runtime/adapters/policy/src/yaml/url_secrets.rs::queries_and_passwords_are_hidden_where_values_begin`.

use std::borrow::Cow;

/// Returns the text with stars in the place of the secrets of its URLs, each byte one star. A URL is recognised where a value begins, not inside of an
/// expression, and up to a `${`.
pub(super) fn hide_url_secrets(text: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some((start, scheme)) = next_scheme(rest) {
        let (head, url) = rest.split_at(start);
        before = head.chars().next_back().or(before);
        let lead = if head.is_empty() { text.get(..hidden.len()).unwrap_or_default() } else { head };
        let end = if begins_value(lead) { end_of_url(url, before) } else { scheme };
        let (url, after) = url.split_at(end);
        hidden.push_str(head);
        push_hidden(url, scheme, &mut hidden);
        before = url.chars().next_back();
        rest = after;
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.push_str(rest);
    Cow::Owned(hidden)
}

/// Returns where the next `http://` or `https://` begins, and its length.
fn next_scheme(text: &str) -> Option<(usize, usize)> {
    let schemes = ["http://", "https://"].into_iter();
    schemes.filter_map(|scheme| Some((text.find(scheme)?, scheme.len()))).min()
}

/// Returns whether what follows this text is the beginning of a value: of YAML, or quoted in a message.
fn begins_value(before: &str) -> bool {
    let lead = before.strip_suffix(['"', '\'', '`']).unwrap_or(before);
    let spaced = lead.trim_end_matches([' ', '\t']);
    let is_spaced = spaced.len() < lead.len();
    match spaced.chars().next_back() {
        None | Some('\n' | '[' | ',') => true,
        Some(':' | '-') => is_spaced,
        // In a message, quoted text follows a word.
        Some(_) => before.ends_with('`'),
    }
}

fn end_of_url(url: &str, before: Option<char>) -> usize {
    match before.filter(|quote| matches!(quote, '"' | '\'' | '`')) {
        Some(quote) => url.find([quote, '\n']).unwrap_or(url.len()),
        None => {
            let url = url.split(char::is_whitespace).next().unwrap_or_default();
            url.trim_end_matches([',', ']', '}', '`', '\'', '"']).len()
        }
    }
}

fn push_hidden(url: &str, scheme: usize, hidden: &mut String) {
    let (scheme, rest) = url.split_at_checked(scheme).unwrap_or((url, ""));
    let (known, of_expression) = rest.split_at(rest.find("${").unwrap_or(rest.len()));
    let (address, query) = known.split_at(known.find('?').map_or(known.len(), |at| at.saturating_add(1)));
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rfind('@').unwrap_or(0);
    hidden.push_str(scheme);
    hidden.extend(std::iter::repeat_n('*', user));
    hidden.push_str(address.get(user..).unwrap_or_default());
    hidden.extend(std::iter::repeat_n('*', query.len()));
    hidden.push_str(of_expression);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_and_passwords_are_hidden_where_values_begin() {
        for (text, expected) in [
            ("https://a.example/b?key=1", "https://a.example/b?*****"),
            (
                "urls: [https://a/?k=1, 'http://b/?k=]2', \"https://c/d\"]",
                "urls: [https://a/?***, 'http://b/?****', \"https://c/d\"]",
            ),
            ("- {url: https://a/?k=1}\n- https://é@b/?é", "- {url: https://a/?***}\n- https://**@b/?**"),
            (
                "`https://u:p@a/?k` is no URL, not `[https://a/?k]`",
                "`https://***@a/?*` is no URL, not `[https://a/?*]`",
            ),
            ("x: >\n  https://a/?k", "x: >\n  https://a/?*"),
            ("to: https://a/?k=${x}&y", "to: https://a/?**${x}&y"),
            ("when: a == \"https://a/?b\" && c(\"http://d/?e\")", "when: a == \"https://a/?b\" && c(\"http://d/?e\")"),
            ("x: https://", "x: https://"),
            ("https://https://a/?b", "https://https://a/?*"),
            ("no URL?", "no URL?"),
        ] {
            let hidden = hide_url_secrets(text);
            assert_eq!((&*hidden, hidden.len()), (expected, text.len()));
        }
    }
}
