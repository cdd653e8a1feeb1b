//! Patterns that match a text: 901 names of crawlers on user agents, and those of a web application
//! firewall on requests. From the shared corpora; without these there are no such rows.

use super::hyperscan::{Database, PREFILTER, SINGLE_MATCH};
use super::{Contender, Workload};
use crate::rulesets::rng::Rng;
use crate::rulesets::vocabulary::{column, corpora};
use celero_matching::pattern::ParsedPattern;
use celero_matching::{Matcher, MemoryBudget, PatternMatch, PatternSet};
use regex::Regex;
use regex_automata::meta::{self, Regex as MetaRegex};
use regex_automata::{Input, MatchKind, PatternSet as FoundPatterns};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// `crawlers`: 901 patterns of crawlers, `crs`: those of the OWASP core rule set, `crs_exact`: of
/// these the ones that Hyperscan decides. `agents` and `uris` are texts at random, `hits` agents
/// that match, `bodies` bodies of the rule set's tests, `2k` texts of 2 KB of these.
pub(super) const NAMES: &[&str] = &[
    "P_crawlers_agents",
    "P_crawlers_hits",
    "P_crawlers_2k",
    "P_crs_uris",
    "P_crs_bodies",
    "P_crs_2k",
    "P_crs_exact_uris",
    "P_crs_exact_bodies",
    "P_crs_exact_2k",
];

/// Most bytes of state tables, as in the index of a set of rules.
const TABLE_BYTES: usize = 4 << 20;
/// Most texts of a row.
const TEXTS: usize = 512;

/// What the rows are about.
pub(super) struct Corpus {
    crawlers: Vec<String>,
    crs: Vec<String>,
    agents: Vec<String>,
    uris: Vec<String>,
    bodies: Vec<String>,
}

impl Corpus {
    /// The shared corpora. Only ASCII texts: on these, patterns on characters and patterns on bytes agree.
    pub(super) fn new() -> Option<Self> {
        let directory = corpora()?;
        let patterns = |file: &str, name| -> Vec<String> {
            let patterns: BTreeSet<String> = column(&directory.join(file), name).into_iter().collect();
            patterns.into_iter().filter(|pattern| Matcher::new(pattern).is_ok()).collect()
        };
        let texts = |texts: Vec<String>| -> Vec<String> {
            let texts: BTreeSet<String> =
                texts.into_iter().filter(|text| text.is_ascii() && !text.is_empty()).collect();
            texts.into_iter().collect()
        };
        let agents = std::fs::read_to_string(directory.join("user_agents.txt")).ok()?;
        Some(Self {
            crawlers: patterns("crawler_patterns.jsonl", "pattern"),
            crs: patterns("crs_regexes.jsonl", "regex"),
            agents: texts(agents.lines().map(str::to_owned).collect()),
            uris: texts(column(&directory.join("http_requests.jsonl"), "uri")),
            bodies: texts(column(&directory.join("http_requests.jsonl"), "body")),
        })
    }
}

/// At most [`TEXTS`] of these, in no order.
fn sample(texts: &[String], rng: &mut Rng) -> Vec<String> {
    (0..TEXTS.min(texts.len())).map(|_| rng.pick(texts).clone()).collect()
}

/// Texts of 2 KB of these.
fn long(texts: &[String], rng: &mut Rng) -> Vec<String> {
    let long = (0..64).map(|_| {
        let mut text = String::new();
        while text.len() < 2048 {
            text.push_str(rng.pick::<String>(texts));
            text.push(' ');
        }
        text.truncate(2048);
        text
    });
    long.collect()
}

/// `None` for rows that need Hyperscan, where it is not installed.
pub(super) fn workload(name: &str, corpus: &Corpus) -> Option<Workload<String>> {
    let mut rng = Rng::new(57);
    let crawlers = name.starts_with("P_crawlers");
    let mut patterns = if crawlers { corpus.crawlers.clone() } else { corpus.crs.clone() };
    if name.starts_with("P_crs_exact") {
        super::hyperscan::version()?;
        patterns.retain(|pattern| taken(pattern).is_some_and(|(_, flags)| flags & PREFILTER == 0));
    }
    let patterns = Rc::new(patterns);
    let texts = if crawlers { &corpus.agents } else { &corpus.bodies };
    let values = match name.rsplit('_').next() {
        Some("agents") => sample(&corpus.agents, &mut rng),
        Some("uris") => sample(&corpus.uris, &mut rng),
        Some("bodies") => sample(&corpus.bodies, &mut rng),
        Some("2k") => long(texts, &mut rng),
        _ => {
            let all = many(&patterns);
            let hits: Vec<String> =
                corpus.agents.iter().filter(|agent| all.is_match(agent.as_str())).cloned().collect();
            sample(&hits, &mut rng)
        }
    };
    let [own, set, joint, each, peer] = std::array::from_fn(|_| Rc::clone(&patterns));
    let mut contenders = vec![
        Contender::new("celero", move || Own::new(&own), |own: &Own, text: &String, found| own.find(text, found)),
        Contender::new(
            "celero_set",
            move || Own::with_lazy_matchers(&set),
            |own: &Own, text: &String, found| own.find(text, found),
        ),
        Contender::new(
            "regex_automata_many",
            move || {
                let regex = many(&joint);
                let found = RefCell::new(FoundPatterns::new(regex.pattern_len()));
                (regex, found)
            },
            |(regex, patterns), text: &String, found| {
                let mut patterns = patterns.borrow_mut();
                patterns.clear();
                regex.which_overlapping_matches(&Input::new(text), &mut patterns);
                found.extend(patterns.iter().map(|id| id.as_u32()));
            },
        ),
        Contender::new(
            "regex_loop",
            move || each.iter().map(|pattern| Regex::new(pattern).expect("a pattern")).collect::<Vec<_>>(),
            |regexes, text: &String, found| {
                let matches = (0..).zip(regexes).filter(|(_, regex)| regex.is_match(text));
                found.extend(matches.map(|(id, _)| id));
            },
        ),
    ];
    if super::hyperscan::version().is_some() {
        let taken: Vec<Taken> = peer.iter().map(|pattern| taken(pattern)).collect();
        contenders.push(Contender::of_size(
            "hyperscan",
            move || Prefiltered::new(&peer, &taken),
            |own: &Prefiltered, text: &String, found| own.find(text, found),
            |own| own.database.bytes(),
        ));
    }
    Some(Workload { name: name.into(), values, contenders })
}

