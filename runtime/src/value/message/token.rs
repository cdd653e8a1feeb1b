//! JSON Web Tokens as values of the type `jwt.Token`: messages of a type of their own, which no descriptors of a host
//! have. All claims stand in a record that is no field, so that rules can't select it, and equality compares it.

use super::Message;
use super::build::write_field;
use super::bytes::{Buffer, charge, records};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, Timestamp, Value};
use celero_ir::ErrorKind;
use celero_protobuf::{Descriptors, Payload, Sink};
use std::sync::LazyLock;

const NAME: &str = "jwt.Token";
const TIME: &str = ".google.protobuf.Timestamp";

/// Name, type of messages, whether it is a list. The number of a field is its position, from 1.
const FIELDS: [(&str, Option<&str>, bool); 10] = [
    ("issuer", None, false),
    ("subject", None, false),
    ("aud", None, true),
    ("azp", None, false),
    ("exp", Some(TIME), false),
    ("nbf", Some(TIME), false),
    ("iat", Some(TIME), false),
    ("id", None, false),
    ("alg", None, false),
    ("keyId", None, false),
];

/// The number of the record with all claims.
const CLAIMS: u32 = 1_000;

static TYPES: LazyLock<Descriptors> = LazyLock::new(|| {
    let record = |bytes: &mut Vec<u8>, number, payload: Payload<'_>| {
        let Ok(()) = bytes.record(number, payload);
    };
    let text = |bytes: &mut Vec<u8>, number, text: &str| record(bytes, number, Payload::Bytes(text.as_bytes()));
    let mut message = Vec::new();
    text(&mut message, 1, "Token");
    for (number, (name, ty, is_list)) in (1..).zip(FIELDS) {
        let mut field = Vec::new();
        text(&mut field, 1, name);
        record(&mut field, 3, Payload::Varint(number));
        record(&mut field, 4, Payload::Varint(if is_list { 3 } else { 1 }));
        record(&mut field, 5, Payload::Varint(if ty.is_some() { 11 } else { 9 }));
        if let Some(ty) = ty {
            text(&mut field, 6, ty);
        }
        record(&mut message, 2, Payload::Bytes(&field));
    }
    let mut file = Vec::new();
    text(&mut file, 1, "jwt");
    text(&mut file, 2, "jwt");
    record(&mut file, 4, Payload::Bytes(&message));
    text(&mut file, 12, "proto3");
    let mut set = Vec::new();
    record(&mut set, 1, Payload::Bytes(&file));
    // A test builds a token, and so has the type.
    Descriptors::from_bytes(&set).unwrap_or_else(|_| Descriptors::well_known())
});

/// What a token says. Texts that it lacks are empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) audience: &'a [Value<'a>],
    pub(crate) authorized_party: &'a str,
    pub(crate) expires_at: Timestamp,
    pub(crate) not_before: Option<Timestamp>,
    pub(crate) issued_at: Timestamp,
    pub(crate) id: &'a str,
    pub(crate) algorithm: &'a str,
    pub(crate) key_id: &'a str,
    /// All claims as JSON, in one form for equal claims.
    pub(crate) claims: &'a str,
}

impl<'a> Token<'a> {
    /// The token as a value.
    ///
    /// # Errors
    /// `out_of_budget`.
    pub(crate) fn value(&self, cx: &Cx<'a>) -> EvalResult<Value<'a>> {
        let types: &'static Descriptors = &TYPES;
        let ty = types.message(NAME).ok_or(ErrorKind::Host)?;
        let not_before = self.not_before.map_or(Value::Null, Value::Timestamp);
        let values = [
            Value::String(self.issuer),
            Value::String(self.subject),
            Value::List(List::Slice(self.audience)),
            Value::String(self.authorized_party),
            Value::Timestamp(self.expires_at),
            not_before,
            Value::Timestamp(self.issued_at),
            Value::String(self.id),
            Value::String(self.algorithm),
            Value::String(self.key_id),
        ];
        let mut bytes = Buffer::new(cx);
        for (field, value) in ty.fields().iter().zip(&values) {
            write_field(cx, types, field, value, &mut bytes)?;
        }
        bytes.record(CLAIMS, Payload::Bytes(self.claims.as_bytes()))?;
        cx.arena().alloc(Message::of(types, ty, bytes.finish())).map(Value::Message)
    }
}

/// All claims of a token as JSON.
///
/// # Errors
/// `no_such_overload` for another message; `out_of_budget`.
pub(crate) fn claims_of<'a>(cx: &Cx<'a>, message: &Message<'a>) -> EvalResult<&'a [u8]> {
    if !is_token_type(message.types()) {
        return Err(ErrorKind::NoSuchOverload);
    }
    let (_, bytes) = message.in_wire_format(cx)?;
    charge(cx, bytes)?;
    for record in records(bytes) {
        let record = record?;
        if let (CLAIMS, Payload::Bytes(claims)) = (record.number, record.payload) {
            return Ok(claims);
        }
    }
    Err(ErrorKind::NoSuchOverload)
}

/// Whether descriptors are those of tokens.
pub(super) fn is_token_type(types: &Descriptors) -> bool {
    *types == *TYPES
}

/// The descriptors of tokens if these are they: they need not be kept, for they are never freed.
pub(crate) fn without_end(types: &Descriptors) -> Option<&'static Descriptors> {
    is_token_type(types).then(|| &*TYPES)
}
