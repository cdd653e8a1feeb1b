//! Reads the routes of a configuration.

use super::include::duplicate;
use super::keys::{LARGEST_ANSWER, LARGEST_ANSWER_TEXT};
use super::read::{Reader, is_off, number, time};
use super::read_upstreams::statuses;
use super::{HashKey, Mirror, Retry, RetryOn, Route, RouteTimeouts, Split, StaticAnswer, Target};
use bytes::Bytes;
use celero_policy::ResponseCondition;
use celero_policy::canonical::{EncodedSlashes, Options, Slashes, canonical_path};
use celero_policy::open_regular;
use celero_policy::problems::FileSpan;
use celero_policy::schema::share;
use celero_policy::yaml::{MapEntry, Node, SourceText};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::sync::Arc;

/// Which requests a route fits: host, path and label.
type Requests = (Option<String>, Option<String>, Option<(String, String)>);

impl Reader<'_> {
    pub(super) fn routes(&mut self, root: &Node) -> Vec<Route> {
        let (mut found, mut known): (_, BTreeMap<Requests, FileSpan>) = (Vec::new(), BTreeMap::new());
        for node in self.elements(root, "routes") {
            let (host, prefix, label) = (self.host(node), self.route_path(node), self.label(node));
            match known.entry((host.clone(), prefix.clone(), label.clone())) {
                Entry::Vacant(entry) => drop(entry.insert(node.place)),
                // In one file, the order of two routes is plain to see.
                Entry::Occupied(first) if first.get().file != node.place.file => {
                    let message = "a route of another file fits the same requests".to_owned();
                    duplicate(self.problems, node.place, *first.get(), message);
                }
                Entry::Occupied(_) => {}
            }
            let target = self.target(node);
            let timeouts = node.get("timeouts").map(route_timeouts).unwrap_or_default();
            let retry = node.get("retry").and_then(|node| self.retry(node));
            let mirror = node.get("mirror").and_then(|node| self.mirror(node));
            let compression = !is_off(node, "compression");
            let route = |target| Route { host, prefix, label, target, timeouts, retry, mirror, compression };
            found.extend(target.map(route));
        }
        found
    }

    /// The path of a route, which must be one that requests have when a route is chosen, under some
    /// options of a policy.
    fn route_path(&mut self, node: &Node) -> Option<String> {
        let path = self.path(node)?;
        let options = Options { slashes: Slashes::Keep, encoded_slashes: EncodedSlashes::Keep, ..Options::default() };
        let canonical = canonical_path(path.as_bytes(), &options);
        if canonical.as_deref() != Ok(path.as_bytes())
            && let Some(text) = node.text_of("path")
        {
            let help = match &canonical {
                Ok(canonical) => format!("write `{}`", String::from_utf8_lossy(canonical)),
                Err(refusal) => format!("such requests are refused: {refusal}"),
            };
            let message = format!("no request has the path `{path}` when a route is chosen: paths are canonical then");
            self.error("config-path", &text, message, &help);
        }
        Some(path)
    }

    /// What a route does: one of three keys says it.
    fn target(&mut self, node: &Node) -> Option<Target> {
        let [upstream, split, answer] = ["upstream", "split", "answer"].map(|key| node.get(key));
        let mut given = [upstream, split, answer].into_iter().flatten();
        match (given.next(), given.next()) {
            (None, _) => {
                let message = "a route needs the key `upstream`, `split` or `answer`".to_owned();
                self.problems.add("config-missing", node.place, message);
                return None;
            }
            (Some(_), Some(second)) => {
                let message = "a route has one of `upstream`, `split` and `answer`, not several".to_owned();
                self.problems.add("config-conflict", second.place, message);
                return None;
            }
            (Some(_), None) => {}
        }
        if answer.is_some() {
            for key in ["timeouts", "retry", "mirror"] {
                if let Some(node) = node.get(key) {
                    let message = format!("`{key}` has no meaning for a route with `answer`, which asks no server");
                    self.problems.add("config-conflict", node.place, message);
                }
            }
        }
        if let (Some(by), None) = (node.text_of("by"), split) {
            let help = "add `split`, or remove `by`";
            self.error("config-conflict", &by, "`by` of a route has a meaning for `split` only".to_owned(), help);
        }
        match (split, answer) {
            (Some(split), _) => self.split(node, split),
            (_, Some(answer)) => self.answer(answer).map(|answer| Target::Answer(Arc::new(answer))),
            _ => node.text_of("upstream").and_then(|text| self.upstream(&text)).map(Target::Upstream),
        }
    }

    fn split(&mut self, route: &Node, split: &Node) -> Option<Target> {
        let by = route.text_of("by").map_or(Some(HashKey::Address), |text| self.hash_key(&text));
        let mut parts = Vec::new();
        for part in self.elements(route, "split") {
            let upstream = part.text_of("upstream").and_then(|text| self.upstream(&text));
            parts.extend(upstream.zip(number(part, "weight")));
        }
        let total = parts.iter().map(|(_, weight): &(usize, u32)| u64::from(*weight)).sum::<u64>();
        if total == 0 && parts.len() == split.elements().len() && !parts.is_empty() {
            let message = "one entry of `split` needs a weight above 0".to_owned();
            self.problems.add("config-value", split.place, message);
            return None;
        }
        Some(Target::Split(Split { parts, by: by? }))
    }

    fn answer(&mut self, node: &Node) -> Option<StaticAnswer> {
        let status = number(node, "status").and_then(|status| StatusCode::from_u16(status).ok())?;
        let mut headers = HeaderMap::new();
        let given = node.get("headers").map(Node::entries).unwrap_or_default();
        for MapEntry { key, value } in given {
            let Some(text) = value.text() else { continue };
            let name =
                HeaderName::from_bytes(key.text.as_bytes()).ok().filter(|name| !CONNECTION_HEADERS.contains(name));
            match (name, HeaderValue::from_str(&text.text)) {
                (Some(name), Ok(value)) => drop(headers.append(name, value)),
                (None, _) => {
                    let help = "the proxy itself says how long the body is, and what becomes of the connection";
                    self.error("config-header", key, format!("`{}` can't be a header here", key.text), help);
                }
                (_, Err(_)) => {
                    let message = format!("the value of `{}` has characters that a header can't have", key.text);
                    self.problems.add("config-header", text.place, message);
                }
            }
        }
        let (body, file) = match (node.text_of("body"), node.text_of("file")) {
            (Some(_), Some(file)) => {
                let message = "an answer has either `body` or `file`, not both".to_owned();
                self.problems.add("config-conflict", file.place, message);
                return None;
            }
            (Some(text), None) => (Bytes::from(text.text), None),
            (None, Some(file)) => (self.file(&file)?, Some(self.path_of(&file))),
            (None, None) => (Bytes::new(), None),
        };
        if body.len() > LARGEST_ANSWER {
            let message = format!("the body is larger than {LARGEST_ANSWER_TEXT}, the bound of an answer");
            self.problems.add("config-value", node.place, message);
        }
        if !body.is_empty() && matches!(status.as_u16(), 204 | 205 | 304) {
            let message = format!("a response with the status {} has no body", status.as_u16());
            self.problems.add("config-conflict", node.place, message);
        }
        if !body.is_empty() && !headers.contains_key(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        Some(StaticAnswer { status, headers, body, file })
    }

    /// The content of a file.
    fn file(&mut self, text: &SourceText) -> Option<Bytes> {
        let path = self.path_of(text);
        let read = || -> std::io::Result<Vec<u8>> {
            let (mut bytes, bound) = (Vec::new(), u64::try_from(LARGEST_ANSWER).unwrap_or(u64::MAX));
            open_regular(&path)?.take(bound.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Some(bytes.into()),
            Err(error) => {
                let message = format!("{} can't be read: {error}", path.display());
                self.problems.add("config-file", text.place, message);
                None
            }
        }
    }

    fn retry(&mut self, node: &Node) -> Option<Retry> {
        let methods = node.get("methods").map(|methods| {
            let texts = methods.elements().iter().filter_map(Node::text);
            let upper = |text: &SourceText| text.text.bytes().all(|byte| byte.is_ascii_uppercase());
            let mut found: Vec<Method> = Vec::new();
            for text in texts {
                match text.text.parse() {
                    Ok(method) if upper(&text) => found.push(method),
                    _ => {
                        let help = "methods are written in capital letters: `[GET, PUT]`";
                        self.error("config-value", &text, format!("`{}` is no method", text.text), help);
                    }
                }
            }
            found
        });
        let on = match (node.text_of("when"), node.get("statuses")) {
            (Some(_), Some(statuses)) => {
                let message = "`retry` has either `when` or `statuses`, not both".to_owned();
                let problem = self.problems.add("config-conflict", statuses.place, message);
                problem.help("write the statuses in the condition: `response.code in [502, 503]`");
                return None;
            }
            (Some(when), None) => RetryOn::When(ResponseCondition::compile(&when, self.problems)?),
            (None, _) => RetryOn::Statuses(statuses(node)),
        };
        Some(Retry {
            attempts: number(node, "attempts").unwrap_or(1),
            on,
            methods,
            budget: node.get("budget").and_then(Node::plain).and_then(share).unwrap_or(0.2),
        })
    }

    fn mirror(&mut self, node: &Node) -> Option<Mirror> {
        let text = node.text_of("upstream")?;
        let upstream = self.upstream(&text);
        if upstream.and_then(|index| self.only_http2.get(index)) == Some(&true) {
            let message = format!("`{}` has `h2c`, but copies are sent in HTTP/1.1", text.text);
            self.problems.add("config-conflict", text.place, message);
        }
        let share = node.get("share").and_then(Node::plain).and_then(share).unwrap_or(1.0);
        Some(Mirror { upstream: upstream?, share })
    }

    /// The value of `host`: a host, or `*.` and a suffix, which is returned with its leading dot.
    fn host(&mut self, node: &Node) -> Option<String> {
        let written = node.text_of("host")?;
        let text = written.text.to_ascii_lowercase();
        let name = text.strip_prefix("*.").unwrap_or(&text);
        if name.is_empty() || name.contains(['*', '/', ':', ' ']) {
            let help = "write it without a port: `api.example.com` or `\"*.example.com\"`";
            self.error("config-host", &written, format!("`host` can't be `{text}`"), help);
            return None;
        }
        Some(text.strip_prefix('*').unwrap_or(&text).to_owned())
    }

    fn label(&mut self, node: &Node) -> Option<(String, String)> {
        let text = node.text_of("label")?;
        let label = text.text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        if label.is_none() {
            let help = "write the name of a label that the policy sets, and its value: `label: tier=canary`";
            self.error("config-label", &text, format!("`label` can't be `{}`", text.text), help);
        }
        label
    }

    fn upstream(&mut self, text: &SourceText) -> Option<usize> {
        let found = self.names.iter().position(|known| known.text == text.text);
        // Without any name `upstreams` itself is wrong, which was reported.
        if found.is_none() && !self.names.is_empty() {
            let names: Vec<&str> = self.names.iter().map(|name| name.text.as_str()).collect();
            let message = format!("there is no upstream `{}`", text.text);
            let problem = self.problems.add("config-upstream", text.place, message);
            if !problem.suggest(&text.text, &names) {
                problem.help(format!("the upstreams are `{}`", names.join("`, `")));
            }
        }
        found
    }
}

/// Headers that belong to a connection, or to the framing of a body: the proxy itself sets them.
pub(crate) const CONNECTION_HEADERS: [HeaderName; 6] = [
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
];

fn route_timeouts(node: &Node) -> RouteTimeouts {
    RouteTimeouts { connect: time(node, "connect"), read: time(node, "read"), write: time(node, "write") }
}
