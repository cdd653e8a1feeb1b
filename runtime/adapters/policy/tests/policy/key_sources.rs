//! Keys at a URL, with a test as the host that fetches them.

use crate::support::{exchange, head, status};
use celero_policy::{KeyFetcher, KeySource, Outcome, Policy};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value as Json, json};
use std::future::Future;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

fn policy(settings: &str) -> Policy {
    let text = format!(
        "jwt: {{keys: [{{jwksUrl: 'https://issuer.example/keys', {settings}}}]}}\nrequest:\n\
         - {{when: request.path == '/public', allow: true}}\n- {{when: '!has(jwt.sub)', deny: 401}}\n"
    );
    Policy::parse("policy.yaml", &text, Path::new(".")).unwrap()
}

fn source(policy: &Policy) -> Arc<KeySource> {
    Arc::clone(policy.key_sources().next().unwrap())
}

fn signing(file: &str) -> EncodingKey {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys").join(file);
    EncodingKey::from_rsa_pem(&std::fs::read(file).unwrap()).unwrap()
}

fn jwk(file: &str, id: &str) -> Json {
    let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&signing(file), Algorithm::RS256).unwrap()).unwrap();
    jwk.as_object_mut().unwrap().insert("kid".into(), id.into());
    jwk
}

fn document(keys: &[Json]) -> Vec<u8> {
    json!({ "keys": keys }).to_string().into_bytes()
}

fn request(file: &str, id: &str) -> http::request::Parts {
    let claims = json!({ "sub": "ada", "exp": jsonwebtoken::get_current_timestamp() + 600 });
    let header = Header { kid: Some(id.to_owned()), ..Header::new(Algorithm::RS256) };
    let token = encode(&header, &claims, &signing(file)).unwrap();
    head("GET /", &[("authorization", &format!("Bearer {token}"))])
}

fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Runs the phase once. `None`: it waits.
fn ask(policy: &Policy, head: &http::request::Parts) -> Option<u16> {
    poll(pin!(policy.request_async(&mut head.clone(), &mut exchange()))).map(status)
}

fn is_wanted(fetcher: &KeyFetcher) -> bool {
    poll(pin!(fetcher.wanted())).is_some()
}

#[test]
fn a_request_waits_for_the_first_document_and_for_rotated_keys() {
    let policy = policy("cooldown: 1s");
    let (a, b) = (request("rsa.pem", "a"), request("other.pem", "b"));
    assert_eq!(ask(&policy, &a), Some(401), "nobody fetches");
    let fetcher = source(&policy).fetcher();
    assert_eq!(fetcher.pause(), Duration::ZERO);
    let mut state = exchange();
    let mut asked = a.clone();
    let mut waiting = Box::pin(policy.request_async(&mut asked, &mut state));
    assert!(poll(waiting.as_mut()).is_none() && is_wanted(&fetcher));
    let public = head("GET /public", &[("authorization", a.headers.get("authorization").unwrap().to_str().unwrap())]);
    assert_eq!(ask(&policy, &public), Some(0), "a page that needs no token");
    let fetched = Instant::now();
    assert_eq!(fetcher.begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))), Ok(Some(1)));
    assert!(matches!(poll(waiting.as_mut()).map(|decision| decision.outcome), Some(Outcome::Continue)));
    assert!(fetcher.pause() > Duration::from_secs(600) && !is_wanted(&fetcher));

    // An unknown id does not fetch again at once, but after the cooldown.
    let unknown = (ask(&policy, &b), is_wanted(&fetcher));
    assert!(unknown == (Some(401), false) || fetched.elapsed() >= Duration::from_secs(1), "{unknown:?}");
    std::thread::sleep(Duration::from_millis(1_010));
    let mut state = exchange();
    let mut asked = b.clone();
    let mut waiting = Box::pin(policy.request_async(&mut asked, &mut state));
    assert!(poll(waiting.as_mut()).is_none() && is_wanted(&fetcher));
    assert_eq!(ask(&policy, &a), Some(0), "known keys wait for nothing");
    assert_eq!(fetcher.begin().finish(Ok(&document(&[jwk("other.pem", "b")]))), Ok(Some(1)));
    assert!(matches!(poll(waiting.as_mut()).map(|decision| decision.outcome), Some(Outcome::Continue)));
    // The remembered token of a key that is gone does not count any more.
    assert_eq!((ask(&policy, &a), ask(&policy, &b)), (Some(401), Some(0)));
    let info = source(&policy).info();
    assert_eq!((info.keys, info.fetched, info.failed), (1, 2, 0));
}

