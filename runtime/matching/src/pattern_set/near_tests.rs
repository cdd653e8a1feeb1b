//! Matches that begin far before the literal that their pattern requires.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::*;
use crate::MemoryBudget;

/// A part of a pattern.
enum Part {
    Text(String),
    Class(&'static str, &'static [&'static str]),
    Sequence(Vec<Self>),
    Either(Vec<Self>),
    Repeated(Box<Self>, &'static str, std::ops::RangeInclusive<usize>),
}

impl Part {
    fn new(random: &mut fastrand::Rng, depth: u32) -> Self {
        let two = |random: &mut fastrand::Rng| vec![Self::new(random, depth - 1), Self::new(random, depth - 1)];
        match random.u32(0..if depth == 0 { 4 } else { 9 }) {
            0 | 1 => Self::Text(
                (0..random.usize(1..=3)).map(|_| random.choice(["a", "b", "x", "Z", "0"]).unwrap()).collect(),
            ),
            2 => Self::Class("[a-fX]", &["a", "e", "X"]),
            3 => Self::Class("[^ -,x]", &["~", "0", "A", "\n"]),
            4 | 5 => Self::Sequence(two(random)),
            6 => Self::Either(two(random)),
            _ => {
                let (times, range) =
                    random.choice([("*", 0..=7), ("+", 1..=7), ("{2,5}", 2..=5), ("?", 0..=1)]).unwrap();
                Self::Repeated(Box::new(Self::new(random, depth - 1)), times, range)
            }
        }
    }

    /// The part as an expression.
    fn pattern(&self) -> String {
        let all = |parts: &[Self], between: &str| parts.iter().map(Self::pattern).collect::<Vec<_>>().join(between);
        match self {
            Self::Text(text) => text.clone(),
            Self::Class(class, _) => (*class).to_owned(),
            Self::Sequence(parts) => all(parts, ""),
            Self::Either(parts) => format!("(?:{})", all(parts, "|")),
            Self::Repeated(part, times, _) => format!("(?:{}){times}", part.pattern()),
        }
    }

    /// A text that the part matches.
    fn text(&self, random: &mut fastrand::Rng) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Class(_, texts) => (*random.choice(*texts).unwrap()).to_owned(),
            Self::Sequence(parts) => parts.iter().map(|part| part.text(random)).collect(),
            Self::Either(parts) => random.choice(parts).unwrap().text(random),
            Self::Repeated(part, _, range) => (0..random.usize(range.clone())).map(|_| part.text(random)).collect(),
        }
    }
}

/// A match begins with `=` and ends with its literal: a search that begins after the `=` finds nothing.
#[test]
fn matches_are_found_from_their_first_byte_on() {
    let mut random = fastrand::Rng::with_seed(21);
    let (mut matches, mut far) = (0_usize, 0_usize);
    for _ in 0..300 {
        let (before, second) = (Part::new(&mut random, 4), Part::new(&mut random, 2));
        let folded = if random.bool() { "(?i)" } else { "" };
        // Large, so that it is searched for near its literal.
        let literals = format!("(?:needle|{}thread)", second.pattern());
        let pattern = format!("{folded}=(?:{}){literals}(?:k{{70}}s)?!", before.pattern());
        let regex = regex::Regex::new(&pattern).unwrap();
        let set = PatternSet::new(&[&pattern], 0, &MemoryBudget::default());
        for _ in 0..12 {
            let (mut text, mut length) = (String::new(), 0);
            while text.len() < 1_500 {
                let filler = random.choice(["a", "-", "e~", "X0", "= ", "b "]).unwrap();
                text += &filler.repeat(random.usize(1..100));
                // The literal without what is before it, or what is before it without the literal.
                text += random.choice(["needle!", "=needle", " needle!", ""]).unwrap();
                text += &before.text(&mut random);
            }
            if random.bool() {
                let literal = if random.bool() { "needle".to_owned() } else { second.text(&mut random) + "thread" };
                let mut one = format!("={}{literal}!", before.text(&mut random));
                if !folded.is_empty() && random.bool() {
                    one.make_ascii_uppercase();
                }
                length = one.len();
                text += &one;
                text += &"-".repeat(random.usize(0..300));
            }
            let mut found = None;
            set.for_each(&text, |_, kind| found = Some(kind));
            let want = regex.is_match(&text).then_some(PatternMatch::Certain);
            assert_eq!(found, want, "{pattern} {text:?}");
            matches += usize::from(want.is_some());
            far += usize::from(want.is_some() && length > 32);
        }
    }
    assert!(matches > 1_000 && far > 100, "{matches} {far}");
}
