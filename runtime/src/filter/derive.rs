//! Fields whose values follow from those of other fields: cookies, arguments, extensions, forms.

use super::convert::filter_value;
use super::functions::url_decode;
use super::mime::{SNIFFED, media_type, mime};
use super::multipart::{BodyPart, parts};
use super::value::FilterValue;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::filter::binding::{Derivation, PartValue};
use crate::value::Value;
use celero_frontend::filter::FilterType;
use std::collections::BTreeMap;

/// The type of the headers of a request: the lines of each.
pub(super) fn headers_type() -> FilterType {
    FilterType::map(FilterType::array(FilterType::Bytes))
}

/// The type of the derived value.
pub(super) fn derived_type(how: Derivation) -> FilterType {
    use Derivation as D;
    let texts = FilterType::array(FilterType::Bytes);
    match how {
        D::Cookies | D::Arguments | D::Form | D::Multipart => FilterType::map(texts),
        D::Extension | D::MediaType | D::Mime => FilterType::Bytes,
        D::HeaderNames | D::HeaderValues | D::ArgumentNames | D::ArgumentValues => texts,
        D::FormNames | D::FormValues | D::Languages | D::Parts(PartValue::Content) => texts,
        D::Parts(_) => FilterType::array(texts),
    }
}

/// Derives a value from headers, from a text, or from a content type and a body; `None` if it is
/// missing. What it derives from is not copied, but for headers. Takes time linear in its size,
/// with a logarithm for maps and languages, and constant time for [`Derivation::Mime`].
///
/// # Errors
/// `out_of_budget`.
pub(super) fn derive<'a>(how: Derivation, base: &Value<'a>, cx: &Cx<'a>) -> EvalResult<Option<FilterValue>> {
    use Derivation as D;
    match how {
        D::HeaderNames | D::HeaderValues => {
            let Some(headers) = filter_value(base, &headers_type(), cx)? else { return Ok(None) };
            cx.charge_each_byte(headers.size())?;
            let FilterValue::Map(headers) = headers else { return Ok(None) };
            Ok(of_headers(how, &headers))
        }
        D::Form | D::FormNames | D::FormValues | D::Multipart | D::Parts(_) => {
            let Value::List(typed_body) = base else { return Ok(None) };
            let text = |index| EvalResult::Ok(typed_body.get(index, cx.arena())?.and_then(|value| bytes(&value)));
            let (Some(content_type), Some(body)) = (text(0)?, text(1)?) else { return Ok(None) };
            cx.charge_each_byte(content_type.len().saturating_add(body.len()))?;
            Ok(of_body(how, content_type, body))
        }
        D::Cookies | D::Arguments | D::ArgumentNames | D::ArgumentValues => of_charged_text(how, bytes(base), cx),
        D::Extension | D::Languages | D::MediaType => of_charged_text(how, bytes(base), cx),
        D::Mime => of_charged_text(how, bytes(base).map(|body| body.get(..SNIFFED).unwrap_or(body)), cx),
    }
}

