//! Named lists: the section `lists`, and where entries come from.

pub(crate) mod entry_format;
pub(crate) mod fetch_url;
pub(crate) mod section;
pub(crate) mod source;
