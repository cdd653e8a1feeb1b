//! Counts the open connections of a listener, in all and of each client address.

use crate::config::Limits;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A connection that the proxy waits for before it ends, counted until it is dropped.
pub(super) struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub(super) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The open connections of a listener.
#[derive(Default)]
pub(super) struct Connections {
    open: AtomicUsize,
    /// Only of connections that arrived while there was a bound for each address.
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// An open connection, counted until it is dropped.
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    /// The address under which it is counted, if it is.
    address: Option<IpAddr>,
}

impl Connections {
    /// Counts a connection. Returns `None` if a bound is reached.
    pub(super) fn open(connections: &Arc<Self>, limits: &Limits) -> Option<OpenConnection> {
        let before = connections.open.fetch_add(1, Ordering::Relaxed);
        // From here on, dropping it counts it out.
        let connection = OpenConnection { connections: Arc::clone(connections), address: None };
        (before < limits.connections).then_some(connection)
    }
}

impl OpenConnection {
    /// Counts the connection for its client too. Returns `false` if the bound of an address is reached.
    pub(super) fn is_within(&mut self, client: IpAddr, limits: &Limits) -> bool {
        let Some(most) = limits.connections_per_address else { return true };
        let network = network(client);
        let mut counts = self.connections.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network).or_default();
        if *count >= most {
            return false;
        }
        *count = count.saturating_add(1);
        self.address = Some(network);
        true
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.open.fetch_sub(1, Ordering::Relaxed);
        let Some(address) = self.address else { return };
        let mut counts = self.connections.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(address) {
            *count.get_mut() = count.get().saturating_sub(1);
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, all
/// of which one client may have.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_until_they_are_dropped() {
        let connections = Arc::new(Connections::default());
        let limits = Limits { connections: 3, connections_per_address: Some(2), ..Limits::default() };
        let open = |client: &str| {
            let mut connection = Connections::open(&connections, &limits)?;
            connection.is_within(client.parse().unwrap(), &limits).then_some(connection)
        };
        let first = open("192.0.2.1");
        let second = open("::ffff:192.0.2.1");
        assert!(first.is_some() && second.is_some());
        assert!(open("192.0.2.1").is_none(), "the bound of an address");
        let third = open("2001:db8::1");
        assert!(third.is_some() && open("192.0.2.9").is_none(), "the bound of the listener");
        drop((first, second));
        let fourth = open("2001:db8::2");
        assert!(fourth.is_some() && open("2001:db8::3").is_none(), "one network");
        drop((third, fourth));
        assert!(connections.by_address.lock().unwrap().is_empty());
        assert_eq!(connections.open.load(Ordering::Relaxed), 0);
    }
}
