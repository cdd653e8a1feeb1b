//! What a rule does when it matches, compiled. `phases/phase.rs` decides when.
//!
//! Invariant: the text of an expression becomes a header only if it has no line break. A header that can not be set is
//! removed. Test: `runtime/adapters/policy/tests/policy/failures.rs::values_that_break_lines_never_become_headers`.

use crate::host::edits::{Edit, Edits};
use crate::host::outcome::PolicyAnswer;
use crate::host::values::{to_body, to_json};
use crate::rules::action_failure::{ActionFailure, ActionPart, WhyFailed};
use bytes::Bytes;
use celero::http::HeaderSet;
use celero::{Context, ErrorKind, Program, Scratch, Value};
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
            Self::Computed(_) => self.with_text(part, context, scratch, Bytes::copy_from_slice),
        }
    }

    /// Returns what `make` makes of the text of this part of an action, for callers that need no copy of the text.
    pub(crate) fn with_text<'r, C: Context<Static = S>, T>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
        make: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(text) => Ok(make(text)),
            Self::Computed(program) => {
                let made = computed(program, context, scratch, |text| Some(make(text)));
                made.map_err(|why| ActionFailure { part, program: Some(program), why })
            }
        }
    }
}

impl<S: Context + 'static> HeaderTemplate<S> {
    fn program(&self) -> Option<&Program<S>> {
        match self {
            Self::Fixed(_) => None,
            Self::Computed(program) => Some(program),
        }
    }

    /// Returns the value for this part of an action.
    pub(crate) fn value<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<HeaderValue, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Computed(program) => {
                let value = computed(program, context, scratch, field_value);
                value.map_err(|why| ActionFailure { part, program: Some(program), why })
            }
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
            Self::Computed(program) => {
                let json = match program.eval(context, scratch) {
                    Ok(Value::Optional(None)) => Ok(None),
                    Ok(value) => to_json(&value).map(Some).ok_or(WhyFailed::Invalid),
                    Err(error) => Err(WhyFailed::Error(error)),
                };
                json.map_err(|why| ActionFailure { part, program: Some(program), why })
            }
            Self::Text(program) => {
                let text = |text: &[u8]| Some(Some(Json::String(String::from_utf8_lossy(text).into_owned())));
                match computed(program, context, scratch, text) {
                    // In the filter language a missing value is no failure.
                    Err(WhyFailed::Error(error)) if error.kind == ErrorKind::NoSuchKey => Ok(None),
                    Err(why) => Err(ActionFailure { part, program: Some(program), why }),
                    Ok(json) => Ok(json),
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
        let body = match program.eval(context, scratch) {
            Ok(Value::String(text)) => Ok(Bytes::copy_from_slice(text.as_bytes())),
            Ok(Value::Bytes(bytes)) => Ok(Bytes::copy_from_slice(bytes)),
            Ok(Value::Optional(None)) => Err(WhyFailed::Invalid),
            Ok(value) => to_body(&value).map(|json| json.to_string().into()).ok_or(WhyFailed::Invalid),
            Err(error) => Err(WhyFailed::Error(error)),
        };
        body.map_err(|why| ActionFailure { part, program: Some(program), why })
    }
}

/// Evaluates an expression and converts its text.
fn computed<S: Context + 'static, C: Context<Static = S>, T>(
    program: &Program<S>,
    context: &C,
    scratch: &mut Scratch,
    make: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<T, WhyFailed> {
    match program.eval(context, scratch).map_err(WhyFailed::Error)? {
        Value::String(text) => make(text.as_bytes()).ok_or(WhyFailed::Invalid),
        // The text of the filter language.
        Value::Bytes(text) => make(text).ok_or(WhyFailed::Invalid),
        _ => Err(WhyFailed::Invalid),
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
                let (part, invalid) = (ActionPart::SetHeader(&HOST), WhyFailed::Invalid);
                let value = words.value(part, context, scratch)?;
                let value = canonical_host(value.as_bytes());
                let value = value.ok_or(ActionFailure { part, program: words.program(), why: invalid })?;
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
