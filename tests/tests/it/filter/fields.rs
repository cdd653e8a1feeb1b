//! The table of documented fields: each that has a value here has that of its example, in both
//! tiers, and each other has none.

use celero::filter::{FilterLanguage, FilterType, HttpFieldValue, http_fields};
use celero::http::{Request, RequestHead, Source};
use celero::values::Arena;
use celero::{Context, Engine, Env, ErrorKind, Scratch, Tier};
use celero_tests::filter::{filter_value, show};
use http::{HeaderMap, HeaderValue, Version};
use std::time::{Duration, SystemTime};

/// What a proxy knows of a request and its response.
#[derive(Context)]
struct Exchange<'a> {
    #[context(nested)]
    request: Request<'a>,
    #[context(name = "request.startTime")]
    started: SystemTime,
    #[context(name = "response.code")]
    code: Option<i64>,
    #[context(name = "response.headers")]
    response_headers: &'a HeaderMap,
    #[context(nested)]
    source: Source,
    #[context(nested)]
    destination: Source,
    #[context(name = "source.tls.version")]
    tls_version: Option<String>,
    #[context(name = "source.tls.cipher")]
    tls_cipher: Option<String>,
    #[context(name = "source.tls.subject")]
    subject: Option<String>,
    #[context(name = "source.tls.issuer")]
    issuer: Option<String>,
    #[context(name = "source.tls.fingerprint")]
    fingerprint: Option<String>,
}

/// The headers and the body of the request whose values the example of a field shows.
fn message(field: &str) -> (&'static [(&'static str, &'static str)], Option<&'static str>) {
    match field {
        "http.request.headers" | "http.request.headers.names" | "http.request.headers.values" => {
            (&[("content-type", "application/json")], None)
        }
        "http.request.body.mime" => (&[], Some("GIF89a")),
        name if name.starts_with("http.request.body.multipart") => (
            &[("content-type", "multipart/form-data; boundary=\"x y\"")],
            Some(concat!(
                "--x y\r\ncontent-disposition: form-data; name=\"username\"\r\nContent-Type: text/plain\r\n",
                "Content-Transfer-Encoding: quoted-printable\r\n\r\nalice_doe\r\n",
                "--x y\r\ncontent-disposition: form-data; name=\"picture\"; filename=\"photo.jpg\"\r\n",
                "Content-Type: image/jpeg\r\nContent-Transfer-Encoding: binary\r\n\r\nJPEG\r\n--x y--\r\n",
            )),
        ),
        _ => (
            &[
                ("host", "www.example.org"),
                ("cookie", "session=8521F670545D7865;-background=light"),
                ("referer", "https://developer.example.org/en-US/docs"),
                ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)"),
                ("x-forwarded-for", "203.0.113.195, 70.41.3.18"),
                ("accept-language", "fr-CH, fr;q=0.8, en;q=0.9, de;q=0.7, *;q=0.5"),
                ("content-type", "application/x-www-form-urlencoded"),
            ],
            Some("username=admin"),
        ),
    }
}

/// The values of a field, as the language writes them: with the interpreter, and in native code.
fn values(field: &str, ty: &FilterType) -> [String; 2] {
    let (headers, body) = message(field);
    let mut request =
        http::Request::get("/articles/index.html?section=539061&expand=comments").version(Version::HTTP_2);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let raw = b"/articles/%69ndex.html?section=539061&expand=%63omments";
    let head = RequestHead::from_parts(&parts).with_raw_path(Some(raw)).with_scheme(Some("https"));
    let mut response_headers = HeaderMap::new();
    let (name, value) = match field {
        "http.response.content_type.media_type" => ("content-type", "text/HTML; charset=utf-8"),
        _ => ("server", "nginx"),
    };
    response_headers.insert(name, HeaderValue::from_static(value));
    let request = Request::from(head);
    let address = |text: &str| Source::from(text.parse::<std::net::SocketAddr>().unwrap());
    let context = Exchange {
        request: body.map_or(request, |body| request.with_body(body.as_bytes())),
        started: SystemTime::UNIX_EPOCH + Duration::from_millis(1_484_063_137_857),
        code: Some(403),
        response_headers: &response_headers,
        source: address("93.184.216.34:4711"),
        destination: address("198.51.100.7:443"),
        tls_version: Some("TLSv1.2".into()),
        tls_cipher: Some("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".into()),
        subject: Some("CN=James Royal,OU=Access Admins,O=Access,L=Austin,ST=Texas,C=US".into()),
        issuer: Some("CN=Access Testing CA,OU=TX,O=Access Testing,L=Austin,ST=Texas,C=US".into()),
        fingerprint: Some("af363dc85bc942a892d3cee9796190fdb36d89cd588a4f1cb17c74a943439714".into()),
    };
    let env = Env::<Exchange<'_>>::new().filter_language(FilterLanguage::http());
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    [Tier::Interpret, Tier::Native].map(|tier| {
        let program = Engine::builder().tier(tier).build().compile(&env, field).unwrap();
        let arena = Arena::new(1 << 20);
        let found = match program.eval(&context, &mut Scratch::new()) {
            Ok(value) => filter_value(&value, ty, &arena),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::NoSuchKey, "{field}");
                None
            }
        };
        show(found.as_ref())
    })
}

#[test]
fn documented_fields_have_the_values_of_their_examples() {
    let mut wrong = Vec::new();
    for field in http_fields() {
        let ty: FilterType = field.ty.parse().unwrap();
        let expected = match field.value {
            HttpFieldValue::Host(reason) => {
                assert!(!reason.is_empty(), "{}", field.name);
                // A condition is false where its value is missing.
                if ty == FilterType::Bool { "false" } else { "nil" }
            }
            HttpFieldValue::Request(example)
            | HttpFieldValue::RequestBody(example)
            | HttpFieldValue::Response(example)
            | HttpFieldValue::Tls(example) => example,
        };
        for (value, tier) in values(field.name, &ty).iter().zip(["interpreter", "native"]) {
            if value != expected {
                wrong.push(format!("{}: {tier}: {value}, documented: {expected}", field.name));
            }
        }
    }
    assert!(http_fields().len() > 200);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
