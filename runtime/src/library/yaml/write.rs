//! Writes values as YAML, in the form that go-yaml gives them: blocks, indented by four columns in maps and by two in
//! lists. Texts with line breaks are quoted, so that every text is on one line.

use super::scalar::{Resolved, resolve};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::library::standard::conversions::{string_from_double, string_from_int, string_from_uint};
use crate::value::{List, MAX_DEPTH, Map, Value, nested};
use celero_ir::ErrorKind::InvalidArgument;

/// Columns of a level of maps.
const INDENT: usize = 4;

/// Longest key before a `:` that no `?` announces, in bytes.
const MAX_SIMPLE_KEY: usize = 128;

/// Returns a value of JSON as a document.
///
/// # Errors
/// `invalid_argument` for a value that JSON has not; `out_of_budget`.
pub(super) fn write<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
    let mut writer = Writer { cx, out: cx.arena().vec() };
    writer.node(value, 0, MAX_DEPTH)?;
    std::str::from_utf8(writer.out.finish()).map_err(|_| InvalidArgument)
}

struct Writer<'c, 'a> {
    cx: &'c Cx<'a>,
    out: ArenaVec<'a, u8>,
}

impl<'a> Writer<'_, 'a> {
    /// Writes a node at this column, where the line is already, and the end of its last line.
    fn node(&mut self, value: &Value<'a>, column: usize, depth: u32) -> EvalResult<()> {
        self.cx.charge(1)?;
        match value {
            Value::List(list) if !list.is_empty() => nested(depth, |depth| self.list(list, column, depth)),
            Value::Map(map) if !map.is_empty() => nested(depth, |depth| self.map(map, column, depth)),
            value => {
                self.scalar(value)?;
                self.plain("\n")
            }
        }
    }

    fn list(&mut self, list: &List<'a>, column: usize, depth: u32) -> EvalResult<()> {
        for index in 0..list.len() {
            if index > 0 {
                self.blanks(column)?;
            }
            self.plain("- ")?;
            let element = list.get(index, self.cx.arena())?.unwrap_or(Value::Null);
            self.node(&element, column.saturating_add(2), depth)?;
        }
        Ok(())
    }

    fn map(&mut self, map: &Map<'a>, column: usize, depth: u32) -> EvalResult<()> {
        // The next multiple.
        let below = (column / INDENT).saturating_add(1).saturating_mul(INDENT);
        for (at, (key, value)) in map.all(self.cx)?.iter().enumerate() {
            if at > 0 {
                self.blanks(column)?;
            }
            let Value::String(key) = *key else { return Err(InvalidArgument) };
            let is_simple = key.len() <= MAX_SIMPLE_KEY;
            if !is_simple {
                self.plain("? ")?;
            }
            self.text(key)?;
            if !is_simple {
                self.plain("\n")?;
                self.blanks(column)?;
            }
            self.plain(":")?;
            let is_block = match value {
                Value::List(list) => !list.is_empty(),
                Value::Map(map) => !map.is_empty(),
                _ => false,
            };
            match (is_block, is_simple) {
                (false, _) => self.plain(" ")?,
                (true, true) => {
                    self.plain("\n")?;
                    self.blanks(below)?;
                }
                (true, false) => self.blanks(below.saturating_sub(column).saturating_sub(1))?,
            }
            self.node(value, below, depth)?;
        }
        Ok(())
    }

    fn blanks(&mut self, count: usize) -> EvalResult<()> {
        self.cx.charge_each_byte(count)?;
        (0..count).try_for_each(|_| self.out.push(b' '))
    }

    fn plain(&mut self, text: &str) -> EvalResult<()> {
        self.out.extend(text.as_bytes())
    }

    fn scalar(&mut self, value: &Value<'a>) -> EvalResult<()> {
        match value {
            Value::Null => self.plain("null"),
            Value::Bool(value) => self.plain(if *value { "true" } else { "false" }),
            Value::Int(value) => self.plain(string_from_int(self.cx, *value)?),
            Value::Uint(value) => self.plain(string_from_uint(self.cx, *value)?),
            Value::Double(value) => self.plain(string_from_double(self.cx, *value)?),
            Value::String(text) => self.text(text),
            Value::List(_) => self.plain("[]"),
            Value::Map(_) => self.plain("{}"),
            _ => Err(InvalidArgument),
        }
    }

    fn text(&mut self, text: &str) -> EvalResult<()> {
        // It is looked through a few times.
        self.cx.charge_each_byte(text.len().saturating_mul(4))?;
        if text.chars().any(|c| !is_printable(c)) || seems_other(text) {
            return self.double_quoted(text);
        }
        if is_plain(text) {
            return self.plain(text);
        }
        self.plain("'")?;
        for (at, part) in text.split('\'').enumerate() {
            if at > 0 {
                self.plain("''")?;
            }
            self.plain(part)?;
        }
        self.plain("'")
    }

    fn double_quoted(&mut self, text: &str) -> EvalResult<()> {
        self.plain("\"")?;
        let mut buffer = [0; 4];
        for c in text.chars() {
            let escape = match c {
                '\0' => "\\0",
                '\x07' => "\\a",
                '\x08' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\x0b' => "\\v",
                '\x0c' => "\\f",
                '\r' => "\\r",
                '\x1b' => "\\e",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\u{85}' => "\\N",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                c if is_printable(c) => c.encode_utf8(&mut buffer),
                c => {
                    let arena = self.cx.arena();
                    match u32::from(c) {
                        code @ ..=0xff => arena.format(format_args!("\\x{code:02X}"))?,
                        code @ ..=0xffff => arena.format(format_args!("\\u{code:04X}"))?,
                        code => arena.format(format_args!("\\U{code:08X}"))?,
                    }
                }
            };
            self.plain(escape)?;
        }
        self.plain("\"")
    }
}

/// Whether a character stands for itself in a text that is not in double quotes.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{ffff}') && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..)
}

/// Whether a text without quotes would be another value, for a reader of YAML 1.2 or 1.1.
fn seems_other(text: &str) -> bool {
    let of_old_readers = matches!(
        text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF"
    );
    of_old_readers || text == "<<" || is_base_60(text) || resolve(text) != Resolved::Text
}

/// Whether a text is a number of YAML 1.1 to the base 60: `190:20:30`.
fn is_base_60(text: &str) -> bool {
    let mut parts = text.strip_prefix(['+', '-']).unwrap_or(text).split(':');
    let first = parts.next().unwrap_or_default();
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_below_60 = |text: &str| matches!(text.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    let (mut count, mut rest) = (0_usize, parts.peekable());
    while let Some(part) = rest.next() {
        count = count.saturating_add(1);
        let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
        if !is_below_60(whole) || (part.contains('.') && rest.peek().is_some()) || !is_number(fraction) {
            return false;
        }
    }
    count > 0 && first.starts_with(|c: char| c.is_ascii_digit()) && is_number(first)
}

/// Whether a text of printable characters needs no quotes.
fn is_plain(text: &str) -> bool {
    let ends_word = |next: Option<&char>| next.is_none_or(|c| *c == ' ');
    let mut chars = text.chars().peekable();
    let first_stands = match chars.next() {
        None | Some('#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`') => {
            false
        }
        Some('?' | ':' | '-') => !ends_word(chars.peek()),
        Some(' ') => false,
        Some(_) => true,
    };
    if !first_stands || text.ends_with(' ') || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if (c == ':' && ends_word(chars.peek())) || (c == '#' && before == ' ') {
            return false;
        }
        before = c;
    }
    true
}
