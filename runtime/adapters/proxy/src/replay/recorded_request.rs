//! Lines of recorded requests, as `logs/recorder.rs` writes them.

use crate::clients::{CONNECTION, Connection, PROXY_PROTOCOL};
use http::{HeaderValue, Uri};
use jiff::Timestamp;
use pingora::http::RequestHeader;
use serde_json::{Map, Value as Json};
use std::net::SocketAddr;

/// A recorded request.
pub(super) struct RecordedRequest {
    pub(super) head: RequestHeader,
    pub(super) connection: Connection,
    /// The version of TLS.
    pub(super) tls: Option<String>,
    /// When it arrived.
    pub(super) time: Option<Timestamp>,
    pub(super) has_body: bool,
}

impl RecordedRequest {
    /// Reads a line.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let line: Map<String, Json> =
            serde_json::from_slice(line).map_err(|error| format!("it is no JSON object: {error}"))?;
        let text = |name: &str| line.get(name).and_then(Json::as_str);
        let address = |name: &str| -> Result<Option<SocketAddr>, String> {
            let Some(text) = text(name) else { return Ok(None) };
            text.parse().map(Some).map_err(|_| format!("`{name}`: `{text}` is no address with a port"))
        };
        let target = text("uri").ok_or("it has no `uri`")?;
        let version = match text("version") {
            None | Some("HTTP/1.1") => http::Version::HTTP_11,
            Some("HTTP/1.0") => http::Version::HTTP_10,
            Some("HTTP/2" | "HTTP/2.0") => http::Version::HTTP_2,
            Some(other) => return Err(format!("`version`: `{other}` is unknown")),
        };
        let unusable = |error: &dyn std::fmt::Display| format!("`method` or `uri` can't be used: {error}");
        let method = text("method").unwrap_or("GET");
        // Only HTTP/2 has scheme and host beside the path; in HTTP/1.1 Pingora keeps a whole URL as it is.
        let whole = target.parse::<Uri>().ok();
        let whole = whole.filter(|uri| version == http::Version::HTTP_2 && uri.authority().is_some());
        let path = if whole.is_some() { "/" } else { target };
        let mut head = RequestHeader::build(method, path.as_bytes(), None).map_err(|error| unusable(&error))?;
        whole.into_iter().for_each(|uri| head.set_uri(uri));
        head.set_version(version);
        for (name, values) in line.get("headers").and_then(Json::as_object).into_iter().flatten() {
            for value in values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice) {
                let value = value.as_str().and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok());
                let value = value.ok_or_else(|| format!("header `{name}` has a value that is none"))?;
                head.append_header(name.clone(), value).map_err(|_| format!("`{name}` is no name of a header"))?;
            }
        }
        let tls = text("tls").map(str::to_owned);
        let peer = address("source")?.ok_or("it has no `source`")?;
        let proxied = match text("via") {
            None | Some(CONNECTION) => false,
            Some(PROXY_PROTOCOL) => true,
            Some(other) => return Err(format!("`via`: `{other}` is neither `{CONNECTION}` nor `{PROXY_PROTOCOL}`")),
        };
        let connection = Connection { peer, local: address("destination")?, proxied, tls: tls.is_some() };
        let has_length = head.headers.get("content-length").is_some_and(|length| length != "0");
        let has_body = has_length
            || head.headers.contains_key("transfer-encoding")
            || text("body").is_some_and(|body| !body.is_empty());
        let time = text("time").and_then(|time| time.parse().ok());
        Ok(Self { head, connection, tls, time, has_body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Record;
    use crate::logs::recorder;

    #[test]
    fn lines_are_requests() {
        let line = br#"{"source": "192.0.2.1:7", "destination": "10.0.0.1:443", "tls": "TLSv1.3", "method": "POST", "uri": "/a?b",
            "version": "HTTP/1.1", "headers": {"host": "a", "x": ["1", "2"], "content-length": "3"}, "time": "2026-01-01T00:00:00Z"}"#;
        let read = RecordedRequest::read(line).unwrap();
        assert_eq!((read.head.method.as_str(), read.head.uri.to_string()), ("POST", "/a?b".to_owned()));
        assert_eq!(read.head.headers.get_all("x").iter().count(), 2);
        assert!(
            read.has_body && read.connection.tls && read.time.is_some() && read.head.version == http::Version::HTTP_11
        );
        let whole = |version: &str| {
            let line =
                format!(r#"{{"source": "192.0.2.1:7", "uri": "https://a.example/b?c", "version": "{version}"}}"#);
            let head = RecordedRequest::read(line.as_bytes()).unwrap().head;
            (head.uri.to_string(), String::from_utf8_lossy(head.raw_path()).into_owned())
        };
        assert_eq!(whole("HTTP/2"), ("https://a.example/b?c".to_owned(), "/b?c".to_owned()));
        assert_eq!(whole("HTTP/1.1"), ("/b?c".to_owned(), "https://a.example/b?c".to_owned()));
    }

    /// `celero bench --requests` reads what the proxy records, too.
    #[test]
    fn both_readers_take_a_recorded_line_alike() {
        let mut head = RequestHeader::build("POST", b"/a?x=1&token=t", None).unwrap();
        for (name, value) in [("host", "a.example"), ("cookie", "s"), ("x-a", "1"), ("x-a", "2")] {
            head.append_header(name, value).unwrap();
        }
        let (peer, local) = ("192.0.2.1:7".parse().unwrap(), Some("10.0.0.1:443".parse().unwrap()));
        let connection = Connection { peer, local, proxied: true, tls: true };
        let config = Record {
            file: "x".into(),
            share: 1.0,
            max_size: 1,
            redact_headers: vec![http::header::COOKIE],
            redact_parameters: vec!["token".to_owned()],
        };
        let text = recorder::line(&config, &head, &connection, Some("TLSv1.3"));
        let here = RecordedRequest::read(text.as_bytes()).unwrap();
        let there = celero_tooling::requests::recorded::parse("f", text.as_bytes()).unwrap();
        let [there] = &there.requests[..] else { panic!("{there:?}") };
        assert_eq!(
            (&here.head.method, &here.head.uri, here.head.version, &here.head.headers),
            (there.message.method(), there.message.uri(), there.message.version(), there.message.headers())
        );
        assert_eq!((here.connection.peer, Some(here.connection.peer)), (peer, there.source));
        assert_eq!(
            (here.connection.local, here.connection.proxied, here.tls.as_deref()),
            (local, true, Some("TLSv1.3"))
        );
        assert_eq!(here.head.uri, "/a?x=1&token=REDACTED");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, expected) in [
            (&b"x"[..], "no JSON object"),
            (b"[]", "no JSON object"),
            (b"{}", "no `uri`"),
            (br#"{"uri": "/"}"#, "no `source`"),
            (br#"{"uri": "/", "source": "a"}"#, "`source`: `a` is no address"),
            (br#"{"uri": "/", "source": "1.2.3.4:5", "version": "x"}"#, "`version`: `x` is unknown"),
            (br#"{"uri": "/", "source": "1.2.3.4:5", "via": "x"}"#, "`via`: `x` is neither `connection` nor"),
            (br#"{"uri": "/", "source": "1.2.3.4:5", "headers": {"a b": "x"}}"#, "`a b` is no name"),
            (br#"{"uri": "/", "source": "1.2.3.4:5", "headers": {"a": 1}}"#, "header `a` has a value that is none"),
            (br#"{"uri": "/", "method": "a b", "source": "1.2.3.4:5"}"#, "`method` or `uri`"),
        ] {
            let said = RecordedRequest::read(line).err().unwrap_or_default();
            assert!(said.contains(expected), "{said}");
        }
    }
}
