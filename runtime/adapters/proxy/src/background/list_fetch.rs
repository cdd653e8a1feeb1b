//! Fetches the documents with entries of lists that the current policy names by URL. The policy
//! decides when; what is fetched is checked there, too.
//!
//! A document of a list counts for the generation that asked for it. Documents are read one at a time, and accepted
//! while no reload runs (`State::take_list_document`).

use crate::generation::Generation;
use crate::http_client::agent;
use crate::lists::copies::ListCopies;
use crate::state::State;
use celero_policy::{ListDocument, ListSource};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, ETAG, LAST_MODIFIED, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName};
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use ureq::Agent;

/// How many documents are fetched at a time: they are in memory meanwhile.
const AT_ONCE: usize = 4;
/// The longest `etag` and `last-modified` that are kept, in bytes.
const MAX_VALIDATOR: usize = 1_024;

/// What a server answers.
enum Fetched {
    New(ListDocument),
    Unchanged,
}

/// Returns what starts the fetches of a generation.
pub(crate) fn starter() -> impl Fn(&Arc<State>, &Arc<Generation>, &mut JoinSet<()>) {
    // One bound for all generations: fetches go on after a reload.
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    move |state, now, tasks| {
        if let Some(copies) = ListCopies::of(&now.config) {
            let now = Arc::clone(now);
            // Files are removed beside the fetches of sources, whose copies are none of these.
            tokio::task::spawn_blocking(move || copies.clean_up(now.policy.list_sources().map(|source| &**source)));
        }
        let mut client = None;
        for source in now.policy.list_sources() {
            // A reload reads the system's certificates again, too.
            let agent = client.get_or_insert_with(agent).clone();
            tasks.spawn(keep_fresh(Arc::clone(state), Arc::clone(source), agent, Arc::clone(&permits)));
        }
    }
}

/// Fetches the document of a source each time its pause is over, until the task is dropped.
async fn keep_fresh(state: Arc<State>, source: Arc<ListSource>, agent: Agent, permits: Arc<Semaphore>) {
    loop {
        tokio::time::sleep(source.pause()).await;
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let (of_task, state, agent) = (Arc::clone(&source), Arc::clone(&state), agent.clone());
        // Reading a large document takes time, and files of the list may be read again. A fetch
        // goes on when a reload ends this task, so it has the permit.
        let fetch = move || {
            let _permit = permit;
            refresh(&state, &of_task, &agent);
        };
        if let Err(error) = tokio::task::spawn_blocking(fetch).await {
            source.failed(error.to_string());
        }
    }
}

/// Fetches a document and puts its entries in force. Blocks.
fn refresh(state: &State, source: &Arc<ListSource>, agent: &Agent) {
    let (list, url) = (source.list(), source.shown_url());
    let now = state.current();
    if !now.policy.list_sources().any(|known| Arc::ptr_eq(known, source)) {
        // A reload came while this waited for a thread: other sources fetch.
        return;
    }
    let copies = ListCopies::of(&now.config);
    drop(now);
    let done = fetch(agent, source).and_then(|fetched| match fetched {
        Fetched::Unchanged => {
            let now = SystemTime::now();
            source.is_current(now);
            if let (Some(copies), Some(document)) = (&copies, source.document())
                && let Err(error) = copies.is_current(source, &document)
            {
                log::warn!("list {list}: {url} can't be copied to a file: {error}");
            }
            log::debug!("list {list}: {url} is the same");
            Ok(())
        }
        Fetched::New(document) => {
            // Large documents are not written while readers wait for new entries, and refused ones are not kept.
            let taken = state.take_list_document(source, &document).map_err(|error| error.to_string())?;
            let Some(said) = taken else { return Ok(()) };
            let copied = copies.map_or(Ok(()), |copies| copies.keep(source, &document));
            if let Err(error) = copied {
                log::warn!("list {list}: {url} can't be copied to a file: {error}");
            }
            log::info!("{url}; {said}");
            Ok(())
        }
    });
    if let Err(why) = done {
        match source.age() {
            None => log::error!("list {list}: {url}: {why}; its entries are missing in the list"),
            Some(age) => log::warn!("list {list}: {url}: {why}; the entries of {age:.0?} ago still count"),
        }
        source.failed(why);
    }
}

/// Asks a server for a document, and says which one is known.
fn fetch(agent: &Agent, source: &ListSource) -> Result<Fetched, String> {
    let known = source.document();
    let mut request = agent.get(source.url()).header("accept-encoding", "identity");
    if let Some(etag) = known.as_ref().and_then(|known| known.etag.as_deref()) {
        request = request.header("if-none-match", etag);
    }
    if let Some(time) = known.as_ref().and_then(|known| known.last_modified.as_deref()) {
        request = request.header("if-modified-since", time);
    }
    let request = request.config().timeout_global(Some(source.timeout())).http_status_as_error(false).build();
    let mut response = request.call().map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    match status {
        200 => {}
        304 if known.is_some() => return Ok(Fetched::Unchanged),
        300..400 => return Err(format!("the server answers with the status {status}; redirects are not followed")),
        _ => return Err(format!("the server answers with the status {status}")),
    }
    let headers = response.headers();
    if headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return Err("the document has a `content-encoding`".to_owned());
    }
    // Otherwise a document that ends too soon looks like a whole one.
    if !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING) {
        return Err("the server does not say how long the document is".to_owned());
    }
    let (etag, last_modified) = (validator(headers, ETAG), validator(headers, LAST_MODIFIED));
    let limit = u64::try_from(source.largest()).unwrap_or(u64::MAX);
    let bytes = response.body_mut().with_config().limit(limit).read_to_vec().map_err(|error| error.to_string())?;
    if bytes.trim_ascii().is_empty() {
        return Err("the document is empty".to_owned());
    }
    Ok(Fetched::New(ListDocument { bytes: bytes.into(), etag, last_modified, at: SystemTime::now() }))
}

fn validator(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().filter(|text| text.len() <= MAX_VALIDATOR).map(str::to_owned)
}
