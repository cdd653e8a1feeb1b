//! Tokens, keys and passwords: what is right is taken, and nothing else.

use crate::support::{Folder, answer, ask, edits, exchange, head, log, policy, status};
use celero_policy::{ClientCertificate, Exchange, Policy};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn keys() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys")
}

fn key_file(name: &str) -> Vec<u8> {
    std::fs::read(keys().join(name)).unwrap()
}

fn signing(algorithm: Algorithm) -> EncodingKey {
    use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512};
    match algorithm {
        HS256 | HS384 | HS512 => EncodingKey::from_secret(SECRET.as_bytes()),
        ES256 => EncodingKey::from_ec_pem(&key_file("ec.pem")).unwrap(),
        ES384 => EncodingKey::from_ec_pem(&key_file("ec384.pem")).unwrap(),
        EdDSA => EncodingKey::from_ed_pem(&key_file("ed.pem")).unwrap(),
        _ => EncodingKey::from_rsa_pem(&key_file("rsa.pem")).unwrap(),
    }
}

const ALGORITHMS: [(Algorithm, &str); 12] = {
    use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512, PS256, PS384, PS512, RS256, RS384, RS512};
    [
        (HS256, "secret"),
        (HS384, "secret"),
        (HS512, "secret"),
        (RS256, "rsa.pub.pem"),
        (RS384, "rsa.pub.pem"),
        (RS512, "rsa.pub.pem"),
        (PS256, "rsa.pub.pem"),
        (PS384, "rsa.pub.pem"),
        (PS512, "rsa.pub.pem"),
        (ES256, "ec.pub.pem"),
        (ES384, "ec384.pub.pem"),
        (EdDSA, "ed.pub.pem"),
    ]
};

fn now() -> u64 {
    jsonwebtoken::get_current_timestamp()
}

fn good_claims() -> Json {
    json!({ "sub": "ada", "exp": now() + 600, "roles": ["admin", "dev"], "level": 3, "org": { "name": "a" } })
}

fn token(algorithm: Algorithm, claims: &Json) -> String {
    encode(&Header::new(algorithm), claims, &signing(algorithm)).unwrap()
}

/// A policy that lets by who has a token, and says who that is.
fn verifying(settings: &str, key: &str) -> Policy {
    let rules = r#"
request:
  - when: '!has(jwt.sub)'
    deny: 401
  - setHeaders: {x-user: "${jwt.sub}"}
"#;
    let folder = Folder::new(&format!("jwt-{}", fastrand::u64(..)));
    folder.write("secret", format!("{SECRET}\n"));
    for file in ["rsa.pub.pem", "ec.pub.pem", "ec384.pub.pem", "ed.pub.pem"] {
        folder.write(file, key_file(file));
    }
    Policy::load(folder.write("policy.yaml", format!("jwt: {{keys: [{{{key}}}], {settings}}}\n{rules}"))).unwrap()
}

fn key_of(algorithm: Algorithm, file: &str) -> String {
    let kind = if file == "secret" { "secret" } else { "pem" };
    format!("{kind}: {file}, algorithm: {algorithm:?}")
}

/// Whether a policy takes a token.
fn takes(policy: &Policy, token: &str) -> bool {
    let mut exchange = exchange();
    let outcome = ask(policy, &head("GET /", &[("authorization", &format!("Bearer {token}"))]), &mut exchange);
    let taken = status(outcome) == 0;
    assert_eq!(edits(&exchange).len(), usize::from(taken));
    taken
}

