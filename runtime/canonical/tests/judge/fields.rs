//! Fields and trailers, judged by RFC 9110, RFC 9112 and RFC 9113 read line by line, over lists of lines.

use crate::cases;
use celero_canonical::{GuardedNames, Options, Underscores, canonicalize, clean_trailers};
use fastrand::Rng;
use http::{HeaderMap, HeaderName, HeaderValue, Version};

/// Names of fields: those that have a meaning, guarded ones, imitations of both, and others.
const NAMES: &[&str] = &[
    "connection",
    "connection",
    "upgrade",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "http2-settings",
    "transfer-encoding",
    "content-length",
    "proxy-authorization",
    "proxy-authenticate",
    "authorization",
    "content-type",
    "user-agent",
    "range",
    "cookie",
    "cookie",
    "x-forwarded-for",
    "x-request-id",
    "x-user",
    "x_tenant",
    "x-internal-a",
    "accept",
    "accept",
    "x-a",
    "x_user",
    "x.user",
    "x-tenant",
    "x-internal_a",
    "x_internal-a",
    "content_length",
    "x_a",
];

const VALUES: &[&str] = &["", "a", "a=1", "7", "0", "b, c", " a", "a\t", "é"];

/// Elements of `Connection`.
const ELEMENTS: &[&str] = &[
    "close",
    "Upgrade",
    "upgrade",
    "keep-alive",
    "x-a",
    "Cookie",
    "te",
    "connection",
    "host",
    "content-length",
    "x b",
    "",
];

/// The fields that a message may not have in trailers: those for framing, routing, request
/// modifiers, authentication, response control and content format (RFC 9110, section 6.5.1; the
/// fields of each group are listed in RFC 7231, sections 5.1 to 5.3 and 7.1, and RFC 7235).
const NOT_IN_TRAILERS: &[&str] = &[
    "transfer-encoding",
    "content-length",
    "trailer",
    "connection",
    "host",
    "max-forwards",
    "cache-control",
    "expect",
    "pragma",
    "range",
    "te",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "if-range",
    "www-authenticate",
    "authorization",
    "proxy-authenticate",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "age",
    "expires",
    "date",
    "location",
    "retry-after",
    "vary",
    "warning",
    "content-encoding",
    "content-type",
    "content-range",
];

type Lines = Vec<(String, String)>;

fn guarded() -> GuardedNames {
    let mut guarded = GuardedNames::default();
    ["X-User", "X_Tenant"].into_iter().for_each(|name| guarded.add(name));
    guarded.add_prefix("x-internal-");
    guarded
}

