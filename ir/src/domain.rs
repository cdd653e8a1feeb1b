//! Which values a field of the host can have, where its type has more of them.

use std::fmt;

/// The values of a field. What it leaves out, the field never is, so a comparison with it is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// The integers from the first to the second.
    Range(i64, i64),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// Texts of one form.
    Text(TextDomain),
    /// The texts of IP addresses: IPv6 as RFC 5952 writes it, and no IPv4 address in IPv6 form.
    Address,
}

/// Texts that begin with a text and have none of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextDomain {
    /// What each begins with.
    pub begins: &'static str,
    /// What none has.
    pub never: &'static [Never],
    /// Other texts that the field can be.
    pub also: &'static [&'static str],
}

/// What texts never have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Never {
    /// An ASCII letter in upper case.
    UpperCase,
    /// An ASCII letter in lower case.
    LowerCase,
    /// This ASCII character.
    Character(char),
    /// A port: `:` outside of brackets.
    Port,
    /// A segment of a path that is `.` or `..`.
    DotSegment,
    /// A character that is spelled otherwise than in canonical paths: encoded without need, encoded
    /// with digits in lower case, or not encoded where it has to be.
    OtherSpelling,
    /// A text that the host has not, because it changes or refuses it.
    Part(NeverPart),
}

/// A text that no value has, in any of its spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NeverPart {
    /// Its spellings.
    pub spellings: &'static [&'static str],
    /// What each of them is replaced by; `None` if there is no such value at all.
    pub replaced_by: Option<&'static str>,
    /// Why, as a sentence without its end: "the host merges slashes".
    pub why: &'static str,
}

impl NeverPart {
    /// Returns a text with each spelling replaced, as often as there is one; `None` if nothing replaces it.
    #[must_use]
    pub fn replaced_in(&self, text: &str) -> Option<String> {
        let replacement = self.replaced_by?;
        let mut text = text.to_owned();
        // A replacement that has a spelling in it would go on for ever; each of the others makes the text shorter.
        for spelling in self.spellings.iter().filter(|spelling| replacement.len() < spelling.len()) {
            while text.contains(spelling) {
                text = text.replace(spelling, replacement);
            }
        }
        Some(text)
    }
}

/// The names of headers, as `http::HeaderName` and maps of headers have them.
pub const HEADER_NAME: Domain = Domain::Text(TextDomain {
    begins: "",
    never: &[Never::UpperCase, Never::Character(' '), Never::Character(':')],
    also: &[],
});

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpperCase => f.write_str("upper-case letter"),
            Self::LowerCase => f.write_str("lower-case letter"),
            Self::Character(' ') => f.write_str("space"),
            Self::Character(character) => write!(f, "`{character}`"),
            Self::Port => f.write_str("port"),
            Self::DotSegment => f.write_str("segment `.` or `..`"),
            Self::OtherSpelling => f.write_str("character in another encoding than the canonical one"),
            Self::Part(part) => write!(f, "`{}`", part.spellings.first().unwrap_or(&"")),
        }
    }
}

/// Says that a field is one of these texts, in a sentence without its subject.
#[must_use]
pub fn one_of(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    format!("is one of {}", quoted.join(", "))
}

impl fmt::Display for Domain {
    /// Writes a sentence without its subject: "begins with `/`, and has no `?`".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(least, i64::MAX) => write!(f, "is at least {least}"),
            Self::Range(least, most) => write!(f, "is a number from {least} to {most}"),
            Self::OneOf(texts) => f.write_str(&one_of(texts)),
            Self::Address => f.write_str("is the text of an IP address"),
            Self::Text(TextDomain { begins, never, also }) => {
                if !begins.is_empty() {
                    write!(f, "begins with `{begins}`")?;
                }
                for (at, what) in never.iter().enumerate() {
                    f.write_str(match (at, begins.is_empty()) {
                        (0, true) => "has no ",
                        (0, false) => ", and has no ",
                        _ => ", no ",
                    })?;
                    what.fmt(f)?;
                }
                for text in *also {
                    match *text {
                        "" => f.write_str("; or is empty")?,
                        text => write!(f, "; or is `{text}`")?,
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_sentences() {
        let text = |begins, never, also| Domain::Text(TextDomain { begins, never, also });
        for (domain, words) in [
            (Domain::Range(0, 65_535), "is a number from 0 to 65535"),
            (Domain::Range(0, i64::MAX), "is at least 0"),
            (Domain::OneOf(&["a", "b"]), "is one of `a`, `b`"),
            (Domain::Address, "is the text of an IP address"),
            (
                text("/", &[Never::Character('?'), Never::Character(' ')], &["*", ""]),
                "begins with `/`, and has no `?`, no space; or is `*`; or is empty",
            ),
            (text("", &[Never::UpperCase, Never::Port], &[]), "has no upper-case letter, no port"),
            (text("", &[Never::LowerCase], &[]), "has no lower-case letter"),
            (
                text("", &[Never::DotSegment, Never::OtherSpelling], &[]),
                "has no segment `.` or `..`, no character in another encoding than the canonical one",
            ),
            (
                text(
                    "",
                    &[Never::Part(NeverPart { spellings: &["//"], replaced_by: Some("/"), why: "they are merged" })],
                    &[],
                ),
                "has no `//`",
            ),
        ] {
            assert_eq!(domain.to_string(), words);
        }
    }
}
