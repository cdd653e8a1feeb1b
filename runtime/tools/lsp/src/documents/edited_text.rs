//! [`EditedText`]: a text to which several changes are applied in a row.

use crate::documents::line_index::{LineIndex, units_of};
use lsp_types::{Position, Range};

/// A text that is changed at a place. The next change costs its distance from this one, not the
/// length of the text: changes in the order of the text, or in the opposite one, together take time
/// linear in the text and in what they insert.
#[derive(Debug)]
pub(crate) struct EditedText {
    /// What is before the place. It does not end with a `\r` whose `\n` is after the place.
    before: Vec<u8>,
    /// What is after it, the last byte first.
    after: Vec<u8>,
    /// The place: its line, and the UTF-16 code units before it in the line.
    line: usize,
    units: usize,
}

impl EditedText {
    /// The text at a position. `lines` are its lines.
    pub(crate) fn at(text: &str, lines: &LineIndex, position: Position) -> Self {
        let offset = lines.offset(text, position);
        let (before, after) = text.as_bytes().split_at_checked(offset).unwrap_or((text.as_bytes(), &[]));
        let Position { line, character } = lines.position(text, offset);
        Self {
            before: before.to_vec(),
            after: after.iter().rev().copied().collect(),
            line: line as usize,
            units: character as usize,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.before.len().saturating_add(self.after.len())
    }

    /// Replaces what is between two positions, as [`LineIndex::offset`] understands them. If the
    /// range ends before it begins, the text is inserted where it begins.
    pub(crate) fn replace(&mut self, range: Range, text: &str) {
        self.move_to(range.start);
        // The place stays where the range begins, and so does its position; what is removed is
        // counted as if it were passed.
        let (before, line, units) = (self.before.len(), self.line, self.units);
        while self.is_before(range.end) {
            self.forward();
        }
        self.before.truncate(before);
        (self.line, self.units) = (line, units);
        self.after.extend(text.bytes().rev());
        if self.before.last() == Some(&b'\r') && self.after.last() == Some(&b'\n') {
            // The `\r` ended a line, and is now a part of the line's end.
            self.back();
        }
    }

    pub(crate) fn into_text(mut self) -> String {
        self.after.reverse();
        self.before.append(&mut self.after);
        // Changes are at characters.
        String::from_utf8(self.before).unwrap_or_default()
    }

    fn move_to(&mut self, position: Position) {
        while (self.line, self.units) > (position.line as usize, position.character as usize) && !self.before.is_empty()
        {
            self.back();
        }
        while self.is_before(position) {
            self.forward();
        }
    }

    /// Whether the next character is before a position: one behind the end of a line is that end,
    /// and one within a character its start.
    fn is_before(&self, position: Position) -> bool {
        let (Some(&next), line) = (self.after.last(), position.line as usize) else { return false };
        let ends = matches!(next, b'\n' | b'\r');
        let after = self.units.saturating_add(units_of(next));
        self.line < line || self.line == line && !ends && after <= position.character as usize
    }

    /// Moves the place over the next character, or the whole end of a line.
    fn forward(&mut self) {
        let Some(first) = self.after.pop() else { return };
        self.before.push(first);
        self.units = self.units.saturating_add(units_of(first));
        while let Some(byte) = self.after.pop_if(|byte| is_within(*byte) || first == b'\r' && *byte == b'\n') {
            self.before.push(byte);
            if byte == b'\n' {
                break;
            }
        }
        if matches!(first, b'\n' | b'\r') {
            (self.line, self.units) = (self.line.saturating_add(1), 0);
        }
    }

    /// Moves the place back over a character, or the whole end of a line.
    fn back(&mut self) {
        let Some(last) = self.before.pop() else { return };
        self.after.push(last);
        if matches!(last, b'\n' | b'\r') {
            if last == b'\n' {
                self.after.extend(self.before.pop_if(|byte| *byte == b'\r'));
            }
            self.line = self.line.saturating_sub(1);
            let line = self.before.iter().rev().take_while(|byte| !matches!(byte, b'\n' | b'\r'));
            self.units = line.map(|byte| units_of(*byte)).fold(0, usize::saturating_add);
            return;
        }
        let mut first = last;
        while is_within(first)
            && let Some(byte) = self.before.pop()
        {
            self.after.push(byte);
            first = byte;
        }
        self.units = self.units.saturating_sub(units_of(first));
    }
}

/// Whether a byte is one of a character, but not the first.
fn is_within(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random changes against the index of lines, which is made again for each.
    #[test]
    fn changes_in_a_row_are_those_one_by_one() {
        let mut state = 1_u64;
        let mut random = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let pieces = ["a", "é", "\u{1f600}", "\n", "\r", "\r\n", "bcd", ""];
        let mut removed = 0;
        for _ in 0..2_000 {
            let mut text = |most: usize| (0..random(most)).map(|_| pieces[random(pieces.len())]).collect::<String>();
            let first = text(30);
            let inserted: Vec<String> = (0..6).map(|_| text(4)).collect();
            let (mut expected, mut edited) = (first.clone(), None);
            for text in &inserted {
                let mut position = || Position::new(random(8) as u32, random(8) as u32);
                let (start, end) = (position(), position());
                let edited = edited.get_or_insert_with(|| EditedText::at(&first, &LineIndex::new(&first), start));
                edited.replace(Range::new(start, end), text);
                let lines = LineIndex::new(&expected);
                let from = lines.offset(&expected, start);
                let to = lines.offset(&expected, end).max(from);
                removed += to - from;
                expected.replace_range(from..to, text);
            }
            assert_eq!(edited.map(EditedText::into_text), Some(expected), "{first:?} {inserted:?}");
        }
        assert!(removed > 10_000, "{removed}");
    }
}