/// The name as servers read it that take every character but letters and digits for the same.
fn as_variable(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Whether a name is a guarded one in another spelling.
fn imitates(name: &str) -> bool {
    let names = || GuardedNames::ALWAYS.into_iter().chain(["x-user", "x_tenant"]);
    let is_guarded = names().any(|guarded| guarded == name) || name.starts_with("x-internal-") && is_plain(name);
    let is_like = names().any(|guarded| as_variable(guarded) == as_variable(name))
        || as_variable(name).starts_with("x_internal_");
    is_like && !is_guarded
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The lines of a canonical head, if it has a canonical form.
fn judged(version: Version, lines: &Lines, underscores: Underscores) -> Option<Lines> {
    let values = |name: &str| -> Vec<&str> {
        lines.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect()
    };
    // RFC 9113, section 8.2.1.
    if lines.iter().any(|(_, value)| value.trim_matches([' ', '\t']) != value) {
        return None;
    }
    let is_refused = |name: &str| match underscores {
        Underscores::Guarded => imitates(name),
        Underscores::Refuse => !is_plain(name),
        Underscores::Keep => false,
    };
    // RFC 9110, section 5.3: a field whose value is no list has one line.
    let single =
        ["host", "authorization", "content-type", "origin", "range", "referer", "user-agent", "content-length"];
    if lines.iter().any(|(name, _)| is_refused(name)) || single.iter().any(|name| values(name).len() > 1) {
        return None;
    }
    // RFC 9110, section 8.6.
    let length: Option<u64> = match values("content-length").first() {
        Some(text) if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) => return None,
        Some(text) => Some(text.parse().ok()?),
        None => None,
    };
    // RFC 9112, section 6.1.
    let codings = values("transfer-encoding");
    if !codings.is_empty() {
        let is_chunked = codings.len() == 1 && codings[0].eq_ignore_ascii_case("chunked");
        if !is_chunked || length.is_some() || version != Version::HTTP_11 {
            return None;
        }
    }
    let mut removed: Vec<String> = ["proxy-authorization", "proxy-authenticate"].map(str::to_owned).into();
    let mut upgrade = false;
    if version == Version::HTTP_2 {
        // RFC 9113, section 8.2.2.
        let connection =
            ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings"];
        if connection.iter().any(|name| !values(name).is_empty())
            || values("te").iter().any(|value| !value.eq_ignore_ascii_case("trailers"))
        {
            return None;
        }
    } else {
        // RFC 9110, sections 7.6.1 and 7.8.
        let connection = values("connection").join(",").to_lowercase();
        let elements: Vec<&str> = connection.split(',').map(str::trim).filter(|element| !element.is_empty()).collect();
        let never = ["host", "content-length", "transfer-encoding", "forwarded", "x-real-ip", "x-request-id"];
        // RFC 9110, section 5.6.2.
        let is_token =
            |element: &str| element.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c));
        if elements
            .iter()
            .any(|element| !is_token(element) || never.contains(element) || element.starts_with("x-forwarded-"))
        {
            return None;
        }
        let has_body = !codings.is_empty() || length.is_some_and(|length| length > 0);
        if has_body && !values("upgrade").is_empty() {
            return None;
        }
        upgrade = version == Version::HTTP_11
            && elements.contains(&"upgrade")
            && values("upgrade").len() == 1
            && values("upgrade")[0].eq_ignore_ascii_case("websocket");
        removed.extend(elements.iter().map(|element| (*element).to_owned()));
        removed.extend(
            ["connection", "upgrade", "keep-alive", "proxy-connection", "te", "trailer", "http2-settings"]
                .map(str::to_owned),
        );
    }
    let mut kept: Lines = lines.iter().filter(|(name, _)| !removed.contains(name)).cloned().collect();
    if upgrade {
        kept.push(("connection".to_owned(), "upgrade".to_owned()));
        kept.push(("upgrade".to_owned(), "websocket".to_owned()));
    }
    // RFC 9113, section 8.2.3.
    let cookies: Vec<String> =
        kept.iter().filter(|(name, _)| name == "cookie").map(|(_, value)| value.clone()).collect();
    if cookies.len() > 1 {
        kept.retain(|(name, _)| name != "cookie");
        let joined: Vec<String> = cookies.into_iter().filter(|value| !value.is_empty()).collect();
        kept.push(("cookie".to_owned(), joined.join("; ")));
    }
    Some(kept)
}

/// The lines, sorted by name; those of a name in their order.
fn sorted(mut lines: Lines) -> Lines {
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    lines
}

fn map(lines: &Lines) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        map.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    map
}

fn lines_of(map: &HeaderMap) -> Lines {
    let text = |value: &HeaderValue| String::from_utf8(value.as_bytes().to_vec()).unwrap();
    map.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

fn pick<'p>(rng: &mut Rng, pieces: &[&'p str]) -> &'p str {
    pieces[rng.usize(..pieces.len())]
}

