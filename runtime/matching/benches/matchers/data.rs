//! The keys and values of the benchmarks: generated, and the same in every run.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// A generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn word(&mut self) -> String {
        const SYLLABLES: &[&str] = &[
            "ba", "con", "der", "el", "fi", "gra", "hu", "in", "jo", "ka", "lo", "mer", "na", "or", "pi", "qua", "res",
            "st", "tu", "ver", "wi", "ze",
        ];
        (0..3 + self.below(3)).map(|_| SYLLABLES[self.below(SYLLABLES.len())]).collect()
    }
}

/// Host names as keys, and 4,096 host names of which half are keys.
pub(super) fn hosts(count: usize) -> (Vec<String>, Vec<String>) {
    let mut numbers = Numbers::new();
    let keys = distinct(count, || format!("{}.{}.example.com", numbers.word(), numbers.word()));
    let mut numbers = Numbers(7);
    let values = (0..4096)
        .map(|i| match i % 2 {
            0 => keys[numbers.below(keys.len())].clone(),
            _ => format!("{}.{}.example.net", numbers.word(), numbers.word()),
        })
        .collect();
    (keys, values)
}

/// A request line of about 90 bytes.
fn line(numbers: &mut Numbers, word: &str) -> String {
    let (a, b, c) = (numbers.word(), numbers.word(), numbers.word());
    format!(
        "GET /{a}/v{}/{b}?id={}&next=%2F{c}&q={word} HTTP/1.1 {}-bot/2.{}",
        numbers.below(9),
        numbers.below(100_000),
        numbers.word(),
        numbers.below(10)
    )
}

/// Words as literals, and 512 request lines of which one in eight has one for certain.
pub(super) fn literals(count: usize) -> (Vec<String>, Vec<String>) {
    let mut numbers = Numbers::new();
    let keys = distinct(count, || format!("{}-{}", numbers.word(), numbers.below(100)));
    let texts = (0..512)
        .map(|i| {
            let word = if i % 8 == 0 { keys[numbers.below(keys.len())].clone() } else { numbers.word() };
            line(&mut numbers, &word)
        })
        .collect();
    (keys, texts)
}

/// Networks of 16 to 28 bits, and 4,096 addresses of which half are in one.
pub(super) fn networks(count: usize) -> (Vec<(IpAddr, u8)>, Vec<IpAddr>) {
    let mut numbers = Numbers::new();
    let keys: Vec<(IpAddr, u8)> = distinct(count, || {
        let prefix = [16, 20, 22, 24, 24, 24, 28][numbers.below(7)];
        (numbers.next() as u32 & (u32::MAX << (32 - prefix)), prefix as u8)
    })
    .into_iter()
    .map(|(bits, prefix)| (Ipv4Addr::from_bits(bits).into(), prefix))
    .collect();
    let values = (0..4096)
        .map(|i| match keys[numbers.below(keys.len())].0 {
            IpAddr::V4(network) if i % 2 == 0 => {
                Ipv4Addr::from_bits(network.to_bits() | numbers.below(16) as u32).into()
            }
            _ => Ipv4Addr::from_bits(numbers.next() as u32).into(),
        })
        .collect();
    (keys, values)
}

/// Patterns that require literals (`literals`), classes alone (`classes`), or classes with gaps
/// between them (`gaps`), and 512 request lines.
pub(super) fn patterns(kind: &str, count: usize) -> (Vec<String>, Vec<String>) {
    let mut numbers = Numbers::new();
    let patterns = distinct(count, || {
        let (word, other) = (numbers.word(), numbers.word());
        let n = 2 + numbers.below(4);
        match (kind, numbers.below(4)) {
            ("literals", 0) => format!("(?i){word}[-_ ]?{other}"),
            ("literals", 1) => format!(r"q={word}\b"),
            ("literals", 2) => format!("/{word}/v[0-9]+/"),
            ("literals", _) => format!(r"{word}(-bot|crawler)/[0-9]\.[0-9]"),
            ("classes", 0) => format!("[0-9]{{{n}}}&[a-z]{{{}}}=", 1 + numbers.below(9)),
            ("classes", 1) => format!("[<>'\"]{{{n}}}[a-z]{{{}}}", 1 + numbers.below(9)),
            ("classes", 2) => format!("(?:[a-f][g-m]){{{n}}}[0-{}]", 1 + numbers.below(8)),
            ("classes", _) => format!("[A-Z]{{{n}}} ?[/-][a-{}]+[?]", char::from(b'm' + numbers.below(13) as u8)),
            // As in rules of firewalls: gaps of bounded length between classes of Unicode.
            (_, 0) => format!(r"[=&]\s*\w{{{n},{}}}['(<]", n + 1 + numbers.below(8)),
            (_, 1) => format!(r"\d{{{n}}}.{{0,{}}}[;|`]\s*\w+", 5 + numbers.below(30)),
            (_, 2) => format!(r"(?:[/?]\w+){{{n}}}.{{1,{}}}\d[&?]", 5 + numbers.below(30)),
            (_, _) => format!(r"['`](?:\s|\w){{{n},{}}}[=<>]", n + 1 + numbers.below(8)),
        }
    });
    let words: Vec<String> =
        patterns.iter().filter_map(|p| p.strip_prefix("q=")?.strip_suffix(r"\b").map(Into::into)).collect();
    let texts = (0..512)
        .map(|i| {
            let word = if i % 8 == 0 && !words.is_empty() {
                words[numbers.below(words.len())].clone()
            } else {
                numbers.word()
            };
            line(&mut numbers, &word)
        })
        .collect();
    (patterns, texts)
}

/// 512 texts of a length.
pub(super) fn texts(length: usize) -> Vec<String> {
    let mut numbers = Numbers::new();
    (0..512)
        .map(|_| {
            let mut text = String::new();
            while text.len() < length {
                let word = numbers.word();
                text.push_str(&line(&mut numbers, &word));
            }
            text.truncate(length);
            text
        })
        .collect()
}

/// As many different keys as asked for, in the order in which they are generated.
fn distinct<T: Ord + Clone>(count: usize, mut next: impl FnMut() -> T) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let mut keys = Vec::new();
    while keys.len() < count {
        let key = next();
        if seen.insert(key.clone()) {
            keys.push(key);
        }
    }
    keys
}
