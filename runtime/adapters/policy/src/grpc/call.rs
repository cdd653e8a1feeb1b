//! The messages of a call, or why it is refused: what rules read is what the server gets, or the call goes nowhere.

use crate::bodies::content_coding::{DecodeError, MessageDecoder, is_coded};
use crate::grpc::frames::{FrameError, take_frame};
use crate::grpc::methods::{PathOf, RuledMethod, RuledMethods};
use crate::host::edits::Edit;
use crate::host::grpc::{is_call, status_answer};
use crate::host::outcome::PolicyAnswer;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header, request, response};
use std::borrow::Cow;
use std::io::BufRead;
use std::sync::Arc;

const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

const ACCEPTED: HeaderName = HeaderName::from_static("grpc-accept-encoding");

const INVALID_ARGUMENT: u8 = 3;
const RESOURCE_EXHAUSTED: u8 = 8;
const UNIMPLEMENTED: u8 = 12;
const INTERNAL: u8 = 13;

/// Why a request to a method is refused whose messages rules read.
#[derive(Debug)]
pub(crate) struct CallRefusal {
    /// The status for a client that does not speak gRPC.
    status: StatusCode,
    /// The status of gRPC.
    code: u8,
    why: Cow<'static, str>,
}

impl CallRefusal {
    fn new(status: StatusCode, code: u8, why: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, why: why.into() }
    }

    fn invalid(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_ARGUMENT, why)
    }

    fn unsupported(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, UNIMPLEMENTED, why)
    }

    fn too_large(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, RESOURCE_EXHAUSTED, why)
    }

    /// A message that stands for a value is none of its type.
    pub(crate) fn malformed() -> Self {
        Self::invalid("the message is malformed")
    }

    /// Returns the status for a client that does not speak gRPC.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the answer to a request, in the protocol of the client.
    pub(crate) fn answer(&self, is_grpc: bool) -> PolicyAnswer {
        let mut answer = self.answer_with(self.status, self.code, "requestBody.grpc", is_grpc);
        if answer.status == StatusCode::METHOD_NOT_ALLOWED {
            answer.headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        answer
    }

    /// Returns the answer instead of a response: what is wrong with it is not the client's fault.
    pub(crate) fn answer_of_response(&self, is_grpc: bool) -> PolicyAnswer {
        let code = if self.code == RESOURCE_EXHAUSTED { self.code } else { INTERNAL };
        self.answer_with(StatusCode::BAD_GATEWAY, code, "responseBody.grpc", is_grpc)
    }

    fn answer_with(&self, status: StatusCode, code: u8, rule: &str, is_grpc: bool) -> PolicyAnswer {
        if is_grpc {
            return status_answer(code, &self.why, &Arc::from(rule));
        }
        let mut answer = PolicyAnswer::empty(status, &Arc::from(rule));
        answer.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        answer.body = Bytes::from(format!("{}\n", self.why));
        answer
    }
}

impl From<FrameError> for CallRefusal {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::TooLong { .. } => Self::too_large(error.to_string()),
            FrameError::Flag(_) | FrameError::Truncated => Self::invalid(error.to_string()),
        }
    }
}

/// Returns the method that a request calls, if rules read its messages.
///
/// # Errors
/// A server may take the request for a call of such a method, but it is none whose messages can be read.
pub(crate) fn called<'m>(
    methods: &'m RuledMethods,
    head: &request::Parts,
) -> Result<Option<&'m RuledMethod>, CallRefusal> {
    let method = match methods.of_path(head.uri.path()) {
        PathOf::None => return Ok(None),
        PathOf::Method(method) => method,
        PathOf::Almost => {
            let why = "there is no such method: the names of services and methods are case-sensitive";
            return Err(CallRefusal::new(StatusCode::NOT_FOUND, UNIMPLEMENTED, why));
        }
    };
    if head.method != Method::POST {
        let why = "a method of gRPC is called with POST";
        return Err(CallRefusal::new(StatusCode::METHOD_NOT_ALLOWED, UNIMPLEMENTED, why));
    }
    if head.version < Version::HTTP_2 {
        let why = "a method of gRPC is called over HTTP/2";
        return Err(CallRefusal::new(StatusCode::HTTP_VERSION_NOT_SUPPORTED, UNIMPLEMENTED, why));
    }
    if !is_call(head) || !has_protobuf(&head.headers) {
        return Err(CallRefusal::unsupported(
            "the content-type of this method is application/grpc or application/grpc+proto",
        ));
    }
    if is_coded(&head.headers) {
        return Err(CallRefusal::unsupported("a body of gRPC has no content-encoding"));
    }
    Ok(Some(method))
}

/// Returns the method that a response is of, if rules read the messages of its responses.
///
/// # Errors
/// As [`called`], or the response is none of a call.
pub(crate) fn answered<'m>(
    methods: &'m RuledMethods,
    head: &request::Parts,
    response: &response::Parts,
) -> Result<Option<&'m RuledMethod>, CallRefusal> {
    let Some(method) = called(methods, head)? else { return Ok(None) };
    if !has_protobuf(&response.headers) {
        return Err(CallRefusal::unsupported("the server's response is no application/grpc"));
    }
    if is_coded(&response.headers) {
        return Err(CallRefusal::unsupported("the server's response has a content-encoding"));
    }
    Ok(Some(method))
}

