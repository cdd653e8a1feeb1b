//! Fields of a message that was read once, so that each of them is found without reading the message again.
//!
//! Invariant: a table has what the bytes of the message have, or leaves it to them. Test:
//! `runtime/src/value/message/table.rs::a_table_has_what_the_bytes_have`.

use super::Message;
use super::scalar::{scalar_of, scalar_value};
use super::unset::{enum_value, is_null_value};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::{List, Value};
use celero_protobuf::{Cardinality, Field, FieldValue, Kind, MessageType, Records, WireError};
use smallvec::SmallVec;

/// Bytes of memory for what is below a table, for a message of any size, and for each byte of the message.
const SPARE: usize = 4096;
const SPARE_PER_BYTE: usize = 4;

/// A set of fields by their numbers, from 1 to 64: bit `n` is the field with the number `n + 1`. Fields with larger
/// numbers are in no table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// The fields of a type.
    fn of(ty: &MessageType) -> Self {
        Self(ty.fields().iter().filter_map(|field| Self::bit(field.number())).fold(0, |all, bit| all | bit))
    }

    fn bit(number: u32) -> Option<u64> {
        1_u64.checked_shl(number.checked_sub(1)?)
    }

    #[inline]
    fn has(self, number: u32) -> bool {
        Self::bit(number).is_some_and(|bit| self.0 & bit != 0)
    }

    /// How many fields of the set have a smaller number.
    #[inline]
    fn rank(self, number: u32) -> Option<usize> {
        let bit = Self::bit(number).filter(|bit| self.0 & bit != 0)?;
        Some((self.0 & bit.wrapping_sub(1)).count_ones() as usize)
    }

    /// The numbers, the smallest first.
    fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let number = (rest != 0).then(|| rest.trailing_zeros().saturating_add(1));
            rest &= rest.wrapping_sub(1);
            number
        })
    }
}

/// What a message has for some of its fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    numbers: Numbers,
    /// In the order of the numbers.
    slots: &'a [Slot<'a>],
}

/// What a message has for a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot<'a> {
    /// Nothing.
    Unset,
    /// This value.
    Set(Value<'a>),
    /// A message with these bytes, which stands for a value of another type.
    Meaning(&'a [u8]),
    /// It has to be looked for.
    Unknown,
}

impl<'a> Slot<'a> {
    /// `has(message.field)`; `None` if it has to be looked for.
    pub(super) fn is_set(&self, field: &Field) -> Option<bool> {
        Some(match self {
            Self::Unset => false,
            Self::Set(Value::List(list)) => !list.is_empty(),
            Self::Set(value) => field.has_presence() || !scalar_of(value).is_some_and(|value| value.is_zero()),
            Self::Meaning(_) => true,
            Self::Unknown => return None,
        })
    }
}

impl<'a> Table<'a> {
    /// Reads those of these fields that have at most one value. `None` if there are none, or if the message is
    /// malformed.
    pub(super) fn of_fields(
        cx: &Cx<'a>,
        message: &Message<'a>,
        bytes: &'a [u8],
        numbers: Numbers,
    ) -> EvalResult<Option<Self>> {
        let mut builder = Builder::new(cx, message, numbers, None)?;
        if builder.slots.as_mut_slice().iter().all(|slot| matches!(slot, Slot::Unknown)) {
            return Ok(None);
        }
        Ok(builder.read(bytes)?.map(|builder| builder.table()))
    }

    /// Reads all fields, repeated ones and those of messages in it too, as far as that takes memory in
    /// proportion to the size of the message. `None` if the message is malformed.
    pub(super) fn of_all(cx: &Cx<'a>, message: &Message<'a>, bytes: &'a [u8]) -> EvalResult<Option<Self>> {
        let mut spare = bytes.len().saturating_mul(SPARE_PER_BYTE).saturating_add(SPARE);
        Self::below(cx, message, bytes, &mut spare, celero_protobuf::MAX_DEPTH)
    }

    fn below(
        cx: &Cx<'a>,
        message: &Message<'a>,
        bytes: &'a [u8],
        spare: &mut usize,
        depth: u32,
    ) -> EvalResult<Option<Self>> {
        let Some(mut builder) = Builder::new(cx, message, Numbers::of(message.ty), Some(spare))?.read(bytes)? else {
            return Ok(None);
        };
        builder.finish_lists();
        if let Some(depth) = depth.checked_sub(1) {
            builder.index_messages(depth)?;
        }
        Ok(Some(builder.table()))
    }

    /// What the message has for the field with this number; `None` if that is not in the table.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&'a Slot<'a>> {
        self.slots.get(self.numbers.rank(number)?)
    }
}

