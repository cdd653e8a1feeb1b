//! Positions of the protocol, which count lines and UTF-16 code units, as byte offsets.

use lsp_types::{Position, Range};
use std::ops;

/// Bytes of a block.
const BLOCK: usize = 64;

/// The starts of the lines of a text. A line ends with `\n`, `\r\n` or `\r`, as the protocol says.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
    /// The number of UTF-16 code units before each block of the text, so that no question reads a
    /// long line from its start.
    units: Vec<usize>,
}

/// Returns the UTF-16 code units of the character that begins with a byte; none if no character does.
pub(crate) fn units_of(first: u8) -> usize {
    match first {
        0x80..0xc0 => 0,
        0xf0.. => 2,
        _ => 1,
    }
}

fn count_units(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| units_of(*byte)).fold(0, usize::saturating_add)
}

impl LineIndex {
    /// Finds the lines of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let mut bytes = text.bytes().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            let ends = byte == b'\n' || byte == b'\r' && bytes.peek().is_none_or(|(_, next)| *next != b'\n');
            if ends {
                starts.push(at.saturating_add(1));
            }
        }
        let mut before = 0_usize;
        let mut units = vec![before];
        for block in text.as_bytes().chunks(BLOCK) {
            before = before.saturating_add(count_units(block));
            units.push(before);
        }
        Self { starts, units }
    }

    /// Returns the number of UTF-16 code units of the characters that begin before a byte offset.
    fn units_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        let rest = text.as_bytes().get(block.saturating_mul(BLOCK)..offset).unwrap_or_default();
        self.units.get(block).copied().unwrap_or(0).saturating_add(count_units(rest))
    }

    /// Returns the byte offset of a position in the text. A position behind the end of a line is
    /// the end of the line, one within a character its start.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize) else { return text.len() };
        let next = self.starts.get((position.line as usize).saturating_add(1));
        let line = text.get(*start..next.copied().unwrap_or(text.len())).unwrap_or_default();
        let end = start.saturating_add(line.trim_end_matches(['\n', '\r']).len());
        let wanted = self.units_before(text, *start).saturating_add(position.character as usize);
        let block = self.units.partition_point(|units| *units <= wanted).saturating_sub(1);
        let from = block.saturating_mul(BLOCK).max(*start);
        let mut units = self.units_before(text, from);
        for (at, byte) in text.as_bytes().get(from..end).unwrap_or_default().iter().enumerate() {
            units = units.saturating_add(units_of(*byte));
            if units > wanted {
                return from.saturating_add(at);
            }
        }
        end
    }

    /// Returns the position of a byte offset in the text.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let units = self.units_before(text, offset).saturating_sub(self.units_before(text, start));
        Position::new(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(units).unwrap_or(u32::MAX))
    }

    /// Returns the range of the protocol for a range of bytes.
    pub(crate) fn range(&self, text: &str, range: ops::Range<usize>) -> Range {
        Range::new(self.position(text, range.start), self.position(text, range.end.max(range.start)))
    }

    /// Returns the byte offset of the start of a line; the length of the text behind the last one.
    pub(crate) fn line_start(&self, text: &str, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(text.len())
    }

    /// Returns the number of the line of a byte offset, counted from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units() {
        let text = "aé𝄞b\r\n\u{1f600}\rz\n";
        let index = LineIndex::new(text);
        for (at, line, character) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (10, 1, 0), (14, 1, 2), (15, 2, 0), (17, 3, 0)]
        {
            let position = Position::new(line, character);
            assert_eq!(index.position(text, at), position, "{at}");
            assert_eq!(index.offset(text, position), at, "{position:?}");
        }
    }

    /// Blocks end within lines and within characters.
    #[test]
    fn positions_in_long_lines() {
        for piece in ["a", "aé", "𝄞今a", "ab\n", "\u{1f600}x\r\n"] {
            let text = piece.repeat(100);
            let index = LineIndex::new(&text);
            let mut position = Position::new(0, 0);
            for (at, character) in text.char_indices() {
                assert_eq!(index.position(&text, at), position, "{piece:?} {at}");
                if !matches!(character, '\r' | '\n') {
                    assert_eq!(index.offset(&text, position), at, "{piece:?} {position:?}");
                }
                position.character += character.len_utf16() as u32;
                if character == '\n' {
                    position = Position::new(position.line + 1, 0);
                }
            }
        }
    }

    #[test]
    fn positions_outside_are_moved_inside() {
        let text = "a𝄞\nb";
        let index = LineIndex::new(text);
        assert_eq!(index.offset(text, Position::new(0, 2)), 1);
        assert_eq!(index.offset(text, Position::new(0, 99)), 5);
        assert_eq!(index.offset(text, Position::new(9, 9)), text.len());
        assert_eq!(index.position(text, 3), Position::new(0, 1));
        assert_eq!(index.position(text, 99), Position::new(1, 1));
    }
}
