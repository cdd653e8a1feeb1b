//! Messages of protocol buffers, judged by another implementation: random ones of types with a
//! field of every kind are written and read by it, and by rules in both tiers.

use celero::messages::{Descriptors, Message};
use celero::values::Arena;
use celero::{Bindings, Engine, Env, Scratch, Tier, Type, Value};
use celero_tests::generate::{Owned, Rng};
use prost_reflect::prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, Value as Judged,
};
use std::collections::HashMap;

/// The types of `tests/messages`, as both read them.
fn types() -> (Descriptors, DescriptorPool) {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/messages");
    let set = protox::compile(["three.proto", "two.proto"], [dir]).unwrap().encode_to_vec();
    (Descriptors::from_bytes(&set).unwrap(), DescriptorPool::decode(set.as_slice()).unwrap())
}

fn random_message(rng: &mut Rng, ty: &MessageDescriptor, levels: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(ty.clone());
    for field in ty.fields() {
        if rng.chance(35) {
            let value = random_field(rng, &field, levels);
            if let Some(value) = value {
                message.set_field(&field, value);
            }
        }
    }
    message
}

fn random_field(rng: &mut Rng, field: &FieldDescriptor, levels: usize) -> Option<Judged> {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { return None };
        let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
        let mut map = HashMap::new();
        for _ in 0..rng.below(4) {
            let key = match random_value(rng, &key.kind(), 0)? {
                Judged::Bool(key) => MapKey::Bool(key),
                Judged::I32(key) => MapKey::I32(key),
                Judged::I64(key) => MapKey::I64(key),
                Judged::U32(key) => MapKey::U32(key),
                Judged::U64(key) => MapKey::U64(key),
                Judged::String(key) => MapKey::String(key),
                _ => return None,
            };
            map.insert(key, random_value(rng, &value.kind(), levels)?);
        }
        return Some(Judged::Map(map));
    }
    if field.is_list() {
        return (0..rng.below(4))
            .map(|_| random_value(rng, &field.kind(), levels))
            .collect::<Option<_>>()
            .map(Judged::List);
    }
    random_value(rng, &field.kind(), levels)
}

const TEXTS: [&str; 5] = ["", "a", "é", "日本語", "a\"b\\"];

fn random_value(rng: &mut Rng, kind: &Kind, levels: usize) -> Option<Judged> {
    let wide = [0, 1, -1, 127, 128, i64::MIN, i64::MAX, 1 << 53];
    let narrow = [0, 1, -1, 63, 64, i32::MIN, i32::MAX];
    // The other implementation does not write -0.0 where a field has no presence.
    let reals = [0.0, 1.5, f64::INFINITY, -1e300, 5e-324];
    Some(match kind {
        Kind::Double => Judged::F64(*rng.pick(&reals)),
        Kind::Float => Judged::F32(*rng.pick(&reals) as f32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Judged::I64(*rng.pick(&wide)),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Judged::I32(*rng.pick(&narrow)),
        Kind::Uint64 | Kind::Fixed64 => Judged::U64(*rng.pick(&wide) as u64),
        Kind::Uint32 | Kind::Fixed32 => Judged::U32(*rng.pick(&narrow) as u32),
        Kind::Bool => Judged::Bool(rng.chance(50)),
        Kind::String => Judged::String((*rng.pick(&TEXTS)).to_owned()),
        Kind::Bytes => Judged::Bytes(rng.pick(&[b"".as_slice(), b"\0\xff", b"abc"]).to_vec().into()),
        Kind::Enum(ty) => {
            let values: Vec<i32> = ty.values().map(|value| value.number()).collect();
            Judged::EnumNumber(*rng.pick(&values))
        }
        Kind::Message(ty) => match ty.full_name() {
            "google.protobuf.Timestamp" => time(ty, rng.pick(&[(0, 0), (1_700_000_000, 5), (-62_135_596_800, 0)])),
            "google.protobuf.Duration" => time(ty, rng.pick(&[(0, 0), (5, 500), (7, 0), (9_000_000_000, 0)])),
            "google.protobuf.Any" => {
                let inner = ty.parent_pool().get_message_by_name("test.three.Inner")?;
                let inner = random_message(rng, &inner, levels.checked_sub(1)?);
                let mut any = DynamicMessage::new(ty.clone());
                any.set_field_by_name("type_url", Judged::String("type.googleapis.com/test.three.Inner".into()));
                any.set_field_by_name("value", Judged::Bytes(inner.encode_to_vec().into()));
                Judged::Message(any)
            }
            "google.protobuf.Value" => {
                // One of its fields is always set.
                let field = rng.pick(&ty.fields().collect::<Vec<_>>()).clone();
                let mut value = DynamicMessage::new(ty.clone());
                value.set_field(&field, random_field(rng, &field, levels.checked_sub(1)?)?);
                Judged::Message(value)
            }
            _ => Judged::Message(random_message(rng, ty, levels.checked_sub(1)?)),
        },
    })
}

fn time(ty: &MessageDescriptor, (seconds, nanos): &(i64, i32)) -> Judged {
    let mut time = DynamicMessage::new(ty.clone());
    time.set_field_by_name("seconds", Judged::I64(*seconds));
    time.set_field_by_name("nanos", Judged::I32(*nanos));
    Judged::Message(time)
}

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

/// Whether two results are the same; messages by the judge.
fn same(pool: &DescriptorPool, one: &Owned, other: &Owned) -> bool {
    match (one, other) {
        (Owned::Message(a, one), Owned::Message(b, other)) => {
            let decode = |bytes: &[u8]| DynamicMessage::decode(pool.get_message_by_name(a).unwrap(), bytes).unwrap();
            a == b && decode(one) == decode(other)
        }
        (Owned::List(a), Owned::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(pool, a, b)),
        (Owned::Map(a), Owned::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.iter().any(|(l, w)| k.same(l) && same(pool, v, w)))
        }
        (one, other) => one.same(other),
    }
}

