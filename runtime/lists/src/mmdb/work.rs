//! [`Work`]: how much of a MaxMind database may be walked through to find fields. Records share
//! what they point to, so a hostile file can make each of its millions of records lead through the
//! same large map.

use maxminddb::{PathElement, Reader};

/// How many values may be passed for each byte of a database and field: records that share maps of
/// some dozen members stay below.
const STEPS: u64 = 16;
/// How many values may be passed in any case.
const LEAST: u64 = 1 << 20;

const POINTER: u8 = 1;
const MAP: u8 = 7;
const ARRAY: u8 = 11;
const BOOL: u8 = 14;

/// Counts the values that are passed on the way to fields, in the whole database.
pub(crate) struct Work<'d> {
    /// The records.
    data: &'d [u8],
    left: u64,
}

/// The first bytes of a value.
struct Header {
    kind: u8,
    /// The bytes of a text or number, the members of a map, the elements of an array; of a pointer, where it leads.
    size: usize,
    /// What follows the header.
    next: usize,
}

impl<'d> Work<'d> {
    pub(crate) fn new(reader: &Reader<&[u8]>, bytes: &'d [u8], fields: usize) -> Self {
        let metadata = reader.metadata();
        let tree = u64::from(metadata.node_count).saturating_mul(u64::from(metadata.record_size / 4));
        let start = usize::try_from(tree).unwrap_or(usize::MAX).saturating_add(16);
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let fields = u64::try_from(fields).unwrap_or(u64::MAX);
        let left = size.saturating_mul(STEPS).saturating_mul(fields).max(LEAST);
        Self { data: bytes.get(start..).unwrap_or_default(), left }
    }

    /// Counts the way from a record to the value at a path. What is damaged is left to the reader.
    ///
    /// # Errors
    /// It is too much for a database of this size.
    pub(crate) fn charge(&mut self, record: usize, path: &[PathElement<'_>]) -> Result<(), String> {
        let _ = self.walk(record, path);
        if self.left > 0 {
            return Ok(());
        }
        Err("the records lead through more values than a database of this size can have".to_owned())
    }

    fn walk(&mut self, mut at: usize, path: &[PathElement<'_>]) -> Option<()> {
        for element in path {
            let container = self.target(at)?;
            at = container.next;
            match element {
                PathElement::Key(key) if container.kind == MAP => {
                    let mut members = 0..container.size;
                    loop {
                        members.next()?;
                        let (name, value) = self.name(at)?;
                        at = value;
                        if name == key.as_bytes() {
                            break;
                        }
                        at = self.skip(at)?;
                    }
                }
                PathElement::Index(number) if container.kind == ARRAY && *number < container.size => {
                    for _ in 0..*number {
                        at = self.skip(at)?;
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// The header of a value, or of that to which it points.
    fn target(&mut self, at: usize) -> Option<Header> {
        let header = self.header(at)?;
        if header.kind == POINTER { self.header(header.size) } else { Some(header) }
    }

    /// The name of a member of a map, and where its value is.
    fn name(&mut self, at: usize) -> Option<(&'d [u8], usize)> {
        let header = self.header(at)?;
        let (text, value) = if header.kind == POINTER {
            (self.header(header.size)?, header.next)
        } else {
            let value = header.next.checked_add(header.size)?;
            (header, value)
        };
        let end = text.next.checked_add(text.size)?;
        Some((self.data.get(text.next..end)?, value))
    }

    /// The end of a value. Pointers in it are not followed.
    fn skip(&mut self, mut at: usize) -> Option<usize> {
        let mut open = 1_usize;
        while let Some(rest) = open.checked_sub(1) {
            let header = self.header(at)?;
            at = header.next;
            open = match header.kind {
                MAP => rest.saturating_add(header.size.saturating_mul(2)),
                ARRAY => rest.saturating_add(header.size),
                POINTER | BOOL => rest,
                _ => {
                    at = at.checked_add(header.size)?;
                    rest
                }
            };
        }
        Some(at)
    }

    /// Reads a header ([format](https://maxmind.github.io/MaxMind-DB/#data-field-format)), and counts it.
    fn header(&mut self, at: usize) -> Option<Header> {
        self.left = self.left.checked_sub(1)?;
        let first = *self.data.get(at)?;
        let next = at.checked_add(1)?;
        if first >> 5 == POINTER {
            let (high, length, base) = match first >> 3 & 3 {
                0 => (first & 7, 1, 0),
                1 => (first & 7, 2, 2_048),
                2 => (first & 7, 3, 526_336),
                _ => (0, 4, 0),
            };
            let (to, next) = self.number(high, next, length)?;
            return Some(Header { kind: POINTER, size: to.checked_add(base)?, next });
        }
        let (kind, next) = match first >> 5 {
            0 => (self.data.get(next)?.checked_add(7)?, next.checked_add(1)?),
            kind => (kind, next),
        };
        let (base, length) = match first & 31 {
            29 => (29, 1),
            30 => (285, 2),
            31 => (65_821, 3),
            size => return Some(Header { kind, size: size.into(), next }),
        };
        let (more, next) = self.number(0, next, length)?;
        Some(Header { kind, size: more.checked_add(base)?, next })
    }

    /// Reads a number whose first bits are known, and returns what follows it.
    fn number(&self, high: u8, at: usize, length: usize) -> Option<(usize, usize)> {
        let end = at.checked_add(length)?;
        let bytes = self.data.get(at..end)?;
        Some((bytes.iter().fold(usize::from(high), |number, byte| number << 8 | usize::from(*byte)), end))
    }
}