fn bytes<'a>(value: &Value<'a>) -> Option<&'a [u8]> {
    match value {
        Value::String(text) => Some(text.as_bytes()),
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn of_charged_text(how: Derivation, text: Option<&[u8]>, cx: &Cx<'_>) -> EvalResult<Option<FilterValue>> {
    let Some(text) = text else { return Ok(None) };
    cx.charge_each_byte(text.len())?;
    Ok(of_text(how, text))
}

fn of_headers(how: Derivation, headers: &BTreeMap<Vec<u8>, FilterValue>) -> Option<FilterValue> {
    let lines = headers.iter().flat_map(|(name, lines)| match lines {
        FilterValue::Array(lines) => lines.iter().map(|line| (name, line)).collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    Some(match how {
        Derivation::HeaderNames => lines.map(|(name, _)| name.clone()).collect(),
        Derivation::HeaderValues => FilterValue::Array(lines.map(|(_, line)| line.clone()).collect()),
        _ => return None,
    })
}

fn of_text(how: Derivation, text: &[u8]) -> Option<FilterValue> {
    Some(match how {
        Derivation::Cookies => by_name(cookies(text)),
        Derivation::Arguments => by_name(arguments(text).map(|(name, value)| (name.to_vec(), value))),
        Derivation::ArgumentNames => arguments(text).map(|(name, _)| name.to_vec()).collect(),
        Derivation::ArgumentValues => arguments(text).map(|(_, value)| value.to_vec()).collect(),
        Derivation::Extension => extension(text).to_ascii_lowercase().into(),
        Derivation::Languages => languages(text),
        Derivation::MediaType => media_type(text).into(),
        Derivation::Mime => mime(text)?.into(),
        _ => return None,
    })
}

fn of_body(how: Derivation, content_type: &[u8], body: &[u8]) -> Option<FilterValue> {
    let form = match how {
        Derivation::Form => Derivation::Arguments,
        Derivation::FormNames => Derivation::ArgumentNames,
        Derivation::FormValues => Derivation::ArgumentValues,
        _ => return of_parts(how, &parts(content_type, body)?),
    };
    // A form has the notation of a query.
    (media_type(content_type) == b"application/x-www-form-urlencoded").then(|| of_text(form, body))?
}

fn of_parts(how: Derivation, parts: &[BodyPart<'_>]) -> Option<FilterValue> {
    let texts = |texts: Vec<&[u8]>| texts.into_iter().map(<[u8]>::to_vec).collect::<FilterValue>();
    let each = |value: &dyn Fn(&BodyPart<'_>) -> FilterValue| FilterValue::Array(parts.iter().map(value).collect());
    Some(match how {
        Derivation::Multipart => {
            by_name(parts.iter().flat_map(|part| part.parameters(b"name").into_iter().map(|name| (name, part.content))))
        }
        Derivation::Parts(PartValue::Content) => each(&|part| part.content.to_vec().into()),
        Derivation::Parts(PartValue::Names) => each(&|part| part.parameters(b"name").into_iter().collect()),
        Derivation::Parts(PartValue::FileNames) => each(&|part| part.parameters(b"filename").into_iter().collect()),
        Derivation::Parts(PartValue::Dispositions) => each(&|part| texts(part.fields(b"content-disposition"))),
        Derivation::Parts(PartValue::Types) => each(&|part| texts(part.fields(b"content-type"))),
        Derivation::Parts(PartValue::Encodings) => each(&|part| texts(part.fields(b"content-transfer-encoding"))),
        _ => return None,
    })
}

/// Keys are text, as in every map of the engine: bytes that are not UTF-8 are replaced by U+FFFD,
/// before values of one name are put together.
fn by_name<'t>(pairs: impl Iterator<Item = (Vec<u8>, &'t [u8])>) -> FilterValue {
    let mut values: BTreeMap<Vec<u8>, Vec<FilterValue>> = BTreeMap::new();
    for (name, value) in pairs {
        let name =
            String::from_utf8(name).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        values.entry(name.into_bytes()).or_default().push(value.to_vec().into());
    }
    FilterValue::Map(values.into_iter().map(|(name, values)| (name, FilterValue::Array(values))).collect())
}

/// A text up to a byte, and what follows it.
fn split_at_byte(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = memchr::memchr(at, text)?;
    Some((text.get(..position)?, text.get(position.saturating_add(1)..)?))
}

/// The parts of a query between `&`, each up to and behind its first `=`.
fn arguments(query: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let parts = query.split(|byte| *byte == b'&').filter(|part| !part.is_empty());
    parts.map(|part| split_at_byte(part, b'=').unwrap_or((part, b"")))
}

/// The pairs of a `cookie` header (RFC 6265, section 4.2.1), names decoded.
fn cookies(header: &[u8]) -> impl Iterator<Item = (Vec<u8>, &[u8])> {
    let parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    parts.filter_map(|part| split_at_byte(part, b'=')).map(|(name, value)| (url_decode(name, false, false), value))
}

/// What follows the last dot of the last segment. A dot at its beginning, as in `/.env`, is none of an extension.
fn extension(path: &[u8]) -> &[u8] {
    let segment = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let dot = memchr::memrchr(b'.', segment).filter(|dot| *dot > 0);
    dot.and_then(|dot| segment.get(dot.saturating_add(1)..)).unwrap_or_default()
}

/// The ranges of an `accept-language` header (RFC 9110, section 12.5.4), those of equal weight in
/// their order; `*` and those of weight 0 are left out.
fn languages(header: &[u8]) -> FilterValue {
    let mut ranges: Vec<(u32, &[u8])> = Vec::new();
    for range in header.split(|byte| *byte == b',') {
        let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix(b"q=")).map_or(1000, thousandths);
        if !name.is_empty() && name != b"*" && weight > 0 {
            ranges.push((weight, name));
        }
    }
    ranges.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    ranges.into_iter().map(|(_, name)| name.to_vec()).collect()
}

/// A weight such as `0.8` in thousandths; 0 if it is none.
fn thousandths(weight: &[u8]) -> u32 {
    let weight = std::str::from_utf8(weight).ok().and_then(|text| text.parse::<f32>().ok());
    let weight = weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0);
    // Between 0 and 1000.
    (weight * 1000.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(how: Derivation, text: &str) -> String {
        fn show(value: &FilterValue) -> String {
            match value {
                FilterValue::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                FilterValue::Array(values) => values.iter().map(show).collect::<Vec<_>>().join("|"),
                FilterValue::Map(values) => {
                    let entry = |(key, value): (&Vec<u8>, &FilterValue)| {
                        format!("{}={}", String::from_utf8_lossy(key), show(value))
                    };
                    values.iter().map(entry).collect::<Vec<_>>().join(" ")
                }
                other => format!("{other:?}"),
            }
        }
        show(&of_text(how, text.as_bytes()).unwrap())
    }

    #[test]
    fn parts_of_requests_are_found() {
        assert_eq!(shown(Derivation::Arguments, "b=1&a=2&b=%20&c&&d="), "a=2 b=1|%20 c= d=");
        assert_eq!(shown(Derivation::ArgumentNames, "b=1&a=2&b=3"), "b|a|b");
        assert_eq!(shown(Derivation::ArgumentValues, "b=1&a=2=2&b"), "1|2=2|");
        assert_eq!(shown(Derivation::Cookies, "a=1; b%20c=2;a=%33; junk"), "a=1|%33 b c=2");
        assert_eq!(shown(Derivation::Cookies, "%80=1; %C3%A9=2; %FF=3"), "\u{e9}=2 \u{fffd}=1|3");
        for (path, extension) in [
            ("/a/b.tar.GZ", "gz"),
            ("/a.d/b", ""),
            ("/", ""),
            ("", ""),
            ("/a.", ""),
            ("/.env", ""),
            ("/.a.env", "env"),
            ("/a/..", ""),
        ] {
            assert_eq!(shown(Derivation::Extension, path), extension, "{path}");
        }
        assert_eq!(shown(Derivation::Languages, "de;q=0.5, en-GB, fr;q=0, *, it;q=0.8"), "en-GB|it|de");
        assert_eq!(shown(Derivation::Languages, ""), "");
    }
}
