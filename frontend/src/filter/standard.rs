//! The functions that Cloudflare documents, as a table of signatures. `any` and `all` are syntax.

use super::function::{
    Accepts, ArgumentKind, FilterFunction, FilterParameter, LiteralRule, ResultType, StandardFunction,
};
use super::types::FilterType::{self, Bool, Bytes, Int, Ip};

/// An argument that is not a literal.
fn field(ty: FilterType) -> FilterParameter {
    FilterParameter::new(ArgumentKind::Field, ty)
}

fn literal(ty: FilterType) -> FilterParameter {
    FilterParameter::new(ArgumentKind::Literal, ty)
}

fn any(ty: FilterType) -> FilterParameter {
    FilterParameter::new(ArgumentKind::Any, ty)
}

fn between(first: i64, last: i64) -> FilterParameter {
    literal(Int).with_rule(LiteralRule::Between(first, last))
}

fn flags(flags: &'static str) -> FilterParameter {
    literal(Bytes).with_rule(LiteralRule::Flags(flags))
}

fn texts() -> FilterType {
    FilterType::array(Bytes)
}

/// The key of a JSON object, or the index of a JSON array.
fn json_key() -> FilterParameter {
    literal(Bytes).or(Accepts::Type(Int))
}

/// A parameter that takes what is accepted.
fn accepting(kind: ArgumentKind, accepted: Accepts) -> FilterParameter {
    FilterParameter { accepts: [accepted].into(), ..FilterParameter::new(kind, Bytes) }
}

/// A documented function with its required parameters.
fn row<const N: usize>(
    standard: StandardFunction,
    name: &str,
    required: [FilterParameter; N],
    result: FilterType,
) -> FilterFunction {
    FilterFunction { standard: Some(standard), ..FilterFunction::new(name, required, result) }
}

/// The same with optional parameters.
fn row_with<const N: usize, const M: usize>(
    standard: StandardFunction,
    name: &str,
    required: [FilterParameter; N],
    optional: [FilterParameter; M],
    result: FilterType,
) -> FilterFunction {
    FilterFunction { optional: optional.into(), ..row(standard, name, required, result) }
}

/// The same with any number of further arguments.
fn row_of_many<const N: usize>(
    standard: StandardFunction,
    name: &str,
    required: [FilterParameter; N],
    repeated: FilterParameter,
    result: ResultType,
) -> FilterFunction {
    FilterFunction { repeated: Some(repeated), result, ..row(standard, name, required, Bytes) }
}

/// The documented functions, by name.
#[must_use]
pub fn standard_functions() -> Vec<FilterFunction> {
    use StandardFunction as F;
    let concatenated = any(Bytes).or(Accepts::AnyArray);
    let same = accepting(ArgumentKind::Any, Accepts::SameAsFirst);
    let anything = accepting(ArgumentKind::Field, Accepts::Anything);
    let element = accepting(ArgumentKind::Any, Accepts::ElementOfFirst);
    let pattern = literal(Bytes).with_rule(LiteralRule::Pattern);
    let separator = literal(Bytes).with_rule(LiteralRule::NotEmpty);
    let wildcard = literal(Bytes).with_rule(LiteralRule::Wildcard);
    let once = |function: FilterFunction| FilterFunction { most_calls: Some(1), ..function };
    let text = any(Int).or(Accepts::Type(Bool)).or(Accepts::Type(Ip));
    let bytes_result = || ResultType::Type(Bytes);
    vec![
        row(F::BitSlice, "bit_slice", [field(Bytes), any(Int), any(Int)], Int),
        row(F::Cidr, "cidr", [field(Ip), between(1, 32), between(1, 128)], Ip),
        row(F::Cidr6, "cidr6", [field(Ip), between(1, 128)], Ip),
        row_of_many(F::Coalesce, "coalesce", [anything, same.clone()], same.clone(), ResultType::SameAsFirst),
        row_of_many(F::Concat, "concat", [concatenated, same.clone()], same, ResultType::SameAsFirst),
        row(F::DecodeBase64, "decode_base64", [field(Bytes)], Bytes),
        row_with(F::EncodeBase64, "encode_base64", [any(Bytes)], [flags("up")], Bytes),
        row(F::EndsWith, "ends_with", [field(Bytes), any(Bytes)], Bool),
        row(F::HasKey, "has_key", [accepting(ArgumentKind::Field, Accepts::AnyMap), any(Bytes)], Bool),
        row(F::HasValue, "has_value", [accepting(ArgumentKind::Field, Accepts::PrimitiveCollection), element], Bool),
        row(F::IsJwtPresent, "is_jwt_present", [literal(Bytes)], Bool),
        row(F::IsJwtValid, "is_jwt_valid", [literal(Bytes)], Bool),
        row_with(
            F::IsTimedHmacValidV0,
            "is_timed_hmac_valid_v0",
            [literal(Bytes), any(Bytes), literal(Int), any(Int)],
            [literal(Int), flags("s")],
            Bool,
        ),
        row(F::Join, "join", [field(texts()), any(Bytes)], Bytes),
        row(F::Len, "len", [field(Bytes).or(Accepts::AnyArray)], Int),
        row_of_many(
            F::LookupJsonInteger,
            "lookup_json_integer",
            [field(Bytes), json_key()],
            json_key(),
            ResultType::Type(Int),
        ),
        row_of_many(F::LookupJsonString, "lookup_json_string", [field(Bytes), json_key()], json_key(), bytes_result()),
        row(F::Lower, "lower", [field(Bytes)], Bytes),
        once(row(F::RegexReplace, "regex_replace", [field(Bytes), pattern, literal(Bytes)], Bytes)),
        row(F::RemoveBytes, "remove_bytes", [field(Bytes), literal(Bytes)], Bytes),
        row_of_many(
            F::RemoveQueryArgs,
            "remove_query_args",
            [field(Bytes), literal(Bytes)],
            literal(Bytes),
            bytes_result(),
        ),
        row(F::Sha256, "sha256", [any(Bytes)], Bytes),
        row(F::Split, "split", [field(Bytes), separator, between(1, 128)], texts()),
        row(F::StartsWith, "starts_with", [field(Bytes), any(Bytes)], Bool),
        row_with(F::Substring, "substring", [field(Bytes), any(Int)], [any(Int)], Bytes),
        row(F::ToString, "to_string", [text], Bytes),
        row(F::Upper, "upper", [field(Bytes)], Bytes),
        row_with(F::UrlDecode, "url_decode", [field(Bytes)], [flags("ru")], Bytes),
        row(F::Uuidv4, "uuidv4", [field(Bytes)], Bytes),
        once(row_with(
            F::WildcardReplace,
            "wildcard_replace",
            [field(Bytes), wildcard, literal(Bytes)],
            [flags("s")],
            Bytes,
        )),
    ]
}
