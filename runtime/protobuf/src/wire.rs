//! The wire format: records of a message, read one after the other and written (protocol buffers'
//! "Encoding").
//!
//! Invariant: every record is inside the bytes it is read from, groups are at most [`MAX_DEPTH`]
//! deep, and a reader ends after an error. Test:
//! `runtime/protobuf/src/wire.rs::what_is_malformed_ends_with_an_error`.

use std::fmt;

/// Most levels of groups inside one another, and of messages that are read recursively: the limit
/// of other implementations.
pub const MAX_DEPTH: u32 = 100;

/// The largest number of a field.
pub const MAX_NUMBER: u32 = (1 << 29) - 1;

/// What is wrong with bytes that should be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// They end inside a record.
    Truncated,
    /// A varint is longer than ten bytes, or than 64 bits.
    Varint,
    /// The number of a field is 0 or above 536,870,911.
    Number,
    /// A record is of no known type.
    Type,
    /// A group ends that did not begin, or begins and does not end.
    Group,
    /// Groups or messages are more than 100 levels deep.
    Depth,
    /// A text is not UTF-8.
    Utf8,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the message ends inside a field",
            Self::Varint => "a number of variable length is too long",
            Self::Number => "a field has a number that no field can have",
            Self::Type => "a field has an unknown wire type",
            Self::Group => "a group has no end, or no beginning",
            Self::Depth => "groups are more than 100 levels deep",
            Self::Utf8 => "a text is not UTF-8",
        })
    }
}

impl std::error::Error for WireError {}

/// The value of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Integers, bools, enums.
    Varint(u64),
    /// Eight bytes, little-endian.
    Fixed64(u64),
    /// Four bytes, little-endian.
    Fixed32(u32),
    /// Texts, bytes, messages, packed numbers.
    Bytes(&'a [u8]),
    /// The records of a group, without its end.
    Group(&'a [u8]),
}

impl Payload<'_> {
    /// Whether this is what a field without presence has that is not set. A group is not.
    #[must_use]
    pub fn is_zero(self) -> bool {
        match self {
            Self::Varint(value) | Self::Fixed64(value) => value == 0,
            Self::Fixed32(value) => value == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Group(_) => false,
        }
    }
}

/// A record: the value of a field, or one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The number of the field.
    pub number: u32,
    /// Its value.
    pub payload: Payload<'a>,
}

/// The records that a message has of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Only<'a> {
    None,
    /// One, before the value of which these records start; its wire type.
    One(Records<'a>, u64),
    Several,
}

/// Reads the records of a message.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
}

impl<'a> Records<'a> {
    /// Starts at the first record.
    #[must_use]
    #[inline]
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64, WireError> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline(always)]
    fn tag(&mut self) -> Result<(u32, u64), WireError> {
        let tag = self.varint()?;
        match u32::try_from(tag >> 3) {
            Ok(number @ 1..=MAX_NUMBER) => Ok((number, tag & 7)),
            _ => Err(WireError::Number),
        }
    }

    #[inline(always)]
    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| WireError::Truncated)?)
    }

    #[inline(always)]
    pub(crate) fn payload(&mut self, number: u32, ty: u64) -> Result<Payload<'a>, WireError> {
        Ok(match ty {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => Payload::Bytes(self.bytes()?),
            3 => Payload::Group(self.group(number)?),
            4 => return Err(WireError::Group),
            5 => Payload::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(WireError::Type),
        })
    }

    /// Takes what [`payload`](Self::payload) does.
    #[inline(always)]
    fn skip_value(&mut self, number: u32, ty: u64) -> Result<(), WireError> {
        match ty {
            0 => self.varint().map(drop),
            1 => self.array::<8>().map(drop),
            2 => self.bytes().map(drop),
            5 => self.array::<4>().map(drop),
            _ => self.payload(number, ty).map(drop),
        }
    }

    /// Skips to the end, and returns what follows the tag of a field's only record, with its wire type. What is skipped
    /// is tested as if it was read.
    #[inline]
    pub(crate) fn only(mut self, number: u32) -> Result<Only<'a>, WireError> {
        let mut only = Only::None;
        while !self.rest.is_empty() {
            let (found, ty) = self.tag()?;
            if found == number {
                only = if matches!(only, Only::None) { Only::One(self, ty) } else { Only::Several };
            }
            self.skip_value(found, ty)?;
        }
        Ok(only)
    }

    /// Skips to the next record of a field, and returns its value. What is skipped is tested as if it was read.
    ///
    /// # Errors
    /// When the message is malformed up to there; without such a record, up to its end. Nothing can be read after it.
    #[inline]
    pub fn next_of(&mut self, number: u32) -> Result<Option<Payload<'a>>, WireError> {
        Ok(self.next_where(|found| found == number)?.map(|record| record.payload))
    }

    /// Skips to the next record of a field whose number is wanted, and returns it, as [`next_of`](Self::next_of) does.
    ///
    /// # Errors
    /// As `next_of`.
    #[inline]
    pub fn next_where(&mut self, is_wanted: impl Fn(u32) -> bool) -> Result<Option<Record<'a>>, WireError> {
        while !self.rest.is_empty() {
            let (number, ty) = self.tag()?;
            if is_wanted(number) {
                return Ok(Some(Record { number, payload: self.payload(number, ty)? }));
            }
            self.skip_value(number, ty)?;
        }
        Ok(None)
    }

    /// The records up to the end of the group that has just begun. Groups are rare.
    #[cold]
    fn group(&mut self, number: u32) -> Result<&'a [u8], WireError> {
        let start = self.rest;
        let mut open = vec![number];
        loop {
            let before = self.rest.len();
            let (number, ty) = self.tag()?;
            match ty {
                3 if open.len() >= MAX_DEPTH as usize => return Err(WireError::Depth),
                3 => open.push(number),
                4 => {
                    if open.pop() != Some(number) {
                        return Err(WireError::Group);
                    }
                    if open.is_empty() {
                        let inside = start.len().saturating_sub(before);
                        return start.get(..inside).ok_or(WireError::Group);
                    }
                }
                _ => self.skip_value(number, ty)?,
            }
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.tag().and_then(|(number, ty)| Ok(Record { number, payload: self.payload(number, ty)? }));
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

/// Reads a varint; also returns what follows it.
///
/// # Errors
/// `Truncated`, `Varint`.
#[inline(always)]
pub(crate) fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireError> {
    match bytes {
        [first, rest @ ..] if *first < 0x80 => Ok(((*first).into(), rest)),
        [first, second, rest @ ..] if *second < 0x80 => Ok((u64::from(first & 0x7f) | u64::from(*second) << 7, rest)),
        _ => long_varint(bytes),
    }
}

#[inline(never)]
fn long_varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireError> {
    let mut value = 0u64;
    let mut rest = bytes;
    for shift in (0..70).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(WireError::Truncated)?;
        rest = after;
        // The tenth byte has one bit of the number.
        if shift == 63 && byte > 1 {
            return Err(WireError::Varint);
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((value, rest));
        }
    }
    Err(WireError::Varint)
}

