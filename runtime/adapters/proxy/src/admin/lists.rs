//! `/lists` on the listener for operators: what lists hold, and changes of them. Every request must show the token.

use crate::admin::array_lines;
use crate::lists::control::{ChangeError, ListAction, MAX_BODIES};
use crate::state::State;
use celero_lists::{Entries, Format, ListType, ListsError, WrongEntries};
use celero_pingora::{BodyClock, BodyPace};
use celero_policy::{ListSource, expects_continue};
use http::{HeaderName, Method, header};
use pingora::protocols::http::ServerSession;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Largest body of a change, in bytes.
const MAX_BODY: usize = MAX_BODIES;
/// How long a change waits until others have made place for its body.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The longest pause of a sender, and the time of a body, to which each [`LEAST_RATE`] bytes that
/// have arrived add a second. A sender that stalls makes place before those that wait are refused.
const BODY_TIME: Duration = Duration::from_secs(3);
/// The lowest average rate of a body in the long run, in bytes per second.
const LEAST_RATE: usize = 64 << 10;
/// Most entries of a change, with equal ones. A range of addresses in a few bytes is up to 254.
const MAX_ENTRIES: usize = 1_000_000;
/// How long the rest of a refused body is read.
const LINGER: Duration = Duration::from_secs(1);

/// An answer in JSON.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) header: Option<(HeaderName, &'static str)>,
    /// Whether the request was refused before its body was read.
    pub(crate) leaves_body: bool,
}

impl Reply {
    fn new(status: u16, body: &Json) -> Self {
        Self { status, body: format!("{body}\n"), header: None, leaves_body: false }
    }

    fn error(status: u16, message: impl Into<String>) -> Self {
        Self::new(status, &json!({ "error": message.into() }))
    }

    fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }
}

/// Answers a request to `/lists` or a path below it. `path` is not decoded: names of lists need no escapes.
pub(crate) async fn answer(state: &Arc<State>, session: &mut ServerSession, path: &str) -> Reply {
    let reply = match admitted(state, session, path) {
        Err(reply) => reply,
        Ok(None) => return listing(state),
        Ok(Some(wanted)) => match change(state, session, wanted).await {
            Ok(reply) => return reply,
            Err(reply) => reply,
        },
    };
    Reply { leaves_body: true, ..reply }
}

/// Reads what still arrives of a refused body, for a while: closing the connection at once would
/// take the answer from a client that still sends.
pub(crate) async fn linger(session: &mut ServerSession) {
    let rest = async { while let Ok(Some(_)) = session.read_request_body().await {} };
    let _ = timeout(LINGER, rest).await;
}

/// A change that may be read.
struct Wanted {
    action: ListAction,
    list: String,
    /// What the entries of the body are, and carry.
    ty: ListType,
    body: Body,
    /// How many bytes the body has at most.
    length: usize,
}

/// How entries are written in a body.
#[derive(Clone, Copy)]
enum Body {
    Text(Format),
    /// An array of what lines of JSON hold.
    JsonArray,
}

