//! What a rule does when it matches, compiled. `phases/phase.rs` decides when.
//!
//! Invariant: the text of an expression becomes a header only if it has no line break. A header that can not be set is
//! removed. Test: `runtime/adapters/policy/tests/policy/failures.rs::values_that_break_lines_never_become_headers`.

use crate::host::edits::{Edit, Edits};
use crate::host::outcome::PolicyAnswer;
use crate::host::values::{to_body, to_json};
use crate::rules::action_failure::{ActionFailure, ActionPart};
use bytes::Bytes;
use celero::http::HeaderSet;
use celero::{Context, Program, Scratch, Value};
use celero_canonical::{canonical_host, field_value};
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value as Json;
use std::sync::Arc;

/// Named items, in the order of the file.
pub(crate) type NamedList<T> = Box<[(Arc<str>, T)]>;

/// A change of a header.
#[derive(Debug)]
pub(crate) enum HeaderEdit<S> {
    Set(HeaderName, HeaderTemplate<S>),
    /// Sets the host of a request, in canonical form.
    SetHost(HeaderTemplate<S>),
    Add(HeaderName, HeaderTemplate<S>),
    Remove(HeaderName),
    RemoveSet(Arc<HeaderSet>),
}

/// How a rule ends a phase.
#[derive(Debug)]
pub(crate) enum PhaseEnd<S> {
    Allow,
    Deny(AnswerTemplate<S>),
    /// An answer that is not a denial.
    Respond(AnswerTemplate<S>),
}

/// An answer before its expressions are evaluated.
#[derive(Debug)]
pub(crate) struct AnswerTemplate<S> {
    pub(crate) status: StatusCode,
    pub(crate) headers: Box<[(HeaderName, HeaderTemplate<S>)]>,
    pub(crate) body: TextTemplate<S>,
}

/// Text that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum TextTemplate<S> {
    Fixed(Bytes),
    Computed(Program<S>),
}

/// A header value that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum HeaderTemplate<S> {
    Fixed(HeaderValue),
    Computed(Program<S>),
}

/// A value of a log field or of a body that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum Field<S> {
    Fixed(Json),
    Computed(Program<S>),
    /// A program in the filter language whose result is text.
    Text(Program<S>),
}

/// Returns whether a header belongs to one connection or frames the message. Only the host changes
/// these (RFC 9110, section 7.6.1).
pub(crate) fn is_framing(name: &HeaderName) -> bool {
    const NAMES: [&str; 8] = [
        "connection",
        "content-length",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.contains(&name.as_str())
}

impl<S: Context + 'static> TextTemplate<S> {
    /// Returns the text of this part of an action.
    pub(crate) fn text<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Bytes, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Computed(_) => self.with_text(part, context, scratch, |text| Some(Bytes::copy_from_slice(text))),
        }
    }

    /// Returns what `make` makes of the text of this part of an action, `None` of a text that is not valid there.
    pub(crate) fn with_text<'r, C: Context<Static = S>, T>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
        make: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(text) => make(text).ok_or(ActionFailure::invalid(part)),
            Self::Computed(program) => part.evaluate(program, context, scratch, |value| make(text_of(&value)?)),
        }
    }
}

impl<S: Context + 'static> HeaderTemplate<S> {
    /// Returns the value for this part of an action.
    pub(crate) fn value<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<HeaderValue, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Computed(program) => part.evaluate(program, context, scratch, |value| field_value(text_of(&value)?)),
        }
    }
}

