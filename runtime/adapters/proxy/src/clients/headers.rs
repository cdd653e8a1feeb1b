//! The headers that say who the client is and what it asked for: read from trusted proxies, and
//! written for rules and servers.

use super::chain::{Hops, follow};
use super::forwarded::{self, Element};
use super::trace::{SpanIds, Trace};
use super::{CONNECTION, Client, Malformed, PROXY_PROTOCOL, address, canonical, is_in};
use crate::config::{Config, Forwarded, ForwardedHeader, Traces};
use celero_policy::RequestOrigin;
use celero_policy::canonical::Authority;
use http::header::{FORWARDED, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::http::RequestHeader;
use std::net::{IpAddr, SocketAddr};

const CHAIN: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST_OF_CLIENT: HeaderName = HeaderName::from_static("x-forwarded-host");
const PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACE: HeaderName = HeaderName::from_static("traceparent");
const TRACE_STATE: HeaderName = HeaderName::from_static("tracestate");

/// The longest `x-request-id` that is accepted from a trusted proxy, in bytes.
const LONGEST_ID: usize = 128;

/// The connection that a request came over.
pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    pub(crate) local: Option<SocketAddr>,
    /// Whether the PROXY protocol named `peer` and `local`.
    pub(crate) proxied: bool,
    pub(crate) tls: bool,
}

impl Connection {
    fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }
}

/// What trusted proxies say of the client and of how it sent the request.
#[derive(Default)]
struct Told {
    /// The client first, the hop that the peer names last. Empty: nobody is named.
    hops: Vec<SocketAddr>,
    /// The elements of `Forwarded` that named them, as they were written. `None`: that is not the header to read.
    elements: Option<Vec<String>>,
    proto: Option<&'static str>,
    host: Option<String>,
    port: Option<u16>,
}

/// Finds out who sent a request, and writes what rules and servers read about it.
///
/// # Errors
/// A trusted proxy sent a header that can't be read. Then the head is as it was.
pub(crate) fn identify(head: &mut RequestHeader, from: &Connection, config: &Config) -> Result<Client, Malformed> {
    let (config, traces) = (&config.forwarded, config.traces.as_ref());
    let peer = canonical(from.peer);
    let trusted = is_in(&config.trusted, peer.ip());
    let own_proto = from.scheme();
    let told = if trusted { read(&head.headers, peer.ip(), config)? } else { Told::default() };
    let proto = told.proto.unwrap_or(own_proto);
    let host = told.host.clone().or_else(|| host_of(head));
    let port = told.port.or_else(|| match told.proto {
        Some("https") => Some(443),
        Some(_) => Some(80),
        None => from.local.map(|local| local.port()),
    });
    let via = match (told.hops.first(), config.header) {
        (Some(_), ForwardedHeader::XForwardedFor) => "x-forwarded-for",
        (Some(_), ForwardedHeader::Forwarded) => "forwarded",
        (None, _) if from.proxied => PROXY_PROTOCOL,
        (None, _) => CONNECTION,
    };
    let client = told.hops.first().copied().unwrap_or(peer);
    let request_id = request_id(&head.headers, trusted);

    let chain: Vec<String> = told.hops.iter().chain([&peer]).map(|hop| hop.ip().to_string()).collect();
    set(head, CHAIN, Some(&chain.join(", ")));
    set(head, PROTO, Some(proto));
    set(head, HOST_OF_CLIENT, host.as_deref());
    set(head, PORT, port.map(|port| port.to_string()).as_deref());
    set(head, REAL_IP, Some(&client.ip().to_string()));
    set(head, REQUEST_ID, Some(&request_id));
    // Of the two headers for the chain, a proxy that writes one passes the other on from anybody.
    set(head, FORWARDED, told.elements.map(|elements| own_element(elements, peer.ip(), own_proto)).as_deref());
    let (trace_id, span) = match traces {
        Some(traces) => {
            let origin = RequestOrigin { client, via, scheme: own_proto, local: from.local };
            set_trace(head, traces, trusted, origin)
        }
        None => (keep_trace(head, true).map(|trace| trace.id), None),
    };
    Ok(Client { address: client, via, peer, scheme: own_proto, local: from.local, request_id, trace_id, span })
}

/// Returns the trace that a request names, if it may. Otherwise removes what it says of a trace.
fn keep_trace(head: &mut RequestHeader, may: bool) -> Option<Trace> {
    let given = single(&head.headers, &TRACE).and_then(|value| Trace::read(value.as_bytes()));
    let kept = given.filter(|_| may);
    if kept.is_none() {
        head.remove_header(&TRACE);
        head.remove_header(&TRACE_STATE);
    }
    kept
}

