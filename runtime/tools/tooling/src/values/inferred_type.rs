//! The types of variables that have a value, but no declared type, for the filter language, which has no `dyn`.

use celero::Type;
use serde_json::Value as Json;

/// Returns the type of a value: `bool`, `int`, `string`, `bytes` or `net.IP`, or a list or map of
/// values of one of them; `dyn` for all others. Empty lists and maps are of strings.
pub fn inferred_type(json: &Json) -> Type {
    match json {
        Json::Bool(_) => Type::Bool,
        Json::Number(number) if number.is_i64() => Type::Int,
        Json::String(_) => Type::String,
        Json::Array(values) => common(values.iter()).map_or(Type::Dyn, Type::list),
        Json::Object(members) => {
            let mut all = members.iter();
            if let (Some((name, Json::String(_))), None) = (all.next(), all.next()) {
                match name.as_str() {
                    "ip" => return Type::Opaque("net.IP".into(), [].into()),
                    "bytes" => return Type::Bytes,
                    "int" => return Type::Int,
                    "uint" | "double" | "timestamp" | "duration" | "cidr" => return Type::Dyn,
                    _ => {}
                }
            }
            common(members.values()).map_or(Type::Dyn, |ty| Type::map(Type::String, ty))
        }
        Json::Null | Json::Number(_) => Type::Dyn,
    }
}

/// Returns the type of all values; `None` if they have no common one.
fn common<'j>(mut values: impl Iterator<Item = &'j Json>) -> Option<Type> {
    let Some(first) = values.next().map(inferred_type) else { return Some(Type::String) };
    (first != Type::Dyn && values.all(|value| inferred_type(value) == first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_have_the_types_of_the_language() {
        for (value, ty) in [
            (json!(true), "bool"),
            (json!(80), "int"),
            (json!(0.5), "dyn"),
            (json!("a"), "string"),
            (json!({ "bytes": "AA==" }), "bytes"),
            (json!({ "ip": "::1" }), "net.IP"),
            (json!({ "host": "a" }), "map(string, string)"),
            (json!({ "k": ["v"] }), "map(string, list(string))"),
            (json!([1, 2]), "list(int)"),
            (json!([1, "a"]), "dyn"),
            (json!([]), "list(string)"),
            (json!(null), "dyn"),
        ] {
            assert_eq!(inferred_type(&value).to_string(), ty, "{value}");
        }
    }
}
