//! What the expressions of a rule read of messages, by name.

use celero::host::Fields;
use http::{HeaderName, header};

/// What the expressions of a rule read of what rules can change.
#[derive(Clone, Default)]
pub(crate) struct RuleReads {
    pub(crate) request: HeaderReads,
    pub(crate) response: HeaderReads,
    /// Whether they read the status of the response.
    pub(crate) status: bool,
    pub(crate) labels: bool,
    /// Whether they read the body of the request, and of the response.
    pub(crate) bodies: [bool; 2],
    /// Whether they read bytes of a body, rather than messages of a call.
    pub(crate) bytes: bool,
    /// Whether they read messages of a call.
    pub(crate) messages: bool,
}

/// The headers of a message that expressions read.
#[derive(Clone, Default)]
pub(crate) struct HeaderReads {
    pub(crate) names: Vec<HeaderName>,
    /// Whether a name is computed, or all headers are read.
    pub(crate) any: bool,
}

impl RuleReads {
    /// Adds what an expression reads.
    pub(crate) fn note(&mut self, fields: &Fields) {
        self.request.note(fields, "request.headers");
        self.response.note(fields, "response.headers");
        self.status |= fields.reads("response.code");
        self.labels |= fields.reads("labels");
        self.messages |= ["request.message", "response.message"].iter().any(|name| fields.reads(name));
        for (read, names) in self
            .bodies
            .iter_mut()
            .zip([["request.body", "request.bodyPrefix"], ["response.body", "response.bodyPrefix"]])
        {
            let reads = names.iter().any(|name| fields.reads(name));
            *read |= reads;
            self.bytes |= reads;
        }
    }
}

impl RuleReads {
    /// Adds what says how the messages of a call are read, those of the request or of the response.
    pub(crate) fn note_call(&mut self, of_response: bool) {
        let encoding = HeaderName::from_static("grpc-encoding");
        self.request.names.push(header::CONTENT_TYPE);
        let message = if of_response { &mut self.response } else { &mut self.request };
        message.names.extend([header::CONTENT_TYPE, encoding]);
        let [request_body, response_body] = &mut self.bodies;
        *if of_response { response_body } else { request_body } = true;
    }
}

impl HeaderReads {
    fn note(&mut self, fields: &Fields, map: &str) {
        self.names.extend(fields.headers(map).filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok()));
        self.any |= fields.reads_any_header(map);
    }
}
