//! Expressions in YAML files: their texts, and where each character is written.

use celero::diagnostics::Span;
use celero_policy::problems::FileSpan;
use celero_policy::yaml::SourceText;

/// An expression of a file.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    /// The text that is parsed.
    pub(crate) text: String,
    written: Written,
}

/// How the text is written in the file.
#[derive(Clone, Debug)]
enum Written {
    /// As it is, from this byte on.
    Plainly(u32),
    /// As YAML writes it.
    Yaml(SourceText),
}

impl Expression {
    /// The expression that a scalar holds. A block is taken as it stands in the file: line ends are
    /// line ends also where YAML folds them, so that strings over several lines and comments are the
    /// same in both kinds of block, as in cel-go.
    pub(crate) fn new(scalar: SourceText, file: &str) -> Self {
        if scalar.is_block()
            && let Some(block) = Self::of_block(&scalar, file)
        {
            return block;
        }
        Self { text: scalar.text.clone(), written: Written::Yaml(scalar) }
    }

    fn of_block(scalar: &SourceText, file: &str) -> Option<Self> {
        let text = scalar.text.trim_end();
        let last = text.chars().next_back()?;
        let start = scalar.offset_in_file(file, 0);
        let end = scalar.offset_in_file(file, text.len().saturating_sub(last.len_utf8()));
        let text = file.get(start..end.saturating_add(last.len_utf8()))?.to_owned();
        Some(Self { text, written: Written::Plainly(u32::try_from(start).ok()?) })
    }

    /// The place of the whole expression.
    pub(crate) fn place(&self, file: &str) -> Span {
        let start = self.text.len().saturating_sub(self.text.trim_start().len());
        let end = self.text.trim_end().len().max(start);
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.span(file, Span::new(offset(start), offset(end)))
    }

    /// The span in the file of a span of the text, at boundaries of characters.
    pub(crate) fn span(&self, file: &str, span: Span) -> Span {
        let text = match &self.written {
            Written::Plainly(start) => {
                return Span::new(span.start.saturating_add(*start), span.end.saturating_add(*start));
            }
            Written::Yaml(text) => text,
        };
        let offset = |at: u32| text.offset_in_file(file, at as usize);
        let start = offset(span.start);
        let inside = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let end = match inside.chars().next_back() {
            None => start,
            Some(last) => {
                let length = u32::try_from(last.len_utf8()).unwrap_or(1);
                let at = offset(span.end.saturating_sub(length));
                // An escape ends where the next character begins. Between other characters, line ends may be.
                let plain = file.get(at..).is_some_and(|rest| rest.starts_with(last));
                if plain { at.saturating_add(last.len_utf8()) } else { offset(span.end) }
            }
        };
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match file.get(start..end) {
            Some(_) => Span::new(place(start), place(end)),
            None => whole(text.place),
        }
    }
}

/// A place of a file as a span of its text.
pub(crate) fn whole(place: FileSpan) -> Span {
    Span::new(place.start, place.end.max(place.start))
}