/// Checks everything but the body. `None`: what lists hold is asked.
fn admitted(state: &State, session: &ServerSession, path: &str) -> Result<Option<Wanted>, Reply> {
    let (now, head) = (state.current(), session.req_header());
    let Some(token) = &now.token else {
        return Err(Reply::error(403, "nobody may change lists: the configuration has no `admin`"));
    };
    if !token.is_shown(&head.headers) {
        state.lists.refused();
        let reply = Reply::error(401, "the request does not show the token: `authorization: Bearer TOKEN`");
        return Err(reply.with(header::WWW_AUTHENTICATE, "Bearer"));
    }
    if head.uri.query().is_some() {
        return Err(Reply::error(400, "there are no parameters"));
    }
    let Some(list) = path.strip_prefix("/lists/") else {
        return match head.method {
            Method::GET | Method::HEAD => Ok(None),
            _ => Err(Reply::error(405, "a change names its list: /lists/NAME").with(header::ALLOW, "GET, HEAD")),
        };
    };
    let action = match head.method {
        Method::POST => ListAction::Insert,
        Method::DELETE => ListAction::Remove,
        _ => {
            let reply = Reply::error(405, "POST inserts the entries of its body, DELETE removes them");
            return Err(reply.with(header::ALLOW, "POST, DELETE"));
        }
    };
    let lists = now.policy.lists().map(|lists| lists.load());
    let found = lists.as_ref().and_then(|lists| lists.list_type(lists.find(list)?.0));
    let Some(ty) = found else {
        let known = lists.map(|lists| lists.names()).unwrap_or_default();
        let known = if known.is_empty() { "no lists".to_owned() } else { known.join(", ") };
        return Err(Reply::error(404, format!("no list of this name; there are {known}")));
    };
    // An entry is removed whatever its value is.
    let ty = if action == ListAction::Remove { ty.kind().into() } else { ty };
    if head.headers.contains_key(header::CONTENT_ENCODING) {
        return Err(Reply::error(415, "a body has no `content-encoding`"));
    }
    let media = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let body = match &*media {
        "text/plain" => Body::Text(Format::Lines),
        "text/csv" => Body::Text(Format::Csv),
        "application/x-ndjson" | "application/jsonl" => Body::Text(Format::JsonLines),
        "application/json" => Body::JsonArray,
        _ => {
            let types = "`content-type` must be text/plain, text/csv, application/x-ndjson or application/json";
            return Err(Reply::error(415, types));
        }
    };
    let length = head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_BODY) {
        return Err(too_large());
    }
    Ok(Some(Wanted { action, list: list.to_owned(), ty, body, length: length.unwrap_or(MAX_BODY) }))
}

fn too_large() -> Reply {
    Reply::error(413, format!("the body is larger than {MAX_BODY} bytes"))
}

/// Reads the body and makes the change. An error is for a request whose body was not read to its end.
async fn change(state: &Arc<State>, session: &mut ServerSession, wanted: Wanted) -> Result<Reply, Reply> {
    let share = u32::try_from(wanted.length).unwrap_or(u32::MAX);
    let place = timeout(LONGEST_WAIT, Arc::clone(&state.list_bodies).acquire_many_owned(share)).await;
    let Ok(Ok(place)) = place else {
        let reply =
            Reply::error(503, format!("other changes are read, of up to {MAX_BODIES} bytes; nothing has changed"));
        return Err(reply.with(header::RETRY_AFTER, "1"));
    };
    if expects_continue(session.req_header()) && session.write_continue_response().await.is_err() {
        return Err(Reply::error(400, "the connection failed"));
    }
    let body = read(state, session).await?;
    let state = Arc::clone(state);
    // Parsing takes time, and the disk has to answer. If the client leaves, the change is made all the same.
    let made = tokio::task::spawn_blocking(move || {
        let reply = made(&state, &wanted, body);
        drop(place);
        reply
    });
    let made = made.await;
    Ok(made.unwrap_or_else(|_| Reply::error(500, "the change failed")))
}

async fn read(state: &State, session: &mut ServerSession) -> Result<Vec<u8>, Reply> {
    let pause = state.current().timeouts().body.min(BODY_TIME);
    let mut clock = BodyClock::new(BodyPace { pause, total: BODY_TIME, rate: LEAST_RATE });
    let too_slow = || Reply::error(408, "the body arrived too slowly; nothing has changed");
    let mut body = Vec::new();
    loop {
        match timeout(clock.timeout(), session.read_request_body()).await {
            Ok(Ok(Some(bytes))) if bytes.len() > MAX_BODY.saturating_sub(body.len()) => return Err(too_large()),
            Ok(Ok(Some(bytes))) => {
                clock.take(bytes.len()).map_err(|_| too_slow())?;
                body.extend_from_slice(&bytes);
            }
            Ok(Ok(None)) => return Ok(body),
            Ok(Err(_)) => return Err(Reply::error(400, "the body can't be read")),
            Err(_) => return Err(too_slow()),
        }
    }
}

