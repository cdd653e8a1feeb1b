//! What functions of the host say about their failures, those of fields included.
//!
//! An evaluation error is a kind and a place. The message of a function that fails is kept aside,
//! on the thread of the evaluation, for the report of that error: the last one of each function that
//! rules call. What the function of a field says is kept only while a report reads that field again.

use celero_ir::ErrorKind;
use std::cell::RefCell;
use std::fmt::{self, Display, Write};
use std::sync::Arc;

/// Longest message in bytes; longer ones are cut.
const LONGEST: usize = 512;

/// Most functions whose messages are kept.
const FUNCTIONS: usize = 16;

#[derive(Default)]
struct Messages {
    /// Of the function that is failing.
    current: Option<Box<str>>,
    /// Of the functions that failed, the last one at the end.
    kept: Vec<(Arc<str>, Box<str>)>,
    /// Whether a report reads a field.
    reads_field: bool,
    /// What the function of that field says.
    of_field: Option<Box<str>>,
}

thread_local! {
    static MESSAGES: RefCell<Messages> = const { RefCell::new(Messages { current: None, kept: Vec::new(), reads_field: false, of_field: None }) };
}

/// Takes the message of a function that is about to fail.
#[cold]
pub(crate) fn explain(message: &dyn Display) {
    // The host's code is not run while the messages are borrowed: it may evaluate rules.
    let text = clipped(message);
    with(|messages| messages.current = Some(text));
}

/// Puts the parameter before the message of an argument that does not fit. Returns the error.
#[cold]
pub(super) fn in_parameter(number: usize, kind: ErrorKind) -> ErrorKind {
    if kind == ErrorKind::Host {
        with(|messages| {
            if let Some(needed) = messages.current.take() {
                messages.current = Some(format!("parameter {number} takes {needed}").into());
            }
        });
    }
    kind
}

/// Keeps the message of a function that has failed.
#[cold]
pub(super) fn keep(function: &Arc<str>, panicked: bool) {
    with(|messages| {
        let said = messages.current.take();
        let message = if panicked { Some("it panicked".into()) } else { said };
        messages.kept.retain(|(name, _)| name != function);
        if messages.kept.len() >= FUNCTIONS {
            messages.kept.remove(0);
        }
        messages.kept.push((Arc::clone(function), message.unwrap_or_default()));
    });
}

/// Keeps the message of the function of a field that has failed, if a report reads it. Returns the error.
#[cold]
pub(crate) fn explain_field(message: &dyn Display) -> ErrorKind {
    if with(|messages| messages.reads_field) == Some(true) {
        let text = clipped(message);
        with(|messages| messages.of_field = Some(text));
    }
    ErrorKind::Host
}

/// Reads a field for a report. Returns what its function says about its failure.
pub(crate) fn message_of_field(read: impl FnOnce()) -> Option<Box<str>> {
    with(|messages| (messages.reads_field, messages.of_field) = (true, None));
    read();
    with(|messages| {
        messages.reads_field = false;
        messages.of_field.take()
    })
    .flatten()
    .filter(|text| !text.is_empty())
}

/// What the function that failed last on this thread says.
pub(crate) fn last_message() -> Option<Box<str>> {
    with(|messages| messages.kept.last().map(|(_, message)| message.clone())).flatten().filter(|text| !text.is_empty())
}

/// What a function says about its last failure on this thread.
pub(crate) fn message_of(function: &str) -> Option<Box<str>> {
    let found = |messages: &mut Messages| {
        messages.kept.iter().find(|(name, _)| **name == *function).map(|(_, message)| message.clone())
    };
    with(found).flatten().filter(|text| !text.is_empty())
}

fn with<R>(f: impl FnOnce(&mut Messages) -> R) -> Option<R> {
    MESSAGES.try_with(|messages| messages.try_borrow_mut().ok().map(|mut messages| f(&mut messages))).ok().flatten()
}

/// The text on one line, cut if it is long.
fn clipped(message: &dyn Display) -> Box<str> {
    let mut text = Clipped(String::new());
    // Fails where the text is full, or where the host's `Display` does: what there is counts.
    let _ = write!(text, "{message}");
    text.0.into()
}

struct Clipped(String);

impl Write for Clipped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if self.0.len() >= LONGEST {
                self.0.push('…');
                return Err(fmt::Error);
            }
            self.0.push(if c.is_control() { ' ' } else { c });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_of_each_function_is_kept() {
        let names: Vec<Arc<str>> = (0..20).map(|n| format!("f{n}").into()).collect();
        for (n, name) in names.iter().enumerate() {
            explain(&format!("{n} is\nodd"));
            keep(name, false);
        }
        assert_eq!(last_message().as_deref(), Some("19 is odd"));
        assert_eq!(message_of("f7").as_deref(), Some("7 is odd"));
        assert_eq!(message_of("f3"), None, "the oldest are dropped");
        keep(&names[7], true);
        assert_eq!(message_of("f7").as_deref(), Some("it panicked"));
        explain(&"x".repeat(10_000));
        keep(&names[0], false);
        assert!(message_of("f0").is_some_and(|text| text.len() < 520 && text.ends_with('…')));
        keep(&names[0], false);
        assert_eq!(message_of("f0"), None, "a failure without a message has not that of the last");
    }
}
