//! Which requests are served: those that name this server, and of those that start work, only the page's own.

use celero_policy::canonical::is_local_host;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

/// The header that every request of the API has. A page of another origin can set it only after it
/// has asked (a CORS preflight), and is refused. Browsers do not say where a request without it
/// comes from if the server is not on this computer: `Origin` is not sent with `GET`, and
/// `Sec-Fetch-Site` only to addresses that are loopback or HTTPS.
pub(crate) const API_HEADER: &str = "x-celero";

/// Checks the head of a request.
///
/// # Errors
/// The host is a foreign name, the request comes from a page of another origin or may come from
/// one, or its body is not JSON.
pub(crate) fn admit(head: &Parts) -> Result<(), Refusal> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
        return Err(Refusal { status: StatusCode::BAD_REQUEST, message: "a request needs one `host` header" });
    };
    // The browser sends the name that the user opened. A foreign name could resolve to this address (DNS rebinding).
    if head.uri.authority().is_some_and(|authority| authority.as_str() != host) || !is_local_host(host) {
        let message = "this server is known by its IP address or as `localhost` only";
        return Err(Refusal { status: StatusCode::MISDIRECTED_REQUEST, message });
    }
    if is_of_another_origin(head, host) {
        let message = "requests of pages of other origins are not served";
        return Err(Refusal { status: StatusCode::FORBIDDEN, message });
    }
    if head.uri.path().starts_with("/api/") && !head.headers.contains_key(API_HEADER) {
        let message = "requests of the API need the header `x-celero`, with any value";
        return Err(Refusal { status: StatusCode::FORBIDDEN, message });
    }
    if head.method == Method::POST && !is_json(&head.headers) {
        let message = "the body must be JSON, with `content-type: application/json`";
        return Err(Refusal { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, message });
    }
    Ok(())
}

/// Whether a browser says that a page of another origin made the request. Other clients say
/// nothing, and are no danger to a user.
fn is_of_another_origin(head: &Parts, host: &str) -> bool {
    let headers = &head.headers;
    let is_other =
        |origin: &str| origin.strip_prefix("http://") != Some(host) && origin.strip_prefix("https://") != Some(host);
    let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    // A link on another page may open the page, which asks for the rest; a frame there may not ask
    // for what has to be computed.
    let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    let opens = navigates && !head.uri.path().starts_with("/api/");
    origin.is_some_and(is_other) || site.is_some_and(|site| !matches!(site, b"same-origin" | b"none") && !opens)
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_needs_the_header_that_other_origins_can_not_set() {
        // What a browser sends for `<img src="http://192.0.2.7:7340/api/rules">`: the server is not on its computer.
        for path in ["/api/rules", "/api/policy", "/api/start", "/api/"] {
            let image = || http::Request::get(path).header(HOST, "192.0.2.7:7340").header("accept", "image/*");
            let of = |request: http::request::Builder| admit(&request.body(()).unwrap().into_parts().0);
            assert_eq!(of(image()).unwrap_err().status, StatusCode::FORBIDDEN, "{path}");
            assert_eq!(of(image().header(API_HEADER, "1")), Ok(()), "{path}");
        }
        let page = http::Request::get("/").header(HOST, "192.0.2.7:7340").body(()).unwrap().into_parts().0;
        assert_eq!(admit(&page), Ok(()), "the page itself starts no work");
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let of = |name: &str, value: &str| {
            let request = http::Request::post("/api/rule")
                .header(API_HEADER, "1")
                .header(HOST, "127.0.0.1:80")
                .header(name, value);
            admit(&request.header(CONTENT_TYPE, "application/json").body(()).unwrap().into_parts().0)
        };
        assert_eq!(of("origin", "http://127.0.0.1:80"), Ok(()));
        assert_eq!(of("sec-fetch-site", "same-origin"), Ok(()));
        for (name, value) in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:81"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(of(name, value).unwrap_err().status, StatusCode::FORBIDDEN, "{name}: {value}");
        }
        for (path, served) in [("/", true), ("/api/rules", false), ("/api/policy", false)] {
            let link = http::Request::get(path).header(HOST, "127.0.0.1:80").header(API_HEADER, "1");
            let link = link.header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate");
            assert_eq!(admit(&link.body(()).unwrap().into_parts().0).is_ok(), served, "{path}");
        }
    }
}
