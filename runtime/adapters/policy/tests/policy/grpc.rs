//! Answers to calls of gRPC.

use crate::support::{answer, ask, ask_response, exchange, head, policy, response};
use celero_policy::PolicyAnswer;
use http::Version;
use http::request::Parts;

const POLICY: &str = r#"
request:
  - when: request.path == "/denied"
    deny: {status: 403, headers: {x-why: rules, content-type: text/plain}, body: "100 % für\nTeams\n"}
  - when: request.path == "/own"
    deny: {status: 403, headers: {grpc-status: "9", content-type: application/grpc}}
  - when: request.path == "/answered"
    respond: {body: ok}
  - when: request.path.startsWith("/status/")
    deny: 418
"#;

fn call(path: &str, kind: &str) -> Parts {
    let mut head = head(&format!("POST {path}"), &[("content-type", kind)]);
    head.version = Version::HTTP_2;
    head
}

/// What an answer says: the statuses of HTTP and gRPC, the message, and the body.
fn shown(answer: &PolicyAnswer) -> (u16, &str, &str, &[u8]) {
    let header = |name| answer.headers.get(name).map_or("", |value| value.to_str().unwrap());
    (answer.status.as_u16(), header("grpc-status"), header("grpc-message"), &answer.body)
}

#[test]
fn a_denial_is_a_status_of_grpc() {
    let policy = policy(POLICY);
    for kind in ["application/grpc", "application/grpc+proto", "Application/GRPC ; charset=x"] {
        let denied = answer(ask(&policy, &call("/denied", kind), &mut exchange()));
        assert_eq!(shown(&denied), (200, "7", "100 %25 f%C3%BCr%0ATeams", &b""[..]), "{kind}");
        assert_eq!(
            (&denied.headers["x-why"], &denied.headers["content-type"]),
            (&"rules".parse().unwrap(), &"application/grpc".parse().unwrap())
        );
    }
}

#[test]
fn other_requests_and_answers_stay_as_they_are() {
    let policy = policy(POLICY);
    let with = |path, kind, version, method: &str| {
        let mut head = call(path, kind);
        (head.version, head.method) = (version, method.parse().unwrap());
        answer(ask(&policy, &head, &mut exchange()))
    };
    let http2 = Version::HTTP_2;
    assert_eq!(with("/denied", "application/grpc-web", http2, "POST").status, 403);
    assert_eq!(with("/denied", "application/json", http2, "POST").status, 403);
    assert_eq!(with("/denied", "application/grpc", Version::HTTP_11, "POST").status, 403);
    assert_eq!(with("/denied", "application/grpc", http2, "PUT").status, 403);
    assert_eq!(shown(&with("/answered", "application/grpc", http2, "POST")), (200, "", "", &b"ok"[..]));
    assert_eq!(shown(&with("/own", "application/grpc", http2, "POST")), (403, "9", "", &b""[..]));
}

/// The table of gRPC, <https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>, and 413, which
/// clients know as `RESOURCE_EXHAUSTED`.
#[test]
fn statuses_follow_the_table_of_grpc() {
    let table = [
        (400, "13"),
        (401, "16"),
        (403, "7"),
        (404, "12"),
        (413, "8"),
        (429, "14"),
        (502, "14"),
        (503, "14"),
        (504, "14"),
        (418, "2"),
        (500, "2"),
    ];
    for (status, expected) in table {
        let policy = policy(&format!("request: [{{deny: {status}}}]"));
        let denied = answer(ask(&policy, &call("/", "application/grpc"), &mut exchange()));
        assert_eq!(shown(&denied), (200, expected, "", &b""[..]), "{status}");
    }
}

#[test]
fn every_phase_answers_alike() {
    let refusing = policy(POLICY);
    // An encoded slash has no canonical form.
    let refused = answer(ask(&refusing, &call("/a%2Fb", "application/grpc"), &mut exchange()));
    assert_eq!(shown(&refused).1, "13", "{refused:?}");

    let policy = policy(
        "requestBody: [{when: request.body == b'x', deny: 403}]\nresponse: [{when: response.code == 500, deny: 503}]\n",
    );
    let (head, mut exchange) = (call("/", "application/grpc"), exchange());
    assert!(matches!(ask(&policy, &head, &mut exchange), celero_policy::Outcome::Continue));
    assert_eq!(shown(&answer(policy.request_body(&head, b"x", &mut exchange))).1, "7");
    assert_eq!(shown(&answer(policy.request_body_too_large(&head, &mut exchange))).1, "8");
    assert_eq!(shown(&answer(ask_response(&policy, &head, &response(500, &[]), &mut exchange))).1, "14");

    // The next request on the connection is another one.
    exchange.reset(None, None);
    let plain = answer(ask(&refusing, &crate::support::head("GET /denied", &[]), &mut exchange));
    assert_eq!(plain.status, 403);
}
