//! Random messages of the types of `tests/messages`, and random expressions about them.

use super::{Declared, Generator, Owned, Rng};
use crate::messages::{Types, own};
use celero::messages::Message;
use celero::values::Arena;
use celero::{Bindings, Engine, Env, Type};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value as Judged};
use std::collections::HashMap;

/// A message with random fields, at most so many levels deep.
#[must_use]
pub fn random_message(rng: &mut Rng, ty: &MessageDescriptor, levels: usize) -> DynamicMessage {
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

/// A value of a field; `None` if it would be deeper.
#[must_use]
pub fn random_field(rng: &mut Rng, field: &FieldDescriptor, levels: usize) -> Option<Judged> {
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

/// An expression about the messages `m` and `n`, and sets of values for them.
#[derive(Clone, Debug)]
pub struct MessageCase {
    /// The expression.
    pub source: String,
    /// `m` and `n`, of the same type.
    pub ty: Type,
    /// The messages.
    pub sets: Vec<[Owned; 2]>,
}

/// Random expressions about messages: those of [`Generator`] with parts of messages in place of its variables.
#[derive(Clone, Debug)]
pub struct MessageCases {
    generators: Vec<(MessageDescriptor, Generator)>,
    rng: Rng,
}

/// How many sets of values a case has.
const SETS: usize = 3;

/// An environment in which such expressions are checked.
#[must_use]
pub fn environment(ty: &Type) -> Env<Bindings<'static>> {
    let env = Env::dynamic().container("test.three").messages(&own().types);
    env.variable("m", ty.clone()).variable("n", ty.clone())
}

impl MessageCases {
    /// The cases of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let types = ["test.three.All", "test.two.All"].into_iter().filter_map(|name| own().message(name));
        let generators = types
            .map(|ty| {
                let parts = parts(&mut rng, own(), &ty);
                (ty, Generator::over(rng.bits(), parts))
            })
            .collect();
        Self { generators, rng }
    }

    /// The next case.
    pub fn case(&mut self) -> Option<MessageCase> {
        let at = self.rng.below(self.generators.len());
        let (ty, generator) = self.generators.get_mut(at)?;
        let source = generator.case().source;
        let message =
            |rng: &mut Rng| Owned::Message(ty.full_name().to_owned(), random_message(rng, ty, 3).encode_to_vec());
        let sets = (0..SETS).map(|_| [message(&mut self.rng), message(&mut self.rng)]).collect();
        Some(MessageCase { source, ty: Type::message(ty.full_name()), sets })
    }
}

/// Parts of messages as source texts, each with its type.
fn parts(rng: &mut Rng, types: &Types, ty: &MessageDescriptor) -> Vec<Declared> {
    let mut texts = vec!["m".to_owned(), "n".to_owned()];
    for field in ty.fields() {
        let name = field.name();
        texts.extend([format!("m.{name}"), format!("n.{name}"), format!("has(m.{name})"), format!("m.?{name}")]);
        if field.is_list() {
            texts.extend([
                format!("m.{name}[0]"),
                format!("m.{name}.map(e, e)"),
                format!("m.{name}.exists(e, e == e)"),
            ]);
        }
        let Kind::Message(inner) = field.kind() else { continue };
        if field.is_map() || inner.full_name().starts_with("google.") {
            continue;
        }
        for field in inner.fields() {
            let inner = field.name();
            texts.push(match ty.get_field_by_name(name).is_some_and(|field| field.is_list()) {
                true => format!("m.{name}.map(e, e.{inner})"),
                false => format!("m.{name}.{inner}"),
            });
            texts.push(format!("m.?{name}.?{inner}"));
        }
    }
    let others = [
        "m.a_inner.inner.inner.text",
        "m.a_inner.many.filter(e, has(e.inner)).map(e, e.number)",
        "m.r_inner.all(e, e.number < 64)",
        "m.m_uint32[1u].number",
        "m.m_uint32.transformList(k, v, v.text)",
        "m.m_uint32.map(k, m.m_uint32[k].number)",
        "m.any.number",
        "m.json.a",
        "m.object.a",
        "Inner{number: 63, text: 'a'}",
        "Inner{inner: m.a_inner, many: m.r_inner}",
        "All{w_int32: 1, a_color: Color.BLUE, json: [1, 'a'], time: m.time, any: m.a_inner}",
        "All{m_uint32: m.m_uint32, r_wrapped: m.m_wrapped}",
        "All{?a_inner: m.?a_inner, ?w_string: m.?o_string}",
        "google.protobuf.Any{type_url: 'type.googleapis.com/test.three.Inner', value: b'\\x08\\x01'}",
        "google.protobuf.Int64Value{value: m.a_int64}",
        "google.protobuf.Struct{fields: {'a': 1.0}}",
        "type(m)",
        "type(m.a_inner)",
    ];
    texts.extend(others.map(str::to_owned));
    for _ in 0..6 {
        let message = random_message(rng, ty, 1).encode_to_vec();
        let arena = Arena::new(1 << 20);
        let literal = Message::new(&types.types, ty.full_name(), &message).and_then(|m| m.value(&arena).ok());
        texts.extend(literal.map(|literal| literal.to_string()).filter(|text| text.len() < 400));
    }
    let (engine, env) = (Engine::new(), environment(&Type::message(ty.full_name())));
    let mut parts = Vec::new();
    for text in texts {
        let Ok(rule) = engine.check(&env, &text) else { continue };
        // A number that may be null stands where a number may.
        let ty = match rule.result_type() {
            Type::Wrapper(inner) => Type::clone(inner),
            ty => ty.clone(),
        };
        parts.push(Declared { name: text, ty, optional: false });
    }
    parts
}
