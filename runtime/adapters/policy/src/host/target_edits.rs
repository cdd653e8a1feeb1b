//! Changes of the target of a request: its path and the parameters of its query.
//!
//! Invariant: a query parameter that a rule sets or removes has no other spelling left in the query. Test:
//! `runtime/adapters/policy/src/host/target_edits.rs::every_spelling_of_a_name_is_removed`.

use http::Uri;
use http::uri::PathAndQuery;
use std::sync::Arc;

/// The changes of the target that the rules of a phase have made.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetEdits {
    /// The new path, which is canonical.
    path: Option<Vec<u8>>,
    /// Parameters in the order of the rules: those with a value are set, the others are removed.
    parameters: Vec<(Arc<str>, Option<Vec<u8>>)>,
    /// The last rule that changed the target.
    rule: Option<Arc<str>>,
}

impl TargetEdits {
    pub(crate) fn set_path(&mut self, path: Vec<u8>) {
        self.path = Some(path);
    }

    /// Sets a parameter of the query, or removes it. All parameters of that name go; a new one follows those that stay.
    pub(crate) fn set_parameter(&mut self, name: &Arc<str>, value: Option<Vec<u8>>) {
        self.parameters.retain(|(known, _)| known != name);
        self.parameters.push((Arc::clone(name), value));
    }

    pub(crate) fn changed_by(&mut self, rule: &Arc<str>) {
        self.rule = Some(Arc::clone(rule));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rule.is_none()
    }

    /// Returns the last rule that changed the target.
    pub(crate) fn rule(&self) -> Option<Arc<str>> {
        self.rule.clone()
    }

    pub(crate) fn clear(&mut self) {
        if !self.is_empty() {
            *self = Self::default();
        }
    }

    /// Returns a target with these changes; `None` if they change nothing. A target without a path
    /// (`*`, and that of CONNECT) stays.
    ///
    /// # Errors
    /// Returns the rule whose target is too long for a request.
    pub(crate) fn target(&self, uri: &Uri) -> Result<Option<Uri>, Arc<str>> {
        let (Some(rule), Some(before)) = (&self.rule, uri.path_and_query()) else { return Ok(None) };
        if !before.path().starts_with('/') {
            return Ok(None);
        }
        let mut text = self.path.clone().unwrap_or_else(|| before.path().as_bytes().to_vec());
        self.add_query(before.query(), &mut text);
        if text == before.as_str().as_bytes() {
            return Ok(None);
        }
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(text).map_err(|_| Arc::clone(rule))?);
        Uri::from_parts(parts).map(Some).map_err(|_| Arc::clone(rule))
    }

    /// Appends the query. What stays of it stays as the client wrote it.
    fn add_query(&self, before: Option<&str>, text: &mut Vec<u8>) {
        if self.parameters.is_empty() {
            if let Some(before) = before {
                text.push(b'?');
                text.extend_from_slice(before.as_bytes());
            }
            return;
        }
        // Some servers take `;` for a separator: what they would read as the parameter goes, with
        // all up to the next `&`.
        let is_changed = |piece: &str| {
            let mut names = piece.split(';').map(|part| part.split('=').next().unwrap_or_default());
            names.any(|name| self.parameters.iter().any(|(known, _)| decoded(name).eq(known.bytes())))
        };
        let kept = before.into_iter().flat_map(|query| query.split('&')).filter(|piece| !is_changed(piece));
        let mut separator = b'?';
        for piece in kept {
            text.push(separator);
            text.extend_from_slice(piece.as_bytes());
            separator = b'&';
        }
        for (name, value) in &self.parameters {
            let Some(value) = value else { continue };
            text.push(separator);
            encode(name.as_bytes(), text);
            text.push(b'=');
            encode(value, text);
            separator = b'&';
        }
    }
}

