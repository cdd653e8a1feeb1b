//! What is measured outside of rules: W13 (finding internal headers among those of a request) and
//! searches for text in text. All contenders must return the same answer before they are timed.

use celero::http::HeaderSet;
use celero_matching::search::DispatchedSearcher;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::{BTreeSet, HashSet};

/// A contender: its name, and the function that is timed.
pub type Contender = (&'static str, Box<dyn Fn() -> u64 + Send + Sync>);

/// The 120 internal names of W13.
#[must_use]
pub fn internal_names() -> Vec<String> {
    const WORDS: &[&str] = &[
        "ray",
        "zone-id",
        "account",
        "brand",
        "origin-pool",
        "colo",
        "cache-tag",
        "worker",
        "tls-sni",
        "tls-alpn",
        "bot-score",
        "waf-action",
        "waf-ruleset",
        "route",
        "upstream-time",
        "retry",
        "hop",
        "trace",
        "span",
        "tenant",
        "quota",
        "rate",
        "shield",
        "argo",
        "tier",
        "early-hint",
        "purge",
        "rewrite",
        "asn",
        "country",
    ];
    ["cf-", "x-cf-", "cf-int-", "x-internal-"]
        .iter()
        .flat_map(|p| WORDS.iter().map(move |w| format!("{p}{w}")))
        .collect()
}

/// Names that clients and proxies send.
const REAL: &[&str] = &[
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "accept-language",
    "cookie",
    "x-forwarded-for",
    "x-forwarded-proto",
    "authorization",
    "content-type",
    "content-length",
    "x-request-id",
    "x-custom",
    "referer",
    "origin",
    "cache-control",
    "if-none-match",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-dest",
    "dnt",
    "te",
    "via",
    "range",
    "pragma",
    "expect",
    "connection",
    "upgrade",
    "keep-alive",
    "forwarded",
    "x-real-ip",
    "x-forwarded-host",
    "x-requested-with",
    "x-csrf-token",
    "x-api-key",
    "x-amzn-trace-id",
    "traceparent",
    "tracestate",
    "if-modified-since",
    "upgrade-insecure-requests",
    "sec-websocket-key",
    "sec-gpc",
    "priority",
    "early-data",
];

/// Which names the headers have that are not internal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misses {
    /// Random letters.
    Random,
    /// Names that are in use.
    Real,
}

/// Pseudo-random numbers (xorshift), the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0.wrapping_shl(13);
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0.wrapping_shl(17);
        ((self.0 >> 33) as usize).checked_rem(n).unwrap_or(0)
    }

    fn pick<'s>(&mut self, from: &[&'s str]) -> &'s str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

/// Thirty headers, of which `rate` percent are internal.
#[must_use]
pub fn headers(rate: usize, misses: Misses) -> HeaderMap {
    let internal = internal_names();
    let internal: Vec<&str> = internal.iter().map(String::as_str).collect();
    let mut numbers = Numbers(88_172_645_463_325_252);
    let hits = rate.saturating_mul(30).div_ceil(100);
    let mut map = HeaderMap::new();
    while map.len() < 30 {
        let name = if map.len() < hits {
            numbers.pick(&internal).to_owned()
        } else if misses == Misses::Real {
            numbers.pick(REAL).to_owned()
        } else {
            let length = numbers.below(20).saturating_add(3);
            (0..length).map(|_| char::from(b'a'.saturating_add(numbers.below(26) as u8))).collect()
        };
        map.insert(name.parse::<HeaderName>().expect("a name"), HeaderValue::from_static("v"));
    }
    map
}

