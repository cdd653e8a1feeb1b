//! The token that requests show which change lists.

use crate::error::Error;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use ring::digest::{Digest, SHA256, digest};
use std::io::Read;
use std::path::Path;

/// How many characters a token has.
const LENGTHS: std::ops::RangeInclusive<usize> = 32..=512;

/// A token. Only its digest is kept.
#[derive(Clone, Debug)]
pub(crate) struct AdminToken(Digest);

impl AdminToken {
    /// Reads a token from a file. Spaces and line ends around it are ignored.
    ///
    /// # Errors
    /// The file can't be read, or holds no token. The message does not show what it holds.
    pub(crate) fn load(file: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::new(format!("error: {}, the token of `admin`: {why}", file.display()));
        let mut text = Vec::new();
        let read = std::fs::File::open(file).and_then(|file| file.take(4096).read_to_end(&mut text));
        read.map_err(|error| wrong(error.to_string()))?;
        let token = text.trim_ascii();
        if !LENGTHS.contains(&token.len()) || !token.iter().all(u8::is_ascii_graphic) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            return Err(wrong(format!(
                "it has {} bytes; a token is {least} to {most} visible ASCII characters, as `openssl rand -hex 32` prints",
                token.len()
            )));
        }
        Ok(Self(digest(&SHA256, token)))
    }

    /// Returns whether a request shows this token: `Authorization: Bearer ..`, once (RFC 6750, section 2.1).
    pub(crate) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut lines = headers.get_all(AUTHORIZATION).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return false };
        let Some((scheme, token)) = line.as_bytes().split_at_checked(7) else { return false };
        // Digests are compared, so the time of the comparison says nothing of the token.
        scheme.eq_ignore_ascii_case(b"bearer ") && digest(&SHA256, token).as_ref() == self.0.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_token_is_shown_once_and_whole() {
        let text = "0123456789abcdef0123456789abcdef";
        let token = AdminToken(digest(&SHA256, text.as_bytes()));
        let shows = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            token.is_shown(&headers)
        };
        assert!(shows(&[&format!("Bearer {text}")]) && shows(&[&format!("bearer {text}")]));
        for wrong in ["", "Bearer", "Bearer ", "Basic 0123456789abcdef0123456789abcdef", text] {
            assert!(!shows(&[wrong]), "{wrong}");
        }
        let (without_first, without_last) = (text.strip_prefix('0').unwrap(), text.strip_suffix('f').unwrap());
        for wrong in [without_first, without_last, &format!("{text}0"), &format!(" {text}"), &text.to_uppercase()] {
            assert!(!shows(&[&format!("Bearer {wrong}")]), "{wrong}");
        }
        let right = format!("Bearer {text}");
        assert!(!shows(&[]) && !shows(&[&right, &right]) && !shows(&[&right, "Bearer x"]));
    }
}
