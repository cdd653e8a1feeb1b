//! YAML text, behind the feature `yaml`: the functions `yaml.encode` and `yaml.parse` of cel-go's encoders library.
//!
//! A document is read to JSON text, which `json.parse` reads: what a value is, and how deep it may be nested, is the
//! same in both.

#[cfg(feature = "yaml")]
mod read;
#[cfg(feature = "yaml")]
mod scalar;
#[cfg(feature = "yaml")]
mod write;

#[cfg(feature = "yaml")]
pub(super) use calls::{encode, parse, parse_as};
#[cfg(not(feature = "yaml"))]
pub(super) use none::{encode, parse, parse_as};

#[cfg(feature = "yaml")]
mod calls {
    use super::{read, write};
    use crate::arena::EvalResult;
    use crate::cx::Cx;
    use crate::library::json;
    use crate::value::Value;
    use celero_ir::ErrorKind::OutOfBudget;

    type Optional<'a> = Option<&'a Value<'a>>;

    /// `yaml.encode(value)`: the document that the value is, by the JSON of `json.encode`.
    ///
    /// # Errors
    /// Those of `json.encode`; `invalid_argument` past 128 levels of nesting.
    pub(in crate::library) fn encode<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
        write::write(cx, &json::json_parse(cx, json::encode(cx, value)?.as_bytes())?)
    }

    /// `yaml.parse(text)`: the value of a document, absent if it is none.
    ///
    /// # Errors
    /// `invalid_argument` for more than [`read::MAX_BYTES`]; `out_of_budget`.
    pub(in crate::library) fn parse<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<Optional<'a>> {
        match to_json(cx, text)? {
            Some(json) => json::parse(cx, json),
            None => Ok(None),
        }
    }

    /// `yaml.parse(text, type)`: as `json.parse(text, type)`.
    ///
    /// # Errors
    /// As [`parse`], and those of `json.parse`.
    pub(in crate::library) fn parse_as<'a>(cx: &Cx<'a>, text: &str, ty: &str) -> EvalResult<Optional<'a>> {
        match to_json(cx, text)? {
            Some(json) => json::parse_as(cx, json, ty),
            None => Ok(None),
        }
    }

    fn to_json<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<Option<&'a str>> {
        read::check_size(text)?;
        match read::to_json(cx, text) {
            Ok(json) => Ok(Some(json)),
            Err(OutOfBudget) => Err(OutOfBudget),
            Err(_) => Ok(None),
        }
    }
}

/// What the functions are without the feature: no environment has them.
#[cfg(not(feature = "yaml"))]
mod none {
    use crate::arena::EvalResult;
    use crate::cx::Cx;
    use crate::value::Value;
    use celero_ir::ErrorKind::Host;

    pub(in crate::library) fn encode<'a>(_: &Cx<'a>, _: &Value<'a>) -> EvalResult<&'a str> {
        Err(Host)
    }

    pub(in crate::library) fn parse<'a>(_: &Cx<'a>, _: &str) -> EvalResult<Option<&'a Value<'a>>> {
        Err(Host)
    }

    pub(in crate::library) fn parse_as<'a>(_: &Cx<'a>, _: &str, _: &str) -> EvalResult<Option<&'a Value<'a>>> {
        Err(Host)
    }
}

#[cfg(all(test, feature = "yaml"))]
mod tests;
