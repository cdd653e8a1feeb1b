//! Hides what may be secret in the URLs of a text: the query, and a user with a password. Errors go to logs.
//!
//! Invariant: no message shows a query, a user or a password of a URL. Test:
//! `runtime/adapters/policy/src/yaml/url_secrets.rs::queries_and_passwords_are_hidden_where_values_begin`.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the text with stars in the place of the secrets of its URLs, each byte one star. A URL
/// is recognised where a value begins, not inside of an expression. Its own expressions, `${..}`,
/// stay as they are. The cost is linear in the length of the text.
pub(super) fn hide_url_secrets(text: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    for (sign, _) in text.match_indices("://") {
        let start = text.get(..sign).and_then(start_of_scheme).filter(|start| *start >= hidden.len());
        let Some((before, url)) = start.and_then(|start| text.split_at_checked(start)) else { continue };
        if begins_value(before) {
            let quote = before.chars().next_back().filter(|quote| matches!(quote, '"' | '\'' | '`'));
            hidden.push_str(text.get(hidden.len()..sign.saturating_add(3)).unwrap_or_default());
            push_hidden(
                url.get(sign.saturating_sub(before.len()).saturating_add(3)..).unwrap_or_default(),
                quote,
                &mut hidden,
            );
        }
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.push_str(text.get(hidden.len()..).unwrap_or_default());
    Cow::Owned(hidden)
}

/// Returns where the name of a scheme begins that a text ends with, in any case.
fn start_of_scheme(text: &str) -> Option<usize> {
    ["https", "http"].into_iter().find_map(|scheme| {
        let start = text.len().checked_sub(scheme.len())?;
        text.get(start..)?.eq_ignore_ascii_case(scheme).then_some(start)
    })
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

/// Adds what stands after the scheme of a URL, with stars for its secrets. `url` may go on after
/// the URL. `quote` is the one before the URL.
fn push_hidden(url: &str, quote: Option<char>, hidden: &mut String) {
    let literals = literals(url, quote);
    let signs = || {
        literals.iter().flat_map(|part| {
            url.get(part.clone())
                .unwrap_or_default()
                .char_indices()
                .map(|(at, sign)| (part.start.saturating_add(at), sign))
        })
    };
    let authority = signs().take_while(|(_, sign)| !matches!(sign, '/' | '?' | '#'));
    let user = authority.filter(|(_, sign)| *sign == '@').last().map_or(0, |(at, _)| at);
    let query = signs().find(|(_, sign)| *sign == '?').map_or(usize::MAX, |(at, _)| at.saturating_add(1));
    let mut done = 0;
    for Range { start, end } in literals {
        let (user, query) = (user.clamp(start, end), query.clamp(start, end));
        hidden.push_str(url.get(done..start).unwrap_or_default());
        hidden.extend(std::iter::repeat_n('*', user.saturating_sub(start)));
        hidden.push_str(url.get(user..query).unwrap_or_default());
        hidden.extend(std::iter::repeat_n('*', end.saturating_sub(query)));
        done = end;
    }
}

/// Returns the parts of a URL between its expressions. It ends at the quote that is before it, or
/// at a space. An expression that does not end on its line is none, and the URL has the rest of the
/// line.
fn literals(url: &str, quote: Option<char>) -> Vec<Range<usize>> {
    let (mut found, mut start, mut end) = (Vec::new(), 0_usize, 0_usize);
    loop {
        let rest = url.get(end..).unwrap_or_default();
        let step = match rest.chars().next() {
            None | Some('\n') => break,
            Some('$') if rest.starts_with("$${") => 3,
            Some('$') if rest.starts_with("${") => {
                let Some(length) = expression(rest) else {
                    end = end.saturating_add(rest.split('\n').next().map_or(0, str::len));
                    break;
                };
                found.push(start..end);
                start = end.saturating_add(length);
                length
            }
            // YAML writes a quote in a quoted text as `\"` and as `''`.
            Some('\\') if quote == Some('"') && rest.starts_with("\\\"") => 2,
            Some('\'') if quote == Some('\'') && rest.starts_with("''") => 2,
            sign if sign == quote => break,
            Some(sign) if quote.is_none() && sign.is_whitespace() => break,
            Some(sign) => sign.len_utf8(),
        };
        end = end.saturating_add(step);
    }
    let last = url.get(start..end).unwrap_or_default();
    // A flow sequence or mapping goes on after a URL without quotes.
    let last = if quote.is_some() { last } else { last.trim_end_matches([',', ']', '}', '`', '\'', '"']) };
    found.push(start..start.saturating_add(last.len()));
    found
}

/// Returns the length of the `${..}` that a text begins with, if it ends on the same line. Braces
/// in text literals don't count.
fn expression(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut rest = text.char_indices().skip(1);
    while let Some((at, sign)) = rest.next().filter(|(_, sign)| *sign != '\n') {
        match (sign, quote) {
            ('\\', _) => drop(rest.next()),
            (sign, Some(open)) => quote = Some(open).filter(|open| *open != sign),
            ('"' | '\'', None) => quote = Some(sign),
            ('{', None) => depth = depth.saturating_add(1),
            ('}', None) if depth <= 1 => return Some(at.saturating_add(1)),
            ('}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
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
            ("to: https://a/?k=${x}&y", "to: https://a/?**${x}**"),
            ("to: https://${USER}:pass@host/${x}/?a", "to: https://${USER}*****@host/${x}/?*"),
            ("to: https://a/?${x['a b}']}&token=b, c", "to: https://a/?${x['a b}']}********, c"),
            ("[\"https://a/?${x[\\\"b\\\"]}&c\", d]", "[\"https://a/?${x[\\\"b\\\"]}**\", d]"),
            ("['https://a/?${x[''b'']}&c', d]", "['https://a/?${x[''b'']}**', d]"),
            ("`https://a/?${x}&c` is", "`https://a/?${x}**` is"),
            ("to: https://a/?$${x}&c", "to: https://a/?*******"),
            ("to: https://u${x + '@'}v/?${\"y\"}", "to: https://u${x + '@'}v/?${\"y\"}"),
            ("to: https://a/?b=${x c d\ne: f", "to: https://a/?*********\ne: f"),
            ("to: https://u:${x + c@d/\ne: f", "to: https://*********@d/\ne: f"),
            ("to: HTTPS://u:p@a/?b\n- Http://a/?b", "to: HTTPS://***@a/?*\n- Http://a/?*"),
            ("when: a == \"https://a/?b\" && c(\"http://d/?e\")", "when: a == \"https://a/?b\" && c(\"http://d/?e\")"),
            ("x: https://", "x: https://"),
            ("https://https://a/?b", "https://https://a/?*"),
            ("no URL?", "no URL?"),
        ] {
            let hidden = hide_url_secrets(text);
            assert_eq!((&*hidden, hidden.len()), (expected, text.len()));
        }
    }

    #[test]
    fn time_is_linear_in_the_text() {
        for shape in [
            "- https://x\n",
            "- http://x\n",
            "- https://${\n",
            "https://${",
            "- https://${x}",
            ",http://",
            "://",
            "$${",
            "- https://a'?${'",
            ", https://x",
            ", \"https://x\"",
            "- https://a?${x",
        ] {
            celero_timing::assert_linear(shape, [5_000, 20_000], |count| {
                let text = shape.repeat(count);
                celero_timing::cpu_time_of(|| assert_eq!(hide_url_secrets(&text).len(), text.len()))
            });
        }
    }
}