#[test]
fn tokens_are_verified_in_every_algorithm() {
    for (algorithm, file) in ALGORITHMS {
        let policy = verifying("", &key_of(algorithm, file));
        let good = token(algorithm, &good_claims());
        assert!(takes(&policy, &good), "{algorithm:?}");
        // A byte of the signature, and one of the claims.
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let changed = |text: &str| {
            let (at, new) = (text.len() / 2, if &text[text.len() / 2..=text.len() / 2] == "A" { "B" } else { "A" });
            format!("{}{new}{}", &text[..at], &text[at + 1..])
        };
        assert!(!takes(&policy, &format!("{signed}.{}", changed(signature))), "{algorithm:?}");
        let (header, claims) = signed.split_once('.').unwrap();
        assert!(!takes(&policy, &format!("{header}.{}.{signature}", changed(claims))), "{algorithm:?}");
        assert!(!takes(&policy, &format!("{signed}.")), "{algorithm:?}");
        assert!(!takes(&policy, signed), "{algorithm:?}");
        let expired = json!({ "sub": "ada", "exp": now() - 120 });
        assert!(!takes(&policy, &token(algorithm, &expired)), "{algorithm:?}");
        // Tokens of the others.
        for (other, _) in ALGORITHMS.iter().filter(|(other, _)| *other != algorithm) {
            assert!(!takes(&policy, &token(*other, &good_claims())), "{other:?} for {algorithm:?}");
        }
    }
}

#[test]
fn algorithms_are_not_the_tokens_choice() {
    for file in ["rsa.pub.pem", "ec.pub.pem", "ed.pub.pem"] {
        let algorithm = match file {
            "rsa.pub.pem" => Algorithm::RS256,
            "ec.pub.pem" => Algorithm::ES256,
            _ => Algorithm::EdDSA,
        };
        let policy = verifying("", &key_of(algorithm, file));
        // The public key, which everybody has, as the secret of an HMAC.
        for secret in [key_file(file), key_file(file).trim_ascii().to_vec()] {
            let forged =
                encode(&Header::new(Algorithm::HS256), &good_claims(), &EncodingKey::from_secret(&secret)).unwrap();
            assert!(!takes(&policy, &forged), "{file}");
        }
    }
    use base64::Engine as _;
    let part = |json: Json| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json.to_string());
    for (algorithm, file) in [(Algorithm::RS256, "rsa.pub.pem"), (Algorithm::HS256, "secret")] {
        let policy = verifying("", &key_of(algorithm, file));
        for none in ["none", "None", "NONE", ""] {
            let unsigned = format!("{}.{}.", part(json!({ "alg": none, "typ": "JWT" })), part(good_claims()));
            assert!(!takes(&policy, &unsigned), "{none}");
        }
        for junk in ["", ".", "..", "...", "a.b.c", &"x".repeat(100_000)] {
            assert!(!takes(&policy, junk));
        }
    }
    // Another key of the same kind.
    let policy = verifying("", &key_of(Algorithm::RS256, "rsa.pub.pem"));
    let other = EncodingKey::from_rsa_pem(&key_file("other.pem")).unwrap();
    assert!(!takes(&policy, &encode(&Header::new(Algorithm::RS256), &good_claims(), &other).unwrap()));
}

#[test]
fn claims_decide_whether_a_token_is_taken() {
    let key = key_of(Algorithm::HS256, "secret");
    let check = |settings: &str, claims: Json| takes(&verifying(settings, &key), &token(Algorithm::HS256, &claims));
    let exp = now() + 600;
    assert!(!check("", json!({ "sub": "a" })), "without expiry");
    assert!(check("", json!({ "sub": "a", "exp": now() - 30 })), "within the leeway");
    assert!(!check("leeway: 5s", json!({ "sub": "a", "exp": now() - 30 })));
    assert!(!check("", json!({ "sub": "a", "exp": exp, "nbf": now() + 300 })), "not yet");
    assert!(check("issuers: [x, y]", json!({ "sub": "a", "exp": exp, "iss": "y" })));
    assert!(!check("issuers: [x]", json!({ "sub": "a", "exp": exp, "iss": "z" })));
    assert!(!check("issuers: [x]", json!({ "sub": "a", "exp": exp })));
    assert!(check("audiences: [me]", json!({ "sub": "a", "exp": exp, "aud": ["you", "me"] })));
    assert!(!check("audiences: [me]", json!({ "sub": "a", "exp": exp, "aud": "you" })));
    assert!(!check("audiences: [me]", json!({ "sub": "a", "exp": exp })));
    assert!(!check("", json!({ "sub": "a", "exp": exp, "aud": "you" })), "for somebody else");
    assert!(!check("", json!({ "exp": exp })), "no subject: the rule of the policy denies");
    assert!(!check("", json!(["a"])));
}