/// Decodes a name in a query as servers decode a form: `+` is a space, `%61` is `a`. A `%` without
/// two digits is itself.
fn decoded(text: &str) -> impl Iterator<Item = u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match (byte, digit(tail.first()).zip(digit(tail.get(1)))) {
            (b'%', Some((high, low))) => {
                rest = tail.get(2..).unwrap_or_default();
                u8::try_from(high << 4 | low).ok()
            }
            (b'+', _) => Some(b' '),
            _ => Some(byte),
        }
    })
}

/// Appends a text so that all servers read it alike: all but the unreserved characters of RFC 3986,
/// section 2.3, are encoded.
fn encode(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target after these changes; a parameter without a value is removed.
    fn changed(target: &str, path: Option<&str>, parameters: &[(&str, Option<&str>)]) -> String {
        let mut edits = TargetEdits::default();
        edits.changed_by(&"rule".into());
        path.into_iter().for_each(|path| edits.set_path(path.into()));
        for (name, value) in parameters {
            edits.set_parameter(&Arc::from(*name), value.map(Into::into));
        }
        let uri: Uri = target.parse().unwrap();
        edits.target(&uri).unwrap().unwrap_or(uri).to_string()
    }

    #[test]
    fn a_new_path_keeps_the_query_as_it_was() {
        assert_eq!(changed("/a?b=%41+c&&d", Some("/x/y"), &[]), "/x/y?b=%41+c&&d");
        assert_eq!(changed("http://h:81/a", Some("/"), &[]), "http://h:81/");
        assert_eq!(changed("/a?", Some("/b"), &[]), "/b?");
    }

    #[test]
    fn every_spelling_of_a_name_is_removed() {
        for query in ["admin=1", "%61dmin=1", "%61%64%6D%69%6e", "admin", "admin=1&admin=2", "admin="] {
            assert_eq!(changed(&format!("/?{query}"), None, &[("admin", None)]), "/", "{query}");
            assert_eq!(changed(&format!("/?a=b&{query}&c"), None, &[("admin", None)]), "/?a=b&c", "{query}");
        }
        assert_eq!(changed("/?a=1;admin=1;b&c", None, &[("admin", None)]), "/?c", "for servers that separate by `;`");
        for spelling in ["is+admin=1", "is%20admin=1"] {
            assert_eq!(changed(&format!("/?{spelling}"), None, &[("is admin", None)]), "/");
        }
        for other in ["Admin=1", "%zzadmin=1", "admin%=1", "a=admin", "%2561dmin=1", "admin%3D1"] {
            assert_eq!(changed(&format!("/?{other}"), None, &[("admin", None)]), format!("/?{other}"));
        }
    }

    #[test]
    fn what_is_set_replaces_all_of_that_name_and_can_add_no_other() {
        assert_eq!(changed("/?a=1&b=2&%61=3", None, &[("a", Some("x"))]), "/?b=2&a=x");
        assert_eq!(changed("/", None, &[("a", Some("1&b=2#c +d/é"))]), "/?a=1%26b%3D2%23c%20%2Bd%2F%C3%A9");
        assert_eq!(changed("/", None, &[("a&b", Some(""))]), "/?a%26b=");
        assert_eq!(changed("/", None, &[("a", Some("1")), ("a", Some("2")), ("b", Some("3")), ("b", None)]), "/?a=2");
    }

    #[test]
    fn targets_without_a_path_stay() {
        assert_eq!(changed("*", Some("/x"), &[("a", Some("1"))]), "*");
        assert_eq!(changed("example.com:443", Some("/x"), &[]), "example.com:443");
    }

    #[test]
    fn a_target_that_is_too_long_names_its_rule() {
        let mut edits = TargetEdits::default();
        edits.changed_by(&"long".into());
        edits.set_parameter(&"a".into(), Some(vec![b'x'; 70_000]));
        assert_eq!(edits.target(&"/".parse().unwrap()).unwrap_err().as_ref(), "long");
    }
}
