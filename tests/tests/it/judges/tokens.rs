//! JSON Web Tokens, judged by `serde_json` and by base64 bit by bit.

use super::encoders::{base64, from_base64};
use celero::values::Arena;
use celero::{Bindings, Engine, Env, Scratch, Tier, Type};
use celero_tests::generate::{Owned, Rng};
use serde_json::{Map, Value as Json, json};

/// What is asked of a token `t`, and the claim that it is, or the result where the claim is absent.
const TEXTS: [(&str, &str); 4] = [("issuer", "iss"), ("subject", "sub"), ("azp", "azp"), ("id", "jti")];
const TIMES: [(&str, &str); 3] = [("exp", "exp"), ("iat", "iat"), ("nbf", "nbf")];

/// A value that a claim may have.
fn any(rng: &mut Rng) -> Json {
    match rng.below(9) {
        0 => json!(null),
        1 => json!(""),
        2 => json!(rng.below(2_000_000_000)),
        3 => json!(rng.below(2_000_000_000) as f64 / 8.0),
        4 => json!(["a", "b"]),
        5 => json!({"a": [1, {"b": "x"}]}),
        6 => json!(true),
        _ => json!(*rng.pick(&["a", "b", "é", "https://a"])),
    }
}

/// An object, most of the time with all that a token needs.
fn claims(rng: &mut Rng) -> Map<String, Json> {
    let mut claims = Map::new();
    for (name, usual) in [
        ("iss", json!("a")),
        ("sub", json!("b")),
        ("aud", json!(["a", "b"])),
        ("exp", json!(1_700_000_000)),
        ("iat", json!(1_699_999_999.5)),
    ] {
        if rng.chance(97) {
            claims.insert(name.to_owned(), if rng.chance(95) { usual } else { any(rng) });
        }
    }
    for name in ["azp", "nbf", "jti", "more"] {
        if rng.chance(40) {
            claims.insert(name.to_owned(), any(rng));
        }
    }
    claims
}

fn is_text(value: Option<&Json>) -> bool {
    value.and_then(Json::as_str).is_some_and(|text| !text.is_empty())
}

/// Seconds and nanoseconds of a time; `None` for what is none.
fn time(value: &Json) -> Option<(i64, i64)> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Some((seconds.floor() as i64, ((seconds - seconds.floor()) * 1e9) as i64))
}

