//! Messages of protocol buffers, judged by another implementation: random ones of types with a
//! field of every kind are written and read by it, and by rules in both tiers.

use celero::messages::{Descriptors, HostField, HostMessage, Message};
use celero::values::{Arena, EvalResult};
use celero::{Bindings, Engine, Env, ErrorKind, Program, Scratch, Tier, Type, Value};
use celero_tests::generate::messages::{random_field, random_message};
use celero_tests::generate::{Owned, Rng};
use celero_tests::messages::own;
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value as Judged};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a rule reads of a field, by the judge; `None` where the value of an `Any` or of JSON would
/// have to be converted.
fn expected(value: &Judged) -> Option<Owned> {
    Some(match value {
        Judged::Bool(value) => Owned::Bool(*value),
        Judged::I32(value) => Owned::Int((*value).into()),
        Judged::I64(value) => Owned::Int(*value),
        Judged::U32(value) => Owned::Uint((*value).into()),
        Judged::U64(value) => Owned::Uint(*value),
        Judged::F32(value) => Owned::Double((*value).into()),
        Judged::F64(value) => Owned::Double(*value),
        Judged::String(value) => Owned::String(value.clone()),
        Judged::Bytes(value) => Owned::Bytes(value.to_vec()),
        Judged::EnumNumber(value) => Owned::Int((*value).into()),
        Judged::List(values) => Owned::List(values.iter().map(expected).collect::<Option<_>>()?),
        Judged::Map(map) => {
            let entry =
                |(key, value): (&MapKey, &Judged)| Some((expected(&Judged::from(key.clone()))?, expected(value)?));
            Owned::Map(map.iter().map(entry).collect::<Option<_>>()?)
        }
        Judged::Message(message) => expected_message(message)?,
    })
}

fn expected_message(message: &DynamicMessage) -> Option<Owned> {
    let ty = message.descriptor();
    let field = |name: &str| message.get_field_by_name(name).map(|value| value.into_owned());
    Some(match ty.full_name().strip_prefix("google.protobuf.") {
        Some("Timestamp") => match (field("seconds")?, field("nanos")?) {
            (Judged::I64(seconds), Judged::I32(nanos)) => Owned::Timestamp(seconds, nanos.into()),
            _ => return None,
        },
        Some("Duration") => match (field("seconds")?, field("nanos")?) {
            (Judged::I64(seconds), Judged::I32(nanos)) => Owned::Duration(seconds * 1_000_000_000 + i64::from(nanos)),
            _ => return None,
        },
        Some("Struct") => expected(&field("fields")?)?,
        Some("ListValue") => expected(&field("values")?)?,
        Some("Value") => {
            let set = ty.fields().find(|field| message.has_field(field));
            match set {
                None => Owned::Null,
                Some(set) if set.name() == "null_value" => Owned::Null,
                Some(set) => expected(&message.get_field(&set))?,
            }
        }
        Some("Any") => {
            let Judged::Bytes(bytes) = field("value")? else { return None };
            Owned::Message("test.three.Inner".into(), bytes.to_vec())
        }
        Some(_) => expected(&field("value")?)?,
        None => Owned::Message(ty.full_name().to_owned(), message.encode_to_vec()),
    })
}

/// What a rule reads of a message's field that is not set.
fn unset(field: &FieldDescriptor) -> Option<Owned> {
    match field.kind() {
        Kind::Message(ty) if !field.is_list() && !field.is_map() => match ty.full_name() {
            "google.protobuf.Timestamp" | "google.protobuf.Duration" => {
                expected_message(&DynamicMessage::new(ty.clone()))
            }
            "google.protobuf.Struct" | "google.protobuf.ListValue" | "google.protobuf.Value" => {
                expected_message(&DynamicMessage::new(ty.clone()))
            }
            name if name.starts_with("google.protobuf.") => Some(Owned::Null),
            name => Some(Owned::Message(name.to_owned(), Vec::new())),
        },
        _ => expected(&field.default_value()).or_else(|| expected(&Judged::default_value_for_field(field))),
    }
}

/// The bytes of a message: its `Debug` does not end.
pub(super) fn shown(message: &DynamicMessage) -> String {
    message.encode_to_vec().escape_ascii().to_string()
}

/// A message that another implementation has decoded.
#[derive(Clone, Copy)]
struct Reflected<'m>(&'m DynamicMessage);