/// Makes a change. Blocks.
fn made(state: &State, wanted: &Wanted, body: Vec<u8>) -> Reply {
    let Wanted { action, list, ty, body: form, .. } = wanted;
    let entries = match parsed(ty, *form, body) {
        Ok(entries) if entries.is_empty() => return Reply::error(400, "the body has no entries"),
        Ok(entries) => entries,
        Err(reply) => return reply,
    };
    let policy = || Arc::clone(&state.current().policy);
    match state.lists.change(policy, (*action, list), &entries) {
        Ok(changed) => {
            log::info!(
                "list {list}: an operator inserted {}, removed {} and gave other values to {} entries",
                changed.inserted,
                changed.removed,
                changed.updated
            );
            let body = json!({
                "list": list,
                "inserted": changed.inserted,
                "removed": changed.removed,
                "updated": changed.updated,
                "generation": changed.generation,
            });
            Reply::new(200, &body)
        }
        Err(ChangeError::Lists(error @ ListsError::Limit { .. })) => {
            Reply::error(422, format!("the lists would hold {error}; nothing has changed"))
        }
        // The policy was replaced meanwhile.
        Err(ChangeError::Lists(error)) => Reply::error(409, format!("{error}; nothing has changed")),
        Err(ChangeError::HandedOver) => {
            let reply = Reply::error(503, "another process takes over; nothing has changed");
            reply.with(header::RETRY_AFTER, "1")
        }
        Err(ChangeError::Store(why)) => {
            log::error!("a change of the list {list} can't be kept: {why}");
            Reply::error(500, format!("the change can't be kept, so nothing has changed: {why}"))
        }
    }
}

fn parsed(ty: &ListType, form: Body, body: Vec<u8>) -> Result<Entries, Reply> {
    let not_utf8 = |_| Reply::error(400, "the body is not UTF-8; nothing has changed");
    let mut text = String::from_utf8(body).map_err(not_utf8)?;
    let format = match form {
        Body::Text(format) => format,
        Body::JsonArray => {
            text = array_lines::of_array(text)
                .map_err(|error| Reply::error(400, format!("no array in JSON: {error}; nothing has changed")))?;
            Format::JsonLines
        }
    };
    Entries::parse_at_most(ty, format, &text, MAX_ENTRIES).map_err(|wrong| wrong_entries(&wrong, form))
}

fn wrong_entries(wrong: &WrongEntries, form: Body) -> Reply {
    let place = if matches!(form, Body::JsonArray) { "element" } else { "line" };
    let listed: Vec<Json> = wrong
        .listed()
        .iter()
        .map(|entry| match &entry.column {
            Some(column) => {
                json!({ place: entry.line, "entry": entry.entry, "member": column, "reason": entry.reason })
            }
            None => json!({ place: entry.line, "entry": entry.entry, "reason": entry.reason }),
        })
        .collect();
    let count = wrong.count();
    Reply::new(400, &json!({ "error": format!("{count} wrong entries; nothing has changed"), "wrong": listed }))
}

/// What the lists hold.
fn listing(state: &State) -> Reply {
    let now = state.current();
    let policy = &now.policy;
    let (generation, lists) = state.lists.states(policy);
    let urls = |list: &str| -> Vec<Json> {
        let sources = policy.list_sources().filter(|source| source.list() == list);
        let json = |source: &Arc<ListSource>| {
            let info = source.info();
            json!({
                "url": source.shown_url(),
                "number": source.number(),
                "ageSeconds": source.age().map(|age| age.as_secs()),
                "new": info.accepted,
                "unchanged": info.unchanged,
                "failed": info.failed,
                "error": info.error,
            })
        };
        sources.map(json).collect()
    };
    let lists: Vec<Json> = lists
        .iter()
        .map(|list| {
            json!({
                "name": &*list.name,
                "kind": list.ty.kind().name(),
                "values": list.ty.values().map(ToString::to_string),
                "entries": list.entries,
                "bytes": list.bytes,
                "lookups": list.lookups,
                "changes": list.changes,
                "urls": urls(&list.name),
                "sourceAgeSeconds": list.age.map(|age| age.as_secs()),
            })
        })
        .collect();
    Reply::new(200, &json!({ "generation": generation, "lists": lists }))
}
