//! What a rule does when it matches, compiled. `phase.rs` decides when.

use crate::edits::{Edit, Edits};
use crate::outcome::PolicyAnswer;
use crate::values::to_json;
use bytes::Bytes;
use celero::http::HeaderSet;
use celero::{Context, Program, Scratch, Value};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value as Json;
use std::sync::Arc;

/// Named items, in the order of the file.
pub(crate) type NamedList<T> = Box<[(Arc<str>, T)]>;

/// A rule without its condition.
#[derive(Debug)]
pub(crate) struct Rule<S> {
    pub(crate) name: Arc<str>,
    /// The share of matching requests for which it acts.
    pub(crate) sample: Option<f64>,
    pub(crate) edits: Box<[HeaderEdit<S>]>,
    pub(crate) labels: NamedList<TextTemplate<S>>,
    pub(crate) fields: NamedList<Field<S>>,
    pub(crate) counter: Option<usize>,
    pub(crate) end: Option<PhaseEnd<S>>,
}

impl<S> Rule<S> {
    /// Returns whether the rule is a guard: it keeps a message back, by `deny` or by an answer of status 300 or more.
    pub(crate) fn is_guard(&self) -> bool {
        match &self.end {
            Some(PhaseEnd::Deny(_)) => true,
            Some(PhaseEnd::Respond(answer)) => answer.status.as_u16() >= 300,
            Some(PhaseEnd::Allow) | None => false,
        }
    }

    /// Returns whether the rule answers that the server has too much to do: with status 429 or 503.
    pub(crate) fn sheds_load(&self) -> bool {
        match &self.end {
            Some(PhaseEnd::Deny(answer) | PhaseEnd::Respond(answer)) => matches!(answer.status.as_u16(), 429 | 503),
            Some(PhaseEnd::Allow) | None => false,
        }
    }
}

/// A change of a header.
#[derive(Debug)]
pub(crate) enum HeaderEdit<S> {
    Set(HeaderName, HeaderTemplate<S>),
    Add(HeaderName, HeaderTemplate<S>),
    Remove(HeaderName),
    RemoveSet(Box<HeaderSet>),
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

/// A value of a log field that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum Field<S> {
    Fixed(Json),
    Computed(Program<S>),
    /// A program whose result is text.
    Text(Program<S>),
}

/// An expression of an action failed, or its value is not valid where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActionFailed;

/// Returns whether a header belongs to one connection or frames the message. Only the host changes these (RFC 9110, section 7.6.1).
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
    pub(crate) fn text<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Bytes, ActionFailed> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Computed(program) => computed(program, context, scratch, |text| Some(Bytes::copy_from_slice(text))),
        }
    }
}

impl<S: Context + 'static> HeaderTemplate<S> {
    pub(crate) fn value<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<HeaderValue, ActionFailed> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Computed(program) => computed(program, context, scratch, |text| HeaderValue::from_bytes(text).ok()),
        }
    }
}

impl<S: Context + 'static> Field<S> {
    pub(crate) fn json<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Option<Json> {
        match self {
            Self::Fixed(json) => Some(json.clone()),
            Self::Computed(program) => to_json(&program.eval(context, scratch).ok()?),
            Self::Text(program) => {
                let text = |text: &[u8]| Some(Json::String(String::from_utf8_lossy(text).into_owned()));
                computed(program, context, scratch, text).ok()
            }
        }
    }
}

/// Evaluates an expression and converts its text.
fn computed<S: Context + 'static, C: Context<Static = S>, T>(
    program: &Program<S>,
    context: &C,
    scratch: &mut Scratch,
    make: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<T, ActionFailed> {
    match program.eval(context, scratch) {
        Ok(Value::String(text)) => make(text.as_bytes()).ok_or(ActionFailed),
        // The text of the filter language.
        Ok(Value::Bytes(text)) => make(text).ok_or(ActionFailed),
        _ => Err(ActionFailed),
    }
}

impl<S: Context + 'static> HeaderEdit<S> {
    /// Adds the edit for this message to `edits`. A header whose value fails is removed, so that a value from the client never passes
    /// for the policy's.
    pub(crate) fn collect<C: Context<Static = S>>(
        &self,
        context: &C,
        headers: &HeaderMap,
        edits: &mut Edits,
        scratch: &mut Scratch,
    ) -> Result<(), ActionFailed> {
        match self {
            Self::Set(name, words) => match words.value(context, scratch) {
                Ok(value) => edits.push(Edit::Set { name: name.clone(), value }),
                Err(failed) => {
                    edits.push(Edit::Remove { name: name.clone() });
                    return Err(failed);
                }
            },
            Self::Add(name, words) => {
                edits.push(Edit::Add { name: name.clone(), value: words.value(context, scratch)? });
            }
            Self::Remove(name) => edits.push(Edit::Remove { name: name.clone() }),
            Self::RemoveSet(set) => {
                let earlier: Vec<HeaderName> = edits.names_given().filter(|name| set.contains(name)).cloned().collect();
                for name in set.find(headers).chain(&earlier).filter(|name| !is_framing(name)) {
                    edits.push(Edit::Remove { name: name.clone() });
                }
            }
        }
        Ok(())
    }
}

impl<S: Context + 'static> AnswerTemplate<S> {
    /// Returns the answer. Headers whose values fail are left out, and so is a body that fails.
    /// The second value reports such a failure.
    pub(crate) fn answer<C: Context<Static = S>>(
        &self,
        context: &C,
        rule: &Arc<str>,
        scratch: &mut Scratch,
    ) -> (PolicyAnswer, Result<(), ActionFailed>) {
        let mut answer = PolicyAnswer::empty(self.status, rule);
        let mut done = Ok(());
        for (name, words) in &self.headers {
            match words.value(context, scratch) {
                Ok(value) => drop(answer.headers.append(name, value)),
                Err(failed) => done = Err(failed),
            }
        }
        match self.body.text(context, scratch) {
            Ok(body) => answer.body = body,
            Err(failed) => done = Err(failed),
        }
        (answer, done)
    }
}
