//! Random rules in one language are translated to the other: a rule and its translation have the
//! same result for every request, in both tiers.

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

/// The environment of a language: rules in CEL, and filter rules in which a missing value is not unequal, or is.
struct Environments {
    cel: Env<RequestContext<'static>>,
    filters: [Env<RequestContext<'static>>; 2],
}

impl Environments {
    fn new() -> Self {
        let cel = Env::<RequestContext<'_>>::new();
        let filters = [false, true].map(|nil| cel.clone().filter_language(FilterLanguage::http().nil_not_equal(nil)));
        Self { cel, filters }
    }
}

/// The environments take turns.
fn alternate<E>([even, odd]: &[E; 2], number: usize) -> &E {
    if number.is_multiple_of(2) { even } else { odd }
}

/// What was seen, up to the first disagreement.
#[derive(Default)]
struct Report {
    translated: usize,
    /// Translations that have a translation back.
    back: usize,
    holds: usize,
    failed: usize,
    disagreement: Option<String>,
}

/// Changes a translation; `None` where it cannot.
type Fault<'f> = &'f dyn Fn(&str) -> Option<String>;

const NO_FAULT: Fault<'_> = &|text| Some(text.to_owned());

/// Compares random rules in CEL with what their translations become by a fault.
fn cel_to_filter(seed: u64, rules: usize, fault: Fault<'_>) -> Report {
    let rng = &mut Rng::new(seed);
    let Environments { cel, filters } = Environments::new();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut atoms: Vec<String> = (0..1_200).map(|_| gateway::atom(rng)).collect();
    for (name, word) in ["x-a", "x-b", "x-none"].into_iter().flat_map(|name| ["a", "b", "ab"].map(|word| (name, word)))
    {
        for test in ["exists(line, line == ", "all(line, line != ", "exists(line, !line.contains("] {
            let end = if test.ends_with("contains(") { "))" } else { ")" };
            atoms.extend(vec![format!("request.headers.raw()['{name}'].{test}'{word}'{end}"); 6]);
        }
    }
    atoms.retain(|atom| engine.to_filter(&filters[0], atom).is_ok());
    assert!(atoms.len() > 300, "{} conditions have an equal", atoms.len());
    let mut report = Report::default();
    for number in 0..rules {
        let depth = 1 + rng.below(3);
        let rule = joined(rng, &atoms, depth);
        let filter = alternate(&filters, number);
        let Ok(other) = engine.to_filter(filter, &rule) else { continue };
        let Some(text) = fault(other.text()) else { continue };
        report.translated += 1;
        let requests = requests(rng);
        for engine in engines(number) {
            let before = engine.compile(&cel, &rule).unwrap();
            let after = engine.compile(filter, &text).unwrap_or_else(|error| panic!("{rule}\n{error}"));
            for sample in &requests {
                let expected = before.test(&sample.context());
                let found = after.test(&sample.context());
                let reported = expected.is_ok() || !other.warnings().is_empty();
                if found != Ok(expected == Ok(true)) || !reported {
                    let what = format!("{rule}: {expected:?}, reported: {reported}\n{text}: {found:?}\n{sample:?}");
                    return Report { disagreement: Some(what), ..report };
                }
                report.holds += usize::from(expected == Ok(true));
                report.failed += usize::from(expected.is_err());
            }
        }
    }
    report
}

/// Compares random rules in the filter language with what their translations become by a fault, and
/// with the translations back.
fn filter_to_cel(seed: u64, rules: usize, fault: Fault<'_>) -> Report {
    let rng = &mut Rng::new(seed);
    let Environments { cel, filters } = Environments::new();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut report = Report::default();
    for number in 0..rules {
        let rule = http::condition(rng, 3);
        let filter = alternate(&filters, number);
        let text = match engine.to_cel(filter, &rule) {
            Ok(text) => text,
            Err(error) => {
                assert!(error.diagnostics().iter().all(|note| note.code == "no-equal"), "{rule}\n{error}");
                continue;
            }
        };
        let Some(text) = fault(&text) else { continue };
        report.translated += 1;
        let again = engine.to_filter(filter, &text).ok();
        report.back += usize::from(again.is_some());
        let requests = requests(rng);
        for engine in engines(number) {
            let before = engine.compile(filter, &rule).unwrap();
            let after = engine.compile(&cel, &text).unwrap_or_else(|error| panic!("{rule}\n{text}\n{error}"));
            let again = again.as_ref().map(|again| engine.compile(filter, again.text()).unwrap());
            for sample in &requests {
                let expected = before.test(&sample.context());
                let found = after.test(&sample.context());
                let and_back = again.as_ref().map_or(expected, |again| again.test(&sample.context()));
                if found != expected || and_back != expected {
                    let what = format!("{rule}: {expected:?}\n{text}: {found:?}\nand back: {and_back:?}\n{sample:?}");
                    return Report { disagreement: Some(what), ..report };
                }
                report.holds += usize::from(expected == Ok(true));
            }
        }
    }
    report
}

/// The nearest forms of random rules: those without a warning are exact, and the others differ only as their warnings
/// say, about values that are not ASCII.
#[test]
fn nearest_forms_differ_only_where_they_say() {
    let rng = &mut Rng::new(0x4e);
    let Environments { cel, filters } = Environments::new();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut exact, mut near) = (0, 0);
    for number in 0..RULES {
        let rule = http::condition(rng, 2);
        let filter = alternate(&filters, number);
        let Ok(translated) = engine.to_cel_near(filter, &rule) else { continue };
        let is_exact = translated.warnings().is_empty();
        assert_eq!(is_exact, engine.to_cel(filter, &rule).is_ok(), "{rule}");
        let before = engine.compile(filter, &rule).unwrap();
        let after = engine.compile(&cel, translated.text()).unwrap_or_else(|error| panic!("{rule}\n{error}"));
        for sample in &requests(rng) {
            let is_same = after.test(&sample.context()) == before.test(&sample.context());
            let mut values = sample.request.headers().values().map(|value| value.as_bytes());
            let is_ascii = values.all(<[u8]>::is_ascii) && sample.request.uri().to_string().is_ascii();
            assert!(is_same || !is_exact && !is_ascii, "{rule}\n{}\n{sample:?}", translated.text());
        }
        *(if is_exact { &mut exact } else { &mut near }) += 1;
    }
    assert!(exact > RULES / 2 && near > 20, "{exact} exact, {near} near");
}

