//! Random rules in one language are translated to the other: a rule and its translation have the same result for every request, in both
//! tiers.

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, Tier};
use celero_tests::generate::{Rng, filter::http, gateway};

/// Rules that are interpreted; every tenth is compiled to native code too.
const RULES: usize = 1_500;

/// Requests for each rule.
const REQUESTS: usize = 12;

/// Requests whose addresses have one form. An IPv4-mapped address is an IPv4 address in CEL, and none here.
fn requests(rng: &mut Rng) -> Vec<gateway::Sample> {
    let mut requests: Vec<gateway::Sample> = (0..REQUESTS).map(|_| gateway::sample(rng)).collect();
    for request in &mut requests {
        request.peer = request.peer.filter(|peer| peer.ip() == peer.ip().to_canonical());
    }
    requests
}

fn context(sample: &gateway::Sample) -> RequestContext<'_> {
    let mut context = RequestContext::new(&sample.request);
    if let Some(peer) = sample.peer {
        context = context.with_source(peer);
    }
    match &sample.body {
        Some(body) => context.with_body(body),
        None => context,
    }
}

fn engines(number: usize) -> Vec<Engine> {
    let tiers = if number.is_multiple_of(10) { vec![Tier::Interpret, Tier::Native] } else { vec![Tier::Interpret] };
    tiers.into_iter().map(|tier| Engine::builder().tier(tier).build()).collect()
}

/// A random CEL condition of these parts.
fn joined(rng: &mut Rng, atoms: &[String], depth: usize) -> String {
    if depth == 0 || rng.chance(25) {
        return format!("({})", rng.pick(atoms));
    }
    let part = |rng: &mut Rng| joined(rng, atoms, depth - 1);
    let (a, b, c) = (part(rng), part(rng), part(rng));
    match rng.below(9) {
        0..3 => format!("({a} && {b})"),
        3 | 4 => format!("({a} || {b} || {c})"),
        5 => format!("!{a}"),
        6 => format!("({a} ? {b} : {c})"),
        7 => format!("({a} {} {b})", rng.pick(&["==", "!="])),
        _ => format!("{}({a}, {b})", rng.pick(&["default", "coalesce"])),
    }
}

#[test]
fn cel_and_its_translation_are_true_for_the_same_requests() {
    let rng = &mut Rng::new(0x15);
    let cel = Env::<RequestContext<'_>>::new();
    let filters = [false, true].map(|nil| cel.clone().filter_language(FilterLanguage::http().nil_not_equal(nil)));
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut atoms: Vec<String> = (0..1_200).map(|_| gateway::atom(rng)).collect();
    atoms.retain(|atom| engine.to_filter(&filters[0], atom).is_ok());
    assert!(atoms.len() > 300, "{} conditions have an equal", atoms.len());
    let (mut translated, mut holds, mut failed) = (0, 0, 0);
    for number in 0..RULES {
        let depth = 1 + rng.below(3);
        let rule = joined(rng, &atoms, depth);
        let filter = &filters[number % 2];
        let Ok(other) = engine.to_filter(filter, &rule) else { continue };
        translated += 1;
        let requests = requests(rng);
        for engine in engines(number) {
            let before = engine.compile(&cel, &rule).unwrap();
            let after = engine.compile(filter, other.text()).unwrap_or_else(|error| panic!("{rule}\n{error}"));
            for sample in &requests {
                let expected = before.test(&context(sample));
                let what = || format!("{rule}\n{}\n{sample:?}", other.text());
                assert_eq!(after.test(&context(sample)), Ok(expected == Ok(true)), "{}", what());
                assert!(expected.is_ok() || !other.warnings().is_empty(), "not reported: {expected:?}\n{}", what());
                holds += usize::from(expected == Ok(true));
                failed += usize::from(expected.is_err());
            }
        }
    }
    assert!(translated > RULES / 2, "{translated}");
    assert!(holds > translated && failed > translated / 4, "{translated} rules: {holds} true, {failed} failed");
}

#[test]
fn filter_rules_and_their_translations_have_the_same_results() {
    let rng = &mut Rng::new(0x51);
    let cel = Env::<RequestContext<'_>>::new();
    let filters = [false, true].map(|nil| cel.clone().filter_language(FilterLanguage::http().nil_not_equal(nil)));
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut translated, mut back) = (0, 0);
    for number in 0..RULES {
        let rule = http::condition(rng, 3);
        let filter = &filters[number % 2];
        let text = match engine.to_cel(filter, &rule) {
            Ok(text) => text,
            Err(error) => {
                assert!(error.diagnostics().iter().all(|note| note.code == "no-equal"), "{rule}\n{error}");
                continue;
            }
        };
        translated += 1;
        let again = engine.to_filter(filter, &text).ok();
        back += usize::from(again.is_some());
        let requests = requests(rng);
        for engine in engines(number) {
            let before = engine.compile(filter, &rule).unwrap();
            let after = engine.compile(&cel, &text).unwrap_or_else(|error| panic!("{rule}\n{text}\n{error}"));
            let again = again.as_ref().map(|again| engine.compile(filter, again.text()).unwrap());
            for sample in &requests {
                let expected = before.test(&context(sample));
                assert_eq!(after.test(&context(sample)), expected, "{rule}\n{text}\n{sample:?}");
                if let Some(again) = &again {
                    assert_eq!(again.test(&context(sample)), expected, "{rule}\n{text}\nand back\n{sample:?}");
                }
            }
        }
    }
    assert!(translated > RULES / 2 && back > translated / 2, "{translated} translated, {back} and back");
}
