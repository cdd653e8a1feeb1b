//! Records requests as they arrive, so that other configurations can be tried with them (`replay/`).
//!
//! A line is a request as `celero bench --requests` reads it, too: `source` is the other end of the
//! connection, and headers are those that it sent, before the proxy writes its own. Bodies are not
//! recorded, and secrets are replaced.
//!
//! Invariant: a record has no value of a redacted header or parameter, nor of a header in which the policy expects
//! credentials. Test: `runtime/adapters/proxy/tests/proxy/replaying.rs::credentials_of_the_policy_are_not_recorded`.

use crate::clients::{Connection, PROXY_PROTOCOL};
use crate::config::Record;
use crate::logs::line_log::{LineLog, Writer};
use http::header::{HOST, REFERER};
use http::{HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use pingora::http::RequestHeader;
use serde_json::{Map, Value as Json, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What stands for a value that is not recorded.
pub(crate) const REDACTED: &str = "REDACTED";

/// The headers that hold a URL or a part of it, whose secrets are replaced as those of the target.
const WITH_URLS: [HeaderName; 8] = [
    HOST,
    REFERER,
    HeaderName::from_static("x-envoy-original-path"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-uri"),
    HeaderName::from_static("x-original-uri"),
    HeaderName::from_static("x-original-url"),
    HeaderName::from_static("x-rewrite-url"),
];

/// What records requests.
pub(crate) struct Recorder {
    pub(crate) config: Record,
    file: Arc<RecordFile>,
}

/// The file of recorded requests, which recorders with other settings share.
struct RecordFile {
    log: LineLog,
    writer: Mutex<Option<Writer>>,
    since: SystemTime,
}

impl Recorder {
    /// Starts to record. If `before` writes to the same file, both share it: two writers would tear each other's lines.
    pub(crate) fn start(config: &Record, before: Option<&Self>) -> std::io::Result<Self> {
        let shared =
            before.filter(|before| before.config.file == config.file && before.config.max_size == config.max_size);
        let file = match shared {
            Some(before) => Arc::clone(&before.file),
            None => {
                let (log, writer) = LineLog::open_bounded(&config.file, config.max_size, "recorded requests")?;
                Arc::new(RecordFile { log, writer: Mutex::new(Some(writer)), since: SystemTime::now() })
            }
        };
        Ok(Self { config: config.clone(), file })
    }

    /// Records a request that has just arrived, if it is in the share.
    pub(crate) fn record(&self, head: &RequestHeader, connection: &Connection, tls: Option<&str>) {
        if self.config.share < 1.0 && fastrand::f64() >= self.config.share {
            return;
        }
        self.file.log.line(line(&self.config, head, connection, tls));
    }

    /// Returns how many requests were recorded, and how many were dropped because the disk is too slow or full.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.file.log.written(), self.file.log.dropped())
    }

    /// Returns since when requests are counted.
    pub(crate) fn since(&self) -> SystemTime {
        self.file.since
    }

    /// Waits until all lines are written.
    pub(crate) fn end(&self) {
        let writer = self.file.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.into_iter().for_each(Writer::end);
    }
}

/// Returns a request as a line.
pub(crate) fn line(config: &Record, head: &RequestHeader, connection: &Connection, tls: Option<&str>) -> String {
    let target = match head.uri.authority() {
        Some(_) => head.uri.to_string(),
        None => String::from_utf8_lossy(head.raw_path()).into_owned(),
    };
    let value = |name: &HeaderName, value: &HeaderValue| -> Json {
        if config.redact_headers.contains(name) {
            return REDACTED.into();
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        if WITH_URLS.contains(name) {
            return redacted_target(&value, &config.redact_parameters).into();
        }
        value.into()
    };
    let mut headers = Map::new();
    for name in head.headers.keys() {
        let mut values: Vec<Json> = head.headers.get_all(name).iter().map(|line| value(name, line)).collect();
        let value = if values.len() == 1 { values.pop().unwrap_or_default() } else { values.into() };
        headers.insert(name.as_str().to_owned(), value);
    }
    let mut line = json!({
        "time": jiff::Timestamp::now().to_string(),
        "source": connection.peer.to_string(),
        "method": head.method.as_str(),
        "uri": redacted_target(&target, &config.redact_parameters),
        "version": version(head.version),
        "headers": headers,
    });
    for (name, value) in [
        ("destination", connection.local.map(|local| local.to_string())),
        ("via", connection.proxied.then(|| PROXY_PROTOCOL.to_owned())),
        ("tls", tls.map(str::to_owned)),
    ] {
        if let (Some(value), Some(members)) = (value, line.as_object_mut()) {
            members.insert(name.to_owned(), value.into());
        }
    }
    line.to_string()
}

fn version(version: http::Version) -> &'static str {
    match version {
        http::Version::HTTP_10 => "HTTP/1.0",
        http::Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

/// Replaces what stands before the host (`user:password@`), and the values of these parameters in
/// the query and the fragment of a target.
fn redacted_target(target: &str, parameters: &[String]) -> String {
    let (hierarchy, query) = target.split_at(target.find(['?', '#']).unwrap_or(target.len()));
    let mut text = without_user(hierarchy);
    for part in query.split_inclusive('&') {
        let (pairs, end) = part.strip_suffix('&').map_or((part, ""), |pairs| (pairs, "&"));
        text.push_str(&before_secret(pairs, parameters));
        text.push_str(end);
    }
    text
}

/// Replaces what stands before the host. What starts with a slash has no host; what has no scheme starts with it.
fn without_user(hierarchy: &str) -> String {
    let (scheme, rest) = match hierarchy.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => (Some(scheme), rest),
        _ => (None, hierarchy),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((_, host)) = authority.rsplit_once('@') else { return hierarchy.to_owned() };
    let scheme = scheme.map_or_else(String::new, |scheme| format!("{scheme}://"));
    format!("{scheme}{REDACTED}@{host}{path}")
}

/// Replaces everything from the first value of a secret parameter on: whether `;` separates
/// parameters or belongs to the value, only the server knows.
fn before_secret(pairs: &str, parameters: &[String]) -> String {
    let mut text = String::new();
    for pair in pairs.split_inclusive([';', '?', '#']) {
        match pair.split_once('=') {
            Some((name, _)) if is_secret(name, parameters) => {
                text.push_str(&format!("{name}={REDACTED}"));
                break;
            }
            _ => text.push_str(pair),
        }
    }
    text
}

fn is_secret(name: &str, parameters: &[String]) -> bool {
    let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    parameters.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_query_are_replaced() {
        let secret = ["token".to_owned(), "key".to_owned()];
        for (target, expected) in [
            ("/a", "/a"),
            ("/a?", "/a?"),
            ("/a?token=1", "/a?token=REDACTED"),
            ("/a?x=1&Token=a=b&y", "/a?x=1&Token=REDACTED&y"),
            ("/a?%74oken=1;key=2&z=3&", "/a?%74oken=REDACTED&z=3&"),
            ("/a?token=1;2&z=3;KEY=4;5", "/a?token=REDACTED&z=3;KEY=REDACTED"),
            ("/a?to=/b?token=1?2&z=3", "/a?to=/b?token=REDACTED&z=3"),
            ("/a#token=1", "/a#token=REDACTED"),
            ("/a?tokens=1&token", "/a?tokens=1&token"),
            ("https://a.example/?key=", "https://a.example/?key=REDACTED"),
            ("http://user:word@a.example/b@c?key=1", "http://REDACTED@a.example/b@c?key=REDACTED"),
            ("http://a@b@c.example", "http://REDACTED@c.example"),
            ("user:word@a.example:443", "REDACTED@a.example:443"),
            ("/a://b@c", "/a://b@c"),
            ("/a@b?to=http://c@d", "/a@b?to=http://c@d"),
        ] {
            assert_eq!(redacted_target(target, &secret), expected);
        }
    }

    #[test]
    fn a_line_is_a_request_without_secrets() {
        let mut head = RequestHeader::build("GET", b"/a?x=1&token=t", None).unwrap();
        for (name, value) in [
            ("host", "u:s@a.example"),
            ("authorization", "Bearer s"),
            ("cookie", "s"),
            ("referer", "https://a.example/?token=s"),
            ("x-original-url", "/b?token=s"),
            ("x-a", "1"),
            ("x-a", "2"),
        ] {
            head.append_header(name, value).unwrap();
        }
        let peer = "192.0.2.1:7".parse().unwrap();
        let connection = Connection { peer, local: Some("10.0.0.1:443".parse().unwrap()), proxied: true, tls: true };
        let config = Record {
            file: "x".into(),
            share: 1.0,
            max_size: 1,
            redact_headers: vec![http::header::AUTHORIZATION, http::header::COOKIE],
            redact_parameters: vec!["token".to_owned()],
        };
        let mut line: Json = serde_json::from_str(&line(&config, &head, &connection, Some("TLSv1.3"))).unwrap();
        assert!(line.as_object_mut().unwrap().remove("time").is_some());
        let headers = json!({ "host": "REDACTED@a.example", "authorization": "REDACTED", "cookie": "REDACTED",
            "referer": "https://a.example/?token=REDACTED", "x-original-url": "/b?token=REDACTED", "x-a": ["1", "2"] });
        assert_eq!(
            line,
            json!({ "source": "192.0.2.1:7", "destination": "10.0.0.1:443", "via": "proxy-protocol", "tls": "TLSv1.3", "method": "GET",
                    "uri": "/a?x=1&token=REDACTED", "version": "HTTP/1.1", "headers": headers })
        );
    }
}
