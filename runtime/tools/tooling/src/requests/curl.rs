//! Reads the request that a command line of `curl` would send.

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, REFERER, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, Uri};

/// Options that take a value and do not change the request as rules see it.
const IGNORED_WITH_VALUE: &[&str] = &[
    "-o",
    "--output",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--cacert",
    "--resolve",
    "-w",
    "--write-out",
    "-x",
    "--proxy",
];

/// Returns the request of a line that starts with `curl`.
///
/// # Errors
/// Returns a message about quotes that are not closed, an option that is not known, or a part that is not valid HTTP.
pub fn request(line: &str) -> Result<Request<Vec<u8>>, String> {
    let mut words = words(line)?.into_iter().skip(1);
    let mut request = Request::new(Vec::new());
    let (mut method, mut url, mut data) = (None, None, Vec::new());
    while let Some(word) = words.next() {
        // `--name=value` and `-XPOST` are one word.
        let (option, attached) = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => match long.split_once('=') {
                Some((name, value)) => (format!("--{name}"), Some(value.to_owned())),
                None => (word.clone(), None),
            },
            (None, Some(short)) if short.starts_with(['X', 'H', 'd', 'A', 'b', 'e', 'u']) && short.len() > 1 => {
                let (name, value) = short.split_at(1);
                (format!("-{name}"), Some(value.to_owned()))
            }
            _ => (word.clone(), None),
        };
        let mut value = || attached.clone().or_else(|| words.next()).ok_or_else(|| format!("`{option}` needs a value"));
        match option.as_str() {
            "-X" | "--request" => method = Some(value()?),
            "-H" | "--header" => {
                let text = value()?;
                let (name, content) =
                    text.split_once(':').ok_or_else(|| format!("header `{text}`: expected `NAME: VALUE`"))?;
                let name =
                    HeaderName::from_bytes(name.trim().as_bytes()).map_err(|e| format!("header `{name}`: {e}"))?;
                add(&mut request, name, content.trim())?;
            }
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" => data.push(value()?),
            "--json" => {
                data.push(value()?);
                add(&mut request, CONTENT_TYPE, "application/json")?;
            }
            "-A" | "--user-agent" => add(&mut request, USER_AGENT, &value()?)?,
            "-b" | "--cookie" => add(&mut request, COOKIE, &value()?)?,
            "-e" | "--referer" => add(&mut request, REFERER, &value()?)?,
            "-u" | "--user" => {
                use base64::Engine as _;
                let encoded = base64::engine::general_purpose::STANDARD.encode(value()?);
                add(&mut request, AUTHORIZATION, &format!("Basic {encoded}"))?;
            }
            "-I" | "--head" => method = Some("HEAD".to_owned()),
            "--url" => url = Some(value()?),
            known if IGNORED_WITH_VALUE.contains(&known) => drop(value()?),
            _ if word.starts_with("--") || word.starts_with('-') && word.len() > 1 => {
                // The other options without a value do not change what rules read.
                if !matches!(
                    &*option,
                    "--compressed" | "--silent" | "--insecure" | "--location" | "--verbose" | "--include"
                ) && !word.trim_start_matches('-').chars().all(|c| "skLviSfgN".contains(c))
                {
                    return Err(format!("the option `{word}` of curl is not known here"));
                }
            }
            _ => url = Some(word),
        }
    }
    let url = url.ok_or("the line has no URL")?;
    let whole = if url.contains("://") { url.clone() } else { format!("http://{url}") };
    let uri: Uri = whole.parse().map_err(|e| format!("URL `{url}`: {e}"))?;
    let host = uri.authority().map(|authority| authority.as_str().rsplit('@').next().unwrap_or_default().to_owned());
    if let Some(host) = host.filter(|_| !request.headers().contains_key(HOST)) {
        add(&mut request, HOST, &host)?;
    }
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    *request.uri_mut() = target.parse().map_err(|e| format!("URL `{url}`: {e}"))?;
    if !data.is_empty() {
        *request.body_mut() = data.join("&").into_bytes();
        method = method.or(Some("POST".to_owned()));
        if !request.headers().contains_key(CONTENT_TYPE) {
            add(&mut request, CONTENT_TYPE, "application/x-www-form-urlencoded")?;
        }
    }
    if let Some(method) = method {
        *request.method_mut() = Method::from_bytes(method.as_bytes()).map_err(|e| format!("method `{method}`: {e}"))?;
    }
    Ok(request)
}

fn add(request: &mut Request<Vec<u8>>, name: HeaderName, value: &str) -> Result<(), String> {
    let value = HeaderValue::from_str(value).map_err(|e| format!("header `{name}`: {e}"))?;
    request.headers_mut().append(name, value);
    Ok(())
}

/// Splits a line into words, as a shell does: quotes, and backslashes before a character.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("a quote `'` is not closed")? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("a quote `\"` is not closed")? {
                        '"' => break,
                        '\\' if continues(&mut characters) => {}
                        '\\' => match characters.next().ok_or("a quote `\"` is not closed")? {
                            c if "\"\\$`".contains(c) => text.push(c),
                            c => text.extend(['\\', c]),
                        },
                        c => text.push(c),
                    }
                }
            }
            '\\' if continues(&mut characters) => {}
            '\\' => word.get_or_insert_default().extend(characters.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Skips the end of a line that continues on the next one. Returns whether it is one.
fn continues(characters: &mut std::str::Chars<'_>) -> bool {
    let rest = characters.as_str();
    let Some(next) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r'])) else { return false };
    *characters = next.chars();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_curl_are_requests() {
        let line = r#"curl -s 'https://user@example.com:8080/a?b=c' -H 'X-Team: ops' --header "x-q: a\"b" -XPUT --data-raw '{"n": 1}' --compressed"#;
        let request = request(line).unwrap();
        assert_eq!((request.method(), request.uri().to_string()), (&Method::PUT, "/a?b=c".to_owned()));
        assert_eq!([&request.headers()["host"], &request.headers()["x-team"]], ["example.com:8080", "ops"]);
        assert_eq!(request.headers()["x-q"], "a\"b");
        assert_eq!(request.body(), b"{\"n\": 1}");
        let short = super::request("curl example.com").unwrap();
        assert_eq!((short.method(), short.uri().path()), (&Method::GET, "/"));
        assert_eq!(short.headers()["host"], "example.com");
        assert_eq!(super::request("curl -d a=1 -d b=2 x.y").unwrap().method(), Method::POST);
        let lines = "curl 'http://a.example/b' \\\n  -H 'x-a: 1' \\\r\n  -d c\\\nd";
        let request = super::request(lines).unwrap();
        assert_eq!((request.uri().path(), &request.headers()["x-a"]), ("/b", &HeaderValue::from_static("1")));
        assert_eq!(request.body(), b"cd");
        let basic = super::request("curl -u ada:secret x.y").unwrap();
        assert_eq!(basic.headers()["authorization"], "Basic YWRhOnNlY3JldA==");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, why) in [
            ("curl", "no URL"),
            ("curl 'http://x", "is not closed"),
            ("curl --frobnicate x.y", "`--frobnicate`"),
            ("curl x.y -H", "`-H` needs a value"),
            ("curl x.y -H nothing", "expected `NAME: VALUE`"),
        ] {
            assert!(request(line).unwrap_err().contains(why), "{line}");
        }
    }
}
