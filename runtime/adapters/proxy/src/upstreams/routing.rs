//! Chooses the upstream of a request.

use crate::config::{Route, Split};
use celero_policy::canonical::split_authority;
use http::request::Parts;

/// Returns the position of the first route that fits.
pub(crate) fn choose<'a>(routes: &[Route], head: &Parts, label: impl Fn(&str) -> Option<&'a str>) -> Option<usize> {
    let host = host(head);
    let fits = |route: &&Route| {
        route.host.as_deref().is_none_or(|wanted| host_fits(wanted, host))
            && route.prefix.as_deref().is_none_or(|prefix| path_fits(prefix, head.uri.path()))
            && route.label.as_ref().is_none_or(|(name, value)| label(name) == Some(value))
    };
    routes.iter().position(|route| fits(&route))
}

/// Returns the upstream of a key. Equal keys have the same one, in every process; if the weight of
/// the first grows, all its keys stay.
pub(crate) fn part_of(split: &Split, key: &[u8]) -> Option<usize> {
    let total: u64 = split.parts.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let digest = ring::digest::digest(&ring::digest::SHA256, key);
    let hash = digest.as_ref().first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    // Of all values of the hash, the part below `point` is as large as the part of `total`.
    let point = u128::from(hash).checked_mul(u128::from(total))? >> 64;
    let mut sum = 0_u128;
    let part = split.parts.iter().find(|(_, weight)| {
        sum = sum.saturating_add(u128::from(*weight));
        point < sum
    });
    part.map(|(upstream, _)| *upstream)
}

/// Returns the host of a canonical request, without its port.
pub(crate) fn host(head: &Parts) -> &str {
    let header = || head.headers.get(http::header::HOST).and_then(|value| value.to_str().ok());
    let authority = head.uri.authority().map(|authority| authority.as_str()).or_else(header).unwrap_or_default();
    split_authority(authority).0
}

fn host_fits(wanted: &str, host: &str) -> bool {
    let Some(at) = host.len().checked_sub(wanted.len()) else { return false };
    let end = host.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(wanted));
    end && (at == 0 || wanted.starts_with('.'))
}

fn path_fits(prefix: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(prefix) else { return false };
    rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HashKey, RouteTimeouts, Target};

    #[test]
    fn hosts_are_whole_or_end_so() {
        assert!(host_fits("a.example", "A.example"));
        assert!(!host_fits("a.example", "xa.example"));
        assert!(!host_fits("a.example", "b.a.example"));
        assert!(host_fits(".a.example", "b.a.example"));
        assert!(!host_fits(".a.example", "a.example"));
        assert!(!host_fits("a.example", ""));
    }

    #[test]
    fn prefixes_end_with_segments() {
        assert!(path_fits("/api", "/api"));
        assert!(path_fits("/api", "/api/x"));
        assert!(!path_fits("/api", "/apis"));
        assert!(path_fits("/", "/apis"));
        assert!(path_fits("/api/", "/api/x"));
        assert!(!path_fits("/api/", "/api"));
    }

    fn head(uri: &str, host: Option<&str>) -> Parts {
        let mut request = http::Request::builder().uri(uri);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_host_is_that_of_the_target_or_the_header() {
        assert_eq!(host(&head("/", Some("a.example:80"))), "a.example");
        assert_eq!(host(&head("/", Some("[::1]:80"))), "[::1]");
        assert_eq!(host(&head("/", Some("[::1]"))), "[::1]");
        assert_eq!(host(&head("/", Some("a.example."))), "a.example");
        assert_eq!(host(&head("http://b.example/", Some("a.example"))), "b.example");
        assert_eq!(host(&head("/", None)), "");
    }

    #[test]
    fn the_first_route_that_fits_counts() {
        let route = |host: Option<&str>, prefix: Option<&str>, label: Option<(&str, &str)>, upstream| Route {
            host: host.map(str::to_owned),
            prefix: prefix.map(str::to_owned),
            label: label.map(|(name, value)| (name.to_owned(), value.to_owned())),
            target: Target::Upstream(upstream),
            timeouts: RouteTimeouts::default(),
            retry: None,
            mirror: None,
            compression: true,
        };
        let routes = [
            route(None, None, Some(("tier", "canary")), 0),
            route(Some("a.example"), Some("/api"), None, 1),
            route(None, Some("/api"), None, 2),
        ];
        let none = |_: &str| None;
        assert_eq!(choose(&routes, &head("/api", Some("a.example")), none), Some(1));
        assert_eq!(choose(&routes, &head("/api", Some("b.example")), none), Some(2));
        assert_eq!(choose(&routes, &head("/x", Some("a.example")), none), None);
        assert_eq!(choose(&routes, &head("/x", None), |_| Some("canary")), Some(0));
        assert_eq!(choose(&routes, &head("/x", None), |_| Some("stable")), None);
    }

    #[test]
    fn keys_are_shared_out_by_weight_and_stay() {
        let split = |first, second| Split { parts: vec![(7, first), (8, second)], by: HashKey::Address };
        let keys: Vec<String> = (0..10_000).map(|number| format!("user-{number}")).collect();
        let first = |split: &Split| keys.iter().filter(|key| part_of(split, key.as_bytes()) == Some(7)).count();
        let (few, more) = (split(5, 95), split(10, 90));
        assert!((400..600).contains(&first(&few)), "{}", first(&few));
        for key in &keys {
            let canary = part_of(&few, key.as_bytes()) == Some(7);
            assert!(!canary || part_of(&more, key.as_bytes()) == Some(7), "{key}");
        }
        assert_eq!((first(&split(0, 1)), first(&split(1, 0))), (0, 10_000));
        assert_eq!(part_of(&split(0, 0), b"x"), None);
    }
}
