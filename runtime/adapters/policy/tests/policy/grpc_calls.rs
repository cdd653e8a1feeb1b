//! What the tests of gRPC's messages share: the services of `examples/orders.proto`, and calls of them.

use crate::support::{exchange, head};
use celero::messages::{Descriptors, Message};
use celero_policy::{Decision, Exchange, Outcome, Policy, PolicyError};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Version;
use http::request::Parts;
use serde_json::Value as Json;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(crate) const ORDERS: &[u8] = include_bytes!("../../../../../examples/orders.binpb");

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

/// A policy with the descriptors of `examples/orders.proto`.
pub(crate) fn parsed(rules: &str) -> Result<Policy, PolicyError> {
    Policy::parse("policy.yaml", &format!("grpc: {{descriptors: orders.binpb}}\n{rules}"), &examples())
}

pub(crate) fn policy(rules: &str) -> Policy {
    parsed(rules).unwrap()
}

pub(crate) fn wrong(rules: &str) -> String {
    parsed(rules).unwrap_err().to_string()
}

/// The bytes of a message of `shop.v1`.
pub(crate) fn message(name: &str, json: &Json) -> Vec<u8> {
    let types = Descriptors::from_bytes(ORDERS).unwrap();
    Message::bytes_of_json(&types, &format!("shop.v1.{name}"), json).unwrap()
}

pub(crate) fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

pub(crate) fn order(json: &Json) -> Vec<u8> {
    frame(0, &message("Order", json))
}

pub(crate) fn call(path: &str) -> Parts {
    call_with(path, &[])
}

pub(crate) fn call_with(path: &str, headers: &[(&str, &str)]) -> Parts {
    let mut head = head(&format!("POST {path}"), headers);
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        head.headers.insert("content-type", "application/grpc".parse().unwrap());
    }
    head.version = Version::HTTP_2;
    head
}

pub(crate) const CREATE: &str = "/shop.v1.Orders/Create";

/// Runs the phases of a request.
pub(crate) fn run(policy: &Policy, head: &Parts, body: &[u8]) -> (Decision, Exchange) {
    let (mut head, mut exchange) = (head.clone(), exchange());
    let decision = policy.request(&mut head, &mut exchange);
    if matches!(decision.outcome, Outcome::Respond(_)) {
        return (decision, exchange);
    }
    exchange.edits().apply_to_request(&mut head);
    let decision = policy.request_body(&head, body, &mut exchange);
    (decision, exchange)
}

/// The status of gRPC that a call is answered with, and the message; `""` for one that goes on.
pub(crate) fn answered(policy: &Policy, head: &Parts, body: &[u8]) -> (String, String) {
    match run(policy, head, body).0.outcome {
        Outcome::Continue => (String::new(), String::new()),
        Outcome::Respond(answer) => {
            assert_eq!((answer.status.as_u16(), &answer.body[..]), (200, &b""[..]), "{answer:?}");
            let header = |name| answer.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
            assert_eq!(header("content-type"), "application/grpc");
            (header("grpc-status"), header("grpc-message"))
        }
    }
}

pub(crate) fn code(policy: &Policy, head: &Parts, body: &[u8]) -> String {
    answered(policy, head, body).0
}

pub(crate) const LARGE: &str = "requestBody:
- {name: large, method: shop.v1.Orders/Create, when: request.message.total > 1000, deny: 403}
";

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
