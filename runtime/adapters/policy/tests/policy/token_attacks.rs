//! Tokens as an attacker writes them, and policies with many keys.

use crate::support::{Folder, exchange, head, status};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use celero_policy::Policy;
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use serde_json::{Value as Json, json};

const TAKE: &str = "request:\n- when: '!has(jwt.sub)'\n  deny: 401\n";

fn part(json: &Json) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// Signs any header and any claims, whatever they say.
fn signed(header: &Json, claims: &Json, secret: &[u8]) -> String {
    signed_text(&part(header), &part(claims), secret)
}

fn signed_text(header: &str, claims: &str, secret: &[u8]) -> String {
    let message = format!("{header}.{claims}");
    let key = EncodingKey::from_secret(secret);
    let signature = crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
    format!("{message}.{signature}")
}

fn claims() -> Json {
    json!({ "sub": "ada", "exp": jsonwebtoken::get_current_timestamp() + 600 })
}

fn secret(number: usize) -> String {
    format!("secret number {number:06} of many")
}

/// A policy with this many secrets; the ids are `k0`, `k1`, .. if `named`.
fn with_secrets(count: usize, named: bool) -> Policy {
    let folder = Folder::new(&format!("secrets-{count}-{named}"));
    let keys: Vec<Json> = (0..count)
        .map(|number| {
            let k = URL_SAFE_NO_PAD.encode(secret(number));
            if named {
                json!({ "kty": "oct", "alg": "HS256", "k": k, "kid": format!("k{number}") })
            } else {
                json!({ "kty": "oct", "alg": "HS256", "k": k })
            }
        })
        .collect();
    folder.write("keys.json", json!({ "keys": keys }).to_string());
    let file = folder.write("policy.yaml", format!("jwt: {{keys: [{{jwks: keys.json}}]}}\n{TAKE}"));
    Policy::load(&file).unwrap()
}

fn takes(policy: &Policy, token: &str) -> bool {
    let head = head("GET /", &[("authorization", &format!("Bearer {token}"))]);
    status(policy.request(&mut head.clone(), &mut exchange())) == 0
}

#[test]
fn critical_header_parameters_are_refused() {
    let policy = with_secrets(1, false);
    let secret = secret(0);
    let check = |header: Json| takes(&policy, &signed(&header, &claims(), secret.as_bytes()));
    assert!(check(json!({ "alg": "HS256", "typ": "JWT" })));
    // RFC 7515, section 4: unknown parameters are ignored, unless section 4.1.11 makes them critical.
    assert!(check(json!({ "alg": "HS256", "http://example.com/x": true, "jku": "http://127.0.0.1:1/", "b64": false })));
    for crit in [json!(["exp"]), json!(["http://example.com/x"]), json!(["b64"]), json!([]), json!("b64"), json!(null)]
    {
        let header = json!({ "alg": "HS256", "crit": crit, "exp": 1, "b64": true, "http://example.com/x": true });
        assert!(!check(header), "crit {crit}");
    }
}

#[test]
fn headers_and_claims_have_the_right_types() {
    let policy = with_secrets(1, false);
    let secret = secret(0);
    for header in [
        json!({}),
        json!([]),
        json!({ "alg": 1 }),
        json!({ "alg": ["HS256"] }),
        json!({ "alg": "hs256" }),
        json!({ "alg": "none" }),
        json!({ "alg": "HS256", "kid": 7 }),
        json!({ "alg": "HS256", "kid": ["a"] }),
    ] {
        assert!(!takes(&policy, &signed(&header, &claims(), secret.as_bytes())), "{header}");
    }
    let header = json!({ "alg": "HS256" });
    let with = |name: &str, value: Json| {
        let mut claims = claims();
        claims[name] = value;
        takes(&policy, &signed(&header, &claims, secret.as_bytes()))
    };
    for (name, wrong) in [
        ("exp", json!("4102444800")),
        ("exp", json!(null)),
        ("exp", json!(-1)),
        ("exp", json!([4_102_444_800_u64])),
        ("nbf", json!("0")),
        ("nbf", json!({})),
        ("aud", json!(5)),
        ("aud", json!({})),
        ("aud", json!([])),
    ] {
        assert!(!with(name, wrong.clone()), "{name} {wrong}");
    }
    assert!(with("exp", json!(4_102_444_800.5)) && with("exp", json!(1e300)));
    for early in [json!(0), json!(-1), json!(-1.5), json!(-1e300)] {
        assert!(with("nbf", early.clone()), "{early}");
    }
    assert!(!takes(
        &policy,
        &signed_text(&part(&header), &URL_SAFE_NO_PAD.encode("[".repeat(9_000)), secret.as_bytes())
    ));
    // A token has one spelling: no padding, no other alphabet, nothing around it.
    let good = signed(&header, &claims(), secret.as_bytes());
    assert!(takes(&policy, &good));
    for wrong in
        [format!("{good}="), format!("{good}."), format!(".{good}"), format!("{good}.{good}"), format!("{good}\u{e9}")]
    {
        assert!(!takes(&policy, &wrong), "{wrong}");
    }
    let last = good.char_indices().next_back().unwrap().0;
    let spellings = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_', '+', '/']);
    let taken = spellings.filter(|c| takes(&policy, &format!("{}{c}", &good[..last]))).count();
    assert_eq!(taken, 1, "unused bits of the last character are 0");
}

#[test]
fn any_number_of_keys_is_tried() {
    for named in [true, false] {
        let policy = with_secrets(200, named);
        for number in [0, 7, 8, 100, 199] {
            let secret = secret(number);
            let without = signed(&json!({ "alg": "HS256" }), &claims(), secret.as_bytes());
            assert!(takes(&policy, &without), "key {number}, named {named}, a token without `kid`");
            let with = signed(&json!({ "alg": "HS256", "kid": format!("k{number}") }), &claims(), secret.as_bytes());
            assert!(takes(&policy, &with), "key {number}, named {named}, a token with its `kid`");
            let other = signed(&json!({ "alg": "HS256", "kid": "k1" }), &claims(), secret.as_bytes());
            assert_eq!(takes(&policy, &other), !named, "key {number}, named {named}, another `kid`");
        }
        assert!(!takes(&policy, &signed(&json!({ "alg": "HS256" }), &claims(), secret(200).as_bytes())));
        for kid in ["", "k200", "../../dev/null", "k1' OR '1'='1", &"k".repeat(5_000)] {
            let token = signed(&json!({ "alg": "HS256", "kid": kid }), &claims(), secret(200).as_bytes());
            assert!(!takes(&policy, &token), "{kid}");
        }
    }
}

#[test]
fn a_remembered_token_expires() {
    let folder = Folder::new("expiring");
    folder.write("secret", secret(0));
    let text = format!("jwt: {{keys: [{{secret: secret, algorithm: HS256}}], leeway: 0s}}\n{TAKE}");
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    let (now, token) = loop {
        let now = jsonwebtoken::get_current_timestamp();
        let claims = json!({ "sub": "ada", "exp": now + 1 });
        let token = signed(&json!({ "alg": "HS256" }), &claims, secret(0).as_bytes());
        let taken = [takes(&policy, &token), takes(&policy, &token)];
        // Else it may have expired between.
        if jsonwebtoken::get_current_timestamp() <= now {
            assert_eq!(taken, [true; 2]);
            break (now, token);
        }
    };
    while jsonwebtoken::get_current_timestamp() <= now + 1 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!takes(&policy, &token));
}
