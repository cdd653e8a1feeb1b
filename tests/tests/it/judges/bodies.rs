//! Fields of bodies of requests, judged by Go's packages `mime`, `mime/multipart` and `net/http`:
//! what a server in Go gives to its handlers must be what rules see. Go refuses more: of a body
//! that it refuses, what it read before.

use super::encoders::{base64, from_base64};
use super::number;
use crate::go_program::GoProgram;
use celero::filter::{FilterLanguage, FilterValue, http_fields};
use celero::http::{Request, RequestContext, RequestHead};
use celero::values::Arena;
use celero::{Engine, Env, ErrorKind, Scratch, Tier};
use celero_tests::filter::{filter_value, show};
use celero_tests::generate::Rng;
use celero_tests::shared::say;
use http::HeaderValue;
use serde_json::{Value as Json, json};

/// Random requests.
const REQUESTS: u64 = 4_000;

const FIELDS: &[&str] = &[
    "http.request.body.mime",
    "http.request.body.multipart",
    "http.request.body.multipart.values",
    "http.request.body.multipart.names",
    "http.request.body.multipart.filenames",
    "http.request.body.multipart.content_dispositions",
    "http.request.body.multipart.content_types",
    "http.request.body.multipart.content_transfer_encodings",
];

/// Types that Go shows and the field does not have.
const NOT_KNOWN: &[&str] =
    &["text/plain", "application/octet-stream", "audio/basic", "application/vnd.ms-fontobject", "font/"];

/// Types that only the field shows, or for more bodies than Go.
const NOT_IN_GO: &[&str] = &["image/tiff", "audio/flac", "application/x-7z-compressed", "video/mp4", "text/xml"];

struct Sent {
    content_type: Vec<u8>,
    body: Vec<u8>,
}

fn joined(rng: &mut Rng, parts: &[&[u8]], most: usize) -> Vec<u8> {
    (0..rng.below(most + 1)).flat_map(|_| rng.pick::<&[u8]>(parts).to_vec()).collect()
}

fn picked(rng: &mut Rng, usual: &[u8], percent: usize, others: &[&[u8]]) -> Vec<u8> {
    if rng.chance(percent) { rng.pick::<&[u8]>(others).to_vec() } else { usual.to_vec() }
}

/// Parameters, with their signs at all places.
fn parameters(rng: &mut Rng) -> Vec<u8> {
    const VALUES: &[&[u8]] = &[
        b"x",
        b"\"x\"",
        b"\"x;name=y\"",
        b"\"a\\\"b\"",
        b"\"a\\\\\"",
        b"\"c:\\d\"",
        b"\"\\;\"",
        b" \"x\"",
        b"x ",
        b"\"\"",
    ];
    /// Texts with a character set and a language, and without.
    const EXTENDED: &[&[u8]] = &[
        b"utf-8''%e2%82%ac",
        b"US-ASCII'en'a%20b",
        b"utf-8''%",
        b"utf-8''%zz",
        b"\"utf-8'en'c%41\"",
        b"utf-8'",
        b"a%41",
        b"x",
        b"\"y z\"",
        b"%+1",
    ];
    const SIGNS: &[&[u8]] = &[b";", b"\"", b"\\", b"=", b" ", b"name", b"x", b"\r\n ", b"\n\t", b"filename=x"];
    let mut found = Vec::new();
    for _ in 0..rng.below(4) {
        found.extend(picked(rng, b"; ", 20, &[b";", b" ; ", b";\r\n ", b";\n\t", b";;"]));
        found.extend(picked(rng, b"name", 50, &[b"filename", b"NAME", b"name ", b"x", b""]));
        let extended = rng.chance(25);
        if extended {
            found.extend_from_slice(rng.pick::<&[u8]>(&[b"*", b"*0", b"*0*", b"*1", b"*1*", b"*2", b"*01", b"*x"]));
        }
        found.extend(picked(rng, b"=", 10, &[b" = ", b"= ", b""]));
        found.extend_from_slice(rng.pick::<&[u8]>(if extended { EXTENDED } else { VALUES }));
    }
    if rng.chance(20) {
        found.extend(joined(rng, SIGNS, 3));
    }
    found
}

