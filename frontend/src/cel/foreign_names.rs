//! The names that other proxies and languages have for parts of a request, and what rules read instead.

use crate::declarations::Declarations;
use crate::diagnostic::Diagnostic;

/// What a rule reads instead of a name: an expression, and the variable that has to be declared for it.
struct Meant {
    expression: String,
    variable: &'static str,
}

/// Returns the help for a path such as `req.url`, if the variable that it would suggest is declared.
pub(super) fn help(path: &[&str], declarations: &Declarations) -> Option<String> {
    expression(path, declarations).map(|expression| format!("did you mean `{expression}`?"))
}

/// Returns what rules read instead of a path such as `req.url`, if its variable is declared.
pub(super) fn expression(path: &[&str], declarations: &Declarations) -> Option<String> {
    let Meant { expression, variable } = meant(path)?;
    let is_new = declarations.variable(variable).is_some() && expression != path.join(".");
    is_new.then_some(expression)
}

/// Explains the variables of nginx, such as `$http_x_team`, where the parser found a `$`.
pub(super) fn explain(source: &str, found: &mut [Diagnostic], declarations: &Declarations) {
    for diagnostic in found.iter_mut().filter(|diagnostic| diagnostic.help.is_empty()) {
        let Some(rest) = source.get(diagnostic.span.start as usize..).and_then(|rest| rest.strip_prefix('$')) else {
            continue;
        };
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let end =
            u32::try_from(name.len()).ok().and_then(|length| diagnostic.span.start.checked_add(length)?.checked_add(1));
        if let Some(help) = help(&of_nginx(name), declarations)
            && let Some(end) = end
        {
            diagnostic.span.end = end;
            diagnostic.help.push(help);
        }
    }
}

/// The variable of nginx as a path.
fn of_nginx(name: &str) -> [&str; 3] {
    let [first, second] = match name {
        "request_uri" => ["uri", ""],
        "uri" | "document_uri" => ["path", ""],
        "args" | "query_string" => ["query_string", ""],
        "host" | "server_name" => ["host", ""],
        "request_method" => ["method", ""],
        "remote_addr" | "binary_remote_addr" => ["ip", ""],
        "request_body" => ["body", ""],
        "server_protocol" => ["version", ""],
        "scheme" => ["scheme", ""],
        _ => match name.split_once('_') {
            Some(("http", name)) => ["headers", name],
            Some(("arg", name)) => ["params", name],
            Some(("cookie", name)) => ["cookies", name],
            _ => ["", ""],
        },
    };
    ["request", first, second]
}

