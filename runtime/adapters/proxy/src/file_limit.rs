//! Compares the open files that the connections of the configuration need with what the system allows the process.

use crate::config::Config;
use rustix::process::{Resource, getrlimit};

/// Open files of a client's connection: its own and one to a server.
const FILES_PER_CONNECTION: u64 = 2;
/// Files for everything else: listeners, logs, the event queues of threads.
const OTHER_FILES: u64 = 64;

/// Warns if the process may open fewer files than the connections of the configuration need.
pub(crate) fn check(config: &Config) {
    let allowed = getrlimit(Resource::Nofile).current;
    if let Some(message) = shortage(config.limits.connections, config.listeners.len(), allowed) {
        log::warn!("{message}");
    }
}

/// Returns the warning for a process that may open `allowed` files; `None`: as many as it wants.
fn shortage(connections: usize, listeners: usize, allowed: Option<u64>) -> Option<String> {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let all = count(connections).saturating_mul(count(listeners));
    let needed = all.saturating_mul(FILES_PER_CONNECTION).saturating_add(OTHER_FILES);
    let allowed = allowed.filter(|allowed| *allowed < needed)?;
    Some(format!(
        "limits.connections is {connections} for each of {listeners} listeners, which takes up to {needed} open files, but the process \
         may open {allowed} (RLIMIT_NOFILE): beyond that, connections fail without a clear error. Raise it (`ulimit -n`, `LimitNOFILE=`), \
         or lower limits.connections"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_both_limits() {
        assert_eq!(shortage(500, 1, None), None);
        assert_eq!(shortage(500, 1, Some(1_064)), None);
        let message = shortage(500, 1, Some(1_024)).unwrap();
        for part in ["limits.connections is 500", "RLIMIT_NOFILE", "1024", "1064"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}