#[test]
fn keys_without_a_new_document_end() {
    let policy = policy("maxStale: 1s, refresh: 1s, cooldown: 1s");
    let fetcher = source(&policy).fetcher();
    let a = request("rsa.pem", "a");
    let knows = |fetched: Instant| {
        let answer = ask(&policy, &a);
        assert!(answer == Some(0) || fetched.elapsed() >= Duration::from_secs(1), "{answer:?}");
    };
    let fetched = Instant::now();
    fetcher.begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))).unwrap();
    knows(fetched);
    assert!(fetcher.begin().finish(Err("timed out".into())).is_err());
    knows(fetched);
    std::thread::sleep(Duration::from_millis(1_050));
    assert_eq!(source(&policy).info().keys, 0);
    assert!(fetcher.begin().finish(Err("timed out".into())).is_err());
    assert_eq!(ask(&policy, &a), Some(401), "also the remembered token");
    let fetched = Instant::now();
    fetcher.begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))).unwrap();
    knows(fetched);
}

#[test]
fn bad_documents_change_nothing() {
    let policy = policy("");
    let fetcher = source(&policy).fetcher();
    let a = request("rsa.pem", "a");
    fetcher.begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))).unwrap();
    let huge = [document(&[jwk("other.pem", "b")]), vec![b' '; 1 << 20]].concat();
    let nested = "[".repeat(100_000).into_bytes();
    for (bad, why) in [
        (&b""[..], "not a JSON Web Key Set"),
        (b"<html>", "not a JSON Web Key Set"),
        (b"{}", "no list `keys`"),
        (b"{\"keys\": 1}", "no list `keys`"),
        (b"{\"keys\": []}", "no key"),
        (b"{\"keys\": [{\"kty\": \"oct\", \"k\": \"MDEyMzQ1Njc4OWFiY2RlZg\", \"alg\": \"HS256\"}]}", "no key"),
        (&nested, "not a JSON Web Key Set"),
        (&huge, "more than 1048576 bytes"),
    ] {
        let error = fetcher.begin().finish(Ok(bad)).unwrap_err();
        assert!(error.contains(why), "{error}");
        assert_eq!(ask(&policy, &a), Some(0));
    }
    assert_eq!(source(&policy).info().failed, 8);
    // The pause doubles with each failure, up to `refresh`.
    assert!(fetcher.pause() > Duration::from_secs(800) && fetcher.pause() <= Duration::from_secs(900));
    assert_eq!(fetcher.begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))), Ok(None));
}

#[test]
fn who_waits_is_woken_when_nobody_fetches_any_more() {
    let policy = policy("");
    let fetcher = source(&policy).fetcher();
    let (a, mut state) = (request("rsa.pem", "a"), exchange());
    let mut asked = a.clone();
    let mut waiting = Box::pin(policy.request_async(&mut asked, &mut state));
    assert!(poll(waiting.as_mut()).is_none());
    drop(fetcher);
    assert_eq!(poll(waiting.as_mut()).map(status), Some(401));
}

#[test]
fn a_fetch_that_is_given_up_is_a_failure() {
    let policy = policy("");
    let fetcher = source(&policy).fetcher();
    let fetch = fetcher.begin();
    let (a, mut state) = (request("rsa.pem", "a"), exchange());
    let mut asked = a.clone();
    let mut waiting = Box::pin(policy.request_async(&mut asked, &mut state));
    assert!(poll(waiting.as_mut()).is_none());
    // A second fetcher comes and goes, as in a reload.
    drop(source(&policy).fetcher());
    assert!(poll(waiting.as_mut()).is_none());
    drop(fetch);
    assert_eq!(poll(waiting.as_mut()).map(status), Some(401));
    assert_eq!((ask(&policy, &a), source(&policy).info().failed), (Some(401), 1));
}

