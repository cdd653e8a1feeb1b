//! Random conditions in the filter language about requests, made of the words that
//! `generate::gateway` makes requests of.

use crate::generate::{Rng, gateway};

const TEXTS: &[&str] = &[
    "http.host",
    "http.user_agent",
    "http.request.method",
    "http.request.uri.path",
    "http.request.uri.query",
    "http.request.uri",
    "http.request.full_uri",
    "http.referer",
    "http.x_forwarded_for",
];
const SETS: &[&str] = &[
    "10.0.0.0/8",
    "192.168.1.64/26",
    "2001:db8::/32",
    "203.0.113.9",
    "::1",
    "::/0",
    "10.0.0.1..10.0.0.9",
    "2001:db8::..2001:db8::ff",
];
/// Patterns: those that are alike on bytes and on text, those that have an equal, and those that have none.
const PATTERNS: &[&str] = &[
    "bot",
    "^/a",
    "^/a$",
    "(/|$)",
    "^(GET|PUT)$",
    "",
    "a|b",
    "(?i)BOT",
    "(?i)ok|K",
    "[a-z]+/[0-9]",
    "^/[^/]*$",
    "a.*b",
    "^a.+$",
    "^[^a]$",
    "a.b",
    "^.{1,3}$",
    ".+.+.+",
];

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn text(rng: &mut Rng) -> String {
    let field = *rng.pick(TEXTS);
    match rng.below(8) {
        0 => format!("lower({field})"),
        1 => format!("upper({field})"),
        _ => field.to_owned(),
    }
}

fn comparison(rng: &mut Rng) -> String {
    let word = |rng: &mut Rng| quoted(gateway::word_or_part(rng));
    let order = |rng: &mut Rng| *rng.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
    match rng.below(16) {
        0..3 => format!("{} {} {}", text(rng), rng.pick(&["eq", "ne"]), word(rng)),
        3 => format!("{} {} {}", text(rng), order(rng), word(rng)),
        4 => format!("{} contains {}", text(rng), word(rng)),
        5 => format!(
            "{} {} \"*{}*\"",
            text(rng),
            rng.pick(&["wildcard", "strict wildcard"]),
            rng.pick(&["a", "B", "/api", ""])
        )
        .replace("**", "*"),
        6 => format!("{} matches \"{}\"", text(rng), rng.pick(PATTERNS)),
        7 => format!("{} in {{{} {} {}}}", text(rng), word(rng), word(rng), word(rng)),
        8 => format!("{}({}, {})", rng.pick(&["starts_with", "ends_with"]), text(rng), word(rng)),
        9 => format!("ip.src {} {}", rng.pick(&["eq", "ne"]), rng.pick(&["10.0.0.1", "::1", "203.0.113.9"])),
        10 => format!("ip.src in {{{} {}}}", rng.pick(SETS), rng.pick(SETS)),
        11 if rng.chance(40) => format!("len({}) {} {}", text(rng), order(rng), rng.pick(&[0, 2, 3, 8])),
        11 => format!("tcp.srcport {} {}", order(rng), rng.pick(&[1, 80, 443, 65_535])),
        12 => format!("tcp.srcport in {{80 {}..9000}}", rng.pick(&[100, 8080])),
        13 => of_header(rng),
        14 => {
            let (header, word) = (if rng.chance(20) { arguments(rng) } else { header(rng) }, word(rng));
            let value = *rng.pick(&["[0]", "[1]"]);
            format!("{header}{value} {} {word}", rng.pick(&["eq", "ne", "contains"]))
        }
        _ => rng.pick(&["ssl", "true", "tcp.srcport & 1", "false"]).to_string(),
    }
}

/// The lines of a header.
fn header(rng: &mut Rng) -> String {
    format!("http.request.headers[\"{}\"]", rng.pick(&["x-a", "x-b", "x-n", "user-agent", "x-none"]))
}

/// Arguments of the query: the values of one, or something of all.
fn arguments(rng: &mut Rng) -> String {
    let which = rng.pick(&["[\"a\"]", "[\"debug\"]", "[\"b\"]", "[\"\"]", ".values", ".names"]);
    format!("http.request.uri.args{which}")
}

/// A quantifier over the lines of a header, the names of headers, or arguments.
fn of_header(rng: &mut Rng) -> String {
    let header = match rng.below(6) {
        0 => arguments(rng),
        1 if rng.chance(30) => "http.request.headers.names".to_owned(),
        _ => header(rng),
    };
    let lines = match rng.below(4) {
        0 => format!("lower({header}[*])[*]"),
        1 => format!("upper({header}[*])[*]"),
        _ => format!("{header}[*]"),
    };
    let test = |rng: &mut Rng| {
        let word = quoted(gateway::word_or_part(rng));
        format!("{lines} {} {word}", rng.pick(&["eq", "ne", "contains", "lt"]))
    };
    let quantifier = *rng.pick(&["any", "all"]);
    match rng.below(4) {
        0 => format!("{quantifier}(not {})", test(rng)),
        1 if !lines.contains('(') => {
            format!("{quantifier}(({} {} {}))", test(rng), rng.pick(&["and", "or", "xor"]), test(rng))
        }
        _ => format!("{quantifier}({})", test(rng)),
    }
}

/// A condition.
#[must_use]
pub fn condition(rng: &mut Rng, depth: usize) -> String {
    match rng.below(if depth == 0 { 5 } else { 9 }) {
        0..4 => comparison(rng),
        4 => format!("not {}", comparison(rng)),
        5 => format!("not ({})", condition(rng, depth - 1)),
        _ => {
            let word = *rng.pick(&[" and ", " or ", " xor "]);
            let parts: Vec<String> =
                (0..2 + rng.below(2)).map(|_| format!("({})", condition(rng, depth - 1))).collect();
            parts.join(word)
        }
    }
}
