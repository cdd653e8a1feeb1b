//! Which format of metrics a client of `/metrics` asks for (RFC 9110, section 12.5.1).

use crate::metrics::prometheus_protobuf::PROTOBUF;
use http::{HeaderMap, header};

/// Returns whether the client takes protobuf, and takes it no less than text.
pub(crate) fn accepts_protobuf(headers: &HeaderMap) -> bool {
    let (mut protobuf, mut text, mut any) = (None, None, None);
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    for element in lines.flat_map(|line| line.split(',')) {
        let mut parts = element.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let is = |known: &str| kind.eq_ignore_ascii_case(known);
        let (mut quality, mut is_format) = (1.0_f64, true);
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "q" => quality = value.parse().unwrap_or(0.0),
                "proto" => is_format &= value == "io.prometheus.client.MetricFamily",
                "encoding" => is_format &= value == "delimited",
                _ => {}
            }
        }
        if is(PROTOBUF) && is_format {
            protobuf = Some(quality);
        } else if is("text/plain") {
            text = Some(quality);
        } else if is("text/*") || is("*/*") {
            any = any.or(Some(quality));
        }
    }
    protobuf.is_some_and(|quality| quality > 0.0 && quality >= text.or(any).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_chooses_the_format() {
        let proto = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        for (accept, expected) in [
            (
                format!(
                    "{proto};q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
                ),
                true,
            ),
            (proto.replace(';', " ; "), true),
            (format!("text/plain, {proto}"), true),
            (format!("text/plain, {proto};q=0.5"), false),
            (format!("{proto};q=0"), false),
            (format!("{proto};q=x"), false),
            (format!("{proto};q=0.1, */*"), false),
            (proto.replace("delimited", "text"), false),
            (proto.replace("MetricFamily", "Metric"), false),
            ("*/*".to_owned(), false),
            (String::new(), false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(accepts_protobuf(&headers), expected, "{accept}");
        }
        assert!(!accepts_protobuf(&HeaderMap::new()));
    }
}