/// The bytes of a message: its `Debug` does not end.
fn shown(message: &DynamicMessage) -> String {
    message.encode_to_vec().escape_ascii().to_string()
}

struct Rules {
    name: &'static str,
    types: Descriptors,
    env: Env<Bindings<'static>>,
    engines: [Engine; 2],
}

impl Rules {
    /// What a rule gives in both tiers, which must agree.
    fn eval(&self, pool: &DescriptorPool, source: &str, messages: &[(&str, &DynamicMessage)]) -> Result<Owned, String> {
        let bytes: Vec<(&str, Vec<u8>)> =
            messages.iter().map(|(name, message)| (*name, message.encode_to_vec())).collect();
        self.eval_bytes(pool, source, &bytes)
    }

    /// The same of messages of the type of the rules, by their bytes.
    fn eval_bytes(&self, pool: &DescriptorPool, source: &str, messages: &[(&str, Vec<u8>)]) -> Result<Owned, String> {
        let [native, interpreted] = self.engines.each_ref().map(|engine| {
            let program = engine.compile(&self.env, source).unwrap_or_else(|error| panic!("{source}: {error}"));
            let [plain, indexed] = [false, true].map(|is_indexed| {
                let arena = Arena::new(1 << 20);
                let mut bindings = Bindings::new(&self.env);
                for (name, bytes) in messages {
                    let message = Message::new(&self.types, self.name, bytes).unwrap();
                    let message = if is_indexed { message.indexed(&arena).unwrap() } else { message };
                    bindings.set(name, arena.alloc(message).map(Value::Message).unwrap()).unwrap();
                }
                let mut scratch = Scratch::new();
                let result = program.eval(&bindings, &mut scratch).map_err(|error| error.to_string());
                result.map(|value| Owned::of(&value, &arena).unwrap())
            });
            match (&plain, &indexed) {
                (Ok(one), Ok(other)) => assert!(same(pool, one, other), "{source}: {one} and {other} by an index"),
                (one, other) => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{source}"),
            }
            plain
        });
        match (&native, &interpreted) {
            (Ok(one), Ok(other)) => assert!(same(pool, one, other), "{source}: {one} and {other}"),
            (one, other) => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{source}"),
        }
        native
    }
}