/// The audience of claims that are those of a token; `None` if they are not.
fn audience(header: &Map<String, Json>, claims: &Map<String, Json>) -> Option<Vec<String>> {
    let whole = is_text(header.get("alg")) && is_text(claims.get("iss")) && is_text(claims.get("sub"));
    time(claims.get("exp")?)?;
    time(claims.get("iat")?)?;
    if let Some(nbf) = claims.get("nbf").filter(|nbf| !nbf.is_null()) {
        time(nbf)?;
    }
    let audience = match claims.get("aud")? {
        Json::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let is_whole = whole && !audience.is_empty() && audience.iter().all(|one| is_text(Some(one)));
    is_whole.then(|| audience.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
}

/// A claim as a value: numbers are doubles.
fn claim(json: &Json) -> Owned {
    match json {
        Json::Null => Owned::Null,
        Json::Bool(value) => Owned::Bool(*value),
        Json::Number(number) => Owned::Double(number.as_f64().unwrap()),
        Json::String(text) => Owned::String(text.clone()),
        Json::Array(all) => Owned::List(all.iter().map(claim).collect()),
        Json::Object(all) => Owned::Map(all.iter().map(|(k, v)| (Owned::String(k.clone()), claim(v))).collect()),
    }
}

#[test]
fn tokens_say_what_their_claims_are() {
    let mut rng = Rng::new(super::number("CELERO_SEED", 11));
    let env = Env::dynamic().variable("text", Type::String);
    let mut sources: Vec<String> = Vec::new();
    for (field, _) in TEXTS.iter().chain(&TIMES) {
        sources.push(format!("jwt.parse(text).value().{field}"));
        sources.push(format!("has(jwt.parse(text).value().{field})"));
    }
    sources.push("jwt.parse(text).value().aud".to_owned());
    sources.push("jwt.parse(text).claim('more')".to_owned());
    sources.push("jwt.parse(text).value().claim('aud')".to_owned());
    sources.push("jwt.parse(text).presentedBy('a', 'b')".to_owned());
    let programs: Vec<_> = [Tier::Interpret, Tier::Native]
        .map(|tier| {
            let engine = Engine::builder().tier(tier).build();
            sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect::<Vec<_>>()
        })
        .into();
    let (mut scratch, mut valid, mut refused) = (Scratch::new(), 0, 0);
    for _ in 0..super::number("CELERO_JUDGED_CASES", 2_000) {
        let header = if rng.chance(95) { json!({"alg": "RS256", "kid": "k"}) } else { json!({"alg": any(&mut rng)}) };
        let claims = claims(&mut rng);
        let part = |json: &str, rng: &mut Rng| {
            let last = if rng.chance(80) { "-_" } else { "+/" };
            base64(json.as_bytes(), last, rng.chance(20))
        };
        let mut text = part(&header.to_string(), &mut rng) + ".";
        text += &part(&Json::Object(claims.clone()).to_string(), &mut rng);
        if rng.chance(80) {
            text += ".c2ln";
        }
        if rng.chance(20) {
            text = format!(" BEARER  {text}\n");
        }
        // The parts are what they were made of.
        let claims_part = text.split('.').nth(1).unwrap().trim();
        let decoded = ["-_", "+/"].iter().find_map(|last| from_base64(claims_part, last, true)).unwrap();
        assert_eq!(serde_json::from_slice::<Json>(&decoded).unwrap(), Json::Object(claims.clone()));
        let audience = audience(header.as_object().unwrap(), &claims);
        *(if audience.is_some() { &mut valid } else { &mut refused }) += 1;
        let wanted = audience.map(|audience| {
            let mut wanted = Vec::new();
            for (_, name) in TEXTS {
                let text = claims.get(name).and_then(Json::as_str).unwrap_or_default();
                wanted.push(Owned::String(text.to_owned()));
                wanted.push(Owned::Bool(!text.is_empty()));
            }
            for (_, name) in TIMES {
                let time = claims.get(name).and_then(time);
                let (seconds, nanos) = time.unwrap_or_default();
                wanted.push(Owned::Timestamp(seconds, nanos));
                wanted.push(Owned::Bool(time.is_some()));
            }
            wanted.push(Owned::List(audience.iter().cloned().map(Owned::String).collect()));
            for name in ["more", "aud"] {
                let found = claims.get(name).filter(|value| !value.is_null());
                wanted.push(Owned::Optional(found.map(|value| Box::new(claim(value)))));
            }
            let party = claims.get("azp").and_then(Json::as_str).unwrap_or_default();
            let presented = if party.is_empty() { audience.iter().any(|one| one == "b") } else { party == "b" };
            wanted.push(Owned::Bool(claims["iss"] == "a" && presented));
            wanted
        });
        let mut bindings = Bindings::new(&env);
        let arena = Arena::new(1 << 20);
        bindings.set("text", Owned::String(text.clone()).in_arena(&arena).unwrap()).unwrap();
        for (at, source) in sources.iter().enumerate() {
            for programs in &programs {
                let shown = Arena::new(1 << 20);
                let result = programs[at].eval(&bindings, &mut scratch);
                let result = result.map(|value| Owned::of(&value, &shown).unwrap());
                match (&wanted, result) {
                    (Some(wanted), Ok(result)) => {
                        assert!(wanted[at].same(&result), "{source} of {text}: {result}, judge: {}", wanted[at]);
                    }
                    (None, Err(error)) => assert_eq!(error.kind.name(), "invalid_argument", "{source} of {text}"),
                    (wanted, result) => panic!("{source} of {text}: {result:?}, judge: {:?}", wanted.is_some()),
                }
            }
        }
    }
    assert!(valid > 500 && refused > 100, "{valid} tokens, {refused} others");
}