struct Builder<'a, 'c> {
    cx: &'c Cx<'a>,
    message: &'c Message<'a>,
    numbers: Numbers,
    slots: ArenaVec<'a, Slot<'a>>,
    /// The values of repeated fields, with the positions of their slots.
    lists: SmallVec<[(usize, ArenaVec<'a, Value<'a>>); 4]>,
    /// Bytes of memory that are left for lists and other tables; `None` if there are to be none.
    spare: Option<&'c mut usize>,
}

impl<'a, 'c> Builder<'a, 'c> {
    fn new(
        cx: &'c Cx<'a>,
        message: &'c Message<'a>,
        numbers: Numbers,
        spare: Option<&'c mut usize>,
    ) -> EvalResult<Self> {
        let mut slots = cx.arena().vec();
        slots.reserve(numbers.0.count_ones() as usize)?;
        let mut builder = Self { cx, message, numbers, slots, lists: SmallVec::new(), spare };
        for number in numbers.iter() {
            let can_be_read = message.ty.by_number(number).is_some_and(|field| builder.can_read(field));
            builder.slots.push(if can_be_read { Slot::Unset } else { Slot::Unknown })?;
        }
        Ok(builder)
    }

    /// Whether the values of a field are known from its own records, one by one.
    fn can_read(&self, field: &Field) -> bool {
        let types = self.message.types;
        match field.cardinality() {
            Cardinality::Singular => field.oneof().is_none() && !is_null_value(types, field),
            Cardinality::Repeated => {
                let is_plain = types.message_of(field).is_none_or(|ty| ty.well_known().is_none());
                self.spare.is_some() && is_plain && !is_null_value(types, field)
            }
            Cardinality::Map => false,
        }
    }

    fn read(mut self, bytes: &'a [u8]) -> EvalResult<Option<Self>> {
        let ty = self.message.ty;
        let mut records = Records::new(bytes);
        loop {
            let Ok(next) = records.next_where(|number| self.numbers.has(number)) else { return Ok(None) };
            let Some(record) = next else { return Ok(Some(self)) };
            let Some(rank) = self.numbers.rank(record.number) else { continue };
            let Some(&slot) = self.slots.as_mut_slice().get(rank) else { continue };
            let (Some(field), false) = (ty.by_number(record.number), matches!(slot, Slot::Unknown)) else { continue };
            let next = match field.is_singular() {
                true => self.one_more(field, slot, self.message.types.value_of(field, record.payload))?,
                false => match self.elements(field, rank, record.payload)? {
                    true => slot,
                    false => Slot::Unknown,
                },
            };
            if let Some(slot) = self.slots.as_mut_slice().get_mut(rank) {
                *slot = next;
            }
        }
    }

    /// What a field has after one more record of it.
    fn one_more(
        &self,
        field: &Field,
        slot: Slot<'a>,
        value: Result<Option<FieldValue<'a>>, WireError>,
    ) -> EvalResult<Slot<'a>> {
        let types = self.message.types;
        Ok(match (value, slot) {
            (Ok(None), slot) => slot,
            (Ok(Some(FieldValue::Scalar(value))), _) => Slot::Set(scalar_value(value)),
            (Ok(Some(FieldValue::Enum(number))), _) => Slot::Set(enum_value(types, field, number)),
            (Ok(Some(FieldValue::Message(bytes))), Slot::Unset) => match types.message_of(field) {
                Some(ty) if ty.well_known().is_none() => {
                    Slot::Set(Value::Message(self.cx.arena().alloc(Message::of(types, ty, bytes))?))
                }
                Some(_) => Slot::Meaning(bytes),
                None => Slot::Unknown,
            },
            // Messages in several parts, and texts that are not UTF-8.
            _ => Slot::Unknown,
        })
    }

    /// Adds the elements of a record to the list of a field. Returns whether all could be added.
    fn elements(&mut self, field: &Field, rank: usize, payload: celero_protobuf::Payload<'a>) -> EvalResult<bool> {
        let types = self.message.types;
        let at = match self.lists.iter().position(|(of, _)| *of == rank) {
            Some(at) => at,
            None => {
                self.lists.push((rank, self.cx.arena().vec()));
                self.lists.len().saturating_sub(1)
            }
        };
        let (Some((_, list)), Some(spare)) = (self.lists.get_mut(at), &mut self.spare) else { return Ok(false) };
        let element_ty = match field.kind() {
            Kind::Message(_) | Kind::Group(_) => types.message_of(field),
            Kind::Scalar(_) | Kind::Enum(_) => None,
        };
        let size = size_of::<Value<'_>>().saturating_add(element_ty.map_or(0, |_| size_of::<Message<'_>>()));
        let arena = self.cx.arena();
        let added = types.each_in(field, payload, &mut |value| {
            **spare = spare.checked_sub(size).ok_or(NotAdded)?;
            let value = match (value, element_ty) {
                (FieldValue::Scalar(value), _) => scalar_value(value),
                (FieldValue::Enum(number), _) => enum_value(types, field, number),
                (FieldValue::Message(bytes), Some(ty)) => {
                    Value::Message(arena.alloc(Message::of(types, ty, bytes)).map_err(|_| NotAdded)?)
                }
                (FieldValue::Message(_), None) => return Err(NotAdded),
            };
            list.push(value).map_err(|_| NotAdded)
        });
        Ok(added.is_ok())
    }

    /// Puts the lists where their fields are known.
    fn finish_lists(&mut self) {
        for (rank, list) in self.lists.drain(..) {
            if let Some(slot @ Slot::Unset) = self.slots.as_mut_slice().get_mut(rank) {
                *slot = Slot::Set(Value::List(List::Slice(list.finish())));
            }
        }
    }

    /// Gives the messages in this one tables of their own.
    fn index_messages(&mut self, depth: u32) -> EvalResult<()> {
        let Some(spare) = &mut self.spare else { return Ok(()) };
        for slot in self.slots.as_mut_slice() {
            let Slot::Set(Value::Message(message)) = slot else { continue };
            let super::Form::Bytes { bytes, .. } = message.form else { continue };
            let size = message.ty.fields().len().saturating_mul(size_of::<Slot<'_>>());
            let Some(left) = spare.checked_sub(size) else { continue };
            **spare = left;
            if let Some(table) = Table::below(self.cx, message, bytes, spare, depth)? {
                *slot = Slot::Set(Value::Message(self.cx.arena().alloc(message.with_table(bytes, table))?));
            }
        }
        Ok(())
    }

    fn table(self) -> Table<'a> {
        Table { numbers: self.numbers, slots: self.slots.finish() }
    }
}