#[test]
fn cel_and_its_translation_are_true_for_the_same_requests() {
    let Report { translated, holds, failed, disagreement, .. } = cel_to_filter(0x15, RULES, NO_FAULT);
    assert_eq!(disagreement, None);
    assert!(translated > RULES / 2, "{translated}");
    assert!(holds > translated && failed > translated / 4, "{translated} rules: {holds} true, {failed} failed");
}

#[test]
fn filter_rules_and_their_translations_have_the_same_results() {
    let Report { translated, back, disagreement, .. } = filter_to_cel(0x51, RULES, NO_FAULT);
    assert_eq!(disagreement, None);
    assert!(translated > RULES / 2 && back > translated / 2, "{translated} translated, {back} and back");
}

/// Another text in one place of a translation, if it is still accepted.
fn replaced(text: &str, right: &str, wrong: &str, accepts: impl Fn(&str) -> bool) -> Option<String> {
    let other = text.replacen(right, wrong, 1);
    Some(if accepts(&other) { other } else { text.to_owned() })
}

/// Faults as a wrong translator makes them, one operator or guard at a time: each is found.
#[test]
fn planted_faults_are_found() {
    let Environments { cel, filters } = Environments::new();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut unseen = Vec::new();
    for (right, wrong) in [
        (" and ", " or "),
        (" or ", " and "),
        ("not ", ""),
        (" eq ", " ne "),
        (" contains \"\"", " eq \"\""),
        ("starts_with", "ends_with"),
        ("any(", "all("),
        (" in {", " in {::/0 "),
    ] {
        let fault = |text: &str| replaced(text, right, wrong, |text| engine.check(&filters[0], text).is_ok());
        if cel_to_filter(0x15, RULES, &fault).disagreement.is_none() {
            unseen.push((right, wrong));
        }
    }
    for (right, wrong) in [
        (" && ", " || "),
        (" || ", " && "),
        ("!", ""),
        (" == ", " != "),
        (", false)", ", true)"),
        (", true)", ", false)"),
        ("startsWith", "endsWith"),
        (".exists(", ".all("),
        (".all(", ".exists("),
        ("[0]", "[1]"),
        (" > 1", " > 0"),
        ("lowerAscii", "upperAscii"),
        (" >= ", " > "),
        (".wildcard(", ".strictWildcard("),
    ] {
        let fault = |text: &str| replaced(text, right, wrong, |text| engine.check(&cel, text).is_ok());
        if filter_to_cel(0x51, RULES, &fault).disagreement.is_none() {
            unseen.push((right, wrong));
        }
    }
    assert!(unseen.is_empty(), "not found: {unseen:?}");
}