/// Keeps the trace of a request or starts one, and returns its ID and the span of the request, if
/// spans are sent. What rules on samples read of the head is what servers will read, but for the
/// trace.
fn set_trace(
    head: &mut RequestHeader,
    traces: &Traces,
    trusted: bool,
    origin: RequestOrigin<'_>,
) -> (Option<String>, Option<SpanIds>) {
    // Whoever names a trace may also ask for it to be recorded.
    let kept = keep_trace(head, trusted || traces.accept_all);
    let starts = kept.is_none();
    let Some(trace) = kept.or_else(|| Trace::start(traces.share(head, origin))) else { return (None, None) };
    // With a span of its own, the proxy is the parent of what servers record.
    let (trace, span) = match &traces.export {
        Some(_) => {
            let (trace, span) = trace.with_span();
            (trace, Some(span))
        }
        None => (trace, None),
    };
    if starts || span.is_some_and(|span| span.sampled) {
        set(head, TRACE, Some(&trace.header()));
    }
    (Some(trace.id), span)
}

/// Reads what a trusted peer says.
fn read(headers: &HeaderMap, peer: IpAddr, config: &Forwarded) -> Result<Told, Malformed> {
    let is_trusted = |address| is_in(&config.trusted, address);
    match config.header {
        ForwardedHeader::XForwardedFor => {
            let lines: Vec<&[u8]> = headers.get_all(CHAIN).iter().map(HeaderValue::as_bytes).collect();
            let elements = lines.iter().flat_map(|line| line.split(|byte| *byte == b','));
            let elements = elements.map(<[u8]>::trim_ascii).filter(|element| !element.is_empty());
            let address = |element: &&[u8]| address::of_list(std::str::from_utf8(element).ok()?);
            let hops = follow(peer, elements, address, is_trusted)?;
            let host = match single_or_none(headers, &HOST_OF_CLIENT)? {
                Some(value) => Some(canonical_host(value.as_bytes()).ok_or(Malformed)?),
                None => None,
            };
            let port = match single_or_none(headers, &PORT)? {
                Some(value) => Some(port_of(value.as_bytes()).ok_or(Malformed)?),
                None => None,
            };
            let proto = match single_or_none(headers, &PROTO)? {
                Some(value) => Some(scheme(value.as_bytes()).ok_or(Malformed)?),
                None => None,
            };
            let hops = hops.into_iter().map(|(hop, _)| hop).collect();
            Ok(Told { hops, elements: None, proto, host, port })
        }
        ForwardedHeader::Forwarded => {
            let lines: Result<Vec<&str>, _> = headers.get_all(FORWARDED).iter().map(HeaderValue::to_str).collect();
            let elements = forwarded::parse(&lines.map_err(|_| Malformed)?.join(", ")).ok_or(Malformed)?;
            let address = |element: &Element| address::of_node(element.by_whom.as_deref()?);
            let hops: Hops<Element> = follow(peer, elements.into_iter(), address, is_trusted)?;
            let first = hops.first().map(|(_, element)| element);
            let proto = match first.and_then(|element| element.proto.as_deref()) {
                Some(proto) => Some(scheme(proto.as_bytes()).ok_or(Malformed)?),
                None => None,
            };
            let host = match first.and_then(|element| element.host.as_deref()) {
                Some(host) => Some(canonical_host(host.as_bytes()).ok_or(Malformed)?),
                None => None,
            };
            let (hops, elements) = hops.into_iter().map(|(hop, element)| (hop, element.text)).unzip();
            Ok(Told { hops, elements: Some(elements), proto, host, port: None })
        }
    }
}

/// Adds what the proxy itself says of the request that it received.
fn own_element(mut elements: Vec<String>, peer: IpAddr, proto: &str) -> String {
    let node = match peer {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("\"[{address}]\""),
    };
    elements.push(format!("for={node};proto={proto}"));
    elements.join(", ")
}

/// Returns the host that the request names, in canonical form.
fn host_of(head: &RequestHeader) -> Option<String> {
    let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
    canonical_host(authority.or_else(|| Some(single(&head.headers, &HOST)?.as_bytes()))?)
}

fn canonical_host(text: &[u8]) -> Option<String> {
    let authority = Authority::parse(text)?;
    authority.changed().or_else(|| Some(std::str::from_utf8(text).ok()?.to_owned())).filter(|host| !host.is_empty())
}

fn scheme(value: &[u8]) -> Option<&'static str> {
    ["http", "https"].into_iter().find(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes()))
}

fn port_of(value: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok().filter(|port| *port != 0)
}

/// Returns the id of a request: the one that a trusted proxy has given, or a new one.
fn request_id(headers: &HeaderMap, trusted: bool) -> String {
    let given = single(headers, &REQUEST_ID).filter(|_| trusted).and_then(|value| value.to_str().ok());
    let valid = |id: &&str| (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    match given.filter(valid) {
        Some(id) => id.to_owned(),
        None => format!("{:032x}", fastrand::u128(..)),
    }
}

/// Returns the value of a field that has one line.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut lines = headers.get_all(name).iter();
    lines.next().filter(|_| lines.next().is_none())
}

/// Returns the value of a field that must not have several lines.
fn single_or_none<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Malformed> {
    match (headers.contains_key(name), single(headers, name)) {
        (true, None) => Err(Malformed),
        (_, value) => Ok(value),
    }
}

/// Sets a field, or removes it.
fn set(head: &mut RequestHeader, name: HeaderName, value: Option<&str>) {
    head.remove_header(&name);
    if let Some(value) = value
        && let Err(error) = head.insert_header(name, value)
    {
        log::debug!("a header could not be set: {error}");
    }
}
