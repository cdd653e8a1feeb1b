//! Writes diagnostics for people: message, place, the source line with carets under it, labels, help.
//!
//! The text is safe to print: control characters, and characters that change the direction of text,
//! are shown as `U+FFFD`. Lines are at most about [`WINDOW`] columns wide.

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::Span;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Most columns shown of a source line.
const WINDOW: usize = 100;
/// Columns shown before the marked text if the line is cut on the left.
const CONTEXT: usize = 40;
/// Width of a tab, in columns.
const TAB: usize = 4;

/// Whether [`render`] highlights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No highlighting.
    #[default]
    Plain,
    /// ANSI escape sequences, for terminals.
    Ansi,
}

impl Style {
    fn paint(self, colour: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\x1b[{colour}m{text}\x1b[0m"),
        }
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const BLUE: &str = "1;34";
const BOLD: &str = "1";

/// Returns the text of diagnostics about `source`, with an empty line between them. `origin` names
/// the source (a file, a rule).
#[must_use]
pub fn render(source: &str, origin: &str, diagnostics: &[Diagnostic], style: Style) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        one(&mut text, source, origin, diagnostic, style);
    }
    text
}

impl fmt::Display for Diagnostic {
    /// Writes one line without the source: severity, code, message, place in bytes, help. As safe to
    /// print as what [`render`] returns, which shows the line of the source too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, Span { start, end }) = (word(self.severity), self.span);
        write!(f, "{word}[{}]: {} (at {start}..{end})", self.code, visible(&self.message))?;
        self.help.iter().try_for_each(|help| write!(f, "; help: {}", visible(help)))
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Text to mark: that of the diagnostic (`primary`) or of a label.
struct Mark<'a> {
    line: Line<'a>,
    span: Span,
    text: &'a str,
    primary: bool,
}

fn one(out: &mut String, source: &str, origin: &str, diagnostic: &Diagnostic, style: Style) {
    let colour = match diagnostic.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    let first = Mark { line: Line::of(source, diagnostic.span.start), span: diagnostic.span, text: "", primary: true };
    let (line, column) = (first.line.number, first.line.column(diagnostic.span.start));
    let mut marks = vec![first];
    marks.extend(diagnostic.labels.iter().map(|label| Mark {
        line: Line::of(source, label.span.start),
        span: label.span,
        text: &label.text,
        primary: false,
    }));
    // Lines are shown in source order. Marks on one line: the diagnostic's own first, then the labels.
    marks.sort_by_key(|mark| mark.line.number);

    let digits = marks.last().map_or(1, |mark| mark.line.number.to_string().len());
    let bar = style.paint(BLUE, "|");
    let head = style.paint(colour, &format!("{}[{}]", word(diagnostic.severity), diagnostic.code));
    let _ = writeln!(out, "{head}: {}", style.paint(BOLD, &visible(&diagnostic.message)));
    let _ = writeln!(out, "{:digits$}{} {}:{line}:{column}", "", style.paint(BLUE, "-->"), visible(origin));
    let _ = writeln!(out, "{:digits$} {bar}", "");
    let mut shown = 0;
    let mut cut = Cut::default();
    for mark in &marks {
        if mark.line.number != shown {
            shown = mark.line.number;
            let row: Vec<&Mark<'_>> = marks.iter().filter(|m| m.line.number == shown).collect();
            cut = Cut::around(&row);
            let number = style.paint(BLUE, &format!("{shown:>digits$}"));
            let _ = writeln!(out, "{number} {bar} {}", cut.show(&mark.line));
        }
        let (from, to) = cut.columns(mark);
        let carets = if mark.primary { "^" } else { "-" }.repeat(to.saturating_sub(from).max(1));
        let carets = style.paint(if mark.primary { colour } else { BLUE }, &carets);
        let space = if mark.text.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{:digits$} {bar} {:from$}{carets}{space}{}", "", "", visible(mark.text));
    }
    for help in &diagnostic.help {
        let (sign, word, help) = (style.paint(BLUE, "="), style.paint(BOLD, "help:"), visible(help));
        let _ = writeln!(out, "{:digits$} {sign} {word} {help}", "");
    }
}

/// A line of the source.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// Counted from 1.
    number: usize,
    /// Offset of its first byte.
    start: usize,
    /// Without the line end.
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(source: &'a str, offset: u32) -> Self {
        let offset = floor(source, offset as usize);
        let before = source.get(..offset).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
        let rest = source.get(start..).unwrap_or("");
        let text = rest.split('\n').next().unwrap_or("");
        let number = before.matches('\n').count().saturating_add(1);
        Self { number, start, text: text.strip_suffix('\r').unwrap_or(text) }
    }