/// All patterns as one automaton of regex-automata, which finds all that match.
fn many(patterns: &[String]) -> MetaRegex {
    // Otherwise its states do not fit, and it falls back to an engine that is a hundred times slower.
    const CACHE_BYTES: usize = 256 << 20;
    let config = meta::Config::new().match_kind(MatchKind::All).nfa_size_limit(None).hybrid_cache_capacity(CACHE_BYTES);
    MetaRegex::builder().configure(config).build_many(patterns).expect("patterns")
}

/// The set, and a matcher for each pattern that it does not decide.
struct Own {
    set: PatternSet,
    matchers: Vec<Matcher>,
}

impl Own {
    fn new(patterns: &[String]) -> Self {
        let parsed: Vec<ParsedPattern<'_>> =
            patterns.iter().map(|pattern| ParsedPattern::new(pattern).expect("a pattern")).collect();
        Self {
            set: PatternSet::from_parsed(&parsed, TABLE_BYTES, &MemoryBudget::new(1 << 30)),
            matchers: parsed.iter().map(|pattern| Matcher::from_parsed(pattern).expect("a pattern")).collect(),
        }
    }

    /// The set alone is built: each matcher is compiled when a text is met that the set does not
    /// decide for its pattern.
    fn with_lazy_matchers(patterns: &[String]) -> Self {
        let (texts, budget): (Vec<&str>, _) =
            (patterns.iter().map(String::as_str).collect(), MemoryBudget::new(1 << 30));
        Self {
            set: PatternSet::new(&texts, TABLE_BYTES, &budget),
            matchers: texts.iter().map(|pattern| Matcher::lazy(pattern, &budget)).collect(),
        }
    }

    fn find(&self, text: &str, found: &mut Vec<u32>) {
        self.set.for_each(text, |id, kind| {
            let matcher = self.matchers.get(id as usize);
            if kind == PatternMatch::Certain || matcher.is_some_and(|matcher| matcher.is_match(text) == Ok(true)) {
                found.push(id);
            }
        });
    }
}

/// A pattern as Hyperscan takes it: expression and flags. `None` if it takes the pattern not even as a prefilter.
type Taken = Option<(String, u32)>;

/// How Hyperscan takes a pattern.
fn taken(pattern: &str) -> Taken {
    let expression = of_bytes(pattern);
    let takes = |flags: &u32| Database::patterns([(expression.as_str(), *flags)].into_iter()).is_some();
    let flags = [SINGLE_MATCH, SINGLE_MATCH | PREFILTER].into_iter().find(takes)?;
    Some((expression, flags))
}

/// Hyperscan's database, and what verifies the expressions that it takes only as prefilters, or not at all.
struct Prefiltered {
    database: Database,
    /// Indexed by id: verifies a match.
    verify: Vec<Option<Regex>>,
    /// The id of each expression of the database.
    ids: Vec<u32>,
    /// Those that the database does not have.
    others: Vec<(u32, Regex)>,
}

impl Prefiltered {
    fn new(patterns: &[String], taken: &[Taken]) -> Self {
        let (mut ids, mut expressions, mut others, mut verify) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((id, pattern), taken) in (0..).zip(patterns).zip(taken) {
            let regex = || Regex::new(pattern).expect("a pattern");
            verify.push(taken.as_ref().filter(|(_, flags)| flags & PREFILTER != 0).map(|_| regex()));
            match taken {
                Some((text, flags)) => {
                    ids.push(id);
                    expressions.push((text.as_str(), *flags));
                }
                None => others.push((id, regex())),
            }
        }
        Self { database: Database::patterns(expressions.into_iter()).expect("each was taken"), verify, ids, others }
    }

    fn find(&self, text: &str, found: &mut Vec<u32>) {
        let first = found.len();
        self.database.find(text.as_bytes(), found);
        for id in found.iter_mut().skip(first) {
            *id = self.ids.get(*id as usize).copied().unwrap_or(*id);
        }
        found.retain(|id| {
            self.verify.get(*id as usize).and_then(Option::as_ref).is_none_or(|regex| regex.is_match(text))
        });
        found.extend(self.others.iter().filter(|(_, regex)| regex.is_match(text)).map(|(id, _)| *id));
    }
}

/// A pattern as Hyperscan writes it: its `$` also matches before a last newline.
fn of_bytes(pattern: &str) -> String {
    let (mut text, mut escaped, mut class) = (String::with_capacity(pattern.len()), false, 0_u32);
    for c in pattern.chars() {
        match c {
            _ if escaped => {}
            '[' => class = 1,
            ']' => class = 0,
            '$' if class == 0 => {
                text.push_str("\\z");
                continue;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        text.push(c);
    }
    text
}
