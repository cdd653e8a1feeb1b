//! Values that borrow nothing.

#[cfg(feature = "serde")]
mod serde;

use crate::accessors::kept::KeptValue;
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A value of any CEL type that borrows nothing: it can be returned from a function, sent to another
/// thread and kept over an `.await`. [`Value::to_owned`] makes it. Cheap to clone: clones share
/// their memory.
///
/// [`as_value`](Self::as_value) gives the value back, for `match` and for [`Bindings`](crate::Bindings).
/// Its lists are [`List::Slice`](crate::values::List::Slice) and its maps
/// [`Map::Sorted`](crate::values::Map::Sorted). Two owned values are equal if CEL says so: `1`, `1u` and
/// `1.0` are equal, NaN is not equal to itself. `Display` writes CEL source, as that of
/// [`Value`] does.
///
/// ```
/// use celero::{Bindings, Engine, Env, OwnedValue, Scratch, Type, Value};
///
/// fn greeting(name: &str) -> Result<OwnedValue, Box<dyn std::error::Error>> {
///     let env = Env::dynamic().variable("name", Type::String);
///     let program = Engine::new().compile(&env, "{'text': 'Hello ' + name, 'words': 2}")?;
///     let mut bindings = Bindings::new(&env);
///     bindings.set("name", name)?;
///     let mut scratch = Scratch::new();
///     Ok(program.eval(&bindings, &mut scratch)?.to_owned()?)
/// }
///
/// let value = greeting("Ada")?;
/// assert_eq!(value.to_string(), r#"{"text": "Hello Ada", "words": 2}"#);
/// assert!(matches!(value.as_value(), Value::Map(map) if map.len() == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # With the feature `serde`
///
/// It is written, as [`Value`] is, in the JSON mapping of protocol buffers, but with integers as
/// numbers, as the function `toJson` of rules writes:
///
/// | value | written as |
/// |---|---|
/// | `null`, `bool`, `string` | the same |
/// | `int`, `uint` | an integer of 64 bits |
/// | `double` | a number; the text `"NaN"`, `"Infinity"` or `"-Infinity"` |
/// | `bytes` | text in base64, with padding |
/// | timestamp, duration | text: `"2026-01-02T03:04:05.5Z"`, `"1.5s"` |
/// | list | a sequence |
/// | map | a map whose keys are text, in their order; keys that are numbers or bools as text |
/// | optional | what it holds, or null |
/// | type, address, network | its name or text |
///
/// A map with two keys of the same text (`1` and `"1"`) is an error.
///
/// It is read from every format that describes itself, such as JSON: whole numbers are `int`, or
/// `uint` if they do not fit; texts stay texts, so that a duration does not come back as one. Reading
/// takes at most 64 MiB.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use celero::OwnedValue;
///
/// let value: OwnedValue = serde_json::from_str(r#"{"n": 18446744073709551615, "tags": ["a"]}"#).unwrap();
/// assert_eq!(value.to_string(), r#"{"n": 18446744073709551615u, "tags": ["a"]}"#);
/// assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"n":18446744073709551615,"tags":["a"]}"#);
/// # }
/// ```
#[derive(Clone)]
pub struct OwnedValue(Arc<KeptValue>);

impl OwnedValue {
    /// The most memory of a copy that [`Value::to_owned`] makes, in bytes.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Returns the value.
    #[must_use]
    #[inline]
    pub fn as_value(&self) -> Value<'_> {
        self.0.get()
    }
}

impl Value<'_> {
    /// Returns a copy that borrows nothing, of at most [`OwnedValue::MAX_BYTES`] (64 MiB). Lists and
    /// maps of the host are read to their last element.
    ///
    /// # Errors
    /// `out_of_budget` for a larger copy, or beyond 512 levels of nesting; `invalid_argument` for a
    /// list with fewer elements than its length; `duplicate_key` and `no_such_overload` for a map
    /// with equal keys, or with a key that is not `bool`, `int`, `uint` or `string`; otherwise what a
    /// list or map of the host fails with.
    // By reference: the method of `ToOwned`, which only copies a `Value`, would be found on a `&Value` first.
    pub fn to_owned(&self) -> EvalResult<OwnedValue> {
        self.to_owned_within(OwnedValue::MAX_BYTES)
    }

    /// Returns a copy that borrows nothing, of at most about `bytes` bytes. A rule can make a small
    /// value whose copy would be large: a list that has the same text in it many times.
    ///
    /// # Errors
    /// Those of [`to_owned`](Self::to_owned).
    pub fn to_owned_within(&self, bytes: usize) -> EvalResult<OwnedValue> {
        KeptValue::new(self, bytes).map(|kept| OwnedValue(Arc::new(kept)))
    }
}

impl<'a> From<&'a OwnedValue> for Value<'a> {
    #[inline]
    fn from(owned: &'a OwnedValue) -> Self {
        owned.as_value()
    }
}

impl fmt::Debug for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_value(), f)
    }
}

impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_value(), f)
    }
}

impl PartialEq for OwnedValue {
    /// Returns whether CEL's `==` holds.
    fn eq(&self, other: &Self) -> bool {
        let arena = Arena::new(usize::MAX);
        // Comparing data without parts of a host fails only beyond the depth that a copy can have.
        self.as_value().equals(&other.as_value(), &Cx::new(i64::MAX, &arena)).unwrap_or(false)
    }
}
