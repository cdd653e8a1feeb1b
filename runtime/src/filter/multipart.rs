//! Bodies of several parts (RFC 2046, section 5.1; RFC 7578).

use super::mime::media_type;
use memchr::memmem;
use std::borrow::Cow;

/// A part.
pub(super) struct BodyPart<'b> {
    /// The lines of its head, each with its continuations.
    lines: Vec<Cow<'b, [u8]>>,
    /// What follows the empty line.
    pub(super) content: &'b [u8],
}

impl<'b> BodyPart<'b> {
    /// The values of the fields with this name, without blanks around them.
    pub(super) fn fields(&self, name: &[u8]) -> Vec<&[u8]> {
        let fields = self.lines.iter().filter_map(|line| {
            let (known, value) = line.split_at_checked(memchr::memchr(b':', line)?)?;
            known.trim_ascii().eq_ignore_ascii_case(name).then(|| value.get(1..).unwrap_or_default().trim_ascii())
        });
        fields.collect()
    }

    /// The values of a parameter of its `content-disposition` fields.
    pub(super) fn parameters(&self, name: &[u8]) -> Vec<Vec<u8>> {
        let fields = self.fields(b"content-disposition");
        fields.into_iter().filter_map(|field| parameter(field, name)).collect()
    }

    /// A part without its content, and what follows the empty line behind its head. A delimiter ends a head, too.
    fn of_head(mut text: &'b [u8], delimiter: &[u8]) -> (Self, &'b [u8]) {
        let mut lines: Vec<Cow<'b, [u8]>> = Vec::new();
        while delimiter_line(text, delimiter).is_none() {
            let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at.saturating_add(1));
            let Some((line, behind)) = text.split_at_checked(end) else { break };
            text = behind;
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            match lines.last_mut() {
                // A line that begins with a blank continues the one before (RFC 5322, section 2.2.3).
                Some(last) if line.starts_with(b" ") || line.starts_with(b"\t") => {
                    let last = last.to_mut();
                    last.push(b' ');
                    last.extend_from_slice(line.trim_ascii());
                }
                _ => lines.push(Cow::Borrowed(line.trim_ascii_end())),
            }
        }
        (Self { lines, content: b"" }, text)
    }
}

/// A line that separates parts.
struct DelimiterLine<'b> {
    is_last: bool,
    line_end: &'b [u8],
    /// What follows the line.
    behind: &'b [u8],
}

/// The delimiter line that a text begins with: the delimiter, two dashes if it is the last one,
/// blanks, and the end of the line or of the text. A line with anything else in it is content, as
/// the delimiter of a part in this one may begin with the same text.
fn delimiter_line<'b>(text: &'b [u8], delimiter: &[u8]) -> Option<DelimiterLine<'b>> {
    let behind = text.strip_prefix(delimiter)?;
    let (is_last, behind) = behind.strip_prefix(b"--").map_or((false, behind), |behind| (true, behind));
    let blanks = behind.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(behind.len());
    let (_, behind) = behind.split_at_checked(blanks)?;
    let line_end = match behind {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        [] => 0,
        _ => return None,
    };
    let (line_end, behind) = behind.split_at_checked(line_end)?;
    Some(DelimiterLine { is_last, line_end, behind })
}

/// The parts of a body, if its content type says that it has several and how they are separated.
/// What precedes the first delimiter line and what follows the last one is none of them; a part
/// that is not ended is.
///
/// The line end of the first delimiter line, which is `\n` in bodies that some servers accept, is
/// the one that precedes the others: so does Go's package `mime/multipart`. With another one before
/// it, a delimiter is content, and rules see it there.
pub(super) fn parts<'b>(content_type: &[u8], body: &'b [u8]) -> Option<Vec<BodyPart<'b>>> {
    if !media_type(content_type).starts_with(b"multipart/") {
        return None;
    }
    let boundary = parameter(content_type, b"boundary").filter(|boundary| !boundary.is_empty())?;
    let delimiter = [b"--", boundary.as_slice()].concat();
    let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', body).map(|at| at.saturating_add(1)));
    // Before it, a last one that ends with `\n` is skipped.
    let is_first = |line: &DelimiterLine<'_>| !line.is_last || line.line_end != b"\n";
    let mut lines = starts.filter_map(|at| delimiter_line(body.get(at..)?, &delimiter));
    let mut line = lines.find(is_first)?;
    let line_end = line.line_end;
    let separator = [line_end, &delimiter].concat();
    let finder = memmem::Finder::new(&separator);
    let mut parts = Vec::new();
    while !line.is_last {
        let (mut part, text) = BodyPart::of_head(line.behind, &delimiter);
        let found = delimiter_line(text, &delimiter).map(|next| (0, next));
        let found = found.or_else(|| {
            finder.find_iter(text).find_map(|at| {
                let next = text.get(at.saturating_add(line_end.len())..)?;
                Some((at, delimiter_line(next, &delimiter)?))
            })
        });
        let Some((end, next)) = found else {
            part.content = text;
            parts.push(part);
            break;
        };
        part.content = text.get(..end)?;
        parts.push(part);
        line = next;
    }
    Some(parts)
}

/// A parameter of a field value: `name=token` or `name="quoted"`, with blanks around both, as mail has them.
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
        let behind = behind.trim_ascii_start();
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

/// The signs that no token contains (RFC 2045, section 5.1), which a backslash precedes in quoted text.
const SPECIALS: &[u8] = b"()<>@,;:\\\"/[]?=";

/// The text up to a quote, and what follows that.
fn quoted_text(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut found = Vec::new();
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some((found, text.get(at.saturating_add(1)..)?)),
            b'\\' => match bytes.next() {
                Some((_, escaped)) if SPECIALS.contains(escaped) => found.push(*escaped),
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
            ("b", "--b\n\none\n--b\nx: y\n\ntwo\n--b--\n", &["one", "two"]),
            ("b", "--b\n\none\r\n--b--", &["one\r"]),
            ("b", "--b\r\n\none\n--b\n\ntwo\r\n--b--", &["one\n--b\n\ntwo"]),
            ("b", "--b\r\n\r\nok\r\n--bEVIL\r\n--b--", &["ok\r\n--bEVIL"]),
            ("b", "--b\r\n\r\nok\r\n--b--EVIL\r\n--b-- ", &["ok\r\n--b--EVIL"]),
            ("b", "--b--z\r\n--b\r\n\r\nEVIL\r\n--b--", &["EVIL"]),
            ("b", "--b\r\n\r\n--b--", &[""]),
            ("b", "--b--\n--b\n\none\n--b--", &["one"]),
            ("b", "--b--\r\n--b\r\n\r\none\r\n--b--", &[]),
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
            ("form-data; name= \"a\" ; x=y", Some("a")),
            ("form-data; name=\"a\\;b\"", Some("a;b")),
            ("form-data;\r\n\tname=\"a\"", Some("a")),
            ("form-data; name=\"a", None),
            ("form-data; filename=a", None),
            ("name=a", None),
        ] {
            let found = parameter(value.as_bytes(), b"name").map(|found| String::from_utf8(found).unwrap());
            assert_eq!(found.as_deref(), name, "{value}");
        }
    }
}
