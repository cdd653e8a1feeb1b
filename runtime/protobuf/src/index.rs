//! Where the fields of a message are, found in one pass over its bytes.

use crate::descriptors::{Descriptors, Field, MessageType};
use crate::fields::Found;
use crate::wire::{Records, WireError};

/// Fields of a type that an index knows the places of, the first ones by number.
const FIELDS: usize = 32;

/// The place of a field with several records, of a repeated one, and of one far behind the start: it is looked for.
const SEVERAL: u32 = u32::MAX;

/// Where the fields of a message are: for messages that many fields are read of, each of which would
/// be looked for in all bytes.
#[derive(Clone, Copy, Debug)]
pub struct FieldIndex {
    /// By position of the field in its type: 0 without a record, else one more than where it starts.
    places: [u32; FIELDS],
}

impl FieldIndex {
    /// Reads a message once.
    ///
    /// # Errors
    /// When the message is malformed.
    pub fn new(ty: &MessageType, message: &[u8]) -> Result<Self, WireError> {
        let mut places = [0; FIELDS];
        let mut records = Records::new(message);
        loop {
            let start = message.len().saturating_sub(records.rest().len());
            let Some(record) = records.next() else { return Ok(Self { places }) };
            let Some(position) = ty.position(record?.number) else { continue };
            if let (Some(place), Some(field)) = (places.get_mut(position), ty.fields().get(position)) {
                let is_first = *place == 0 && field.is_singular();
                let next = u32::try_from(start).ok().and_then(|start| start.checked_add(1));
                *place = next.filter(|_| is_first).unwrap_or(SEVERAL);
            }
        }
    }
}

impl Descriptors {
    /// As [`find`](Self::find), with the index of the message.
    ///
    /// # Errors
    /// As `find`.
    pub fn find_by<'a>(
        &self,
        index: &FieldIndex,
        ty: &MessageType,
        field: &Field,
        message: &'a [u8],
    ) -> Result<Found<'a>, WireError> {
        // Another field of a `oneof` can be wrong, or unset this one.
        if field.oneof().is_some() {
            return self.find(ty, field, message);
        }
        let place = ty.position(field.number()).and_then(|position| index.places.get(position));
        let start = match place.copied() {
            None | Some(SEVERAL) => return self.find(ty, field, message),
            Some(place) => place.checked_sub(1),
        };
        let rest = start.and_then(|start| message.get(start as usize..));
        match rest.and_then(|rest| Records::new(rest).next()) {
            Some(record) => self.find_only(field, record?.payload),
            None => Ok(Found::Unset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever records there are, an index gives what looking for the field gives.
    #[test]
    fn an_index_gives_what_is_found() {
        let types = Descriptors::well_known();
        // Fields once, twice, of another wire type, of a `oneof`, repeated, unknown, and not UTF-8.
        let records: [&[u8]; 9] = [
            &[0x08, 0x2a],
            &[0x10, 0x80, 0x01],
            &[0x0a, 1, b'a'],
            &[0x12, 1, b'b'],
            &[0x1a, 1, 0xff],
            &[0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
            &[0x20, 1],
            &[0x2a, 0],
            &[0xa0, 0x06, 7],
        ];
        let mut found = 0;
        for ty in types.messages() {
            for a in records {
                for b in records {
                    for c in records {
                        let message = [a, b, c].concat();
                        let index = FieldIndex::new(ty, &message).unwrap();
                        for field in ty.fields().iter().filter(|field| field.is_singular()) {
                            let expected = types.find(ty, field, &message);
                            assert_eq!(
                                types.find_by(&index, ty, field, &message),
                                expected,
                                "{} {message:?}",
                                ty.name()
                            );
                            found += usize::from(matches!(expected, Ok(Found::Value(_))));
                        }
                    }
                }
            }
        }
        assert!(found > 1_000, "{found}");
        let ty = types.message("google.protobuf.Timestamp").unwrap();
        assert_eq!(FieldIndex::new(ty, &[0x08]).unwrap_err(), WireError::Truncated);
    }
}