impl HostMessage for Reflected<'_> {
    fn read<'m>(
        &'m self,
        field: u32,
        arena: &'m Arena,
        give: &mut dyn FnMut(HostField<'m>) -> EvalResult<()>,
    ) -> EvalResult<()> {
        fn one<'m>(value: &'m Judged, arena: &'m Arena) -> EvalResult<HostField<'m>> {
            Ok(match value {
                Judged::Bool(value) => HostField::Bool(*value),
                Judged::I32(value) | Judged::EnumNumber(value) => HostField::Int((*value).into()),
                Judged::I64(value) => HostField::Int(*value),
                Judged::U32(value) => HostField::Uint((*value).into()),
                Judged::U64(value) => HostField::Uint(*value),
                Judged::F32(value) => HostField::Double((*value).into()),
                Judged::F64(value) => HostField::Double(*value),
                Judged::String(text) => HostField::Text(text),
                Judged::Bytes(bytes) => HostField::Bytes(bytes),
                Judged::Message(message) => HostField::Message(arena.alloc(Reflected(message))?),
                Judged::List(_) | Judged::Map(_) => return Err(ErrorKind::Host),
            })
        }
        if !self.0.has_field_by_number(field) {
            return Ok(());
        }
        match self.0.get_field_by_number(field) {
            Some(Cow::Borrowed(Judged::List(elements))) => {
                elements.iter().try_for_each(|element| give(one(element, arena)?))
            }
            Some(Cow::Borrowed(Judged::Map(entries))) => entries.iter().try_for_each(|(key, value)| {
                give(match key {
                    MapKey::Bool(key) => HostField::Bool(*key),
                    MapKey::I32(key) => HostField::Int((*key).into()),
                    MapKey::I64(key) => HostField::Int(*key),
                    MapKey::U32(key) => HostField::Uint((*key).into()),
                    MapKey::U64(key) => HostField::Uint(*key),
                    MapKey::String(key) => HostField::Text(key),
                })?;
                give(one(value, arena)?)
            }),
            Some(Cow::Borrowed(value)) => give(one(value, arena)?),
            _ => Ok(()),
        }
    }

    fn encode(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }
}

pub(super) struct Rules {
    name: &'static str,
    types: Descriptors,
    env: Env<Bindings<'static>>,
    engines: [Engine; 2],
}

impl Rules {
    /// What a rule gives in both tiers, which must agree.
    pub(super) fn eval(&self, source: &str, messages: &[(&str, &DynamicMessage)]) -> Result<Owned, String> {
        let bytes: Vec<(&str, Vec<u8>)> =
            messages.iter().map(|(name, message)| (*name, message.encode_to_vec())).collect();
        self.eval_bytes(source, &bytes)
    }

