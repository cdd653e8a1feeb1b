//! Integers: `10`, `-10`, `0x1f`, and `017`, which is octal.

use super::scanner::{Read, Scanner, fault, fault_with_help, span};
use crate::filter::codes;

impl Scanner<'_> {
    /// Reads an integer: `0x` and hexadecimal digits, `0` and octal digits, or decimal digits after an optional `-`.
    ///
    /// All hexadecimal digits are taken before they are checked, as Wirefilter does: `10fe` is one
    /// wrong number, not `10`.
    pub(crate) fn integer(&mut self) -> Read<i64> {
        let start = self.at();
        let radix = if self.eat("0x") {
            16
        } else if self.peek() == Some(b'0') {
            8
        } else {
            self.eat("-");
            10
        };
        let digits_start = self.at();
        if self.take_while(|c| c.is_ascii_hexdigit()).is_empty() {
            return self.expected_without_quotes(codes::NUMBER, "digit", "a number");
        }
        let number_start = if radix == 10 { start } else { digits_start };
        let written = self.text().get(number_start..self.at()).unwrap_or("");
        let place = span(number_start, self.at());
        let value = i64::from_str_radix(written, radix).map_err(|error| {
            let message = format!("{error} while parsing with radix {radix}");
            if radix == 8 && written.bytes().all(|b| b.is_ascii_digit()) {
                let decimal = written.trim_start_matches('0');
                let decimal = if decimal.is_empty() { "0" } else { decimal };
                fault_with_help(codes::NUMBER, place, message, format!("a leading 0 means octal; write `{decimal}`"))
            } else {
                fault(codes::NUMBER, place, message)
            }
        })?;
        if radix == 8 && written.len() > 1 {
            let help = "write the number without the leading 0 if it is decimal";
            self.warn_if_strict(codes::OCTAL, place, format!("`{written}` is octal: {value}"), help);
        }
        Ok(value)
    }

    /// Reads an integer or a range `first..last`.
    pub(crate) fn integer_range(&mut self) -> Read<(i64, i64)> {
        let start = self.at();
        let first = self.integer()?;
        let last = if self.eat("..") { self.integer()? } else { first };
        if last < first {
            let help = format!("the first bound is greater than the last: write `{last}..{first}`");
            return Err(fault_with_help(codes::RANGE, self.span_from(start), "incompatible range bounds", help));
        }
        Ok((first, last))
    }

    /// Reads an item of a set of integers, and warns if it and the next one look like a range: `500-599`.
    pub(crate) fn integer_item(&mut self) -> Read<(i64, i64)> {
        let start = self.at();
        let (first, last) = self.integer_range()?;
        let end = self.at();
        if first == last && first >= 0 && self.starts_with("-") {
            let next = self.integer().ok().and_then(i64::checked_neg);
            if let Some(next) = next.filter(|next| *next >= first && !self.starts_with("..")) {
                let place = self.span_from(start);
                let written = self.text().get(start..self.at()).unwrap_or_default();
                let message = format!("`{written}` is read as `{first}` and `-{next}`");
                self.warn(codes::HYPHEN, place, message, format!("a range is `{first}..{next}`"));
            }
            self.go_to(end);
        }
        Ok((first, last))
    }
}