    /// Returns the text of the line before an offset of the source.
    fn until(&self, offset: u32) -> &'a str {
        let local = floor(self.text, (offset as usize).saturating_sub(self.start));
        self.text.get(..local).unwrap_or("")
    }

    /// Returns the column of an offset, in characters, from 1.
    fn column(&self, offset: u32) -> usize {
        self.until(offset).chars().count().saturating_add(1)
    }
}

/// The columns of a line that are shown.
#[derive(Default)]
struct Cut {
    from: usize,
    to: usize,
}

/// Shown in place of the part of a line that is cut off.
const ELLIPSIS: &str = "...";

impl Cut {
    /// Returns the columns to show: all of a short line, else those around the primary mark, or around the first one.
    fn around(row: &[&Mark<'_>]) -> Self {
        let Some(mark) = row.iter().find(|m| m.primary).or_else(|| row.first()) else { return Self::default() };
        let whole = width(mark.line.text);
        if whole <= WINDOW {
            return Self { from: 0, to: whole };
        }
        let place = width(mark.line.until(mark.span.start));
        let from = place.saturating_sub(CONTEXT).min(whole.saturating_sub(WINDOW));
        Self { from, to: from.saturating_add(WINDOW) }
    }

    fn show(&self, line: &Line<'_>) -> String {
        let mut text = String::new();
        if self.from > 0 {
            text.push_str(ELLIPSIS);
        }
        let mut column = 0usize;
        for c in line.text.chars() {
            let wide = columns(c);
            if column >= self.to {
                text.push_str(ELLIPSIS);
                break;
            }
            let next = column.saturating_add(wide);
            if column < self.from {
                // The first shown column is the second half of a wide character: show a blank.
                text.extend(std::iter::repeat_n(' ', next.saturating_sub(self.from)));
            } else if c == '\t' {
                text.extend(std::iter::repeat_n(' ', wide));
            } else {
                text.push(shown(c));
            }
            column = next;
        }
        text
    }

    /// Returns the first column of a mark, and the column after it, in the text that [`Cut::show`] returns.
    fn columns(&self, mark: &Mark<'_>) -> (usize, usize) {
        let shift = if self.from > 0 { ELLIPSIS.len() } else { 0 };
        let place = |offset| {
            let column = width(mark.line.until(offset)).clamp(self.from, self.to.max(self.from));
            column.saturating_sub(self.from).saturating_add(shift)
        };
        (place(mark.span.start), place(mark.span.end))
    }
}

fn width(text: &str) -> usize {
    text.chars().map(columns).fold(0, usize::saturating_add)
}

/// Returns the approximate width of a character in a terminal, in columns.
fn columns(c: char) -> usize {
    match c {
        '\t' => TAB,
        '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Returns a text of one line as it is shown: what it quotes may have line ends.
fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_hidden) { text.chars().map(shown).collect() } else { text.into() }
}

fn shown(c: char) -> char {
    if is_hidden(c) { '\u{fffd}' } else { c }
}

/// Returns whether printing a character can have another effect than showing it.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the last character boundary at or before `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    at
}
