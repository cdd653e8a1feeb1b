//! Requests: their canonical form, and the files and command lines that hold them.

use crate::measure::growth;
use crate::{exclusive, report};
use celero_canonical::{GuardedNames, Options, Underscores, canonicalize, clean_trailers};
use celero_tooling::requests;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use std::hint::black_box;

/// What targets, values of fields and bodies repeat.
const PIECES: &[&str] = &[
    "a", "/", "../", "./", "/..", "%2e%2e/", "%2F", "%", "%4", "%61", "%25", "\\", ";", "?", "&a=b", "a=b; ", ",",
    ", ", ".", ":", "[", "@", "#", "é", " ", "\t", "\r\n", "\n", "\0", "\"", "'", "*", "//", "x:", "a: b\n", "###\n",
    "-H a:b ", "{\"a\":", "[{", "\\n", "_",
];

type Place = (&'static str, fn(&str) -> Option<Request<()>>);

fn with_field(name: &str, value: &str) -> Option<Request<()>> {
    Request::get("/").header("host", "a").header(name, HeaderValue::from_bytes(value.as_bytes()).ok()?).body(()).ok()
}

/// Where a text stands in a request.
const PLACES: &[Place] = &[
    ("path", |text| Request::get(format!("/{text}")).header("host", "a").body(()).ok()),
    ("query", |text| Request::get(format!("/?{text}")).header("host", "a").body(()).ok()),
    ("authority", |text| Request::get(format!("http://{text}/")).body(()).ok()),
    ("host", |text| Request::get("/").header("host", HeaderValue::from_bytes(text.as_bytes()).ok()?).body(()).ok()),
    ("cookie", |text| with_field("cookie", text)),
    ("connection", |text| with_field("connection", text)),
    ("te", |text| with_field("te", text)),
    ("transfer-encoding", |text| with_field("transfer-encoding", text)),
    ("content-length", |text| with_field("content-length", text)),
    ("x-forwarded-for", |text| with_field("x-forwarded-for", text)),
    ("a name", |text| with_field(text, "a")),
];

#[test]
fn canonical_requests_cost_what_their_length_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let options = Options::default();
    let guarded = GuardedNames::default();
    let canonical = |request: &Request<()>| {
        let (mut head, ()) = request.clone().into_parts();
        drop(black_box(canonicalize(&mut head, &options, &guarded).is_ok()));
    };
    for (place, make) in PLACES {
        for piece in PIECES {
            let work = |n: usize| {
                let request = make(&piece.repeat(n));
                let canonical = &canonical;
                move || request.iter().for_each(canonical)
            };
            problems.extend(growth(&format!("canonical {place} of {piece:?}"), 1 << 15, work));
        }
    }
    report(&problems);
}

type Field = (&'static str, fn(usize) -> (String, &'static str));

/// Fields that occur many times.
const FIELDS: &[Field] = &[
    ("different", |k| (format!("x-{k}"), "a")),
    ("equal", |_| ("x-a".to_owned(), "a")),
    ("cookies", |_| ("cookie".to_owned(), "a=b")),
    ("connections", |_| ("connection".to_owned(), "close, x-a")),
    ("names with underscores", |k| (format!("x_{k}"), "a")),
    ("hosts", |_| ("host".to_owned(), "a")),
    ("lengths", |_| ("content-length".to_owned(), "1")),
    ("codings", |_| ("transfer-encoding".to_owned(), "chunked")),
];