/// An element is malformed, or there is no memory left for it.
struct NotAdded;

impl From<WireError> for NotAdded {
    fn from(_: WireError) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{field_value, has_field};
    use super::*;
    use crate::arena::Arena;
    use celero_protobuf::Descriptors;

    /// What a function gives, and what it leaves of the budget.
    fn ended<R>(arena: &Arena, run: impl FnOnce(&Cx<'_>) -> R) -> (R, i64) {
        let cx = Cx::new(1 << 20, arena);
        (run(&cx), cx.left())
    }

    /// Whatever records there are, a message with a table gives what the message gives, for the same steps.
    #[test]
    fn a_table_has_what_the_bytes_have() {
        assert!(size_of::<Slot<'_>>() <= 40, "`Message::indexed` says so");
        let types = Descriptors::well_known();
        // Fields once, twice, of another wire type, of a `oneof`, repeated, unknown, messages, not UTF-8, truncated.
        let records: [&[u8]; 11] = [
            &[0x08, 0x2a],
            &[0x10, 0x80, 0x01],
            &[0x0a, 1, b'a'],
            &[0x0a, 2, 0x08, 1],
            &[0x12, 1, b'b'],
            &[0x1a, 1, 0xff],
            &[0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
            &[0x20, 1],
            &[0x2a, 0],
            &[0xa0, 0x06, 7],
            &[0x12, 9],
        ];
        let (mut set, mut known) = (0, 0);
        for ty in types.messages() {
            for (a, b, c) in records.iter().flat_map(|a| records.iter().flat_map(move |b| records.map(|c| (*a, *b, c))))
            {
                let bytes = [a, b, c].concat();
                let arena = Arena::new(1 << 20);
                let cx = Cx::new(i64::MAX, &arena);
                let plain = Message::of(&types, ty, &bytes);
                let some = [0b1011, 0b1].map(|numbers| plain.with_fields(&cx, numbers).unwrap());
                assert_eq!(cx.left(), i64::MAX, "the pass takes nothing of the budget");
                for other in [plain.indexed(&arena).unwrap(), some[0], some[1]] {
                    for field in ty.fields() {
                        let [(has, left), of_other] =
                            [plain, other].map(|message| ended(&arena, |cx| has_field(cx, &message, field)));
                        assert_eq!(of_other, (has, left), "{} of {} {bytes:?}", field.name(), ty.name());
                        let [value, of_other] = [plain, other].map(|message| {
                            let read = |cx: &Cx<'_>| field_value(cx, &message, field).map(|value| value.to_string());
                            ended(&arena, |cx| read(cx))
                        });
                        assert_eq!(of_other, value, "{} of {} {bytes:?}", field.name(), ty.name());
                        set += usize::from(has == Ok(true));
                    }
                    known += usize::from(matches!(other.form, super::super::Form::Bytes { table: Some(_), .. }));
                }
            }
        }
        assert!(set > 1_000 && known > 1_000, "{set} {known}");
    }
}
