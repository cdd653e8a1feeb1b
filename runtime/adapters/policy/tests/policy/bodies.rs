//! What the rules of `requestBody` and `responseBody` read.

use crate::support::{answer, ask, edits, exchange, head, policy, response, status, wrong};
use celero_policy::{BufferState, Policy};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write;
use std::path::Path;

const MARKER: &[u8] = b"x; DROP TABLE users";
/// `hello`, compressed with Brotli.
const HELLO_BR: &[u8] = b"\x0b\x02\x80hello\x03";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A policy that denies bodies with a marker. `settings` are those of the phase.
fn marked(settings: &str) -> Policy {
    let rule =
        r#"{name: marked, when: 'string(request.body).contains("DROP TABLE") || request.body == b"hello"', deny: 403}"#;
    policy(&format!("requestBody:\n  limit: 1KiB\n{settings}\n  rules: [{rule}]\n"))
}

/// The status of the answer to a body with these codings, 0 if it passes.
fn sent(policy: &Policy, codings: &[&str], body: &[u8]) -> u16 {
    let codings: Vec<(&str, &str)> = codings.iter().map(|coding| ("content-encoding", *coding)).collect();
    status(policy.request_body(&head("POST /", &codings), body, &mut exchange()))
}

#[test]
fn codings_are_refused_unless_the_policy_decodes_them() {
    let closed = marked("");
    for coding in ["gzip", "GZIP", "x-gzip", "br", "deflate", "compress", "zstd", "identity, gzip", "aws-chunked"] {
        assert_eq!(sent(&closed, &[coding], &gzip(MARKER)), 415, "{coding}");
    }
    let coded = head("POST /", &[("content-encoding", "gzip")]);
    let refused = answer(closed.request_body(&coded, b"x", &mut exchange()));
    assert_eq!(
        (&*refused.rule, &refused.headers["accept-encoding"]),
        ("requestBody.encoded", &"identity".parse().unwrap())
    );
    for coding in ["identity", "Identity", "", " , "] {
        assert_eq!(sent(&closed, &[coding], MARKER), 403, "{coding}");
    }
    assert_eq!(sent(&closed, &["gzip"], b""), 0, "nothing is coded");
    assert_eq!(sent(&marked("  encoded: raw"), &["gzip"], &gzip(b"a")), 403, "it is not UTF-8, so the condition fails");
}

#[test]
fn bodies_are_decoded_for_the_rules() {
    let open = marked("  encoded: decode");
    for (codings, body) in [
        (&["gzip"][..], gzip(MARKER)),
        (&["X-GZip"], gzip(MARKER)),
        (&["deflate"], deflate(MARKER)),
        (&["br"], HELLO_BR.to_vec()),
        (&["gzip, deflate"], deflate(&gzip(MARKER))),
        (&["gzip", "identity", "deflate"], deflate(&gzip(MARKER))),
        (&["deflate,gzip,gzip"], gzip(&gzip(&deflate(MARKER)))),
    ] {
        assert_eq!(sent(&open, codings, &body), 403, "{codings:?}");
    }
    assert_eq!(sent(&open, &["gzip"], &gzip(b"harmless")), 0);
    // An unknown coding, too many, and one that the body does not have.
    assert_eq!(sent(&open, &["zstd"], MARKER), 415);
    assert_eq!(sent(&open, &["gzip, gzip, gzip, gzip"], &gzip(&gzip(&gzip(&gzip(b"x"))))), 415);
    assert_eq!(sent(&open, &["gzip"], MARKER), 400);
    assert_eq!(sent(&open, &["br"], MARKER), 400);
    let refused = answer(open.request_body(&head("POST /", &[("content-encoding", "zstd")]), b"x", &mut exchange()));
    assert_eq!(refused.headers["accept-encoding"], "gzip, deflate, br");
}

