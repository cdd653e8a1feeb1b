//! The dialects of patterns, and patterns with the dialect that they are written in.

/// The syntax that a pattern on text is written in.
///
/// What a pattern finds is the same in both: the leftmost match, and of several the one that the
/// pattern prefers. The syntax differs as follows, and nowhere else:
///
/// | pattern | [`Regex`](Self::Regex) | [`Re2`](Self::Re2) |
/// |---|---|---|
/// | `\d \w \s \b` | of Unicode | of ASCII; `\s` is `[\t\n\f\r ]` |
/// | `[a&&b]`, `[a--b]`, `[a~~b]`, `[[a]b]` | operators and classes in classes | `&`, `-`, `~` and `[` are plain characters |
/// | `\<`, `\>`, `\b{start}` | start and end of a word | `<`, `>`, and `\b` before the text `{start}` |
/// | `\Q..\E`, `\07`, `\12` (octal) | refused | the text, and the characters |
/// | `{`, `a{`, `a{,2}`, `a{02}` | refused, or a repetition | `{` is a plain character |
/// | `a**`, `a{2}{3}`, `a*+` | a repetition of a repetition | refused |
/// | `a{1001}`, `(a{100}){100}` | bounded by the size of the program | refused: at most 1000 copies of a part |
/// | flags | `i m s U u x R` | `i m s U` |
/// | `(?)a`, `(?ii)a`, `(?i-i)a` | refused | flags: none, and of one given twice the last |
/// | `[[:foo:]]` | a class in a class | refused: no class has this name |
/// | `\p{..}`, `\pN` | every property, with all aliases | categories, scripts by their full name, `Any`, `Assigned`, `ASCII`; `\p{^Han}` |
/// | `\u0061`, `\U00000061`, `\x{61}` | the character | only `\x{61}` |
/// | `(?P<n>..)`, `(?<n>..)` | names of letters, digits, `_.[]`, each once | names of ASCII letters, digits and `_`; the first of several counts |
/// | `a(?i)*`, `a\Q\E*` | refused | `a*`: what is no part of the pattern is not repeated |
/// | `\x{D800}`, `\p{Cs}` | refused | no character of a text |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The syntax of the [`regex`](https://docs.rs/regex) crate.
    #[default]
    Regex,
    /// The [syntax of RE2](https://github.com/google/re2/wiki/Syntax), as Go's package `regexp`
    /// reads it, with the tables of Unicode of the `regex` crate.
    Re2,
}

impl Dialect {
    /// A pattern of this dialect.
    #[must_use]
    pub fn pattern(self, text: &str) -> Pattern<'_> {
        Pattern { text, dialect: self }
    }
}

/// The text of a pattern, and how it is read. Functions that take one also take a text, which is in
/// the dialect of the `regex` crate.
///
/// ```
/// use celero_matching::Matcher;
/// use celero_matching::pattern::Dialect;
///
/// assert_eq!(Matcher::new(r"\<\d")?.is_match("a 1"), Ok(true));
/// assert_eq!(Matcher::new(Dialect::Re2.pattern(r"\<\d"))?.is_match("a <1"), Ok(true));
/// assert!(Matcher::new(Dialect::Re2.pattern("a**")).is_err());
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern<'p> {
    /// The text.
    pub text: &'p str,
    /// How it is read.
    pub dialect: Dialect,
}

impl<'p> From<&'p str> for Pattern<'p> {
    fn from(text: &'p str) -> Self {
        Dialect::default().pattern(text)
    }
}

impl<'p> From<&&'p str> for Pattern<'p> {
    fn from(text: &&'p str) -> Self {
        (*text).into()
    }
}

impl<'p> From<&'p String> for Pattern<'p> {
    fn from(text: &'p String) -> Self {
        text.as_str().into()
    }
}

/// A [`Pattern`] with a text of its own.
#[derive(Clone, Debug)]
pub(in crate::pattern) struct OwnedPattern {
    text: Box<str>,
    dialect: Dialect,
}

impl OwnedPattern {
    pub(in crate::pattern) fn get(&self) -> Pattern<'_> {
        self.dialect.pattern(&self.text)
    }
}

impl From<Pattern<'_>> for OwnedPattern {
    fn from(Pattern { text, dialect }: Pattern<'_>) -> Self {
        Self { text: text.into(), dialect }
    }
}
