//! The published Wirefilter, `wirefilter-engine` 0.6.1, judges the part of the language that it
//! has: fields of the types `Bool`, `Int`, `Ip` and `Bytes`, orderings, `&`, `contains`, `matches`,
//! sets, and the connectives.
//!
//! Rules of that part must be accepted by both, with the same tree, and have the same result. Where the two differ,
//! [`DIFFERENCES`] says why; celero follows Wirefilter's later versions there.

use celero::filter::{FilterOptions, FilterType, FilterValue, check_filter, filter_json};
use celero_tests::filter::{Values, interpret, show};
use celero_tests::generate::filter::{Generator, scheme};
use celero_tests::shared::say;
use wirefilter::{ExecutionContext, LhsValue, Scheme, Type};

/// The fields of a scheme whose types the published Wirefilter has, with the same names.
pub(super) fn published_scheme(scheme: &celero::filter::Scheme) -> Scheme {
    let mut published = Scheme::new();
    for field in scheme.fields() {
        let ty = match field.ty {
            FilterType::Bool => Type::Bool,
            FilterType::Int => Type::Int,
            FilterType::Ip => Type::Ip,
            FilterType::Bytes => Type::Bytes,
            FilterType::Array(_) | FilterType::Map(_) => continue,
        };
        published.add_field(field.name.to_string(), ty).unwrap();
    }
    published
}

/// The same values, by the same names.
pub(super) fn context<'s>(
    published: &'s Scheme,
    scheme: &celero::filter::Scheme,
    host: &'s Values,
) -> ExecutionContext<'s> {
    let mut context = ExecutionContext::new(published);
    for (field, value) in scheme.fields().iter().zip(host.fields()) {
        let value = match value {
            None if field.constant.is_some() => LhsValue::Bool(field.constant == Some(true)),
            Some(FilterValue::Bool(value)) => LhsValue::Bool(*value),
            Some(FilterValue::Int(value)) => LhsValue::Int(i32::try_from(*value).unwrap()),
            Some(FilterValue::Ip(value)) => LhsValue::Ip(*value),
            Some(FilterValue::Bytes(value)) => LhsValue::Bytes(value),
            _ => continue,
        };
        context.set_field_value(&field.name, value).unwrap();
    }
    context
}

#[test]
fn results_are_those_of_the_published_wirefilter() {
    let published = published_scheme(&scheme(false));
    let (mut rules, mut pairs, mut yes) = (0u64, 0u64, 0u64);
    for case in Generator::published(11).take(4_000) {
        let filter = case.compile().unwrap_or_else(|error| panic!("{case:?}\n{error}"));
        let ast = published.parse(&case.source).unwrap_or_else(|error| panic!("{case:?}\n{error}"));
        let tree = serde_json::to_value(&ast).unwrap();
        assert_eq!(as_published(&filter_json(filter.tree())), tree, "{case:?}");
        let compiled = ast.compile();
        for (host, result) in case.hosts.iter().zip(interpret(&filter, &case.hosts)) {
            let expected = compiled.execute(&context(&published, &scheme(false), host)).unwrap();
            let result = result.unwrap();
            assert_eq!(result, Some(FilterValue::Bool(expected)), "{case:?}\n{host:?}{}", show(result.as_ref()));
            pairs += 1;
            yes += u64::from(expected);
        }
        rules += 1;
    }
    say(&format!("the published Wirefilter judged {rules} rules, {pairs} results, {yes} of them true"));
    assert!(yes > pairs / 8 && yes < pairs * 7 / 8);
}

/// A tree as the published Wirefilter writes it: it calls the left side `field`, for there are only fields.
fn as_published(json: &str) -> serde_json::Value {
    serde_json::from_str(&json.replace("\"lhs\":", "\"field\":")).unwrap()
}

/// What a text is in the published Wirefilter and here: its tree, or the first line of its error.
pub(super) type Read = Result<serde_json::Value, String>;

/// Where the two differ: a text, what each says of it, and why.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    ("ab eq \"\\xff\"", "accepted", "accepted", "an escape is a byte, no longer the character of that number"),
    (
        "port eq 2147483648",
        "number too large to fit in target type while parsing with radix 10",
        "accepted",
        "numbers have 64 bits",
    ),
    (
        "ab eq 41",
        "accepted",
        "expected byte separator",
        "a sequence of bytes has at least two, so that numbers are no bytes",
    ),
    ("ab eq r\"a\"", "invalid digit found in string while parsing with radix 16", "accepted", "raw strings are new"),
    ("ab matches r\"a\"", "expected literal \"\\\"\"", "accepted", "raw strings are new"),
    ("ab wildcard \"a\"", "expected ComparisonOp", "accepted", "wildcards are new"),
    ("ab strict wildcard \"a\"", "expected ComparisonOp", "accepted", "wildcards are new"),
    ("ip.src in $bad", "expected literal \"{\"", "accepted", "lists are new"),
    (
        "any(ssl)",
        "unknown field",
        "invalid type of argument #0: expected value of type Array<Bool>, but got Bool",
        "functions are new",
    ),
    ("prt eq 1", "unknown field", "unknown identifier", "names are those of fields and functions"),
    (
        "port contains \"a\"",
        "cannot use this operation type Int",
        "cannot perform this operation on type Int",
        "another wording",
    ),
    ("port in {1,2}", "expected digit", "expected an item or literal \"}\"", "a comma is a frequent mistake"),
];

#[test]
fn differences_to_the_published_wirefilter_are_known() {
    let published = published_scheme(&scheme(false));
    for (source, theirs, ours, why) in DIFFERENCES {
        let said = |read: &Read| read.as_ref().map_or_else(Clone::clone, |_| "accepted".to_owned());
        let (they, we) = (read_published(&published, source), read(source));
        assert_eq!((said(&they).as_str(), said(&we).as_str()), (*theirs, *ours), "{source}: {why}");
        assert_ne!(they, we, "{source}");
    }
}

pub(super) fn read_published(published: &Scheme, source: &str) -> Read {
    match published.parse(source) {
        Ok(ast) => Ok(serde_json::to_value(&ast).unwrap()),
        Err(error) => {
            let text = error.to_string();
            // The last line is blanks, carets, a blank, the message.
            let last = text.trim_end_matches('\n').lines().last().unwrap_or_default();
            Err(last.trim_start().trim_start_matches('^').trim_start().to_owned())
        }
    }
}

pub(super) fn read(source: &str) -> Read {
    let checked = check_filter(source, &scheme(false), &FilterOptions::default());
    checked
        .map(|(tree, _)| as_published(&filter_json(&tree)))
        .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))
}
