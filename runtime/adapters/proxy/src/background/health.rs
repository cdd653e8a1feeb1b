//! Runs what the current generation needs from time to time: the health checks of its upstreams,
//! the names of their servers, and the expiry of entries of its lists.

use crate::generation::Generation;
use crate::state::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// The time between two looks for expired entries of lists.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// Starts the health checks of a generation, what resolves the names of servers again, and what
/// removes expired entries from its lists.
pub(crate) fn start(state: &Arc<State>, now: &Arc<Generation>, tasks: &mut JoinSet<()>) {
    for upstream in &now.upstreams {
        let (checked, resolved) = (Arc::clone(upstream), Arc::clone(upstream));
        tasks.spawn(async move { checked.check().await });
        tasks.spawn(async move { resolved.resolve().await });
    }
    if now.policy.lists().is_some() {
        tasks.spawn(expire_entries(Arc::clone(state)));
    }
}

/// Removes entries from the lists of the current policy when they expire. Never returns.
async fn expire_entries(state: Arc<State>) {
    let mut failing = false;
    loop {
        tokio::time::sleep(EXPIRY_INTERVAL).await;
        let state = Arc::clone(&state);
        // Changes that are written to a disk may hold its lock.
        let expired = tokio::task::spawn_blocking(move || state.lists.expire(&state.current().policy)).await;
        match expired.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(0) => failing = false,
            Ok(removed) => {
                failing = false;
                log::debug!("{removed} entries of lists have expired");
            }
            // It is tried again each second, but logged once.
            Err(error) if !failing => {
                failing = true;
                log::error!("expired entries stay in their lists: {error}");
            }
            Err(_) => {}
        }
    }
}