fn multipart(rng: &mut Rng) -> Vec<u8> {
    const CONTENT: &[&[u8]] = &[
        b"a",
        b"EVIL",
        b"--b",
        b"-",
        b"--",
        b"\r\n",
        b"\n",
        b" ",
        b"\r\n--b",
        b"\n--b",
        b"\r\n--b--z",
        b"\"",
        b";",
        b"\\",
        b"x: y",
    ];
    let usual: &[u8] = if rng.chance(70) { b"\r\n" } else { b"\n" };
    let line_end = |rng: &mut Rng| picked(rng, usual, 4, &[b"\r\n", b"\n", b""]);
    let mut body =
        picked(rng, b"", 30, &[b"before\r\n", b"before\n", b"before", b"\r\n", b"--b--z\r\n", b"--bx\n", b"--b--"]);
    for _ in 0..rng.below(4) {
        body.extend_from_slice(b"--b");
        body.extend(picked(rng, b"", 15, &[b" ", b" \t ", b"x", b"-", b"--", b"--z", b" x", b"--b"]));
        body.extend(line_end(rng));
        for _ in 0..rng.below(3) {
            match rng.below(5) {
                0 => body.extend_from_slice(b"Content-Type: text/plain"),
                1 => body.extend_from_slice(b"content-transfer-encoding:8bit "),
                _ => {
                    body.extend_from_slice(b"Content-Disposition: form-data");
                    body.extend(parameters(rng));
                }
            }
            body.extend(line_end(rng));
        }
        body.extend(line_end(rng));
        body.extend(joined(rng, CONTENT, 4));
        body.extend(line_end(rng));
    }
    body.extend(picked(rng, b"--b--", 10, &[b"", b"--b", b"--b--z"]));
    body.extend(picked(rng, b"", 40, &[b"\r\n", b"\n", b" ", b"after", b" \r\nafter", b"\r\n--b\r\n\r\nafter"]));
    body
}

/// Bodies that begin as those of some media type.
fn typed(rng: &mut Rng) -> Vec<u8> {
    const BEGINNINGS: &[&[u8]] = &[
        b"GIF87a",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"BM",
        b"II*\0",
        b"MM\0*",
        b"RIFF1234WEBPVP",
        b"RIFF1234WAVE",
        b"RIFF1234AVI ",
        b"FORM1234AIFF",
        b"\0\0\x01\0",
        b"\0\0\x02\0",
        b"ID3",
        b"fLaC",
        b"MThd\0\0\0\x06",
        b"\0\0\0\x10ftypmp42\0\0\0\0",
        b"\x1aE\xdf\xa3",
        b"OggS\0",
        b"%PDF-",
        b"%!PS-Adobe-",
        b"\x1f\x8b\x08",
        b"PK\x03\x04",
        b"Rar!\x1a\x07\0",
        b"Rar!\x1a\x07\x01\0",
        b"7z\xbc\xaf\x27\x1c",
        b"\0asm",
        b"<!DOCTYPE HTML",
        b"<html",
        b"<Head",
        b"<SCRIPT",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
        b"<?xml",
        b"<!",
        b"{}",
        b".snd",
        b"OTTO",
        b"\xef\xbb\xbf",
    ];
    let mut body = joined(rng, &[b" ", b"\n", b"\t", b"\r", b"\x0c"], 1);
    let beginning = *rng.pick(BEGINNINGS);
    body.extend_from_slice(&beginning[..beginning.len() - usize::from(rng.chance(10))]);
    body.extend(joined(rng, &[b">", b" ", b"x", b"\n", b"\0"], 3));
    body
}

fn sent(rng: &mut Rng) -> Sent {
    const SIGNS: &[&[u8]] =
        &[b"multipart/mixed", b"; ", b";", b"boundary", b"=", b"b", b"\"", b"\\", b" ", b"x=y", b"\"b\""];
    let mut content_type =
        rng.pick::<&[u8]>(&[b"multipart/form-data", b"Multipart/Mixed ", b" multipart/x", b"text/plain"]).to_vec();
    if rng.chance(80) {
        content_type.extend(picked(
            rng,
            b"; boundary=b",
            50,
            &[
                b";boundary=\"b\"",
                b"; x=\"a\\\";b\" ; Boundary = b",
                b"; boundary= \"b\" ;",
                b"; boundary=\"\\b\"",
                b"; boundary=x; boundary*=utf-8''%62",
            ],
        ));
    } else {
        content_type.extend(joined(rng, SIGNS, 6));
    }
    Sent { content_type, body: if rng.chance(25) { typed(rng) } else { multipart(rng) } }
}

fn bytes(json: &Json) -> Vec<u8> {
    from_base64(json.as_str().unwrap_or_default(), "+/", true).unwrap()
}

fn elements(value: Option<&FilterValue>) -> &[FilterValue] {
    if let Some(FilterValue::Array(values)) = value { values } else { &[] }
}

