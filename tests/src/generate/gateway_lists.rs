//! Random rules that ask named lists, made of the words of [`gateway`](super::gateway), and changes of the lists.

use super::Rng;
use super::gateway::{ADDRESSES, AGENTS, HOSTS, NETWORKS, PATHS, PORTS, VALUES, field, rule};
use celero::lists::{Kind, Limits, Lists};

const LISTS: &[(&str, Kind)] = &[
    ("blocked", Kind::Addresses),
    ("partners", Kind::Addresses),
    ("tenants", Kind::Hosts),
    ("words", Kind::Texts),
    ("more_words", Kind::Texts),
    ("words_in_any_case", Kind::TextsIgnoringCase),
    ("ports", Kind::Integers),
    ("patterns", Kind::Patterns),
    ("wildcards", Kind::Wildcards),
];

/// Returns the lists that rules ask, without entries.
#[must_use]
pub fn lists() -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, kind) in LISTS {
        // They are few, and have names of their own.
        let _ = lists.declare(name, *kind);
    }
    lists
}

/// Inserts and removes a few entries of a list.
///
/// # Errors
/// An entry is refused.
pub fn change(rng: &mut Rng, lists: &Lists) -> Result<(), String> {
    let (name, kind) = *rng.pick(LISTS);
    let mut change = lists.change();
    for _ in 0..1 + rng.below(4) {
        let entry = match kind {
            Kind::Addresses => {
                let of = if rng.chance(50) { NETWORKS } else { ADDRESSES };
                (*rng.pick(of)).to_owned()
            }
            Kind::Hosts => {
                let host = *rng.pick(&["a.example", "b.example", "example", "www.a.example", "none.example"]);
                if rng.chance(40) { format!("*.{host}") } else { host.to_owned() }
            }
            Kind::Integers => rng.pick(PORTS).to_string(),
            Kind::Patterns => {
                let of = [
                    "^/a",
                    "b$",
                    r"\.example",
                    "(?i)CURL",
                    "[0-9]{2,}",
                    "x|y",
                    "\u{fffd}",
                    "^.$",
                    "A.*b",
                    r"^(?:/[a-z]+)+$",
                ];
                (*rng.pick(&of)).to_owned()
            }
            Kind::Wildcards => {
                let of = *rng.pick(&[HOSTS, PATHS, VALUES, AGENTS]);
                let text = *rng.pick(of);
                match (rng.below(4), text.char_indices().nth(rng.below(4))) {
                    (0, _) => format!("*{text}"),
                    (1, _) => format!("{text}*"),
                    (2, Some((at, c))) => text
                        .get(..at)
                        .zip(text.get(at + c.len_utf8()..))
                        .map_or("*".into(), |(a, b)| format!("{a}*{b}")),
                    _ => text.to_owned(),
                }
            }
            _ => {
                let of = *rng.pick(&[HOSTS, PATHS, VALUES, AGENTS]);
                (*rng.pick(of)).to_owned()
            }
        };
        if entry.is_empty() || entry.contains("::ffff") {
            continue;
        }
        change = if rng.chance(65) { change.insert(name, &entry) } else { change.remove(name, &entry) };
    }
    change.commit().map(drop).map_err(|error| error.to_string())
}

/// A condition that asks a list.
fn atom(rng: &mut Rng) -> String {
    let of_texts = *rng.pick(&["words", "more_words", "words_in_any_case", "tenants", "patterns", "wildcards"]);
    match rng.below(10) {
        0..3 => format!("source.address in lists.{}", rng.pick(&["blocked", "partners"])),
        3 => format!("request.host in lists.{of_texts}"),
        4 => format!("request.path in lists.{of_texts}"),
        5 => format!("request.headers[{}] in lists.{of_texts}", rng.pick(&["'x-a'", "'user-agent'", "'x-none'"])),
        6 => format!("request.headers[?'x-a'].orValue('a') in lists.{of_texts}"),
        7 => "int(source.port) in lists.ports || source.port in lists.ports".to_owned(),
        8 => "request.path in lists.words || source.address in lists.blocked".to_owned(),
        _ => format!("{} in lists.{of_texts}", field(rng).0),
    }
}

/// A rule that asks a list, alone or beside other conditions.
#[must_use]
pub fn rule_with_lists(rng: &mut Rng) -> String {
    let atom = atom(rng);
    match rng.below(8) {
        0..3 => atom,
        3..6 => format!("({atom}) && ({})", rule(rng)),
        6 => format!("!({atom}) && ({})", rule(rng)),
        _ => format!("({}) && ({atom} || {})", rule(rng), self::atom(rng)),
    }
}
