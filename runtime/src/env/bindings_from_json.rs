//! Bindings from a JSON document, with the feature `serde_json`.

use super::Env;
use super::bindings::{BindError, Bindings};
use crate::value::{Duration, Timestamp, Value};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use serde_json::Value as Json;
use std::collections::HashMap;

type Object = serde_json::Map<String, Json>;

impl<'a> Bindings<'a> {
    /// Gives each variable of an environment the value of the document's member of that name. A
    /// variable without a member is absent. The document is read in place: nothing is copied.
    ///
    /// A variable with dots in its name is inside nested objects: `user.age` is the member `age` of
    /// the member `user`. The whole name may also be the name of a member.
    ///
    /// A member has the type that its variable is declared with. A whole number may be an `int`,
    /// `uint` or `double`; text may be a timestamp (RFC 3339), a duration (`"90s"`) or an address.
    /// Bytes have no form of their own: [`set`](Self::set) them. Elements of lists and values of
    /// maps are not converted: for numbers that may be whole or not, declare `list(dyn)`. Takes time
    /// linear in the variables and in the parts of the document whose types are declared; what is
    /// `dyn` is not looked at.
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, Type};
    ///
    /// let env = Env::dynamic().variable("user.age", Type::Int).variable("tags", Type::list(Type::String));
    /// let rule = Engine::new().compile(&env, "user.age >= 18 && 'beta' in tags")?;
    /// let document = serde_json::json!({ "user": { "age": 41 }, "tags": ["beta"] });
    /// assert!(rule.test(&Bindings::from_json(&env, &document)?)?);
    ///
    /// let wrong = serde_json::json!({ "user": { "age": "41" } });
    /// let error = Bindings::from_json(&env, &wrong).unwrap_err();
    /// assert_eq!(error.to_string(), "variable `user.age` is declared as `int`, but the value is a `string`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the document is not an object, has a member that is no variable (at any level of dotted
    /// names; a variable of an object type may have any members), a member of another type, or two
    /// members for one variable.
    pub fn from_json(env: &Env<Bindings<'static>>, document: &'a Json) -> Result<Self, BindError> {
        let mut bindings = Bindings::new(env);
        let Json::Object(members) = document else {
            let actual = Value::from(document).type_name().into();
            return Err(BindError::NotAnObject { name: String::new(), inside: None, actual });
        };
        let variables = env.variables();
        let prefixes = prefixes(variables.names());
        bindings.bind(&prefixes, "", members, false)?;
        Ok(bindings)
    }

    /// Gives the variables below a prefix, which ends in a dot or is empty, the members of an
    /// object. `open`: members that are no variables are left out, not refused.
    fn bind(
        &mut self,
        prefixes: &HashMap<&str, &str>,
        prefix: &str,
        members: &'a Object,
        open: bool,
    ) -> Result<(), BindError> {
        for (name, json) in members {
            let name = format!("{prefix}{name}");
            let found =
                self.variables().find(&name).map(|(index, declared)| Ok((index, converted(&name, declared, json)?)));
            let found = found.transpose()?;
            if let Some((index, value)) = found {
                if self.is_bound(index) {
                    return Err(BindError::Twice { name });
                }
                self.put(index, Some(value));
            }
            match (prefixes.get(&*name), json) {
                (Some(_), Json::Object(members)) => {
                    self.bind(prefixes, &format!("{name}."), members, open || found.is_some())?;
                }
                (Some(inside), _) if found.is_none() => {
                    let actual = Value::from(json).type_name().into();
                    return Err(BindError::NotAnObject { name, inside: Some((*inside).to_owned()), actual });
                }
                (None, _) if found.is_none() && !open => return Err(BindError::Undeclared { name }),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What stands before each dot in these names, with the first name that begins so.
fn prefixes<'v>(names: impl Iterator<Item = &'v str>) -> HashMap<&'v str, &'v str> {
    let mut prefixes = HashMap::new();
    for name in names {
        for (dot, _) in name.match_indices('.') {
            prefixes.entry(name.get(..dot).unwrap_or_default()).or_insert(name);
        }
    }
    prefixes
}

/// Returns the value of a member of the document as the declared type.
fn converted<'a>(name: &str, declared: &Type, json: &'a Json) -> Result<Value<'a>, BindError> {
    let parsed = |value: Result<Value<'a>, ErrorKind>, text: &str| {
        value.map_err(|reason| BindError::Malformed {
            name: name.to_owned(),
            declared: declared.clone(),
            text: text.to_owned(),
            reason,
        })
    };
    match (declared, json) {
        (Type::Wrapper(inner), json) if !json.is_null() => converted(name, inner, json),
        (Type::Uint, Json::Number(number)) if number.is_u64() => Ok(number.as_u64().unwrap_or_default().into()),
        (Type::Double, Json::Number(number)) => {
            parsed(number.as_f64().map(Value::from).ok_or(ErrorKind::Overflow), &number.to_string())
        }
        (Type::Timestamp, Json::String(text)) => parsed(Timestamp::parse(text).map(Value::from), text),
        (Type::Duration, Json::String(text)) => parsed(Duration::parse(text).map(Value::from), text),
        (Type::Opaque(of, _), Json::String(text)) if **of == *"net.IP" => {
            parsed(text.parse().map(Value::Ip).map_err(|_| ErrorKind::InvalidArgument), text)
        }
        _ => in_place(&mut name.to_owned(), declared, json),
    }
}

/// Returns a part of the document as the value that is read in place, if it and its parts have the declared type.
fn in_place<'a>(place: &mut String, declared: &Type, json: &'a Json) -> Result<Value<'a>, BindError> {
    let (value, length) = (Value::from(json), place.len());
    match (declared, json) {
        (Type::List(element), Json::Array(elements)) if **element != Type::Dyn => {
            for (index, json) in elements.iter().enumerate() {
                place.push_str(&format!("[{index}]"));
                in_place(place, element, json)?;
                place.truncate(length);
            }
        }
        (Type::Map(entry), Json::Object(members)) => {
            let (key, value) = &**entry;
            if !matches!(key, Type::String | Type::Dyn) {
                return Err(BindError::WrongKeys { name: place.clone(), declared: declared.clone() });
            }
            for (name, json) in members.iter().filter(|_| *value != Type::Dyn) {
                place.push_str(&format!("[{name:?}]"));
                in_place(place, value, json)?;
                place.truncate(length);
            }
        }
        _ if !value.fits(declared) => {
            let (name, declared) = (place.clone(), declared.clone());
            return Err(BindError::WrongType { name, declared, actual: value.type_name().into() });
        }
        _ => {}
    }
    Ok(value)
}