/// Returns the change of a request without which the server may compress messages in a way that can't be undone.
pub(crate) fn accepted_codings(headers: &HeaderMap) -> Option<Edit> {
    let lines = headers.get_all(&ACCEPTED).iter().map(HeaderValue::as_bytes);
    let names: Vec<&[u8]> = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).collect();
    let value = match ["gzip", "deflate"].map(|coding| names.contains(&coding.as_bytes())) {
        _ if names.is_empty() => return None,
        [true, true] => "identity,gzip,deflate",
        [true, false] => "identity,gzip",
        [false, true] => "identity,deflate",
        [false, false] => "identity",
    };
    Some(Edit::Set { name: ACCEPTED, value: HeaderValue::from_static(value) })
}

/// Whether the messages of a call are in the wire format of protocol buffers.
fn has_protobuf(headers: &HeaderMap) -> bool {
    let Some(kind) = only(headers, &header::CONTENT_TYPE) else { return false };
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    [&b"application/grpc"[..], b"application/grpc+proto"].iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next()?;
    lines.next().is_none().then(|| first.as_bytes())
}

/// The method that is called, and the messages.
pub(crate) type Call<'m, 'b> = (&'m RuledMethod, Vec<Cow<'b, [u8]>>);

/// A body as the rules of its phase read it.
#[derive(Debug)]
pub(crate) struct RuledBody<'m, 'b> {
    body: Cow<'b, [u8]>,
    /// The method that is called, if rules read its messages, and these.
    call: Option<Call<'m, 'b>>,
}

impl<'m, 'b> RuledBody<'m, 'b> {
    /// Returns the body of a request.
    ///
    /// # Errors
    /// The method takes one message, and there is none.
    pub(crate) fn of_request(body: Cow<'b, [u8]>, call: Option<Call<'m, 'b>>) -> Result<Self, CallRefusal> {
        if call.as_ref().is_some_and(|(method, messages)| !method.streams && messages.is_empty()) {
            return Err(CallRefusal::invalid("the method has one message, and the body has none"));
        }
        Ok(Self { body, call })
    }

    /// Returns the body of a response. One without messages, such as that of a call that failed, has
    /// nothing that rules about its messages could read.
    pub(crate) fn of_response(body: Cow<'b, [u8]>, call: Option<Call<'m, 'b>>) -> Self {
        Self { body, call: call.filter(|(_, messages)| !messages.is_empty()) }
    }

    /// Returns what each run of the phase reads: there is one for each message, and at least one.
    pub(crate) fn reads(&self) -> impl Iterator<Item = BodyRead<'_>> {
        let messages = self.call.as_ref().map_or(&[][..], |(_, messages)| messages);
        (0..messages.len().max(1)).map(|index| BodyRead {
            body: &self.body,
            call: self.call.as_ref().map(|(method, _)| (*method, messages.get(index).map(|message| &**message))),
        })
    }
}

/// What one run of the phase reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyRead<'r> {
    /// The whole body.
    pub(crate) body: &'r [u8],
    /// The method that is called, if rules read its messages, and the message; there is none in a
    /// stream without messages.
    pub(crate) call: Option<(&'r RuledMethod, Option<&'r [u8]>)>,
}

/// Most messages in a body: the rules run for each of them.
const MAX_MESSAGES: usize = 1_024;

/// Most bytes that these runs read together, if each reads the whole body.
const MAX_READ: usize = 256 << 20;

/// Returns the messages of a whole body, decoded; they have at most `limit` bytes together.
///
/// # Errors
/// The body is no sequence of frames, or of several where the method has one message, or a message
/// can't be decoded.
pub(crate) fn messages<'b>(
    method: &RuledMethod,
    headers: &HeaderMap,
    mut body: &'b [u8],
    limit: usize,
) -> Result<Vec<Cow<'b, [u8]>>, CallRefusal> {
    let (mut found, mut left, mut made) = (Vec::new(), limit, None);
    let whole = body.len();
    while let Some((is_compressed, message)) = take_frame(&mut body, limit)? {
        if found.len() >= MAX_MESSAGES {
            return Err(CallRefusal::too_large("the body has more than 1,024 messages"));
        }
        if !method.streams && !found.is_empty() {
            return Err(CallRefusal::invalid("the method has one message, and the body has more"));
        }
        let message = if is_compressed {
            let decoder = match &mut made {
                Some(decoder) => decoder,
                None => made.insert(decoder(headers)?),
            };
            Cow::Owned(decoder.decode(message, left)?)
        } else {
            Cow::Borrowed(message)
        };
        left = left.saturating_sub(message.len());
        found.push(message);
    }
    if found.len() > 1 && found.len().saturating_mul(whole) > MAX_READ {
        return Err(CallRefusal::too_large("the body has too many messages for its size"));
    }
    Ok(found)
}

/// Returns what decodes the messages of a call.
pub(crate) fn decoder<R: BufRead + Default>(headers: &HeaderMap) -> Result<MessageDecoder<R>, CallRefusal> {
    let Some(name) = only(headers, &ENCODING) else {
        return Err(CallRefusal::invalid("a message is compressed, and there is no single grpc-encoding"));
    };
    match name.trim_ascii() {
        b"gzip" => Ok(MessageDecoder::gzip()),
        b"deflate" => Ok(MessageDecoder::deflate()),
        b"identity" => Err(CallRefusal::invalid("a message is compressed, and grpc-encoding is identity")),
        _ => Err(CallRefusal::unsupported("the grpc-encoding is neither gzip nor deflate")),
    }
}

impl From<DecodeError> for CallRefusal {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::TooLarge => Self::too_large("the decoded messages are larger than the limit"),
            DecodeError::Unknown | DecodeError::Damaged => Self::invalid("a message is not in its grpc-encoding"),
        }
    }
}
