//! The methods whose messages rules read.
//!
//! Invariant: no request whose path a server may take for that of such a method passes unread. Test:
//! `runtime/adapters/policy/tests/policy/grpc_messages.rs::what_is_no_call_of_the_method_is_refused`.

use celero::Value;
use celero::messages::{Descriptors, Message};
use celero::values::Arena;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The name of the method that is called, empty for what is no call of a method that rules have. It
/// follows from the head, before the body comes.
pub(crate) const METHOD_VARIABLE: &str = "request.grpcMethod";

/// The methods whose messages the rules of a phase read.
#[derive(Debug, Default)]
pub(crate) struct RuledMethods {
    types: Option<Descriptors>,
    by_name: HashMap<Arc<str>, RuledMethod>,
    /// The names in lower case.
    folded: HashSet<Box<str>>,
}

/// Those of each phase that reads messages.
#[derive(Debug, Default)]
pub(crate) struct PhaseMethods {
    pub(crate) of_requests: RuledMethods,
    pub(crate) of_responses: RuledMethods,
}

/// A method whose messages rules read.
#[derive(Clone, Debug)]
pub(crate) struct RuledMethod {
    /// `package.Service/Method`
    pub(crate) name: Arc<str>,
    /// The type of the messages: of those that clients send in `requestBody`, of servers in `responseBody`.
    pub(crate) message: Arc<str>,
    /// Whether a call has any number of them.
    pub(crate) streams: bool,
}

/// A message is none of its type.
#[derive(Debug)]
pub(crate) struct Malformed;

/// What a path is.
pub(crate) enum PathOf<'m> {
    /// Of no method whose messages rules read.
    None,
    /// Of this method.
    Method(&'m RuledMethod),
    /// Of none, but some servers take it for that of a method: it differs in letter case or in slashes.
    Almost,
}

impl PhaseMethods {
    /// Returns no methods, of these types.
    pub(crate) fn of(types: Option<&Descriptors>) -> Self {
        Self { of_requests: RuledMethods::of(types.cloned()), of_responses: RuledMethods::of(types.cloned()) }
    }
}

impl RuledMethods {
    /// Returns no methods, of these types.
    fn of(types: Option<Descriptors>) -> Self {
        Self { types, ..Self::default() }
    }

    /// Returns the types of messages, if the policy has their descriptors.
    pub(crate) fn types(&self) -> Option<&Descriptors> {
        self.types.as_ref()
    }

    /// Adds a method.
    pub(crate) fn add(&mut self, method: RuledMethod) {
        self.folded.insert(method.name.to_ascii_lowercase().into());
        self.by_name.insert(Arc::clone(&method.name), method);
    }

    /// Returns the methods whose calls have any number of messages, in the order of their names.
    pub(crate) fn streams(&self) -> Vec<&RuledMethod> {
        let mut streams: Vec<_> = self.by_name.values().filter(|method| method.streams).collect();
        streams.sort_by(|a, b| a.name.cmp(&b.name));
        streams
    }

    /// Returns the message of a call as rules read it, if there is one.
    ///
    /// # Errors
    /// The message stands for a value, and is malformed.
    pub(crate) fn value<'a>(
        &'a self,
        call: Option<(&RuledMethod, Option<&'a [u8]>)>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, Malformed> {
        let Some((method, Some(message))) = call else { return Ok(None) };
        let types = self.types.as_ref().ok_or(Malformed)?;
        let message = Message::new(types, &method.message, message).ok_or(Malformed)?;
        message.value(arena).map(Some).map_err(|_| Malformed)
    }

    /// Returns what the path of a request is.
    pub(crate) fn of_path(&self, path: &str) -> PathOf<'_> {
        if self.by_name.is_empty() {
            return PathOf::None;
        }
        if let Some(method) = path.strip_prefix('/').and_then(|name| self.by_name.get(name)) {
            return PathOf::Method(method);
        }
        let lower = path.to_ascii_lowercase().replace("%2f", "/");
        let segments: Vec<&str> = lower.split('/').filter(|segment| !segment.is_empty()).collect();
        if self.folded.contains(&*segments.join("/")) { PathOf::Almost } else { PathOf::None }
    }
}
