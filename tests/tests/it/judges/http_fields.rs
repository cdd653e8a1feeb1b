//! Cloudflare's fields of random requests, judged by code written from the documentation of the fields.

use super::number;
use celero::filter::{FilterLanguage, FilterType, FilterValue, HttpField, http_fields};
use celero::http::{Request, RequestContext, RequestHead};
use celero::values::Arena;
use celero::{Engine, Env, ErrorKind, Scratch, Tier};
use celero_tests::filter::{filter_value, show};
use celero_tests::generate::Rng;
use celero_tests::shared::say;
use http::{HeaderName, HeaderValue, Version};
use std::collections::BTreeMap;

/// Arrays whose order is not documented, only that it is the same in both.
const UNORDERED: [&str; 2] = ["http.request.headers.names", "http.request.headers.values"];

/// Keys that are looked up in the maps of each request.
const KEYS: [&str; 5] = ["a", "b c", "\u{e9}", "\u{fffd}1", "z"];

/// Random requests.
const REQUESTS: u64 = 2_000;

/// A request as it was sent.
#[derive(Debug)]
struct Sent {
    method: &'static str,
    /// Scheme, host and port of the absolute form.
    absolute: Option<(&'static str, String)>,
    path: String,
    query: Option<String>,
    headers: Vec<(&'static str, Vec<u8>)>,
    version: Version,
    body: Vec<u8>,
}

fn joined(rng: &mut Rng, parts: &[&str], most: usize) -> String {
    (0..rng.below(most + 1)).map(|_| *rng.pick(parts)).collect()
}

/// The fields of a form, some of whose names are not UTF-8; rarely so many that a map of them is searched by halves.
fn form(rng: &mut Rng, query: &[&str]) -> Vec<u8> {
    let mut body = joined(rng, query, 5).into_bytes();
    for _ in 0..if rng.chance(10) { 80 } else { rng.below(3) } {
        let name = rng.pick::<&[u8]>(&[b"\x80", b"\xff", b"\xc3\xa9", b"z"]);
        let number = rng.pick::<&str>(&["", "1", "2", "3", "4"]);
        body.extend([&b"&"[..], name, number.as_bytes(), b"=", number.as_bytes()].concat());
    }
    body
}

fn sent(rng: &mut Rng) -> Sent {
    const NAMES: &[&str] = &[
        "host",
        "cookie",
        "user-agent",
        "referer",
        "x-forwarded-for",
        "accept-language",
        "content-type",
        "x-a",
        "x-b",
    ];
    const HOSTS: &[&str] =
        &["a.example", "A.Example", "a.example:8080", "A.example.", "b.example.:80", "[2001:DB8::1]:443"];
    const QUERY: &[&str] = &["a", "b=1", "a=2", "=", "&", "&&", "a=%20", "+", "%61", "b=c=d"];
    let host = |rng: &mut Rng| (*rng.pick(HOSTS)).to_owned();
    let value = |rng: &mut Rng, name: &str| -> Vec<u8> {
        match name {
            "host" => host(rng).into_bytes(),
            "cookie" => joined(
                rng,
                &["a=1", ";", "; ", "b%20c=2", "a=", "junk", " a=%33", "+=x", "d=e=f", "%FF1=g;", "%C3%A9=h;"],
                6,
            )
            .into_bytes(),
            "accept-language" => {
                let tag = |rng: &mut Rng| {
                    let weight = *rng.pick(&["", "", ";q=0.5", "; q=0.8", ";q=1", ";q=0", ";q=0.05"]);
                    format!("{}{weight}", *rng.pick(&["de", "en-GB", "*", "fr", ""]))
                };
                let tags: Vec<String> = (0..rng.below(5)).map(|_| tag(rng)).collect();
                tags.join(*rng.pick(&[",", ", "])).into_bytes()
            }
            "content-type" => rng
                .pick(&[
                    "application/x-www-form-urlencoded",
                    "Application/X-WWW-form-urlencoded; charset=utf-8",
                    "text/plain",
                ])
                .as_bytes()
                .to_vec(),
            _ => rng.pick::<&[u8]>(&[b"", b"x", b"curl/8", b"caf\xc3\xa9", b"\xff\x80z", b"a, b"]).to_vec(),
        }
    };
    let headers = (0..rng.below(8)).map(|_| {
        let name = *rng.pick(NAMES);
        (name, value(rng, name))
    });
    Sent {
        headers: headers.collect(),
        method: rng.pick::<&str>(&["GET", "POST", "PURGE"]),
        absolute: rng.chance(30).then(|| (*rng.pick(&["http", "https"]), host(rng))),
        path: format!("/{}", joined(rng, &["a", ".", "/", "b.PHP", ".mp3", "tar.gz", "%2e", ".."], 6)),
        query: rng.chance(70).then(|| joined(rng, QUERY, 6)),
        version: *rng.pick(&[Version::HTTP_10, Version::HTTP_11, Version::HTTP_2, Version::HTTP_3]),
        body: form(rng, QUERY),
    }
}

fn text(text: impl AsRef<[u8]>) -> Option<FilterValue> {
    Some(FilterValue::Bytes(text.as_ref().to_vec()))
}

fn texts<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Option<FilterValue> {
    Some(FilterValue::Array(texts.into_iter().map(|text| FilterValue::Bytes(text.as_ref().to_vec())).collect()))
}

fn by_name(pairs: &[(Vec<u8>, Vec<u8>)]) -> Option<FilterValue> {
    let mut map: BTreeMap<Vec<u8>, Vec<FilterValue>> = BTreeMap::new();
    for (name, value) in pairs {
        // Keys are text: what is not UTF-8 is replaced.
        let name = String::from_utf8_lossy(name).into_owned().into_bytes();
        map.entry(name).or_default().push(FilterValue::Bytes(value.clone()));
    }
    Some(FilterValue::Map(map.into_iter().map(|(name, values)| (name, FilterValue::Array(values))).collect()))
}

fn pair(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    (parts.next().unwrap().to_vec(), parts.next().unwrap_or_default().to_vec())
}

/// Arguments: "no decoding performed", "in the order they appear in the request".
fn arguments(query: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    query.split(|byte| *byte == b'&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn decoded(name: &[u8]) -> Vec<u8> {
    let digit = |at: usize| name.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < name.len() {
        match (name[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                found.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => found.push(b' '),
            (byte, ..) => found.push(byte),
        }
        at += 1;
    }
    found
}

/// Cookies: "The cookie names are URL decoded. If two cookies have the same name after decoding,
/// their value arrays are merged."
fn cookies(header: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|part| part.contains(&b'='));
    parts.map(pair).map(|(name, value)| (decoded(&name), value)).collect()
}

/// "This corresponds to the string after the last dot in the URI path": of the last segment, unless
/// that has only one dot and begins with it.
fn extension(path: &str) -> String {
    let segment = path.rsplit('/').next().unwrap();
    match segment.rfind('.') {
        Some(0) | None => String::new(),
        Some(dot) => segment[dot + 1..].to_lowercase(),
    }
}

/// "Language tags are sorted by weight, with a default weight of 1, in descending order"; `*` is left out.
fn languages(header: &str) -> Vec<String> {
    let mut found: Vec<(f32, String)> = Vec::new();
    for tag in header.split(',') {
        let mut parts = tag.split(';').map(str::trim);
        let name = parts.next().unwrap();
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |weight| weight.parse().unwrap());
        if !name.is_empty() && name != "*" && weight > 0.0 {
            let at = found.iter().position(|(other, _)| *other < weight).unwrap_or(found.len());
            found.insert(at, (weight, name.to_owned()));
        }
    }
    found.into_iter().map(|(_, name)| name).collect()
}

/// A host without its port and without a dot at its end, and the port.
fn host_and_port(authority: &str) -> (String, Option<String>) {
    let colon = authority.rfind(':').filter(|colon| !authority[*colon..].contains(']'));
    let (host, port) = authority.split_at(colon.unwrap_or(authority.len()));
    let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
    (host, port.strip_prefix(':').map(str::to_owned))
}

impl Sent {
    /// The lines of a header as one text.
    fn header(&self, name: &str) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> =
            self.headers.iter().filter(|(known, _)| *known == name).map(|(_, line)| &**line).collect();
        let separator: &[u8] = if name == "cookie" { b"; " } else { b"," };
        (!lines.is_empty()).then(|| lines.join(separator))
    }

    fn target(&self) -> String {
        format!("{}{}", self.path, self.query.as_ref().map_or(String::new(), |query| format!("?{query}")))
    }

    fn authority(&self) -> Option<String> {
        let first = self.headers.iter().find(|(name, _)| *name == "host");
        let header = first.map(|(_, host)| String::from_utf8(host.clone()).unwrap());
        self.absolute.as_ref().map(|(_, authority)| authority.clone()).or(header)
    }

    /// What a field is, as the documentation says; `Err` for fields that are not judged.
    fn field(&self, name: &str) -> Result<Option<FilterValue>, ()> {
        let query = self.query.as_deref().unwrap_or_default().as_bytes();
        let pairs = arguments(query);
        let form = self.header("content-type").filter(|kind| {
            kind.split(|byte| *byte == b';').next().unwrap().eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
        });
        let form = form.map(|_| arguments(&self.body));
        let lines: Vec<(Vec<u8>, Vec<u8>)> =
            self.headers.iter().map(|(name, line)| (name.as_bytes().to_vec(), line.clone())).collect();
        Ok(match name.strip_prefix("raw.").unwrap_or(name) {
            "http.cookie" => self.header("cookie").and_then(text),
            "http.referer" => self.header("referer").and_then(text),
            "http.user_agent" => self.header("user-agent").and_then(text),
            "http.x_forwarded_for" => self.header("x-forwarded-for").and_then(text),
            "http.host" => self.authority().and_then(|authority| text(host_and_port(&authority).0)),
            "http.request.full_uri" => self.authority().and_then(|authority| {
                let (host, port) = host_and_port(&authority);
                let scheme = self.absolute.as_ref().map_or("http", |(scheme, _)| scheme);
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                text(format!("{scheme}://{host}{port}{}", self.target()))
            }),
            "http.request.method" => text(self.method),
            "http.request.version" => text(match self.version {
                Version::HTTP_10 => "HTTP/1.0",
                Version::HTTP_11 => "HTTP/1.1",
                Version::HTTP_2 => "HTTP/2",
                _ => "HTTP/3",
            }),
            "http.request.uri" => text(self.target()),
            "http.request.uri.path" => text(&self.path),
            "http.request.uri.path.extension" => text(extension(&self.path)),
            "http.request.uri.query" => text(query),
            "http.request.uri.args" => by_name(&pairs),
            "http.request.uri.args.names" => texts(pairs.iter().map(|(name, _)| name)),
            "http.request.uri.args.values" => texts(pairs.iter().map(|(_, value)| value)),
            "http.request.headers" => by_name(&lines),
            // The order of names is not guaranteed; the values are in the same one.
            name if UNORDERED.contains(&name) => return Err(()),
            "http.request.cookies" => self.header("cookie").and_then(|header| by_name(&cookies(&header))),
            "http.request.accepted_languages" => self
                .header("accept-language")
                .and_then(|header| texts(languages(std::str::from_utf8(&header).unwrap()))),
            "http.request.body.raw" => text(&self.body),
            "http.request.body.size" => Some(FilterValue::Int(self.body.len() as i64)),
            "http.request.body.form" => form.and_then(|form| by_name(&form)),
            "http.request.body.form.names" => form.and_then(|form| texts(form.iter().map(|(name, _)| name))),
            "http.request.body.form.values" => form.and_then(|form| texts(form.iter().map(|(_, value)| value))),
            "ssl" => Some(FilterValue::Bool(matches!(self.absolute, Some(("https", _))))),
            _ => return Err(()),
        })
    }
}

#[test]
fn fields_of_requests_are_what_the_documentation_says() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let judged: Vec<(HttpField, FilterType)> = http_fields()
        .filter(|field| sent(&mut Rng::new(1)).field(field.name).is_ok() || UNORDERED.contains(&field.name))
        .map(|field| (field, field.ty.parse().unwrap()))
        .collect();
    let rng = &mut Rng::new(number("CELERO_SEED", 1) ^ 0xf1e1d5);
    let requests: Vec<Sent> = (0..number("CELERO_JUDGED_CASES", REQUESTS)).map(|_| sent(rng)).collect();
    let arena = Arena::new(1 << 20);
    let mut wrong = Vec::new();
    let mut present = BTreeMap::new();
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let programs: Vec<_> = judged.iter().map(|(field, _)| engine.compile(&env, field.name).unwrap()).collect();
        let maps = judged.iter().filter(|(_, ty)| matches!(ty, FilterType::Map(_)));
        let lookups: Vec<_> = maps
            .flat_map(|(field, _)| KEYS.map(|key| (field.name, key)))
            .map(|(name, key)| {
                (name, key, engine.compile(&env, &format!("any({name}[\"{key}\"][*] ne \"\")")).unwrap())
            })
            .collect();
        for sent in &requests {
            let origin = sent.absolute.as_ref().map_or(String::new(), |(scheme, host)| format!("{scheme}://{host}"));
            let mut request = http::Request::builder().method(sent.method).uri(format!("{origin}{}", sent.target()));
            for (name, line) in &sent.headers {
                request = request.header(HeaderName::from_static(name), HeaderValue::from_bytes(line).unwrap());
            }
            let (parts, ()) = request.version(sent.version).body(()).unwrap().into_parts();
            let context = RequestContext::from(Request::from(RequestHead::from_parts(&parts)).with_body(&sent.body));
            let mut headers: BTreeMap<&str, Vec<FilterValue>> = BTreeMap::new();
            for ((field, ty), program) in judged.iter().zip(&programs) {
                let found = match program.eval(&context, &mut Scratch::new()) {
                    Ok(value) => filter_value(&value, ty, &arena),
                    Err(error) if error.kind == ErrorKind::NoSuchKey => None,
                    Err(error) => panic!("{}: {error}", field.name),
                };
                if let Some(FilterValue::Array(values)) = found.clone().filter(|_| UNORDERED.contains(&field.name)) {
                    headers.insert(field.name, values);
                    continue;
                }
                let expected = sent.field(field.name).unwrap();
                *present.entry(field.name).or_insert(0_u64) += u64::from(expected.is_some());
                if found != expected {
                    let (found, expected) = (show(found.as_ref()), show(expected.as_ref()));
                    wrong.push(format!("{tier:?} {}: {found}, documented: {expected}\n{sent:?}", field.name));
                }
            }
            for (name, key, program) in &lookups {
                let mut scratch = Scratch::new();
                let found = program.eval(&context, &mut scratch).unwrap();
                let is_empty = |value: &FilterValue| value.as_bytes().is_some_and(<[u8]>::is_empty);
                let expected = match sent.field(name).unwrap() {
                    Some(FilterValue::Map(map)) => map.get(key.as_bytes()).is_some_and(
                        |values| matches!(values, FilterValue::Array(values) if !values.iter().all(is_empty)),
                    ),
                    _ => false,
                };
                if !matches!(found, celero::Value::Bool(found) if found == expected) {
                    wrong.push(format!("{tier:?} {name} at {key:?}: {found:?}\n{sent:?}"));
                }
            }
            let of = |name: &str| headers[name].iter().map(|value| value.as_bytes().unwrap().to_vec());
            let mut found: Vec<_> = of("http.request.headers.names").zip(of("http.request.headers.values")).collect();
            let mut lines: Vec<_> =
                sent.headers.iter().map(|(name, line)| (name.as_bytes().to_vec(), line.clone())).collect();
            found.sort();
            lines.sort();
            if found != lines {
                wrong.push(format!("{tier:?} headers: {found:?}\n{sent:?}"));
            }
        }
    }
    say(&format!("{} fields of {} requests are judged", judged.len(), requests.len()));
    assert!(judged.len() > 30 && present.values().all(|count| count * 10 > requests.len() as u64), "{present:?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}
