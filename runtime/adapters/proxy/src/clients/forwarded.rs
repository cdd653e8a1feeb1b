//! The header `Forwarded` (RFC 7239).

/// An element: what one proxy says of the request that it received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    /// The element as it was written.
    pub(super) text: String,
    /// Who sent the request to that proxy.
    pub(super) by_whom: Option<String>,
    pub(super) proto: Option<String>,
    pub(super) host: Option<String>,
}

/// Reads a value: the lines of the header, joined with commas. Returns `None` if it does not follow
/// the grammar (section 4), or if an element has a parameter twice: what follows a quote that is
/// never closed must not be hidden by it.
pub(super) fn parse(value: &str) -> Option<Vec<Element>> {
    let (mut elements, mut rest) = (Vec::new(), value);
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let start = rest;
        let (element, after) = element(rest)?;
        let text = start.get(..start.len().checked_sub(after.len())?)?;
        if !text.is_empty() {
            elements.push(Element { text: text.to_owned(), ..element });
        }
        rest = after.trim_start_matches([' ', '\t']);
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.is_empty() => return Some(elements),
            None => return None,
        }
    }
}

/// Reads an element, and returns it with what follows.
fn element(mut rest: &str) -> Option<(Element, &str)> {
    let (mut found, mut names) = (Element::default(), Vec::new());
    loop {
        let length = rest.bytes().take_while(|byte| is_token(*byte)).count();
        if let (name @ 1.., Some(after)) = (length, rest.get(length..)) {
            let name = rest.get(..name)?.to_ascii_lowercase();
            let (value, after) = value(after.strip_prefix('=')?)?;
            if names.contains(&name) {
                return None;
            }
            match name.as_str() {
                "for" => found.by_whom = Some(value),
                "proto" => found.proto = Some(value),
                "host" => found.host = Some(value),
                _ => {}
            }
            names.push(name);
            rest = after;
        }
        match rest.strip_prefix(';') {
            Some(next) => rest = next,
            None => return Some((found, rest)),
        }
    }
}

/// Reads a token or a quoted string, and returns it with what follows.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let length = text.bytes().take_while(|byte| is_token(*byte)).count();
        let (value, rest) = text.split_at_checked(length)?;
        return (length > 0).then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '\\' => value.push(characters.next()?),
            '"' => return Some((value, characters.as_str())),
            other => value.push(other),
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_rfc_says() {
        let found = parse(
            r#"for="_gazonk", For="[2001:db8:cafe::17]:4711";;proto=http , for=192.0.2.60;proto=http;by=203.0.113.43;host="a.b:8\0""#,
        );
        let found: Vec<_> = found.unwrap().into_iter().map(|e| (e.by_whom.unwrap(), e.proto, e.host)).collect();
        let http = || Some("http".to_owned());
        assert_eq!(
            found,
            [
                ("_gazonk".into(), None, None),
                ("[2001:db8:cafe::17]:4711".into(), http(), None),
                ("192.0.2.60".into(), http(), Some("a.b:80".into())),
            ]
        );
        assert_eq!(parse(" , ,"), Some(vec![]));
        assert_eq!(parse("proto=http").unwrap()[0].by_whom, None);
        assert_eq!(parse(r#"for="a,b;c=\"d""#).unwrap()[0].text, r#"for="a,b;c=\"d""#);
    }

    #[test]
    fn other_values_are_refused() {
        for value in [
            "for",
            "for=",
            "=1",
            "for=1;for=2",
            "for=1;FOR=2",
            "for=\"",
            "for=\", for=192.0.2.1",
            "for=\"a\\",
            "for=\"a\"b",
            "for=2001:db8::1",
            "for =1",
            "for= 1",
            "for=1; proto=http",
            "for=[::1]",
            "for=1 for=2",
            "é=1",
        ] {
            assert_eq!(parse(value), None, "{value}");
        }
    }
}
