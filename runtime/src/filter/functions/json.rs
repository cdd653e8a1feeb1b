//! `lookup_json_string` and `lookup_json_integer`.

use super::Arguments;
use crate::arena::Arena;
use crate::cx::Cx;
use crate::filter::value::FilterValue;
use crate::library::json_parse;
use crate::value::Value;

/// Steps for reading a document, in the budget of its own: more than any document within the memory takes.
const STEPS: i64 = i64::MAX;

/// Follows the keys into a document, and converts what is there. Nothing if the document is not JSON.
pub(super) fn lookup(args: &Arguments<'_>, convert: fn(&Value<'_>) -> Option<FilterValue>) -> Option<FilterValue> {
    let document = args.bytes(0)?;
    let arena = Arena::new(args.room);
    let cx = Cx::new(STEPS, &arena);
    let mut value = json_parse(&cx, document).ok()?;
    for index in 1..args.values.len() {
        value = match (&value, args.value(index)?) {
            (Value::Map(map), FilterValue::Bytes(key)) => {
                map.get(&Value::String(std::str::from_utf8(key).ok()?), &arena).ok()??
            }
            (Value::List(list), FilterValue::Int(index)) => list.get(usize::try_from(*index).ok()?, &arena).ok()??,
            _ => return None,
        };
    }
    convert(&value)
}

/// A string.
pub(super) fn string(value: &Value<'_>) -> Option<FilterValue> {
    if let Value::String(text) = value { Some((*text).into()) } else { None }
}

/// A number that is written without a fraction and an exponent, and fits.
pub(super) fn integer(value: &Value<'_>) -> Option<FilterValue> {
    if let Value::Int(number) = value { Some((*number).into()) } else { None }
}
