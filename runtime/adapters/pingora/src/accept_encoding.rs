//! Which codings a client accepts (RFC 9110, section 12.5.3).

use http::{HeaderMap, header};

/// The weight of a coding, in thousandths.
type Weight = u16;

/// Returns whether a client accepts gzip, and likes it at least as much as the body as it is.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut identity, mut any) = (None, None, None);
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    for member in lines.flat_map(|line| line.split(',')) {
        let (name, parameter) = member.split_once(';').map_or((member, None), |(name, rest)| (name, Some(rest)));
        let found = match &*name.trim().to_ascii_lowercase() {
            "gzip" | "x-gzip" => &mut gzip,
            "identity" => &mut identity,
            "*" => &mut any,
            _ => continue,
        };
        let weight = parameter.map_or(Some(1000), weight).unwrap_or_default();
        // Of a coding that is named twice, the smaller weight counts.
        *found = Some(found.map_or(weight, |known: Weight| known.min(weight)));
    }
    let gzip = gzip.or(any).unwrap_or_default();
    gzip > 0 && gzip >= identity.unwrap_or_default()
}

/// Reads `q=0.5`: at most three digits behind the point. Returns `None` if it is something else.
fn weight(parameter: &str) -> Option<Weight> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let value = value.trim();
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals: Weight = format!("{decimals:0<3}").parse().ok()?;
    match (whole, decimals) {
        ("0", decimals) => Some(decimals),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide() {
        for (accept, expected) in [
            ("gzip", true),
            ("GZip;Q=1.000 , br", true),
            ("x-gzip", true),
            ("br, zstd", false),
            ("*", true),
            ("*;q=0", false),
            ("gzip;q=0, *", false),
            ("gzip;q=0.000", false),
            ("gzip;q=0.001", true),
            ("gzip;q=0.5, identity", false),
            ("gzip;q=0.5, identity;q=0.4", true),
            ("identity;q=0", false),
            ("gzip, gzip;q=0", false),
            ("gzip;q=2", false),
            ("gzip;q=0.1234", false),
            ("gzip;q=", false),
            ("gzip;level=9", false),
            ("gzipped", false),
            ("", false),
        ] {
            let headers: HeaderMap = [(header::ACCEPT_ENCODING, accept.parse().unwrap())].into_iter().collect();
            assert_eq!(accepts_gzip(&headers), expected, "{accept}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
        let mut lines = HeaderMap::new();
        lines.append(header::ACCEPT_ENCODING, "br".parse().unwrap());
        lines.append(header::ACCEPT_ENCODING, "gzip;q=0.1".parse().unwrap());
        assert!(accepts_gzip(&lines));
    }
}