#[test]
fn tokens_are_found_where_the_policy_says() {
    let key = key_of(Algorithm::HS256, "secret");
    let good = token(Algorithm::HS256, &good_claims());
    let ask = |policy: &Policy, headers: &[(&str, &str)]| status(ask(policy, &head("GET /", headers), &mut exchange()));
    let policy = verifying("", &key);
    assert_eq!(ask(&policy, &[("authorization", &format!("bEARER  {good}"))]), 0);
    assert_eq!(ask(&policy, &[("authorization", &good)]), 401);
    assert_eq!(ask(&policy, &[("authorization", &format!("Basic {good}"))]), 401);
    let twice = format!("Bearer {good}");
    assert_eq!(ask(&policy, &[("authorization", &twice), ("authorization", &twice)]), 400);
    let header = verifying("header: x-token", &key);
    assert_eq!(ask(&header, &[("x-token", &good)]), 0);
    assert_eq!(ask(&header, &[("x-token", &good), ("x-token", &good)]), 401);
    let cookie = verifying("cookie: session", &key);
    assert_eq!(ask(&cookie, &[("cookie", &format!("a=b; session={good}; c=d"))]), 0);
    assert_eq!(ask(&cookie, &[("cookie", &format!("session={good}; session={good}"))]), 401);
}

#[test]
fn key_sets_choose_by_id_and_kind() {
    use jsonwebtoken::jwk::Jwk;
    let folder = Folder::new("jwks");
    let jwk = |algorithm: Algorithm, id: &str, named: bool| {
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&signing(algorithm), algorithm).unwrap()).unwrap();
        jwk["kid"] = json!(id);
        if !named {
            jwk.as_object_mut().unwrap().remove("alg");
        }
        jwk
    };
    let mut encryption = jwk(Algorithm::RS384, "enc", true);
    encryption["use"] = json!("enc");
    let set = json!({ "keys": [
        jwk(Algorithm::RS256, "rsa", true),
        jwk(Algorithm::ES256, "ec", false),
        jwk(Algorithm::EdDSA, "ed", false),
        encryption,
    ] });
    folder.write("keys.json", set.to_string());
    let text = "jwt: {keys: [{jwks: keys.json}]}\nrequest:\n- when: '!has(jwt.sub)'\n  deny: 401\n";
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    assert_eq!(policy.files(), [folder.path("policy.yaml"), folder.path("keys.json")]);
    let takes = |algorithm: Algorithm, id: Option<&str>| {
        let header = Header { kid: id.map(str::to_owned), ..Header::new(algorithm) };
        let token = encode(&header, &good_claims(), &signing(algorithm)).unwrap();
        let head = head("GET /", &[("authorization", &format!("Bearer {token}"))]);
        status(ask(&policy, &head, &mut exchange())) == 0
    };
    assert!(takes(Algorithm::RS256, Some("rsa")) && takes(Algorithm::RS256, None));
    assert!(takes(Algorithm::ES256, Some("ec")) && takes(Algorithm::EdDSA, Some("ed")));
    assert!(!takes(Algorithm::RS256, Some("ec")), "another key's id");
    assert!(!takes(Algorithm::RS512, Some("rsa")), "another algorithm than the key's");
    assert!(!takes(Algorithm::RS384, Some("enc")), "a key for encryption");
    assert!(!takes(Algorithm::HS256, None));
}