fn rules(types: &Descriptors, name: &'static str) -> Rules {
    let ty = Type::message(name);
    let env = Env::dynamic().messages(types).variable("m", ty.clone()).variable("n", ty);
    let engines = [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
    Rules { name, types: types.clone(), env, engines }
}

#[test]
fn fields_are_read_as_another_implementation_reads_them() {
    let (types, pool) = types();
    let mut rng = Rng::new(7);
    for (name, fields) in [("test.three.All", 50), ("test.two.All", 13)] {
        let ty = pool.get_message_by_name(name).unwrap();
        assert!(ty.fields().len() >= fields);
        let rules = rules(&types, name);
        let mut read = HashMap::<String, usize>::new();
        for _ in 0..40 {
            let message = random_message(&mut rng, &ty, 4);
            for field in ty.fields() {
                let path = format!("m.{}", field.name());
                let has = rules.eval(&pool, &format!("has({path})"), &[("m", &message)]).unwrap();
                assert!(has.same(&Owned::Bool(message.has_field(&field))), "has({path}): {has} of {}", shown(&message));
                let want = match message.has_field(&field) {
                    true => expected(&message.get_field(&field)),
                    false => unset(&field),
                };
                let got = rules.eval(&pool, &path, &[("m", &message)]);
                let (want, got) = (want.unwrap(), got.unwrap());
                assert!(same(&pool, &want, &got), "{path}: expected {want}, got {got} of {}", shown(&message));
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
    let (types, pool) = types();
    let mut rng = Rng::new(11);
    for name in ["test.three.All", "test.two.All"] {
        let ty = pool.get_message_by_name(name).unwrap();
        let rules = rules(&types, name);
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
                let has = rules.eval_bytes(&pool, &format!("has({path})"), &bound).unwrap();
                assert!(has.same(&Owned::Bool(message.has_field(&field))), "has({path}): {has} of {}", shown(&message));
                if !message.has_field(&field) {
                    continue;
                }
                let want = expected(&message.get_field(&field)).unwrap();
                let got = rules.eval_bytes(&pool, &path, &bound).unwrap();
                assert!(same(&pool, &want, &got), "{path}: expected {want}, got {got} of {}", shown(&message));
                compared += 1;
            }
            let again = rules.eval_bytes(&pool, "m == n", &[("m", bytes.clone()), ("n", bytes.clone())]).unwrap();
            assert!(again.same(&Owned::Bool(true)), "{}", shown(&message));
            let other = rules.eval_bytes(&pool, "m == n", &[("m", bytes.clone()), ("n", bytes[5..].to_vec())]).unwrap();
            assert!(other.same(&Owned::Bool(false)), "an unknown field counts");
        }
        assert!(compared > 400, "{compared}");
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
    let (types, pool) = types();
    let mut rng = Rng::new(8);
    let ty = pool.get_message_by_name("test.three.All").unwrap();
    let rules = rules(&types, "test.three.All");
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
        let got = rules.eval(&pool, "m == n", &[("m", &one), ("n", &other)]).unwrap();
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
    let (types, pool) = types();
    let mut rng = Rng::new(9);
    for name in ["test.three.All", "test.two.All"] {
        let ty = pool.get_message_by_name(name).unwrap();
        let rules = rules(&types, name);
        for _ in 0..100 {
            let message = random_message(&mut rng, &ty, 3);
            let bytes = message.encode_to_vec();
            let source = {
                let arena = Arena::new(1 << 20);
                Message::new(&types, name, &bytes).unwrap().value(&arena).unwrap().to_string()
            };
            let got = rules.eval(&pool, &source, &[]).unwrap();
            let want = Owned::Message(name.to_owned(), bytes);
            assert!(same(&pool, &want, &got), "{source}: {got} of {}", shown(&message));
        }
    }
}

/// Every end of a message, and single wrong bytes in it, give an error or a value, the same in both
/// tiers.
#[test]
fn malformed_messages_end_with_an_error() {
    let (types, pool) = types();
    let mut rng = Rng::new(10);
    let ty = pool.get_message_by_name("test.three.All").unwrap();
    let names: Vec<String> = ty.fields().map(|field| format!("m.{} == n.{0}", field.name())).collect();
    let env = Env::dynamic()
        .messages(&types)
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
                let message = Message::new(&types, "test.three.All", &wrong).unwrap();
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
    let (types, pool) = types();
    let rules = rules(&types, "test.two.All");
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
            let got = rules.eval_bytes(&pool, source, &[("m", bytes(number))]).unwrap();
            assert!(got.same(&wanted), "{source} of {number}: {got}");
        }
    }
    let equal = |one, other| rules.eval_bytes(&pool, "m == n", &[("m", bytes(one)), ("n", bytes(other))]).unwrap();
    assert!(equal(99, 99).same(&Owned::Bool(true)) && equal(99, 98).same(&Owned::Bool(false)));
}

/// A constant is one operation, however many names it is written with.
#[test]
fn the_constant_of_an_enum_is_a_name_as_a_whole() {
    let (types, pool) = types();
    let rules = rules(&types, "test.three.All");
    let got = rules.eval_bytes(&pool, "test.three.Color.BLUE == 7", &[]).unwrap();
    assert!(got.same(&Owned::Bool(true)));
    let cost = rules.engines[0].check(&rules.env, "m.a_color == test.three.Color.BLUE").unwrap().static_cost();
    assert_eq!((cost.least, cost.most_for(9)), (4, 4), "the comparison, the selection, the variable, the constant");
}