#[test]
fn a_reload_keeps_keys_and_passwords() {
    let (before, mut after, mut other) = (policy(""), policy(""), policy("refresh: 60s"));
    source(&before).fetcher().begin().finish(Ok(&document(&[jwk("rsa.pem", "a")]))).unwrap();
    let a = request("rsa.pem", "a");
    assert_eq!((ask(&after, &a), ask(&other, &a)), (Some(401), Some(401)));
    after.take_over(&before);
    other.take_over(&before);
    assert!(Arc::ptr_eq(&source(&before), &source(&after)));
    assert_eq!((ask(&after, &a), ask(&other, &a)), (Some(0), Some(401)), "other settings are another source");
}

#[test]
fn urls_are_checked() {
    for (key, why) in [
        ("jwksUrl: 'http://issuer.example/keys'", "begins with `https://`"),
        ("jwksUrl: 'file:///etc/passwd'", "not a URL"),
        ("jwksUrl: 'ftp://issuer.example/keys'", "begins with `https://`"),
        ("jwksUrl: 'https://'", "not a URL"),
        ("jwksUrl: 'http://127.0.0.1.evil.example/'", "begins with `https://`"),
        ("jwksUrl: 'http://127.0.0.1@evil.example/'", "begins with `https://`"),
        ("jwksUrl: 'https://user:password@issuer.example/'", "not a URL"),
        ("jwksUrl: 'https://a/', jwks: file", "needs one of"),
        ("jwksUrl: 'https://a/', maxStale: 10s, refresh: 20s", "`maxStale` is shorter than `refresh`"),
        ("jwks: a, refresh: 10s", "`refresh` belongs to `jwksUrl`"),
    ] {
        let error = crate::support::wrong(&format!("jwt: {{keys: [{{{key}}}]}}\n"));
        assert!(error.contains(why), "{key}: {error}");
    }
    for good in ["http://localhost:1/a", "http://127.0.0.1/", "http://[::1]:80/x", "https://a.example:8443/keys?x=y"] {
        crate::support::policy(&format!("jwt: {{keys: [{{jwksUrl: '{good}'}}]}}\n"));
    }
}

/// Tokens are remembered with the keys that counted. Two sources, of which one and then the other
/// is too old, are not the same keys.
#[test]
fn a_remembered_token_ends_with_its_source() {
    let text = "jwt: {keys: [{jwksUrl: 'https://a.example/keys', refresh: 1s, maxStale: 1s, cooldown: 1s}, \
                {jwksUrl: 'https://b.example/keys', refresh: 1s, maxStale: 1s, cooldown: 1s}]}\n\
                request:\n- {when: '!has(jwt.sub)', deny: 401}\n";
    let token = request("rsa.pem", "a");
    let sleep = |millis| std::thread::sleep(Duration::from_millis(millis));
    for _ in 0..20 {
        let policy = Policy::parse("policy.yaml", text, Path::new(".")).unwrap();
        let sources: Vec<_> = policy.key_sources().collect();
        let fetch = |source: usize, key: Json| sources[source].fetcher().begin().finish(Ok(&document(&[key]))).unwrap();
        fetch(1, jwk("other.pem", "b"));
        sleep(600);
        let own = Instant::now();
        fetch(0, jwk("rsa.pem", "a"));
        sleep(500);
        let taken = ask(&policy, &token);
        if taken != Some(0) || sources[1].info().keys > 0 || own.elapsed() >= Duration::from_secs(1) {
            // The machine was too slow.
            continue;
        }
        sleep(600);
        fetch(1, jwk("other.pem", "b"));
        assert_eq!((sources[0].info().keys, sources[1].info().keys), (0, 1));
        assert_eq!(ask(&policy, &token), Some(401), "its keys are too old");
        return;
    }
    panic!("the machine is too slow for a second");
}

#[test]
fn keys_count_for_what_they_are_meant() {
    let verifies = |key_ops: Json| {
        let (policy, mut key) = (policy(""), jwk("rsa.pem", "a"));
        key.as_object_mut().unwrap().insert("key_ops".into(), key_ops);
        let fetched = source(&policy).fetcher().begin().finish(Ok(&document(&[key])));
        fetched.is_ok() && ask(&policy, &request("rsa.pem", "a")) == Some(0)
    };
    assert!(verifies(json!(["verify"])) && verifies(json!(["sign", "verify"])));
    for other in [json!([]), json!(["encrypt"]), json!(["sign"]), json!(["wrapKey", "x"])] {
        assert!(!verifies(other.clone()), "{other}");
    }
}