impl<S: Context + 'static> Field<S> {
    /// Returns the value for this part of an action; `None` if it is an absent optional.
    pub(crate) fn json<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Json>, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(json) => Ok(Some(json.clone())),
            Self::Computed(program) => part.evaluate(program, context, scratch, |value| match value {
                Value::Optional(None) => Some(None),
                value => to_json(&value).map(Some),
            }),
            Self::Text(program) => {
                let text = |text: &[u8]| Some(Json::String(String::from_utf8_lossy(text).into_owned()));
                match part.evaluate(program, context, scratch, |value| text_of(&value).map(text)) {
                    // In the filter language a missing value is no failure.
                    Err(failure) if failure.why.is_missing() => Ok(None),
                    json => json,
                }
            }
        }
    }

    /// Returns the value as a body: text and bytes as they are, other values as JSON.
    pub(crate) fn body<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Bytes, ActionFailure<'r, S>> {
        let (Self::Computed(program) | Self::Text(program)) = self else {
            return Ok(match self {
                Self::Fixed(Json::String(text)) => Bytes::copy_from_slice(text.as_bytes()),
                Self::Fixed(json) => json.to_string().into(),
                Self::Computed(_) | Self::Text(_) => Bytes::new(),
            });
        };
        part.evaluate(program, context, scratch, |value| match value {
            Value::Optional(None) => None,
            value => match text_of(&value) {
                Some(text) => Some(Bytes::copy_from_slice(text)),
                None => to_body(&value).map(|json| json.to_string().into()),
            },
        })
    }
}

/// Returns the bytes of a text; those of the filter language are bytes.
fn text_of<'v>(value: &Value<'v>) -> Option<&'v [u8]> {
    match *value {
        Value::String(text) => Some(text.as_bytes()),
        Value::Bytes(text) => Some(text),
        _ => None,
    }
}

impl<S: Context + 'static> HeaderEdit<S> {
    /// Adds the edit for this message to `edits`. A header whose value fails is removed, so that a
    /// value from the client never passes for the policy's. A request can't lose its host, so a
    /// host that fails [ends the phase](Self::ends_phase).
    pub(crate) fn collect<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        headers: &HeaderMap,
        edits: &mut Edits,
        scratch: &mut Scratch,
    ) -> Result<(), ActionFailure<'r, S>> {
        match self {
            Self::Set(name, words) => match words.value(ActionPart::SetHeader(name), context, scratch) {
                Ok(value) => edits.push(Edit::Set { name: name.clone(), value }),
                Err(failed) => {
                    edits.push(Edit::Remove { name: name.clone() });
                    return Err(failed);
                }
            },
            Self::SetHost(words) => {
                let part = ActionPart::SetHeader(&HOST);
                let value = words.value(part, context, scratch)?;
                let value = canonical_host(value.as_bytes()).ok_or(ActionFailure::invalid(part))?;
                edits.push(Edit::Set { name: HOST, value });
            }
            Self::Add(name, words) => {
                let value = words.value(ActionPart::AddHeader(name), context, scratch)?;
                edits.push(Edit::Add { name: name.clone(), value });
            }
            Self::Remove(name) => edits.push(Edit::Remove { name: name.clone() }),
            Self::RemoveSet(set) => {
                let earlier: Vec<HeaderName> = edits.names_given().filter(|name| set.contains(name)).cloned().collect();
                for name in set.find(headers).chain(&earlier).filter(|name| !is_framing(name) && *name != HOST) {
                    edits.push(Edit::Remove { name: name.clone() });
                }
            }
        }
        Ok(())
    }
}

impl<S> HeaderEdit<S> {
    /// Returns whether the phase ends if this edit fails: a request must not reach a host that nobody chose.
    pub(crate) fn ends_phase(&self) -> bool {
        matches!(self, Self::SetHost(_))
    }
}

impl<S: Context + 'static> AnswerTemplate<S> {
    /// Returns the answer. Headers whose values fail are left out, and so is a body that fails.
    /// Adds these failures to `failures`.
    pub(crate) fn answer<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        rule: &Arc<str>,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> PolicyAnswer {
        let mut answer = PolicyAnswer::empty(self.status, rule);
        for (name, words) in &self.headers {
            match words.value(ActionPart::AnswerHeader(name), context, scratch) {
                Ok(value) => drop(answer.headers.append(name, value)),
                Err(failure) => failures.push(failure),
            }
        }
        match self.body.text(ActionPart::AnswerBody, context, scratch) {
            Ok(body) => answer.body = body,
            Err(failure) => failures.push(failure),
        }
        answer
    }
}
