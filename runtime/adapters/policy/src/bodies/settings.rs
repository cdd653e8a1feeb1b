//! The settings of a body phase: how much of a body it reads, and what a content coding does.

use crate::bodies::buffering::BodyBuffering;
use crate::bodies::content_coding::{DecodeError, KNOWN, decode, is_coded};
use crate::file::document::Document;
use crate::host::outcome::{Phase, PolicyAnswer};
use crate::problems::Problems;
use crate::schema::size;
use crate::yaml::Node;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::borrow::Cow;
use std::sync::Arc;

/// The default of `requestBody.limit`, in bytes.
const REQUEST_LIMIT: usize = 64 << 10;
/// The default of `responseBody.limit`, in bytes.
const RESPONSE_LIMIT: usize = 1 << 20;

/// The settings of a body phase.
#[derive(Debug)]
pub(crate) struct BodySettings {
    phase: Phase,
    buffering: BodyBuffering,
    /// Whether messages with larger bodies are forwarded without running the phase.
    skip: bool,
    encoded: Encoded,
}

/// What happens to a body with a content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoded {
    Refuse,
    Decode,
    Raw,
}

/// A body as the rules of a phase read it.
#[derive(Debug)]
pub(crate) enum BodyView<'b> {
    Bytes(Cow<'b, [u8]>),
    /// The phase does not run.
    Skip,
    Answer(PolicyAnswer),
}

impl BodySettings {
    /// Reads the settings of a body phase.
    pub(crate) fn read(document: &Document, phase: Phase, problems: &mut Problems) -> Self {
        let section = phase.name();
        let mut text = |key| document.setting(section, key, problems).and_then(Node::text);
        let (limit, prefix, too_large, encoded) = (text("limit"), text("prefix"), text("tooLarge"), text("encoded"));
        for (key, setting) in [("limit", &limit), ("tooLarge", &too_large)] {
            if let Some(setting) = setting.as_ref().filter(|_| prefix.is_some()) {
                let message = format!("`{key}` has no effect: with `prefix` the phase runs on bodies of any size");
                problems.add("policy-body", setting.place, message);
            }
        }
        let bytes = |text: Option<crate::yaml::SourceText>| text.and_then(|text| size(&text.text));
        let request = phase == Phase::RequestBody;
        let buffering = match bytes(prefix) {
            Some(prefix) => BodyBuffering::new(prefix, true),
            None => {
                let usual = if request { REQUEST_LIMIT } else { RESPONSE_LIMIT };
                BodyBuffering::new(bytes(limit).unwrap_or(usual), false)
            }
        };
        let buffering = if request { buffering } else { buffering.of_response() };
        let encoded = match encoded.as_ref().map(|text| &*text.text) {
            Some("raw") => Encoded::Raw,
            Some("decode") => Encoded::Decode,
            Some(_) => Encoded::Refuse,
            None if request => Encoded::Refuse,
            None => Encoded::Decode,
        };
        let skip = too_large.is_some_and(|text| text.text == "skip");
        Self { phase, buffering, skip, encoded }
    }

    pub(crate) fn buffering(&self) -> BodyBuffering {
        self.buffering
    }

    /// Describes the settings, for `celero check` and `celero explain`. `some`: whether a head may
    /// exclude every rule.
    pub(crate) fn describe(&self, some: bool) -> String {
        let what = if self.phase == Phase::RequestBody { "request" } else { "response" };
        let larger = match self.skip {
            _ if self.buffering.is_prefix() => String::new(),
            true => format!("; larger ones are forwarded without the phase {}", self.phase.name()),
            false => format!("; larger ones are answered with {}", self.status(StatusCode::PAYLOAD_TOO_LARGE).as_u16()),
        };
        let coded = match self.encoded {
            Encoded::Refuse => "refused",
            Encoded::Decode => "decoded for the rules",
            Encoded::Raw => "not decoded",
        };
        let rest = if some { "; those that no matching rule reads are forwarded as they arrive" } else { "" };
        format!("{what} bodies: {}{larger}; those with a content coding are {coded}{rest}", self.buffering)
    }

    /// Returns what the rules read of a body. `headers` are those of its message.
    pub(crate) fn view<'b>(&self, headers: &HeaderMap, body: &'b [u8]) -> BodyView<'b> {
        let (limit, prefix) = (self.buffering.limit(), self.buffering.is_prefix());
        let body = if prefix { body.get(..limit).unwrap_or(body) } else { body };
        if body.is_empty() || self.encoded == Encoded::Raw || !is_coded(headers) {
            return BodyView::Bytes(Cow::Borrowed(body));
        }
        if self.encoded == Encoded::Refuse {
            return BodyView::Answer(self.refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        match decode(headers, body, limit, prefix) {
            Ok(decoded) => BodyView::Bytes(decoded),
            Err(DecodeError::TooLarge) => self.too_large().map_or(BodyView::Skip, BodyView::Answer),
            Err(DecodeError::Unknown) => BodyView::Answer(self.refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE)),
            Err(DecodeError::Damaged) => BodyView::Answer(self.refusal(StatusCode::BAD_REQUEST)),
        }
    }

    /// Returns the answer instead of a message with too large a body. `None`: the message is
    /// forwarded without running the phase.
    pub(crate) fn too_large(&self) -> Option<PolicyAnswer> {
        let status = self.status(StatusCode::PAYLOAD_TOO_LARGE);
        (!self.skip).then(|| PolicyAnswer::empty(status, &Arc::from(format!("{}.limit", self.phase.name()))))
    }

    /// Returns the answer instead of a message whose body the rules can't read.
    fn refusal(&self, status: StatusCode) -> PolicyAnswer {
        let mut answer = PolicyAnswer::empty(self.status(status), &Arc::from(format!("{}.encoded", self.phase.name())));
        if answer.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let accepted = if self.encoded == Encoded::Decode { KNOWN } else { "identity" };
            answer.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted));
        }
        answer
    }

    /// Returns the status of an answer: what is wrong with a response is not the client's fault.
    fn status(&self, of_request: StatusCode) -> StatusCode {
        if self.phase == Phase::RequestBody { of_request } else { StatusCode::BAD_GATEWAY }
    }

    /// Returns the `accept-encoding` with which a request is forwarded, so that the server sends a
    /// response whose body the rules can read. `None`: as it is.
    pub(crate) fn accept_encoding(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut lines = headers.get_all(header::ACCEPT_ENCODING).iter().peekable();
        match self.encoded {
            Encoded::Raw => None,
            Encoded::Refuse => Some(HeaderValue::from_static("identity")),
            Encoded::Decode => {
                lines.peek()?;
                let members =
                    lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).map(str::trim);
                let known = |member: &&str| {
                    let name = member.split(';').next().unwrap_or_default().trim();
                    let mut names = KNOWN.split(", ").chain(["x-gzip", "identity"]);
                    names.any(|known| known.eq_ignore_ascii_case(name))
                };
                let kept: Vec<&str> = members.filter(known).collect();
                let kept = if kept.is_empty() { "identity".to_owned() } else { kept.join(", ") };
                HeaderValue::from_str(&kept).ok()
            }
        }
    }
}
