//! What compiling and changing rules tells the host's `tracing` subscriber, if the feature `tracing` is on. Nothing that happens
//! for each request does.
//!
//! - A subscriber is the host's: none of these stands where a lock is held.
//! - Without the feature they cost nothing: the values are not even computed.

/// A span until the end of the block that it stands in.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _entered = ::tracing::debug_span!(target: "celero", $name $(, $field = $value)*).entered();
        #[cfg(not(feature = "tracing"))]
        let _unused = || { $(let _ = &$value;)* };
    };
}

/// Something that happened.
macro_rules! event {
    ($level:ident, $message:literal $(, $field:ident = $value:expr)*) => {{
        #[cfg(feature = "tracing")]
        ::tracing::$level!(target: "celero", $($field = $value,)* $message);
        #[cfg(not(feature = "tracing"))]
        let _unused = || { $(let _ = &$value;)* };
    }};
}

pub(crate) use {event, span};
