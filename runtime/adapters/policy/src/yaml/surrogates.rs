//! Surrogate pairs in double quotes: `"\ud83d\ude00"`, as JSON has one character outside of the
//! first plane. YAML's parser refuses them, so it reads other escapes of the same length in their
//! places, which become the character, or are undone where they are no escapes, afterwards.

use saphyr_parser::ScalarStyle;
use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;

/// The private characters that stand for surrogates while a text is parsed: 0xd800 to 0xdfff are 0xf000 to 0xf7ff.
const STAND_INS: Range<u32> = 0xf000..0xf800;
/// A surrogate is its stand-in minus this.
const DISTANCE: u32 = 0x1800;
/// The length of `\ud83d`.
const ESCAPE: usize = 6;

/// Where a text has escapes of surrogates.
pub(super) struct Surrogates<'t> {
    /// The text with other escapes in their places.
    pub(super) text: Cow<'t, str>,
    written: &'t str,
    places: Vec<usize>,
}

/// A half of a pair without the other one, at a byte of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LoneSurrogate(pub(super) usize);

impl<'t> Surrogates<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut places = Vec::new();
        let mut rest = 0;
        while let Some(at) = text.get(rest..).and_then(|rest| rest.find('\\')).map(|at| rest.saturating_add(at)) {
            let is_surrogate = escaped(text, at).is_some_and(|code| (0xd800..0xe000).contains(&code));
            places.extend(is_surrogate.then_some(at));
            // What follows a backslash begins no escape.
            rest = at.saturating_add(text.get(at..).map_or(2, |text| text.chars().take(2).map(char::len_utf8).sum()));
        }
        let stood_in = if places.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(with_stand_ins(text, &places)) };
        Self { text: stood_in, written: text, places }
    }

    /// Returns what a scalar that was read from this range of the text really says.
    ///
    /// # Errors
    /// A surrogate that is no half of a pair.
    pub(super) fn restored(
        &self,
        read: String,
        style: ScalarStyle,
        range: Range<usize>,
    ) -> Result<String, LoneSurrogate> {
        let first = self.places.partition_point(|place| *place < range.start);
        let end = self.places.partition_point(|place| *place < range.end);
        let own = self.places.get(first..end).unwrap_or_default();
        if own.is_empty() {
            return Ok(read);
        }
        let raw = self.text.get(range.clone()).unwrap_or_default();
        if style == ScalarStyle::DoubleQuoted {
            joined(&read, written(raw, range.start, own))
        } else {
            Ok(self.undone(&read, raw, range.start, own))
        }
    }

    /// Puts the surrogates back into a text in which they are no escapes.
    fn undone(&self, read: &str, raw: &str, start: usize, own: &[usize]) -> String {
        let stand_ins = |text: &str| -> Vec<usize> {
            let escapes = text.match_indices("\\u").map(|(at, _)| at);
            escapes.filter(|at| escaped(text, *at).is_some_and(|code| STAND_INS.contains(&code))).collect()
        };
        let sources = stand_ins(raw).into_iter().map(|at| start.saturating_add(at));
        let (mut undone, mut from) = (String::with_capacity(read.len()), 0);
        for (at, source) in
            stand_ins(read).into_iter().zip(sources).filter(|(_, source)| own.binary_search(source).is_ok())
        {
            undone.push_str(read.get(from..at).unwrap_or_default());
            undone.push_str(self.written.get(source..source.saturating_add(ESCAPE)).unwrap_or_default());
            from = at.saturating_add(ESCAPE);
        }
        undone.push_str(read.get(from..).unwrap_or_default());
        undone
    }
}

/// Returns the code of an escape of four digits at a byte of a text.
fn escaped(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at.checked_add(ESCAPE)?)?.strip_prefix("\\u")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn with_stand_ins(text: &str, places: &[usize]) -> String {
    let (mut found, mut from) = (String::with_capacity(text.len()), 0);
    for at in places {
        found.push_str(text.get(from..*at).unwrap_or_default());
        let code = escaped(text, *at).unwrap_or_default().saturating_add(DISTANCE);
        found.push_str(&format!("\\u{code:04x}"));
        from = at.saturating_add(ESCAPE);
    }
    found.push_str(text.get(from..).unwrap_or_default());
    found
}

/// Returns where each stand-in that a scalar in double quotes has comes from: the place of a
/// surrogate, or `None` if it is written itself.
fn written<'t>(raw: &'t str, start: usize, own: &'t [usize]) -> impl Iterator<Item = Option<usize>> + 't {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        loop {
            let rest = raw.get(at..)?;
            let place = start.saturating_add(at);
            let c = rest.chars().next()?;
            let (code, length) = match (c, rest.as_bytes().get(1)) {
                ('\\', Some(b'u')) => (escaped(raw, at).unwrap_or_default(), ESCAPE),
                ('\\', Some(b'U')) => {
                    (rest.get(2..10).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default(), 10)
                }
                ('\\', _) => (0, rest.chars().take(2).map(char::len_utf8).sum()),
                (c, _) => (u32::from(c), c.len_utf8()),
            };
            at = at.saturating_add(length);
            if STAND_INS.contains(&code) {
                return Some(Some(place).filter(|place| own.binary_search(place).is_ok()));
            }
        }
    })
}

