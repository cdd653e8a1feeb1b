//! Bodies of several parts (RFC 2046, section 5.1; RFC 7578), and parameters of fields (RFC 2045, RFC 2231).

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
        fields.into_iter().flat_map(|field| parameter(field, name)).collect()
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
    let boundary = parameter(content_type, b"boundary").into_iter().next().filter(|boundary| !boundary.is_empty())?;
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

/// The parameters of a field value: `name=token` or `name="quoted"`, with blanks around both, as mail has them.
/// Ends before what is malformed.
fn parameters(value: &[u8]) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
    let mut rest = memchr::memchr(b';', value).and_then(|at| value.get(at..)).unwrap_or_default();
    std::iter::from_fn(move || {
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
            rest = next.trim_ascii_start();
            return Some((known.trim_ascii(), found));
        }
        None
    })
}

/// The texts of a parameter: the one in extended notation (RFC 2231, sections 3 and 4; RFC 5987), which servers that
/// read it prefer, then the plain one, if that is another.
fn parameter(value: &[u8], name: &[u8]) -> Vec<Vec<u8>> {
    let (mut plain, mut pieces) = (None, Vec::new());
    for (known, text) in parameters(value) {
        let Some((base, notation)) = known.split_at_checked(name.len()) else { continue };
        if !base.eq_ignore_ascii_case(name) {
            continue;
        }
        match Notation::of(notation) {
            Some(notation) => pieces.push((notation, text)),
            None if notation.is_empty() && plain.is_none() => plain = Some(text),
            None => {}
        }
    }
    let extended = extended(pieces);
    let plain = plain.filter(|plain| extended.as_ref() != Some(plain));
    extended.into_iter().chain(plain).collect()
}

/// What follows the name of a parameter in extended notation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Notation {
    /// `name*`: the whole text, with a character set, a language and escapes.
    Whole,
    /// `name*2`: a piece of the text, or `name*2*` if the last is true: one with escapes.
    Piece(u32, bool),
}

impl Notation {
    fn of(text: &[u8]) -> Option<Self> {
        let number = text.strip_prefix(b"*")?;
        if number.is_empty() {
            return Some(Self::Whole);
        }
        let (number, escaped) = number.strip_suffix(b"*").map_or((number, false), |number| (number, true));
        let is_number = number.iter().all(u8::is_ascii_digit) && (number == b"0" || !number.starts_with(b"0"));
        let number = std::str::from_utf8(number).ok().filter(|_| is_number)?;
        Some(Self::Piece(number.parse().ok()?, escaped))
    }
}

/// The text of a parameter in extended notation, as Go's package `mime` reads it, but in any character set, whose bytes
/// stay as they are. A piece that is malformed is empty, and one that is missing ends the text.
fn extended(mut pieces: Vec<(Notation, Vec<u8>)>) -> Option<Vec<u8>> {
    pieces.sort_by_key(|(notation, _)| *notation);
    let mut joined = None;
    let mut next = 0;
    for (notation, text) in pieces {
        match notation {
            Notation::Whole => return unescaped(behind_language(&text)?),
            Notation::Piece(number, _) if number < next => {}
            Notation::Piece(number, _) if number > next => break,
            Notation::Piece(number, escaped) => {
                let text = match (escaped, number) {
                    (false, _) => text,
                    (true, 0) => behind_language(&text).and_then(unescaped).unwrap_or_default(),
                    (true, _) => unescaped(&text).unwrap_or_default(),
                };
                joined.get_or_insert_with(Vec::new).extend(text);
                next = next.saturating_add(1);
            }
        }
    }
    joined
}

/// What follows a character set and a language, each with a quote behind it.
fn behind_language(text: &[u8]) -> Option<&[u8]> {
    text.splitn(3, |byte| *byte == b'\'').nth(2)
}

/// A text with the bytes that its escapes, such as `%C3`, stand for; `None` if one is malformed.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        if byte == b'%' {
            let (digits, behind) = behind.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            found.push(u8::from_str_radix(digits, 16).ok()?);
            rest = behind;
        } else {
            found.push(byte);
            rest = behind;
        }
    }
    Some(found)
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
            ("x; boundary*=utf-8''b%63", "--bc\r\n\r\none\r\n--bc--", &["one"]),
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
            let found = parameter(value.as_bytes(), b"name");
            assert_eq!(
                found.iter().map(|found| str::from_utf8(found).unwrap()).collect::<Vec<_>>(),
                Vec::from_iter(name),
                "{value}"
            );
        }
    }

    #[test]
    fn parameters_in_extended_notation_come_first() {
        for (parameters, expected) in [
            ("filename*=UTF-8''%e2%82%ac%20rates; filename=\"EURO rates\"", &["€ rates", "EURO rates"][..]),
            ("filename=a; filename*=utf-8''a", &["a"]),
            ("FileName*=us-ascii'en-us'This%20is", &["This is"]),
            ("filename*=iso-8859-1'en'a%41", &["aA"]),
            ("filename*0=\"shell\"; filename*1=\".php\"", &["shell.php"]),
            ("filename*1*=%2ephp; filename*0*=utf-8''s%68; filename*3=x; filename=y", &["sh.php", "y"]),
            ("filename*0=a; filename*0*=utf-8''b; filename*1=c", &["ac"]),
            ("filename*0=a; filename*01=b; filename*=''c", &["c"]),
            ("filename*1=a; filename=b", &["b"]),
            ("filename*=no-quotes; filename=b", &["b"]),
            ("filename*=utf-8''%4; filename=b", &["b"]),
            ("filename*=utf-8''%+1; filename=b", &["b"]),
            ("filename*0*=utf-8''%zz; filename*1*=%41", &["A"]),
            ("filename*x=a; filename**=b; filenames=c", &[]),
        ] {
            let found = parameter(format!("form-data; {parameters}").as_bytes(), b"filename");
            assert_eq!(
                found.iter().map(|found| str::from_utf8(found).unwrap()).collect::<Vec<_>>(),
                expected,
                "{parameters}"
            );
        }
    }
}