#[test]
fn claims_are_values_of_rules_in_all_phases() {
    let folder = Folder::new("claims");
    folder.write("secret", SECRET);
    let text = r#"
jwt: {keys: [{secret: secret, algorithm: HS256}]}
request:
  - removeHeaders: [authorization]
log:
  - when: '"admin" in jwt.roles && jwt.level > 2 && jwt.org.name == "a" && jwt.roles.exists(r, r == "dev") && !has(jwt.none)'
    logFields: {who: "${jwt.sub}", org: "${jwt.org}", size: "${size(jwt.roles)}", all: "${jwt.all(k, k != 'x')}"}
"#;
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    let token = token(Algorithm::HS256, &good_claims());
    let mut head = head("GET /", &[("authorization", &format!("Bearer {token}"))]);
    let mut exchange = exchange();
    assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
    // The header is gone when the claims are read.
    exchange.edits().apply_to_request(&mut head);
    assert!(!head.headers.contains_key("authorization"));
    let fields = log(&policy, &head, None, &mut exchange);
    assert_eq!(fields.to_string(), r#"{"who":"ada","org":{"name":"a"},"size":2,"all":true}"#);
    exchange.reset(None, None);
    assert!(log(&policy, &head, None, &mut exchange).is_empty());
}

#[test]
fn faulty_keys_are_refused() {
    let folder = Folder::new("faulty");
    folder.write("short", "secret");
    folder.write("rsa.pem", key_file("rsa.pub.pem"));
    folder.write("rsa1024.pem", key_file("rsa1024.pub.pem"));
    let modulus = format!("AA{}", "v".repeat(170)); // 1,024 bits after a zero byte
    folder.write("rsa1024.json", json!({ "keys": [{ "kty": "RSA", "n": modulus, "e": "AQAB" }] }).to_string());
    folder.write("junk", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n");
    folder.write("set.json", r#"{"keys": [{"kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB"}]}"#);
    for (key, why) in [
        ("secret: short, algorithm: HS256", "fewer than 16 bytes"),
        ("pem: rsa1024.pem, algorithm: PS256", "fewer than 2048 bits"),
        ("jwks: rsa1024.json", "no key with a supported"),
        ("secret: rsa.pem, algorithm: HS256", "which may be public"),
        ("secret: rsa.pem, algorithm: RS256", "uses a public key"),
        ("pem: rsa.pem, algorithm: HS256", "uses a `secret`"),
        ("pem: rsa.pem, algorithm: ES256", "not a public key for ES256"),
        ("pem: junk, algorithm: EdDSA", "not a public key for EdDSA"),
        ("pem: rsa.pem", "needs its `algorithm`"),
        ("pem: rsa.pem, algorithm: none", "one of `HS256`"),
        ("algorithm: RS256", "needs one of"),
        ("jwks: set.json", "no key with a supported signature algorithm"),
        ("jwks: rsa.pem", "not a JSON Web Key Set"),
        ("jwks: gone.json", "gone.json can't be read"),
    ] {
        let file = folder.write("policy.yaml", format!("jwt: {{keys: [{{{key}}}]}}\n"));
        let error = Policy::load(&file).unwrap_err().to_string();
        assert!(error.contains(why), "{key}: {error}");
        assert!(error.contains("policy.yaml:1:"), "{error}");
    }
}

#[test]
fn api_keys_are_known_by_their_hashes() {
    // printf %s key-1 | sha256sum
    let hash = "57a5b7d8c1b8a1d2a1ce1f8dc1d6c6f5e0bb8cfb3a7d0c9b0f2f0e0d5c4b3a29";
    let text = r#"
apiKey: {keys: [{name: ci, sha256: HASH, metadata: {team: infra}}]}
request:
  - when: apiKey.team == "infra"
    setHeaders: {x-client: "${apiKey.name}"}
  - when: '!has(apiKey.name)'
    deny: 401
"#;
    let digest: String = {
        use sha2::Digest;
        sha2::Sha256::digest(b"key-1").iter().map(|byte| format!("{byte:02X}")).collect()
    };
    let policy = crate::support::policy(&text.replace("HASH", &digest));
    let mut exchange = exchange();
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-api-key", "key-1")]), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-client = ci"]);
    for wrong in [&[("x-api-key", "key-2")][..], &[], &[("x-api-key", "key-1"), ("x-api-key", "key-1")]] {
        exchange.reset(None, None);
        assert_eq!(status(ask(&policy, &head("GET /", wrong), &mut exchange)), 401);
    }
    assert!(crate::support::wrong(&text.replace("HASH", &hash[1..])).contains("64 digits"));
}

#[test]
fn users_have_passwords() {
    use base64::Engine as _;
    let folder = Folder::new("users");
    let hash = bcrypt::hash("pass:word", 4).unwrap();
    folder.write("users", format!("# who\nada:{hash}\n\n"));
    let text = "basicAuth: {users: users}\nrequest:\n- when: basicAuth.username != 'ada'\n  deny: {status: 401}\n";
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    let ask = |value: &str| status(ask(&policy, &head("GET /", &[("authorization", value)]), &mut Exchange::default()));
    let basic = |text: &str| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text));
    for _ in 0..2 {
        assert_eq!(ask(&basic("ada:pass:word")), 0);
        assert_eq!(ask(&basic("ada:wrong")), 401);
        assert_eq!(ask(&basic("eve:pass:word")), 401);
        assert_eq!(ask(&basic("ada")), 401);
        assert_eq!(ask("Basic !"), 401);
        assert_eq!(ask("Bearer x"), 401);
    }
    folder.write("users", "ada:plain\n");
    let error = Policy::load(folder.path("policy.yaml")).unwrap_err().to_string();
    assert!(error.contains("users:1 is not `name:hash`"), "{error}");
}

