//! Literals that occur in a text: user agents, and pieces of 2 KB of them.

use super::hyperscan::Database;
use super::{Contender, Workload};
use crate::rulesets::rng::Rng;
use crate::rulesets::vocabulary::Vocabulary;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use celero_matching::LiteralMap;
use daachorse::DoubleArrayAhoCorasick;
use std::collections::BTreeSet;
use std::rc::Rc;

/// `L1000` and the like: how many literals. `which` asks which of them occur, `any` whether one does.
pub(super) const NAMES: &[&str] = &[
    "L30_which_agents",
    "L100_which_agents",
    "L1000_which_agents",
    "L1000_which_2k",
    "L10000_which_agents",
    "L10000_which_2k",
    "L32_any_2k",
    "L1000_any_2k",
    "L10000_any_agents",
    "L10000_any_2k",
];

/// The texts that are searched, and words to search for.
pub(super) struct Texts {
    agents: Vec<String>,
    /// Texts of 2 KB.
    long: Vec<String>,
    /// Words of the agents first, then generated ones.
    words: Vec<String>,
    /// A line that says where they are from.
    pub(super) from: String,
}

impl Texts {
    pub(super) fn new() -> Self {
        let vocabulary = Vocabulary::new();
        let mut rng = Rng::new(31);
        let agents: Vec<String> = (0..512).map(|_| rng.pick(&vocabulary.agents).clone()).collect();
        let long = (0..64).map(|_| {
            let mut text = String::new();
            while text.len() < 2048 {
                text.push_str(rng.pick::<String>(&vocabulary.agents));
                text.push(' ');
            }
            text
        });
        let long = long.collect();
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut words = BTreeSet::new();
        while words.len() < 10_000 {
            let length = rng.below(12).saturating_add(5);
            words.insert((0..length).map(|_| char::from(*rng.pick(letters))).collect::<String>());
        }
        // One in a hundred is a word of the texts.
        let mut words: Vec<String> = words.into_iter().collect();
        for word in words.iter_mut().step_by(100) {
            let parts = rng.pick(&agents).split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| part.len() > 6);
            if let Some(part) = parts.max_by_key(|part| part.len()) {
                part.clone_into(word);
            }
        }
        let mut seen = BTreeSet::new();
        words.retain(|word| seen.insert(word.clone()));
        for n in (1..words.len()).rev() {
            words.swap(n, rng.below(n.saturating_add(1)));
        }
        Self { agents, long, words, from: vocabulary.from }
    }
}

pub(super) fn workload(name: &str, texts: &Texts) -> Workload<String> {
    let mut parts = name.trim_start_matches('L').split('_');
    let count = parts.next().and_then(|count| count.parse().ok()).expect("a number of literals");
    let (any, long) = (parts.next() == Some("any"), parts.next() == Some("2k"));
    let words: Rc<Vec<String>> = Rc::new(texts.words.iter().take(count).cloned().collect());
    let values = if long { &texts.long } else { &texts.agents }.clone();
    let (own, automaton, double, peer) = (Rc::clone(&words), Rc::clone(&words), Rc::clone(&words), words);
    // `any` is the id 0 if some literal occurs.
    let mut contenders = vec![
        Contender::new(
            "celero",
            move || LiteralMap::<false>::new(&own).expect("less than 4 GiB"),
            move |map, text: &String, found| {
                if any {
                    found.extend(map.any(text.as_bytes()).then_some(0));
                } else {
                    map.for_each(text.as_bytes(), |id| found.push(id));
                }
            },
        ),
        Contender::new(
            "aho_corasick_dfa",
            move || AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(&*automaton).expect("an automaton"),
            move |automaton, text, found| {
                if any {
                    found.extend(automaton.is_match(text).then_some(0));
                } else {
                    found.extend(automaton.find_overlapping_iter(text).map(|hit| hit.pattern().as_u32()));
                }
            },
        ),
        Contender::new(
            "daachorse",
            move || DoubleArrayAhoCorasick::<u32>::new(&*double).expect("an automaton"),
            move |automaton, text, found| {
                if any {
                    found.extend(automaton.find_iter(text).next().map(|_| 0));
                } else {
                    found.extend(automaton.find_overlapping_iter(text).map(|hit| hit.value()));
                }
            },
        ),
    ];
    if super::hyperscan::version().is_some() {
        contenders.push(Contender::of_size(
            "hyperscan",
            move || Database::literals(&peer).expect("literals"),
            move |database: &Database, text: &String, found| {
                if any {
                    found.extend(database.any(text.as_bytes()).then_some(0));
                } else {
                    database.find(text.as_bytes(), found);
                }
            },
            Database::bytes,
        ));
    }
    Workload { name: name.into(), values, contenders }
}