fn meant(path: &[&str]) -> Option<Meant> {
    let path = match path {
        [path @ .., ""] => path,
        path => path,
    };
    let request = match path {
        ["input" | "ctx" | "context" | "http" | "event", "request", request @ ..] => request,
        ["input", "attributes", "request", "http", request @ ..] => request,
        ["request" | "req" | "bereq" | "input" | "http", request @ ..] => request,
        ["ip", "src"]
        | ["client" | "source" | "remote" | "peer", "ip" | "addr" | "address"]
        | ["client_ip" | "clientIp" | "remote_addr" | "remoteAddr" | "source_ip"] => &["ip"],
        ["now"] => &["time"],
        ["cookies" | "params" | "args", ..] => path,
        ["connection", attribute] => return of_envoy(attribute),
        ["tls", attribute] => return of_tls(attribute),
        _ => return None,
    };
    // Envoy's version of HTTP; in other hosts `req.protocol` is the scheme.
    if path == ["request", "protocol"] {
        return plain("request.version");
    }
    let query = "request.uri";
    let headers = "request.headers";
    let (expression, variable) = match request {
        ["url" | "uri" | "originalUrl"] => return plain("request.uri"),
        ["full_uri" | "fullUrl" | "href"] => return plain("request.fullUri"),
        ["path" | "pathname" | "url_path" | "rawPath" | "raw_path"] | ["url" | "uri", "path" | "pathname"] => {
            return plain("request.path");
        }
        ["query" | "query_string" | "queryString" | "querystring" | "search"] | ["url" | "uri", "query" | "search"] => {
            return plain("request.query");
        }
        ["method" | "verb"] => return plain("request.method"),
        ["host" | "hostname" | "server_name"] | ["url" | "uri", "host" | "hostname"] => return plain("request.host"),
        ["scheme" | "protocol"] | ["url" | "uri", "scheme"] => return plain("request.scheme"),
        ["version" | "http_version" | "httpVersion" | "proto"] => return plain("request.version"),
        [
            "ip" | "remote_addr" | "remoteAddr" | "remoteAddress" | "remote_ip" | "remoteIp" | "client_ip" | "clientIp"
            | "source_ip" | "sourceIp" | "peer",
        ] => return plain("source.address"),
        ["time" | "now" | "timestamp" | "date" | "start_time"] => return plain("request.startTime"),
        ["user_agent" | "userAgent" | "useragent"] => (r#"request.headers["user-agent"]"#.to_owned(), headers),
        ["referer" | "referrer"] => (r#"request.headers["referer"]"#.to_owned(), headers),
        ["content_type" | "contentType"] => (r#"request.headers["content-type"]"#.to_owned(), headers),
        ["id" | "request_id" | "requestId"] => (r#"request.headers["x-request-id"]"#.to_owned(), headers),
        ["size" | "content_length" | "contentLength"] => {
            (r#"int(request.headers["content-length"])"#.to_owned(), headers)
        }
        ["tls", attribute] => return of_tls(attribute),
        ["headers" | "header"] => return plain(headers),
        ["headers" | "header" | "http", name] => {
            (format!("request.headers[\"{}\"]", name.to_ascii_lowercase().replace('_', "-")), headers)
        }
        ["cookies" | "cookie", name @ ..] => {
            (format!("request.headers.cookie(\"{}\")", name.first().unwrap_or(&"name")), headers)
        }
        ["params" | "args" | "queryParams" | "query_params" | "searchParams", name @ ..]
        | ["url" | "uri", "args" | "searchParams", name @ ..] => {
            (format!("request.uri.query(\"{}\")", name.first().unwrap_or(&"name")), query)
        }
        ["query", name] | ["url" | "uri", "query", name] => (format!("request.uri.query(\"{name}\")"), query),
        ["body", part, parts @ ..] => {
            let parts: String = parts.iter().map(|part| format!(".{part}")).collect();
            (format!("json(request.body).{part}{parts}"), "request.body")
        }
        ["body"] => return plain("request.body"),
        _ => return None,
    };
    Some(Meant { expression, variable })
}

/// An attribute of Envoy's `connection`.
fn of_envoy(attribute: &str) -> Option<Meant> {
    let (expression, variable) = match attribute {
        "mtls" => ("has(source.tls.fingerprint)", "source.tls.fingerprint"),
        "requested_server_name" => return plain("source.tls.sni"),
        "tls_version" => return plain("source.tls.version"),
        "subject_peer_certificate" => return plain("source.tls.subject"),
        "dns_san_peer_certificate" | "uri_san_peer_certificate" => return plain("source.tls.sans"),
        "sha256_peer_certificate_digest" => return plain("source.tls.fingerprint"),
        _ => return None,
    };
    Some(Meant { expression: expression.to_owned(), variable })
}

/// An attribute of the client's TLS connection.
fn of_tls(attribute: &str) -> Option<Meant> {
    match attribute {
        "version" | "protocol" => plain("source.tls.version"),
        "sni" | "server_name" | "serverName" => plain("source.tls.sni"),
        "subject" => plain("source.tls.subject"),
        "fingerprint" => plain("source.tls.fingerprint"),
        _ => None,
    }
}

fn plain(variable: &'static str) -> Option<Meant> {
    Some(Meant { expression: variable.to_owned(), variable })
}
