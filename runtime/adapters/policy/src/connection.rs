//! The phase `connection`: rules about a connection before anything of HTTP is read.

use crate::context::ConnectionData;
use crate::exchange::Effects;
use crate::policy::Policy;
use crate::yaml::Node;
use celero::Context;
use celero::http::Source;
use celero_limits::Time;
use http::HeaderMap;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// A connection of a client, for [`Policy::connection`]. Keep it until the connection has ended: it holds the places that limits of open
/// connections count.
#[derive(Debug)]
pub struct ClientConnection {
    client: Option<SocketAddr>,
    local: Option<SocketAddr>,
    via: &'static str,
    hello: Option<TlsHello>,
    effects: Effects,
}

/// What a client says when it begins TLS, before anything is agreed on or verified (the `ClientHello`, RFC 8446, section 4.1.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsHello {
    fields: HelloFields,
}

/// What rules of the phase `connection` read as `source.tls`. All is absent without TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Context)]
pub(crate) struct HelloFields {
    pub(crate) sni: Option<String>,
    pub(crate) alpn: Option<Vec<String>>,
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

impl TlsHello {
    /// Returns a hello that names no server and no protocols.
    #[must_use]
    pub fn new() -> Self {
        Self { fields: HelloFields { sni: None, alpn: Some(Vec::new()) } }
    }

    /// Sets the name that the client asks for (SNI, RFC 6066, section 3). Give it in lower case.
    #[must_use]
    pub fn with_sni(mut self, name: &str) -> Self {
        self.fields.sni = Some(name.to_owned());
        self
    }

    /// Sets the protocols that the client offers, in its order (ALPN, RFC 7301). What is not UTF-8 in a name is replaced by U+FFFD.
    #[must_use]
    pub fn with_alpn<'n>(mut self, names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        let names = names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned());
        self.fields.alpn = Some(names.collect());
        self
    }

    /// Reads the mapping `tls` of a case.
    pub(crate) fn of_case(node: &Node) -> Self {
        let alpn = node.texts_of("alpn").into_iter().map(|text| text.text).collect();
        Self { fields: HelloFields { sni: node.text_of("sni").map(|text| text.text), alpn: Some(alpn) } }
    }
}

impl ClientConnection {
    /// Returns a connection of the client with the first address, which has arrived at the second. Behind a load balancer that the host
    /// trusts, both are those that it names in the header of the PROXY protocol.
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

    /// Sets what the client says when it begins TLS. Read it before you call [`Policy::connection`] if [`Policy::reads_tls_hello`].
    #[must_use]
    pub fn with_hello(mut self, hello: TlsHello) -> Self {
        self.hello = Some(hello);
        self
    }

    /// Sets the time that limits read, as [`Exchange::set_time`](crate::Exchange::set_time).
    pub fn set_time(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.effects.limits.time = Some(Time::from_nanos(nanos));
    }
}

impl Policy {
    /// Runs the phase `connection`. Call it once for each connection, before anything of HTTP is read and before a handshake of TLS is
    /// answered. A connection that no rule denies costs no allocation for this.
    pub fn connection(&self, connection: &mut ClientConnection) -> ConnectionOutcome {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        let ClientConnection { client, local, via, hello, effects } = connection;
        let source = |address: Option<SocketAddr>| address.map_or_else(Source::default, Source::from);
        let context = ConnectionData {
            source: source(*client),
            via,
            hello: hello.as_ref().map(|hello| &hello.fields),
            destination: source(*local),
        };
        match self.connection.run(&context, &NONE, effects) {
            None => ConnectionOutcome::Accept,
            Some(answer) => ConnectionOutcome::Close { rule: answer.rule },
        }
    }

    /// Returns whether the phase `connection` has rules. A host that cannot run it should refuse to serve then.
    #[must_use]
    pub fn has_connection_rules(&self) -> bool {
        !self.connection.rules.is_empty()
    }

    /// Returns whether the phase `connection` reads what a client says when it begins TLS. If not, the phase runs before the host reads
    /// anything of the client.
    #[must_use]
    pub fn reads_tls_hello(&self) -> bool {
        self.reads_hello
    }
}
