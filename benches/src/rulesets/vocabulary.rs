//! The words from which rules and requests are generated: words of real traffic if the shared
//! corpora are there, else a few built-in ones. If more are needed than there are, words are
//! combined, in the same way in every run.
#![expect(clippy::arithmetic_side_effects, reason = "divisors are at least one")]

use super::rng::Rng;
use http::HeaderValue;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words, each kind without repetitions.
pub(crate) struct Vocabulary {
    hosts: Vec<String>,
    /// Parts of paths.
    segments: Vec<String>,
    /// Names and values of headers other than `host` and `user-agent`.
    headers: Vec<(String, String)>,
    /// Texts to search for in user agents.
    tokens: Vec<String>,
    pub(crate) agents: Vec<String>,
    pub(crate) paths: Vec<String>,
    /// A line for the report that says where the words are from.
    pub(crate) from: String,
}

/// A directory of the shared corpora, if it is there.
pub(crate) fn corpora() -> Option<PathBuf> {
    let shared = match std::env::var_os("CELERO_SHARED") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    Some(shared.join("corpora")).filter(|corpora| corpora.is_dir())
}

/// The lines of a file of JSON.
pub(crate) fn json_lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The text member of this name of each line.
pub(crate) fn column(file: &Path, name: &str) -> Vec<String> {
    json_lines(file).iter().filter_map(|line| Some(line.get(name)?.as_str()?.to_owned())).collect()
}

fn plain(text: &str) -> bool {
    (2..=24).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn is_header(value: &str) -> bool {
    !value.is_empty() && HeaderValue::from_str(value).is_ok_and(|value| value.to_str().is_ok())
}

/// The host after `://` in a text.
fn host_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("://")?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-').unwrap_or(rest.len());
    let host = rest.get(..end)?.to_ascii_lowercase();
    (host.contains('.') && plain(&host) && !host.starts_with('.')).then_some(host)
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        corpora().map_or_else(Self::built_in, |directory| Self::read(&directory))
    }

    pub(crate) fn built_in() -> Self {
        let texts = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let headers = [("accept-language", "en"), ("content-type", "application/json"), ("x-tenant", "acme")];
        Self {
            hosts: texts(&["shop.example", "api.example", "cdn.example", "img.example"]),
            segments: texts(&["api", "users", "orders", "static", "admin", "v1", "v2", "login", "search", "img"]),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            tokens: texts(&["Googlebot", "bingbot", "crawler", "spider", "python", "curl"]),
            agents: texts(&["curl/8.1", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/128.0.0.0"]),
            paths: texts(&["/", "/api/v1/users/42", "/static/img/logo.png"]),
            from: "no shared corpora (set CELERO_SHARED): rules and requests of a small built-in vocabulary".into(),
        }
    }

    fn read(directory: &Path) -> Self {
        let (mut hosts, mut segments, mut headers, mut paths) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for request in json_lines(&directory.join("http_requests.jsonl")) {
            let uri = request.get("uri").and_then(Value::as_str).unwrap_or_default();
            let path = uri.split('?').next().unwrap_or_default();
            segments.extend(path.split('/').filter(|s| plain(s)).map(str::to_owned));
            if path.starts_with('/') && path.parse::<http::Uri>().is_ok_and(|uri| uri.path() == path) {
                paths.insert(path.to_owned());
            }
            for (name, value) in request.get("headers").and_then(Value::as_object).into_iter().flatten() {
                let (name, value) = (name.to_ascii_lowercase(), value.as_str().unwrap_or_default());
                match name.as_str() {
                    "user-agent" => {}
                    "host" if plain(value) => drop(hosts.insert(value.to_owned())),
                    "host" => {}
                    _ if is_header(value) && name.parse::<http::HeaderName>().is_ok() => {
                        hosts.extend(host_in(value));
                        headers.insert((name, value.to_owned()));
                    }
                    _ => {}
                }
            }
        }
        let agents = std::fs::read_to_string(directory.join("user_agents.txt")).unwrap_or_default();
        let agents: Vec<String> = agents.lines().filter(|agent| is_header(agent)).map(str::to_owned).collect();
        hosts.extend(agents.iter().filter_map(|agent| host_in(agent)));
        let tokens = column(&directory.join("crawler_patterns.jsonl"), "pattern");
        let tokens: BTreeSet<String> = tokens.into_iter().filter(|t| t.len() >= 5 && plain(t)).collect();
        let from = format!(
            "words of the corpora: {} hosts, {} parts of paths, {} headers, {} user agents, {} parts of these",
            hosts.len(),
            segments.len(),
            headers.len(),
            agents.len(),
            tokens.len()
        );
        Self {
            hosts: hosts.into_iter().collect(),
            segments: segments.into_iter().collect(),
            headers: headers.into_iter().collect(),
            tokens: tokens.into_iter().collect(),
            agents,
            paths: paths.into_iter().collect(),
            from,
        }
    }

    /// The host of this number: first the known ones, then the same with a label before them. In
    /// lower case, as rules read hosts.
    pub(crate) fn host(&self, number: usize) -> String {
        let host = word(&self.hosts, number);
        match number / self.hosts.len().max(1) {
            0 => host.to_ascii_lowercase(),
            round => format!("{}-{round}.{host}", word(&self.segments, number)).to_ascii_lowercase(),
        }
    }

    /// A path of two to four segments.
    pub(crate) fn prefix(&self, rng: &mut Rng) -> String {
        let depth = *rng.pick(&[2, 2, 3, 3, 3, 3, 4, 4]);
        (0..depth).map(|_| format!("/{}", self.segment(rng))).collect()
    }

    pub(crate) fn segment<'v>(&'v self, rng: &mut Rng) -> &'v str {
        rng.pick::<String>(&self.segments)
    }

    /// The header of this number: first the known ones, then the same with a number after the value.
    pub(crate) fn header(&self, number: usize) -> (String, String) {
        let count = self.headers.len().max(1);
        let (name, value) = self.headers.get(number % count).cloned().unwrap_or_default();
        match number / count {
            0 => (name, value),
            round => (name, format!("{value}-{round}")),
        }
    }

    /// The token of this number: first the known ones, then the same with a version.
    pub(crate) fn token(&self, number: usize) -> String {
        let token = word(&self.tokens, number);
        match number / self.tokens.len().max(1) {
            0 => token.to_owned(),
            round => format!("{token}/{}.{}", round / 10, round % 10),
        }
    }

    pub(crate) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    pub(crate) fn headers(&self) -> usize {
        self.headers.len()
    }
}

fn word(words: &[String], number: usize) -> &str {
    words.get(number % words.len().max(1)).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_in_lower_case() {
        let vocabulary =
            Vocabulary { segments: vec!["README".into()], hosts: vec!["A.example".into()], ..Vocabulary::built_in() };
        assert_eq!([0, 1].map(|number| vocabulary.host(number)), ["a.example", "readme-1.a.example"]);
    }
}
