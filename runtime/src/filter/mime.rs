//! Media types: of a `content-type` field, and of a body by its first bytes (the MIME Sniffing
//! Standard, sections 6 and 7.1).

/// The media type of a `content-type` field, in lower case, without parameters.
pub(super) fn media_type(content_type: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(b';', content_type).unwrap_or(content_type.len());
    content_type.get(..end).unwrap_or_default().trim_ascii().to_ascii_lowercase()
}

/// Bytes at offsets from the beginning of a body, and the type that they show.
type Signature = (&'static [(usize, &'static [u8])], &'static str);

const SIGNATURES: &[Signature] = &[
    (&[(0, b"GIF87a")], "image/gif"),
    (&[(0, b"GIF89a")], "image/gif"),
    (&[(0, b"\x89PNG\r\n\x1a\n")], "image/png"),
    (&[(0, b"\xff\xd8\xff")], "image/jpeg"),
    (&[(0, b"BM")], "image/bmp"),
    (&[(0, b"II*\0")], "image/tiff"),
    (&[(0, b"MM\0*")], "image/tiff"),
    (&[(0, b"RIFF"), (8, b"WEBPVP")], "image/webp"),
    (&[(0, b"\0\0\x01\0")], "image/x-icon"),
    (&[(0, b"\0\0\x02\0")], "image/x-icon"),
    (&[(0, b"ID3")], "audio/mpeg"),
    (&[(0, b"RIFF"), (8, b"WAVE")], "audio/wave"),
    (&[(0, b"FORM"), (8, b"AIFF")], "audio/aiff"),
    (&[(0, b"fLaC")], "audio/flac"),
    (&[(0, b"MThd\0\0\0\x06")], "audio/midi"),
    (&[(0, b"RIFF"), (8, b"AVI ")], "video/avi"),
    (&[(4, b"ftyp")], "video/mp4"),
    (&[(0, b"\x1aE\xdf\xa3")], "video/webm"),
    (&[(0, b"OggS\0")], "application/ogg"),
    (&[(0, b"%PDF-")], "application/pdf"),
    (&[(0, b"%!PS-Adobe-")], "application/postscript"),
    (&[(0, b"\x1f\x8b\x08")], "application/x-gzip"),
    (&[(0, b"PK\x03\x04")], "application/zip"),
    (&[(0, b"Rar!\x1a\x07")], "application/x-rar-compressed"),
    (&[(0, b"7z\xbc\xaf\x27\x1c")], "application/x-7z-compressed"),
    (&[(0, b"\0asm")], "application/wasm"),
];

/// Beginnings of text, in any case, behind blanks. A blank or `>` follows a tag.
const TEXTS: &[(&str, bool, &str)] = &[
    ("<!doctype html", true, "text/html"),
    ("<html", true, "text/html"),
    ("<head", true, "text/html"),
    ("<script", true, "text/html"),
    ("<iframe", true, "text/html"),
    ("<h1", true, "text/html"),
    ("<div", true, "text/html"),
    ("<font", true, "text/html"),
    ("<table", true, "text/html"),
    ("<a", true, "text/html"),
    ("<style", true, "text/html"),
    ("<title", true, "text/html"),
    ("<b", true, "text/html"),
    ("<body", true, "text/html"),
    ("<br", true, "text/html"),
    ("<p", true, "text/html"),
    ("<!--", true, "text/html"),
    ("<?xml", false, "text/xml"),
];

/// Most bytes of a body that show its media type (the resource header of the MIME Sniffing Standard, section 5.2).
pub(super) const SNIFFED: usize = 1445;

/// The media type of a body; `None` if its first [`SNIFFED`] bytes show none.
pub(super) fn mime(body: &[u8]) -> Option<&'static str> {
    let body = body.get(..SNIFFED).unwrap_or(body);
    let has = |(offset, bytes): &(usize, &[u8])| body.get(*offset..).is_some_and(|rest| rest.starts_with(bytes));
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| signature.iter().all(has)) {
        return Some(found);
    }
    let text = body.trim_ascii_start();
    let begins = |(word, is_tag, _): &&(&str, bool, &str)| {
        let is_word = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
        is_word && (!*is_tag || matches!(text.get(word.len()), Some(b' ' | b'>')))
    };
    TEXTS.iter().find(begins).map(|(_, _, found)| *found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signature_shows_its_type_and_less_of_it_does_not() {
        for (signature, expected) in SIGNATURES {
            let mut body = Vec::new();
            for (offset, bytes) in *signature {
                body.resize(*offset, b'_');
                body.extend_from_slice(bytes);
            }
            assert_eq!(mime(&body), Some(*expected));
            body.pop();
            assert_ne!(mime(&body), Some(*expected), "{}", body.escape_ascii());
        }
        for (text, expected) in [
            (" \n<!DOCTYPE html>", Some("text/html")),
            ("<html lang=en>", Some("text/html")),
            ("<htmlx>", None),
            ("<?XML version", Some("text/xml")),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(mime(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn parameters_are_no_part_of_a_media_type() {
        for (field, expected) in [
            ("text/html", "text/html"),
            ("text/html; charset=utf-8", "text/html"),
            ("text/html+extra; charset=utf-8", "text/html+extra"),
            ("text/HTML", "text/html"),
            (" text/html ;charset=utf-8; other=value", "text/html"),
            ("", ""),
        ] {
            assert_eq!(media_type(field.as_bytes()), expected.as_bytes(), "{field}");
        }
    }
}
