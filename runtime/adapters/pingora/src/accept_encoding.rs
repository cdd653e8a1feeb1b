//! Which codings a client accepts (RFC 9110, section 12.5.3).

use crate::coding::Coding;
use http::{HeaderMap, header};

/// The weight of a coding, in thousandths.
type Weight = u16;

/// Returns which of these codings a client likes best; of several, the first. `None`: it likes the
/// body as it is better than each of them.
pub(crate) fn preferred(headers: &HeaderMap, codings: &[Coding]) -> Option<Coding> {
    let (mut weights, mut identity, mut any) = ([None; Coding::ALL.len()], None, None);
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    for member in lines.flat_map(|line| line.split(',')) {
        let (name, parameter) = member.split_once(';').map_or((member, None), |(name, rest)| (name, Some(rest)));
        let found = match &*name.trim().to_ascii_lowercase() {
            "identity" => &mut identity,
            "*" => &mut any,
            name => match place_of(Coding::of_name(name)).and_then(|place| weights.get_mut(place)) {
                Some(weight) => weight,
                None => continue,
            },
        };
        let weight = parameter.map_or(Some(1000), weight).unwrap_or_default();
        // Of a coding that is named twice, the smaller weight counts.
        *found = Some(found.map_or(weight, |known: Weight| known.min(weight)));
    }
    let weight_of = |coding: Coding| {
        let named = place_of(Some(coding)).and_then(|place| *weights.get(place)?);
        named.or(any).unwrap_or_default()
    };
    let mut best: Option<(Coding, Weight)> = None;
    for coding in codings {
        let weight = weight_of(*coding);
        if weight > best.map_or(0, |(_, weight)| weight) {
            best = Some((*coding, weight));
        }
    }
    best.filter(|(_, weight)| *weight >= identity.unwrap_or_default()).map(|(coding, _)| coding)
}

fn place_of(coding: Option<Coding>) -> Option<usize> {
    Coding::ALL.iter().position(|known| Some(*known) == coding)
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

    const GZIP: &[Coding] = &[Coding::Gzip];

    fn asked(accept: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, accept.parse().unwrap())].into_iter().collect()
    }

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
            assert_eq!(preferred(&asked(accept), GZIP).is_some(), expected, "{accept}");
        }
        assert!(preferred(&HeaderMap::new(), GZIP).is_none());
        let mut lines = HeaderMap::new();
        lines.append(header::ACCEPT_ENCODING, "br".parse().unwrap());
        lines.append(header::ACCEPT_ENCODING, "gzip;q=0.1".parse().unwrap());
        assert_eq!(preferred(&lines, GZIP), Some(Coding::Gzip));
    }

    #[test]
    fn the_client_prefers_and_then_the_order() {
        use Coding::{Brotli, Gzip, Zstd};
        for (accept, codings, expected) in [
            ("gzip, deflate, br, zstd", &[Brotli, Zstd, Gzip][..], Some(Brotli)),
            ("gzip, deflate, br, zstd", &[Zstd, Brotli, Gzip], Some(Zstd)),
            ("gzip, br, zstd", &[Gzip], Some(Gzip)),
            ("gzip;q=0.9, br;q=0.8, zstd;q=0.7", &[Brotli, Zstd, Gzip], Some(Gzip)),
            ("gzip;q=0.5, br;q=0.8, zstd;q=0.7", &[Zstd, Brotli], Some(Brotli)),
            ("br;q=0, *", &[Brotli, Zstd, Gzip], Some(Zstd)),
            ("br;q=0, *;q=0.1, gzip;q=0.2", &[Brotli, Zstd, Gzip], Some(Gzip)),
            ("br;q=0.5, identity;q=0.6", &[Brotli], None),
            ("br;q=0.6, identity;q=0.6", &[Brotli], Some(Brotli)),
            ("deflate", &[Brotli, Zstd, Gzip], None),
            ("br", &[], None),
        ] {
            assert_eq!(preferred(&asked(accept), codings), expected, "{accept} {codings:?}");
        }
    }
}