#[test]
fn what_servers_may_read_in_two_ways_is_refused() {
    let open = marked("  encoded: decode");
    for (coding, body) in
        [("gzip", gzip(b"harmless")), ("deflate", deflate(b"harmless")), ("br", b"\x0b\x02\x80HELLO\x03".to_vec())]
    {
        assert_eq!(sent(&open, &[coding], &body), 0, "{coding}");
        let mut longer = body.clone();
        longer.extend_from_slice(&body);
        assert_eq!(sent(&open, &[coding], &longer), 400, "{coding} of two members");
        assert_eq!(sent(&open, &[coding], &[&body[..], b"x"].concat()), 400, "{coding} with bytes after its end");
        assert_eq!(sent(&open, &[coding], &body[..body.len() - 1]), 400, "{coding} cut off");
    }
    // Without the header of zlib, which some servers accept.
    assert_eq!(sent(&open, &["deflate"], &deflate(b"harmless")[2..]), 400);
    let coded = [("transfer-encoding", "gzip, chunked"), ("content-encoding", "gzip")];
    assert_eq!(status(open.request_body(&head("POST /", &coded), &gzip(b"harmless"), &mut exchange())), 415);
}

#[test]
fn bombs_are_bounded() {
    let bomb = gzip(&vec![b'x'; 64 << 20]);
    let twice = gzip(&bomb);
    assert!(twice.len() < 1024, "{}", twice.len());
    let open = marked("  encoded: decode");
    assert_eq!(sent(&open, &["gzip, gzip"], &twice), 413);
    assert_eq!(sent(&open, &["gzip"], &gzip(&[b'x'; 1025])), 413);
    assert_eq!(sent(&open, &["gzip"], &gzip(&[b'x'; 1024])), 0);
    assert_eq!(sent(&marked("  encoded: decode\n  tooLarge: skip"), &["gzip"], &bomb), 0);
}

#[test]
fn a_prefix_is_read_of_bodies_of_any_size() {
    let rule = r#"{when: 'size(request.bodyPrefix) > 4 || string(request.bodyPrefix).startsWith("MZ")', deny: 403}"#;
    let policy = policy(&format!("requestBody:\n  prefix: 4\n  encoded: decode\n  rules: [{rule}]\n"));
    let buffering = policy.request_buffering(&head("GET /", &[]), &mut exchange()).unwrap();
    assert!(buffering.is_prefix() && !buffering.refuses(u64::MAX));
    let states = [(0, false), (3, false), (4, false), (9, false), (0, true)];
    let states = states.map(|(bytes, ended)| buffering.state(bytes, ended));
    assert_eq!(
        states,
        [BufferState::More, BufferState::More, BufferState::Ready, BufferState::Ready, BufferState::Ready]
    );
    assert_eq!(sent(&policy, &[], b"MZ"), 403);
    assert_eq!(sent(&policy, &[], b"M"), 0);
    // More than the prefix may have arrived: the rules never see it.
    assert_eq!(sent(&policy, &[], b"elf, not MZ"), 0);
    assert_eq!(sent(&policy, &["br"], b"\x0b\x02\x80hello\x03"), 0, "what four bytes of Brotli hold");
}

#[test]
fn only_the_body_that_a_phase_has_can_be_read() {
    for (section, settings, name, instead) in [
        ("requestBody", "prefix: 4KiB", "request.body", "request.bodyPrefix"),
        ("requestBody", "limit: 4KiB", "request.bodyPrefix", "request.body"),
        ("responseBody", "prefix: 4KiB", "response.body", "response.bodyPrefix"),
        ("responseBody", "limit: 4KiB", "response.bodyPrefix", "response.body"),
    ] {
        let text = wrong(&format!(
            "variables: {{b: size({name})}}\n{section}:\n  {settings}\n  rules: [{{when: variables.b > 0, deny: true}}]\n"
        ));
        assert!(text.contains(&format!("`{name}` is absent")) && text.contains(&format!("use `{instead}`")), "{text}");
    }
    let text = wrong("requestBody: {prefix: 1KiB, limit: 1MiB, rules: [{deny: true}]}\n");
    assert!(text.contains("`limit` has no effect"), "{text}");
    let text = wrong("response: [{when: size(response.body) > 0, deny: true}]\n");
    assert!(text.contains("move the rule to `responseBody`"), "{text}");
}

const RESPONSES: &str = r#"
responseBody:
  limit: 1KiB
  rules:
    - {name: secret, when: 'string(response.body).contains("SECRET") && response.code == 200', deny: {status: 502, body: hidden}}
    - {name: mark, setHeaders: {x-size: "${size(response.body)}"}}
"#;

