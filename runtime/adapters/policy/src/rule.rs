//! What a rule does, compiled. It says nothing of when it does so.

use crate::edits::{Edit, Edits};
use crate::outcome::Answer;
use crate::values::to_json;
use bytes::Bytes;
use celero::http::HeaderSet;
use celero::{Context, Program, Scratch, Value};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value as Json;
use std::sync::Arc;

/// Things with names, in the order of the file.
pub(crate) type Named<T> = Box<[(Arc<str>, T)]>;

/// A rule's name and what it does.
#[derive(Debug)]
pub(crate) struct Rule<S> {
    pub(crate) name: Arc<str>,
    /// The share of requests for which it acts.
    pub(crate) sample: Option<f64>,
    pub(crate) edits: Box<[HeaderEdit<S>]>,
    pub(crate) labels: Named<Words<S>>,
    pub(crate) fields: Named<Field<S>>,
    pub(crate) counter: Option<usize>,
    pub(crate) end: Option<End<S>>,
}

/// A change of headers.
#[derive(Debug)]
pub(crate) enum HeaderEdit<S> {
    Set(HeaderName, HeaderWords<S>),
    Add(HeaderName, HeaderWords<S>),
    Remove(HeaderName),
    RemoveSet(Box<HeaderSet>),
}

/// How a rule ends a phase.
#[derive(Debug)]
pub(crate) enum End<S> {
    Allow,
    Deny(Reply<S>),
    /// Any other answer.
    Answer(Reply<S>),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply<S> {
    pub(crate) status: StatusCode,
    pub(crate) headers: Box<[(HeaderName, HeaderWords<S>)]>,
    pub(crate) body: Words<S>,
}

/// Text that is fixed or the value of an expression.
#[derive(Debug)]
pub(crate) enum Words<S> {
    Fixed(Bytes),
    Computed(Program<S>),
}

/// The value of a header.
#[derive(Debug)]
pub(crate) enum HeaderWords<S> {
    Fixed(HeaderValue),
    Computed(Program<S>),
}

/// The value of a field of a log entry.
#[derive(Debug)]
pub(crate) enum Field<S> {
    Fixed(Json),
    Computed(Program<S>),
}

/// An expression had no value, or one that has no place where it was to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

/// Whether a header says how a message is framed, or belongs to one connection: the host's, not a policy's.
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

impl<S: Context + 'static> Words<S> {
    pub(crate) fn text<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<Bytes, Failed> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Computed(program) => computed(program, context, scratch, |text| Some(Bytes::copy_from_slice(text))),
        }
    }
}

impl<S: Context + 'static> HeaderWords<S> {
    pub(crate) fn value<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<HeaderValue, Failed> {
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
        }
    }
}

/// The text of an expression, made into what is asked for.
fn computed<S: Context + 'static, C: Context<Static = S>, T>(
    program: &Program<S>,
    context: &C,
    scratch: &mut Scratch,
    make: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<T, Failed> {
    match program.eval(context, scratch) {
        Ok(Value::String(text)) => make(text.as_bytes()).ok_or(Failed),
        _ => Err(Failed),
    }
}

impl<S: Context + 'static> HeaderEdit<S> {
    /// Adds what is to be done. A header that can't be set is removed, so that none of a client stands in for it.
    pub(crate) fn collect<C: Context<Static = S>>(
        &self,
        context: &C,
        headers: &HeaderMap,
        edits: &mut Edits,
        scratch: &mut Scratch,
    ) -> Result<(), Failed> {
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

impl<S: Context + 'static> Reply<S> {
    /// The answer. Headers that have no value are left out, and so is such a body.
    ///
    /// # Errors
    /// Beside the answer without that header or body.
    pub(crate) fn answer<C: Context<Static = S>>(
        &self,
        context: &C,
        rule: &Arc<str>,
        scratch: &mut Scratch,
    ) -> (Answer, Result<(), Failed>) {
        let mut answer = Answer::empty(self.status, rule);
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
