//! Raises the number of files that the process may open to what the connections of the configuration need.

use crate::config::{Config, counted};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files of a client's connection: its own and one to a server.
const FILES_PER_CONNECTION: u64 = 2;
/// Files for everything else: listeners, logs, the event queues of threads.
const OTHER_FILES: u64 = 64;

/// Raises the soft limit of open files to what the connections of the configuration need. Warns if
/// the hard limit, which only the administrator can raise, is lower: then the soft limit is raised
/// to that.
///
/// The soft limit is often 1024, for the sake of programs that use `select`. Processes that the
/// proxy starts inherit what it has.
pub(crate) fn raise(config: &Config) {
    let needed = needed_by(config);
    let limit = getrlimit(Resource::Nofile);
    // `None` is no limit.
    let Some(current) = limit.current.filter(|current| *current < needed) else { return };
    let wanted = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    let allowed = if raised.is_ok() { wanted } else { current };
    if allowed < needed {
        log::warn!("{}", shortage(config.limits.connections, config.listeners.len(), needed, allowed));
    }
}

/// Returns how many files a configuration needs at once.
pub(crate) fn needed_by(config: &Config) -> u64 {
    let idle = u64::try_from(config.limits.idle_connections).unwrap_or(u64::MAX);
    needed(config.limits.connections, config.listeners.len()).saturating_add(idle)
}

/// Returns how many files connections of clients need at once.
fn needed(connections: usize, listeners: usize) -> u64 {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    count(connections).saturating_mul(count(listeners)).saturating_mul(FILES_PER_CONNECTION).saturating_add(OTHER_FILES)
}

/// The warning for a process that may open fewer files than it needs.
fn shortage(connections: usize, listeners: usize, needed: u64, allowed: u64) -> String {
    let listeners = counted(listeners, "listener");
    format!(
        "limits.connections is {connections}, for {listeners} up to {needed} open files, but the system allows the process {allowed} \
         (the hard limit of RLIMIT_NOFILE): beyond that, connections fail without a clear error. Raise it (`LimitNOFILE=` of systemd, \
         `ulimit -Hn`), or lower limits.connections"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_both_limits() {
        assert_eq!(needed(500, 2), 2_064);
        assert_eq!(needed(usize::MAX, 2), u64::MAX);
        let message = shortage(500, 1, needed(500, 1), 1_024);
        for part in ["limits.connections is 500, for 1 listener up", "RLIMIT_NOFILE", "1024", "1064"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}