#[test]
fn responses_are_read_before_their_heads_are_sent() {
    let policy = policy(RESPONSES);
    let get = head("GET /", &[]);
    let mut exchange = exchange();
    let read = |body: &[u8], headers: &[(&str, &str)], exchange: &mut celero_policy::Exchange| {
        status(policy.response_body(&get, &response(200, headers), body, exchange))
    };
    assert_eq!(read(b"a SECRET", &[], &mut exchange), 502);
    assert_eq!(read(b"fine", &[], &mut exchange), 0);
    assert_eq!(edits(&exchange), ["x-size = 4"]);
    // Decoded without being told to, because clients ask for codings.
    assert_eq!(read(&gzip(b"a SECRET"), &[("content-encoding", "gzip")], &mut exchange), 502);
    assert_eq!(read(&gzip(b"fine"), &[("content-encoding", "gzip")], &mut exchange), 0);
    assert_eq!(read(b"fine", &[("content-encoding", "zstd")], &mut exchange), 502);
    assert_eq!(status(policy.response_body_too_large(&mut exchange)), 502);
}

#[test]
fn responses_without_a_body_and_streams_are_not_held_back() {
    let (whole, prefix) = (
        policy(RESPONSES),
        policy("responseBody: {prefix: 4KiB, rules: [{when: size(response.bodyPrefix) > 9, deny: true}]}"),
    );
    let (get, ask) = (head("GET /", &[]), head("HEAD /", &[]));
    for code in [101, 204, 304] {
        assert!(whole.response_buffering(&get, &response(code, &[]), &mut exchange()).is_none(), "{code}");
    }
    assert!(whole.response_buffering(&ask, &response(200, &[]), &mut exchange()).is_none());
    assert!(policy("request: [{deny: true}]").response_buffering(&get, &response(200, &[]), &mut exchange()).is_none());
    for kind in ["text/event-stream", "Text/Event-Stream; charset=utf-8"] {
        let events = response(200, &[("content-type", kind)]);
        assert_eq!(
            whole.response_buffering(&get, &events, &mut exchange()).unwrap().state(0, false),
            BufferState::TooLarge
        );
        let buffering = prefix.response_buffering(&get, &events, &mut exchange()).unwrap();
        assert_eq!([buffering.state(0, false), buffering.state(1, false)], [BufferState::More, BufferState::Ready]);
    }
    let other = response(200, &[("content-type", "text/plain")]);
    assert_eq!(prefix.response_buffering(&get, &other, &mut exchange()).unwrap().state(1, false), BufferState::More);
}

#[test]
fn the_whole_response_is_asked_for_in_a_coding_that_can_be_undone() {
    let asked = |policy: &Policy, headers: &[(&str, &str)]| {
        let mut exchange = exchange();
        assert_eq!(status(ask(policy, &head("GET /", headers), &mut exchange)), 0);
        edits(&exchange)
    };
    let decode = policy(RESPONSES);
    assert_eq!(asked(&decode, &[]), [""; 0]);
    assert_eq!(asked(&decode, &[("range", "bytes=0-3"), ("if-range", "x")]), ["- range", "- if-range"]);
    let browser = [("accept-encoding", "gzip, deflate;q=0.5, br"), ("accept-encoding", "zstd, *")];
    assert_eq!(asked(&decode, &browser), ["accept-encoding = gzip, deflate;q=0.5, br"]);
    assert_eq!(asked(&decode, &[("accept-encoding", "zstd")]), ["accept-encoding = identity"]);
    let refuse = policy(&RESPONSES.replace("limit: 1KiB", "encoded: refuse"));
    assert_eq!(asked(&refuse, &[]), ["accept-encoding = identity"]);
    assert_eq!(asked(&policy("response: [{deny: true}]"), &[("range", "bytes=0-3")]), [""; 0]);
}

/// Who sets a limit for bodies that no rule reads is told that it has none.
#[test]
fn settings_of_bodies_that_no_rule_reads_cause_warnings() {
    let warned = |rule: &str| {
        let text = format!("requestBody: {{limit: 1KiB, encoded: refuse, tooLarge: deny, rules: [{rule}]}}");
        let policy = Policy::check("policy.yaml", &text, Path::new(".")).unwrap();
        policy.render_warnings(false).matches("concerns no body").count()
    };
    assert_eq!(warned("{when: 'request.path == \"/a\"', deny: 403}"), 3);
    assert_eq!(warned("{when: 'request.path == \"/a\"', deny: 403}, {name: all, count: bodies}"), 0);
    assert_eq!(warned("{when: 'request.path == \"/a\" && size(request.body) > 3', deny: 403}"), 0);
    assert_eq!(warned("{when: 'request.path == \"/a\"', setBody: a}"), 0);
}
