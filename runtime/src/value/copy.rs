//! Deep copies of values.
//!
//! Invariant: a copy has no list, map or message of a host in it; all that it refers to is in the arena.
//! Test: `runtime/src/value/copy.rs::copies_have_no_parts_of_the_host`.

use crate::arena::{Arena, EvalResult};
use crate::value::message::without_end;
use crate::value::nesting::{MAX_DEPTH, nested};
use crate::value::{List, Map, Value, collect_list, collect_map};
use celero_ir::ErrorKind;
use celero_protobuf::Descriptors;
use std::cell::OnceCell;
use std::sync::Arc;

/// Returns a copy of a value. Maps are sorted by their keys.
///
/// # Errors
/// `out_of_budget` at the arena's limit, or beyond 512 levels of nesting; `invalid_argument` for a
/// list with fewer elements than its length; `duplicate_key` and `no_such_overload` for a map with
/// equal keys or with a key that is not `bool`, `int`, `uint` or `string`; otherwise only what a
/// list or map of the host fails with.
pub(crate) fn copy<'a>(value: &Value<'_>, to: Place<'a>) -> EvalResult<Value<'a>> {
    one(value, to, MAX_DEPTH)
}

/// Where a copy is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) arena: &'a Arena,
    /// Keeps the descriptors of messages; without it a message can't be copied.
    pub(crate) types: Option<&'a KeptTypes>,
}

/// The descriptors of the messages of a copy. They stay where they are when this is moved.
#[derive(Default)]
pub(crate) struct KeptTypes(OnceCell<Arc<Descriptors>>);

impl KeptTypes {
    /// `invalid_argument` if messages of other descriptors are in the value too.
    fn keep(&self, types: &Descriptors) -> EvalResult<&Descriptors> {
        let kept = self.0.get_or_init(|| Arc::new(types.clone()));
        if **kept == *types { Ok(kept) } else { Err(ErrorKind::InvalidArgument) }
    }
}

fn one<'a>(value: &Value<'_>, to: Place<'a>, depth: u32) -> EvalResult<Value<'a>> {
    let arena = to.arena;
    Ok(match *value {
        Value::Null => Value::Null,
        Value::Bool(v) => Value::Bool(v),
        Value::Int(v) => Value::Int(v),
        Value::Uint(v) => Value::Uint(v),
        Value::Double(v) => Value::Double(v),
        Value::String(text) => Value::String(arena.alloc_str(text)?),
        Value::Bytes(bytes) => Value::Bytes(arena.alloc_slice(bytes)?),
        Value::Duration(v) => Value::Duration(v),
        Value::Timestamp(v) => Value::Timestamp(v),
        Value::List(list) => nested(depth, |depth| elements(&list, to, depth))?,
        Value::Map(map) => nested(depth, |depth| entries(&map, to, depth))?,
        Value::Type(name) => Value::Type(arena.alloc_str(name)?),
        Value::Optional(None) => Value::Optional(None),
        Value::Optional(Some(inner)) => {
            let inner = nested(depth, |depth| one(inner, to, depth))?;
            Value::Optional(Some(arena.alloc(inner)?))
        }
        Value::Ip(ip) => Value::Ip(ip),
        Value::Cidr(ip, prefix) => Value::Cidr(ip, prefix),
        Value::Message(message) => {
            let types = match without_end(message.types()) {
                Some(types) => types,
                None => to.types.ok_or(ErrorKind::InvalidArgument)?.keep(message.types())?,
            };
            Value::Message(arena.alloc(message.copy(types, arena)?)?)
        }
    })
}

fn elements<'a>(list: &List<'_>, to: Place<'a>, depth: u32) -> EvalResult<Value<'a>> {
    let element = |index| {
        // What the host makes of one element is not kept while the next ones are copied.
        let made = Arena::new(usize::MAX);
        one(&list.get(index, &made)?.ok_or(ErrorKind::InvalidArgument)?, to, depth)
    };
    collect_list((0..list.len()).map(element), to.arena)
}

fn entries<'a>(map: &Map<'_>, to: Place<'a>, depth: u32) -> EvalResult<Value<'a>> {
    let made = Arena::new(usize::MAX);
    let copied = |(key, value): &(Value<'_>, Value<'_>)| Ok((one(key, to, depth)?, one(value, to, depth)?));
    collect_map(map.entries(&made)?.iter().map(copied), to.arena)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::message::{HostField, HostMessage, Message};
    use crate::value::{HostList, HostMap};

    /// A list and a map that hold each other, and a message.
    struct Host(u32);

    impl Host {
        fn show(&self, level: u32, arena: &Arena) -> EvalResult<Value<'static>> {
            let inner = Box::leak(Box::new(Self(level)));
            let made = Value::String(Box::leak(arena.alloc_str("made")?.to_owned().into_boxed_str()));
            Ok(match level % 3 {
                _ if level == 0 => made,
                0 => Value::List(List::Host(inner)),
                1 => Value::Map(Map::Host(inner)),
                _ => Value::Optional(Some(Box::leak(Box::new(Value::List(List::Host(inner)))))),
            })
        }
    }

    impl HostList for Host {
        fn len(&self) -> usize {
            2
        }

        fn get<'s>(&'s self, _: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
            self.show(self.0.saturating_sub(1), arena).map(Some)
        }
    }

    impl HostMap for Host {
        fn len(&self) -> usize {
            1
        }

        fn get<'s>(&'s self, _: &Value<'_>, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
            Ok(None)
        }

        fn entry<'s>(&'s self, _: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
            Ok(Some((Value::String("k"), self.show(self.0.saturating_sub(1), arena)?)))
        }
    }

    impl HostMessage for Host {
        fn read<'m>(
            &'m self,
            _: u32,
            _: &'m Arena,
            _: &mut dyn FnMut(HostField<'m>) -> EvalResult<()>,
        ) -> EvalResult<()> {
            Ok(())
        }

        fn encode(&self) -> Vec<u8> {
            vec![0x0a, 1, b'a']
        }
    }

    /// The number of strings in a value; fails at a part of the host.
    fn strings(value: &Value<'_>) -> usize {
        match value {
            Value::List(List::Host(_)) | Value::Map(Map::Host(_)) => panic!("a part of the host"),
            Value::List(List::Slice(elements)) => elements.iter().map(strings).sum(),
            Value::Map(Map::Sorted(entries)) => entries.iter().flat_map(|(key, value)| [key, value]).map(strings).sum(),
            Value::Optional(Some(inner)) => strings(inner),
            Value::String(text) => {
                assert!(matches!(*text, "k" | "made"));
                1
            }
            _ => 0,
        }
    }

    #[test]
    fn copies_have_no_parts_of_the_host() {
        let arena = Arena::new(1 << 20);
        let host = Host(7);
        for value in [Value::List(List::Host(&host)), Value::Map(Map::Host(&host))] {
            assert!(strings(&copy(&value, Place { arena: &arena, types: None }).unwrap()) > 4);
        }
        let types = Descriptors::well_known();
        let message = Message::of_host(&types, "google.protobuf.Struct.FieldsEntry", &host).unwrap();
        let kept = KeptTypes::default();
        let copied = copy(&Value::Message(&message), Place { arena: &arena, types: Some(&kept) }).unwrap();
        assert!(
            format!("{message:?}").contains("of the host") && format!("{copied:?}").contains("3 bytes"),
            "{copied:?}"
        );
    }
}
