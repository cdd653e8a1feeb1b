//! Bodies of several parts (RFC 2046, section 5.1; RFC 7578).

use super::mime::media_type;
use memchr::memmem;

/// A part.
pub(super) struct BodyPart<'b> {
    /// Its fields: names as they are written, values without blanks around them.
    fields: Vec<(&'b [u8], &'b [u8])>,
    /// What follows the empty line.
    pub(super) content: &'b [u8],
}

impl<'b> BodyPart<'b> {
    /// The values of the fields with this name.
    pub(super) fn fields(&self, name: &[u8]) -> Vec<&'b [u8]> {
        self.fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value).collect()
    }

    /// The values of a parameter of its `content-disposition` fields.
    pub(super) fn parameters(&self, name: &[u8]) -> Vec<Vec<u8>> {
        let fields = self.fields(b"content-disposition");
        fields.into_iter().filter_map(|field| parameter(field, name)).collect()
    }
}

/// The parts of a body, if its content type says that it has several and how they are separated. What precedes the first delimiter and what follows
/// the last one is none of them; a part that is not ended is.
pub(super) fn parts<'b>(content_type: &[u8], body: &'b [u8]) -> Option<Vec<BodyPart<'b>>> {
    if !media_type(content_type).starts_with(b"multipart/") {
        return None;
    }
    let boundary = parameter(content_type, b"boundary").filter(|boundary| !boundary.is_empty())?;
    let delimiter = [b"\r\n--", boundary.as_slice()].concat();
    let first = delimiter.get(2..)?;
    // The first delimiter may stand at the beginning of the body.
    let mut rest = match body.strip_prefix(first) {
        Some(rest) => rest,
        None => {
            let at = memmem::find(body, &delimiter)?;
            body.get(at.saturating_add(delimiter.len())..)?
        }
    };
    let finder = memmem::Finder::new(&delimiter);
    let mut parts = Vec::new();
    // Two dashes behind a delimiter end the parts.
    while !rest.starts_with(b"--") {
        let (part, next) = match finder.find(rest) {
            Some(at) => (rest.get(..at)?, rest.get(at.saturating_add(delimiter.len())..)?),
            None => (rest, &b"--"[..]),
        };
        // The line of the delimiter may end with blanks.
        let line_end = memmem::find(part, b"\r\n").unwrap_or(part.len());
        parts.push(part_of(part.get(line_end..)?));
        rest = next;
    }
    Some(parts)
}

/// A part, from the line end of its delimiter on.
fn part_of(text: &[u8]) -> BodyPart<'_> {
    let (head, content) = match memmem::find(text, b"\r\n\r\n") {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at.saturating_add(4)..).unwrap_or_default()),
        None => (text, &b""[..]),
    };
    BodyPart { fields: head.split(|byte| *byte == b'\n').filter_map(field).collect(), content }
}

/// A line of a head as name and value.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    Some((line.get(..colon)?.trim_ascii(), line.get(colon.saturating_add(1)..)?.trim_ascii()))
}

/// A parameter of a field value: `name=token` or `name="quoted"`. In quoted text a backslash precedes a quote or a backslash that is meant (RFC 9110,
/// section 5.6.4).
fn parameter(value: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let mut rest = value.get(memchr::memchr(b';', value)?..)?;
    while let Some(at) = rest.strip_prefix(b";") {
        let at = at.trim_ascii_start();
        let equals = at.iter().position(|byte| matches!(byte, b'=' | b';'))?;
        let (known, behind) = at.split_at_checked(equals)?;
        let Some(behind) = behind.strip_prefix(b"=") else {
            rest = behind;
            continue;
        };
        let (found, next) = match behind.strip_prefix(b"\"") {
            Some(quoted) => quoted_text(quoted)?,
            None => {
                let end = memchr::memchr(b';', behind).unwrap_or(behind.len());
                let (token, next) = behind.split_at_checked(end)?;
                (token.trim_ascii().to_vec(), next)
            }
        };
        if known.trim_ascii().eq_ignore_ascii_case(name) {
            return Some(found);
        }
        rest = next.trim_ascii_start();
    }
    None
}

/// The text up to a quote, and what follows that.
fn quoted_text(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut found = Vec::new();
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some((found, text.get(at.saturating_add(1)..)?)),
            b'\\' => match bytes.next() {
                Some((_, escaped @ (b'"' | b'\\'))) => found.push(*escaped),
                // Browsers write the backslashes of file names as they are.
                Some((_, other)) => found.extend([b'\\', *other]),
                None => return None,
            },
            other => found.push(*other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(content_type: &str, body: &str) -> Option<Vec<String>> {
        let parts = parts(content_type.as_bytes(), body.as_bytes())?;
        Some(parts.iter().map(|part| String::from_utf8_lossy(part.content).into_owned()).collect())
    }

    #[test]
    fn parts_stand_between_delimiters() {
        for (boundary, body, expected) in [
            ("b", "--b\r\n\r\none\r\n--b\r\nx: y\r\n\r\ntwo\r\n--b--", &["one", "two"][..]),
            ("b", "before\r\n--b  \r\n\r\none\r\n\r\n--b--\r\nafter\r\n--b\r\n\r\nno", &["one\r\n"]),
            ("\"b c\"", "--b c\r\n\r\nx--b c\r\n--b c--", &["x--b c"]),
            ("b", "--b\r\n\r\nnot ended", &["not ended"]),
            ("b", "--b\r\nx: no content\r\n--b--", &[""]),
            ("b", "--b--", &[]),
        ] {
            let found = contents(&format!("Multipart/Form-Data; boundary={boundary}"), body);
            assert_eq!(found.unwrap(), expected, "{body:?}");
        }
        let without = ["multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=b", ""];
        for content_type in without {
            assert_eq!(contents(content_type, "--b\r\n\r\none\r\n--b--"), None, "{content_type}");
        }
        assert_eq!(contents("multipart/mixed; boundary=b", "no delimiter"), None);
    }

    #[test]
    fn parameters_are_tokens_or_quoted() {
        for (value, name) in [
            ("form-data; name=a", Some("a")),
            ("form-data; filename=\"x; name=y\"; NAME=\"a\"", Some("a")),
            ("form-data; name=\"a\\\"b\\\\c\\d\"", Some("a\"b\\c\\d")),
            ("form-data; x; name = a ;", Some("a")),
            ("form-data; name=\"a", None),
            ("form-data; filename=a", None),
            ("name=a", None),
        ] {
            let found = parameter(value.as_bytes(), b"name").map(|found| String::from_utf8(found).unwrap());
            assert_eq!(found.as_deref(), name, "{value}");
        }
    }
}