/// A peer that terminates TLS for others is not the client, whatever certificate it has itself.
#[test]
fn the_certificate_of_a_trusted_peer_is_not_the_clients() {
    let who = |section: &str, headers: &[(&str, &str)]| {
        let text = format!(
            "clientCert: {section}\nrequest: [{{respond: {{body: \"${{clientCert[?'subject'].orValue('nobody')}}\"}}}}]\n"
        );
        let mut exchange = exchange();
        exchange.set_client_certificate(ClientCertificate::new("CN=shown", "00", &[], &[]));
        let answer = answer(ask(&policy(&text), &head("GET /", headers), &mut exchange));
        String::from_utf8(answer.body.to_vec()).unwrap()
    };
    let (named, malformed) =
        ([("x-forwarded-client-cert", "Subject=\"CN=named\"")], [("x-forwarded-client-cert", "x")]);
    for elsewhere in ["{}", "{trusted: [198.51.100.0/24]}"] {
        for headers in [&[][..], &named, &malformed] {
            assert_eq!(who(elsewhere, headers), "CN=shown", "{elsewhere} {headers:?}");
        }
    }
    let trusted = "{trusted: [192.0.2.0/24]}";
    assert_eq!(who(trusted, &named), "CN=named");
    assert_eq!(who(trusted, &malformed), "nobody");
    assert_eq!(who(trusted, &[]), "nobody");
}

#[test]
fn a_certificate_is_of_one_request() {
    let policy = policy("clientCert: {}\nrequest: [{when: has(clientCert.subject), deny: true}]\n");
    let mut exchange = exchange();
    exchange.set_client_certificate(ClientCertificate::new("CN=shown", "00", &[], &[]));
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange)), 403);
    exchange.reset(None, None);
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange)), 0);
}

#[test]
fn headers_with_credentials_are_named() {
    let of = |text: &str| -> Vec<String> {
        let policy = Policy::parse("policy.yaml", text, Path::new("/nowhere")).unwrap();
        policy.credential_headers().map(|name| name.as_str().to_owned()).collect()
    };
    let key = format!("keys: [{{ name: a, sha256: {} }}]", "a".repeat(64));
    let token = "keys: [{ jwksUrl: 'https://issuer.example/keys' }]";
    assert_eq!(of("empty: allowed\n"), [""; 0]);
    assert_eq!(of(&format!("apiKey: {{ {key} }}\n")), ["x-api-key"]);
    assert_eq!(of(&format!("apiKey: {{ header: X-Team-Key, {key} }}\n")), ["x-team-key"]);
    assert_eq!(of(&format!("jwt: {{ {token} }}\n")), ["authorization"]);
    assert_eq!(
        of(&format!(
            "jwt: {{ header: x-token, {token} }}\napiKey: {{ {key} }}\nclientCert: {{ trusted: [10.0.0.0/8] }}\n"
        )),
        ["x-token", "x-api-key", "x-forwarded-client-cert"]
    );
    assert_eq!(of(&format!("jwt: {{ cookie: session, {token} }}\n")), ["cookie"]);
}