/// Appends bytes to a message that is written. The caller owns the buffer, so that it may be memory
/// of any kind.
pub trait Sink {
    /// Why nothing more can be appended.
    type Error;

    /// Appends bytes.
    ///
    /// # Errors
    /// When the buffer is full.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Appends a varint.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    fn varint(&mut self, mut value: u64) -> Result<(), Self::Error> {
        let mut bytes = [0u8; 10];
        let mut length = 0usize;
        for byte in &mut bytes {
            length = length.saturating_add(1);
            *byte = u8::try_from(value & 0x7f).unwrap_or(0);
            value >>= 7;
            if value == 0 {
                break;
            }
            *byte |= 0x80;
        }
        self.append(bytes.get(..length).unwrap_or(&bytes))
    }

    /// Appends a record.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    fn record(&mut self, number: u32, payload: Payload<'_>) -> Result<(), Self::Error> {
        let tag = u64::from(number) << 3;
        match payload {
            Payload::Varint(value) => {
                self.varint(tag)?;
                self.varint(value)
            }
            Payload::Fixed64(value) => {
                self.varint(tag | 1)?;
                self.append(&value.to_le_bytes())
            }
            Payload::Fixed32(value) => {
                self.varint(tag | 5)?;
                self.append(&value.to_le_bytes())
            }
            Payload::Bytes(bytes) => {
                self.varint(tag | 2)?;
                self.varint(bytes.len() as u64)?;
                self.append(bytes)
            }
            Payload::Group(records) => {
                self.varint(tag | 3)?;
                self.append(records)?;
                self.varint(tag | 4)
            }
        }
    }
}

impl Sink for Vec<u8> {
    type Error = std::convert::Infallible;

    fn append(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(records: &[(u32, Payload<'_>)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, payload) in records {
            let Ok(()) = out.record(*number, *payload);
        }
        out
    }

    #[test]
    fn what_is_written_is_read() {
        let mut inner = written(&[(3, Payload::Group(&[])), (1, Payload::Varint(u64::MAX))]);
        inner.extend(written(&[(MAX_NUMBER, Payload::Fixed32(7))]));
        let all = [
            (1, Payload::Varint(0)),
            (15, Payload::Varint(127)),
            (16, Payload::Varint(128)),
            (2, Payload::Varint(u64::MAX)),
            (3, Payload::Fixed64(1 << 40)),
            (4, Payload::Fixed32(u32::MAX)),
            (5, Payload::Bytes(b"text")),
            (MAX_NUMBER, Payload::Bytes(&[])),
            (7, Payload::Group(&inner)),
        ];
        let bytes = written(&all);
        let read: Result<Vec<_>, _> = Records::new(&bytes).map(|r| r.map(|r| (r.number, r.payload))).collect();
        assert_eq!(read.unwrap(), all);
        // Every other length ends with an error or between two records.
        let mut ends = 0;
        for end in 0..bytes.len() {
            match Records::new(&bytes[..end]).last() {
                None | Some(Ok(_)) => ends += 1,
                Some(Err(error)) => assert_eq!(error, WireError::Truncated, "{end}"),
            }
        }
        assert_eq!(ends, all.len());
    }

    #[test]
    fn what_is_malformed_ends_with_an_error() {
        let deep = |levels: usize| [vec![0x0b; levels], vec![0x0c; levels]].concat();
        assert!(Records::new(&deep(100)).all(|record| record.is_ok()));
        let cases: [(&[u8], WireError); 12] = [
            (&[0x08], WireError::Truncated),
            (&[0x08, 0x80], WireError::Truncated),
            (&[0x0a, 2, 1], WireError::Truncated),
            (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], WireError::Truncated),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], WireError::Varint),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0], WireError::Varint),
            (&[0x00, 1], WireError::Number),
            (&[0x80, 0x80, 0x80, 0x80, 0x10, 1], WireError::Number),
            (&[0x0e, 1], WireError::Type),
            (&[0x0c], WireError::Group),
            (&[0x0b, 0x14], WireError::Group),
            (&deep(101), WireError::Depth),
        ];
        for (bytes, error) in cases {
            let read: Vec<_> = Records::new(bytes).collect();
            assert_eq!(read, [Err(error)], "{bytes:?}");
        }
    }
}
