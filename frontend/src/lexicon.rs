//! How the text of a language is split into words, for editors: also text that is not valid.

/// The length of the text literal at the start of a source, and whether it is closed; `None` if there is none.
pub type TextLiteral = fn(&str) -> Option<(usize, bool)>;

/// The words of a language. Names are letters, digits and `_`; all else is one character.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lexicon {
    /// The words that are no names, and how each is used.
    pub keywords: &'static [(&'static str, &'static str)],
    /// What begins a comment, which ends with the line.
    pub comment: Option<&'static str>,
    /// Finds text literals.
    pub text: TextLiteral,
}

impl Default for Lexicon {
    /// No keywords, no comments, and text in double quotes.
    fn default() -> Self {
        Self::new(&[], None, quoted_text)
    }
}

impl Lexicon {
    /// Makes a lexicon.
    #[must_use]
    pub const fn new(
        keywords: &'static [(&'static str, &'static str)],
        comment: Option<&'static str>,
        text: TextLiteral,
    ) -> Self {
        Self { keywords, comment, text }
    }

    /// Returns whether a name is a keyword, or a word of one.
    #[must_use]
    pub fn is_keyword(&self, name: &str) -> bool {
        self.keywords.iter().any(|(words, _)| words.split(' ').any(|word| word == name))
    }
}

/// Finds text in double quotes, with `\\` before a quote in it.
#[must_use]
pub fn quoted_text(source: &str) -> Option<(usize, bool)> {
    let body = source.strip_prefix('"')?;
    let mut escaped = false;
    for (at, character) in body.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((at.saturating_add(2), true)),
            _ => {}
        }
    }
    Some((source.len(), false))
}