#[test]
fn many_fields_cost_what_their_number_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for underscores in [Underscores::Guarded, Underscores::Keep, Underscores::Refuse] {
        let options = Options { underscores, ..Options::default() };
        for (name, field) in FIELDS {
            let work = |n: usize| {
                let mut headers = HeaderMap::with_capacity(n);
                headers.insert("host", HeaderValue::from_static("a"));
                let mut guarded = GuardedNames::default();
                for k in 0..n {
                    let (name, value) = field(k);
                    guarded.add(&name);
                    guarded.add_prefix(&format!("p{k}-"));
                    headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static(value));
                }
                let options = &options;
                move || {
                    let (mut head, ()) = Request::get("/").body(()).unwrap().into_parts();
                    head.headers = headers.clone();
                    drop(black_box(canonicalize(&mut head, options, &guarded).is_ok()));
                    let mut trailers = headers.clone();
                    clean_trailers(&mut trailers, &GuardedNames::default());
                }
            };
            // With debug assertions, a `HeaderMap` looks at all its values for each that it
            // removes: more fields would show that.
            problems.extend(growth(&format!("fields, {name}, {underscores:?}"), 1 << 11, work));
        }
    }
    report(&problems);
}

#[test]
fn guarded_names_cost_what_their_number_says() {
    let _guard = exclusive();
    let work = |n: usize| {
        move || {
            let mut guarded = GuardedNames::default();
            for k in (0..n).rev() {
                guarded.add(&format!("x-{k:08}"));
                guarded.add(&format!("x_{k:08}"));
                guarded.add_prefix(&format!("p_{k:08}-"));
            }
            black_box(guarded);
        }
    };
    report(growth("guarded names", 1 << 16, work).as_slice());
}

type Reader = (&'static str, fn(&str));

/// What reads requests from text.
const READERS: &[Reader] = &[
    ("an HTTP text", |text| drop(black_box(requests::message::parse(text.as_bytes()).is_ok()))),
    ("a path", |text| {
        drop(black_box(requests::message::parse(format!("GET /{text} HTTP/1.1\nhost: a\n\n").as_bytes()).is_ok()))
    }),
    ("a field", |text| {
        drop(black_box(requests::message::parse(format!("GET / HTTP/1.1\nhost: a\na: {text}\n\n").as_bytes()).is_ok()));
    }),
    ("a body", |text| {
        let text = format!("POST / HTTP/1.1\nhost: a\ncontent-length: 3\n\n{text}");
        drop(black_box(requests::message::parse(text.as_bytes()).is_ok()));
    }),
    ("a file", |text| drop(black_box(requests::recorded::parse("f", text.as_bytes()).is_ok()))),
    ("requests in a file", |text| {
        let request = format!("GET / HTTP/1.1\nhost: a\n\n{text}\n###\n");
        drop(black_box(requests::recorded::parse("f", request.repeat(2).as_bytes()).is_ok()));
    }),
    ("requests in JSON", |text| {
        let line = serde_json::json!({"uri": "/", "headers": {"a": text}, "body": text}).to_string();
        drop(black_box(requests::recorded::parse("f", format!("{line}\n{line}").as_bytes()).is_ok()));
    }),
    ("a member in JSON", |text| {
        let line = serde_json::json!({"uri": "/", text: 1}).to_string();
        drop(black_box(requests::recorded::parse("f", line.as_bytes()).is_ok()));
    }),
    ("many requests", |text| {
        let request = "GET / HTTP/1.1\nhost: a\n\n###\n".repeat(text.len());
        drop(black_box(requests::recorded::parse("f", request.as_bytes()).is_ok()));
    }),
    ("many requests in JSON", |text| {
        let lines = "{\"uri\": \"/\"}\n".repeat(text.len());
        drop(black_box(requests::recorded::parse("f", lines.as_bytes()).is_ok()));
    }),
    ("curl", |text| drop(black_box(requests::curl::request(&format!("curl {text}")).is_ok()))),
    ("curl with a field", |text| {
        drop(black_box(requests::curl::request(&format!("curl http://a -H 'a: {text}'")).is_ok()))
    }),
];

#[test]
fn files_of_requests_cost_what_their_length_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (name, read) in READERS {
        for piece in PIECES {
            if name.starts_with("many") && *piece != "a" {
                continue;
            }
            let work = |n: usize| {
                let text = piece.repeat(n);
                move || read(&text)
            };
            problems.extend(growth(&format!("{name} of {piece:?}"), 1 << 14, work));
        }
    }
    report(&problems);
}
