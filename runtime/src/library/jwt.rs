//! The jwt library (cel-go's `ext/security/jwt`): what JSON Web Tokens say. It does not verify their signatures.

use super::encoders::{BASE64, BASE64_URL, base64_decode};
use super::json;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::message::{self, Message, Token};
use crate::value::{List, Map, Timestamp, Value};
use celero_ir::ErrorKind::{self, InvalidArgument, NoSuchOverload, OutOfBudget};

type Optional<'a> = Option<&'a Value<'a>>;

const BEARER: &str = "bearer ";

/// `jwt.parse(text)`: the token, after the word `Bearer` if that is there. It is never absent: what is no token is an
/// error.
///
/// # Errors
/// `invalid_argument` for text that is not two or three parts in base64, of which the first is an object with `alg` and
/// the second one with `iss`, `sub`, `aud`, `exp` and `iat`; `out_of_budget`.
pub(super) fn parse<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<Optional<'a>> {
    cx.charge_each_byte(text.len())?;
    let token = token(cx, without_scheme(text.trim())).map_err(|error| match error {
        OutOfBudget => OutOfBudget,
        _ => InvalidArgument,
    })?;
    cx.arena().alloc(token).map(Some)
}

fn without_scheme(text: &str) -> &str {
    match text.split_at_checked(BEARER.len()) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(BEARER) => token.trim(),
        _ => text,
    }
}

fn token<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<Value<'a>> {
    let mut parts = text.splitn(4, '.');
    let (Some(header), Some(claims), _, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(InvalidArgument);
    };
    let header = object(cx, header)?;
    let claims = object(cx, claims)?;
    let all = Value::Map(claims);
    let (header, claims) = (Members { cx, map: header }, Members { cx, map: claims });
    let time = |value: Value<'a>| json::timestamp_of(cx, &value);
    // cel-go takes the earliest time for none.
    let required = |name| match time(claims.get(name)?) {
        Ok(found) if found.seconds == Timestamp::MIN_SECONDS && found.nanos == 0 => Err(InvalidArgument),
        other => other,
    };
    Token {
        algorithm: header.required_text("alg")?,
        key_id: header.text("kid")?,
        issuer: claims.required_text("iss")?,
        subject: claims.required_text("sub")?,
        audience: claims.audience()?,
        authorized_party: claims.text("azp")?,
        expires_at: required("exp")?,
        issued_at: required("iat")?,
        not_before: match claims.get("nbf")? {
            Value::Null => None,
            value => Some(time(value)?).filter(|time| time.seconds != Timestamp::MIN_SECONDS || time.nanos != 0),
        },
        id: claims.text("jti")?,
        claims: json::to_json(cx, &all)?,
    }
    .value(cx)
}

/// The object that a part of a token stands for, in base64 of either alphabet.
fn object<'a>(cx: &Cx<'a>, part: &str) -> EvalResult<Map<'a>> {
    let bytes = match base64_decode(cx, &BASE64_URL, part) {
        Err(InvalidArgument) => base64_decode(cx, &BASE64, part)?,
        decoded => decoded?,
    };
    json::object_of_doubles(cx, bytes)
}

struct Members<'c, 'a> {
    cx: &'c Cx<'a>,
    map: Map<'a>,
}

impl<'a> Members<'_, 'a> {
    /// The value of a key, or null.
    fn get(&self, key: &'static str) -> EvalResult<Value<'a>> {
        Ok(self.map.find(&Value::String(key), self.cx)?.unwrap_or(Value::Null))
    }

    /// The text of a key; of what is no text, none.
    fn text(&self, key: &'static str) -> EvalResult<&'a str> {
        Ok(match self.get(key)? {
            Value::String(text) => text,
            _ => "",
        })
    }

    fn required_text(&self, key: &'static str) -> EvalResult<&'a str> {
        match self.text(key)? {
            "" => Err(InvalidArgument),
            text => Ok(text),
        }
    }

    /// The audience: a text or a list of texts, none of them empty.
    fn audience(&self) -> EvalResult<&'a [Value<'a>]> {
        let audience = match self.get("aud")? {
            Value::List(List::Slice(texts)) => texts,
            text => std::slice::from_ref(self.cx.arena().alloc(text)?),
        };
        self.cx.charge(audience.len())?;
        let is_text = |value: &Value<'_>| matches!(value, Value::String(text) if !text.is_empty());
        if audience.is_empty() || !audience.iter().all(is_text) { Err(InvalidArgument) } else { Ok(audience) }
    }
}

/// `token.claim(name)`: absent if the token has no such claim, or it is null. Numbers are doubles.
pub(super) fn claim<'a>(cx: &Cx<'a>, token: &Message<'a>, name: &str) -> EvalResult<Optional<'a>> {
    cx.charge_bytes(name.len())?;
    match json::member_with_doubles(cx, message::claims_of(cx, token)?, name)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => cx.arena().alloc(value).map(Some),
    }
}

/// `optional.claim(name)`: as of the token, absent without one.
pub(super) fn claim_of_optional<'a>(cx: &Cx<'a>, token: Optional<'a>, name: &str) -> EvalResult<Optional<'a>> {
    match token {
        None => Ok(None),
        Some(Value::Message(token)) => claim(cx, token, name),
        Some(_) => Err(NoSuchOverload),
    }
}

/// `token.presentedBy(issuer, presenter)`: whether the token is of this issuer and its `azp` is the presenter; without
/// `azp`, whether one of its `aud` is.
pub(super) fn presented_by<'a>(cx: &Cx<'a>, token: &Message<'a>, issuer: &str, presenter: &str) -> EvalResult<bool> {
    // Of a message of the host that has the name, nothing is known.
    message::claims_of(cx, token)?;
    cx.charge_bytes(issuer.len().saturating_add(presenter.len()))?;
    let text = |name| match message::select(cx, token, name)? {
        Value::String(text) => Ok::<_, ErrorKind>(text),
        _ => Err(NoSuchOverload),
    };
    if text("issuer")? != issuer {
        return Ok(false);
    }
    let party = text("azp")?;
    if !party.is_empty() {
        return Ok(party == presenter);
    }
    match message::select(cx, token, "aud")? {
        Value::List(List::Slice(audience)) => {
            Ok(audience.iter().any(|one| matches!(one, Value::String(text) if *text == presenter)))
        }
        _ => Err(NoSuchOverload),
    }
}

/// `optional.presentedBy(issuer, presenter)`: as of the token, false without one.
pub(super) fn presented_by_of_optional<'a>(
    cx: &Cx<'a>,
    token: Optional<'a>,
    issuer: &str,
    presenter: &str,
) -> EvalResult<bool> {
    match token {
        None => Ok(false),
        Some(Value::Message(token)) => presented_by(cx, token, issuer, presenter),
        Some(_) => Err(NoSuchOverload),
    }
}
