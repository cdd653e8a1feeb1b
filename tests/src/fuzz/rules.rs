//! Targets about many rules on requests: sets, live rules, translations. The rules are lines.

use super::{ENGINES, SEEDS};
use crate::generate::Rng;
use crate::generate::filter::http;
use crate::generate::gateway::{self, Sample};
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Env, ErrorPolicy, Live, Program, Rule, Scratch, Type};
use std::sync::LazyLock;

type Request = RequestContext<'static>;

/// Rules of an input. The rest is not looked at.
const RULES: usize = 24;

struct Host {
    cel: Env<Request>,
    filter: Env<Request>,
    samples: Vec<Sample>,
}

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let (cel, mut rng) = (Env::<RequestContext<'_>>::new(), Rng::new(56));
    let filter = cel.clone().filter_language(FilterLanguage::http());
    let mut samples: Vec<Sample> = (0..4).map(|_| gateway::sample(&mut rng)).collect();
    for sample in &mut samples {
        // An IPv4-mapped address is an IPv4 address in CEL, and none in the filter language.
        sample.peer = sample.peer.filter(|peer| peer.ip() == peer.ip().to_canonical());
    }
    Host { cel, filter, samples }
});

/// The program of a line that a set may have.
fn rule(line: &str) -> Option<Program<Request>> {
    let program = ENGINES[1].compile(&HOST.cel, line).ok()?;
    (program.is_pure() && matches!(program.result_type(), Type::Bool | Type::Dyn)).then_some(program)
}

/// A set answers in both tiers as its rules do alone.
pub fn sets(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let rules: Vec<_> = text.lines().take(RULES).filter_map(|line| Some((line, rule(line)?))).collect();
    let of = |engine: usize| {
        let empty = ENGINES[engine].rules(&HOST.cel).on_error(ErrorPolicy::NoMatch);
        let set = rules.iter().fold(empty, |set, (source, _)| set.rule(source, source, ()));
        set.build().unwrap_or_else(|error| panic!("{error}"))
    };
    let (sets, mut scratch) = ([of(0), of(1)], Scratch::new());
    for sample in &HOST.samples {
        let context = sample.context();
        let alone: Vec<usize> = (0..rules.len()).filter(|&rule| rules[rule].1.test(&context) == Ok(true)).collect();
        for set in &sets {
            let found = set.indices(&context, &mut scratch).map(<[usize]>::to_vec);
            assert_eq!(found.as_ref(), Ok(&alone), "{:?}", String::from_utf8_lossy(data));
        }
    }
}

/// Live rules answer as those alone that are left. A line is inserted under a name of its length; a line that is
/// no rule removes the rules of its name.
pub fn live(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let rules = Live::<Request, usize>::new(ENGINES[0].clone(), HOST.cel.clone());
    let mut left: Vec<(String, usize, Program<Request>)> = Vec::new();
    let mut scratch = Scratch::new();
    for (number, line) in text.lines().take(RULES).enumerate() {
        let name = format!("n{}", line.len() % 7);
        match rule(line) {
            Some(program) => {
                let inserted = rules.insert(Rule::new(&name, line, number).on_error(ErrorPolicy::NoMatch));
                assert!(inserted.is_ok(), "{line}");
                left.push((name, number, program));
            }
            None => {
                let before = left.len();
                left.retain(|rule| rule.0 != name);
                assert_eq!(rules.remove(&name), before - left.len(), "{name}");
            }
        }
        let context = HOST.samples[number % HOST.samples.len()].context();
        let now = rules.load();
        let found: Vec<usize> = match now.indices(&context, &mut scratch) {
            Ok(found) => found.iter().filter_map(|&rule| now.get(rule).map(|rule| *rule.action)).collect(),
            Err(error) => panic!("{error:?}"),
        };
        let alone = left.iter().filter(|rule| rule.2.test(&context) == Ok(true)).map(|rule| rule.1);
        assert_eq!(found, alone.collect::<Vec<_>>(), "{:?}", String::from_utf8_lossy(data));
    }
}

pub(super) fn rule_seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(57);
    let mut input = || (0..1 + rng.below(8)).map(|_| gateway::rule(&mut rng) + "\n").collect::<String>().into_bytes();
    (0..SEEDS).map(|_| input()).collect()
}

/// A rule and its translation to the other language are true for the same requests.
pub fn translation(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let Host { cel, filter, samples } = &*HOST;
    let engine = &ENGINES[1];
    let pairs = [
        (cel, filter, engine.to_filter(filter, source).map(|translated| translated.text().to_owned())),
        (filter, cel, engine.to_cel(filter, source)),
    ];
    for (from, to, translated) in pairs {
        let Ok(translated) = translated else { continue };
        let compile = |env, text: &str| engine.compile(env, text);
        // The translation may exceed a limit.
        let (Ok(before), Ok(after)) = (compile(from, source), compile(to, &translated)) else { continue };
        for sample in samples {
            let context = sample.context();
            let [before, after] = [&before, &after].map(|program| program.test(&context) == Ok(true));
            assert_eq!(before, after, "{source}\n{translated}\n{sample:?}");
        }
    }
}

pub(super) fn translation_seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(58);
    let both = |_| [gateway::atom(&mut rng), http::condition(&mut rng, 3)].map(String::into_bytes);
    (0..SEEDS).flat_map(both).collect()
}
