//! The token that requests show which change lists.

use crate::error::Error;
use celero_policy::open_regular;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use ring::digest::{Digest, SHA256, digest};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
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
        let read = open_regular(file).and_then(|opened| {
            let mode = exposure(&opened)?;
            opened.take(4096).read_to_end(&mut text)?;
            Ok(mode)
        });
        if let Some(mode) = read.map_err(|error| wrong(error.to_string()))? {
            log::warn!("{}, the token of `admin`, is not only for its owner: its mode is {mode:o}", file.display());
        }
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

/// Returns the mode of a file that others than its owner may read, write or execute.
fn exposure(file: &File) -> std::io::Result<Option<u32>> {
    let mode = file.metadata()?.permissions().mode() & 0o777;
    Ok(Some(mode).filter(|mode| mode & 0o077 != 0))
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

    #[test]
    fn a_file_for_others_too_is_noticed() {
        let file = std::env::temp_dir().join(format!("celero-token-{}", std::process::id()));
        std::fs::write(&file, "").unwrap();
        for (mode, exposed) in [(0o600, None), (0o400, None), (0o640, Some(0o640)), (0o604, Some(0o604))] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(exposure(&File::open(&file).unwrap()).unwrap(), exposed);
        }
        let _ = std::fs::remove_file(&file);
    }
}
