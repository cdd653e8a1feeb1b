//! Spans and events for the host's `tracing` subscriber, with the feature `tracing`: compiling and
//! changing rules, never an evaluation.
//!
//! - A subscriber is code of the host: no lock is held while it runs.
//! - Without the feature the macros cost nothing: their values are not computed.

/// Enters a span until the end of the enclosing block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _entered = ::tracing::debug_span!(target: "celero", $name $(, $field = $value)*).entered();
        #[cfg(not(feature = "tracing"))]
        let _unused = || { $(let _ = &$value;)* };
    };
}

/// Emits an event.
macro_rules! event {
    ($level:ident, $message:literal $(, $field:ident = $value:expr)*) => {{
        #[cfg(feature = "tracing")]
        ::tracing::$level!(target: "celero", $($field = $value,)* $message);
        #[cfg(not(feature = "tracing"))]
        let _unused = || { $(let _ = &$value;)* };
    }};
}

pub(crate) use {event, span};
