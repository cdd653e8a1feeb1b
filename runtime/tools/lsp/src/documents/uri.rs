//! URIs of documents as paths, and paths as URIs.

use lsp_types::Uri;
use std::path::{Path, PathBuf};

/// Returns the path of a document. One that is no file has its name as the path.
pub(crate) fn path(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let path = text.strip_prefix("file://").map_or(text, |rest| {
        // What is before the path is the name of a host.
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest)
    });
    PathBuf::from(decoded(path))
}

/// Returns the URI of a file, if its path can be written as one.
pub(crate) fn of_path(path: &Path) -> Option<Uri> {
    let path = std::path::absolute(path).ok()?;
    let mut text = String::from("file://");
    for byte in path.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text.parse().ok()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_and_encoded() {
        for (uri, wanted) in [
            ("file:///a%20b/c.cel", "/a b/c.cel"),
            ("file://host/x/%C3%A9.rules", "/x/é.rules"),
            ("untitled:Untitled-1", "untitled:Untitled-1"),
            ("file:///50%25", "/50%"),
        ] {
            assert_eq!(path(&uri.parse().unwrap()), Path::new(wanted), "{uri}");
        }
        assert_eq!(of_path(Path::new("/a b/é.cel")).unwrap().as_str(), "file:///a%20b/%C3%A9.cel");
        assert_eq!(decoded("100%"), "100%");
    }
}