/// What is wrong with the values of [`FIELDS`].
fn wrong(found: &[Option<FilterValue>], judged: &Json) -> Option<String> {
    let [mime, map, values, names, file_names, dispositions, types, encodings] = found else { panic!("{found:?}") };
    let sniffed = judged["sniffed"].as_str().unwrap().split(';').next().unwrap();
    let shown = mime.as_ref().map_or(&b""[..], |mime| mime.as_bytes().unwrap());
    let only_here = NOT_IN_GO.iter().any(|own| own.as_bytes() == shown) || shown.is_empty();
    let is_known = !NOT_KNOWN.iter().any(|known| sniffed.starts_with(known));
    if shown != sniffed.as_bytes() && (is_known || !only_here) {
        return Some(format!("mime {:?} is {sniffed}", show(mime.as_ref())));
    }
    let is_multipart = judged["media_type"].as_str().map(|name| name.starts_with("multipart/"));
    if is_multipart == Some(false) && values.is_some() {
        return Some("parts of a body of one".to_owned());
    }
    if is_multipart != Some(true) || judged["boundary"].as_str().is_none_or(str::is_empty) {
        return None;
    }
    let (parts, ends) = (judged["parts"].as_array().unwrap(), judged["ends"].as_bool().unwrap());
    // Go says of a body that ends in the head of a part that it ends as it should, without this part.
    let complete = match elements(values.as_ref()) {
        [others @ .., last] if last.as_bytes() == Some(b"") && others.len() == parts.len() => others,
        all => all,
    };
    if ends && complete.len() != parts.len() {
        return Some(format!("{} parts are {}", complete.len(), parts.len()));
    }
    for (at, part) in parts.iter().enumerate() {
        let content = bytes(&part["content"]);
        let is_whole = ends || at + 1 < parts.len();
        let fits = |value: &FilterValue| {
            let value = value.as_bytes().unwrap();
            if is_whole { value == content } else { value.starts_with(&content) }
        };
        if !elements(values.as_ref()).get(at).is_some_and(fits) {
            return Some(format!("the content of part {at} is {:?}", String::from_utf8_lossy(&content)));
        }
        for (values, name) in [(names, "name"), (file_names, "filename")] {
            let Some(value) = part["parameters"][name].as_str() else { continue };
            if !elements(elements(values.as_ref()).get(at)).contains(&value.into()) {
                return Some(format!("the {name} of part {at} is {value:?}"));
            }
            if let Some(FilterValue::Map(map)) = map
                && name == "name"
                && !map.get(value.as_bytes()).is_some_and(|values| elements(Some(values)).iter().any(fits))
            {
                return Some(format!("part {at} is not in the map at {value:?}"));
            }
        }
        for (values, name) in
            [(dispositions, "Content-Disposition"), (types, "Content-Type"), (encodings, "Content-Transfer-Encoding")]
        {
            let lines = part["fields"][name].as_array().cloned().unwrap_or_default();
            // Go keeps the blank of a continuation that is empty.
            let lines: Vec<FilterValue> = lines.iter().map(|line| line.as_str().unwrap().trim_end().into()).collect();
            if elements(elements(values.as_ref()).get(at)) != lines {
                return Some(format!("the fields {name} of part {at} are {lines:?}"));
            }
        }
    }
    None
}

#[test]
fn bodies_are_what_go_delivers() {
    let Some(go) = GoProgram::build("bodies", "bodies are not judged by its package mime/multipart") else { return };
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let types: Vec<_> = FIELDS
        .iter()
        .map(|name| http_fields().find(|field| field.name == *name).unwrap().ty.parse().unwrap())
        .collect();
    let rng = &mut Rng::new(number("CELERO_SEED", 1) ^ 0xb0d1e5);
    let requests: Vec<Sent> = (0..number("CELERO_JUDGED_CASES", REQUESTS)).map(|_| sent(rng)).collect();
    let question = |sent: &Sent| json!({"content_type": base64(&sent.content_type, "+/", true), "body": base64(&sent.body, "+/", true)});
    let answers = go.ask(&requests.iter().map(question).collect::<Vec<_>>());
    let arena = Arena::new(1 << 20);
    let mut failures = Vec::new();
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let programs: Vec<_> = FIELDS.iter().map(|field| engine.compile(&env, field).unwrap()).collect();
        for (sent, judged) in requests.iter().zip(&answers) {
            let content_type = HeaderValue::from_bytes(&sent.content_type).unwrap();
            let request = http::Request::post("/").header("content-type", content_type).body(()).unwrap();
            let (parts, ()) = request.into_parts();
            let context = RequestContext::from(Request::from(RequestHead::from_parts(&parts)).with_body(&sent.body));
            let value = |at: usize| match programs[at].eval(&context, &mut Scratch::new()) {
                Ok(value) => filter_value(&value, &types[at], &arena),
                Err(error) if error.kind == ErrorKind::NoSuchKey => None,
                Err(error) => panic!("{}: {error}", FIELDS[at]),
            };
            let found: Vec<_> = (0..FIELDS.len()).map(value).collect();
            if let Some(why) = wrong(&found, judged) {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let values = show(found[2].as_ref());
                failures.push(format!(
                    "{tier:?}: {why}, not {values}: {:?} {:?}",
                    text(&sent.content_type),
                    text(&sent.body)
                ));
            }
        }
    }
    let count = |is: &dyn Fn(&Json) -> bool| answers.iter().filter(|answer| is(answer)).count();
    let (whole, refused) = (
        count(&|answer| answer["ends"] == json!(true) && !answer["parts"].as_array().unwrap().is_empty()),
        count(&|answer| answer["boundary"].is_string() && answer["ends"] == json!(false)),
    );
    say(&format!(
        "{} bodies are judged by Go, which accepts {whole} of several parts and refuses {refused}",
        requests.len()
    ));
    assert!(whole * 8 > requests.len() && refused * 20 > requests.len(), "{whole} {refused}");
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures[..failures.len().min(12)].join("\n"));
}
