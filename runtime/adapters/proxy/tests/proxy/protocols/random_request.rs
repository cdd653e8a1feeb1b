//! Random requests that every protocol can carry.

use crate::spellings::Random;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;
use std::sync::LazyLock;

/// The password of the user `ada`.
pub(super) const PASSWORD: &str = "right";

/// The key of tokens.
pub(super) const SECRET: &str = "a secret of at least thirty-two bytes";

/// What says who a client is.
static CREDENTIALS: LazyLock<[(&str, String); 4]> = LazyLock::new(|| {
    let claims = json!({ "sub": "ada", "exp": 4_000_000_000_u64 });
    let token = encode(&Header::default(), &claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap();
    [
        ("authorization", format!("Bearer {token}")),
        ("authorization", format!("Basic {}", STANDARD.encode(format!("ada:{PASSWORD}")))),
        ("authorization", "Basic Og==".to_owned()),
        ("x-api-key", "foo".to_owned()),
    ]
});

/// The names of fields, parameters and cookies in random requests.
pub(super) const NAMES: &[&str] =
    &["host", "x-a", "X-B", "cookie", "accept-language", "user-agent", "content-length", "content-type", "q", "a"];

const METHODS: &[&str] = &["GET", "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE"];

const AUTHORITIES: &[&str] = &[
    "shop.example",
    "Shop.Example",
    "shop.example.",
    "SHOP.example.:8080",
    "shop.example:80",
    "shop.example:0443",
    "shop.example:",
    "192.0.2.7:81",
    "[2001:DB8:0::1]",
    "[2001:db8::1]:8080",
    "xn--bcher-kva.example",
    "under_score.example",
];

const SEGMENTS: &[&str] = &[
    "/",
    "/a",
    "/admin",
    "//",
    "/./",
    "/x/../",
    "/%61",
    "/%2e%2E/",
    "/caf%c3%A9",
    "/a%20b",
    "/file.TXT",
    "/a;v=1",
    "/~u",
    "/%7Eu",
    "/a|b",
    "/a%25b",
];

const QUERIES: &[&str] =
    &["", "", "?", "?q=1", "?q=a+b&q=%C3%A9&a", "?%61=1&q=2", "?a=1;q=2", "?q=//../&&a==", "?q=%zz", "?http://x/?q"];

const FIELDS: &[(&str, &str)] = &[
    ("x-a", "1"),
    ("x-a", "2, 3"),
    ("x-a", ""),
    ("x-b", "a  b"),
    ("x-b", "\"quoted, text\""),
    ("x-b", "caf\u{e9}"),
    ("cookie", "a=1"),
    ("cookie", "q=2; a=%33"),
    ("cookie", ""),
    ("accept-language", "de;q=0.5, en-GB"),
    ("accept", "*/*"),
    ("via", "1.1 edge"),
    ("x-http-method-override", "DELETE"),
];

/// Fields that have one value.
const SINGLE: &[(&str, &str)] = &[
    ("user-agent", "tests/1.0 (x; y)"),
    ("referer", "http://other.example/x?y"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("origin", "null"),
];

/// How the length of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Told,
    /// Chunks in HTTP/1.1, the end of the stream in HTTP/2.
    Framed,
}

#[derive(Clone, Debug)]
pub(super) struct RandomRequest {
    pub(super) number: usize,
    pub(super) method: &'static str,
    pub(super) authority: &'static str,
    /// In origin-form, or `*`.
    pub(super) target: String,
    /// Without host and framing.
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Option<(Vec<u8>, Length)>,
}

impl RandomRequest {
    pub(super) fn new(number: usize, random: &mut Random) -> Self {
        let method = random.pick(METHODS);
        let target = if method == "OPTIONS" && random.below(2) == 0 {
            "*".to_owned()
        } else {
            let segments = 1 + random.below(3);
            let path: String = (0..segments).map(|_| random.pick(SEGMENTS)).collect();
            path + random.pick(QUERIES)
        };
        let mut fields = vec![("x-number", number.to_string())];
        for _ in 0..random.below(6) {
            let (name, value) = FIELDS[random.below(FIELDS.len())];
            fields.push((name, value.to_owned()));
        }
        let of_one_value = SINGLE.iter().filter(|_| random.below(4) == 0);
        fields.extend(of_one_value.map(|(name, value)| (*name, (*value).to_owned())));
        if random.below(3) == 0 {
            fields.push(CREDENTIALS[random.below(CREDENTIALS.len())].clone());
        }
        let body = match random.below(6) {
            0 => Some((b"q=1&a=%20".to_vec(), Length::Told)),
            1 => Some((vec![b'x'; 1 + random.below(3_000)], Length::Told)),
            2 => Some((b"some text \xff".to_vec(), Length::Framed)),
            3 if random.below(2) == 0 => Some((Vec::new(), Length::Told)),
            _ => None,
        };
        Self { number, method, authority: random.pick(AUTHORITIES), target, fields, body }
    }

    pub(super) fn is_chunked(&self) -> bool {
        matches!(self.body, Some((_, Length::Framed)))
    }

    pub(super) fn body_bytes(&self) -> &[u8] {
        self.body.as_ref().map_or(&[], |(body, _)| body)
    }

    /// The field that tells the length of the body.
    pub(super) fn content_length(&self) -> Option<String> {
        let (body, length) = self.body.as_ref()?;
        (*length == Length::Told).then(|| body.len().to_string())
    }

    /// The bytes of the request in HTTP/1.1, with names in any case and spaces around values.
    pub(super) fn http1(&self, is_absolute: bool, scheme: &str) -> Vec<u8> {
        let mut random = Random(self.number as u64);
        let target = match (is_absolute, &*self.target) {
            (false, target) => target.to_owned(),
            (true, "*") => format!("{scheme}://{}", self.authority),
            (true, target) => format!("{scheme}://{}{target}", self.authority),
        };
        let mut text = format!("{} {target} HTTP/1.1\r\n", self.method);
        let mut field = |name: &str, value: &str| {
            let mut letters = name.chars();
            let name: String = match random.below(3) {
                0 => name.to_ascii_uppercase(),
                1 => letters.next().into_iter().map(|first| first.to_ascii_uppercase()).chain(letters).collect(),
                _ => name.to_owned(),
            };
            text += &format!("{name}:{}{value}{}\r\n", random.pick(&["", " ", "\t "]), random.pick(&["", " ", " \t"]));
        };
        field("host", self.authority);
        self.fields.iter().for_each(|(name, value)| field(name, value));
        match &self.body {
            Some((body, Length::Told)) => field("content-length", &body.len().to_string()),
            Some((_, Length::Framed)) => field("transfer-encoding", "chunked"),
            None => {}
        }
        let mut bytes: Vec<u8> = (text + "\r\n").chars().map(|character| u8::try_from(character).unwrap()).collect();
        if self.is_chunked() {
            bytes.extend(format!("{:x}\r\n", self.body_bytes().len()).bytes());
            bytes.extend_from_slice(self.body_bytes());
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        } else {
            bytes.extend_from_slice(self.body_bytes());
        }
        bytes
    }

    /// The request as servers of the `http` crate have it.
    pub(super) fn head(&self, version: http::Version, uri: http::Uri) -> http::request::Builder {
        let mut head = http::Request::builder().method(self.method).version(version).uri(uri);
        for (name, value) in &self.fields {
            let bytes: Vec<u8> = value.chars().map(|character| u8::try_from(character).unwrap()).collect();
            head = head.header(*name, bytes);
        }
        match self.content_length() {
            Some(length) => head.header("content-length", length),
            None => head,
        }
    }

    /// The target with the authority, as a client of HTTP/2 sends it.
    pub(super) fn absolute(&self, scheme: &str) -> http::Uri {
        let uri = http::Uri::builder().scheme(scheme).authority(self.authority).path_and_query(&*self.target);
        uri.build().unwrap()
    }

    /// `Host` beside `:authority`, which some clients of HTTP/2 send. It must have the same bytes.
    pub(super) fn host_beside_authority(&self) -> Option<&'static str> {
        self.number.is_multiple_of(3).then_some(self.authority)
    }
}
