//! Functions of the host: closures that rules may call.

mod argument;
mod dispatch;
mod message;
mod named_lists;
mod outcome;
mod typed;

pub use argument::FromValue;
pub(crate) use dispatch::dispatch;
use message::in_parameter;
pub(crate) use message::{explain, explain_field, last_message, message_of, message_of_field};
pub(crate) use named_lists::{NamedLists, with_lists};
pub use outcome::IntoValue;
pub use typed::HostFunction;

use crate::arena::EvalResult;
use crate::library::Cx;
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::ErrorKind;
use celero_protobuf::Descriptors;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A function of the host, with its types erased.
pub type DynFunction = dyn for<'a> Fn(&Cx<'a>, &[Value<'a>]) -> EvalResult<Value<'a>> + Send + Sync;

/// The type of the result of `ip("..")`.
fn ip_type() -> Type {
    Type::Opaque("net.IP".into(), Arc::new([]))
}

#[derive(Clone)]
struct Entry {
    name: Arc<str>,
    params: Arc<[Type]>,
    pure: bool,
    call: Arc<DynFunction>,
}

/// The host's functions, by the index of their declaration, and its named lists.
#[derive(Clone, Default)]
pub struct Functions {
    entries: Vec<Entry>,
    lists: Option<NamedLists>,
    messages: Option<Descriptors>,
}

impl Functions {
    /// Adds a function; its index is the number of functions before it. Calls of one that is `pure` may be folded,
    /// shared and repeated.
    pub fn add(&mut self, name: &str, params: Arc<[Type]>, pure: bool, call: Arc<DynFunction>) {
        self.entries.push(Entry { name: name.into(), params, pure, call });
    }

    /// The parameter types of a function.
    #[must_use]
    pub fn params(&self, index: u32) -> Option<&[Type]> {
        self.entries.get(index as usize).map(|e| &*e.params)
    }

    /// Whether a function is pure, and its code.
    pub(crate) fn code(&self, index: u32) -> Option<(bool, Arc<DynFunction>)> {
        self.entries.get(index as usize).map(|entry| (entry.pure, Arc::clone(&entry.call)))
    }

    /// Whether equal calls of a function give equal results.
    #[must_use]
    pub fn is_pure(&self, index: u32) -> bool {
        self.entries.get(index as usize).is_some_and(|e| e.pure)
    }

    /// Whether one of them may be called while rules are compiled.
    pub(crate) fn has_pure(&self) -> bool {
        self.entries.iter().any(|entry| entry.pure)
    }

    /// Sets the lists that rules may ask.
    pub(crate) fn set_lists(&mut self, lists: NamedLists) {
        self.lists = Some(lists);
    }

    /// The lists that rules may ask.
    pub(crate) fn lists(&self) -> Option<&NamedLists> {
        self.lists.as_ref()
    }

    /// Sets the types of messages.
    pub(crate) fn set_messages(&mut self, types: Descriptors) {
        self.messages = Some(types);
    }

    /// The types of messages that rules may name.
    pub(crate) fn messages(&self) -> Option<&Descriptors> {
        self.messages.as_ref()
    }

    /// Whether these are the same functions and lists: the same closures, in the same order.
    pub(crate) fn are(&self, other: &Self) -> bool {
        let same = |(one, other): (&Entry, &Entry)| Arc::ptr_eq(&one.call, &other.call);
        NamedLists::are_same(self.lists(), other.lists())
            && self.messages == other.messages
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(same)
    }

    /// Calls a function.
    ///
    /// # Errors
    /// What the function fails with; `host` when it panics; `no_such_overload` when there is no
    /// such function or it does not take these arguments.
    pub fn call<'a>(&self, index: u32, cx: &Cx<'a>, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let entry = self.entries.get(index as usize).ok_or(ErrorKind::NoSuchOverload)?;
        // Native code cannot be unwound through, so a panic of the host ends here, in both tiers alike.
        let called = contained(|| match (entry.call)(cx, args) {
            Err(ErrorKind::Unknown) if !cx.is_partial() => {
                explain(&"it has no answer yet");
                Err(ErrorKind::Host)
            }
            result => result,
        });
        if let Err(()) | Ok(Err(ErrorKind::Host)) = called {
            message::keep(&entry.name, called.is_err());
        }
        called.unwrap_or(Err(ErrorKind::Host))
    }

    /// The name of a function.
    pub(crate) fn name(&self, index: u32) -> Option<&str> {
        self.entries.get(index as usize).map(|entry| &*entry.name)
    }
}

/// Runs the host's code; `Err` if it panics. Unwind safety: the only state of an evaluation that
/// the code can reach is the arena, and an object half-written there is not used by anybody else.
#[inline(always)]
pub(crate) fn contained<T>(body: impl FnOnce() -> T) -> Result<T, ()> {
    catch_unwind(AssertUnwindSafe(body)).map_err(discard)
}

#[cold]
fn discard(payload: Box<dyn Any + Send>) {
    // Dropping the panic's payload may panic again. The payload of that second panic is leaked.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| &e.name)).finish()
    }
}