/// Joins the pairs of a text in double quotes.
fn joined(read: &str, written: impl Iterator<Item = Option<usize>>) -> Result<String, LoneSurrogate> {
    let mut characters = read.chars().peekable();
    let mut places = written.peekable();
    let mut found = String::with_capacity(read.len());
    while let Some(c) = characters.next() {
        match STAND_INS.contains(&u32::from(c)).then(|| places.next().flatten()).flatten() {
            None => found.push(c),
            Some(place) => found.push(pair(c, place, &mut characters, &mut places).ok_or(LoneSurrogate(place))?),
        }
    }
    Ok(found)
}

/// Returns the character whose first half was read.
fn pair(
    first: char,
    place: usize,
    characters: &mut Peekable<impl Iterator<Item = char>>,
    places: &mut Peekable<impl Iterator<Item = Option<usize>>>,
) -> Option<char> {
    let second_place = places.next_if(|next| *next == place.checked_add(ESCAPE))?;
    let second = characters.next_if(|c| second_place.is_some() && STAND_INS.contains(&u32::from(*c)))?;
    let half = |c: char| u16::try_from(u32::from(c).saturating_sub(DISTANCE)).unwrap_or(0);
    char::decode_utf16([half(first), half(second)]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::super::problems::Problems;
    use super::super::read;

    /// The text of the key `a`, or the place of an error.
    fn text(yaml: &str) -> Result<String, String> {
        let mut problems = Problems::default();
        let file = problems.file("a.yaml".to_owned(), yaml);
        let root = read(file, &mut problems);
        match problems.first_error() {
            Some((message, at)) => Err(format!("{}: {message}", problems.position(at))),
            None => Ok(root.unwrap().text_of("a").unwrap().text),
        }
    }

    #[test]
    fn pairs_are_one_character() {
        for (yaml, expected) in [
            ("a: \"\\ud83d\\ude00\"", "\u{1f600}"),
            ("{\"a\": \"x\\uD83D\\uDE00\\ud800\\udc00y\"}", "x\u{1f600}\u{10000}y"),
            ("# \\ud83d é\nb: \"\\ud83d\\ude01\"\na: \"é\\udbff\\udfff\\u00e9\\U0001F600\"", "é\u{10ffff}é\u{1f600}"),
            // The characters that stand for them.
            ("a: \"\u{f03d}\\uf03d\\U0000f600\\ud83d\\ude00\u{f600}\"", "\u{f03d}\u{f03d}\u{f600}\u{1f600}\u{f600}"),
            ("a: \"\\\\ud83d\\\\ude00\\n\"", "\\ud83d\\ude00\n"),
            ("a: \"x \\ud83d\\ude00\n  y \\\n  \\ud83d\\ude00\"", "x \u{1f600} y \u{1f600}"),
            // No escapes.
            ("a: \\ud83d \\uf03d \\uD83d\\uDE00", "\\ud83d \\uf03d \\uD83d\\uDE00"),
            ("a: '\\ud83d''\\ude00'", "\\ud83d'\\ude00"),
            ("a: |\n  \"\\ud83d\\ude00\"\n  \\uf03d\\uDFFF\n", "\"\\ud83d\\ude00\"\n\\uf03d\\uDFFF\n"),
            ("a: >-\n  x\n  \\ud83d\n", "x \\ud83d"),
        ] {
            assert_eq!(text(yaml).as_deref(), Ok(expected), "{yaml}");
        }
    }

    #[test]
    fn a_half_of_a_pair_is_an_error_at_its_place() {
        for (yaml, place) in [
            ("a: \"\\ud83d\"", "1:5"),
            ("a: \"\\ude00\"", "1:5"),
            ("b: 1\na: \"x\\ud83dx\\ude00\"", "2:6"),
            ("a: \"\\ud83d\\ude00\\ud83d\\n\"", "1:17"),
            ("a: \"\\ude00\\ud83d\"", "1:5"),
            ("a: \"\\ud83d\\uf600\"", "1:5"),
            ("a: \"\\ud83d\u{f600}\"", "1:5"),
            ("a: \"\\ud83d\\ud83d\\ude00\"", "1:5"),
        ] {
            let error = text(yaml).unwrap_err();
            assert!(error.starts_with(&format!("a.yaml:{place}: ")) && error.contains("surrogate"), "{yaml}: {error}");
        }
    }
}
