//! Why the body of a message can't be changed.

use crate::bodies::json_patch::PatchError;

/// Why a body can't be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unchangeable {
    /// The body is a part of a larger one, or says nothing about its message.
    Partial,
    /// The message belongs to a call of gRPC, whose body is a sequence of messages.
    Grpc,
    /// The request has no body, and content has no meaning for its method.
    NoContent,
    /// The new body is larger than the limit of the phase.
    TooLarge,
    Patch(PatchError),
}

impl Unchangeable {
    /// Returns the words for a log.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Partial => "the body is only a part of a representation",
            Self::Grpc => "the body of a call of gRPC can't change",
            Self::NoContent => "the request has no body, and its method gives content no meaning",
            Self::TooLarge | Self::Patch(PatchError::TooLarge) => {
                "the new body, or what the patch adds, is larger than `limit` of the phase"
            }
            Self::Patch(PatchError::NotJson) => "the body is not JSON",
            Self::Patch(PatchError::Duplicate) => "an object that the patch changes has a name twice",
            Self::Patch(PatchError::OtherCase) => {
                "an object that the patch changes has a name that only differs in case from one of the patch"
            }
            Self::Patch(PatchError::Missing) => "there is nothing at this place of the body",
            Self::Patch(PatchError::TestFailed) => "the body has another value at this place",
        }
    }
}
