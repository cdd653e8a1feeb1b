//! The actions `setBody` and `patchBody` of a rule.
//!
//! Invariant: a message whose body a rule was to change is never sent with the old body: if the change fails, the phase
//! ends with an answer. Test: `runtime/adapters/policy/tests/policy/body_changes.rs::a_body_that_fails_goes_nowhere`.

use crate::bodies::json_patch::{JsonDocument, PatchOperation};
use crate::bodies::unchangeable::Unchangeable;
use crate::host::body_edit::BodyEdit;
use crate::rules::action_failure::{ActionFailure, ActionPart, WhyFailed};
use crate::rules::actions::{Field, NamedList};
use celero::{Context, Scratch};
use http::HeaderMap;
use serde_json::Value as Json;

/// How a rule changes a body.
#[derive(Debug)]
pub(crate) enum BodyChange<S> {
    /// The body is this text, or this value as JSON.
    Text(Field<S>),
    /// The body is this value as JSON.
    Json(JsonTemplate<S>),
    /// Members of a JSON object are set and removed (RFC 7396).
    Merge(JsonTemplate<S>),
    /// Places of a JSON document are changed (RFC 6902).
    Patch(Box<[PatchOperation<JsonTemplate<S>>]>),
}

/// A JSON value in which texts may be computed.
#[derive(Debug)]
pub(crate) enum JsonTemplate<S> {
    Value(Field<S>),
    List(Box<[Self]>),
    Map(NamedList<Self>),
}

/// What becomes of a member whose value is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbsentMember {
    /// It is left out.
    LeftOut,
    /// It is `null`, so that a merge patch removes the member which the message has.
    Null,
}

/// A message as the actions of rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'m> {
    pub(crate) headers: &'m HeaderMap,
    /// In the phases that read bodies.
    pub(crate) body: Option<MessageBody<'m>>,
}

/// A body that rules may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageBody<'m> {
    /// The body, decoded.
    pub(crate) bytes: &'m [u8],
    /// The largest body that it may become, in bytes.
    pub(crate) most: usize,
    /// Why it must stay as it is.
    pub(crate) fixed: Option<Unchangeable>,
}

impl<'m> Message<'m> {
    /// Returns a message whose body no rule reads.
    pub(crate) fn head(headers: &'m HeaderMap) -> Self {
        Self { headers, body: None }
    }
}

impl<S: Context + 'static> BodyChange<S> {
    /// Changes the body of this message. `edit` has the changes of earlier rules.
    ///
    /// # Errors
    /// The body stays as it is: a message must not go on with a body that a rule was to replace.
    pub(crate) fn collect<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        message: Message<'_>,
        edit: &mut BodyEdit,
        scratch: &mut Scratch,
    ) -> Result<(), ActionFailure<'r, S>> {
        let Some(body) = message.body else { return Ok(()) };
        let part = match self {
            Self::Text(_) | Self::Json(_) => ActionPart::SetBody,
            Self::Merge(_) | Self::Patch(_) => ActionPart::PatchBody,
        };
        let failed = |part, why| ActionFailure { part, program: None, why: WhyFailed::Body(why) };
        let patch_failed = |part, error| failed(part, Unchangeable::Patch(error));
        if let Some(why) = body.fixed {
            return Err(failed(part, why));
        }
        let before = edit.bytes().cloned();
        let before = before.as_deref().unwrap_or(body.bytes);
        let changed = match self {
            Self::Text(text) => text.body(part, context, scratch)?,
            Self::Json(value) => {
                let value = value.json(AbsentMember::LeftOut, part, context, scratch)?;
                value.unwrap_or_default().to_string().into()
            }
            Self::Merge(patch) => {
                let patch = match patch.json(AbsentMember::Null, part, context, scratch)? {
                    Some(Json::Object(members)) => members,
                    _ => serde_json::Map::new(),
                };
                let mut document = JsonDocument::read(before, body.most).map_err(|error| patch_failed(part, error))?;
                document.merge(patch).and_then(|()| document.text()).map_err(|error| patch_failed(part, error))?.into()
            }
            Self::Patch(operations) => {
                let mut document = JsonDocument::read(before, body.most).map_err(|error| patch_failed(part, error))?;
                for (index, operation) in operations.iter().enumerate() {
                    let part = ActionPart::PatchOperation(index.saturating_add(1));
                    let value = operation.value();
                    let value = value.map(|value| value.json(AbsentMember::LeftOut, part, context, scratch));
                    let value = value.transpose()?;
                    let value = match value {
                        Some(None) => return Err(ActionFailure::invalid(part)),
                        Some(Some(value)) => value,
                        None => Json::Null,
                    };
                    document.apply(operation, &value).map_err(|error| patch_failed(part, error))?;
                }
                document.text().map_err(|error| patch_failed(part, error))?.into()
            }
        };
        if changed.len() > body.most {
            return Err(failed(part, Unchangeable::TooLarge));
        }
        edit.set(changed);
        Ok(())
    }
}

impl<S: Context + 'static> JsonTemplate<S> {
    /// Returns the value; `None` for an absent optional.
    fn json<'r, C: Context<Static = S>>(
        &'r self,
        absent_member: AbsentMember,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Json>, ActionFailure<'r, S>> {
        match self {
            Self::Value(value) => value.json(part, context, scratch),
            Self::List(elements) => {
                let absent = || ActionFailure::invalid(part);
                // A merge patch takes arrays as they are: nothing in them is merged, so nothing is to be removed.
                let inner = AbsentMember::LeftOut;
                let elements =
                    elements.iter().map(|element| element.json(inner, part, context, scratch)?.ok_or_else(absent));
                elements.collect::<Result<Vec<_>, _>>().map(|elements| Some(Json::Array(elements)))
            }
            Self::Map(members) => {
                let mut object = serde_json::Map::new();
                for (name, value) in members {
                    let value = value.json(absent_member, part, context, scratch)?;
                    if let Some(value) = value.or((absent_member == AbsentMember::Null).then_some(Json::Null)) {
                        object.insert(name.to_string(), value);
                    }
                }
                Ok(Some(Json::Object(object)))
            }
        }
    }
}