/// The contenders that count the internal names among headers: celero first, then a trie, hash sets and a tree.
#[must_use]
pub fn w13(headers: &HeaderMap) -> Vec<Contender> {
    fn contender(
        name: &'static str,
        headers: &HeaderMap,
        has: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Contender {
        let headers = headers.clone();
        (name, Box::new(move || std::hint::black_box(&headers).keys().filter(|name| has(name.as_str())).count() as u64))
    }
    type Fold = HashSet<&'static str, foldhash::fast::RandomState>;
    let names: &'static [String] = internal_names().leak();
    let all = || names.iter().map(String::as_str);
    let set = HeaderSet::new(names, [""; 0]).expect("names");
    let prefixed = HeaderSet::new(names, ["x-internal-"]).expect("names");
    let trie: trie_hard::TrieHard<'static, &'static str> = all().collect();
    let (fold, after_length, after_prefix): (Fold, Fold, Fold) = (all().collect(), all().collect(), all().collect());
    let sip: HashSet<&str> = all().collect();
    let tree: BTreeSet<&str> = all().collect();
    let ends = |name: &str| Some((name.len(), *name.as_bytes().first()?, *name.as_bytes().last()?));
    let seen = move |(length, first, last): (usize, u8, u8)| {
        (length.wrapping_mul(7).wrapping_add(usize::from(first).wrapping_mul(31)).wrapping_add(usize::from(last)))
            & 16383
    };
    let mut used = vec![false; 16384];
    for at in all().filter_map(ends).map(seen) {
        if let Some(used) = used.get_mut(at) {
            *used = true;
        }
    }
    let is_used = move |name: &str| ends(name).map(seen).and_then(|at| used.get(at)).is_some_and(|used| *used);
    let begins = |name: &str| ["cf-", "x-cf-", "x-internal-"].iter().any(|prefix| name.starts_with(prefix));
    let (own, own_prefixed) = (headers.clone(), headers.clone());
    vec![
        ("header_set", Box::new(move || set.find(std::hint::black_box(&own)).count() as u64)),
        ("with_prefix", Box::new(move || prefixed.find(std::hint::black_box(&own_prefixed)).count() as u64)),
        contender("trie_hard", headers, move |name| trie.get(name).is_some()),
        contender("foldhash", headers, move |name| fold.contains(name)),
        contender("len_foldhash", headers, move |name| is_used(name) && after_length.contains(name)),
        contender("prefix_foldhash", headers, move |name| begins(name) && after_prefix.contains(name)),
        contender("std_hash", headers, move |name| sip.contains(name)),
        contender("btree", headers, move |name| tree.contains(name)),
    ]
}

/// The needles of the searches.
pub const NEEDLES: &[&str] =
    &["bot", "wget", "/admin", "Googlebot", "union select", "../../etc/passwd", "application/x-www-form-urlencod"];
/// The lengths of the texts.
pub const LENGTHS: &[usize] = &[8, 16, 24, 32, 48, 64, 101, 128, 200];

/// Where the needle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Nowhere.
    Miss,
    /// At the end.
    End,
    /// Near the beginning.
    Early,
}

/// A text of this length with the needle at `hit`; `None` if the needle is longer.
#[must_use]
pub fn haystack(needle: &str, length: usize, hit: Hit) -> Option<String> {
    const TEXT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36 \
        session_id=9f8b3c1ad2e74f6f8e1a2b3c4d5e6f70; _ga=GA1.2.1234567890.1700000000; theme=dark; locale=en-US; \
        csrftoken=Zk3vW8mXq1sT9bL2pYcR; consent=1";
    let last = length.checked_sub(needle.len())?;
    let mut text = TEXT.get(..length)?.to_owned();
    let at = if hit == Hit::End { last } else { last.min(2) };
    if hit != Hit::Miss {
        text.replace_range(at..at.saturating_add(needle.len()), needle);
    }
    Some(text)
}

/// The contenders that search for a needle: celero, with the search behind `contains` with a constant, then its peers.
#[must_use]
pub fn search(needle: &str, text: &str) -> Vec<Contender> {
    let owned: &'static str = text.to_owned().leak();
    let own = DispatchedSearcher::<Box<[u8]>>::new(needle.as_bytes().into());
    let finder = memchr::memmem::Finder::new(needle).into_owned();
    let mut contenders: Vec<Contender> = vec![
        ("celero", Box::new(move || u64::from(own.is_in(std::hint::black_box(owned).as_bytes())))),
        ("memmem", Box::new(move || u64::from(finder.find(std::hint::black_box(owned).as_bytes()).is_some()))),
    ];
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        let searcher = unsafe { sliceslice::x86::DynamicAvx2Searcher::<Box<[u8]>>::new(needle.as_bytes().into()) };
        // SAFETY: as above.
        let found = move || u64::from(unsafe { searcher.search_in(std::hint::black_box(owned).as_bytes()) });
        contenders.push(("sliceslice", Box::new(found)));
    }
    contenders
}