fn value(rng: &mut Rng, name: &str) -> String {
    if rng.u8(..8) == 0 {
        return pick(rng, VALUES).to_owned();
    }
    match name {
        "connection" => {
            (0..rng.usize(..4)).map(|_| pick(rng, ELEMENTS)).collect::<Vec<_>>().join(pick(rng, &[",", ", "]))
        }
        "upgrade" => pick(rng, &["websocket", "WebSocket", "h2c", "websocket, h2c"]).to_owned(),
        "te" => pick(rng, &["trailers", "Trailers", "gzip"]).to_owned(),
        "transfer-encoding" => pick(rng, &["chunked", "Chunked", "gzip, chunked", "identity"]).to_owned(),
        "content-length" => pick(rng, &["0", "7", "007", "+7", "7, 7", "18446744073709551616", ""]).to_owned(),
        _ => pick(rng, VALUES.get(..6).unwrap()).to_owned(),
    }
}

#[test]
fn fields_are_what_rfc_9110_makes_of_them() {
    let mut rng = Rng::with_seed(4);
    let (mut accepted, mut upgraded) = (0, 0);
    for _ in 0..cases() {
        let version = [Version::HTTP_10, Version::HTTP_11, Version::HTTP_11, Version::HTTP_2][rng.usize(..4)];
        let underscores = [Underscores::Guarded, Underscores::Refuse, Underscores::Keep][rng.usize(..3)];
        let options = Options { underscores, ..Options::default() };
        let mut lines = vec![("host".to_owned(), "a".to_owned())];
        if rng.u8(..6) == 0 {
            lines.extend(
                [("connection", "Upgrade"), ("upgrade", "websocket")].map(|(n, v)| (n.to_owned(), v.to_owned())),
            );
        }
        for _ in 0..rng.usize(..5) {
            let name = pick(&mut rng, NAMES);
            lines.push((name.to_owned(), value(&mut rng, name)));
        }
        let mut head = http::Request::get("/").version(version).body(()).unwrap().into_parts().0;
        head.headers = map(&lines);
        let result = canonicalize(&mut head, &options, &guarded());
        let wanted = judged(version, &lines, options.underscores).map(sorted);
        let shown = format!("{version:?} {lines:?} with {options:?}: {result:?}");
        assert_eq!(result.is_ok().then(|| sorted(lines_of(&head.headers))), wanted, "{shown}");
        accepted += u32::from(result.is_ok());
        upgraded += u32::from(result.is_ok() && head.headers.contains_key("upgrade"));
        if result.is_err() {
            assert_eq!(head.headers, map(&lines), "a refused head is left as it was: {shown}");
        }
    }
    assert!(accepted > cases() / 5 && upgraded > cases() / 100, "{accepted} {upgraded}");
}

#[test]
fn trailers_have_no_field_that_is_read_before_the_content() {
    let others = ["grpc-status", "grpc-message", "x-checksum", "digest", "server-timing", "etag", "link"];
    let mut lines: Lines = Vec::new();
    for name in NOT_IN_TRAILERS.iter().chain(&others).chain(&GuardedNames::ALWAYS).chain(NAMES) {
        if !lines.iter().any(|(known, _)| known == name) {
            lines.push(((*name).to_owned(), "a".to_owned()));
        }
    }
    // What servers that read `_` as `-` take for one of these.
    let imitations: Lines = GuardedNames::ALWAYS
        .iter()
        .filter(|name| name.contains('-'))
        .map(|name| (name.replace('-', "_"), "a".into()))
        .collect();
    lines.extend(imitations.into_iter().filter(|(name, _)| name != "content_length"));
    let mut trailers = map(&lines);
    clean_trailers(&mut trailers, &guarded());
    let left: Lines = lines
        .into_iter()
        .filter(|(name, _)| {
            let is_guarded = GuardedNames::ALWAYS.contains(&name.as_str())
                || ["x_user", "x_tenant"].contains(&as_variable(name).as_str())
                || as_variable(name).starts_with("x_internal_");
            !is_guarded && !imitates(name) && !NOT_IN_TRAILERS.contains(&name.as_str())
        })
        .filter(|(name, _)| !["keep-alive", "proxy-connection", "http2-settings"].contains(&name.as_str()))
        .collect();
    assert!(left.len() > others.len(), "{left:?}");
    assert_eq!(sorted(lines_of(&trailers)), sorted(left));
}
