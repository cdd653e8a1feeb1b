//! Values of a host that implement `Serialize`, as maps that are converted when a rule reads them.

use crate::arena::{Arena, EvalResult};
use crate::value::{HostMap, Map, Value};
use celero_ir::ErrorKind;
use serde::Serialize;
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::fmt;

type Object = serde_json::Map<String, Json>;

/// A struct or a map of the host that implements `Serialize`, as a value of [`Bindings`](super::Bindings):
/// `map(string, dyn)`, with the members and the types that its JSON document has. With the features
/// `serde` and `serde_json`.
///
/// It is converted when a rule reads it for the first time, once, in memory of its own: an
/// evaluation that does not come to it costs nothing. Of what is no object as JSON, or can't be
/// serialized, each member is the evaluation error `host`, and the size is 1. A struct whose rules
/// are hot derives [`Context`](derive@crate::Context): that reads fields in place.
///
/// ```
/// use celero::host::Serialized;
/// use celero::{Bindings, Engine, Env, Type};
///
/// #[derive(serde::Serialize)]
/// struct Claims {
///     sub: String,
///     groups: Vec<String>,
/// }
///
/// let env = Env::dynamic().variable("claims", Type::map(Type::String, Type::Dyn));
/// let rule = Engine::new().compile(&env, "claims.sub == 'ann' && 'admins' in claims.groups")?;
/// let claims = Claims { sub: "ann".into(), groups: vec!["admins".into()] };
/// let claims = Serialized::new(&claims);
/// let mut bindings = Bindings::new(&env);
/// bindings.set("claims", &claims)?;
/// assert!(rule.test(&bindings)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Serialized<'a> {
    value: &'a dyn ToJson,
    /// `None` inside if it is no object.
    members: OnceCell<Option<Object>>,
}

trait ToJson {
    fn to_json(&self) -> serde_json::Result<Json>;
}

impl<T: Serialize> ToJson for T {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }
}

impl<'a> Serialized<'a> {
    /// Returns the value, not converted yet.
    #[must_use]
    pub fn new(value: &'a impl Serialize) -> Self {
        Self { value, members: OnceCell::new() }
    }

    fn members(&self) -> EvalResult<&Object> {
        let convert = || match self.value.to_json() {
            Ok(Json::Object(members)) => Some(members),
            Ok(_) | Err(_) => None,
        };
        self.members.get_or_init(convert).as_ref().ok_or(ErrorKind::Host)
    }
}

impl<'v> From<&'v Serialized<'_>> for Value<'v> {
    fn from(serialized: &'v Serialized<'_>) -> Self {
        Value::Map(Map::Host(serialized))
    }
}

impl HostMap for Serialized<'_> {
    fn len(&self) -> usize {
        // What reads the entries meets the error; and no rule takes it for an empty map.
        self.members().map_or(1, Object::len)
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        HostMap::get(self.members()?, key, arena)
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        HostMap::entry(self.members()?, index, arena)
    }

    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        HostMap::entries(self.members()?, arena)
    }
}

/// Whether it has been converted, and its members.
impl fmt::Debug for Serialized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Serialized").field(&self.members.get()).finish()
    }
}
