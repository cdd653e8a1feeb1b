//! What editors and commands ask of a policy besides running it.

pub(crate) mod inspect;
pub(crate) mod layout;
pub(crate) mod outline;
pub(crate) mod places;
pub(crate) mod translation;