    fn run<'a>(
        &'a self,
        program: &Program<Bindings<'static>>,
        messages: &[(&str, Message<'a>)],
        arena: &'a Arena,
    ) -> Result<Owned, String> {
        let mut bindings = Bindings::new(&self.env);
        for (name, message) in messages {
            bindings.set(name, arena.alloc(*message).map(Value::Message).unwrap()).unwrap();
        }
        let mut scratch = Scratch::new();
        let result = program.eval(&bindings, &mut scratch).map_err(|error| error.to_string());
        result.map(|value| Owned::of(&value, arena).unwrap())
    }

    /// The same of messages of the type of the rules, by their bytes.
    fn eval_bytes(&self, source: &str, messages: &[(&str, Vec<u8>)]) -> Result<Owned, String> {
        let [native, interpreted] = self.engines.each_ref().map(|engine| {
            let program = engine.compile(&self.env, source).unwrap_or_else(|error| panic!("{source}: {error}"));
            let arena = Arena::new(1 << 20);
            let decoded: Option<Vec<(&str, DynamicMessage)>> = messages
                .iter()
                .map(|(name, bytes)| Some((*name, DynamicMessage::decode(own().message(self.name)?, &**bytes).ok()?)))
                .collect();
            let hosts: Option<Vec<(&str, Reflected<'_>)>> =
                decoded.as_ref().map(|all| all.iter().map(|(name, message)| (*name, Reflected(message))).collect());
            let bytes: Vec<(&str, Message<'_>)> = messages
                .iter()
                .map(|(name, bytes)| (*name, Message::new(&self.types, self.name, bytes).unwrap()))
                .collect();
            let indexed: Vec<_> =
                bytes.iter().map(|(name, message)| (*name, message.indexed(&arena).unwrap())).collect();
            let of_host: Option<Vec<_>> = hosts.as_ref().map(|all| {
                all.iter().map(|(n, host)| (*n, Message::of_host(&self.types, self.name, host).unwrap())).collect()
            });
            let plain = self.run(&program, &bytes, &arena);
            let indexed = self.run(&program, &indexed, &arena);
            let of_host = of_host.map(|all| self.run(&program, &all, &arena));
            for (other, by) in [(Some(indexed), "an index"), (of_host, "the host")] {
                match (&plain, &other) {
                    (_, None) => {}
                    (Ok(one), Some(Ok(other))) => assert!(one.same(other), "{source}: {one} and {other} by {by}"),
                    (one, Some(other)) => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{source} by {by}"),
                }
            }
            plain
        });
        match (&native, &interpreted) {
            (Ok(one), Ok(other)) => assert!(one.same(other), "{source}: {one} and {other}"),
            (one, other) => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{source}"),
        }
        native
    }
}

pub(super) fn rules(types: &Descriptors, name: &'static str) -> Rules {
    let ty = Type::message(name);
    let env = Env::dynamic().messages(types).variable("m", ty.clone()).variable("n", ty);
    let engines = [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
    Rules { name, types: types.clone(), env, engines }
}

#[test]
fn fields_are_read_as_another_implementation_reads_them() {
    let types = own();
    let mut rng = Rng::new(7);
    for (name, fields) in [("test.three.All", 50), ("test.two.All", 13)] {
        let ty = types.message(name).unwrap();
        assert!(ty.fields().len() >= fields);
        let rules = rules(&types.types, name);
        let mut read = HashMap::<String, usize>::new();
        for _ in 0..40 {
            let message = random_message(&mut rng, &ty, 4);
            for field in ty.fields() {
                let path = format!("m.{}", field.name());
                let has = rules.eval(&format!("has({path})"), &[("m", &message)]).unwrap();
                assert!(has.same(&Owned::Bool(message.has_field(&field))), "has({path}): {has} of {}", shown(&message));
                let want = match message.has_field(&field) {
                    true => expected(&message.get_field(&field)),
                    false => unset(&field),
                };
                let got = rules.eval(&path, &[("m", &message)]);
                let (want, got) = (want.unwrap(), got.unwrap());
                assert!(want.same(&got), "{path}: expected {want}, got {got} of {}", shown(&message));
                *read.entry(path).or_default() += usize::from(message.has_field(&field));
            }
        }
        assert!(read.values().all(|times| *times > 3), "{read:?}");
    }
}

/// Messages that no writer writes in one piece: two after each other, which are merged, records in
/// another order, and unknown ones.
#[test]
fn messages_in_pieces_are_read_as_another_implementation_reads_them() {
    let types = own();
    let mut rng = Rng::new(11);
    for name in ["test.three.All", "test.two.All"] {
        let ty = types.message(name).unwrap();
        let rules = rules(&types.types, name);
        let mut compared = 0;
        for _ in 0..60 {
            let pieces: Vec<Vec<u8>> = (0..3).map(|_| random_message(&mut rng, &ty, 3).encode_to_vec()).collect();
            let mut records: Vec<&[u8]> = pieces.iter().flat_map(|piece| records_of(piece)).collect();
            for at in (1..records.len()).rev() {
                if rng.chance(30) {
                    records.swap(at, rng.below(at + 1));
                }
            }
            let unknown = [0xfa, 0x3f, 2, 1, 2];
            let mut bytes = unknown.to_vec();
            bytes.extend(records.concat());
            let message = DynamicMessage::decode(ty.clone(), bytes.as_slice()).unwrap();
            for field in ty.fields() {
                let path = format!("m.{}", field.name());
                let bound = [("m", bytes.clone())];
                let has = rules.eval_bytes(&format!("has({path})"), &bound).unwrap();
                assert!(has.same(&Owned::Bool(message.has_field(&field))), "has({path}): {has} of {}", shown(&message));
                if !message.has_field(&field) {
                    continue;
                }
                let want = expected(&message.get_field(&field)).unwrap();
                let got = rules.eval_bytes(&path, &bound).unwrap();
                assert!(want.same(&got), "{path}: expected {want}, got {got} of {}", shown(&message));
                compared += 1;
            }
            // Native code reads fields of one message in one pass; the interpreter looks for each, and must agree.
            let names: Vec<String> = ty.fields().map(|field| field.name().to_owned()).collect();
            for (a, b) in names.iter().zip(names.iter().rev()) {
                let both = format!("has(m.{a}) || has(m.{b}) ? [dyn(m.{a}), dyn(m.{b})] : []");
                let _ = rules.eval_bytes(&both, &[("m", bytes.clone())]);
                let cut = bytes[..rng.below(bytes.len())].to_vec();
                let _ = rules.eval_bytes(&both, &[("m", cut)]);
            }
            let again = rules.eval_bytes("m == n", &[("m", bytes.clone()), ("n", bytes.clone())]).unwrap();
            assert!(again.same(&Owned::Bool(true)), "{}", shown(&message));
            let other = rules.eval_bytes("m == n", &[("m", bytes.clone()), ("n", bytes[5..].to_vec())]).unwrap();
            assert!(other.same(&Owned::Bool(false)), "an unknown field counts");
        }
        assert!(compared > 400, "{compared}");
    }
}

/// What is read of a message in advance takes memory in proportion to its size.
#[test]
fn an_index_takes_memory_in_proportion_to_its_message() {
    let types = &own().types;
    let packed = [&[0xfa, 0x02, 100][..], &[1; 100]].concat();
    for (ty, field, record, elements) in [
        ("test.three.Inner", "many", &[0x22, 0][..], 1),
        ("test.three.All", "r_string", &[0x82, 0x03, 0], 1),
        ("test.three.All", "r_bool", &packed, 100),
    ] {
        let env = Env::dynamic().messages(types).variable("m", Type::message(ty));
        let program = Engine::new().compile(&env, &format!("size(m.{field})")).unwrap();
        for count in [0, 1, 30, 30_000 / elements] {
            let bytes = record.repeat(count);
            let arena = Arena::new(16 * bytes.len() + 16_384);
            let message = Message::new(types, ty, &bytes).unwrap().indexed(&arena).unwrap();
            let mut bindings = Bindings::new(&env);
            bindings.set("m", Value::Message(&message)).unwrap();
            let mut scratch = Scratch::new();
            let size = program.eval(&bindings, &mut scratch).map(|value| value.to_string());
            assert_eq!(size, Ok((count * elements).to_string()), "{field}");
        }
    }
}

/// The records of a message, each with its tag.
fn records_of(message: &[u8]) -> Vec<&[u8]> {
    let mut ends = vec![0];
    for end in 1..=message.len() {
        let whole = celero_protobuf::Records::new(&message[*ends.last().unwrap()..end]).all(|record| record.is_ok());
        if whole {
            ends.push(end);
        }
    }
    ends.windows(2).map(|ends| &message[ends[0]..ends[1]]).collect()
}

#[test]
fn messages_are_equal_if_another_implementation_says_so() {
    let types = own();
    let mut rng = Rng::new(8);
    let ty = types.message("test.three.All").unwrap();
    let rules = rules(&types.types, "test.three.All");
    let mut equal = 0;
    for _ in 0..200 {
        let one = random_message(&mut rng, &ty, 3);
        let mut other = one.clone();
        if rng.chance(70) {
            let field = rng.pick(&ty.fields().collect::<Vec<_>>()).clone();
            if let Some(value) = random_field(&mut rng, &field, 3) {
                other.set_field(&field, value);
            }
        }
        let got = rules.eval("m == n", &[("m", &one), ("n", &other)]).unwrap();
        // As they are written: a field without presence that is set to its default is not.
        let decoded = |message: &DynamicMessage| DynamicMessage::decode(ty.clone(), &*message.encode_to_vec()).unwrap();
        let (one, other) = (decoded(&one), decoded(&other));
        assert!(got.same(&Owned::Bool(one == other)), "{got}: {} and {}", shown(&one), shown(&other));
        equal += usize::from(one == other);
    }
    assert!((20..180).contains(&equal), "{equal}");
}

#[test]
fn literals_are_the_messages_that_another_implementation_decodes() {
    let types = own();
    let mut rng = Rng::new(9);
    for name in ["test.three.All", "test.two.All"] {
        let ty = types.message(name).unwrap();
        let rules = rules(&types.types, name);
        for _ in 0..100 {
            let message = random_message(&mut rng, &ty, 3);
            let bytes = message.encode_to_vec();
            let source = {
                let arena = Arena::new(1 << 20);
                Message::new(&types.types, name, &bytes).unwrap().value(&arena).unwrap().to_string()
            };
            let got = rules.eval(&source, &[]).unwrap();
            let want = Owned::Message(name.to_owned(), bytes);
            assert!(want.same(&got), "{source}: {got} of {}", shown(&message));
        }
    }
}

/// Every end of a message, and single wrong bytes in it, give an error or a value, the same in both
/// tiers.
#[test]
fn malformed_messages_end_with_an_error() {
    let types = own();
    let mut rng = Rng::new(10);
    let ty = types.message("test.three.All").unwrap();
    let names: Vec<String> = ty.fields().map(|field| format!("m.{} == n.{0}", field.name())).collect();
    let env = Env::dynamic()
        .messages(&types.types)
        .variable("m", Type::message("test.three.All"))
        .variable("n", Type::message("test.three.All"));
    let source = names.join(" && ");
    let programs = [Tier::Native, Tier::Interpret]
        .map(|tier| Engine::builder().tier(tier).build().compile(&env, &source).unwrap());
    let (mut failed, mut ended) = (0, 0);
    for _ in 0..10 {
        let bytes = random_message(&mut rng, &ty, 3).encode_to_vec();
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            if rng.chance(50) {
                wrong.truncate(at);
            } else {
                wrong[at] ^= 1 << rng.below(8);
            }
            let arena = Arena::new(1 << 16);
            let results = programs.each_ref().map(|program| {
                let message = Message::new(&types.types, "test.three.All", &wrong).unwrap();
                let message = if at % 2 == 0 { message.indexed(&arena).unwrap() } else { message };
                let mut bindings = Bindings::new(&env);
                bindings.set("m", Value::Message(&message)).unwrap();
                bindings.set("n", Value::Message(&message)).unwrap();
                program.test(&bindings).map_err(|error| error.kind)
            });
            assert_eq!(results[0], results[1], "{wrong:?}");
            failed += usize::from(results[0].is_err());
            ended += usize::from(results[0].is_ok());
        }
    }
    assert!(failed > 100 && ended > 100, "{failed} {ended}");
}

/// Protocol buffers' "Enum Behavior": of a closed enum a number without a name is an unknown field,
/// and in a map the whole entry is.
#[test]
fn numbers_without_a_name_are_unknown_fields_of_closed_enums() {
    let types = own();
    let rules = rules(&types.types, "test.two.All");
    let (known, unknown) = (3, 99);
    let bytes = |size: u8| {
        let entry = [0x72, 5, 0x0a, 1, b'a', 0x10, size];
        [&[0x40, size, 0x68, size][..], &entry].concat()
    };
    for (source, of_known, of_unknown) in [
        ("has(m.size)", Owned::Bool(true), Owned::Bool(false)),
        ("m.size", Owned::Int(3), Owned::Int(4)),
        ("has(m.sizes)", Owned::Bool(true), Owned::Bool(false)),
        ("m.sizes.size()", Owned::Int(1), Owned::Int(0)),
        ("has(m.by_name)", Owned::Bool(true), Owned::Bool(false)),
        ("m.by_name.size()", Owned::Int(1), Owned::Int(0)),
    ] {
        for (number, wanted) in [(known, of_known), (unknown, of_unknown)] {
            let got = rules.eval_bytes(source, &[("m", bytes(number))]).unwrap();
            assert!(got.same(&wanted), "{source} of {number}: {got}");
        }
    }
    let equal = |one, other| rules.eval_bytes("m == n", &[("m", bytes(one)), ("n", bytes(other))]).unwrap();
    assert!(equal(99, 99).same(&Owned::Bool(true)) && equal(99, 98).same(&Owned::Bool(false)));
}

/// A constant is one operation, however many names it is written with.
#[test]
fn the_constant_of_an_enum_is_a_name_as_a_whole() {
    let types = own();
    let rules = rules(&types.types, "test.three.All");
    let got = rules.eval_bytes("test.three.Color.BLUE == 7", &[]).unwrap();
    assert!(got.same(&Owned::Bool(true)));
    let cost = rules.engines[0].check(&rules.env, "m.a_color == test.three.Color.BLUE").unwrap().static_cost();
    assert_eq!((cost.least, cost.most_for(9)), (4, 4), "the comparison, the selection, the variable, the constant");
}
