//! Fetches the sets of keys that the current policy names by URL. The policy decides when; what is
//! fetched is checked there, too.

use crate::generation::Generation;
use crate::http_client::agent;
use crate::state::State;
use celero_policy::KeyFetcher;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use ureq::Agent;

/// Starts the fetches of a generation.
pub(crate) fn start(_state: &Arc<State>, now: &Arc<Generation>, tasks: &mut JoinSet<()>) {
    // A reload reads the system's certificates again, too.
    if let fetchers @ [_, ..] = &*now.key_fetchers {
        let agent = agent();
        for fetcher in fetchers {
            tasks.spawn(keep_fresh(Arc::clone(fetcher), agent.clone()));
        }
    }
}

/// Fetches the keys of a source again and again.
async fn keep_fresh(fetcher: Arc<KeyFetcher>, agent: Agent) {
    let (url, shown, largest, timeout) = {
        let source = fetcher.source();
        (source.url().to_owned(), source.shown_url().to_owned(), source.largest(), source.timeout())
    };
    loop {
        tokio::select! {
            () = tokio::time::sleep(fetcher.pause()) => {}
            () = fetcher.wanted() => {}
        }
        // If the task is cancelled, dropping this tells those who wait.
        let under_way = fetcher.begin();
        let (agent, from) = (agent.clone(), url.clone());
        let fetched = tokio::task::spawn_blocking(move || fetch(&agent, &from, timeout, largest)).await;
        let fetched = fetched.unwrap_or_else(|error| Err(error.to_string()));
        match under_way.finish(fetched.as_deref().map_err(Clone::clone)) {
            Ok(Some(keys)) => log::info!("{shown}: took over {keys} keys"),
            Ok(None) => log::debug!("{shown}: the keys are the same"),
            Err(why) => match fetcher.source().info().keys {
                0 => log::error!("{shown}: {why}; there are no keys, so its tokens are refused"),
                keys => log::warn!("{shown}: {why}; the {keys} keys of the last document still count"),
            },
        }
    }
}

/// Fetches a document of at most `largest` bytes.
fn fetch(agent: &Agent, url: &str, timeout: Duration, largest: usize) -> Result<Vec<u8>, String> {
    let request = agent.get(url).header("accept", "application/json");
    let request = request.config().timeout_global(Some(timeout)).build();
    let mut response = request.call().map_err(|error| error.to_string())?;
    if response.status() != 200 {
        return Err(format!("the server answers with the status {}", response.status().as_u16()));
    }
    let limit = u64::try_from(largest).unwrap_or(u64::MAX);
    response.body_mut().with_config().limit(limit).read_to_vec().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_needs_a_server_that_speaks_tls() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut socket, _) = server.accept().unwrap();
            std::io::Write::write_all(&mut socket, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        });
        let fetched = fetch(&agent(), &format!("https://{address}/"), Duration::from_secs(2), 100);
        assert!(fetched.is_err(), "{fetched:?}");
    }
}
