//! The phase `connection`: rules about a connection before anything of HTTP is read.
//!
//! Invariant: a limit of open connections holds its place until the host drops the `ClientConnection`. Test:
//! `runtime/adapters/policy/tests/policy/connections.rs::limits_count_new_and_open_connections`.

use crate::host::tls_hello::TlsHello;
use crate::phases::context::{ConnectionData, NO_HEADERS};
use crate::phases::exchange::Effects;
use crate::phases::watch::{RuleReasons, RuleWatch};
use crate::policy::Policy;
use crate::rules::body_change::Message;
use celero::http::Source;
use celero_limits::Time;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A connection of a client, for [`Policy::connection`]. Keep it until the connection has ended: it
/// holds the places that limits of open connections count.
#[derive(Debug)]
pub struct ClientConnection {
    client: Option<SocketAddr>,
    local: Option<SocketAddr>,
    via: &'static str,
    hello: Option<TlsHello>,
    pub(crate) effects: Effects,
}

/// What the host does with a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum ConnectionOutcome {
    /// Serve it.
    Accept,
    /// Close it without an answer.
    Close {
        /// The name of the rule that denies it.
        rule: Arc<str>,
    },
}

impl ClientConnection {
    /// Returns a connection of the client with the first address, which has arrived at the second.
    /// Behind a load balancer that the host trusts, both are those that it names in the header of
    /// the PROXY protocol.
    #[must_use]
    pub fn new(client: Option<SocketAddr>, local: Option<SocketAddr>) -> Self {
        Self { client, local, via: "connection", hello: None, effects: Effects::default() }
    }

    /// Sets how the host knows the client's address, which rules read as `source.via`. Default: `connection`.
    #[must_use]
    pub fn with_via(mut self, via: &'static str) -> Self {
        self.via = via;
        self
    }

    /// Sets what the client says when it begins TLS. Read it before you call [`Policy::connection`]
    /// if [`Policy::reads_tls_hello`].
    #[must_use]
    pub fn with_hello(mut self, hello: TlsHello) -> Self {
        self.hello = Some(hello);
        self
    }

    /// Notes what becomes of rules, as [`Exchange::watch_rules`](crate::Exchange::watch_rules) does.
    pub fn watch_rules(&mut self, name: Option<&str>) {
        self.effects.watch = Some(RuleWatch::of_tool(name));
    }

    /// Returns what became of the rules that are [watched](Self::watch_rules).
    pub fn rule_reasons(&self) -> impl Iterator<Item = RuleReasons> {
        self.effects.watch.iter().flat_map(|watch| watch.reasons())
    }

    /// Sets the time that limits read, as [`Exchange::set_time`](crate::Exchange::set_time).
    pub fn set_time(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.effects.limits.time = Some(Time::from_nanos(nanos));
    }
}

impl Policy {
    /// Runs the phase `connection`. Call it once for each connection, before anything of HTTP is
    /// read and before a handshake of TLS is answered. A connection that no rule matches costs no
    /// allocation for this.
    pub fn connection(&self, connection: &mut ClientConnection) -> ConnectionOutcome {
        let ClientConnection { client, local, via, hello, effects } = connection;
        let source = |address: Option<SocketAddr>| address.map_or_else(Source::default, Source::from);
        let context = ConnectionData {
            source: source(*client),
            via,
            hello: hello.as_ref().map(TlsHello::fields),
            destination: source(*local),
        };
        match self.connection.run(&context, Message::head(&NO_HEADERS), effects) {
            None => ConnectionOutcome::Accept,
            Some(answer) => ConnectionOutcome::Close { rule: answer.rule },
        }
    }

    /// Returns whether the phase `connection` has rules. A host that cannot run it should refuse to serve then.
    #[must_use]
    pub fn has_connection_rules(&self) -> bool {
        !self.connection.rules.is_empty()
    }

    /// Returns whether the phase `connection` reads what a client says when it begins TLS. If not,
    /// the phase runs before the host reads anything of the client.
    #[must_use]
    pub fn reads_tls_hello(&self) -> bool {
        self.reads_hello
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_dry_run_counts_and_logs_nothing() {
        let text = "connection: [{name: tried, limit: {rate: 1/d, dryRun: true}}]";
        let policy = Policy::parse("policy.yaml", text, Path::new(".")).unwrap();
        for tolerated in [0, 1] {
            let mut connection = ClientConnection::new(None, None);
            connection.set_time(Duration::ZERO);
            assert_eq!(policy.connection(&mut connection), ConnectionOutcome::Accept);
            assert_eq!(policy.limits().next().unwrap().tolerated, tolerated);
            assert!(connection.effects.fields.is_empty(), "nobody reads them");
        }
    }
}
